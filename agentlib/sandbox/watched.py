"""Run one command and watch it: its output is capped while it is read, and it is killed when it goes over a limit.

The same on Linux, macOS and Windows, so threads read the pipes.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

MANY = 32  # times the cap: what writes so much is killed
_TICK = 0.01  # seconds between two looks at a limit
_CHUNK = 65_536
_GRACE = 5.0  # seconds for a killed process to be gone, and for the last of its output to arrive


@dataclass(frozen=True)
class Ending:
    """How a command ended. `stopped` says why it was killed, and is empty when it ended by itself."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    stdout_written: int  # bytes, those that were not kept too
    stderr_written: int
    seconds: float  # from before its start to after its end
    stopped: str


class Capped:
    """Reads a stream to its end in a thread, and keeps only the first `cap` bytes."""

    def __init__(self, stream: IO[bytes], cap: int) -> None:
        self.kept = bytearray()
        self.written = 0
        self._stream = stream
        self._cap = cap
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while piece := os.read(self._stream.fileno(), _CHUNK):
            self.written += len(piece)
            self.kept += piece[: max(0, self._cap - len(self.kept))]

    def close(self) -> bytes:
        """Wait for the end of the stream and give what was kept."""
        self._thread.join(_GRACE)
        if not self._thread.is_alive():
            self._stream.close()
        return bytes(self.kept)


def watch(
    command: Sequence[str],
    look: Callable[[int], str],
    cap: int,
    *,
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
    kill: Callable[[], None] | None = None,
) -> Ending:
    """Run the command until it ends or `look` says why it must stop.

    `look` is called every few milliseconds with the number of bytes written so far; '' lets the command go on. `kill`
    is called, before the command itself is killed, for what else must be ended.
    """
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=None if environ is None else dict(environ),
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    out, err = Capped(process.stdout, cap), Capped(process.stderr, cap)
    if stdin:
        threading.Thread(target=_write, args=(process.stdin, stdin), daemon=True).start()
    stopped = ""
    try:
        while process.poll() is None and not stopped:
            stopped = look(max(out.written, err.written))
            _wait(process)
    finally:  # also when the user interrupts
        if process.poll() is None:
            if kill:
                kill()
            process.kill()
        process.wait(_GRACE)
    seconds = time.monotonic() - began
    kept = out.close(), err.close()
    stopped = stopped or look(max(out.written, err.written))
    return Ending(process.returncode, *kept, out.written, err.written, seconds, stopped)


def _wait(process: subprocess.Popen) -> None:
    """Wait a moment, or less when the process ends."""
    try:
        process.wait(_TICK)
    except subprocess.TimeoutExpired:
        return


def _write(stream: IO[bytes], data: bytes) -> None:
    """Write all the data; a process that has ended does not read it."""
    try:
        with stream:
            stream.write(data)
    except OSError:
        return


def deadline(seconds: float) -> Callable[[], bool]:
    """Give a function that tells whether so many seconds have passed since now."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end
