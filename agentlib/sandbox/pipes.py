"""Reading what a run sends: up to a cap, never more, until everything that could write has ended.

What comes through a pipe is only data. Nothing in it can say how the run ended.
"""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from . import forks

FLOOD = 32  # a run that writes this many times its cap is killed


class CappedPipe:
    """The reading end of a pipe, and the first bytes that came through it."""

    def __init__(self, cap: int) -> None:
        self.reading, self.writing = os.pipe()
        self.cap = cap
        self.kept = bytearray()
        self.seen = 0
        forks.own(self)

    @property
    def cut(self) -> bool:
        """Whether more came than was kept."""
        return self.seen > self.cap

    def read(self) -> bool:
        """Take in what is there. Gives False at the end."""
        data = os.read(self.reading, 1 << 16)
        self.kept += data[: max(0, self.cap - len(self.kept))]
        self.seen += len(data)
        return bool(data)

    def handed_over(self) -> None:
        """Close our copy of the writing end: the run has its own."""
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1

    def leave_to_parent(self) -> None:
        """Close both ends, in a fork."""
        self.handed_over()
        if self.reading >= 0:
            os.close(self.reading)
            self.reading = -1

    def __enter__(self) -> CappedPipe:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave_to_parent()


class HangUp:
    """A connection that carries nothing: the run's supervisor sees its end when the host gives up, or dies."""

    def __init__(self) -> None:
        self._theirs, self._ours = socket.socketpair()
        forks.own(self)

    @property
    def theirs(self) -> int:
        """The end that the supervisor watches."""
        return self._theirs.fileno()

    def hang_up(self) -> None:
        """Give up on the run. Any thread may, and doing so twice is fine."""
        with suppress(OSError):  # closed already
            self._ours.shutdown(socket.SHUT_RDWR)

    def handed_over(self) -> None:
        """Close our copy of the end that the supervisor watches."""
        self._theirs.close()

    def leave_to_parent(self) -> None:
        """Close both ends, in a fork."""
        self._theirs.close()
        self._ours.close()

    def __enter__(self) -> HangUp:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave_to_parent()


def read_all(pipes: Mapping[str, CappedPipe], seconds: float, flooded: Callable[[str], None]) -> bool:
    """Read all pipes to their ends. Gives False when that took longer than `seconds`.

    `flooded` is called once with the name of a pipe through which far more came than is kept.
    """
    end = time.monotonic() + seconds
    told = False
    with selectors.DefaultSelector() as waiting:
        for name, pipe in pipes.items():
            waiting.register(pipe.reading, selectors.EVENT_READ, name)
        while waiting.get_map():
            left = end - time.monotonic()
            if left <= 0:
                return False
            for key, _ in waiting.select(left):
                pipe = pipes[key.data]
                if not pipe.read():
                    waiting.unregister(key.fd)
                elif pipe.seen > FLOOD * pipe.cap and not told:
                    told = True
                    flooded(key.data)
    return True
