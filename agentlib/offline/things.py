"""From a clause about several things to a question about one of them, {x}: "where did each CEO study", after "who is
the CEO of {x}", is "where did the CEO of {x} study".
"""

import re

from .listing import singular
from .phrases import WEATHER, relation_of

_WEATHER = re.compile(rf"\b(?:{'|'.join(sorted(WEATHER, key=len, reverse=True))})\b", re.I)
CLASS = "(?:company|city|country|firm|person|customer|place|thing|one|order|town|university)"
CLASSES = "(?:companies|cities|countries|firms|people|persons|customers|places|towns|universities)"
_EACH = (
    (r"\b(?:each|every)(?: one)? of (?:them|these)(?: [a-z]+)?\b", "{x}"),
    (r"\b(?:of|for|in|at) (?:each|every)(?: (?:one|of them|[a-z]+))?$", lambda m: f"{m[0].split()[0]} {{x}}"),
    (r"\b(?:their|its|his|her) (?:own )?([a-z]+(?: (?:year|date|office|of birth))?)",
     lambda m: f"the {one_of(m[1])} of {{x}}"),
    (rf"\b(?:each|every) {CLASS}\b", "{x}"),
    (r"\b(?:each|every one|they|it|them)\b", "{x}"),
)


def for_each(clause: str, before: list[str]) -> str:
    """Write a clause as a question about one thing; `before` are the questions that came first."""
    clause = re.sub(r"^(?:please |and |also |then )+", "", clause, flags=re.I)
    if "{x}" in clause:
        clause = singular(clause.replace("{x}", "A and B")).replace("A and B", "{x}")
        clause = re.sub(r"^(who|what|which) are (the \w+) (?=of \{x\}|in \{x\})",
                        lambda m: f"{m[1]} is {m[2]} " if relation_of(m[2][4:]) else m[0], clause, flags=re.I)
    for noun in (noun for ask in before for noun in re.findall(r"the ([\w ]+?) of \{x\}", ask)):
        clause = _for_noun(clause, noun)
    for pattern, other in _EACH:
        if "{x}" not in clause:
            clause = re.sub(pattern, other, clause)
    clause = _in_singular(clause if "{x}" in clause else _with_thing(clause))
    return re.sub(r"^(?:the )(?=.*\{x\})", "what is the ", clause)


def one_of(noun: str) -> str:
    """Give the singular of a noun that the table knows."""
    return noun[:-1] if noun.endswith("s") and relation_of(noun[:-1]) else noun


def _for_noun(clause: str, noun: str) -> str:
    """Put 'the CEO of {x}' for what leans on an earlier question for the CEO."""
    clause = re.sub(rf"\b(?:each|the|every|that|this|their|its) {noun}s?\b(?! of)", f"the {noun} of {{x}}", clause)
    known = relation_of(noun)
    if known and known[1] == "person":
        clause = re.sub(r"\b(?:he|she)\b|\b(?:each|every one) of them\b|\bthey\b", f"the {noun} of {{x}}", clause)
        clause = re.sub(r"\b(?:his|her)\b", f"the {noun} of {{x}}'s", clause)
    return clause


def _with_thing(clause: str) -> str:
    """Say what a clause that leaves it out is about: 'who is the CEO' is who the CEO of {x} is."""
    if _WEATHER.search(clause):
        return f"{clause} in {{x}}"
    noun = next((m for m in re.finditer(r"\bthe ((?:[a-zA-Z]+ ){0,2}?[a-zA-Z]+)\b(?! of)", clause)
                 if relation_of(m[1])), None)
    return f"{clause[:noun.end()]} of {{x}}{clause[noun.end():]}" if noun else f"{clause} for {{x}}"


def _in_singular(clause: str) -> str:
    """Let the verb and a class before the thing be singular."""
    clause = re.sub(r"\bdo (\{x\}|the [\w ]+ of \{x\})", r"does \1", clause)
    for many, one in (("are", "is"), ("were", "was"), ("have", "has")):
        clause = re.sub(rf"\b{many} (?=(?:the [a-zA-Z ]+ of )?\{{x\}})", f"{one} ", clause)
        if not re.search(r"\b(?:did|does)\b", clause):
            clause = re.sub(rf"(?<=\{{x\}}) {many}\b", f" {one}", clause)
    return re.sub(r"\b(compan|cit|countr|universit)ies (?=\{x\})", r"\1y ", re.sub(
        r"\b(order|customer|firm|town)s (?=\{x\})", r"\1 ", clause))
