"""The state of a run: all that the next step needs, immutable, and nothing that lives anywhere else.

An agent is a function from state to state. So a list of states is a recording that can be stepped backwards, an edited
state is a fork, a saved state is a checkpoint, and two runs are equal when their last states are equal.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path

from .saving import StateError, checked, decode, encode, write_atomically

VERSION = 1
CUT = -1


class Status(StrEnum):
    """Whether a run goes on. `State.reason` says why it does not."""

    RUNNING = "running"
    WAITING = "waiting"  # for a person
    DONE = "done"
    STOPPED = "stopped"  # by a limit or a fault, with the trace so far
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Usage:
    """What the model was asked for so far: calls, and tokens as the server counted them."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Usage)))


@dataclass(frozen=True)
class Message:
    """One message exactly as the model sees it. `role` is system, user or assistant."""

    role: str
    content: str

    def to_wire(self) -> dict:
        """Give the JSON object of the chat completions API."""
        return {"role": self.role, "content": self.content}


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
    is_error: bool = False

    def __str__(self) -> str:
        return f"Observation: {self.text}"


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


@dataclass(frozen=True)
class State:
    """A run at one moment.

    `iterations` counts the model calls since the last user turn; `usage` counts everything. `pending` holds the calls
    that the model asked for and that have not been carried out.
    """

    goal: str
    messages: tuple[Message, ...] = ()
    events: tuple[Event, ...] = ()
    pending: tuple[ToolCall, ...] = ()
    status: Status = Status.RUNNING
    reason: str = ""
    iterations: int = 0
    usage: Usage = Usage()

    def __post_init__(self) -> None:
        for name in ("messages", "events", "pending"):  # a list handed in would stay open to change
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def __str__(self) -> str:
        ending = f"[{self.status}{': ' * bool(self.reason)}{self.reason}, model calls: {self.usage.calls}]"
        return "\n".join([f"Question: {self.goal}", *map(str, self.events), ending])

    @property
    def answer(self) -> str | None:
        """The final answer, or None while there is none."""
        if self.status is not Status.DONE:
            return None
        return next((event.text for event in reversed(self.events) if isinstance(event, Answer)), None)

    @property
    def best_so_far(self) -> str:
        """The answer; without one, the last thing the agent found out, else the last thing it thought, else ''."""
        if self.answer is not None:
            return self.answer
        found = [event.text for event in self.events if isinstance(event, Observation) and not event.is_error]
        thought = [event.text for event in self.events if isinstance(event, Thought)]
        return (found or thought or [""])[-1]

    @property
    def this_turn(self) -> tuple[Event, ...]:
        """The events since the user's last turn began."""
        turns = (i for i, event in enumerate(self.events) if isinstance(event, Turn))
        return self.events[max(turns, default=-1) + 1 :]

    def add(self, message: Message, *events: Event, **changes) -> State:
        """Give the next state: one more message, the events read from it, and any other change."""
        return replace(self, messages=(*self.messages, message), events=(*self.events, *events), **changes)

    def stop(self, reason: str, text: str) -> State:
        """Give the stopped state: everything so far, and why it stopped."""
        problem = Problem(message=len(self.messages) - 1, kind=reason, text=text)
        return replace(self, events=(*self.events, problem), status=Status.STOPPED, reason=reason)

    def save(self, path: str | os.PathLike) -> None:
        """Write the state to a JSON file: the whole new file or, when that fails, the whole old one."""
        text = json.dumps({"agentlib": VERSION, "state": encode(self)}, ensure_ascii=False, indent=1)
        write_atomically(Path(path), text.encode("utf-8", "surrogatepass"))

    @classmethod
    def load(cls, path: str | os.PathLike) -> State:
        """Read a saved state, of the class that was saved. Raises `StateError` when the file is not one."""
        try:
            data = checked(json.loads(Path(path).read_bytes().decode("utf-8", "surrogatepass")), dict)
            if data.get("agentlib") != VERSION:
                raise StateError(f"it was saved in version {data.get('agentlib')!r}; this is version {VERSION}")
            return decode(data.get("state"), cls)
        except OSError as error:
            raise StateError(f"cannot read {path}: {error.strerror or error}") from error
        except (StateError, ValueError, RecursionError) as error:
            raise StateError(f"{path} is not a saved state: {error}") from error
