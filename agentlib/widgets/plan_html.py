"""A plan's run as HTML that reads without a script: one `<details>` for each step, with the graph as it was then.

A task is shown whole in each step that changed it, below the graph; the script opens it for the graph of a later step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..state import State
from .as_html import counters_html, events_html, head_html, waits_html
from .frames import Frame, frame
from .graph_html import MANY, caption, graph_html
from .message_html import escaped
from .plans import moved, tasks_of
from .task_html import task_html

STATUSES = ("done", "running", "waiting", "failed", "todo")


def plan_step(states: Sequence[State], number: int, first: int = 0) -> str:
    """Give one step of a run whose own steps begin at `first`: that one shows all tasks, since a script looks for them
    no further back."""
    of = frame(states, number)
    keys = task_keys(states[: number + 1])
    changed = moved(None if number == first else of.before, of.state)
    tasks = "".join(task_html(each, str(keys[each.task.id])) for each in changed)
    panels = f'<div class="als-panels"><div class="als-section-title">Tasks</div>{tasks}</div>' if tasks else ""
    top = f"{head_html(of)}\n{counters_html(of)}{waits_html(of)}"
    return f"{top}\n{_graph(of, keys)}{events_html(of)}{panels}</details>\n"


def task_keys(states: Sequence[State]) -> dict[str, int]:
    """Number the tasks of a run by their ids, in the order in which plans brought them."""
    plans = {id(state.plan): state for state in states if state.plan is not None}
    ids = (task.id for state in plans.values() for task in state.plan.tasks)
    return {name: number for number, name in enumerate(dict.fromkeys(ids))}


def by_status(state: State) -> Iterator[tuple[str, str]]:
    """Give each status that a task has, and the tasks that have it with what they depend on."""
    for status in STATUSES:
        named = [f"{task.id}{_after(task, status)}" for task, run in tasks_of(state) if run.status == status]
        if named:
            more = [f"and {len(named) - MANY:,} more"] if len(named) > MANY else []
            yield status, ", ".join([*named[:MANY], *more])


def dropped(state: State) -> str:
    """Name the tasks that revisions of the plan took out."""
    return ", ".join(f"{each.task.id} ({each.run.status})" for each in state.dropped)


def _after(task, status: str) -> str:
    return f" (after {', '.join(task.depends_on)})" if task.depends_on and status != "done" else ""


def _graph(of: Frame, keys: dict[str, int]) -> str:
    if not tasks_of(of.state):
        return '<div class="als-graph"><div class="als-note">There is no plan yet.</div></div>'
    texts = "".join(f"<div><b>{escaped(status)}:</b> {escaped(names)}</div>" for status, names in by_status(of.state))
    if names := dropped(of.state):
        texts += f'<div class="als-dropped"><b>dropped by a replan:</b> {escaped(names)}</div>'
    picture = graph_html(of.state, keys, {each.task.id for each in moved(of.before, of.state)})
    part = "; the picture shows what this step was about" if len(of.state.runs) > MANY else ""
    title = f'<div class="als-section-title">{escaped(caption(of.state))}{part}</div>'
    return f'<div class="als-section">{title}{picture}<div class="als-states">{texts}</div></div>'
