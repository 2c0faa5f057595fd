"""How much the code may use: the kernel's limits of one process, which its children inherit and can only lower."""

from __future__ import annotations

import math
import os
import resource

MEGABYTE = 1_000_000
THREADS = 64
OPEN_FILES = 256
NO_DUMP = 1
STACK = 8 * 1024 * 1024


def process_limits(seconds: float, memory: int, disk: int, tasks: int) -> dict[int, int]:
    """Give each limit and its value. `tasks` counts processes and threads; memory and disk are MB."""
    return {
        resource.RLIMIT_AS: memory * MEGABYTE,
        resource.RLIMIT_CPU: math.ceil(seconds) * (os.cpu_count() or 1) + 1,  # the clock's limit comes first
        resource.RLIMIT_FSIZE: disk * MEGABYTE,
        resource.RLIMIT_NPROC: tasks,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_STACK: STACK,
        # No dump of the memory after a crash, and no program of the host started to take one: 0 would allow that
        # where the kernel pipes dumps into a program, which runs as root; only 1 does not (do_coredump in the kernel).
        resource.RLIMIT_CORE: NO_DUMP,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 64,
    }


def set_limits(limits: dict[int, int]) -> None:
    """Set the limits of this process. A limit that is lower already stays."""
    for kind, value in limits.items():
        ceiling = resource.getrlimit(kind)[1]
        value = value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
        resource.setrlimit(kind, (value, value))
