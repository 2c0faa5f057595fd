"""Asking a planner, a replanner or a synthesizer, be it a model or an agent."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from ..llm import LLMError, Reply
from ..state import APPROVAL, Problem, State, Status, Usage
from ..tools import Tool
from .prompts import as_goal
from .runs import TaskStatus
from .state import PLANNING, PlanState, waiting_calls

PLANNER, REPLANNER, SYNTHESIZER = "planner", "replanner", "synthesizer"


def role_of(state: PlanState) -> str:
    """Say who is asked where no task can run."""
    if state.plan is None:
        return PLANNER
    return SYNTHESIZER if all(run.status is TaskStatus.DONE for run in state.runs) else REPLANNER


def is_model(each: Any) -> bool:
    """Say whether this is a model, which answers messages, and no agent, which runs."""
    return hasattr(each, "chat")


def ask(state: PlanState, role: str, who: Any) -> tuple[PlanState, Reply | Exception | None]:
    """Send the conversation. Gives what it cost, and the reply; or why there is none; or None for an agent that has not
    come to its end: it waits for a person, or was interrupted."""
    if not is_model(who):
        return _run(state, role, who)
    try:
        reply = who.chat(state.messages)
    except Exception as error:  # whatever it is, the run ends in a state that says so
        return state, error
    return replace(state, iterations=state.iterations + 1, **state.spend(role, reply.usage)), reply


def _run(state: PlanState, role: str, agent: Any) -> tuple[PlanState, Reply | Exception | None]:
    """Run an agent on the conversation as one text, or from where it waited."""
    before = state.asked
    try:
        if before and before.status is Status.INTERRUPTED:
            before = agent.resume(before)
        inner = agent.run(before or as_goal(state.messages))
    except Exception as error:
        return replace(state, asked=None), error
    used = usage_since(before, inner)
    state = replace(state, iterations=state.iterations + used.calls, **state.spend(role, used))
    if inner.status is Status.WAITING:
        pending = waiting_calls(PLANNING, inner)
        return replace(state, asked=inner, pending=pending, status=inner.status, reason=APPROVAL), None
    if inner.status is Status.INTERRUPTED:
        return replace(state, asked=inner, status=inner.status, reason=inner.reason), None
    state = replace(state, asked=None)
    return state, Reply(inner.answer or "") if inner.status is Status.DONE else LLMError(inner.reason, why_not(inner))


def usage_since(before: State | None, now: State) -> Usage:
    """Give what a run cost between two of its states."""
    if before is None:
        return now.usage
    return Usage(*(getattr(now.usage, each.name) - getattr(before.usage, each.name) for each in fields(Usage)))


def why_not(inner: State) -> str:
    """Say why an agent has no answer."""
    problem = next((event.text for event in reversed(inner.events) if isinstance(event, Problem)), "")
    return f"stopped ({inner.reason}){': ' * bool(problem)}{problem}"


def tools_within(agent: Any) -> list[Tool]:
    """Give the tools that an agent has, or the agent within it."""
    toolbox = getattr(agent, "toolbox", None)
    if toolbox is not None:
        return [*toolbox.tools.values()]
    inner = getattr(agent, "agent", None) or getattr(agent, "actor", None)
    return [] if inner is None else tools_within(inner)
