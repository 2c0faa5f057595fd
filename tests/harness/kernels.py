"""Where the kernels of tests and builds listen.

A kernel on TCP is told port numbers that were free a moment before; another program can take one before the kernel
does, and the kernel dies at its start. On a machine that runs many at once, that happens once in some hundred starts.
A socket that is a file belongs to one kernel.
"""

import os
from pathlib import Path

LONGEST = 90  # characters; macOS allows 103 with the number that is added


def listening(folder: str, name: str = "kernel") -> dict[str, str]:
    """Give the arguments of a kernel manager: its kernel listens on files in `folder` where the system can do that."""
    file = Path(folder) / f"{name}.json"
    can = os.name == "posix" and len(str(file)) < LONGEST
    return {"transport": "ipc", "connection_file": str(file)} if can else {}
