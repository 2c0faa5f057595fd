"""The tools of one agent, by name, and what comes of their calls."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ..parsing.spelling import meant
from .running import TooLong, awaited, run_together, was_interrupted, within
from .schema import ArgumentsError, ToolDefinitionError
from .tool import Tool

if TYPE_CHECKING:
    from ..events import ToolCall

MAX_OBSERVATION = 4_000  # characters of a result that the model gets to see
MOST_TOOLS = 128  # in one request to the chat completions API


@dataclass(frozen=True)
class Outcome:
    """What came of a call: the text of the result or of the error, and `repairs`: what was changed in the arguments,
    such as "n: str to int". `kind` is one of

        ok              the tool's result
        unknown_tool    there is no such tool
        bad_arguments   they do not fit; nothing was run
        tool_error      the tool raised
        timeout         the tool took too long
        rejected        a person said no
        not_alone       a final tool was called beside others
        cancelled       the user interrupted, and the tool may have been under way
        not_executed    the user interrupted, and the tool had not started
    """

    text: str
    kind: str = "ok"
    repairs: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        return self.kind != "ok"


CANCELLED = Outcome("Error: cancelled by an interrupt; it may have had its effect", "cancelled")
NOT_EXECUTED = Outcome("Error: not executed: the run was interrupted", "not_executed")
INTERRUPTED = (CANCELLED.kind, NOT_EXECUTED.kind)


class Toolbox:
    """The tools of one agent, by name."""

    def __init__(self, tools: Iterable[Tool | Callable]) -> None:
        self.tools: dict[str, Tool] = {}
        if isinstance(tools, str | Tool) or not isinstance(tools, Iterable):
            raise ToolDefinitionError(f"tools are given as a list, such as tools=[search]; this is {tools!r}")
        for each in tools:
            made = each if isinstance(each, Tool) else Tool(each)
            if made.name in self.tools:
                raise ToolDefinitionError(f"two tools are named {made.name!r}")
            self.tools[made.name] = made

    def describe(self) -> str:
        """Give the tools as a list for a prompt, one line each."""
        return "\n".join(f"- {tool.signature}: {tool.description}" for tool in self.tools.values()) or "(no tools)"

    # -- what was meant

    def resolve_name(self, name: str) -> str:
        """Give the tool's own name where only its case, or a prefix such as `functions.`, is another; a tool that
        writes is called by its exact name or not at all."""
        if name in self.tools:
            return name
        same = [known for known in self.tools if known.lower() in (name.lower(), name.lower().rpartition(".")[2])]
        return same[0] if len(same) == 1 and not self.tools[same[0]].writes else name

    def resolve(self, name: str, arguments: str) -> tuple[str, str]:
        """Give a call (arguments: the text of a JSON object) with the tool's own name and its parameters' names: the
        positional keys "0", "1" … take the names in their order."""
        name = self.resolve_name(name)
        if name not in self.tools:
            return name, arguments
        names = list(self.tools[name].parameters["properties"])
        given = json.loads(arguments)
        positions = {str(i): known for i, known in enumerate(names) if known not in given and str(i) not in names}
        return name, json.dumps({positions.get(key, key): value for key, value in given.items()}, ensure_ascii=False)

    # -- what runs

    def writes(self, call: ToolCall) -> bool:
        """Say whether the call is to a tool that writes."""
        return call.name in self.tools and self.tools[call.name].writes

    def stage(self, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
        """Give those of the calls that run next: one that writes by itself, else all up to the first that does."""
        return [*takewhile(lambda call: not self.writes(call), calls)] or calls[:1]

    def refused(self, call: ToolCall, alone: bool) -> Outcome | None:
        """Say why a call to a known tool cannot run at all; None when it can. `alone`: its reply asked for no other."""
        tool = self.tools[call.name]
        if tool.final and not alone:  # it would hand in what it cannot know yet
            text = f"Error: {call.name} ends the run; call it alone, after you have read the other results"
            return Outcome(text, "not_alone")
        outcome = self._bound(tool, call.arguments)
        return outcome if isinstance(outcome, Outcome) else None

    def run_all(self, calls: Sequence[ToolCall], limit: int, alone: bool) -> list[Outcome]:
        """Run calls together, at most `limit` at a time. `alone`: their reply asked for one call only."""
        works = [lambda call=call: self._run_among(call, alone) for call in calls]
        return [_outcome(future) for future in run_together(works, limit)]

    def _run_among(self, call: ToolCall, alone: bool) -> Outcome:
        tool = self.tools.get(call.name)
        refused = self.refused(call, alone) if tool is not None and tool.final else None
        return refused or self.run(call.name, call.arguments)

    def run(self, name: str, arguments: str) -> Outcome:
        """Check the arguments (the text of a JSON object), call the tool and give what came of it, errors too."""
        if name not in self.tools:
            return Outcome(f"Error: unknown tool {name!r}. {self._known(name)}", "unknown_tool")
        tool = self.tools[name]
        bound = self._bound(tool, arguments)
        if isinstance(bound, Outcome):
            return bound
        values, repairs = bound
        try:
            return Outcome(within(tool.timeout, lambda: _result(tool, values)), "ok", repairs)
        except TooLong:
            late = "; it may still have its effect" if tool.writes else ""
            return Outcome(f"Error: {name} gave no result within {tool.timeout:g} seconds{late}", "timeout", repairs)
        except (Exception, asyncio.CancelledError) as error:  # for the model; KeyboardInterrupt is for the person
            return Outcome(f"Error: {_said(error)}", "tool_error", repairs)

    def _bound(self, tool: Tool, arguments: str) -> tuple[dict, tuple[str, ...]] | Outcome:
        """Give the arguments as the function wants them, with the repairs made; or what is wrong with them."""
        try:
            return tool.bind(arguments)
        except ArgumentsError as error:
            return Outcome(f"Error: {error}. The tool is {tool.signature}", "bad_arguments")
        except Exception as error:  # a validator of the tool's own may raise anything
            return Outcome(f"Error: the arguments cannot be checked: {_said(error)}", "bad_arguments")

    def _known(self, name: str) -> str:
        near = meant(name.rpartition(".")[2], self.tools)
        hint = f"Did you mean {near}? " if near else ""
        return f"{hint}The tools are: {', '.join(self.tools) or 'none'}"


def shorten(text: str, limit: int = MAX_OBSERVATION) -> str:
    """Keep the head and the tail of a text that is longer than `limit` characters, and say what was left out."""
    if len(text) <= limit:
        return text
    marker = f"\n[… {len(text)} characters, truncated …]\n"
    head = (limit - len(marker)) * 2 // 3
    return text[:head] + marker + text[len(text) - (limit - len(marker) - head) :]


def _outcome(future: Future[Outcome]) -> Outcome:
    """Read what came of a call that ran beside others. Raises what a tool may raise through the loop: SystemExit."""
    if future.cancelled():
        return NOT_EXECUTED
    if not future.done() or was_interrupted(future):
        return CANCELLED
    return future.result()


def _result(tool: Tool, values: dict) -> str:
    """Call the tool, wait for it, and give its result as a text: all of it counts as the tool's time."""
    return _to_text(awaited(tool.function(**values), tool.timeout))


def _said(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:  # a class of the tool's own may fail at this, too
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _to_text(result: Any) -> str:
    """Give a result as a model reads it: a text as it is, data as JSON, anything else as it describes itself."""
    data = result if isinstance(result, _JSON) else _plain(result)
    if isinstance(data, str):
        return data
    try:
        return json.dumps(data, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):  # keys that are no texts, a list that holds itself
        return str(data)


_JSON = str | dict | list | tuple | int | float | None


def _plain(value: Any) -> Any:
    """Give the JSON data of what json does not know: models, dataclasses, dates, decimals, sets, objects."""
    from pydantic_core import to_jsonable_python

    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)  # a set has another order in each process
    try:
        return to_jsonable_python(value, fallback=_described)
    except ValueError:  # bytes that are no text
        return _described(value)


def _described(value: Any) -> str:
    """Give an object as it describes itself, without its address, which differs in each run."""
    silent = type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__
    return f"<{type(value).__name__}>" if silent else re.sub(r" at 0x[0-9A-Fa-f]+", "", str(value))
