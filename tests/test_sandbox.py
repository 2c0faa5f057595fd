"""What a caller of the sandbox gets, on each backend of Linux: results, files, pictures, libraries, limits."""

import json
import pickle
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest
from sandboxes import LINUX, PATIENT, linux_only, needs, warm_pools

from agentlib import sandbox
from agentlib.sandbox import Policy, Result, SandboxUnavailable, Status, run

pytestmark = linux_only
DATA = Path(__file__).parent / "data"


@pytest.fixture(params=LINUX)
def backend(request) -> str:
    return needs(request.param)


@pytest.fixture(scope="module")
def pools():
    with warm_pools() as found:
        yield found


@pytest.fixture
def warm(backend, pools):
    return pools(backend).run


def last_line(result: Result) -> str:
    return result.stderr.strip().splitlines()[-1]


# -- results


def test_what_it_prints_and_how_it_ends(backend):
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    result = run(code, policy=PATIENT, backend=backend)
    assert (result.status, result.exit_code, result.stdout, result.stderr) == ("error", 3, "out\n", "err\n")
    assert result.isolation == backend and 0 < result.seconds < 60 and not result.ok and result.reason == ""


def test_the_strongest_that_works_is_used(backend):
    assert run("print(6 * 7)", policy=PATIENT).isolation == next(p.name for p in sandbox.probes() if p.ok)


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("", 0), ("raise SystemExit", 0), ("exit()", 0), ("quit(4)", 4), ("raise SystemExit('no')", 1), ("1/0", 1),
     ("import os; os._exit(9)", 9), ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15), ("x = (", 1),
     ("\0", 1), ("raise KeyboardInterrupt", 1), ("import sys; sys.exit(125)", 125)],
)  # fmt: skip
def test_exit_codes_are_python_s_own(warm, code, exit_code):
    result = warm(code)
    assert result.exit_code == exit_code
    assert result.status == ("ok" if exit_code == 0 else "error")


def test_a_traceback_has_the_code_s_lines_and_no_others(warm):
    code = """
import json
def f():
    return json.loads("{")
try:
    f()
except ValueError as e:
    raise KeyError from e
"""
    result = warm(code)
    shown = result.stderr
    assert shown.count("Traceback") == 2 and '    return json.loads("{")' in shown and last_line(result) == "KeyError"
    assert {line.split('"')[1] for line in shown.splitlines() if line.startswith("  File")} == {"<code>"}


def test_a_traceback_of_a_thread_an_own_module_and_a_syntax_error(warm):
    shown = warm("import threading\nthreading.Thread(target=lambda: 1/0).start()").stderr
    assert shown.count("File") == 1 and "lambda: 1/0" in shown and "ZeroDivisionError" in shown
    own = warm("import helper", {"helper.py": "def f():\n    1/0\nf()"}).stderr
    assert "helper.py" in own and "import helper" in own and "importlib" not in own
    wrong = warm("if True print(1)").stderr
    assert wrong.startswith('  File "<code>", line 1\n    if True print(1)\n') and last_line(warm("if True print(1)"))


def test_a_result_cannot_be_changed(warm):
    result = warm("open('a', 'w').write('x')")
    with pytest.raises(FrozenInstanceError):
        result.status = Status.OK
    with pytest.raises(TypeError):
        result.files["b"] = b""
    assert pickle.loads(pickle.dumps(result)) == result and "'a': 1 bytes" in repr(result)


def test_what_was_printed_before_the_end_of_time_is_not_lost(backend):
    result = run("print('begun')\nwhile True: pass", policy=Policy(seconds=1), backend=backend)
    assert (result.status, result.exit_code, result.stdout) == ("timeout", None, "begun\n")
    assert "1 second" in result.reason and 1 <= result.seconds < 10


def test_the_end_of_a_script_is_a_real_one(warm):
    code = """
import atexit, threading, time
class Last:
    def __del__(self): print("finalized", name)
name, last = "here", Last()
atexit.register(print, "exit handler")
threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
kept = open("kept.txt", "w"); kept.write("never closed")
print("main")
"""
    result = warm(code)
    assert result.stdout.split("\n") == ["main", "thread", "exit handler", "finalized here", ""]
    assert result.files == {"kept.txt": b"never closed"}


# -- files


def test_files_go_in_and_come_back(backend):
    code = """
from pathlib import Path
print(Path("data/in.csv").read_text(), Path("b").read_bytes())
Path("data/new").mkdir(); Path("data/new/out.bin").write_bytes(bytes(range(256)))
Path("b").unlink(); Path("/tmp/elsewhere").exists()
"""
    result = run(code, {"data/in.csv": "é,1", "b": b"\xff"}, PATIENT, backend)
    assert result.stdout == "é,1 b'\\xff'\n", result.stderr
    assert result.files == {"data/in.csv": "é,1".encode(), "data/new/out.bin": bytes(range(256))}


def test_files_that_do_not_fit_the_policy_are_named(warm):
    result = warm("import os\nopen('a', 'w').write('x'); os.symlink('a', 'link'); os.makedirs('empty')")
    assert result.files == {"a": b"x"} and result.truncated == ("link: a link",)


def test_temporary_files_are_not_part_of_the_result(warm):
    code = "import tempfile\nf = tempfile.NamedTemporaryFile(delete=False); f.write(b'x'); print(f.name)"
    result = warm(code)
    assert result.ok and result.files == {}


def test_readable_paths_can_be_read_and_not_written(backend, tmp_path):
    folder, closed = tmp_path / "data", tmp_path / "closed"
    for each in (folder, closed):
        each.mkdir()
        (each / "a.txt").write_text("hello")
    tmp_path.chmod(0o755)
    policy = replace(PATIENT, read=(str(folder),))
    code = f"""
print(open("{folder}/a.txt").read())
for path, mode in (("{folder}/a.txt", "w"), ("{folder}/b.txt", "x"), ("{closed}/a.txt", "r")):
    try:
        open(path, mode)
    except OSError:
        print("refused")
"""
    result = run(code, policy=policy, backend=backend)
    assert result.stdout == "hello\nrefused\nrefused\nrefused\n", result.stderr


@pytest.mark.parametrize("path", ["/no/such/path", "/tmp", "/"])
def test_what_cannot_be_made_readable_is_said(backend, path):
    with pytest.raises(SandboxUnavailable, match=f"reading {path}"):
        run("print()", policy=Policy(read=(path,)), backend=backend)


# -- what legitimate code does


PARTS = (DATA / "legitimate.txt").read_text(encoding="utf-8").split("\n=== ")[1:]
LEGITIMATE = dict(part.split("\n", 1) for part in PARTS)
OWN = {"helper/__init__.py": "", "helper/inner.py": "value = 1", "limits.py": "value = 2", "packing.py": "value = 3"}


@pytest.mark.parametrize("name", LEGITIMATE)
def test_the_standard_library_works(warm, name):
    result = warm(LEGITIMATE[name], OWN)
    assert result.ok, result.stderr


@pytest.mark.parametrize("name", LINUX)
def test_numpy_and_matplotlib_cold(name):
    needs(name)
    code = """
import numpy as np, matplotlib.pyplot as plt
x = np.linspace(0, 10, 200)
print(np.linalg.svd(np.random.rand(60, 60)).S.shape, (x @ x) > 0)
plt.plot(x, np.sin(x)); plt.show(); plt.bar(["a"], [1]); plt.show()
figure = plt.figure(); plt.title("Grüße"); plt.savefig("own.png"); plt.savefig("own.svg"); figure.show()
"""
    result = run(code, policy=PATIENT, backend=name)
    assert result.ok, result.stderr
    assert sorted(result.files) == ["figure-1.png", "figure-2.png", "figure-3.png", "own.png", "own.svg"]
    assert all(result.files[name].startswith(b"\x89PNG") for name in result.files if name.endswith("png"))


def test_processes_where_they_are_allowed(backend):
    code = """
import subprocess, sys
print(subprocess.run([sys.executable, "-c", "print(5)"], capture_output=True, text=True).stdout)
print(subprocess.run("echo $((1+1)); exit 3", shell=True).returncode)
"""
    result = run(code, policy=replace(PATIENT, processes=4), backend=backend)
    assert result.stdout == "5\n\n2\n3\n", result.stderr
    refused = run(code, policy=PATIENT, backend=backend)
    assert last_line(refused).startswith("PermissionError"), refused.stderr


def test_multiprocessing_where_it_is_allowed():
    needs("bubblewrap")
    code = "import multiprocessing as m\ndef f(x): return x * x\nwith m.Pool(3) as p: print(p.map(f, range(9)))"
    result = run(code, policy=replace(PATIENT, processes=8), backend="bubblewrap")
    assert result.stdout == "[0, 1, 4, 9, 16, 25, 36, 49, 64]\n", result.stderr


def test_results_go_through_json(warm):
    result = warm("import os; os.write(1, b'\\xff\\x00'); open(os.fsdecode(b'\\xff\\n'), 'w').write('x')")
    assert json.loads(json.dumps([result.stdout, list(result.files)])) == ["\ufffd\x00", ["\\xff\\n"]]
