"""Running tasks: each the moment its dependencies are done, as many at once as the limit allows.

What is left to wait for is in the state. The sorter, the futures and the queue belong to one run through the tasks, and
are made from the state anew when it is taken up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Event as Signal
from typing import Any

from ..state import Status, Usage
from ..tools.running import in_thread
from .asking import usage_since
from .runs import TaskRun, TaskStatus
from .state import PlanState, TaskResult
from .work import Evaluator, Work, run_after, work_for

EXECUTOR = "executor"
UNRECORDED = (TaskStatus.TODO, TaskStatus.RUNNING)
PATIENCE = 0.2  # seconds between two looks for Ctrl-C, which does not wake a waiting thread on every system

Clock = Callable[[], float]


@dataclass(frozen=True)
class Team:
    """Who does the tasks, who judges the results, how many tasks run at once, where, and whose time counts."""

    agent: Any
    evaluator: Evaluator | None = None
    limit: int = 4
    pool: Executor | None = None
    clock: Clock | None = None

    def now(self) -> float | None:
        """Give the time: of the clock, else of the pool when it has one of its own, else None."""
        clock = self.clock or getattr(self.pool, "clock", None)
        return None if clock is None else float(clock())

    def submit(self, work: Work) -> Future:
        """Start a piece of work; without a pool, in a thread that dies with the process."""
        if self.pool is None:
            return in_thread(work)
        try:
            return self.pool.submit(work)
        except Exception as error:  # a pool that is closed or broken: the task has failed
            return _failed(error)

    def advance(self) -> bool:
        """Let the time of the pool pass, when it has one of its own that does not pass by itself."""
        advance = getattr(self.pool, "advance", None)
        return advance() if advance else False


class Ready:
    """The tasks of a state that can run now, in the order in which they became ready."""

    def __init__(self, state: PlanState) -> None:
        self._plan, self._sorter = state.plan, state.plan.sorter()
        self._ready: deque[int] = deque()
        self._runs = state.runs
        self._take()

    def __bool__(self) -> bool:
        return bool(self._ready)

    def take(self) -> int:
        """Give the place of the next one."""
        return self._ready.popleft()

    def done(self, place: int) -> None:
        """Say that a task is done; those that waited only for it become ready."""
        self._sorter.done(self._plan.tasks[place].id)
        self._take()

    def _take(self) -> None:
        """Take what the sorter lets through. What was done when the run was taken up lets others through at once."""
        while ids := self._sorter.get_ready():
            for name in ids:
                place = self._plan.index[name]
                if self._runs[place].status is TaskStatus.DONE:
                    self._sorter.done(name)
                elif self._runs[place].status is TaskStatus.TODO:
                    self._ready.append(place)


def first_ready(state: PlanState) -> int | None:
    """Give the place of the first task in the plan that can run now."""
    if state.plan is None:
        return None
    statuses = {task.id: run.status for task, run in state.tasks}
    done = {name for name, status in statuses.items() if status is TaskStatus.DONE}
    ready = (
        place
        for place, task in enumerate(state.plan.tasks)
        if statuses[task.id] is TaskStatus.TODO and done.issuperset(task.depends_on)
    )
    return next(ready, None)


def run_one(state: PlanState, team: Team, place: int) -> PlanState:
    """Run one ready task to its end, or until it waits; in this thread, unless there is a pool."""
    state = begin(state, place, team.now())
    abandoned = Signal()
    work = work_for(state, place, team.agent, team.evaluator, abandoned)
    try:
        future = team.submit(work) if team.pool else _done_here(work)
        while not future.done():
            team.advance() or wait([future], PATIENCE)
    except KeyboardInterrupt:
        abandoned.set()
        return interrupted(state)
    return end(state, place, future, team.now())


def run_ready(state: PlanState, team: Team) -> Iterator[PlanState]:
    """Run all tasks that can be run, and yield a state for each that ends. An interrupt gives a state to resume."""
    crew = Crew(team, state)
    try:
        state = crew.fill(state)
        while crew.running:
            place = crew.next_place()
            state = end(state, place, crew.running[place], team.now())
            if state.status is not Status.RUNNING:
                break
            crew.release(state, place)  # only now: what an interrupt leaves with the crew is looked at again
            state = crew.fill(state)
            yield state
        else:
            return
    except KeyboardInterrupt:
        pass
    finally:
        crew.leave()
    for place, future in crew.running.items():  # what ended meanwhile is kept
        if future.done() and not future.cancelled() and state.runs[place].status in UNRECORDED:
            state = end(state, place, future, team.now())
    yield interrupted(state)


class Crew:
    """The futures of one run through the tasks."""

    def __init__(self, team: Team, state: PlanState) -> None:
        self._team, self._ready, self._abandoned = team, Ready(state), Signal()
        self._ended: SimpleQueue = SimpleQueue()
        self.running: dict[int, Future] = {}

    def fill(self, state: PlanState) -> PlanState:
        """Start what is ready, as far as the limit allows."""
        while self._ready and len(self.running) < self._team.limit:
            place = self._ready.take()
            state = begin(state, place, self._team.now())
            work = work_for(state, place, self._team.agent, self._team.evaluator, self._abandoned)
            future = self.running[place] = self._team.submit(work)
            future.add_done_callback(lambda _, place=place: self._ended.put(place))
        return state

    def next_place(self) -> int:
        """Wait for the next task to end."""
        while True:
            passed = self._team.advance()  # it may have been the end of somebody else's work
            try:
                return self._ended.get(timeout=0 if passed else PATIENCE)
            except Empty:
                continue

    def release(self, state: PlanState, place: int) -> None:
        """Forget a task that has ended in this state; those that waited only for it become ready."""
        del self.running[place]
        if state.runs[place].status is TaskStatus.DONE:
            self._ready.done(place)

    def leave(self) -> None:
        """Let go of what still runs: it stops after its next step, and nobody reads what comes of it."""
        self._abandoned.set()
        for future in self.running.values():
            future.cancel()


def begin(state: PlanState, place: int, now: float | None) -> PlanState:
    """Give the state in which a task runs."""
    run = state.runs[place]
    started = now if run.started is None else run.started  # one that goes on began earlier
    return state.with_run(place, replace(run, status=TaskStatus.RUNNING, started=started))


def end(state: PlanState, place: int, future: Future, now: float | None) -> PlanState:
    """Give the state in which a task has ended: done, failed, waiting, or interrupted."""
    if future.cancelled() or isinstance(future.exception(), KeyboardInterrupt):
        return interrupted(state)
    error = future.exception()
    if error is not None and not isinstance(error, Exception):
        raise error
    before = state.runs[place]
    ended = error or future.result()
    run = run_after(before, ended)
    used = Usage() if error else usage_since(before.inner, ended.inner)  # what one that raised has cost is not known
    changes = state.spend(EXECUTOR, used)
    if run.status in (TaskStatus.DONE, TaskStatus.FAILED):
        run = replace(run, finished=now)
        changes["events"] = state.events + (_result(state, place, run),)  # noqa: RUF005 (unpacking copies twice)
    state = state.with_run(place, run, **changes)
    return interrupted(state) if run.status is TaskStatus.TODO else state


def interrupted(state: PlanState) -> PlanState:
    """Give the state of an interrupted run. What ran is to be run again, from where it last was."""
    return replace(state.settled(), status=Status.INTERRUPTED, reason="interrupted")


def _done_here(work: Work) -> Future:
    future: Future = Future()
    try:
        future.set_result(work())
    except Exception as error:
        return _failed(error)
    return future


def _failed(error: Exception) -> Future:
    future: Future = Future()
    future.set_exception(error)
    return future


def _result(state: PlanState, place: int, run: TaskRun) -> TaskResult:
    text = run.result if run.status is TaskStatus.DONE else run.error
    task = state.plan.tasks[place].id
    return TaskResult(message=len(state.messages) - 1, task=task, status=run.status, text=text)
