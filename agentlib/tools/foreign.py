"""Parameters whose JSON Schema comes from elsewhere: an MCP server, an OpenAPI description, a benchmark.

`jsonschema` validates (draft 2020-12); `dialects` first writes what is found in the wild as JSON Schema has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

from .coercing import fits_type
from .dialects import as_json_schema
from .faults import Fault, ToolDefinitionError
from .parameters import Parameters


class SchemaParameters(Parameters):
    """Parameters that a JSON Schema describes. Raises ToolDefinitionError for a schema that is none."""

    def __init__(self, schema: dict | None, tool: str) -> None:
        self.schema = as_json_schema(schema, tool)
        _check_schema(self.schema, tool)

    @cached_property
    def _validator(self) -> Any:
        return _validator(self.schema, {})

    def check(self, text: str) -> tuple[dict, list[Fault]]:
        """Give the arguments as they are, and what does not fit the schema."""
        try:
            given = json.loads(text)
            return given, [fault for error in self._validator.iter_errors(given) for fault in _faults(error)]
        except (ValueError, RecursionError) as error:
            return {}, [Fault((), "wrong", f"Input should be JSON ({error})", text)]


Formats = dict[str, Callable[[Any], bool]]  # for each format: whether a text is one


def faults_of(schema: dict, given: Any, only: tuple[str, ...], formats: Formats) -> list[Fault]:
    """Give what breaks the keywords in `only`."""
    errors = [
        error
        for error in _validator(schema, formats).iter_errors(given)
        if any(leaf.validator in only for leaf in _leaves(error))
    ]
    return [fault for error in errors for fault in _faults(error)]


def _validator(schema: dict, formats: Formats) -> Any:
    """Make the validator. Its registry is empty, so that no reference is ever fetched from elsewhere."""
    from jsonschema import FormatChecker
    from referencing import Registry

    checker = FormatChecker(formats=())
    checker.checkers = {name: (fits, ()) for name, fits in formats.items()}
    return _draft()(schema, registry=Registry(), format_checker=checker)


@cache
def _draft() -> Any:
    """Give draft 2020-12, but for the integer 3.0, which would be a float to the function."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: fits_type(value, "integer"))
    return extend(Draft202012Validator, type_checker=types)


def _check_schema(schema: dict, tool: str) -> None:
    from jsonschema import Draft202012Validator, FormatChecker, SchemaError

    try:
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(["regex"]))
    except SchemaError as error:
        where = ".".join(map(str, error.absolute_path)) or "the schema"
        raise ToolDefinitionError(f"tool {tool!r}: {where}: {error.message[:200]}") from None


# -- from the validator's errors to faults, in pydantic's words

_WORDS: dict[str, Callable[[Any], str]] = {
    "minimum": "greater than or equal to {}".format,
    "maximum": "less than or equal to {}".format,
    "exclusiveMinimum": "greater than {}".format,
    "exclusiveMaximum": "less than {}".format,
    "multipleOf": "a multiple of {}".format,
    "minLength": "a string of at least {} characters".format,
    "maxLength": "a string of at most {} characters".format,
    "pattern": "a string that matches {}".format,
    "minItems": "an array of at least {} items".format,
    "maxItems": "an array of at most {} items".format,
    "const": lambda value: _written(value),
    "enum": lambda values: " or ".join(filter(None, [", ".join(map(_written, values[:-1])), _written(values[-1])])),
    "uniqueItems": lambda _: "an array of different items",
    "format": lambda name: f"a {name} as ISO 8601 writes it",
    "type": lambda kinds: " or ".join(_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)),
}
_TYPES = {kind: f"a valid {kind}" for kind in ("string", "integer", "number", "boolean", "array")}
_TYPES |= {"object": "an object", "null": "null"}


def _written(value: Any) -> str:
    return repr(value) if isinstance(value, str) else json.dumps(value)


def _leaves(error: Any) -> list[Any]:
    """Give the errors of each schema that could be chosen, or the error itself."""
    return [leaf for inner in error.context for leaf in _leaves(inner)] or [error]


def _faults(error: Any) -> list[Fault]:
    return [fault for leaf in _leaves(error) for fault in _leaf_faults(leaf)]


def _leaf_faults(error: Any) -> list[Fault]:
    place, value = tuple(error.absolute_path), error.instance
    if error.validator == "required":
        return [Fault((*place, name), "missing") for name in error.validator_value if name not in value]
    if error.validator in ("additionalProperties", "unevaluatedProperties") and error.validator_value is False:
        known = error.schema.get("properties", {})
        return [Fault((*place, name), "unexpected") for name in value if name not in known]
    rule = "enum" if error.validator == "type" and "enum" in error.schema else error.validator  # which says more
    words = _WORDS.get(rule)
    wanted = words(error.schema[rule]) if words else f"accepted by {rule!r} in the schema"
    return [Fault(place, "wrong", f"Input should be {wanted}", value)]
