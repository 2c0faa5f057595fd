"""States: nothing changes an old one, and what is saved comes back the same, or fails in one line."""

import dataclasses
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentlib import (
    Answer,
    Evaluation,
    Message,
    Observation,
    Problem,
    ReAct,
    ScriptedLLM,
    State,
    Status,
    Thought,
    ToolCall,
    Turn,
    Usage,
)
from agentlib.state import StateError

ROOT = Path(__file__).parents[1]


def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


REPLIES = ['Thought: first\nAction: shout(text="a")', "no action", "Thought: then\nFinal Answer: A\nObservation: no"]


def states() -> list[State]:
    """Run with one of every kind of event in it."""
    return list(ReAct(ScriptedLLM(REPLIES), tools=[shout]).steps("Loudly?"))


@dataclass(frozen=True)
class Task:
    """A part of a plan."""

    name: str
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepState(State):
    """A state with further fields."""

    plan: tuple[Task, ...] = ()
    score: float = 0.0
    inner: State | None = None


@dataclass(frozen=True, kw_only=True)
class Planned(Thought):
    """An event with a further field."""

    tasks: tuple[Task, ...]


# -- nothing changes an old state


def test_no_later_step_changes_an_old_state():
    agent = ReAct(ScriptedLLM(REPLIES), tools=[shout])
    state, kept, written = agent.start("Loudly?"), [], []
    while state.status is Status.RUNNING:
        kept.append(state)
        written.append(repr(state))
        state = agent.step(state)
    assert [repr(state) for state in kept] == written
    assert [len(state.messages) for state in kept] == [2, 3, 4, 6]


def test_a_list_that_is_handed_in_stays_the_callers():
    messages, events, pending = [Message("user", "a")], [], []
    state = State("g", messages, events, pending)
    messages.append(Message("user", "b"))
    events.append("x")
    pending.append("y")
    assert state.messages == (Message("user", "a"),)
    assert state.events == state.pending == ()


def test_adding_to_a_copy_leaves_the_state_as_it_was(tmp_path):
    first = State("g", (Message("user", "a"),))
    first.save(tmp_path / "s.json")
    later = State.load(tmp_path / "s.json").add(Message("user", "b"), Thought(message=1, text="t", raw="r"))
    assert (len(first.messages), len(first.events)) == (1, 0)
    assert (len(later.messages), len(later.events)) == (2, 1)
    assert State.load(tmp_path / "s.json") == first


def test_every_part_of_a_state_is_frozen():
    for value in (states()[-1], Usage(), *states()[-1].events, *states()[-1].messages):
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.anything = 1
    hash(states()[-1])  # only a value that is immutable all the way down has a hash


# -- one truth: the events


def test_the_events_of_the_steps_the_last_state_and_a_saved_one_are_the_same(tmp_path):
    streamed, seen = [], 0
    for state in states():
        streamed += [type(event) for event in state.events[seen:]]
        seen = len(state.events)
    state.save(tmp_path / "s.json")
    assert streamed == [Thought, ToolCall, Observation, Problem, Thought, Answer, Problem]
    assert [type(event) for event in state.events] == streamed
    assert [type(event) for event in State.load(tmp_path / "s.json").events] == streamed


def test_events_name_the_message_they_were_read_from():
    last = states()[-1]
    for event in last.events:
        content = last.messages[event.message].content
        if isinstance(event, Problem):
            assert event.raw.startswith(content)
        else:
            assert event.text in content if not isinstance(event, ToolCall) else event.name in content


def test_run_gives_a_state_and_steps_gives_states_one_by_one():
    llm = ScriptedLLM(REPLIES)
    agent = ReAct(llm, tools=[shout])
    steps = agent.steps("Loudly?")
    assert llm.requests == []  # nothing is asked before somebody looks
    first = next(steps)
    assert first == agent.start("Loudly?")
    assert list(steps)[-1] == ReAct(ScriptedLLM(REPLIES), tools=[shout]).run("Loudly?")


def test_a_state_reads_as_a_story():
    assert str(states()[-1]) == (
        "Question: Loudly?\n"
        "Thought: first\n"
        'Action: shout(text="a")\n'
        "Observation: A\n"
        "Problem (format_error): it has neither an Action nor a Final Answer\n"
        "Thought: then\n"
        "Final Answer: A\n"
        "Problem (invented_observation): Observation: no\n"
        "[done: final_answer, model calls: 3]"
    )


@pytest.mark.parametrize("arguments", ["[1]", "nope", "", "3", "null", '{"a": ', "[" * 100_000])
def test_a_call_whose_arguments_are_no_object_shows_them_as_they_are(arguments):
    call = ToolCall(message=0, id="c", name="shout", arguments=arguments, raw="")
    assert str(call) == f"Action: shout({arguments})"
    assert str(State("g", events=[call])).splitlines()[1] == str(call)


# -- the answer, and the best so far


def test_there_is_an_answer_only_when_the_run_is_done():
    *before, last = states()
    assert [state.answer for state in before] == [None] * len(before)
    assert last.answer == last.best_so_far == "A"
    assert dataclasses.replace(last, status=Status.RUNNING).answer is None


def test_the_best_so_far_is_the_last_finding_else_the_last_thought():
    state = State("g", (Message("user", "q"),))
    assert state.best_so_far == ""
    state = state.add(Message("assistant", ""), Thought(message=1, text="maybe 4", raw=""))
    assert state.best_so_far == "maybe 4"
    state = state.add(Message("user", ""), Observation(message=2, call_id="c", text="it is 5"))
    state = state.add(Message("user", ""), Observation(message=3, call_id="d", text="Error: no", kind="tool_error"))
    assert state.best_so_far == "it is 5"


# -- save and load

TEXT = st.text(st.characters(exclude_categories=()), max_size=20)  # also lone surrogates, newlines and NUL
ORIGIN = {"message": st.integers(0, 9), "edited": st.booleans()}
CALLS = st.builds(ToolCall, id=TEXT, name=TEXT, arguments=TEXT, raw=TEXT, **ORIGIN)
EVENTS = st.one_of(
    CALLS,
    st.builds(Thought, text=TEXT, raw=TEXT, **ORIGIN),
    st.builds(Observation, call_id=TEXT, text=TEXT, kind=st.sampled_from(["ok", "tool_error"]), **ORIGIN),
    st.builds(Answer, text=TEXT, raw=TEXT, **ORIGIN),
    st.builds(Problem, kind=TEXT, text=TEXT, raw=TEXT, **ORIGIN),
    st.builds(Turn, text=TEXT, **ORIGIN),
    st.builds(Evaluation, kind=TEXT, verdict=TEXT, text=TEXT, asked=TEXT, raw=TEXT, **ORIGIN),
)
USAGES = st.builds(Usage, *[st.integers(0, 10**12)] * 3)
FIELDS = {
    "goal": TEXT,
    "messages": st.lists(st.builds(Message, TEXT, TEXT), max_size=4),
    "events": st.lists(EVENTS, max_size=6),
    "pending": st.lists(CALLS, max_size=2),
    "status": st.sampled_from(Status),
    "reason": TEXT,
    "iterations": st.integers(0, 10**6),
    "usage": USAGES,
}
STATES = st.builds(State, **FIELDS)


@given(STATES)
@example(State("half a character: \ud800", [Message("user", "\udfff")]))  # drawn too rarely to rely on
@settings(max_examples=100, deadline=None)
def test_what_is_saved_comes_back(tmp_path_factory, state):
    path = tmp_path_factory.mktemp("saved") / "state.json"
    state.save(path)
    loaded = State.load(path)
    assert loaded == state
    assert [type(event) for event in loaded.events] == [type(event) for event in state.events]
    assert type(loaded.status) is Status


def test_subclasses_with_further_fields_come_back(tmp_path):
    tasks = (Task("a"), Task("b", after=("a",)))
    event = Planned(message=0, text="t", raw="r", tasks=tasks)
    inner = states()[1]
    state = StepState("g", (Message("user", "q"),), (event,), plan=tasks, score=0.5, inner=inner)
    for each in (state, StepState("g")):
        each.save(tmp_path / "plan.json")
        assert State.load(tmp_path / "plan.json") == each
        assert StepState.load(tmp_path / "plan.json") == each


def test_the_same_state_is_the_same_file(tmp_path):
    states()[-1].save(tmp_path / "a.json")
    states()[-1].save(str(tmp_path / "b.json"))
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["agentlib"] == 2


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    State("old").save(path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left"):
        patched.setattr(os, "fsync", full)
        State("new").save(path)
    assert State.load(path) == State("old")
    assert os.listdir(tmp_path) == ["state.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
def test_a_saved_file_has_the_permissions_of_any_new_file_and_keeps_those_it_was_given(tmp_path, mask):
    path = tmp_path / "state.json"
    before = os.umask(mask)
    try:
        State("new").save(path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    for mode in (0o644, 0o600, 0o664):
        path.chmod(mode)
        State(f"{mode}").save(path)
        assert path.stat().st_mode & 0o777 == mode
        assert State.load(path).goal == f"{mode}"


@pytest.mark.skipif(sys.platform == "win32", reason="a link needs a privilege there")
@pytest.mark.parametrize("exists", [True, False])
def test_saving_through_a_link_writes_the_file_it_leads_to(tmp_path, exists):
    (tmp_path / "kept").mkdir()
    target, link = tmp_path / "kept" / "state.json", tmp_path / "link.json"
    link.symlink_to(Path("kept") / "state.json")
    if exists:
        State("old").save(target)
    State("new").save(link)
    assert link.is_symlink()
    assert State.load(target) == State("new")
    assert os.listdir(tmp_path / "kept") == ["state.json"]


SAVE_OVER_AND_OVER = """
import sys
from agentlib import Message, State
path, size = sys.argv[1], 200_000
print("ready", flush=True)
while True:
    for letter in "ab":
        State(letter, (Message("user", letter * size),)).save(path)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_process_killed_while_it_saves_leaves_a_whole_file(tmp_path):
    path = tmp_path / "state.json"
    for pause in (0.003, 0.011, 0.02):
        command = [sys.executable, "-c", SAVE_OVER_AND_OVER, str(path)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            while not path.exists():
                pass
            try:
                process.wait(pause)
            except subprocess.TimeoutExpired:
                process.kill()
        state = State.load(path)
        assert state.messages[0].content == state.goal * 200_000


# -- files that are no saved states


def saved(**changes) -> dict:
    """Give the JSON of a saved state with some fields changed; a value of `...` takes a field away."""
    state = {
        "type": "State", "goal": "g", "messages": [], "events": [], "pending": [], "approved": [],
        "status": "running", "reason": "",
        "iterations": 0, "usage": {"type": "Usage", "calls": 0, "prompt_tokens": 0, "completion_tokens": 0},
    }  # fmt: skip
    return {"agentlib": 2, "state": {key: value for key, value in (state | changes).items() if value is not ...}}


def event(**changes) -> dict:
    """Give the JSON of an event with some fields changed."""
    return {"type": "Thought", "message": 0, "edited": False, "text": "t", "raw": "r"} | changes


MESSAGE = {"type": "Message", "role": "", "tool_calls": [], "tool_call_id": ""}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "Expecting value"),
        ("hello", "Expecting value"),
        (json.dumps(saved())[:-9], "line 1 column"),
        ("[" * 100_000, "recursion"),
        ("[]", "stands where a dict belongs"),
        ("3", "stands where a dict belongs"),
        ("{}", "it was saved in version None; this is version 2"),
        (json.dumps({"agentlib": 2}), "'None' stands where a dict belongs"),
        (json.dumps(saved() | {"agentlib": 1}), "it was saved in version 1; this is version 2"),
        (json.dumps(saved() | {"agentlib": "1"}), "it was saved in version '1'; this is version 2"),
        (json.dumps({"agentlib": 2, "state": []}), "'[]' stands where a dict belongs"),
        (json.dumps({"agentlib": 2, "state": {}}), "None stands where a State belongs"),
        (json.dumps(saved(type="Stately")), "'Stately' stands where a State belongs"),
        (json.dumps(saved(type="Thought")), "'Thought' stands where a State belongs"),
        (json.dumps(saved(type=["State"])), "stands where a State belongs"),
        (json.dumps(saved(goal=...)), "a State lacks or should not have 'goal'"),
        (json.dumps(saved(colour="red")), "a State lacks or should not have 'colour'"),
        (json.dumps(saved(goal=3)), "'3' stands where a str belongs"),
        (json.dumps(saved(goal=None)), "'None' stands where a str belongs"),
        (json.dumps(saved(iterations="0")), "'0' stands where a int belongs"),
        (json.dumps(saved(iterations=True)), "'True' stands where a int belongs"),
        (json.dumps(saved(iterations=1.0)), "'1.0' stands where a int belongs"),
        (json.dumps(saved(status="sleeping")), "'sleeping' is not a valid Status"),
        (json.dumps(saved(status=1)), "'1' stands where a str belongs"),
        (json.dumps(saved(messages="hi")), "'hi' stands where a list belongs"),
        (json.dumps(saved(messages={})), "'{}' stands where a list belongs"),
        (json.dumps(saved(messages=["hi"])), "'hi' stands where a dict belongs"),
        (json.dumps(saved(messages=[MESSAGE])), "a Message lacks or should not have 'content'"),
        (json.dumps(saved(messages=[event()])), "'Thought' stands where a Message belongs"),
        (json.dumps(saved(events=[event(type="Dream")])), "'Dream' stands where a Event belongs"),
        (json.dumps(saved(events=[event(text=None)])), "'None' stands where a str belongs"),
        (json.dumps(saved(events=[event(edited=0)])), "'0' stands where a bool belongs"),
        (json.dumps(saved(pending=[event()])), "'Thought' stands where a ToolCall belongs"),
        (json.dumps(saved(usage=None)), "'None' stands where a dict belongs"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_in_one_line(tmp_path, content, why):
    path = tmp_path / "state.json"
    path.write_text(content, "utf-8")
    with pytest.raises(StateError) as caught:
        State.load(path)
    assert str(caught.value).startswith(f"{path} is not a saved state: ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_and_deep_nesting_in_a_field_are_refused(tmp_path):
    path = tmp_path / "state.json"
    for content in (b"\xff\xfe\x00", b'{"agentlib": 2, "state": ' + b'{"a":' * 50_000, b"\x00" * 100, b"9" * 5000):
        path.write_bytes(content)
        with pytest.raises(StateError, match="is not a saved state"):
            State.load(path)


def test_a_missing_file_and_a_directory_are_refused_in_one_line(tmp_path):
    with pytest.raises(StateError, match=r"^cannot read .*absent\.json: No such file or directory$"):
        State.load(tmp_path / "absent.json")
    with pytest.raises(StateError, match=r"^cannot read ") as caught:
        State.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_state_does_not_load_as_another_class(tmp_path):
    State("g").save(tmp_path / "s.json")
    with pytest.raises(StateError, match="'State' stands where a StepState belongs"):
        StepState.load(tmp_path / "s.json")


def test_the_good_file_of_these_tests_is_good(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps(saved(events=[event()])), "utf-8")
    assert State.load(tmp_path / "s.json") == State("g", events=(Thought(message=0, text="t", raw="r"),))


def test_a_plan_is_loaded_by_a_process_that_made_none(tmp_path):
    from agentlib import PlanState

    PlanState("goal").save(tmp_path / "s.json")
    program = "import sys; from agentlib import State; print(type(State.load(sys.argv[1])).__name__)"
    command = [sys.executable, "-c", program, str(tmp_path / "s.json")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "PlanState\n"
