"""Forks of the host process, such as the workers of multiprocessing: what they inherit must not keep a run alive.

A copy of a pipe or socket is as good as the original: while a fork holds one, nobody sees that the host has ended. So
a fork gives up, as its first act, all that belongs to sandboxes of the process that it was forked from.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import AbstractContextManager
from typing import Protocol


class Owned(Protocol):
    """What belongs to one process only."""

    def leave_to_parent(self) -> None:
        """Close what this fork has inherited, without ending anything."""


_owned: weakref.WeakSet[Owned] = weakref.WeakSet()
_no_fork = threading.RLock()


def own(thing: Owned) -> None:
    """Have this process's forks leave a thing to it."""
    with _no_fork:
        _owned.add(thing)


def none_meanwhile() -> AbstractContextManager:
    """Have other threads wait with forking, for as long as something is open that must not be inherited."""
    return _no_fork


def _leave_all() -> None:
    for thing in list(_owned):
        thing.leave_to_parent()
    _owned.clear()
    _no_fork.release()


os.register_at_fork(before=_no_fork.acquire, after_in_parent=_no_fork.release, after_in_child=_leave_all)
