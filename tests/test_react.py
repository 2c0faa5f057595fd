"""The ReAct protocol: what is sent, what comes back, and what happens when either goes wrong."""

import pytest

from agentlib import (
    Answer,
    Message,
    Observation,
    Problem,
    ReAct,
    Reply,
    ScriptedLLM,
    State,
    Status,
    Thought,
    ToolCall,
    Usage,
    tool,
)
from agentlib.parsing import FORMAT

HINT = f"Use exactly this format:\n\n{FORMAT}"


@tool
def weather(city: str, days: int = 1) -> str:
    """Get the weather.

    Args:
        city: Where.
    """
    return f"{city}: 20 °C for {days} days"


def broken(text: str) -> str:
    """Fail."""
    raise ValueError(text)


def long(size: int) -> str:
    """Give a long text."""
    return "a" * size + "the end"


TOOLS = [weather, broken, long]
ASK = 'Thought: t\nAction: weather(city="Lima")'
FINAL = "Thought: I know\nFinal Answer: 20 °C"


def run(*replies: str | Reply, **settings) -> State:
    """Run an agent with these replies, all of which must be used."""
    with ScriptedLLM(replies) as model:
        return ReAct(model, tools=TOOLS, **settings).run("Warm in Lima?")


def kinds(state: State) -> list[str]:
    """Give the kinds of a state's events: the class, or what kind of problem."""
    return [event.kind if isinstance(event, Problem) else type(event).__name__ for event in state.events]


def observed(reply: str) -> Observation:
    """Give the observation that a reply's action leads to."""
    return next(event for event in run(reply, FINAL).events if isinstance(event, Observation))


# -- what is sent


def test_the_prompt_lists_the_tools_and_the_format():
    opening = ReAct(ScriptedLLM([]), tools=TOOLS).start("Warm in Lima?").messages
    assert opening == (
        Message(
            "system",
            "Answer the question. You can use these tools:\n\n"
            "- weather(city: string, days: integer = 1): Get the weather.\n"
            "- broken(text: string): Fail.\n"
            f"- long(size: integer): Give a long text.\n\n{HINT}",
        ),
        Message("user", "Question: Warm in Lima?"),
    )


def test_braces_in_a_description_do_no_harm():
    def odd(text: str) -> str:
        """Takes {text} and {format} and {0}."""

    assert "Takes {text} and {format} and {0}." in ReAct(ScriptedLLM([]), tools=[odd]).start("{x}").messages[0].content


def test_every_request_carries_the_goal_the_stop_word_and_the_whole_history():
    model = ScriptedLLM([ASK, "nothing to read", ASK, FINAL])
    last = ReAct(model, tools=TOOLS).run("Warm in Lima?")
    for request in model.requests:
        assert request["stop"] == ["Observation:"]
        assert request["messages"][1] == {"role": "user", "content": "Question: Warm in Lima?"}
    history = [message.to_wire() for message in last.messages]
    assert [request["messages"] for request in model.requests] == [history[:n] for n in (2, 4, 6, 8)]


def test_the_messages_of_a_run_are_the_protocol():
    assert [(m.role, m.content) for m in run(ASK, FINAL).messages[2:]] == [
        ("assistant", ASK),
        ("user", "Observation: Lima: 20 °C for 1 days"),
        ("assistant", FINAL),
    ]


# -- what is read


def test_the_events_of_a_run():
    last = run(ASK, FINAL)
    assert last.events == (
        Thought(message=2, text="t", raw=ASK),
        ToolCall(message=2, id="call_1", name="weather", arguments='{"city": "Lima"}', raw=ASK),
        Observation(message=3, call_id="call_1", text="Lima: 20 °C for 1 days"),
        Thought(message=4, text="I know", raw=FINAL),
        Answer(message=4, text="20 °C", raw=FINAL),
    )


@pytest.mark.parametrize(
    "action",
    ['Weather("Lima", 2)', "weather[Lima]\nThought: hm", 'WEATHER(city="Lima")', 'weather("Lima", days=2)',
     "weather\nAction Input: Lima", '{"name": "Weather", "arguments": {"city": "Lima"}}'],
)  # fmt: skip
def test_positions_and_capitals_become_the_tools_own_names(action):
    call = next(event for event in run(f"Action: {action}", FINAL).events if isinstance(event, ToolCall))
    assert call.name == "weather"
    assert '"city": "Lima"' in call.arguments


def test_what_follows_an_invented_observation_is_cut_off_and_noted():
    reply = f"{ASK}\nObservation: 35 °C\nThought: hot\nFinal Answer: 35 °C"
    last = run(reply, FINAL)
    assert last.answer == "20 °C"
    assert kinds(last) == ["Thought", "ToolCall", "invented_observation", "Observation", "Thought", "Answer"]
    assert last.events[2].text == "Observation: 35 °C\nThought: hot\nFinal Answer: 35 °C"
    assert last.events[1].raw == reply
    assert last.messages[2].content == ASK
    assert not any("35" in message.content for message in last.messages)


def test_only_the_first_of_several_actions_is_run():
    last = run(f'{ASK}\nAction: weather(city="Oslo")', FINAL)
    assert [event.text for event in last.events if isinstance(event, Observation)] == ["Lima: 20 °C for 1 days"]
    assert kinds(last)[2] == "extra_action"


def test_the_thinking_of_a_reasoning_model_stays_out_of_the_conversation():
    last = run(f"<think>\nAction: broken(text='x')\n</think>\n{FINAL}")
    assert last.answer == "20 °C"
    assert last.messages[-1].content == FINAL
    assert last.events[-1].raw.startswith("<think>")


# -- replies that cannot be read


def test_an_unreadable_reply_is_kept_and_answered_with_the_format():
    last = run("no action here", "still nothing", max_format_errors=2)
    assert [message.role for message in last.messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [m.content for m in last.messages[2:]] == [
        "no action here",
        f"Format error: it has neither an Action nor a Final Answer. {HINT}",
        "still nothing",
        f"Format error: it has neither an Action nor a Final Answer. {HINT}",
    ]
    assert (last.status, last.reason, last.answer, last.iterations) == (Status.STOPPED, "format_error", None, 2)
    assert [event.raw for event in last.events] == ["no action here", "still nothing"]


def test_empty_and_broken_replies_in_a_row_stop_the_run_and_are_no_answer():
    last = run("", "   \n", '{"tool_call": {"action": "search"', max_format_errors=3)
    assert (last.status, last.reason, last.answer, last.best_so_far) == (Status.STOPPED, "format_error", None, "")
    assert kinds(last) == ["empty_reply", "empty_reply", "format_error"]
    assert [m.content for m in last.messages if m.role == "assistant"] == [event.raw for event in last.events]
    for problem, hint in zip(last.events, last.messages[3::2], strict=True):
        assert hint == Message("user", f"Format error: {problem.text}. {HINT}")


def test_empty_replies_are_asked_again_and_then_stop_the_run():
    last = run("", "", "")
    assert (last.status, last.reason) == (Status.STOPPED, "empty_reply")
    assert all(isinstance(message.content, str) for message in last.messages)
    assert run("", "", FINAL).answer == "20 °C"


def test_only_unreadable_replies_in_a_row_count():
    assert run("hm", "hm", ASK, "hm", "hm", FINAL, max_format_errors=3).answer == "20 °C"


def test_a_filtered_reply_stops_at_once():
    last = run(ASK, Reply("", "content_filter", Usage(1, 50, 0)))
    assert (last.status, last.reason) == (Status.STOPPED, "content_filter")
    assert last.usage == Usage(2, 50, 0)
    assert kinds(last) == ["Thought", "ToolCall", "Observation", "content_filter"]
    assert "\n" not in last.events[-1].text


# -- replies cut off at the token limit


@pytest.mark.parametrize("action", [ASK, "Action: weather\nAction Input: New Yo", 'Action: weather(city="New Yo'])
def test_an_action_that_may_be_cut_off_is_not_run(action):
    last = run(Reply(action, "length"), FINAL)
    assert kinds(last) == ["format_error", "Thought", "Answer"]
    assert last.events[0].text.startswith("it was cut off at the token limit")
    assert last.messages[3].content.startswith("Format error: it was cut off at the token limit")


def test_an_action_with_text_after_it_was_complete():
    last = run(Reply(f"{ASK}\nObservation: 35 °C and a lo", "length"), FINAL)
    assert kinds(last)[:4] == ["Thought", "ToolCall", "invented_observation", "Observation"]


def test_an_answer_that_is_cut_off_says_so():
    last = run(Reply("Thought: long\nFinal Answer: Lima is a city whose", "length"))
    assert (last.status, last.answer) == (Status.DONE, "Lima is a city whose")
    assert (last.events[-1].kind, last.events[-1].text) == ("cut_off", "the answer was cut off at the token limit")
    whole = run(Reply(f"{FINAL}\nQuestion: And in Os", "length"))
    assert kinds(whole) == ["Thought", "Answer", "trailing_text"]


def test_thinking_that_eats_all_tokens_says_so():
    last = run(Reply("<think>\nLet me see", "length"), FINAL)
    assert last.events[0].text == "it was cut off at the token limit; your reply is empty"


# -- tools


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ('forecast(city="Lima")', "Error: unknown tool 'forecast'. The tools are: weather, broken, long"),
        ("weather()", "Error: missing: city. The tool is weather(city: string, days: integer = 1)"),
        ('weather(city="Lima", unit="C")',
         "Error: unexpected: unit (allowed: city, days). The tool is weather(city: string, days: integer = 1)"),
        ('weather("Lima", 1, 2)',
         "Error: unexpected: 2 (allowed: city, days). The tool is weather(city: string, days: integer = 1)"),
        ('weather(city="Lima", days="two")',
         'Error: days: Input should be a valid integer, got "two". '
         "The tool is weather(city: string, days: integer = 1)"),
        ('broken(text="on purpose")', "Error: ValueError: on purpose"),
        ('broken(text="")', "Error: ValueError"),
    ],
)  # fmt: skip
def test_errors_of_tools_come_back_as_observations(action, text):
    last = run(f"Action: {action}", FINAL)
    event = next(event for event in last.events if isinstance(event, Observation))
    assert (event.text, event.is_error) == (text, True)
    assert last.messages[event.message] == Message("user", f"Observation: {text}")
    assert last.answer == "20 °C"


def test_a_long_result_is_short_in_the_message_and_whole_in_the_event():
    last = run("Action: long(size=100000)", FINAL)
    event = next(event for event in last.events if isinstance(event, Observation))
    assert event.text == "a" * 100_000 + "the end"
    shown = last.messages[event.message].content.removeprefix("Observation: ")
    assert len(shown) == 4000
    assert shown.startswith("aaa")
    assert shown.endswith("the end")
    assert "\n[… 100007 characters, truncated …]\n" in shown


def test_numbers_in_quotes_reach_the_tool_as_numbers():
    assert observed('Action: weather(city="Lima", days="3")').text == "Lima: 20 °C for 3 days"
    assert observed("Action: long\nAction Input: 2").text == "aathe end"


def test_an_agent_without_tools_says_so_and_answers():
    with ScriptedLLM(['Action: search("x")', FINAL]) as model:
        last = ReAct(model).run("q")
    assert "(no tools)" in model.requests[0]["messages"][0]["content"]
    assert last.events[1].text.startswith("Error: unknown tool 'search'")
    assert last.answer == "20 °C"
