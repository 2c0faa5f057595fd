"""The second backend: Landlock, a system call filter and limits, for containers that allow no namespaces (Linux).

What the kernel does not limit here, the size and number of files and the number of processes, the supervisor counts
many times a second: code can go over such a limit for a moment. What it does not stop, besides what bubblewrap does
not: code can find out whether a path or a process of the host exists, how large a file is and when it was changed, and
where a link leads, but not open, signal or trace it. And /tmp, the locks of multiprocessing, changed permissions and
extended attributes are not there.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress

from . import probing, python_folders, unprivileged
from .backends import Probe, StartError
from .inside import collecting, file_access, system_calls
from .policy import Policy
from .result import Result, Status
from .server import ENVIRONMENT, Server, server_program

NEEDED = 3  # the version of Landlock (Linux 6.2): before it, files outside could be emptied
SIGNALS = 6  # the version (Linux 6.12) that keeps signals in; before it, the filter lets a process signal only itself
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


class Landlock:
    """Runs code without namespaces, with Landlock."""

    name = "landlock"

    def probe(self) -> Probe:
        """Try to run code and to break out. Remembered for this process."""
        return _probe()

    def satisfies(self, policy: Policy) -> str:
        """Give '' or what it cannot do of the policy."""
        if policy.network:
            return "a network"
        if policy.processes > 1 and file_access.version() < SIGNALS:
            return "more than one process (it needs Linux 6.12)"
        return python_folders.cannot_show(policy.read)

    def run(self, code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
        """Start a sandbox, run the code in it, and end it."""
        try:
            with self.start(policy) as server:
                return server.run(code, files, policy)
        except (StartError, OSError) as error:
            return Result(Status.UNAVAILABLE, isolation=self.name, reason=f"it did not start: {error}")

    def start(self, policy: Policy, modules: Sequence[str] = ()) -> Server:
        """Start a sandbox that stays, with `modules` imported. Raises StartError."""
        return start(policy, modules)


@contextmanager
def own_folder() -> Iterator[str]:
    """Make an empty folder that belongs to the user that the code runs as, and remove it in the end. Raises OSError."""
    parent = tempfile.gettempdir()
    if os.geteuid() == 0 and unprivileged.closed_folders([f"{parent}/any"]):
        parent = "/tmp"  # `nobody` can enter it
    folder = tempfile.mkdtemp(prefix="agentlib-", dir=parent)
    try:
        if os.geteuid() == 0:
            unprivileged.give_to_nobody(folder)
        yield folder
    finally:
        with suppress(FileNotFoundError):  # the inside has done it already
            collecting.remove(folder)


def start(policy: Policy, modules: Sequence[str] = ()) -> Server:
    """Start a server that runs outside, from which each run closes itself in. Raises StartError."""
    readable = python_folders.readable(policy.read)
    interpreter = python_folders.interpreter()

    def command(connected: int) -> list[str]:
        return unprivileged.command(interpreter, readable, server_program(interpreter, connected))

    with ExitStack() as stack:
        home = stack.enter_context(own_folder())
        settings = {
            "namespaces": False,
            "packages": python_folders.packages(),
            "readable": [*readable, *DEVICES],
            "modules": list(modules),
            "network": [],
            "own_folder": home,
        }
        variables = {**ENVIRONMENT, "HOME": home, "TMPDIR": home, "MPLCONFIGDIR": home}
        at_end = ExitStack()
        server = Server(
            Landlock.name, settings, command, new_box=own_folder, environment=variables, at_end=at_end.close
        )
        at_end.push(stack.pop_all())  # only now is the folder the server's to remove
        return server


@functools.cache
def _probe() -> Probe:
    if sys.platform != "linux" or not system_calls.supported(os.uname().machine):
        return Probe(Landlock.name, False, f"it needs Linux on {' or '.join(system_calls.ARCHITECTURES)}.")
    found = file_access.version()
    if found < NEEDED:
        reason = f"this kernel has version {found} of Landlock, and version {NEEDED} (Linux 6.2) is needed."
        return Probe(
            Landlock.name, False, reason, "a newer kernel, with landlock in its list of security modules (lsm=)"
        )
    return probing.attempt(Landlock(), "")
