"""From a planner's reply to tasks: JSON, nearly JSON, a list as in YAML, or numbered calls. Prose is refused.

What models really write is read: a code fence and chat round the plan, other names of the fields, ids that are numbers,
dependencies as a text. What would have to be guessed is refused, with a sentence that goes back to the planner.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..parsing.labels import without_thinking
from ..parsing.notation import FAULTS, python_literal
from ..parsing.repairing import plain_punctuation
from ..parsing.verifying import read_repaired
from .entries import is_plan, is_task, tasks_of
from .layouts import read_blocks, read_calls
from .plan import PlanError, Task

EXAMPLE = """\
{"tasks": [{"id": "1", "instruction": "what to do", "depends_on": []}, \
{"id": "2", "instruction": "what to do with ${1}", "depends_on": ["1"]}]}"""


@dataclass(frozen=True)
class Draft:
    """The tasks of a reply, not checked yet, and what was repaired on the way, in words."""

    tasks: tuple[Task, ...]
    repairs: tuple[str, ...] = ()


def read_plan(text: str, *, cut_off: bool = False) -> Draft:
    """Read the one plan in a reply. Raises PlanError, whose text is for the planner.

    Of a reply that was cut off, only JSON counts: its brackets show that it is whole.
    """
    text = without_thinking(text)
    if not text.strip():
        raise PlanError("your reply is empty")
    values = [*_values(text)]
    if values and all(is_task(value) for value, _ in values):  # one task after the other
        values = [([value for value, _ in values], next((repair for _, repair in values if repair), ""))]
    plans = [value for value, _ in values if is_plan(value)]
    if any(plan != plans[0] for plan in plans):
        raise PlanError(f"your reply holds {len(plans)} plans that differ; give one")
    if plans:
        repairs = [repair for value, repair in values if repair and is_plan(value)]
        return _draft(plans[0], repairs[:1])
    found = None if cut_off else read_blocks(text) or read_calls(text)
    if found is None:
        what = "your reply holds no plan in JSON, and no list that says what depends on what"
        what = "the plan is empty" if any(value == [] for value, _ in values) else what
        what = "your reply was cut off at the token limit, before its plan was whole" if cut_off else what
        raise PlanError(what)
    return _draft(found, [])


def _draft(value: object, repairs: list[str]) -> Draft:
    notes: list[str] = []
    tasks = tuple(tasks_of(value, notes.append))
    return Draft(tasks, (*repairs, *notes))


# -- JSON in a text

_TOKEN = re.compile(
    r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'(?=\s*+[,:}\]])|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|[{}\[\]]", re.DOTALL
)
_STARTS = re.compile(r"[{\[](?=\s*+(?:[\"'{\[\]}]|//|/\*|[A-Za-z_]++\s*+:))")  # a bracket that opens data, not an aside
MOST_STARTS = 100  # places in a reply where data may begin


def _values(text: str) -> Iterator[tuple[object, str]]:
    """Give the lists and objects that stand in a text, outermost only, each with what was repaired in it."""
    at = 0
    for _ in range(MOST_STARTS):
        start = _STARTS.search(text, at)
        if start is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, start.start())
            yield value, ""
            continue
        except PlanError:
            raise
        except (ValueError, RecursionError):
            at = _end(text, start.start())
        yield from _mended(text[start.start() : at])


def _mended(source: str) -> Iterator[tuple[object, str]]:
    """Read what is nearly JSON: comments, commas too many, Python's or json-repair's idea of it."""
    for name, read in (("punctuation", _read_tidy), ("Python", python_literal), ("json-repair", _read_repaired)):
        try:
            yield read(source), f"the JSON was not valid, and was read all the same ({name})"
            return
        except PlanError:
            raise
        except FAULTS:
            continue
    if re.search(r"[\"'](?:id|tasks|steps|plan|depends_on|deps)[\"']\s*:", source):
        raise PlanError(f"the JSON of your plan cannot be read; it starts with {source[:60]!r}")


def _read_repaired(source: str) -> object:
    return read_repaired(plain_punctuation(source))


def _end(text: str, start: int) -> int:
    """Find the end of the bracket that opens at `start`. One that nothing closes is never completed."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if depth == 0:
            return token.end()
    raise PlanError(f"your plan is cut off: no bracket closes {text[start : start + 40]!r}")


def _once(pairs: list[tuple[str, object]]) -> dict:
    """Make an object of its members. One that is given twice, and not the same, leaves open what is meant."""
    data = dict(pairs)
    for name, value in pairs if len(data) < len(pairs) else ():
        if data[name] != value:
            raise PlanError(f"the JSON of your plan gives {name[:60]!r} twice in one object")
    return data


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_once)
_TIDY = re.compile(r"(\"(?:[^\"\\]|\\.)*+\")|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/", re.DOTALL)
_COMMA = re.compile(r"(\"(?:[^\"\\]|\\.)*+\")|,(?=\s*+[}\]])", re.DOTALL)


def _read_tidy(source: str) -> object:
    """Read JSON without its comments and the commas before closing brackets."""
    plain = _COMMA.sub(lambda found: found[1] or "", _TIDY.sub(lambda found: found[1] or " ", source))
    return json.loads(plain, strict=False, object_pairs_hook=_once)
