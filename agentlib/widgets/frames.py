"""From a list of states to what there is to see of each step. Reads states only; knows no strategy and no output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..state import Answer, Call, Decision, Evaluation, Event, Message, Observation, Problem, State, Status, ToolCall
from . import plans
from .calls import call_named, discarded, listing
from .changes import Change, common
from .titles import happened


@dataclass(frozen=True)
class Counter:
    """A number of the state, and by how much the step changed it."""

    name: str
    value: int
    change: int


@dataclass(frozen=True)
class Frame:
    """One step: the state after it, the state before it (None at the start), and the difference.

    `asked` counts the messages that the model was sent in this step (0 when it was not asked), and `known` those of
    them that it had been sent in its last request too. `added` are the messages that the step brought, with their
    indices in the state; `removed` counts those that it took away, and `replied` is the index of the model's reply.
    """

    number: int
    before: State | None
    state: State
    kind: str  # start, think, answer, check, act, wait, decide, turn, stop, step; of a plan: plan, replan, task
    asked: int
    known: int
    added: tuple[tuple[int, Message], ...]
    removed: int
    replied: int | None
    events: tuple[Event, ...]
    is_last: bool

    @property
    def edited(self) -> bool:
        """Whether a person wrote what this step brought."""
        return any(event.edited for event in self.events)

    @property
    def faulty(self) -> bool:
        """Whether this step brought a problem, or a tool's error. That a person rejects a call is neither."""
        failed = any(result.is_error for result in self.results) and not self.decision
        failed = failed or any(event.status == "failed" for event in self.events if plans.is_result(event))
        return failed or any(isinstance(event, Problem) for event in self.events)

    @property
    def counters(self) -> tuple[Counter, ...]:
        """The state's counters with their changes."""
        then = _counts(self.before) if self.before else dict.fromkeys(_counts(self.state), 0)
        return tuple(Counter(name, value, value - then[name]) for name, value in _counts(self.state).items())

    @property
    def status(self) -> str:
        """The status and its reason; where the step changed it, what it was before."""
        now = f"{self.state.status} ({self.state.reason})" if self.state.reason else str(self.state.status)
        changed = self.before is not None and self.before.status is not self.state.status
        return f"{self.before.status} → {now}" if changed else now

    @property
    def label(self) -> str:
        """A word or two for the mark of this step."""
        if self.kind == "act":
            return listing(call_named(self.state, each.call_id).name for each in self.results)
        if self.decision:
            return self.decision.verdict
        if self.kind == "task":
            return plans.label(self.before, self.state, self.events)
        return str(self.state.status) if self.kind in ("stop", "wait") else self.kind

    @property
    def title(self) -> str:
        """A short sentence: what happened."""
        if self.edited and self.before is not None and not self.decision:
            what = {"act": f"result of {self.label}", "task": f"result of task {self.label}"}.get(self.kind, "reply")
            return f"A person wrote this {what}."
        return happened(self)

    @property
    def ahead(self) -> str:
        """What the next step will do, or '' when there is none."""
        if self.waits:
            return "decide"
        if self.state.status is not Status.RUNNING:
            return ""
        if plans.is_planned(self.state):
            return plans.ahead(self.state)
        pending = self.state.pending
        alone = bool(pending) and pending[0] in self.state.approved  # a call that writes runs alone
        names = listing(call.name for call in (pending[:1] if alone else pending))
        return f"run {names}" if names else "ask the model"

    @property
    def waiting(self) -> tuple[ToolCall, ...]:
        """The calls that can be decided now: one, or one of each task that waits."""
        if self.state.status is not Status.WAITING:
            return ()
        return self.state.pending if plans.is_planned(self.state) else self.state.pending[:1]

    @property
    def waits(self) -> ToolCall | None:
        """The first call that waits for a person's decision."""
        return next(iter(self.waiting), None)

    @property
    def decision(self) -> Decision | None:
        """What a person decided in this step."""
        decisions = [event for event in self.events if isinstance(event, Decision)]
        return decisions[-1] if self.kind == "decide" else None

    @property
    def worked(self) -> tuple[plans.Moved, ...]:
        """The tasks of a plan whose agents did something in this step."""
        changed = plans.moved(self.before, self.state) if self.kind in ("task", "decide") else ()
        return tuple(each for each in changed if each.run.inner)

    @property
    def results(self) -> tuple[Observation, ...]:
        """The results of calls that this step brought."""
        return tuple(event for event in self.events if isinstance(event, Observation))

    @property
    def reply(self) -> tuple[int, str] | None:
        """The index of the message that holds the reply of this step, and the whole reply as it came."""
        index = self.replied
        if index is None:
            return None
        content = self.state.messages[index].content
        raws = (getattr(event, "raw", "") for event in self.events if event.message == index)
        return index, content if self.discarded else next(filter(None, raws), content)

    @property
    def discarded(self) -> tuple[Call, ...]:
        """The calls that the reply of this step held and its message does not."""
        return discarded(e for e in self.events if isinstance(e, Problem) and e.message == self.replied)

    @property
    def aside(self) -> Evaluation | None:
        """The judgement that a model gave in this step, when it was asked apart from the conversation."""
        return next((event for event in self.events if isinstance(event, Evaluation) and event.asked), None)


def frame(states: Sequence[State], number: int) -> Frame:
    """Give the frame of one step of a run."""
    state, before = states[number], states[number - 1] if number else None
    change = Change(before, state)
    sent = change.request
    earlier = (Change(states[i - 1], states[i]).request for i in range(number - 1, 0, -1)) if sent is not None else ()
    last = next((messages for messages in earlier if messages is not None), ())
    return Frame(
        number=number,
        before=before,
        state=state,
        kind=_kind(change),
        asked=len(sent or ()),
        known=common(last, sent or ()),
        added=change.messages,
        removed=change.removed,
        replied=change.reply,
        events=change.events,
        is_last=number == len(states) - 1,
    )


def split_reply(raw: str, accepted: str) -> tuple[str, str, str] | None:
    """Give what was discarded before, what was accepted, and what was discarded after; None when it is not that simple.

    White space at the ends counts as accepted: leaving it out changes nothing that a reader would miss.
    """
    start = raw.find(accepted)
    if start < 0:
        return None
    before, after = raw[:start], raw[start + len(accepted) :]
    head, tail = before if before.strip() else "", after if after.strip() else ""
    return head, raw[len(head) : len(raw) - len(tail)], tail


def _counts(state: State) -> dict[str, int]:
    usage = state.usage
    return {
        "iterations": state.iterations,
        "model calls": usage.calls,
        "prompt tokens": usage.prompt_tokens,
        "completion tokens": usage.completion_tokens,
        "messages": len(state.messages),
        "events": len(state.events),
        **({"tasks done": len(state.results), "replans": state.replans} if plans.is_planned(state) else {}),
    }


def _kind(change: Change) -> str:
    before, state, events = change.before, change.state, change.events
    if before is None:
        return "start"
    if change.decided:
        return "decide"
    if getattr(state, "asked", None) and state.status is Status.WAITING:  # a planner that is an agent
        return "wait"
    if plans.is_planned(before) and (kind := plans.kind(before, state, events, change.request is not None)):
        return kind
    if change.request is not None:
        return "answer" if any(isinstance(event, Answer) for event in events) else "think"
    if any(isinstance(event, Evaluation) for event in events):
        return "check"
    if any(isinstance(event, Observation) for event in events):
        return "act"
    if state.status is not before.status:
        return {Status.RUNNING: "turn", Status.WAITING: "wait"}.get(state.status, "stop")
    return "step"
