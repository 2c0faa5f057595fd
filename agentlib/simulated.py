"""An executor with a clock of its own: work takes the time that is declared, and nobody waits for it.

    pool = SimulatedExecutor({"study a": 3.0, "study b": 2.0}, default=1.0)
    agent = PlanExecute(llm, executor, pool=pool)          # the order in which tasks finish is fixed

Work is done for real, one piece after the other, in the thread that asks; only its duration is declared. So a lesson or
a test sees the same order of events in every run, on every machine.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from typing import Any


class SimulatedExecutor(Executor):
    """A `concurrent.futures.Executor`. `durations` are in seconds, by the name of the work (its attribute `name`, else
    its `__name__`); work that is not in it takes `default`. `now` is where the clock starts.

    Any number of pieces run at once. `advance` lets time pass until the next one ends; so does asking a future for its
    result. Raises ValueError for a negative duration.
    """

    def __init__(self, durations: Mapping[str, float] | None = None, *, default: float = 1.0, now: float = 0.0) -> None:
        self.durations = dict(durations or {})
        self.default = default
        self._now = float(now)
        self._submitted = 0
        self._under_way: list[tuple[float, int, Future, Callable[[], Any]]] = []
        for name, seconds in [*self.durations.items(), ("default", default)]:
            if not seconds >= 0:
                raise ValueError(f"{name!r} cannot take {seconds} seconds")

    def clock(self) -> float:
        """Give the seconds that have passed."""
        return self._now

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Start a piece of work now; it ends when its duration has passed."""
        name = getattr(fn, "name", None) or getattr(fn, "__name__", "")
        future: Future = _Simulated(self)
        ends = self._now + self.durations.get(name, self.default)
        heapq.heappush(self._under_way, (ends, self._submitted, future, lambda: fn(*args, **kwargs)))
        self._submitted += 1
        return future

    def advance(self) -> bool:
        """Let time pass until the next piece of work ends, and do it; of two that end together, the one that was
        submitted first. Gives False when nothing is under way."""
        while self._under_way:
            ends, _, future, work = heapq.heappop(self._under_way)
            if not future.set_running_or_notify_cancel():
                continue
            self._now = max(self._now, ends)
            try:
                result = work()
            except BaseException as error:  # raised again where the result is read
                future.set_exception(error)
            else:
                future.set_result(result)
            return True
        return False

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End what is under way, or cancel it."""
        for _, _, future, _ in self._under_way if cancel_futures else ():
            future.cancel()
        while wait and self.advance():
            pass


class _Simulated(Future):
    """A future whose result can be waited for, since asking for it lets the time pass."""

    def __init__(self, pool: SimulatedExecutor) -> None:
        super().__init__()
        self._pool = pool

    def result(self, timeout: float | None = None) -> Any:
        self._let_time_pass()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._let_time_pass()
        return super().exception(timeout)

    def _let_time_pass(self) -> None:
        while not self.done() and self._pool.advance():
            pass
