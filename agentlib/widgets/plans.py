"""What there is to read of a plan's run. It looks at the fields of states and imports no strategy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..state import Decision, Event, State

PLANNER = "(planner)"  # stands in the ids of pending calls where a task's id does: the planner's own calls
EXECUTOR = "executor"


@dataclass(frozen=True)
class Moved:
    """A task that a step brought, or whose run it changed: its place in the plan, its run, and the run before."""

    place: int
    task: Any
    run: Any
    before: Any = None

    @property
    def begins(self) -> bool:
        """Whether the step began it."""
        return self.run.status == "running" and (self.before is None or self.before.status != "running")


def is_planned(state: State) -> bool:
    """Say whether a state is one of a run with a plan, be it made already or not."""
    return hasattr(state, "runs") and hasattr(state, "plan")


def tasks_of(state: State | None) -> tuple[tuple[Any, Any], ...]:
    """Give the tasks of a state's plan, each with its run; none for a state without a plan."""
    return () if getattr(state, "plan", None) is None else tuple(state.tasks)


def moved(before: State | None, state: State) -> tuple[Moved, ...]:
    """Give the tasks that are new in a state, or whose run is another than before, in the order of the plan."""
    then = {task.id: (task, run) for task, run in tasks_of(before)}
    found = []
    for place, (task, run) in enumerate(tasks_of(state)):
        old_task, old_run = then.get(task.id, (None, None))
        known = old_task is task or old_task == task
        if not known or (old_run is not run and old_run != run):
            found.append(Moved(place, task, run, old_run if known else None))
    return tuple(found)


def is_plan(event: Event) -> bool:
    """Say whether an event is a plan that was taken up."""
    return hasattr(event, "plan")


def is_result(event: Event) -> bool:
    """Say whether an event tells what came of a task."""
    return hasattr(event, "task") and hasattr(event, "status")


def plan_number(state: State) -> int:
    """Say how many plans the turn has had: 2 after the first replan."""
    return sum(map(is_plan, state.this_turn))


def own_calls(state: State) -> int:
    """Count the model calls of the conversation itself; those within the tasks of a plan are not among them."""
    return state.usage.calls - sum(each.usage.calls for each in getattr(state, "spent", ()) if each.role == EXECUTOR)


def inner_states(state: State | None) -> Iterator[tuple[str, State]]:
    """Give the states of the agents within a run, each with whose it is."""
    if getattr(state, "asked", None):
        yield PLANNER, state.asked
    yield from ((task.id, run.inner) for task, run in tasks_of(state) if run.inner)


def decisions_within(before: State, state: State) -> Iterator[Decision]:
    """Give what a person decided between two states about calls within them; the ids are those of `pending`."""
    then = dict(inner_states(before))
    for name, inner in inner_states(state):
        old = then.get(name)
        if old is None or old is inner:
            continue
        own = (event for event in inner.events[len(old.events) :] if isinstance(event, Decision))
        for event in (*own, *decisions_within(old, inner)):
            yield replace(event, call_id=f"{name}/{event.call_id}")


def where(state: State, call_id: str) -> str:
    """Say in which task a call is, as in " in task b"; '' for a call of the run's own."""
    if not is_planned(state):
        return ""
    owners = [name for name, _ in inner_states(state) if call_id.startswith(f"{name}/")]
    return "".join(" of the planner" if name == PLANNER else f" in task {name}" for name in owners[:1])


def kind(before: State, state: State, events: Iterable[Event], asked: bool) -> str:
    """Name the kind of a step that only a plan's run has: plan, replan or task; '' for any other."""
    if any(map(is_plan, events)):
        return "plan" if before.plan is None else "replan"
    stays = state.status is before.status and not asked
    return "task" if any(map(is_result, events)) or (stays and moved(before, state)) else ""


def label(before: State | None, state: State, events: Iterable[Event]) -> str:
    """Name the tasks that a step was about: those that ended or began to wait, else those that it changed."""
    ended = [event.task for event in events if is_result(event)]
    waiting = [each.task.id for each in moved(before, state) if each.run.status == "waiting"]
    return ", ".join(ended or waiting or [each.task.id for each in moved(before, state)])


def happened(before: State, state: State, events: Iterable[Event]) -> str:
    """Say in a sentence what a step of kind plan, replan or task did."""
    plan = next(filter(is_plan, events), None)
    if plan is not None:
        kept, count = len(plan.kept), len(plan.plan.tasks)
        if before.plan is None:
            return f"A plan of {_tasks(count)}."
        return f"Plan {plan_number(state)}: {_tasks(kept)} kept, {count - kept} to do."
    parts = [f"Task {e.task} {'is done' if e.status == 'done' else e.status}" for e in events if is_result(e)]
    changed = moved(before, state)
    parts += [f"Task {each.task.id} waits for a person" for each in changed if each.run.status == "waiting"]
    begun = [each.task.id for each in changed if each.begins]
    parts += [f"{_and(begun)} {'begins' if len(begun) == 1 else 'begin'}"] if begun else []
    return f"{'; '.join(parts) or 'The tasks changed'}."


def next_task(state: State) -> str:
    """Give the id of the task that the next step runs; '' when none can run."""
    left = [(task, run) for task, run in tasks_of(state) if run.status in ("todo", "running")]
    done = {task.id for task, run in tasks_of(state) if run.status == "done"}
    return next((task.id for task, _ in left if done.issuperset(task.depends_on)), "")


def ahead(state: State) -> str:
    """Say what the next step of a running plan does."""
    task = next_task(state)
    if task:
        return f"run task {task}"
    return "wait for a person" if state.pending else "ask the model"


def _tasks(count: int) -> str:
    return f"{count} task{'s' * (count != 1)}"


def _and(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
