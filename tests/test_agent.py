"""The loop: its limits and reasons, forks, new turns, guards, interrupts, and a run that is killed and resumed."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlib import (
    Agent,
    Answer,
    LLMError,
    Message,
    Observation,
    Problem,
    ReAct,
    Reply,
    ScriptedLLM,
    SelfCheck,
    State,
    Status,
    Thought,
    ToolCall,
    Usage,
)
from agentlib.tools.toolbox import CANCELLED

ROOT = Path(__file__).parents[1]


def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


def count(text: str, letter: str = "a") -> int:
    """Count a letter."""
    return text.count(letter)


SHOUT = 'Thought: loudly\nAction: shout(text="a")'
COUNT = 'Thought: how many\nAction: count(text="banana")'
FINAL = "Thought: I know\nFinal Answer: A"
SILENT = "I have nothing to say."


def agent(*replies: str | Reply | LLMError, **settings) -> ReAct:
    """Give an agent with a scripted model and two tools."""
    return ReAct(ScriptedLLM(replies), tools=[shout, count], **settings)


def run(*replies: str | Reply | LLMError, **settings) -> list[State]:
    """Give all states of a run."""
    return list(agent(*replies, **settings).steps("Loudly?"))


def kinds(state: State) -> list[str]:
    """Give the kinds of a state's events: the class, or what kind of problem."""
    return [event.kind if isinstance(event, Problem) else type(event).__name__ for event in state.events]


# -- the loop


def test_each_step_is_a_thought_or_an_act():
    states = run(SHOUT, COUNT, FINAL)
    assert [len(state.pending) for state in states] == [0, 1, 0, 1, 0, 0]
    assert [state.iterations for state in states] == [0, 1, 1, 2, 2, 3]
    assert [state.status for state in states] == [Status.RUNNING] * 5 + [Status.DONE]
    assert kinds(states[-1]) == ["Thought", "ToolCall", "Observation"] * 2 + ["Thought", "Answer"]
    assert (states[-1].answer, states[-1].reason) == ("A", "final_answer")


def test_a_finished_state_is_its_own_next_step():
    last = run(FINAL)[-1]
    assert agent().step(last) is last
    assert list(agent().steps(last)) == [last]
    assert agent().run(last) is last


def test_going_on_from_any_state_ends_the_same():
    replies = [SHOUT, SILENT, COUNT, FINAL]
    states = run(*replies)
    for state in states:
        assert agent(*replies[state.usage.calls :]).run(state) == states[-1]


def test_nothing_of_a_run_is_kept_in_the_agent():
    one = agent(SHOUT, COUNT, FINAL, FINAL)
    first, second = one.start("first?"), one.start("second?")
    first = one.step(first)
    second = one.step(second)
    assert [call.name for call in (*first.pending, *second.pending)] == ["shout", "count"]
    assert one.run(one.step(first)).goal == "first?"
    assert one.run(one.step(second)).goal == "second?"


def test_usage_adds_up_over_the_calls():
    state = run(Reply(SHOUT, usage=Usage(1, 100, 20)), Reply(FINAL, usage=Usage(1, 130, 7)))[-1]
    assert state.usage == Usage(2, 230, 27)


# -- limits and reasons


def test_the_limit_of_iterations_stops_a_run_with_its_trace_and_its_best_so_far():
    last = run(SHOUT, COUNT, max_iterations=2)[-1]
    assert (last.status, last.reason, last.answer) == (Status.STOPPED, "max_iterations", None)
    assert kinds(last) == ["Thought", "ToolCall", "Observation"] * 2 + ["max_iterations"]
    assert last.iterations == 2
    assert last.best_so_far == "3"
    assert last.events[-1].text == "no answer after 2 model calls"


def test_an_answer_in_the_last_allowed_iteration_counts():
    assert run(SHOUT, FINAL, max_iterations=2)[-1].answer == "A"


def test_a_limit_of_none_asks_nothing():
    model = ScriptedLLM([])
    last = ReAct(model, max_iterations=0).run("q")
    assert (last.reason, model.requests) == ("max_iterations", [])


@pytest.mark.parametrize("reason", ["wrong_key", "rate_limit", "context_too_long", "unreachable"])
@pytest.mark.parametrize("before", [[], [SHOUT], [SHOUT, COUNT]])
def test_a_model_that_cannot_be_asked_stops_the_run_and_empties_nothing(reason, before):
    states = run(*before, LLMError(reason, "what to change"))
    last, previous = states[-1], states[-2]
    assert (last.status, last.reason, last.answer) == (Status.STOPPED, reason, None)
    assert last.messages == previous.messages
    problem = Problem(message=len(last.messages) - 1, kind=reason, text="what to change")
    assert last.events == (*previous.events, problem)
    assert last.usage.calls == last.iterations == len(before)


# -- guards


def test_a_guard_sees_each_state_before_the_model_is_asked_and_may_stop_the_run():
    seen = []

    def at_most_one_result(state: State) -> State:
        seen.append(len(state.messages))
        results = [event for event in state.events if isinstance(event, Observation)]
        return state.stop("enough", "one result is enough") if results else state

    last = run(SHOUT, guards=[at_most_one_result])[-1]
    assert seen == [2, 4]
    assert (last.status, last.reason) == (Status.STOPPED, "enough")
    assert kinds(last) == ["Thought", "ToolCall", "Observation", "enough"]


def test_a_guard_may_add_to_what_the_model_sees():
    def remind(state: State) -> State:
        return state.add(Message("user", "Remember the goal."))

    model = ScriptedLLM([FINAL])
    ReAct(model, guards=[remind, remind]).run("q")
    assert [message["content"] for message in model.requests[0]["messages"][1:]] == [
        "Question: q",
        "Remember the goal.",
        "Remember the goal.",
    ]


def test_the_first_guard_that_stops_is_the_last_one_asked():
    def stop(state: State) -> State:
        return state.stop("first", "no")

    def never(state: State) -> State:
        raise AssertionError("asked after the run was stopped")

    assert run(guards=[stop, never])[-1].reason == "first"


# -- a new turn


def test_a_new_turn_goes_on_from_a_finished_state():
    one = agent(SHOUT, FINAL, COUNT, "Final Answer: 3")
    first = one.run("Loudly?")
    second = one.say(first, "How many?")
    assert (second.goal, second.status, second.iterations, second.reason) == ("How many?", Status.RUNNING, 0, "")
    assert second.messages == (*first.messages, Message("user", "Question: How many?"))
    assert second.answer is None
    last = one.run(second)
    assert (last.answer, last.usage.calls, last.iterations) == ("3", 4, 2)
    assert last.events[: len(first.events)] == first.events


@pytest.mark.parametrize("ending", [[FINAL], [LLMError("rate_limit", "wait")], [SILENT] * 3])
def test_a_turn_after_any_ending(ending):
    last = run(*ending)[-1]
    assert agent(FINAL).run(agent().say(last, "Again?")).answer == "A"


def test_a_running_state_takes_no_new_turn():
    for state in run(SHOUT, FINAL)[:-1]:
        with pytest.raises(ValueError, match="this state is running; only a finished one takes a new turn"):
            agent().say(state, "And?")
    with pytest.raises(ValueError, match="this state is waiting"):
        agent().say(State("g", status=Status.WAITING), "And?")


def test_limits_count_within_a_turn():
    one = agent(SHOUT, FINAL, SHOUT, FINAL, max_iterations=2)
    assert one.run(one.say(one.run("a"), "b")).answer == "A"
    one = agent(SILENT, SILENT, SILENT, FINAL, max_format_errors=2)
    assert one.run(one.say(one.run("a"), "b")).answer == "A"


# -- going on after a stop


def test_a_run_that_was_stopped_by_a_rate_limit_is_resumed_and_ends_as_if_undisturbed():
    one = agent(SHOUT, LLMError("rate_limit", "wait"), COUNT, FINAL)
    stopped = one.run("Loudly?")
    resumed = one.resume(stopped)
    assert (stopped.status, stopped.reason) == (Status.STOPPED, "rate_limit")
    assert (resumed.status, resumed.reason, resumed.iterations) == (Status.RUNNING, "", 0)
    assert (resumed.messages, resumed.events, resumed.usage) == (stopped.messages, stopped.events, stopped.usage)
    last, undisturbed = one.run(resumed), run(SHOUT, COUNT, FINAL)[-1]
    assert (last.answer, last.messages, last.usage) == (undisturbed.answer, undisturbed.messages, undisturbed.usage)
    assert [kind for kind in kinds(last) if kind != "rate_limit"] == kinds(undisturbed)


def test_a_resumed_run_has_its_iterations_anew():
    one = agent(SHOUT, COUNT, SHOUT, FINAL, max_iterations=2)
    stopped = one.run("Loudly?")
    assert stopped.reason == "max_iterations"
    last = one.run(one.resume(stopped))
    assert (last.answer, last.iterations, last.usage.calls) == ("A", 2, 4)


def test_an_interrupted_run_is_resumed():
    interrupted = replace(run(SHOUT, FINAL)[2], status=Status.INTERRUPTED, reason="interrupted")
    assert agent(FINAL).run(agent().resume(interrupted)).answer == "A"


def test_a_checked_run_is_resumed_as_its_own_agent_does():
    class Marking(ReAct):
        def resume(self, state: State) -> State:
            return replace(super().resume(state), reason="again")

    checked = "Thought: so it is\nFinal Answer: supported"
    replies = [SHOUT, LLMError("rate_limit", "wait"), FINAL, checked]
    one = SelfCheck(Marking(ScriptedLLM(replies), [shout]))
    resumed = one.resume(one.run("Loudly?"))
    assert resumed.reason == "again"
    assert one.run(resumed).answer == "A"


@pytest.mark.parametrize("status", [Status.RUNNING, Status.WAITING, Status.DONE])
def test_only_a_stopped_or_interrupted_state_is_resumed(status):
    with pytest.raises(ValueError, match=f"this state is {status}; only a stopped or interrupted one can be resumed"):
        agent().resume(State("g", status=status))


# -- forks

EDITED = {Thought: "quietly", ToolCall: 'shout(text="b")'}


def last_of(state: State, kind: type):
    return next(event for event in reversed(state.events) if isinstance(event, kind))


@pytest.mark.parametrize("at", range(1, 6))
def test_fork_a_thought_of_any_state(at):
    states = run(SHOUT, COUNT, FINAL)
    before = repr(states)
    forked = agent().fork(states[at], thought="quietly")
    assert last_of(forked, Thought).text == "quietly"
    assert last_of(forked, Thought).edited
    reply = max(i for i, message in enumerate(states[at].messages) if message.role == "assistant")
    assert forked.messages[:reply] == states[at].messages[:reply]
    assert forked.messages[reply].content.startswith("Thought: quietly\n")
    assert len(forked.messages) == reply + 1
    if at < 5:
        assert [call.name for call in forked.pending] == [last_of(states[at], ToolCall).name]
        assert forked.pending[0].arguments == last_of(states[at], ToolCall).arguments
        assert forked.status is Status.RUNNING
    else:
        assert (forked.status, forked.answer) == (Status.DONE, "A")
    assert repr(states) == before


@pytest.mark.parametrize("at", range(1, 6))
@pytest.mark.parametrize("thought", [None, "quietly"])
def test_fork_an_action_of_any_state(at, thought):
    states = run(SHOUT, COUNT, FINAL)
    before = repr(states)
    forked = agent().fork(states[at], thought=thought, action='shout(text="b")')
    assert [(call.name, call.arguments, call.edited) for call in forked.pending] == [("shout", '{"text": "b"}', True)]
    assert last_of(forked, Thought).text == (thought or last_of(states[at], Thought).text)
    assert forked.status is Status.RUNNING
    assert last_of(agent().step(forked), Observation).text == "B"
    assert agent("Final Answer: B").run(forked).answer == "B"
    assert repr(states) == before


@pytest.mark.parametrize("at", range(2, 6))
def test_fork_an_observation_of_any_state(at):
    states = run(SHOUT, COUNT, FINAL)
    before = repr(states)
    forked = agent().fork(states[at], observation="It is 40.")
    event = last_of(forked, Observation)
    assert (event.text, event.edited, event.is_error) == ("It is 40.", True, False)
    assert event.call_id == last_of(states[at], Observation).call_id
    assert forked.messages[-1] == Message("user", "Observation: It is 40.")
    assert len(forked.messages) == last_of(states[at], Observation).message + 1
    assert (forked.pending, forked.status) == ((), Status.RUNNING)
    assert agent("Final Answer: 40").run(forked).answer == "40"
    assert repr(states) == before


def test_a_forked_state_is_as_if_the_model_had_written_it():
    forked = agent().fork(run(SHOUT, FINAL)[1], thought="how many", action='count(text="banana")')
    written = agent(COUNT).step(agent().start("Loudly?"))
    unedited = [replace(event, edited=False) for event in forked.events]
    assert (forked.messages, unedited) == (written.messages, list(written.events))


def test_fork_an_action_into_an_answer_and_back():
    states = run(SHOUT, FINAL)
    done = agent().fork(states[1], action="Final Answer: silence")
    assert (done.status, done.answer) == (Status.DONE, "silence")
    again = agent().fork(done, action="shout(text='c')")
    assert (again.status, again.pending[0].arguments) == (Status.RUNNING, '{"text": "c"}')
    assert agent().fork(done, action='Action: {"name": "shout", "arguments": {"text": "d"}}').pending[0].name == "shout"


@pytest.mark.parametrize(
    "action",
    ['shout("b")', 'Action: shout("b")', "action：shout(“b”)", '**Action:** shout("b")', "shout\nAction Input: b",
     '{"name": "shout", "arguments": {"text": "b"}}', 'Shout(text="b")'],
)  # fmt: skip
def test_a_person_may_write_an_action_as_a_model_may(action):
    forked = agent().fork(run(SHOUT, FINAL)[1], action=action)
    assert [(call.name, call.arguments) for call in forked.pending] == [("shout", '{"text": "b"}')]
    assert last_of(forked, Thought).text == "loudly"


@pytest.mark.parametrize("action", ["Final Answer: B", "final answer：B", "Answer: B", "Finish[B]"])
def test_a_person_may_write_the_answer(action):
    assert agent().fork(run(SHOUT, FINAL)[1], action=action).answer == "B"


@pytest.mark.parametrize("action", ["", "shout it", "shout(", "None"])
def test_a_person_who_writes_no_action_gets_what_a_model_gets(action):
    forked = agent().fork(run(SHOUT, FINAL)[1], action=action)
    assert (kinds(forked), forked.status, forked.events[0].edited) == (["format_error"], Status.RUNNING, True)


def test_a_call_whose_action_was_made_unreadable_is_not_carried_out():
    pending = run(SHOUT, FINAL)[1]
    forked = agent().fork(pending, action="shout it")
    assert (len(pending.pending), forked.pending) == (1, ())
    assert kinds(agent(FINAL).run(forked)) == ["format_error", "Thought", "Answer"]


@pytest.mark.parametrize(
    "reply",
    [
        SHOUT,
        'Thought: t\nAction: elsewhere("x", 2)',  # an unknown tool, whose parameters have no names
        'Thought: t\nAction: {"name": "my-tool", "arguments": {"no name": [1, null], "class": true}}',
        'Thought: t\nAction: shout\nAction Input: {"text": "a\\n\\"b\\" \\\\ Observation: ）\ud800"}',
        "Thought: t\nAction: shout[what's (up)]",
    ],
)
def test_a_changed_thought_keeps_the_action_as_it_was(reply):
    state = run(reply, FINAL)[1]
    forked = agent().fork(state, thought="another")
    assert [(call.name, call.arguments) for call in forked.pending] == [
        (call.name, call.arguments) for call in state.pending
    ]
    assert last_of(forked, Thought).text == "another"


@pytest.mark.parametrize("stop", [LLMError("unreachable", "check it"), Reply("", "content_filter")])
def test_fork_a_stopped_state(stop):
    last = run(SHOUT, stop)[-1]
    assert last.status is Status.STOPPED
    forked = agent().fork(last, observation="B")
    assert (forked.status, forked.reason, kinds(forked)) == (
        Status.RUNNING,
        "",
        ["Thought", "ToolCall", "Observation"],
    )


def test_fork_a_reply_that_could_not_be_read():
    last = run(SILENT, SILENT, max_format_errors=2)[-1]
    forked = agent().fork(last, thought="now", action='shout(text="a")')
    assert kinds(forked) == ["format_error", "Thought", "ToolCall"]
    assert forked.status is Status.RUNNING


def test_what_was_spent_stays_spent_in_a_fork():
    last = run(SHOUT, COUNT, FINAL)[-1]
    assert agent().fork(last, observation="x").usage == last.usage


def test_a_fork_stays_in_the_turn_that_runs():
    one = agent(SHOUT, FINAL, FINAL)
    second = one.say(one.run("a"), "b")
    for change in ({"thought": "t"}, {"action": "shout(text='b')"}, {"observation": "o"}):
        with pytest.raises(ValueError, match="this state holds no"):
            one.fork(second, **change)
    answered = one.run(second)
    with pytest.raises(ValueError, match="this state holds no observation to change; fork a later one"):
        one.fork(answered, observation="o")
    assert one.fork(answered, thought="t").goal == "b"


@pytest.mark.parametrize(
    ("at", "change", "why"),
    [
        (0, {"thought": "t"}, "this state holds no reply of the model to change; fork a later one"),
        (0, {"action": "a()"}, "this state holds no reply of the model to change; fork a later one"),
        (0, {"observation": "o"}, "this state holds no observation to change; fork a later one"),
        (1, {"observation": "o"}, "this state holds no observation to change; fork a later one"),
        (2, {}, "fork takes an observation, or a thought, an action or both"),
        (2, {"thought": "t", "observation": "o"}, "fork takes an observation, or a thought, an action or both"),
        (2, {"action": "a()", "observation": "o"}, "fork takes an observation, or a thought, an action or both"),
    ],
)
def test_what_cannot_be_forked_is_refused(at, change, why):
    with pytest.raises(ValueError, match=why):
        agent().fork(run(SHOUT, FINAL)[at], **change)


# -- what holds for every run

REPLIES = st.one_of(
    st.sampled_from([SHOUT, COUNT, FINAL, SILENT, "", "<think>x", "Finish[3]", "Thought: only", "Action: where(x=1)"]),
    st.sampled_from(["Action: shout\nAction Input: q\nObservation: z", 'Action: shout(text="cut', "Observation: x"]),
    st.text(max_size=30),
)
ENDS = st.sampled_from(["stop", "stop", "stop", "length", "content_filter"])
SCRIPTS = st.lists(st.builds(Reply, REPLIES, ENDS) | st.just(LLMError("rate_limit", "wait")), max_size=10)
CHANGES = st.sampled_from(
    [{"thought": "new"}, {"action": 'shout("b")'}, {"thought": "new", "action": "Final Answer: 2"}, {"action": "what?"},
     {"observation": "o"}]
)  # fmt: skip


@given(SCRIPTS, st.integers(0, 5), st.integers(1, 4), CHANGES, st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_every_run_only_grows_stays_within_its_limits_and_ends_for_a_reason(script, iterations, errors, change, random):
    one = agent(*script, *[FINAL] * 40, max_iterations=iterations, max_format_errors=errors)
    states = list(one.steps("q"))
    for before, after in pairwise(states):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.events[: len(before.events)] == before.events
    state = random.choice(states)
    try:
        forked = one.run(one.fork(state, **change))
    except ValueError:
        assert "observation" in change or all(message.role != "assistant" for message in state.messages)
        forked = state if state.status is not Status.RUNNING else states[-1]
    for last in (states[-1], forked, one.run(one.say(forked, "Again?"))):
        assert last.status in (Status.DONE, Status.STOPPED)
        assert last.reason
        assert last.iterations <= max(iterations, state.iterations)
        assert str(last).startswith(f"Question: {last.goal}\n")
        calls = [event.id for event in last.events if isinstance(event, ToolCall)]
        assert len(set(calls)) == len(calls)
        assert all(event.message < len(last.messages) for event in last.events)


# -- interrupts


def interrupting(text: str) -> str:
    """Be interrupted."""
    raise KeyboardInterrupt


def test_an_interrupt_in_a_tool_ends_the_run_with_every_call_answered():
    one = ReAct(ScriptedLLM(['Action: interrupting(text="a")']), tools=[interrupting])
    *_, before, last = one.steps("q")
    assert (last.status, last.reason, last.pending) == (Status.INTERRUPTED, "interrupted", ())
    assert last.events == (
        *before.events,
        Observation(message=3, call_id="call_1", text=CANCELLED.text, kind="cancelled"),
    )
    assert [message.role for message in last.messages] == ["system", "user", "assistant", "user"]
    assert agent(FINAL).run(agent().say(last, "Again?")).answer == "A"


def test_an_interrupt_while_the_model_thinks_keeps_the_trace():
    class Interrupted(ScriptedLLM):
        def chat(self, messages, *, stop=()):
            if self.requests:
                raise KeyboardInterrupt
            return super().chat(messages, stop=stop)

    *_, before, last = ReAct(Interrupted([SHOUT]), tools=[shout]).steps("q")
    assert last == replace(before, status=Status.INTERRUPTED, reason="interrupted")


def test_an_interrupted_run_saved_and_loaded_can_be_forked(tmp_path):
    one = ReAct(ScriptedLLM(['Action: interrupting(text="a")', FINAL]), tools=[interrupting])
    one.run("q").save(tmp_path / "s.json")
    assert one.run(one.fork(State.load(tmp_path / "s.json"), observation="A")).answer == "A"


# -- what a strategy has to say


def test_a_strategy_says_how_to_open_think_and_act():
    class Echo(Agent):
        def opening(self, goal):
            return (self.turn(goal),)

        def turn(self, text):
            return Message("user", text)

        def ask(self, state):
            return self.llm.chat(state.messages)

        def read(self, state, reply, *, edited=False):
            event = Answer(message=len(state.messages), text=reply.content, raw=reply.content, edited=edited)
            return state.add(reply.message, event, status=Status.DONE, reason="final_answer")

        def rewrite(self, state, index, thought, action):
            return Reply(thought or action)

    echo = Echo(ScriptedLLM(["hello"]))
    last = echo.run("hi")
    assert (last.answer, echo.fork(last, thought="bye").answer) == ("hello", "bye")


# -- killed and resumed

STEP_BY_STEP = """
import os, signal, sys
from agentlib import LLM, ReAct, State, Status
from agentlib.world import calculator, search, weather

path, steps = sys.argv[1], int(sys.argv[2])
agent = ReAct(LLM("offline"), tools=[search, weather, calculator])
state = State.load(path) if os.path.exists(path) else agent.start("Is it warmer in Beijing or in Shanghai?")
for _ in range(steps):
    state = agent.step(state)
    state.save(path)
if state.status is Status.RUNNING:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def in_a_process(path: Path, steps: int) -> int:
    """Take some steps in another process, which then kills itself unless it is done; give its exit status."""
    command = [sys.executable, "-c", STEP_BY_STEP, str(path), str(steps)]
    return subprocess.run(command, cwd=ROOT, timeout=60, check=False).returncode


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_a_run_killed_after_every_step_ends_as_one_that_was_not(tmp_path):
    assert in_a_process(tmp_path / "whole.json", 40) == 0
    whole = State.load(tmp_path / "whole.json")
    assert whole.status is Status.DONE
    path, killed = tmp_path / "parts.json", 0
    while in_a_process(path, 1) == -signal.SIGKILL:
        killed += 1
    assert State.load(path) == whole
    assert path.read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert killed == len([*whole.messages]) - 3  # every step but the last; a run starts with two messages
