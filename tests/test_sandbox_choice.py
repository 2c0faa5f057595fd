"""Policies, inputs, and which backend is used: never one that does not hold, and never none in silence."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlib import sandbox
from agentlib.sandbox import InputError, Policy, PolicyError, Probe, Result, SandboxUnavailable, Status, probing, run
from agentlib.sandbox.backends import choose
from agentlib.sandbox.inputs import checked_files, is_plain


class Fake:
    """A backend that says what it is told to say."""

    def __init__(self, name: str, ok: bool = True, missing: str = "", result: Result | None = None) -> None:
        self.name, self.ok, self.missing, self.result = name, ok, missing, result

    def probe(self) -> Probe:
        return Probe(self.name, self.ok, "It was asked.", "sudo make it work")

    def satisfies(self, policy: Policy) -> str:
        return self.missing

    def run(self, code, files, policy) -> Result:
        return self.result or Result(Status.OK, 0, stdout=code, files=files, isolation=self.name)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"seconds": 0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": float("inf")}, "seconds"),
        ({"memory": -1}, "memory"),
        ({"processes": 0}, "processes"),
        ({"read": "/data"}, "list"),
        ({"read": ("data",)}, "absolute"),
        ({"network": "a:1"}, "list"),
        ({"network": ("example.org",)}, "host:port"),
        ({"network": ("example.org:99999",)}, "host:port"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(wrong, said):
    with pytest.raises(PolicyError, match=said):
        Policy(**wrong)


def test_a_policy_takes_lists_and_cannot_be_changed():
    policy = Policy(read=["/data"], network=["example.org:443", "[::1]:80"])
    assert policy.read == ("/data",) and hash(policy) == hash(replace(policy))
    with pytest.raises(AttributeError):
        policy.seconds = 1


NO_PATHS = ["", "/a", "a//b", "../a", "a/../b", ".", "a\\b", "c:a", "a\0", "a/", "\ud800"]
TOO_LONG = ["n" * 300, "d/" * 60 + "x", ("n" * 200 + "/") * 9 + "x"]


@pytest.mark.parametrize("path", [*NO_PATHS, *TOO_LONG])
def test_a_file_may_not_leave_the_working_directory(path):
    with pytest.raises(InputError):
        checked_files({path: b""}, Policy())


@given(st.text())
def test_a_plain_path_stays_in_its_folder(path):
    if is_plain(path):
        import os

        assert os.path.normpath("/box/" + path).startswith("/box/") and os.path.normpath(path) == path


def test_files_are_bytes_sorted_and_within_the_policy():
    assert list(checked_files({"b": "é", "a": bytearray(b"x")}, Policy()).items()) == [("a", b"x"), ("b", "é".encode())]
    for files, policy in (({"a": bytes(2_000_000)}, Policy(disk=1)), ({"a": "", "b": ""}, Policy(inodes=1))):
        with pytest.raises(InputError, match="policy allows"):
            checked_files(files, policy)
    with pytest.raises(InputError, match="'a' is a file"):
        checked_files({"a": b"", "a/b": b""}, Policy())
    with pytest.raises(InputError, match="int"):
        checked_files({"a": 5}, Policy())


def test_the_first_that_can_and_holds_is_used():
    assert choose(Policy(), [Fake("a", missing="x"), Fake("b", ok=False), Fake("c"), Fake("d")]).name == "c"


def test_without_one_the_text_names_each_and_the_fix():
    with pytest.raises(SandboxUnavailable) as refused:
        choose(Policy(), [Fake("first", missing="a network"), Fake("second", ok=False)])
    said = str(refused.value)
    assert "was not run" in said and "first: cannot do this policy: a network" in said
    assert "second: does not work. It was asked. Fix: sudo make it work" in said


def test_a_backend_that_is_asked_for_is_not_replaced_by_another():
    assert run("print()", backend=Fake("mine")).isolation == "mine"
    with pytest.raises(SandboxUnavailable, match="mine"):
        run("print()", backend=Fake("mine", ok=False))
    with pytest.raises(SandboxUnavailable, match="no backend 'docker'"):
        run("print()", backend="docker")


def test_no_isolation_is_asked_for_in_so_many_words_and_marked(monkeypatch):
    monkeypatch.setattr(sandbox, "all_backends", lambda: [Fake("none there", ok=False)])
    with pytest.raises(SandboxUnavailable):
        run("print(1)")
    result = run("print(open('a').read()); open('b', 'w').write('x')", {"a": "hi"}, unsafe_no_isolation=True)
    assert (result.isolation, result.stdout, result.files["b"]) == ("none", "hi\n", b"x")
    late = run("while True: pass", policy=Policy(seconds=0.5), unsafe_no_isolation=True)
    assert (late.status, late.isolation) == ("timeout", "none")
    with pytest.raises(TypeError):
        run("print(1)", None, Policy(), None, True)


def test_a_probe_finds_out_what_does_not_hold():
    from agentlib.sandbox.nothing import NoIsolation

    probe = probing.attempt(NoIsolation(), "")
    assert not probe.ok and "read a file of the host" in probe.reason and "a port was reached" in probe.reason


@pytest.mark.parametrize(
    ("result", "touched", "ok", "said"),
    [
        (Result(Status.OK, 0), [], True, "refused"),
        (Result(Status.OK, 0), ["a file was changed"], False, "a file was changed"),
        (Result(Status.OK, 0, stdout="start a process\n"), [], False, "start a process"),
        (Result(Status.ERROR, 1, stderr="Traceback\nboom"), [], False, "boom"),
        (Result(Status.TIMEOUT, reason="too long"), [], False, "too long"),
        (Result(Status.UNAVAILABLE, reason="no such thing"), [], False, "no such thing"),
    ],
)
def test_a_probe_is_right_only_when_all_ran_and_nothing_was_got_at(result, touched, ok, said):
    probe = probing.judge("x", result, touched, "do this")
    assert probe.ok == ok and said in probe.reason and ("Fix: do this" in str(probe)) == (not ok)


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_on_other_systems_nothing_of_linux_is_imported(system):
    code = f"""
import asyncio, concurrent.futures, inspect, json, shutil, socket, subprocess, sys, tempfile, typing, urllib.request
import agentlib.tools
sys.platform = {system!r}
sys.modules["resource"] = None  # Windows has none
import agentlib.sandbox.pool, agentlib.sandbox.tool, agentlib.sandbox.nothing
print([backend.name for backend in agentlib.sandbox.all_backends()])
try:
    agentlib.sandbox.pool.Pool()
except agentlib.sandbox.SandboxUnavailable as error:
    print(error)
print([name for name in sys.modules if ".inside." in name or name.endswith((".bubblewrap", ".landlock"))])
"""
    root = str(Path(__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    assert lines[0] == "['container', 'wasm']" and lines[1].startswith("No sandbox"), done.stderr
    assert [name for name in eval(lines[-1]) if not name.endswith(("packing", "inside"))] == []
