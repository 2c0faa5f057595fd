"""One question about several things: 'the capitals of France, Norway and Brazil' asks for three facts.

Some names hold an 'and' themselves (War and Peace, Trinidad and Tobago). Titles of works are first taken as one name,
other names first as several; what the first reading does not settle, the second may.
"""

import re
from dataclasses import replace

from .needs import Both, Either, Fact, Name, Need, Weather
from .phrases import relation_of

_BETWEEN = re.compile(r",? and (?:(?:of|in|at|for|from) )?|, (?:(?:of|in|at|for|from) )?", re.I)
_PLURAL = re.compile(r"(?:(?P<who>who|what|which) are )?(?P<the>the )?(?P<noun>[\w ]+?)s (?P<rest>(?:of|in) .+ and .+)",
                     re.I)
OF_WORKS = ("author", "published", "work_of", "about")
_MOST = 8


def singular(text: str) -> str:
    """Ask of each thing what is asked of all: 'Who are the CEOs of A and B' becomes 'who is the CEO of A and B'."""
    found = _PLURAL.fullmatch(text)
    if not found or not relation_of(found["noun"]):
        return text
    return f"{found['who'] or 'what'} is {found['the'] or ''}{found['noun']} {found['rest']}"


def of_each(need: Need | None) -> Need | None:
    """Split a question about a list of things into one about each."""
    if not isinstance(need, Fact | Weather):
        return need
    names = _listed(need)
    if not names:
        return need
    parts = Both(tuple(_with_name(need, name) for name in names))
    if isinstance(need, Weather) or len(names) > 2:
        return parts
    ways = (need, parts) if _innermost(need).relation in OF_WORKS else (parts, need)
    return Either(ways)


def _listed(need: Need) -> list[str]:
    """Give the names in the list that a question is about; empty if it is about one thing."""
    inner = need
    while isinstance(inner, Fact | Weather):
        inner = inner.of if isinstance(inner, Fact) else inner.place
    if not isinstance(inner, Name) or not re.search(r",? and ", inner.text):
        return []
    names = [re.sub(r"^the (?=[A-Z])", "", name.strip()) for name in _BETWEEN.split(inner.text)]
    written = r"[A-Z0-9]" if inner.text != inner.text.lower() else r"\w"
    fits = 2 <= len(names) <= _MOST and all(re.match(written, name) and len(name.split()) < 6 for name in names)
    fits = fits and not any(" of " in name and relation_of(name.split(" of ")[0]) for name in names)
    return list(dict.fromkeys(names)) if fits else []


def _innermost(need: Need) -> Fact | Weather:
    """Give the fact next to the name."""
    inner = need.of if isinstance(need, Fact) else need.place
    return _innermost(inner) if isinstance(inner, Fact | Weather) else need


def _with_name(need: Need, name: str) -> Need:
    """Ask the same of one thing."""
    match need:
        case Fact(of=part):
            return replace(need, of=_with_name(part, name))
        case Weather(place=part):
            return replace(need, place=_with_name(part, name))
    return Name(name)
