"""How a fact is settled: in the notes, else by asking, else by heart.

The thing that a fact is about comes first: to find the university of DeepMind's CEO, it settles the CEO. Only what the
notes do not state is asked for, in up to three wordings.
"""

import re

from . import memory
from .choosing import next_call, ranked
from .finding import about, find
from .needs import Fact, Name, names_in
from .notes import Value
from .outcomes import Lost, Mind, Outcome, Want
from .passages import only_texts
from .settling import country, described, key_words, noun_of, wordings
from .words import number_in, same_name, words


def settle_fact(mind: Mind, need: Fact) -> Outcome:
    """Settle a fact: first the thing it is about, then the fact itself."""
    if mind.acts_only and not isinstance(need.of, Name) and need.relation != "country":
        return _ask_whole_question(mind, need)
    inner = mind.settle(need.of)
    if not isinstance(inner, Value):
        return inner
    named = isinstance(need.of, Name)
    subject = inner.first if named else inner.head
    if need.relation == "country":
        if not named and any(_is_country(note.title, note.body, inner.first) for note in mind.reading.notes):
            return mind.keep(need, subject, Value(inner.first))
        if not named and ("," in inner.first or need.of.relation == "located"):  # 'Ulm, Germany' says it already
            return mind.keep(need, subject, Value(country(inner.first)))
        need = Fact("located", need.of, "place", "country")
    value = _look(mind, need, subject)
    if not isinstance(value, Value):
        return value
    value = Value(country(value.first)) if need.asked == "country" else value
    return mind.keep(need, subject, value)


def _is_country(title: str, body: str, name: str) -> bool:
    """Say whether an article says of a place that it is a country itself, or an island that is named as one."""
    return "," not in name and same_name(title, name) and bool(re.match(r"\s*[\w ]+ is an? (?:country|island)\b", body))


def _look(mind: Mind, need: Fact, subject: str) -> Outcome:
    """Look a fact up in the notes; else ask; else say that it is lost."""
    reading = mind.reading
    value = _in_notes(mind, need, subject)
    if value:
        return value
    if not ranked("search", reading):
        return _by_heart(mind, need, subject)
    if any(words(note.asked) == words(subject) for note in reading.notes):  # the search knows it by another name
        value = _in_notes(mind, need, subject, loosely=True)
        if value:
            return value
    call = next_call("search", wordings(need, subject, reading.notes, reading.seed), subject, reading)
    return Want(call, "search", subject, need) if call else Lost(described(need, subject))


def _in_notes(mind: Mind, need: Fact, subject: str, loosely: bool = False) -> Value | None:
    """Find a fact in the notes."""
    notes = mind.reading.notes
    if need.relation != "about":
        return find(need.relation, subject, notes, noun_of(need), need.kind, loosely)
    found = [about(note, subject, loosely) for note in reversed(notes) if not note.is_thought]
    first = next((parts[0].rstrip(".") for parts in found if parts), "")
    return Value(first, (first,)) if first else None


def _by_heart(mind: Mind, need: Fact, subject: str) -> Value | Lost:
    """Remember a fact; without any tools the model also guesses."""
    if only_texts(mind.reading.instructions):
        return Lost(described(need, subject))
    known = memory.recall(need.relation, subject)
    if known is None and not mind.reading.tools:
        known = memory.guess(need.relation, need.kind, subject)
    if known is None:
        return Lost(described(need, subject))
    return mind.keep(need, subject, Value(known, tuple(known.split(" and ")), number_in(known)), from_memory=True)


def _ask_whole_question(mind: Mind, need: Fact) -> Outcome:
    """Acting only, and the thing asked about is not named: ask with the question's words, read the last observation."""
    reading = mind.reading
    for note in reading.notes[-1:] if reading.steps else ():
        value = find(need.relation, note.title or reading.question, (note,), noun_of(need), need.kind, loosely=False)
        if value:
            return mind.keep(need, note.title or "it", value)
    name = " ".join(names_in(need))
    whole = " ".join(dict.fromkeys(key_words(reading.question)[:20]))
    call = next_call("search", [whole, f"{name} {noun_of(need)}"], name, reading)
    return Want(call, "search", name, need) if call else Lost("the answer")
