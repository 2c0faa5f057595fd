"""A plan's run as plain text: in each step, the tasks by their status, and what happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .as_text import clean, event_text, runs_text, waits_text
from .frames import Frame
from .graph_html import caption
from .plan_html import by_status, dropped
from .plans import tasks_of


def plan_text(runs: Sequence) -> str:
    """Give all runs as the PlanView shows them."""
    return runs_text(runs, "PlanView", _step)


def _step(of: Frame) -> Iterator[str]:
    yield f"-- Step {of.number} · {clean(of.label)} · {clean(of.title)}"
    yield f"   status {clean(of.status)}"
    if tasks_of(of.state):
        yield f"   {caption(of.state)}"
        yield from (f"   {status}: {clean(names)}" for status, names in by_status(of.state))
    if names := dropped(of.state):
        yield f"   dropped by a replan: {clean(names)}"
    yield from (event_text(of, event) for event in of.events)
    yield from waits_text(of)
