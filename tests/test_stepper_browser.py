"""What a learner sees and presses: the Stepper in a real JupyterLab, in a real browser."""

from dataclasses import replace

import nbformat
import pytest
from shown import Shown

from agentlib import Message, ReAct, ScriptedLLM, State, Stepper

pytestmark = pytest.mark.browser

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
def open_notebook(lab):
    """A function that opens a notebook of these cells, and fails the tests on a console error."""

    def open_it(name, cells, trusted=True):
        kernel = {"name": "python3", "display_name": "Python 3"}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(notebook, lab.folder / name)
        if trusted:
            lab.trust(lab.folder / name)
        return lab.open(name)

    lab.said.clear()
    yield open_it
    assert lab.said == []


def code(source, *outputs):
    return nbformat.v4.new_code_cell(source, outputs=list(outputs), execution_count=1 if outputs else None)


@pytest.fixture(scope="module")
def page(lab, open_notebook):
    """The live notebook, all cells run."""
    (lab.folder / "go").touch()
    page = open_notebook("live.ipynb", [*map(code, [*CELLS, WAIT])])
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    return page


@pytest.fixture
def stepper(page):
    """The recorded run, at its first step, with a kernel that has answered."""
    stepper = Shown.in_cell(page, 1)
    stepper.wait_for_kernel()
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
    clock, work = stepper.time_clicks()
    print(f"click to drawn step: {clock:.1f} ms, the page itself worked {work:.1f} ms")
    assert work < 16


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
    live = Shown.in_cell(page, 2)
    live.root.locator(".als-ahead", has_text="ask the model").wait_for()
    live.press("next")
    live.says("Who leads it?")
    (lab.folder / "go").unlink()
    page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex = 3")  # the cell that waits for the file
    page.evaluate("void jupyterapp.commands.execute('notebook:run-cell')")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=busy]")
    stepper.press("next")
    stepper.is_at("1 / 5")
    press_twice = "next => { next.click(); next.click(); return next.closest('.als').hasAttribute('data-waiting') }"
    assert live.root.locator(".als-next").evaluate(press_twice) is True
    (lab.folder / "go").touch()
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
    saved = Shown.in_cell(page, 0)
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
