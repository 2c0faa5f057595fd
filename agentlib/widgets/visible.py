"""Text from a model or a tool, made safe to show: what has no shape of its own gets one."""

from __future__ import annotations

import re

# A terminal obeys control characters, HTML drops them, and half a surrogate pair cannot be sent at all.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_UNSHOWN = re.compile(r"[\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    """Give the text with control characters as their pictures (␛) and what cannot be shown as �."""
    text = text.replace("\r\n", "\n")
    return _UNSHOWN.sub("\ufffd", _CONTROL.sub(lambda match: chr(0x2400 + ord(match[0])), text))


def shape(text: str, noun: str = "character") -> str:
    """Say how long a text is."""
    return f"{len(text):,} {noun}{'s' * (len(text) != 1)}"
