"""The WebAssembly backend: what gets out of it, what it is limited to, and what code can do in it."""

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from attacks import GOT_THROUGH, GROUPS, SECRET, Host

from agentlib.sandbox import Policy, Status, wasm_build
from agentlib.sandbox import wasm as wasm_module
from agentlib.sandbox.wasm import Wasm

if wasm_build.missing_packages():
    pytest.skip(f"needs {', '.join(wasm_build.missing_packages())}", allow_module_level=True)

PATIENT = Policy(seconds=60)  # where time is not the subject


@pytest.fixture(scope="module")
def wasm() -> Wasm:
    backend = Wasm()
    probe = backend.probe()
    assert probe.ok, probe
    return backend


@pytest.fixture
def host(tmp_path: Path):
    (tmp_path / "canary").mkdir()
    with Host(tmp_path / "canary") as made:
        yield made


@pytest.mark.parametrize("group", GROUPS)
def test_no_attack_gets_through(wasm, host, group):
    result = wasm.run(host.script(group), {}, PATIENT)
    assert GOT_THROUGH not in result.stdout
    assert result.stdout.count("refused:") == len(GROUPS[group]), result
    assert not host.damage()
    assert not any(SECRET.encode() in content for content in result.files.values())


def test_what_is_open_are_the_two_folders_and_the_streams(wasm):
    code = """
import os
for number in range(64):
    try:
        os.fstat(number)
    except OSError:
        continue
    print(number, end=" ")
print(os.listdir("/work"), os.listdir("/tmp"))
"""
    assert wasm.run(code, {}, PATIENT).stdout == "0 1 2 3 4 [] []\n"


def test_the_environment_is_a_fresh_one(wasm):
    result = wasm.run("import os, sys; print(sorted(os.environ), os.getcwd(), sys.argv, sys.path)", {}, PATIENT)
    assert result.stdout == "['HOME', 'LANG', 'PATH', 'TMPDIR'] /work ['<code>'] ['/work']\n"


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(3600)",
        "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')",
        "import atexit, time; atexit.register(time.sleep, 3600)",
        "class Stubborn:\n    def __del__(self):\n        while True: pass\nStubborn()",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    ],
)
def test_code_that_does_not_end_is_ended(wasm, code):
    result = wasm.run(f"print('begun')\n{code}", {}, Policy(seconds=0.5))
    assert (result.status, result.exit_code, result.stdout) == (Status.TIMEOUT, None, "begun\n")
    assert result.reason == "it ran longer than 0.5 seconds"


def test_a_limit_of_time_does_not_count_the_start(wasm):
    assert wasm.run("print(1)", {}, Policy(seconds=0.2)).stdout == "1\n"


def test_memory_ends_at_the_limit(wasm):
    greedy = "kept = []\nwhile True: kept.append(bytearray(1_000_000))"
    result = wasm.run(greedy, {}, replace(PATIENT, memory=200))
    assert (result.status, result.exit_code) == (Status.MEMORY, None)
    assert "MemoryError" in result.stderr
    caught = f"try:\n    exec({greedy!r})\nexcept MemoryError: print('caught')"
    assert wasm.run(caught, {}, replace(PATIENT, memory=200)).stdout == "caught\n"


def test_memory_of_unpacking_counts(wasm):
    code = "import zlib; data = zlib.compress(bytes(90_000_000)); print([zlib.decompress(data) for _ in range(20)])"
    assert wasm.run(code, {}, PATIENT).status is Status.MEMORY


def test_deep_recursion_ends_the_code_and_not_the_host(wasm):
    result = wasm.run("def f(n): return f(n + 1)\nf(0)", {}, PATIENT)
    assert result.status is Status.ERROR and "RecursionError" in result.stderr
    deeper = "import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1)\nf(0)"
    result = wasm.run(deeper, {}, PATIENT)
    assert (result.status, result.exit_code) == (Status.ERROR, None)
    assert "the interpreter broke down" in result.reason


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_is_cut_and_a_flood_is_ended(wasm, stream):
    policy = replace(PATIENT, output=70_000)
    some = wasm.run(f"import sys; sys.{stream}.write('ab' * 100_000)", {}, policy)
    assert (some.status, getattr(some, stream)) == (Status.OK, "ab" * 35_000)
    assert some.truncated == (f"{stream}: cut after 70000 bytes",)
    flood = wasm.run(f"import sys\nwhile True: sys.{stream}.write('ab' * 100_000)", {}, policy)
    assert (flood.status, len(getattr(flood, stream))) == (Status.OUTPUT_LIMIT, 70_000)


def test_a_disk_is_full_at_the_limit(wasm):
    one = wasm.run("open('f', 'wb').write(bytes(9_000_000))", {}, replace(PATIENT, disk=5))
    assert one.status in (Status.ERROR, Status.KILLED)
    many = "for n in range(10**6): open(f'/tmp/{n}', 'wb').write(bytes(900_000))"
    result = wasm.run(many, {}, replace(PATIENT, disk=5))
    assert (result.status, result.reason) == (Status.KILLED, "disk: more than 5 MB")


def test_a_sparse_file_counts_as_large_as_it_claims_to_be(wasm):
    result = wasm.run("open('f', 'wb').truncate(2**40)\nwhile True: pass", {}, PATIENT)
    assert result.status in (Status.ERROR, Status.KILLED)
    assert not any(result.files.values())


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows they cannot be seen, as the module says")
def test_files_that_were_removed_and_are_still_held_count(wasm):
    code = """
import os
held = []
for n in range(100):
    held.append(open(f"{n}", "wb", buffering=0))
    os.unlink(f"{n}")
    held[-1].write(bytes(60_000))
print("many small ones are fine")
for file in held:
    for _ in range(40):
        file.write(bytes(60_000))
while True: pass
"""
    result = wasm.run(code, {}, replace(PATIENT, disk=10))
    assert (result.status, result.reason) == (Status.KILLED, "disk: more than 10 MB")
    assert result.stdout == "many small ones are fine\n"


@pytest.mark.parametrize("folder", ["/work", "/tmp"])
def test_files_are_counted(wasm, folder):
    code = f"n = 0\nwhile True:\n    open(f'{folder}/{{n}}', 'w').close(); n += 1"
    result = wasm.run(code, {"a/b/given": b""}, replace(PATIENT, inodes=100))
    assert (result.status, result.reason) == (Status.KILLED, "inodes: more than 100 files and folders")
    assert len(result.files) <= 103  # with the one that was given, and its two folders
    assert result.seconds > 0
    fine = wasm.run(f"for n in range(100): open(f'{folder}/{{n}}', 'w').close()", {}, replace(PATIENT, inodes=100))
    assert fine.status is Status.OK


def test_folders_3000_deep_are_ended_and_removed(wasm, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = """
import os
for part in range(30):
    os.makedirs(f"part{part}/" + "d/" * 99)
deepest = "part0/" + "d/" * 99
for part in range(1, 30):
    os.rename(f"part{part}", deepest + "more")
    os.chdir(deepest + "more" if part == 1 else "d/" * 99 + "more")
while True: pass
"""
    result = wasm.run(code, {}, replace(PATIENT, inodes=10_000))
    assert (result.status, result.reason) == (Status.KILLED, "inodes: folders more than 60 deep")
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_too_long_hides_nothing(wasm, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = """
import os
for n in range(25):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
print("there")
while True:
    open("large", "ab").write(bytes(1_000_000))
"""
    result = wasm.run(code, {}, replace(PATIENT, disk=10))
    assert result.status is Status.KILLED and result.reason.startswith(("inodes: ", "disk: "))
    assert list(tmp_path.iterdir()) == []


def test_a_file_may_lie_as_deep_as_one_may_be_given(wasm):
    path = "/".join("d" * 49 + "f")
    result = wasm.run(f"print(open({path!r}).read())", {path: b"deep"}, replace(PATIENT, inodes=1))
    assert (result.stdout, dict(result.files)) == ("deep\n", {path: b"deep"})


def test_links_are_not_followed(wasm):
    code = """
import os
open("real", "w").write("mine")
os.symlink("real", "soft")
os.link("real", "hard")
os.mkdir("folder")
os.symlink("folder", "way")
open("folder/x", "w").write("x")
"""
    result = wasm.run(code, {}, PATIENT)
    assert dict(result.files) == {"folder/x": b"x"}
    assert result.truncated == (
        "hard: a file with more than one name",
        "real: a file with more than one name",
        "soft: not a regular file",
        "way: not a regular file",
    )


def test_names_can_be_printed(wasm):
    code = "import os\nopen('a\\nb\\x1b[31m', 'w').write('x')\nopen('\\u202egnp.exe', 'w').write('x')"
    assert list(wasm.run(code, {}, PATIENT).files) == ["\\u202egnp.exe", "a\\nb\\x1b[31m"]


def test_what_is_left_after_a_run_is_nothing(wasm, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    threads = threading.active_count()
    for code in ("open('f', 'w').write('x')", "while True: pass", "print('x' * 5_000_000)"):
        wasm.run(code, {"given": b"1"}, Policy(seconds=0.5))
    assert list(tmp_path.iterdir()) == []
    assert threading.active_count() == threads


def test_runs_at_the_same_time_do_not_meet(wasm):
    found = {}
    code = "import time; open('f', 'w').write({0!r}); time.sleep(0.2); print(open('f').read())"
    runs = [
        threading.Thread(target=lambda n=n: found.update({n: wasm.run(code.format(str(n)), {}, PATIENT).stdout}))
        for n in range(4)
    ]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert found == {n: f"{n}\n" for n in range(4)}


def test_a_run_leaves_nothing_to_the_next(wasm):
    plant = "import builtins, json; builtins.left = json.left = 1; open('/tmp/left', 'w').write('1')"
    assert wasm.run(plant, {}, PATIENT).ok
    look = "import builtins, json, os; print(hasattr(builtins, 'left'), hasattr(json, 'left'), os.listdir('/tmp'))"
    assert wasm.run(look, {}, PATIENT).stdout == "False False []\n"


def test_chance_is_not_frozen_in_the_component(wasm):
    code = "import random, secrets, uuid; print(random.random(), secrets.token_hex(), uuid.uuid4())"
    first, second = (wasm.run(code, {}, PATIENT).stdout.split() for _ in range(2))
    assert all(one != other for one, other in zip(first, second, strict=True))
    assert len(first) == 3


@pytest.mark.parametrize(
    ("code", "status", "exit_code"),
    [
        ("", Status.OK, 0),
        ("import sys; sys.exit()", Status.OK, 0),
        ("import sys; sys.exit(7)", Status.ERROR, 7),
        ("import sys; sys.exit(-1)", Status.ERROR, 255),
        ("import sys; sys.exit('sorry')", Status.ERROR, 1),
        ("1 / 0", Status.ERROR, 1),
        ("raise KeyboardInterrupt", Status.ERROR, 1),
        ("import os; os._exit(0)", Status.OK, 0),
        ("import os; os._exit(9)", Status.ERROR, 1),  # WASI tells 0 from the others only
        ("import os; os.abort()", Status.ERROR, None),
        ("print('{\"exit_code\": 0}'); import sys; sys.exit(3)", Status.ERROR, 3),
    ],
)
def test_the_exit_code_is_the_one_of_the_code(wasm, code, status, exit_code):
    result = wasm.run(code, {}, PATIENT)
    assert (result.status, result.exit_code) == (status, exit_code)


def test_the_streams_are_kept_apart_and_odd_bytes_replaced(wasm):
    code = (
        "import sys\nprint('out', input.__name__)\nprint('err', file=sys.stderr)\nsys.stdout.buffer.write(b'\\xff\\0')"
    )
    result = wasm.run(code, {}, PATIENT)
    assert (result.stdout, result.stderr) == ("out input\n\ufffd\0", "err\n")
    assert "EOFError" in wasm.run("input()", {}, PATIENT).stderr


def test_a_traceback_shows_the_lines_of_the_code_only(wasm):
    code = """
import json
def read(text):
    return json.loads(text)
try:
    read('[')
except ValueError:
    read('{')
"""
    told = wasm.run(code, {}, PATIENT).stderr
    assert told.count('File "<code>"') == told.count("File ") == 4
    assert "    return json.loads(text)\n" in told and told.count("JSONDecodeError") == 2
    assert "SyntaxError" in wasm.run("a b", {}, PATIENT).stderr
    assert "SyntaxError" in wasm.run("a = '\0'", {}, PATIENT).stderr


def test_files_go_in_and_come_back(wasm):
    code = """
import csv, pathlib
rows = list(csv.DictReader(open("data/sales.csv")))
pathlib.Path("out").mkdir()
pathlib.Path("out/sum.txt").write_text(str(sum(int(row["n"]) for row in rows)))
pathlib.Path("large.bin").write_bytes(bytes(range(256)) * 20_000)
pathlib.Path("data/sales.csv").unlink()
pathlib.Path("/tmp/not_returned").write_text("x")
"""
    result = wasm.run(code, {"data/sales.csv": b"n\n40\n2\n", "Grüße.txt": b"hi"}, PATIENT)
    assert dict(result.files) == {"Grüße.txt": b"hi", "large.bin": bytes(range(256)) * 20_000, "out/sum.txt": b"42"}


def test_a_module_that_was_given_can_be_imported_and_shadows_nothing_of_ours(wasm):
    files = {"helper.py": b"def twice(n): return 2 * n\n", "json.py": b"print('shadow')\n"}
    result = wasm.run("import helper, json; print(helper.twice(21), json.loads('1'))", files, PATIENT)
    assert result.stdout == "42 1\n"
    assert set(result.files) == set(files)  # no __pycache__


# What CPython on WASI lacks: it has no processes, terminals, users or dynamic libraries.
LACKING = {"bz2", "ctypes", "curses", "fcntl", "grp", "lzma", "mmap", "pwd", "readline", "resource", "ssl", "syslog"}
LACKING |= {"_posixsubprocess", "pty", "termios", "tkinter", "tty", "turtle"}
WANTED = """argparse array ast asyncio base64 bisect calendar cmath collections concurrent configparser contextlib copy
    csv dataclasses datetime decimal difflib email enum fractions functools glob graphlib gzip hashlib heapq html http
    inspect io ipaddress itertools json logging math operator os pathlib pickle platform pprint queue random re secrets
    shelve shutil signal socket sqlite3 statistics string struct subprocess sys tarfile tempfile textwrap threading time
    timeit tomllib traceback types typing unicodedata unittest urllib uuid warnings weakref xml zipfile zlib zoneinfo"""


def test_the_standard_library_is_there(wasm):
    code = """
import importlib, sys
there = []
for name in sorted(sys.stdlib_module_names - {"antigravity", "this", "idlelib", "turtledemo", "ensurepip", "_pyrepl"}):
    try:
        importlib.import_module(name)
        there.append(name)
    except ModuleNotFoundError as error:
        assert "WebAssembly" in str(error), error
print(*there)
"""
    there = set(wasm.run(code, {}, PATIENT).stdout.split())
    assert not there & LACKING
    assert len([name for name in there if not name.startswith("_")]) > 150
    assert set(WANTED.split()) <= there


def test_submodules_and_codecs_are_there(wasm):
    code = """
import collections.abc, concurrent.futures, email.mime.text, importlib.metadata, os.path, unittest.mock, urllib.parse
import xml.etree.ElementTree, logging.handlers, asyncio
print(xml.etree.ElementTree.fromstring("<a>1</a>").text, "ä".encode("cp1252"), "é.example".encode("idna"))
async def answer():
    return sum(await asyncio.gather(asyncio.sleep(0.01, 40), asyncio.sleep(0, 2)))
print(asyncio.run(answer()))
"""
    assert wasm.run(code, {}, PATIENT).stdout == "1 b'\\xe4' b'xn--9ca.example'\n42\n"


def test_sqlite_keeps_its_data_in_a_file(wasm):
    code = """
import sqlite3
with sqlite3.connect("data.db") as base:
    base.execute("create table t (n)")
    base.executemany("insert into t values (?)", [(n,) for n in range(1000)])
print(base.execute("select sum(n) from t").fetchone())
"""
    result = wasm.run(code, {}, PATIENT)
    assert (result.stdout, list(result.files)) == ("(499500,)\n", ["data.db"])


def test_what_is_missing_says_why(wasm):
    told = wasm.run("import numpy", {}, PATIENT).stderr
    assert "No module named 'numpy': the WebAssembly sandbox has the standard library only" in told
    told = wasm.run("import ctypes", {}, PATIENT).stderr
    assert "No module named 'ctypes': Python for WebAssembly is built without it" in told
    told = wasm.run("import threading; threading.Thread(target=print).start()", {}, PATIENT).stderr
    assert "RuntimeError: can't start new thread" in told


def test_a_policy_that_it_cannot_do_is_refused_in_words():
    assert Wasm().satisfies(Policy()) == ""
    assert Wasm().satisfies(Policy(network=("example.org:443",))) == "it has no network"
    assert "memory must be at least 100 MB" in Wasm().satisfies(Policy(memory=20))
    assert "read" in Wasm().satisfies(Policy(read=(os.path.abspath(os.sep),)))


def test_without_its_packages_the_probe_says_what_to_install(monkeypatch):
    monkeypatch.setattr("agentlib.sandbox.wasm.missing_packages", lambda: ["componentize-py", "wasmtime"])
    probe = wasm_module._probe.__wrapped__()
    assert not probe.ok and probe.fix == "pip install componentize-py wasmtime"


def test_a_component_that_cannot_be_built_leaves_nothing_and_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(wasm_build, "_COMPONENTIZE", "raise SystemExit('no room')")
    with pytest.raises(wasm_build.BuildError, match="no room"):
        wasm_build.build(tmp_path / "python.cwasm")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="the cache folder is named by another variable")
def test_a_damaged_component_is_built_again(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME" if sys.platform == "darwin" else "XDG_CACHE_HOME", str(tmp_path))
    wasm_build.cache_folder()
    target = wasm_build.cache_folder() / f"python-{wasm_build.key()}.cwasm"
    target.write_bytes(b"damaged")
    assert wasm_module._probe.__wrapped__().ok
    assert [path.name for path in target.parent.iterdir()] == [target.name]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="only POSIX has permissions of this kind")
def test_a_cache_that_others_can_write_to_is_not_used(tmp_path, monkeypatch):
    name = "HOME" if sys.platform == "darwin" else "XDG_CACHE_HOME"
    monkeypatch.setenv(name, str(tmp_path))
    folder = wasm_build.cache_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    with pytest.raises(wasm_build.BuildError, match="another user"):
        wasm_build.cache_folder()


def test_importing_the_backend_loads_nothing_heavy():
    code = "import sys, agentlib.sandbox.wasm; print('wasmtime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
