"""What a step changed: the difference between the state before it and the state after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from ..state import Evaluation, Event, Message, State


def new_messages(before: State | None, state: State) -> tuple[tuple[int, Message], ...]:
    """Give the messages from the first one on that the state before did not hold there, with their indices."""
    kept, index = common(before.messages, state.messages) if before else 0, reply_index(before, state)
    return tuple(enumerate(state.messages))[kept if index is None else min(kept, index) :]


def new_events(before: State | None, state: State) -> tuple[Event, ...]:
    """Give the events that a step brought. A guard that cuts messages gives the old ones other message numbers."""
    if before is None:
        return state.events
    pairs = zip(before.events, state.events, strict=False)
    known = takewhile(lambda pair: pair[0] is pair[1] or pair[0] == replace(pair[1], message=pair[0].message), pairs)
    return state.events[sum(1 for _ in known) :]


def removed(before: State | None, state: State) -> int:
    """Count the messages that a step took away; those that it only moved are still there."""
    if before is None:
        return 0
    index = reply_index(before, state)
    return (Counter(before.messages) - Counter(state.messages[:index])).total()


def request(before: State | None, state: State) -> tuple[Message, ...] | None:
    """Give the messages of the conversation that the model was sent between two states; None when it was not asked."""
    if before is None or _judged(before, state):
        return None
    index = reply_index(before, state)
    if index is not None:
        return state.messages[:index]
    return state.messages if state.usage.calls > before.usage.calls else None


def reply_index(before: State | None, state: State) -> int | None:
    """Give the index of the reply that a step brought.

    Where a guard cut messages, older replies are at other places than before, and a reply that repeats an older one
    may be at its place: what was read from it tells it apart.
    """
    replies = [index for index, message in enumerate(state.messages) if message.role == "assistant"]
    if before is None or not replies or _judged(before, state):
        return None
    last, kept, events = replies[-1], common(before.messages, state.messages), new_events(before, state)
    is_new = last >= kept and (kept == len(before.messages) or last == len(state.messages) - 1)
    came = state.usage.calls > before.usage.calls or any(event.edited for event in events)
    return last if is_new or (came and any(event.message == last for event in events)) else None


def _judged(before: State, state: State) -> bool:
    """Say whether the model was asked apart from the conversation."""
    return any(isinstance(event, Evaluation) for event in new_events(before, state))


def common(a: Sequence, b: Sequence) -> int:
    """Give the length of what two sequences share at their start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1] or pair[0] == pair[1], zip(a, b, strict=False)))
