"""Taking up a plan: what is done is kept, what failed before is not tried again in the same way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .plan import Plan, PlanError, Task, checked
from .references import substitute, unresolved
from .runs import NOT_STARTED, Runs, TaskStatus
from .state import Attempt, NewPlan, PlanState, TaskResult


@dataclass(frozen=True)
class Revision:
    """A checked plan for a state, with the runs of its tasks, and what the planner should know about it."""

    plan: Plan
    runs: Runs
    kept: tuple[str, ...]
    notes: tuple[str, ...]
    unresolved: tuple[str, ...]

    def changes(self, state: PlanState) -> dict:
        """Give the changes of the state that take up the plan."""
        dropped = [
            Attempt(task, run)
            for task, run in state.tasks
            if run.status is TaskStatus.FAILED or (run.inner and task.id not in self.kept)
        ]
        return {"plan": self.plan, "runs": self.runs, "dropped": (*state.dropped, *dropped), "pending": ()}


def revised(state: PlanState, tasks: Iterable[Task]) -> Revision:
    """Put new tasks beside those that are done. Raises PlanError when they make no plan.

    What is done stays as it is, whatever the new plan says of it.
    """
    tasks = tuple(tasks)
    done = {task.id: (task, run) for task, run in state.tasks if run.status is TaskStatus.DONE}
    new = [task for task in tasks if task.id not in done]
    if tasks and not new:
        raise PlanError("all tasks of this plan are done already; write those that are to be done now")
    plan = checked((*(task for task, _ in done.values()), *new)) if new else checked(())
    runs = Runs.of(done[task.id][1] if task.id in done else NOT_STARTED for task in plan.tasks)
    again = [each.id for each in tasks if each.id in done and not _alike(each, done[each.id][0])]
    notes = tuple(f"task {name!r} is done, so its new wording was not used" for name in again)
    odd = [(task.id, name) for task in new for name in unresolved(task.instruction, plan.index)]
    return Revision(plan, runs, tuple(done), notes, tuple(f"${{{name}}} in task {task!r}" for task, name in odd))


def failed_before(state: PlanState, plan: Plan) -> bool:
    """Say whether what the plan leaves to do is what an earlier plan of this turn left to do, under whatever ids."""
    earlier = (event.plan for event in state.this_turn if isinstance(event, NewPlan))
    done = state.results
    return any(_left(each, done) == _left(plan, done) for each in earlier)


def _left(plan: Plan, done: Iterable[str]) -> list[tuple]:
    """Write the tasks that are not done without their ids, so that plans can be compared."""
    texts = {task.id: _plain(task.instruction) for task in plan.tasks}
    left = [task for task in plan.tasks if task.id not in done]
    return sorted(
        (_plain(substitute(task.instruction, texts)), sorted(texts[each] for each in task.depends_on)) for task in left
    )


def _alike(a: Task, b: Task) -> bool:
    return _plain(a.instruction) == _plain(b.instruction)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!")


def restored(state: PlanState, limit: int) -> PlanState:
    """Give the state as it was before message `limit` was added: its plan then, and what had come of its tasks.

    What was spent stays spent, in replans too.
    """
    events = [event for event in state.this_turn if event.message < limit]
    plan = next((event.plan for event in reversed(events) if isinstance(event, NewPlan)), None)
    ended = {event.task: (event.status, event.text) for event in events if isinstance(event, TaskResult)}
    runs = [*((each.task, each.run) for each in state.dropped), *state.tasks]
    known = {(task, run.status, run.result if run.status is TaskStatus.DONE else run.error): run for task, run in runs}
    tasks = plan.tasks if plan else ()
    then = (known.get((task, *ended[task.id])) if task.id in ended else None for task in tasks)
    return replace(
        state,
        messages=state.messages[:limit],
        events=tuple(event for event in state.events if event.message < limit),
        plan=plan,
        runs=Runs.of(run or NOT_STARTED for run in then),
        dropped=tuple(each for each in state.dropped if each.task not in tasks),
        pending=(),
        asked=None,
    )
