"""Arguments that nearly fit a tool: the repairs that leave no doubt about what was meant.

A repair is made only where the schema refuses the arguments, never touches a value that fits, and counts only when all
of the result fits. Each gives the arguments as they are now, and says in words what it did.
"""

from __future__ import annotations

import json
from typing import Any

from ..parsing.notation import Unreadable
from ..parsing.repairing import mended_value
from ..parsing.spelling import meant
from .coercing import fit, resolved
from .faults import ArgumentsError, Fault

Repaired = tuple[dict, tuple[str, ...]]


# -- from a text to an object


def read_arguments(text: str, bare: str | None) -> Repaired:
    """Read the text of a JSON object. No text at all and null are no arguments. Raises ArgumentsError.

    `bare` names the parameter for which a text that is no JSON may stand.
    """
    if text in ("", "null"):
        return {}, ()
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _read_without_json(text, bare, str(error))
    if isinstance(given, str) and isinstance(inner := _json_in(given), dict):
        return inner, ("arguments: JSON inside a text",)
    if not isinstance(given, dict):
        raise ArgumentsError(f"the arguments are not a JSON object, but {text[:60]}")
    return given, ()


def bare_text(schema: dict) -> str | None:
    """Give the parameter that is the only required one and a text; None where there is no such one."""
    required = schema.get("required", [])
    first = resolved(schema["properties"].get(required[0]), schema) if len(required) == 1 else {}
    return required[0] if first.get("type") == "string" and "enum" not in first else None


def _read_without_json(text: str, bare: str | None, fault: str) -> Repaired:
    """Read what is nearly JSON, or a bare text where one may stand."""
    try:
        found = mended_value(text, 0, len(text))
    except Unreadable:
        found = None
    if found and found.end == len(text):
        return found.value, tuple(f"arguments: {note.kind}" for note in found.notes)
    if not bare or text[0] in "{[\"'":  # a broken object, list or string is not a text of its own
        raise ArgumentsError(f"the arguments are not JSON that can be read: {fault}")
    return {bare: text}, (f"{bare}: bare text",)


def _json_in(text: str) -> Any:
    try:
        return json.loads(text) if text.lstrip().startswith(("{", "[")) else None
    except (ValueError, RecursionError):
        return None


# -- from an object to one that fits

_WRAPPERS = {"arguments", "parameters", "args", "params", "kwargs", "input", "properties", "action_input", "tool_input"}


def unpack(given: dict, faults: list[Fault], schema: dict) -> Repaired:
    """Take out arguments that stand one level too deep: {"arguments": {…}}, {"query": {"query": "x"}}."""
    names = list(schema["properties"])
    refused = {fault.place[0] for fault in faults if fault.place}
    if len(given) == 1:
        ((key, value),) = given.items()
        inner = _json_in(value) if isinstance(value, str) and key in _WRAPPERS else value
        known = isinstance(inner, dict) and set(inner) <= set(names)
        nested = known and key in inner if key in names else known or key in _WRAPPERS
        if isinstance(inner, dict) and nested and key in refused:
            return inner, (f"{key}: unpacked",)
    deep = [name for name in names if isinstance(given.get(name), dict) and [*given[name]] == [name]]
    taken = {name: given[name][name] for name in deep if name in refused}
    return given | taken, tuple(f"{name}: unpacked" for name in taken)


def rename(given: dict, faults: list[Fault], schema: dict) -> Repaired:
    """Correct a key that is a slip of the pen for one parameter that is not given."""
    names = list(schema["properties"])
    free = [name for name in names if name not in given]
    near = {key: name for key in given if key not in names and (name := meant(key, free))}
    near = {key: name for key, name in near.items() if [*near.values()].count(name) == 1}
    repairs = tuple(f"{key}: meant {name}" for key, name in near.items())
    return {near.get(key, key): value for key, value in given.items()}, repairs


def convert(given: dict, faults: list[Fault], schema: dict) -> Repaired:
    """Change what was refused into the type that is wanted, where nothing is lost by it."""
    converted, repairs = dict(given), ()
    for name in dict.fromkeys(fault.place[0] for fault in faults if fault.place):
        if name in given and name in schema["properties"]:
            found = _fit(given[name], schema, name)
            converted[name], made = found or (given[name], ())
            repairs += made
    return converted, repairs


def _fit(value: Any, schema: dict, name: str) -> tuple[Any, tuple[str, ...]] | None:
    try:
        return fit(value, schema["properties"][name], schema, name)
    except RecursionError:  # deeper than anybody means
        return None


LOSSLESS = (unpack, convert)
REPAIRS = (unpack, rename, convert)
