"""Arguments that nearly fit a tool: the repairs that leave no doubt about what was meant.

A repair is made only where the schema refuses the arguments, never touches a value that fits, and counts only when all
of the result fits. Each gives the arguments as they are now, and says in words what it did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ..parsing.notation import Unreadable
from ..parsing.repairing import mended_value
from ..parsing.spelling import meant


class ArgumentsError(ValueError):
    """Arguments that do not fit the tool. The text names every field at fault and is written for the model."""


Repaired = tuple[dict, tuple[str, ...]]


# -- from a text to an object


def read_arguments(text: str | None, schema: dict) -> Repaired:
    """Read the text of a JSON object. No text at all and null are no arguments. Raises ArgumentsError."""
    text = (text or "").strip()
    if text in ("", "null"):
        return {}, ()
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _read_without_json(text, schema, str(error))
    if isinstance(given, str) and isinstance(inner := _json_in(given), dict):
        return inner, ("arguments: JSON inside a text",)
    if not isinstance(given, dict):
        raise ArgumentsError(f"the arguments are not a JSON object, but {text[:60]}")
    return given, ()


def _read_without_json(text: str, schema: dict, fault: str) -> Repaired:
    """Read what is nearly JSON, or a bare text where the tool requires one text and nothing else."""
    try:
        found = mended_value(text, 0, len(text))
    except Unreadable:
        found = None
    if found and found.end == len(text):
        return found.value, tuple(f"arguments: {note.kind}" for note in found.notes)
    required = schema.get("required", [])
    bare = len(required) == 1 and schema["properties"][required[0]].get("type") == "string"
    if not bare or text[0] in "{[\"'":  # a broken object, list or string is not a text of its own
        raise ArgumentsError(f"the arguments are not JSON that can be read: {fault}")
    return {required[0]: text}, (f"{required[0]}: bare text",)


def _json_in(text: str) -> Any:
    try:
        return json.loads(text) if text.lstrip().startswith(("{", "[")) else None
    except (ValueError, RecursionError):
        return None


# -- from an object to one that fits

_WRAPPERS = {"arguments", "parameters", "args", "params", "kwargs", "input", "properties", "action_input", "tool_input"}


def unpack(given: dict, errors: list[dict], names: list[str]) -> Repaired:
    """Take out arguments that stand one level too deep: {"arguments": {…}}, {"query": {"query": "x"}}."""
    refused = {error["loc"][0] for error in errors if error["loc"]}
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


def rename(given: dict, errors: list[dict], names: list[str]) -> Repaired:
    """Correct a key that is a slip of the pen for one parameter that is not given."""
    free = [name for name in names if name not in given]
    near = {key: name for key in given if key not in names and (name := meant(key, free))}
    near = {key: name for key, name in near.items() if [*near.values()].count(name) == 1}
    repairs = tuple(f"{key}: meant {name}" for key, name in near.items())
    return {near.get(key, key): value for key, value in given.items()}, repairs


def convert(given: dict, errors: list[dict], names: list[str]) -> Repaired:
    """Change each value that was refused into the type that is wanted, where nothing is lost by it."""
    converted, repairs = dict(given), []
    for error in errors:
        change, value = _LOSSLESS.get(error["type"]), error["input"]
        if change and len(error["loc"]) == 1 and (new := change(value)) is not None:
            name = error["loc"][0]
            converted[name] = new
            repairs.append(f"{name}: {type(value).__name__} to {type(new).__name__}")
    return converted, tuple(repairs)


REPAIRS = (unpack, rename, convert)


def _integer(value: Any) -> int | None:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else None  # beyond, a float skips integers
    return int(value) if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", value) else None


def _float(value: Any) -> float | None:
    number = r"\s*[+-]?[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?\s*"
    return float(value) if isinstance(value, str) and re.fullmatch(number, value) else None


def _list(value: Any) -> list | None:
    """Give the list in a text, or a list of the one value; a text with commas may be one or several."""
    if isinstance(value, str):
        inner = _json_in(value)
        return inner if isinstance(inner, list) else None if re.search(r"[,;\n\[]", value) else [value]
    return None if value is None else [value]


def _dict(value: Any) -> dict | None:
    inner = _json_in(value) if isinstance(value, str) else None
    return inner if isinstance(inner, dict) else None


_LOSSLESS: dict[str, Callable[[Any], Any]] = {
    "int_type": _integer,
    "float_type": _float,
    "bool_type": lambda value: {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None,
    "string_type": lambda value: json.dumps(value) if type(value) in (int, float) else None,
    "list_type": _list,
    "dict_type": _dict,
    "dataclass_type": _dict,
    "model_type": _dict,
}
