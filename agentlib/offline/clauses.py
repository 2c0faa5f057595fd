"""The clauses of a goal: those that ask, and those that say what is to be made of the results."""

import re

from .combining import is_combination
from .words import sentences, word_set

_OPENERS = word_set("compare for of about regarding study research consider take find get list look show give tell name"
                    " who what which where when how in is are was were did does do say plan travel go from book between"
                    " among the check and please i we write my our")
_BORDERS = re.compile(r"(?:;|,? and then|,? then|,? and(?: also)?|,)\s+"
                      r"(?=(?:(?:in|at|on|from|by|to) (?:which|what|whom)|by how|who"
                      r"|what|when|where|which|how|write|say|tell|give|find|compare|name|summari[sz]e|list|rank|add"
                      r"|work out|calculate|book|check|look|put)\b)", re.I)
_MAKES = re.compile(r"(?:(?:please|then|finally|and|also|at the end),? )*(?:write|summari[sz]e|rank|conclude|compare"
                    r"|put (?:it|them|all|the)|draw up|compile|make (?:a|an))\b", re.I)
_OF_THEM = re.compile(r"\b(?:(?:sum|mean|difference) (?:of|between|in)|totals?|average|most (?:often|common|frequent)"
                      r"|comes up|of them|of these|of the (?:two|three|four|five)|which one|they|in all|altogether"
                      r"|together|combined)\b", re.I)


def lowered(text: str) -> str:
    """Write the first word of each sentence small where it is no name, so that it does not look like one."""
    return re.sub(r"(?:^|(?<=[.:?!] ))([A-Z]\w*)", lambda m: m[0].lower() if m[0].lower() in _OPENERS else m[0], text)


def clauses(text: str) -> list[str]:
    """Split a goal into clauses: at the ends of sentences, and where another question or instruction begins."""
    parts = [part.strip(" ,?.!") for line in sentences(text) for part in _BORDERS.split(line)]
    return [part for part in parts if part]


def makes(clause: str) -> bool:
    """Say whether a clause is an instruction to make something of results: to write, to compare, to rank."""
    return bool(_MAKES.match(clause))


def speaks_of_all(clause: str) -> bool:
    """Say whether a clause is about all results together: which of them, in total, most often."""
    return bool(_OF_THEM.search(clause)) and is_combination(clause)


def closing_of(told: list[str]) -> str:
    """Put into one sentence what is to be made of the results; a comparison that says more is no 'compare them'."""
    kept = [clause for clause in told if clause != "compare them"] or told
    bare = [re.sub(r"^(?:and|then|finally|please),? ", "", each, flags=re.I) for each in kept]
    said = ", and ".join(dict.fromkeys(bare))
    return said[:1].upper() + said[1:]
