"""What the code left in its working directory, read after every process of the run is dead.

Names and kinds of files are the code's choice, so nothing is followed: only regular files with one name are read, and
no step of the walk calls itself, however deep the folders are.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator

DEEPEST = 60  # folders within folders
LONGEST_PATH = 3000  # bytes of a folder's path, to which a name is added; the kernel takes 4096
LISTED = 20  # how many files that are left out are named


def collect(folder: str, most_files: int, most_bytes: int) -> tuple[dict[str, bytes], list[str]]:
    """Give the files by path within the folder, and what was left out, in words."""
    files: dict[str, bytes] = {}
    left_out: list[str] = []
    total = 0
    for path in walk(folder):
        name = os.path.relpath(path, folder)
        if len(files) >= most_files:
            left_out.append(f"{name}: more than {most_files} files")
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
    """Remove a folder and all in it, by a loop: what is nested too deeply for a path is moved up first."""
    found = [folder]
    for current in found:  # which grows as folders are found
        os.chmod(current, 0o700)
        with os.scandir(current) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                elif len(os.fsencode(entry.path)) < LONGEST_PATH:
                    found.append(entry.path)
    for current in reversed(found):
        try:
            os.rmdir(current)
        except OSError:  # it holds a folder whose path is too long
            _remove_by_levels(folder)
            return


def _remove_by_levels(folder: str) -> None:
    """Remove a folder and all in it, however long the paths are, by moving each level up in its turn."""
    other = tempfile.mkdtemp(prefix="agentlib-", dir=os.path.dirname(folder))
    while _lift(folder, other):
        folder, other = other, folder
    os.rmdir(folder)
    os.rmdir(other)


def _lift(folder: str, other: str) -> int:
    """Empty a folder: remove its files, and move what is in its folders to another one. Give how many were moved."""
    moved = 0
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            continue
        os.chmod(path, 0o700)
        for inner in os.listdir(path):
            _make_movable(os.path.join(path, inner))
            os.rename(os.path.join(path, inner), os.path.join(other, str(moved)))
            moved += 1
        os.rmdir(path)
    return moved


def _make_movable(path: str) -> None:
    """Give back to the owner the right to write a folder, without which it cannot be moved."""
    if stat.S_ISDIR(os.lstat(path).st_mode):
        os.chmod(path, 0o700)
