"""The state of a plan's run: the plan, what came of each task, and whose model calls it cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..events import Event
from ..state import APPROVAL, State, Status, ToolCall, Usage
from .plan import Plan, Task
from .runs import Runs, TaskRun, TaskStatus

NOTHING, NO_RUNS = Usage(), Runs()


@dataclass(frozen=True)
class Spent:
    """What the model calls of one role cost: planner, executor, replanner or synthesizer."""

    role: str
    usage: Usage = NOTHING


@dataclass(frozen=True)
class Attempt:
    """A task that a later plan dropped, and what came of it."""

    task: Task
    run: TaskRun


@dataclass(frozen=True)
class PlanState(State):
    """A plan's run at one moment.

    `messages` are the conversation with the planner; each task has its own, in the inner state of its run. `runs` stand
    in the order of `plan.tasks`. `pending` are the calls that wait for a person: the id of each begins with its task's,
    as in `refund/call_1`. `asked` is the inner state of a planner that is an agent and waits. `replans` counts the
    revisions of this turn, those that came to nothing too; `dropped` are the tasks that the revisions took out.
    """

    plan: Plan | None = None
    runs: Runs = NO_RUNS
    asked: State | None = None
    replans: int = 0
    spent: tuple[Spent, ...] = ()
    dropped: tuple[Attempt, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("spent", "dropped"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def __str__(self) -> str:
        costs = [f"{each.role}: {_cost(each.usage)}" for each in self.spent]
        return "\n".join([super().__str__(), *([f"[{'; '.join(costs)}]"] if costs else [])])

    @property
    def tasks(self) -> Iterator[tuple[Task, TaskRun]]:
        """Each task of the plan with its run."""
        return zip(self.plan.tasks if self.plan else (), self.runs, strict=True)

    def run_of(self, task: str) -> TaskRun:
        """Give the run of a task. Raises KeyError for an id that the plan does not hold."""
        return self.runs[(self.plan or Plan()).index[task]]

    def ids(self, status: TaskStatus) -> tuple[str, ...]:
        """Give the ids of the tasks with a status, in the order of the plan."""
        return tuple(task.id for task, run in self.tasks if run.status is status)

    @property
    def results(self) -> dict[str, str]:
        """The results of the tasks that are done, by their ids."""
        return {task.id: run.result for task, run in self.tasks if run.status is TaskStatus.DONE}

    @property
    def best_so_far(self) -> str:
        """The answer; without one, what was achieved: the results of the tasks that are done."""
        if self.answer is not None or not self.results:
            return super().best_so_far
        return "\n".join(f"{name}: {result}" for name, result in self.results.items())

    @property
    def achieved(self) -> str:
        """One line: how many tasks are done, what failed and why, and what was not begun."""
        done, rest = self.ids(TaskStatus.DONE), self.ids(TaskStatus.TODO)
        parts = [f"{len(done)} of {len(self.runs)} tasks are done{': ' * bool(done)}{', '.join(done)}"]
        parts += [f"{task.id} failed: {run.error}" for task, run in self.tasks if run.status is TaskStatus.FAILED]
        return "; ".join([*parts, *([f"not begun: {', '.join(rest)}"] if rest else [])])

    def usage_of(self, role: str) -> Usage:
        """Give what a role cost so far."""
        return next((each.usage for each in self.spent if each.role == role), NOTHING)

    def spend(self, role: str, usage: Usage) -> dict:
        """Give the changes of this state that add a cost."""
        if usage == NOTHING:
            return {}
        others = {each.role: each.usage for each in self.spent}
        spent = others | {role: others.get(role, NOTHING) + usage}
        return {"usage": self.usage + usage, "spent": tuple(Spent(*each) for each in spent.items())}

    def with_run(self, place: int, run: TaskRun, **changes) -> PlanState:
        """Give the state with another run at a place of the plan; what is pending follows from the runs."""
        if TaskStatus.WAITING in (run.status, self.runs[place].status):
            name = self.plan.tasks[place].id
            others = [call for call in self.pending if not call.id.startswith(f"{name}/")]
            inner = run.inner if run.status is TaskStatus.WAITING else None
            changes["pending"] = (*others, *waiting_calls(name, inner))
        return replace(self, runs=self.runs.but(place, run), **changes)

    def settled(self) -> PlanState:
        """Give the state as it goes on where nobody runs its tasks any more."""
        state = self
        for place, run in enumerate(self.runs):
            if run.status is TaskStatus.RUNNING:
                state = state.with_run(place, run.settled())
        return state

    def taken_up(self) -> PlanState:
        """Give the state as it may go on after a load; what was approved within it waits again."""
        state = self
        for place, run in enumerate(self.runs):
            taken_up = run.taken_up()
            if taken_up is not run:
                state = state.with_run(place, taken_up)
        if state.asked and state.asked.approved:
            asked = state.asked.taken_up()
            waiting = {"status": Status.WAITING, "reason": APPROVAL, "pending": waiting_calls(PLANNING, asked)}
            state = replace(state, asked=asked, **waiting)
        return state


PLANNING = "(planner)"  # stands for a task's id before the calls of a planner that is an agent


def waiting_calls(name: str, inner: State | None) -> tuple[ToolCall, ...]:
    """Give the calls that wait in an inner state, named so that no two of a plan are named alike."""
    if inner is None or inner.status is not Status.WAITING:
        return ()
    calls = inner.pending if isinstance(inner, PlanState) else inner.pending[:1]
    return tuple(replace(call, id=f"{name}/{call.id}") for call in calls)


# -- events


@dataclass(frozen=True, kw_only=True)
class NewPlan(Event):
    """A plan that was taken up: the first, or a revision. `kept` are the ids of the tasks that were done already."""

    plan: Plan
    raw: str
    kept: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(["Plan:", *(f"  {task}{' [done]' * (task.id in self.kept)}" for task in self.plan.tasks)])


@dataclass(frozen=True, kw_only=True)
class TaskResult(Event):
    """What came of a task: done with its result, or failed with the reason. `message` is that of the plan."""

    task: str
    status: TaskStatus
    text: str

    def __str__(self) -> str:
        return f"Task {self.task} ({self.status}): {self.text}"


def _cost(usage: Usage) -> str:
    calls = f"{usage.calls} model call{'s' * (usage.calls != 1)}"
    return f"{calls}, {usage.prompt_tokens} + {usage.completion_tokens} tokens"
