"""What settling a need can come to, and what one look at a request keeps.

An outcome is a value, a want (a call to make) or a loss. A mind is one look at a request: it settles needs and keeps a
trail of facts for the wording. A new request gets a new one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from .choosing import Call
from .needs import Need
from .notes import Value
from .reading import Reading
from .words import choose


@dataclass(frozen=True)
class Want:
    """Something to ask a tool for: the call, and what it is for."""

    call: Call
    kind: str  # search, weather, sum, errand or code
    subject: str  # what it is about; of code the thought that goes with it
    need: Need


@dataclass(frozen=True)
class Lost:
    """Something that could not be found out, in words that end a sentence: 'the CEO of X'."""

    what: str
    said: str = ""  # the whole sentence to say, where there is more to it


@dataclass(frozen=True)
class Found:
    """One fact on the way to the answer."""

    need: Need
    subject: str
    value: Value
    from_memory: bool = False


Outcome = Value | Want | Lost


@dataclass(frozen=True)
class Mind:
    """One look at a request: its reading, the procedure that settles a need, what was settled and what can be asked."""

    reading: Reading
    procedure: Callable[["Mind", Need], Outcome]
    trail: list[Found] = field(default_factory=list)
    wants: list[Want] = field(default_factory=list)  # all that could be asked for now, each call once

    @property
    def acts_only(self) -> bool:
        """Whether the format has actions and no thoughts."""
        return bool(self.reading.tools) and self.reading.has_format and not self.reading.writes_thoughts

    def settle(self, need: Need) -> Outcome:
        """Give the value of a need, or the next thing to ask for, or what is lost."""
        outcome = self.procedure(self, need)
        if isinstance(outcome, Want) and all(outcome.call != want.call for want in self.wants):
            self.wants.append(outcome)
        return outcome

    def settle_all(self, needs: tuple[Need, ...]) -> list[Value] | Want | Lost:
        """Settle needs that do not depend on each other. Of several wants the seed says which one comes first."""
        outcomes = [self.settle(need) for need in needs]
        wants = tuple(outcome for outcome in outcomes if isinstance(outcome, Want))
        if wants:
            return choose(self.reading.seed, "order", wants) if self.reading.seed else wants[0]
        return next((outcome for outcome in outcomes if isinstance(outcome, Lost)), outcomes)

    def keep(self, need: Need, subject: str, value: Value, from_memory: bool = False) -> Value:
        """Keep a settled fact for the wording of the thought and the answer."""
        if not any(found.need == need and found.subject == subject for found in self.trail):
            self.trail.append(Found(need, subject, value, from_memory))
        return value
