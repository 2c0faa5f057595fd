"""References in instructions: ${id} or $id stands for the result of a task.

A text is read once, from left to right. A result that is filled in is never read again, whatever it holds; what names
no task stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

# ${any id}, or $id as far as its letters, digits, hyphens and underscores go: $1 is not found inside $10. What goes on
# with a point and a digit is an amount of money: $1.50.
_REFERENCE = re.compile(r"\$\{([^{}]*+)\}|\$(?!\d++\.\d)(\w++(?:-++\w++)*+)")
MOST_PARTS = 20  # of an id with hyphens; a longer one is named with braces


def referenced(value: Any, known: Collection[str]) -> tuple[str, ...]:
    """Give the ids in `known` that a text, or a list or a dict of texts, refers to, in their order, each once."""
    return tuple(dict.fromkeys(name for text in _texts(value) for name, _ in _found(text, known) if name in known))


def unresolved(value: Any, known: Collection[str]) -> tuple[str, ...]:
    """Give what looks like a reference and names nothing in `known`."""
    return tuple(dict.fromkeys(name for text in _texts(value) for name, _ in _found(text, known) if name not in known))


def substitute(value: Any, results: Mapping[str, str]) -> Any:
    """Give the value with each reference replaced by its result, in lists and dicts too."""
    if isinstance(value, str):
        return _REFERENCE.sub(lambda match: _filled(match, results), value)
    if isinstance(value, Mapping):
        return {key: substitute(each, results) for key, each in value.items()}
    return [substitute(each, results) for each in value] if isinstance(value, list | tuple) else value


def _filled(match: re.Match, results: Mapping[str, str]) -> str:
    name, rest = _meant(match, results)
    return results[name] + rest if name in results else match[0]


def _found(text: str, known: Collection[str]) -> list[tuple[str, str]]:
    return [_meant(match, known) for match in _REFERENCE.finditer(text)]


def _meant(match: re.Match, known: Collection[str]) -> tuple[str, str]:
    """Give the id that is meant, and what of the match comes after it: in $a-b the id may be a-b, or a."""
    if match[1] is not None:
        return match[1].strip(), ""
    written = match[2]
    ends = [len(written), *(dash.start() for dash in reversed([*re.finditer("-+", written)]))][:MOST_PARTS]
    end = next((end for end in ends if written[:end] in known), len(written))
    return written[:end], written[end:]


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    within = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [text for each in within for text in _texts(each)]
