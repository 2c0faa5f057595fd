"""The processes of a run: how many there are, and their end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import stat
from collections.abc import Iterator

_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Let processes whose parent ends become children of this one, so that none can get away."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_all(child: int, namespaces: bool) -> int:
    """Kill every process of the run, wait until all are gone, and give the wait status of the code's own."""
    status = 0
    while True:
        _kill_others(namespaces)
        try:
            ended, found = os.waitpid(-1, 0)
        except ChildProcessError:
            return status
        status = found if ended == child else status


def _kill_others(namespaces: bool) -> None:
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


def running(namespaces: bool) -> list[int]:
    """Give the processes that the run has now: all but this one, or the descendants of this one."""
    return [each for each in _parents() if each != os.getpid()] if namespaces else descendants(os.getpid())


def memory_of(processes: list[int]) -> int:
    """Give the bytes of memory that processes take up together; what they share counts once."""
    total = 0
    for process in processes:
        try:
            with open(f"/proc/{process}/smaps_rollup", "rb") as file:
                total += sum(1024 * int(line.split()[1]) for line in file if line.startswith(b"Pss:"))
        except OSError:  # it has ended
            continue
    return total


def removed_but_held(process: int, box: str, unknown: int) -> dict[tuple[int, int], int]:
    """Give the files that a process has removed and still holds, which take up disk as before: (device, number) ->
    bytes. Of one from `box` that is only mapped into memory the size cannot be seen: it counts as `unknown`."""
    held: dict[tuple[int, int], int] = {}
    for about in _open_files(process):
        if stat.S_ISREG(about.st_mode) and about.st_nlink == 0:
            held[about.st_dev, about.st_ino] = about.st_blocks * 512
    for file in _removed_and_mapped(process, box.encode()):
        held.setdefault(file, unknown)
    return held


def _open_files(process: int) -> Iterator[os.stat_result]:
    try:
        for name in os.listdir(f"/proc/{process}/fd"):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                yield os.stat(f"/proc/{process}/fd/{name}")
    except (FileNotFoundError, PermissionError):  # it has ended
        return


def _removed_and_mapped(process: int, box: bytes) -> Iterator[tuple[int, int]]:
    """Give the files that a process has in its memory and that are no longer in the box, by /proc/<pid>/maps."""
    try:
        with open(f"/proc/{process}/maps", "rb") as file:
            for line in file:
                if line.endswith(b" (deleted)\n") and b" " + box + b"/" in line:
                    _, _, _, device, number, _ = line.split(maxsplit=5)
                    major, minor = (int(part, 16) for part in device.split(b":"))
                    yield os.makedev(major, minor), int(number)
    except (FileNotFoundError, PermissionError, ProcessLookupError):
        return


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
