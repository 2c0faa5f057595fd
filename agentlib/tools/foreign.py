"""Tools whose JSON Schema comes from elsewhere: an MCP server, an OpenAPI description, a benchmark."""

from __future__ import annotations

from .schema import Parameters


class SchemaParameters(Parameters):
    """Parameters that a JSON Schema describes."""

    def __init__(self, schema: dict, tool: str) -> None:
        self._schema = {"type": "object", "properties": {}} | schema
        self._aliases = {name: name for name in self._schema["properties"]}

    @property
    def schema(self) -> dict:
        """The JSON Schema of the arguments: always an object."""
        return self._schema

    def _validated(self, arguments: dict) -> dict:
        from jsonschema import Draft202012Validator

        from .fitting import ArgumentsError

        error = next(Draft202012Validator(self._schema).iter_errors(arguments), None)
        if error:
            raise ArgumentsError(error.message)
        return arguments
