"""Giving up root before anything else happens: what a process started by root may do, no sandbox takes back.

bubblewrap that root starts leaves the kernel's settings in /proc/sys writable inside, whatever user it shows. So a
host process that is root starts it through this file, run as a program: as a user who owns nothing, after making the
folders reachable that only root could enter, such as a virtual environment in /root.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys

NOBODY = 65534
_NEW_MOUNTS, _NOSUID, _NODEV, _BIND, _RECURSIVE, _PRIVATE = 0x00020000, 2, 4, 0x1000, 0x4000, 0x40000
_libc = ctypes.CDLL(None, use_errno=True)


def command(interpreter: str, needed: list[str], program: list[str]) -> list[str]:
    """Give the command that starts a program as `nobody` if this process is root, else as the user it is."""
    if os.getuid() != 0 and os.geteuid() != 0:
        return program
    return [interpreter, "-I", "-S", "-B", os.path.realpath(__file__), json.dumps({"needed": needed}), *program]


def main(settings: str, *program: str) -> None:
    """Become `nobody` and then the program."""
    needed = json.loads(settings)["needed"]
    if unreadable := [path for path in needed if not others_may_read(path)]:
        path = unreadable[0]
        sys.exit(f"the user nobody, as which it runs for root, cannot read {path}: chmod -R o+rX {path}")
    if closed := closed_folders(needed):
        try:
            open_up(closed)
        except OSError as error:
            folder = next(iter(closed))
            sys.exit(f"only root can enter {folder}, and no other view of it can be made ({error}): chmod o+x {folder}")
    become_nobody()
    os.execv(program[0], program)


def others_may_read(path: str) -> bool:
    """Whether a file can be read, or a folder be listed and entered, by users who are nothing to it."""
    mode = os.stat(path).st_mode
    wanted = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
    return mode & wanted == wanted


def closed_folders(needed: list[str]) -> dict[str, list[str]]:
    """Give the outermost folders that others may not enter, each with the needed paths within it."""
    closed: dict[str, list[str]] = {}
    for path in needed:
        parts = path.split("/")[1:]
        ancestors = ["/" + "/".join(parts[:count]) for count in range(1, len(parts))]
        for folder in ancestors:
            if not os.stat(folder).st_mode & stat.S_IXOTH:
                closed.setdefault(folder, []).append(path)
                break
    return closed


def open_up(closed: dict[str, list[str]]) -> None:
    """Put an empty folder in place of each, for this process and its children only, that holds what is needed."""
    _checked(_libc.unshare(_NEW_MOUNTS), "a view of the files of its own")
    _mount("none", "/", None, _RECURSIVE | _PRIVATE)
    for folder, paths in closed.items():
        opened = [os.open(path, os.O_PATH) for path in paths]
        _mount("tmpfs", folder, "tmpfs", _NOSUID | _NODEV)
        for path, file in zip(paths, opened, strict=True):
            make_mount_point(path, stat.S_ISDIR(os.fstat(file).st_mode))
            _mount(f"/proc/self/fd/{file}", path, None, _BIND)
            os.close(file)


def make_mount_point(path: str, folder: bool) -> None:
    """Make an empty folder or file, to mount something on."""
    os.makedirs(path if folder else os.path.dirname(path), exist_ok=True)
    if not folder:
        open(path, "x").close()


def become_nobody() -> None:
    """Change to a user and a group that own nothing, for good."""
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError as error:
        sys.exit(f"this root cannot become the user nobody ({error.strerror}): run it as an ordinary user")


def give_to_nobody(path: str) -> None:
    """Change the owner of a file or folder to `nobody`."""
    try:
        os.chown(path, NOBODY, NOBODY)
    except OSError as error:
        raise OSError(f"this root cannot give files to the user nobody ({error.strerror})") from error


def _mount(source: str, target: str, kind: str | None, flags: int) -> None:
    texts = [text.encode() if text is not None else None for text in (source, target, kind)]
    _checked(_libc.mount(*texts, ctypes.c_ulong(flags), None), f"mounting {target}")


def _checked(result: int, what: str) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(*sys.argv[1:])
