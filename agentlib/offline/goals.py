"""From the goal of a plan to its parts: what is asked of each thing, what is asked besides, and what closes it.

"Compare Intel and AMD: who is the CEO of each, and where did each CEO study? Write a short report." asks two things of
each of two companies, and closes with a report. A goal is read clause by clause; what the grammar of questions can
take apart by itself (a comparison, a sum, a list) is left to it.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from .clues import dates
from .combining import is_combination
from .comparisons import WORDS_OF_DEGREE, measured
from .figures import degree_in
from .listing import singular
from .needs import Both, Either, Formula, Need, Pick, names_in
from .phrases import WEATHER, relation_of
from .questions import understand
from .verbal import question_for
from .words import NAME, sentences, word_set

_OPENERS = word_set("compare for of about regarding study research consider take find get list look show give tell name"
                    " who what which where when how in is are was were did does do say plan travel go from book between"
                    " among the check and please i we write my our")
_JOINT = r"(?:,? (?:and|or) |, )(?:(?:of|in|at|for|from|by) )?(?:the )?"
_NAMES = re.compile(rf"(?<!\w){NAME}(?:{_JOINT}{NAME})+")
_SPLIT = re.compile(rf"{_JOINT}(?={NAME})")
_HEAD = re.compile(r"^(?:(?:please )?(?:compare|study|research|consider|take|look at)|for(?: each of)?|of(?: each of)?"
                   r"|about|regarding)(?: the)?(?: (?:three|four|five|six|two|\d+))?(?: [a-z]+){0,2}? "
                   r"\{x\}(?:\s*[:,–-]\s*(?P<rest>.+)| (?:by|and) (?P<more>.+))?$", re.I)
_CLAUSES = re.compile(r"(?:;|,? and then|,? then|,? and(?: also)?|,)\s+"
                      r"(?=(?:(?:in|at|on|from|by|to) (?:which|what|whom)|who"
                      r"|what|when|where|which|how|write|say|tell|give|find|compare|name|summari[sz]e|list|rank|add"
                      r"|work out|calculate|book|check|look|put)\b)", re.I)
_MAKES = re.compile(r"(?:(?:please|then|finally|and|also|at the end),? )*(?:write|summari[sz]e|rank|conclude|compare"
                    r"|put (?:it|them|all|the)|draw up|compile|make (?:a|an))\b", re.I)
_COMPARE = re.compile(r"(?:please )?compare (?:the )?(?=.*\{x\})", re.I)
_OF_THEM = re.compile(r"\b(?:(?:sum|mean|difference) (?:of|between|in)|totals?|average|most (?:often|common|frequent)"
                      r"|comes up|of them|of these|of the (?:two|three|four|five)|which one|they|in all|altogether"
                      r"|in total)\b", re.I)
_WHOLE = re.compile(r",? (?:in total|altogether|in all|together|combined)\b", re.I)
_LEGS = re.compile(rf"(?:^|\b)(?P<lead>.*?)\bfrom (?P<stops>{NAME}(?:(?:,| and)?(?: then)?(?: on)? (?:to|via|through)"
                   rf" {NAME})+)", re.I)
_DEEP = 9  # things that the same is asked of


@dataclass(frozen=True)
class Goal:
    """The parts of a goal. Each of `asks` holds {x} for the things; `besides` are asked once; `legs` are journeys."""

    things: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()
    legs: tuple[tuple[str, str], ...] = ()
    when: str = ""
    closing: str = ""


def parts_of(text: str) -> Goal:
    """Take a goal apart. One that is a single question has one part: itself."""
    text = " ".join(text.split())
    journey = _journey(text)
    if journey:
        return journey
    listed = _NAMES.search(_lowered(text))
    if listed:
        goal = _of_each(text, listed.group(), tuple(dict.fromkeys(_SPLIT.split(listed.group()))))
        if goal:
            return goal
    return _by_grammar(text) or _clause_by_clause(text) or Goal(besides=(text,))


def _lowered(text: str) -> str:
    """Write the first word of each sentence small where it is no name, so that it does not look like one."""
    return re.sub(r"(?:^|(?<=[.:?!] ))([A-Z]\w*)", lambda m: m[0].lower() if m[0].lower() in _OPENERS else m[0], text)


def clauses(text: str) -> list[str]:
    return [part.strip(" ,?.!") for line in sentences(text) for part in _CLAUSES.split(line) if part.strip(" ,?.!")]


# -- the same of each thing


def _of_each(text: str, listed: str, things: tuple[str, ...]) -> Goal | None:
    """Take apart a goal that asks the same of several things."""
    if not 2 <= len(things) <= _DEEP:
        return None
    marked = re.sub(re.escape(listed), "{x}", text, count=1, flags=re.I)
    marked = re.sub(re.escape(listed), "them", marked, flags=re.I)
    asks: list[str] = []
    closing: list[str] = []
    for clause in [part for line in sentences(marked) for part in _bodies(line, closing)]:
        if _MAKES.match(clause) and "{x}" not in clause:
            closing.append(clause)
        elif _COMPARE.match(clause):
            asks.append(_for_each(_COMPARE.sub("what is the ", clause), asks))
            closing.append(clause)
        elif (_OF_THEM.search(clause) or degree_in(clause)) and is_combination(clause):
            ask = _measure(clause, listed, things, text) if not asks or "{x}" in clause else ""
            asks += [ask] if ask else []
            closing.append(clause)
        else:
            asks.append(_for_each(clause, asks))
    asks = [ask for ask in dict.fromkeys(asks) if "{x}" in ask]
    return Goal(things, tuple(asks), closing=_closing(closing).replace("{x}", listed)) if asks else None


def _bodies(line: str, closing: list[str]) -> list[str]:
    """Give the clauses of a sentence, without a head that only names the things; 'compare' is to be done at the end."""
    head = _HEAD.match(line.strip(" ?.!"))
    if head and not re.match(r"(?:please )?compare\b.*\{x\}$", line.strip(" ?.!"), re.I):
        if re.match(r"(?:please )?compare", line, re.I):
            closing.append("compare them")
        return clauses(head["rest"] or head["more"] or "")
    return clauses(line)


def _measure(clause: str, listed: str, things: tuple[str, ...], text: str) -> str:
    """Give the question whose answers are to be compared or added up."""
    degree = degree_in(clause)
    if degree and degree[0] in WORDS_OF_DEGREE:
        question = question_for(measured(degree[0], (things[0], things[1]), text)[1][0])
        return question.strip("?").replace(things[0], "{x}") if question else ""
    bare = _WHOLE.sub("", re.sub(r"\b(?:the )?(?:sum|total|difference|average) (?:(?:of|in|between) )?(?:the )?",
                                 "the ", clause))
    return _for_each(bare, []) if "{x}" in bare else ""


def _for_each(clause: str, before: list[str]) -> str:
    """Write a clause as a question about one thing, {x}."""
    clause = re.sub(r"^(?:please |and |also |then )+", "", clause, flags=re.I)
    if "{x}" in clause:
        clause = singular(clause.replace("{x}", "A and B")).replace("A and B", "{x}")
    known = [noun for ask in before for noun in re.findall(r"the ([\w ]+?) of \{x\}", ask)]
    for noun in known:
        clause = re.sub(rf"\b(?:each|the|every|that|this|their|its) {noun}s?\b(?! of)", f"the {noun} of {{x}}", clause)
        clause = re.sub(r"\b(?:he|she)\b", f"the {noun} of {{x}}", clause)
        clause = re.sub(r"\b(?:his|her)\b", f"the {noun} of {{x}}'s", clause)
    for pattern, other in (
        (r"\b(?:each|every)(?: one)? of (?:them|these)(?: [a-z]+)?\b", "{x}"),
        (r"\b(?:of|for|in|at) (?:each|every)(?: (?:one|of them|[a-z]+))?$", lambda m: f"{m[0].split()[0]} {{x}}"),
        (r"\b(?:their|its|his|her) (?:own )?([a-z]+)", lambda m: f"the {_one(m[1])} of {{x}}"),
        (r"\b(?:each|every) (?:company|city|country|firm|person|customer|place|thing|one|order|town|university)\b",
         "{x}"),
        (r"\b(?:each|every one|they|it|them)\b", "{x}"),
    ):
        if "{x}" not in clause:
            clause = re.sub(pattern, other, clause)
    if "{x}" not in clause:
        clause = _with_thing(clause)
    return _in_singular(clause)


def _one(noun: str) -> str:
    return noun[:-1] if noun.endswith("s") and relation_of(noun[:-1]) else noun


def _with_thing(clause: str) -> str:
    """Say what a clause that leaves it out is about: 'who is the CEO' is who the CEO of {x} is."""
    weather = re.search(rf"\b(?:{'|'.join(sorted(WEATHER, key=len, reverse=True))})\b", clause)
    if weather:
        return f"{clause} in {{x}}"
    noun = next((m for m in re.finditer(r"\bthe ((?:[a-zA-Z]+ ){0,2}?[a-zA-Z]+)\b(?! of)", clause)
                 if relation_of(m[1])), None)
    return f"{clause[:noun.end()]} of {{x}}{clause[noun.end():]}" if noun else f"{clause} for {{x}}"


def _in_singular(clause: str) -> str:
    for many, one in (("are", "is"), ("were", "was"), ("do", "does"), ("have", "has")):
        clause = re.sub(rf"\b{many} (?=(?:the [a-zA-Z ]+ of )?\{{x\}})", f"{one} ", clause)
        clause = re.sub(rf"(?<=\{{x\}}) {many}\b", f" {one}", clause)
    return clause


def _closing(clauses: list[str]) -> str:
    """Put into one sentence what is to be made of the results; a comparison that says more is no 'compare them'."""
    told = [clause for clause in clauses if clause != "compare them"] or clauses
    bare = [re.sub(r"^(?:and|then|finally|please),? ", "", each, flags=re.I) for each in told]
    said = ", and ".join(dict.fromkeys(bare))
    return said[:1].upper() + said[1:]


# -- a journey


def _journey(text: str) -> Goal | None:
    """'From Hamburg to Munich and on to Rome' has two legs; what else the goal asks for comes besides."""
    found = _LEGS.search(_lowered(text))
    if not found or re.match(r"(?:convert|how many years)\b", text, re.I):
        return None
    stops = re.split(r"(?:,| and)?(?: then)?(?: on)? (?:to|via|through) ", found["stops"])
    rest = [clause for clause in clauses(text[found.end():]) if len(clause.split()) > 2]
    makes = [clause for clause in rest if _MAKES.match(clause) or is_combination(clause)]
    day = next(iter(dates(text)), "")
    others = tuple(each for each in rest if each not in makes and not (day and day in each and len(each.split()) < 4))
    return Goal(besides=others, legs=tuple(pairwise(stops)), when=day, closing=_closing(makes))


# -- other goals


def _by_grammar(text: str) -> Goal | None:
    """Take apart what the grammar understands as several needs of their own."""
    need = understand(text)
    need = need.ways[0] if isinstance(need, Either) else need
    parts = _parts(need)
    asks = [question_for(part) for part in parts]
    if len(set(asks)) < 2 or not all(asks):
        return None
    return Goal(besides=tuple(asks), closing="" if isinstance(need, Both) else text.rstrip("?.! "))


def _parts(need: Need) -> tuple[Need, ...]:
    match need:
        case Pick(measures=parts):
            return parts
        case Formula("{0} + {1}" | "abs({0} - {1})" | "({0} + {1}) / 2" | "({0} + {1} + {2}) / 3", parts):
            return parts
        case Both(parts) if len({name for part in parts for name in names_in(part)}) > 1:
            return parts
    return ()


def _clause_by_clause(text: str) -> Goal | None:
    """Take each clause as a part, where there are several that stand for themselves."""
    found = clauses(text)
    makes = [each for each in found if _MAKES.match(each) or (_OF_THEM.search(each) and is_combination(each))]
    asks = [clause for clause in found if clause not in makes]
    alone = all(re.search(rf"(?<!^){NAME}", clause) for clause in asks)
    return Goal(besides=tuple(asks), closing=_closing(makes)) if len(asks) > 1 and alone else None
