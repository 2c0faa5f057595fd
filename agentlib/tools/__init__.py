"""Tools: Python functions that a model may call, described by a schema, their arguments checked before they run."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .schema import ArgumentsError, Parameters, ToolDefinitionError

MAX_OBSERVATION = 4_000  # characters of a result that the model gets to see

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what the chat completions API accepts


@dataclass(frozen=True)
class Outcome:
    """What came of a call: the text of the result or of the error. `kind` is ok, unknown_tool, bad_arguments or
    tool_error; `repairs` says what was changed in the arguments, such as "n: str to int"."""

    text: str
    kind: str = "ok"
    repairs: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        return self.kind != "ok"


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


class Toolbox:
    """The tools of one agent, by name."""

    def __init__(self, tools: Iterable[Tool | Callable]) -> None:
        self.tools: dict[str, Tool] = {}
        for each in tools:
            made = each if isinstance(each, Tool) else Tool(each)
            if made.name in self.tools:
                raise ToolDefinitionError(f"two tools are named {made.name!r}")
            self.tools[made.name] = made

    def describe(self) -> str:
        """Give the tools as a list for a prompt, one line each."""
        return "\n".join(f"- {tool.signature}: {tool.description}" for tool in self.tools.values()) or "(no tools)"

    def resolve(self, name: str, arguments: str) -> tuple[str, str]:
        """Give a call with the tool's own name and its parameters' names, where what was written is unambiguous.

        `Search` means `search` when only that exists; the positional keys "0", "1" … take the names in their order.
        """
        same = [known for known in self.tools if known.lower() == name.lower()]
        name = same[0] if name not in self.tools and len(same) == 1 else name
        if name not in self.tools:
            return name, arguments
        names = list(self.tools[name].parameters["properties"])
        given = json.loads(arguments)
        positions = {str(i): known for i, known in enumerate(names) if known not in given and str(i) not in names}
        return name, json.dumps({positions.get(key, key): value for key, value in given.items()}, ensure_ascii=False)

    def run(self, name: str, arguments: str) -> Outcome:
        """Check the arguments (the text of a JSON object), call the tool and give what came of it, errors too."""
        if name not in self.tools:
            known = ", ".join(self.tools) or "none"
            return Outcome(f"Error: unknown tool {name!r}. The tools are: {known}", "unknown_tool")
        tool = self.tools[name]
        try:
            values, repairs = tool.bind(arguments)
        except ArgumentsError as error:
            return Outcome(f"Error: {error}. The tool is {tool.signature}", "bad_arguments")
        try:
            return Outcome(_to_text(_finished(tool.function(**values))), "ok", repairs)
        except Exception as error:  # whatever a tool raises is for the model; KeyboardInterrupt is for the person
            return Outcome(f"Error: {_said(error)}", "tool_error", repairs)


def shorten(text: str, limit: int = MAX_OBSERVATION) -> str:
    """Keep the head and the tail of a text that is longer than `limit` characters, and say what was left out."""
    if len(text) <= limit:
        return text
    marker = f"\n[… {len(text)} characters, truncated …]\n"
    head = (limit - len(marker)) * 2 // 3
    return text[:head] + marker + text[len(text) - (limit - len(marker) - head) :]


def _found(function: Callable) -> Any:
    """Give what stands in the function's module under its name."""
    found = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found


# -- from a docstring, and to a text

_SECTION = re.compile(  # in the styles of Google, NumPy and Sphinx
    r"^ *(?:(?:Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?) *(?:: *$|\n *---)|:\w)",
    re.MULTILINE,
)


def _summary(function: Callable) -> str:
    """Give the docstring up to its section on arguments, on one line."""
    return " ".join(_SECTION.split(inspect.getdoc(function) or "", maxsplit=1)[0].split())


def _finished(result: Any) -> Any:
    """Wait for the result of an async function, also where an event loop already runs, as in a notebook."""
    if not inspect.isawaitable(result):
        return result

    async def wait() -> Any:
        return await result

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()


def _said(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:  # a class of the tool's own may fail at this, too
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _to_text(result: Any) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, set | frozenset):
        result = sorted(result, key=repr)  # a set has another order in each process
    try:
        return json.dumps(result, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(result)
