"""What a step changed: the difference between the state before it and the state after it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Any

from ..state import Decision, Evaluation, Event, Message, State, Status
from .plans import decisions_within, is_result, own_calls


@dataclass(frozen=True)
class Change:
    """What one step changed, each part worked out once. At the start of a run `before` is None."""

    before: State | None
    state: State

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events that the step brought. A guard that cuts messages gives the old ones other message numbers."""
        if self.before is None:
            return self.state.events
        if self.decided:
            changed = (event for _, event in _differing(self.before.events, self.state.events))
            return (*changed, *decisions_within(self.before, self.state))
        kept = common(self.before.events, self.state.events)
        pairs = zip(self.before.events[kept:], self.state.events[kept:], strict=False)
        moved = takewhile(lambda pair: pair[0] == replace(pair[1], message=pair[0].message), pairs)
        return self.state.events[kept + sum(1 for _ in moved) :]

    @cached_property
    def messages(self) -> tuple[tuple[int, Message], ...]:
        """The messages from the first one on that the state before did not hold there, with their indices. A person
        who changes a call changes one message in the middle, and no other."""
        if self.decided:
            return _differing(self.before.messages, self.state.messages)
        first = self._kept if self.reply is None else min(self._kept, self.reply)
        return tuple(enumerate(self.state.messages[first:], first))

    @cached_property
    def removed(self) -> int:
        """How many messages the step took away; those that it only moved are still there."""
        if self.before is None or self.decided:
            return 0
        left = self.state.messages[: self.reply]
        kept = min(self._kept, len(left))
        return (Counter(self.before.messages[kept:]) - Counter(left[kept:])).total()

    @cached_property
    def request(self) -> tuple[Message, ...] | None:
        """The messages of the conversation that the model was sent in the step; None when it was not asked."""
        if self.before is None or self._judged or self.decided:
            return None
        if self.reply is not None:
            return self.state.messages[: self.reply]
        return self.state.messages if own_calls(self.state) > own_calls(self.before) else None

    @cached_property
    def reply(self) -> int | None:
        """The index of the reply that the step brought.

        Where a guard cut messages, older replies are at other places than before, and a reply that repeats an older
        one may be at its place: what was read from it tells it apart.
        """
        before, messages = self.before, self.state.messages
        last = next((i for i in reversed(range(len(messages))) if messages[i].role == "assistant"), None)
        if before is None or last is None or self._judged or self.decided:
            return None
        is_new = last >= self._kept and (self._kept == len(before.messages) or last == len(messages) - 1)
        read = [event for event in self.events if not is_result(event)]  # a task's result is of no reply here
        came = own_calls(self.state) > own_calls(before) or any(event.edited for event in read)
        return last if is_new or (came and any(event.message == last for event in read)) else None

    @cached_property
    def decided(self) -> bool:
        """Whether the step is what a person decided about a call that waited."""
        before, state = self.before, self.state
        if before is None or before.status is not Status.WAITING or before.usage != state.usage:
            return False
        own = any(isinstance(event, Decision) for event in state.events[len(before.events) :])
        return own or any(decisions_within(before, state))

    @cached_property
    def _kept(self) -> int:
        return common(self.before.messages, self.state.messages) if self.before else 0

    @cached_property
    def _judged(self) -> bool:
        """Whether the model was asked apart from the conversation."""
        return any(isinstance(event, Evaluation) for event in self.events)


def _differing(before: tuple, after: tuple) -> tuple[tuple[int, Any], ...]:
    """Give the items that are not the same at their place, or new, with their places."""
    return tuple((i, each) for i, each in enumerate(after) if i >= len(before) or each != before[i])


def common(a: tuple, b: tuple) -> int:
    """Give the length of what two tuples share at their start."""
    shorter = min(len(a), len(b))
    if a[:shorter] == b[:shorter]:  # most steps only add, and comparing tuples is far cheaper than walking them
        return shorter
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1] or pair[0] == pair[1], zip(a, b, strict=False)))
