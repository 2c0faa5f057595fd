"""Approval: a call of a tool that writes waits for a person, who lets it run, refuses it, or changes it.

    state = agent.run("Refund order A-1042.")        # waiting (approval); state.pending[0] is the exact call
    state = agent.run(agent.approve(state))          # or agent.reject(state, reason="…"), or agent.edit(state, …)

A decision is bound to the call with its arguments: a call that was changed waits again. All of it is in the state, so
a run that waits can be saved, and decided on another day. `attended` asks whenever a run waits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from .events import Decision, ToolCall
from .exactly import exactly
from .state import State, Status
from .tools import ArgumentsError, Outcome

if TYPE_CHECKING:
    from .agent import Agent

Decide = Callable[["Agent", State], State]


def approve(state: State, call_id: str | None) -> State:
    """Let the waiting call run. Raises ValueError for a call that does not wait yet, or that never was."""
    call = waiting(state, call_id)
    if call is None:
        return state
    decision = Decision(message=call.message, call_id=call.id, verdict="approved")
    return _decided(state, decision, approved=(*state.approved, call))


def reject(agent: Agent, state: State, call_id: str | None, reason: str) -> State:
    """Answer the waiting call with a refusal and its reason. Raises ValueError as `approve` does."""
    call = waiting(state, call_id)
    return state if call is None else _refused(agent, state, call, reason, "rejected by a person")


def edit(agent: Agent, state: State, call_id: str | None, arguments: str | dict) -> State:
    """Give the waiting call other arguments, in the message too. Raises ValueError as `approve` does, and when they do
    not fit the tool."""
    call = waiting(state, call_id)
    if call is None:
        return state
    if call.name not in agent.toolbox.tools:
        raise ValueError(f"this agent has no tool {call.name!r}, which the call that waits is for")
    try:
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        agent.toolbox.tools[call.name].bind(written)
    except (ArgumentsError, TypeError) as error:  # a set is no JSON
        raise ValueError(f"these arguments do not fit {call.name}: {error}") from None
    changed = replace(call, arguments=written, edited=True)
    message = agent.with_call(state, call, changed)
    decision = Decision(message=call.message, call_id=call.id, verdict="edited", text=f"was {call}")
    return replace(
        state,
        messages=(*state.messages[: call.message], message, *state.messages[call.message + 1 :]),
        events=(*(changed if event == call else event for event in state.events), decision),
        pending=(changed, *state.pending[1:]),
    )


def waiting(state: State, call_id: str | None = None) -> ToolCall | None:
    """Give the call that waits for a decision; None when there is none, or when `call_id` was decided before."""
    call = state.pending[0] if state.status is Status.WAITING and state.pending else None
    if call_id is None or (call and call.id == call_id):
        return call
    if call and any(each.id == call_id for each in state.pending):
        raise ValueError(f"{call_id} waits behind {call.id}; decide on {call.id} first")
    if not any(isinstance(event, ToolCall) and event.id == call_id for event in state.events):
        raise ValueError(f"this state holds no call {call_id!r}")
    if any(each.id == call_id for each in state.pending) and all(each.id != call_id for each in state.approved):
        raise ValueError(f"{call_id} does not wait yet; take a step first")
    return None


def _refused(agent: Agent, state: State, call: ToolCall, reason: str, how: str) -> State:
    decision = Decision(message=call.message, call_id=call.id, verdict="rejected", text=reason)
    return agent.observe(_decided(state, decision), Outcome(f"Error: {how}{': ' * bool(reason)}{reason}", "rejected"))


def _decided(state: State, decision: Decision, **changes) -> State:
    return replace(state, events=(*state.events, decision), status=Status.RUNNING, reason="", **changes)


# -- who decides


def attended(agent: Agent, start: str | State, decide: Decide) -> Iterator[State]:
    """Yield every state of a run, as `agent.steps` does; where it waits, `decide` gives the state to go on from."""
    last, decided = None, start
    while decided != last:
        for state in agent.steps(decided):
            yield state
        last, decided = state, decide(agent, state) if state.status is Status.WAITING else state


def reject_all(agent: Agent, state: State) -> State:
    """Decide where nobody is there to ask."""
    call = waiting(state)
    return state if call is None else _refused(agent, state, call, "nobody was there to approve it", "not approved")


def ask_in_terminal(agent: Agent, state: State) -> State:
    """Show the waiting call in the terminal and ask. An empty line, or no input any more, rejects."""
    call = state.pending[0]
    print(f"\nThis call writes, and waits for you: {exactly(str(call)).removeprefix('Action: ')}")
    try:
        said = input("Approve it? [y]es, [e]dit its arguments, or the reason why not: ").strip()
        if said.lower() in ("y", "yes"):
            return agent.approve(state)
        if said.lower() in ("e", "edit"):
            return agent.edit(state, arguments=input(f"Arguments as JSON, instead of {exactly(call.arguments)}: "))
    except EOFError:
        return reject_all(agent, state)
    except ValueError as error:
        print(error)
        return ask_in_terminal(agent, state)
    return agent.reject(state, reason="" if said.lower() in ("", "n", "no") else said)
