"""A tool: a function with a name, a description and a schema of its parameters."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, overload

from .docstrings import read_docstring
from .faults import ToolDefinitionError
from .foreign import SchemaParameters
from .origin import documented, named
from .parameters import Parameters
from .schema import FunctionParameters

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what the chat completions API accepts
_DESCRIPTION = 1024  # characters; more are refused, by OpenAI's servers at least

LONGEST = 86_400  # seconds


class Tool:
    """A function with a name, a description and a schema of its parameters. It can still be called as it was."""

    def __init__(
        self,
        function: Callable,
        name: str | None = None,
        description: str | None = None,
        *,
        writes: bool = False,
        final: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Describe a function. `writes`: it changes something, so a person is asked first. `final`: its result is the
        answer. `timeout`: seconds that a call may take. Raises ToolDefinitionError for what a model cannot be told."""
        self.function = function
        self.name = named(function) if name is None else name
        self.writes, self.final, self.timeout = writes, final, timeout
        self._given: dict | None = None
        self._check()
        self.description = read_docstring(documented(function)).summary if description is None else description

    @classmethod
    def from_schema(
        cls,
        name: str,
        description: str,
        parameters: dict | None,
        fn: Callable,
        *,
        writes: bool = False,
        final: bool = False,
        timeout: float | None = None,
    ) -> Tool:
        """Make a tool whose schema comes from elsewhere: an MCP server, an OpenAPI description, a benchmark.

        `fn` is called with keyword arguments. `parameters` is the JSON Schema of an object, or None for no parameters;
        `dialects` says what else is understood. Raises ToolDefinitionError for a schema that is none.
        """
        made = cls.__new__(cls)
        made.function, made.name, made.description = fn, name, description
        made.writes, made.final, made.timeout = writes, final, timeout
        made._given = {} if parameters is None else parameters
        made._check()
        return made

    def _check(self) -> None:
        """Refuse, where the tool is defined, what would fail when it is offered or called."""
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ToolDefinitionError(f"{self.name!r} cannot be a tool's name: use 1 to 64 of A-Z a-z 0-9 _ -")
        is_time = isinstance(self.timeout, int | float) and not isinstance(self.timeout, bool)
        if self.timeout is not None and not (is_time and 0 < self.timeout <= LONGEST):
            raise ToolDefinitionError(
                f"tool {self.name!r}: the timeout must be seconds above 0, up to a day, not {self.timeout!r}"
            )
        if not callable(self.function):
            raise ToolDefinitionError(f"tool {self.name!r}: {self.function!r} cannot be called")
        _ = self._parameters

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Tool({self.signature})"

    def __getstate__(self) -> dict:
        """Give what workers need to make the tool again: the function, pickled by its place in its module."""
        found = _found(self.function)
        if isinstance(found, Tool) and found.function is self.function:  # `@tool` took its place: look inside
            self.function.__qualname__ += ".function"
        return {name: value for name, value in vars(self).items() if name != "_parameters"}

    @cached_property
    def _parameters(self) -> Parameters:
        if self._given is not None:
            return SchemaParameters(self._given, self.name)
        return FunctionParameters(self.function, self.name)

    @property
    def parameters(self) -> dict:
        """The JSON Schema of the arguments: always an object."""
        return self._parameters.schema

    def to_wire(self) -> dict:
        """Give the tool as a request to the chat completions API holds it, in its list of `tools`."""
        text = self.description
        text = text if len(text) <= _DESCRIPTION else f"{text[: _DESCRIPTION - 1]}…"
        described = {"name": self.name, "description": text, "parameters": self.parameters}
        return {"type": "function", "function": described}

    @property
    def signature(self) -> str:
        """The tool in one line for a prompt, such as `weather(city: string, days: integer = 1)`."""
        return f"{self.name}({self._parameters.line})"

    def bind(self, arguments: str | None) -> tuple[dict, tuple[str, ...]]:
        """Give the arguments (the text of a JSON object) as the function wants them, and the repairs made.

        What is nearly right is repaired where that is no guess; with `writes`, only the types and the notation are.
        Raises ArgumentsError.
        """
        return self._parameters.bind(arguments, careful=self.writes)


@overload
def tool(function: Callable) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    writes: bool = False,
    final: bool = False,
    timeout: float | None = None,
) -> Callable[[Callable], Tool]: ...


def tool(function: Callable | None = None, **options: Any) -> Any:
    """Make a function a tool: `@tool` above its definition, or `@tool(writes=True, timeout=5.0)`."""
    return partial(Tool, **options) if function is None else Tool(function, **options)


def _found(function: Callable) -> Any:
    """Give what stands in the function's module under its name."""
    found = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found
