"""Faults in native calls: at the rates that were set, the same everywhere, visible on the wire, and recovered from."""

import json
import os
import subprocess
import sys

import pytest
from native import WORLD, ask, calls, described, run, schema, send
from test_offline_faults import is_likely

from agentlib import LLM
from agentlib.offline import Faults, Settings, app
from agentlib.offline.faults import MISTAKES
from agentlib.offline.malformed import MALFORMED
from agentlib.offline.native_malformed import NATIVE, NATIVE_ONLY

COMPARE = "Compare the weather in Beijing and Shanghai."
OSLO = "What is the weather in Oslo?"
THREE = schema("nearest", "Find the weather of the three nearest cities.", city={"type": "string"},
               limit={"type": "integer"})
LONG = "Which university did DeepMind's CEO attend?"
QUESTIONS = (COMPARE, OSLO, LONG, "Who is older, the CEO of Apple or the CEO of Microsoft?", "What is 17 * 23?")


def reply(faults: Faults | None, question: str = OSLO, seed: int = 0, tools: list | None = None, **options) -> dict:
    """Give the choice with which the model replies, with these faults or without any."""
    messages = question if isinstance(question, list) else [{"role": "user", "content": question}]
    body = {"messages": messages, "tools": tools or described(*WORLD), "seed": seed} | options
    status, answer = send(body, Settings(faults=faults) if faults else None)
    assert status == 200, answer
    return answer["choices"][0]


def arguments(choice: dict) -> list[str]:
    """Give the argument texts of a reply's calls, as they stand."""
    return [call["function"]["arguments"] for call in choice["message"].get("tool_calls", ())]


def hits(faults: Faults, count: int) -> int:
    """Count the replies of so many requests that a fault strikes."""
    asked = [(QUESTIONS[seed % len(QUESTIONS)], seed) for seed in range(count)]
    return sum(reply(faults, question, seed) != reply(None, question, seed) for question, seed in asked)


def after(question: str, choice: dict, *told: dict) -> list[dict]:
    """Give a conversation after a reply: its results, or what the loop says to it."""
    message = {key: value for key, value in choice["message"].items() if key != "refusal"}
    return [{"role": "user", "content": question}, message, *told]


def result(choice: dict, text: str) -> list[dict]:
    """Give the same result for each call of a reply."""
    return [{"role": "tool", "tool_call_id": call["id"], "content": text} for call in choice["message"]["tool_calls"]]


# Rates and luck


@pytest.mark.parametrize("rate", [0.05, 0.15, 0.5])
def test_the_total_of_malformed_replies_is_that_of_the_text_protocol(rate):
    assert is_likely(hits(Faults.malformed(rate), 500), 500, rate)


@pytest.mark.parametrize("kind", ["arguments_as_text", "null_arguments", "stop_with_calls", "invented_tool"])
def test_the_rate_of_one_kind_comes_true(kind):
    assert is_likely(hits(Faults(**{kind: 0.2}), 500), 500, 0.2)


def test_a_kind_that_native_calls_do_not_have_leaves_its_rate_to_those_that_they_have():
    assert "bold_labels" in MALFORMED and "bold_labels" not in NATIVE
    assert is_likely(hits(Faults(bold_labels=0.3), 500), 500, 0.3)


def test_the_kinds_are_those_of_the_text_protocol_and_some_of_their_own():
    assert set(NATIVE) - set(MALFORMED) == set(NATIVE_ONLY)
    assert all(write.__doc__ for write in NATIVE.values())


def test_the_same_request_gives_the_same_bytes_in_every_process():
    def bodies() -> list:
        return [send({"messages": [{"role": "user", "content": COMPARE}], "tools": described(*WORLD), "seed": seed},
                     Settings(faults=Faults.malformed(0.6, invented_tool=0.1)))[1] for seed in range(25)]

    code = ("import json, sys; sys.path.insert(0, 'tests'); import test_offline_native_faults as t\n"
            "print(json.dumps([t.send({'messages': [{'role': 'user', 'content': t.COMPARE}], 'tools': "
            "t.described(*t.WORLD), 'seed': seed}, t.Settings(faults=t.Faults.malformed(0.6, invented_tool=0.1)))[1]"
            " for seed in range(25)]))")
    for hash_seed in ("0", "123"):
        environ = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == bodies()


def test_without_rates_nothing_changes():
    for seed in range(20):
        assert reply(Faults(recovery=0, persistence=1), COMPARE, seed) == reply(None, COMPARE, seed)


def test_rates_of_native_kinds_count_for_the_limit_of_one():
    with pytest.raises(ValueError, match="add up"):
        Faults(null_arguments=0.6, prose=0.6)
    assert Faults.malformed(0.5, null_arguments=0.5)


def test_native_kinds_leave_the_text_protocol_alone():
    body = {"messages": [{"role": "user", "content": OSLO}], "seed": 1}
    assert send(body, Settings(faults=Faults(null_arguments=1.0))) == send(body)


# The kinds, on the wire


@pytest.mark.parametrize(("kind", "written"), [
    ("truncated_arguments", '{"city": "Os'), ("missing_bracket", '{"city": "Oslo"'),
    ("arguments_as_text", '"{\\"city\\": \\"Oslo\\"}"'), ("single_quotes", "{'city': 'Oslo'}"),
    ("trailing_comma", '{"city": "Oslo",}'), ("unquoted_keys", '{city: "Oslo"}'), ("null_arguments", "null"),
    ("empty_arguments", ""), ("nested_arguments", '{"arguments": {"city": "Oslo"}}'),
    ("misspelt_parameter", '{"ctiy": "Oslo"}'), ("missing_argument", "{}"),
    ("extra_argument", '{"city": "Oslo", "language": "en"}'),
    ("wrong_type", '{"city": {"type": "string", "value": "Oslo"}}'),
])
def test_what_a_fault_does_to_the_arguments(kind, written):
    choice = reply(Faults(**{kind: 1.0}))
    assert arguments(choice) == [written] and choice["finish_reason"] == "tool_calls"


def test_a_number_as_text_and_a_line_break():
    assert arguments(reply(Faults(number_as_text=1.0), tools=[THREE])) == ['{"city": "Oslo", "limit": "3"}']
    [text] = arguments(reply(Faults(raw_newline=1.0), "Who is the chief executive officer of New York Times?"))
    with pytest.raises(ValueError, match="control character"):
        json.loads(text)
    assert json.loads(text, strict=False)


@pytest.mark.parametrize(("kind", "content"), [
    ("bare_json", '{"name": "weather", "arguments": {"city": "Oslo"}}'),
    ("code_fence", '```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```'),
    ("wrapper_object", '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'),
    ("missing_action_label", 'weather(city="Oslo")'), ("prose", "I will use weather on Oslo."),
    ("thought_only", "What I need is the weather in Oslo."), ("empty_reply", ""), ("lost_calls", ""),
])
def test_calls_that_are_not_where_they_belong(kind, content):
    choice = reply(Faults(**{kind: 1.0}))
    assert (choice["message"]["content"], arguments(choice)) == (content, [])
    assert choice["finish_reason"] == ("tool_calls" if kind == "lost_calls" else "stop")


def test_calls_with_another_finish_reason_with_an_answer_and_with_one_id():
    choice = reply(Faults(stop_with_calls=1.0), COMPARE)
    assert choice["finish_reason"] == "stop" and len(calls(choice)) == 2
    choice = reply(Faults(early_answer=1.0))
    assert choice["message"]["content"] == "The result of weather answers the question." and len(calls(choice)) == 1
    ids = [call["id"] for call in reply(Faults(duplicate_ids=1.0), COMPARE)["message"]["tool_calls"]]
    assert len(ids) == 2 and len(set(ids)) == 1
    first = ask(LONG)
    history = after(LONG, first, *result(first, "DeepMind: The CEO of DeepMind is Demis Hassabis."))
    again = reply(Faults(duplicate_ids=1.0), history)["message"]["tool_calls"]
    assert again[0]["id"] == first["message"]["tool_calls"][0]["id"]


def test_an_invented_tool_is_none_of_the_list():
    tools = [schema("get_weather", "Get the weather of a city.", city={"type": "string"})]
    names = {calls(reply(Faults(invented_tool=1.0), seed=seed, tools=tools))[0][0] for seed in range(20)}
    assert names == {"get_wether", "get_get_weather", "get_weather_tool"} and "get_weather" not in names


def test_a_premature_answer_has_no_call():
    choice = reply(Faults(premature_answer=1.0), "Who is the CEO of Intel?")
    assert arguments(choice) == [] and "Pat Gelsinger" in choice["message"]["content"]


def test_all_kinds_that_fit_occur_when_a_rate_is_spread_evenly():
    clean = [reply(None, COMPARE, seed) for seed in range(300)]
    seen = {(choice["finish_reason"], choice["message"]["content"], *arguments(choice))
            for seed, choice in enumerate(reply(Faults.malformed(1.0), COMPARE, seed) for seed in range(300))
            if choice != clean[seed]}
    assert len(seen) > 20


@pytest.mark.parametrize("kind", [*NATIVE, *MISTAKES])
@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "weather"}}])
def test_where_there_must_be_a_call_there_is_one(kind, choice):
    assert reply(Faults(**{kind: 1.0}), tool_choice=choice)["message"]["tool_calls"]


@pytest.mark.parametrize("kind", NATIVE)
def test_the_openai_client_reads_every_kind_whole_and_streamed(kind):
    client = LLM("offline", offline=app(Settings(faults=Faults(**{kind: 1.0})))).client
    body = {"model": "offline", "messages": [{"role": "user", "content": COMPARE}], "tools": described(*WORLD)}
    whole = client.chat.completions.create(**body).choices[0]
    chunks = [chunk.choices[0] for chunk in client.chat.completions.create(**body, stream=True)]
    assert "".join(chunk.delta.content or "" for chunk in chunks) == (whole.message.content or "")
    pieces = [call for chunk in chunks for call in chunk.delta.tool_calls or ()]
    streamed = ["".join(call.function.arguments or "" for call in pieces if call.index == place)
                for place in range(len(whole.message.tool_calls or ()))]
    assert streamed == [call.function.arguments for call in whole.message.tool_calls or ()]
    assert chunks[-1].finish_reason == whole.finish_reason


# Recovery


HELPFUL = "Error: city: Input should be a valid string. The tool is weather(city: string)"


@pytest.mark.parametrize(("text", "name"), [(HELPFUL, "recovery"), ("Error: bad input", "blind_recovery")])
def test_it_recovers_the_more_often_the_more_the_error_says(text, name):
    faults = Faults(wrong_type=1.0, recovery=0.8, blind_recovery=0.3)
    broken = reply(faults)
    history = after(OSLO, broken, *result(broken, text))
    clean = sum(arguments(reply(faults, history, seed)) == ['{"city": "Oslo"}'] for seed in range(400))
    assert is_likely(clean, 400, getattr(faults, name))


def test_what_it_says_again_it_says_word_for_word_with_a_new_id():
    faults = Faults(truncated_arguments=1.0, recovery=0.0)
    broken = reply(faults)
    again = reply(faults, after(OSLO, broken, *result(broken, HELPFUL)))
    assert arguments(again) == arguments(broken)
    assert again["message"]["tool_calls"][0]["id"] != broken["message"]["tool_calls"][0]["id"]


@pytest.mark.parametrize("kind", ["empty_reply", "prose", "bare_json"])
def test_what_the_loop_says_to_a_reply_without_a_call_helps(kind):
    faults = Faults(**{kind: 1.0}, recovery=1.0, blind_recovery=0.0)
    told = {"role": "user", "content": "Format error: the reply was empty. Call a tool, or give the answer as text."}
    choice = reply(faults, after(OSLO, reply(faults), told))
    assert calls(choice) == [("weather", {"city": "Oslo"})]


def test_it_repeats_itself_until_a_note_gets_it_out():
    faults = Faults(repeated_action=1.0, persistence=1.0, recovery=1.0)
    history = [{"role": "user", "content": LONG}]
    made = []
    for _ in range(4):
        choice = reply(faults, history)
        made.append(calls(choice))
        message = {key: value for key, value in choice["message"].items() if key != "refusal"}
        history += [message, *result(choice, "DeepMind: The CEO of DeepMind is Demis Hassabis.")]
    assert made == [[("search", {"query": "DeepMind CEO"})]] * 4
    note = {"role": "user", "content": "Note: you have called search 4 times in a row. Do something else."}
    assert calls(reply(faults, [*history, note])) == [("search", {"query": "Demis Hassabis university"})]


@pytest.mark.parametrize("kind", [kind for kind in NATIVE if kind not in ("lost_calls", "empty_reply", "prose")])
def test_a_run_with_one_fault_at_a_low_rate_still_ends_with_an_answer(kind):
    def functions(city: str = "", **others: object) -> str:
        return f"{city}: 9 °C, cloudy" if city and not others else HELPFUL

    for seed in range(6):
        messages = [{"role": "user", "content": OSLO}]
        for _ in range(20):
            choice = reply(Faults(**{kind: 0.3}, recovery=1.0, seed=7), messages, seed)
            message = {key: value for key, value in choice["message"].items() if key != "refusal"}
            made = message.get("tool_calls", [])
            messages.append(message)
            if not made and "9 °C" in (message["content"] or ""):
                break
            for call in made:
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": carried_out(call, functions)})
            if not made:
                messages.append({"role": "user", "content": "Format error: no call. Call a tool, or answer."})
        else:
            raise AssertionError(messages)


def carried_out(call: dict, function) -> str:
    """Run a call as a loop would that unwraps arguments which are encoded twice, and is strict otherwise."""
    try:
        given = json.loads(call["function"]["arguments"])
        return function(**json.loads(given) if isinstance(given, str) else given)
    except (ValueError, TypeError):
        return HELPFUL


def test_the_plain_loop_of_the_tests_is_not_struck():
    assert "9 °C" in run(OSLO)[0]
