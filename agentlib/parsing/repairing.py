"""The notation of arguments that are nearly JSON: their punctuation is put right, and nothing else.

Arguments that were cut off are never completed: a call may not run with half of what was meant.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .notation import (
    FAULTS,
    Notation,
    Note,
    Read,
    Unreadable,
    call_arguments,
    closing,
    python_literal,
    read_json,
    to_json,
)
from .verifying import STRING, read_repaired


def mended_value(text: str, start: int, stop: int) -> Read | None:
    """Read an object that Python, full-width punctuation taken for its twin, or json-repair makes sense of.

    Raises Unreadable where no bracket closes it.
    """
    if not text.startswith(("{", "｛"), start):
        return None
    end = closing(text, start, stop)
    source = text[start:end]
    for kind, repair in _REPAIRS.items():
        try:
            value = repair(source)
        except FAULTS:
            continue
        if isinstance(value, dict):
            return Read(value, end, (Note(kind, source),))
    return None


def mended_call(text: str, start: int, stop: int) -> Read | None:
    """Read brackets like Python's in which full-width punctuation stands, or an object that can be mended."""
    try:
        end = closing(text, start, stop)
        inner = text[start + 1 : end - 1].strip()
        if inner.startswith(("{", "｛")):
            found = mended_value(inner, 0, len(inner))
            return replace(found, end=end) if found and found.end == len(inner) else None
        plain = plain_punctuation(inner)
        return Read(call_arguments(plain), end, (Note("punctuation", inner),)) if plain != inner else None
    except (Unreadable, *FAULTS):
        return None


MENDED = Notation(mended_value, mended_call)


# -- punctuation

_CURLY = re.compile(rf"{STRING}|“[^“”]*+”|‘[^‘’]*+’|＂[^＂]*+＂|[｛｝［］（），、：；＝]", re.DOTALL)
_TWINS = dict(zip("｛｝［］（），、：；＝", "{}[](),,:;=", strict=True))


def plain_punctuation(source: str) -> str:
    """Give the text with full-width punctuation and curly quotes as JSON has them; inside strings nothing changes."""
    return _CURLY.sub(lambda found: _plain(found[0]), source)


def _plain(token: str) -> str:
    if token[0] in "\"'\\":
        return token
    return _TWINS.get(token) or to_json(token[1:-1])


_PYTHON_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*+\\[0-7av]")
_QUOTE = re.compile(r"\s*+[\"']")


def _read_python(source: str) -> object:
    if any(_QUOTE.match(source, string.end()) for string in re.finditer(STRING, source, re.DOTALL)):
        raise ValueError("Python makes one text of two neighbours; a comma may be missing")
    if _PYTHON_ESCAPE.search(source):
        raise ValueError("Python makes a control character of what is more likely a pattern")
    return python_literal(source)


def _read_punctuation(source: str) -> object:
    plain = plain_punctuation(source)
    found = read_json(plain)
    return found[0] if found and found[1] == len(plain) else _read_python(plain)


def _read_repaired(source: str) -> object:
    return read_repaired(plain_punctuation(source))


_REPAIRS = {"python_literal": _read_python, "punctuation": _read_punctuation, "json_repair": _read_repaired}
