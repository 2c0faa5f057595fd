"""Function calling: the model names tools in a field of its own, `tool_calls`, and reads the results as tool messages.

The protocol is that of the chat completions API (https://platform.openai.com/docs/guides/function-calling). It refuses
a history in which a call has no result, a result has no call, or two calls share an id. So what the model wrote is
tidied before it becomes a message: calls get the ids they lack, and arguments that are no JSON object are sent back
inside one. The events keep the arguments as they were written, and note every id and name that was changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from .agent import Agent
from .llm import LLM, Reply
from .parsing import ACTION, DISCARDS, FINAL_ANSWER, has_label, parse
from .parsing import Action as ParsedAction
from .parsing import Answer as ParsedAnswer
from .state import Answer, Call, Message, Problem, State, Status, Thought, ToolCall
from .tools import MOST_TOOLS, Tool, ToolDefinitionError, shorten

INSTRUCTIONS = """\
Answer the question. Use the tools for what you do not know for certain, as often as you need; calls that do not depend
on each other can come in one reply. Answer in plain text as soon as you know."""

LONGEST_ID = 40  # characters, says the API

Select = Callable[[State, Sequence[Tool]], Iterable[Tool]]


class FunctionCalling(Agent):
    """An agent that acts through the API's own tool calls; the calls of one reply run at once.

    `select` says which of the tools the model is offered in a step, given the state and all of them: see
    `agentlib.tools.retrieval`. A tool that was not offered still runs when it is called. More than 128 tools need one,
    since the API takes no more in a request; without it ToolDefinitionError is raised.
    """

    def __init__(
        self,
        llm,
        tools: Iterable[Tool | Callable] = (),
        *,
        instructions: str = INSTRUCTIONS,
        select: Select | None = None,
        **settings,
    ) -> None:
        super().__init__(llm, tools, **settings)
        self.instructions = instructions
        self.select = select
        if select is None and len(self.toolbox.tools) > MOST_TOOLS:
            raise ToolDefinitionError(
                f"{len(self.toolbox.tools)} tools, and a request takes {MOST_TOOLS}: give `select`, such as BestTools()"
            )

    def opening(self, goal: str) -> tuple[Message, ...]:
        return Message("system", self.instructions), self.turn(goal)

    def turn(self, text: str) -> Message:
        return Message("user", text)

    def ask(self, state: State) -> Reply:
        return self.llm.chat(state.messages, tools=[tool.to_wire() for tool in self.offered(state)])

    def offered(self, state: State) -> tuple[Tool, ...]:
        """Give the tools that the model is offered next. Raises ValueError when `select` gives what cannot be sent."""
        tools = tuple(self.toolbox.tools.values())
        if self.select is None:
            return tools
        chosen = tuple(dict.fromkeys(self.select(state, tools)))
        if len(chosen) > MOST_TOOLS or not set(chosen) <= set(tools):
            raise ValueError(f"select gave {len(chosen)} tools; it gives at most {MOST_TOOLS}, all of them the agent's")
        return chosen

    def read(self, state: State, reply: Reply, *, edited: bool = False) -> State:
        """Add the reply. One that cannot be used goes back; calls are to be run; anything else is the answer."""
        if fault := _fault(reply) or self._call_in_text(reply):
            return self._send_back(state, reply, *fault, edited)
        if reply.tool_calls:
            return self._read_calls(state, reply, edited)
        origin = {"message": len(state.messages), "raw": reply.content, "edited": edited}
        answer = Answer(text=reply.content, **origin)
        cut = [Problem(kind="cut_off", text="the answer was cut off at the token limit", **origin)]
        notes = cut if reply.finish_reason == "length" else []
        return state.add(reply.message, answer, *notes, status=Status.DONE, reason="final_answer")

    def result(self, call: ToolCall, text: str) -> Message:
        return Message("tool", shorten(text), tool_call_id=call.id)

    def rewrite(self, state: State, index: int, thought: str | None, action: str | None) -> Reply:
        made = [event for event in state.events if isinstance(event, ToolCall) and event.message == index]
        if thought is not None and action is None and not made:
            raise ValueError(f"this reply is an answer and has no thought; change it with action='{FINAL_ANSWER}: …'")
        text = thought if thought is not None else state.messages[index].content if made else ""
        if action is None:
            return Reply(text, tool_calls=tuple(Call(call.id, call.name, call.arguments) for call in made))
        if isinstance(answer := _written(action.strip()), ParsedAnswer):  # which may have several lines
            return Reply(answer.text)
        calls = [Call("", *self.toolbox.resolve(each.tool, each.arguments)) for each in _actions(action)]
        return Reply(text, tool_calls=tuple(calls))

    def with_call(self, state: State, call: ToolCall, other: ToolCall) -> Message:
        message = state.messages[call.message]
        calls = (_sendable(other) if each.id == call.id else each for each in message.tool_calls)
        return replace(message, tool_calls=tuple(calls))

    def _read_calls(self, state: State, reply: Reply, edited: bool) -> State:
        origin = {"message": len(state.messages), "raw": reply.content, "edited": edited}
        named = [replace(call, name=self.toolbox.resolve_name(call.name)) for call in reply.tool_calls]
        taken = {event.id for event in state.events if isinstance(event, ToolCall)}
        ids = _ids([call.id for call in named], taken, state.usage.calls)
        calls = [ToolCall(id=i, name=c.name, arguments=c.arguments, **origin) for i, c in zip(ids, named, strict=True)]
        notes = [
            f"{part}: {old!r} became {new!r}"
            for was, now in zip(reply.tool_calls, calls, strict=True)
            for part, old, new in (("id", was.id, now.id), ("name", was.name, now.name))
            if old != new and not edited
        ]
        problems = [Problem(kind="repaired_calls", text="; ".join(notes), **origin)] if notes else []
        thought = [Thought(text=reply.content, **origin)] if reply.content.strip() else []
        message = Message("assistant", reply.content, tuple(map(_sendable, calls)))
        return state.add(message, *thought, *calls, *problems, pending=calls)

    def _call_in_text(self, reply: Reply) -> tuple[str, str] | None:
        """Say that a reply writes its call as text, as models do when their server did not read it: no answer."""
        found = None if reply.tool_calls else parse(reply.content)
        if not isinstance(found, ParsedAction):
            return None
        why = f"your call of {found.tool} stands in the text, so nothing was run; use the field for calls"
        return ("call_in_text", why) if self.toolbox.resolve_name(found.tool) in self.toolbox.tools else None

    def _send_back(self, state: State, reply: Reply, kind: str, why: str, edited: bool) -> State:
        """Send back a reply that cannot be used. Its text stays; its calls do not, since they have no result."""
        raw = json.dumps(reply.message.to_wire(), ensure_ascii=False) if reply.tool_calls else reply.content
        problem = Problem(message=len(state.messages), kind=kind, text=why, raw=raw, edited=edited)
        hint = f"Format error: {why}. Call a tool, or give the answer as text."
        return self.send_back(state, Message("assistant", reply.content), problem, hint)


def run_agent(goal: str, tools: Iterable[Tool | Callable], max_iterations: int = 10) -> State:
    """Run the model of the settings on a goal with these tools, and give the final state."""
    return FunctionCalling(LLM(), tools, max_iterations=max_iterations).run(goal)


def _fault(reply: Reply) -> tuple[str, str] | None:
    """Say what makes a reply unusable: its kind, and why; None when it can be used."""
    if reply.finish_reason == "length" and reply.tool_calls:
        return "cut_off_calls", "your reply was cut off at the token limit, perhaps inside a call, so nothing was run"
    if reply.tool_calls or reply.content.strip():
        missing = reply.finish_reason == "tool_calls" and not reply.tool_calls
        return ("format_error", "your reply announced tool calls and held none") if missing else None
    if reply.finish_reason == "length":
        return "empty_reply", "your reply was cut off at the token limit before it said anything"
    return "empty_reply", "your reply was empty"


def _ids(given: list[str], taken: set[str], number: int) -> list[str]:
    """Give each call an id of its own: the given one, unless it is missing, too long or was used before."""
    ids: list[str] = []
    for place, each in enumerate(given):
        used = taken.union(ids)
        fresh = (f"call_{number}_{place}{'_' * n}" for n in range(len(used) + 1))
        usable = each and each not in used and len(each) <= LONGEST_ID
        ids.append(each if usable else next(new for new in fresh if new not in used))
    return ids


def _sendable(call: ToolCall) -> Call:
    """Give a call as every server takes it back: a name of the allowed letters, and a JSON object as arguments."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "unnamed"
    if call.arguments.strip() in ("", "null"):
        return Call(call.id, name, "{}")
    is_object = isinstance(_parsed(call.arguments), dict)
    return Call(call.id, name, call.arguments if is_object else json.dumps({"as_written": call.arguments}))


def _parsed(text: str) -> object:
    """Give what a JSON text says, or None. NaN and Infinity, which Python reads, are not JSON."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _actions(text: str) -> list[ParsedAction]:
    """Read the calls that a person wrote: one, which may have several lines, or one in each line."""
    whole = _written(text.strip())
    if isinstance(whole, ParsedAction) and not any(note.kind in DISCARDS for note in whole.notes):
        return [whole]
    found = [_written(line) for line in text.split("\n") if line.strip()]
    if not found or not all(isinstance(each, ParsedAction) for each in found):
        raise ValueError(f"this is no call, such as search(query='x'), and no {FINAL_ANSWER}: {text[:60]!r}")
    return found


def _written(line: str) -> object:
    """Read a line that a person wrote, as the text protocol writes actions and answers."""
    return parse(line if has_label(line) else f"{ACTION}: {line}")
