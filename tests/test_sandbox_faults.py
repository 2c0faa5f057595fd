"""Ten ways in which sandboxes were found to be open, each tried on ours."""

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from sandboxes import LINUX, PATIENT, linux_only, needs, warm_pools

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


@pytest.fixture
def bubblewrap(pools):
    return pools(needs("bubblewrap")).run


def test_1_bubblewrap_is_started_by_no_root_and_the_kernel_s_settings_stay(bubblewrap, pools):
    pid = pools("bubblewrap")._server._process.pid
    users = Path(f"/proc/{pid}/status").read_text().split("Uid:")[1].split("\n")[0].split()
    assert "0" not in users
    code = """
for name in ("kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "vm/overcommit_memory"):
    try:
        open("/proc/sys/" + name, "rb+", 0).write(b"x")
        print("written", name)
    except OSError as error:
        print(type(error).__name__)
"""
    before = Path("/proc/sys/kernel/core_pattern").read_text()
    assert set(bubblewrap(code).stdout.split()) <= {"PermissionError", "OSError", "FileNotFoundError"}
    assert Path("/proc/sys/kernel/core_pattern").read_text() == before


def test_1_that_root_is_given_up_also_limits_the_number_of_tasks(bubblewrap):
    code = """
import threading, time
count = 0
try:
    for count in range(1000): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
except RuntimeError: print(count)
"""
    assert 50 < int(bubblewrap(code).stdout) < 80


def test_2_the_supervisor_s_memory_is_closed(bubblewrap):
    code = """
import os
assert os.getppid() == 1
for name in ("mem", "environ", "maps", "fd/0", "cwd"):
    try:
        os.readlink("/proc/1/" + name) if name in ("fd/0", "cwd") else open("/proc/1/" + name, "rb").read(1)
        print("open", name)
    except OSError as error:
        print(type(error).__name__)
print(open("/proc/self/status").read(4), end="")  # while its own is open
"""
    assert bubblewrap(code).stdout.split() == ["PermissionError"] * 5 + ["Name"]


def test_3_no_folder_but_its_own_can_be_filled(bubblewrap):
    code = """
import os
for folder, _, _ in os.walk("/"):
    if folder.startswith(("/proc", "/sandbox", "/tmp")):
        continue
    try:
        open(folder + "/x", "wb").write(b"x")
        print("written", folder)
    except OSError:
        pass
"""
    assert bubblewrap(code).stdout == ""


def test_4_memory_that_no_limit_counts_is_refused(warm):
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
try: os.memfd_create("x")
except OSError as error: print(error.errno)
print(libc.shmget(0, 1 << 20, 0o1600), libc.msgget(0, 0o1600))
import socket
for family in (socket.AF_VSOCK, socket.AF_UNIX, socket.AF_INET):
    try: socket.socket(family)
    except OSError as error: print(error.errno)
print(libc.syscall({keyctl}, 0, -3, 1))
"""
    code = code.replace("{keyctl}", {"x86_64": "250", "aarch64": "219"}[os.uname().machine])
    assert warm(code).stdout == "1\n-1 -1\n1\n1\n1\n-1\n"


def test_5_no_capability_is_left_after_the_fork_into_a_namespace(bubblewrap):
    code = """
about = dict(line.split(":", 1) for line in open("/proc/self/status"))
print([int(about["Cap" + name], 16) for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")], about["NoNewPrivs"].strip())
"""
    assert bubblewrap(code).stdout == "[0, 0, 0, 0, 0] 1\n"


def test_6_the_number_of_processes_is_limited_inside_where_they_are_allowed(backend):
    code = """
import os, time
count = 0
try:
    while count < 500:
        if os.fork() == 0: time.sleep(60)
        count += 1
except OSError: print(count, flush=True)
time.sleep(60)
"""
    result = run(code, policy=replace(PATIENT, processes=5), backend=backend)
    assert result.status == "killed" and "more than 5" in result.reason
    assert not result.stdout or int(result.stdout) < 100


def test_7_a_tree_of_folders_that_is_too_deep_is_collected_and_removed(warm):
    code = """
import os
try:
    for _ in range(3000):
        os.mkdir("d"); os.chdir("d")
except OSError: pass
"""
    result = warm(code)
    assert result.status in ("ok", "killed") and result.files == {}
    assert "too deep" in " ".join([*result.truncated, result.reason])
    assert warm("print('next')").stdout == "next\n"


def test_7_the_iterative_walk_and_removal_themselves(tmp_path):
    from agentlib.sandbox.inside import collecting

    box = tmp_path / "box"
    box.mkdir()
    start = os.open(".", os.O_RDONLY)
    os.chdir(box)
    try:
        for _ in range(2500):  # its path is longer than the kernel takes
            os.mkdir("d")
            os.chdir("d")
        Path("deepest").write_text("x")
    finally:
        os.fchdir(start)
        os.close(start)
    (box / "d" / "a").write_text("a")
    files, left_out = collecting.collect(str(box), 100, 100)
    assert files == {"d/a": b"a"} and len(left_out) == 1 and "too deep" in left_out[0]
    assert collecting.count(str(box), 10_000)[0] > 10_000
    collecting.remove(str(box))
    assert os.listdir(tmp_path) == []


def test_8_output_is_capped_while_it_is_read_and_a_flood_is_killed(backend):
    code = """
import os
while True: os.write({}, b"x" * 65536)
"""
    for stream in (1, 2):
        result = run(code.format(stream), policy=replace(PATIENT, output=10_000), backend=backend)
        assert result.status == "output_limit" and result.seconds < 30
        assert len(result.stdout) + len(result.stderr) == 10_000


def test_8_nothing_can_write_when_the_output_is_collected(backend):
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    for n in range(1000):
        os.write(1, b"late "); open("late", "a").write("x"); time.sleep(0.001)
os._exit(0)
"""
    result = run(code, policy=replace(PATIENT, processes=3), backend=backend)
    assert result.status == "ok" and result.seconds < 30


def test_9_nothing_that_was_planted_is_followed(backend, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    tmp_path.chmod(0o755)
    code = f"""
import os
os.symlink({str(secret)!r}, "link"); os.symlink({str(tmp_path)!r}, "folder"); os.symlink("/dev/zero", "device")
for make in (lambda: os.mkfifo("pipe"), lambda: os.link({str(secret)!r}, "hard")):
    try: make()
    except OSError: pass
open("real", "w").write("real")
"""
    result = run(code, policy=replace(PATIENT, read=(str(tmp_path),)), backend=backend)
    assert result.files == {"real": b"real"} and {"device: a link", "folder: a link"} < set(result.truncated)


def test_9_the_collector_itself_reads_regular_files_with_one_name_only(tmp_path):
    from agentlib.sandbox.inside import collecting

    (tmp_path / "plain").write_bytes(b"plain")
    (tmp_path / "twice").write_bytes(b"twice")
    os.link(tmp_path / "twice", tmp_path / "again")
    os.symlink("plain", tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    files, left_out = collecting.collect(str(tmp_path), 10, 1000)
    assert files == {"plain": b"plain"}
    assert left_out == [
        "again: a file with more than one name",
        "large: too large",
        "link: a link",
        "pipe: not a regular file",
        "twice: a file with more than one name",
    ]


def test_10_a_result_cannot_be_forged(warm):
    code = """
import json, os
report = json.dumps({"failed": "", "wait_status": 0, "reason": "", "left_out": [], "files": []}).encode()
for number in range(200):
    try: os.write(number, len(report).to_bytes(8, "big") + report + b"closed in")
    except OSError: pass
os._exit(7)
"""
    result = warm(code)
    assert (result.status, result.exit_code) == ("error", 7)
    killed = warm(f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})")
    assert (killed.status, killed.exit_code, killed.reason) == ("error", -9, "")


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root has more to give up")
def test_root_is_given_up_before_anything_else(tmp_path):
    from agentlib.sandbox import unprivileged

    closed = tmp_path / "closed"
    (closed / "needed").mkdir(parents=True)
    (closed / "needed" / "a").write_text("needed\n")
    (closed / "other").write_text("secret")
    closed.chmod(0o700)
    code = f"cat {closed}/needed/a; ls {closed}; id -u; cat /proc/self/status | grep CapEff"
    interpreter = os.path.realpath(sys.executable)
    command = unprivileged.command(interpreter, [str(closed / "needed")], ["/bin/sh", "-c", code])
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert shown.stdout.split() == ["needed", "needed", "65534", "CapEff:", "0000000000000000"], shown.stderr
    assert sorted(path.name for path in closed.iterdir()) == ["needed", "other"]  # the host sees its own as before


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root has more to give up")
def test_root_is_told_what_the_user_nobody_cannot_read(backend, tmp_path):
    secret = tmp_path / "data.csv"
    secret.write_text("1")
    secret.chmod(0o600)
    result = run("print()", policy=replace(PATIENT, read=(str(secret),)), backend=backend)
    assert result.status == "unavailable" and f"chmod -R o+rX {secret}" in result.reason


# -- more that was found later


def test_a_pipe_in_a_folder_that_may_be_read_takes_nothing(backend, tmp_path):
    """A mount that is read-only does not keep a program from writing into a named pipe on it."""
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    for path in (tmp_path, folder):
        path.chmod(0o777)
    os.mkfifo(folder / "pipe")
    (folder / "pipe").chmod(0o666)
    reading = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    code = f"""
import os
for mode in (os.O_WRONLY, os.O_RDWR):
    try: print(os.write(os.open("{folder}/pipe", mode | os.O_NONBLOCK), b"leaked"))
    except OSError as error: print(type(error).__name__)
"""
    try:
        result = run(code, policy=replace(PATIENT, read=(str(folder),)), backend=backend)
        assert result.stdout == "PermissionError\nPermissionError\n", result.stderr
        assert os.read(reading, 100) == b""
    finally:
        os.close(reading)


def test_a_program_may_write_to_tmp_where_it_has_one_of_its_own(bubblewrap):
    code = (
        "open('/tmp/plot.txt', 'w').write('x'); open('/dev/null', 'w').write('x'); print(open('/tmp/plot.txt').read())"
    )
    assert bubblewrap(code).stdout == "x\n"


def test_notes_about_the_host_s_files_are_not_read(backend, tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    tmp_path.chmod(0o755)
    try:
        os.setxattr(file, "user.note", b"secret")
    except OSError:
        pytest.skip("this file system keeps no notes about files")
    code = f"import os; print(os.getxattr({str(file)!r}, 'user.note'))"
    assert run(code, policy=PATIENT, backend=backend).stdout == ""


def test_a_crash_starts_no_program_of_the_host(warm):
    """Where the kernel pipes dumps into a program, a limit of 0 would not stop it; 1 does."""
    code = """
import os, resource
try: print(*[line.split()[4:6] for line in open("/proc/self/limits") if "core" in line])
except PermissionError: print("['1', '1']")  # landlock shows no /proc
for old, new in ((0, 0), (0, 1)):
    try: print("set", resource.setrlimit(resource.RLIMIT_CORE, (old, new)))
    except (PermissionError, ValueError): pass
os.abort()
"""
    result = warm(code)
    assert (result.exit_code, result.stdout) == (-signal.SIGABRT, "['1', '1']\n"), result.stderr


def test_names_that_would_fill_the_report_or_look_the_same_are_left_out(backend):
    code = """
import os
folder = os.sep.join(["\\udcff" * 250] * 11)
for name in ("a\\n", "a\\\\n"): open(name, "w").write("x")
os.makedirs(folder); os.chdir(folder)
for number in range(1500): open(f"{number:05}" + "\\udcfe" * 240, "w").close()
"""
    result = run(code, policy=replace(PATIENT, disk=1, inodes=2000), backend=backend)
    assert result.status in ("ok", "killed") and "too many long names" in str(result.truncated), result
    assert "look the same" in str(result.truncated)
