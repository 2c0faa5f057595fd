"""Guards: what counts as a loop, what reaches the model, what may be cut, and that no run gets worse by them."""

import json
import random
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlib import (
    LLM,
    ContextBudget,
    GoalReminder,
    LLMError,
    LoopGuard,
    Message,
    Observation,
    Problem,
    ReAct,
    Reply,
    ScriptedLLM,
    SelfCheck,
    State,
    Status,
    Stepper,
    ToolCall,
    Turn,
    Usage,
)
from agentlib.state import CUT
from agentlib.widgets.editing import edits
from agentlib.widgets.frames import frame

FINAL = "Thought: I know\nFinal Answer: A"


def attach(name: str) -> str:
    """Attach a file."""
    return "ok"


def ls(path: str, depth: int = 1) -> str:
    """List a folder."""
    return f"{path}: empty"


def ask(tool: str, **arguments) -> str:
    """Give the reply that asks for a tool."""
    return f"Thought: t\nAction: {json.dumps({'name': tool, 'arguments': arguments})}"


LS = ask("ls", path="/")


def agent(*replies, guards=(), **options) -> ReAct:
    """Give an agent with a scripted model, two tools and guards."""
    return ReAct(ScriptedLLM(replies), [attach, ls], guards=guards, **{"max_iterations": 20} | options)


def run(*replies, guards=None, **options) -> list[State]:
    """Give all states of a run, with a LoopGuard unless other guards are given."""
    guards = [LoopGuard()] if guards is None else guards
    return list(agent(*replies, guards=guards, **options).steps("Where is it?"))


def problems(state: State) -> list[str]:
    """Give the kinds of a state's problems."""
    return [event.kind for event in state.events if isinstance(event, Problem)]


def calls_until(state: State, kind: str) -> int:
    """Count the calls before the first problem of a kind."""
    at = next(i for i, event in enumerate(state.events) if isinstance(event, Problem) and event.kind == kind)
    return sum(isinstance(event, ToolCall) for event in state.events[:at])


# -- loops


def test_a_call_made_three_times_is_told_to_the_model_and_then_stops_the_run():
    model = ScriptedLLM([LS] * 4)
    last = ReAct(model, [ls], guards=[LoopGuard()]).run("Where is it?")
    assert (last.status, last.reason, last.answer) == (Status.STOPPED, "loop", None)
    assert problems(last) == ["loop_warning", "loop"]
    assert [calls_until(last, kind) for kind in problems(last)] == [3, 4]
    sent = [message["content"] for message in model.requests[3]["messages"]]
    assert sent[-1] == (
        'Note: you have called ls(path="/") 3 times in a row. '
        "Do something else, or give the final answer with what you know."
    )
    assert sent[-2] == "Observation: /: empty"
    assert not any("Note:" in message["content"] for message in model.requests[2]["messages"])
    warning = next(event for event in last.events if isinstance(event, Problem))
    assert warning.text == 'called ls(path="/") 3 times in a row'
    assert last.messages[warning.message].content == sent[-1]
    assert last.events[-1].text == 'asked again, after a warning, for ls(path="/")'


def test_calls_that_differ_are_no_loop_whatever_they_give():
    names = [ask("attach", name=name) for name in "abc"]
    last = run(*names, LS, LS, LS, LS)[-1]
    assert [calls_until(last, kind) for kind in ("loop_warning", "loop")] == [6, 7]
    assert problems(run(*(ask("attach", name=str(n)) for n in range(12)), FINAL)[-1]) == []
    assert problems(run(*(ask("missing", n=n) for n in range(12)), FINAL)[-1]) == []


@pytest.mark.parametrize(
    "same",
    [
        ['Action: {"name": "ls", "arguments": {"path": "/", "depth": 2}}',
         'Action: {"name": "ls", "arguments": {"depth": 2, "path": "/"}}', 'Action: ls(depth=2,   path="/")'],
        ['Action: ls("/")', "Action: LS[/]", "Action: ls\nAction Input: /"],
        ['Action: {"name": "x", "arguments": {"a": {"b": 1, "c": [1.0]}}}',
         'Action: {"name": "x", "arguments": {"a": {"c": [1], "b": 1}}}',
         'Action: {"name": "x", "arguments": {"a": {"b": 1, "c": [1e0]}}}'],
    ],
)  # fmt: skip
def test_the_way_a_call_is_written_does_not_matter(same):
    assert problems(run(*same, FINAL)[-1])[-1] == "loop_warning"


@pytest.mark.parametrize(
    "other",
    [ask("ls", path="/a"), ask("ls", path="/", depth=1), ask("attach", path="/"), ask("ls", path=1),
     ask("ls", path="1"), ask("ls", path=True)],
)  # fmt: skip
def test_one_different_argument_is_a_different_call(other):
    assert "loop_warning" not in problems(run(LS, LS, other, LS, LS, other, other, FINAL)[-1])


def test_calls_that_take_turns_are_a_loop():
    a, b, c = LS, ask("attach", name="b"), ask("attach", name="c")
    last = run(*[a, b] * 4)[-1]
    assert (last.reason, calls_until(last, "loop_warning"), calls_until(last, "loop")) == ("loop", 6, 7)
    warning = next(event for event in last.events if isinstance(event, Problem))
    assert warning.text == 'called these 3 times in a row: ls(path="/"), attach(name="b")'
    last = run(*[a, b, c] * 4)[-1]
    assert (last.reason, calls_until(last, "loop_warning"), calls_until(last, "loop")) == ("loop", 9, 10)
    last = run(c, c, *[a, b] * 4)[-1]
    assert (last.reason, calls_until(last, "loop_warning")) == ("loop", 8)


def test_replies_that_cannot_be_read_do_not_hide_a_loop():
    last = run(LS, "hm", LS, "hm", LS, "hm", LS)[-1]
    assert (last.reason, calls_until(last, "loop")) == ("loop", 4)
    assert [problem for problem in problems(last) if problem.startswith("loop")] == ["loop_warning", "loop"]


def test_another_action_after_the_warning_starts_the_count_anew():
    other = ask("attach", name="b")
    assert run(LS, LS, LS, other, LS, LS, FINAL)[-1].answer == "A"
    last = run(LS, LS, LS, other, LS, LS, LS, other, LS, LS, LS, LS)[-1]
    assert problems(last) == ["loop_warning", "loop_warning", "loop_warning", "loop"]
    assert last.reason == "loop"
    assert run(LS, LS, LS, FINAL)[-1].answer == "A"


def test_going_on_with_either_of_two_calls_that_took_turns_is_going_on():
    a, b = LS, ask("attach", name="b")
    assert run(*[a, b] * 3, b)[-1].reason == "loop"


@pytest.mark.parametrize("times", [2, 3, 5])
def test_how_often_is_too_often_can_be_set(times):
    last = run(*[LS] * (times + 1), guards=[LoopGuard(times)])[-1]
    assert (last.reason, calls_until(last, "loop_warning")) == ("loop", times)
    assert run(*[LS] * (times - 1), FINAL, guards=[LoopGuard(times)])[-1].answer == "A"


@pytest.mark.parametrize("wrong", [lambda: LoopGuard(1), lambda: GoalReminder(0), lambda: ContextBudget(0)])
def test_a_guard_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"is [01]; "):
        wrong()


def calling(*replies: list[tuple[str, str]]) -> State:
    """Give a state as function calling will leave it: several calls in a reply, each answered."""
    state = State("g", (Message("system", "s"), Message("user", "g")))
    for number, reply in enumerate(replies):
        origin = {"message": len(state.messages), "raw": ""}
        calls = [ToolCall(id=f"{number}.{i}", name=n, arguments=a, **origin) for i, (n, a) in enumerate(reply)]
        state = state.add(Message("assistant", ""), *calls)
        for call in calls:
            state = state.add(
                Message("tool", "r"), Observation(message=len(state.messages), call_id=call.id, text="r")
            )
    return replace(state, iterations=len(replies))


A, B, C = ("a", '{"x": 1}'), ("b", '{"x": 1, "y": [2]}'), ("b", '{"y": [2], "x": 1.0}')


@pytest.mark.parametrize(
    ("replies", "looping"),
    [
        ([[A], [A], [A]], True),
        ([[A, B], [A, B], [A, B]], True),
        ([[A, B], [C, A], [B, A]], True),  # the calls of one reply have no order
        ([[A], [B], [C], [B]], True),
        ([[A, B], [A]], False),
        ([[A, B], [A], [B]], False),
        ([[A], [B], [A], [B], [A]], False),
        ([[("a", "no json")]] * 3, True),
        ([[("a", "[1]")]] * 3, True),
        ([[("a", "9" * 5000)]] * 3, True),
        ([[("a", "[" * 200_000)]] * 3, True),
        ([[("a", "no json")], [("a", "no json ")], [("a", "no")]], False),
        ([[("a", '{"x": "\ud800", "y": NaN, "z": 1e400}')]] * 3, True),
    ],
)
def test_several_calls_in_a_reply(replies, looping):
    state = calling(*replies)
    warned = LoopGuard()(state)
    assert (warned != state) == looping
    if looping:
        assert warned.messages[:-1] == state.messages
        assert (warned.messages[-1].role, warned.events[-1].kind) == ("user", "loop_warning")


def test_after_a_warning_a_reply_with_one_new_call_is_not_going_on():
    def after(*reply):
        warned = LoopGuard()(calling([A], [A], [A]))
        more = calling(*[[A]] * 3, list(reply)).events[6:]
        return LoopGuard()(replace(warned, events=(*warned.events, *more)))

    assert after(A).reason == after(A, A).reason == "loop"
    assert after(A, B).status is Status.RUNNING


def test_long_arguments_are_shortened_for_the_model():
    last = run(*[ask("ls", path="x" * 5000)] * 3, FINAL)[-1]
    note = next(message.content for message in last.messages if message.content.startswith("Note:"))
    assert len(note) < 400
    assert "xxx…" in note


# -- a guarded run can be continued, forked, saved


LOOP = [LS] * 4


def test_a_new_turn_starts_the_count_anew():
    one = agent(LS, LS, FINAL, LS, LS, FINAL, guards=[LoopGuard()])
    last = one.run(one.say(one.run("a"), "b"))
    assert (last.answer, problems(last)) == ("A", [])
    one = agent(*LOOP, *LOOP, guards=[LoopGuard()])
    last = one.run(one.say(one.run("a"), "b"))
    assert problems(last) == ["loop_warning", "loop"] * 2
    one = agent(LS, LS, LLMError("rate_limit", "wait"), LS, LS, FINAL, guards=[LoopGuard()])
    assert problems(one.run(one.say(one.run("a"), "b"))) == ["rate_limit"]


def test_a_saved_run_is_guarded_as_one_that_never_paused(tmp_path):
    states = run(*LOOP)
    for state in states:
        state.save(tmp_path / "s.json")
        rest = agent(*LOOP[state.usage.calls :], guards=[LoopGuard()])
        assert rest.run(State.load(tmp_path / "s.json")) == states[-1]


@pytest.mark.parametrize("at", range(1, 9))
def test_forks_of_a_guarded_run(at):
    states = run(*LOOP)
    before = repr(states)
    one = agent(LS, LS, FINAL, guards=[LoopGuard()])
    forked = one.fork(states[at], action='ls("/b")')
    assert forked.pending[0].arguments == '{"path": "/b"}'
    assert one.run(forked).answer == "A"
    if at > 1:
        one = agent(LS, LS, FINAL, guards=[LoopGuard()])
        forked = one.fork(states[at], observation="It is here.")
        assert forked.messages[-1].content == "Observation: It is here."
        assert one.run(forked).answer == "A"  # a person has changed something: the count starts anew
    assert repr(states) == before


def test_a_warning_is_no_observation_and_no_turn():
    warned = LoopGuard()(run(LS, LS, LS, guards=(), max_iterations=3)[-2])
    assert warned.messages[-1].content.startswith("Note:")
    forked = agent().fork(warned, observation="new")
    assert [message.content for message in forked.messages[-2:]] == [LS, "Observation: new"]
    assert problems(forked) == []
    assert agent(LLMError("rate_limit", "wait")).run(warned).goal == "Where is it?"


def test_format_errors_in_a_row_are_counted_whatever_guards_say_in_between():
    guards = [GoalReminder(1), ContextBudget(1), LoopGuard(2)]
    last = run("hm", "", "hm", guards=guards, max_format_errors=3)[-1]
    assert (last.reason, last.usage.calls) == ("format_error", 3)


# -- the goal


def test_the_goal_is_repeated_after_every_so_many_calls():
    model = ScriptedLLM([ask("attach", name=str(n)) for n in range(4)] + [FINAL])
    last = ReAct(model, [attach], guards=[GoalReminder(every=2)]).run("Where is it?")
    note = "Note: the goal is still this: Where is it?"
    assert [r["messages"][-1]["content"] == note for r in model.requests] == [False, False, True, False, True]
    assert sum(message.content == note for message in last.messages) == 2


def test_a_reminder_names_the_goal_of_this_turn():
    one = agent(FINAL, LS, FINAL, guards=[GoalReminder(1)])
    last = one.run(one.say(one.run("first?"), "second?"))
    assert [m.content for m in last.messages if m.content.startswith("Note:")] == [
        "Note: the goal is still this: second?"
    ]


# -- the context


@dataclass(frozen=True)
class Calls(Message):
    """A reply with calls, or a result, as on the wire."""

    calls: tuple[str, ...] = ()
    answers: str = ""

    def to_wire(self) -> dict:
        more = {"tool_calls": [{"id": call} for call in self.calls]} if self.calls else {"tool_call_id": self.answers}
        return super().to_wire() | more


def messages(*written: str) -> tuple[Message, ...]:
    """Give messages from such as `system`, `user:GOAL`, `assistant:a,b` and `tool:a`."""
    found = []
    for each in written:
        role, _, rest = each.partition(":")
        more = {"assistant": {"calls": tuple(rest.split(","))}, "tool": {"answers": rest}}.get(role)
        found.append(Calls(role, "", **more) if more else Message(role, rest))
    return tuple(found)


def test_only_whole_groups_are_cut():
    history = messages(
        "system", "user:GOAL", "assistant:a,b", "tool:a", "tool:b", "user:next", "assistant:c", "tool:c"
    )
    result, turn = Observation(message=4, call_id="b", text="r"), Turn(message=5, text="next")
    state = State("next", history, (result, turn, Problem(message=7, kind="x", text="")))
    cut = ContextBudget(2 + 4, count=lambda text: 1)(state)
    assert cut.messages == (*history[:2], *history[5:])
    assert [event.message for event in cut.events] == [CUT, 2, 4, CUT]
    assert cut.events[-1].kind == "context_cut"
    assert cut.events[-1].text == "cut 3 of 8 messages, the oldest that could be; the budget is 6"
    assert ContextBudget(6, count=lambda text: 1)(cut) == cut
    assert ContextBudget(8, count=lambda text: 1)(state) == state


def test_what_a_message_carries_beside_its_text_counts():
    plain = State("g", messages("system", "user:g", "assistant:a", "tool:a", "assistant:b", "tool:b"))
    assert len(ContextBudget(60)(plain).messages) == 4
    assert ContextBudget(600)(plain) == plain


@pytest.mark.parametrize(
    "history",
    [(), ("system",), ("user:g",), ("system", "user:g"), ("system", "user:g", "assistant:a", "tool:a"),
     ("assistant:a",), ("system", "assistant:a"), ("system", "user:g", "user:more", "user:yet more")],
)  # fmt: skip
def test_what_cannot_be_cut_stays(history):
    state = State("g", messages(*history))
    assert ContextBudget(1, count=lambda text: 100)(state) == state


def test_a_run_within_a_budget_sends_no_more_than_that():
    model = ScriptedLLM([*(ask("attach", name="x" * 100 + str(n)) for n in range(9)), FINAL])
    system = len(ReAct(model, [attach]).start("Where is it?").messages[0].content)
    last = ReAct(model, [attach], guards=[ContextBudget(system + 600)]).run("Where is it?")
    assert last.answer == "A"
    sizes = [sum(len(message["content"]) for message in request["messages"]) for request in model.requests]
    assert max(sizes) <= system + 600
    assert len(last.messages) < 12
    for request in model.requests:
        roles = [message["role"] for message in request["messages"]]
        assert roles == ["system", "user", *["assistant", "user"] * (len(roles) // 2 - 1)]
    assert sum(isinstance(event, ToolCall) for event in last.events) == 9
    for event in last.events:
        if isinstance(event, Observation) and event.message != CUT:
            assert last.messages[event.message].content == "Observation: ok"
    assert {event.message for event in last.events if isinstance(event, Problem)} == {CUT}


def test_a_model_that_finds_everything_too_long_stops_the_run_and_empties_nothing():
    too_long = LLMError("context_too_long", "the messages do not fit")
    states = run(LS, too_long, guards=[ContextBudget(1)])
    assert (states[-1].reason, states[-1].messages) == ("context_too_long", states[-2].messages)
    assert [event for event in states[-1].events if isinstance(event, Observation)]


def test_a_loop_is_seen_even_when_only_one_step_is_kept():
    assert run(*LOOP, guards=[ContextBudget(1), LoopGuard()])[-1].reason == "loop"
    assert run(*LOOP, guards=[LoopGuard(), ContextBudget(1)])[-1].reason == "loop"


def test_the_question_of_this_turn_stays_when_earlier_turns_are_cut():
    one = agent(*[LS] * 3, FINAL, *[LS] * 6, FINAL, guards=[ContextBudget(1)])
    last = one.run(one.say(one.run("first?"), "second?"))
    assert [m.content for m in last.messages[1:3]] == ["Question: first?", "Question: second?"]
    assert [message.role for message in last.messages] == ["system", "user", "user", "assistant", "user", "assistant"]
    turn = next(event for event in last.events if isinstance(event, Turn))
    assert last.messages[turn.message].content == "Question: second?"
    forked = one.fork(last, observation="new")
    assert forked.messages[-1].content == "Observation: new"


def test_a_run_that_was_cut_can_be_forked_and_continued(tmp_path):
    states = run(*(ask("attach", name=str(n)) for n in range(5)), FINAL, guards=[ContextBudget(1)])
    for number, state in enumerate(states[1:], 1):
        state.save(tmp_path / "s.json")
        assert State.load(tmp_path / "s.json") == state
        forked = agent().fork(state, thought="other")
        assert forked.messages[-1].content.startswith("Thought: other")
        if number > 1:
            forked = agent().fork(state, observation="new")
            assert forked.messages[-1].content == "Observation: new"
            assert agent(FINAL).run(forked).answer == "A"
    assert agent(FINAL).run(agent().say(states[-1], "Again?")).answer == "A"


# -- in the Stepper


def shown(*replies, guards) -> Stepper:
    """Show a run in the Stepper, with token counts as a server gives them."""
    one = agent(*(Reply(reply, usage=Usage(1, 10, 1)) if isinstance(reply, str) else reply for reply in replies),
                guards=guards)
    return Stepper(one.steps("Where is it?"), one)


def test_the_step_of_a_warning_shows_it_as_sent_and_as_a_problem():
    stepper = shown(*LOOP, guards=[LoopGuard()])
    steps = [frame(stepper.branches[0], number) for number in range(len(stepper.branches[0]))]
    warned = steps[7]
    assert (warned.kind, warned.title, warned.faulty) == ("think", "The model asks for ls.", True)
    assert warned.state.messages[warned.asked - 1].content.startswith("Note: you have called")
    assert (steps[-1].kind, steps[-1].title) == ("stop", "The run is stopped: loop.")
    assert '> Problem (loop_warning): called ls(path="/") 3 times in a row' in str(stepper)
    assert stepper.receive({"fork": {"run": 0, "step": 7, "field": "action", "text": "Final Answer: here"}}) == ""
    assert stepper.branches[1][-1].answer == "here"


def test_a_reply_that_could_not_be_read_after_a_warning_is_what_can_be_edited():
    stepper = shown(LS, LS, LS, "hm", FINAL, guards=[LoopGuard()])
    of = frame(stepper.branches[0], 7)
    assert [of.events[position].kind for position in edits(of)] == ["format_error"]
    assert of.reply[1] == "hm"


def test_a_step_that_cut_shows_its_own_reply_and_events_and_how_many_are_gone():
    stepper = shown(*[LS] * 4, LLMError("rate_limit", "wait"), guards=[ContextBudget(1)])
    states = stepper.branches[0]
    for number, state in enumerate(states):
        of = frame(states, number)
        if of.kind == "think":
            assert of.reply == (len(state.messages) - 1, LS)
            assert of.asked == len(state.messages) - 1
            assert [type(event).__name__ for event in of.events][-2:] == ["Thought", "ToolCall"]
            assert len(of.events) == 2 + (number >= 5)
            assert of.removed == 2 * (number >= 5)
        elif of.kind == "act":
            assert len(of.events) == 1
    last = frame(states, len(states) - 1)
    assert (last.kind, last.reply, last.removed) == ("stop", None, 2)
    assert [event.kind for event in last.events] == ["context_cut", "rate_limit"]
    assert "messages of the step before that were taken away: 2" in str(stepper)


def test_a_new_turn_is_seen():
    one = agent(FINAL, FINAL)
    first = list(one.steps("a"))
    stepper = Stepper([*first, *one.steps(one.say(first[-1], "b"))], one)
    assert frame(stepper.branches[0], 2).kind == "turn"
    assert "> Turn: b" in str(stepper)
    assert "data-kind=\"turn\"" in stepper._repr_mimebundle_()["text/html"]


# -- what holds for every run

REPLIES = st.one_of(
    st.sampled_from([LS, LS, LS, ask("attach", name="b"), FINAL, "hm", "", "Action: where(x=1)", "Observation: x"]),
    st.text(max_size=20),
)
VERDICTS = st.sampled_from(["Final Answer: supported", "Thought: no\nFinal Answer: not supported", "hm"])
SCRIPTS = st.lists(
    st.builds(Reply, REPLIES | VERDICTS, st.sampled_from(["stop", "stop", "length", "content_filter"]))
    | st.just(LLMError("rate_limit", "wait")),
    max_size=14,
)
GUARDS = st.lists(
    st.builds(LoopGuard, st.integers(2, 3))
    | st.builds(GoalReminder, st.integers(1, 3))
    | st.builds(ContextBudget, st.integers(1, 2500)),
    max_size=4,
)


def check_history(state: State) -> None:
    """See that an API takes this history, and that each event names its message."""
    roles = [message.role for message in state.messages]
    assert roles[:2] == ["system", "user"]
    assert set(roles[2:]) <= {"assistant", "user"}
    assert all(isinstance(message.content, str) for message in state.messages)
    assert "assistant assistant" not in " ".join(roles)
    for event in state.events:
        assert CUT <= event.message < len(state.messages)
        if isinstance(event, ToolCall) and event.message != CUT:
            assert roles[event.message] == "assistant"
        if isinstance(event, Observation) and event.message != CUT:
            assert state.messages[event.message].content.startswith("Observation: ")
            call = next(e for e in state.events if isinstance(e, ToolCall) and e.id == event.call_id)
            assert call.message == event.message - 1


@given(SCRIPTS, GUARDS, st.integers(0, 12), st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_every_guarded_run_ends_for_a_reason_and_changes_no_earlier_state(script, guards, limit, checked, chance):
    one = agent(*script, *[FINAL] * 60, guards=guards, max_iterations=limit)
    one = SelfCheck(one) if checked else one
    states, copies = [], []
    for state in one.steps("q"):
        states.append(state)
        copies.append(repr(state))
        check_history(state)
    for before, after in pairwise(states):
        unmoved = [[replace(event, message=0) for event in state.events] for state in (before, after)]
        assert unmoved[1][: len(unmoved[0])] == unmoved[0]  # no event is ever lost
    for guard in guards:
        for state in states:
            guarded = guard(state)
            check_history(guarded)
            assert guard(guarded) == guarded
            if state.pending or state.status is not Status.RUNNING:
                assert guarded is state
    state = chance.choice(states)
    change = chance.choice([{"thought": "n"}, {"action": "ls(1)"}, {"observation": "o"}])
    try:
        forked = one.run(one.fork(state, **change))
    except ValueError:
        forked = states[-1]
    for last in (states[-1], forked, one.run(one.say(forked, "Again?"))):
        check_history(last)
        assert last.status in (Status.DONE, Status.STOPPED)
        assert last.reason
        assert last.iterations <= max(limit, state.iterations)
    str(Stepper(states))
    assert [repr(state) for state in states] == copies


def test_a_thousand_runs_end_for_a_reason():
    chance = random.Random(4)
    some = [LS, LS, LS, ask("attach", name="b"), "hm", "", "Final Answer: 1", "Final Answer: not supported"]
    reasons = {}
    for _ in range(1000):
        script = chance.choices(some, [6, 6, 6, 2, 2, 1, 1, 1], k=40)
        guards = [LoopGuard(), GoalReminder(2), ContextBudget(chance.randint(1, 2000))]
        one = agent(*script, guards=chance.sample(guards, chance.randint(0, 3)), max_iterations=12)
        last = (SelfCheck(one) if chance.random() < 0.5 else one).run("q")
        check_history(last)
        assert last.status in (Status.DONE, Status.STOPPED)
        reasons[last.reason] = reasons.get(last.reason, 0) + 1
    print(reasons)
    assert set(reasons) == {"final_answer", "loop", "format_error", "empty_reply", "max_iterations"}


def test_guards_leave_a_run_of_the_offline_model_as_it_is_while_there_is_nothing_to_guard():
    from agentlib.world import search, weather

    tools, goal = [search, weather], "Is it warmer in Beijing or in Shanghai?"
    guards = [LoopGuard(), GoalReminder(10), ContextBudget(100_000)]
    assert ReAct(LLM("offline"), tools, guards=guards).run(goal) == ReAct(LLM("offline"), tools).run(goal)


def test_the_offline_model_goes_on_after_what_guards_tell_it():
    from agentlib.world import search, weather

    tools, goal = [search, weather], "Is it warmer in Beijing or in Shanghai?"
    last = ReAct(LLM("offline"), tools, guards=[GoalReminder(1)]).run(goal)
    assert last.answer == ReAct(LLM("offline"), tools).run(goal).answer
