"""Plan-and-Execute: what each role is told, what runs when, and what is left when something fails, waits or breaks."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlib import (
    Answer,
    Call,
    FunctionCalling,
    LLMError,
    NewPlan,
    Plan,
    PlanError,
    PlanExecute,
    PlanState,
    Problem,
    ReAct,
    Reply,
    ScriptedLLM,
    SelfCheck,
    SimulatedExecutor,
    State,
    Status,
    Task,
    TaskResult,
    TaskStatus,
    Turn,
    Usage,
    tool,
)
from agentlib.approval import attended, reject_all
from agentlib.guards import ContextBudget, GoalReminder

ROOT = Path(__file__).parents[1]
TODO, RUNNING, WAITING, DONE, FAILED = TaskStatus


@dataclass
class Worker:
    """A model that does what the first line of its task says, and remembers what it was sent.

    "fail: why" fails, "say: x" answers x, "sign: x" answers with references to x, "pay: x" calls the tool pay first;
    anything else is answered in brackets.
    """

    asked: list[list] = field(default_factory=list)
    model = "worker"

    def chat(self, messages, *, tools=(), stop=()) -> Reply:
        self.asked.append(list(messages))
        line = next(message.content for message in messages if message.role == "user").splitlines()[0]
        what, _, rest = line.partition(": ")
        if what == "fail":
            raise LLMError("unreachable", rest)
        if what == "crash":
            raise RuntimeError(rest)
        if what == "interrupt":
            raise KeyboardInterrupt
        last = messages[-1]
        if what == "pay" and last.role != "tool":
            return Reply("", "tool_calls", Usage(1, 20, 7), (Call("c", "pay", json.dumps({"what": rest})),))
        texts = {"say": rest, "sign": f"${rest} ${{{rest}}}"}
        text = last.content if last.role == "tool" else texts.get(what, f"[{line}]")
        return Reply(text, usage=Usage(1, 10, 5))

    @property
    def tasks(self) -> list[str]:
        """The first lines of the tasks, in the order in which they were begun."""
        first = (messages[1].content.splitlines()[0] for messages in self.asked)
        return list(dict.fromkeys(first))


PAID: list[str] = []


@tool(writes=True)
def pay(what: str) -> str:
    """Pay for something."""
    PAID.append(what)
    return f"paid {what}"


@pytest.fixture(autouse=True)
def nothing_is_paid():
    PAID.clear()


def plan(**tasks: str) -> str:
    """Write a plan: a="say: x", b="say: y | after a"."""
    parts = {name: text.partition(" | after ")[::2] for name, text in tasks.items()}
    made = [{"id": name, "instruction": said, "depends_on": after.split()} for name, (said, after) in parts.items()]
    return json.dumps({"tasks": made})


def agent(*replies: str | Reply | Exception, tools=(pay,), worker: Worker | None = None, **settings) -> PlanExecute:
    """Give an agent with a scripted planner, whose tasks are done by a Worker, and in a fixed order."""
    pool = settings.pop("pool", SimulatedExecutor())
    executor = settings.pop("executor", None) or FunctionCalling(worker or Worker(), tools)
    return PlanExecute(ScriptedLLM(replies), executor, pool=pool, **settings)


def statuses(state: PlanState) -> dict[str, TaskStatus]:
    return {task.id: run.status for task, run in state.tasks}


def kinds(state: State) -> list[str]:
    """Give the kinds of a state's events: the class, what kind of problem, or which task."""
    names = {Problem: "kind", TaskResult: "task"}
    return [getattr(event, names.get(type(event), ""), type(event).__name__) for event in state.events]


def ended(state: PlanState) -> list[str]:
    """Give the tasks that ended, in the order in which they did."""
    return [event.task for event in state.events if isinstance(event, TaskResult)]


TWO_AND_ONE = plan(a="say: 1", b="say: 2", c="say: ${a} and ${b}")


# -- a run


def test_a_goal_is_planned_carried_out_and_answered():
    states = [*agent(TWO_AND_ONE, "The answer.").steps("Compare.")]
    last = states[-1]
    assert (last.status, last.reason, last.answer) == (Status.DONE, "final_answer", "The answer.")
    assert last.results == {"a": "1", "b": "2", "c": "1 and 2"}
    assert kinds(last) == ["NewPlan", "a", "b", "c", "Answer"]
    assert [len(state.events) for state in states] == [0, 1, 2, 3, 4, 5]


def test_the_state_says_what_runs_and_what_is_done():
    states = [*agent(TWO_AND_ONE, "The answer.", pool=SimulatedExecutor({"a": 2, "b": 1})).steps("Compare.")]
    assert [statuses(state) for state in states[1:]] == [
        {"a": TODO, "b": TODO, "c": TODO},
        {"a": RUNNING, "b": DONE, "c": TODO},
        {"a": DONE, "b": DONE, "c": RUNNING},
        {"a": DONE, "b": DONE, "c": DONE},
        {"a": DONE, "b": DONE, "c": DONE},
    ]
    assert states[3].ids(DONE) == ("a", "b")


def test_a_task_sees_its_instruction_the_results_it_depends_on_and_the_goal_and_nothing_else():
    worker = Worker()
    tasks = plan(a="say: secret of a", b="say: two $a", c="say: compare ${b} | after a b", d="alone")
    agent(tasks, "The answer.", worker=worker).run("Compare them.")
    told = {messages[1].content.splitlines()[0]: messages[1].content for messages in worker.asked}
    goal = "This is one task of a plan; do this task only. The goal of the plan, for context: Compare them."
    known = "Results of earlier tasks:\n- a: say: secret of a\n  Result: secret of a"
    assert told["say: compare two secret of a"] == f"say: compare two secret of a\n\n{known}\n\n{goal}"
    assert told["alone"] == f"alone\n\n{goal}"
    assert all(len(messages) == 2 for messages in worker.asked)


def test_a_result_that_looks_like_a_reference_stays_as_it_is():
    last = agent(plan(a="sign: b", b="say: 2", c="say: <${a}>"), "ok").run("g")
    assert last.results["c"] == "<$b ${b}>"


def test_the_planner_is_told_the_goal_the_tools_and_the_format():
    model = ScriptedLLM([TWO_AND_ONE, "ok"])
    PlanExecute(model, FunctionCalling(Worker(), [pay]), pool=SimulatedExecutor()).run("Compare.")
    system, goal = model.requests[0]["messages"]
    assert "- pay(what: string): Pay for something." in system["content"]
    assert '{"tasks": [{"id": "1", "instruction": ' in system["content"]
    assert goal == {"role": "user", "content": "Goal: Compare."}
    assert "expected" not in system["content"]


def test_the_answer_is_made_from_the_results():
    model = ScriptedLLM([TWO_AND_ONE, "ok"])
    PlanExecute(model, Worker(), pool=SimulatedExecutor()).run("Compare.")
    asked = model.requests[1]["messages"][-1]["content"]
    assert "- a: say: 1\n  Result: 1\n- b: say: 2\n  Result: 2\n- c: say: ${a} and ${b}\n  Result: 1 and 2" in asked
    assert asked.endswith("The goal: Compare.")


def test_each_role_may_be_another_model_and_its_cost_is_reported():
    models = [ScriptedLLM([Reply(text, usage=Usage(1, cost, 1))]) for text, cost in (
        (plan(a="fail: oh", b="say: 2"), 100), (plan(c="say: 3"), 200), ("done", 300))]  # fmt: skip
    planner, replanner, synthesizer = models
    team = PlanExecute(planner, Worker(), replanner=replanner, synthesizer=synthesizer, pool=SimulatedExecutor())
    last = team.run("g")
    assert last.answer == "done"
    assert {each.role: each.usage for each in last.spent} == {
        "planner": Usage(1, 100, 1),
        "executor": Usage(2, 20, 10),
        "replanner": Usage(1, 200, 1),
        "synthesizer": Usage(1, 300, 1),
    }
    assert last.usage == Usage(5, 620, 13)
    assert "[planner: 1 model call, 100 + 1 tokens; executor: 2 model calls, 20 + 10 tokens; " in str(last)


def test_a_react_agent_and_a_checked_agent_may_do_the_tasks():
    react = ReAct(ScriptedLLM(["Thought: ok\nFinal Answer: 7", "Thought: ok\nFinal Answer: supported"]), [pay])
    last = agent(plan(a="find it"), "It is 7.", executor=SelfCheck(react)).run("g")
    assert last.results == {"a": "7"}
    assert "- pay(what: string)" in last.messages[0].content


def test_a_run_without_a_pool_uses_threads():
    names = set()

    def where() -> str:
        """Say where."""
        names.add(threading.current_thread().name)
        return "here"

    class Caller(Worker):
        def chat(self, messages, *, tools=(), stop=()):
            return Reply("x", tool_calls=(Call("c", "where", "{}"),)) if len(messages) == 2 else Reply("done")

    last = PlanExecute(ScriptedLLM([TWO_AND_ONE, "ok"]), FunctionCalling(Caller(), [where])).run("g")
    assert last.answer == "ok"
    assert threading.main_thread().name not in names


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_as_many_tasks_run_at_once_as_the_limit_allows_and_no_more(limit):
    lock, now, most, all_in = threading.Lock(), [0], [0], threading.Barrier(limit)

    class Counting(Worker):
        def chat(self, messages, *, tools=(), stop=()):
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            all_in.wait(60)  # only as many as the limit together come through
            with lock:
                now[0] -= 1
            return super().chat(messages)

    tasks = plan(**{f"t{i}": f"say: {i}" for i in range(limit * 2)})
    last = PlanExecute(ScriptedLLM([tasks, "ok"]), Counting(), max_parallel=limit).run("g")
    assert last.answer == "ok"
    assert most[0] == limit


def test_any_executor_of_the_standard_library_will_do():
    with ThreadPoolExecutor(2) as pool:
        assert [*agent(TWO_AND_ONE, "ok").steps("g", pool=pool)][-1].results == {"a": "1", "b": "2", "c": "1 and 2"}


def test_tasks_can_run_in_other_processes():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        last = agent(plan(a="say: 1", b="say: <$a>"), "ok", executor=FunctionCalling(Worker()), pool=pool).run("g")
    assert last.results == {"a": "1", "b": "<1>"}


def test_a_pool_that_is_closed_or_cancels_its_work_leaves_a_state_with_a_reason():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    last = agent(plan(a="say: 1"), pool=pool, max_replans=0).run("g")
    assert last.reason == "max_replans"
    assert last.run_of("a").error == "RuntimeError: cannot schedule new futures after shutdown"

    class Cancelling(SimulatedExecutor):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(fn, *args, **kwargs)
            future.cancel()
            return future

    last = agent(plan(a="say: 1"), pool=Cancelling()).run("g")
    assert (last.reason, statuses(last)) == ("interrupted", {"a": TODO})


def test_a_limit_of_no_task_at_a_time_is_refused():
    with pytest.raises(ValueError, match="max_parallel is 0"):
        agent(max_parallel=0)


# -- steps, one at a time


def test_a_step_runs_one_ready_task_whole():
    one = agent(TWO_AND_ONE, "ok", pool=None)
    states = [one.start("g")]
    while states[-1].status is Status.RUNNING:
        states.append(one.step(states[-1]))
    assert [list(statuses(state).values()) for state in states[1:]] == [
        [TODO, TODO, TODO], [DONE, TODO, TODO], [DONE, DONE, TODO], [DONE, DONE, DONE], [DONE, DONE, DONE],
    ]  # fmt: skip
    assert states[-1].answer == "ok"
    assert one.step(states[-1]) is states[-1]


def test_steps_and_step_come_to_the_same():
    by_steps = agent(TWO_AND_ONE, "ok", pool=None, max_parallel=1).run("g")
    one = agent(TWO_AND_ONE, "ok", pool=None)
    state = one.start("g")
    while state.status is Status.RUNNING:
        state = one.step(state)
    assert state == by_steps


def test_going_on_from_any_state_ends_the_same():
    replies = [TWO_AND_ONE, "no answer yet"]
    states = [*agent(*replies).steps("g")]
    for state in states:
        asked = len([message for message in state.messages if message.role == "assistant"])
        again = agent(*replies[asked:], pool=None).run(state)
        assert (again.results, again.answer) == (states[-1].results, states[-1].answer)


def test_no_later_step_changes_an_old_state():
    kept, written = [], []
    for state in agent(plan(a="fail: x", b="say: 2"), plan(c="say: 3"), "ok").steps("g"):
        kept.append(state)
        written.append(repr(state))
        hash(state)
    assert [repr(state) for state in kept] == written


# -- plans that cannot be used


def test_a_bad_plan_goes_back_with_the_reason_before_anything_runs():
    worker = Worker()
    model = ScriptedLLM([plan(a="x | after b", b="y | after a"), "First I look, then I see.", plan(a="say: 1"), "ok"])
    last = PlanExecute(model, worker, pool=SimulatedExecutor()).run("g")
    assert last.answer == "ok"
    assert kinds(last)[:3] == ["bad_plan", "bad_plan", "NewPlan"]
    first, second = (request["messages"][-1]["content"] for request in model.requests[1:3])
    assert first.startswith("Plan error: cycle: a -> b -> a (each of them depends on the next). Give the whole plan")
    assert second.startswith("Plan error: your reply holds no plan in JSON")
    assert worker.tasks == ["say: 1"]


def test_a_planner_that_writes_no_plan_is_stopped():
    last = agent("I think.", "", "I still think.", max_format_errors=3).run("g")
    assert (last.status, last.reason, last.plan) == (Status.STOPPED, "bad_plan", None)
    assert kinds(last) == ["bad_plan", "empty_reply", "bad_plan"]
    assert last.usage.calls == 3


def test_what_was_repaired_in_a_plan_is_told():
    text = '{"tasks": [{"id": "a", "task": "say: costs $9", "deps": "b",}, {"id": "b", "task": "say: 2"}]}'
    last = agent(text, "ok").run("g")
    problems = {event.kind: event.text for event in last.events if isinstance(event, Problem)}
    assert "became ['b']" in problems["repaired_plan"]
    assert problems["unresolved_reference"] == "${9} in task 'a'"
    assert last.results["a"] == "costs $9"


def test_a_plan_that_was_cut_off_goes_back():
    last = agent(Reply("1. f(1)\n2. g($1)", "length"), plan(a="say: 1"), "ok").run("g")
    assert kinds(last)[:2] == ["bad_plan", "NewPlan"]


def test_what_a_planner_thinks_aloud_is_not_sent_again():
    model = ScriptedLLM([f"<think>long thoughts</think>{plan(a='say: 1')}", "<think>hm</think>ok"])
    last = PlanExecute(model, Worker(), pool=SimulatedExecutor()).run("g")
    assert last.answer == "ok"
    assert "long thoughts" not in str(model.requests[1])
    assert "long thoughts" in last.events[0].raw


@pytest.mark.parametrize("error", [LLMError("wrong_key", "get a key"), RuntimeError("get a key")])
def test_a_planner_that_raises_stops_the_run_with_its_reason(error):
    last = PlanExecute(Raising(error), Worker()).run("g")
    assert last.status is Status.STOPPED
    assert last.reason == getattr(error, "reason", "planner_error")
    assert "get a key" in last.events[-1].text


@dataclass
class Raising:
    error: Exception
    calls: int = 0

    def chat(self, messages, *, tools=(), stop=()):
        self.calls += 1
        raise self.error


def test_the_calls_for_plans_are_limited():
    last = agent("no", "no", "no", "no", max_iterations=2, max_format_errors=9).run("g")
    assert (last.reason, last.usage.calls) == ("max_iterations", 2)


def test_guards_look_after_the_conversation_with_the_planner():
    model = ScriptedLLM(["no plan", "no plan", plan(a="say: 1"), "ok"])
    team = PlanExecute(model, Worker(), guards=[GoalReminder(every=1), ContextBudget(1)], pool=SimulatedExecutor())
    assert team.run("Find the thing.").answer == "ok"
    assert model.requests[1]["messages"][-1]["content"] == "Note: the goal is still this: Find the thing."
    assert len(model.requests[2]["messages"]) < 8


# -- failures and replans


def test_a_failed_task_keeps_its_dependants_waiting_and_nobody_else():
    states = [*agent(plan(a="fail: gone", b="use $a", c="say: 3", d="say: <$c>"), max_replans=0).steps("g")]
    last = states[-1]
    assert statuses(last) == {"a": FAILED, "b": TODO, "c": DONE, "d": DONE}
    assert (last.status, last.reason, last.answer) == (Status.STOPPED, "max_replans", None)
    assert last.events[-1].text == (
        "2 of 4 tasks are done: c, d; a failed: stopped (unreachable): gone; not begun: b; no replan is left, of 0"
    )
    assert last.best_so_far == "c: 3\nd: <3>"


def test_the_replanner_hears_what_failed_and_why_and_what_is_done():
    model = ScriptedLLM([plan(a="fail: gone", b="use $a", c="say: 3"), plan(x="say: 1", b="say: $x $c"), "ok"])
    last = PlanExecute(model, Worker(), pool=SimulatedExecutor()).run("g")
    assert last.answer == "ok"
    assert last.results == {"c": "3", "x": "1", "b": "1 3"}
    told = model.requests[1]["messages"][-1]["content"]
    assert "Done (their results are kept; a new task may depend on them):\n- c: say: 3\n  Result: 3\n\n" in told
    assert "Failed:\n- a: fail: gone\n  Error: stopped (unreachable): gone\n\n" in told
    assert "Not done yet:\n- b: use $a\n  Depends on: a\n\n" in told
    assert [attempt.task.id for attempt in last.dropped] == ["a"]


def test_finished_results_are_kept_and_not_done_again_even_if_the_new_plan_lists_them():
    worker = Worker()
    last = agent(
        plan(a="say: 1", b="fail: gone"), plan(a="say: 1", b="say: 2 and $a"), "ok", worker=worker
    ).run("g")  # fmt: skip
    assert last.results == {"a": "1", "b": "2 and 1"}
    assert worker.tasks.count("say: 1") == 1
    assert kinds(last) == ["NewPlan", "a", "b", "NewPlan", "b", "Answer"]
    again = agent(plan(a="say: 1", b="fail: gone"), plan(a="say: one", b="say: 2"), "ok").run("g")
    assert again.results == {"a": "1", "b": "2"}
    assert "task 'a' is done, so its new wording was not used" in [getattr(event, "text", "") for event in again.events]


def test_a_replanner_that_raises_uses_up_its_replans():
    planner, replanner = ScriptedLLM([plan(x="fail: 1", y="fail: 2")]), Raising(RuntimeError("broken"))
    last = PlanExecute(planner, Worker(), replanner=replanner, max_replans=2, pool=SimulatedExecutor()).run("g")
    assert (last.status, last.reason) == (Status.STOPPED, "max_replans")
    assert replanner.calls == last.replans == 2
    assert kinds(last) == ["NewPlan", "x", "y", "replanner_error", "replanner_error", "max_replans"]


def test_a_planner_that_raises_now_and_then_is_asked_no_more_often_than_its_replans():
    failing = plan(x="fail: 1")
    down = LLMError("unreachable", "no network")
    last = agent(failing, down, down, failing, max_replans=2).run("g")
    assert (last.reason, last.usage.calls) == ("max_replans", 1)
    assert kinds(last) == ["NewPlan", "x", "unreachable", "unreachable", "max_replans"]


def test_a_plan_that_failed_is_noticed_under_other_ids_too_and_not_tried_again():
    worker = Worker()
    model = ScriptedLLM([plan(a="fail: 1", b="use $a"), plan(p="Fail:  1.", q="use ${p}"), plan(r="say: 3"), "ok"])
    last = PlanExecute(model, worker, pool=SimulatedExecutor()).run("g")
    assert kinds(last) == ["NewPlan", "a", "same_plan", "NewPlan", "r", "Answer"]
    assert worker.tasks == ["fail: 1", "say: 3"]
    assert "this is the same plan that failed" in model.requests[2]["messages"][-1]["content"]
    assert last.replans == 2


def test_plans_that_take_turns_are_noticed():
    one, other = plan(a="fail: 1"), plan(b="fail: 2")
    last = agent(one, other, one, other, max_replans=3).run("g")
    assert kinds(last) == ["NewPlan", "a", "NewPlan", "b", "same_plan", "same_plan", "max_replans"]
    assert last.reason == "max_replans"


def test_a_replan_may_be_malformed_and_is_then_asked_for_again():
    last = agent(plan(a="fail: 1", b="say: 2"), "hm", plan(c="say: 3 | after ghost"), plan(c="say: 3"), "ok").run("g")
    assert last.answer == "ok"
    assert last.replans == 1
    stopped = agent(plan(a="fail: 1"), "hm", "hm", max_format_errors=2).run("g")
    assert (stopped.status, stopped.reason) == (Status.STOPPED, "bad_plan")


def test_a_replan_that_only_lists_what_is_done_is_refused():
    last = agent(plan(a="fail: 1", b="say: 2"), plan(b="say: 2"), plan(c="say: 3"), "ok").run("g")
    assert "all tasks of this plan are done already" in last.events[3].text
    assert last.answer == "ok"


def test_a_task_whose_executor_crashes_has_failed():
    last = agent(plan(a="crash: oops", b="say: 2"), max_replans=0).run("g")
    assert last.run_of("a").error == "RuntimeError: oops"
    assert last.results == {"b": "2"}


def test_a_result_that_does_not_fit_triggers_a_replan():
    def evaluator(task: Task, result: str) -> str | None:
        return f"{result} is not {task.expected}" if task.expected and result != task.expected else None

    first = json.dumps({"tasks": [{"id": "a", "instruction": "say: 3", "expected": "4"}]})
    model = ScriptedLLM([first, plan(b="say: 5"), "ok"])
    last = PlanExecute(model, Worker(), evaluator=evaluator, pool=SimulatedExecutor()).run("g")
    assert last.results == {"b": "5"}
    told = model.requests[1]["messages"][-1]["content"]
    assert "- a: say: 3\n  Error: the result does not fit: 3 is not 4. Its result was: 3" in told
    assert '"expected"' in model.requests[0]["messages"][0]["content"]


@pytest.mark.parametrize("said", [True, False, 3])
def test_an_evaluator_that_does_not_say_what_is_wrong_is_told_so(said):
    last = agent(plan(a="say: 1"), max_replans=0, evaluator=lambda task, result: said).run("g")
    assert "it must say in words what is wrong" in last.run_of("a").error


def test_an_answer_that_is_empty_or_cannot_be_had_leaves_the_results():
    again = agent(plan(a="say: 1"), "", "<think>hm</think>", "ok").run("g")
    assert (again.answer, kinds(again)[2:]) == ("ok", ["empty_reply", "empty_reply", "Answer"])
    stopped = agent(plan(a="say: 1"), LLMError("rate_limit", "wait")).run("g")
    assert (stopped.status, stopped.reason, stopped.results) == (Status.STOPPED, "rate_limit", {"a": "1"})
    going = agent("later", pool=None)
    assert going.run(going.resume(stopped)).answer == "later"


def test_a_filtered_or_cut_answer_says_so():
    assert agent(plan(a="say: 1"), Reply("", "content_filter")).run("g").reason == "content_filter"
    assert kinds(agent(plan(a="say: 1"), Reply("It is", "length")).run("g"))[-2:] == ["Answer", "cut_off"]


# -- a person


def test_a_call_that_writes_waits_while_other_tasks_go_on():
    one = agent(plan(a="pay: rent", b="say: 2", c="say: <$b>", d="say: after ${a}"), "ok")
    waiting = one.run("g")
    assert (waiting.status, waiting.reason) == (Status.WAITING, "approval")
    assert statuses(waiting) == {"a": WAITING, "b": DONE, "c": DONE, "d": TODO}
    assert [(call.id, call.name, call.arguments) for call in waiting.pending] == [("a/c", "pay", '{"what": "rent"}')]
    assert not PAID
    approved = one.approve(waiting, "a/c")
    assert (approved.status, approved.pending) == (Status.RUNNING, ())
    last = one.run(approved)
    assert last.results["d"] == "after paid rent"
    assert PAID == ["rent"]
    assert last.usage_of("executor") == Usage(5, 60, 27)
    assert one.approve(last, "a/c") == last


def test_two_calls_with_one_id_are_told_apart():
    one = agent(plan(a="pay: rent", b="pay: food"), "ok")
    waiting = one.run("g")
    assert [call.id for call in waiting.pending] == ["a/c", "b/c"]
    with pytest.raises(ValueError, match="could be one of 2 calls; say which: a/c or b/c"):
        one.approve(waiting, "c")
    state = one.reject(waiting, "b/c", "too dear")
    assert one.approve(state) is state  # it runs on; nothing waits now
    state = one.run(state)
    assert [call.id for call in state.pending] == ["a/c"]
    last = one.run(one.approve(state))
    assert PAID == ["rent"]
    assert last.results == {"a": "paid rent", "b": "Error: rejected by a person: too dear"}


def test_a_waiting_call_can_be_edited_and_waits_again():
    one = agent(plan(a="pay: rent"), "ok")
    edited = one.edit(one.run("g"), "c", arguments={"what": "half the rent"})
    assert (edited.status, edited.pending[0].arguments) == (Status.WAITING, '{"what": "half the rent"}')
    assert one.run(one.approve(edited)).results == {"a": "paid half the rent"}
    with pytest.raises(ValueError, match="this state holds no call 'other'"):
        one.approve(edited, "other")


def test_a_second_word_on_a_call_of_a_task_that_was_dropped_changes_nothing():
    one = agent(plan(a="pay: rent"), plan(b="say: 2"), "ok", evaluator=lambda task, text: "no" * ("paid" in text))
    last = one.run(one.approve(one.run("g")))
    assert last.results == {"b": "2"}
    assert one.approve(last, "a/c") is one.reject(last, "c") is last
    assert PAID == ["rent"]


def test_who_is_asked_when_a_run_waits_is_asked_for_each_call():
    one = agent(plan(a="pay: rent", b="pay: food"), "ok")
    last = [*attended(one, "g", reject_all)][-1]
    assert last.answer == "ok"
    assert not PAID


def test_a_waiting_run_is_saved_and_decided_on_another_day(tmp_path):
    agent(plan(a="pay: rent", b="say: 2")).run("g").save(tmp_path / "s.json")
    loaded, other = PlanState.load(tmp_path / "s.json"), agent("ok")
    assert other.run(other.approve(loaded, "a/c")).answer == "ok"
    assert PAID == ["rent"]


def test_an_approved_call_without_a_result_waits_again_after_a_load(tmp_path):
    one = agent(plan(a="pay: rent"), "ok")
    one.approve(one.run("g")).save(tmp_path / "s.json")
    loaded = PlanState.load(tmp_path / "s.json")
    assert statuses(loaded) == {"a": WAITING}
    assert [call.id for call in loaded.pending] == ["a/c"]
    assert kinds(loaded.run_of("a").inner)[-1] == "unrecorded_write"
    assert one.run(loaded).status is Status.WAITING
    assert not PAID


def test_an_approved_call_that_was_let_go_under_way_waits_again():
    one = agent(plan(a="pay: rent", b="pay: food"), "ok")
    state = one.run("g")
    approved = one.approve(one.approve(state, "a/c"), "b/c")
    for middle in one.steps(approved):
        if middle.ids(DONE):
            break  # b is under way, and nobody reads what comes of it
    assert statuses(middle) == {"a": DONE, "b": RUNNING}
    resumed = one.run(middle)
    assert statuses(resumed) == {"a": DONE, "b": WAITING}


def test_a_plan_within_a_plan_waits_at_any_depth():
    inner = agent(plan(x="pay: rent", y="say: 2"), "inner done")
    outer = agent(plan(a="do it", b="say: <$a>"), "ok", executor=inner)
    waiting = outer.run("g")
    assert [call.id for call in waiting.pending] == ["a/x/c"]
    assert outer.run(outer.approve(waiting, "a/x/c")).status is not Status.WAITING
    inner.planner, outer.planner = ScriptedLLM([plan(x="pay: rent"), "x", "y"]), ScriptedLLM([plan(a="do it"), "ok"])
    outer = PlanExecute(outer.planner, PlanExecute(inner.planner, FunctionCalling(Worker(), [pay])))
    last = outer.run(outer.approve(outer.run("g"), "c"))
    assert (last.answer, last.results) == ("ok", {"a": "x"})


def test_a_planner_may_be_an_agent_that_waits_too():
    asks = Reply("", tool_calls=(Call("c", "pay", '{"what": "a map"}'),))
    scout = FunctionCalling(ScriptedLLM([asks, plan(a="say: 1"), "the answer"]), [pay])
    one = PlanExecute(scout, Worker(), pool=SimulatedExecutor())
    waiting = one.run("g")
    assert (waiting.status, [call.id for call in waiting.pending]) == (Status.WAITING, ["(planner)/c"])
    last = one.run(one.approve(waiting, "c"))
    assert (last.answer, PAID) == ("the answer", ["a map"])
    assert last.usage_of("planner").calls == 2
    assert last.asked is None


def test_a_planner_that_is_an_agent_may_fail():
    last = PlanExecute(ReAct(ScriptedLLM(["hm"] * 9), max_format_errors=2), Worker()).run("g")
    assert (last.status, last.reason, last.usage.calls) == (Status.STOPPED, "format_error", 2)


def test_a_new_turn_gets_a_plan_of_its_own():
    one = agent(plan(a="say: 1"), "first", plan(a="say: 2"), "second")
    last = one.run(one.say(one.run("g"), "And now?"))
    assert (last.answer, last.results, last.goal) == ("second", {"a": "2"}, "And now?")
    assert [message.content for message in last.messages if message.role == "user"][2] == "Goal: And now?"
    assert sum(isinstance(event, Turn) for event in last.events) == 1
    with pytest.raises(ValueError, match="only a finished one takes a new turn"):
        one.say(one.start("g"), "x")


# -- forks


def test_another_result_of_a_task_is_built_upon_and_nothing_else_is_done_again():
    worker = Worker()
    one = agent(TWO_AND_ONE, "first", "second", worker=worker)
    last = one.run("g")
    forked = one.fork(last, task="a", result="forty")
    assert (forked.status, statuses(forked)) == (Status.RUNNING, {"a": DONE, "b": DONE, "c": TODO})
    other = one.run(forked)
    assert (other.answer, other.results) == ("second", {"a": "forty", "b": "2", "c": "forty and 2"})
    assert worker.tasks == ["say: 1", "say: 2", "say: 1 and 2", "say: forty and 2"]
    assert [event.task for event in other.events if event.edited] == ["a"]
    assert last.results["c"] == "1 and 2"


def test_a_person_may_give_the_result_of_a_task_that_failed():
    one = agent(plan(a="fail: x", b="say: <$a>"), "ok", max_replans=0)
    last = one.run(one.fork(one.run("g"), task="a", result="7"))
    assert (last.answer, last.results) == ("ok", {"a": "7", "b": "<7>"})


def test_another_result_of_an_earlier_plan_goes_back_to_that_plan():
    one = agent(plan(a="say: 1", b="fail: x | after a"), plan(c="say: 3"), "first")
    last = one.run("g")
    forked = one.fork(last, task="a", result="2")
    assert statuses(forked) == {"a": DONE, "b": TODO}
    assert kinds(forked) == ["NewPlan", "a"]
    assert len(forked.messages) == 3


def test_another_plan_keeps_what_was_done_before_it():
    one = agent(plan(a="say: 1", b="fail: x"), plan(c="say: 3"), "first", "second")
    last = one.run("g")
    forked = one.fork(last, plan=[Task("d", "say: 4 and ${a}")])
    assert statuses(forked) == {"a": DONE, "d": TODO}
    other = one.run(forked)
    assert (other.answer, other.results) == ("second", {"a": "1", "d": "4 and 1"})
    assert [event.plan.tasks[-1].id for event in other.events if isinstance(event, NewPlan)] == ["b", "d"]
    assert other.events[-3].edited


def test_a_task_that_failed_before_is_as_it_was_then():
    class Luck(Worker):
        def chat(self, messages, *, tools=(), stop=()):
            self.asked.append(messages)
            if "unlucky" in messages[1].content.splitlines()[0] and len(self.asked) == 1:
                raise LLMError("unreachable", "gone")
            return Reply("luck")

    one = agent(plan(a="unlucky"), plan(a="unlucky", b="other"), "first", "second", worker=Luck())
    last = one.run("g")
    assert last.results == {"a": "luck", "b": "luck"}
    forked = one.fork(last, plan=plan(c="say: 3"))
    assert statuses(forked) == {"c": TODO}
    assert [(attempt.task.id, attempt.run.status) for attempt in forked.dropped] == [("a", FAILED)]


def test_a_result_is_given_to_the_task_of_this_plan_not_to_one_of_the_same_name_before():
    one = agent(plan(a="say: 1", b="fail: x"), plan(b="say: other", c="say: <$b>"), "ok")
    states = [*one.steps("g")]
    planned = next(state for state in states if state.replans == 1)
    last = one.run(one.fork(planned, task="b", result="given"))
    assert last.results == {"a": "1", "b": "given", "c": "<given>"}


def test_another_first_plan_starts_anew_and_a_state_without_one_may_be_given_it():
    one = agent(plan(a="say: 1"), "first", "second", "third")
    last = one.run("g")
    other = one.run(one.fork(last, plan=plan(z="say: 9")))
    assert (other.answer, other.results) == ("second", {"z": "9"})
    given = one.run(one.fork(one.start("g"), plan=Plan((Task("a", "say: 5"),))))
    assert (given.answer, given.results) == ("third", {"a": "5"})


def test_what_cannot_be_forked_is_told():
    one = agent(TWO_AND_ONE)
    planned = one.step(one.start("g"))
    for changes in ({}, {"task": "a"}, {"result": "x"}, {"plan": "x", "task": "a", "result": "y"}, {"thought": "x"}):
        with pytest.raises(ValueError, match="forked at its plan"):
            one.fork(planned, **changes)
    with pytest.raises(ValueError, match="the plan has no task 'z'; it has a, b, c"):
        one.fork(planned, task="z", result="x")
    with pytest.raises(ValueError, match="no plan yet"):
        one.fork(one.start("g"), task="a", result="x")
    with pytest.raises(PlanError, match="cycle: a -> b -> a"):
        one.fork(planned, plan=plan(a="x | after b", b="y | after a"))
    with pytest.raises(PlanError, match="no plan in JSON"):
        one.fork(planned, plan="do something")


def test_any_state_of_a_run_can_be_forked_at_any_task():
    replies = [plan(a="say: 1", b="fail: x", c="say: <$a>"), plan(d="say: ${c}"), "ok"]
    for state in agent(*replies).steps("g"):
        for name in state.plan.index if state.plan else ():
            other = agent(plan(e="say: 5"), "ok", "ok", max_replans=5)
            forked = other.fork(state, task=name, result="given")
            assert forked.results[name] == "given"
            last = other.run(forked)
            assert last.status is Status.DONE
            assert last.results[name] == "given"


# -- interrupts, saves and a process that is killed


def test_an_interrupt_in_a_task_leaves_a_state_that_can_be_resumed():
    for pool in (SimulatedExecutor({"b": 2}), None):
        worker = Worker()
        one = agent(plan(a="say: 1", b="interrupt: x", c="say: $a | after b"), worker=worker, pool=pool, max_parallel=1)
        last = one.run("g")
        assert (last.status, last.reason) == (Status.INTERRUPTED, "interrupted")
        assert statuses(last) == {"a": DONE, "b": TODO, "c": TODO}
        other = agent("ok", executor=FunctionCalling(ScriptedLLM(["2", "3"])))
        end = other.run(other.resume(last))
        assert (end.answer, end.results) == ("ok", {"a": "1", "b": "2", "c": "3"})


def test_an_interrupt_of_a_bare_step_too():
    one = agent(plan(a="interrupt: x"), pool=None)
    state = one.step(one.step(one.start("g")))
    assert (state.status, statuses(state)) == (Status.INTERRUPTED, {"a": TODO})
    asking = PlanExecute(Interrupting(), Worker())
    assert asking.run("g").status is Status.INTERRUPTED


class Interrupting:
    def chat(self, messages, *, tools=(), stop=()):
        raise KeyboardInterrupt


def test_an_interrupt_while_tasks_run_keeps_what_ended_meanwhile():
    class Interrupted(SimulatedExecutor):
        def advance(self) -> bool:
            if self.clock() == 1:  # the first task has ended
                super().advance()  # so has the second, just now
                raise KeyboardInterrupt
            return super().advance()

    doing = Doing()
    tasks = [Task("a", "do a"), Task("b", "do b"), Task("c", "do c"), Task("d", "do d", ["b"])]
    one, state = started(tasks, doing, "ok")
    *_, last = one.steps(state, pool=Interrupted({"a": 1, "b": 2, "c": 3}))
    assert (last.status, last.results) == (Status.INTERRUPTED, {"a": "result of a", "b": "result of b"})
    assert statuses(last)["c"] is TODO
    assert one.run(one.resume(last)).answer == "ok"
    assert doing.log == ["a", "b", "c", "d"]


def test_a_caller_who_stops_reading_leaves_nothing_running():
    begun, let_go, ended = threading.Event(), threading.Event(), threading.Event()

    class Slow(Worker):
        def chat(self, messages, *, tools=(), stop=()):
            if "slow" not in messages[1].content.splitlines()[0]:
                begun.wait(60)
                return Reply("quick")
            begun.set()
            let_go.wait(60)
            return Reply("", tool_calls=(Call("c", "never", "{}"),))

    def never() -> str:
        """Must not be called."""
        ended.set()
        return "called"

    pool = ThreadPoolExecutor(2)
    one = PlanExecute(ScriptedLLM([plan(a="slow", b="quick")]), FunctionCalling(Slow(), [never]), pool=pool)
    steps = one.steps("g")
    state = next(state for state in steps if state.plan and state.ids(DONE))
    steps.close()
    let_go.set()
    assert statuses(state) == {"a": RUNNING, "b": DONE}
    pool.shutdown()  # waits for the end of what is under way
    assert not ended.is_set()


RUN = """
import sys, time
from pathlib import Path
from agentlib import PlanExecute, ScriptedLLM, State, Task, Reply, Status

class Slow:
    def chat(self, messages, *, tools=(), stop=()):
        name = messages[1].content.split()[1]
        with open(sys.argv[1], "a") as log:
            log.write(name + "\\n")
        if name in sys.argv[3:]:
            print("under way", flush=True)
            time.sleep(600)
        return Reply("result of " + name)

agent = PlanExecute(ScriptedLLM(["ok"]), Slow(), max_parallel=2)
path = Path(sys.argv[2])
if path.exists():
    state = State.load(path)
    state = agent.resume(state) if state.status is Status.INTERRUPTED else state
else:
    tasks = [Task("a", "do a"), Task("b", "do b"), Task("c", "do c", ["a"]), Task("d", "do d", ["b", "c"])]
    state = agent.fork(agent.start("g"), plan=tasks)
for state in agent.steps(state):
    state.save(path)
print(state.status, state.answer, *state.results, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT and SIGKILL for one process")
@pytest.mark.parametrize("end", ["SIGINT", "SIGKILL"])
def test_a_run_that_was_interrupted_or_killed_goes_on_and_repeats_no_finished_task(tmp_path, end):
    command = [sys.executable, "-c", RUN, str(tmp_path / "log"), str(tmp_path / "s.json")]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    first = subprocess.Popen([*command, "b"], env=environ, stdout=subprocess.PIPE, text=True)
    assert first.stdout.readline() == "under way\n"
    while not (tmp_path / "s.json").exists() or not PlanState.load(tmp_path / "s.json").results.keys() >= {"a", "c"}:
        assert first.poll() is None
    os.kill(first.pid, getattr(signal, end))
    output, _ = first.communicate(timeout=60)
    assert output in ("", "interrupted None a c\n" * (end == "SIGINT"))  # it may have come while the state was saved
    second = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
    assert second.stdout == "done ok a b c d\n"
    assert Counter((tmp_path / "log").read_text().split()) == {"a": 1, "b": 2, "c": 1, "d": 1}


def test_every_state_is_saved_and_loaded_the_same(tmp_path):
    states = [*agent(plan(a="pay: rent", b="fail: x", c="say: 3"), max_replans=0).steps("g")]
    assert states[-1].status is Status.WAITING
    for state in states:
        state.save(tmp_path / "s.json")
        assert PlanState.load(tmp_path / "s.json") == state.taken_up()
        assert pickle.loads(pickle.dumps(state)) == state


# -- what holds for all plans


@st.composite
def graphs(draw) -> list[Task]:
    """Give the tasks of a plan without a cycle, in any order."""
    size = draw(st.integers(1, 9))
    tasks = []
    for i in range(size):
        after = draw(st.sets(st.integers(0, i - 1), max_size=3)) if i else set()
        tasks.append(Task(f"t{i}", f"do t{i}", [f"t{each}" for each in sorted(after)]))
    return draw(st.permutations(tasks))


@dataclass(frozen=True)
class Doing:
    """An executor that does a task at once, and fails, crashes or waits where it is told to."""

    log: list = field(default_factory=list)
    fates: dict = field(default_factory=dict)

    def start(self, goal: str) -> State:
        return State(goal)

    def steps(self, start: str | State):
        state = start if isinstance(start, State) else self.start(start)
        name = state.goal.split()[1]
        self.log.append(name)
        fate = self.fates.get(name, "done")
        if fate == "crash":
            raise OSError(name)
        if fate == "stop":
            yield state.stop("limit", "no more")
        elif fate == "interrupt":
            self.fates.pop(name)
            raise KeyboardInterrupt
        else:
            answer = Answer(message=0, text=f"result of {name}", raw="")
            yield replace(state, events=(answer,), status=Status.DONE, reason="final_answer")


def test_a_large_plan_runs_too():
    tasks = [Task(str(i), f"do {i}", {str(i // 3), str(i // 2)} - {str(i)}) for i in range(300)]
    doing = Doing()
    one, state = started(tasks, doing, "ok", max_parallel=7)
    last = one.run(state)
    assert len(last.results) == len(set(doing.log)) == len(doing.log) == 300
    assert last.runs[257].result == last.run_of("257").result == "result of 257"


def started(tasks: list[Task], doing: Doing, *replies, durations=None, **settings) -> tuple[PlanExecute, PlanState]:
    """Give an agent, and its state with these tasks as the plan."""
    one = PlanExecute(ScriptedLLM(replies), doing, pool=SimulatedExecutor(durations), **settings)
    return one, one.fork(one.start("g"), plan=tasks)


@given(graphs(), st.integers(1, 5), st.data())
def test_every_task_runs_exactly_once_after_its_dependencies(tasks, limit, data):
    durations = {task.id: data.draw(st.sampled_from([0, 1, 2, 5])) for task in tasks}
    doing = Doing()
    one, state = started(tasks, doing, "ok", durations=durations, max_parallel=limit)
    states = [*one.steps(state)]
    last = states[-1]
    assert last.answer == "ok"
    assert Counter(doing.log) == Counter(task.id for task in tasks)
    runs = {task.id: run for task, run in last.tasks}
    for task in tasks:
        assert all(runs[each].finished <= runs[task.id].started for each in task.depends_on)
        assert runs[task.id].finished - runs[task.id].started == durations[task.id]
    assert all(len(state.ids(RUNNING)) <= limit for state in states)
    assert len(states) == len(tasks) + 2


@given(graphs(), st.data())
def test_without_a_limit_a_run_takes_as_long_as_the_critical_path(tasks, data):
    durations = {task.id: data.draw(st.integers(0, 9)) for task in tasks}
    one, state = started(tasks, Doing(), "ok", durations=durations, max_parallel=len(tasks))
    last = one.run(state)
    _, length = last.plan.critical_path(lambda task: durations[task.id])
    assert max(run.finished for run in last.runs) == length


@settings(max_examples=40)
@given(graphs(), st.integers(1, 4), st.lists(st.integers(1, 4), max_size=6))
def test_a_run_killed_after_any_step_repeats_no_finished_task(tmp_path_factory, tasks, limit, steps_until_killed):
    path = tmp_path_factory.mktemp("saves") / "s.json"
    started(tasks, Doing())[1].save(path)
    for steps in [*steps_until_killed, 1000]:
        doing = Doing()
        one, _ = started(tasks, doing, "ok", max_parallel=limit)
        state = PlanState.load(path)
        finished = set(ended(state))
        for state in islice(one.steps(state), steps):  # noqa: B020 (the run goes on from its saved state)
            state.save(path)
        assert not finished & set(doing.log)
    assert state.answer == "ok"
    assert Counter(ended(state)) == Counter(task.id for task in tasks)


@given(graphs(), st.data())
def test_any_pattern_of_failures_ends_in_a_state_with_a_reason(tasks, data):
    fates = {task.id: data.draw(st.sampled_from(["done", "done", "stop", "crash"])) for task in tasks}
    replies = data.draw(st.lists(st.sampled_from(
        ["prose", "", LLMError("unreachable", "x"), plan(n1="do n1"), plan(n2="do n2 | after n1", n1="do n1"), "[]"]
    ), min_size=60, max_size=60))  # fmt: skip
    doing = Doing(fates=dict.fromkeys(["n2"], "stop") | fates)
    one, state = started(tasks, doing, *replies, max_replans=data.draw(st.integers(0, 3)))
    last = one.run(state)
    assert last.status in (Status.DONE, Status.STOPPED)
    assert last.reason
    assert str(last)
    done = {task.id for task, run in last.tasks if run.status is DONE}
    for name, times in Counter(doing.log).items():
        assert times == 1 or name not in done or name.startswith("n")
    for task, _ in last.tasks:
        if task.id in doing.log:
            assert set(task.depends_on) <= set(ended(last))


@given(graphs(), st.data())
def test_an_interrupted_run_goes_on_and_repeats_no_finished_task(tasks, data):
    fates = dict.fromkeys(data.draw(st.sets(st.sampled_from([task.id for task in tasks]), max_size=3)), "interrupt")
    doing = Doing(fates=dict(fates))
    one, state = started(tasks, doing, "ok")
    last = one.run(state)
    while last.status is Status.INTERRUPTED:
        assert not last.ids(RUNNING)
        last = one.run(one.resume(last))
    assert last.answer == "ok"
    assert Counter(doing.log) == Counter(task.id for task in tasks) + Counter([*fates])


# -- the executor with a clock of its own


def test_simulated_work_ends_in_the_order_of_its_durations():
    pool, log = SimulatedExecutor({"slow": 5, "quick": 1}, default=2), []

    def work(name: str):
        def do() -> str:
            log.append((name, pool.clock()))
            return name

        do.name = name
        return do

    futures = [pool.submit(work(name)) for name in ("slow", "quick", "other", "same")]
    assert (pool.clock(), [future.done() for future in futures]) == (0, [False] * 4)
    assert futures[0].result() == "slow"
    assert log == [("quick", 1), ("other", 2), ("same", 2), ("slow", 5)]
    assert not pool.advance()


def test_simulated_work_may_raise_be_cancelled_and_be_mapped():
    pool = SimulatedExecutor(default=1, now=10)
    assert [*pool.map(len, ["a", "bb"])] == [1, 2]
    failing, never = pool.submit(int, "x"), pool.submit(print, "never")
    assert never.cancel()
    with pytest.raises(ValueError, match="invalid literal"):
        failing.result()
    pool.shutdown()
    assert pool.clock() == 12
    with pytest.raises(ValueError, match="'a' cannot take -1 seconds"):
        SimulatedExecutor({"a": -1})


def test_times_are_noted_from_the_clock_that_was_given():
    ticks = iter(range(100))
    last = agent(TWO_AND_ONE, "ok", pool=None, clock=lambda: next(ticks), max_parallel=1).run("g")
    assert [(run.started, run.finished) for run in last.runs] == [(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]
    assert all(run.started is None for run in agent(TWO_AND_ONE, "ok", pool=None).run("g").runs)
