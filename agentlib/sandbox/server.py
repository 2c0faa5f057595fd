"""The host's side of a sandbox that is running: start it, send it jobs, read what comes of them, end it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from types import MappingProxyType

from . import python_folders
from .backends import StartError
from .inside import packing
from .inside.limits import MEGABYTE
from .pipes import CappedPipe, HangUp, read_all
from .policy import Policy
from .proxy import Proxy
from .reports import read_result
from .result import Result, Status

START = 60.0  # seconds for the server to be ready: the first import of a large package may have to compile it
GRACE = 10.0  # seconds after the time limit for a run to be killed and reported
MOST_READY, MOST_PLACES = 1 << 16, 250  # bytes and open files of the first message from inside
HEADER = 4 * MEGABYTE  # bytes of a report besides the files
LIMITS = ("seconds", "memory", "processes", "disk", "inodes")  # what of a policy the inside needs to know

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "module://sandbox_figures",
    "MALLOC_ARENA_MAX": "2",  # each thread's own arena takes 128 MB of address space, of which the limit allows few
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
# Our own folder is on the path for this one import only, so that no module of ours is in the way of another.
START_SERVER = (
    "import sys; sys.path.insert(0, sys.argv[1]); from inside.server import serve; del sys.path[0]; "
    "serve(int(sys.argv[2]))"
)


def server_program(interpreter: str, connected: int) -> list[str]:
    """Give the command that starts the inside: Python with nothing of the user's, and without the `site` module."""
    return [interpreter, "-I", "-S", "-B", "-c", START_SERVER, os.path.dirname(python_folders.OURS[0]), str(connected)]


class Server:
    """A sandbox that is running and waits for jobs, several at once if they come so.

    `command` gives the command that starts it, which is handed one end of a socket, with that number, and sent the
    settings through it. `new_box` makes the folder that one run may write to, and removes it afterwards. `at_end` is
    called once when the server has ended.
    """

    def __init__(
        self,
        isolation: str,
        settings: Mapping,
        command: Callable[[int], list[str]],
        new_box: Callable[[], AbstractContextManager[str]],
        environment: Mapping[str, str] = MappingProxyType({}),
        at_end: Callable[[], object] = lambda: None,
    ) -> None:
        self.isolation = isolation
        self._new_box = new_box
        self._network = tuple(settings["network"])
        self._proxy: Proxy | None = None
        self._at_end = at_end
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        with theirs:
            self._process = subprocess.Popen(
                command(theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                pass_fds=(theirs.fileno(),),
                env=dict(environment),
                start_new_session=True,
            )
        self._wait_until_ready(json.dumps(settings).encode())

    def _wait_until_ready(self, settings: bytes) -> None:
        self._socket.settimeout(START)
        try:
            self._socket.send(settings)
            message, files, _, _ = socket.recv_fds(self._socket, MOST_READY, MOST_PLACES)
        except OSError:
            message, files = b"", []
        self._socket.settimeout(None)
        if message:
            sockets = [socket.socket(fileno=file) for file in files]
            if sockets:
                self._proxy = Proxy(dict(zip(json.loads(message), sockets, strict=True)), self._network)
        else:
            self._process.kill()
            self._process.wait()
            self._said.seek(0)
            said = self._said.read(4000).decode("utf-8", "replace").strip()
            self.close()
            raise StartError(said.splitlines()[-1] if said else "it ended without a word")

    @property
    def alive(self) -> bool:
        """Whether it still waits for jobs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the server and every run in it. Closing twice is fine."""
        if self._socket.fileno() < 0:
            return
        self._socket.close()
        if self._proxy:
            self._proxy.close()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.close()
        self._at_end()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
        """Run code in a fresh place and give what came of it."""
        started = time.monotonic()
        report_size = policy.disk * MEGABYTE + HEADER
        sizes = {"stdout": policy.output, "stderr": policy.output, "report": report_size}
        floods: list[str] = []
        with ExitStack() as stack:
            box = stack.enter_context(self._new_box())
            pipes = {name: stack.enter_context(CappedPipe(size)) for name, size in sizes.items()}
            host = stack.enter_context(HangUp())
            limits = {name: getattr(policy, name) for name in LIMITS}
            job = {"code": code, "box": box, "network": bool(policy.network), **limits}
            try:
                self._send(packing.pack(job, files), [*(pipe.writing for pipe in pipes.values()), host.theirs])
            except OSError as error:
                return Result(Status.UNAVAILABLE, isolation=self.isolation, reason=f"the sandbox has ended: {error}")
            for end in (*pipes.values(), host):
                end.handed_over()

            def give_up(name: str) -> None:
                floods.append(name)
                host.hang_up()

            if not read_all(pipes, policy.seconds + GRACE, give_up):
                self._process.kill()
                reason = f"the sandbox did not end within {policy.seconds + GRACE:g} seconds"
                return Result(Status.KILLED, isolation=self.isolation, reason=reason)
        return read_result(pipes, floods, policy, self.isolation, time.monotonic() - started)

    def _send(self, job: bytes, ends: Sequence[int]) -> None:
        """Hand the server the open files of one run: the job, and our pipes' other ends."""
        with os.fdopen(os.memfd_create("job", os.MFD_CLOEXEC), "wb") as file:
            file.write(job)
            file.flush()
            socket.send_fds(self._socket, [b"run"], [file.fileno(), *ends])
