"""One task as a piece of work: the executor runs it to its end, or until it waits for a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event as Signal
from typing import Any

from ..state import State, Status
from .asking import why_not
from .plan import Task
from .prompts import task_prompt
from .runs import TaskRun, TaskStatus
from .state import PlanState

Evaluator = Callable[[Task, str], str | None]  # what is wrong with a result; "" or None when it fits


@dataclass(frozen=True)
class Ended:
    """What came of a piece of work: the last state of the executor, and what its evaluator said of the result."""

    inner: State
    objection: str = ""


@dataclass(frozen=True)
class Work:
    """A task that an executor can be given: a function without arguments, with a name. It can be sent to another
    process when the agent and the evaluator can; `abandoned` does not go along."""

    name: str
    agent: Any
    start: str | State
    task: Task
    evaluator: Evaluator | None = None
    abandoned: Signal | None = field(default=None, compare=False)

    def __call__(self) -> Ended:
        begin = self.start
        if isinstance(begin, State) and begin.status is Status.INTERRUPTED:
            begin = self.agent.resume(begin)
        for reached in self.agent.steps(begin):
            state = reached
            if self.abandoned and self.abandoned.is_set():  # nobody will read what comes of it
                break
        judged = self.evaluator if state.status is Status.DONE else None
        return Ended(state, _objection(judged(self.task, state.answer or "")) if judged else "")

    def __getstate__(self) -> dict:
        return vars(self) | {"abandoned": None}


def work_for(state: PlanState, place: int, agent: Any, evaluator: Evaluator | None, abandoned: Signal | None) -> Work:
    """Give the work of a task that is ready: from its start, or from where it waited."""
    task, inner = state.plan.tasks[place], state.runs[place].inner
    return Work(task.id, agent, task_prompt(task, state) if inner is None else inner, task, evaluator, abandoned)


def run_after(before: TaskRun, ended: Ended | Exception) -> TaskRun:
    """Give the run of a task whose work ended, or raised."""
    if isinstance(ended, Exception):
        return replace(before, status=TaskStatus.FAILED, error=f"{type(ended).__name__}: {ended}".rstrip(": "))
    inner = ended.inner
    if inner.status is Status.DONE:
        status = TaskStatus.FAILED if ended.objection else TaskStatus.DONE
        error = f"the result does not fit: {ended.objection}" if ended.objection else ""
        return replace(before, status=status, result=inner.answer or "", error=error, inner=inner)
    if inner.status is Status.STOPPED:
        return replace(before, status=TaskStatus.FAILED, error=why_not(inner), inner=inner)
    waits = inner.status is Status.WAITING
    return replace(before, status=TaskStatus.WAITING if waits else TaskStatus.TODO, inner=inner)


def _objection(said: object) -> str:
    if said is not None and not isinstance(said, str):
        raise TypeError(f"the evaluator gave {said!r}; it must say in words what is wrong, or give None")
    return said or ""
