"""Words that mean nearly the same, and the stems by which words are compared: what the model knows of English."""

import re
from functools import lru_cache

from .words import words

_STEM = 6  # letters by which longer words are compared: calculate, calculator and calculation are one
_LINES = (
    "cost price expensive charge fee", "pay paid payment", "boss manager superior chief",
    "mail email e-mail message inbox mailbox", "meeting appointment event", "calendar diary schedule agenda",
    "file document", "delete remove discard", "cancel stop undo", "refund reimburse money-back", "buy bought purchase",
    "show display list see", "send write", "phone dial telephone call", "colleague employee person staff people",
    "room office desk", "hotel room night accommodation", "flight fly plane airport", "far distance away",
    "mile kilometre kilometer km metre meter m foot feet inch yard length long", "mph km/h knot speed fast quick",
    "kilogram kilo kg gram g pound lb ounce tonne weight weigh heavy", "litre liter ml gallon pint volume",
    "degree temperature celsius fahrenheit kelvin warm cold hot",
    "dollar euro pound yen franc eur usd gbp currency money",
    "air pollution polluted smog clean", "mean average", "backwards reverse",
    "capital upper-case uppercase",
    "sort order alphabetical alphabet", "holiday vacation leave", "vat tax", "loan borrow credit mortgage",
    "bill check", "interest percent rate percentage", "big large size", "deliver delivered arrive arrived",
    "shipped way transit sent", "left stock available", "status state", "weekday day", "word term",
    "mention contain", "date day", "broken damaged defect defective", "convert conversion", "split share divide",
)
_OTHER = {"bought": "buy", "paid": "pay", "sent": "send", "wrote": "write", "feet": "foot"}


@lru_cache(maxsize=4096)
def stems(text: str) -> tuple[str, ...]:
    """Give the stems of the telling words of a text, in their order."""
    parts = re.sub(r"[_/-]|(?<=[a-z])(?=[A-Z])", " ", text)
    return tuple(dict.fromkeys(_stem(_OTHER.get(word, word)) for word in words(parts)))


def _stem(word: str) -> str:
    """Cut a word to what its forms have in common: order and ordered, ship and shipping."""
    if len(word) > 5:
        word = re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", re.sub(r"(?:ed|ing)$", "", word))
    return word.removesuffix("e")[:_STEM] if len(word) > 3 else word


_GROUPS = tuple(frozenset(stems(line)) for line in _LINES)


@lru_cache(maxsize=4096)
def meanings(stem: str) -> frozenset[int]:
    """Give the groups of words to which a stem belongs, by their numbers."""
    return frozenset(place for place, group in enumerate(_GROUPS) if stem in group)


def alike(one: str, other: str) -> bool:
    """Say whether two stems are the same or mean nearly the same."""
    return one == other or bool(meanings(one) & meanings(other))


def shared(one: str, other: str) -> int:
    """Count the words of one text that the other says too, in its own words."""
    theirs = stems(other)
    return sum(any(alike(stem, each) for each in theirs) for stem in stems(one))
