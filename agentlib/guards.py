"""Guards: functions from state to state that run before the model is asked.

    agent = ReAct(llm, tools, guards=[LoopGuard(), GoalReminder(every=4), ContextBudget(12_000)])

A guard remembers only through the state, so that a saved, forked or continued run is guarded as one that never paused.
What it has to say to the model is a user message that starts with `Note:`. Called on its own result, a guard changes
nothing; nor does it change a state that does not go to the model next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from .state import CUT, Event, Message, Observation, Problem, State, Status, ToolCall, Turn

NOTE = "Note:"
WARNING = "loop_warning"
SHOWN = 200  # characters of a call that a note repeats


# -- loops


@dataclass(frozen=True)
class LoopGuard:
    """Stops a run that repeats itself: the same calls, in the same order, `times` times running.

    A call is a tool with its arguments, in whatever order those are written; results do not count. One call repeated is
    a loop, and so are two or more that take turns. The first time the model is told what repeats (an event of the kind
    loop_warning); if its next reply only asks for those calls again, the run stops with the reason `loop`. Any other
    call, an edit by a person and a new turn start the count anew. Raises ValueError when `times` is below 2.

    Yao et al. (2022, arXiv:2210.03629) name such loops as an error that ReAct agents often make.
    """

    times: int = 3

    def __post_init__(self) -> None:
        if self.times < 2:
            raise ValueError(f"times is {self.times}; a call that was made once is no loop")

    def __call__(self, state: State) -> State:
        if not _goes_to_the_model(state):
            return state
        before, warned, replies = _since_warning(state)
        if warned and replies:
            repeated = _repeated([call for reply in before for call in reply], self.times)
            if set(map(_key, replies[0])) <= set(map(_key, repeated)):
                return state.stop("loop", f"asked again, after a warning, for {_listed(replies[0])}")
        cycle = _repeated([call for reply in replies for call in reply], self.times)
        return _warn(state, cycle, self.times) if cycle else state


def _warn(state: State, cycle: list[ToolCall], times: int) -> State:
    one = len(cycle) == 1
    what = f"{_listed(cycle)} {times} times in a row" if one else f"these {times} times in a row: {_listed(cycle)}"
    note = f"{NOTE} you have called {what}. Do something else, or give the final answer with what you know."
    event = Problem(message=len(state.messages), kind=WARNING, text=f"called {what}")
    return state.add(Message("user", note), event)


def _since_warning(state: State) -> tuple[list[list[ToolCall]], bool, list[list[ToolCall]]]:
    """Give the calls that count, reply by reply: those before the last warning, whether there was one, those after."""
    before, warned, replies = [], False, []
    events = [event for event in state.this_turn if _kind(event)]
    for kind, group in groupby(events, _kind):
        if kind == "edited":
            before, warned, replies = [], False, []
        elif kind == WARNING:
            before, warned, replies = replies, True, []
        elif kind == "call":
            replies = [*replies, sorted(group, key=_key)]  # the calls of one reply have no order among them
    return before, warned, replies


def _kind(event: Event) -> str:
    """Say what an event is to the count, or '' when it is nothing. Results stand between one reply's calls and the
    next one's."""
    if event.edited:
        return "edited"
    if isinstance(event, ToolCall):
        return "call"
    if isinstance(event, Observation):
        return "result"
    return WARNING if isinstance(event, Problem) and event.kind == WARNING else ""


def _repeated(calls: list[ToolCall], times: int) -> list[ToolCall]:
    """Give the shortest cycle with which `calls` end `times` times over, or []."""
    keys = [_key(call) for call in calls]
    for length in range(1, len(keys) // times + 1):
        if keys[-length * times :] == keys[-length:] * times:
            return calls[-length:]
    return []


def _key(call: ToolCall) -> tuple[str, str]:
    """Give what makes two calls the same: the tool, and its arguments as JSON with sorted keys."""
    try:
        return call.name, json.dumps(json.loads(call.arguments, parse_float=_number), sort_keys=True)
    except (ValueError, RecursionError):  # a model may send anything
        return call.name, call.arguments


def _number(text: str) -> float | int:
    number = float(text)
    return int(number) if number.is_integer() else number  # 1.0 is the number 1, in JSON too


def written(call: ToolCall) -> str:
    """Give a call in one line, such as `search(query="x")`."""
    try:
        return str(call).partition(" ")[2]
    except (ValueError, AttributeError, RecursionError):  # arguments that are no JSON object
        return f"{call.name}({call.arguments})"


def _listed(calls: Iterable[ToolCall]) -> str:
    texts = map(written, calls)
    return ", ".join(text if len(text) <= SHOWN else f"{text[:SHOWN]}…" for text in texts)


# -- the goal


@dataclass(frozen=True)
class GoalReminder:
    """Repeats the goal after every so many model calls of a turn, as the last thing that the model reads.

    In a long history the goal moves towards the middle, which models use worst (Liu et al. 2023, arXiv:2307.03172).
    Raises ValueError when `every` is below 1.
    """

    every: int = 5

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError(f"every is {self.every}; it must be 1 or more")

    def __call__(self, state: State) -> State:
        if not _goes_to_the_model(state) or not state.iterations or state.iterations % self.every:
            return state
        note = Message("user", f"{NOTE} the goal is still this: {state.goal}")
        replies = (i for i, message in enumerate(state.messages) if message.role == "assistant")
        return state if note in state.messages[max(replies, default=0) :] else state.add(note)


# -- the context


@dataclass(frozen=True)
class ContextBudget:
    """Cuts the oldest messages, so that what is sent stays within `limit` characters.

    `count` gives the size of a text: pass a tokenizer's count to give the limit in tokens. A reply and all that answers
    it are cut together, since an API refuses a tool's result without its call. The instructions, the first goal, the
    question of this turn and the turn's last reply with its results always stay, even when they are too large: then the
    API says so, and the run stops for that reason. Events stay too; the `message` of those that lost theirs is CUT.
    Raises ValueError when `limit` is below 1.
    """

    limit: int
    count: Callable[[str], int] = len

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit is {self.limit}; it must be 1 or more")

    def __call__(self, state: State) -> State:
        if not _goes_to_the_model(state):
            return state
        sizes = [self.count(_sent(message)) for message in state.messages]
        kept, turns = set(range(len(sizes))), [e.message for e in state.events if isinstance(e, Turn)]
        for unit in _units(state.messages, turns):
            if sum(sizes[i] for i in kept) <= self.limit:
                break
            kept -= set(unit) - set(turns[-1:])
        return _keep(state, sorted(kept), self.limit)


def _units(messages: tuple[Message, ...], turns: list[int]) -> Iterator[range]:
    """Yield what can be cut, oldest first: each reply with its results, and with the turn that it begins."""
    first_goal = next((i for i, message in enumerate(messages) if message.role == "user"), len(messages))
    starts = [
        i
        for i, message in enumerate(messages)
        if i > first_goal and (i in turns or (message.role == "assistant" and i - 1 not in turns))
    ]
    return map(range, starts, starts[1:])


def _keep(state: State, kept: list[int], limit: int) -> State:
    cut = len(state.messages) - len(kept)
    if not cut:
        return state
    moved = dict(zip(kept, range(len(kept)), strict=True))
    events = [replace(event, message=moved.get(event.message, CUT)) for event in state.events]
    text = f"cut {cut} of {len(state.messages)} messages, the oldest that could be; the budget is {limit}"
    problem = Problem(message=CUT, kind="context_cut", text=text)
    return replace(state, messages=tuple(state.messages[i] for i in kept), events=(*events, problem))


def _sent(message: Message) -> str:
    """Give the text of a message that costs: its content, and what else it carries, such as calls."""
    wire = message.to_wire()
    extras = {key: value for key, value in wire.items() if key not in ("role", "content")}
    return (wire["content"] or "") + (json.dumps(extras, ensure_ascii=False) if extras else "")


def _goes_to_the_model(state: State) -> bool:
    return state.status is Status.RUNNING and not state.pending
