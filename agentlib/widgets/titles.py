"""A short sentence for each step: what happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..state import Evaluation, Observation, Problem, ToolCall
from . import plans
from .calls import call_named, listing

if TYPE_CHECKING:
    from .frames import Frame


def happened(of: Frame) -> str:
    """Say what the step of a frame did."""
    calls = [event.name for event in of.events if isinstance(event, ToolCall)]
    match of.kind:
        case "start" if of.events:
            return "The run as it was taken up here."
        case "start":
            return f"Nothing is sent yet: {_count(len(of.added), 'message')} ready."
        case "answer":
            return "The model answers."
        case "think" if calls:
            return f"The model asks for {listing(calls)}."
        case "think" if any(isinstance(event, Problem) for event in of.events):
            return "The model's reply could not be used."
        case "think":
            return "The model replies."
        case "check":
            verdicts = [event.verdict for event in of.events if isinstance(event, Evaluation)]
            return f"The answer was checked: {verdicts[-1]}."
        case "act":
            return f"Ran {of.label}{_failures(of.results)}."
        case "decide":
            call_id = of.decision.call_id
            name = f"{call_named(of.state, call_id).name}{plans.where(of.state, call_id)}"
            changed = f"A person changed the arguments of {name}."
            return changed if of.decision.verdict == "edited" else f"{name} was {of.decision.verdict}."
        case "wait" if of.waits:
            return f"{of.waits.name}{plans.where(of.state, of.waits.id)} waits for {of.state.reason}."
        case "turn":
            return "A new turn of the user."
        case "stop" | "wait":
            return f"The run is {of.state.status}: {of.state.reason}."
        case "plan" | "replan" | "task":
            return plans.happened(of.before, of.state, of.events)
        case "step" if plans.is_planned(of.state) and any(isinstance(event, Problem) for event in of.events):
            return "No new plan came: whoever was asked gave an error."
    return "The state changed."


def _failures(results: Sequence[Observation]) -> str:
    failed = sum(result.is_error for result in results)
    if failed and len(results) > 1:
        return f"; {failed} of {len(results)} gave an error"
    return ", which gave an error" * failed


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
