"""Plans that are no JSON: a list as in YAML, and numbered calls as LLMCompiler's planner writes them.

    - id: a                                 1. search("Berlin")
      instruction: find the population      2. search("Paris")
      depends_on: []                        3. compare($1, $2)
                                            4. join()

The calls are those of Kim et al. (2023, arXiv:2312.04511): $1 is the result of the first, and join ends the plan. A
numbered list of sentences is read only when it says what depends on what, since otherwise that would be a guess.
"""

from __future__ import annotations

import json
import re

from .entries import is_task
from .references import referenced

_FENCE = re.compile(r"^[ \t]*+```.*+$", re.MULTILINE)

# -- a list as in YAML

_ITEM = re.compile(r"([ \t]*+)-[ \t]++(?=[\"']?\w+[\"']?[ \t]*+:(?:[ \t]|$))")
_FIELD = re.compile(r"[ \t]*+[\"']?(\w++)[\"']?[ \t]*+:(?:[ \t]++(.*+)|[ \t]*+)$")
_ELEMENT = re.compile(r"[ \t]*+-[ \t]++(\S.*+)$")


def read_blocks(text: str) -> list[dict] | None:
    """Read a list of tasks whose fields stand on lines of their own; None when there is none."""
    entries: list[dict] = []
    indent, field = -1, ""
    for line in _FENCE.sub("", text).splitlines():
        item = _ITEM.match(line)
        if item and (indent < 0 or len(item[1]) <= indent):
            entries.append({})
            indent, line = len(item[1]), line[item.end() :]
        elif indent < 0 or not line.strip():
            continue
        elif len(line) - len(line.lstrip()) <= indent:  # the list has ended
            break
        if found := _FIELD.match(line):
            field = found[1]
            entries[-1][field] = _scalar(found[2] or "")
        elif field and (element := _ELEMENT.match(line)):
            before = entries[-1][field]
            entries[-1][field] = [*(before if isinstance(before, list) else []), _scalar(element[1])]
        elif field and isinstance(entries[-1][field], str):  # a text that goes on
            entries[-1][field] = f"{entries[-1][field].strip('|>-')} {line.strip()}".strip()
    return entries if entries and all(is_task(entry) for entry in entries) else None


def _scalar(text: str) -> object:
    """Read a value: JSON where it is JSON, a list of bare words in brackets, else the text itself."""
    text = text.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text.startswith("[") and text.endswith("]"):
        return [part.strip(" \"'") for part in text[1:-1].split(",") if part.strip(" \"'")]
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text


# -- numbered lines

_LINE = re.compile(r"^[ \t]*+(?:[*_#-]++[ \t]*+)?(?:[Ss]tep[ \t]++)?(\d{1,4})[ \t]*+[.):][ \t*_]*+(\S.*+)$", re.M)
_CALL = re.compile(r"\w[\w.]*+\s*+\(.*+\)[.;]?$")
_END = re.compile(r"join\s*+\([^()]*+\)[.;]?(?:\s*+<END_OF_PLAN>)?$|<END_OF_PLAN>$", re.IGNORECASE)
_NUMBER = r"(?:(?:task|step)s?[ \t]*+)?[$#]?\{?\d++\}?"
_AFTER = re.compile(
    r"[ \t]*+[\[(]?\b(depends on|dependenc(?:y|ies)|after|requires|needs)[ \t]*+:?[ \t]*+"
    rf"({_NUMBER}(?:[ \t]*+(?:,|&|and\b)[ \t]*+(?:and\b[ \t]*+)?{_NUMBER})*+|none)[)\]]?[.;]?$",
    re.IGNORECASE,
)


def read_calls(text: str) -> list[dict] | None:
    """Read numbered lines that are calls, or that say what they depend on; None when they do neither."""
    lines = [(found[1].lstrip("0") or "0", found[2].strip()) for found in _LINE.finditer(text)]
    lines = [(number, said) for number, said in lines if not _END.match(said)]
    known = {number for number, _ in lines}
    are_calls = all(_CALL.match(said) for _, said in lines)
    related = any(referenced(said, known) or _after(said, known) for _, said in lines)
    if not lines or not (are_calls or related):
        return None
    return [_entry(number, said, known) for number, said in lines]


def _after(said: str, known: set[str]) -> re.Match | None:
    """Find what a line says it depends on. In "sales after 2020" the year is no task."""
    found = _AFTER.search(said)
    is_year = found and found[1].lower() == "after" and not known.issuperset(re.findall(r"\d+", found[2]))
    return None if is_year else found


def _entry(number: str, said: str, known: set[str]) -> dict:
    after = _after(said, known)
    named = re.findall(r"\d+", after[2]) if after else []
    return {"id": number, "instruction": said[: after.start()].strip(" ,;") if after else said, "depends_on": named}
