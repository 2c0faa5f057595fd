"""What can be checked with the standard library alone: this Python, the folder, the disk, the settings' text."""

import os
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import agentlib
from agentlib import bootstrap
from agentlib.bootstrap import Environment
from agentlib.doctor.finding import OK, PROBLEM, WARNING, Finding, command
from agentlib.doctor.settings import settings
from agentlib.requirements import NEWEST_TESTED, direct_requirements, misfits
from agentlib.setup_failures import free_megabytes

SETUP_MEGABYTES = 800  # what the set-up takes, and some room
WORK_MEGABYTES = 100


def find_environment(root: Path) -> tuple[Environment | None, Finding]:
    """Give the environment that `lab` would use, or none where `lab` would have to make it."""
    venv = root / ".venv"
    is_active = Path(sys.prefix).resolve() == venv.resolve()
    try:
        wrong = misfits(direct_requirements(root / "pyproject.toml"))
        if not wrong and not is_active:
            path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
            environment = Environment(sys.executable, {**os.environ, "PYTHONPATH": path})
            return environment, Finding("environment", OK, "the running Python has what the lessons need")
        ready = bootstrap.is_ready(root, venv)
    except (OSError, ValueError, KeyError, AttributeError) as error:  # ValueError: not TOML
        fix = "run `git status` and restore what is missing, or clone the project again"
        return None, Finding("environment", PROBLEM, f"this is no whole copy of the project: {error}", fix)
    if ready:
        return bootstrap.activated(venv), Finding("environment", OK, ".venv is complete")
    return None, unready(venv)


def unready(venv: Path) -> Finding:
    """Say in what way `.venv` is not complete, and what mends it."""
    if lacks := bootstrap.missing_module():
        return Finding("environment", PROBLEM, ".venv cannot be made", lacks)
    if not venv.exists():
        text = "there is none yet, so packages, widgets, kernel and model are not checked"
        return Finding("environment", WARNING, text, f"{command('lab')} makes it")
    if bootstrap.is_whole(venv):
        text = ".venv is incomplete, or was made for another requirements.txt"
        return Finding("environment", WARNING, text, f"{command('lab')} completes it")
    text = f".venv is broken, or was not made by Python {bootstrap.python_version()}, which runs this"
    return Finding("environment", WARNING, text, f"{command('lab')} makes it again")


def python(root: Path, environment: Environment | None) -> Iterator[Finding]:
    """Say what runs here. A Python that is too old never comes as far as this."""
    text = f"Python {platform.python_version()} on {platform.platform()}; agentlib {agentlib.__version__}"
    if sys.version_info[:2] > NEWEST_TESTED:
        newest = ".".join(map(str, NEWEST_TESTED))
        yield Finding("Python", WARNING, f"{text}. It is newer than {newest}, the newest one tested", f"use {newest}")
    else:
        yield Finding("Python", OK, text)


def disk(root: Path, environment: Environment | None) -> Iterator[Finding]:
    """Check that there is room for the set-up, or for work after it."""
    free = free_megabytes(root)
    if free < (WORK_MEGABYTES if environment else SETUP_MEGABYTES):
        wanted = "some files" if environment else f"{SETUP_MEGABYTES} MB"
        yield Finding("disk", PROBLEM, f"{free} MB are free", f"delete or move something, to have room for {wanted}")
    else:
        yield Finding("disk", OK, f"{free} MB are free")


def folder(root: Path, environment: Environment | None) -> Iterator[Finding]:
    """Check that the set-up, and a learner's work, can be written."""
    places = [path for path in (root, root / "work", root / "work" / "notebooks") if path.is_dir()]
    for place in places:
        name = "the project's folder" if place == root else place.relative_to(root).as_posix()
        try:
            with tempfile.TemporaryFile(dir=place, prefix=".doctor-"):
                pass
        except OSError as error:
            fix = "give yourself the right to write there, or clone the project to a folder of your own"
            yield Finding("folder", PROBLEM, f"{name} cannot be written: {error.strerror}", fix)
            return
    yield Finding("folder", OK, "work/ can be written" if len(places) > 1 else "work/ can be made")


def loopback(root: Path, environment: Environment | None) -> Iterator[Finding]:
    """Check that a browser on this machine can reach a server on it, as JupyterLab and its kernels need."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(2)
            with socket.create_connection(server.getsockname(), timeout=2):
                server.accept()[0].close()
    except OSError as error:
        fix = "allow programs to open ports on 127.0.0.1, in the firewall or the sandbox that this runs in"
        yield Finding("loopback", PROBLEM, f"no connection within this machine: {error}", fix)
    else:
        yield Finding("loopback", OK, "a port on 127.0.0.1 can be opened and reached")


def browser(root: Path, environment: Environment | None) -> Iterator[Finding]:
    """Look for what only the test of the lessons in a browser uses."""
    found = any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    yield Finding(
        "Chromium", OK, "found" if found else "not found: the browser test, which learners need not run, is left out"
    )


CHECKS = (python, disk, folder, loopback, browser, settings)
