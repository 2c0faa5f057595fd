"""Tools over MCP, both ways: real servers and real clients, each a process of its own, over stdin and stdout."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from agentlib import FunctionCalling
from agentlib.llm import Reply, ScriptedLLM
from agentlib.mcp_bridge import MCPError, MCPToolError, MCPTools, join_tools, main, may_write, serve_tools
from agentlib.mcp_bridge.names import distinct, safe_name
from agentlib.mcp_bridge.server import load
from agentlib.state import Call, Observation, Status
from agentlib.tools import Tool, Toolbox
from agentlib.tools.running import TooLong

ROOT = Path(__file__).resolve().parents[1]
SERVERS = Path(__file__).parent / "mcp_servers"
PATHS = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(SERVERS)])}
SHOP = ["-m", "agentlib.mcp_bridge", "shop:toolbox"]


def server(name: str, *args: str, **settings) -> MCPTools:
    """Give one of the servers in tests/mcp_servers, not started."""
    return MCPTools(sys.executable, [str(SERVERS / f"{name}.py"), *args], **settings)


@pytest.fixture(scope="module")
def sdk():
    """Give the tools of the server that the official SDK made, by their names."""
    with server("sdk") as tools:
        yield {tool.name: tool for tool in tools}


def run(tool: Tool, **arguments):
    return Toolbox([tool]).run(tool.name, json.dumps(arguments))


# -- their server, our client


def test_all_pages_of_tools_are_listed_under_names_that_the_api_takes(sdk):
    names = list(sdk)
    assert names[:5] == ["read_file", "read_file_2", "delete", "append", "echo"]  # read.file and read/file
    assert names[-1] == "x" * 64
    assert len(names) == 19
    assert sdk["delete"].description == "Delete a file."
    assert json.loads(run(sdk["read_file_2"]).text)["name"] == "read/file"


def test_a_tool_without_parameters_has_none(sdk):
    assert sdk["read_file"].parameters["properties"] == {}
    assert sdk["read_file"].parameters.get("required", []) == []
    assert sdk["read_file"].signature == "read_file()"
    assert json.loads(run(sdk["read_file"]).text) == {"name": "read.file", "arguments": {}}


def test_arguments_arrive_as_they_were_given(sdk):
    given = {"name": "n", "server": "s", "self": 1, "天气": ["茶", None, {"deep": 1.5}]}
    assert json.loads(run(sdk["echo"], **given).text)["arguments"] == given
    assert json.loads(sdk["echo"](half="\ud83d!"))["arguments"] == {"half": "?!"}
    assert run(sdk["delete"]).kind == "bad_arguments"  # checked before anything is sent


def test_a_tool_waits_for_approval_unless_its_server_says_that_it_only_reads(sdk):
    assert [sdk[name].writes for name in ("read_file", "delete", "append")] == [False, True, True]
    with server("sdk", writes=lambda name, hints: name == "read.file") as tools:
        assert [tool.writes for tool in tools[:3]] == [True, False, False]
    assert may_write("x", {"readOnlyHint": "true"})  # only a plain yes counts


def test_every_kind_of_content_becomes_text(sdk):
    assert run(sdk["blocks"]).text.splitlines() == [
        "Here it is:",
        "[image: image/png, 5 bytes; it cannot be shown here]",
        "[audio: audio/wav, 6 bytes; it cannot be shown here]",
        "[link to the resource notes, file:///notes.txt: What to buy]",
        "[resource file:///notes.txt]",
        "Milk, eggs",
        "[resource file:///notes.bin: binary, 3 bytes; it cannot be shown here]",
    ]
    data = {"city": "Beijing", "degrees": 21}
    assert json.loads(run(sdk["structured"]).text) == data
    assert json.loads(run(sdk["said"]).text) == data  # once, not twice
    assert run(sdk["more"]).text == f"It is warm.\n{json.dumps(data)}"


def test_what_a_tool_says_of_its_failure_reaches_the_model(sdk):
    failed = run(sdk["fails"])
    assert failed.kind == "tool_error"
    assert failed.text.endswith("No city is named Pekin. Did you mean Beijing?")
    assert run(sdk["silent_failure"]).text.endswith("silent_failure failed and did not say why")
    assert run(sdk["refused"]).text.endswith("the MCP server everything gave no result of refused: not today")
    with pytest.raises(MCPToolError):
        sdk["fails"]()


def test_several_threads_call_at_once(sdk):
    with ThreadPoolExecutor(3) as pool:  # each call returns only when all three are there
        assert list(pool.map(lambda _: sdk["meet"](), range(3))) == ["met"] * 3


def test_a_call_that_takes_too_long_is_ended_on_the_server_too():
    with server("sdk", timeout=3) as tools, ThreadPoolExecutor(2) as pool:
        box = Toolbox(tools)
        outcome, raised = pool.submit(box.run, "hang", "{}"), pool.submit(box.tools["hang"])
        assert outcome.result().kind == "timeout"
        assert isinstance(raised.exception(), TooLong)
        assert box.run("was_cancelled", "{}").text == "yes"


@pytest.mark.skipif(os.name == "nt", reason="needs a signal that one thread sends to another")
def test_an_interrupt_ends_the_call_on_the_server_and_the_connection_lives_on():
    def interrupt(started: Tool) -> None:
        if started() == "yes":
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with server("sdk") as tools, ThreadPoolExecutor(1) as pool:
        by_name = {tool.name: tool for tool in tools}
        pool.submit(interrupt, by_name["was_started"])
        with pytest.raises(KeyboardInterrupt):
            by_name["hang"]()
        assert by_name["was_cancelled"]() == "yes"


def test_an_agent_asks_before_it_calls_a_tool_that_may_write():
    replies = [
        Reply("", tool_calls=(Call("a", "read_file", "{}"), Call("b", "delete", '{"path": "notes"}'))),
        Reply("", tool_calls=(Call("c", "blocks", "{}"),)),
    ]
    with server("sdk") as tools:
        agent = FunctionCalling(ScriptedLLM(replies), tools)
        waiting = agent.run("Read the file, then delete it.")
        assert (waiting.status, waiting.pending[0].name) == (Status.WAITING, "delete")
        after = agent.run(agent.approve(waiting, "b"))
        assert after.pending[0].name == "blocks"  # it says nothing about itself
        done = [event.text for event in after.events if isinstance(event, Observation)]
    assert [json.loads(text)["name"] for text in done] == ["read.file", "delete"]


def test_it_works_where_an_event_loop_runs_already():
    async def cell() -> str:
        with server("bare") as (shout,):
            return shout(text="notebook")

    assert asyncio.run(cell()) == "NOTEBOOK"


def test_a_server_of_an_old_protocol_without_any_sdk_works():
    with server("bare", prefix="old.") as tools:
        assert [(tool.name, tool.description, tool.writes) for tool in tools] == [("old_shout", "", True)]
        assert run(tools[0], text="grüße").text == "GRÜSSE"


def test_the_server_gets_its_folder_and_its_variables(tmp_path):
    with server("sdk", cwd=tmp_path, env={"WORD": "茶"}) as tools:
        found = json.loads(run(next(tool for tool in tools if tool.name == "surroundings")).text)
    assert os.path.samefile(found["cwd"], tmp_path)
    assert found["word"] == "茶"


# -- starting, ending, and what goes wrong


def pid_of(tools: list[Tool]) -> psutil.Process:
    return psutil.Process(json.loads(next(tool for tool in tools if tool.name == "surroundings")())["pid"])


def test_the_process_ends_with_the_block_and_on_an_error():
    with server("sdk") as tools:
        first = pid_of(tools)
    with pytest.raises(ZeroDivisionError), server("sdk") as tools:
        second = pid_of(tools)
        raise ZeroDivisionError
    assert psutil.wait_procs([first, second], timeout=30)[1] == []
    assert run(tools[0]).text.endswith("was closed; open it again to call read.file")


def test_it_can_be_opened_again_but_not_twice():
    shouting = server("bare")
    (before,) = shouting.open()
    with pytest.raises(MCPError, match="is open already"):
        shouting.open()
    shouting.close()
    shouting.close()
    with shouting as (after,):
        assert after(text="a") == "A"
        assert run(before, text="a").is_error


def test_a_program_that_forgets_to_close_ends_all_the_same():
    code = f"""if True:
        import json
        from agentlib.mcp_bridge import MCPTools
        tools = MCPTools({sys.executable!r}, [{str(SERVERS / "sdk.py")!r}]).open()
        print(next(tool for tool in tools if tool.name == "surroundings")())"""
    environ = os.environ | PATHS
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert not psutil.pid_exists(pid := json.loads(done.stdout)["pid"]) or psutil.Process(pid).wait(30) is None


def test_a_server_that_dies_in_a_call_is_named_and_so_are_later_calls():
    with server("sdk") as tools:
        box = Toolbox(tools)
        for name in ("die", "echo"):
            outcome = box.run(name, "{}")
            assert outcome.kind == "tool_error"
            assert outcome.text.endswith(f"the MCP server everything gave no result of {name}: it has ended")


@pytest.mark.parametrize(
    ("command", "args", "said"),
    [
        ("no-such-program", [], "there is no program 'no-such-program'"),
        (sys.executable, ["-c", "import no_such_module"], "Its last words: ModuleNotFoundError"),
        (sys.executable, ["-c", "pass"], "it has ended"),
        (sys.executable, [str(SERVERS / "bare.py"), "dies while listing"], "cannot open the database: disk full"),
        (sys.executable, [str(SERVERS / "bare.py"), "endless list"], "its list of tools has more than 1000 pages"),
    ],
)
def test_a_server_that_does_not_start_gives_one_clear_line(command, args, said):
    with pytest.raises(MCPError) as caught:
        MCPTools(command, args).open()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("args", [["-c", "import sys; sys.stdin.read()"], [str(SERVERS / "bare.py"), "silent"]])
def test_a_server_that_never_answers_is_given_up_and_ended(args):
    with pytest.raises(MCPError, match=r"no answer within 0\.5 seconds of its start"):
        MCPTools(sys.executable, args, start_timeout=0.5).open()
    assert [child for child in psutil.Process().children(recursive=True) if child.cmdline()[1:] == args] == []


def test_a_nonsense_result_is_an_error_and_the_connection_lives_on():
    with server("bare", "nonsense result") as (shout,):
        for _ in range(2):
            outcome = run(shout, text="a")
            assert outcome.kind == "tool_error"
            assert "gave no result of shout" in outcome.text
            assert len(outcome.text.splitlines()) == 1


def test_without_the_sdk_one_line_says_what_to_install(monkeypatch):
    for action in (server("bare").open, lambda: serve_tools([])):
        with monkeypatch.context() as patch:
            for name in [name for name in sys.modules if name.partition(".")[0] == "mcp"] + ["mcp"]:
                patch.setitem(sys.modules, name, None)
            with pytest.raises(ImportError, match=r'^MCP needs the package mcp, version 2: pip install "mcp>=2'):
                action()


def test_importing_loads_no_sdk():
    code = "import sys, agentlib.mcp_bridge; print({'mcp', 'anyio', 'pydantic'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | PATHS, capture_output=True, text=True)
    assert done.stdout == "set()\n"


# -- names


def named(*names: str) -> list[Tool]:
    return [Tool.from_schema(name, f"Tool {name}.", {"type": "object"}, print, writes=True) for name in names]


def test_tools_of_several_places_get_different_names():
    servers = {"files": named("read", "list"), "mail": named("read", "send"), "my shop!": named("send", "calculator")}
    joined = join_tools(named("calculator"), servers)
    assert [tool.name for tool in joined] == [
        *("calculator", "files_read", "list", "mail_read", "mail_send", "my_shop__send", "my_shop__calculator")
    ]
    backwards = join_tools(named("calculator"), dict(reversed(servers.items())))
    assert {tool.name for tool in joined} == {tool.name for tool in backwards}
    assert joined[1].description == "Tool read."
    assert joined[1].writes
    awkward = join_tools(named("a_read", "read"), {"a": named("read")})
    assert [tool.name for tool in awkward] == ["a_read", "read", "a_read_2"]


def test_names_are_safe_and_distinct():
    assert safe_name("") == "_"
    assert safe_name("查询/weather now") == "___weather_now"
    assert distinct(["a", "a", "a_2", "a"]) == ["a", "a_2", "a_2_2", "a_3"]
    long = distinct(["y" * 64] * 12)
    assert len(set(long)) == 12
    assert max(map(len, long)) == 64


# -- our server


@contextmanager
def shop(**settings):
    with MCPTools(sys.executable, SHOP, env=PATHS, **settings) as tools:
        yield Toolbox(tools)


@pytest.mark.parametrize("mode", ["auto", "legacy"])  # the newest protocol, and the handshake of the older ones
def test_the_sdk_client_uses_our_server(mode):
    from mcp import Client, StdioServerParameters

    async def session():
        async with Client(StdioServerParameters(command=sys.executable, args=SHOP, env=PATHS), mode=mode) as client:
            listed = (await client.list_tools()).tools
            order = {"items": [{"sku": "tea", "count": 2}]}
            calls = {"total": order, "refund": {}, "broken": {}, "none": {}, "leave": {}}
            results = [await client.call_tool(name, given) for name, given in calls.items()]
            return client.server_info.name, listed, results

    name, listed, results = asyncio.run(session())
    assert name == "shop"
    assert [tool.name for tool in listed] == ["total", "refund", "stock", "broken", "leave", "hang", "half"]
    assert [tool.annotations.read_only_hint for tool in listed[:2]] == [True, False]
    assert listed[1].input_schema["properties"]["order"]["description"] == "Number of the order, such as A-17"
    assert listed[2].input_schema["properties"] == {}
    assert [result.is_error for result in results] == [False, True, True, True, True]
    texts = [result.content[0].text for result in results]
    assert texts[0] == "20 EUR"
    assert "order" in texts[1]
    assert texts[2:] == [
        "Error: LookupError: the shelf is empty",
        "Error: unknown tool 'none'. The tools are: total, refund, stock, broken, leave, hang, half",
        "Error: the tool called sys.exit('bye')",
    ]


def test_our_client_uses_our_server():
    with shop() as box:
        assert box.tools["refund"].writes
        assert not box.tools["stock"].writes
        order = {"items": [{"sku": "tea"}, {"sku": "cup", "count": 3}], "currency": "CNY"}
        assert box.run("total", json.dumps(order)).text == "40 CNY"
        assert json.loads(box.run("stock", "").text) == ["茶", "coffee"]
        assert json.loads(box.run("refund", '{"order": "A-17"}').text) == {"refunded": "A-17"}
        assert box.run("broken", "{}").text.endswith("LookupError: the shelf is empty")
        assert box.run("half", "{}").text == "?!"
        assert box.run("stock", "{}").kind == "ok"  # after all that


def test_a_tool_that_hangs_does_not_stop_the_others():
    with shop(timeout=3) as box:
        assert box.run("hang", "{}").kind == "timeout"
        assert box.run("stock", "{}").kind == "ok"


def test_a_tool_that_hangs_does_not_keep_the_server_from_ending():
    hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}
    said = [
        {"method": "initialize", "id": 1, "params": hello},
        {"method": "notifications/initialized"},
        {"method": "tools/call", "id": 2, "params": {"name": "hang", "arguments": {}}},
        {"method": "tools/call", "id": 3, "params": {"name": "total", "arguments": {"items": [{"sku": "tea"}]}}},
    ]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, *SHOP], env=os.environ | PATHS, **pipes, encoding="utf-8") as process:
        for message in said:
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert [answer["id"] for answer in answers] == [1, 3]
        assert answers[1]["result"]["content"] == [{"type": "text", "text": "10 EUR"}]
        rest, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert {json.loads(text)["id"] for text in rest.splitlines()} <= {2}  # at most: that call has no answer
    assert errors.splitlines() == ["The shop is loading.", "counting"]  # what tools print is no part of the protocol


def test_a_place_without_tools_is_named_in_one_line(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(SERVERS))
    assert list(load("shop:as_list").tools) == ["total", "refund"]
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "The shop is loading.\n")
    assert list(load("shop:toolbox").tools)[:3] == ["total", "refund", "stock"]
    for place, said in {
        "shop": "'shop' is no place of tools",
        "no_such:toolbox": "No module named 'no_such'",
        "shop:nothing": "has no attribute 'nothing'",
        "shop:number": "tools are given as a list",
        "shop:twice": "two tools are named 'total'",
    }.items():
        assert main([place]) == 2
        printed = capsys.readouterr()
        assert (printed.out, len(printed.err.splitlines())) == ("", 1)
        assert said in printed.err
    assert main([]) == 2
    assert capsys.readouterr().err.startswith("agentlib: usage: python3 -m agentlib.mcp_bridge")
