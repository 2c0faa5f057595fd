"""From the text of observations and thoughts to values. Nothing is known here but what the text says.

It looks for the subject's article or for sentences that name it, then tries the relation's patterns, then any value of
the right kind. The latest note that states a value counts.
"""

import re

from .notes import Note, Value
from .patterns import statements, turned
from .relations import BY_NAME
from .words import MEASURE, NAME, PLACE, YEAR, clean_name, is_half, mentions, number_in, same_name, undated, words

_ALIAS = (r"(?:known|called|abbreviated|titled|written|spelled|nicknamed)(?: also| simply| better)?(?: as| to)? "
          r"[\"“(]?(?:the )?")
_KINDS = {"person": NAME, "university": NAME, "place": PLACE, "year": YEAR, "number": MEASURE}
_PLAIN_YEAR = re.compile(YEAR)


def about(note: Note, subject: str, loosely: bool = False) -> list[str]:
    """Give the sentences of a note that are about the subject."""
    if note.is_empty or is_half(subject, note.title) or is_half(note.title, subject):
        return []
    parts = list(note.sentences)
    name, year = undated(subject)
    if year and same_name(note.title, name):
        return [part for part in parts if year in part]
    if note.is_thought:  # plans ("Next I need ...") state nothing
        parts = [part for part in parts if not re.search(r"\bI\b", part)]
    if note.title and not note.is_thought:
        if same_name(note.title, subject) or _is_alias(parts[:2], subject):
            return parts
        if loosely and (set(words(subject)) & set(words(note.title)) or words(note.asked) == words(subject)):
            return parts
    elif not note.is_thought and note.asked and (mentions(note.asked, subject) or loosely):
        return parts
    return [part for part in parts if mentions(part, subject)]


def find(relation: str, subject: str, notes: tuple[Note, ...], noun: str, kind: str, loosely: bool) -> Value | None:
    """Find the value of a relation of the subject; the latest note that states it counts."""
    related = [note for note in reversed(notes) if not note.vocabulary.isdisjoint(words(subject))]
    for how in (_stated, _by_kind):
        found = (how(note, relation, subject, noun, kind, loosely) for note in related)
        value = next(filter(None, found), None)
        if value:
            return value
    return None


def best_sentence(question: str, notes: tuple[Note, ...], least: float = 0.4) -> str:
    """Give the sentence that shares most words with the question, at least that part of them; or an empty text."""
    wanted = set(words(question))
    best, best_score = "", 0.0
    for note in reversed(notes):
        if note.is_empty or note.is_thought:
            continue
        title = wanted & set(words(note.title))
        for part in note.sentences:
            score = len((wanted - title) & set(words(part))) + 0.5 * len(title)
            if score > best_score:
                best, best_score = (part if mentions(part, note.title or part) else f"{note.title}: {part}"), score
    return best if best_score >= max(4 * least, least * len(wanted)) else ""


def _stated(note: Note, relation: str, subject: str, noun: str, kind: str, loosely: bool) -> Value | None:
    """Find the value in one note by the relation's own patterns; of other relations by 'the NOUN is VALUE'."""
    parts = about(note, subject, loosely)
    row = BY_NAME.get(relation)
    if row is None:
        pattern = rf"(?i:\b{re.escape(noun)}s?(?: of [^.,]{{1,40}})? (?:is|are|was|were) (?:the )?)({MEASURE}|{NAME})"
        stated = next(filter(None, (re.search(pattern, part) for part in parts)), None)
        if stated:
            return Value(stated.group(1), (stated.group(1),), number_in(stated.group(1)))
        is_it = re.compile(rf"(?:is|was) the {re.escape(noun)}\b", re.I)  # 'It is the highest mountain in the world'
        fits = note.title and any(is_it.search(part) and mentions(part, subject) for part in note.sentences)
        return Value(note.title, (note.title,)) if fits else None
    found = []
    for pattern in statements(relation):
        for part in parts:
            found += [clean_name(m.group("v")) for m in pattern.finditer(part)]
        if any(found) and not row.many:
            break
    names = [name for name in found if name and not same_name(name, subject)]
    other_end = turned(relation, subject) if not names and note.title and not note.is_empty else None
    if other_end and any(other_end.search(part) for part in note.sentences):
        return Value(note.title, (note.title,))
    return _value(names, row.kind, row.many) if names else None


def _value(found: list[str], kind: str, many: bool) -> Value:
    """Make one value of what was found: all of it if the relation has many, else the first."""
    if kind in ("number", "year"):
        return Value(found[0], (found[0],), number_in(found[0]))
    items = [clean_name(item) for text in (found if many else found[:1]) for item in _split(text, many)]
    unique = tuple(dict.fromkeys(item for item in items if item))
    kept = tuple(item for item in unique if not any(item != other and item in other for other in unique))
    return Value(joined(kept), kept)


def _split(text: str, many: bool) -> list[str]:
    """Split a list of names; a place keeps its commas."""
    return re.split(r", and |, | and ", text) if many else [text]


def joined(items: tuple[str, ...]) -> str:
    """Join names as people do: 'A, B and C'."""
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1] if items else ""]))


def _by_kind(note: Note, relation: str, subject: str, noun: str, kind: str, loosely: bool) -> Value | None:
    """Take a value of the right kind from the sentence that shares most words with what was asked for."""
    row = BY_NAME.get(relation)
    on_other = note.title and not (loosely or same_name(note.title, subject))  # then it may mean anything
    if note.is_thought or on_other or (row and row.kind == "thing"):
        return None
    wanted = set(words(" ".join(row.nouns) if row else noun))
    parts = about(note, subject, loosely)
    head = set() if row else set(words(noun)[-1:])  # of 'tallest building' there must at least be a building
    scored = [(len(wanted & set(words(part))), part) for part in parts if head <= set(words(part))]
    score, part = max(scored, key=lambda pair: pair[0], default=(0, ""))
    if not score:
        return None
    if kind == "thing":
        number = re.search(MEASURE, part)
        return Value(part.rstrip("."), (part.rstrip("."),), number_in(number.group()) if number else None)
    for found in re.finditer(_KINDS[kind], part):
        text = clean_name(found.group())
        if text and not same_name(text, subject) and not (kind == "number" and _PLAIN_YEAR.fullmatch(text)):
            return Value(text, (text,), number_in(text) if kind in ("number", "year") else None)
    return None


def _is_alias(parts: list[str], subject: str) -> bool:
    """Say whether the first sentences give the subject as another name of the article's title."""
    name = re.escape(subject)
    return any(re.search(rf"{_ALIAS}{name}\b|\((?:or )?{name}\)", part, re.I) for part in parts)
