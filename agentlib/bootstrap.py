"""Make the environment that the lessons run in, or use one that already fits. Standard library only."""

import hashlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from agentlib.requirements import direct_requirements, misfits
from agentlib.setup_failures import explain, python_version

PIP_TO_COME = "pip is being installed\n"


class SetupError(Exception):
    """The set-up cannot go on. The message is one line that says why and what to do."""


@dataclass(frozen=True)
class Environment:
    """A Python that has what the lessons need, and the environment variables to run it with."""

    python: str
    variables: Mapping[str, str]


def prepare(root: Path, extras: Sequence[str] = ()) -> Environment:
    """Give an environment for the project at `root`: the running one if it fits, else `.venv`, made where needed."""
    venv = root / ".venv"
    if Path(sys.prefix).resolve() != venv.resolve():
        if not (root / "pyproject.toml").exists():
            raise SetupError(f"{root} is not a copy of the project. Run this in a folder made by git clone.")
        wrong = misfits(direct_requirements(root / "pyproject.toml", extras))
        if not wrong:
            path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
            return Environment(sys.executable, {**os.environ, "PYTHONPATH": path})
        if in_active_environment():
            more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
            say(f"The active environment does not fit ({', '.join(wrong[:3])}{more}): .venv is used instead.")
    if not is_ready(root, venv):
        with only_one(root / ".venv.lock"):
            if not is_ready(root, venv):  # another may have made it meanwhile
                make(root, venv)
    return activated(venv)


def run(environment: Environment, arguments: Sequence[str], folder: Path) -> None:
    """Become `python arguments` in `folder`. On Windows: run it, and end with its exit status."""
    command = [environment.python, *arguments]
    if os.name == "nt":  # there, exec would give the prompt back while the command still runs
        signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C reaches the command, which ends by itself
        sys.exit(subprocess.run(command, env=environment.variables, cwd=folder).returncode)
    os.chdir(folder)
    os.execve(environment.python, command, environment.variables)


def in_active_environment() -> bool:
    """Tell whether somebody chose the running Python: a venv, conda, or a hub."""
    conda = (Path(sys.prefix) / "conda-meta").is_dir()
    return sys.prefix != sys.base_prefix or conda or "JUPYTERHUB_USER" in os.environ


def say(text: str) -> None:
    """Print a line for the person who waits, apart from the output of the command that follows."""
    print(text, file=sys.stderr, flush=True)


# The environment in .venv


def is_ready(root: Path, venv: Path) -> bool:
    """Tell whether `.venv` was completed with this Python and this requirements.txt."""
    try:
        return is_whole(venv) and (venv / "agentlib-setup").read_text(encoding="utf-8") == stamp(root)
    except OSError:
        return False


def is_whole(venv: Path) -> bool:
    """Tell whether `.venv` was made from a Python of this version that is still there."""
    try:
        lines = (venv / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    settings = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    version = settings.get("version") or settings.get("version_info", "")  # the second: virtualenv and uv
    same = version.split(".")[:2] == python_version().split(".")
    return same and python_of(venv).exists() and Path(settings.get("home", "")).is_dir()


def stamp(root: Path) -> str:
    """Name what a completed set-up was made from."""
    lock = (root / "requirements.txt").read_bytes()
    return f"Python {python_version()}, requirements.txt {hashlib.sha256(lock).hexdigest()}\n"


def make(root: Path, venv: Path) -> None:
    """Make `.venv` where it is missing or broken, install what requirements.txt says, and stamp it when all is well."""
    try:
        if not (is_whole(venv) and has_pip(venv)):
            create(venv)
        (venv / "agentlib-setup").unlink(missing_ok=True)
        install(root / "requirements.txt", venv)
        site = Path(sysconfig.get_path("purelib", "venv", {"base": str(venv)}))
        # A relative path still holds after the folder was moved, and needs no encoding.
        (site / "agentlib-root.pth").write_text(os.path.relpath(root, site) + "\n", encoding="ascii")
        settle(venv / "share" / "jupyter" / "lab" / "settings")
        (venv / "agentlib-setup").write_text(stamp(root), encoding="utf-8")
    except OSError as error:
        raise SetupError(explain(str(error), venv)) from None
    say("Ready.")


def settle(settings: Path) -> None:
    """Let JupyterLab ask nobody for news: the question would cover the first output of a lesson."""
    settings.mkdir(parents=True, exist_ok=True)
    quiet = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    (settings / "overrides.json").write_text(json.dumps(quiet), encoding="utf-8")


def has_pip(venv: Path) -> bool:
    """Tell whether `.venv` has all of pip; it has not when its making was cut short."""
    with suppress(FileNotFoundError):
        if (venv / "agentlib-setup").read_text(encoding="utf-8") == PIP_TO_COME:
            return False
    return subprocess.run([*isolated(venv), "pip", "--version"], capture_output=True).returncode == 0


def create(venv: Path) -> None:
    """Make an empty `.venv` with pip."""
    if lacks := missing_module():
        raise SetupError(f"{lacks}, then run the command again.")
    if venv.exists():
        say(f"{venv} is incomplete, or its Python is another one or gone: it is made again.")
    say(f"Making {venv} with Python {python_version()}: some seconds.")
    python = getattr(sys, "_base_executable", sys.executable)  # not the one in the folder that is cleared
    check([python, "-m", "venv", "--clear", "--without-pip", venv], venv)
    (venv / "agentlib-setup").write_text(PIP_TO_COME, encoding="utf-8")
    check([*isolated(venv), "ensurepip"], venv)  # by itself, since venv hides what it says


def missing_module() -> str:
    """Say what to do where Python comes without the module that makes environments; nothing where it is there."""
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        return ""
    return (
        "this Python has no venv module, which makes environments. "
        f"On Debian or Ubuntu: sudo apt install python{python_version()}-venv"
    )


def check(command: Sequence[str | Path], venv: Path) -> None:
    """Run a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise SetupError(explain(done.stdout + done.stderr, venv))


def install(lock: Path, venv: Path) -> None:
    """Install exactly what the lock says, as wheels; pip's output goes to setup.log."""
    count = sum("==" in line for line in lock.read_text(encoding="utf-8").splitlines())
    say(f"Installing {count} packages (850 MB): half a minute, or some minutes where the network is slow.")
    options = "--no-deps --only-binary :all: --no-input --disable-pip-version-check --progress-bar off"
    command = [*isolated(venv), "pip", "install", *options.split(), "-r", lock]
    variables = {**os.environ, "PIP_USER": "0"}  # a person's own --user setting would fail here
    pip = subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace"
    )
    output = ""
    with pip:
        for line in pip.stdout:
            output += line
            if sys.stderr.isatty() and line.startswith("Collecting "):
                print(f"\r  {output.count('Collecting ')} of {count} ", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(end="\r", file=sys.stderr)
    with suppress(OSError):  # the disk may be full
        (venv / "setup.log").write_text(output, encoding="utf-8")
    if pip.returncode:
        raise SetupError(explain(output, venv))


def activated(venv: Path) -> Environment:
    """Give `.venv` as an environment, its programs first on the PATH."""
    python = python_of(venv)
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
    return Environment(str(python), {**variables, "VIRTUAL_ENV": str(venv), "PATH": path})


def python_of(venv: Path) -> Path:
    """Name an environment's Python."""
    return venv / "Scripts" / "python.exe" if os.name == "nt" else venv / "bin" / "python"


def isolated(venv: Path) -> list[str | Path]:
    """Begin a command that runs a module of the environment, out of reach of PYTHONPATH and the like."""
    return [python_of(venv), "-I", "-X", "utf8", "-m"]


# One set-up at a time


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Hold a lock on the file. The system releases it when its holder ends, however it ends."""
    try:
        file = path.open("a")
    except OSError as error:
        raise SetupError(explain(str(error), path)) from None
    with file:
        if not take(file):
            say("Another set-up is at work here: waiting for it.")
            while not take(file):
                time.sleep(0.2)
        yield


def take(file) -> bool:
    """Try to lock an open file. Where the file system has no locks, go on without."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True
