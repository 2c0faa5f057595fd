"""How well a tool fits a question: by the words of its name, its description and its parameters.

A word of the question that stands in a tool's name counts twice, in its description once, among its parameters half.
One that means nearly the same counts less. The more tools of the request have a word, the less it tells: its weight is
one over the square root of their number. What a description says the tool is *not* for counts against it.

So a vague description makes the model choose badly, and so do many tools that are alike, for no other reason than this.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from .clues import ID, QUOTED
from .offered import Tool
from .senses import meanings, stems
from .signatures import optional, required

LEAST = 1.2  # a tool that fits less is no choice: one word of its name that no other tool has counts 2
_NEAR = 0.6  # what a word counts that means nearly the same
_IN_NAME, _IN_DESCRIPTION, _IN_PARAMETERS = 2.0, 1.0, 0.5
_AGAINST = re.compile(r"^(?:not|never|do not|don't|does not|cannot|but not)\b|\b(?:do not|don't|never) use\b"
                      r"|\bis not for\b|\b(?:instead|rather) ", re.I)
_CLAUSE = re.compile(r"(?<=[.;!])\s+|,\s+(?=(?:but )?not for\b)")
# Words of nearly every description: they say what any tool does.
_EMPTY = frozenset(stems("use used using tool get gives give say says find look show make example one name question"
                         " please need want know whole some go"))


@dataclass(frozen=True)
class Words:
    """The stems of a tool, by where they stand; `against` are those of what it is not for."""

    name: frozenset[str]
    description: frozenset[str]
    parameters: frozenset[str]
    against: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """The words that speak for the tool."""
        return self.name | self.description | self.parameters


def ranking(tools: tuple[Tool, ...], question: str) -> list[tuple[Tool, float]]:
    """Give the tools with how well they fit, best first; of equals the first one offered."""
    asked = [stem for stem in stems(_bare(question)) if stem not in _EMPTY]
    own = [words_of(tool) for tool in tools]
    frequency = Counter(stem for each in own for stem in each.all)
    rarity = {stem: 1 / math.sqrt(count) for stem, count in frequency.items()}
    scored = [(tool, sum(_worth(stem, each, rarity) for stem in asked)) for tool, each in zip(tools, own, strict=True)]
    return sorted(scored, key=lambda pair: -pair[1])


@lru_cache(maxsize=512)  # a conversation is read again with each request
def words_of(tool: Tool) -> Words:
    """Take a tool's words apart."""
    clauses = [clause for clause in _CLAUSE.split(tool.description) if clause]
    against = [clause for clause in clauses if _AGAINST.search(clause)]
    parts = [*required(tool), *optional(tool)]
    told = " ".join(f"{part.name} {part.description} {' '.join(map(str, part.choices))}" for part in parts)
    description = _stems(_bare(" ".join(clause for clause in clauses if clause not in against)))
    return Words(_stems(tool.name), description, _stems(_bare(told)),
                 _stems(_bare(" ".join(against))) - description)


def _bare(text: str) -> str:
    """Give a text without ids and quoted parts: they are what a tool is called with, not what it is for."""
    return ID.sub(" ", QUOTED.sub(" ", text))


def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text)) - _EMPTY


def _worth(stem: str, own: Words, rarity: dict[str, float]) -> float:
    """Say how much one word of the question speaks for a tool, or against it."""
    if stem in own.against:
        return -_IN_DESCRIPTION * rarity.get(stem, 1.0)
    worth = 0.0
    for place, weight in ((own.name, _IN_NAME), (own.description, _IN_DESCRIPTION), (own.parameters, _IN_PARAMETERS)):
        if stem in place:
            worth += weight * rarity[stem]
        else:
            near = [each for each in place if meanings(each) & meanings(stem)]
            worth += max((_NEAR * weight * rarity[each] for each in near), default=0.0)
    return worth
