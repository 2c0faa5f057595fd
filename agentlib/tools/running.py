"""Threads for tools: several calls at once, a limit in time, and what an interrupt leaves behind.

Python cannot kill a thread. A call that took too long, or that was under way when the user pressed Ctrl-C, is left to
itself: its result is thrown away, and it keeps no process from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

SLICE = 0.2  # seconds; a longer wait cannot be interrupted on Windows
IDLE = 10.0  # seconds that a thread waits for more work


class TooLong(Exception):
    """A call that did not end in time."""


def run_together(works: Sequence[Callable[[], T]], limit: int) -> list[Future[T]]:
    """Run all, at most `limit` at a time, and give a future for each, in their order.

    One alone, or a limit of one, runs in the caller's thread; else none does, so that no work sees another thread from
    run to run. Each has a copy of the caller's context variables. All futures are done, unless a work was interrupted
    (a KeyboardInterrupt in it, or Ctrl-C while waiting): then those that had not started are cancelled, and those under
    way may be left running.
    """
    futures: list[Future[T]] = [Future() for _ in works]
    context, ended = contextvars.copy_context(), SimpleQueue()  # which costs less to wait at than the futures
    waiting = deque((future, context.copy(), work) for future, work in zip(futures, works, strict=True))
    try:
        workers = min(limit, len(works))
        if workers < 2 or not any([_start(_drain, waiting, ended) for _ in range(workers)]):
            _drain(waiting, ended)
        for _ in futures:
            _next(ended)
    except KeyboardInterrupt:
        _cancel(waiting, ended)
    return futures


def _next(ended: SimpleQueue) -> None:
    """Wait until one more has ended."""
    while True:
        try:
            return ended.get(timeout=SLICE)
        except Empty:
            continue


def _drain(waiting: deque, ended: SimpleQueue) -> None:
    """Run what waits, one after the other, until nothing does."""
    while waiting:
        try:
            future, context, work = waiting.popleft()
        except IndexError:  # another thread took the last
            return
        context.run(_settle, future, work)
        if was_interrupted(future):
            _cancel(waiting, ended)
        ended.put(None)


def _cancel(waiting: deque, ended: SimpleQueue) -> None:
    while waiting:
        try:
            future, *_ = waiting.popleft()
        except IndexError:  # another thread took the last
            return
        future.cancel()
        ended.put(None)


def _settle(future: Future, work: Callable[[], Any]) -> None:
    try:
        result = work()
    except BaseException as error:  # raised again where the result is read
        future.set_exception(error)
    else:
        future.set_result(result)


def _wait_for(futures: Sequence[Future], seconds: float | None = None) -> None:
    """Wait until all are done, or so long."""
    while wait(futures, SLICE if seconds is None else min(SLICE, seconds)).not_done:
        if seconds is not None:
            seconds -= SLICE
            if seconds <= 0:
                return


def was_interrupted(future: Future) -> bool:
    """Say whether the work ended with a KeyboardInterrupt."""
    return future.done() and not future.cancelled() and isinstance(future.exception(), KeyboardInterrupt)


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Run in another thread, with the caller's context variables; it keeps no process from ending."""
    future: Future[T] = Future()
    if not _start(contextvars.copy_context().run, _settle, future, work):
        _settle(future, work)
    return future


# A thread that has done its work waits a while for more: to start one costs more than most calls. A hung one never
# comes back to wait, so it stands in nobody's way. The threads hold nothing of a run. These queues are written in C, so
# that an interrupt cannot leave one of them locked.
_idle: SimpleQueue = SimpleQueue()  # one entry for each thread that waits
_jobs: SimpleQueue = SimpleQueue()


def _start(function: Callable, *args: Any) -> bool:
    """Run in an idle thread or, where there is none, in a new one; False when the system gives no more."""
    try:
        _idle.get_nowait()
    except Empty:
        try:
            Thread(target=_serve, args=(function, *args), name="agentlib tool", daemon=True).start()
        except RuntimeError:
            return False
    else:
        _jobs.put((function, *args))
    return True


def _serve(*job: Any) -> None:
    """Do one job, then those that come within a while."""
    while job is not None:
        function, *args = job
        function(*args)
        function = args = None  # what ran may hold much
        _idle.put(None)
        job = _next_job()


def _next_job() -> tuple | None:
    try:
        return _jobs.get(timeout=IDLE)
    except Empty:
        pass
    try:
        _idle.get_nowait()  # from now on nobody counts on this thread
    except Empty:
        return _jobs.get()  # somebody does already
    return None


def _forget_threads() -> None:
    """A forked process has none of its parent's threads."""
    global _idle, _jobs
    _idle, _jobs = SimpleQueue(), SimpleQueue()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def within(seconds: float | None, work: Callable[[], T]) -> T:
    """Give the result of `work`. Raises TooLong when it is not there in time; None is no limit."""
    if seconds is None:
        return work()
    future = in_thread(work)
    _wait_for([future], seconds)
    if not future.done():
        raise TooLong
    return future.result()


def awaited(result: Any, seconds: float | None = None) -> Any:
    """Give what an async function gives, also where an event loop already runs, as in a notebook; anything else as it
    is. What is not there in time is cancelled. Raises TooLong."""
    if not inspect.isawaitable(result):
        return result

    async def bounded() -> Any:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await result
        except TimeoutError:
            if limit.expired():
                raise TooLong from None
            raise

    future = in_thread(lambda: asyncio.run(bounded()))
    _wait_for([future])
    return future.result()
