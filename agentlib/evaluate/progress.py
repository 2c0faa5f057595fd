"""A bar that shows how far a sweep is, on stderr, and only where that is a terminal: files and notebooks stay clean."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_WIDTH = 30


@contextmanager
def progress(total: int) -> Iterator[Callable[[int, int], None]]:
    """Give a function that shows how many of `total` runs are done and how many failed. At the end the bar goes."""
    terminal = sys.stderr if sys.stderr and sys.stderr.isatty() else None
    shown = ""

    def show(done: int, failed: int) -> None:
        nonlocal shown
        if terminal:
            full = _WIDTH * done // max(total, 1)
            bar = f"[{'#' * full}{'.' * (_WIDTH - full)}] {done} of {total} runs"
            shown = f"{bar}, {failed} failed" if failed else bar
            terminal.write(f"\r{shown}")
            terminal.flush()

    try:
        yield show
    finally:
        if shown:  # it only grew, so the last one covers all
            terminal.write(f"\r{' ' * len(shown)}\r")
            terminal.flush()
