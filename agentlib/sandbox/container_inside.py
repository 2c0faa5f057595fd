"""What runs in the container as process 1: it supervises the code and sends the report to the host.

The host has the container's three streams and nothing else, so the code gets pipes instead of them, which are read
here, with the cap. The report goes to the container's stdout when every process but this one is dead.
"""

from __future__ import annotations

import os
import sys
import threading
import time

STANDARD = list(sys.path)
sys.path.insert(0, os.path.dirname(__file__))

from inside import packing, supervisor  # noqa: E402 - it lies beside this file

BOX = "/tmp"
CHUNK = 65_536


class Pump:
    """Reads a pipe to its end in a thread, and keeps the first `cap` bytes. Far more ends the run."""

    def __init__(self, cap: int, most: int, too_much: threading.Event, give_up: int) -> None:
        self.kept = bytearray()
        self.written = 0
        self.source, self.sink = os.pipe()
        self._cap, self._most, self._too_much, self._give_up = cap, most, too_much, give_up
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while piece := os.read(self.source, CHUNK):
            self.written += len(piece)
            self.kept += piece[: max(0, self._cap - len(self.kept))]
            if self.written > self._most and not self._too_much.is_set():
                self._too_much.set()
                os.close(self._give_up)  # the supervisor sees that its reader is gone, and kills

    def close(self) -> bytes:
        """Wait for the end of the pipe and give what was kept."""
        self._thread.join()
        return bytes(self.kept)


def main() -> None:
    """Read the job from stdin, run it, and write the report to stdout."""
    if os.getpid() != 1:  # it kills all processes that it can see
        sys.exit("this is no container: its first process is another one")
    header, files = packing.unpack(sys.stdin.buffer.read())
    cap, many = header.pop("output"), header.pop("many")
    header["search"] = [*STANDARD, *header["search"]]
    report = os.dup(1)
    job = supervisor.Job(files=files, box=BOX, network=False, namespaces=True, **header)
    host, give_up = os.pipe()
    too_much = threading.Event()
    out, err = (Pump(cap, many * cap, too_much, give_up) for _ in range(2))
    inner = Pump(1 << 62, 1 << 62, too_much, give_up)  # the supervisor's report
    began = time.monotonic()
    supervisor.supervise(job, supervisor.Pipes(out.sink, err.sink, inner.sink, host), keep_in=lambda: None)
    os.close(inner.sink)
    told, left = packing.unpack(inner.close())
    told |= {
        "seconds": time.monotonic() - began,
        "too_much": too_much.is_set(),
        "stdout_written": out.written,
        "stderr_written": err.written,
    }
    left = {f"files/{name}": content for name, content in left.items()}
    supervisor.write_all(report, packing.pack(told, {"stdout": out.close(), "stderr": err.close(), **left}))


if __name__ == "__main__":
    main()
