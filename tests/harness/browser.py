"""JupyterLab in a real browser, for the tests: one server and one browser for all of them.

The server is started by the lab command, in a copy of the project, so that the lessons are opened as working copies.
"""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # a page that needs the network says so
)  # fmt: skip
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "docmanager-extension/plugin": {"autosave": False},
}
OPTIONS = ("--no-browser", "--IdentityProvider.token=", "--expose-app-in-browser")
START = 120  # seconds
WINDOW = {"width": 1100, "height": 900}
PATIENCE = 60  # seconds; what a person sees at once may take long on a busy machine

# The kernel answers in order: when it has answered this, all cells have run, or were given up after an error.
RUN_ALL = """async () => {
    void jupyterapp.commands.execute('notebook:run-all-cells');
    const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
    await kernel.requestExecute({ code: '', silent: true, stop_on_error: false }).done;
}"""


@dataclass(frozen=True)
class Lab:
    """A JupyterLab and the browser that shows it; `said` collects what its pages report as errors."""

    url: str
    folder: Path  # the learner's: work/
    environ: dict[str, str]
    browser: object
    said: list[str] = field(default_factory=list)

    def trust(self, *notebooks: Path) -> None:
        """Have this Jupyter trust notebooks."""
        subprocess.run([sys.executable, "-m", "agentlib.trust", *map(str, notebooks)], env=self.environ, check=True)

    def open(self, name: str):
        """Open a notebook in a page of its own, and wait until its kernel is idle."""

        def hear(text: str) -> None:
            self.said.append(f"{name}: {text}")

        page = self.browser.new_page(viewport=WINDOW)
        page.set_default_timeout(PATIENCE * 1000)
        page.on("console", lambda message: hear(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: hear(str(error)))
        page.goto(f"{self.url}/lab/workspaces/{Path(name).stem}/tree/{name}")
        wait_until_idle(page)
        return page


def wait_until_idle(page) -> None:
    """Wait until the page's notebook is there and its kernel idle; before, running a cell opens a dialog."""
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.locator("#jp-main-statusbar", has_text="| Idle").wait_for()


def missing() -> list[str]:
    """Name what a browser test needs and this machine lacks."""
    there = {"playwright": importlib.util.find_spec("playwright"), "chromium": CHROMIUM}
    return [name for name, found in there.items() if not found]


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """Chromium, without a window. Where it is missing, tests are skipped; on CI they fail."""
    if absent := missing():
        give_up = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        give_up(f"not installed: {', '.join(absent)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(browser, tmp_path_factory) -> Iterator[Lab]:
    """The lab command in a copy of the project, with settings of its own."""
    folder = tmp_path_factory.mktemp("lab")
    project = folder / "project"
    copy_project(project)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    # A port that was free may be taken when the kernel comes to it; a file is its own.
    ipc = ["--KernelManager.transport=ipc"] if sys.platform == "linux" else []
    command = [sys.executable, "-m", "agentlib", "lab", "--", *OPTIONS, *ipc, f"--port={port}"]
    with tempfile.TemporaryDirectory(prefix="lab", ignore_cleanup_errors=True) as short:  # a socket's path must be
        environ = os.environ | own_folders(folder) | {"JUPYTER_RUNTIME_DIR": short}
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(command, env=environ, cwd=project, stdout=log, stderr=log)
        try:
            wait_for_server(f"http://127.0.0.1:{port}/api/status", server, folder / "log")
            yield Lab(f"http://127.0.0.1:{port}", project / "work", environ, browser)
        finally:
            server.terminate()
            try:
                server.wait(60)  # it ends the kernels of all tests first
            except subprocess.TimeoutExpired:
                server.kill()


def own_folders(folder: Path) -> dict[str, str]:
    """Keep the user's settings out, and the server's in: environment variables."""
    for name, values in SETTINGS.items():
        path = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    names = ("JUPYTER_CONFIG", "JUPYTER_DATA", "JUPYTERLAB_SETTINGS", "JUPYTERLAB_WORKSPACES")
    return {f"{name}_DIR": str(folder / name.split("_")[1].lower()) for name in names}


def copy_project(target: Path) -> None:
    """Copy what the lab command needs of the project."""
    for name in ("agentlib", "notebooks"):
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, target)


def wait_for_server(url: str, server: subprocess.Popen, log: Path) -> None:
    """Wait until a server answers."""
    end = time.monotonic() + START
    while time.monotonic() < end and server.poll() is None:
        try:
            return urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")
