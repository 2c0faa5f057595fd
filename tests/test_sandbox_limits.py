"""Limits, and how a sandbox is started and ends, on each backend of Linux."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sandboxes import LINUX, PATIENT, linux_only, needs, warm_pools

from agentlib import sandbox
from agentlib.sandbox import run

pytestmark = linux_only


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


# -- limits


@pytest.mark.parametrize(
    ("code", "policy", "status", "reason"),
    [
        ("x = bytearray(500_000_000)", {"memory": 300}, "memory", "300 MB"),
        ("import os, time\nos.fork()\nos.fork()\nx = bytearray(150_000_000)\ntime.sleep(60)",
         {"processes": 8, "memory": 300}, "memory", "300 MB"),
        ("while True: print('x' * 1000)", {"output": 1000}, "output_limit", "1000 bytes"),
        ("import time; time.sleep(100)", {"seconds": 0.5}, "timeout", "0.5 seconds"),
        ("import os, time\nfor _ in range(9):\n    if not os.fork(): time.sleep(60)\ntime.sleep(60)",
         {"processes": 3}, "killed", "more than 3"),
    ],
)  # fmt: skip
def test_each_limit_has_a_status_and_a_reason(backend, code, policy, status, reason):
    result = run(code, policy=replace(PATIENT, **policy), backend=backend)
    assert result.status == status and reason in result.reason and result.exit_code is None


def test_output_is_cut_at_the_cap_and_said_to_be(warm):
    result = warm("import sys; print('é' * 900); sys.stderr.write('y' * 10)", policy=replace(PATIENT, output=1000))
    assert result.ok and len(result.stdout) == 500 and result.stderr == "y" * 10
    assert result.truncated == ("stdout: cut after 1000 bytes",)


def test_a_full_disk_and_too_many_files_are_errors_that_code_can_catch():
    needs("bubblewrap")
    code = """
try:
    for n in range(100): open(f"big{n}", "wb").write(bytes(1_000_000))
except OSError as error: print(error.errno)
"""
    small = replace(PATIENT, disk=10, inodes=20)
    assert run(code, policy=small, backend="bubblewrap").stdout == "28\n"
    many = "n = 0\ntry:\n    while True: open(str(n), 'w').close(); n += 1\nexcept OSError: print(n)"
    assert 20 <= int(run(many, policy=small, backend="bubblewrap").stdout) <= 21


# -- how it is started


def test_a_secret_in_the_environment_is_not_there(backend, monkeypatch):
    monkeypatch.setenv("API_KEY", "secret")
    result = run("import os; print(sorted(os.environ))", policy=PATIENT, backend=backend)
    assert "API_KEY" not in result.stdout and "PATH" in result.stdout


def test_runs_may_come_from_many_threads_at_once(backend, pools):
    from concurrent.futures import ThreadPoolExecutor

    code = "import time; open('mine', 'w').write({0!r}); time.sleep(0.05); print(open('mine').read())"
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda n: pools(backend).run(code.format(str(n))), range(24)))
    assert [result.stdout for result in results] == [f"{n}\n" for n in range(24)]


def test_a_pool_whose_sandbox_was_ended_starts_again(backend):
    from agentlib.sandbox.pool import Pool

    with Pool(PATIENT, backend=backend) as pool:
        assert pool.run("print(1)").ok
        pool._server.close()
        assert pool.run("print(2)").stdout == "2\n"
        with pytest.raises(sandbox.SandboxUnavailable, match="read"):
            pool.run("", policy=replace(PATIENT, read=("/etc",)))
        assert run("print(3)", policy=PATIENT, backend=pool).stdout == "3\n"
    with pytest.raises(sandbox.SandboxUnavailable, match="closed"):
        pool.run("print(4)")


def test_the_sandbox_ends_with_the_host_process(backend):
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        f"from agentlib.sandbox.pool import Pool\npool = Pool(backend={backend!r})\n"
        "print(pool._server._process.pid, flush=True)\npool.run('while True: pass')"
    )
    with tempfile.TemporaryDirectory(dir="/tmp") as room:  # a host that is killed leaves its temporary folders
        os.chmod(room, 0o755)
        environ = {**os.environ, "TMPDIR": room}
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environ) as host:
            inside = int(host.stdout.readline())
            family = {inside, *_descendants(inside)}
            host.kill()
        end = time.monotonic() + 30
        while any(_alive(process) for process in family) and time.monotonic() < end:
            time.sleep(0.02)
    assert not [process for process in family if _alive(process)]


def _descendants(process: int) -> set[int]:
    from agentlib.sandbox.inside import processes

    return set(processes.descendants(process))


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("count", [30, pytest.param(200, marks=pytest.mark.long)])
def test_many_runs_leave_nothing_behind(backend, count, monkeypatch):
    from agentlib.sandbox.pool import Pool

    room = tempfile.mkdtemp(dir="/tmp")  # not tmp_path, which only its owner may enter
    os.chmod(room, 0o755)
    monkeypatch.setattr(tempfile, "tempdir", room)

    def standing() -> dict[str, int]:
        return {
            "processes": len(_descendants(os.getpid())),
            "files": len(os.listdir("/proc/self/fd")),
            "threads": len(os.listdir("/proc/self/task")),
            "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
            "folders": len(os.listdir(room)),
        }

    def more_than(before: dict[str, int]) -> dict[str, int]:
        return {name: number for name, number in standing().items() if number > before[name]}

    with Pool(PATIENT, backend=backend) as pool:
        pool.run("pass")
        before = standing()
        for number in range(count):
            code = "open('a', 'w').write('x')" if number % 3 else "import os; os.kill(os.getpid(), 9)"
            pool.run(code, {"in/put": b"x"})
        end = time.monotonic() + 30
        while more_than(before) and time.monotonic() < end:
            time.sleep(0.02)  # the kernel takes a moment to be rid of a process that has ended
        assert more_than(before) == {}
    assert os.listdir(room) == []
    os.rmdir(room)


def test_it_works_where_the_host_is_started_from_anywhere(backend, tmp_path):
    root = Path(__file__).parents[1]
    code = (
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        f"from agentlib import sandbox\nprint(sandbox.run('print(1)', backend={backend!r}).status)"
    )
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    done = subprocess.run([sys.executable, "-c", code], cwd=closed, capture_output=True, text=True, timeout=60)
    assert done.stdout == "ok\n", done.stderr
