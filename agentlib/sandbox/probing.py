"""Whether a backend really holds on this machine: it runs code that tries to break out, and all of it must fail.

That it starts proves nothing. A layer that the kernel does not enforce is the classic fault of sandboxes.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .backends import Backend, Probe
from .policy import Policy
from .result import Result, Status

ATTEMPTS = """
import os, signal, socket, sys

def other_process():
    if {pid} in (os.getpid(), os.getppid(), 1):
        raise OSError("the number means another process here")
    return {pid}

def read_environment():
    if {secret!r} not in open(f"/proc/{{other_process()}}/environ").read():
        raise OSError("another process, or nothing")

def fork():
    if os.fork() == 0:
        os._exit(0)

def new_namespace():
    import ctypes
    if ctypes.CDLL(None).unshare(0x10000000):
        raise OSError("refused")

attempts = {{
    "read a file of the host": lambda: open({file!r}).read(),
    "write a file of the host": lambda: open({file!r}, "a").write("x"),
    "make a file next to it": lambda: open({file!r} + ".new", "x"),
    "read the environment of a process of the host": read_environment,
    "kill a process of the host": lambda: os.kill(other_process(), signal.SIGKILL),
    "connect to a port of the host": lambda: socket.create_connection(("127.0.0.1", {port}), 5),
    "start a process": fork,
    "make a user namespace": new_namespace,
    "take twice the memory": lambda: bytearray({memory}),
}}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name)
    except (OSError, MemoryError):
        pass
print(os.environ.get("AGENTLIB_PROBE", ""), end="")
"""
POLICY = Policy(seconds=30.0)


@dataclass(frozen=True)
class Bait:
    """What the probe tries to get at: a file, a listening port, a process with a secret in its environment."""

    file: Path
    secret: str
    listener: socket.socket
    process: subprocess.Popen

    def touched(self) -> list[str]:
        """Give what was got at, as the host sees it."""
        found = ["a file was changed"] if self.file.read_text() != self.secret else []
        found += ["a file was made"] if len(list(self.file.parent.iterdir())) > 1 else []
        found += ["a process was killed"] if self.process.poll() is not None else []
        try:
            self.listener.accept()[0].close()
            found.append("a port was reached")
        except BlockingIOError:
            pass
        return found


@contextmanager
def bait() -> Iterator[Bait]:
    """Lay out something to get at, open to every user, and clear it away."""
    secret = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="agentlib-probe-") as folder, socket.socket() as listener:
        os.chmod(folder, 0o777)
        file = Path(folder, "secret")
        file.write_text(secret)
        file.chmod(0o666)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        waiting = [sys.executable, "-I", "-S", "-c", "input()"]
        with subprocess.Popen(waiting, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env={"S": secret}) as process:
            yield Bait(file, secret, listener, process)
            process.kill()


def attempt(backend: Backend, fix: str) -> Probe:
    """Run the attempts in a backend. `fix` is what to do when it does not start."""
    with bait() as laid:
        code = ATTEMPTS.format(
            pid=laid.process.pid,
            secret=laid.secret,
            file=str(laid.file),
            port=laid.listener.getsockname()[1],
            memory=2 * POLICY.memory * 1_000_000,
        )
        result = backend.run(code, {}, POLICY)
        touched = laid.touched()
    return judge(backend.name, result, touched, fix)


def judge(name: str, result: Result, touched: list[str], fix: str) -> Probe:
    """Give the probe: the code must have run to its end, and got at nothing."""
    got = [*result.stdout.splitlines(), *touched]
    if result.status is Status.UNAVAILABLE:
        return Probe(name, False, f"{result.reason}.", fix)
    if got:
        return Probe(name, False, f"It does not hold here. Code in it could: {'; '.join(got)}.", fix)
    if result.status is not Status.OK:
        said = result.reason or result.stderr.strip().splitlines()[-1:] or result.status
        return Probe(name, False, f"Code in it did not run to its end: {said}.", fix)
    return Probe(name, True, "All attempts to break out were refused.")
