"""ReAct: the model writes a thought and an action, we run the tool and write the observation (Yao et al. 2022)."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import takewhile

from .agent import Agent
from .parsing import ACTION, DISCARDS, FORMAT, OBSERVATION, STOP, THOUGHT, Note, Nothing, has_label, parse
from .parsing import Action as ParsedAction
from .parsing import Answer as ParsedAnswer
from .state import Answer, Message, Observation, Problem, State, Status, Thought, ToolCall
from .tools import shorten

PROMPT = """\
Answer the question. You can use these tools:

{tools}

Use exactly this format:

{format}"""

UNREADABLE = ("format_error", "empty_reply")


class ReAct(Agent):
    """An agent that speaks the ReAct text protocol of `agentlib.parsing`, so that any chat model will do."""

    def opening(self, goal: str) -> tuple[Message, ...]:
        prompt = PROMPT.format(tools=self.toolbox.describe(), format=FORMAT)
        return Message("system", prompt), self.turn(goal)

    def turn(self, text: str) -> Message:
        return Message("user", f"Question: {text}")

    def think(self, state: State) -> State:
        reply = self.llm.chat(state.messages, stop=STOP)
        asked = replace(state, iterations=state.iterations + 1, usage=state.usage + reply.usage)
        if reply.finish_reason == "content_filter":
            return asked.stop("content_filter", "the provider's filter withheld the reply; reword the question")
        return self.read(asked, reply.content, cut_off=reply.finish_reason == "length")

    def read(self, state: State, reply: str, *, cut_off: bool = False, edited: bool = False) -> State:
        found = parse(reply)
        if cut_off:
            found = _without_lost_end(found)
        if isinstance(found, Nothing):
            return self._read_nothing(state, found, reply, edited)
        origin = {"message": len(state.messages), "edited": edited}
        thought = [Thought(text=found.thought, raw=reply, **origin)] if found.thought else []
        problems = [Problem(kind=note.kind, text=note.text, raw=reply, **origin) for note in found.notes]
        message = Message("assistant", found.accepted)
        if isinstance(found, ParsedAnswer):
            answer = Answer(text=found.text, raw=reply, **origin)
            return state.add(message, *thought, answer, *problems, status=Status.DONE, reason="final_answer")
        name, arguments = self.toolbox.resolve(found.tool, found.arguments)
        call = ToolCall(id=f"call_{state.usage.calls}", name=name, arguments=arguments, raw=reply, **origin)
        return state.add(message, *thought, call, *problems, pending=(call,))

    def act(self, state: State) -> State:
        (call,) = state.pending
        outcome = self.toolbox.run(call.name, call.arguments)
        observed = self.observe(state, outcome.text, is_error=outcome.is_error)
        return _with_repairs(observed, outcome.repairs)

    def observe(self, state: State, text: str, *, is_error: bool = False, edited: bool = False) -> State:
        (call,) = state.pending
        message = Message("user", f"{OBSERVATION}: {shorten(text)}")
        event = Observation(
            message=len(state.messages), call_id=call.id, text=text, is_error=is_error, edited=edited
        )
        return state.add(message, event, pending=())

    def rewrite(self, state: State, index: int, thought: str | None, action: str | None) -> str:
        read = [event for event in state.events if event.message == index]
        if thought is None:
            thought = next((event.text for event in read if isinstance(event, Thought)), "")
        if action is None:
            action = next((_as_written(event) for event in read if isinstance(event, ToolCall | Answer)), "")
        elif not has_label(action):
            action = f"{ACTION}: {action}"
        return f"{THOUGHT}: {thought}\n{action}" if thought else action

    def _read_nothing(self, state: State, found: Nothing, reply: str, edited: bool) -> State:
        """Send an unreadable reply back with the format restated; stop after so many in a row."""
        kind = "format_error" if reply.strip() else "empty_reply"
        problem = Problem(message=len(state.messages), kind=kind, text=found.why, raw=reply, edited=edited)
        hint = f"Format error: {found.why}. Use exactly this format:\n\n{FORMAT}"
        state = state.add(Message("assistant", reply), problem).add(Message("user", hint))
        since_read = takewhile(lambda event: not isinstance(event, ToolCall | Answer), reversed(state.this_turn))
        in_a_row = sum(isinstance(event, Problem) and event.kind in UNREADABLE for event in since_read)
        if in_a_row >= self.max_format_errors:
            return replace(state, status=Status.STOPPED, reason=kind)
        return state


def _without_lost_end(found: ParsedAction | ParsedAnswer | Nothing) -> ParsedAction | ParsedAnswer | Nothing:
    """Judge a reply that was cut off at the token limit. What stands before other text was complete all the same."""
    if isinstance(found, Nothing):
        return replace(found, why=f"it was cut off at the token limit; {found.why}")
    if any(note.kind in DISCARDS for note in found.notes):
        return found
    if isinstance(found, ParsedAction):
        return Nothing(found.thought, "it was cut off at the token limit, perhaps in the middle of its action")
    return replace(found, notes=(*found.notes, Note("cut_off", "the answer was cut off at the token limit")))


def _with_repairs(state: State, repairs: tuple[str, ...]) -> State:
    """Record what was repaired in the arguments of the call just observed. The model sees the plain result."""
    if not repairs:
        return state
    problem = Problem(message=len(state.messages) - 1, kind="repaired_arguments", text="; ".join(repairs))
    return replace(state, events=(*state.events, problem))


def _as_written(event: ToolCall | Answer) -> str:
    """Write an event as a model would: a call as JSON where call syntax does not say the same."""
    line = str(event)
    if isinstance(event, Answer):
        return line
    found = parse(line)
    if isinstance(found, ParsedAction) and (found.tool, found.arguments) == (event.name, event.arguments):
        return line
    return f'{ACTION}: {{"name": {json.dumps(event.name)}, "arguments": {event.arguments}}}'
