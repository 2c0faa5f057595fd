"""What there is to read of calls: one call, several, their results, and what a person decided about one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile

from ..exactly import exactly
from ..parsing import Action, parse
from ..state import Call, Decision, Event, Message, Observation, Problem, State, ToolCall
from .plans import inner_states

LONGEST = 100  # characters of a call that stands beside its result
TO_DECIDE = """\
state = agent.run(agent.approve(state))
state = agent.run(agent.reject(state, reason="…"))
state = agent.edit(state, arguments={…})  # then it waits again"""


def to_decide(call: ToolCall, named: bool) -> str:
    """Give the code that decides about a waiting call; `named` where it is one of several."""
    return re.sub(r"\.\w+\(state(?=[,)])", lambda found: f"{found[0]}, {call.id!r}", TO_DECIDE) if named else TO_DECIDE


def call_text(call: ToolCall | Call) -> tuple[str, str]:
    """Give a call's name, and its arguments in call syntax; arguments that are no JSON object stand as they are.

    Where call syntax cannot say the same, the name is '' and the call is written in JSON. What cannot be seen is
    written as its \\u escape, so that the text says all of it, and asks for the same call when it is read again.
    """
    try:
        return _call_text(call.name, call.arguments)
    except (ValueError, AttributeError, RecursionError):
        return call.name, f"({call.arguments})"


@lru_cache(maxsize=1024)
def _call_text(name: str, arguments: str) -> tuple[str, str]:
    written = exactly(str(ToolCall(message=0, id="", name=name, arguments=arguments, raw="")))
    given, read = json.loads(arguments), parse(written)
    reads_back = isinstance(read, Action) and read.tool == name and json.loads(read.arguments) == given
    if reads_back or not isinstance(given, dict):
        return name, written.removeprefix(f"Action: {name}")
    return "", exactly(json.dumps({"name": name, "arguments": given}, ensure_ascii=False))


def one_line(call: ToolCall | Call) -> str:
    """Give a call in a line, such as `weather(city="Rome")`."""
    return "".join(call_text(call))


def call_named(state: State, call_id: str) -> ToolCall:
    """Give the call of this id, such as `call_1`, or `refund/call_1` in a task; a nameless one when there is none."""
    nameless = ToolCall(message=-1, id=call_id, name="tool", arguments="{}", raw="")
    own = (e for e in reversed(state.events) if isinstance(e, ToolCall) and e.id == call_id)
    within = (inner for name, inner in inner_states(state) if call_id.startswith(f"{name}/"))
    found = next(own, None)
    if found is None and (inner := next(within, None)):
        return call_named(inner, call_id.partition("/")[2])
    return found or nameless


def calls_of_reply(state: State, call: ToolCall) -> list[ToolCall]:
    """Give the calls of the reply that asked for `call`."""
    since = takewhile(lambda event: event.message >= call.message, reversed(state.events))
    return [event for event in since if isinstance(event, ToolCall) and event.message == call.message]


def source(state: State, result: Observation) -> str:
    """Say what a result is from: its tool, and its arguments too where the reply asked for more than that."""
    call = call_named(state, result.call_id)
    if len(calls_of_reply(state, call)) < 2:
        return call.name
    line = one_line(call)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def said(state: State, event: Event) -> str:
    """Give an event as text: with the call that it answers or decides, where its own text leaves that open."""
    if isinstance(event, ToolCall):
        return f"Action: {one_line(event)}"
    if isinstance(event, Decision):
        return f"Decision: {event.verdict}: {decided(state, event)}"
    if isinstance(event, Observation) and len(calls_of_reply(state, call_named(state, event.call_id))) > 1:
        return f"Observation from {source(state, event)}: {event.text}"
    return str(event)


def listing(names: Iterable[str]) -> str:
    """Give names in a line, those that come again with their number: `weather ×2, search`."""
    return ", ".join(f"{name} ×{n}" if n > 1 else name for name, n in Counter(names).items())


def decided(state: State, decision: Decision) -> str:
    """Say what was decided about which call; of changed arguments, what they were: the call shows the new ones."""
    if decision.verdict == "edited":
        return exactly(decision.text.replace("was Action: ", "was ", 1))
    return "\n".join(filter(None, [one_line(call_named(state, decision.call_id)), decision.text]))


def discarded(problems: Iterable[Problem]) -> tuple[Call, ...]:
    """Give the calls that a reply held and its message does not, since the reply could not be used."""
    return tuple(call for problem in problems for call in _calls_in(problem.raw))


def _calls_in(raw: str) -> list[Call]:
    """Read the calls of a message that was kept in its wire form; text that is no such message holds none."""
    try:
        calls = [(call["id"], call["function"]) for call in json.loads(raw)["tool_calls"]]
        return [Call(str(call_id), str(f["name"]), str(f["arguments"])) for call_id, f in calls]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []


def extras(message: Message) -> dict:
    """Give what a message carries on the wire beside its role, its text, its calls and the call that it answers."""
    shown = {"role": True, "content": True, "tool_calls": message.tool_calls, "tool_call_id": message.tool_call_id}
    return {key: value for key, value in message.to_wire().items() if not shown.get(key)}


def size(message: Message) -> str:
    """Say how long a message is."""
    text, calls = len(message.content or ""), len(message.tool_calls)
    counts = [(text, "character")] if text or not calls else []
    counts += [(calls, "call")] if calls else []
    return ", ".join(f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counts)


def as_json(arguments: str) -> str:
    """Give arguments as JSON to read and to edit, a line for each."""
    try:
        return exactly(json.dumps(json.loads(arguments), ensure_ascii=False, indent=2))
    except (ValueError, RecursionError):
        return exactly(arguments)
