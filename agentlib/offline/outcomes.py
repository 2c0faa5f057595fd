"""What settling a need can come to: a value, something to ask a tool for, or something that is lost."""

from dataclasses import dataclass

from .choosing import Call
from .needs import Need
from .notes import Value


@dataclass(frozen=True)
class Want:
    """Something to ask a tool for: the call, and what it is for."""

    call: Call
    kind: str  # search, weather or sum
    subject: str
    need: Need


@dataclass(frozen=True)
class Lost:
    """Something that could not be found out, in words that end a sentence: 'the CEO of X'."""

    what: str


@dataclass(frozen=True)
class Found:
    """One fact on the way to the answer."""

    need: Need
    subject: str
    value: Value
    from_memory: bool = False


Outcome = Value | Want | Lost
