"""What a malformation is: a function from a well-formed reply to a malformed one, and the rung that should read it.

The rungs are those of `agentlib.parsing`, strictest first, and one more:

    strict      another notation, other labels, or text round the call, but what counts is valid as it stands
    repaired    the arguments are nearly JSON, or have other punctuation
    labelled    no syntax, but it is said what is what
    schema      the call can be read; its arguments fit only after a repair against the tool's schema
    nothing     nothing that may be run was clearly asked for: it has to go back to the model
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from .parts import Parts, parts_of


@dataclass(frozen=True)
class Malformation:
    """One way to go wrong: its name, the rung that should read it, and the function that writes it."""

    name: str
    rung: str
    write: Callable[[str], str]


MALFORMED: dict[str, Malformation] = {}  # `malformed` fills it


def malformation(rung: str, *, also_answers: bool = False) -> Callable:
    """Enter a function on the parts of a reply into the table. It gives None for what it does not apply to."""

    def enter(write: Callable[[Parts], str | None]) -> Callable[[str], str]:
        @wraps(write)
        def malform(text: str) -> str:
            reply = parts_of(text)
            written = write(reply) if reply and (reply.tool or also_answers) else None
            return text if written is None else written

        MALFORMED[write.__name__] = Malformation(write.__name__, rung, malform)
        return malform

    return enter
