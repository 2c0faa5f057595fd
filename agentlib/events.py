"""The events of a run: what a person reads of it. Each was read from a message, and says which."""

from __future__ import annotations

import json
from dataclasses import dataclass

CUT = -1


@dataclass(frozen=True, kw_only=True)
class Event:
    """What a person reads of a run. `message` is the index in `State.messages` of the message it was read from, or
    CUT when that message is no longer there."""

    message: int
    edited: bool = False  # a person wrote it, by a fork


@dataclass(frozen=True, kw_only=True)
class Thought(Event):
    """What the model wrote before it acted or answered. `raw` is its whole reply, what was discarded too."""

    text: str
    raw: str

    def __str__(self) -> str:
        return f"Thought: {self.text}"


@dataclass(frozen=True, kw_only=True)
class ToolCall(Event):
    """A call that the model asks for. `arguments` is the text of a JSON object, as in the API."""

    id: str
    name: str
    arguments: str
    raw: str

    def __str__(self) -> str:
        return f"Action: {self.name}({_written(self.arguments)})"


def _written(arguments: str) -> str:
    """Give a call's arguments as call syntax, or as they are when they are no JSON object."""
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(found, dict):
        return arguments
    pairs = [(key, json.dumps(value, ensure_ascii=False)) for key, value in found.items()]
    return ", ".join(value if key.isdecimal() else f"{key}={value}" for key, value in pairs)  # "0" is positional


@dataclass(frozen=True, kw_only=True)
class Observation(Event):
    """The whole result of a call; the message may hold a shortened one."""

    call_id: str
    text: str
    kind: str = "ok"  # or the kind of the error: those of `agentlib.tools.Outcome`

    def __str__(self) -> str:
        return f"Observation: {self.text}"

    @property
    def is_error(self) -> bool:
        """Whether it tells of an error: of the call, of the tool, or that nothing was run."""
        return self.kind != "ok"


@dataclass(frozen=True, kw_only=True)
class Decision(Event):
    """What a person decided about a call that waited: `verdict` is approved, rejected or edited."""

    call_id: str
    verdict: str
    text: str = ""

    def __str__(self) -> str:
        return f"Decision: {self.verdict}{': ' * bool(self.text)}{self.text}"


@dataclass(frozen=True, kw_only=True)
class Answer(Event):
    """The final answer."""

    text: str
    raw: str

    def __str__(self) -> str:
        return f"Final Answer: {self.text}"


@dataclass(frozen=True, kw_only=True)
class Problem(Event):
    """Something that went wrong and was dealt with: a reply that has no action, text cut off, a limit reached."""

    kind: str
    text: str
    raw: str = ""

    def __str__(self) -> str:
        return f"Problem ({self.kind}): {self.text}"


@dataclass(frozen=True, kw_only=True)
class Turn(Event):
    """The user's next turn. What stands after it belongs to it; the first turn, the goal, has no event."""

    text: str

    def __str__(self) -> str:
        return f"Turn: {self.text}"


@dataclass(frozen=True, kw_only=True)
class Evaluation(Event):
    """A judgement on the answer in `message`. `kind` says whose, such as self_check; `verdict` is a word or two, and
    unknown when none could be read. Where a model judged, `asked` is what it was sent and `raw` its whole reply."""

    kind: str
    verdict: str
    text: str
    asked: str = ""
    raw: str = ""

    def __str__(self) -> str:
        return f"Evaluation ({self.kind}): {self.verdict}{': ' * bool(self.text)}{self.text}"
