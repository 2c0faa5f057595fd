"""Tapes: what a model replied is recorded once and replayed anywhere, without the model, its key and the network."""

import contextlib
import json
import os
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlib import (
    LLM,
    Call,
    FunctionCalling,
    LLMError,
    Message,
    ReAct,
    RecordingLLM,
    Reply,
    ScriptedLLM,
    Status,
    TapeLLM,
    Tool,
    Toolbox,
    Usage,
)  # fmt: skip
from agentlib.jsonlines import LinesError, read_lines
from agentlib.llm import SETTINGS
from agentlib.offline import Settings, app
from agentlib.tape import KIND
from agentlib.world import calculator, search, weather

ROOT = Path(__file__).parents[1]
KEY = "sk-very/secret+0123456789"
GOAL = "Is it warmer in Beijing or in Shanghai?"
TOOLS = [search, weather, calculator]


class Quiet(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        """Keep quiet."""


@contextlib.contextmanager
def serving(application: Callable) -> Iterator[str]:
    """Serve a WSGI application on loopback; gives its address."""
    with make_server("127.0.0.1", 0, application, handler_class=Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def refusing(status: str, text: str) -> Callable:
    """Give an application that answers every request with an error."""

    def respond(environ: dict, start_response: Callable) -> list[bytes]:
        start_response(status, [("Content-Type", "application/json")])
        return [json.dumps({"error": {"message": text, "type": "x", "param": None, "code": None}}).encode()]

    return respond


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    """Start without settings, in a folder without a .env."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def tape(tmp_path) -> Path:
    return tmp_path / "lesson.tape"


def user(text: str) -> list[Message]:
    return [Message("user", text)]


def record(tape: Path, *replies, messages: list[list[Message]] | None = None, **options) -> None:
    """Record scripted replies: to the same request, or each to its own."""
    llm = RecordingLLM(ScriptedLLM(replies), tape)
    for i, _ in enumerate(replies):
        with contextlib.suppress(LLMError):
            llm.chat(messages[i] if messages else user("Hello"), **options)


def failure(action: Callable) -> LLMError:
    """Give the LLMError of an action; it is one line."""
    with pytest.raises(LLMError) as caught:
        action()
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


# -- one records, many replay


LEARNER = """
import sys
from agentlib import ReAct, TapeLLM
from agentlib.world import calculator, search, weather

state = ReAct(TapeLLM("lesson.tape"), [search, weather, calculator]).run(sys.argv[1])
state.save("learner.json")
print("openai" in sys.modules, "httpx2" in sys.modules)
"""


def test_a_teacher_records_with_a_key_and_learners_replay_without(tape, monkeypatch, tmp_path):
    with serving(app(Settings(api_keys=(KEY,), model="gpt-x"))) as url:
        assert ReAct(LLM("gpt-x", base_url=url), TOOLS).run(GOAL).reason == "wrong_key"
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        taught = ReAct(RecordingLLM(LLM("gpt-x"), tape), TOOLS).run(GOAL)
        asked_directly = ReAct(LLM("gpt-x"), TOOLS).run(GOAL)
    assert taught.status is Status.DONE
    assert taught == asked_directly
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert ReAct(TapeLLM(tape), TOOLS).run(GOAL) == taught  # the server is gone
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", LEARNER, GOAL], env=environ, cwd=tmp_path, capture_output=True,
                          text=True, timeout=60, check=True)  # fmt: skip
    assert done.stdout == "False False\n"  # no client was needed
    taught.save(tmp_path / "taught.json")
    assert (tmp_path / "learner.json").read_bytes() == (tmp_path / "taught.json").read_bytes()


def test_a_tape_holds_the_request_as_it_was_sent_and_the_reply(tape):
    llm = LLM(seed=7, temperature=0.0)
    reply = RecordingLLM(llm, tape).chat(user("Question: What is 2 + 2?"), stop=["Observation:"])
    (_, line), = read_lines(tape, KIND)
    assert line["request"] == llm.request(user("Question: What is 2 + 2?"), stop=["Observation:"])
    assert line["reply"] == {
        "content": reply.content, "finish_reason": "stop",
        "usage": {"calls": 1, "prompt_tokens": reply.usage.prompt_tokens,
                  "completion_tokens": reply.usage.completion_tokens},
    }  # fmt: skip
    assert TapeLLM(tape).chat(user("Question: What is 2 + 2?"), stop=["Observation:"]) == reply


# -- tools and calls


def wire(*functions: Tool) -> list[dict]:
    return [tool.to_wire() for tool in Toolbox(functions).tools.values()]


SUNNY = Reply("I look.", "tool_calls", Usage(1, 9, 5), (Call("a", "weather", '{"city": "Rome"}'), Call("", "x", "{")))


def _optional(tool: Tool) -> dict:
    """Give the tool with no parameter required."""
    (wired,) = wire(tool)
    function = wired["function"]
    return {**wired, "function": {**function, "parameters": {**function["parameters"], "required": []}}}


def test_calls_of_tools_are_recorded_and_replayed_as_they_came(tape):
    llm = RecordingLLM(ScriptedLLM([SUNNY, "plain"]), tape)
    assert llm.chat(user("Hello"), tools=wire(weather)) == SUNNY
    assert llm.chat(user("Hello")).content == "plain"  # the same messages without tools are another request
    assert llm.llm.requests[0]["tools"] == wire(weather)
    (_, first), (_, second) = read_lines(tape, KIND)
    assert first["request"]["tools"] == wire(weather)
    assert first["reply"]["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}},
        {"id": "", "type": "function", "function": {"name": "x", "arguments": "{"}},
    ]
    assert "tools" not in second["request"]
    assert "tool_calls" not in second["reply"]
    llm = TapeLLM(tape)  # tools are no setting that one has to choose
    assert llm.chat(user("Hello")).content == "plain"
    assert llm.chat(user("Hello"), tools=wire(weather)) == SUNNY


def test_a_function_calling_run_is_replayed_to_the_same_state(tape):
    taught = FunctionCalling(RecordingLLM(LLM(), tape), TOOLS).run(GOAL)
    assert taught.status is Status.DONE
    assert any(message.role == "tool" for message in taught.messages)
    assert FunctionCalling(TapeLLM(tape), TOOLS).run(GOAL) == taught
    other = FunctionCalling(TapeLLM(tape), TOOLS[:2]).run(GOAL)
    assert (other.status, other.reason) == (Status.STOPPED, "not_on_tape")
    assert other.events[-1].text.endswith("(line 2), its tools differ: missing calculator")


def test_tools_that_the_server_was_not_sent_are_asked_for_all_the_same(tape, monkeypatch):
    monkeypatch.setenv("AGENTLIB_OMIT", "tools,stop")
    reply = RecordingLLM(LLM(), tape).chat(user("Hello"), tools=wire(weather), stop=["x"])
    ((_, line),) = read_lines(tape, KIND)
    assert line["request"].keys() == {"model", "messages"}
    assert line["not_sent"] == {"tools": wire(weather), "stop": ["x"]}
    assert TapeLLM(tape).chat(user("Hello"), tools=wire(weather), stop=["x"]) == reply
    assert failure(lambda: TapeLLM(tape).chat(user("Hello"))).reason == "not_on_tape"


def test_no_key_gets_to_the_tape_through_tools_and_calls(tape, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    leaky = {"type": "function", "function": {"name": "look", "description": f"Send {KEY}.", "parameters": {}}}
    record(tape, Reply("", tool_calls=(Call("1", "look", json.dumps({"key": KEY})),)), tools=[leaky])
    _is_clean(tape, KEY)


@pytest.mark.parametrize(
    ("tools", "line"),
    [
        ([], "its tools differ: missing search, weather"),
        (wire(weather), "its tools differ: missing search"),
        (wire(search, weather, calculator), "its tools differ: added calculator"),
        (wire(search, calculator), "its tools differ: added calculator; missing weather"),
        (wire(weather, search), "its tools come in another order: weather, search"),
        ([*wire(search), Tool(weather.function, description="Never ask.").to_wire()],
         'its tool weather differs in its description: from character 1 on it is "Never ask.", recorded was "Get'),
        ([*wire(search), _optional(weather)],
         'its tool weather differs in its parameters: from character'),
        ([{"odd": 1}], 'its tools differ: added {"odd": 1}; missing search, weather'),
    ],
)  # fmt: skip
def test_a_request_with_other_tools_is_told_which(tape, tools, line):
    record(tape, SUNNY, tools=wire(search, weather))
    said = str(failure(lambda: TapeLLM(tape).chat(user("Hello"), tools=tools)))
    assert f"against the nearest one (line 2), {line}" in said


def test_the_nearest_of_equal_messages_is_that_with_the_most_equal_tools(tape):
    for tools in ((calculator,), (search, weather), ()):
        record(tape, SUNNY, tools=wire(*tools))
    said = str(failure(lambda: TapeLLM(tape).chat(user("Hello"), tools=wire(search, weather, calculator))))
    assert said.endswith("the nearest one (line 3), its tools differ: added calculator")


def test_what_differs_in_a_recorded_call_is_shown(tape):
    record(tape, SUNNY, tools=wire(weather))
    other = Message("assistant", "I look.", (Call("a", "weather", '{"city": "Oslo"}'),))
    said = str(failure(lambda: TapeLLM(tape).chat([*user("Hello"), other], tools=wire(weather))))
    assert "message 2 differs from the reply on the tape (line 2): from character" in said
    assert "Oslo" in said
    assert "Rome" in said


# -- secrets


@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found",
                                    "429 Too Many Requests", "500 Internal Server Error"])  # fmt: skip
@pytest.mark.parametrize("key", [KEY, "abcdefgh", "sk-“quoted”"])
def test_no_key_gets_to_the_tape(tape, monkeypatch, status, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("OTHER_API_KEY", "other-very-secret")
    with serving(refusing(status, f"the key {key} or other-very-secret is odd")) as url:
        address = url.replace("//", "//somebody:pass%2Fword12@") + "?token=query-secret&x=y"
        llm = LLM("gpt-x", base_url=address, max_retries=0)
        failure(lambda: RecordingLLM(llm, tape).chat(user(f"My key is {key}, is that safe?")))
    _is_clean(tape, key)


def test_no_key_gets_to_the_tape_when_nobody_answers(tape):
    for address in (f"http://x:{KEY}@127.0.0.1:1/v1", f"http://127.0.0.1:1/v1?key={KEY}", f"127.0.0.1:1/{KEY}/v1",
                    f"http://127.0.0.1:1/{KEY}/v1", f"ftp://{KEY}@[::1"):  # fmt: skip
        llm = LLM("gpt-x", base_url=address, api_key="query-secret", max_retries=0)
        failure(lambda llm=llm: RecordingLLM(llm, tape).chat(user("Hello")))
        _is_clean(tape, KEY)


def test_a_reply_that_repeats_a_key_is_kept_without_it(tape, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    record(tape, f'Thought: OPENAI_API_KEY is {KEY}\nFinal Answer: "{KEY}"')
    _is_clean(tape, KEY)
    assert TapeLLM(tape).chat(user("Hello")).content == 'Thought: OPENAI_API_KEY is [key]\nFinal Answer: "[key]"'


def _is_clean(tape: Path, key: str) -> None:
    raw = tape.read_bytes()
    text = json.dumps([line for _, line in read_lines(tape, KIND)], ensure_ascii=False)
    assert len(raw.splitlines()) >= 2
    for secret in (key, "other-very-secret", "query-secret", "pass/word12", "pass%2Fword12", "Bearer", "authorization"):
        assert secret not in text
        assert secret.encode() not in raw


# -- the same request again


def test_the_same_reply_is_kept_once(tape):
    record(tape, "a", "a", "a")
    record(tape, "a")  # in another session, too
    assert len(read_lines(tape, KIND)) == 1
    llm = TapeLLM(tape)
    assert [llm.chat(user("Hello")).content for _ in range(3)] == ["a", "a", "a"]


def test_different_replies_are_replayed_in_their_order(tape):
    record(tape, "a", "b", "a", Reply("b", "length"))
    for _ in range(2):  # each tape begins at its beginning
        llm = TapeLLM(tape)
        replies = [llm.chat(user("Hello")) for _ in range(4)]
        assert [reply.content for reply in replies] == ["a", "b", "b", "b"]
        assert [reply.finish_reason for reply in replies] == ["stop", "stop", "length", "length"]


def test_the_order_is_one_of_each_request_alone(tape):
    record(tape, "a", "b", "c", messages=[user("1"), user("2"), user("1")])
    llm = TapeLLM(tape)
    assert [llm.chat(user(text)).content for text in ("2", "1", "2", "1")] == ["b", "a", "b", "c"]


def test_an_error_is_replayed_unless_a_reply_came_later(tape):
    record(tape, LLMError("rate_limit", "wait"))
    llm = TapeLLM(tape)
    for _ in range(2):
        found = failure(lambda: llm.chat(user("Hello")))
        assert (found.reason, str(found)) == ("rate_limit", "wait")
    state = ReAct(ScriptedLLM([LLMError("rate_limit", "wait")])).run("Hello")
    assert (state.status, state.reason) == (Status.STOPPED, "rate_limit")
    record(tape, "at last")
    assert TapeLLM(tape).chat(user("Hello")).content == "at last"


# -- what is not on the tape


@pytest.mark.parametrize(
    ("asked", "stop", "line"),
    [
        ([*user("rules"), *user("Is it warmer in Rome?")], (),
         'message 2 differs from the nearest one (line 3): from character 17 on it is "Is it warmer in Rome?", '
         'recorded was "Is it warmer in Paris?"'),
        ([*user("rules"), *user("Who wrote\nEmma, " + "and when? " * 20)], (),
         'message 2 differs from the nearest one (line 4): from character 15 on it is "Who wrote\\nEmma, and when? '
         'and when? and when? and when…", recorded was "Who wrote\\nEmma?"'),
        ([*user("rule"), *user("?")], (),
         'message 1 differs from the nearest one (line 2): from character 5 on it is "rule", recorded was "rules"'),
        ([Message("system", "rules")], (),
         "message 1 differs from the nearest one (line 2): its role is 'system', recorded was 'user'"),
        (user("rules"), (), "the nearest one (line 2) begins with its 1 messages and has 1 more"),
        ([*user("rules"), *user("Is it warmer in Paris?"), *user("Why?")], (),
         "message 3 differs from the reply on the tape (line 3): its role is 'user', recorded was 'assistant'"),
        ([*user("rules"), *user("Is it warmer in Paris?"), Message("assistant", "3")], (),
         'message 3 differs from the reply on the tape (line 3): from character 1 on it is "3", recorded was "2"'),
        ([*user("rules"), *user("Is it warmer in Paris?"), Message("assistant", "2"), *user("Why?")], (),
         "the tape ends with message 3 (the reply of line 3), and this request goes on"),
        ([*user("rules"), *user("Hi")], ("x", "\ud800"),
         'its stop words are ["x", "\\ud800"], those of the nearest one (line 2) []'),
    ],
)  # fmt: skip
def test_what_is_not_on_the_tape_is_shown_against_the_nearest(tape, asked, stop, line):
    questions = ["Hi", "Is it warmer in Paris?", "Who wrote\nEmma?"]
    record(tape, "1", "2", "3", messages=[[*user("rules"), *user(text)] for text in questions])
    found = failure(lambda: TapeLLM(tape).chat(asked, stop=stop))
    assert found.reason == "not_on_tape"
    assert str(found) == f"this request is not on the tape {tape}: {line}"


def test_an_agent_that_leaves_the_tape_stops_with_that_line(tape):
    last = ReAct(RecordingLLM(LLM(), tape), TOOLS).run(GOAL)
    agent = ReAct(TapeLLM(tape), TOOLS)
    other = agent.run(agent.fork(last, thought="I want to know more.", action='weather(city="Lima")'))
    assert (other.status, other.reason, other.answer) == (Status.STOPPED, "not_on_tape", None)
    problem = other.events[-1]
    assert problem.kind == "not_on_tape"
    assert f"not on the tape {tape}: message {len(last.messages)} differs from the reply on the tape" in problem.text
    assert "I want to know more." in problem.text
    assert len(other.messages) == len(last.messages) + 1  # the trace so far


# -- settings


def test_what_was_recorded_with_one_setting_needs_no_choice(tape):
    RecordingLLM(LLM(seed=7, max_tokens=300), tape).chat(user("Question: What is 2 + 2?"))
    assert TapeLLM(tape).chat(user("Question: What is 2 + 2?")).content
    assert TapeLLM(tape, seed=7).model == "offline"
    found = failure(lambda: TapeLLM(tape, seed=8, model="gpt-x"))
    assert found.reason == "not_on_tape"
    assert str(found) == (
        f"{tape} holds no recording with model='gpt-x', seed=8; it has model='offline', seed=7, max_tokens=300"
    )


def test_what_was_recorded_with_several_seeds_asks_for_one(tape):
    runs = {seed: ReAct(RecordingLLM(LLM(seed=seed), tape), TOOLS).run(GOAL) for seed in range(7)}
    for seed, state in runs.items():
        assert ReAct(TapeLLM(tape, seed=seed), TOOLS).run(GOAL) == state
    assert len(set(runs.values())) > 1
    found = failure(lambda: TapeLLM(tape))
    assert (found.reason, str(found)) == (
        "bad_tape",
        f"{tape} holds recordings with several settings; say which: model='offline', seed=0; model='offline', seed=1; "
        "model='offline', seed=2; model='offline', seed=3; model='offline', seed=4; and 2 more",
    )


def test_a_stop_word_that_the_server_was_not_sent_is_asked_for_all_the_same(tape, monkeypatch):
    monkeypatch.setenv("AGENTLIB_OMIT", "stop")
    taught = ReAct(RecordingLLM(LLM(), tape), TOOLS).run(GOAL)
    assert all("stop" not in line["request"] for _, line in read_lines(tape, KIND))
    before = tape.read_bytes()
    ReAct(RecordingLLM(LLM(), tape), TOOLS).run(GOAL)
    assert tape.read_bytes() == before
    monkeypatch.delenv("AGENTLIB_OMIT")
    assert ReAct(TapeLLM(tape), TOOLS).run(GOAL) == taught
    assert failure(lambda: TapeLLM(tape).chat(ReAct(LLM(), TOOLS).start(GOAL).messages)).reason == "not_on_tape"


# -- files


def test_a_crash_costs_at_most_the_last_line(tape, tmp_path):
    record(tape, "a", "b\n", "ü", messages=[user("1"), user("2"), user("3")])
    whole = tape.read_bytes()
    header, *ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    near = {place for end in (0, header, *ends) for place in range(end - 3, end + 3)}
    for cut in sorted(near.union(range(0, len(whole), 17)) & {*range(len(whole) + 1)}):
        tape.write_bytes(whole[:cut])
        kept = sum(end - 1 <= cut for end in ends)  # a line that lacks nothing but its end counts
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert len(read_lines(tape, KIND)) == kept
        cut_off = cut not in (0, header, header - 1, *ends, *(end - 1 for end in ends))
        assert [str(each.message) for each in said] == [f"{tape}: the last line is cut off and was left out"] * cut_off
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record(tape, "a", "b\n", "ü", messages=[user("1"), user("2"), user("3")])  # goes on where it stopped
        assert tape.read_bytes() == whole


BAD = {
    "empty": (b"", "holds no recorded request"),
    "header only": (b'{"agentlib": "tape", "version": 1}\n', "holds no recorded request"),
    "text": (b"Dear diary,\ntoday", "is not a tape of agentlib: its first line does not say so"),
    "one line": (b"Dear diary", "is not a tape of agentlib: its first line does not say so"),
    "another file": (b'{"agentlib": "sweep", "version": 1}\n', "is not a tape of agentlib"),
    "version": (b'{"agentlib": "tape", "version": 2}\n', "is a tape of version 2; this is version 1"),
    "utf-16": ('{"agentlib": "tape", "version": 1}\n'.encode("utf-16"), "is not a tape of agentlib"),
    "nul": (b"\0" * 100, "is not a tape of agentlib"),
    "a broken line": (b'{"agentlib": "tape", "version": 1}\n{"request"\n{}\n', "line 2 of "),
    "deep": (b'{"agentlib": "tape", "version": 1}\n' + b'{"a":' * 100_000 + b"\n{}\n", "line 2 of "),
}
LINES = ['{}', '{"request": {}}', '{"request": {"messages": "hi"}, "reply": {}}', '{"request": 1, "reply": 2}',
         '{"request": {"messages": []}, "reply": {"content": null, "finish_reason": "stop", "usage": {}}}',
         '{"request": {"messages": []}, "reply": {"content": "", "finish_reason": "stop", "usage": {"calls": 1e999}}}',
         '{"request": {"messages": []}, "reply": {"content": "", "finish_reason": "stop", "usage": {"cost": 1}}}',
         '{"request": {"messages": [1]}, "error": {"reason": "a", "text": "b"}}',
         '{"request": {"messages": [], "tools": [1]}, "error": {"reason": "a", "text": "b"}}',
         '{"request": {"messages": []}, "reply": {"content": "", "finish_reason": "stop", "usage": {}, '
         '"tool_calls": [1]}}',
         '{"request": {"messages": []}, "error": {"reason": "a"}}']  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_clear_line(tape, name):
    content, line = BAD[name]
    tape.write_bytes(content)
    found = failure(lambda: TapeLLM(tape))
    assert found.reason == "bad_tape"
    assert str(tape) in str(found)
    assert line in str(found)
    if "holds no" not in line:  # a recorder does not touch what is no tape
        assert failure(lambda: RecordingLLM(ScriptedLLM([]), tape)).reason == "bad_tape"
        assert tape.read_bytes() == content


@pytest.mark.parametrize("text", LINES)
def test_a_line_that_is_no_request_and_reply_is_named(tape, text):
    tape.write_text('{"agentlib": "tape", "version": 1}\n' + text + "\n", "utf-8")
    assert str(failure(lambda: TapeLLM(tape))) == f"line 2 of {tape} is not a request and its reply"


def test_a_file_that_is_not_there_or_cannot_be_written(tmp_path):
    assert str(failure(lambda: TapeLLM(tmp_path / "no"))).startswith(f"cannot read {tmp_path / 'no'}: ")
    for place in (tmp_path / "no" / "tape", tmp_path):
        assert failure(lambda place=place: RecordingLLM(ScriptedLLM([]), place)).reason == "bad_tape"
    llm = RecordingLLM(ScriptedLLM(["a"]), tmp_path / "tape")
    (tmp_path / "tape").unlink()
    (tmp_path / "tape").mkdir()
    assert failure(lambda: llm.chat(user("Hello"))).reason == "bad_tape"
    with pytest.raises(LinesError):
        read_lines(tmp_path, KIND)


TEXTS = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["a\r\nb\rc\n", "\u2028\x85\x0b", "\ud800", "\udfff\ud83d", "\ud83d\ude00", "😀", "\ufeff", "\0\x1a", '"\\u0000\\']
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4, unique_by=lambda pair: json.dumps(pair[0])))
def test_every_text_comes_back_on_every_machine(tape, pairs):
    tape.unlink(missing_ok=True)
    record(tape, *[reply for _, reply in pairs], messages=[user(text) for text, _ in pairs], stop=["é\ud800"])
    raw = tape.read_bytes()
    raw.decode("utf-8")
    for variant in (raw, raw.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + raw, raw.removesuffix(b"\n")):
        tape.write_bytes(variant)
        llm = TapeLLM(tape)
        for text, reply in pairs:
            replayed = llm.chat(user(text), stop=["é\ud800"]).content
            assert replayed.encode("utf-16", "surrogatepass") == reply.encode("utf-16", "surrogatepass")


def test_both_can_be_pickled(tape):
    record(tape, "a", "b")
    llm = TapeLLM(tape)
    llm.chat(user("Hello"))
    tape.unlink()
    copy = pickle.loads(pickle.dumps(llm))  # on a machine that has no such file
    assert copy.chat(user("Hello")).content == "b"
    recording = pickle.loads(pickle.dumps(RecordingLLM(LLM(), tape)))
    assert recording.chat(user("Question: What is 2 + 2?")) == TapeLLM(tape).chat(user("Question: What is 2 + 2?"))
    assert repr(recording) == f"RecordingLLM(LLM('offline'), {str(tape)!r})"
    assert repr(TapeLLM(tape)) == f"TapeLLM({str(tape)!r}, model='offline')"


def test_a_tape_of_a_tape_is_the_same_tape(tape, tmp_path):
    taught = ReAct(RecordingLLM(LLM(seed=1), tape), TOOLS).run(GOAL)
    copy = tmp_path / "copy.tape"
    assert ReAct(RecordingLLM(TapeLLM(tape), copy), TOOLS).run(GOAL) == taught
    assert read_lines(copy, KIND) == read_lines(tape, KIND)
    assert taught.usage == ReAct(TapeLLM(copy), TOOLS).run(GOAL).usage != Usage()
