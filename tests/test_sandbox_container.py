"""The container backend, against a real engine: docker or podman, whichever can be started here.

Where AGENTLIB_EXPECT_CONTAINER is 1, an engine that is missing is a failure.
"""

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from attacks import GOT_THROUGH, GROUPS, KEY, SECRET, Host

from agentlib.sandbox import Policy, Status, container, container_engine, container_image
from agentlib.sandbox.container import Container
from agentlib.sandbox.container_engine import Engine, EngineError

pytestmark = pytest.mark.long
PATIENT = Policy(seconds=60)  # where time is not the subject


@pytest.fixture(scope="module")
def box() -> Container:
    backend = Container()
    probe = backend.probe()
    if not probe.ok and os.environ.get("AGENTLIB_EXPECT_CONTAINER") != "1":
        pytest.skip(str(probe))
    assert probe.ok, probe
    return backend


@pytest.fixture
def host(tmp_path: Path):
    (tmp_path / "canary").mkdir()
    with Host(tmp_path / "canary") as made:
        yield made


def engine() -> Engine:
    return container._find()[1]


def left_behind() -> list[str]:
    """Name the containers and volumes of runs that the engine still has."""
    containers = engine().call("ps", "--all", "--format", "{{.Names}}").split()
    volumes = engine().call("volume", "ls", "--format", "{{.Name}}").split()
    return [name for name in containers + volumes if name.startswith("agentlib-")]


@pytest.mark.parametrize("group", GROUPS)
def test_no_attack_gets_through(box, host, group):
    result = box.run(host.script(group), {}, PATIENT)
    assert GOT_THROUGH not in result.stdout
    assert result.stdout.count("refused:") == len(GROUPS[group]), result
    assert not host.damage()
    assert not any(SECRET.encode() in content for content in result.files.values())


# What a process that may start others can do must be refused by the container itself.
WITH_PROCESSES = {
    "processes": ("a fork", "another program"),
    "network": (),
    "kernel": ("shared memory",),
}


@pytest.mark.parametrize("group", WITH_PROCESSES)
def test_no_attack_gets_through_with_several_processes(box, host, group):
    result = box.run(host.script(group, WITH_PROCESSES[group]), {}, replace(PATIENT, processes=4))
    assert GOT_THROUGH not in result.stdout and "refused:" in result.stdout, result
    assert not host.damage()


def test_the_code_runs_as_nobody_without_any_power(box):
    code = """
import os
status = dict(line.rstrip().split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
print(os.getuid(), os.getgid(), os.getgroups(), status["CapEff"], status["CapBnd"], status["NoNewPrivs"])
print([number for number in range(64) if os.path.exists(f"/proc/self/fd/{number}")], status["Seccomp"])
print(sorted(name for name in os.environ if os.environ[name]))
"""
    none = "0" * 16
    lines = box.run(code, {}, PATIENT).stdout.splitlines()
    assert lines[0] == f"65534 65534 [65534] {none} {none} 1" or lines[0] == f"65534 65534 [] {none} {none} 1"
    assert lines[1] == "[0, 1, 2] 2"
    assert KEY not in lines[2] and "'HOME', " in lines[2]


def test_the_image_holds_python_and_nothing_of_the_host(box):
    code = """
import os
print(os.path.exists("/bin/sh"), os.path.exists("/etc/shadow"), sorted(os.listdir("/tmp")), os.listdir("."))
print([path for path in ("/home", "/root/.ssh", "/var", "/run/secrets") if os.path.exists(path) and os.listdir(path)])
"""
    assert box.run(code, {}, PATIENT).stdout == "False False ['work'] []\n[]\n"


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(3600)",
        "import atexit, time; atexit.register(time.sleep, 3600)",
        "import threading, time; threading.Thread(target=time.sleep, args=(3600,)).start()",
        """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass""",
    ],
)
def test_code_that_does_not_end_is_ended(box, code):
    result = box.run(f"print('begun')\n{code}", {}, Policy(seconds=0.7))
    assert (result.status, result.exit_code, result.stdout) == (Status.TIMEOUT, None, "begun\n")
    assert left_behind() == []


def test_the_host_kills_a_container_whose_supervisor_does_not_end(box, monkeypatch):
    long = container.job("while True: pass", {}, replace(PATIENT, seconds=600))
    monkeypatch.setattr(container, "job", lambda *_: long)
    monkeypatch.setattr(container, "_START", 2.0)
    result = box.run("", {}, Policy(seconds=0.5))
    assert (result.status, result.reason) == (Status.UNAVAILABLE, "the container did not end in time")
    assert left_behind() == []


def test_memory_ends_at_the_limit(box):
    greedy = "kept = []\nwhile True: kept.append(bytearray(1_000_000))"
    result = box.run(greedy, {}, replace(PATIENT, memory=200))
    assert (result.status, result.exit_code) == (Status.MEMORY, None)
    mapped = "import mmap\nkept = []\nwhile True:\n    kept.append(mmap.mmap(-1, 10**7)); kept[-1].write(bytes(10**7))"
    assert box.run(mapped, {}, replace(PATIENT, memory=200)).status in (Status.ERROR, Status.MEMORY)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_is_cut_and_a_flood_is_ended(box, stream):
    policy = replace(PATIENT, output=70_000)
    some = box.run(f"import sys; sys.{stream}.write('ab' * 100_000)", {}, policy)
    assert (some.status, getattr(some, stream)) == (Status.OK, "ab" * 35_000)
    assert some.truncated == (f"{stream}: cut after 70000 bytes",)
    flood = box.run(f"import sys\nwhile True: sys.{stream}.write('ab' * 100_000)", {}, policy)
    assert (flood.status, len(getattr(flood, stream))) == (Status.OUTPUT_LIMIT, 70_000)


def test_the_disk_and_the_number_of_files_end_at_the_limit(box):
    fill = """
kept, n = 0, 0
try:
    while True:
        kept += open(f"/tmp/{n}", "wb").write(bytes(100_000)); n += 1
except OSError as error:
    print(error.errno, kept <= 5_000_000, kept > 4_000_000)
"""
    assert box.run(fill, {}, replace(PATIENT, disk=5)).stdout == "28 True True\n"
    make = """
n = 0
try:
    while True:
        open(f"{n}", "w").close(); n += 1
except OSError as error:
    print(error.errno, n)
"""
    result = box.run(make, {"a/b/given": b""}, replace(PATIENT, inodes=100))
    error, made = map(int, result.stdout.split())
    assert error == 28 and 90 <= made <= 100
    assert "GOT" not in box.run("open('/dev/shm/x', 'w').write('GOT')", {}, PATIENT).stdout


def test_processes_are_counted_and_none_outlives_the_run(box):
    policy = replace(PATIENT, processes=3)
    two = box.run("import os\nif os.fork(): print(os.wait()[1])", {}, policy)
    assert (two.status, two.stdout) == (Status.OK, "0\n")
    bomb = box.run("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", {}, policy)
    assert bomb.status in (Status.KILLED, Status.ERROR), bomb
    daemon = """
import os, time
if os.fork() == 0:
    os.setsid()
    for number in range(3): os.close(number)
    time.sleep(3600)
print("done")
"""
    result = box.run(daemon, {}, policy)
    assert (result.status, result.stdout) == (Status.OK, "done\n")
    assert left_behind() == []


def test_folders_3000_deep_do_not_trouble_the_host(box):
    code = """
import os
for n in range(3000):
    os.mkdir("d")
    os.chdir("d")
open("bottom", "w").write("x")
os.chdir("/tmp/work")
open("top", "w").write("x")
"""
    result = box.run(code, {}, replace(PATIENT, inodes=4000))
    assert result.status is Status.OK and dict(result.files) == {"top": b"x"}
    assert result.truncated


def test_links_pipes_and_odd_names_are_not_followed(box, host):
    code = f"""
import os
open("real", "w").write("mine")
os.symlink({str(host.secret)!r}, "soft")
os.symlink("/etc", "way")
os.symlink("real", "own")
try: os.mkfifo("pipe")
except OSError: pass
open("a\\nb\\x1b[31m", "w").write("x")
os.chmod("real", 0)
"""
    result = box.run(code, {}, PATIENT)
    assert dict(result.files) == {"a\\nb\\x1b[31m": b"x"}
    assert len(result.truncated) >= 4


@pytest.mark.parametrize(
    ("code", "status", "exit_code"),
    [
        ("", Status.OK, 0),
        ("import sys; sys.exit(7)", Status.ERROR, 7),
        ("import sys; sys.exit('sorry')", Status.ERROR, 1),
        ("1 / 0", Status.ERROR, 1),
        ("import os; os._exit(137)", Status.ERROR, 137),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", Status.ERROR, -9),
        ("import os; os.abort()", Status.ERROR, -6),
        ("import os; os.close(1); os.close(2)", Status.OK, 0),
        ("import os\nfor n in range(3, 64):\n    try: os.write(n, b'x' * 99)\n    except OSError: pass", Status.OK, 0),
    ],
)
def test_the_exit_code_is_the_kernels_word(box, code, status, exit_code):
    result = box.run(code, {}, PATIENT)
    assert (result.status, result.exit_code) == (status, exit_code)


def test_files_go_in_and_come_back(box):
    code = """
import csv, pathlib
rows = list(csv.DictReader(open("data/sales.csv")))
pathlib.Path("out").mkdir()
pathlib.Path("out/sum.txt").write_text(str(sum(int(row["n"]) for row in rows)))
pathlib.Path("large.bin").write_bytes(bytes(range(256)) * 20_000)
pathlib.Path("data/sales.csv").unlink()
pathlib.Path("/tmp/not_returned").write_text("x")
"""
    result = box.run(code, {"data/sales.csv": b"n\n40\n2\n", "Grüße.txt": b"hi"}, PATIENT)
    assert dict(result.files) == {"Grüße.txt": b"hi", "large.bin": bytes(range(256)) * 20_000, "out/sum.txt": b"42"}
    assert 0 < result.seconds < 60 and result.isolation == "container"


def test_numpy_and_matplotlib_are_in_the_image(box):
    code = """
import matplotlib
matplotlib.use("agg")
from matplotlib import pyplot
import numpy
pyplot.plot(numpy.arange(5) ** 2)
pyplot.savefig("plot.png")
"""
    result = box.run(code, {}, PATIENT)
    assert result.status is Status.OK, result
    assert result.files["plot.png"].startswith(b"\x89PNG")


def test_runs_at_the_same_time_do_not_meet(box):
    found = {}
    code = "import time; open('f', 'w').write({0!r}); time.sleep(0.3); print(open('f').read())"
    runs = [
        threading.Thread(target=lambda n=n: found.update({n: box.run(code.format(str(n)), {}, PATIENT).stdout}))
        for n in range(3)
    ]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert found == {n: f"{n}\n" for n in range(3)}
    assert left_behind() == []


def test_without_the_engines_own_limits_those_inside_remain(box):
    image, python = container_image.image_for(engine())
    bare = replace(engine(), cgroups=False)
    policy = replace(PATIENT, memory=200, processes=2)
    greedy = "kept = []\nwhile True: kept.append(bytearray(1_000_000))"
    assert container.run_in(bare, image, python, greedy, {}, policy).status is Status.MEMORY
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    assert container.run_in(bare, image, python, bomb, {}, policy).status is Status.KILLED
    assert left_behind() == []


def test_an_image_that_is_out_of_date_is_removed(box):
    image, _ = container_image.image_for(engine())
    repository = image.rpartition(":")[0]
    engine().call("tag", image, f"{repository}:old")
    container_image.remove_others(engine(), repository, image)
    assert container_image.is_there(engine(), image)
    assert not container_image.is_there(engine(), f"{repository}:old")


def test_another_image_can_be_the_base(box, monkeypatch):
    image, python = container_image.image_for(engine())
    monkeypatch.setenv("AGENTLIB_CONTAINER_IMAGE", image)
    derived, name = container_image.image_for(engine())
    assert derived != image and name == "python3"
    result = container.run_in(engine(), derived, python, "print(6 * 7)", {}, PATIENT)
    assert result.stdout == "42\n", result
    engine().call("rmi", derived)
    monkeypatch.setenv("AGENTLIB_CONTAINER_IMAGE", "localhost/nobody-has-this:1")
    with pytest.raises(EngineError, match="fetch it first"):
        container_image.image_for(engine())


def test_an_engine_that_is_missing_is_named_with_the_fix(monkeypatch):
    monkeypatch.setenv("AGENTLIB_CONTAINER_ENGINE", "no-such-engine --runtime x")
    probe = container._find.__wrapped__()[0]
    assert not probe.ok and probe.reason == "no-such-engine is not installed."
    assert "AGENTLIB_CONTAINER_ENGINE" in probe.fix


@pytest.mark.skipif(sys.platform != "linux", reason="the engine that is played here is a shell script for Linux")
def test_an_engine_that_encloses_nothing_is_found_out(tmp_path, monkeypatch):
    fake = tmp_path / "engine"
    fake.write_text(
        f"""#!/bin/sh
case "$*" in
    *container_inside.py*) exec {sys.executable} -I -B {Path(container.__file__).with_name("container_inside.py")} ;;
    import*) cat >/dev/null ;;
    *) echo fake 1.0 ;;
esac
""",
        encoding="utf-8",
    )
    fake.chmod(0o755)
    monkeypatch.setenv("AGENTLIB_CONTAINER_ENGINE", str(fake))
    probe = container._find.__wrapped__()[0]
    assert not probe.ok and "this is no container" in probe.reason


def test_each_layer_is_in_the_command():
    for podman in (False, True):
        known = Engine(("true",), podman)
        with container_engine.container_command(known, "image", ["x"], Policy(disk=7, inodes=9), 1) as (_, command):
            line = " ".join(command)
        for part in ("--network none", "--read-only", "--cap-drop ALL", "no-new-privileges", "--pull never"):
            assert part in line
        assert ("nr_inodes=12" in line) is not podman  # podman has it in a volume
    with container_engine.container_command(replace(known, cgroups=False), "i", ["x"], Policy(), 0) as (_, command):
        assert "--memory" not in command and "--ulimit" in command


def test_flags_from_the_setting_come_last(monkeypatch):
    monkeypatch.setenv("AGENTLIB_CONTAINER_FLAGS", "--label 'my own'")
    with container_engine.container_command(Engine(("true",), False), "i", ["x", "y"], Policy(), 0) as (_, command):
        assert command[-6:] == ["--label", "my own", "--entrypoint", "x", "i", "y"]


def test_a_policy_that_it_cannot_do_is_refused_in_words():
    assert Container().satisfies(Policy()) == ""
    assert "network" in Container().satisfies(Policy(network=("example.org:443",)))
    assert "read" in Container().satisfies(Policy(read=("/data",)))
