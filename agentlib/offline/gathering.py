"""An argument that the question does not give, taken from what other tools returned: an id, a figure, a labelled value.

It stands in the line or clause that shares most words with the question. Where two lines are equally near, nothing is
taken: to guess which order is meant is no business of a model that may then cancel it.
"""

import re
from dataclasses import replace

from .clues import ID, NUMBER, amounts, dates, ids, names, shape
from .filling import Value
from .offered import Parameter, Tool
from .reading import Step
from .senses import alike, stems

_CLAUSE = re.compile(r"\n|;\s|,\s|(?<=[a-z\d)])\.\s|(?<=\w):\s(?=\d+ ×)")
_ASKED_FOR = "asked for by the customer"  # the reason of somebody who gives none
_MONEY = re.compile(r"(?:\b[A-Z]{3} ?|[€$£] ?)(\d[\d,]*(?:\.\d+)?)|(\d[\d,]*(?:\.\d+)?) ?(?:[€$£]|euros?\b|dollars?\b)")


def gathered(part: Parameter, tool: Tool, question: str, seen: list[Step]) -> Value:
    """Give the value of a parameter from results; None if they do not tell it plainly."""
    for step in reversed(seen):
        if part.kind in ("integer", "number") or _is_amount(part):
            value = _figure(part, tool, question, step.observation)
        elif re.search(r"(?:^|_)(?:id|code|number)$", part.name):
            value = _id(part, question, step.observation)
        else:
            value = _labelled(part, step.observation)
        if value is not None:
            return value
    return _ASKED_FOR if part.name in ("reason", "why") and part.kind in ("string", "any") else None


def about(step: Step, arguments: tuple[tuple[str, Value], ...]) -> Step:
    """Keep of a result the lines on what the call is about: where it lists several ids, those with the call's own."""
    own = [value for _, value in arguments if isinstance(value, str) and ID.fullmatch(value)]
    if not own or len(ids(step.observation)) < 2:
        return step
    lines = [line for line in step.observation.split("\n") if set(own) & set(ids(line))]
    return replace(step, observation="\n".join(lines))


def _is_amount(part: Parameter) -> bool:
    """Say whether a parameter without a type takes an amount."""
    return part.kind == "any" and bool(set(stems(part.name)) & set(stems("amount sum price total")))


def _figure(part: Parameter, tool: Tool, question: str, text: str) -> Value:
    """Give the number of the clause that is nearest to the question, else to the parameter.

    Where an amount of money is wanted and that clause counts something else, as in '1 × desk lamp', there is none.
    """
    asked = [stem for stem in _telling(question) if stem not in stems(f"{tool.name} {' '.join(tool.parameters)}")]
    told = stems(f"{part.name} {part.description} {tool.description}")
    best, best_score = None, 0
    for clause in _CLAUSE.split(text):
        found, own = amounts(clause), stems(ID.sub(" ", clause))
        score = sum(2 * (stem in asked) + any(alike(stem, other) for other in told) for stem in own)
        if found and not dates(clause) and score > best_score:
            best, best_score = clause, score
    number = _number(best, bool(_MONEY.search(text))) if best else None
    if number is None or (part.kind == "integer" and number != int(number)):
        return None
    return int(number) if number == int(number) else number


def _number(clause: str, is_money: bool) -> float | None:
    """Give the amount of money in a clause, or its only number."""
    money = _MONEY.search(clause)
    if is_money:
        return float((money[1] or money[2]).replace(",", "")) if money else None
    found = amounts(clause)
    return found[0].value if len(found) == 1 else None


def _id(part: Parameter, question: str, text: str) -> str | None:
    """Give the id of the one line that is nearest to the question."""
    pattern = shape(part.description)
    asked = _telling(question)
    scores: dict[str, int] = {}
    for line in text.split("\n"):
        found = [each for each in ids(line) if pattern is None or pattern.fullmatch(each)]
        if found:
            scores[found[0]] = sum(any(alike(stem, other) for other in stems(line)) for stem in asked)
    best = [each for each, score in scores.items() if score == max(scores.values())]
    return best[0] if len(best) == 1 else None


def _telling(question: str) -> list[str]:
    """Give the stems of a question that may tell one line from another: no names, ids or numbers."""
    known = set(stems(" ".join(names(question))))
    return [stem for stem in stems(NUMBER.sub(" ", ID.sub(" ", question))) if stem not in known]


def _labelled(part: Parameter, text: str) -> str | None:
    """Give what stands behind the parameter's name and a colon."""
    name = re.escape(part.name).replace("_", "[ _-]")
    found = re.search(rf"\b{name}\"?\s*[:=]\s*\"?([^\n,;\"]+?)\"?(?:[.,;]\s|[.,;]?$|\n)", text, re.I)
    return found[1].strip() if found else None
