"""ReAct: the model writes a thought and an action, we run the tool and write the observation (Yao et al. 2022)."""

from __future__ import annotations

import json
from dataclasses import replace

from .agent import Agent
from .llm import Reply
from .parsing import ACTION, DISCARDS, FORMAT, OBSERVATION, STOP, THOUGHT, Note, Nothing, has_label, parse
from .parsing import Action as ParsedAction
from .parsing import Answer as ParsedAnswer
from .state import Answer, Message, Problem, State, Status, Thought, ToolCall
from .tools import shorten

PROMPT = """\
Answer the question. You can use these tools:

{tools}

Use exactly this format:

{format}"""


class ReAct(Agent):
    """An agent that speaks the ReAct text protocol of `agentlib.parsing`, so that any chat model will do."""

    def opening(self, goal: str) -> tuple[Message, ...]:
        prompt = PROMPT.format(tools=self.toolbox.describe(), format=FORMAT)
        return Message("system", prompt), self.turn(goal)

    def turn(self, text: str) -> Message:
        return Message("user", f"Question: {text}")

    def ask(self, state: State) -> Reply:
        return self.llm.chat(state.messages, stop=STOP)

    def read(self, state: State, reply: Reply, *, edited: bool = False) -> State:
        raw = reply.content
        found = parse(raw)
        if reply.finish_reason == "length":
            found = _without_lost_end(found)
        if isinstance(found, Nothing):
            return self._read_nothing(state, found, raw, edited)
        origin = {"message": len(state.messages), "edited": edited}
        thought = [Thought(text=found.thought, raw=raw, **origin)] if found.thought else []
        problems = [Problem(kind=note.kind, text=note.text, raw=raw, **origin) for note in found.notes]
        message = Message("assistant", found.accepted)
        if isinstance(found, ParsedAnswer):
            answer = Answer(text=found.text, raw=raw, **origin)
            return state.add(message, *thought, answer, *problems, status=Status.DONE, reason="final_answer")
        name, arguments = self.toolbox.resolve(found.tool, found.arguments)
        call = ToolCall(id=f"call_{state.usage.calls}", name=name, arguments=arguments, raw=raw, **origin)
        return state.add(message, *thought, call, *problems, pending=(call,))

    def result(self, call: ToolCall, text: str) -> Message:
        return Message("user", f"{OBSERVATION}: {shorten(text)}")

    def rewrite(self, state: State, index: int, thought: str | None, action: str | None) -> Reply:
        read = [event for event in state.events if event.message == index]
        if thought is None:
            thought = next((event.text for event in read if isinstance(event, Thought)), "")
        if action is None:
            action = next((_as_written(event) for event in read if isinstance(event, ToolCall | Answer)), "")
        elif not has_label(action):
            action = f"{ACTION}: {action}"
        return Reply(f"{THOUGHT}: {thought}\n{action}" if thought else action)

    def with_call(self, state: State, call: ToolCall, other: ToolCall) -> Message:
        return self.rewrite(state, call.message, None, _as_written(other)).message

    def _read_nothing(self, state: State, found: Nothing, raw: str, edited: bool) -> State:
        """Send an unreadable reply back with the format restated."""
        kind = "format_error" if raw.strip() else "empty_reply"
        problem = Problem(message=len(state.messages), kind=kind, text=found.why, raw=raw, edited=edited)
        hint = f"Format error: {found.why}. Use exactly this format:\n\n{FORMAT}"
        return self.send_back(state, Message("assistant", raw), problem, hint)


def _without_lost_end(found: ParsedAction | ParsedAnswer | Nothing) -> ParsedAction | ParsedAnswer | Nothing:
    """Judge a reply that was cut off at the token limit. What stands before other text was complete all the same."""
    if isinstance(found, Nothing):
        return replace(found, why=f"it was cut off at the token limit; {found.why}")
    if any(note.kind in DISCARDS for note in found.notes):
        return found
    if isinstance(found, ParsedAction):
        return Nothing(found.thought, "it was cut off at the token limit, perhaps in the middle of its action")
    return replace(found, notes=(*found.notes, Note("cut_off", "the answer was cut off at the token limit")))


def _as_written(event: ToolCall | Answer) -> str:
    """Write an event as a model would: a call as JSON where call syntax does not say the same."""
    line = str(event)
    if isinstance(event, Answer):
        return line
    found = parse(line)
    if isinstance(found, ParsedAction) and (found.tool, found.arguments) == (event.name, event.arguments):
        return line
    return f'{ACTION}: {{"name": {json.dumps(event.name)}, "arguments": {event.arguments}}}'
