"""Far more than a hundred pieces of hostile code: none gets through, whoever the host process is. See hostile.txt."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sandboxes import LINUX, linux_only, needs

pytestmark = linux_only

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "harness" / "hostile.py"


def run_hostile(backend: str, user: str, *groups: str) -> dict:
    """Run the snippets in a process of their own, as the user that this is or as one who owns nothing."""
    from agentlib.sandbox import python_folders, unprivileged

    interpreter = python_folders.interpreter()
    program = [interpreter, "-B", str(PROGRAM), backend, *groups]
    if user == "nobody":
        needed = [*python_folders.readable(), str(ROOT / "agentlib"), str(ROOT / "tests")]
        program = unprivileged.command(interpreter, needed, program)
    environ = {"PATH": os.environ["PATH"], "HOME": "/tmp", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(program, capture_output=True, text=True, timeout=900, env=environ, cwd="/")
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("backend", LINUX)
@pytest.mark.parametrize("user", ["this", "nobody"])
def test_code_that_goes_for_secrets_gets_none(backend, user):
    needs(backend)
    found = run_hostile(backend, user, "secrets", "writing", "network", "kernel")
    assert found["through"] == {} and found["ran"] > 50


@pytest.mark.long
@pytest.mark.parametrize("backend", LINUX)
def test_no_hostile_code_gets_through(backend):
    needs(backend)
    users = {"this": os.getuid()} | ({"nobody": 65534} if os.geteuid() == 0 else {})
    with ThreadPoolExecutor() as hosts:  # much of the code waits for its time limit
        found = list(hosts.map(lambda user: run_hostile(backend, user), users))
    assert [each["through"] for each in found] == [{}] * len(users)
    assert all(each["ran"] > 120 for each in found)
    assert [each["user"] for each in found] == list(users.values())
