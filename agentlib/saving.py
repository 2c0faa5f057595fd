"""Dataclasses to JSON data and back, every field checked; and a file that is either the old one or the new one."""

from __future__ import annotations

import os
import secrets
import stat
import typing
from dataclasses import fields, is_dataclass
from enum import StrEnum
from pathlib import Path


class StateError(Exception):
    """A saved state that cannot be read."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file: the whole new one or, when that fails, the whole old one stays. Links and permissions stay too."""
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    file = temporary.open("xb")  # with the permissions of any new file, which tempfile would not give
    try:
        with file:
            if path.exists():
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)  # an interrupt may come after it has its name
        raise


def encode(value: object) -> object:
    """Give JSON data for a dataclass and all that is in it; each object carries the name of its class."""
    if is_dataclass(value):
        return {"type": type(value).__name__} | {f.name: encode(getattr(value, f.name)) for f in fields(value)}
    return [encode(item) for item in value] if isinstance(value, tuple) else value


def decode(data: object, expected: type) -> typing.Any:
    """Build the `expected` type from JSON data; every field is checked, so that a bad file fails here and not later."""
    parts = typing.get_args(expected)
    if typing.get_origin(expected) is tuple:
        return tuple(decode(item, parts[0]) for item in checked(data, list))
    if type(None) in parts:  # such as State | None
        return None if data is None else decode(data, next(part for part in parts if part is not type(None)))
    if is_dataclass(expected):
        return _decode_dataclass(checked(data, dict), expected)
    return expected(checked(data, str)) if issubclass(expected, StrEnum) else checked(data, expected)


def _decode_dataclass(data: dict, expected: type) -> typing.Any:
    cls = {cls.__name__: cls for cls in _with_subclasses(expected)}.get(str(data.get("type")))
    if cls is None:
        raise StateError(f"{data.get('type')!r} stands where a {expected.__name__} belongs")
    hints = typing.get_type_hints(cls)
    names = [f.name for f in fields(cls)]
    if wrong := {"type", *names} ^ data.keys():
        raise StateError(f"a {cls.__name__} lacks or should not have {min(wrong)!r}")
    return cls(**{name: decode(data[name], hints[name]) for name in names})


def checked(data: object, expected: type) -> typing.Any:
    """Give `data` back when it is of this very type."""
    if type(data) is not expected:
        raise StateError(f"{str(data)[:40]!r} stands where a {expected.__name__} belongs")
    return data


def _with_subclasses(cls: type) -> list[type]:
    return [cls, *(found for child in cls.__subclasses__() for found in _with_subclasses(child))]
