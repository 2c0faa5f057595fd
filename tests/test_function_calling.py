import asyncio
import contextlib
import json
import tempfile
import threading
import time
from contextvars import ContextVar
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator

from agentlib import (
    LLM,
    Answer,
    Call,
    ContextBudget,
    FunctionCalling,
    LLMError,
    LoopGuard,
    Message,
    Observation,
    Problem,
    ReAct,
    Reply,
    ScriptedLLM,
    State,
    Status,
    Thought,
    Tool,
    ToolCall,
    ToolDefinitionError,
    Usage,
    run_agent,
    tool,
)
from agentlib.offline import app
from agentlib.offline.checks import check
from agentlib.world import calculator, search, weather


def ping() -> str:
    """Say whether the service is up."""
    return "pong"


def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


def get_weather(city: str) -> str:
    """Look up the weather."""
    return f"sunny in {city}"


def get_time(city: str) -> str:
    """Look up the time."""
    return f"noon in {city}"


def asks(*calls: tuple[str, str] | Call, content: str = "", finish_reason: str = "tool_calls") -> Reply:
    """Make a reply that asks for calls: (name, arguments), which get the ids c1, c2 and so on."""
    made = [call if isinstance(call, Call) else Call(f"c{n}", *call) for n, call in enumerate(calls, 1)]
    return Reply(content, finish_reason, tool_calls=tuple(made))


def run(*replies: str | Reply | LLMError, tools=(ping, shout), **settings) -> State:
    """Run a script to its end."""
    with ScriptedLLM(replies) as llm:
        return FunctionCalling(llm, tools, **settings).run("q")


def observed(state: State) -> list[tuple[str, str, str]]:
    """Give what each call came to: its id, the kind and the text."""
    return [(e.call_id, e.kind, e.text) for e in state.events if isinstance(e, Observation)]


def accepted_by_the_api(messages: tuple[Message, ...]) -> bool:
    """Say whether the offline server, which refuses what the API refuses, takes the history."""
    check({"model": "offline", "messages": [message.to_wire() for message in messages]}, "offline")
    return True


# -- the conversation


def test_a_call_its_result_and_the_answer_stand_as_the_api_wants_them():
    state = run(asks(("shout", '{"text": "a"}'), content="I shout."), "A")
    assert [message.to_wire() for message in state.messages[1:]] == [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "I shout.", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "shout", "arguments": '{"text": "a"}'}}]},
        {"role": "tool", "content": "A", "tool_call_id": "c1"},
        {"role": "assistant", "content": "A"},
    ]  # fmt: skip
    assert state.events == (
        Thought(message=2, text="I shout.", raw="I shout."),
        ToolCall(message=2, id="c1", name="shout", arguments='{"text": "a"}', raw="I shout."),
        Observation(message=3, call_id="c1", text="A"),
        Answer(message=4, text="A", raw="A"),
    )
    assert (state.answer, state.status, state.reason, state.iterations) == ("A", Status.DONE, "final_answer", 2)


def test_the_request_holds_the_tools_as_the_api_describes_them():
    with ScriptedLLM(["x"]) as llm:
        FunctionCalling(llm, [shout]).run("q")
    (offered,) = llm.requests[0]["tools"]
    assert offered["type"] == "function"
    assert (offered["function"]["name"], offered["function"]["description"]) == ("shout", "Say it loudly.")
    assert offered["function"]["parameters"]["required"] == ["text"]


def test_without_tools_the_request_has_no_field_for_them():
    with ScriptedLLM(["x"]) as llm:
        FunctionCalling(llm).run("q")
    assert "tools" not in llm.requests[0]
    assert "tools" not in LLM("offline").request([Message("user", "q")])


def test_a_long_result_is_cut_in_the_message_and_whole_in_the_event():
    state = run(asks(("shout", json.dumps({"text": "x" * 100_000}))), "done")
    message = next(m for m in state.messages if m.role == "tool")
    assert len(message.content) <= 4_000 and "truncated" in message.content
    assert len(observed(state)[0][2]) == 100_000


def test_two_cities_are_looked_up_in_one_reply():
    state = FunctionCalling(LLM("offline"), [weather]).run("Compare the weather in Beijing and Shanghai.")
    assert [len(message.tool_calls) for message in state.messages if message.role == "assistant"] == [2, 0]
    assert "Beijing" in state.answer and "Shanghai" in state.answer and state.usage.calls == 2


def test_run_agent_is_the_model_of_the_settings_on_a_goal():
    state = run_agent("Is it warmer in Beijing or in Shanghai?", [weather])
    assert state.answer.startswith("Shanghai") and isinstance(state, State)
    stopped = run_agent("Is it warmer in Beijing or in Shanghai?", [weather], max_iterations=1)
    assert stopped.reason == "max_iterations" and len(observed(stopped)) == 2


def test_a_conversation_goes_on_after_an_answer():
    agent = FunctionCalling(LLM("offline"), [weather])
    state = agent.run(agent.say(agent.run("What is the weather in Oslo?"), "And in Lima?"))
    assert "Lima" in state.answer and accepted_by_the_api(state.messages)


# -- what the finish reason says, and what counts


def test_calls_run_whatever_the_finish_reason_says():
    for reason in ("stop", "tool_calls", "function_call", "unknown"):
        state = run(asks(("ping", "{}"), finish_reason=reason), "up")
        assert observed(state) == [("c1", "ok", "pong")] and state.answer == "up"


def test_announced_calls_that_are_not_there_are_a_format_error():
    state = run(Reply("", "tool_calls"), Reply("Let me look.", "tool_calls"), "up")
    assert [event.kind for event in state.events if isinstance(event, Problem)] == ["empty_reply", "format_error"]
    assert state.answer == "up"


def test_a_reply_cut_off_inside_a_call_runs_nothing_and_says_so():
    ran = []
    note = Tool(lambda text: ran.append(text), "note", "Note it.")
    cut = asks(("note", '{"text": "a"}'), ("note", '{"text": "b'), content="Two.", finish_reason="length")
    state = run(cut, "done", tools=[note])
    assert ran == [] and [message.role for message in state.messages] == [
        "system", "user", "assistant", "user", "assistant"]  # fmt: skip
    (problem,) = (event for event in state.events if isinstance(event, Problem))
    assert problem.kind == "cut_off_calls" and '{\\"text\\": \\"b' in problem.raw
    assert "cut off" in state.messages[3].content and state.messages[2] == Message("assistant", "Two.")


def test_an_answer_cut_off_is_an_answer_with_a_problem():
    state = run(Reply("The answer is", "length"))
    assert state.answer == "The answer is"
    assert [event.kind for event in state.events if isinstance(event, Problem)] == ["cut_off"]


def test_a_filter_stops_the_run_after_one_call():
    state = run(Reply("", "content_filter"))
    assert (state.status, state.reason, state.usage.calls) == (Status.STOPPED, "content_filter", 1)
    assert run(asks(("ping", "{}"), finish_reason="content_filter")).reason == "content_filter"


def test_empty_replies_are_answered_and_bounded():
    state = run("", " \n", Reply("", "length"), max_format_errors=3)
    assert (state.status, state.reason) == (Status.STOPPED, "empty_reply")
    assert all(message.content is not None for message in state.messages)
    assert [message.role for message in state.messages[2:]] == ["assistant", "user"] * 3


def test_a_refusal_of_the_model_is_its_answer():
    def refuses(environ, start_response):
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()]

    assert FunctionCalling(LLM("offline", offline=refuses)).run("q").answer == "I cannot help with that."


def test_the_cap_keeps_the_trace():
    state = run(*[asks(("ping", "{}"))] * 2, max_iterations=2)
    assert (state.status, state.reason, state.iterations) == (Status.STOPPED, "max_iterations", 2)
    assert len(observed(state)) == 2 and accepted_by_the_api(state.messages)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "shout", "arguments": {"text": "a"}}',
        'I shall shout.\n<tool_call>\n{"name": "shout", "arguments": {"text": "a"}}\n</tool_call>',
        '```json\n{"name": "shout", "arguments": {"text": "a"}}\n```',
        'Action: shout(text="a")',
    ],
)
def test_a_call_that_stands_in_the_text_is_no_answer_and_is_sent_back(text):
    state = run(text, asks(("shout", '{"text": "a"}')), "A")
    assert state.answer == "A" and observed(state) == [("c1", "ok", "A")]
    (problem,) = (event for event in state.events if isinstance(event, Problem))
    assert problem.kind == "call_in_text" and "use the field for calls" in state.messages[3].content


@pytest.mark.parametrize(
    "text",
    [
        "Call shout with a text to say it loudly.",
        'Use shout(text="a") for that.',
        '{"name": "elsewhere", "arguments": {"text": "a"}}',
        '{"name": "Ada", "born": 1815}',
    ],
)
def test_an_answer_that_only_speaks_of_tools_is_an_answer(text):
    assert run(text).answer == text


# -- calls that are not quite right


@pytest.mark.parametrize("arguments", ["", "  ", "null", "{}"])
def test_no_arguments_are_no_arguments(arguments):
    assert observed(run(asks(("ping", arguments)), "up"))[0][1:] == ("ok", "pong")
    assert "missing: text" in observed(run(asks(("shout", arguments)), "up"))[0][2]


def test_arguments_in_a_text_are_unpacked_and_recorded():
    state = run(asks(("shout", json.dumps('{"text": "a"}'))), "up")
    assert observed(state) == [("c1", "ok", "A")]
    assert [e.text for e in state.events if isinstance(e, Problem)] == ["arguments: JSON inside a text"]


@pytest.mark.parametrize("arguments", ["[1]", '"hi"', '{"text": "a', "NaN", "[" * 10_000])
def test_arguments_that_cannot_be_read_are_answered_and_can_be_sent_again(arguments):
    state = run(asks(("shout", arguments)), "sorry")
    assert observed(state)[0][1] == "bad_arguments"
    (call,) = state.messages[2].tool_calls
    assert json.loads(call.arguments) == {"as_written": arguments}  # servers that parse the history can
    assert state.events[0].arguments == arguments


def test_an_unknown_tool_is_answered_with_those_that_exist():
    state = run(asks(("functions.get_wether", "{}")), "sorry", tools=[get_weather, get_time])
    ((_, kind, text),) = observed(state)
    assert kind == "unknown_tool" and all(name in text for name in ("get_weather", "get_time", "Did you mean"))
    assert accepted_by_the_api(state.messages)  # which refuses names with dots


def test_a_prefix_or_another_case_is_taken_for_the_name_but_not_for_a_tool_that_writes():
    state = run(asks(("functions.shout", '{"text": "a"}'), ("Ping", "")), "up")
    assert [kind for _, kind, _ in observed(state)] == ["ok", "ok"]
    assert "name: 'functions.shout' became 'shout'" in str(state)
    erase = Tool(shout, "erase", writes=True)
    state = run(asks(("functions.erase", '{"text": "a"}')), "sorry", tools=[erase])
    assert observed(state)[0][1] == "unknown_tool"


def test_missing_and_repeated_ids_are_replaced_and_each_is_answered_once():
    same = Call("a", "ping", "{}")
    state = run(asks(same, same, Call("", "ping", "{}")), asks(same), "up")
    ids = [call.id for message in state.messages for call in message.tool_calls]
    assert len(set(ids)) == 4 and ids == [call_id for call_id, _, _ in observed(state)]
    assert accepted_by_the_api(state.messages)


def test_a_name_that_the_api_would_refuse_in_the_history_is_sent_without_what_it_refuses():
    for name in ("get weather!", "天气", "", "x" * 80):
        state = run(asks((name, "{}")), "sorry")
        assert accepted_by_the_api(state.messages) and observed(state)[0][1] == "unknown_tool"


# -- what tools do


def test_what_a_tool_raises_is_an_observation_with_its_kind():
    def fails(how: str) -> str:
        raise {"v": ValueError(), "k": KeyError("x")}[how]

    state = run(asks(("fails", '{"how": "v"}'), ("fails", '{"how": "k"}')), "sorry", tools=[fails])
    assert observed(state) == [("c1", "tool_error", "Error: ValueError"), ("c2", "tool_error", "Error: KeyError: 'x'")]


def test_a_tool_that_ends_the_program_ends_it():
    def leave() -> str:
        raise SystemExit(1)

    for calls in ([("leave", "")], [("ping", ""), ("leave", "")]):
        with pytest.raises(SystemExit):
            run(asks(*calls), tools=[leave, ping])


def test_a_tool_that_takes_too_long_is_given_up():
    never = threading.Event()

    @tool(timeout=0.05)
    def wait() -> str:
        """Wait for ever."""
        never.wait(30)
        return "late"

    @tool(timeout=0.05)
    async def wait_as_well() -> str:
        """Wait for ever, in an event loop."""
        await asyncio.sleep(30)
        return "late"

    state = run(asks(("wait", ""), ("wait_as_well", ""), ("ping", "")), "ok", tools=[wait, wait_as_well, ping])
    assert [kind for _, kind, _ in observed(state)] == ["timeout", "timeout", "ok"]
    assert observed(state)[0][2] == "Error: wait gave no result within 0.05 seconds"
    never.set()


def test_a_timeout_of_the_tools_own_is_its_error():
    @tool(timeout=20)
    def connect() -> str:
        """Connect."""
        raise TimeoutError("the server did not answer")

    assert observed(run(asks(("connect", "")), "ok", tools=[connect]))[0][1] == "tool_error"


def test_the_limit_holds_for_all_that_a_tool_does_and_counts_once():
    never = threading.Event()

    async def blocks() -> str:
        never.wait(30)
        return "late"

    async def refuses_to_stop() -> str:
        while not never.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        return "late"

    def is_lazy():
        return (never.wait(30) for _ in range(3))

    tools = [Tool(f, description="Take too long.", timeout=0.1) for f in (blocks, refuses_to_stop, is_lazy)]
    state = run(asks(("blocks", ""), ("refuses_to_stop", ""), ("is_lazy", "")), "ok", tools=tools)
    never.set()
    assert [kind for _, kind, _ in observed(state)] == ["timeout"] * 3


def test_whatever_a_check_or_a_tool_raises_costs_no_other_result():
    def picky(order: str) -> str:
        raise KeyError("db")

    async def cancelled() -> str:
        raise asyncio.CancelledError

    def pay(order: Annotated[str, AfterValidator(picky)]) -> str:
        return order

    order = '{"order": "A"}'
    for writes in (False, True):
        tools = [ping, Tool(pay, description="Pay.", writes=writes), Tool(cancelled, description="Cancel.")]
        state = run(asks(("ping", ""), ("pay", order), ("cancelled", "")), "ok", tools=tools)
        assert [kind for _, kind, _ in observed(state)] == ["ok", "bad_arguments", "tool_error"]
    assert observed(state)[1][2] == "Error: the arguments cannot be checked: KeyError: 'db'"


def test_half_a_character_is_kept_in_the_event_and_can_be_sent():
    def names() -> str:
        """List file names."""
        return "caf\udce9"

    state = run(asks(("names", "")), "done \ud800", tools=[names])
    assert observed(state)[0][2] == "caf\udce9" and state.messages[3].content == "caf?"
    assert all(json.dumps(message.to_wire(), ensure_ascii=False).encode() for message in state.messages)


# -- calls at once


def test_calls_of_one_reply_run_at_once_and_their_results_stand_in_order():
    barrier = threading.Barrier(3, timeout=20)

    def meet(name: str, seconds: float) -> str:
        """Meet the others: returns only when all three are here."""
        barrier.wait()
        time.sleep(seconds)
        return name

    calls = [("meet", json.dumps({"name": name, "seconds": s})) for name, s in (("a", 0.02), ("b", 0.01), ("c", 0.0))]
    assert [text for _, _, text in observed(run(asks(*calls), "up", tools=[meet]))] == ["a", "b", "c"]


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_no_more_calls_run_at_once_than_the_limit_allows(limit):
    lock, now, most = threading.Lock(), [0], [0]

    def work() -> str:
        """Count who works."""
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.005)
        with lock:
            now[0] -= 1
        return ""

    run(asks(*[("work", "")] * 12), "up", tools=[work], max_parallel=limit)
    assert most[0] <= limit


def test_context_variables_reach_the_tools_in_their_threads():
    user = ContextVar("user")
    user.set("Mei")

    def who() -> str:
        """Say who asks."""
        return user.get()

    assert [text for _, _, text in observed(run(asks(*[("who", "")] * 3), "up", tools=[who]))] == ["Mei"] * 3


def test_an_interrupt_answers_every_call():
    ran = []

    def work(name: str) -> str:
        """Work."""
        if name == "c2":
            raise KeyboardInterrupt
        ran.append(name)
        return name

    calls = [("work", json.dumps({"name": f"c{n}"})) for n in (1, 2, 3)]
    state = run(asks(*calls), tools=[work], max_parallel=1)
    assert [kind for _, kind, _ in observed(state)] == ["ok", "cancelled", "not_executed"] and ran == ["c1"]
    assert (state.status, state.reason) == (Status.INTERRUPTED, "interrupted")
    assert accepted_by_the_api((*state.messages, Message("user", "Go on.")))
    agent = FunctionCalling(ScriptedLLM(["up"]), [work])
    assert agent.run(agent.resume(state)).answer == "up"


def test_an_interrupt_in_a_thread_is_not_lost_among_results():
    def work(name: str) -> str:
        """Work."""
        if name == "c1":
            raise KeyboardInterrupt
        return name

    calls = [("work", json.dumps({"name": f"c{n}"})) for n in range(1, 9)]
    state = run(asks(*calls), tools=[work])
    assert state.status is Status.INTERRUPTED and observed(state)[0][1] == "cancelled"
    assert len(observed(state)) == 8 and accepted_by_the_api((*state.messages, Message("user", "Go on.")))


# -- tools that end the run


@tool(final=True)
def final_answer(text: str) -> str:
    """Hand in the answer."""
    return f"Answer: {text}"


def test_the_result_of_a_final_tool_is_the_answer():
    state = run(asks(("final_answer", '{"text": "sunny"}')), tools=[final_answer])
    assert (state.answer, state.status, state.reason) == ("Answer: sunny", Status.DONE, "final_answer")
    assert accepted_by_the_api((*state.messages, Message("user", "And tomorrow?")))


def test_a_final_tool_beside_others_is_refused_since_it_cannot_know_their_results():
    both = asks(("get_weather", '{"city": "Prague"}'), ("final_answer", '{"text": "sunny"}'))
    state = run(both, asks(("final_answer", '{"text": "sunny in Prague"}')), tools=[get_weather, final_answer])
    assert [kind for _, kind, _ in observed(state)] == ["ok", "not_alone", "ok"]
    assert "call it alone" in observed(state)[1][2] and state.answer == "Answer: sunny in Prague"


def test_a_final_tool_that_fails_does_not_end_the_run():
    state = run(asks(("final_answer", "{}")), asks(("final_answer", '{"text": "a"}')), tools=[final_answer])
    assert [kind for _, kind, _ in observed(state)] == ["bad_arguments", "ok"] and state.answer == "Answer: a"


def test_the_text_protocol_has_final_tools_too():
    submit = Tool(final_answer.function, "submit", final=True)
    state = ReAct(ScriptedLLM(['Action: submit(text="a")']), tools=[submit]).run("q")
    assert (state.answer, state.status) == ("Answer: a", Status.DONE)


# -- many tools


def numbered(count: int) -> list[Tool]:
    return [Tool(ping, f"tool_{n}", "One of many.") for n in range(count)]


def test_more_tools_than_a_request_takes_need_a_choice():
    with pytest.raises(ToolDefinitionError, match="141 tools, and a request takes 128: give `select`"):
        FunctionCalling(ScriptedLLM([]), numbered(141))
    FunctionCalling(ScriptedLLM([]), numbered(128))


def test_a_tool_that_was_not_offered_still_runs():
    with ScriptedLLM([asks(("tool_140", "")), "up"]) as llm:
        agent = FunctionCalling(llm, numbered(141), select=lambda state, tools: tools[:5])
        state = agent.run("q")
    assert observed(state) == [("c1", "ok", "pong")] and state.answer == "up"
    assert [len(request["tools"]) for request in llm.requests] == [5, 5]


def test_the_choice_sees_the_state_of_each_step():
    seen = []

    def select(state, tools):
        seen.append(state.iterations)
        return tools

    with ScriptedLLM([asks(("ping", "")), "up"]) as llm:
        FunctionCalling(llm, [ping], select=select).run("q")
    assert seen == [0, 1]


# -- forks


def test_a_thought_can_be_edited_and_the_calls_stay():
    agent = FunctionCalling(ScriptedLLM([asks(("shout", '{"text": "a"}'), content="So."), "done"]), [shout])
    asked = agent.step(agent.start("q"))
    fork = agent.fork(asked, thought="Louder.")
    assert fork.messages[2].content == "Louder."
    assert fork.pending == (replace(asked.pending[0], raw="Louder.", edited=True),)
    done = agent.run(fork)
    assert done.answer == "done"
    with pytest.raises(ValueError, match="this reply is an answer and has no thought"):
        agent.fork(done, thought="Another answer.")


def test_calls_can_be_edited_one_a_line():
    agent = FunctionCalling(ScriptedLLM([asks(("ping", "")), "done"]), [shout, ping])
    asked = agent.step(agent.start("q"))
    fork = agent.fork(asked, action='shout("a")\nshout(text="b")')
    assert [(call.name, json.loads(call.arguments)) for call in fork.pending] == [
        ("shout", {"text": "a"}), ("shout", {"text": "b"})]  # fmt: skip
    assert agent.run(fork).answer == "done"
    assert agent.fork(asked, action="Final Answer: enough").answer == "enough"
    with pytest.raises(ValueError, match="this is no call"):
        agent.fork(asked, action="well, well")


def test_an_observation_can_be_edited_and_the_calls_after_it_run():
    erase = Tool(shout, "erase", writes=True)
    replies = [asks(("ping", ""), ("erase", '{"text": "a"}')), "done"]
    agent = FunctionCalling(ScriptedLLM(replies), [ping, erase])
    waiting = agent.run("q")
    fork = agent.fork(waiting, observation="down")
    assert observed(fork) == [("c1", "ok", "down")] and [call.name for call in fork.pending] == ["erase"]
    done = agent.run(agent.approve(agent.run(fork)))
    assert done.answer == "done" and accepted_by_the_api(done.messages)


def test_a_fork_of_the_thought_keeps_the_calls_as_they_were_written():
    def bash(cmd: str) -> str:
        """Run a command."""
        return cmd

    for written in ("ls -la", '{"cmd": "ls",}'):
        agent = FunctionCalling(ScriptedLLM([asks(("bash", written)), "done"]), [bash])
        asked = agent.step(agent.start("q"))
        assert observed(agent.step(agent.fork(asked, thought="hm"))) == observed(agent.step(asked))
        assert observed(agent.step(asked))[0][1] == "ok"


def test_a_call_that_is_written_over_several_lines_is_one():
    agent = FunctionCalling(ScriptedLLM([asks(("ping", "")), "done"]), [shout, ping])
    fork = agent.fork(agent.step(agent.start("q")), action='shout(\n  text="a"\n)')
    assert [(call.name, call.arguments) for call in fork.pending] == [("shout", '{"text": "a"}')]


def test_an_observation_can_be_edited_after_a_history_was_cut():
    replies = [asks(Call(letter, "shout", json.dumps({"text": letter * 100}))) for letter in "abcd"]
    agent = FunctionCalling(ScriptedLLM(replies), [shout], guards=[ContextBudget(300)], max_iterations=4)
    fork = agent.fork(agent.run("q"), observation="o")
    assert observed(fork)[-1] == ("d", "ok", "o") and fork.status is Status.RUNNING


def test_the_edited_result_of_a_final_tool_is_the_answer():
    agent = FunctionCalling(ScriptedLLM([asks(("final_answer", '{"text": "a"}'))]), [final_answer])
    fork = agent.fork(agent.run("q"), observation="b")
    assert (fork.answer, fork.status) == ("b", Status.DONE)


# -- settings that are none


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"tools": None}, "tools are given as a list"),
        ({"tools": ping}, "tools are given as a list"),
        ({"tools": Tool(ping)}, "tools are given as a list"),
        ({"tools": "ping"}, "tools are given as a list"),
        ({"max_iterations": -1}, "max_iterations is -1; it is a whole number from 0"),
        ({"max_parallel": 0}, "max_parallel is 0; it is a whole number from 1"),
        ({"max_iterations": "5"}, "max_iterations is '5'"),
        ({"max_parallel": None}, "max_parallel is None"),
        ({"guards": LoopGuard()}, "guards are given as a list of functions"),
        ({"guards": [3]}, "guards are given as a list of functions"),
        ({"llm": "gpt-4o"}, "an agent needs a model, such as LLM\\(\\), and 'gpt-4o' cannot chat"),
        ({"instructions": None}, "a message's content is a text, not None"),
    ],
)
def test_a_setting_that_is_none_is_said_in_one_line(settings, why):
    given = {"llm": ScriptedLLM(["x"]), "tools": [ping]} | settings
    with pytest.raises((TypeError, ValueError), match=why) as error:
        FunctionCalling(**given).run("q")
    assert "\n" not in str(error.value)


def test_a_goal_that_is_none_and_a_guard_that_gives_none_are_said_in_one_line():
    with pytest.raises(TypeError, match="a message's content is a text, not None"):
        run_agent(None, [ping])
    with pytest.raises(TypeError, match="gave None; a guard gives a state"):
        run("x", guards=[lambda state: None])


@pytest.mark.parametrize("chosen", [["ping"], [Tool(ping, "elsewhere")], numbered(129)])
def test_a_choice_of_what_cannot_be_offered_is_refused(chosen):
    with pytest.raises(ValueError, match="select gave"):
        run("x", select=lambda state, tools: chosen)


def test_an_id_that_is_too_long_for_other_servers_is_replaced():
    state = run(asks(Call("x" * 41, "ping", ""), Call("y" * 40, "ping", "")), "up")
    assert [call_id for call_id, _, _ in observed(state)] == ["call_1_0", "y" * 40]


def test_a_run_that_was_stopped_for_its_replies_and_resumed_counts_anew():
    with ScriptedLLM(["", "", "", "", "up"]) as llm:
        agent = FunctionCalling(llm, [ping], max_format_errors=2)
        stopped = agent.run("q")
        again = agent.run(agent.resume(stopped))
        assert (stopped.reason, again.reason, again.usage.calls) == ("empty_reply", "empty_reply", 4)
        assert agent.run(agent.resume(again)).answer == "up"


# -- guards


def test_a_loop_of_calls_that_succeed_is_noticed_and_distinct_ones_are_not():
    distinct = [asks(("shout", json.dumps({"text": letter}))) for letter in "abc"]
    repeated = [asks(("get_time", '{"city": "Oslo"}'))] * 4
    with ScriptedLLM([*distinct, *repeated]) as llm:
        state = FunctionCalling(llm, [shout, get_time], guards=[LoopGuard(times=3)]).run("q")
    assert state.reason == "loop" and state.usage.calls == 7
    warned = [event.message for event in state.events if isinstance(event, Problem) and event.kind == "loop_warning"]
    assert len(warned) == 1


def test_a_history_is_cut_between_a_reply_with_its_results_and_the_next():
    replies = [asks(("shout", json.dumps({"text": letter * 500})), ("ping", "")) for letter in "abcdef"]
    with ScriptedLLM([*replies, "done"]) as llm:
        state = FunctionCalling(llm, [shout, ping], guards=[ContextBudget(2_500)], max_iterations=20).run("q")
    assert state.answer == "done" and len(state.messages) < 22
    for request in llm.requests:
        check({"model": "offline", "messages": request["messages"]}, "offline")


# -- for all replies

NAMES = st.sampled_from(["ping", "shout", "final_answer", "erase", "Ping", "functions.ping", "none such", ""])
ARGUMENTS = st.sampled_from(['{"text": "a"}', "{}", "", "null", '{"text": ', "[]", '"x"', '{"text": 3}', "NaN"])
CALLS = st.lists(st.builds(Call, st.sampled_from(["", "a", "b"]), NAMES, ARGUMENTS), max_size=4)
REPLIES = st.builds(
    Reply,
    st.sampled_from(["", "text", "  "]),
    st.sampled_from(["stop", "tool_calls", "length", "content_filter"]),
    st.just(Usage(1, 1, 1)),
    CALLS.map(tuple),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(REPLIES | st.just(LLMError("rate_limit", "wait")), max_size=8), st.data())
def test_whatever_a_model_replies_the_history_can_be_sent_and_the_run_ends_with_a_reason(replies, data):
    erase = Tool(shout, "erase", writes=True)
    llm = ScriptedLLM([*replies, "done"])
    agent = FunctionCalling(llm, [ping, shout, final_answer, erase], max_iterations=6)
    states = list(agent.steps("q"))
    while states[-1].status is Status.WAITING:
        decide = data.draw(st.sampled_from([agent.approve, agent.reject]))
        states += agent.steps(decide(states[-1]))
    last = states[-1]
    assert last.status in (Status.DONE, Status.STOPPED) and last.reason and not last.pending
    assert accepted_by_the_api((*last.messages, Message("user", "Thanks.")))
    for request in llm.requests:
        check({"model": "offline", "messages": request["messages"]}, "offline")
    calls = [event.id for event in last.events if isinstance(event, ToolCall)]
    assert calls == [call_id for call_id, _, _ in observed(last)] and len(set(calls)) == len(calls)
    for before, after in pairwise(states):
        assert after.messages[: len(before.messages)] == before.messages


@settings(max_examples=60, deadline=None)
@given(st.lists(REPLIES, min_size=1, max_size=6))
def test_a_run_saved_after_every_step_ends_as_one_that_was_not(replies):
    def agent(used: int) -> FunctionCalling:
        return FunctionCalling(ScriptedLLM([*replies, "done"][used:]), [ping, shout, final_answer], max_iterations=5)

    whole = agent(0).run("q")
    state = agent(0).start("q")
    with tempfile.TemporaryDirectory() as folder:
        while state.status is Status.RUNNING:
            state = agent(state.usage.calls).step(state)
            state.save(Path(folder, "s.json"))
            state = State.load(Path(folder, "s.json"))
    assert state == whole


def test_the_tools_of_the_world_work_over_native_calls():
    agent = FunctionCalling(LLM("offline", offline=app()), [search, weather, calculator])
    assert "Nanyang" in agent.run("Which university did the CEO of Intel attend?").answer
    assert "391" in agent.run("What is 17 * 23?").answer


def test_a_reply_shows_what_the_server_sent_also_where_it_is_not_quite_the_api():
    def sloppy(environ, start_response):
        call = {"function": {"name": "ping", "arguments": {"a": 1}}}
        message = {"role": "assistant", "tool_calls": [call, {"id": 7, "function": {"name": "ping"}}]}
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps({"choices": [{"message": message}]}).encode()]

    reply = LLM("offline", offline=sloppy).chat([Message("user", "q")])
    assert reply.tool_calls == (Call("", "ping", '{"a": 1}'), Call("7", "ping", ""))


def test_a_message_made_once_for_requests_does_not_share_what_callers_get():
    message = Message("assistant", "", (Call("a", "ping", "{}"),))
    message.to_wire()["tool_calls"].clear()
    assert message.wire["tool_calls"] and replace(message) == message
