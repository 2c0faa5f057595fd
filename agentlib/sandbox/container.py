"""A container: docker or podman runs the code in an image that is made from the local Python.

The engine gives the code files, processes and a network of its own; in it the supervisor of the Linux backends runs
the code with its limits and its filter of system calls. Files come back in the supervisor's report, which it writes
when every process of the run is dead.

What it does not stop: faults in the kernel, which the code shares with the host on Linux, and in the engine, whose
server often runs as root.
"""

from __future__ import annotations

import functools
import signal
import socket
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from .backends import Probe
from .container_engine import Engine, EngineError, container_command, start_engine, wanted_commands
from .container_image import OURS, SITE, image_for
from .inside import packing
from .policy import Policy
from .result import Result, Status
from .trees import MB, entries, printable, summarised
from .watched import MANY, Ending, deadline, watch

_START = 60.0  # seconds for a container to start and to end
_OUT_OF_MEMORY = 40  # the signal by which the supervisor's code says so
_EXPECTED = "install docker or podman and start it, or name one in AGENTLIB_CONTAINER_ENGINE"


class Container:
    """The backend: each run has a container of its own."""

    name = "container"

    def probe(self) -> Probe:
        """Find an engine, make the image, and run code that tries to break out."""
        return _find()[0]

    def satisfies(self, policy: Policy) -> str:
        """Say what of the policy a container cannot do here."""
        lacks = {"network=... has no proxy to go through": policy.network, "read=... is not mounted": policy.read}
        return "; ".join(text for text, lacking in lacks.items() if lacking)

    def run(self, code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
        """Run the code in a fresh container and give what came of it."""
        probe, engine, image, python = _find()
        if not probe.ok:
            return Result(Status.UNAVAILABLE, reason=probe.reason, isolation=self.name)
        return run_in(engine, image, python, code, files, policy)


def run_in(engine: Engine, image: str, python: str, code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
    """Start the container, send it the job, kill it when it does not end by itself, and read its report."""
    program = [python, "-I", "-B", f"/{OURS}/container_inside.py"]
    most = policy.disk * MB + 2 * policy.output + 10 * MB  # bytes that a report may have
    try:
        with container_command(engine, image, program, policy, entries(files)) as (name, command):
            ending = watch(
                command,
                watcher(policy, most),
                most,
                stdin=job(code, files, policy),
                kill=lambda: engine.try_call("kill", name),
            )
    except EngineError as error:
        return Result(Status.UNAVAILABLE, reason=str(error), isolation=Container.name)
    return read_report(ending, policy)


def job(code: str, files: Mapping[str, bytes], policy: Policy) -> bytes:
    """Pack the job as the supervisor reads it."""
    limits = {name: getattr(policy, name) for name in ("seconds", "memory", "processes", "disk", "inodes", "output")}
    return packing.pack({"code": code, "search": [f"/{SITE}"], "many": MANY, **limits}, files)


def watcher(policy: Policy, most: int) -> Callable[[int], str]:
    """Give the function that says when the host must kill: the supervisor inside comes first, unless it fails."""
    too_late = deadline(policy.seconds + _START)

    def look(written: int) -> str:
        if written > most:
            return "the report is too long"
        return "the container did not end in time" if too_late() else ""

    return look


def read_report(ending: Ending, policy: Policy) -> Result:
    """Make the result from the report. Its form is checked, although only the supervisor can write it."""
    try:
        told, files = packing.unpack(ending.stdout)
    except packing.Unpackable:
        text = ending.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = ending.stopped or f"the container failed: {(text or [f'exit code {ending.exit_code}'])[-1][:300]}"
        return Result(Status.UNAVAILABLE, reason=reason, isolation=Container.name)
    out, err = files.pop("stdout"), files.pop("stderr")
    status, exit_code, reason = judge(told, policy)
    cut = [name for name in ("stdout", "stderr") if told[f"{name}_written"] > policy.output]
    return Result(
        status=status,
        exit_code=exit_code,
        stdout=out.decode("utf-8", "replace"),
        stderr=err.decode("utf-8", "replace"),
        files={printable(name.removeprefix("files/")): content for name, content in sorted(files.items())},
        truncated=(
            *(f"{name}: cut after {policy.output} bytes" for name in cut),
            *summarised([printable(line) for line in told["left_out"]]),
        ),
        isolation=Container.name,
        seconds=told["seconds"],
        reason=reason,
    )


def judge(told: dict, policy: Policy) -> tuple[Status, int | None, str]:
    """Say how the run ended: status, exit code and reason."""
    if told["failed"]:
        return Status.UNAVAILABLE, None, f"the sandbox failed: {told['failed']}"
    if told["too_much"]:
        return Status.OUTPUT_LIMIT, None, f"it printed far more than the {policy.output} bytes that are kept"
    if told["reason"] == "timeout":
        return Status.TIMEOUT, None, f"it ran longer than {policy.seconds:g} seconds"
    if told["reason"] == "memory":
        return Status.MEMORY, None, f"it needed more than {policy.memory} MB of memory"
    if told["reason"]:
        return Status.KILLED, None, told["reason"]
    code = exit_code_of(told["wait_status"])
    if code == -_OUT_OF_MEMORY:
        return Status.MEMORY, None, f"it needed more than {policy.memory} MB of memory"
    if code == -getattr(signal, "SIGXCPU", 24):
        return Status.TIMEOUT, None, "it used the processor longer than it may"
    return (Status.ERROR if code else Status.OK), code, ""


def exit_code_of(wait_status: int) -> int:
    """Read a wait status of Linux, on whichever system: an exit code, or the number of a signal, below 0."""
    return -(wait_status & 127) or wait_status >> 8


_ATTEMPTS = """
import os, socket
def attempt(name, action):
    try:
        print(name, "got through", action())
    except OSError as error:
        print(name, "refused", type(error).__name__)
attempt("file", lambda: open({path!r}).read())
attempt("network", lambda: socket.create_connection(("127.0.0.1", {port}), 2))
attempt("process", os.fork)
attempt("write", lambda: open("/written", "w"))
attempt("environment", lambda: open("/proc/1/environ").read())
attempt("interface", lambda: open("/proc/net/dev").read().count(":") > 1 or open("none but the loopback's own"))
"""


@functools.cache
def _find() -> tuple[Probe, Engine | None, str, str]:
    """Find the first engine that holds: the probe, the engine, its image and the Python in it. Once per process."""
    found = []
    for command in wanted_commands():
        try:
            engine = start_engine(command)
            image, python = image_for(engine)
        except (EngineError, OSError) as error:
            found.append(str(error))
            continue
        for each in (engine, replace(engine, cgroups=False)):
            if not (fault := attempt_to_break_out(each, image, python)):
                told = "Files, network, processes and writing were refused; an endless loop was ended."
                return Probe(Container.name, True, f"{command[0]}: {told}"), each, image, python
        found.append(fault)
    return Probe(Container.name, False, f"{'; '.join(found)}.", _EXPECTED), None, "", ""


def attempt_to_break_out(engine: Engine, image: str, python: str) -> str:
    """Try what must be refused, and say what was not, or ''."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        secret = Path(folder) / "secret"
        secret.write_text("secret", encoding="utf-8")
        code = _ATTEMPTS.format(path=str(secret), port=server.getsockname()[1])
        tried = run_in(engine, image, python, code, {}, Policy(seconds=20))
    refused = [line for line in tried.stdout.splitlines() if " refused " in line]
    if tried.status is not Status.OK or len(refused) != 6 or "got through" in tried.stdout:
        return f"{engine.command[0]}: {(tried.reason or tried.stdout + tried.stderr).strip()[-300:]}"
    endless = run_in(engine, image, python, "while True: pass", {}, Policy(seconds=0.2))
    return "" if endless.status is Status.TIMEOUT else f"{engine.command[0]}: an endless loop was not ended"
