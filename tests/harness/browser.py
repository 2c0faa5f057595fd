"""JupyterLab in a real browser, for the tests: one server and one browser for all of them.

The server is started by the lab command, in a copy of the project, so that the lessons are opened as working copies.
"""

import importlib.util
import json
import os
import re
import shutil
import socket
import statistics
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
    "notebook-extension/tracker": {"windowingMode": "none"},  # else cells out of sight are not drawn
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
# The click comes at the start of a frame; the message is handled after that frame was laid out and painted.
CLICK_TIMES = """async (root) => {
    const times = [];
    for (let i = 0; i < 20; i++) {
        const button = root.querySelector(i % 10 < 5 ? ".als-next" : ".als-back");
        times.push(await new Promise((resolve) => requestAnimationFrame(() => {
            const start = performance.now(), channel = new MessageChannel();
            channel.port1.onmessage = () => resolve(performance.now() - start);
            button.click();
            channel.port2.postMessage(0);
        })));
    }
    return times;
}"""

CONTROLS = """
    const controls = (root) => [...root.querySelectorAll("a, button, input, summary, textarea")]
        .filter((node) => node.checkVisibility({ visibilityProperty: true }));
    const named = (node) => `${node.tagName} ${node.ariaLabel || node.textContent.trim()}`;
    const focused = (root) => {
        const node = document.activeElement, look = getComputedStyle(node);
        const drawn = look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 2;
        return root.contains(node) ? [named(node), drawn && node.matches(":focus-visible")] : ["outside", false];
    };
"""


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


class Shown:
    """One Stepper on a page, used as a person would."""

    def __init__(self, root):
        self.root, self.page = root, root.page
        self.root.wait_for()

    @classmethod
    def in_cell(cls, page, number: int) -> "Shown":
        """The Stepper of a cell, counted from 0."""
        return cls(page.locator(f".jp-Notebook .jp-Cell >> nth={number}").locator(".als"))

    def part(self, selector: str):
        """A part of the step that is shown."""
        return self.root.locator(f".als-step:not([hidden]) {selector}")

    def press(self, name: str) -> None:
        self.root.locator(f".als-{name}").click()

    def press_in_vain(self, name: str) -> None:
        """Press what is marked as disabled, which `press` would wait for."""
        self.root.locator(f".als-{name}").dispatch_event("click")

    def key(self, key: str) -> None:
        self.root.press(key)

    def edit(self, kind: str, text: str) -> None:
        event = self.part(f".als-event[data-kind={kind}]")
        event.get_by_role("button").click()
        event.get_by_role("textbox").fill(text)
        event.get_by_text("Fork from here").click()

    def says(self, text: str) -> None:
        self.root.locator(".als-step:not([hidden])", has_text=text).wait_for()

    def is_at(self, count: str) -> None:
        self.root.locator(".als-count", has_text=re.compile(f"^{count}$")).wait_for()

    def step(self) -> str:
        """The step that is shown, as a person reads it."""
        return self.root.locator(".als-step:not([hidden])").inner_text()

    def last(self) -> int:
        """The number of the last step of the run that is shown."""
        return int(self.root.locator(".als-count").inner_text().split("/")[1])

    def wait_for_kernel(self) -> None:
        """Wait until the kernel has answered, so that steps can be edited."""
        self.root.locator(".als-edit[aria-disabled=false]").first.wait_for(state="attached")

    def wait_for_answer(self) -> None:
        """Wait until the kernel has done what it was asked for."""
        self.root.locator("xpath=self::*[not(@data-waiting)]").wait_for()

    def waits_for_kernel(self) -> bool:
        return self.root.get_attribute("data-waiting") is not None

    def controls(self) -> list[str]:
        """Give every control that can be seen, in order, by its role or tag and its name or text."""
        return self.root.evaluate(f"(root) => {{ {CONTROLS} return controls(root).map(named); }}")

    def reached(self) -> list[tuple[str, bool]]:
        """Go through the Stepper with the Tab key. Give each control that got the focus, and whether one sees that."""
        self.root.focus()
        seen = []
        for _ in self.controls():
            self.page.keyboard.press("Tab")
            seen.append(tuple(self.root.evaluate(f"(root) => {{ {CONTROLS} return focused(root); }}")))
        return seen

    def time_clicks(self) -> tuple[float, float]:
        """Milliseconds from a click to the drawn step: the median by the clock, and the mean of the page's own work.

        The work is processor time, so that it does not fail when other programs take their share; the best of five
        rounds, since what disturbs a measurement only adds to it.
        """
        devtools = self.page.context.new_cdp_session(self.page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

        def work() -> float:
            values = devtools.send("Performance.getMetrics")["metrics"]
            return next(1000 * value["value"] for value in values if value["name"] == "TaskDuration")

        clock, cost = [], []
        for _ in range(5):
            before = work()
            times = self.root.evaluate(CLICK_TIMES)
            cost.append((work() - before) / len(times))
            clock.append(statistics.median(times))
        devtools.detach()
        return min(clock), min(cost)


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
            server.wait(20)


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


def photograph(page, folder: Path) -> None:
    """Save what a person sees of a notebook, in two themes and two widths, page by page."""
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(page.evaluate("jupyterapp.shell.currentWidget.context.path")).stem
    page.evaluate("jupyterapp.shell.collapseLeft()")
    for theme, width in [("Light", 1280), ("Dark", 1280), ("Light", 700)]:
        page.set_viewport_size({"width": width, "height": 1000})
        page.evaluate(f"jupyterapp.commands.execute('apputils:change-theme', {{ theme: 'JupyterLab {theme}' }})")
        page.wait_for_selector(f"body[data-jp-theme-name='JupyterLab {theme}']", state="attached")
        page.wait_for_selector("#jupyterlab-splash", state="detached")
        page.evaluate("jupyterapp.commands.execute('notebook:render-all-markdown')")  # diagrams in the theme's colours
        paper = page.locator(".jp-WindowedPanel-outer")
        height, whole = paper.evaluate("(node) => [node.clientHeight - 40, node.scrollHeight]")
        for number, top in enumerate(range(0, whole, height)):
            paper.evaluate("(node, top) => { node.scrollTop = top; }", top)
            page.screenshot(path=folder / f"{name}-{theme.lower()}-{width}-{number:02}.png")
    page.set_viewport_size(WINDOW)
