"""The host's side of a sandbox that is running: start it, send it jobs, read what comes of them, end it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

from .inside import packing
from .inside.limits import MEGABYTE
from .inside.supervisor import NOT_CLOSED
from .inside.user_code import OUT_OF_MEMORY
from .pipes import CappedPipe, read_all
from .policy import Policy
from .result import Result, Status

START = 60.0  # seconds for the server to be ready: the first import of a large package may have to compile it
GRACE = 10.0  # seconds after the time limit for a run to be killed and reported
HEADER = 4 * MEGABYTE  # bytes of a report besides the files


class StartError(RuntimeError):
    """The sandbox did not start. The text is what it said."""


class Server:
    """A sandbox that is running and waits for jobs. `command` is given the settings that start it."""

    def __init__(self, command: Callable[[str], list[str]], settings: Mapping, isolation: str) -> None:
        self.isolation = isolation
        self._namespaces = bool(settings["namespaces"])
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        started = command(json.dumps({**settings, "socket": theirs.fileno()}))
        with theirs:
            self._process = subprocess.Popen(
                started,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                env={"PATH": "/usr/bin:/bin"},
                start_new_session=True,
            )
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        self._socket.settimeout(START)
        try:
            ready = self._socket.recv(16) == b"ready"
        except OSError:
            ready = False
        self._socket.settimeout(None)
        if not ready:
            self._process.kill()
            said = self._process.stderr.read(4000).decode("utf-8", "replace").strip()
            self.close()
            raise StartError(said.splitlines()[-1] if said else "it ended without a word")

    @property
    def alive(self) -> bool:
        """Whether it still waits for jobs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the server and every run in it. Closing twice is fine."""
        self._socket.close()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stderr.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, code: str, files: Mapping[str, bytes], policy: Policy, box: str, network: bool = False) -> Result:
        """Run code in a fresh place and give what came of it. `box` is the folder that it may write to."""
        started = time.monotonic()
        pipes = {name: CappedPipe(policy.output) for name in ("stdout", "stderr")}
        pipes["report"] = CappedPipe(policy.disk * MEGABYTE + HEADER)
        job = packing.pack({"code": code, "box": box, "network": network, **_limits(policy)}, files)
        floods: list[str] = []
        with contextlib.ExitStack() as stack:
            for pipe in pipes.values():
                stack.callback(pipe.close)
            host = _HangUp()
            stack.callback(host.hang_up)
            try:
                self._send(job, [pipe.writing for pipe in pipes.values()], host.theirs)
            except OSError as error:
                return Result(Status.UNAVAILABLE, isolation=self.isolation, reason=f"the sandbox has ended: {error}")
            finally:
                for end in (*(pipe.writing for pipe in pipes.values()), host.theirs):
                    os.close(end)

            def give_up(name: str) -> None:
                floods.append(name)
                host.hang_up()

            ended = read_all(pipes, policy.seconds + GRACE, give_up)
        if not ended:
            self._process.kill()
        seconds = time.monotonic() - started
        return _result(pipes, floods, policy, self.isolation, seconds)

    def _send(self, job: bytes, pipes: Sequence[int], hang_up: int) -> None:
        """Hand the server the open files of one run: the job and the pipes."""
        file = os.memfd_create("job", os.MFD_CLOEXEC)
        try:
            view = memoryview(job)
            while view:
                view = view[os.write(file, view) :]
            socket.send_fds(self._socket, [b"run"], [file, *pipes, hang_up])
        finally:
            os.close(file)


class _HangUp:
    """A pipe that carries nothing: the run's supervisor sees its end when the host gives up, or dies."""

    def __init__(self) -> None:
        self.theirs, self._ours = os.pipe()

    def hang_up(self) -> None:
        """Give up on the run. Doing so twice is fine."""
        if self._ours >= 0:
            os.close(self._ours)
            self._ours = -1


def _limits(policy: Policy) -> dict:
    return {name: getattr(policy, name) for name in ("seconds", "memory", "processes", "disk", "inodes")}


def _result(
    pipes: Mapping[str, CappedPipe], floods: list[str], policy: Policy, isolation: str, seconds: float
) -> Result:
    """Read the report, and give the result. What the code printed decides nothing."""
    said = {name: bytes(pipes[name].kept).decode("utf-8", "replace") for name in ("stdout", "stderr")}
    truncated = [f"{name}: cut after {policy.output} bytes" for name in said if pipes[name].cut]
    try:
        report, files = packing.unpack(bytes(pipes["report"].kept))
        if "failed" in report:
            raise packing.Unpackable(report["failed"])
    except packing.Unpackable as error:
        reason = f"the sandbox failed: {error}"
        return Result(Status.UNAVAILABLE, None, **said, seconds=seconds, isolation=isolation, reason=reason)
    exit_code = os.waitstatus_to_exitcode(report["wait_status"])
    status, reason = _judge(exit_code, report["reason"], floods, policy)
    truncated += map(_printable, report["left_out"])
    return Result(
        status=status,
        exit_code=None if reason else exit_code,
        **said,
        files={_printable(name): content for name, content in files.items()},
        truncated=tuple(truncated),
        seconds=seconds,
        isolation=isolation,
        reason=reason,
    )


def _judge(exit_code: int, killed_for: str, floods: list[str], policy: Policy) -> tuple[Status, str]:
    """Give the status, and the reason where the run did not end by itself."""
    if floods:
        return Status.OUTPUT_LIMIT, f"it printed far more than the {policy.output} bytes that are kept of {floods[0]}"
    if killed_for == "timeout":
        return Status.TIMEOUT, f"it ran longer than {policy.seconds:g} seconds"
    if killed_for:
        return Status.KILLED, killed_for
    if exit_code == -OUT_OF_MEMORY:
        return Status.MEMORY, f"it needed more than {policy.memory} MB of memory"
    if exit_code == NOT_CLOSED:
        return Status.UNAVAILABLE, "the sandbox could not be closed, so the code was not run"
    return (Status.OK if exit_code == 0 else Status.ERROR), ""


def _printable(name: str) -> str:
    """Give a file's name as text that can be printed anywhere: what is no character stands as an escape."""
    encoded = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in encoded)
