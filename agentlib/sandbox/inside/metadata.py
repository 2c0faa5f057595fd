"""Changing permissions and times of own files, where the kernel cannot keep that to own files and so refuses it all.

The standard library does it in passing, in shutil.copy for one. So on own files it does nothing, instead of failing.
This is a convenience, not a layer: the code can undo it, and is then refused.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable


def ignore_changes_within(box: str) -> None:
    """Let os.chmod and os.utime return where they are refused for a path within `box`."""
    for name in ("chmod", "utime"):
        setattr(os, name, _forgiving(getattr(os, name), box))


def _forgiving(change: Callable, box: str) -> Callable:
    @functools.wraps(change)
    def changed(path: object, *args: object, **named: object) -> None:
        try:
            change(path, *args, **named)
        except PermissionError:
            if isinstance(path, int) or not os.fsdecode(os.path.realpath(path)).startswith(f"{box}/"):
                raise

    return changed
