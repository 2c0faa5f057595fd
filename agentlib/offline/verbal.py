"""From a need back to words: the question that asks for it, and the phrase that names it."""

from .needs import Fact, Name, Need, Weather
from .relations import BY_NAME
from .words import with_the


def question_for(need: Need) -> str:
    """Give a question for a need; an empty text where there are no words for it."""
    phrase = _phrase(need)
    if not phrase or isinstance(need, Name):
        return ""
    person = isinstance(need, Fact) and need.kind == "person"
    return f"{'Who' if person else 'What'} is {phrase}?"


def other_questions(need: Need) -> list[str]:
    """Give the same question in other words: with the other nouns that name the relation."""
    if not isinstance(need, Fact) or need.relation not in BY_NAME:
        return []
    inner, row = _phrase(need.of), BY_NAME[need.relation]
    word = "Who" if row.kind == "person" else "What"
    return [f"{word} is the {noun} of {inner}?" for noun in row.nouns] if inner else []


def _phrase(need: Need) -> str:
    """Name a need: 'the CEO of Intel', 'the temperature in Oslo'."""
    match need:
        case Name(text):
            return with_the(text)
        case Fact(relation="about"):
            return ""
        case Fact(relation, inner):
            noun = BY_NAME[relation].nouns[0] if relation in BY_NAME else need.asked or relation
            named = _phrase(inner)
            return f"the {noun} of {named}" if named else ""
        case Weather(what, place) if what in ("all", "temperature", "wind", "humidity"):
            named = _phrase(place)
            return f"the {'weather' if what == 'all' else what} in {named}" if named else ""
    return ""
