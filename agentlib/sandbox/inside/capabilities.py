"""The powers of root, cut into parts: the code gets none of them, and can gain none.

In a user namespace of its own a process has all capabilities over it, and keeps them when it forks (capabilities(7)).
"""

from __future__ import annotations

import ctypes
import os
import signal

_DIE_WITH_PARENT, _SET_DUMPABLE, _DROP_FROM_BOUNDING_SET, _AMBIENT, _CLEAR_ALL = 1, 4, 24, 47, 4
_VERSION_3 = 0x20080522
_libc = ctypes.CDLL(None, use_errno=True)


def drop_all() -> None:
    """Empty every set of capabilities: what is held, what could be passed on, and the bound of what can be gained."""
    capability = 0
    while _libc.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0) == 0:
        capability += 1  # past the last one, or without the right to drop any, the kernel says no
    _libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header, nothing = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    if _libc.capset(header, nothing):
        raise OSError(ctypes.get_errno(), f"capabilities: {os.strerror(ctypes.get_errno())}")


def die_with(parent: int) -> None:
    """Have this process killed when its parent ends. A later change of user would undo it, giving up powers does not.

    The kernel minds the parent's thread that forked it, so this is for parents that have one only.
    """
    _libc.prctl(_DIE_WITH_PARENT, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it ended before
        os._exit(1)


def set_dumpable(dumpable: bool) -> None:
    """Say whether processes of the same user may look into this one: its memory, its open files, its environment."""
    if _libc.prctl(_SET_DUMPABLE, int(dumpable), 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"dumpable: {os.strerror(ctypes.get_errno())}")
