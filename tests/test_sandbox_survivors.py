"""Nothing of a run outlives what it belongs to: the run itself, its pool, the host process, however that ends."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sandboxes import LINUX, PATIENT, linux_only, needs

from agentlib.sandbox import run

pytestmark = linux_only
ROOT = Path(__file__).parents[1]
# A process with several threads forks, which newer Pythons warn of: that is the subject here.
FORKS = pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
# Each ignores what it can, and is spread over several processes where that is allowed.
BUSY = """
import os, signal, sys
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
for _ in range(3):
    try:
        if os.fork() == 0: os.setsid()
    except OSError: break
print("begun " * 1000, flush=True)
while True: pass
"""
# A host that runs that in the way it is told to, and says when the code has begun.
HOST = """
import os, subprocess, sys, threading, time
sys.path.insert(0, {root!r})
from agentlib.sandbox import Policy, pipes, run
from agentlib.sandbox.pool import Pool
policy = Policy(seconds=600, processes={processes})
read = pipes.CappedPipe.read
def tell(self):
    found = read(self)
    if self.seen >= 6000 and self.cap == policy.output and not getattr(self, "told", False):
        self.told = True
        os.write(1, b"begun" + os.linesep.encode())  # in one piece, since two threads may say it
    return found
pipes.CappedPipe.read = tell
{how}
"""
HOW = {
    "a cold run": "run({code!r}, policy=policy, backend={backend!r})",
    "a run in a pool": "Pool(policy, backend={backend!r}).run({code!r})",
    "a run in a thread, of a pool that another thread made": """
made = []
maker = threading.Thread(target=lambda: made.append(Pool(policy, backend={backend!r})))
maker.start(); maker.join()
threading.Thread(target=lambda: made[0].run({code!r})).start()""",
    "two runs, and forks of the host that live on": """
pool = Pool(policy, backend={backend!r})
for _ in range(2): threading.Thread(target=pool.run, args=({code!r},)).start()
time.sleep(0.05)
if os.fork() == 0:
    os.close(1); time.sleep(600)""",
}


@pytest.fixture(params=LINUX)
def backend(request) -> str:
    return needs(request.param)


@pytest.fixture
def room(monkeypatch) -> Iterator[Path]:
    """A folder for temporary files, in which `nobody` may work, and which must be empty in the end."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o1777)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


@pytest.fixture
def adopted() -> Iterator[Callable[[], list[int]]]:
    """Give a function for the living processes that come from this one. Orphans become its children meanwhile."""
    from agentlib.sandbox.inside import processes

    before = set(processes.descendants(os.getpid()))
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    yield lambda: sorted(set(processes.descendants(os.getpid())) - before)
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)
    for left in set(processes.descendants(os.getpid())) - before:
        os.kill(left, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def settles(holds: Callable[[], bool]) -> bool:
    """Wait for what must soon be so."""
    end = time.monotonic() + 30
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


@contextlib.contextmanager
def start_host(how: str, backend: str, room: Path, processes: int = 1, code: str = BUSY) -> Iterator[subprocess.Popen]:
    """Start a host, as the user that this is, and wait until the code has begun."""
    told = HOW.get(how, how).format(code=code, backend=backend)
    program = HOST.format(root=str(ROOT), processes=processes, how=told)
    environ = {**os.environ, "TMPDIR": str(room)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environ) as host:
        try:
            yield host
        except BaseException:
            host.kill()  # a test that fails must not wait for it
            raise


@pytest.mark.parametrize("processes", [1, 12])
@pytest.mark.parametrize("how", HOW)
def test_nothing_survives_a_host_that_is_killed(backend, how, processes, room, adopted):
    with start_host(how, backend, room, processes) as host:
        assert host.stdout.readline() == "begun\n"
        host.kill()
    forks = 1 if "forks" in how else 0  # which are the host's own, and not ours to end
    assert settles(lambda: len(adopted()) <= forks), adopted()
    assert settles(lambda: not os.listdir(room)), os.listdir(room)


@pytest.mark.parametrize("wait", [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5])
def test_nor_one_that_is_killed_at_any_other_moment(backend, wait, room, adopted):
    with start_host("a run in a pool", backend, room) as host:
        time.sleep(wait)
        host.kill()
    assert settles(lambda: not adopted()), adopted()


def test_nor_one_that_is_ended_by_a_time_limit(backend, room, adopted):
    with start_host("a cold run", backend, room, 12) as host:
        assert host.stdout.readline() == "begun\n"
        host.terminate()
    assert settles(lambda: not adopted()), adopted()


@pytest.mark.parametrize("position", range(4))
def test_nothing_survives_when_any_one_of_its_processes_is_killed(backend, position, room, adopted):
    with start_host("a run in a pool", backend, room) as host:
        assert host.stdout.readline() == "begun\n"
        family = [process for process in adopted() if process != host.pid]
        assert len(family) in (3, 4)  # bubblewrap has a process outside, too
        os.kill(family[min(position, len(family) - 1)], signal.SIGKILL)
        host.wait(60)
    assert settles(lambda: not adopted()), adopted()


def test_an_interrupted_run_ends_before_its_files_are_removed(backend, room, adopted):
    with start_host("a cold run", backend, room, 12) as host:
        assert host.stdout.readline() == "begun\n"
        host.send_signal(signal.SIGINT)
        host.wait(60)
        assert adopted() == [] and os.listdir(room) == []


@pytest.mark.parametrize("last", ["", "os._exit(0)", "raise SystemExit(1)", "del pool"])
def test_a_pool_that_nobody_closes_ends_with_the_program(backend, last, room, adopted):
    how = f"pool = Pool(policy, backend={{backend!r}})\npool.run('')\n{last}\nprint(len(os.listdir('{room}')))"
    with start_host(how, backend, room) as host:
        said = host.stdout.read()
    assert settles(lambda: not adopted()), adopted()
    assert settles(lambda: not os.listdir(room)), os.listdir(room)
    assert last != "del pool" or said == "0\n"


def test_closing_a_pool_ends_its_runs(backend, room, adopted):
    how = """
import time
pool = Pool(policy, backend={backend!r})
threading.Thread(target=lambda: print(pool.run({code!r}).status, flush=True)).start()
sys.stdin.readline()
pool.close()
print("closed", flush=True)
sys.stdin.readline()"""
    program = HOST.format(root=str(ROOT), processes=12, how=how.format(code=BUSY, backend=backend))
    environ = {**os.environ, "TMPDIR": str(room)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], text=True, env=environ, **pipes) as host:
        assert host.stdout.readline() == "begun\n"
        host.stdin.write("\n")
        host.stdin.flush()
        assert sorted([host.stdout.readline(), host.stdout.readline()])[0] == "closed\n"
        assert settles(lambda: adopted() == [host.pid]), adopted()
        host.stdin.write("\n")
    assert os.listdir(room) == []


@FORKS
def test_forks_of_the_host_use_a_sandbox_of_their_own(backend, room):
    from agentlib.sandbox.pool import Pool

    with Pool(PATIENT, backend=backend) as pool:
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            with contextlib.suppress(BaseException), pool:
                os.write(writing, pool.run("print('fork')").stdout.encode())
            os._exit(0)
        os.close(writing)
        assert pool.run("print('host')").stdout == "host\n"
        assert os.read(reading, 100) == b"fork\n"
        os.waitpid(child, 0)
        os.close(reading)
        assert pool.run("print('host')").stdout == "host\n"  # which the fork's own end did not touch


@FORKS
def test_a_run_is_not_held_up_by_forks_in_other_threads(backend):
    import threading

    from agentlib.sandbox.pool import Pool

    forked, done = [], threading.Event()

    def fork() -> None:
        while not done.is_set() and len(forked) < 200:
            if (child := os.fork()) == 0:
                time.sleep(60)
                os._exit(0)
            forked.append(child)

    try:
        with Pool(replace(PATIENT, seconds=30), backend=backend) as pool:
            other = threading.Thread(target=fork)
            other.start()
            results = [pool.run("print(1)") for _ in range(20)]
            done.set()
            other.join()
            began = time.monotonic()
        assert [each.stdout for each in results] == ["1\n"] * 20
        assert time.monotonic() - began < 9  # closing it did not wait for them either
    finally:
        for child in forked:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_the_code_cannot_outlive_its_supervisor(backend):
    code = """
import ctypes
found = ctypes.c_int()
libc = ctypes.CDLL(None)
print(libc.prctl(2, ctypes.byref(found), 0, 0, 0), found.value, libc.prctl(1, 0, 0, 0, 0))
"""
    assert run(code, policy=PATIENT, backend=backend).stdout == f"0 {int(signal.SIGKILL)} -1\n"


def test_removal_follows_no_link_while_a_process_still_swaps_them(tmp_path):
    """What a run that is alive could do to a host that removes its folder."""
    from agentlib.sandbox.inside import collecting

    precious, box = tmp_path / "precious", tmp_path / "box"
    precious.mkdir()
    (precious / "kept").write_text("kept")
    precious.chmod(0o755)
    for number in range(50):
        (box / f"d{number}" / "e").mkdir(parents=True)
    swap = f"""
import os
while True:
    for number in range(50):
        try:
            os.rename(f"d{{number}}/e", f"d{{number}}/f"); os.symlink({str(precious)!r}, f"d{{number}}/e")
            os.rename(f"d{{number}}", f"g{{number}}"); os.symlink({str(precious)!r}, f"d{{number}}")
        except OSError: pass
"""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", swap], cwd=box) as swapper:
        with contextlib.suppress(OSError):
            collecting.remove(str(box))
        swapper.kill()
    assert (precious / "kept").read_text() == "kept" and precious.stat().st_mode & 0o777 == 0o755
    if box.exists():
        collecting.remove(str(box))
    assert not box.exists()


@pytest.mark.parametrize("end", ["os._exit(0)", "time.sleep(0.1)", "time.sleep(60)"])
def test_processes_that_replace_themselves_without_end_are_all_ended(backend, end, adopted):
    """Each forks and exits at once, so that a list of processes is out of date as soon as it is made."""
    from agentlib.sandbox.pool import Pool

    code = f"""
import os, time
for _ in range(4):
    try:
        while os.fork() == 0:
            while os.fork(): os._exit(0)
            os.setsid()
    except OSError: pass
{end}
"""
    with Pool(replace(PATIENT, seconds=2, processes=20), backend=backend) as pool:
        pool.run("pass")
        before = adopted()
        pool.run(code)
        assert settles(lambda: set(adopted()) <= set(before)), adopted()
