"""Give many pieces of work to the workers of any `concurrent.futures.Executor`, and lose none of them.

Only a few pieces are submitted at a time. When a worker dies, nobody can say which of the submitted pieces killed it.
So each of them is run again alone, at the end: what kills a worker alone has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from itertools import count, islice
from typing import Any

_WORKERS = 128  # where an executor does not say how many it has


def run_all(work: Callable[[Any], Any], items: Iterable, executor: Executor | None) -> Iterator[tuple[Any, Any]]:
    """Yield each item and its result, or the exception of its worker, as they finish. None: here, in order."""
    if executor is None:
        yield from ((item, work(item)) for item in items)
        return
    pool, suspects = _Pool(executor), []
    try:
        for item, result in _together(pool, work, items):
            if isinstance(result, Exception):
                suspects.append(item)
            else:
                yield item, result
        for item in suspects:
            yield from _together(pool, work, [item])
    finally:
        pool.close()


def check(executor: Executor, *values: Any) -> None:
    """Send values to a worker. Raises ValueError where they do not arrive."""
    try:
        executor.submit(_accept, *values).result()
    except Exception as error:
        raise ValueError(
            f"the workers cannot take this sweep ({type(error).__name__}: {error}). Define its functions at the top of "
            "a module that workers can import; a script that starts processes needs `if __name__ == '__main__':`"
        ) from None


def _accept(*values: Any) -> None:
    """Arrive."""


class _Pool:
    """An executor, and its replacement once its processes have died."""

    def __init__(self, executor: Executor) -> None:
        self.given = self.executor = executor
        self.submissions = count()

    def submit(self, work: Callable[[Any], Any], item: Any) -> Future:
        number = next(self.submissions)
        try:
            return self.executor.submit(_do, number, work, item)
        except BrokenExecutor:
            if type(self.executor) is not ProcessPoolExecutor:
                raise
            self.close()
            self.executor = _another(self.executor)
            return self.executor.submit(_do, number, work, item)

    def close(self) -> None:
        if self.executor is not self.given:
            self.executor.shutdown(cancel_futures=True)


def _do(number: int, work: Callable[[Any], Any], item: Any) -> Any:
    """Work. Dask takes equal calls for one call, which would hand out an old failure: the number makes them differ."""
    return work(item)


def _another(pool: ProcessPoolExecutor) -> ProcessPoolExecutor:
    """Start a pool like one that broke. What it was made with has no public names."""
    return ProcessPoolExecutor(
        pool._max_workers, pool._mp_context, pool._initializer, pool._initargs,
        max_tasks_per_child=pool._max_tasks_per_child,
    )  # fmt: skip


def _together(pool: _Pool, work: Callable[[Any], Any], items: Iterable) -> Iterator[tuple[Any, Any]]:
    items, submitted = iter(items), {}
    limit = 2 * getattr(pool.given, "_max_workers", _WORKERS)
    try:
        while True:
            for item in islice(items, limit - len(submitted)):
                submitted[pool.submit(work, item)] = item
            if not submitted:
                return
            done, _ = wait(submitted, timeout=1, return_when=FIRST_COMPLETED)  # Windows interrupts no endless wait
            for future in [each for each in submitted if each in done]:  # a set has no order
                yield submitted.pop(future), _result(future)
    except KeyboardInterrupt:
        finished = [future for future in submitted if not future.cancel() and future.done()]
        yield from ((submitted.pop(future), _result(future)) for future in finished)
        raise
    finally:
        for future in submitted:
            future.cancel()


def _result(future: Future) -> Any:
    try:
        return future.result()
    except Exception as error:
        return error
