"""The agent: a function from state to state, and the one loop that calls it.

A strategy (ReAct, function calling, …) says how to open, think and act; all that is common stands here. Nothing that a
run needs lives in the agent: it holds settings, and the state holds the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from .llm import LLMError
from .state import Message, Observation, State, Status, Turn
from .tools import Tool, Toolbox

Guard = Callable[[State], State]


class Agent:
    """Settings of an agent. `max_iterations` limits the model calls of one user turn, `max_format_errors` how many
    unreadable replies in a row are sent back. Guards run before the model is asked; each is a function of the state.
    """

    def __init__(
        self,
        llm,
        tools: Iterable[Tool | Callable] = (),
        *,
        max_iterations: int = 10,
        max_format_errors: int = 3,
        guards: Iterable[Guard] = (),
    ) -> None:
        self.llm = llm
        self.toolbox = Toolbox(tools)
        self.max_iterations = max_iterations
        self.max_format_errors = max_format_errors
        self.guards = tuple(guards)

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
            return self._interrupt(state)

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
        turn = max((i for i, message in enumerate(state.messages) if message == self.turn(state.goal)), default=-1)
        if observation is not None and thought is None and action is None:
            event = next((e for e in reversed(state.events) if isinstance(e, Observation) and e.message > turn), None)
            if event is None:
                raise ValueError("this state holds no observation to change; fork a later one")
            call = next(e for e in reversed(state.events) if getattr(e, "id", None) == event.call_id)
            return self.observe(replace(_before(state, event.message), pending=(call,)), observation, edited=True)
        if observation is not None or (thought is None and action is None):
            raise ValueError("fork takes an observation, or a thought, an action or both")
        index = max((i for i, message in enumerate(state.messages) if message.role == "assistant"), default=-1)
        if index <= turn:
            raise ValueError("this state holds no reply of the model to change; fork a later one")
        return self.read(_before(state, index), self.rewrite(state, index, thought, action), edited=True)

    # -- what a strategy says

    def opening(self, goal: str) -> tuple[Message, ...]:
        """Give the first messages: the instructions and the goal."""
        raise NotImplementedError

    def turn(self, text: str) -> Message:
        """Give the message of a new user turn."""
        raise NotImplementedError

    def think(self, state: State) -> State:
        """Ask the model once and read its reply. May raise LLMError."""
        raise NotImplementedError

    def act(self, state: State) -> State:
        """Carry out what is pending."""
        raise NotImplementedError

    def read(self, state: State, reply: str, *, edited: bool = False) -> State:
        """Add a reply of the model: its message, the events read from it, and what is pending now."""
        raise NotImplementedError

    def observe(self, state: State, text: str, *, is_error: bool = False, edited: bool = False) -> State:
        """Add the result of the first pending call."""
        raise NotImplementedError

    def rewrite(self, state: State, index: int, thought: str | None, action: str | None) -> str:
        """Give the reply at `index` with another thought or action, as the model would have written it."""
        raise NotImplementedError

    # -- limits and interrupts

    def _think_within_limits(self, state: State) -> State:
        for guard in self.guards:
            state = guard(state)
            if state.status is not Status.RUNNING:
                return state
        if state.iterations >= self.max_iterations:
            return state.stop("max_iterations", f"no answer after {self.max_iterations} model calls")
        try:
            return self.think(state)
        except LLMError as error:
            return state.stop(error.reason, str(error))

    def _interrupt(self, state: State) -> State:
        while state.pending:
            state = self.observe(state, "Error: interrupted before a result came", is_error=True)
        return replace(state, status=Status.INTERRUPTED, reason="interrupted")


def _before(state: State, index: int) -> State:
    """Give the running state as it was before message `index` was added; what was spent stays spent."""
    return replace(
        state,
        messages=state.messages[:index],
        events=tuple(event for event in state.events if event.message < index),
        pending=(),
        status=Status.RUNNING,
        reason="",
    )
