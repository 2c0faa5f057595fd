"""A check before the answer: the model is asked, once a turn, whether what was observed supports it.

The idea: judging an answer against evidence is easier than giving it. Verification by the model itself is in Weng et
al. (2022, arXiv:2212.09561), the objection that goes back as text in Self-Refine (Madaan et al. 2023, arXiv:2303.17651)
and Reflexion (Shinn et al. 2023, arXiv:2303.11366). Huang et al. (2023, arXiv:2310.01798) found that models do not get
better by looking at their own reasoning alone; so the check is a request of its own, with the observations and without
the thoughts.
"""

from __future__ import annotations

from dataclasses import replace

from .agent import Agent
from .guards import NOTE, written
from .llm import LLMError
from .parsing import FINAL_ANSWER, THOUGHT, parse
from .parsing import Answer as ParsedAnswer
from .state import Answer, Evaluation, Message, Observation, Problem, State, Status, ToolCall
from .tools import Outcome, shorten

KIND, SUPPORTED, NOT_SUPPORTED, UNKNOWN = "self_check", "supported", "not supported", "unknown"

PROMPT = f"""\
Check an answer before it is given. It is supported when each of its claims follows from the observations, and when it
answers the question. Without observations it is supported only when the question needs none. Use nothing else that you
know.

Use exactly this format, with one of the two verdicts:

{THOUGHT}: what the observations say about each claim
{FINAL_ANSWER}: {SUPPORTED} or {NOT_SUPPORTED}

"""
OBJECTION = f"{NOTE} a check found that the observations do not support this answer."
GO_ON = "Look further, or give another answer."


class SelfCheck(Agent):
    """Any agent, with its answer checked in a step of its own; `llm` may be another model, as the judge.

    An answer is first a proposal: the state still runs. The next step judges it and adds an Evaluation. The answer is
    accepted, or the objection goes back as a message and the agent runs on; its next answer is not checked again. A
    check that fails, cannot be read, or would exceed `max_iterations` leaves the answer standing and adds a Problem.
    """

    def __init__(self, agent: Agent, llm=None) -> None:
        self.agent = agent
        self.llm = agent.llm if llm is None else llm
        self.max_iterations = agent.max_iterations

    def start(self, goal: str) -> State:
        return self.agent.start(goal)

    def say(self, state: State, text: str) -> State:
        return self.agent.say(state, text)

    def resume(self, state: State) -> State:
        return self.agent.resume(state)

    def approve(self, state: State, call_id: str | None = None) -> State:
        return self.agent.approve(state, call_id)

    def reject(self, state: State, call_id: str | None = None, reason: str = "") -> State:
        return self.agent.reject(state, call_id, reason)

    def edit(self, state: State, call_id: str | None = None, *, arguments: str | dict) -> State:
        return self.agent.edit(state, call_id, arguments=arguments)

    def observe(self, state: State, outcome: Outcome, *, edited: bool = False) -> State:
        return self.agent.observe(state, outcome, edited=edited)

    def fork(self, state: State, **changes: str | None) -> State:
        return _propose(self.agent.fork(state, **changes))

    def step(self, state: State) -> State:
        if state.status is not Status.RUNNING:
            return state
        if state.pending or not _is_proposed(state):
            return _propose(self.agent.step(state))
        try:
            return self._check(state)
        except KeyboardInterrupt:
            return replace(state, status=Status.INTERRUPTED, reason="interrupted")

    def _check(self, state: State) -> State:
        if state.iterations >= self.max_iterations:
            return _accept(state, "unchecked", f"no model call was left to check the answer, of {self.max_iterations}")
        asked = question(state)
        try:
            reply = self.llm.chat([Message("user", asked)])
        except LLMError as error:
            return _accept(state, error.reason, f"the answer could not be checked: {error}")
        verdict, why = read_verdict(reply.content)
        event = Evaluation(
            message=_answer(state).message, kind=KIND, verdict=verdict, text=why, asked=asked, raw=reply.content
        )
        usage = state.usage + reply.usage
        state = replace(state, events=(*state.events, event), iterations=state.iterations + 1, usage=usage)
        if verdict == NOT_SUPPORTED:
            return state.add(Message("user", " ".join(filter(None, [OBJECTION, why, GO_ON]))))
        return _accept(state, "no_verdict", why) if verdict == UNKNOWN else _accept(state)


def question(state: State) -> str:
    """Give what the judge is sent: the format, the goal, all that was observed, and the answer."""
    calls = {event.id: written(event) for event in state.events if isinstance(event, ToolCall)}
    seen = [event for event in state.events if isinstance(event, Observation)]
    lines = [f"{n}. {calls.get(event.call_id, 'tool')}: {shorten(event.text)}" for n, event in enumerate(seen, 1)]
    observed = "\n".join(lines) or "none"
    return f"{PROMPT}Question: {state.goal}\n\nObservations:\n{observed}\n\nAnswer: {_answer(state).text}"


def read_verdict(reply: str) -> tuple[str, str]:
    """Give the verdict of a reply and the reason for it; `unknown`, and why, when it holds none of the two."""
    found = parse(reply)
    said = found.text.strip(" .!*_`'\"").lower() if isinstance(found, ParsedAnswer) else ""
    if said == SUPPORTED or said.startswith(NOT_SUPPORTED):
        return (SUPPORTED if said == SUPPORTED else NOT_SUPPORTED), found.thought
    return UNKNOWN, f"the check gave no verdict: it must end with {FINAL_ANSWER}: {SUPPORTED} or {NOT_SUPPORTED}"


def _is_proposed(state: State) -> bool:
    """Say whether the last thing that the agent did in this turn was to answer, and no check came yet."""
    last = next((event for event in reversed(state.this_turn) if not isinstance(event, Problem)), None)
    checked = any(isinstance(event, Evaluation) and event.kind == KIND for event in state.this_turn)
    return isinstance(last, Answer) and not checked


def _propose(state: State) -> State:
    """Take an answer that was not checked yet as a proposal: the run goes on."""
    open_yet = state.status is Status.DONE and _is_proposed(state)
    return replace(state, status=Status.RUNNING, reason="") if open_yet else state


def _accept(state: State, problem: str = "", text: str = "") -> State:
    noted = [Problem(message=_answer(state).message, kind=problem, text=text)] if problem else []
    return replace(state, events=(*state.events, *noted), status=Status.DONE, reason="final_answer")


def _answer(state: State) -> Answer:
    return next(event for event in reversed(state.events) if isinstance(event, Answer))
