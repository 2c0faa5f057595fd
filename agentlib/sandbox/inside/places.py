"""A place of its own for one run, inside the namespaces that bubblewrap made: own processes, own empty disk.

Everything here is undone by the kernel when the last process of the run ends. See namespaces(7).
"""

from __future__ import annotations

import ctypes
import os
import stat

from .limits import MEGABYTE

_NEW_USER, _NEW_MOUNTS, _NEW_PROCESSES, _NEW_IPC = 0x10000000, 0x00020000, 0x20000000, 0x08000000
_NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 2, 4, 8, 32, 0x1000, 0x4000, 0x40000
NOBODY = 65534
_libc = ctypes.CDLL(None, use_errno=True)


def leave_for_new_namespaces() -> None:
    """Let the next process that is forked be number 1 of a place of its own, as the user `nobody` there."""
    user, group = os.getuid(), os.getgid()
    _checked(_libc.unshare(_NEW_USER | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_IPC), "new namespaces")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{NOBODY} {user} 1"),
        ("gid_map", f"{NOBODY} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def mount_own_disk(box: str, disk: int, entries: int, readable: list[str], *, shared_memory: bool) -> None:
    """Mount an empty box in memory, bounded in size and in number of files, and a /proc that shows this run only.

    `entries` is how many files and folders may be made in it from now on. The box's folder `tmp` is /tmp, too. What is
    readable and lies below one of the two stays.
    """
    kept = [path for path in readable if path.startswith(("/tmp/", f"{box}/"))]
    opened = [os.open(path, os.O_PATH) for path in kept]
    options = f"size={disk * MEGABYTE},mode=700"
    _mount("none", "/", None, _RECURSIVE | _PRIVATE, None)
    _mount("tmpfs", box, "tmpfs", _NOSUID | _NODEV, options)
    os.mkdir(f"{box}/tmp")
    _mount(f"{box}/tmp", "/tmp", None, _BIND, None)
    for path, file in zip(kept, opened, strict=True):
        _make_mount_point(path, stat.S_ISDIR(os.fstat(file).st_mode))
        _mount(f"/proc/self/fd/{file}", path, None, _BIND | _RECURSIVE, None)
    made_so_far = os.statvfs(box).f_files - os.statvfs(box).f_ffree
    _mount("tmpfs", box, None, _REMOUNT | _NOSUID | _NODEV, f"{options},nr_inodes={made_so_far + entries}")
    _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC, None)
    if shared_memory:  # the locks of multiprocessing are files there
        _mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID | _NODEV | _NOEXEC, f"{options},nr_inodes={entries}")


def _make_mount_point(path: str, folder: bool) -> None:
    """Make an empty file or folder to mount on."""
    os.makedirs(path if folder else os.path.dirname(path), exist_ok=True)
    if not folder:
        open(path, "x").close()


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    texts = [text.encode() if text is not None else None for text in (source, target, kind, options)]
    _checked(_libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]), f"mounting {target}")


def _checked(result: int, what: str) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
