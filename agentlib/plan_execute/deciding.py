"""A person's decision on a call that waits within a plan, at any depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..state import State, Status, ToolCall
from .runs import TaskStatus
from .state import PLANNING, PlanState, waiting_calls

Decide = Callable[[Any, State, str | None], State]  # agent, its state, the id of the call within it


def decided(state: PlanState, call_id: str | None, planner: Any, executor: Any, decide: Decide) -> PlanState:
    """Pass a decision on to the agent that asked for the call. Once it is decided, a second word changes nothing.

    `call_id` is as in `state.pending`, such as `refund/call_1`, or the agent's own id where no two tasks use it. Raises
    ValueError for a call that never was, that waits behind another, or that could be one of several.
    """
    if call_id is None:
        if state.status is not Status.WAITING or not state.pending:
            return state
        call_id = state.pending[0].id
    owner, within = _owner(state, call_id)
    if owner is None:
        return state
    if owner == PLANNING:
        return _asked(state, decide(planner, state.asked, within))
    place = state.plan.index[owner]
    run = state.runs[place]
    inner = decide(executor, run.inner, within)
    if inner == run.inner:
        return state
    waits = inner.status is Status.WAITING
    run = replace(run, inner=inner, status=TaskStatus.WAITING if waits else TaskStatus.TODO)
    goes_on = state.status is Status.WAITING and not waits
    return state.with_run(place, run, **({"status": Status.RUNNING, "reason": ""} if goes_on else {}))


def _asked(state: PlanState, inner: State) -> PlanState:
    if inner == state.asked:
        return state
    waits = inner.status is Status.WAITING
    status = {} if waits else {"status": Status.RUNNING, "reason": ""}
    return replace(state, asked=inner, pending=waiting_calls(PLANNING, inner), **status)


def _owner(state: PlanState, call_id: str) -> tuple[str | None, str]:
    """Give whose call it is, a task's, the planner's or (None) a dropped task's, and the id of the call within."""
    for name, _ in _inner(state):
        if call_id.startswith(f"{name}/"):
            return name, call_id.removeprefix(f"{name}/")
    owners = [name for name, inner in _inner(state) if _holds(inner, call_id)]
    dropped = [each.run.inner for each in state.dropped if each.run.inner]
    if not owners and any(_holds(inner, call_id.rpartition("/")[2]) for inner in dropped):
        return None, call_id
    if not owners:
        raise ValueError(f"this state holds no call {call_id!r}")
    if len(owners) > 1:
        ids = " or ".join(f"{name}/{call_id}" for name in owners)
        raise ValueError(f"{call_id!r} could be one of {len(owners)} calls; say which: {ids}")
    return owners[0], call_id


def _inner(state: PlanState) -> Iterator[tuple[str, State]]:
    if state.asked:
        yield PLANNING, state.asked
    yield from ((task.id, run.inner) for task, run in state.tasks if run.inner)


def _holds(inner: State, call_id: str) -> bool:
    if isinstance(inner, PlanState) and any(_holds(each, call_id) for _, each in _inner(inner)):
        return True
    return any(isinstance(event, ToolCall) and event.id == call_id for event in inner.events)
