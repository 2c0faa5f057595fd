"""From a Python function to the schema of its parameters, and from a model's JSON to its arguments.

pydantic makes the schema from the signature and validates; this module decides what counts as an unambiguous repair,
and words every error so that a model can act on it.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any


class ToolDefinitionError(TypeError):
    """A function that cannot be described to a model. Raised when the tool is defined, not when it is called."""


class ArgumentsError(ValueError):
    """Arguments that do not fit the tool. The text names every field at fault and is written for the model."""


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

    def bind(self, arguments: str) -> tuple[dict, tuple[str, ...]]:
        """Give the arguments (the text of a JSON object) as the function wants them, and the repairs made.

        Raises ArgumentsError.
        """
        from pydantic import ValidationError

        given = _object(arguments)
        try:
            return self._validated(given), ()
        except ValidationError as error:
            errors = error.errors(include_url=False)
        repaired, repairs = _repaired(given, errors)
        try:
            return self._validated(repaired), repairs
        except ValidationError:  # the first errors name the fields as the model wrote them
            raise ArgumentsError(_explain(errors, list(self._aliases))) from None

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


# -- from arguments to values


def _object(arguments: str) -> dict:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise ArgumentsError(f"the arguments are not JSON that can be read: {error}") from None
    if not isinstance(given, dict):
        raise ArgumentsError(f"the arguments are not a JSON object, but {arguments[:60]}")
    return given


def _repaired(arguments: dict, errors: list[dict]) -> tuple[dict, tuple[str, ...]]:
    """Change each scalar that the schema refused into the type it wants, where nothing is lost by it."""
    repaired, repairs = dict(arguments), []
    for error in errors:
        convert, value = _LOSSLESS.get(error["type"]), error["input"]
        if convert and len(error["loc"]) == 1 and (converted := convert(value)) is not None:
            name = error["loc"][0]
            repaired[name] = converted
            repairs.append(f"{name}: {type(value).__name__} to {type(converted).__name__}")
    return repaired, tuple(repairs)


def _integer(value: Any) -> int | None:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else None  # beyond, a float skips integers
    return int(value) if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", value) else None


def _float(value: Any) -> float | None:
    number = r"\s*[+-]?[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?\s*"
    return float(value) if isinstance(value, str) and re.fullmatch(number, value) else None


_LOSSLESS: dict[str, Callable[[Any], Any]] = {
    "int_type": _integer,
    "float_type": _float,
    "bool_type": lambda value: {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None,
    "string_type": lambda value: json.dumps(value) if type(value) in (int, float) else None,
}


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
