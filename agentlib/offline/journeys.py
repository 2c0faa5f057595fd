"""Goals that are journeys: their legs, and the choice between ways of one leg."""

import re
from itertools import pairwise

from .clues import dates
from .words import NAME

_AND = r"(?:,| and| or)?(?: then)?(?: on| back)? (?:to|via|through) "
_STOPS = re.compile(rf"\b[Ff]rom (?P<stops>{NAME}(?:{_AND}{NAME})+)")
_BACK = re.compile(r"\band back\b(?! to)")
_CHOICE = re.compile(r"\b(?:cheapest|fastest|quickest|shortest|slowest|dearest)\b", re.I)
_NO_JOURNEY = re.compile(r"(?:convert|how many years|how long)\b", re.I)


def legs_of(text: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """Give the legs of a journey, and what the goal says behind them: 'from Hamburg to Munich and on to Rome' has two.

    The legs are empty where a goal is no journey.
    """
    found = None if _NO_JOURNEY.match(text) else _STOPS.search(text)
    if not found:
        return (), text
    stops = re.split(_AND, found["stops"])
    stops += stops[:1] if _BACK.search(text, found.end()) else []
    day = r"^ (?:on|at) [\w -]*?\d{4}(?:-\d\d-\d\d)?"
    return tuple(pairwise(stops)), re.sub(day, "", text[found.end():])


def choice_in(text: str) -> str:
    """Give the word that says which of several ways is wanted, or an empty text."""
    found = _CHOICE.search(text)
    return found[0].lower() if found else ""


def day_of(text: str) -> str:
    """Give the day of a journey, or an empty text."""
    return next(iter(dates(text)), "")
