"""The commands on a machine that has a Python and nothing else: what a person sees when it works and when it cannot.

The parts are real: copies of the project with small locks, wheels in a local folder, environments, full disks.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
import tomllib
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from agentlib.bootstrap import PIP_TO_COME, python_of
from agentlib.requirements import within

ROOT = Path(__file__).parent.parent
BASE = getattr(sys, "_base_executable", sys.executable)  # a Python in no environment
posix = pytest.mark.skipif(os.name == "nt", reason="it needs the signals and links of POSIX")
BUILD = """
import os, sys, agentlib, small
model = os.environ["AGENTLIB_MODEL"]
print("|".join([sys.prefix, agentlib.__file__, small.VERSION, model, os.getcwd(), *sys.argv[1:]]))
sys.exit(sum(arg.isdecimal() and int(arg) for arg in sys.argv[1:]))
"""


@dataclass(frozen=True)
class Copy:
    """A copy of the project that needs one small package and runs a small build script."""

    folder: Path
    wheels: Path  # the package index

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    @property
    def python(self) -> Path:
        return python_of(self.venv)

    def write(self) -> "Copy":
        """Write the files as git clone does."""
        (self.folder / "agentlib").mkdir(parents=True)
        (self.folder / "notebooks").mkdir()
        for module in (ROOT / "agentlib").glob("*.py"):
            shutil.copy(module, self.folder / "agentlib")
        self.builds(BUILD)
        self.needs("small>=1,<3")
        self.locks("small==1.0")
        return self

    def builds(self, code: str) -> None:
        """Set the build script."""
        (self.folder / "notebooks" / "build.py").write_text(code)

    def needs(self, requirement: str) -> None:
        """Set the direct dependency."""
        text = f'[project]\ndependencies = ["{requirement}"]\n[project.optional-dependencies]\ndev = []\n'
        (self.folder / "pyproject.toml").write_text(text)

    def locks(self, line: str) -> None:
        """Set the lock."""
        (self.folder / "requirements.txt").write_text(f"# made for a test\n{line}\n")

    def start(self, *arguments: str, python: str = BASE, **variables: str) -> subprocess.Popen:
        """Start a command of agentlib, with no other package index than the folder of wheels."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "PYTHON", "CONDA", "JUPYTERHUB"))}
        pip = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}
        return subprocess.Popen(
            [python, "-m", "agentlib", *(arguments or ["build"])],
            cwd=self.folder,
            env={**kept, **pip, "AGENTLIB_MODEL": "expensive", **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )

    def run(self, *arguments: str, **options: str) -> subprocess.CompletedProcess:
        """Run a command of agentlib to its end."""
        return finish(self.start(*arguments, **options))


def finish(process: subprocess.Popen) -> subprocess.CompletedProcess:
    """Wait for a command."""
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def one_line(result: subprocess.CompletedProcess) -> str:
    """Give the one line with which a command that cannot go on ends."""
    assert result.returncode != 0
    assert "Traceback" not in result.stdout + result.stderr
    *before, last = result.stderr.splitlines()
    assert last.startswith("agentlib: ") and not any(line.startswith("agentlib: ") for line in before)
    return last


def kill(process: subprocess.Popen) -> None:
    """Kill a command and all that it started, as a power cut does."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def starts(python: str | None) -> bool:
    """Tell whether this is a Python that runs; a version manager's stand-in may not."""
    return python is not None and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0


def write_wheel(folder: Path, version: str, *, ballast: int = 0) -> None:
    """Write a wheel of the package 'small' that takes `ballast` bytes of disk."""
    info = f"small-{version}.dist-info"
    with zipfile.ZipFile(folder / f"small-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("small/__init__.py", f"VERSION = {version!r}\n")
        wheel.writestr("small/ballast", bytes(ballast))
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: small\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    write_wheel(folder, "1.0")
    write_wheel(folder, "2.0")
    write_wheel(folder, "2.1", ballast=30_000_000)
    return folder


@pytest.fixture
def fresh(tmp_path, wheels):
    """A copy in which no command was run yet; its path has a space and letters outside ASCII."""
    return Copy(tmp_path / "my lessons éł", wheels).write()


@pytest.fixture(scope="module")
def finished_folder(tmp_path_factory, wheels):
    """A copy after its first set-up, and what that printed."""
    copy = Copy(tmp_path_factory.mktemp("finished") / "my lessons éł", wheels).write()
    return copy, copy.run("build", "lesson")


@pytest.fixture
def finished(finished_folder, tmp_path, wheels):
    """The same, copied to another place, for one test to use up. Only pip itself is shared, to save time."""
    original = finished_folder[0].folder
    shutil.copytree(original, tmp_path / "moved", symlinks=True, ignore=shutil.ignore_patterns("pip"))
    (pip,) = original.glob(".venv/[lL]ib/**/site-packages/pip")
    (tmp_path / "moved" / pip.relative_to(original)).symlink_to(pip, target_is_directory=True)
    return Copy(tmp_path / "moved", wheels)


@contextmanager
def small_disk(folder: Path, megabytes: int):
    """Mount a disk of its own on a folder, which takes the rights of root on Linux."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(folder)]
    if not sys.platform.startswith("linux") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted only by root on Linux")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


# The set-up


def test_the_first_command_makes_an_environment_says_so_and_runs_in_it(finished_folder):
    copy, first = finished_folder
    assert first.returncode == 0, first.stderr
    said = first.stderr.splitlines()
    assert said[0] == f"Making {copy.venv} with Python {sys.version_info[0]}.{sys.version_info[1]}: some seconds."
    assert said[1].startswith("Installing 1 packages") and "minute" in said[1]
    assert said[2:] == ["Ready."]
    prefix, package, version, model, folder, *arguments = first.stdout.strip().split("|")
    assert Path(prefix) == copy.venv and Path(package).parent == copy.folder / "agentlib"
    assert (version, Path(folder), arguments) == ("1.0", copy.folder, ["lesson"])
    quiet = json.loads((copy.venv / "share/jupyter/lab/settings/overrides.json").read_text())
    assert quiet["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert model == "offline"  # although the settings name another


def test_the_second_command_starts_at_once(finished):
    result = finished.run()
    assert (result.returncode, result.stderr) == (0, "")


def test_the_exit_status_of_what_runs_is_passed_on(finished):
    assert finished.run("build", "7").returncode == 7
    assert finished.run("build", "--", "--check", "3").stdout.strip().endswith("|--check|3")


def test_the_set_up_costs_little_once_it_is_done(finished):
    def quickest(*command):
        """Give the best of five times, in seconds."""
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            subprocess.run(command, cwd=finished.folder, capture_output=True)
            times.append(time.perf_counter() - begin)
        return min(times)

    direct = quickest(finished.python, "notebooks/build.py")
    assert quickest(BASE, "-m", "agentlib", "build") - direct < 0.15


def test_agentlib_is_importable_in_any_folder_also_after_the_project_was_moved(finished, tmp_path):
    command = [finished.python, "-I", "-c", "import agentlib; print(agentlib.__file__)"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    assert Path(result.stdout.strip()).parent == finished.folder / "agentlib"


def test_a_changed_lock_is_noticed_and_installed(finished):
    finished.locks("small==2.0")
    result = finished.run()
    assert "Installing" in result.stderr and "Making" not in result.stderr
    assert "|2.0|" in result.stdout
    assert finished.run().stderr == ""


def test_a_lock_that_cannot_be_installed_is_not_taken_for_installed(finished):
    finished.locks("small==9.9")
    assert "no small==9.9 for Python" in one_line(finished.run())
    assert "small==9.9" in (finished.venv / "setup.log").read_text()
    finished.locks("small==1.0")  # as it was before; but what is installed is in doubt
    assert finished.run().stderr.endswith("Ready.\n")


@posix
def test_a_set_up_killed_while_the_environment_is_made_is_taken_up_again(fresh):
    process = fresh.start()
    while not list(fresh.venv.glob("lib/*/site-packages/pip")):
        time.sleep(0.005)
    kill(process)  # pip is there by half
    result = fresh.run()
    assert result.returncode == 0 and "made again" in result.stderr and "|1.0|" in result.stdout


@posix
def test_a_set_up_killed_while_it_downloads_is_taken_up_again(finished):
    finished.locks("small==2.0")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # an index that never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        process = finished.start(PIP_NO_INDEX="0", PIP_INDEX_URL=url)
        silent.accept()
        kill(process)
    finished.locks("small==1.0")  # what was there before may be half replaced: it counts no more
    result = finished.run()
    assert result.returncode == 0 and "Installing" in result.stderr


def test_two_set_ups_at_once_wait_for_each_other(finished):
    finished.locks("small==2.0")
    results = [finish(process) for process in [finished.start(), finished.start()]]
    assert [(r.returncode, "|2.0|" in r.stdout) for r in results] == [(0, True)] * 2
    assert sum("Installing" in r.stderr for r in results) == 1


def lose_python(copy: Copy) -> None:
    """Leave an environment as it is after its Python was uninstalled."""
    for python in (copy.venv / "bin").glob("python*"):
        python.unlink()
    copy.python.symlink_to("/no/such/python")


def change_version(copy: Copy) -> None:
    """Leave an environment as another version of Python makes it."""
    settings = copy.venv / "pyvenv.cfg"
    settings.write_text(re.sub(r"version = 3\.\d+", "version = 3.99", settings.read_text()))


def cut_short(copy: Copy) -> None:
    """Leave an environment as it is when the power fails before the last file of pip is written."""
    (copy.venv / "agentlib-setup").write_text(PIP_TO_COME)


@posix
@pytest.mark.parametrize("damage", [lose_python, change_version, cut_short])
def test_an_environment_that_is_incomplete_or_whose_python_is_another_or_gone_is_made_again(finished, damage):
    damage(finished)
    process = finished.start()
    assert process.stderr.readline().endswith("made again.\n")  # that this comes to a good end is tested above
    kill(process)


# An environment that is there


def test_an_environment_that_fits_is_used_instead_of_making_one(fresh):
    fresh.needs("pytest>=9,<10")
    fresh.builds("import sys, agentlib; print(sys.prefix, agentlib.__file__)")
    result = fresh.run(python=sys.executable)
    assert result.stdout == f"{sys.prefix} {fresh.folder / 'agentlib' / '__init__.py'}\n"
    assert result.stderr == "" and not fresh.venv.exists()


@pytest.mark.parametrize(
    ("requirement", "wrong"),
    [("pytest>=1,<2", f"pytest {pytest.__version__} is not <2"), ("small>=1,<3", "small is missing")],
)
def test_an_active_environment_that_does_not_fit_is_named_and_not_used(finished, requirement, wrong):
    if sys.prefix == sys.base_prefix:
        pytest.skip("the tests do not run in an environment")
    finished.needs(requirement)
    result = finished.run(python=sys.executable)
    assert result.stderr == f"The active environment does not fit ({wrong}): .venv is used instead.\n"
    assert result.stdout.startswith(str(finished.venv))


def test_dot_venv_may_itself_be_active_and_is_kept_up_to_date(finished):
    finished.locks("small==2.0")
    result = finished.run(python=str(finished.python))
    assert "Installing" in result.stderr and "|2.0|" in result.stdout


@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.lists(st.integers(0, 4), min_size=1, max_size=3))
def test_versions_compare_as_packaging_says(version, bound):
    version, bound = (".".join(map(str, parts)) for parts in (version, bound))
    for sign in (">=", "<"):
        assert within(version, sign + bound) == SpecifierSet(sign + bound).contains(version)


# When it cannot go on


@pytest.mark.parametrize("name", ["python3.6", "python3.7", "python3.8", "python3.9", "python3.10"])
def test_an_old_python_is_told_so(fresh, name):
    versions = Path.home() / ".pyenv" / "versions"
    candidates = [shutil.which(name), *(str(path) for path in sorted(versions.glob(f"{name[6:]}.*/bin/{name}")))]
    python = next(filter(starts, candidates), None)
    if python is None:
        pytest.skip(f"no {name} on this machine")
    line = one_line(fresh.run("lab", python=python))
    assert f"this is Python {name[6:]}" in line and "3.11 or newer" in line


@posix
def test_a_missing_venv_module_is_named_with_debians_package(fresh, tmp_path):
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    library = Path(sysconfig.get_path("stdlib"))
    copy = tmp_path / "home" / sys.platlibdir / version
    copy.mkdir(parents=True)
    for entry in library.iterdir():
        if entry.name != "ensurepip":
            (copy / entry.name).symlink_to(entry)
    line = one_line(fresh.run(PYTHONHOME=str(tmp_path / "home")))
    assert f"sudo apt install {version}-venv" in line


def test_an_index_that_cannot_be_reached_is_named(finished):
    finished.locks("small==2.0")
    with socket.socket() as closed:  # bound, but not listening
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/simple"
        line = one_line(finished.run(PIP_NO_INDEX="0", PIP_FIND_LINKS="", PIP_INDEX_URL=url, PIP_RETRIES="1"))
    assert "could not be reached" in line and str(finished.venv / "setup.log") in line


def test_a_package_without_a_wheel_is_named(finished, tmp_path):
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "built-1.0.tar.gz").write_bytes(b"")
    finished.locks("built==1.0")
    assert "has no built==1.0 for Python" in one_line(finished.run(PIP_FIND_LINKS=str(sources)))


def test_a_disk_too_small_for_an_environment_is_named(tmp_path, wheels):
    with small_disk(tmp_path / "disk", 4) as disk:
        copy = Copy(disk / "lessons", wheels).write()
        assert "the disk is full" in one_line(copy.run())


def test_a_disk_too_small_for_the_packages_is_named(finished, wheels, tmp_path):
    with small_disk(tmp_path / "disk", 20) as disk:
        copy = Copy(Path(shutil.copytree(finished.folder, disk / "lessons", symlinks=True)), wheels)
        copy.locks("small==2.1")
        assert "the disk is full" in one_line(copy.run())


def test_a_folder_that_cannot_be_written_is_named(tmp_path, wheels):
    with small_disk(tmp_path / "disk", 4) as disk:
        copy = Copy(disk / "lessons", wheels).write()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        line = one_line(copy.run())
    assert "could not be written" in line and str(copy.folder) in line


def test_agentlib_outside_a_copy_of_the_project_says_so(fresh):
    (fresh.folder / "pyproject.toml").unlink()
    assert "is not a copy of the project" in one_line(fresh.run())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lap"], "invalid choice: 'lap'"),
        ([], "required: COMMAND"),
        (["ask"], "required: question"),
        (["ask", "Why?", "--loud"], "unknown argument '--loud'"),
        (["ask", "Why?", "--max-iterations", "0"], "'0' is not a whole number from 1"),
        (["lab", "notebooks/build.py", "--port", "1"], "unknown argument '--port'"),
    ],
)
def test_a_wrong_command_line_is_answered_in_one_line(arguments, said):
    command = [sys.executable, "-m", "agentlib", *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert said in one_line(result) and result.returncode == 2 and result.stdout == ""


# The lessons in JupyterLab


@posix
def test_lab_serves_the_project_to_this_machine_only_and_ctrl_c_ends_it_without_a_question(fresh, tmp_path):
    import pty

    fresh.needs("jupyterlab>=4,<5")  # so that the environment of the tests fits
    terminal, keyboard = pty.openpty()
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    command = [sys.executable, "-m", "agentlib", "lab", "notebooks/build.py", "--", "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=fresh.folder, env=os.environ | folders, stdin=keyboard, stderr=subprocess.PIPE, encoding="utf-8"
    )
    last_resort = threading.Timer(20, process.kill)
    last_resort.start()
    log = ""
    for line in process.stderr:
        log += line
        if "/lab?token=" in line and log.count("/lab?token=") == 1:
            process.send_signal(signal.SIGINT)  # what Ctrl-C sends
    status = process.wait()
    last_resort.cancel()
    os.close(terminal)
    os.close(keyboard)
    assert status == 0, log
    assert set(re.findall(r"http://(.+?):\d+/lab", log)) == {"127.0.0.1"}
    assert f"Serving notebooks from local directory: {fresh.folder}\n" in log
    assert "Shutting down" in log and "Traceback" not in log


# A question in the terminal


def ask(*arguments: str) -> subprocess.CompletedProcess:
    """Ask the offline model."""
    environment = {**os.environ, "AGENTLIB_MODEL": "offline", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "agentlib.ask", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8")


def test_ask_prints_every_step_and_what_it_cost():
    result = ask("Is it warmer in Beijing or in Shanghai?")
    assert (result.returncode, result.stderr) == (0, "")
    lines = [line for line in result.stdout.splitlines() if line]
    kinds = [line.split(":")[0] for line in lines[:-1]]
    step = ["Thought", "Action", "Observation"]
    assert kinds == ["Question", *step, *step, "Thought", "Final Answer"]
    assert lines[2] == 'Action: weather(city="Beijing")'
    assert re.fullmatch(
        r"done \(final_answer\); model: offline; model calls: 3; \d+ tokens sent, \d+ received", lines[-1]
    )


def test_ask_says_why_there_is_no_answer():
    result = ask("Is it warmer in Beijing or in Shanghai?", "--max-iterations", "1")
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.splitlines()[-1].startswith("stopped (max_iterations); model: offline; model calls: 1;")


# The files


def locked() -> dict[str, Requirement]:
    """Read the lock."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    return {r.name: r for r in map(Requirement, (line for line in lines if not line.startswith("#")))}


def test_the_lock_is_exact_and_holds_every_direct_dependency_within_its_range():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock = locked()
    assert all(re.fullmatch(r"==[\w.]+", str(requirement.specifier)) for requirement in lock.values())
    for wanted in map(Requirement, project["dependencies"] + project["optional-dependencies"]["dev"]):
        version = str(lock[wanted.name].specifier)[2:]
        assert version in wanted.specifier, f"{wanted} is locked at {version}"
        assert all(within(version, str(limit)) for limit in wanted.specifier)  # the set-up reads every limit


def test_the_lock_is_for_windows_and_macos_too_and_names_no_place():
    lock = locked()
    assert lock["colorama"].marker.evaluate({"sys_platform": "win32"})
    assert lock["pywinpty"].marker.evaluate({"os_name": "nt"})
    assert lock["appnope"].marker.evaluate({"sys_platform": "darwin"})
    assert not lock["appnope"].marker.evaluate({"sys_platform": "linux"})
    assert "://" not in (ROOT / "requirements.txt").read_text()
    assert not {"lark", "rfc3987-syntax"} & lock.keys()


def test_the_licence_is_apache_2():
    text = (ROOT / "LICENSE").read_bytes()
    assert hashlib.md5(text).hexdigest() == "3b83ef96387f14655fc854ddc3c6bd57"


def test_import_agentlib_is_quick_and_loads_only_the_standard_library():
    code = (
        "import sys, time; before = set(sys.modules); begin = time.perf_counter(); import agentlib; "
        "print(time.perf_counter() - begin); print(*sorted({m.partition('.')[0] for m in set(sys.modules) - before}))"
    )
    runs = []
    for _ in range(3):
        command = [sys.executable, "-c", code]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
        seconds, modules = result.stdout.splitlines()
        runs.append(float(seconds))
        assert set(modules.split()) <= {"agentlib", *sys.stdlib_module_names}
    assert min(runs) < 0.06


def test_every_public_name_is_there_and_no_other():
    import agentlib

    assert set(agentlib.__all__) <= set(dir(agentlib))
    for name in agentlib.__all__:
        assert getattr(agentlib, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = agentlib.nothing
