"""The parameters of a tool: their JSON Schema, and the way from a model's text to the arguments of a call."""

from __future__ import annotations

import json
import re
from functools import cached_property
from math import isfinite
from typing import Any

from .coercing import branches, resolved
from .faults import ArgumentsError, Fault, explain
from .fitting import LOSSLESS, REPAIRS, bare_text, read_arguments


class Parameters:
    """What all parameters have in common. A subclass gives `schema`, and `check` for a text."""

    schema: dict  # always an object, with `properties`

    def check(self, text: str) -> tuple[dict, list[Fault]]:
        """Give the values that the function gets, and what does not fit the schema."""
        raise NotImplementedError

    def bind(self, arguments: str | None, *, careful: bool = False) -> tuple[dict, tuple[str, ...]]:
        """Give the arguments (the text of a JSON object) as the function wants them, and the repairs made.

        `careful` leaves out the repairs that go by names or take a bare text for an argument: what a call writes, it
        writes as it was asked to. Raises ArgumentsError.
        """
        text = (arguments or "").strip()
        values, faults = self._checked(text)
        if not faults:
            return values, ()
        given, repairs = read_arguments(text, None if careful else bare_text(self.schema))
        values, faults = self._checked(json.dumps(given))
        first = faults  # they name the fields as the model wrote them
        for repair in (LOSSLESS if careful else REPAIRS) if faults else ():
            given, made = repair(given, faults, self.schema)
            if made:
                values, faults = self._checked(json.dumps(given))
                repairs += made
        if faults:
            raise ArgumentsError(explain(first, list(self.schema["properties"])))
        return values, repairs

    def _checked(self, text: str) -> tuple[dict, list[Fault]]:
        values, faults = self.check(text)
        if not faults and _PERHAPS_BEYOND.search(text):
            faults = _beyond(json.loads(text), ())
        return values, faults

    @cached_property
    def line(self) -> str:
        """The parameters as in a prompt, such as `city: string, days: integer = 1`."""
        parts = []
        for name, schema in self.schema["properties"].items():
            default = f" = {_json(schema['default'])}" if isinstance(schema, dict) and "default" in schema else ""
            parts.append(f"{name}: {_type_words(schema, self.schema)}{default}")
        return ", ".join(parts)


_PERHAPS_BEYOND = re.compile(r"NaN|Infinity|[0-9][eE]\+?[0-9]{3}")  # also where a text says so


def _beyond(value: Any, place: tuple) -> list[Fault]:
    """Name the numbers that JSON has not, NaN and infinity, though Python's reader and pydantic's take them."""
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        return [fault for key, each in inner for fault in _beyond(each, (*place, key))]
    is_number = not isinstance(value, float) or isfinite(value)
    return [] if is_number else [Fault(place, "wrong", "Input should be a finite number", value)]


_DEEPEST = 5  # choices within choices that the line spells out


def _type_words(schema: Any, root: dict, depth: int = 0) -> str:
    schema = resolved(schema, root)
    if "enum" in schema:
        return " or ".join(map(_json, schema["enum"]))
    if "const" in schema:
        return _json(schema["const"])
    choices = branches(schema) if depth < _DEEPEST else []
    words = [_type_words(each, root, depth + 1) for each in choices] or [str(schema.get("type", "any"))]
    return " or ".join(dict.fromkeys(words))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
