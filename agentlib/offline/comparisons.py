"""Comparisons: 'Is it warmer in A or in B?', 'Which of A, B and C is the oldest?', 'How much higher is A than B?'.

The word of degree says what is measured and which end wins; the rest of the question is a list of things. What is
measured of each is a need of its own.
"""

import re

from .needs import Fact, Need, Pick, Weather, either
from .phrases import noun_phrase
from .words import halves

# measure: (words for more of it, words for less of it); of two ages the older is the smaller year
_DEGREES = {
    "temperature": ("warmer, warmest, hotter, hottest, higher temperature, highest temperature",
                    "colder, coldest, cooler, coolest, chillier, lower temperature, lowest temperature"),
    "wind": ("windier, windiest, more wind, stronger wind, strongest wind, stronger, strongest",
             "calmer, calmest, less wind"),
    "humidity": ("wetter, wettest, more humid, most humid, higher humidity",
                 "drier, dryer, driest, less humid, lower humidity"),
    "population": ("more inhabitants, most inhabitants, more people, most people, more populous, most populous,"
                   " bigger, "
                   "biggest, larger, largest, larger population, largest population, bigger population, "
                   "biggest population",
                   "fewer inhabitants, fewer people, smaller, smallest, smaller population, smallest population"),
    "height": ("higher, highest, taller, tallest", "lower, lowest"),
    "length": ("longer, longest", "shorter, shortest"),
    "age": ("younger, youngest, newer, newest, later, latest, last, after",
            "older, oldest, earlier, earliest, first, before"),
}
WORDS_OF_DEGREE = {word: (measure, highest) for measure, (more, less) in _DEGREES.items()
                   for highest, listed in ((True, more), (False, less)) for word in listed.split(", ")}
UNITS = {"temperature": "degrees", "wind": "km/h", "humidity": "percentage points", "population": "inhabitants",
         "height": "metres", "length": "kilometres", "age": "years"}
_DEGREE = re.compile(r"\b(?:the )?(" + "|".join(sorted(WORDS_OF_DEGREE, key=len, reverse=True)) + r")\b", re.I)
_SMALL = "is|are|was|were|does|do|did|has|have|it|which|what|who|where|in|the|weather|currently|now|today"
_HEAD = re.compile(
    rf"^(?:(?:compare|{_SMALL}|there|of|between|among|than|at|the two|these|one|either|and|or|by|how much|how many"
    r"|(?:thing|city|cities|company|companies|country|countries|books?|novel|mountain|river|university|person|people"
    r"|inhabitants|scientist|place|tower|building|peak)(?! (?:that|where|who|whose|in which|led|run|founded)\b)"
    r"|lives?|living|born|founded|published|established|built|written|started|came|come"
    r"|outside|right now|temperature|out|degrees|years|metres|meters|kilometres|km)\b[ ,:]*|[,:;] *)+", re.I)
_TAIL = re.compile(
    rf"(?:[ ,:]*\b(?:{_SMALL}|city|one|live|company|country|born|founded|published|established|a|an|to))+$", re.I)


def compare(text: str) -> Need | None:
    """Parse a comparison of two or more things, or the question by how much they differ."""
    text = _in_full(text)
    found = _DEGREE.search(text)
    plain = re.fullmatch(r"(?:compare )?(?:the )?(?:weather|temperatures?) (?:in|of|between) "
                         r"(.+? (?:and|or|with|compared to) .+)", text, re.I)
    if plain and not found:
        return _pick("warmer", re.sub(r" (?:with|compared to) ", " and ", plain.group(1)), text)
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


def _in_full(text: str) -> str:
    """Put the noun for 'that' and 'one': 'Which company is older, the one that ...' compares companies."""
    among = re.match(r"(?:of|among|between|from) (.+), ((?:which|who)\b.+)", text, re.I)
    text = f"{among.group(2)}: {among.group(1)}" if among else text
    named = re.match(r"which (?:of (?:the|these) (?:two )?)?(capital|company|companies|city|cities|country|countries)",
                     text, re.I)
    if not named:
        return text
    noun = re.sub("ies$", "y", named.group(1))
    text = re.sub(r"\bthat of\b", f"the {noun} of", text)
    return re.sub(r"\bone (?=that|which|where|led|run|founded)", f"{noun} ", text)


def _bare(text: str) -> str:
    """Cut the words of the question itself from both ends."""
    return _TAIL.sub("", _HEAD.sub("", text.strip())).strip()


def _than(word: str, before: str, after: str, text: str) -> Need | None:
    """'Is A warmer than B?', 'How many degrees warmer is A than B?', 'Is it warmer in A than in B?'."""
    left, right = re.split(r"\bthan\b", after, maxsplit=1)
    first = re.sub(r" (?:born|founded|published)$", "", _bare(left) or _bare(before))
    second = re.sub(r"^(?:in|on|at|of|it is in|is it in|was|is|were) | (?:is|was|does|do|did|has|were)$", "",
                    right.strip(" ,?"))
    if not first or not second:
        return None
    how_much = re.match(r"(?:by )?how (?:much|many)", text, re.I)
    claims = re.match(r"(?:is|are|was|were|does|do|did|has|have)\b", text, re.I)
    things, measures = measured(word, (first, second), text)
    measure, highest = WORDS_OF_DEGREE[word]
    return Pick(word, highest, things, measures, 0 if claims else None, UNITS[measure] if how_much else "")


def _pick(word: str, listed: str, text: str) -> Need | None:
    """Make a comparison of the things in a list: 'A or B', 'A, B and C', 'in A or in B'."""
    ways = []
    for parts in _listed(listed):
        parts = [re.sub(r"^(?:in|at|of|on|is it in|that of) ", "", part) for part in parts if part]
        if len(parts) > 1 and (text == text.lower() or all(re.search(r"[A-Z0-9]", part) for part in parts)):
            things, measures = measured(word, tuple(parts), text)
            ways.append(Pick(word, WORDS_OF_DEGREE[word][1], things, measures))
    return either(ways)


def _listed(text: str) -> list[list[str]]:
    """Give the ways to read a list, best first. A title may hold 'and', unless the list has 'or' or quotes."""
    quoted = dict(enumerate(re.findall(r"[\"“].+?[\"”]", text)))
    for place, title in quoted.items():
        text = text.replace(title, f"{{{place}}}", 1)
    if " or " in text:
        ways = [re.split(r",? or |, ", text)]
    else:
        *first, rest = re.split(r", ", text)
        ways = [[*first, *pair] for pair in halves(rest)] if not rest.startswith("and ") else [[*first, rest[4:]]]
        ways += [re.split(r",? and |, ", text)] if len(ways) != 1 else []
    return [[re.sub(r"\{(\d)\}", lambda m: quoted[int(m.group(1))], part).strip(" ,?.:") for part in way]
            for way in ways]


def measured(word: str, names: tuple[str, ...], text: str) -> tuple[tuple[Need, ...], tuple[Need, ...]]:
    """Give the things that are compared, and what is measured of each of them."""
    things = tuple(noun_phrase(name.strip()) for name in names)
    measure, _ = WORDS_OF_DEGREE[word]
    if measure in ("temperature", "wind", "humidity"):
        return things, tuple(Weather(measure, thing) for thing in things)
    relation, kind = (_age(text), "year") if measure == "age" else (measure, "number")
    return things, tuple(thing if isinstance(thing, Fact) and thing.kind in ("number", "year")
                         else Fact(relation, thing, kind) for thing in things)


def _age(text: str) -> str:
    """Say which year tells the age of the things that a question is about."""
    signs_of = {"born": r"\b(?:born|who|younger|person)\b", "founded": "found|establish|compan|universit",
                "published": "publish|written|novel|book"}
    for relation, signs in signs_of.items():
        if re.search(signs, text, re.I):
            return relation
    return "began"
