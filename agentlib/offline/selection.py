"""Which tools a question is for: those whose words fit it, weighed by what the question gives and by what it asks.

    an id of the question that a tool takes speaks for the tool, one that it has no place for speaks against it
    a date, a time, a file, a quoted text or a name that it takes speaks for it, too
    a required argument that the question does not give speaks against it
    a tool that changes something is for an instruction (its verb comes first), not for a question
"""

import re

from .clues import ids
from .fitness import ranking
from .offered import Tool
from .senses import stems
from .signatures import required
from .slots import fill_from, takes_id, takes_shaped

_ID, _GIVEN, _MISSING, _CHANGE = 1.0, 0.5, 0.4, 1.5
_CHANGING = frozenset(stems("cancel delete refund send move create put pay update remove add make transfer change reset"
                            " submit"))  # no verbs that are nouns as well, as in order_status
_ASKS = re.compile(r"\W*(?:what|which|who(?:se|m)?|when|where|why|how|is|are|was|were|do|does|did|has|have|had)\b",
                   re.I)
_POLITE = re.compile(r"^\W*(?:(?:please|now|also|(?:can|could|would) you|i(?: want|'d like)(?: you)? to)\W+)+", re.I)


def selected(tools: tuple[Tool, ...], question: str) -> list[tuple[Tool, float]]:
    """Give the tools with how well they suit a question, best first; of equals the first one offered."""
    weighed = [(tool, fit + _evidence(tool, question) if fit > 0 else 0.0) for tool, fit in ranking(tools, question)]
    order = {tool.name: place for place, tool in enumerate(tools)}
    return sorted(weighed, key=lambda pair: (-pair[1], order[pair[0].name]))


def changes(tool: Tool) -> bool:
    """Say whether a tool changes something, by the verb in its name or at the start of its description."""
    first = stems(" ".join(tool.description.split()[:2]))[:1]
    return bool({*stems(tool.name)[:1], *first} & _CHANGING)


def _evidence(tool: Tool, question: str) -> float:
    """Weigh what the question gives, and whether it instructs."""
    evidence = 0.0
    if ids(question):
        evidence += _ID if any(takes_id(part, question) for part in required(tool)) else -_ID
    evidence += _GIVEN * any(takes_shaped(part, question) for part in required(tool))
    evidence -= _MISSING * len(fill_from(tool, question)[0].missing)
    if not changes(tool):
        return evidence
    instruction = _POLITE.sub("", question)
    if _ASKS.match(instruction):
        return evidence - _CHANGE
    verb = stems(instruction.split(" ")[0])[:1] if instruction else ()
    return evidence + (_CHANGE if verb and verb[0] in stems(tool.name) else 0.0)
