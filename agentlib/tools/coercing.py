"""Values that nearly fit a JSON Schema, made to fit where nothing is lost by it: "3" to 3, at any depth.

A value that fits is never touched. Where a schema offers a choice, a change is made only if one result is possible.
Whether all of it fits in the end is for the validator to say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any

Fit = tuple[Any, tuple[str, ...]]  # a value, and what was done to it
_NONE_FITS = object()
_MOST_REFERENCES = 20  # one after the other, without a value between them


def fit(value: Any, schema: Any, root: dict, place: str, alone: bool = True) -> Fit | None:
    """Give the value as the schema wants it, or None where that would be a guess.

    `root` holds the definitions; `place` names the value in the words about repairs; `alone` says that the schema is
    not one of several to choose from.
    """
    schema = resolved(schema, root)
    choices = branches(schema)
    if "enum" in schema or "const" in schema:
        return _chosen(value, schema.get("enum", [schema.get("const")]), place)
    if choices:
        return _one_of(value, choices, root, place)
    kind = schema.get("type")
    if kind not in _FITS:
        return value, ()
    if not _FITS[kind](value):
        new = _changed(value, kind, alone)
        if new is _NONE_FITS:
            return None
        inner = fit(new, schema, root, place)
        return inner and (inner[0], (f"{place}: {_type(value)} to {_type(new)}", *inner[1]))
    if kind == "array":
        return _fit_items(value, schema, root, place)
    if kind == "object":
        return _fit_fields(value, schema, root, place)
    return _fit_text(value, schema, place) if kind == "string" else (value, ())


def resolved(schema: Any, root: dict) -> dict:
    """Give the schema that a `$ref` within the root stands for. `true` and what cannot be found allow anything."""
    for _ in range(_MOST_REFERENCES):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            break
        path, found = schema["$ref"].split("/"), root
        for key in path[1:] if path[0] == "#" else ():
            found = found.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        schema = found if path[0] == "#" else None
    return schema if isinstance(schema, dict) and "$ref" not in schema else {}


def branches(schema: dict) -> list[dict]:
    """Give the schemas of which one (or, with `allOf`, the only one) must fit; none where there is no choice."""
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return [schema | {"type": kind} for kind in kinds]
    alone = schema.get("allOf", [])
    return schema.get("anyOf") or schema.get("oneOf") or (alone if len(alone) == 1 else [])


# -- several schemas, or several values, to choose from


def _one_of(value: Any, choices: list[dict], root: dict, place: str) -> Fit | None:
    alone = len([each for each in choices if resolved(each, root).get("type") != "null"]) == 1
    found = [each for choice in choices if (each := fit(value, choice, root, place, alone))]
    exact = next((each for each in found if not each[1]), None)
    different = {_as_json(each[0]): each for each in reversed(found)}
    return exact or (next(iter(different.values())) if len(different) == 1 else None)


def _as_json(value: Any) -> str:
    """Give a text that is the same for the same JSON: 3 and 3.0 are one number."""
    return json.dumps(json.loads(json.dumps(value), parse_float=lambda text: _whole(float(text))), sort_keys=True)


def _whole(number: float) -> int | float:
    return int(number) if number.is_integer() else number


def _chosen(value: Any, choices: list, place: str) -> Fit | None:
    """Give the one choice that is written in other capitals, or as a text, or as a number."""
    if any(type(each) is type(value) and each == value for each in choices) or _number_in(value, choices):
        return value, ()
    if not isinstance(value, str | int | float):
        return None
    near = [each for each in choices if not isinstance(each, list | dict) and _plain(each) == _plain(value)]
    if len(near) != 1:
        return None
    is_text = isinstance(value, str) and isinstance(near[0], str)
    was, now = (value, near[0]) if is_text else (_type(value), _type(near[0]))
    return near[0], (f"{place}: {was} to {now}",)


def _number_in(value: Any, choices: list) -> bool:
    numbers = [each for each in choices if type(each) in (int, float)]
    return type(value) in (int, float) and value in numbers


def _plain(value: Any) -> str:
    return (value if isinstance(value, str) else json.dumps(value)).strip().casefold()


# -- what is inside


def _fit_items(value: list, schema: dict, root: dict, place: str) -> Fit | None:
    first, rest = schema.get("prefixItems", []), schema.get("items", {})
    fits = [fit(each, first[i] if i < len(first) else rest, root, f"{place}.{i}") for i, each in enumerate(value)]
    return None if None in fits else ([new for new, _ in fits], sum((made for _, made in fits), ()))


def _fit_fields(value: dict, schema: dict, root: dict, place: str) -> Fit | None:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    if set(schema.get("required", [])) - set(value) or (others is False and set(value) - set(known)):
        return None
    fits = {key: fit(each, known.get(key, others), root, f"{place}.{key}") for key, each in value.items()}
    if None in fits.values():
        return None
    return {key: new for key, (new, _) in fits.items()}, sum((made for _, made in fits.values()), ())


_YEAR_FIRST = re.compile(r"\s*([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[T ]00:00(?::00(?:\.0+)?)?)?\s*")


def _fit_text(value: str, schema: dict, place: str) -> Fit:
    """Give a date as ISO 8601 writes it, where the year stands first, so that day and month are in no doubt."""
    found = _YEAR_FIRST.fullmatch(value) if schema.get("format") == "date" else None
    try:
        new = date(*map(int, found.groups())).isoformat() if found else value
    except ValueError:  # there is no such day
        new = value
    return (new, (f"{place}: {value} to {new}",)) if new != value else (value, ())


# -- from one type to another

_FITS: dict[str, Callable[[Any], bool]] = {
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _changed(value: Any, kind: str, alone: bool) -> Any:
    """Give the value in a type, or _NONE_FITS. Only where no other type is possible, a number is made a text.

    One value is not made a list: a text there is as often the name of a list, or several things with commas.
    """
    if isinstance(value, str) and kind in _FROM_TEXT:
        return _FROM_TEXT[kind](value)
    if kind == "integer" and isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)  # beyond, a float skips integers
    return json.dumps(value) if kind == "string" and alone and type(value) in (int, float) else _NONE_FITS


def _integer(text: str) -> Any:
    return int(text) if re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text) else _NONE_FITS


def _number(text: str) -> Any:
    number = r"\s*[+-]?[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?\s*"
    return float(text) if re.fullmatch(number, text) else _NONE_FITS


def _json(kind: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            found = json.loads(text) if text.lstrip()[:1] in ("{", "[") else None
        except (ValueError, RecursionError):
            return _NONE_FITS
        return found if isinstance(found, kind) else _NONE_FITS

    return read


_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": lambda text: {"true": True, "false": False}.get(text.strip().lower(), _NONE_FITS),
    "null": lambda text: None if text in ("null", "None") else _NONE_FITS,
    "array": _json(list),
    "object": _json(dict),
}


def read_as(value: Any, kind: str) -> Any:
    """Give what a text says in a type of JSON Schema, such as 3 for "3"; where it says nothing, the value itself."""
    new = _FROM_TEXT[kind](value) if isinstance(value, str) and kind in _FROM_TEXT else _NONE_FITS
    return value if new is _NONE_FITS else new


def fits_type(value: Any, kind: str) -> bool:
    """Say whether a value has a type of JSON Schema; 3.0 is no integer here, as it is none to a Python function."""
    return _FITS[kind](value) if kind in _FITS else True


def type_of(value: Any) -> str:
    """Give the name of a value's type in JSON Schema."""
    return next((kind for kind, fits in _FITS.items() if fits(value)), "number")


def _type(value: Any) -> str:
    return "null" if value is None else type(value).__name__
