"""From a Python function to the schema of its parameters, and from a model's JSON to its arguments.

pydantic makes the schema from the signature and validates; `fitting` repairs what nearly fits.
"""

from __future__ import annotations

import inspect
import json
import re
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

from .docstrings import read_docstring
from .faults import ArgumentsError, Fault, ToolDefinitionError
from .hints import Hinted, described_as, for_pydantic
from .origin import documented, hidden, resolved_hint, signature
from .parameters import Parameters

__all__ = ["ArgumentsError", "FunctionParameters", "ToolDefinitionError"]

_LAX = re.compile(r'"format": "(?:date|time|duration)|"(?:enum|const)": (?:\[[^]]*?\b|-)?[0-9]')


class FunctionParameters(Parameters):
    """The parameters of a function. Raises ToolDefinitionError for what a model cannot be told about."""

    def __init__(self, function: Callable, tool: str) -> None:
        hints = _hints(function, tool)
        said = read_docstring(documented(function)).parameters
        unknown = [name for name in said if name not in hints and name not in hidden(function)]
        if unknown:
            warnings.warn(f"tool {tool!r}: the docstring describes {', '.join(unknown)}, which is no parameter "
                          f"(there are: {', '.join(hints) or 'none'})", stacklevel=6)  # fmt: skip
        self._aliases = {name: f"field_{i}" for i, name in enumerate(hints)}  # one may be named like a method
        self._model = _model(hints, said, self._aliases, tool)
        self.schema = _schema(self._model)

    @cached_property
    def _is_lax(self) -> bool:
        """Say whether pydantic takes more than the schema says: true for the choice 1, a text of digits for a date."""
        return self._is_open or bool(_LAX.search(json.dumps(self.schema)))

    @cached_property
    def _is_open(self) -> bool:
        """Say whether a model in it takes keys that it does not name."""
        return any("properties" in each and each.get("additionalProperties") for each in
                   self.schema.get("$defs", {}).values())  # fmt: skip

    def check(self, text: str) -> tuple[dict, list[Fault]]:
        """Give the values that the function gets, and what does not fit the schema."""
        from pydantic import ValidationError

        try:
            model = self._model.model_validate_json(text, strict=True, extra=None if self._is_open else "forbid")
        except ValidationError as error:
            return {}, [_fault(each, text) for each in error.errors(include_url=False)]
        if self._is_lax and (faults := _overlooked(self.schema, text)):
            return {}, faults
        return {name: getattr(model, alias) for name, alias in self._aliases.items()}, []


# -- from a function to a model


def _hints(function: Callable, tool: str) -> dict[str, Hinted]:
    """Give each parameter's type and default."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolDefinitionError(f"tool {tool!r} is a generator; return a list or a text")
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(f"tool {tool!r}: {error}") from None
    found = {}
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ToolDefinitionError(f"tool {tool!r}: parameter {str(parameter)!r} cannot be described to a model")
        if parameter.name in ("self", "cls"):
            raise ToolDefinitionError(f"tool {tool!r}: {parameter.name!r} is open; give the method of an object")
        try:
            hint = resolved_hint(function, parameter)
        except Exception as error:  # an annotation that is a text is evaluated, which may raise anything
            raise ToolDefinitionError(f"tool {tool!r}: parameter {parameter.name!r}: {error}") from None
        found[parameter.name] = Hinted(for_pydantic(hint), parameter.default)
    return found


def _model(hints: dict[str, Hinted], said: dict[str, str], aliases: dict[str, str], tool: str) -> Any:
    """Make the pydantic model of the parameters, one after the other, so that an error can name the one at fault."""
    fields: dict[str, Any] = {}
    for name, hinted in hints.items():
        fields[aliases[name]] = described_as(hinted, name, said.get(name))
        try:
            _schema(_made({aliases[name]: fields[aliases[name]]}, tool))
        except Exception as error:  # a class may bring a schema of its own, which may raise anything
            why = str(error).split("\n", 1)[0].split(". ", 1)[0] or type(error).__name__
            what = f"tool {tool!r} has a type that JSON cannot hold ({name}: {hinted.hint!r})"
            raise ToolDefinitionError(" ".join(f"{what}: {why}".split())) from None
    return _made(fields, tool)


def _made(fields: dict[str, Any], tool: str) -> Any:
    from pydantic import ConfigDict, create_model

    return create_model(tool, __config__=ConfigDict(extra="forbid"), **fields)


def _schema(model: Any) -> dict:
    """Give the JSON Schema of a model: always an object, and without the titles that repeat the names."""
    from pydantic.json_schema import GenerateJsonSchema

    class Untitled(GenerateJsonSchema):
        ignored_warning_kinds = GenerateJsonSchema.ignored_warning_kinds | {"non-serializable-default"}

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

        def model_schema(self, schema: Any) -> dict:
            """Say that a model takes no other keys unless its author said so: they would be dropped unseen."""
            made, extra = super().model_schema(schema), schema["cls"].model_config.get("extra", "forbid")
            return ({"additionalProperties": extra != "forbid"} if "properties" in made else {}) | made

    made = model.model_json_schema(schema_generator=Untitled)
    return {"type": "object", "properties": {}} | {k: v for k, v in made.items() if k != "title"}


# -- from pydantic's errors to faults

_KINDS = {
    "missing": "missing",
    "missing_argument": "missing",
    "missing_keyword_only_argument": "missing",
    "extra_forbidden": "unexpected",
    "unexpected_keyword_argument": "unexpected",
}


def _fault(error: dict, text: str) -> Fault:
    kind = _KINDS.get(error["type"], "wrong")
    given = json.loads(text) if error["loc"] else None  # what has a place could be read
    return Fault(_place(error["loc"], given, kind), kind, error["msg"], error["input"])


def _place(loc: tuple, value: Any, kind: str) -> tuple:
    """Give the way through the arguments; pydantic names on it the types that it tried, too."""
    place = []
    for i, key in enumerate(loc):
        if (isinstance(value, dict) and key in value) or (isinstance(value, list) and isinstance(key, int)):
            value = value[key]
            place.append(key)
        elif i == len(loc) - 1 and kind == "missing":
            place.append(key)
    return tuple(place)


def _overlooked(schema: dict, text: str) -> list[Fault]:
    """Give what JSON Schema refuses among choices of numbers and dates, where pydantic does not."""
    from .foreign import faults_of

    digits = re.compile(r"\s*[+-]?[0-9.]+\s*")
    dates = ("date", "date-time", "time", "duration")
    return faults_of(schema, json.loads(text), only=("enum", "const", "format", "additionalProperties"),
                     formats={each: lambda value: not digits.fullmatch(str(value)) for each in dates})  # fmt: skip
