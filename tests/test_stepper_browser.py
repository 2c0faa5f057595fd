"""What a learner sees and presses: the Stepper in a real JupyterLab, in a real browser."""

import importlib.util
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

import nbformat
import nbformat.sign
import pytest

from agentlib import Message, ReAct, ScriptedLLM, State, Stepper

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
MISSING = [
    name
    for name, there in (("playwright", importlib.util.find_spec("playwright")), ("chromium", CHROMIUM))
    if not there
]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(MISSING) and os.environ.get("CI") != "true", reason=f"not installed: {', '.join(MISSING)}"),
]

GOAL = "Which university did the CEO of DeepMind attend?"
SETUP = f'''
from agentlib import ReAct, ScriptedLLM, Stepper

def search(query: str) -> str:
    """Look something up.

    Args:
        query: what to look up
    """
    return "Demis Hassabis leads DeepMind." if "CEO" in query else "He attended Cambridge."

REPLIES = [
    'Thought: Who leads it?\\nAction: search(query="DeepMind CEO")',
    'Thought: Where did he study?\\nAction: search(query="Demis Hassabis")\\nObservation: At MIT.',
    'Thought: I know it.\\nFinal Answer: Cambridge',
]
GOAL = {GOAL!r}
'''
WAIT = "import pathlib, time\nwhile not pathlib.Path('go').exists():\n    time.sleep(0.05)"
CELLS = [
    SETUP,
    "agent = ReAct(ScriptedLLM([*REPLIES, 'Thought: So it is said.\\nFinal Answer: Oxford']), [search])\n"
    "stepper = Stepper(agent.steps(GOAL), agent)\nstepper",
    "live = Stepper.live(ReAct(ScriptedLLM(REPLIES), [search]), GOAL)\nlive",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """One JupyterLab with settings of its own: (URL, folder of its notebooks)."""
    folder = tmp_path_factory.mktemp("lab")
    settings = {
        "notebook-extension/tracker": {"windowingMode": "none"},  # else cells out of sight are not drawn
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "docmanager-extension/plugin": {"autosave": False},
    }
    for name, values in settings.items():
        path = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
        environ[f"JUPYTER_{name}"] = str(folder / name.lower())
    environ |= {f"JUPYTERLAB_{name}_DIR": str(folder / name.lower()) for name in ("SETTINGS", "WORKSPACES")}
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    options = ("--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=", "--expose-app-in-browser")
    with (folder / "log").open("w") as log:
        command = (sys.executable, "-m", "jupyterlab", *options, f"--notebook-dir={notebooks}")
        server = subprocess.Popen(command, env=environ, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        _wait_for(f"http://127.0.0.1:{port}/api/status", server)
        yield f"http://127.0.0.1:{port}", notebooks
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(url, server):
    for _ in range(300):
        assert server.poll() is None, "JupyterLab ended"
        try:
            return urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.1)
    raise AssertionError("JupyterLab did not start")


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def open_notebook(lab, browser):
    """A function that opens a notebook of these cells in a page of its own, and fails the tests on a console error."""
    url, folder = lab
    said = []

    def open_it(name, cells, trusted=True):
        kernel = {"name": "python3", "display_name": "Python 3"}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(notebook, folder / name)
        if trusted:
            nbformat.sign.NotebookNotary(data_dir=str(folder.parent / "data_dir")).sign(notebook)
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.set_default_timeout(30_000)
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{url}/lab/workspaces/{Path(name).stem}/tree/{name}")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.locator("#jp-main-statusbar", has_text="| Idle").wait_for()  # else a dialog asks for a kernel
        page.said = said
        return page

    yield open_it
    assert said == []


def code(source, *outputs):
    return nbformat.v4.new_code_cell(source, outputs=list(outputs), execution_count=1 if outputs else None)


@pytest.fixture(scope="module")
def page(lab, open_notebook):
    """The live notebook, all cells run."""
    (lab[1] / "go").touch()
    page = open_notebook("live.ipynb", [*map(code, [*CELLS, WAIT])])
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    return page


class Shown:
    """One Stepper on a page, used as a person would."""

    def __init__(self, page, cell):
        self.page, self.root = page, page.locator(f".jp-Notebook .jp-Cell >> nth={cell}").locator(".als")
        self.root.wait_for()

    def press(self, name):
        self.root.locator(f".als-{name}").click()

    def press_in_vain(self, name):
        """Press what is marked as disabled, which `press` would wait for."""
        self.root.locator(f".als-{name}").dispatch_event("click")

    def key(self, key):
        self.root.press(key)

    def edit(self, kind, text):
        event = self.root.locator(f".als-step:not([hidden]) .als-event[data-kind={kind}]")
        event.get_by_role("button").click()
        event.get_by_role("textbox").fill(text)
        event.get_by_text("Fork from here").click()

    def says(self, text):
        self.root.locator(".als-step:not([hidden])", has_text=text).wait_for()

    def is_at(self, count):
        self.root.locator(".als-count", has_text=re.compile(f"^{count}$")).wait_for()

    def waits_for_kernel(self):
        return self.root.get_attribute("data-waiting") is not None


@pytest.fixture
def stepper(page):
    """The recorded run, at its first step, with a kernel that has answered."""
    stepper = Shown(page, 1)
    stepper.root.locator(".als-edit[aria-disabled=false]").first.wait_for(state="attached")
    stepper.root.locator(".als-tab").first.dispatch_event("click")
    stepper.key("Home")
    return stepper


def test_click_and_keyboard_step_both_ways(stepper):
    stepper.is_at("0 / 5")
    stepper.press("next")
    stepper.says("Who leads it?")
    stepper.press("last")
    stepper.says("Cambridge")
    stepper.press("back")
    stepper.is_at("4 / 5")
    for key, count in {"Home": "0 / 5", "ArrowRight": "1 / 5", "End": "5 / 5", "ArrowLeft": "4 / 5"}.items():
        stepper.key(key)
        stepper.is_at(count)
    stepper.root.locator(".als-mark >> nth=2").click()
    stepper.says("Demis Hassabis leads DeepMind.")
    stepper.root.get_by_role("slider").fill("3")
    stepper.is_at("3 / 5")


def test_a_request_is_shown_as_it_was_sent(stepper):
    stepper.root.locator(".als-mark >> nth=5").click()
    stepper.root.locator(".als-step:not([hidden]) .als-earlier summary").click()
    stepper.root.locator(".als-step:not([hidden]) .als-refs .als-message >> nth=5").wait_for()
    messages = stepper.root.locator(".als-step:not([hidden]) .als-refs .als-message .als-text").all_inner_texts()
    agent = ReAct(ScriptedLLM([]), [])
    assert len(messages) == 6
    assert messages[1:] == [
        agent.turn(GOAL).content,
        'Thought: Who leads it?\nAction: search(query="DeepMind CEO")',
        "Observation: Demis Hassabis leads DeepMind.",
        'Thought: Where did he study?\nAction: search(query="Demis Hassabis")',  # without what was discarded
        "Observation: He attended Cambridge.",
    ]
    assert messages[0].startswith("Answer the question.")


def test_keys_stay_in_the_stepper(page, stepper):
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    for target in ("next", "mark >> nth=1", "slider"):
        stepper.root.locator(f".als-{target}").focus()
        page.keyboard.press("b")
        page.keyboard.press("m")
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert page.locator(".jp-Notebook .jp-MarkdownCell").count() == 0


def test_every_control_has_a_name(stepper):
    stepper.press("last")
    unnamed = """root => [...root.querySelectorAll("button, input, textarea")]
        .filter(node => !node.getAttribute("aria-label") && !node.textContent.trim()).map(node => node.outerHTML)"""
    assert stepper.root.evaluate(unnamed) == []
    for name in ("First step", "Step back", "Play", "Next step", "Last step"):
        assert stepper.root.get_by_role("button", name=name, exact=True).count() == 1


def test_play_runs_to_the_end_and_pauses(stepper):
    stepper.root.locator(".als-mark >> nth=3").click()
    stepper.root.focus()
    stepper.key(" ")
    stepper.is_at("4 / 5")
    stepper.root.get_by_role("button", name="Pause").click()
    stepper.press("play")
    stepper.is_at("5 / 5")
    stepper.root.get_by_role("button", name="Play").wait_for()


def test_a_click_is_drawn_in_the_same_frame(stepper):
    # The click comes at the start of a frame; the message is handled after that frame was laid out and painted.
    times = stepper.root.evaluate("""async root => {
        const times = [];
        for (let i = 0; i < 20; i++) {
            const button = root.querySelector(i % 10 < 5 ? ".als-next" : ".als-back");
            times.push(await new Promise(resolve => requestAnimationFrame(() => {
                const start = performance.now(), channel = new MessageChannel();
                channel.port1.onmessage = () => resolve(performance.now() - start);
                button.click();
                channel.port2.postMessage(0);
            })));
        }
        return times;
    }""")
    print(f"click to drawn step: median {statistics.median(times):.1f} ms, most {max(times):.1f} ms")
    assert statistics.median(times) < 16


def test_an_edited_observation_makes_a_branch(page, stepper):
    stepper.root.locator(".als-mark >> nth=4").click()
    stepper.edit("observation", "He attended Oxford.")
    stepper.root.get_by_role("button", name="fork at step 4").wait_for()
    stepper.says("He attended Oxford.")
    stepper.press("last")
    stepper.says("So it is said.")
    stepper.press("first")
    stepper.is_at("0 / 5")
    stepper.root.get_by_role("button", name="run 1").click()
    stepper.press("last")
    stepper.says("I know it.")


def test_a_fork_that_fails_says_so_in_one_line(stepper):
    stepper.root.locator(".als-mark >> nth=3").click()
    stepper.edit("action", "Action: search(query='x')")  # the script holds no reply for what comes then
    stepper.root.locator(".als-line", has_text="the script holds 4 replies").wait_for()
    assert "\n" not in stepper.root.locator(".als-line").inner_text()


def test_a_live_run_goes_on_with_next_also_after_a_busy_kernel(lab, page, stepper):
    live = Shown(page, 2)
    live.root.locator(".als-ahead", has_text="ask the model").wait_for()
    live.press("next")
    live.says("Who leads it?")
    (lab[1] / "go").unlink()
    page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex = 3")  # the cell that waits for the file
    page.evaluate("void jupyterapp.commands.execute('notebook:run-cell')")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=busy]")
    stepper.press("next")
    stepper.is_at("1 / 5")
    press_twice = "next => { next.click(); next.click(); return next.closest('.als').hasAttribute('data-waiting') }"
    assert live.root.locator(".als-next").evaluate(press_twice) is True
    (lab[1] / "go").touch()
    live.says("Demis Hassabis leads DeepMind.")
    live.is_at("2 / 2")
    assert not live.waits_for_kernel()
    for text in ("Where did he study?", "He attended Cambridge.", "I know it."):
        live.press("next")
        live.says(text)
    live.press_in_vain("next")
    live.is_at("5 / 5")


def test_steps_go_on_when_the_kernel_is_new(page, stepper):
    page.evaluate("void jupyterapp.commands.execute('kernelmenu:restart')")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    stepper.root.locator(".als-edit[aria-disabled=true]").first.wait_for(state="attached")
    stepper.press("next")
    stepper.says("Who leads it?")
    stepper.press_in_vain("step:not([hidden]) .als-edit >> nth=0")
    stepper.root.locator(".als-line", has_text="this cell has to be run again").wait_for()


def test_a_request_that_was_rewritten_is_shown_as_it_was_sent(browser):
    first = State(GOAL, tuple(Message("user", text) for text in ("a", "b", "c")))
    second = first.add(Message("assistant", "d"))
    shorter = (Message("user", "a"), Message("user", "b and c, in short"), Message("user", "e"))
    third = replace(second, messages=(*shorter, Message("assistant", "f")))  # a guard cut it before the model was asked
    page = browser.new_page()
    page.set_content(Stepper([first, second, third])._repr_mimebundle_()["text/html"])
    page.click(".als-last")
    page.click(".als-step:not([hidden]) .als-earlier summary")
    page.wait_for_selector(".als-step:not([hidden]) .als-earlier .als-text")
    sent = page.locator(".als-step:not([hidden]) .als-column >> nth=0").locator(".als-text").all_inner_texts()
    assert sent == ["a", "b and c, in short", "e"]
    page.close()


HOSTILE = "</script></style><img src=x onerror='window.harmed = 1'><script>window.harmed = 2</script>"


def saved_cell():
    """A cell as it is committed: without the live view."""
    llm = ScriptedLLM([f"Thought: {HOSTILE}\nFinal Answer: {HOSTILE}"])
    bundle = Stepper(ReAct(llm, []).steps(HOSTILE))._repr_mimebundle_()
    data = {kind: bundle[kind] for kind in ("text/plain", "text/html")}
    return code("stepper", nbformat.v4.new_output("execute_result", data=data, execution_count=1))


def test_a_saved_notebook_steps_without_a_kernel(open_notebook):
    page = open_notebook("saved.ipynb", [saved_cell()])
    saved = Shown(page, 0)
    saved.press("next")
    saved.says("The model answers.")
    assert HOSTILE in saved.root.locator(".als-step:not([hidden]) .als-event[data-kind=answer]").inner_text()
    saved.key("Home")
    saved.is_at("0 / 1")
    assert page.evaluate("window.harmed") is None


def test_an_untrusted_notebook_opens_step_by_step(open_notebook):
    page = open_notebook("untrusted.ipynb", [saved_cell()], trusted=False)
    page.get_by_text("The model answers.").click()
    page.get_by_text("Answered, as it came").wait_for()
    assert page.locator(".als-bar").count() == 0
    assert page.evaluate("window.harmed") is None
