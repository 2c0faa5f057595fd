"""Keep keys out of what is written to a file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

_SHORT = 8  # a key of fewer characters is none, but "none", "ollama" and the like
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>]*", re.I)


def keys_in(address: str) -> list[str]:
    """Give the parts of an address that may be keys: the user's name and password, and the values of its query."""
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        login = parts.netloc.rpartition("@")[0].split(":")
        query = [value for _, value in parse_qsl(parts.query)] + re.findall("=([^&]*)", parts.query)
    except ValueError:
        return []
    return [form for part in login + query if part for form in (part, unquote(part))]


def without(secrets: Iterable[str], value: Any) -> Any:
    """Give JSON data with [key] in place of each secret, wherever a text repeats it."""
    secrets = sorted({secret for secret in secrets if len(secret) >= _SHORT}, key=len, reverse=True)
    return _replaced(secrets, value)  # the longest first: one may hold another


def without_addresses(text: str, address: str | None) -> str:
    """Give a text with [address] in place of the address and of every URL."""
    for form in {address, " ".join((address or "").split())} - {None, ""}:
        text = text.replace(form, "[address]")
    return _URL.sub("[address]", text)


def _replaced(secrets: list[str], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(secrets, each) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(secrets, each) for each in value]
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "[key]")
    return value
