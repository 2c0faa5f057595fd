"""What to pass to a tool: a value for each parameter, after its name, its description and its type."""

import re

from .offered import Parameter
from .words import fold, number_in, same_name, word_set, words

_THING = word_set("name title entity topic subject person company term keyword item page")
_IS_THING = re.compile(r"\s*(?:the )?(?:exact |full )?(?:name|title|topic|subject)\b", re.I)
_FILL = {"unit": "celsius", "units": "celsius", "language": "en", "lang": "en", "date": "today", "day": "today",
         "when": "today",
         "limit": 3, "n": 3, "k": 3, "top_k": 3, "count": 3, "max_results": 3}
_USUAL = word_set("celsius c metric today now current en english all any auto general default normal")
# Words that point to the same choice of an enum: how the choice may be called, and what is said when it is meant.
_MEANINGS = tuple(word_set(" ".join(words(line))) for line in (
    "celsius c metric si", "fahrenheit f imperial us", "kelvin k", "today now current", "tomorrow forecast",
    "company business organisation organization firm ceo founder founding headquarters owner parent",
    "person people human biography university alma mater birthplace born birth died death nationality subject",
    "place city country geography location capital population river currency language height length",
    "book novel literature work author writer publication published wrote",
    "prize award winner won nobel turing", "humidity humid", "wind windy", "temperature warm cold hot degree",
))
SUBJECTS = frozenset().union(*_MEANINGS)  # words for what an encyclopedia or a weather report is about

Value = str | int | float | bool | None | list | dict


def fill(parameters: tuple[Parameter, ...], wording: str, thing: str, question: str) -> tuple[tuple[str, Value], ...]:
    """Give every parameter a value. The first that may hold any text gets the wording, later ones the thing itself."""
    values: list[tuple[str, Value]] = []
    main_is_set = False
    for part in parameters:
        is_main = not main_is_set and _may_hold_wording(part)
        text = thing if main_is_set or _is_thing(part) else wording
        main_is_set = main_is_set or is_main
        values.append((part.name, _value(part, text, thing, question, is_main)))
    return tuple(values)


def related(own: set[str]) -> set[str]:
    """Give words, and those that mean the same."""
    return set().union(own, *(group for group in _MEANINGS if own & group))


def _may_hold_wording(part: Parameter) -> bool:
    """Say whether a parameter may hold what is asked for, and not a detail such as a unit."""
    return part.kind in ("string", "array", "object", "any") and not part.choices and part.name.lower() not in _FILL


def _is_thing(part: Parameter) -> bool:
    """Say whether a parameter wants the name of a thing, not a query."""
    return fold(part.name) in _THING or bool(_IS_THING.match(part.description))


def _value(part: Parameter, text: str, thing: str, question: str, is_main: bool) -> Value:
    """Give one parameter its value."""
    usual = _FILL.get(part.name.lower())
    if part.choices:
        return _choice(part.choices, text, thing, question)
    if part.may_be_null and not is_main:
        return None
    match part.kind:
        case "boolean":
            return bool(set(words(part.name.replace("_", " "))) & set(words(question)))
        case "integer" | "number":
            return _number(part, usual if isinstance(usual, int) else number_in(question))
        case "array":
            return [_value(item, text, thing, question, True) for item in part.parts]
        case "object":
            return dict(fill(part.parts, text, thing, question))
    return text if usual is None else str(usual) if part.kind == "string" else usual


def _number(part: Parameter, wanted: float | None) -> int | float:
    """Give a number within the bounds: the wanted one, or else the least that is allowed, or 1."""
    low, high = part.low, part.high
    number = wanted if wanted is not None else low if low is not None else 1
    number = max(number, low) if low is not None else number
    number = min(number, high) if high is not None else number
    return int(number) if part.kind == "integer" or number == int(number) else number


def _choice(choices: tuple, text: str, thing: str, question: str) -> Value:
    """Give the choice that means what is asked for, else the usual one, else the first."""
    return max(choices, key=lambda choice: _fits(choice, text, thing, question))  # of equals the first


def _fits(choice: Value, text: str, thing: str, question: str) -> int:
    """Score a choice: named by the thing, by the wording, by the question; then by words that mean it; then usual."""
    if isinstance(choice, bool) or not isinstance(choice, str):
        return 16 * (not isinstance(choice, bool) and number_in(question) == choice)
    own = set(words(re.sub(r"[_-]", " ", choice)))
    alike = related(own)
    named = 64 * same_name(choice, thing) + 32 * bool(own and own <= set(words(text)))
    asked = 16 * bool(own and own <= set(words(question)))
    return (named + asked + 8 * bool(alike & set(words(text)) - set(words(thing)))
            + 4 * bool(alike & set(words(question))) + bool(own & _USUAL or fold(choice) in _USUAL))
