"""Which files the code may open, where there are no namespaces to hide the others: the kernel's Landlock.

A process gives up all access to files but for the folders it lists, for good, and so for its children ("Landlock" in
the kernel's documentation). Landlock does not cover asking whether a path exists, nor changing permissions and times.
"""

from __future__ import annotations

import ctypes
import os
import stat

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV = (1 << bit for bit in range(13, 16))
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE
FOR_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
MOVES = 2  # the version since which files can be moved between folders (Linux 5.19)
BIND_AND_CONNECT = 0b11  # of TCP; version 4
ABSTRACT_SOCKETS_AND_SIGNALS = 0b11  # stay within; version 6

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every processor
_PATH_BENEATH, _GET_VERSION = 1, 1
_libc = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Give the version of Landlock in this kernel; 0 for none."""
    return max(0, _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_GET_VERSION)))


def restrict(readable: list[str], writable: list[str], *, network: bool = False) -> None:
    """Give up access to every file but these and what is in them. A path that does not exist is left out.

    With `network`, what a TCP socket may do is left to another layer.
    """
    known = version()
    everything = (1 << 13) - 1
    for right, since in ((REFER, 2), (TRUNCATE, 3), (IOCTL_DEV, 5)):
        everything |= right if known >= since else 0
    tcp = BIND_AND_CONNECT if known >= 4 and not network else 0
    scoped = ABSTRACT_SOCKETS_AND_SIGNALS if known >= 6 else 0
    attributes = _Ruleset(everything, tcp, scoped)
    size = 8 if known < 4 else 16 if known < 6 else 24
    ruleset = _checked(_libc.syscall(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0))
    for paths, rights in ((readable, READ), (writable, READ_FILE | READ_DIR | EXECUTE | WRITE)):
        for path in paths:
            _allow(ruleset, path, rights & everything)
    _checked(_libc.prctl(38, 1, 0, 0, 0))  # no new privileges
    _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Add one rule: what may be done with a file, or with all in a folder."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(opened).st_mode):
        rights &= FOR_A_FILE
    rule = _PathBeneath(rights, opened)
    _checked(_libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0))
    os.close(opened)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"landlock: {os.strerror(ctypes.get_errno())}")
    return result
