"""A notebook that passes shows what a run gives: nbval is strict, and neither notebooks nor tests leave the machine."""

import http.server
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]

# The folder of a test uses this project's conftest.
CONFTEST = f"""
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("the_project", {str(ROOT / "conftest.py")!r})
project = module_from_spec(spec)
spec.loader.exec_module(project)
globals().update({{name: hook for name, hook in vars(project).items() if name.startswith("pytest_")}})
"""

# A widget like those of agentlib: text and HTML beside its live view.
TWIN_WIDGET = """
import ipywidgets

class Twin(ipywidgets.Label):
    def _repr_mimebundle_(self, **kwargs):
        text = "step " * 60 + "ENDING"
        return {**super()._repr_mimebundle_(**kwargs), "text/plain": text, "text/html": f"<p>{text}</p>"}

Twin()
"""


def stream(text):
    return nbformat.v4.new_output("stream", name="stdout", text=text)


def result(**data):
    return nbformat.v4.new_output("execute_result", data={f"text/{kind}": text for kind, text in data.items()})


def code(source, *outputs, tags=(), count=1):
    metadata = {"tags": list(tags)} if tags else {}
    return nbformat.v4.new_code_cell(source, outputs=list(outputs), execution_count=count, metadata=metadata)


def twin_text(ending):
    return "step " * 60 + ending


# name: (cell, what its failure says; None when it passes)
CELLS = {
    "a stored output that is still the same": (code("print(6 * 7)", stream("42\n")), None),
    "a changed text": (code("print(6 * 7)", stream("41\n")), "mismatch 'stdout'"),
    "a changed result": (code("6 * 7", result(plain="41")), "mismatch 'text/plain'"),
    "an output where none is stored": (code("print('new')"), "Unexpected output fields"),
    "a stored output that no longer comes": (code("x = 1", stream("1\n")), "Missing output fields"),
    "a second output of the same kind": (
        code("display(1)\ndisplay(2)", nbformat.v4.new_output("display_data", data={"text/plain": "1"})),
        "dissimilar number of outputs",
    ),
    "a cell that was never run": (code("x = 1", count=None), "was never run"),
    "an empty cell that was never run": (code("", count=None), None),
    "a result silenced by a semicolon": (code("6 * 7;"), None),
    "a result not silenced": (code("6 * 7"), "Unexpected output fields"),
    "the history of a session": (code("In[-1]", result(plain="'In[-1]'")), None),
    "an ignored output with a reason": (
        code("# NBVAL_IGNORE_OUTPUT: the process has another number each time\nimport os; os.getpid()"),
        None,
    ),
    "an ignored output without a reason": (code("# NBVAL_IGNORE_OUTPUT\nprint(1)"), "needs a reason"),
    "an ignored output with a reason of one word": (code("# NBVAL_IGNORE_OUTPUT: flaky\nprint(1)"), "needs a reason"),
    "an old marker without a reason": (code("# PYTEST_VALIDATE_IGNORE_OUTPUT\nprint(1)"), "needs a reason"),
    "an ignoring tag with a comment": (
        code("# The time of day is never the same.\nimport time; time.time()", tags=["nbval-ignore-output"]),
        None,
    ),
    "an ignoring tag without a comment": (code("print(1)", tags=["nbval-ignore-output"]), "needs a reason"),
    "a skipped cell with a reason": (code("# NBVAL_SKIP: needs a microphone\n1 / 0"), "skipped"),
    "a skipped cell without a reason": (code("1 / 0", tags=["nbval-skip"]), "needs a reason"),
    "an error": (code("1 / 0"), "ZeroDivisionError"),
    "an error on purpose": (
        code(
            "1 / 0",
            nbformat.v4.new_output("error", ename="ZeroDivisionError", evalue="division by zero", traceback=["old"]),
            tags=["raises-exception"],
        ),
        None,
    ),
    "an error on purpose that no longer comes": (code("x = 1", tags=["raises-exception"]), "raises nothing"),
    "a widget's text and HTML": (
        code(
            TWIN_WIDGET.replace("ENDING", "end"),
            result(plain=twin_text("end"), html=f"<p>{twin_text('end')}</p>"),
        ),
        None,
    ),
    "a widget's text that changed after 300 characters": (
        code(
            TWIN_WIDGET.replace("ENDING", "new"),
            result(plain=twin_text("old"), html=f"<p>{twin_text('new')}</p>"),
        ),
        "mismatch 'text/plain'",
    ),
    "a widget's HTML that changed after 300 characters": (
        code(
            TWIN_WIDGET.replace("ENDING", "new"),
            result(plain=twin_text("new"), html=f"<p>{twin_text('old')}</p>"),
        ),
        "mismatch 'text/html'",
    ),
    "a widget of which only a cut repr shows": (
        code(
            "import ipywidgets; label = ipywidgets.Label('a' * 200); label",
            result(plain="Label(value='" + "a" * 97 + "…"),
        ),
        "cut at 110 characters",
    ),
    "the network": (
        code("import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)"),
        "network is blocked",
    ),
    "a look-up of a name": (code("import socket\nsocket.getaddrinfo('example.com', 80)"), "network is blocked"),
    "the network in a child": (
        code(
            "import subprocess, sys\n"
            "code = 'import socket\\ntry: socket.create_connection((\"192.0.2.1\", 80), timeout=1)\\n'\n"
            "code += 'except RuntimeError as error: print(error)'\n"
            "print(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout)",
            stream("The network is blocked in tests and notebooks: 192.0.2.1 (only loopback is open).\n\n"),
        ),
        None,
    ),
    "loopback": (
        code(
            "import socket\n"
            "server = socket.create_server(('127.0.0.1', 0))\n"
            "socket.create_connection(('localhost', server.getsockname()[1]), timeout=5).sendall(b'hello')\n"
            "server.accept()[0].recv(5)",
            result(plain="b'hello'"),
        ),
        None,
    ),
    "asyncio on loopback": (
        code(
            "import asyncio\n"
            "served = await asyncio.start_server(lambda reader, writer: writer.close(), 'localhost', 0)\n"
            "port = served.sockets[0].getsockname()[1]\n"
            "reader, _ = await asyncio.open_connection('localhost', port)\n"
            "await reader.read()",
            result(plain="b''"),
        ),
        None,
    ),
    "keys, proxies and the model in the environment": (
        code(
            "import os\n"
            "names = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OTHER_API_KEY', 'HTTPS_PROXY', 'AGENTLIB_MODEL']\n"
            "[os.environ.get(name) for name in names]",
            result(plain="[None, None, None, None, 'offline']"),
        ),
        None,
    ),
}


def write_notebook(path, cells):
    notebook = nbformat.v4.new_notebook(cells=cells)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")


def run_pytest(folder, *arguments):
    """Run pytest with this project's conftest on the notebooks in `folder`, in an environment full of temptations."""
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    tempting = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://x", "OTHER_API_KEY": "k", "AGENTLIB_MODEL": "x"}
    environ = {**os.environ, **tempting, "HTTPS_PROXY": "http://127.0.0.1:9", "PYTHONPATH": ""}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", "-rA", f"--rootdir={folder}"]
    return subprocess.run(
        [*command, *arguments, str(folder)], cwd=folder, env=environ, capture_output=True, encoding="utf-8", timeout=100
    ).stdout


@pytest.fixture(scope="module")
def strict_report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strict")
    write_notebook(folder / "cells.ipynb", [cell for cell, _ in CELLS.values()])
    return run_pytest(folder, "-p", "no:nbval", "--nbval")


@pytest.mark.parametrize("name", CELLS)
def test_strict_nbval_on(name, strict_report):
    expected = CELLS[name][1]
    number = list(CELLS).index(name)
    outcome = re.search(rf"^(PASSED|FAILED|SKIPPED|ERROR|XFAIL).*cells\.ipynb::Cell {number}\b", strict_report, re.M)
    if expected == "skipped":
        assert outcome is None
        assert re.search(r"^SKIPPED \[1\].*: needs a microphone$", strict_report, re.M)
    elif expected is None:
        assert outcome and outcome[1] == "PASSED", strict_report
    else:
        assert outcome and outcome[1] == "FAILED", strict_report
        section = strict_report.partition(f"Cell {number} _")[2].partition("\n____")[0]
        assert expected in section


def test_report_counts_cells_that_are_not_compared(strict_report):
    count = re.search(r"^notebooks: (\d+) cells compared, (\d+) not compared$", strict_report, re.M)
    ignored = [name for name in CELLS if "with a" in name and CELLS[name][1] in (None, "skipped")]
    assert int(count[2]) == len(ignored) == 3
    assert "the process has another number each time" in strict_report
    assert "needs a microphone" in strict_report


def test_nbval_as_a_loaded_plugin_is_strict_too_and_collects_once(tmp_path):
    write_notebook(tmp_path / "one.ipynb", [code("x = 1", count=None), code("6 * 7;")])
    report = run_pytest(tmp_path, "--nbval")
    assert "was never run" in report
    assert "1 failed, 1 passed" in report


def test_dead_kernel_fails_at_once_and_only_once(tmp_path):
    write_notebook(tmp_path / "dead.ipynb", [code("import os; os._exit(1)"), code("print(1)", stream("1\n"))])
    report = run_pytest(tmp_path, "--durations=0")
    assert "The kernel died while it ran this cell." in report
    assert "1 failed, 1 xfailed" in report
    seconds = float(re.search(r"([\d.]+)s call", report)[1])
    assert seconds < 10


def test_this_process_is_offline():
    assert os.environ["AGENTLIB_MODEL"] == "offline"
    assert not [name for name in os.environ if name.startswith("OPENAI_")]
    with pytest.raises(RuntimeError, match="network is blocked"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)


@pytest.mark.parametrize(
    "host", ["example.com", "127.example.com", "localhost.example.com", "192.0.2.1", "2001:db8::1"]
)
def test_look_up_of_another_machine_is_refused(host):
    with pytest.raises(RuntimeError, match=f"network is blocked.*{re.escape(host)}"):
        socket.getaddrinfo(host, 80)


def test_datagram_to_another_machine_is_refused():
    with socket.socket(type=socket.SOCK_DGRAM) as sender, pytest.raises(RuntimeError, match="network is blocked"):
        sender.sendto(b"x", ("192.0.2.1", 53))


def test_a_server_on_this_machine_can_be_made():
    with http.server.HTTPServer(("", 0), http.server.BaseHTTPRequestHandler) as server:
        socket.create_connection(("127.0.0.1", server.server_port), timeout=5).close()
