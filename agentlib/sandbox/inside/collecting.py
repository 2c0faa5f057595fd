"""What the code left in its working directory, read after every process of the run is dead.

Names and kinds of files are the code's choice, so nothing is followed: only regular files with one name are read, and
no step of the walk calls itself, however deep the folders are.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import stat
from collections.abc import Iterator

DEEPEST = 60  # folders within folders
# Bytes that the names of files may take up in the report: all together, and for each file that there may be.
ALL_NAMES, EACH_NAME = 1_000_000, 256
LISTED = 20  # how many files that are left out are named


def collect(folder: str, most_files: int, most_bytes: int) -> tuple[dict[str, bytes], list[str]]:
    """Give the files by path within the folder, and what was left out, in words."""
    files: dict[str, bytes] = {}
    left_out: list[str] = []
    total, named = 0, 0
    for path in walk(folder):
        name = os.path.relpath(path, folder)
        named += len(json.dumps(name))
        if len(files) >= most_files:
            left_out.append(f"{name}: more than {most_files} files")
            continue
        if named > ALL_NAMES + EACH_NAME * most_files:
            left_out.append(f"{name}: too many long names")
            continue
        content = read_regular(path, most_bytes - total)
        if isinstance(content, str):
            left_out.append(f"{name}: {content}")
        else:
            files[name] = content
            total += len(content)
    return files, left_out[:LISTED] + [f"and {len(left_out) - LISTED} more"] * (len(left_out) > LISTED)


def walk(folder: str) -> Iterator[str]:
    """Give the path of everything in a folder that is no folder, in order of name, and of folders that are too deep."""
    waiting = [(folder, 0)]
    while waiting:
        current, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError:
            yield current
            continue
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield entry.path
            elif depth + 1 < DEEPEST:
                waiting.append((entry.path, depth + 1))
            else:
                yield entry.path


def read_regular(path: str, most: int) -> bytes | str:
    """Give a file's bytes, or in words why it is not read. Never waits, and never follows a link."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return "a link" if os.path.islink(path) else (error.strerror or "cannot be opened")
    try:
        found = os.fstat(opened)
        if stat.S_ISDIR(found.st_mode):
            return "a folder that is too deep"
        if not stat.S_ISREG(found.st_mode):
            return "not a regular file"
        if found.st_nlink != 1:
            return "a file with more than one name"
        if found.st_size > most:
            return "too large"
        with open(opened, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(opened)


def count(folder: str, most: int) -> tuple[int, int]:
    """Give how many files and folders there are in a folder, and how many bytes they hold. Stops counting past `most`.

    Folders that are too deep, or that cannot be looked into, count as too many.
    """
    waiting, entries, size = [(folder, 0)], 0, 0
    while waiting and entries <= most:
        current, depth = waiting.pop()
        try:
            with os.scandir(current) as found:
                for entry in found:
                    entries += 1
                    about = entry.stat(follow_symlinks=False)
                    size += about.st_blocks * 512
                    if stat.S_ISDIR(about.st_mode):
                        waiting.append((entry.path, depth + 1))
        except (FileNotFoundError, NotADirectoryError):  # it was removed meanwhile
            continue
        except OSError:
            return most + 1, size
        if depth > DEEPEST:
            return most + 1, size
    return entries, size


def remove(folder: str) -> None:
    """Remove a folder and all in it, however deep it is: what lies deeper is moved up, and comes in its turn.

    Each step goes by an open folder and the name of an entry in it, and follows no link. So even a process that still
    swaps folders for links meanwhile cannot have anything else removed.
    """
    mark = os.urandom(8).hex()
    names = (f".{mark}-{number}" for number in itertools.count())
    top = _open_folder(folder)
    try:
        while found := os.listdir(top):
            for name in found:
                _remove_or_move_up(top, name, names)
    finally:
        os.close(top)
    os.rmdir(folder)


def remove_if_possible(folder: str) -> None:
    """Remove a folder as far as that is allowed."""
    with contextlib.suppress(OSError):
        remove(folder)


def _remove_or_move_up(top: int, name: str, names: Iterator[str]) -> None:
    """Remove a file, or a folder and the files in it, after moving its folders up to the open folder `top`."""
    if not _is_folder(name, top):
        os.unlink(name, dir_fd=top)
        return
    opened = _open_folder(name, top)
    try:
        for inner in os.listdir(opened):
            if _is_folder(inner, opened):
                os.close(_open_folder(inner, opened))  # or, shut as it may be, it cannot be moved
                os.rename(inner, next(names), src_dir_fd=opened, dst_dir_fd=top)
            else:
                os.unlink(inner, dir_fd=opened)
    finally:
        os.close(opened)
    os.rmdir(name, dir_fd=top)


def _is_folder(name: str, within: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=within, follow_symlinks=False).st_mode)


def _open_folder(name: str, within: int | None = None) -> int:
    """Open a folder, never by a link, after its owner was given back the rights that the code may have taken."""
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    found = os.open(name, os.O_PATH | flags, dir_fd=within)
    try:
        if os.fstat(found).st_mode & 0o700 != 0o700:
            os.chmod(f"/proc/self/fd/{found}", 0o700)
        return os.open(".", os.O_RDONLY | flags, dir_fd=found)
    finally:
        os.close(found)
