"""A tool: a function with a name, a description and a schema of its parameters."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any

from .schema import Parameters, ToolDefinitionError

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what the chat completions API accepts


class Tool:
    """A function with a name, a description and a schema of its parameters. It can still be called as it was."""

    def __init__(self, function: Callable, name: str | None = None, description: str | None = None) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "") if name is None else name
        if not _NAME.fullmatch(self.name):
            raise ToolDefinitionError(f"{self.name!r} cannot be a tool's name: use 1 to 64 of A-Z a-z 0-9 _ -")
        _ = self._parameters  # raises here, where the tool is defined
        self.description = _summary(function) if description is None else description

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
        return Parameters(self.function, self.name)

    @property
    def parameters(self) -> dict:
        """The JSON Schema of the arguments: always an object."""
        return self._parameters.schema

    @property
    def signature(self) -> str:
        """The tool in one line for a prompt, such as `weather(city: string, days: integer = 1)`."""
        return f"{self.name}({self._parameters.line})"

    def bind(self, arguments: str) -> tuple[dict, tuple[str, ...]]:
        """Give the arguments (the text of a JSON object) as the function wants them, and the repairs made."""
        return self._parameters.bind(arguments)


def tool(function: Callable) -> Tool:
    """Make a function a tool: `@tool` above its definition."""
    return Tool(function)


def _found(function: Callable) -> Any:
    """Give what stands in the function's module under its name."""
    found = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found


_SECTION = re.compile(  # in the styles of Google, NumPy and Sphinx
    r"^ *(?:(?:Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?) *(?:: *$|\n *---)|:\w)",
    re.MULTILINE,
)


def _summary(function: Callable) -> str:
    """Give the docstring up to its section on arguments, on one line."""
    return " ".join(_SECTION.split(inspect.getdoc(function) or "", maxsplit=1)[0].split())
