"""The state of a run: all that the next step needs, immutable, and nothing that lives anywhere else.

An agent is a function from state to state. So a list of states is a recording that can be stepped backwards, an edited
state is a fork, a saved state is a checkpoint, and two runs are equal when their last states are equal.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from .events import CUT, Answer, Decision, Evaluation, Event, Observation, Problem, Thought, ToolCall, Turn
from .saving import StateError, checked, decode, encode, write_atomically

__all__ = [
    "APPROVAL",
    "CUT",
    "Answer",
    "Call",
    "Decision",
    "Evaluation",
    "Event",
    "Message",
    "Observation",
    "Problem",
    "State",
    "StateError",
    "Status",
    "Thought",
    "ToolCall",
    "Turn",
    "Usage",
]

VERSION = 2
APPROVAL = "approval"  # the reason of a state that waits for a decision on a call


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
class Call:
    """A call as it stands in a message. `arguments` is text; the API takes any, this project sends a JSON object."""

    id: str
    name: str
    arguments: str

    def __post_init__(self) -> None:
        for name in ("id", "name", "arguments"):
            object.__setattr__(self, name, _text(getattr(self, name), f"a call's {name}"))

    def to_wire(self) -> dict:
        """Give the JSON object of the chat completions API."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


@dataclass(frozen=True)
class Message:
    """One message exactly as the model sees it. `role` is system, user, assistant or tool.

    A reply may carry calls; a tool's message says which call it answers. Half a character (a lone surrogate, as file
    names may hold) cannot be sent, and is replaced. Raises TypeError for a content that is no text.
    """

    role: str
    content: str
    tool_calls: tuple[Call, ...] = ()
    tool_call_id: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", _text(self.content, "a message's content"))
        object.__setattr__(self, "tool_calls", tuple(self.tool_calls))

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != "wire"}

    def to_wire(self) -> dict:
        """Give the JSON object of the chat completions API."""
        wire: dict = {"role": self.role, "content": self.content}
        if self.tool_calls:
            wire["tool_calls"] = [call.to_wire() for call in self.tool_calls]
        if self.tool_call_id:
            wire["tool_call_id"] = self.tool_call_id
        return wire

    @cached_property
    def wire(self) -> dict:
        """The same, made once, for requests, which repeat all of the history: not to be changed."""
        return self.to_wire()


def _text(value: object, what: str) -> str:
    """Give a text as it can be sent. Raises TypeError for what is none."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a text, not {value!r}")
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


@dataclass(frozen=True)
class State:
    """A run at one moment.

    `iterations` counts the model calls since the last user turn; `usage` counts everything. `pending` holds the calls
    that the model asked for and that have no result yet, in their order; `approved` those of them that a person let
    run. A state that waits (reason `approval`) waits for a decision on the first pending call.
    """

    goal: str
    messages: tuple[Message, ...] = ()
    events: tuple[Event, ...] = ()
    pending: tuple[ToolCall, ...] = ()
    approved: tuple[ToolCall, ...] = ()
    status: Status = Status.RUNNING
    reason: str = ""
    iterations: int = 0
    usage: Usage = Usage()

    def __post_init__(self) -> None:
        for name in ("messages", "events", "pending", "approved"):  # a list handed in would stay open to change
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

    def taken_up(self) -> State:
        """Give the state as it may go on after a load."""
        if not self.approved:
            return self
        text = "it was approved, and has no result: it may have run. Look before you approve it again"
        events = [Problem(message=call.message, kind="unrecorded_write", text=text) for call in self.approved]
        waiting = {"status": Status.WAITING, "reason": APPROVAL}
        return replace(self, events=(*self.events, *events), approved=(), **waiting)

    def save(self, path: str | os.PathLike) -> None:
        """Write the state to a JSON file: the whole new file or, when that fails, the whole old one."""
        text = json.dumps({"agentlib": VERSION, "state": encode(self)}, ensure_ascii=False, indent=1)
        write_atomically(Path(path), text.encode("utf-8", "surrogatepass"))

    @classmethod
    def load(cls, path: str | os.PathLike) -> State:
        """Read a saved state, of the class that was saved. Raises `StateError` when the file is not one.

        A call that writes and was approved, but has no result, may have run before the state was lost. It waits for
        approval again, so that nothing is written twice.
        """
        try:
            data = checked(json.loads(Path(path).read_bytes().decode("utf-8", "surrogatepass")), dict)
            if data.get("agentlib") != VERSION:
                raise StateError(f"it was saved in version {data.get('agentlib')!r}; this is version {VERSION}")
            _bring_in(data.get("state"))
            return decode(data.get("state"), cls).taken_up()
        except OSError as error:
            raise StateError(f"cannot read {path}: {error.strerror or error}") from error
        except (StateError, ValueError, RecursionError) as error:
            raise StateError(f"{path} is not a saved state: {error}") from error


def _bring_in(saved: object) -> None:
    """Load the module of the saved class, such as PlanState, which nobody may have used in this process yet."""
    import agentlib

    name = saved.get("type") if isinstance(saved, dict) else None
    if isinstance(name, str) and name in agentlib.__all__:
        getattr(agentlib, name)
