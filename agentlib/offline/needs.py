"""What a question needs, as a tree: the leaves are names and numbers, each node is one thing to find out.

`questions` builds the tree, `thinking` settles it from the leaves up, `wording` words the answer after its top.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """Something that the question names: it is known as it stands."""

    text: str


@dataclass(frozen=True)
class Fact:
    """A relation of something: the CEO of DeepMind. A relation outside the table is its own noun."""

    relation: str
    of: "Need"
    kind: str = "thing"
    asked: str = ""  # how the question called it


@dataclass(frozen=True)
class Weather:
    """The weather of a place: all of it, temperature, wind, humidity, sky; or a yes-or-no question about it."""

    what: str
    place: "Need"


@dataclass(frozen=True)
class Formula:
    """A number to work out; `{0}`, `{1}` stand for the parts. `said` words the result `{v}`."""

    template: str
    parts: tuple["Need", ...] = ()
    said: str = "{v}"


@dataclass(frozen=True)
class Pick:
    """The thing with the highest (or lowest) measure; `claim` is the one that a yes-or-no question names."""

    word: str
    highest: bool
    things: tuple["Need", ...]
    measures: tuple["Need", ...]
    claim: int | None = None
    unit: str = ""  # set when the question is by how much


@dataclass(frozen=True)
class Claim:
    """A yes-or-no question: whether the value of a fact is the one that was said."""

    fact: "Need"
    said: str


@dataclass(frozen=True)
class Both:
    """Several questions in one."""

    parts: tuple["Need", ...]


@dataclass(frozen=True)
class Either:
    """One question read in several ways, best first: 'War and Peace and Emma' can be split at either 'and'."""

    ways: tuple["Need", ...]


@dataclass(frozen=True)
class Talk:
    """Something to say without looking anything up."""

    kind: str
    text: str = ""


@dataclass(frozen=True)
class Exact:
    """Words to give as they stand: what an instruction asked for is already done."""

    text: str


@dataclass(frozen=True)
class Open:
    """A question that the grammar does not cover."""

    text: str


@dataclass(frozen=True)
class Errand:
    """A question for tools that the grammar knows nothing of; `tools` are the names of those that fit, best first."""

    text: str
    tools: tuple[str, ...]


def either(ways: list["Need"]) -> "Need | None":
    """Give the only way to read a question, or all of them as one need; None if there is none."""
    return Either(tuple(ways)) if len(ways) > 1 else ways[0] if ways else None


Need = Name | Fact | Weather | Formula | Pick | Claim | Both | Either | Talk | Exact | Errand | Open


def names_in(need: Need) -> list[str]:
    """Give the names in a tree, in reading order."""
    match need:
        case Name(text):
            return [text]
        case Fact(of=inner) | Weather(place=inner) | Claim(fact=inner):
            return names_in(inner)
        case Formula(parts=parts) | Both(parts=parts) | Pick(things=parts):
            return [name for part in parts for name in names_in(part)]
        case Either(ways):
            return names_in(ways[0])
    return []
