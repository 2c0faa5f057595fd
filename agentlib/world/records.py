"""Read the world's data files: UTF-8, one JSON record per line, so that a change shows as one line."""

import json
import unicodedata
from typing import Any

# Letters that Unicode does not take apart into a base letter and an accent.
SPECIAL_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})


def read_records(name: str) -> list[dict[str, Any]]:
    """Return the records of a data file in this package."""
    from importlib.resources import files  # not needed before the first question

    text = (files(__package__) / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def fold(text: str) -> str:
    """Return text without case and accents, so that 'São Paulo' and 'SAO PAULO' compare equal."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c)).translate(SPECIAL_LETTERS)
