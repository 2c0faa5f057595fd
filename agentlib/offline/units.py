"""Which unit or currency a question converts from, and which one it asks for."""

import re

_UNIT = r"(?:degrees? )?([A-Za-z°€$£]+(?:/[a-z]+)?)"
_BEHIND = re.compile(rf"\b(?:to|into|in|as) {_UNIT}", re.I)
_ASKED = re.compile(rf"\bhow (?:many|much) {_UNIT}", re.I)
_SIGN = re.compile(r"([€$£]|\b[A-Z]{3}) ?\d")
_FROM = re.compile(rf"\d[\d,.]*\s*{_UNIT}")


def unit_for(parameter: str, text: str) -> tuple[str, ...]:
    """Give the unit that a parameter wants: the one of the number if it is called from, else the one asked for."""
    if re.match(r"from|source|base|old", parameter):
        return (*_SIGN.findall(text), *_FROM.findall(text))
    asked = _ASKED.findall(text)
    return tuple(asked or _BEHIND.findall(text)[-1:])
