"""The host's side of a sandbox that is running: start it, send it jobs, read what comes of them, end it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from types import MappingProxyType

from . import forks, python_folders
from .backends import StartError
from .inside import packing
from .inside.collecting import EACH_NAME
from .inside.limits import MEGABYTE
from .pipes import CappedPipe, HangUp, read_all
from .policy import Policy
from .proxy import Proxy
from .reports import read_result
from .result import Result, Status
from .trees import entries

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
    called once when the server has ended: when it is closed, is nowhere used any more, or this process ends.

    It belongs to the process that made it. In a fork of that it is not alive, and closing it does nothing.
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
        self._running: set[HangUp] = set()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        with forks.none_meanwhile():
            self._start(command, environment, at_end)
            forks.own(self)
        self._wait_until_ready(json.dumps(settings).encode())

    def _start(
        self, command: Callable[[int], list[str]], environment: Mapping[str, str], at_end: Callable[[], object]
    ) -> None:
        """Start the process, and settle how it ends."""
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
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
        self._at_end = ExitStack()
        self._at_end.callback(at_end)
        self._at_end.callback(self._said.close)
        self._at_end.callback(wait_for, self._process)
        self._at_end.callback(hang_up, self._socket, self._running)
        self._end = weakref.finalize(self, self._at_end.close)

    def _wait_until_ready(self, settings: bytes) -> None:
        self._socket.settimeout(START)
        try:
            self._socket.send(settings)
            message, files, _, _ = socket.recv_fds(self._socket, MOST_READY, MOST_PLACES)
        except OSError:
            message, files = b"", []
        if message:
            self._socket.settimeout(None)
            sockets = [socket.socket(fileno=file) for file in files]
            if sockets:
                self._proxy = Proxy(dict(zip(json.loads(message), sockets, strict=True)), self._network)
                self._at_end.callback(self._proxy.close)
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
        return self._end.alive and self._process.poll() is None

    def close(self) -> None:
        """End the server and every run in it. Closing twice is fine."""
        self._end()

    def leave_to_parent(self) -> None:
        """Let go of it, in a fork."""
        self._end.detach()
        self._socket.close()
        if self._proxy:
            self._proxy.leave_to_parent()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
        """Run code in a fresh place and give what came of it."""
        started = time.monotonic()
        report_size = policy.disk * MEGABYTE + HEADER + EACH_NAME * (policy.inodes + entries(files) + 1)
        sizes = {"stdout": policy.output, "stderr": policy.output, "report": report_size}
        floods: list[str] = []
        with ExitStack() as stack:
            box = stack.enter_context(self._new_box())
            with forks.none_meanwhile():
                pipes = {name: stack.enter_context(CappedPipe(size)) for name, size in sizes.items()}
                host = stack.enter_context(self._may_hang_up(pipes))
                limits = {name: getattr(policy, name) for name in LIMITS}
                job = {"code": code, "box": box, "network": bool(policy.network), **limits}
                try:
                    self._send(packing.pack(job, files), [*(pipe.writing for pipe in pipes.values()), host.theirs])
                except OSError as error:
                    return Result(
                        Status.UNAVAILABLE, isolation=self.isolation, reason=f"the sandbox has ended: {error}"
                    )
                finally:
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

    @contextmanager
    def _may_hang_up(self, pipes: Mapping[str, CappedPipe]) -> Iterator[HangUp]:
        """Make what ends a run, also when this process is interrupted; and wait until all of the run has ended, since
        what it wrote must not be touched before."""
        with HangUp() as host:
            self._running.add(host)
            try:
                yield host
            finally:
                self._running.discard(host)
                host.hang_up()
                read_all(pipes, GRACE, lambda name: None)

    def _send(self, job: bytes, ends: Sequence[int]) -> None:
        """Hand the server the open files of one run: the job, and our pipes' other ends."""
        with os.fdopen(os.memfd_create("job", os.MFD_CLOEXEC), "wb") as file:
            file.write(job)
            file.flush()
            socket.send_fds(self._socket, [b"run"], [file.fileno(), *ends])


def hang_up(connected: socket.socket, running: set[HangUp]) -> None:
    """Give up on every run, and tell a server that no more will come."""
    for host in list(running):
        host.hang_up()
    with suppress(OSError):  # it has ended by itself
        connected.shutdown(socket.SHUT_RDWR)  # which counts even where a copy of the socket is open
    connected.close()


def wait_for(process: subprocess.Popen) -> None:
    """Wait until a process has ended, and end it if that takes too long."""
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
