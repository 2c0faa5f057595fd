"""Files of JSON lines that survive a crash: a header that says what the file holds, then one object a line.

A line is written at once, so a program that crashes loses at most the last one. The text is UTF-8 whatever the
machine; half a character (a lone surrogate) is written as JSON escapes it, so that every editor can read the file.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
from pathlib import Path
from typing import Any

VERSION = 1

_ALONE = threading.Lock()  # threads may share a file; between processes, nothing is promised


class LinesError(ValueError):
    """A file that cannot be read or written."""

    def _render_traceback_(self) -> list[str]:
        """Tell Jupyter to show one line."""
        return [f"{type(self).__name__}: {self}"]


def read_lines(path: str | os.PathLike, kind: str) -> list[tuple[int, dict]]:
    """Give the objects of a file and the numbers of their lines. Raises LinesError.

    A last line that was cut off is left out, and a warning says so.
    """
    return _parsed(path, _bytes(path), kind)[0]


def open_lines(path: str | os.PathLike, kind: str) -> list[tuple[int, dict]]:
    """Give what `read_lines` gives, and make the file ready for `append_line`: create it, drop a cut-off last line."""
    with _ALONE:
        data = _bytes(path) if Path(path).exists() else b""
        found, length = _parsed(path, data, kind)
        if length < len(data):
            _truncate(path, length)
        if not length:
            _append(path, _header(kind))
        elif data[length - 1 : length] != b"\n":  # an editor took the last one away
            _append(path, b"\n")
        return found


def append_line(path: str | os.PathLike, value: dict) -> None:
    """Add an object to a file that `open_lines` made ready. Raises LinesError."""
    with _ALONE:
        _append(path, _line(value))


def _header(kind: str) -> bytes:
    return _line({"agentlib": kind, "version": VERSION})


def _line(value: dict) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _bytes(path: str | os.PathLike) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise LinesError(f"cannot read {path}: {error.strerror or error}") from None


def _append(path: str | os.PathLike, data: bytes) -> None:
    try:
        with open(path, "ab", buffering=0) as file:  # unbuffered: one write, which a crash leaves out or lets through
            if file.write(data) < len(data):
                raise OSError("the disk is full")
    except OSError as error:
        raise LinesError(f"cannot write {path}: {error.strerror or error}") from None


def _truncate(path: str | os.PathLike, length: int) -> None:
    try:
        os.truncate(path, length)
    except OSError as error:
        raise LinesError(f"cannot write {path}: {error.strerror or error}") from None


def _parsed(path: str | os.PathLike, data: bytes, kind: str) -> tuple[list[tuple[int, dict]], int]:
    """Give the objects after the header, and how many bytes are whole lines."""
    *lines, last = data.split(b"\n")  # and nowhere else: other line ends may stand inside a text
    cut_off = bool(last.strip()) and _object(last) is None and (bool(lines) or _header(kind).startswith(last))
    lines += [] if cut_off else [last]
    objects = [(number, _object(line)) for number, line in enumerate(lines, start=1) if line.strip()]
    if objects:
        _check_header(path, objects.pop(0)[1], kind)
    for number, value in objects:
        if value is None:
            raise LinesError(f"line {number} of {path} cannot be read: it is no JSON object in UTF-8")
    if cut_off:
        warnings.warn(f"{path}: the last line is cut off and was left out", stacklevel=5)
    return objects, len(data) - len(last) * cut_off


def _check_header(path: str | os.PathLike, header: Any, kind: str) -> None:
    if not header or header.get("agentlib") != kind:
        raise LinesError(f"{path} is not a {kind} of agentlib: its first line does not say so")
    if header.get("version") != VERSION:
        raise LinesError(f"{path} is a {kind} of version {header.get('version')!r}; this is version {VERSION}")


def _object(line: bytes) -> dict | None:
    try:
        value = json.loads(line.decode("utf-8-sig"))  # some editors add a mark at the start
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
