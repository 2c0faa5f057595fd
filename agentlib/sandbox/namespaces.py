"""The namespaces layer: bubblewrap builds a machine that holds nothing but what is listed here (see bwrap(1)).

The kernel gives a process its own view of users, processes, files, network and more; bubblewrap sets such a view up
without being root.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from .python_folders import SYSTEM

BOX = "/sandbox"  # the one folder that the code can write to


def bubblewrap_command(
    bwrap: str, readable: list[str], environment: Mapping[str, str], program: list[str]
) -> list[str]:
    """Give the command that starts a program in namespaces of its own, with these paths to read and no others."""
    return [
        bwrap,
        *unshare_everything(),
        *show_only(readable),
        *set_environment(environment),
        "--chdir",
        "/",
        "--",
        *program,
    ]


def unshare_everything() -> list[str]:
    """Share no namespace with the host: no user, process, network, shared memory, host name of it."""
    return [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--as-pid-1",  # the program is the first process: when it ends, all others are killed
        "--new-session",  # no terminal of the host, whose input could be faked
        *("--hostname", "sandbox"),
    ]


def show_only(readable: list[str]) -> list[str]:
    """Build the tree of files: own processes, a few devices, empty folders, and the readable paths, read-only."""
    arguments = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", BOX]
    for path in readable:
        if path in SYSTEM and os.path.islink(path):  # such as /lib, which is usr/lib on most systems
            arguments += ["--symlink", os.readlink(path), path]
        else:
            arguments += ["--ro-bind-try", path, path]
    # Last, since nothing can be mounted in them afterwards. Without it both could be filled without a limit.
    return [*arguments, "--remount-ro", "/dev", "--remount-ro", "/"]


def set_environment(environment: Mapping[str, str]) -> list[str]:
    """Empty the environment, in which keys are kept, but for these variables."""
    arguments = ["--clearenv"]
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    return arguments
