"""Plan-and-Execute: a planner breaks the goal into tasks, an executor does them, and the results make the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import replace
from itertools import takewhile
from typing import Any

from ..agent import Agent, Guard
from ..function_calling import FunctionCalling
from ..llm import LLMError, Reply
from ..parsing.labels import without_thinking
from ..state import APPROVAL, Answer, Message, Problem, State, Status
from ..tools import Outcome
from . import forking, prompts
from .asking import PLANNER, REPLANNER, SYNTHESIZER, ask, is_model, role_of, tools_within
from .deciding import Decide, decided
from .plan import Plan, PlanError, Task
from .reading import EXAMPLE, read_plan
from .revising import failed_before, revised
from .runs import Runs, TaskStatus
from .scheduling import Clock, Team, first_ready, interrupted, run_one, run_ready
from .state import NewPlan, PlanState
from .work import Evaluator


class PlanExecute(Agent):
    """An agent that plans first. `planner`, `replanner` and `synthesizer` are models or agents (the last two are the
    planner when they are not given); `executor` is an agent that does one task, or a model.

    `evaluator(task, result)` says what is wrong with a result, or gives None; a result that does not fit has failed. At
    most `max_replans` times in a turn the rest of the plan is revised. At most `max_parallel` tasks run at once, in
    threads or in `pool`, any executor of concurrent.futures. `clock` gives the seconds that are noted of each task;
    without one, those of a pool that has a clock, such as SimulatedExecutor, else none. `max_iterations` limits the
    model calls of a turn that are not the executor's, `max_format_errors` the useless replies in a row.

    Planning first is Plan-and-Solve (Wang et al. 2023, arXiv:2305.04091), references to results are ReWOO's (Xu et al.
    2023, arXiv:2305.18323), and tasks side by side LLMCompiler's (Kim et al. 2023, arXiv:2312.04511).
    """

    def __init__(
        self,
        planner: Any,
        executor: Any,
        *,
        replanner: Any = None,
        synthesizer: Any = None,
        evaluator: Evaluator | None = None,
        max_replans: int = 2,
        max_parallel: int = 4,
        max_iterations: int = 30,
        max_format_errors: int = 3,
        guards: Iterable[Guard] = (),
        pool: Executor | None = None,
        clock: Clock | None = None,
    ) -> None:
        if max_parallel < 1:
            raise ValueError(f"max_parallel is {max_parallel}; at least one task must run at a time")
        self.planner = planner
        self.executor = FunctionCalling(executor, instructions=prompts.EXECUTOR) if is_model(executor) else executor
        self.replanner = planner if replanner is None else replanner
        self.synthesizer = planner if synthesizer is None else synthesizer
        self.evaluator, self.max_replans, self.pool, self.clock = evaluator, max_replans, pool, clock
        limits = {"max_iterations": max_iterations, "max_format_errors": max_format_errors}
        limits |= {"max_parallel": max_parallel, "guards": guards}
        super().__init__(getattr(planner, "llm", planner), tools_within(self.executor), **limits)

    # -- the loop

    def start(self, goal: str) -> PlanState:
        return PlanState(goal, self.opening(goal))

    def step(self, state: PlanState) -> PlanState:
        """Give the next state: a plan made or revised, one ready task run to its end, or the answer given."""
        if state.status is not Status.RUNNING:
            return state
        try:
            state = state.settled()
            place = first_ready(state)
            return self._plan_on(state) if place is None else run_one(state, self._team(self.pool), place)
        except KeyboardInterrupt:
            return interrupted(state)

    def steps(self, start: str | PlanState, *, pool: Executor | None = None) -> Iterator[PlanState]:
        """Yield every state from the first to the last: each task that ends gives one, in the order in which they end.

        A task starts the moment its dependencies are done. A caller who stops reading lets go of the tasks under way:
        each of them ends after its next step, and is done again when the last state is taken up.
        """
        state = start if isinstance(start, State) else self.start(start)
        yield state
        state = state.settled()  # whoever ran its tasks does so no more
        while state.status is Status.RUNNING:
            if first_ready(state) is None:
                yield (state := self.step(state))
            else:
                for after in run_ready(state, self._team(pool or self.pool)):
                    yield (state := after)

    def think(self, state: PlanState) -> PlanState:
        """Ask for a plan, for a revised one, or for the answer, and read the reply."""
        role = role_of(state)
        state, reply = ask(state, role, self._who(role))
        if reply is None:
            return state
        if isinstance(reply, Exception):
            return self._unanswered(state, role, reply)
        if reply.finish_reason == "content_filter":
            return state.stop("content_filter", "the provider's filter withheld the reply; reword the goal")
        return self._read_answer(state, reply) if role == SYNTHESIZER else self.read(state, reply)

    # -- what a person does

    def say(self, state: PlanState, text: str) -> PlanState:
        """Continue a conversation: the new turn gets a plan of its own."""
        return replace(super().say(state, text), plan=None, runs=Runs(), asked=None, replans=0, dropped=())

    def resume(self, state: PlanState) -> PlanState:
        """Give the running state of a stopped or interrupted one: what is done stays done; the replans count anew."""
        return replace(super().resume(state), replans=0)

    def fork(
        self,
        state: PlanState,
        *,
        plan: str | Plan | Iterable[Task] | None = None,
        task: str | None = None,
        result: str | None = None,
        **other: str,
    ) -> PlanState:
        """Give a state with another last plan, or with another result of a task, that runs on from there.

        What came of the old plan, or was built on the old result, is dropped and done again; the rest stays, and so
        does `state` itself. A state that has no plan yet may be given its first. Raises ValueError where there is
        nothing to change, and for a plan that cannot be carried out.
        """
        if other or (plan is None) == (task is None) or (task is None) != (result is None):
            raise ValueError("a run with a plan is forked at its plan (plan=…) or at a task (task=…, result=…)")
        if plan is None:
            return forking.with_result(state, task, result)
        return self._take_up(forking.before_plan(state), Reply(forking.written(plan)), edited=True)

    def approve(self, state: PlanState, call_id: str | None = None) -> PlanState:
        return self._decided(state, call_id, lambda agent, inner, call: agent.approve(inner, call))

    def reject(self, state: PlanState, call_id: str | None = None, reason: str = "") -> PlanState:
        return self._decided(state, call_id, lambda agent, inner, call: agent.reject(inner, call, reason))

    def edit(self, state: PlanState, call_id: str | None = None, *, arguments: str | dict) -> PlanState:
        return self._decided(state, call_id, lambda agent, inner, call: agent.edit(inner, call, arguments=arguments))

    # -- what the strategy says

    def opening(self, goal: str) -> tuple[Message, ...]:
        system = prompts.planner_prompt(self.toolbox.describe(), judged=self.evaluator is not None)
        return Message("system", system), self.turn(goal)

    def turn(self, text: str) -> Message:
        return Message("user", prompts.GOAL.format(goal=text))

    def read(self, state: PlanState, reply: Reply, *, edited: bool = False) -> PlanState:
        """Take up the plan in a reply. One that cannot be carried out goes back, and so does one that failed before."""
        try:
            new = self._take_up(state, reply, edited=edited)
        except PlanError as error:
            return self._send_back(state, reply, str(error), prompts.BAD_PLAN.format(why=error, example=EXAMPLE))
        if state.plan is None:
            return new
        if failed_before(state, new.plan):
            text = "it leaves to do what an earlier plan left to do, and that failed"
            problem = Problem(message=len(state.messages), kind="same_plan", text=text, raw=reply.content)
            new = state.add(_accepted(reply), problem).add(Message("user", prompts.SAME_PLAN))
        return replace(new, replans=state.replans + 1)

    def observe(self, state: PlanState, outcome: Outcome, *, edited: bool = False) -> PlanState:
        """Add the result of the first pending call, in the state of the agent that asked for it."""
        on, call_id = {"status": Status.RUNNING, "reason": ""}, state.pending[0].id
        result = {"outcome": outcome, "edited": edited}
        return self._decided(state, call_id, lambda agent, inner, _: agent.observe(replace(inner, **on), **result))

    # -- its parts

    def _who(self, role: str) -> Any:
        return {PLANNER: self.planner, REPLANNER: self.replanner, SYNTHESIZER: self.synthesizer}[role]

    def _team(self, pool: Executor | None) -> Team:
        return Team(self.executor, self.evaluator, self.max_parallel, pool, self.clock)

    def _plan_on(self, state: PlanState) -> PlanState:
        """Give the next state where no task can run: wait for a person, give up, or ask for what comes next."""
        if state.ids(TaskStatus.WAITING):
            return replace(state, status=Status.WAITING, reason=APPROVAL)
        role = role_of(state)
        if role == REPLANNER and state.replans >= self.max_replans:
            return state.stop("max_replans", f"{state.achieved}; no replan is left, of {self.max_replans}")
        if state.messages[-1].role != "user" and state.asked is None:  # else what they end with is still to be answered
            prompt = prompts.replan_prompt(state) if role == REPLANNER else prompts.synthesis_prompt(state)
            state = replace(state, messages=(*state.messages, Message("user", prompt)))
        return self._think_within_limits(state)

    def _take_up(self, state: PlanState, reply: Reply, *, edited: bool) -> PlanState:
        """Give the state with the plan in a reply. Raises PlanError."""
        draft = read_plan(reply.content, cut_off=reply.finish_reason == "length")
        new = revised(state, draft.tasks)
        origin = {"message": len(state.messages), "raw": reply.content, "edited": edited}
        notes = {"repaired_plan": draft.repairs, "kept_result": new.notes, "unresolved_reference": new.unresolved}
        problems = [Problem(kind=kind, text="; ".join(texts), **origin) for kind, texts in notes.items() if texts]
        event = NewPlan(plan=new.plan, kept=new.kept, **origin)
        return state.add(_accepted(reply), event, *problems, **new.changes(state))

    def _read_answer(self, state: PlanState, reply: Reply) -> PlanState:
        message = _accepted(reply)
        if not message.content:
            return self._send_back(state, reply, "your reply was empty", prompts.EMPTY_ANSWER)
        origin = {"message": len(state.messages), "raw": reply.content}
        answer = Answer(text=message.content, **origin)
        cut = Problem(kind="cut_off", text="the answer was cut off at the token limit", **origin)
        notes = [cut] if reply.finish_reason == "length" else []
        return state.add(message, answer, *notes, status=Status.DONE, reason="final_answer")

    def _send_back(self, state: PlanState, reply: Reply, why: str, hint: str) -> PlanState:
        """Tell the model what is wrong with its reply; stop after so many in a row."""
        kind = "bad_plan" if _accepted(reply).content else "empty_reply"
        problem = Problem(message=len(state.messages), kind=kind, text=why, raw=reply.content)
        state = state.add(Message("assistant", reply.content), problem).add(Message("user", hint))
        in_a_row = takewhile(lambda e: isinstance(e, Problem) and e.kind in _USELESS, reversed(state.this_turn))
        if sum(1 for _ in in_a_row) >= self.max_format_errors:
            return replace(state, status=Status.STOPPED, reason=kind)
        return state

    def _unanswered(self, state: PlanState, role: str, error: Exception) -> PlanState:
        """Go on without a reply: a replanner that raises has used up one of its replans, the others end the run."""
        known = isinstance(error, LLMError)
        kind, text = (error.reason, str(error)) if known else (f"{role}_error", f"{type(error).__name__}: {error}")
        if role != REPLANNER:
            return state.stop(kind, text)
        noted = (*state.events, Problem(message=len(state.messages) - 1, kind=kind, text=text))
        return replace(state, events=noted, replans=state.replans + 1)

    def _decided(self, state: PlanState, call_id: str | None, decide: Decide) -> PlanState:
        return decided(state, call_id, self._who(role_of(state)), self.executor, decide)


_USELESS = ("bad_plan", "empty_reply")


def _accepted(reply: Reply) -> Message:
    return Message("assistant", without_thinking(reply.content).strip())
