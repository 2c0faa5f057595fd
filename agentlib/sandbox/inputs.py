"""The files that a caller puts into the working directory: only plain relative paths, within the policy."""

from __future__ import annotations

from collections.abc import Mapping

from .policy import Policy

LONGEST_NAME, LONGEST_PATH, DEEPEST = 255, 1000, 50  # bytes, bytes, folders


class InputError(ValueError):
    """An input file that cannot be given to the code. The text says which and why."""


def checked_files(files: Mapping[str, bytes | str], policy: Policy) -> dict[str, bytes]:
    """Give the files as bytes (text as UTF-8), sorted by path. Raises InputError."""
    given = {}
    for path, content in sorted(files.items()):
        _check_path(path)
        if folder := next((other for other in given if path.startswith(f"{other}/")), ""):
            raise InputError(f"{folder!r} is a file, so {path!r} cannot be in it")
        if not isinstance(content, bytes | bytearray | memoryview | str):
            raise InputError(f"the content of {path!r} is {type(content).__name__}; it must be bytes or text")
        given[path] = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else bytes(content)
    total = sum(map(len, given.values()))
    if total > policy.disk * 1_000_000:
        raise InputError(f"the files hold {total:,} bytes, and the policy allows disk={policy.disk} MB")
    if len(given) > policy.inodes:
        raise InputError(f"there are {len(given)} files, and the policy allows inodes={policy.inodes}")
    return given


def is_plain(path: str) -> bool:
    """Whether a path is relative and can lead out of a folder on no operating system."""
    return not any(part in ("", ".", "..") for part in path.split("/")) and not any(sign in path for sign in "\\:\0\n")


def _check_path(path: str) -> None:
    """Refuse a path that is not plain, or that some file system cannot hold."""
    if not is_plain(path):
        raise InputError(f"{path!r} is not a plain relative path, such as 'data/sales.csv'")
    try:
        parts = [len(part.encode()) for part in path.split("/")]
    except UnicodeEncodeError as error:
        raise InputError(f"the path {path!r} is not text: {error.reason}") from error
    if max(parts) > LONGEST_NAME or sum(parts) > LONGEST_PATH or len(parts) > DEEPEST:
        raise InputError(f"the path {path[:60]!r}... is too long")
