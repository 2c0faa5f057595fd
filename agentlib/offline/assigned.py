"""A task of a plan, as its executor is told of it: the instruction, results of earlier tasks, and the goal of the plan.

Only the instruction is the question. The results count as what was found before; the goal is there for context, and a
model that answered it would do the whole plan in one task.
"""

import re
from dataclasses import dataclass

_OF_A_PLAN = re.compile(r"\n\s*\n[^\n]*\bone (?:task|step|part) of a plan\b", re.I)
_EXPECTED = re.compile(r"\n\s*\nExpected: .*?(?=\n\s*\n|\Z)", re.S)
_KNOWN = re.compile(r"\n\s*\nResults of earlier tasks:\n(?P<listed>.*)", re.S)
_ENTRY = re.compile(r"^- (?P<id>[^\n:]+): (?P<text>.*?)(?=^- |\Z)", re.M | re.S)
_LABEL = re.compile(r"^  (?P<label>Result|Error|Depends on): ", re.M)
_AGAIN = re.compile(r"^try again: ", re.I)


@dataclass(frozen=True)
class Entry:
    """A task in a list of tasks, with the text below it: its result, its error, or what it depends on."""

    id: str
    instruction: str
    text: str = ""


@dataclass(frozen=True)
class Assignment:
    """What one task asks for, and the results that it was given."""

    instruction: str
    results: tuple[Entry, ...] = ()


def assignment_in(question: str) -> Assignment | None:
    """Read the task of a plan; None if a question is no such task."""
    end = _OF_A_PLAN.search(question)
    if end is None:
        return None
    told = _EXPECTED.sub("", question[: end.start()])
    known = _KNOWN.search(told)
    instruction = (told[: known.start()] if known else told).strip()
    return Assignment(_AGAIN.sub("", instruction), entries(known["listed"]) if known else ())


def entries(listed: str) -> tuple[Entry, ...]:
    """Read a list of tasks. Lines that go on are indented."""
    return tuple(_entry(found["id"], found["text"]) for found in _ENTRY.finditer(listed))


def _entry(name: str, text: str) -> Entry:
    labels = [*_LABEL.finditer(text)]
    if not labels:
        return Entry(name, _flush(text))
    return Entry(name, _flush(text[: labels[-1].start()]), _flush(text[labels[-1].end():]))


def _flush(text: str) -> str:
    """Take the indentation off the lines that go on."""
    return text.replace("\n  ", "\n").strip()
