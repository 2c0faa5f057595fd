"""The Stepper without a browser: what it shows, in text and in HTML, and what it does when a view asks."""

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlib import (
    Answer,
    Evaluation,
    LLMError,
    Message,
    Observation,
    Problem,
    ReAct,
    Reply,
    ScriptedLLM,
    State,
    Status,
    Stepper,
    Thought,
    ToolCall,
    Turn,
    Usage,
)  # fmt: skip
from agentlib.state import Event
from agentlib.widgets import as_html
from agentlib.widgets.frames import frame, split_reply
from agentlib.widgets.visible import visible

GOAL = "Which university did the CEO of DeepMind attend?"
SCRIPT = [
    'Thought: Who leads it?\nAction: search(query="DeepMind CEO")',
    'Thought: Where did he study?\nAction: search(query="Demis Hassabis")\nObservation: At MIT.\nFinal Answer: MIT',
    "Let me think.",
    "Thought: I know it.\nFinal Answer: Cambridge",
]
HOSTILE = "</script></style></pre></details><img src=x onerror=alert(1)>&lt;\" ' \x00 \x1b[31m \ud800 \r\n\r `${x}`"


def search(query: str) -> str:
    """Look something up.

    Args:
        query: what to look up
    """
    return {"DeepMind CEO": "Demis Hassabis leads DeepMind."}.get(query, "He attended Cambridge.")


def agent(replies=SCRIPT, **settings):
    return ReAct(ScriptedLLM(reply if isinstance(reply, LLMError) else Reply(reply, usage=Usage(1, 100, 10))
                             for reply in replies), [search], **settings)


def stepper(*more, **settings):
    """Show the scripted run; `more` are the replies that forks of it will get."""
    made = agent([*SCRIPT, *more], **settings)
    return Stepper(made.steps(GOAL), made)


def html_of(shown):
    return shown._repr_mimebundle_()["text/html"]


def fork(shown, field, text, step, run=0):
    return shown.receive({"fork": {"run": run, "step": step, "field": field, "text": text}})


class Page(HTMLParser):
    """The elements of a page; each as (tag, attributes, texts in it). Fails on what does not nest."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements = [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), []))
        self.open.append(self.elements[-1])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for _, _, texts in self.open:
            texts.append(data)

    def texts(self, tag, name=None):
        """Give the texts of the elements of this tag and class, without the line end that opens a `pre`."""
        found = ["".join(texts) for t, has, texts in self.elements if t == tag and has.get("class") == name]
        return [text.removeprefix("\n") for text in found]


# -- what it shows


def test_text_tells_the_whole_run():
    text = str(stepper())
    assert text.startswith(f"Stepper, run 1: 7 steps, done (final_answer)\nQuestion: {GOAL}\n\n-- Step 0 · start")
    assert re.findall(r"^-- Step (\d) · (\w+)", text, re.M) == [
        *zip("0123456", ["start", "think", "search", "think", "search", "think", "answer"], strict=True)
    ]
    for shown in (
        "Then stop. The result comes back to you as:",  # the instructions
        "iterations 1 (+1), model calls 1 (+1), prompt tokens 100 (+100), completion tokens 10 (+10), messages 3 (+1)",
        "sent to the model: messages 0 to 3, 2 of them new",
        "message 4, assistant, discarded:\n      Observation: At MIT.\n      Final Answer: MIT",
        "> Problem (invented_observation): Observation: At MIT.\n     Final Answer: MIT",
        "> Problem (format_error): it has neither an Action nor a Final Answer",
        "Format error: it has neither an Action nor a Final Answer.",  # what the model is sent back
        "> Observation: Demis Hassabis leads DeepMind.",
        "status running → done (final_answer)",
        "> Final Answer: Cambridge",
    ):
        assert shown in text


def test_html_shows_each_message_once_and_what_was_discarded():
    shown = stepper()
    last = shown.branches[0][-1]
    page = Page(html_of(shown))
    numbers = [int(a["data-m"]) for _, a, _ in page.elements if "data-m" in a]
    assert sorted(numbers) == list(range(len(last.messages)))
    texts = {int(a["data-m"]): "".join(t) for _, a, t in page.elements if "data-m" in a}
    assert all(message.content in texts[number] for number, message in enumerate(last.messages))
    assert page.texts("del") == ["Observation: At MIT.\nFinal Answer: MIT"]


def test_html_shows_each_event():
    shown = stepper()
    page = Page(html_of(shown))
    events = [(a["data-kind"], "".join(t)) for _, a, t in page.elements if a.get("class") == "als-event"]
    thinks = ["thought", "action"]
    kinds = [*thinks, "observation", *thinks, "problem", "observation", "problem", "thought", "answer"]
    assert [kind for kind, _ in events] == kinds
    for (_, text), event in zip(events, shown.branches[0][-1].events, strict=True):
        assert (event.text if hasattr(event, "text") else str(event).removeprefix("Action: ")) in text


def test_html_reads_without_script_and_repeats_no_identifier():
    page = Page(html_of(stepper()))
    steps = [a for t, a, _ in page.elements if t == "details" and a["class"] == "als-step"]
    assert len(steps) == 7
    assert all("open" not in a for a in steps)
    assert not any("id" in a for _, a, _ in page.elements)


def test_each_request_is_counted_against_the_one_before():
    shown = [frame(stepper().branches[0], number) for number in range(7)]
    assert [(f.asked, f.known) for f in shown] == [(0, 0), (2, 0), (0, 0), (4, 2), (0, 0), (6, 4), (8, 6)]


def test_messages_that_were_taken_away_are_told():
    states = list(agent().steps(GOAL))
    short = replace(states[4], messages=(states[4].messages[0], Message("user", "Summary: all is well.")))
    shown = Stepper([*states[:5], short])
    assert frame(shown.branches[0], 5).removed == 5
    assert "messages of the step before that were taken away: 5" in str(shown)
    assert "5 messages of the step before: taken away." in html_of(shown)


def test_what_a_message_carries_beside_its_text_is_shown():
    @dataclass(frozen=True)
    class Called(Message):
        def to_wire(self):
            return {**super().to_wire(), "tool_calls": [{"id": "call_7"}]}

    shown = Stepper([State(GOAL, (Called("assistant", ""),))])
    assert '"call_7"' in str(shown)
    assert "&quot;call_7&quot;" in html_of(shown)


def test_both_forms_are_the_same_every_time():
    code = """if True:
        import sys, test_stepper as t
        shown = t.stepper("Thought: a\\nFinal Answer: b")
        t.fork(shown, "observation", "It is closed.", 2)
        sys.stdout.buffer.write((str(shown) + t.html_of(shown)).encode())
    """
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    outputs = {
        subprocess.run(command, capture_output=True, check=True, env=environ | {"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert b"fork at step 2" in outputs.pop()


CALL = ToolCall(message=0, id="c", name="search", arguments='{"query": "x"}', raw="r")
EVENTS = [
    Thought(message=0, text="t", raw="r"),
    CALL,
    replace(CALL, arguments="not JSON"),
    replace(CALL, arguments="[1]"),
    Observation(message=0, call_id="c", text="o"),
    Observation(message=9, call_id="unknown", text="o", kind="tool_error"),
    Answer(message=0, text="a", raw="r"),
    Problem(message=-1, kind="max_iterations", text="p"),
    Turn(message=1, text="t"),
    Evaluation(message=1, kind="self_check", verdict="unknown", text="e", asked="a", raw="r"),
    Event(message=0),
]


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("event", [*EVENTS, *(replace(event, edited=True) for event in EVENTS)], ids=repr)
def test_every_kind_of_event_is_shown_in_every_status(event, status):
    before = State(GOAL, (Message("user", "u"),))
    for message in (Message("assistant", "r"), Message("user", "r")):
        shown = Stepper([before, before.add(message, event, status=status, reason="why")], agent())
        name = {ToolCall: "Action", Answer: "Final Answer"}.get(type(event), type(event).__name__)
        assert name in str(shown)
        page = Page(html_of(shown))
        assert [text.split()[0] for text in page.texts("div", "als-tag")] == [name.split()[0]]
        assert page.texts("span", "als-badge als-edited") == ["edited"] * event.edited
        assert str(status) in page.texts("span", "als-status")[-1]


def test_a_stopped_step_says_why():
    shown = stepper(max_iterations=1)
    assert "stopped (max_iterations)" in str(shown)
    assert frame(shown.branches[0], 3).kind == "stop"


# -- no text can break it


def run_with(text):
    """Give a run that holds this text wherever a model, a tool or a person can put one."""
    call = ToolCall(message=1, id="c", name=text, arguments=text, raw=f"{text}\n{text}")
    start = State(text, (Message(text, text), Message("user", text)))
    think = start.add(Message("assistant", text), Thought(message=2, text=text, raw=call.raw), call, pending=(call,))
    act = think.add(Message("user", text), Observation(message=3, call_id="c", text=text, edited=True), pending=())
    return [start, think, act, act.stop(text, text)]


@settings(max_examples=150, deadline=None)
@given(st.text() | st.text(alphabet="<>&\"'/=! -abdegilmoprst\n\r\x00") | st.just(HOSTILE))
def test_no_text_adds_an_element(text):
    page = Page(as_html.page(Stepper(run_with(text))._runs, can_edit=True))
    assert {tag for tag, _, _ in page.elements} <= {"div", "span", "details", "summary", "pre", "b", "ins", "del"}
    names = {name for _, attributes, _ in page.elements for name in attributes}
    assert {name for name in names if not name.startswith("data-")} <= {"class", "dir", "open", "title"}
    assert visible(text) in page.texts("pre", "als-text")
    str(Stepper(run_with(text))).encode()


def test_a_terminal_gets_no_control_characters():
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]", str(Stepper(run_with(HOSTILE))))


def test_style_and_script_cannot_end_early():
    page = as_html.twin(stepper()._runs, can_edit=True)
    assert page.count("</script") == page.count("</style") == 1


@given(st.text("ab \n"), st.text("ab \n"), st.text("ab \n"))
def test_a_reply_is_split_without_loss(before, accepted, after):
    raw = before + accepted.strip() + after
    head, kept, tail = split_reply(raw, accepted.strip())
    assert head + kept + tail == raw
    assert kept.strip() == accepted.strip()
    assert all(part == "" or part.strip() for part in (head, tail))


def test_a_reply_with_a_hole_is_shown_whole_beside_what_was_kept():
    assert split_reply("a<think>b</think>c", "ac") is None
    start = State(GOAL)
    read = start.add(Message("assistant", "ac"), Answer(message=0, text="ac", raw="a<think>b</think>c"))
    texts = Page(html_of(Stepper([start, read]))).texts("pre", "als-text")
    assert texts == ["a<think>b</think>c", "ac", "ac"]


def long_run(steps):
    """Give the first states of a run that goes on and on."""
    replies = [f'Thought: number {n}\nAction: search(query="{n}")' for n in range(steps // 2)]
    return list(agent([*replies, "Final Answer: x"], max_iterations=1000).steps(GOAL))[:steps]


def test_long_runs_stay_small(record_property):
    """The page grows with what is new in each step, not with the whole history."""

    def size(steps):
        return len(as_html.page(Stepper(long_run(steps))._runs, can_edit=True))

    small, large = size(20), size(200)
    print(f"20 steps: {small:,} characters; 200 steps: {large:,}")
    assert large < 11 * small
    assert large < 200 * 2500


def test_long_runs_stay_quick():
    """Four times the states take about four times the processor, not sixteen times."""

    def seconds(states):
        begun = time.process_time()
        as_html.page(Stepper(states)._runs, can_edit=True)
        return time.process_time() - begun

    small, large = (min(seconds(states) for _ in range(5)) for states in (long_run(200), long_run(800)))
    print(f"200 states: {small:.3f} s; 800 states: {large:.3f} s")
    assert large < 6 * small


# -- what it does when a view asks


def test_a_fork_runs_to_its_end_and_leaves_the_old_run():
    shown = stepper("Thought: So it is said.\nFinal Answer: Oxford")
    (old,) = shown.branches
    assert fork(shown, "observation", "He attended Oxford.", 4) == ""
    first, second = shown.branches
    assert first == old
    assert second[:4] == old[:4]
    assert second[4].events[-1] == replace(old[4].events[-1], text="He attended Oxford.", edited=True)
    assert second[-1].answer == "Oxford"
    assert "Stepper, fork at step 4: 6 steps, done (final_answer)" in str(shown)
    titles = Page(html_of(shown)).texts("div", "als-run-title")
    assert titles == ["run 1", "fork at step 4: steps 0 to 3 are those of run 1"]


@pytest.mark.parametrize(
    ("field", "text", "step", "expected"),
    [
        ("thought", "I ask Oxford.", 1, 'Thought: I ask Oxford.\nAction: search(query="DeepMind CEO")'),
        ("action", 'search(query="x")', 3, 'Thought: Where did he study?\nAction: search(query="x")'),
        ("action", "Final Answer: Oxford", 5, "Final Answer: Oxford"),  # in place of the unreadable reply
        ("action", "Final Answer: Oxford", 6, "Thought: I know it.\nFinal Answer: Oxford"),
    ],
)
def test_a_fork_changes_what_was_edited(field, text, step, expected):
    shown = stepper("Final Answer: done")
    fork(shown, field, text, step)
    changed = shown.branches[1][step]
    assert expected in [message.content for message in changed.messages]
    assert frame(shown.branches[1], step).edited
    assert shown.branches[1][-1].status is Status.DONE


def test_what_can_be_edited_is_what_a_fork_changes():
    page = Page(html_of(stepper()))
    fields = [a["data-edit"] for _, a, _ in page.elements if "data-edit" in a]
    thinks = ["thought", "action"]
    assert fields == [*thinks, "observation", *thinks, "observation", "action", *thinks]


def test_forks_of_forks_get_labels_of_their_own():
    shown = stepper(*["Final Answer: a"] * 3)
    fork(shown, "observation", "a", 4)
    fork(shown, "observation", "b", 4)
    fork(shown, "action", "Final Answer: c", 5, run=1)
    assert repr(shown) == (
        "Stepper(run 1: 7 steps, fork at step 4: 6 steps, fork at step 4 · 2: 6 steps, fork at step 5: 6 steps)"
    )
    assert shown.branches[3][:5] == shown.branches[1][:5]


def test_a_live_run_takes_one_step_for_each_press():
    shown = Stepper.live(agent(), GOAL)
    assert [len(run) for run in shown.branches] == [1]
    for count in range(1, 7):
        assert shown.receive({"next": {"run": 0, "shown": count}}) == ""
        assert len(shown.branches[0]) == count + 1
    assert shown.receive({"next": {"run": 0, "shown": 7}}) == ""  # it is done
    assert shown.branches[0] == tuple(agent().steps(GOAL))


def test_a_press_that_came_too_early_does_nothing():
    shown = Stepper.live(agent(), GOAL)
    for _ in range(3):
        shown.receive({"next": {"run": 0, "shown": 1}})
    assert len(shown.branches[0]) == 2


def test_a_live_run_goes_on_from_a_state():
    finished = agent().run(GOAL)
    going = agent(["Final Answer: b"])
    shown = Stepper.live(going, going.say(finished, "And then?"))
    shown.receive({"next": {"run": 0, "shown": 1}})
    assert shown.branches[0][-1].answer == "b"


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ({"fork": {"run": 0, "step": 0, "field": "observation", "text": "x"}}, "this state holds no observation"),
        ({"fork": {"run": 0, "step": 0, "field": "thought", "text": "x"}}, "this state holds no reply"),
        ({"fork": {"run": 0, "step": 2, "field": "observation", "text": "x"}}, "the script holds 4 replies"),
        ({"fork": {"run": 0, "step": 1, "field": "goal", "text": "x"}}, "goal"),
        ({"fork": {"run": 7, "step": 1, "field": "thought", "text": "x"}}, "list index out of range"),
        ({}, "next"),
    ],
    ids=str,
)
def test_what_goes_wrong_is_one_line(message, line):
    said = stepper().receive(message)
    assert line in said
    assert "\n" not in said


def test_a_model_that_cannot_be_asked_is_one_line_and_the_trace_stays():
    shown = stepper(LLMError("wrong_key", "correct OPENAI_API_KEY\nin .env"))
    assert fork(shown, "observation", "x", 2) == "stopped (wrong_key): correct OPENAI_API_KEY"
    assert shown.branches[1][-1].reason == "wrong_key"
    assert len(shown.branches[1]) == 4


@pytest.mark.parametrize("step", [1, 2])
def test_a_fork_that_fails_before_its_first_state_adds_no_run(step):
    class Broken(ReAct):
        def steps(self, start):
            yield from ()
            raise RuntimeError("out of order")

    states = list(agent().steps(GOAL))[step:]
    shown = Stepper(states, Broken(ScriptedLLM([]), [search]))
    before = str(shown), html_of(shown)
    field = {1: "thought", 2: "observation"}[step]
    assert fork(shown, field, "x", 0) == "out of order"
    assert shown.branches == (tuple(states),)
    assert (str(shown), html_of(shown)) == before


def leave(query: str) -> str:
    """Leave.

    Args:
        query: how
    """
    sys.exit({"number": 3, "lines": "bye\nbye", "nothing": None}[query])


@pytest.mark.parametrize(
    ("how", "line"), [("number", "SystemExit 3"), ("lines", "SystemExit bye"), ("nothing", "SystemExit")]
)
def test_a_tool_that_exits_is_one_line(how, line):
    shown = Stepper.live(ReAct(ScriptedLLM([f'Action: leave(query="{how}")']), [leave]), GOAL)
    assert shown.receive({"next": {"run": 0, "shown": 1}}) == ""
    assert shown.receive({"next": {"run": 0, "shown": 2}}) == line
    assert len(shown.branches[0]) == 2


def test_an_interrupt_gets_through():
    class Interrupted(ReAct):
        def step(self, state):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Stepper.live(Interrupted(ScriptedLLM([])), GOAL).receive({"next": {"run": 0, "shown": 1}})


def test_a_stepper_needs_states():
    with pytest.raises(ValueError, match="no states"):
        Stepper([])
    with pytest.raises(ValueError, match="not one state"):
        Stepper(agent().run(GOAL))


# -- the live view


def test_the_view_is_sent_each_new_step_as_it_comes():
    shown = stepper("Thought: So it is said.\nFinal Answer: Oxford")
    seen = []
    shown.widget.observe(lambda change: seen.append([step["html"] for step in change["new"]]), "added")
    fork(shown, "observation", "He attended Oxford.", 4)
    assert [len(steps) for steps in seen] == [1, 2]
    assert seen[1] == [as_html.step(shown.branches[1], 4), as_html.step(shown.branches[1], 5)]
    assert shown.widget.added[0] | {"html": ""} == {
        "run": 1, "label": "fork at step 4", "parent": 0, "shared": 4, "html": ""
    }  # fmt: skip
    assert shown.widget.page == as_html.page(stepper()._runs, can_edit=True)


def test_the_view_is_answered_whatever_happens(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    shown = stepper()
    sent = []
    monkeypatch.setattr(shown.widget, "send", sent.append)
    shown.widget._handle_custom_msg({"hello": True}, [])
    shown.widget._handle_custom_msg({"fork": {"run": 0, "step": 0, "field": "thought", "text": "x"}}, [])
    monkeypatch.setattr(shown.agent, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shown.widget._handle_custom_msg({"fork": {"run": 0, "step": 1, "field": "thought", "text": "x"}}, [])
    assert sent == [
        {"hello": True},
        {"done": True, "line": "this state holds no reply of the model to change; fork a later one"},
        {"done": True, "line": ""},
    ]


def test_widgets_are_loaded_only_when_one_is_shown():
    code = """if True:
        import sys
        from agentlib import State, Stepper
        shown = Stepper([State("Why?")])
        str(shown), repr(shown)
        print("anywidget" in sys.modules, "traitlets" in sys.modules)
        print(sorted(shown._repr_mimebundle_()))
    """
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environ, text=True).stdout
    assert said.splitlines() == [
        "False False",
        "['application/vnd.jupyter.widget-view+json', 'text/html', 'text/plain']",
    ]
