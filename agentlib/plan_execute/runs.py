"""What came of the tasks of a plan so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from ..state import State, Status

CHUNK = 64


class TaskStatus(StrEnum):
    """How far a task is."""

    TODO = "todo"  # nothing of it runs: it waits for other tasks, for its turn, or goes on where it was
    RUNNING = "running"
    WAITING = "waiting"  # for a person
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True)
class TaskRun:
    """What came of a task so far. `inner` is the state of the agent that does it. `error` says why it failed; its
    `result`, where there is one, did not fit. `started` and `finished` are in the seconds of the run's clock, if any.
    """

    status: TaskStatus = TaskStatus.TODO
    result: str = ""
    error: str = ""
    inner: State | None = None
    started: float | None = None
    finished: float | None = None
    edited: bool = False

    def settled(self) -> TaskRun:
        """Give the run as it may go on where nobody runs it any more.

        A call that writes and was approved may have run meanwhile. It waits again, so that nothing is written twice.
        """
        if self.status is not TaskStatus.RUNNING:
            return self
        return replace(self, status=TaskStatus.TODO).taken_up()

    def taken_up(self) -> TaskRun:
        """Give the run as it may go on after a load."""
        status = TaskStatus.TODO if self.status is TaskStatus.RUNNING else self.status
        inner = self.inner and self.inner.taken_up()
        if inner and inner.status is Status.WAITING and status is TaskStatus.TODO:
            status = TaskStatus.WAITING
        return self if (status, inner) == (self.status, self.inner) else replace(self, status=status, inner=inner)


NOT_STARTED = TaskRun()


@dataclass(frozen=True)
class Runs:
    """The runs of a plan's tasks, in the order of the plan.

    They are kept in small pieces: to change one, 64 places and the list of the pieces are copied, not all.
    """

    chunks: tuple[tuple[TaskRun, ...], ...] = ()

    @classmethod
    def of(cls, runs: Iterable[TaskRun]) -> Runs:
        runs = tuple(runs)
        return cls(tuple(runs[at : at + CHUNK] for at in range(0, len(runs), CHUNK)))

    def __iter__(self) -> Iterator[TaskRun]:
        return (run for chunk in self.chunks for run in chunk)

    def __len__(self) -> int:
        return sum(map(len, self.chunks))

    def __getitem__(self, place: int) -> TaskRun:
        return self.chunks[place // CHUNK][place % CHUNK]

    def but(self, place: int, run: TaskRun) -> Runs:
        """Give the same runs, but for the one at a place."""
        piece, at = divmod(place, CHUNK)
        chunk = self.chunks[piece]
        changed = (*chunk[:at], run, *chunk[at + 1 :])
        return Runs((*self.chunks[:piece], changed, *self.chunks[piece + 1 :]))
