"""What does not fit a tool, in words that a model can act on; the same whoever checked the arguments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_MOST = 8  # faults that are told at once
_MOST_ALLOWED = 40  # names


class ArgumentsError(ValueError):
    """Arguments that do not fit the tool. The text names every field at fault and is written for the model."""


class ToolDefinitionError(TypeError):
    """A function that cannot be described to a model. Raised when the tool is defined, not when it is called."""


@dataclass(frozen=True)
class Fault:
    """One thing that does not fit. `place` is the way to it from the arguments; `kind` is missing, unexpected or wrong;
    `wanted` says what would fit instead of `value`."""

    place: tuple[str | int, ...]
    kind: str
    wanted: str = ""
    value: Any = None

    @property
    def where(self) -> str:
        return ".".join(map(str, self.place))


def explain(faults: Sequence[Fault], allowed: Sequence[str]) -> str:
    """Name what is missing, what is unexpected and what has the wrong type."""
    missing, unexpected = (_places(faults, kind) for kind in ("missing", "unexpected"))
    parts = [f"missing: {_listed(missing)}"] if missing else []
    if unexpected:
        parts.append(f"unexpected: {_listed(unexpected)}")
        if any(fault.kind == "unexpected" and len(fault.place) == 1 for fault in faults):  # else it is inside a value
            parts[-1] += f" (allowed: {_listed(allowed, _MOST_ALLOWED) or 'none'})"
    wrong: dict[str, list[Fault]] = {}
    for fault in faults:
        if fault.kind == "wrong":
            wrong.setdefault(fault.where, []).append(fault)
    parts += [_wrong(place, same) for place, same in list(wrong.items())[:_MOST]]
    told = "; ".join(parts) + (f"; and {len(wrong) - _MOST} more" if len(wrong) > _MOST else "")
    return told.encode(errors="backslashreplace").decode()  # half of a surrogate pair cannot be sent to the model


def _places(faults: Sequence[Fault], kind: str) -> list[str]:
    return list(dict.fromkeys(fault.where for fault in faults if fault.kind == kind))


def _listed(places: Sequence[str], most: int = _MOST) -> str:
    return ", ".join(places[:most]) + (f" and {len(places) - most} more" if len(places) > most else "")


_START = "Input should be "


def _wrong(place: str, faults: list[Fault]) -> str:
    """Word the faults of one value; where it had several types to choose from, each of them."""
    first, *others = dict.fromkeys(fault.wanted for fault in faults)
    wanted = " or ".join([first, *(each.removeprefix(_START) for each in others)])
    got = json.dumps(faults[0].value, ensure_ascii=False, default=str)[:60]
    return f"{place}{': ' * bool(place)}{wanted}, got {got}"
