"""What a question leans on in the turns before it: 'And in Shanghai?', 'Where did he study?', 'Which of the two?'.

Pronouns get the name that was last spoken of in their role; a bare name repeats the question before.
"""

import re
from dataclasses import dataclass, replace

from .needs import Fact, Name, Need, Weather, names_in
from .phrases import noun_phrase, relation_of
from .words import NAME, clean_name, words

_OF_PERSONS = ("studied_at", "subject", "born_in", "born", "died_in", "died", "prize", "prize_year", "works",
               "nationality",
               "spouse", "company")
_NO_NAMES = ("According", "Yes", "No", "I")


@dataclass(frozen=True)
class Turn:
    """An earlier question as it was understood, with its answer."""

    question: str
    answer: str
    need: Need


def with_names(text: str, turns: list[Turn]) -> str:
    """Put names for pronouns that lean on earlier turns: 'Where did he study?', 'And its capital?'."""
    spoken_of = [one for turn in turns for one in _spoken_of(turn)]
    if not spoken_of or re.search(r".\b[A-Z]", text):
        return text
    person, thing, there = (_latest(spoken_of, *roles) for roles in (("person",), ("thing",), ("thing", "place")))
    pair = list(dict.fromkeys(name for name, _ in spoken_of))[-2:]
    text = re.sub(r"\b(?:the two|these|those|them|both)\b", " and ".join(pair), text) if len(pair) == 2 else text
    for pattern, written in (
        (r"\b(?:his|her)\b(?= \w)", f"{person}'s"), (r"\b(?:he|she|him|her)\b", person), (r"\bthere\b", f"in {there}"),
        (r"\b(?:its|their)\b", f"{thing}'s"), (r"\b(?:it|they)\b(?! (?:warm|cold|rain|snow|sunny|windy|hot))", thing),
    ):
        changed = re.sub(pattern, lambda _, written=written: written, text, count=1, flags=re.I)
        if changed != text:
            return changed
    return text


def follow_up(text: str, turns: list[Turn]) -> Need | None:
    """'And in Shanghai?' asks the question before of another thing."""
    found = re.fullmatch(r"(?i:and |or |what about |how about )*(?i:in |of |for |at |with )?"
                         r"(?P<x>(?:the )?[A-Z0-9][^?]*|the .+)", text)
    if not turns or not found or re.match(r"(?i:who|what|where|when|which|how|is|does|did|in|at|by|on)\b",
                                          found.group("x")):
        return None
    return _replace_name(turns[-1].need, noun_phrase(found.group("x")))


def _spoken_of(turn: Turn) -> list[tuple[str, str]]:
    """Give what a turn was about, each with its role: a person, a thing, or the place of a person."""
    need, own = turn.need, names_in(turn.need)
    about_person = isinstance(need, Fact) and need.relation in _OF_PERSONS
    found = [(name, "person" if about_person else "thing") for name in own]
    new = [name for name in map(clean_name, re.findall(NAME, turn.answer))
           if words(name) and name not in own and not relation_of(name) and name not in _NO_NAMES
           and not set(words(name)) & set(words(turn.question))]
    if isinstance(need, Fact) and need.kind == "person" and new:
        found.append((new[-1], "person"))
    elif isinstance(need, Fact) and need.kind in ("place", "university") and new:
        found.append((new[0], "place" if about_person else "thing"))
    return found


def _latest(spoken_of: list[tuple[str, str]], *roles: str) -> str:
    """Give the name that was spoken of last in one of the roles, or else the last of all."""
    return ([name for name, role in spoken_of if role in roles] or [spoken_of[-1][0]])[-1]


def _replace_name(need: Need, other: Need) -> Need | None:
    """Put another thing in the place of the innermost name."""
    if isinstance(need, Name):
        return other
    if not isinstance(need, Fact | Weather):
        return None
    part = "of" if isinstance(need, Fact) else "place"
    inner = _replace_name(getattr(need, part), other)
    return replace(need, **{part: inner}) if inner else None
