"""CPython in WebAssembly: the same on Linux, macOS and Windows, from PyPI alone, with the standard library only.

The code runs in an interpreter that is itself a program for a virtual machine. That machine has its own memory and no
system calls: what the code can reach is what `wasm_child.capabilities` hands to it. It has no processes, no threads
and no network, and it computes three to four times slower.

What it does not stop: code that keeps a processor busy until its time is up, and faults in wasmtime, which would let
the code into its host process: a process of this user, without secrets in its environment.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import sys
import tempfile
import time
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
        room = Path(tempfile.mkdtemp(prefix="agentlib-wasm-"))
        try:
            prepare(room, code, files)
            ending, seconds = supervise(room, policy, len(files))
            return gather(room, ending, seconds, policy)
        finally:
            trees.remove(room)


def prepare(room: Path, code: str, files: Mapping[str, bytes]) -> None:
    """Lay out the room: the code, and under files/ the two folders that the code can see."""
    (room / "code").write_bytes(code.encode("utf-8", "surrogatepass"))
    (room / "files" / "work").mkdir(parents=True)
    (room / "files" / "tmp").mkdir()
    trees.put(room / "files" / "work", dict(files))


def supervise(room: Path, policy: Policy, given: int) -> tuple[Ending, float]:
    """Run the host process and kill it when the code goes over a limit: how it ended, and the code's seconds."""
    command = [sys.executable, "-I", "-B", str(_CHILD), str(component()), str(room)]
    limits = [min(policy.memory, _MOST_MEMORY) * trees.MB, policy.disk * trees.MB, policy.seconds]
    clock = Clock(room / "started", policy.seconds)
    look = watcher(room, policy, given, clock)
    ending = watch([*command, *map(str, limits)], look, policy.output, environ=bare_environment())
    return ending, clock.seconds


class Clock:
    """Measures the code's time, from the moment that the host process says it starts: a slow start is not counted."""

    def __init__(self, started: Path, limit: float) -> None:
        self._started = started
        self._limit = limit
        self._too_late = deadline(_START)
        self._begin: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the code started, or 0.0 when it has not."""
        return 0.0 if self._begin is None else time.monotonic() - self._begin

    def look(self) -> str:
        """Say whether the time is up."""
        if self._begin is None and self._started.exists():
            self._begin = time.monotonic()
        if self._begin is None:
            return "it did not start" if self._too_late() else ""
        return "timeout" if self.seconds > self._limit else ""


def watcher(room: Path, policy: Policy, given: int, clock: Clock) -> Callable[[int], str]:
    """Give the function that is asked every few milliseconds whether the code must be stopped."""

    def look(written: int) -> str:
        if written > MANY * policy.output:
            return "output"
        return clock.look() or trees.over_limit(room / "files", policy, given=_entries(given))

    return look


def _entries(files: int) -> int:
    """Give how many entries were there before: two folders, and each file with the folders that it lies in."""
    return 2 + 50 * files


def gather(room: Path, ending: Ending, seconds: float, policy: Policy) -> Result:
    """Make the result, now that no process is left: from the host process's word, never from what the code printed."""
    status, exit_code, reason = judge(room, ending, policy)
    if status is Status.UNAVAILABLE:
        return Result(status, reason=reason, isolation="wasm")
    files, left_out = trees.collect(room / "files" / "work", policy)
    cut = [f"{name}: only the first {policy.output} bytes are kept" for name in _cut_streams(ending, policy)]
    return Result(
        status=status,
        exit_code=exit_code,
        stdout=ending.stdout[: policy.output].decode("utf-8", "replace"),
        stderr=ending.stderr[: policy.output].decode("utf-8", "replace"),
        files=files,
        truncated=(*cut, *left_out),
        seconds=seconds,
        isolation="wasm",
        reason=reason,
    )


def judge(room: Path, ending: Ending, policy: Policy) -> tuple[Status, int | None, str]:
    """Say how the run ended: status, exit code and reason."""
    if ending.stopped == "timeout":
        return Status.TIMEOUT, None, f"the code ran longer than seconds={policy.seconds:g}"
    if ending.stopped == "output":
        return Status.OUTPUT_LIMIT, None, f"the code printed more than {MANY} times output={policy.output}"
    if ending.stopped == "it did not start":
        return Status.UNAVAILABLE, None, f"WebAssembly did not start within {_START:g} seconds"
    if ending.stopped:
        return Status.KILLED, None, ending.stopped
    try:
        outcome = json.loads((room / "outcome").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return _host_failed(room, ending)
    if "fault" in outcome:
        return Status.ERROR, None, f"the interpreter broke down: {outcome['fault']}"
    if outcome["exit_code"] == -1:
        return Status.MEMORY, None, f"the code needed more than memory={policy.memory} MB"
    return (Status.ERROR if outcome["exit_code"] else Status.OK), outcome["exit_code"], ""


def _host_failed(room: Path, ending: Ending) -> tuple[Status, int | None, str]:
    """Say what it means that the host process ended without a word."""
    if (room / "started").exists():
        return Status.KILLED, None, f"the host process of the code ended with {ending.exit_code}"
    told = ending.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {ending.exit_code}"]
    return Status.UNAVAILABLE, None, f"WebAssembly could not be started: {told[-1][:300]}"


def _cut_streams(ending: Ending, policy: Policy) -> list[str]:
    return [name for name in ("stdout", "stderr") if getattr(ending, f"{name}_written") > policy.output]


@functools.cache
def _probe() -> Probe:
    """Probe once for this process."""
    fix = "pip install " + " ".join(missing_packages())
    if missing_packages():
        return Probe(Wasm.name, False, f"{' and '.join(missing_packages())} not installed.", fix)
    try:
        component()
    except (BuildError, OSError) as error:
        return Probe(Wasm.name, False, f"{error}.", "pip install --force-reinstall componentize-py wasmtime")
    return _attempted()


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
        tried = Wasm().run(code, {}, Policy(seconds=20))
    refused = [line for line in tried.stdout.splitlines() if " refused " in line]
    if tried.status is not Status.OK or len(refused) != 4 or "got through" in tried.stdout:
        found = tried.reason or (tried.stdout + tried.stderr).strip()
        return Probe(Wasm.name, False, f"It does not hold: {found[-300:]}.", "report this as a bug")
    endless = Wasm().run("while True: pass", {}, Policy(seconds=0.2))
    if endless.status is not Status.TIMEOUT:
        return Probe(Wasm.name, False, f"An endless loop ended as {endless.status}.", "report this as a bug")
    return Probe(Wasm.name, True, "Files, network, processes and environment were refused; an endless loop was ended.")
