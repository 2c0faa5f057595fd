"""The tools of one agent, by name, and what comes of a call."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .schema import ArgumentsError, ToolDefinitionError
from .tool import Tool

MAX_OBSERVATION = 4_000  # characters of a result that the model gets to see


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
