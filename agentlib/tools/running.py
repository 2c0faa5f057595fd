"""Threads for tools: several calls at once, a limit in time, and what an interrupt leaves behind.

Python cannot kill a thread. A call that took too long, or that was under way when the user pressed Ctrl-C, is left to
itself: its result is thrown away, and it keeps no process from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class TooLong(Exception):
    """A call that did not end in time."""


def run_together(works: Sequence[Callable[[], T]], limit: int) -> list[Future[T]]:
    """Run all, at most `limit` at a time, and give a future for each, in their order.

    All are done, unless one was interrupted (a KeyboardInterrupt in it, or Ctrl-C while waiting): then those that had
    not started are cancelled, and those under way may be left running. One alone runs in the thread of the caller.
    """
    futures: list[Future[T]] = [Future() for _ in works]
    waiting = deque(zip(futures, works, strict=True))
    workers = min(limit, len(works))
    if workers <= 1:
        _drain(waiting)
        return futures
    for _ in range(workers):
        in_thread(lambda: _drain(waiting))
    try:
        wait(futures)
    except KeyboardInterrupt:
        _cancel(waiting)
    return futures


def _drain(waiting: deque) -> None:
    """Run what waits, one after the other, until nothing does."""
    while waiting:
        try:
            future, work = waiting.popleft()
        except IndexError:  # another thread took the last
            return
        _settle(future, work)
        if future.done() and isinstance(future.exception(), KeyboardInterrupt):
            _cancel(waiting)


def _cancel(waiting: deque) -> None:
    while waiting:
        try:
            waiting.popleft()[0].cancel()
        except IndexError:
            return


def _settle(future: Future, work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # raised again where the result is read
        future.set_exception(error)


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Run in a thread of its own, with the caller's context variables; the thread dies with the process."""
    future: Future[T] = Future()
    context = contextvars.copy_context()
    Thread(target=context.run, args=(_settle, future, work), daemon=True).start()
    return future


def within(seconds: float | None, work: Callable[[], T]) -> T:
    """Give the result of `work`. Raises TooLong when it is not there in time; None is no limit."""
    if seconds is None:
        return work()
    future = in_thread(work)
    wait([future], seconds)
    if not future.done():
        raise TooLong
    return future.result()


def awaited(result: Any, seconds: float | None) -> Any:
    """Wait for what an async function gave, also where an event loop already runs, as in a notebook.

    Raises TooLong as `within` does; what was awaited is cancelled then.
    """

    async def bounded() -> Any:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await result
        except TimeoutError:
            if limit.expired():
                raise TooLong from None
            raise

    return in_thread(lambda: asyncio.run(bounded())).result()
