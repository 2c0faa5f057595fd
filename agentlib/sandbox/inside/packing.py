"""How jobs and reports travel: the length of a JSON text, the text, then the bytes of each file it names."""

from __future__ import annotations

import json
from collections.abc import Mapping

_LENGTH = 8


class Unpackable(ValueError):
    """Bytes that are not a whole pack."""


def pack(header: dict, files: Mapping[str, bytes]) -> bytes:
    """Put a header and files into one run of bytes. Names may hold any character, surrogates too."""
    listed = [[name, len(content)] for name, content in files.items()]
    text = json.dumps({**header, "files": listed}).encode()
    return b"".join([len(text).to_bytes(_LENGTH, "big"), text, *files.values()])


def unpack(data: bytes) -> tuple[dict, dict[str, bytes]]:
    """Give back the header and the files. Raises Unpackable when anything is missing."""
    try:
        start = _LENGTH + int.from_bytes(data[:_LENGTH], "big")
        header = json.loads(data[_LENGTH:start])
        listed = header.pop("files")
    except (ValueError, KeyError, AttributeError, RecursionError) as error:
        raise Unpackable(f"not a pack: {error}") from error
    files = {}
    for name, size in listed:
        files[name] = data[start : start + size]
        start += size
    if start != len(data):
        raise Unpackable(f"{len(data)} bytes where {start} were announced")
    return header, files
