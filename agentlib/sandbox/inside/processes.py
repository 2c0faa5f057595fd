"""The processes of a run: how many there are, and their end."""

from __future__ import annotations

import ctypes
import os
import signal

_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Let processes whose parent ends become children of this one, so that none can get away."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_all(child: int, namespaces: bool) -> int:
    """Kill every process of the run, wait until all are gone, and give the wait status of the code's own."""
    status = 0
    while True:
        _kill_others(child, namespaces)
        try:
            ended, found = os.waitpid(-1, 0)
        except ChildProcessError:
            return status
        status = found if ended == child else status


def _kill_others(child: int, namespaces: bool) -> None:
    """Send SIGKILL to all processes but this one: where it is number 1 to all there are, else to its descendants."""
    for target in [-1] if namespaces else descendants(os.getpid()):
        try:
            os.kill(target, signal.SIGKILL)
        except ProcessLookupError:
            continue


def descendants(ancestor: int) -> list[int]:
    """Give the processes that come from a process, in the order of /proc."""
    parents = _parents()
    found, waiting = [], [ancestor]
    while waiting:
        current = waiting.pop()
        children = [process for process, parent in parents.items() if parent == current]
        found += children
        waiting += children
    return found


def _parents() -> dict[int, int]:
    """Give the parent of every process that still runs, as /proc/<pid>/stat says."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
            except OSError:
                continue
            if state != b"Z":
                parents[int(name)] = int(parent)
    return parents


def count_running(child: int, namespaces: bool) -> int:
    """Give how many processes the run has now."""
    return len(_parents()) - 1 if namespaces else len(descendants(os.getpid()))


def tasks_of_this_user() -> int:
    """Give how many processes and threads this user has now, since the kernel's limit counts all of them."""
    total, user = 0, os.getuid()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                if os.stat(f"/proc/{name}").st_uid == user:
                    total += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue
    return total
