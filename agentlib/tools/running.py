"""Threads for tools: several calls at once, a limit in time, and what an interrupt leaves behind.

Python cannot kill a thread. A call that took too long, or that was under way when the user pressed Ctrl-C, is left to
itself: its result is thrown away, and it keeps no process from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any, TypeVar

T = TypeVar("T")


class TooLong(Exception):
    """A call that did not end in time."""


def run_together(works: Sequence[Callable[[], T]], limit: int) -> list[Future[T]]:
    """Run all, at most `limit` at a time, and give a future for each, in their order.

    All are done, unless one was interrupted (a KeyboardInterrupt in it, or Ctrl-C while waiting): then those that had
    not started are cancelled, and those under way may be left running. The caller's thread takes part, so that one
    call alone, or a limit of one, needs no other.
    """
    futures: list[Future[T]] = [Future() for _ in works]
    waiting = deque(zip(futures, works, strict=True))
    try:
        for _ in range(min(limit, len(works)) - 1):
            _start(_drain, waiting)
        _drain(waiting)
        if not any(map(_was_interrupted, futures)):
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
        if _was_interrupted(future):
            _cancel(waiting)


def _was_interrupted(future: Future) -> bool:
    return future.done() and not future.cancelled() and isinstance(future.exception(), KeyboardInterrupt)


def _cancel(waiting: deque) -> None:
    while waiting:
        try:
            future, _ = waiting.popleft()
        except IndexError:  # another thread took the last
            return
        future.cancel()
        future.set_running_or_notify_cancel()  # else nobody who waits for it would hear of it


def _settle(future: Future, work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # raised again where the result is read
        future.set_exception(error)


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Run in another thread, with the caller's context variables; it keeps no process from ending."""
    future: Future[T] = Future()
    _start(_settle, future, work)
    return future


# A thread that has done its work waits for more: to start one costs more than most calls. A hung one never comes back
# to wait, so it stands in nobody's way. The threads hold nothing of a run.
_idle = Semaphore(0)
_jobs: SimpleQueue = SimpleQueue()


def _start(function: Callable, *args: Any) -> None:
    """Run in an idle thread or, where there is none, in a new one, with the caller's context variables."""
    job = (contextvars.copy_context().run, function, *args)
    if _idle.acquire(blocking=False):
        _jobs.put(job)
    else:
        Thread(target=_serve, args=job, name="agentlib tool", daemon=True).start()


def _serve(*job: Any) -> None:
    while True:
        run, *args = job
        run(*args)
        job = run = args = None  # what ran may hold much
        _idle.release()
        job = _jobs.get()


def _forget_threads() -> None:
    """A forked process has none of its parent's threads."""
    global _idle, _jobs
    _idle, _jobs = Semaphore(0), SimpleQueue()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


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
