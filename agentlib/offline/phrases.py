"""Noun phrases and questions about facts: one recursion.

A noun phrase is a name ("DeepMind"), a relation of a noun phrase ("the CEO of ...", "...'s CEO"), a relative clause
("the city where ... has its headquarters"), or the weather of a place. A question for a fact has such a phrase in its
slot.
"""

import re

from .cleaning import without_tail
from .needs import Fact, Name, Need, Weather
from .patterns import nouns, questions
from .relations import BY_NAME
from .words import NAME, may_name

WEATHER = {
    "temperature": "temperature", "air temperature": "temperature", "weather": "all", "weather like": "all",
    "weather forecast": "all", "weather report": "all", "conditions": "all", "forecast": "all", "wind": "wind",
    "wind speed": "wind", "humidity": "humidity", "temperatures": "temperature",
}
_CLASS_BEFORE = (r"^(?:city|country|town|state|company|book|novel|play|river|mountain|element|person|scientist|writer"
                 r"|author|university) (?:of |called |named )?(?=[\"“A-Z0-9])")
_PERSON = (r"(?:person|man|woman|one|people|scientist|physicist|chemist|author|writer|manager|leader|founder|engineer"
           r"|inventor|entrepreneur)")
_COMPANY = r"(?:company|firm|organisation|organization|group|business|platform|website|service)"
_RELATIVE = (
    (r"(?:the )?(?:city|town|place) (?:where|in which) (?P<c>.+?) (?:studied|went to (?:university|college|school))",
     "in which city is the university that {c} attended"),
    (r"(?:the )?(?:city|town|place) (?:where|in which|that|which)? ?(?P<c>.+)", "in which city {c}"),
    (r"(?:the )?country whose capital (?:city )?is (?P<c>.+)", "which country is {c} the capital of"),
    (r"(?:the )?(?:country|nation|state) (?:where|in which|that|which)? ?(?P<c>.+)", "in which country {c}"),
    (r"(?:the )?(?:university|college|school) (?:where|at which|that|which|from which)? ?(?P<c>.+)",
     "which university {c}"),
    (rf"(?:the )?{_PERSON} (?:who|that|whom) (?P<c>.+)", "who {c}"),
    (rf"(?:the )?{_PERSON} (?:leading|running|heading) (?P<c>.+)", "who leads {c}"),
    (rf"(?:the )?{_COMPANY} (?P<c>(?:led|run|headed|managed|founded|started) by .+)", "which company is {c}"),
    (rf"(?:the )?{_COMPANY} (?:that|which|who) (?P<c>.+)", "which company {c}"),
    (r"(?:the )?(?:year|time|day) (?:when|in which|that)? ?(?P<c>.+)", "when {c}"),
    (r"(?:the )?river (?:that|which)? ?(?P<c>.+)", "which river {c}"),
    (r"(?:the )?(?:book|novel|play) by (?P<c>.+)", "which book {c} wrote"),
    (r"(?:the )?(?:book|novel|play) (?:that|which)? ?(?P<c>.+)", "which book {c}"),
    (r"where (?P<c>.+)", "where {c}"), (r"who(?:ever)? (?P<c>.+)", "who {c}"),
)
_NO_THING = re.compile(r"(?:is|was|are|were|did|does|do|has|by|in|at|on|used|spoken)\b",
                       re.I)  # what no thing starts with
DEPTH = 7
_MOST_WORDS = 20
_OF_PLACES = ("capital", "currency", "language", "population")  # also said with 'in'
_CLASSES = ("city", "town", "place", "country", "nation", "university", "college", "school")


def ask(text: str, depth: int = 0) -> Need | None:
    """Parse a question about a fact."""
    if depth > DEPTH:
        return None
    for row, pattern in questions():
        found = pattern.fullmatch(text)
        if found and not _NO_THING.match(found.group("x")):
            fact = Fact(row.name, noun_phrase(found.group("x"), depth + 1), row.kind)
            part = found.groupdict().get("part") or ""
            return Fact("country", fact, "place") if part.lower() == "country" and row.kind == "place" else fact
    found = re.fullmatch(r"(?:what|who|which|where|when|how (?:much|many|old|long|far|big)) (?:is|was|are|were)"
                         r"(?: the name of)? (.+)", text, re.I)
    found = found or re.fullmatch(r"(?:tell me )?about (.+)", text, re.I)
    phrase = noun_phrase(found.group(1) if found else text, depth + 1)
    if not isinstance(phrase, Name):
        return phrase
    if found and re.match(r"(?:what|who|about|tell) ", text, re.I):
        return Fact("about", phrase, "thing")
    return None


def noun_phrase(text: str, depth: int = 0) -> Need:
    """Parse a noun phrase; what is nothing else is a name."""
    text = re.sub(r"^(?:the|a|an|its|his|her|their) (?=[a-z])|^(?:the )(?=[A-Z])", "", text.strip(" ,?.\"“”"))
    if depth > DEPTH:
        return Name(text)
    return (_weather_of(text, depth) or _relative(text, depth) or _relation_of(text, depth) or _possessive(text, depth)
            or _compound(text, depth) or Name(re.sub(_CLASS_BEFORE, "", text).strip("\"“” '")))


def embedded(text: str) -> Need | None:
    """Find a relation of a name somewhere in a question that is worded in an unknown way."""
    parts = text.split(" ")[:_MOST_WORDS]
    for start in range(len(parts)):
        for end in range(len(parts), start + 1, -1):
            phrase = re.sub(r"^the ", "", " ".join(parts[start:end]))
            need = _possessive(phrase, 1) or _relation_of(phrase, 1)
            if isinstance(need, Fact) and need.relation in BY_NAME and _is_plain(need.of):
                return need
    return None


def _is_plain(need: Need) -> bool:
    """Say whether a need is a name of capitalised words, or a relation of one."""
    if isinstance(need, Fact):
        return _is_plain(need.of)
    return isinstance(need, Name) and bool(re.fullmatch(NAME, need.text))


def relation_of(noun: str) -> tuple[str, str] | None:
    """Give relation and kind of a noun: 'alma mater' is studied_at, a university."""
    noun = re.sub(r"^(?:the |current |present |new |first |own |official |total |exact |main |former |name of the "
                  r"|acting )+", "", noun.strip(), flags=re.I)
    for pattern, row in nouns():
        if pattern.fullmatch(noun):
            return row.name, row.kind
    return None


def _relation_of(text: str, depth: int) -> Need | None:
    """'the NOUN of X', for nouns of the table and for others; of several nouns the longest one of the table counts."""
    links = [found for found in re.finditer(r" (of|at|for|behind|in|on) (?:the )?(?=\S)", text)
             if 1 < found.start() <= 40]
    known = next((found for found in reversed(links) if relation_of(text[: found.start()])), None)
    link = known or (links[0] if links else None)
    if not link:
        return None
    noun, preposition = text[: link.start()], link.group(1)
    if noun.split()[-1][0].isupper() and not noun.split()[-1].isupper():
        return None  # University of Cambridge, Bank of America
    relation = relation_of(noun)
    counted = re.fullmatch(r"number of ([a-z ]+?) (?:of|in|on|around) (?:the )?(.+)", text)
    if counted and not relation_of(f"number of {counted.group(1)}"):
        return Fact(counted.group(1), noun_phrase(counted.group(2), depth + 1), "number", counted.group(1))
    superlative = re.match(r"(?:the )?(?:\w+(?<!for)est|most \w+) ", noun)
    if preposition in ("in", "on") and not superlative and not (relation and relation[0] in _OF_PLACES):
        return None
    inner = noun_phrase(text[link.end():], depth + 1)
    if noun in _CLASSES and isinstance(inner, Name) and not link.group().endswith(" the "):
        # 'the city of Paris' is Paris, 'the city of DeepMind's CEO' is not
        return inner if inner.text[:1].isupper() and preposition == "of" else None
    if relation:
        return Fact(relation[0], inner, relation[1], noun)
    if (preposition == "of" or superlative) and noun.islower() and len(noun.split()) <= 3:
        noun = re.sub("tallest", "highest", re.sub("biggest", "largest", noun))
        return Fact(noun, inner, "thing", noun)
    return None


def _possessive(text: str, depth: int) -> Need | None:
    """"X's NOUN": the last possessive whose tail is a relation."""
    for found in reversed(list(re.finditer(r"(?:'s|(?<=s)') ", text))):
        owner, noun = text[: found.start()], text[found.end():]
        known = relation_of(noun)
        weather = WEATHER.get(noun.lower())
        if weather:
            return Weather(weather, noun_phrase(owner, depth + 1))
        if known:
            return Fact(known[0], noun_phrase(owner, depth + 1), known[1], noun)
        if noun.islower() and len(noun.split()) <= 3:
            return Fact(noun, noun_phrase(owner, depth + 1), "thing", noun)
    return None


def _compound(text: str, depth: int) -> Need | None:
    """'DeepMind CEO', 'Paris weather': a name followed by a noun of the table."""
    parts = text.split(" ")
    for cut in range(max(1, len(parts) - 3), len(parts)):
        head, noun = " ".join(parts[:cut]), " ".join(parts[cut:])
        if not may_name(head) or (noun[:1].isupper() and not noun.isupper()):
            continue
        if noun.lower() in WEATHER:
            return Weather(WEATHER[noun.lower()], noun_phrase(head, depth + 1))
        known = relation_of(noun)
        if known and known[0] not in ("located", "country", "river", "studied_at", "works", "owner", "area"):
            return Fact(known[0], noun_phrase(head, depth + 1), known[1], noun)
    return None


def _relative(text: str, depth: int) -> Need | None:
    """'the city where DeepMind has its headquarters' asks 'in which city DeepMind has its headquarters'."""
    for pattern, question in _RELATIVE:
        found = re.fullmatch(pattern, text, re.I)
        if found and (" " in found.group("c") or "? ?(?P<c>" not in pattern):
            need = ask(question.format(c=found.group("c")), depth + 1)
            if isinstance(need, Fact) and need.relation != "about" and need.relation in BY_NAME:
                return need
    return None


def _weather_of(text: str, depth: int) -> Need | None:
    """'the temperature in Oslo'."""
    names = "|".join(sorted(WEATHER, key=len, reverse=True))
    found = re.fullmatch(rf"(?:current |present |today's )?(?P<noun>{names})(?: is)?(?: like)?(?: today| now| right now"
                         r"| outside)? (?:(?:in|of|at|for|over) |(?=where ))(?P<x>.+)", text, re.I)
    if not found:
        return None
    return Weather(WEATHER[found.group("noun").lower()], noun_phrase(without_tail(found.group("x")), depth + 1))
