"""The answer of an errand: what the tool returned, or of a long result the parts that the question asks for."""

import re

from .clues import NUMBER
from .notes import Value
from .reading import Step
from .results import as_text
from .senses import alike, stems
from .words import number_in, sentences

_SHORT = 24  # words of a result that is told as it is
_LABELLED = re.compile(r"([A-Z][\w ]{2,20}): (.+)")
_WHEN, _HOW_MUCH = re.compile(r"\bwhen\b|\bwhat (?:date|day)\b", re.I), re.compile(r"\bhow (?:much|many)\b", re.I)
_WHO = re.compile(r"\bwho(?:se|m)?\b", re.I)
_YES_NO = re.compile(r"\W*(?:is|are|was|were|has|have|did|does|do|will)\b", re.I)
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}")


def retold(question: str, steps: list[Step]) -> Value:
    """Put the results of an errand's calls into one answer."""
    told = " ".join(_ended(_told(question, as_text(step.observation).strip())) for step in steps)
    return Value(told or "The tool returned nothing.", (), number_in(told))


def _told(question: str, text: str) -> str:
    """Tell one result: whole if it is short or a list, else its head and the parts that are near to the question."""
    lines = [line.strip().rstrip(".") for line in text.split("\n") if line.strip()]
    if len(lines) > 1:
        return "; ".join(lines)
    parts = sentences(text)
    if len(text.split()) <= _SHORT or len(parts) < 2:
        return text
    head, *others = parts
    asked = [stem for stem in stems(question) if not any(alike(stem, other) for other in stems(head))]
    scored = [(_nearness(asked, question, part), part) for part in others]
    best = max(score for score, _ in scored)
    if best <= 0:
        if _WHO.search(question):
            return head
        state = [part for part in others if part.startswith(("Status:", "State:"))] if _YES_NO.match(question) else []
        return f"{head.rstrip('.')}, {_inside(state[0])}" if state else text
    return f"{head.rstrip('.')}, {', '.join(_inside(part) for score, part in scored if score == best)}"


def _nearness(asked: list[str], question: str, part: str) -> float:
    """Say how near a part is to a question: words that both have, and dates or figures where it asks for them."""
    own = stems(part)
    near = sum(1.0 if stem in own else 0.8 if any(alike(stem, other) for other in own) else 0.0 for stem in asked)
    dated = bool(_WHEN.search(question)) and bool(_DATED.search(part))
    counted = bool(_HOW_MUCH.search(question)) and bool(NUMBER.search(part)) and not _DATED.search(part)
    return near + 0.5 * (near > 0) * (dated + counted)


def _inside(part: str) -> str:
    """Put a sentence inside another one: 'Status: shipped.' becomes 'status: shipped'."""
    part = part.rstrip(".")
    found = _LABELLED.fullmatch(part)
    return f"{found[1].lower()}: {found[2]}" if found else part[:1].lower() + part[1:]


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) or not text else f"{text}."
