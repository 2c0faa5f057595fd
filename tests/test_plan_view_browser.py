"""The PlanView in a real JupyterLab, in a real browser: stepped, opened, edited and decided as a person would."""

import nbformat
import pytest
from shown import Shown
from test_plan_view import CITIES, GOAL, PlanView, hostile_view
from test_plan_view import shown as view_of
from test_stepper_browser import HOSTILE, code, open_notebook

pytestmark = pytest.mark.browser

__all__ = ["open_notebook"]  # a fixture

SETUP = f'''
import json
from agentlib import Call, FunctionCalling, PlanExecute, PlanView, Reply, ScriptedLLM, SimulatedExecutor, Stepper, tool

GOAL = {GOAL!r}

@tool(writes=True)
def pay(what: str) -> str:
    """Pay for something."""
    return f"paid {{what}}"

class Worker:
    """A model that answers its task in brackets, and pays when told to."""
    model = "worker"

    def chat(self, messages, *, tools=(), stop=()):
        line = next(message.content for message in messages if message.role == "user").splitlines()[0]
        if line.startswith("pay") and messages[-1].role == "user":
            return Reply("", "tool_calls", tool_calls=(Call("c", "pay", json.dumps({{"what": line}})),))
        return Reply(f"[{{line}}]")

def plan(**tasks):
    made = [{{"id": name, "instruction": said, "depends_on": after}} for name, (said, *after) in tasks.items()]
    return json.dumps({{"tasks": made}})

def shown(kind, *replies):
    agent = PlanExecute(ScriptedLLM(replies), FunctionCalling(Worker(), [pay]), pool=SimulatedExecutor({{"rome": 2}}))
    return kind(agent.steps(GOAL), agent)

TASKS = plan(rome=["look at Rome"], oslo=["look at Oslo"], report=["${{rome}}, ${{oslo}}", "rome"])
PAYING = plan(a=["pay rent"], b=["pay tax"])
'''
CELLS = [SETUP, "shown(PlanView, TASKS, 'Rome.', 'Oslo.')", "shown(Stepper, PAYING, 'ok')"]


@pytest.fixture(scope="module")
def page(open_notebook):
    """The notebook, all cells run."""
    page = open_notebook("plans.ipynb", [*map(code, CELLS)])
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    return page


@pytest.fixture
def view(page):
    """The PlanView, at its first step, with a kernel that has answered."""
    view = Shown.in_cell(page, 1)
    view.wait_for_kernel()
    view.root.locator(".als-tab").first.dispatch_event("click")
    view.key("Home")
    return view


def node(view, name):
    """A task in the graph of the step that is shown."""
    return view.part(".als-graph").get_by_role("button", name=f"{name}: ")


def open_task(view, name):
    """Open a task, unless it is open."""
    if node(view, name).get_attribute("aria-expanded") == "false":
        node(view, name).click()


def statuses(view):
    return [each.get_attribute("data-status") for each in view.part(".als-node").all()]


def test_the_graph_is_stepped_and_a_task_opens_as_it_was(view):
    view.says("There is no plan yet.")
    view.press("next")
    assert statuses(view) == ["todo", "todo", "todo"]
    view.key("ArrowRight")
    view.is_at("2 / 5")
    assert statuses(view) == ["running", "done", "todo"]
    view.part(
        ".als-opened",
    ).get_by_text("Press a task to open it.").wait_for()
    node(view, "oslo").click()
    opened = view.part(".als-opened")
    opened.get_by_text("[look at Oslo]").first.wait_for()
    view.press("last")
    opened.get_by_text("[look at Oslo]").first.wait_for()  # no later step changed it
    view.root.get_by_role("slider").fill("1")
    assert "[look at Oslo]" not in opened.inner_text()  # it was still to do
    assert "look at Oslo" in opened.inner_text()
    view.key("ArrowLeft")
    view.is_at("0 / 5")


def test_the_keyboard_reaches_and_opens_every_task(page, view):
    view.key("End")
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    for name in ("rome", "oslo", "report"):
        task = node(view, name)
        task.focus()
        page.keyboard.press("b")  # a command of the notebook, were it not kept here
        page.keyboard.press("Enter")
        assert task.get_attribute("aria-expanded") == "true"
        assert view.part(".als-opened summary b").first.inner_text() == name
    page.keyboard.press("Escape")
    assert view.part(".als-opened .als-task").count() == 0
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "report: done, after rome, oslo"
    page.keyboard.press("Space")
    view.part(".als-opened .als-task").wait_for()
    page.keyboard.press("ArrowLeft")
    view.is_at("4 / 5")
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells


def test_an_edited_result_forks_the_run_and_its_tasks_open_in_it(view):
    view.root.locator(".als-mark >> nth=2").click()
    view.edit("task-done", "It is closed.")
    view.root.get_by_role("button", name="fork at step 2").wait_for()
    view.wait_for_answer()
    view.press("last")
    view.says("Oslo.")
    open_task(view, "report")
    view.part(".als-opened").get_by_text("It is closed.").first.wait_for()
    open_task(view, "oslo")
    assert "Result, written by a person" in view.part(".als-opened").inner_text()


def test_each_of_two_waiting_calls_has_its_buttons(page):
    stepper = Shown.in_cell(page, 2)
    stepper.key("End")
    second = stepper.part(".als-call-waiting[data-id='b/c']")
    second.get_by_role("button", name="Approve").and_(second.locator("[aria-disabled=false]")).click()
    stepper.says("pay in task b was approved.")
    stepper.press("next")
    stepper.says("Task b is done.")


def saved(view):
    """A cell as it is committed: without the live view."""
    data = {kind: view._repr_mimebundle_()[kind] for kind in ("text/plain", "text/html")}
    return code("view", nbformat.v4.new_output("execute_result", data=data, execution_count=1))


def test_a_saved_view_steps_and_opens_tasks_without_a_kernel(browser):
    page = browser.new_page()
    page.set_content(hostile_view(PlanView, HOSTILE)._repr_mimebundle_()["text/html"])
    view = Shown(page.locator(".als"))
    view.press("last")
    view.part(".als-node >> nth=0").press("Enter")
    assert HOSTILE in view.part(".als-opened").inner_text()
    assert page.evaluate("window.harmed") is None
    page.close()


def test_an_untrusted_notebook_shows_the_tasks_of_each_step(open_notebook):
    page = open_notebook("untrusted-plan.ipynb", [saved(view_of(PlanView, CITIES, CITIES, "x"))], trusted=False)
    page.get_by_text("Task oslo failed; rome begins.").click()
    page.get_by_text("todo: report (after rome, oslo)").first.wait_for()
    assert page.locator(".als-bar").count() == 0
