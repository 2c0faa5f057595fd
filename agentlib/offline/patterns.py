"""The relations' patterns, compiled when they are first used.

They become regular expressions here: macros are filled in, `{x}` becomes the thing, `<name>` and the like the value.
"""

import re
from functools import cache

from .relations import BY_NAME, MACROS, TABLE, Relation
from .words import LIST, MEASURE, NAME, PLACE, YEAR

# What a value looks like in a sentence. Names keep their capitals; the words around them may be written in any case.
_VALUES = {
    "name": NAME, "list": LIST, "place": PLACE, "year": YEAR, "number": MEASURE,
    "prize": r"[A-Z][^.;]*?Prize(?: (?:in|for) [A-Za-z]+(?: or [A-Z]\w+)?)?",
    "words": r"(?:the )?[A-Za-z][\w ,-]{1,60}?", "works": r"[A-Z0-9“\"][^.;()]{2,120}",
}


@cache
def questions() -> tuple[tuple[Relation, re.Pattern], ...]:
    """Give every question pattern with its relation, in the table's order."""
    return tuple((row, re.compile(_expanded(ask).replace("{x}", "(?P<x>.+?)"), re.I)) for row in TABLE
                 for ask in row.asks)


@cache
def statements(name: str) -> tuple[re.Pattern, ...]:
    """Give the sentence patterns of a relation; the group `v` is the value."""
    return tuple(_statement(_expanded(says)) for says in BY_NAME[name].says)


@cache
def nouns() -> tuple[tuple[re.Pattern, Relation], ...]:
    """Give patterns that match a whole noun of a relation, longest first."""
    pairs = sorted(((noun, row) for row in TABLE for noun in row.nouns), key=lambda pair: -len(pair[0]))
    return tuple((re.compile(re.escape(noun) + "s?", re.I), row) for noun, row in pairs)


def turned(name: str, subject: str) -> re.Pattern | None:
    """Give the pattern of a sentence that states the relation from the other end: '... is the CEO of DeepMind'."""
    pattern = BY_NAME[name].turned
    subject = rf"(?:the )?{re.escape(subject)}\b"
    return re.compile(_expanded(pattern).replace("{x}", subject), re.I) if pattern else None


def _expanded(pattern: str) -> str:
    """Put the macros into a pattern."""
    return re.sub(r"\{([a-z]+)\}", lambda m: MACROS.get(m.group(1), m.group()), pattern)


def _statement(says: str) -> re.Pattern:
    """Compile a sentence pattern around its value."""
    literal, macro, rest = re.fullmatch(r"(.*?)<([a-z]+)>(.*)", says).groups()
    return re.compile(f"(?<![\\w-])(?i:{literal})(?P<v>{_VALUES[macro]})(?i:{rest})")
