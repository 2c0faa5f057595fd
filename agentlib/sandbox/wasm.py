"""CPython in WebAssembly: the same on Linux, macOS and Windows, from PyPI alone, with the standard library only.

The code runs in an interpreter that is itself a program for a virtual machine. That machine has its own memory and no
system calls: what the code can reach is what `wasm_child.capabilities` hands to it. It has no processes, no threads
and no network, and it computes three to four times slower.

What it does not stop: code that keeps a processor busy until its time is up, and faults in wasmtime, which would let
the code into its host process: a process of this user, without secrets in its environment. Disk and files are counted
by a watcher, so that code may be over the limit for some milliseconds; on Windows, files that the code removed and
still holds open are not counted.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from . import trees
from .backends import Probe
from .policy import Policy
from .result import Result, Status
from .wasm_build import BuildError, bare_environment, component, missing_packages
from .watched import MANY, Ending, deadline, watch

_CHILD = Path(__file__).with_name("wasm_child.py")
_START = 60.0  # seconds until the instance runs, on a slow machine
_LEAST_MEMORY = 100  # MB; the interpreter itself needs about half of it
_OURS = 2  # folders: `work` and `tmp`
_OUT_OF_MEMORY = -1  # what the code inside WebAssembly says for it; no exit code is below 0
_MOST_MEMORY = 4_000  # MB that WebAssembly with 32 bits can address


class Wasm:
    """The backend: each run has a process and an instance of its own."""

    name = "wasm"

    def probe(self) -> Probe:
        """Build the component when this user has none, then run code that tries to break out."""
        return _probe()

    def satisfies(self, policy: Policy) -> str:
        """Say what of the policy WebAssembly cannot do."""
        lacks = {
            "it has no network": policy.network,
            "it shows the code none of the host's files, so read=... cannot be given": policy.read,
            f"memory must be at least {_LEAST_MEMORY} MB": policy.memory < _LEAST_MEMORY,
        }
        return "; ".join(text for text, lacking in lacks.items() if lacking)

    def run(self, code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
        """Run the code in a fresh instance and give what came of it."""
        if not (probe := self.probe()).ok:
            return Result(Status.UNAVAILABLE, reason=probe.reason, isolation=self.name)
        return run_once(code, files, policy)


def run_once(code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
    """Prepare a room, run the code in it, take what is left there, and remove it."""
    room = Path(tempfile.mkdtemp(prefix="agentlib-wasm-"))
    try:
        prepare(room, code, files)
        given = trees.entries(files)
        ending = supervise(room, policy, given)
        return gather(room, ending, policy, given)
    finally:
        trees.remove(room)


def prepare(room: Path, code: str, files: Mapping[str, bytes]) -> None:
    """Lay out the room: the code, and under files/ the two folders that the code can see."""
    (room / "code").write_bytes(code.encode("utf-8", "surrogatepass"))
    (room / "files" / "work").mkdir(parents=True)
    (room / "files" / "tmp").mkdir()
    trees.put(room / "files" / "work", files)


def supervise(room: Path, policy: Policy, given: int) -> Ending:
    """Run the host process, and kill it when the code goes over a limit. `given` entries are in its folders already."""
    command = [sys.executable, "-I", "-B", str(_CHILD), str(component()), str(room)]
    limits = [min(policy.memory, _MOST_MEMORY) * trees.MB, policy.disk * trees.MB, policy.seconds]
    look = watcher(room, policy, given)
    return watch([*command, *map(str, limits)], look, policy.output, environ=bare_environment())


def watcher(room: Path, policy: Policy, given: int) -> Callable[[int], str]:
    """Give the function that is asked every few milliseconds whether the code must be stopped."""
    late = time_limit(room, policy.seconds)

    def look(written: int) -> str:
        if written > MANY * policy.output:
            return "output"
        return late() or trees.over_limit(room / "files", policy, given + _OURS)

    return look


def time_limit(room: Path, seconds: float) -> Callable[[], str]:
    """Give the function that says whether the time is up. It counts from the moment that the host process says that
    the code starts, since a slow start is not the code's."""
    start_is_late = deadline(_START)
    code_is_late: list[Callable[[], bool]] = []

    def late() -> str:
        if not code_is_late and (room / "started").exists():
            code_is_late.append(deadline(seconds))
        if (room / "outcome").exists():
            return ""
        if code_is_late:
            return "timeout" if code_is_late[0]() else ""
        return "start" if start_is_late() else ""

    return late


def gather(room: Path, ending: Ending, policy: Policy, given: int) -> Result:
    """Make the result, now that no process is left: from the host process's word, never from what the code printed."""
    outcome = read_outcome(room)
    status, exit_code, reason = judge(room, ending, outcome, policy)
    if status is Status.UNAVAILABLE:
        return Result(status, reason=reason, isolation=Wasm.name)
    files, left_out = trees.collect(room / "files" / "work", policy, given)
    written = {"stdout": ending.stdout_written, "stderr": ending.stderr_written}
    cut = [f"{name}: cut after {policy.output} bytes" for name in written if written[name] > policy.output]
    return Result(
        status=status,
        exit_code=exit_code,
        stdout=ending.stdout.decode("utf-8", "replace"),
        stderr=ending.stderr.decode("utf-8", "replace"),
        files=files,
        truncated=(*cut, *left_out),
        seconds=outcome.get("seconds", ending.seconds),
        isolation=Wasm.name,
        reason=reason,
    )


def read_outcome(room: Path) -> dict:
    """Read how the code ended, as the host process says; {} where it did not come to that."""
    try:
        return json.loads((room / "outcome").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def judge(room: Path, ending: Ending, outcome: dict, policy: Policy) -> tuple[Status, int | None, str]:
    """Say how the run ended: status, exit code and reason."""
    if ending.stopped == "timeout":
        return Status.TIMEOUT, None, f"it ran longer than {policy.seconds:g} seconds"
    if ending.stopped == "output":
        return Status.OUTPUT_LIMIT, None, f"it printed far more than the {policy.output} bytes that are kept"
    if ending.stopped == "start":
        return Status.UNAVAILABLE, None, f"WebAssembly did not start within {_START:g} seconds"
    if ending.stopped:
        return Status.KILLED, None, ending.stopped
    if "stopped" in outcome:
        return Status.KILLED, None, outcome["stopped"]
    if "fault" in outcome:
        return Status.ERROR, None, f"the interpreter broke down: {outcome['fault']}"
    if "exit_code" not in outcome:
        return _host_failed(room, ending)
    if outcome["exit_code"] == _OUT_OF_MEMORY:
        return Status.MEMORY, None, f"it needed more than {policy.memory} MB of memory"
    return (Status.ERROR if outcome["exit_code"] else Status.OK), outcome["exit_code"], ""


def _host_failed(room: Path, ending: Ending) -> tuple[Status, int | None, str]:
    """Say what it means that the host process ended without a word."""
    if (room / "started").exists():
        return Status.ERROR, None, f"the interpreter broke down: its process ended with {ending.exit_code}"
    told = ending.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {ending.exit_code}"]
    return Status.UNAVAILABLE, None, f"WebAssembly could not be started: {told[-1][:300]}"


@functools.cache
def _probe() -> Probe:
    """Probe once for this process."""
    fix = "pip install " + " ".join(missing_packages())
    if missing_packages():
        return Probe(Wasm.name, False, f"{' and '.join(missing_packages())} not installed.", fix)
    try:
        component()
        probe = _attempted()
        if not probe.ok:  # as when the component is damaged, or was compiled for another processor
            component(anew=True)
            probe = _attempted()
    except BuildError as error:
        return Probe(Wasm.name, False, f"{error}.", "pip install --force-reinstall componentize-py wasmtime")
    except OSError as error:
        return Probe(Wasm.name, False, f"{error}.", "let the user's cache folder be writable, or set XDG_CACHE_HOME")
    return probe


_ATTEMPTS = """
import os, socket
def attempt(name, action):
    try:
        print(name, "got through", action())
    except (OSError, AttributeError) as error:
        print(name, "refused", type(error).__name__)
attempt("file", lambda: open({path!r}).read())
attempt("network", lambda: socket.create_connection(("127.0.0.1", {port}), 2))
attempt("process", lambda: os.fork())
attempt("environment", lambda: {{}}[0] if {name!r} in os.environ else os.stat("/proc/self/environ"))
"""


def _attempted() -> Probe:
    """Run code that tries to read a file, to reach a server, to start a process, to read the environment, and to go
    on for ever."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        secret = Path(folder) / "secret"
        secret.write_text("secret", encoding="utf-8")
        name = next(iter(os.environ), "PATH")
        code = _ATTEMPTS.format(path=str(secret), port=server.getsockname()[1], name=name)
        tried = run_once(code, {}, Policy(seconds=20))
    refused = [line for line in tried.stdout.splitlines() if " refused " in line]
    if tried.status is not Status.OK or len(refused) != 4 or "got through" in tried.stdout:
        found = tried.reason or (tried.stdout + tried.stderr).strip()
        return Probe(Wasm.name, False, f"It does not hold: {found[-300:]}.", "report this as a bug")
    endless = run_once("while True: pass", {}, Policy(seconds=0.2))
    if endless.status is not Status.TIMEOUT:
        return Probe(Wasm.name, False, f"An endless loop ended as {endless.status}.", "report this as a bug")
    return Probe(Wasm.name, True, "Files, network, processes and environment were refused; an endless loop was ended.")
