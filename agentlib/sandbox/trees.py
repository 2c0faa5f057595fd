"""The folder that untrusted code wrote into: count it while the code runs, read it and remove it afterwards.

All of it is iterative, since code can nest folders thousands deep, and nothing follows a link: what a link points to
is the host's.
"""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from .policy import Policy

DEEPEST = 60  # levels of folders; more than the files that are given in may have
MB = 1_000_000


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files (relative path -> bytes, already checked) into the folder."""
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def entries(files: Iterable[str]) -> int:
    """Count the files and the folders that they lie in."""
    paths = set(files)
    return len(paths | {str(folder) for path in paths for folder in PurePosixPath(path).parents} - {"."})


def walk(folder: Path) -> Iterator[tuple[str, os.stat_result | None]]:
    """Give each entry below the folder: its path with forward slashes, and its status without following a link.

    The status is None for what cannot be looked at, such as a path that is too long. Nothing below DEEPEST is visited,
    and what the code removes meanwhile is left out.
    """
    folder = any_length(folder)
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            found = sorted(os.scandir(folder / inside), key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        except OSError:
            yield inside, None
            continue
        for entry in found:
            path = f"{inside}/{entry.name}" if inside else entry.name
            try:
                status = os.lstat(folder / path)
            except FileNotFoundError:
                continue
            except OSError:
                status = None
            yield path, status
            if status and stat.S_ISDIR(status.st_mode) and path.count("/") < DEEPEST:
                waiting.append(path)


def any_length(folder: Path) -> Path:
    """Give a folder in the form in which Windows takes paths of any length; in the other, long ones do not exist."""
    prefix = "\\\\?\\"
    return Path(f"{prefix}{folder}") if os.name == "nt" and not str(folder).startswith(prefix) else folder


def over_limit(folder: Path, policy: Policy, given: int) -> str:
    """Say which limit on files the folder is over, or ''. `given` entries were put there for the code.

    What cannot be looked into could hold anything, so it is over the limit, too.
    """
    size = 0
    for count, (path, status) in enumerate(walk(folder), 1):
        if status is None:
            return "inodes: a path is too long to be looked at"
        size += status.st_size if stat.S_ISREG(status.st_mode) else 0
        if size > policy.disk * MB:
            return f"disk: more than {policy.disk} MB"
        if count > policy.inodes + given:
            return f"inodes: more than {policy.inodes} files and folders"
        if path.count("/") >= DEEPEST:
            return f"inodes: folders more than {DEEPEST} deep"
    return ""


def collect(folder: Path, policy: Policy, given: int) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Read the regular files, up to the policy's disk and inodes, and say what was left out and why. `given` entries
    were put there for the code.

    Call it when every process that could write is dead.
    """
    folder = any_length(folder)
    most = policy.inodes + given
    files: dict[str, bytes] = {}
    left_out: list[str] = []
    room = policy.disk * MB
    for path, status in itertools.islice(walk(folder), 2 * most):
        if status and stat.S_ISDIR(status.st_mode):
            continue
        content, fault = _read(folder / path, status, room)
        if len(files) == most:
            fault = f"more than {most} files"
        if fault:
            left_out.append(f"{printable(path)}: {fault}")
        else:
            files[printable(path)] = content
            room -= len(content)
    return dict(sorted(files.items())), summarised(left_out)


def _read(path: Path, status: os.stat_result | None, room: int) -> tuple[bytes, str]:
    """Read a regular file that has one name and fits into `room` bytes: its content, and what is wrong with it."""
    if not status or not stat.S_ISREG(status.st_mode):
        return b"", "not a regular file"
    if status.st_nlink > 1:
        return b"", "a file with more than one name"
    if status.st_size > room:
        return b"", "too large"
    # O_NOFOLLOW, O_NONBLOCK and O_BINARY do not exist everywhere.
    flags = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))
    try:
        with open(path, "rb", opener=lambda name, _: os.open(name, os.O_RDONLY | flags)) as file:
            return file.read(status.st_size), ""
    except OSError as error:
        return b"", error.strerror or "cannot be read"


def printable(path: str) -> str:
    """Give a path as text that can be printed and saved anywhere: what is no visible character stands as an escape."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def summarised(lines: list[str], most: int = 20) -> tuple[str, ...]:
    """Keep the first lines, and say how many more there were."""
    rest = len(lines) - most
    return tuple(lines[:most]) + ((f"and {rest} more",) if rest > 0 else ())


def remove(folder: Path) -> None:
    """Remove the folder, however deep it is: what lies deeper is moved up first, so that no path grows too long."""
    folder = any_length(folder)
    names = (folder / f".moved-{number}" for number in itertools.count())
    while found := list(os.scandir(folder)):
        for entry in found:
            if not entry.is_dir(follow_symlinks=False) or _is_junction(entry):
                _unlink(Path(entry.path))
                continue
            os.chmod(entry.path, 0o700)
            for inner in list(os.scandir(entry.path)):
                if inner.is_dir(follow_symlinks=False) and not _is_junction(inner):
                    os.chmod(inner.path, 0o700)  # or it cannot be moved
                os.rename(inner.path, next(name for name in names if not os.path.lexists(name)))
            os.rmdir(entry.path)
    folder.rmdir()


def _is_junction(entry: os.DirEntry) -> bool:
    """Tell whether an entry is a junction, a link to a folder that only Windows has."""
    return bool(getattr(os.lstat(entry.path), "st_reparse_tag", 0))


def _unlink(path: Path) -> None:
    """Remove a file or a link, also one that is marked as read-only."""
    try:
        path.unlink()
    except PermissionError:
        os.chmod(path, 0o600)
        path.unlink()
