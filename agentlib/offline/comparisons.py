"""Comparisons: 'Is it warmer in A or in B?', 'Which of A, B and C is the oldest?', 'How much higher is A than B?'."""

import re

from .needs import Fact, Need, Pick, Weather
from .phrases import noun_phrase

# word -> (measure, highest wins)
WORDS_OF_DEGREE = {
    "warmer": ("temperature", True), "warmest": ("temperature", True), "hotter": ("temperature", True),
    "hottest": ("temperature", True),
    "colder": ("temperature", False), "coldest": ("temperature", False), "cooler": ("temperature", False),
    "coolest": ("temperature", False),
    "chillier": ("temperature", False), "higher temperature": ("temperature", True),
    "lower temperature": ("temperature", False),
    "highest temperature": ("temperature", True), "lowest temperature": ("temperature", False),
    "windier": ("wind", True), "windiest": ("wind", True), "more wind": ("wind", True), "stronger wind": ("wind", True),
    "strongest wind": ("wind", True),
    "calmer": ("wind", False), "less wind": ("wind", False), "wetter": ("humidity", True),
    "wettest": ("humidity", True),
    "more humid": ("humidity", True), "most humid": ("humidity", True), "higher humidity": ("humidity", True),
    "drier": ("humidity", False),
    "dryer": ("humidity", False), "driest": ("humidity", False), "less humid": ("humidity", False),
    "more inhabitants": ("population", True), "most inhabitants": ("population", True),
    "more people": ("population", True),
    "most people": ("population", True), "more populous": ("population", True), "most populous": ("population", True),
    "larger population": ("population", True), "largest population": ("population", True),
    "bigger population": ("population", True),
    "biggest population": ("population", True), "fewer inhabitants": ("population", False),
    "fewer people": ("population", False),
    "smaller population": ("population", False), "smallest population": ("population", False),
    "bigger": ("population", True),
    "biggest": ("population", True), "larger": ("population", True), "largest": ("population", True),
    "smaller": ("population", False),
    "smallest": ("population", False), "higher": ("height", True), "highest": ("height", True),
    "taller": ("height", True),
    "tallest": ("height", True), "lower": ("height", False), "lowest": ("height", False), "longer": ("length", True),
    "longest": ("length", True), "shorter": ("length", False), "shortest": ("length", False), "older": ("age", False),
    "oldest": ("age", False), "younger": ("age", True), "youngest": ("age", True), "newer": ("age", True),
    "newest": ("age", True),
    "earlier": ("age", False), "earliest": ("age", False), "first": ("age", False), "later": ("age", True),
    "latest": ("age", True),
    "last": ("age", True), "before": ("age", False), "after": ("age", True),
}
_DEGREE = re.compile(r"\b(?:the )?(" + "|".join(sorted(WORDS_OF_DEGREE, key=len, reverse=True)) + r")\b", re.I)
UNITS = {"temperature": "degrees", "wind": "km/h", "humidity": "percentage points", "population": "inhabitants",
         "height": "metres",
          "length": "kilometres", "age": "years"}
_HEAD = re.compile(r"^(?:(?:compare|which|what|who|where|is|are|was|were|does|do|did|has|have|it|there|of|between"
                   r"|among|than|in|at|the two|city|cities|one|is it"
                   r"|company|companies|country|countries|book|books|novel|mountain|river|university|person|people"
                   r"|inhabitants|live|lives|living|born|founded"
                   r"|published|established|built|written|started|weather|outside|currently|now|today|right now|and|or"
                   r"|by|how much|how many|these"
                   r"|thing|place|tower|building|peak|temperature|out|either|degrees|years|metres|meters|kilometres|km"
                   r"|scientist)\b[ ,:]*|[,:;] *)+", re.I)
_TAIL = re.compile(r"(?:[ ,:]*\b(?:is|are|was|were|has|have|it|which|what|who|where|city|one|does|do|did|the|in|live"
                   r"|company|country|born|founded|published|established|a|an|to|weather|currently|now|today))+$", re.I)


def compare(text: str) -> Need | None:
    """Parse a comparison of two or more things, or the question by how much they differ."""
    found = _DEGREE.search(text)
    plain = re.fullmatch(r"(?:compare )?(?:the )?(?:weather|temperatures?) (?:in|of|between) (.+? (?:and|or|with|to)"
                         r" .+)", text, re.I)
    if plain and not found:
        return _pick("warmer", re.sub(r" (?:with|to) ", " and ", plain.group(1)), text)
    if not found or re.match(r"how old|when |what year|in what year|in which year", text, re.I):
        return None
    word, before, after = found.group(1).lower(), text[: found.start()], text[found.end():]
    if re.search(r"\bthan\b", after):
        return _than(word, before, after, text)
    if word in ("before", "after") and _bare(before) and re.match(r"(?:was|is|were|did)\b", text, re.I):
        return _than(word, before, " than " + after, text)
    rest = _HEAD.sub("", after.strip())
    listed = rest if re.search(r" (?:or|and) |,", rest) else _bare(before)
    return _pick(word, listed, text)


def _bare(text: str) -> str:
    """Cut the words of the question itself from both ends."""
    return _TAIL.sub("", _HEAD.sub("", text.strip())).strip()


def _than(word: str, before: str, after: str, text: str) -> Need | None:
    """'Is A warmer than B?', 'How many degrees warmer is A than B?', 'Is it warmer in A than in B?'."""
    left, right = re.split(r"\bthan\b", after, maxsplit=1)
    first = _bare(left) or _bare(before)
    first = re.sub(r" (?:born|founded|published)$", "", first)
    how_much = bool(re.match(r"(?:by )?how (?:much|many)", text, re.I))
    things = [first, re.sub(r"^(?:in|on|at|of|it is in|is it in|was|is|were) ", "", right.strip(" ,?"))]
    things[1] = re.sub(r" (?:is|was|does|do|did|has|were)$", "", things[1])
    if not all(things):
        return None
    need = measured(word, tuple(noun_phrase(thing.strip()) for thing in things), text)
    claim = 0 if re.match(r"(?:is|are|was|were|does|do|did|has|have)\b", text, re.I) else None
    return Pick(word, need[0], need[1], need[2], claim, UNITS[WORDS_OF_DEGREE[word][0]] if how_much else "")


def _pick(word: str, listed: str, text: str) -> Need | None:
    """Make a comparison of the things in a list: 'A or B', 'A, B and C', 'in A or in B'."""
    separators = r",? or |, " if " or " in listed else r",? and |, "
    parts = [re.sub(r"^(?:in|at|of|on|is it in|that of) ", "", part.strip(" ,?.:")) for part in re.split(separators,
                                                                                                         listed)]
    parts = [part for part in parts if part]
    if len(parts) < 2 or not all(re.search(r"[A-Z0-9]", part) for part in parts):
        return None
    highest, things, measures = measured(word, tuple(noun_phrase(part) for part in parts), text)
    return Pick(word, highest, things, measures)


def measured(word: str, things: tuple[Need, ...], text: str) -> tuple[bool, tuple[Need, ...], tuple[Need, ...]]:
    """Give the direction, the things, and what is measured of each of them."""
    measure, highest = WORDS_OF_DEGREE[word]
    if measure in ("temperature", "wind", "humidity"):
        return highest, things, tuple(Weather(measure, thing) for thing in things)
    relation = measure
    if measure == "age":
        relation = ("born" if re.search(r"\b(?:born|who|younger|person)\b", text, re.I) else "founded"
                    if re.search(r"found|establish|compan|universit", text, re.I)
                    else "published" if re.search(r"publish|written|novel|book", text, re.I) else "began")
    kind = "year" if measure == "age" else "number"
    return highest, things, tuple(thing if isinstance(thing, Fact) and thing.kind in ("number", "year")
                                  else Fact(relation, thing, kind) for thing in things)
