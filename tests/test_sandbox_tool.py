"""The tool `python`: what a model reads of a run, what is kept from call to call, and what is not."""

import json

import pytest
from sandboxes import LINUX, PATIENT, linux_only, needs

from agentlib import FunctionCalling, Reply, ScriptedLLM
from agentlib.sandbox import Policy, Result, Status
from agentlib.sandbox.tool import CodeFailed, PythonSession, failure, python_tool, success
from agentlib.state import Call
from agentlib.tools import Toolbox

pytestmark = linux_only


@pytest.fixture(params=LINUX)
def backend(request) -> str:
    return needs(request.param)


def ask(toolbox: Toolbox, code: str):
    return toolbox.run("python", json.dumps({"code": code}))


def test_the_model_is_told_what_it_needs(backend):
    wire = python_tool(Policy(seconds=7)).to_wire()["function"]
    assert wire["name"] == "python" and wire["parameters"]["required"] == ["code"]
    for words in ("print", "new program", "no network", "7 seconds", "No files are kept"):
        assert words in wire["description"]
    assert "are kept between calls" in python_tool(keep_files=True).description


def test_what_is_printed_is_the_result(backend):
    toolbox = Toolbox([python_tool(PATIENT, backend=backend)])
    assert ask(toolbox, "print(123456789 * 987654321)").text == "121932631112635269"
    assert ask(toolbox, "1 + 1").text == "(the code printed nothing)"
    made = ask(toolbox, "open('a.txt', 'w').write('x'); print('done')")
    assert (made.text, made.kind) == ("done\n[files: a.txt]", "ok")


def test_an_error_is_one_that_a_model_can_use(backend):
    toolbox = Toolbox([python_tool(Policy(seconds=1), backend=backend)])
    failed = ask(toolbox, "print('so far')\nint('x')")
    assert failed.kind == "tool_error" and "exit code 1" in failed.text and "so far" in failed.text
    assert "    int('x')" in failed.text and "ValueError: invalid literal" in failed.text
    assert "timeout: it ran longer than 1 second" in ask(toolbox, "while True: pass").text


def test_nothing_is_kept_but_files_and_those_only_when_asked(backend):
    write, read = "x = 5; open('kept.txt', 'w').write('kept')", "print(open('kept.txt').read())"
    forgetful = Toolbox([python_tool(PATIENT, backend=backend)])
    ask(forgetful, write)
    assert "FileNotFoundError" in ask(forgetful, read).text
    keeping = Toolbox([python_tool(PATIENT, keep_files=True, backend=backend)])
    ask(keeping, write)
    assert ask(keeping, read).text == "kept"
    assert "NameError" in ask(keeping, "print(x)").text
    ask(keeping, "import os; os.remove('kept.txt')")
    assert "FileNotFoundError" in ask(keeping, read).text
    assert "FileNotFoundError" in ask(Toolbox([python_tool(PATIENT, keep_files=True, backend=backend)]), read).text


def test_a_session_gives_files_and_shows_what_came_of_them(backend):
    session = PythonSession(PATIENT, keep_files=True, backend=backend, files={"in.csv": b"a,1\nb,2\n"})
    toolbox = Toolbox([session.tool()])
    assert ask(toolbox, "print(sum(int(line.split(',')[1]) for line in open('in.csv')))").text == "3"
    ask(toolbox, "import os; open('bad\\\\name', 'w').close(); open('good', 'w').close()")
    assert sorted(session.files) == ["good", "in.csv"]
    assert ask(toolbox, "print('again')").text == "again" and len(session.results) == 3


def test_an_agent_computes_with_it(backend):
    call = Call("1", "python", json.dumps({"code": "print(17 ** 20)"}))
    llm = ScriptedLLM([Reply("", tool_calls=(call,)), "It is 4064231406647572522401601."])
    state = FunctionCalling(llm, tools=[python_tool(PATIENT, backend=backend)]).run("What is 17 to the 20th?")
    assert state.status == "done" and str(17**20) in state.messages[-2].content


def test_texts_of_every_kind_of_end():
    assert failure(Result(Status.ERROR, -11)) == "error: signal 11"
    assert failure(Result(Status.MEMORY, reason="it needed more")) == "memory: it needed more"
    assert success(Result(Status.OK, 0, truncated=("link: a link",)), []).endswith("[link: a link]")
    assert success(Result(Status.OK, 0), [str(n) for n in range(25)]).endswith("and 5 more]")
    assert issubclass(CodeFailed, RuntimeError)
