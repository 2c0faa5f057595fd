"""The doctor: on a machine that is well it says so; where something is wrong, it names it and says what to do."""

import getpass
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

from agentlib import bootstrap, doctor
from agentlib.doctor.finding import Finding, command, run_checks, without_names
from agentlib.doctor.settings import settings
from agentlib.llm import read_settings

ROOT = Path(__file__).parent.parent
BASE = getattr(sys, "_base_executable", sys.executable)  # a Python in no environment
KEY = "sk-not-a-key-0123456789"
posix = pytest.mark.skipif(os.name == "nt", reason="it needs links and mounts of POSIX")
INSTALLED = {name: metadata.version(name) for name in ("ipykernel", "jupyterlab", "anywidget")}
LOCK = "# made for a test\n" + "".join(f"{name}=={version}\n" for name, version in INSTALLED.items())


@dataclass(frozen=True)
class Clone:
    """A copy of the project with a small lock, and the person's home folder."""

    folder: Path
    home: Path

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    def locks(self, text: str) -> None:
        """Write the lock, and take the environment for made from it."""
        (self.folder / "requirements.txt").write_text(text, encoding="utf-8")
        if self.venv.exists():
            digest = hashlib.sha256(text.encode()).hexdigest()
            stamp = f"Python {bootstrap.python_version()}, requirements.txt {digest}\n"
            (self.venv / "agentlib-setup").write_text(stamp, encoding="utf-8")

    def run(self, *arguments: str, python: str = BASE, **variables: str) -> subprocess.CompletedProcess:
        """Run the doctor as a person does who has only the variables given here."""
        dropped = ("AGENTLIB_", "OPENAI_", "PYTHON", "JUPYTER", "CONDA")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        environment = {**kept, "HOME": str(self.home), "USERPROFILE": str(self.home), **variables}
        program = arguments if "-c" in arguments else ["-m", "agentlib", "doctor", *arguments]
        reading = {"capture_output": True, "encoding": "utf-8"}
        result = subprocess.run([python, *program], cwd=self.folder, env=environment, **reading)
        assert "Traceback" not in result.stdout + result.stderr
        return result

    def inside(self, check: str, **variables: str) -> dict:
        """Run one of the inner checks alone, to save time, in the environment's Python; give its last finding."""
        code = f"from agentlib.doctor import inside; inside.CHECKS = [inside.{check}]; inside.main()"
        result = self.run("-P", "-c", code, str(self.folder), python=str(bootstrap.python_of(self.venv)), **variables)
        return json.loads(result.stdout)[-1]

    def findings(self, **options: str) -> dict[str, dict]:
        """Give what was found, by the name of the check; where there are several, the last."""
        return {finding["check"]: finding for finding in json.loads(self.run("--json", **options).stdout)}


def make_clone(folder: Path) -> Clone:
    """Write the project as git clone does."""
    shutil.copytree(ROOT / "agentlib", folder / "agentlib", ignore=shutil.ignore_patterns("__pycache__"))
    project = '[project]\ndependencies = ["no-package-of-this-name>=1,<2"]\n'
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    home = folder.parent / "home" / "ada.l"
    home.mkdir(parents=True)
    clone = Clone(folder, home)
    clone.locks(LOCK)
    return clone


@pytest.fixture
def fresh(tmp_path):
    """A clone in which no command was run yet."""
    return make_clone(tmp_path / "my lessons éł")


@pytest.fixture
def ready(fresh):
    """A clone with its environment: one of its own, into which the tests' packages are linked."""
    subprocess.run([BASE, "-m", "venv", "--without-pip", fresh.venv], check=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(fresh.venv)}))
    # Only a path, so that the .pth files there, which may lead to another agentlib, are not read.
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    (site / "root.pth").write_text(os.path.relpath(fresh.folder, site) + "\n", encoding="utf-8")
    extensions = fresh.venv / "share" / "jupyter" / "labextensions"
    for name in ("anywidget", "@jupyter-widgets/jupyterlab-manager"):
        shutil.copytree(Path(sys.prefix, "share", "jupyter", "labextensions", name), extensions / name)
    fresh.locks(LOCK)
    return fresh


# The whole


def test_all_is_well(ready):
    begin = os.times()
    result = ready.run()
    seconds = sum(os.times()[2:4]) - sum(begin[2:4])  # of the processor, so that a busy machine does not matter
    assert result.returncode == 0, result.stdout
    lines = result.stdout.splitlines()
    names = ["Python", "disk", "folder", "loopback", "Chromium", "settings", "environment", "packages", "widgets"]
    checks = [line[9:21].rstrip() for line in lines[:-2] if not line.startswith(" ")]
    assert [*dict.fromkeys(checks)] == [*names, "kernel", "model", "sandbox"]
    sandboxes = [line for line in lines if line[9:21].rstrip() == "sandbox"]
    assert all(line.startswith(("ok ", " ")) for line in lines[:-2])
    assert any(" works. " in line for line in sandboxes)
    assert lines[-1] == "All is well." and result.stderr == ""
    assert seconds < 3


def test_json_holds_versions_and_no_names_of_people(ready):
    (ready.folder / ".env").write_text(f"AGENTLIB_MODEL=offline\nOPENAI_API_KEY={KEY}\n")
    result = ready.run("--json", JUPYTER_PATH=str(ready.home / "jupyter"))
    found = json.loads(result.stdout)
    assert all(set(item) == {"check", "level", "text", "fix"} for item in found)
    text = {item["check"]: item["text"] for item in found}
    assert f"Python {sys.version.split()[0]} on " in text["Python"] and "agentlib 0." in text["Python"]
    assert text["packages"] == "all 3 are as in requirements.txt"
    assert text["model"] == "the offline model answers; OPENAI_API_KEY is set, and not used"
    for private in (KEY, "ada.l", str(ready.home), str(ready.folder)):
        assert private not in result.stdout


def test_a_problem_comes_with_its_fix_and_with_exit_status_1(ready):
    ready.locks("jupyterlab==0.1\nno-such-thing==1.0\nother==2 ; sys_platform == 'nowhere'\n")
    result = ready.run()
    assert result.returncode == 1
    version = INSTALLED["jupyterlab"]
    said = f"not as in requirements.txt: jupyterlab is {version}, not 0.1, no-such-thing is missing"
    fix = f"Fix: delete the folder .venv, then run {command('lab')}"
    assert f"problem  packages     {said}\n{' ' * 22}{fix}\n" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 problem."


def test_an_unknown_argument_is_refused(fresh):
    result = fresh.run("--loud")
    assert result.returncode == 2 and "'--loud'" in result.stderr


@posix
def test_a_reader_that_has_seen_enough_is_no_failure(fresh):
    program = [BASE, "-m", "agentlib", "doctor"]
    process = subprocess.Popen(program, cwd=fresh.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait() == 141
    process.stderr.close()


# The environment


def test_without_an_environment_it_says_how_to_get_one_and_makes_none(fresh):
    result = fresh.run()
    assert result.returncode == 0 and "warning  environment  there is none yet" in result.stdout
    assert re.search(r"Fix: \S+ -m agentlib lab makes it", result.stdout)
    assert result.stdout.splitlines()[-1] == "1 warning."
    assert not fresh.venv.exists() and not (fresh.folder / "work").exists()


def lose_python(clone: Clone) -> None:
    """Uninstall the Python that the environment was made from."""
    settings = clone.venv / "pyvenv.cfg"
    settings.write_text(re.sub("home = .*", "home = /no/such/folder", settings.read_text()))


def change_lock(clone: Clone) -> None:
    """Pull another lock."""
    (clone.folder / "requirements.txt").write_text("other==1.0\n")


@pytest.mark.parametrize(("damage", "said"), [(lose_python, "is broken"), (change_lock, "incomplete, or was made for")])
def test_an_environment_that_lab_will_mend_is_a_warning(ready, damage, said):
    damage(ready)
    found = ready.findings()["environment"]
    assert found["level"] == "warning" and said in found["text"] and "-m agentlib lab" in found["fix"]


def break_agentlib(clone: Clone) -> None:
    """Lose the way to agentlib."""
    for path in clone.venv.glob("[lL]ib/**/root.pth"):
        path.unlink()


def break_python(clone: Clone) -> None:
    """Put something in Python's place that does not start."""
    python = bootstrap.python_of(clone.venv)
    python.unlink()
    python.write_text("no program")
    python.chmod(0o755)


@posix
@pytest.mark.parametrize("damage", [break_agentlib, break_python])
def test_an_environment_that_cannot_run_the_checks_is_a_problem_not_a_traceback(ready, damage):
    damage(ready)
    result = ready.run("--json")
    found = json.loads(result.stdout)[-1]
    assert result.returncode == 1
    assert (found["check"], found["level"]) == ("environment", "problem") and "delete the folder .venv" in found["fix"]


@posix
def test_an_environment_that_hangs_is_given_up(ready, monkeypatch):
    hanging = ready.folder / "hanging"
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    hanging.chmod(0o755)
    monkeypatch.setattr(doctor, "SECONDS", 0.2)
    (found,) = doctor.look_inside(ready.folder, bootstrap.Environment(str(hanging), dict(os.environ)))
    assert found.level == "problem" and "did not finish" in found.text


def test_a_module_of_the_learners_does_not_break_the_doctor(ready):
    (ready.folder / "work" / "notebooks").mkdir(parents=True)
    (ready.folder / "work" / "notebooks" / "json.py").write_text("1 / 0")
    assert ready.run().stdout.endswith("All is well.\n")


def test_a_foreign_environment_that_fits_the_ranges_is_fine_and_said(fresh):
    (fresh.folder / "pyproject.toml").write_text('[project]\ndependencies = ["pytest>=9,<10"]\n')
    (fresh.folder / "requirements.txt").write_text("pytest==9.0.0.1\nno-such-thing==1.0\n")
    found = fresh.findings(python=sys.executable)
    assert found["environment"]["text"] == "the running Python has what the lessons need"
    assert found["packages"]["level"] == "ok"
    assert "2 of 2 packages are not as tested: pytest is" in found["packages"]["text"]


def test_an_incomplete_clone_is_named(fresh):
    (fresh.folder / "pyproject.toml").unlink()
    found = fresh.findings()["environment"]
    assert found["level"] == "problem" and "pyproject.toml" in found["text"]


# Widgets and kernel


def extensions_of(clone: Clone) -> Path:
    return clone.venv / "share" / "jupyter" / "labextensions"


def remove_extension(clone: Clone) -> None:
    """Delete the front end of anywidget."""
    shutil.rmtree(extensions_of(clone) / "anywidget")


def empty_extension(clone: Clone) -> None:
    """Lose the script that the page loads."""
    shutil.rmtree(extensions_of(clone) / "anywidget" / "static")


def garble_extension(clone: Clone) -> None:
    """Lose what describes the extension."""
    (extensions_of(clone) / "anywidget" / "package.json").write_text("{")


def disable_extension(clone: Clone) -> None:
    """Switch it off as JupyterLab's extension manager does."""
    config = clone.home / "config" / "labconfig"
    config.mkdir(parents=True)
    (config / "page_config.json").write_text('{"disabledExtensions": {"anywidget": true}}')


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (remove_extension, "anywidget is not installed"),
        (empty_extension, "anywidget is damaged"),
        (garble_extension, "anywidget is damaged"),
        (disable_extension, "anywidget is disabled"),
    ],
)
def test_a_missing_damaged_or_disabled_widget_front_end_is_a_problem(ready, damage, said):
    damage(ready)
    found = ready.inside("widgets", JUPYTER_CONFIG_DIR=str(ready.home / "config"))
    assert found["level"] == "problem" and said in found["text"] and found["fix"]


def test_the_doctor_and_jupyterlab_agree_on_what_is_disabled(ready):
    disable_extension(ready)
    code = "import jupyterlab_server.config as c; print(c.get_page_config([])['disabledExtensions'])"
    config = {"JUPYTER_CONFIG_DIR": str(ready.home / "config")}
    assert ready.run("-c", code, python=str(bootstrap.python_of(ready.venv)), **config).stdout == "['anywidget']\n"


def test_an_old_front_end_of_the_user_that_hides_the_environments_is_a_warning(ready):
    old = ready.home / "jupyter" / "labextensions" / "anywidget"
    shutil.copytree(extensions_of(ready) / "anywidget", old)
    description = json.loads((old / "package.json").read_text())
    (old / "package.json").write_text(json.dumps({**description, "version": "0.1.0"}))
    found = ready.inside("widgets", JUPYTER_PATH=str(ready.home / "jupyter"))
    assert found["level"] == "warning" and "0.1.0 hides" in found["text"]
    assert found["fix"] == f"delete the folder {Path('~/jupyter/labextensions/anywidget')}"


@pytest.mark.parametrize(
    ("kernel", "level", "said"),
    [
        ('{"argv": ["/no/such/python", "-m", "x"], "display_name": "x"}', "problem", "which is not there"),
        (json.dumps({"argv": [BASE, "-m", "x"], "display_name": "x"}), "problem", "starts another Python"),
        ('{"argv": ["python3.1", "-m", "x"], "display_name": "x"}', "problem", "which is not there"),
        ('{"argv": ["python", "-m", "x"], "display_name": "x"}', "ok", "is this Python"),
        ('{"argv": ', "problem", "damaged"),
        ("[]", "problem", "damaged"),
    ],
)
def test_a_kernel_that_is_another_python_or_gone_is_a_problem(ready, kernel, level, said):
    folder = ready.home / "jupyter" / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(kernel)
    found = ready.inside("kernel", JUPYTER_PATH=str(ready.home / "jupyter"))
    assert found["level"] == level and said in found["text"] and bool(found["fix"]) == (level != "ok")


# The model


@contextmanager
def provider(status: int, body: dict):
    """Serve one answer to everything, on loopback; give the address and the bodies received."""
    received = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://user:{KEY}@127.0.0.1:{server.server_port}/v1?key={KEY}", received
        server.shutdown()
        thread.join()


REPLY = {"choices": [{"message": {"role": "assistant", "content": "ready"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("status", "body", "level", "said", "fix"),
    [
        (200, REPLY, "ok", "it answered in ", ""),
        (401, {"error": {"message": f"bad key {KEY}"}}, "problem", "(wrong_key)", "correct OPENAI_API_KEY"),
        (404, {"error": {"message": f"no such model, {KEY}"}}, "problem", "(unknown_model)", "AGENTLIB_MODEL"),
        (400, {"error": {"message": "'stop' is not supported"}}, "problem", "(unsupported)", "AGENTLIB_OMIT=stop"),
        (500, {"error": {"message": "oh"}}, "warning", "(server_error)", "try again later"),
        (200, {"hello": 1}, "problem", "(bad_reply)", "check OPENAI_BASE_URL"),
    ],
)
def test_a_live_model_is_asked_once_and_its_error_is_the_fix(ready, status, body, level, said, fix):
    with provider(status, body) as (url, received):
        (ready.folder / ".env").write_text(f"AGENTLIB_MODEL=gpt-x\nOPENAI_API_KEY={KEY}\nOPENAI_BASE_URL={url}\n")
        found = ready.inside("model")
    assert (found["check"], found["level"]) == ("model", level)
    assert "gpt-x at 127.0.0.1; OPENAI_API_KEY is set" in found["text"] and said in found["text"]
    assert fix in found["fix"] and KEY not in str(found)
    assert len(received) == 1 and received[0]["model"] == "gpt-x"


def test_a_wrong_key_ends_with_exit_status_1_and_is_not_repeated(ready):
    with provider(401, {"error": {"message": f"bad key {KEY}"}}) as (url, _):
        result = ready.run(AGENTLIB_MODEL="gpt-x", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=url)
    assert result.returncode == 1 and "correct OPENAI_API_KEY" in result.stdout
    assert KEY not in result.stdout + result.stderr


def test_a_key_in_the_place_of_the_model_is_not_shown(ready):
    found = ready.inside("model", AGENTLIB_MODEL=KEY, OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert found["level"] == "problem" and "(unreachable)" in found["text"]
    assert "OPENAI_API_KEY is not set" in found["text"] and KEY not in str(found)


# Settings: a line counts as a mistake exactly when the lessons do not read from it what was meant


def check(folder: Path) -> list[Finding]:
    """Check the settings of a folder."""
    return [found for found in settings(folder, None) if found.level != "ok"]


@pytest.fixture
def no_settings(monkeypatch, tmp_path):
    """A folder with no settings from anywhere."""
    for name in ("AGENTLIB_MODEL", "AGENTLIB_OMIT", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


FINE = [
    "AGENTLIB_MODEL=gpt-x",
    "export AGENTLIB_MODEL=gpt-x",
    "  AGENTLIB_MODEL = gpt-x  ",
    'AGENTLIB_MODEL="gpt-x"',
    "AGENTLIB_MODEL='gpt-x'  # as the teacher said",
    "AGENTLIB_MODEL=gpt-x # not gpt-y",
    "\ufeffAGENTLIB_MODEL=gpt-x",
    "# a comment\r\n\r\nAGENTLIB_MODEL=gpt-x\r\nHOMEBREW_X=“1”",
]
WRONG = [
    ("AGENTLIB_MODLE=gpt-x", "AGENTLIB_MODLE is not a setting", "write AGENTLIB_MODEL"),
    ("AGENTLIB_Model=gpt-x", "AGENTLIB_Model is not a setting", "write AGENTLIB_MODEL"),
    ("AGENTLIB_STYLE=gpt-x", "AGENTLIB_STYLE is not a setting", "the settings are AGENTLIB_MODEL"),
    ("AGENTLIB_MODEL: gpt-x", "there is no =", "NAME=value"),
    ("set AGENTLIB_MODEL=gpt-x", "is no name", "nothing before the name"),
    ("$env:AGENTLIB_MODEL=gpt-x", "is no name", "nothing before the name"),
    ("AGENTLIB_MODEL=“gpt-x”", "typographic quotation marks", "leave quotation marks out"),
    ('AGENTLIB_MODEL="gpt-x', "is not closed", "leave quotation marks out"),
    ("AGENTLIB_MODEL=gpt-x please", "a blank within", "without blanks"),
    ("AGENTLIB_MODEL=gpt-x\nAGENTLIB_MODEL=gpt-y", "a second time", "delete one"),
]


@pytest.mark.parametrize("text", FINE)
def test_what_the_lessons_understand_is_no_mistake(no_settings, text):
    (no_settings / ".env").write_bytes(text.encode())
    assert read_settings() == {"AGENTLIB_MODEL": "gpt-x"}
    assert check(no_settings) == []


@pytest.mark.parametrize(("text", "said", "fix"), WRONG)
def test_what_the_lessons_do_not_understand_is_a_mistake_and_its_line_is_named(no_settings, text, said, fix):
    (no_settings / ".env").write_text(f"# first line\n{text}\n", encoding="utf-8")
    assert read_settings() != {"AGENTLIB_MODEL": "gpt-x"}
    (found,) = check(no_settings)
    assert found.level == "warning" and said in found.text and fix in found.fix
    assert found.text.startswith(f".env, line {3 if 'second' in said else 2}: ") and "gpt" not in found.text + found.fix


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{KEY}\n", "no ="),
        (f"{KEY}=\n", "no name"),
        ("OPENAI_API_BASE=http://x/v1\n", "write OPENAI_BASE_URL"),
        ("OPENAI_KEY=x\n", "write OPENAI_API_KEY"),
        ("OPENAI_ORGANIZATION=x\n", "is not a setting"),
        ("AGENTLIB_MODEL=m\nOPENAI_BASE_URL=localhost:11434/v1\n", "http://"),
        ("AGENTLIB_MODEL=m\nOPENAI_BASE_URL=https://x/v1/chat/completions\n", "leave /chat/completions out"),
        (f"OPENAI_API_KEY={KEY}\n", "the offline model answers"),
    ],
)
def test_other_mistakes_are_named_without_the_values(no_settings, text, said):
    (no_settings / ".env").write_text(text, encoding="utf-8")
    (found,) = check(no_settings)
    assert said in f"{found.text} {found.fix}" and KEY not in f"{found.text} {found.fix}"


def test_the_example_file_has_no_mistakes_as_it_is_and_with_every_comment_taken_away(no_settings):
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    (no_settings / ".env").write_text(text, encoding="utf-8")
    assert check(no_settings) == []
    names = re.findall(r"^# (\w+)=", text, re.MULTILINE)
    (no_settings / ".env").write_text("".join(f"{name}=http://x\n" for name in dict.fromkeys(names)))
    assert len(names) > 8 and check(no_settings) == []


def test_a_file_that_is_no_utf_8_is_a_problem(no_settings):
    (no_settings / ".env").write_text("AGENTLIB_MODEL=é\n", encoding="utf-16")  # as PowerShell writes it
    (found,) = check(no_settings)
    assert found.level == "problem" and "UTF-8" in found.fix


def test_a_variable_that_beats_the_file_is_named(no_settings, monkeypatch):
    (no_settings / ".env").write_text("AGENTLIB_MODEL=gpt-x\n")
    monkeypatch.setenv("AGENTLIB_MODEL", "offline")
    assert read_settings() == {"AGENTLIB_MODEL": "offline"}
    (found,) = check(no_settings)
    assert "AGENTLIB_MODEL is set in the environment too" in found.text


def test_a_file_under_another_name_or_in_another_place_is_named(no_settings):
    project = no_settings / "project"
    (project / "work" / "notebooks").mkdir(parents=True)
    (project / ".env.txt").write_text("AGENTLIB_MODEL=gpt-x\n")
    assert [found.fix for found in check(project)] == ["rename .env.txt to .env"]
    (no_settings / ".env").write_text("AGENTLIB_MODEL=gpt-x\n")
    assert "not the .env beside README.md" in check(project)[0].text
    (project / ".env").write_text("AGENTLIB_MODEL=gpt-x\n")
    assert check(project) == []
    (project / "work" / "notebooks" / ".env").mkdir()  # an environment of Python's; no settings
    assert check(project) == []


# The machine


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 4 MB with a clone, which takes the rights of root on Linux."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(disk)]
    if not sys.platform.startswith("linux") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted only by root on Linux")
    yield make_clone(disk / "lessons")
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_disk_that_is_full_or_cannot_be_written_is_a_problem(small_disk):
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk.folder.parent)], check=True)
    found = small_disk.findings()
    assert found["disk"]["level"] == "problem" and re.match(r"\d MB are free", found["disk"]["text"])
    assert found["folder"]["level"] == "problem" and "the project's folder cannot be written" in found["folder"]["text"]


def test_a_machine_without_loopback_is_a_problem(fresh):
    separate = ["unshare", "--net", sys.executable]
    if not shutil.which("unshare") or subprocess.run([*separate, "-c", ""], capture_output=True).returncode:
        pytest.skip("a network of its own can be made only by root on Linux")
    program = [*separate, "-m", "agentlib", "doctor", "--json"]
    done = subprocess.run(program, cwd=fresh.folder, capture_output=True, text=True)
    (found,) = [item for item in json.loads(done.stdout) if item["check"] == "loopback"]
    assert found["level"] == "problem" and "127.0.0.1" in found["fix"] and done.returncode == 1


def test_a_check_that_fails_is_a_finding_and_the_others_still_run():
    def broken():
        raise RuntimeError("this cannot be")

    found = list(run_checks([broken, lambda: [Finding("next", "ok", "ran")]]))
    assert [(item.check, item.level) for item in found] == [("broken", "problem"), ("next", "ok")]
    assert "RuntimeError: this cannot be" in found[0].text


def test_names_of_people_are_taken_out_of_paths_and_nothing_else():
    user, home = getpass.getuser(), str(Path.home())
    assert without_names(f"{home}/lessons/.env") == "~/lessons/.env"
    assert without_names(f"{home}other/x") == f"{home}other/x" or user in home
    assert without_names(f"/media/{user}/stick") == "/media/[user]/stick"
    assert without_names(f"the {user} of all things") == f"the {user} of all things"


# The sandbox


@pytest.mark.parametrize(
    ("holding", "levels", "asked"),
    [
        (("bubblewrap", "landlock"), ["ok", "ok"], ["bubblewrap", "landlock"]),
        (("landlock",), ["ok", "ok"], ["bubblewrap", "landlock"]),
        (("wasm",), ["ok"] * 4, ["bubblewrap", "landlock", "container", "wasm"]),
        ((), ["warning"] * 4, ["bubblewrap", "landlock", "container", "wasm"]),
    ],
)
def test_a_sandbox_that_holds_is_enough_and_without_one_each_says_how_to_get_it(monkeypatch, holding, levels, asked):
    from agentlib import sandbox
    from agentlib.doctor.sandboxes import sandboxes

    class Backend:
        def __init__(self, name):
            self.name = name

        def probe(self):
            return sandbox.Probe(self.name, self.name in holding, "This was found.", f"install {self.name}")

    every = [Backend(name) for name in ("bubblewrap", "landlock", "container", "wasm")]
    monkeypatch.setattr(sandbox, "all_backends", lambda: every)
    found = list(sandboxes(ROOT))
    assert [finding.level for finding in found] == levels and [finding.text.split()[0] for finding in found] == asked
    assert all(bool(finding.fix) == (not holding) for finding in found)
