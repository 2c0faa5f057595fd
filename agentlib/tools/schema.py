"""From a Python function to the schema of its parameters, and from a model's JSON to its arguments.

pydantic makes the schema from the signature and validates; `fitting` repairs what nearly fits. This module words every
error so that a model can act on it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import cached_property
from typing import Any

from .fitting import REPAIRS, ArgumentsError, read_arguments


class ToolDefinitionError(TypeError):
    """A function that cannot be described to a model. Raised when the tool is defined, not when it is called."""


class Parameters:
    """The parameters of a function. Raises ToolDefinitionError for what a model cannot be told about."""

    def __init__(self, function: Callable, tool: str) -> None:
        fields = _fields(function, tool)
        self._aliases = {name: f"field_{i}" for i, name in enumerate(fields)}  # one may be named like a method
        self._model = _model(fields, self._aliases, tool)

    @cached_property
    def schema(self) -> dict:
        """The JSON Schema of the arguments: always an object."""
        schema = self._model.model_json_schema()
        return {"type": "object", "properties": {}} | {k: v for k, v in schema.items() if k != "title"}

    @cached_property
    def line(self) -> str:
        """The parameters as in a prompt, such as `city: string, days: integer = 1`."""
        parts = []
        for name, schema in self.schema["properties"].items():
            default = f" = {json.dumps(schema['default'], ensure_ascii=False)}" if "default" in schema else ""
            parts.append(f"{name}: {_type_words(schema, self.schema.get('$defs', {}))}{default}")
        return ", ".join(parts)

    def bind(self, arguments: str | None) -> tuple[dict, tuple[str, ...]]:
        """Give the arguments (the text of a JSON object) as the function wants them, and the repairs made.

        Raises ArgumentsError.
        """
        given, repairs = read_arguments(arguments, self.schema)
        values, errors = self._checked(given)
        first = errors  # they name the fields as the model wrote them
        for repair in REPAIRS if errors else ():
            given, made = repair(given, errors, list(self._aliases))
            if made:
                values, errors = self._checked(given)
                repairs += made
        if errors:
            raise ArgumentsError(_explain(first, list(self._aliases)))
        return values, repairs

    def _checked(self, arguments: dict) -> tuple[dict, list[dict]]:
        """Give the values that the function gets, and what the schema refuses."""
        from pydantic import ValidationError

        try:
            return self._validated(arguments), []
        except ValidationError as error:
            return {}, error.errors(include_url=False)

    def _validated(self, arguments: dict) -> dict:
        model = self._model.model_validate_json(json.dumps(arguments), strict=True)
        return {name: getattr(model, alias) for name, alias in self._aliases.items()}


# -- from a function to fields

_REQUIRED = object()


def _fields(function: Callable, tool: str) -> dict[str, tuple[Any, Any]]:
    """Give each parameter's type and default."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except Exception as error:  # annotations that are texts are evaluated, which may raise anything
        raise ToolDefinitionError(f"tool {tool!r}: {error}") from None
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolDefinitionError(f"tool {tool!r} is a generator; return a list or a text")
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ToolDefinitionError(f"tool {tool!r}: parameter {str(parameter)!r} cannot be described to a model")
        if parameter.name in ("self", "cls"):
            raise ToolDefinitionError(f"tool {tool!r}: {parameter.name!r} is open; give the method of an object")
    empty = inspect.Parameter.empty
    return {
        name: (Any if p.annotation is empty else p.annotation, _REQUIRED if p.default is empty else p.default)
        for name, p in signature.parameters.items()
    }


def _model(fields: dict[str, tuple[Any, Any]], aliases: dict[str, str], tool: str) -> Any:
    """Make the pydantic model of the fields."""
    from pydantic import ConfigDict, Field, create_model
    from pydantic.errors import PydanticUserError

    described = {
        aliases[name]: (hint, Field(**({} if default is _REQUIRED else {"default": default}), alias=name))
        for name, (hint, default) in fields.items()
    }
    try:
        model = create_model(tool, __config__=ConfigDict(extra="forbid"), **described)
        model.model_json_schema()
        return model
    except PydanticUserError as error:
        types = ", ".join(f"{name}: {hint!r}" for name, (hint, _) in fields.items())
        first = str(error).split("\n", 1)[0].split(". ", 1)[0]
        raise ToolDefinitionError(f"tool {tool!r} has a type that JSON cannot hold ({types}): {first}") from None


def _type_words(schema: dict, definitions: dict) -> str:
    if "$ref" in schema:
        return _type_words(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    if "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if "anyOf" in schema:
        return " or ".join(_type_words(each, definitions) for each in schema["anyOf"])
    return schema.get("type", "any")


# -- from errors to words


def _explain(errors: list[dict], allowed: list[str]) -> str:
    """Name what is missing, what is unexpected and what has the wrong type, in words a model can act on."""
    where = {kind: [_place(e) for e in errors if e["type"] == kind] for kind in ("missing", "extra_forbidden")}
    parts = [f"missing: {', '.join(where['missing'])}"] if where["missing"] else []
    if where["extra_forbidden"]:
        parts.append(f"unexpected: {', '.join(where['extra_forbidden'])} (allowed: {', '.join(allowed) or 'none'})")
    for error in errors:
        if error["type"] not in where:
            place = _place(error)
            got = json.dumps(error["input"], ensure_ascii=False)[:60]
            parts.append(f"{place}{': ' * bool(place)}{error['msg']}, got {got}")
    return "; ".join(parts)


def _place(error: dict) -> str:
    return ".".join(map(str, error["loc"]))
