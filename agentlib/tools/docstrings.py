"""What a docstring says of a function and of its parameters, in the styles of Google, NumPy and Sphinx.

Our own reader: griffe wants a blank line above `Args:`, docstring-parser drops every parameter when one line is odd; in
both a model would silently lose what the author wrote for it.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from textwrap import dedent, indent


@dataclass(frozen=True)
class Documented:
    """The text before the first section, on one line, and what is said of each parameter."""

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


_OF_PARAMETERS = "Args|Arguments|Params|Parameters|Other Parameters|Keyword Args|Keyword Arguments"
_OTHER = "Returns?|Yields?|Raises|Warns|Warnings?|Examples?|Notes?|See Also|References|Attributes|Methods|Usage|Todo"
_TITLE = re.compile(rf"( *)({_OF_PARAMETERS}|{_OTHER}) *(:?) *")
_RULE = re.compile(r" *-{3,} *")
_PARAMETER_FIELDS = {"param", "parameter", "arg", "argument", "key", "keyword"}
_FIELDS = "|".join([*sorted(_PARAMETER_FIELDS), "type|returns?|rtype|raises?|exception|except|yields?|ytype|meta"])
_FIELD = re.compile(rf" *[:@]({_FIELDS})((?: +[^:]*)?):(?!:) *(.*)")  # :param int n: How many.


def read_docstring(text: str | None) -> Documented:
    """Read a docstring. No text says nothing; what is in no known style is all summary."""
    lines = _lines(text or "")
    start = next((i for i in range(len(lines)) if _opens(lines, i)), len(lines))
    found: dict[str, str] = {}
    for i in range(start, len(lines)):
        for name, said in _entries(lines, i):
            if said:
                found.setdefault(name, said)
    return Documented(" ".join(" ".join(lines[:start]).split()), found)


def _lines(text: str) -> list[str]:
    """Give the lines without their common margin. Below a title in the first line the margin was the section's."""
    first, _, rest = inspect.cleandoc(text).partition("\n")
    title = _TITLE.fullmatch(first)
    below = next((line for line in rest.splitlines() if line.strip()), "")
    if title and title[3] and not below.startswith(" ") and not _FIELD.match(below):
        body, *others = re.split(rf"(?m)^(?=(?:{_OTHER}|{_OF_PARAMETERS}) *: *$)", rest)
        rest = indent(body, "    ") + "".join(others)
    return [first, *rest.splitlines()]


def _opens(lines: list[str], i: int) -> str:
    """Say which style's section starts in this line, or nothing."""
    title = _TITLE.fullmatch(lines[i])
    if i + 1 < len(lines) and _RULE.fullmatch(lines[i + 1]) and (title or lines[i][:1].strip()):
        return "numpy"
    if title and title[3]:
        return "google"
    return "sphinx" if _FIELD.match(lines[i]) else ""


def _entries(lines: list[str], i: int) -> list[tuple[str, str]]:
    """Give the parameters that the section in this line describes."""
    style = _opens(lines, i)
    if style == "sphinx":
        return _field(lines, i)
    title = _TITLE.fullmatch(lines[i]) if style else None
    if not title or not re.fullmatch(_OF_PARAMETERS, title[2]):
        return []
    return _listed(_below(lines, i + 1, len(title[1]))) if style == "google" else _ruled(_until_next(lines, i + 2))


def _below(lines: list[str], start: int, margin: int) -> list[str]:
    """Give the lines that stand further in than the margin, and the points of a list that stand on it."""
    stop = start
    while stop < len(lines) and (
        not lines[stop].strip()
        or _margin(lines[stop]) > margin
        or (_margin(lines[stop]) == margin and lines[stop][margin:].startswith(("- ", "* ")))
    ):
        stop += 1
    return dedent("\n".join(lines[start:stop])).splitlines()


def _until_next(lines: list[str], start: int) -> list[str]:
    stop = next((i for i in range(start, len(lines)) if _opens(lines, i)), len(lines))
    return dedent("\n".join(lines[start:stop])).splitlines()


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _text(first: str, rest: list[str]) -> str:
    """Join a description: its first line, and the others without their common margin."""
    return f"{first.strip()}\n{dedent(chr(10).join(rest))}".strip()


# -- one parameter

_NAME = re.compile(r"(?:[-*+] +)?[`*]*(\w+)[`*]*\s*")  # `n`, *args, - n
_SAYS = re.compile(r"\s*(?::(?!:)|\s-+\s|\s[–—]\s)\s*(.*)")


def _field(lines: list[str], i: int) -> list[tuple[str, str]]:
    """Read `:param int n: How many.` and the lines below that stand further in."""
    found = _FIELD.match(lines[i])
    words = found[2].split() if found and found[1] in _PARAMETER_FIELDS else []
    return [(words[-1].strip("*`"), _text(found[3], _below(lines, i + 1, _margin(lines[i]))))] if words else []


def _listed(lines: list[str]) -> list[tuple[str, str]]:
    """Read `n (int): How many.` and what follows; a line that is no such thing belongs to the one before."""
    found: list[tuple[str, str, list[str]]] = []
    for line in lines:
        entry = _entry(line) if line[:1].strip() else None
        if entry:
            found.append((*entry, []))
        elif found:
            found[-1][2].append(line)
    return [(name, _text(first, rest)) for name, first, rest in found]


def _entry(line: str) -> tuple[str, str] | None:
    name = _NAME.match(line)
    if not name:
        return None
    says = _SAYS.fullmatch(line[name.end() - 1 :] if line[name.end() - 1] == " " else line[name.end() :])
    says = says or _SAYS.fullmatch(line, _after_bracket(line, name.end()))
    return (name[1], says[1]) if says else None


def _after_bracket(line: str, start: int) -> int:
    """Give the place behind the bracket that opens here, with the brackets inside it; `start` where none opens."""
    depth = 0
    for i in range(start, len(line)):
        depth += (line[i] in "([") - (line[i] in ")]")
        if depth <= 0:
            return i + 1 if i > start else start
    return start


def _ruled(lines: list[str]) -> list[tuple[str, str]]:
    """Read NumPy's `n, m : int` with the description below it."""
    found: list[tuple[list[str], list[str]]] = []
    for line in lines:
        if line[:1].strip():
            found.append(([name.strip(" *`") for name in re.split(r"\s*:(?:\s|$)", line)[0].split(",")], []))
        elif found:
            found[-1][1].append(line)
    return [(name, _text("", rest)) for names, rest in found for name in names]
