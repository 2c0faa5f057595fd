"""Forks of a plan's run: another plan, or another result of a task, and on from there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..state import CUT, Status
from .plan import Plan, Task
from .revising import restored
from .runs import NOT_STARTED, TaskRun, TaskStatus
from .state import NewPlan, PlanState, TaskResult


def before_plan(state: PlanState) -> PlanState:
    """Give the running state as it was before its last plan; one without a plan is its own."""
    event = _last_plan(state)
    running = {"status": Status.RUNNING, "reason": ""}
    return replace(state if event is None else restored(state, _place(event.message)), **running)


def with_result(state: PlanState, task: str, result: str) -> PlanState:
    """Give the running state in which a task is done with this result. What was built on another one is to do again."""
    plan_event = _last_plan(state)
    if plan_event is None:
        raise ValueError("this state has no plan yet; fork a later one")
    if task not in state.plan.index:
        raise ValueError(f"the plan has no task {task!r}; it has {', '.join(state.plan.index)}")
    done = state.run_of(task).status is TaskStatus.DONE
    ends = (e for e in reversed(state.this_turn) if done and isinstance(e, TaskResult) and e.task == task)
    message = _place(next(ends, plan_event).message)
    if message != plan_event.message:  # a later plan may have been made of the old result
        state = restored(state, message + 1)
    state = replace(state.settled(), messages=state.messages[: message + 1], asked=None)
    redone = _dependants(state.plan, task)
    for name in redone:
        state = state.with_run(state.plan.index[name], NOT_STARTED)
    before = state.runs[state.plan.index[task]]
    run = TaskRun(TaskStatus.DONE, result, started=before.started, finished=before.finished, edited=True)
    gone = {task, *redone}
    kept = [
        event
        for event in state.events
        if event.message <= message and not (isinstance(event, TaskResult) and event.task in gone)
    ]
    event = TaskResult(message=message, task=task, status=run.status, text=result, edited=True)
    running = {"status": Status.RUNNING, "reason": "", "events": (*kept, event)}
    return state.with_run(state.plan.index[task], run, **running)


def written(plan: str | Plan | Iterable[Task]) -> str:
    """Give a plan as a planner would write it."""
    if isinstance(plan, str):
        return plan
    return (plan if isinstance(plan, Plan) else Plan(tuple(plan))).to_json()


def _last_plan(state: PlanState) -> NewPlan | None:
    return next((event for event in reversed(state.this_turn) if isinstance(event, NewPlan)), None)


def _place(message: int) -> int:
    if message == CUT:
        raise ValueError("the message to change was cut from the context; fork an earlier state")
    return message


def _dependants(plan: Plan, task: str) -> list[str]:
    """Give the tasks that depend on one, directly or through others."""
    found = {task}
    for each in plan.order:
        if found.intersection(each.depends_on):
            found.add(each.id)
    return [each.id for each in plan.tasks if each.id in found and each.id != task]
