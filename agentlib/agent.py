"""The agent: a function from state to state, and the one loop that calls it.

A strategy (ReAct, function calling, …) says how to open, think and act; all that is common stands here. Nothing that a
run needs lives in the agent: it holds settings, and the state holds the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from . import approval, forking
from .llm import LLMError, Reply
from .state import APPROVAL, Answer, Message, Observation, Problem, State, Status, ToolCall, Turn
from .tools import CANCELLED, INTERRUPTED, NOT_EXECUTED, Outcome, Tool, Toolbox

Guard = Callable[[State], State]

UNREADABLE = ("format_error", "empty_reply", "cut_off_calls", "call_in_text")


class Agent:
    """Settings of an agent. `max_iterations` limits the model calls of one user turn, `max_format_errors` how many
    unreadable replies in a row are sent back, `max_parallel` how many calls of one reply run at once. Guards run before
    the model is asked; each is a function of the state. Raises TypeError or ValueError for a setting that is none.
    """

    def __init__(
        self,
        llm,
        tools: Iterable[Tool | Callable] = (),
        *,
        max_iterations: int = 10,
        max_format_errors: int = 3,
        max_parallel: int = 8,
        guards: Iterable[Guard] = (),
    ) -> None:
        self.llm = _model(llm)
        self.toolbox = Toolbox(tools)
        self.max_iterations = _count(max_iterations, "max_iterations", least=0)
        self.max_format_errors = _count(max_format_errors, "max_format_errors")
        self.max_parallel = _count(max_parallel, "max_parallel")
        self.guards = _functions(guards)

    # -- the loop

    def start(self, goal: str) -> State:
        """Give the first state of a run: nothing asked yet."""
        return State(goal, self.opening(goal))

    def step(self, state: State) -> State:
        """Give the next state: the model asked once, or its pending calls carried out. A finished state is its own."""
        if state.status is not Status.RUNNING:
            return state
        try:
            return self.act(state) if state.pending else self._think_within_limits(state)
        except KeyboardInterrupt:
            return self._interrupt(state, self.toolbox.stage(state.pending))

    def steps(self, start: str | State) -> Iterator[State]:
        """Yield every state from the first to the last. `start` is a goal, or a state to go on from."""
        state = start if isinstance(start, State) else self.start(start)
        yield state
        while state.status is Status.RUNNING:
            state = self.step(state)
            yield state

    def run(self, start: str | State) -> State:
        """Give the last state of `steps`."""
        (last,) = deque(self.steps(start), maxlen=1)
        return last

    def think(self, state: State) -> State:
        """Ask the model once and read its reply. May raise LLMError."""
        reply = self.ask(state)
        state = replace(state, iterations=state.iterations + 1, usage=state.usage + reply.usage)
        if reply.finish_reason == "content_filter":
            return state.stop("content_filter", "the provider's filter withheld the reply; reword the question")
        return self.read(state, reply)

    def act(self, state: State) -> State:
        """Carry out the pending calls up to the first that writes. That one waits for approval, and runs alone."""
        calls = self.toolbox.stage(state.pending)
        alone = len(forking.calls_beside(state, calls[0].id)) == 1
        writes = self.toolbox.writes(calls[0])
        refused = self.toolbox.refused(calls[0], alone) if writes else None
        if writes and not refused and calls[0] not in state.approved:
            return replace(state, status=Status.WAITING, reason=APPROVAL)
        outcomes = [refused] if refused else self.toolbox.run_all(calls, self.max_parallel, alone)
        for outcome in outcomes:
            state = self.observe(state, outcome)
        interrupted = any(outcome.kind in INTERRUPTED for outcome in outcomes)
        return self._interrupt(state) if interrupted else state

    # -- what a person does

    def say(self, state: State, text: str) -> State:
        """Continue a conversation: a finished state and a new user turn give a state that runs."""
        if state.status in (Status.RUNNING, Status.WAITING):
            raise ValueError(f"this state is {state.status}; only a finished one takes a new turn")
        turn = Turn(message=len(state.messages), text=text)
        return state.add(self.turn(text), turn, goal=text, status=Status.RUNNING, reason="", iterations=0)

    def resume(self, state: State) -> State:
        """Give the running state of a stopped or interrupted one: nothing is dropped, and the iterations count anew."""
        if state.status not in (Status.STOPPED, Status.INTERRUPTED):
            raise ValueError(f"this state is {state.status}; only a stopped or interrupted one can be resumed")
        return replace(state, status=Status.RUNNING, reason="", iterations=0)

    def fork(
        self, state: State, *, thought: str | None = None, action: str | None = None, observation: str | None = None
    ) -> State:
        """Give a state that differs from `state` in what it last thought, did or observed, and runs on from there.

        What came after the edited message is dropped; what stands before it, and `state` itself, stays. A thought
        and an action belong to one reply, so both may be given.
        """
        for text in (thought, action, observation):
            if not isinstance(text, str | None):
                raise ValueError(f"a fork takes texts, not {text!r}")
        if observation is not None and thought is None and action is None:
            return forking.fork_observation(self, state, observation)
        if observation is not None or (thought is None and action is None):
            raise ValueError("fork takes an observation, or a thought, an action or both")
        return forking.fork_reply(self, state, thought, action)

    def approve(self, state: State, call_id: str | None = None) -> State:
        """Let the waiting call run, as it stands. Once it is decided, a second word on it changes nothing."""
        return approval.approve(state, call_id)

    def reject(self, state: State, call_id: str | None = None, reason: str = "") -> State:
        """Answer the waiting call with a refusal, so that the model can do something else."""
        return approval.reject(self, state, call_id, reason)

    def edit(self, state: State, call_id: str | None = None, *, arguments: str | dict) -> State:
        """Give the waiting call other arguments; it waits again. Raises ValueError when they do not fit the tool."""
        return approval.edit(self, state, call_id, arguments)

    # -- what a strategy says

    def opening(self, goal: str) -> tuple[Message, ...]:
        """Give the first messages: the instructions and the goal."""
        raise NotImplementedError

    def turn(self, text: str) -> Message:
        """Give the message of a new user turn."""
        raise NotImplementedError

    def ask(self, state: State) -> Reply:
        """Send the messages to the model. May raise LLMError."""
        raise NotImplementedError

    def read(self, state: State, reply: Reply, *, edited: bool = False) -> State:
        """Add a reply of the model: its message, the events read from it, and what is pending now."""
        raise NotImplementedError

    def result(self, call: ToolCall, text: str) -> Message:
        """Give the message that answers a call."""
        raise NotImplementedError

    def rewrite(self, state: State, index: int, thought: str | None, action: str | None) -> Reply:
        """Give the reply at `index` with another thought or action, as the model would have written it."""
        raise NotImplementedError

    def with_call(self, state: State, call: ToolCall, other: ToolCall) -> Message:
        """Give the message that asked for `call`, asking for `other` instead."""
        raise NotImplementedError

    # -- what strategies share

    def observe(self, state: State, outcome: Outcome, *, edited: bool = False) -> State:
        """Add the result of the first pending call."""
        call, *rest = state.pending
        at = {"message": len(state.messages)}
        event = Observation(call_id=call.id, text=outcome.text, kind=outcome.kind, edited=edited, **at)
        repairs = [Problem(kind="repaired_arguments", text="; ".join(outcome.repairs), **at)] if outcome.repairs else []
        approved = [each for each in state.approved if each != call]
        state = state.add(self.result(call, outcome.text), event, *repairs, pending=rest, approved=approved)
        if outcome.is_error or call.name not in self.toolbox.tools or not self.toolbox.tools[call.name].final:
            return state
        answer = Answer(text=outcome.text, raw=outcome.text, edited=edited, **at)
        return replace(state, events=(*state.events, answer), status=Status.DONE, reason="final_answer")

    def send_back(self, state: State, reply: Message, problem: Problem, hint: str) -> State:
        """Add a reply that could not be read, and tell the model; stop after so many in a row."""
        state = state.add(reply, problem).add(Message("user", hint))
        since_read = takewhile(lambda event: not isinstance(event, ToolCall | Answer), reversed(state.this_turn))
        in_a_row = sum(isinstance(event, Problem) and event.kind in UNREADABLE for event in since_read)
        in_a_row = min(in_a_row, state.iterations)  # a run that was resumed counts anew
        if in_a_row >= self.max_format_errors:
            return replace(state, status=Status.STOPPED, reason=problem.kind)
        return state

    # -- limits and interrupts

    def _think_within_limits(self, state: State) -> State:
        for guard in self.guards:
            state = guard(state)
            if not isinstance(state, State):
                raise TypeError(f"the guard {guard!r} gave {state!r}; a guard gives a state")
            if state.status is not Status.RUNNING:
                return state
        if state.iterations >= self.max_iterations:
            return state.stop("max_iterations", f"no answer after {self.max_iterations} model calls")
        try:
            return self.think(state)
        except LLMError as error:
            return state.stop(error.reason, str(error))

    def _interrupt(self, state: State, started: Sequence[ToolCall] = ()) -> State:
        """Answer every pending call; of those that may have `started` nobody knows how far they came."""
        for call in state.pending:
            state = self.observe(state, CANCELLED if call in started else NOT_EXECUTED)
        return replace(state, status=Status.INTERRUPTED, reason="interrupted")


# -- settings that are none


def _model(llm: Any) -> Any:
    if not callable(getattr(llm, "chat", None)):
        raise TypeError(f"an agent needs a model, such as LLM(), and {llm!r} cannot chat")
    return llm


def _count(number: int, name: str, least: int = 1) -> int:
    if type(number) is not int or number < least:
        raise ValueError(f"{name} is {number!r}; it is a whole number from {least}")
    return number


def _functions(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    if not isinstance(guards, Iterable) or not all(map(callable, guards := tuple(guards))):
        raise TypeError(f"guards are given as a list of functions, such as [LoopGuard()]; this is {guards!r}")
    return guards
