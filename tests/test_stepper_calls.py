"""What the Stepper shows of function calling, and of calls that wait for a person."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_stepper import Page, fork, html_of

from agentlib import (
    Call,
    Decision,
    FunctionCalling,
    Message,
    Observation,
    ReAct,
    Reply,
    ScriptedLLM,
    State,
    Status,
    Stepper,
    ToolCall,
    tool,
)
from agentlib.approval import attended, reject_all
from agentlib.exactly import exactly
from agentlib.widgets import as_html
from agentlib.widgets.calls import as_json, call_text, one_line
from agentlib.widgets.frames import frame

GOAL = "Is it warmer in Rome or in Oslo?"


def weather(city: str) -> str:
    """Tell the weather.

    Args:
        city: where
    """
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"{city}: {len(city)} degrees"


def calling(*calls, content="", finish_reason="tool_calls"):
    """A reply with calls; each is (id, name, arguments)."""
    written = [Call(i, name, a if isinstance(a, str) else json.dumps(a)) for i, name, a in calls]
    return Reply(content, finish_reason, tool_calls=tuple(written))


BOTH = calling(("a", "weather", {"city": "Rome"}), ("b", "weather", {"city": "Oslo"}), content="I look at both.")


class Shop:
    """A tool that writes, and what it wrote."""

    def __init__(self):
        self.paid = []

        @tool(writes=True)
        def refund(order: str, amount: float, note: str = "") -> str:
            """Pay money back."""
            self.paid.append((order, amount))
            return f"Refunded {amount} for {order}."

        self.refund = refund


def shown(*replies, tools=(weather,), strategy=FunctionCalling, **settings):
    """Show a scripted run to its end, or to where it waits."""
    agent = strategy(ScriptedLLM(replies), tools, **settings)
    return Stepper(agent.steps(GOAL), agent)


def refunding(*more, before=(), arguments=None):
    """Show a run that waits for the approval of a refund; and the shop."""
    shop = Shop()
    arguments = arguments or {"order": "A-1", "amount": 12.5}
    asks = calling(*before, ("r", "refund", arguments), content="I pay it back.")
    return shown(asks, *more, tools=[weather, shop.refund]), shop


def press(stepper, decision=None, run=0):
    """Press next, with a decision or without."""
    given = {"decision": decision} if decision else {}
    return stepper.receive({"next": {"run": run, "shown": len(stepper.branches[run]), **given}})


# -- several calls in one reply


def test_the_calls_of_a_reply_stand_in_its_message_with_their_ids():
    page = Page(html_of(shown(BOTH, "Rome")))
    assert page.texts("span", "als-call-id") == ["a", "b", "a", "b"]  # of the reply, then of the two results
    assert page.texts("div", "als-call") == ['weather(city="Rome")a', 'weather(city="Oslo")b']
    assert "tool_calls" not in "".join(page.texts("div", "als-step"))  # no JSON


def test_each_result_says_which_call_it_answers():
    stepper = shown(BOTH, "Rome")
    tags = Page(as_html.step(stepper.branches[0], 2)).texts("div", "als-tag")
    assert tags == ['Observation from weather(city="Rome")', 'Observation from weather(city="Oslo")']
    text = str(stepper)
    assert 'message 2, assistant:\n      I look at both.\n      a: weather(city="Rome")\n      b: weather(' in text
    assert "message 3, tool, answers a of weather:\n      Rome: 4 degrees" in text
    assert '> Observation from weather(city="Oslo"): Oslo: 4 degrees' in text
    assert "-- Step 1 · think · The model asks for weather ×2." in text
    assert "-- Step 2 · weather ×2 · Ran weather ×2." in text


def test_a_long_call_beside_its_result_is_cut():
    stepper = shown(calling(("a", "weather", {"city": "x" * 500}), ("b", "weather", {"city": "y"})), "Rome")
    tags = Page(as_html.step(stepper.branches[0], 2)).texts("div", "als-tag")
    assert len(tags[0]) < 130
    assert tags[0].endswith("…")


def test_each_kind_of_error_has_its_badge():
    asked = [("weather", {"city": "Atlantis"}), ("wether", {}), ("weather", {}), ("weather", {"city": "Rome"})]
    asks = calling(*[(f"call_{n}", *each) for n, each in enumerate(asked)])
    stepper = shown(asks, "Rome")
    badges = Page(as_html.step(stepper.branches[0], 2)).texts("span", "als-badge")
    assert [text for text in badges if not text.startswith("from ")] == ["tool_error", "unknown_tool", "bad_arguments"]
    assert frame(stepper.branches[0], 2).title == "Ran weather ×3, wether; 3 of 4 gave an error."
    assert frame(stepper.branches[0], 2).faulty


def test_calls_that_were_cut_off_are_shown_as_discarded():
    stepper = shown(calling(("a", "weather", '{"city": "Ro'), content="I look.", finish_reason="length"), "Rome")
    page = Page(as_html.step(stepper.branches[0], 1))
    assert page.texts("del") == ['weather({"city": "Ro)a']
    (reply,) = page.texts("div", "als-message als-raw")
    assert reply == 'I look.\nweather({"city": "Ro)aThe struck calls were discarded.'
    assert 'discarded: weather({"city": "Ro)' in str(stepper)
    assert "cut_off_calls" in "".join(page.texts("span", "als-badge"))


def test_a_reply_without_text_shows_its_calls_only():
    page = Page(as_html.step(shown(calling(("a", "weather", {"city": "Rome"})), "Rome").branches[0], 1))
    assert page.texts("div", "als-message als-raw") == ['weather(city="Rome")a']
    assert as_html.step(shown(Reply(""), "Rome").branches[0], 1).count("als-call") == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=8) | st.sampled_from(["city", "0", "class", "X-Y"]), JSON, max_size=4))
def test_what_the_edit_box_holds_asks_for_the_same_call(arguments):
    """Forking with the text as it stands changes nothing of what the tool is given."""
    agent = FunctionCalling(ScriptedLLM([calling(("a", "anything", arguments))]), [])
    state = agent.step(agent.start(GOAL))
    (call,) = (event for event in state.events if isinstance(event, ToolCall))
    again = agent.fork(state, action=f"Action: {one_line(call)}").pending[0]
    assert (again.name, json.loads(again.arguments)) == ("anything", json.loads(call.arguments))


@given(st.text())
def test_any_arguments_can_be_shown(text):
    call = Call("a", "search", text)
    assert "".join(call_text(call))
    assert as_json(text).isprintable() or "\n" in as_json(text)


def test_an_edit_box_holds_all_calls_of_its_reply():
    stepper = shown(BOTH, "Rome", "It is warmer in Bergen.")
    page = Page(html_of(stepper))
    events = [(a["data-edit"], a["data-draft"], "".join(t)) for _, a, t in page.elements if "data-edit" in a]
    assert [field for field, _, _ in events] == ["thought", "action", "observation", "action"]
    assert events[1][1] == 'Action: weather(city="Rome")\nAction: '
    assert events[1][2].endswith('weather(city="Oslo")')
    draft = events[1][1] + 'weather(city="Bergen")'
    assert fork(stepper, "action", draft, 1) == ""
    changed = stepper.branches[1][1]
    assert [json.loads(call.arguments)["city"] for call in changed.pending] == ["Rome", "Bergen"]
    assert changed.messages[2].content == "I look at both."
    assert stepper.branches[1][-1].answer == "It is warmer in Bergen."


@pytest.mark.parametrize(
    ("field", "text", "step"),
    [
        ("thought", "I look twice.", 1),
        ("action", "weather(city='Pisa')", 1),
        ("action", "Final Answer: Pisa,\nof course.", 1),
        ("observation", "Oslo: 40 degrees", 2),
        ("action", "Final Answer: Pisa", 3),
    ],
)
def test_a_fork_of_a_function_calling_run_changes_what_was_edited(field, text, step):
    stepper = shown(BOTH, "Rome", "Pisa")
    assert fork(stepper, field, text, step) == ""
    changed, last = stepper.branches[1][step], stepper.branches[1][-1]
    assert frame(stepper.branches[1], step).edited
    wanted = {"weather(city='Pisa')": '{"city": "Pisa"}'}.get(text, text.removeprefix("Final Answer: "))
    held = [(message.content, [call.arguments for call in message.tool_calls]) for message in changed.messages]
    assert any(wanted in (content, *arguments) for content, arguments in held)
    assert last.status is Status.DONE
    assert stepper.branches[0] == shown(BOTH, "Rome").branches[0]


def test_what_is_no_call_is_one_line():
    stepper = shown(BOTH, "Rome")
    assert fork(stepper, "action", "perhaps Rome", 1).startswith("this is no call, such as")
    assert len(stepper.branches) == 1


# -- a call that waits


def test_a_call_that_waits_is_shown_with_how_to_decide():
    stepper, _ = refunding()
    assert stepper.branches[0][-1].status is Status.WAITING
    page = Page(html_of(stepper))
    (box,) = [a for _, a, _ in page.elements if a.get("class") == "als-call-waiting"]
    assert box["data-call"] == 'refund(order="A-1", amount=12.5)'
    assert json.loads(box["data-arguments"]) == {"order": "A-1", "amount": 12.5}
    (text,) = page.texts("div", "als-call-waiting")
    for part in (box["data-call"], "waits for a person", "agent.run(agent.approve(state))", "reject(state, reason="):
        assert part in text
        assert part in str(stepper)
    assert page.texts("span", "als-title")[-1] == "refund waits for approval."
    assert page.texts("span", "als-status")[-1] == "running → waiting (approval)"


def test_the_code_that_is_shown_decides():
    """Each line that tells how to decide is run as it stands."""
    _, shop = refunding()
    lines = Page(html_of(refunding()[0])).texts("div", "als-how")[0].splitlines()
    for line in lines[1:]:
        stepper, shop = refunding("Done.")
        names = {"agent": stepper.agent, "state": stepper.branches[0][-1]}
        exec(line.replace("{…}", '{"order": "A-1", "amount": 1}'), names)
        ends = {"approve": ("done", [("A-1", 12.5)]), "reject": ("done", []), "edit": ("waiting", [])}
        verdict = re.search(r"agent\.(approve|reject|edit)", line)[1]
        assert (names["state"].status, shop.paid) == ends[verdict]
    assert len(lines) == 4


def test_nothing_hides_in_a_call_that_waits():
    hidden = {"order": "A-1\u202e9\u200b", "amount": 1, "note": "\x9b31m\u00a0é"}
    stepper, _ = refunding(arguments=hidden)
    page = Page(html_of(stepper))
    (box,) = [a for _, a, _ in page.elements if a.get("class") == "als-call-waiting"]
    for text in (box["data-call"], box["data-arguments"], *page.texts("div", "als-call-waiting")):
        assert r"A-1\u202e9\u200b" in text
        assert r"\u009b31m\u00a0é" in text
    assert json.loads(box["data-arguments"]) == hidden


@given(st.text())
def test_what_is_shown_of_arguments_says_the_same(text):
    written = json.dumps({"text": text}, ensure_ascii=False)
    assert json.loads(as_json(written)) == {"text": text}
    assert json.loads(exactly(written)) == {"text": text}


def test_a_decided_call_no_longer_says_how_to_decide():
    stepper, shop = refunding("Done.")
    press(stepper, {"verdict": "approve"})
    assert "To decide:" not in html_of(stepper)
    assert "to decide:" not in str(stepper)
    assert shop.paid == []


def test_an_approved_call_runs_with_the_next_press():
    stepper, shop = refunding("Done.", before=[("w", "weather", {"city": "Rome"})])
    assert [frame(stepper.branches[0], n).kind for n in range(4)] == ["start", "think", "act", "wait"]
    assert frame(stepper.branches[0], 3).ahead == "decide"
    assert press(stepper, {"verdict": "approve"}) == ""
    decided = frame(stepper.branches[0], 4)
    assert (decided.kind, decided.label, decided.title) == ("decide", "approved", "refund was approved.")
    assert decided.ahead == "run refund"
    assert shop.paid == []
    assert press(stepper) == ""
    assert shop.paid == [("A-1", 12.5)]
    press(stepper)
    assert stepper.branches[0][-1].answer == "Done."
    assert "> Decision: approved: refund(order=\"A-1\", amount=12.5)" in str(stepper)


def test_a_second_word_changes_nothing():
    stepper, shop = refunding("Done.")
    once = {"next": {"run": 0, "shown": 3, "decision": {"verdict": "approve"}}}
    for verdict in ("approve", "approve", "reject", "edit"):
        assert stepper.receive({"next": {**once["next"], "decision": {"verdict": verdict, "text": "{}"}}}) == ""
        assert len(stepper.branches[0]) == 4
    press(stepper)
    stepper.receive(once)
    assert shop.paid == [("A-1", 12.5)]


def test_a_rejection_reaches_the_model_with_its_reason():
    stepper, shop = refunding("Then not.")
    assert press(stepper, {"verdict": "reject", "text": " too much \n"}) == ""
    decided = frame(stepper.branches[0], 3)
    assert (decided.title, decided.faulty, decided.edited) == ("refund was rejected.", False, False)
    assert [message.role for _, message in decided.added] == ["tool"]
    assert '> Decision: rejected: refund(order="A-1", amount=12.5)\n     too much' in str(stepper)
    press(stepper)
    sent = stepper.agent.llm.requests[-1]["messages"][-1]
    assert (sent["role"], sent["tool_call_id"]) == ("tool", "r")
    assert sent["content"].endswith(": too much")
    assert shop.paid == []


def test_changed_arguments_are_shown_where_they_stand_and_wait_again():
    stepper, shop = refunding("Done.", before=[("w", "weather", {"city": "Rome"})])
    assert press(stepper, {"verdict": "edit", "text": '{"order": "A-1", "amount": 9}'}) == ""
    changed = frame(stepper.branches[0], 4)
    assert (changed.kind, changed.label) == ("decide", "edited")
    assert changed.title == "A person changed the arguments of refund."
    assert [type(event) for event in changed.events] == [ToolCall, Decision]
    assert [index for index, _ in changed.added] == [2]  # in the middle: the weather was told after it
    assert (changed.removed, changed.reply, changed.asked) == (0, None, 0)
    assert changed.ahead == "decide"
    page = Page(as_html.step(stepper.branches[0], 4))
    assert "Changed in the messages" in page.texts("div", "als-section-title")
    assert page.texts("div", "als-call")[1] == 'refund(order="A-1", amount=9)r'
    assert 'was refund(order="A-1", amount=12.5)' in page.texts("pre", "als-text")
    press(stepper, {"verdict": "approve"})
    press(stepper)
    assert shop.paid == [("A-1", 9)]
    press(stepper)
    asked = frame(stepper.branches[0], 7)
    assert (asked.asked, asked.known) == (5, 2)  # the model's own message is another than it wrote


@pytest.mark.parametrize(
    ("text", "line"),
    [("{", "refund"), ('{"order": "A-1"}', "amount"), ('{"order": "A-1", "amount": "much"}', "amount"), ("", "refund")],
)
def test_arguments_that_do_not_fit_are_one_line(text, line):
    stepper, _ = refunding("Done.")
    said = press(stepper, {"verdict": "edit", "text": text})
    assert said.startswith("these arguments do not fit refund")
    assert line in said
    assert "\n" not in said
    assert len(stepper.branches[0]) == 3
    assert press(stepper, {"verdict": "approve"}) == ""  # nothing was lost


def test_an_agent_without_the_tool_is_one_line():
    waits = refunding()[0].branches[0][-1]
    stepper = Stepper([waits], FunctionCalling(ScriptedLLM([]), [weather]))
    said = press(stepper, {"verdict": "edit", "text": "{}"})
    assert said == "this agent has no tool 'refund', which the call that waits is for"


def test_next_without_a_decision_says_what_is_missing():
    stepper, _ = refunding("Done.")
    assert press(stepper) == "the call waits: approve it, reject it or edit it"
    assert press(stepper, {"verdict": "perhaps"}) == "the call waits: approve it, reject it or edit it"
    assert len(stepper.branches[0]) == 3


def test_a_react_run_waits_in_the_same_way():
    shop = Shop()
    replies = ['Thought: pay\nAction: refund(order="A-1", amount=2)', "Final Answer: paid"]
    stepper = shown(*replies, tools=[shop.refund], strategy=ReAct)
    press(stepper, {"verdict": "edit", "text": '{"order": "A-1", "amount": 1}'})
    changed = frame(stepper.branches[0], 3)
    assert [(index, message.content) for index, message in changed.added] == [
        (2, 'Thought: pay\nAction: refund(order="A-1", amount=1)')
    ]
    for decision in ({"verdict": "approve"}, None, None):
        assert press(stepper, decision) == ""
    assert stepper.branches[0][-1].answer == "paid"
    assert shop.paid == [("A-1", 1)]


def test_a_fork_that_comes_to_a_call_that_writes_waits_too():
    asks = calling(("r", "refund", {"order": "A-1", "amount": 2}))
    shop = Shop()
    stepper = shown(BOTH, "Rome", asks, "Done.", tools=[weather, shop.refund])
    fork(stepper, "observation", "Pay back 2 for A-1.", 2)
    assert stepper.branches[1][-1].status is Status.WAITING
    for decision in ({"verdict": "approve"}, None, None):
        assert press(stepper, decision, run=1) == ""
    assert stepper.branches[1][-1].answer == "Done."
    assert shop.paid == [("A-1", 2)]


def test_a_loaded_run_shows_what_waits(tmp_path):
    stepper, shop = refunding()
    agent = stepper.agent
    agent.approve(stepper.branches[0][-1]).save(tmp_path / "state.json")
    loaded = State.load(tmp_path / "state.json")
    taken_up = Stepper([loaded], agent)
    assert "als-how" in html_of(taken_up)
    assert "unrecorded_write" in str(taken_up)
    assert shop.paid == []


def test_a_run_that_nobody_attended_shows_the_rejection():
    asks = calling(("r", "refund", {"order": "A-1", "amount": 2}))
    agent = FunctionCalling(ScriptedLLM([asks, "No."]), [Shop().refund])
    states = list(attended(agent, GOAL, reject_all))
    kinds = [frame(states, n).kind for n in range(len(states))]
    assert kinds == ["start", "think", "wait", "decide", "answer"]
    assert "nobody was there" in str(Stepper(states))


def test_a_jump_over_a_decision_is_shown_as_what_came_of_it():
    """Who keeps only some of the states sees all that happened between them."""
    stepper, _ = refunding("Done.")
    waits = stepper.branches[0][-1]
    last = stepper.agent.run(stepper.agent.approve(waits))
    jumped = frame([waits, last], 1)
    assert {type(event).__name__ for event in jumped.events} == {"Decision", "Observation", "Answer"}
    assert [message.role for _, message in jumped.added] == ["tool", "assistant"]


def test_a_decision_in_a_state_of_its_own_is_shown_in_both_forms():
    call = ToolCall(message=0, id="c", name="pay", arguments='{"n": 1}', raw="")
    before = State(GOAL, (Message("assistant", "r"),), (call,), (call,), status=Status.WAITING, reason="approval")
    for verdict, text in (("approved", ""), ("rejected", "no"), ("edited", "was Action: pay(n=2)"), ("rejected", "")):
        event = Decision(message=0, call_id="c", verdict=verdict, text=text)
        after = replace(before, events=(call, event), status=Status.RUNNING)
        page = Page(as_html.step([before, after], 1))
        assert page.texts("div", "als-tag") == [f"Decision {verdict}"]
        shown = "was pay(n=2)" if verdict == "edited" else "\n".join(filter(None, ["pay(n=1)", text]))
        assert shown in page.texts("pre", "als-text")
        assert f"Decision: {verdict}: {shown.splitlines()[0]}" in str(Stepper([before, after]))


def test_a_result_without_its_call_is_shown_all_the_same():
    event = Observation(message=0, call_id="lost", text="o", kind="timeout")
    page = Page(as_html.step([State(GOAL), State(GOAL, (Message("tool", "o", tool_call_id="lost"),), (event,))], 1))
    assert page.texts("div", "als-tag") == ["Observation from tool timeout"]
