"""Forks: a state that differs in what it last thought, did or observed, and runs on from there."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from .events import CUT, Decision, Event, Observation, ToolCall
from .state import State, Status
from .tools import Outcome

if TYPE_CHECKING:
    from .agent import Agent


def fork_reply(agent: Agent, state: State, thought: str | None, action: str | None) -> State:
    """Give the state with another last reply. Raises ValueError when this turn has none."""
    replies = [i for i, message in enumerate(state.messages) if message.role == "assistant"]
    if not replies or replies[-1] <= _start_of_turn(agent, state):
        raise ValueError("this state holds no reply of the model to change; fork a later one")
    index = replies[-1]
    return agent.read(_before(state, index), agent.rewrite(state, index, thought, action), edited=True)


def fork_observation(agent: Agent, state: State, text: str) -> State:
    """Give the state with another last observation; the calls after it in its reply wait again. Raises ValueError when
    this turn has none."""
    turn = _start_of_turn(agent, state)
    event = next((e for e in reversed(state.events) if isinstance(e, Observation) and e.message > turn), None)
    if event is None:
        raise ValueError("this state holds no observation to change; fork a later one")
    calls = calls_beside(state, event.call_id)
    pending = calls[[call.id for call in calls].index(event.call_id) :]
    events = _without_decisions(_before(state, event.message).events, pending)
    before = replace(_before(state, event.message), events=events, pending=pending)
    return agent.observe(before, Outcome(text), edited=True)


def calls_beside(state: State, call_id: str) -> list[ToolCall]:
    """Give the calls of the last reply that holds the call `call_id`, in their order."""
    call = next(event for event in reversed(state.events) if isinstance(event, ToolCall) and event.id == call_id)
    since = takewhile(lambda event: event.message in (CUT, call.message) or event.message > call.message,
                      reversed(state.events))  # fmt: skip
    return [event for event in since if isinstance(event, ToolCall) and event.message == call.message][::-1]


def _start_of_turn(agent: Agent, state: State) -> int:
    return max((i for i, message in enumerate(state.messages) if message == agent.turn(state.goal)), default=-1)


def _without_decisions(events: tuple[Event, ...], calls: list[ToolCall]) -> tuple[Event, ...]:
    """Drop what a person decided about calls that are open again."""
    ids = {call.id for call in calls}
    return tuple(event for event in events if not (isinstance(event, Decision) and event.call_id in ids))


def _before(state: State, index: int) -> State:
    """Give the running state as it was before message `index` was added; what was spent stays spent."""
    return replace(
        state,
        messages=state.messages[:index],
        events=tuple(event for event in state.events if event.message < index),
        pending=(),
        approved=(),
        status=Status.RUNNING,
        reason="",
    )
