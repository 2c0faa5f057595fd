"""A call that waits for a person, in a real JupyterLab, in a real browser: what one sees, presses and types."""

import pytest
from shown import Shown
from test_stepper_browser import code, open_notebook

from agentlib import Call, FunctionCalling, Reply, ScriptedLLM, Stepper, tool

pytestmark = pytest.mark.browser

__all__ = ["open_notebook"]  # a fixture

GOAL = "Pay 12.50 back for order A-1042, it came broken."
SETUP = f'''
from pathlib import Path
from agentlib import Call, FunctionCalling, Reply, ScriptedLLM, Stepper, tool

GOAL = {GOAL!r}

def run(name, *more):
    """A run that waits for a refund, which writes into a file of this name."""
    @tool
    def lookup(order: str) -> str:
        """Look up an order."""
        return f"{{order}} was delivered."

    @tool(writes=True)
    def refund(order: str, amount: float, reason: str) -> str:
        """Pay money back."""
        with open(name, "a") as file:
            file.write(f"{{order}} {{amount}}\\n")
        return f"Refunded {{amount}} for {{order}}."

    asks = [Call("call_1", "lookup", '{{"order": "A-1042"}}'),
            Call("call_2", "refund", '{{"order": "A-1042", "amount": 12.5, "reason": "it came broken"}}')]
    replies = [Reply("I look it up and pay it back.", "tool_calls", tool_calls=tuple(asks)), *more]
    return FunctionCalling(ScriptedLLM(replies), [lookup, refund])

def shown(name, *more):
    agent = run(name, *more)
    return Stepper(agent.steps(GOAL), agent)
'''
CELLS = [
    SETUP,
    "shown('approved', 'It is paid back.')",
    "shown('rejected', 'Then it is not.')",
    "shown('edited', 'Nine are paid back.')",
    "Stepper.live(run('live', 'It is paid back.'), GOAL)",
    "shown('unseen')",
]


@pytest.fixture(scope="module")
def page(open_notebook):
    """The notebook, all cells run."""
    page = open_notebook("approval.ipynb", [*map(code, CELLS)])
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    return page


def waiting(page, number: int) -> Shown:
    """The Stepper of a cell, at the step that waits, with a kernel that has answered."""
    stepper = Shown.in_cell(page, number)
    stepper.wait_for_kernel()
    stepper.key("End")
    stepper.part(".als-decide").wait_for()
    return stepper


def paid(lab, name: str) -> list[str]:
    path = lab.folder / name
    return path.read_text("utf-8").splitlines() if path.exists() else []


def press(stepper, name: str) -> None:
    stepper.part(".als-decide").get_by_role("button", name=name, exact=True).click()


def test_an_approved_call_runs_once(lab, page):
    stepper = waiting(page, 1)
    stepper.is_at("3 / 3")
    stepper.says('refund(order="A-1042", amount=12.5, reason="it came broken")')
    assert stepper.part(".als-how").count() == 0  # there are buttons instead
    twice = "button => { button.click(); button.click(); }"
    stepper.part(".als-approve").evaluate(twice)
    stepper.is_at("4 / 4")
    stepper.says("refund was approved.")
    stepper.wait_for_answer()
    assert paid(lab, "approved") == []  # the next step runs it
    assert stepper.root.locator(".als-ahead").inner_text() == "run refund"
    for text in ("Refunded 12.5 for A-1042.", "It is paid back."):
        stepper.press("next")
        stepper.says(text)
    stepper.wait_for_answer()
    assert paid(lab, "approved") == ["A-1042 12.5"]
    stepper.root.locator(".als-mark >> nth=3").click()
    assert stepper.part(".als-decide").count() == 0  # it was decided
    stepper.press("last")
    stepper.is_at("6 / 6")


def test_a_rejection_reaches_the_model(lab, page):
    stepper = waiting(page, 2)
    press(stepper, "Reject…")
    stepper.part(".als-decide textarea").fill("it was not broken")
    press(stepper, "Reject")
    stepper.says("refund was rejected.")
    stepper.press("next")
    stepper.says("Then it is not.")
    sent = stepper.part(".als-refs .als-message[data-role=tool]").last.inner_text()
    assert "it was not broken" in sent
    assert "call_2" in sent
    assert paid(lab, "rejected") == []


def test_changed_arguments_wait_again_and_a_mistake_loses_nothing(lab, page):
    stepper = waiting(page, 3)
    press(stepper, "Edit…")
    field = stepper.part(".als-decide textarea")
    assert field.input_value().startswith('{\n  "order": "A-1042",\n  "amount": 12.5')
    field.fill('{"order": "A-1042", "amount": "nine"}')
    press(stepper, "Use these arguments")
    line = stepper.root.locator(".als-line", has_text="these arguments do not fit refund")
    line.wait_for()
    assert "\n" not in line.inner_text()
    assert field.input_value() == '{"order": "A-1042", "amount": "nine"}'
    stepper.is_at("3 / 3")
    field.fill('{"order": "A-1042", "amount": 9, "reason": "it came broken"}')
    press(stepper, "Use these arguments")
    stepper.says("A person changed the arguments of refund.")
    stepper.is_at("4 / 4")
    stepper.says("Changed in the messages")
    assert paid(lab, "edited") == []
    press(stepper, "Approve")
    stepper.says("refund was approved.")
    stepper.press("next")
    stepper.says("Refunded 9.0 for A-1042.")
    assert paid(lab, "edited") == ["A-1042 9.0"]
    stepper.press("next")
    stepper.says("Nine are paid back.")
    sent = stepper.part(".als-refs .als-message[data-role=assistant]").inner_text()
    assert "amount=9" in sent
    assert "12.5" not in sent


def test_a_live_run_stops_at_the_call_and_goes_on_by_keyboard(lab, page):
    stepper = Shown.in_cell(page, 4)
    stepper.root.locator(".als-ahead", has_text="ask the model").wait_for()
    for count in range(1, 4):
        stepper.press("next")
        stepper.is_at(f"{count} / {count}")
    stepper.wait_for_answer()
    assert stepper.root.locator(".als-ahead").inner_text() == "decide"
    stepper.root.focus()
    for _ in range(3):
        stepper.page.keyboard.press("ArrowRight")  # goes to the decision, and decides nothing
    assert page.evaluate("document.activeElement.className") == "als-decide"
    assert not stepper.waits_for_kernel()
    stepper.is_at("3 / 3")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Reject…
    page.keyboard.type("no, b and m are not commands")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "Reject…"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("b")
    page.keyboard.press("Enter")  # Approve
    stepper.says("refund was approved.")
    stepper.wait_for_answer()
    stepper.key("ArrowRight")
    stepper.says("Refunded 12.5 for A-1042.")
    assert paid(lab, "live") == ["A-1042 12.5"]
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(CELLS)


def test_every_control_of_a_decision_has_a_name_and_shows_its_focus(page):
    stepper = waiting(page, 5)
    names = [name for name in stepper.controls() if "Approve" in name or "…" in name]
    assert names == ["BUTTON Approve", "BUTTON Reject…", "BUTTON Edit…"]
    press(stepper, "Edit…")
    assert stepper.root.get_by_role("textbox", name="The arguments, as JSON.").count() == 1
    reached = stepper.reached()
    assert all(drawn for _, drawn in reached)
    assert {"BUTTON Use these arguments", "BUTTON Cancel"} <= {name for name, _ in reached}
    group = stepper.part(".als-decide")
    assert group.get_attribute("aria-label").startswith("Waits for your decision: refund(order=")
    for control in group.locator("button, textarea").all():
        assert control.get_attribute("data-lm-suppress-shortcuts") == "true"


def test_without_its_kernel_nothing_can_be_decided(lab, page):
    stepper = waiting(page, 5)
    page.evaluate("void jupyterapp.commands.execute('kernelmenu:restart')")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    stepper.part(".als-approve[aria-disabled=true]").wait_for(state="attached")
    stepper.part(".als-approve").dispatch_event("click")
    stepper.root.locator(".als-line", has_text="this cell has to be run again").wait_for()
    stepper.is_at("3 / 3")
    assert paid(lab, "unseen") == []


def test_a_saved_page_says_how_to_decide(browser):
    @tool(writes=True)
    def refund(order: str) -> str:
        """Pay money back."""
        return order

    asks = Reply("", "tool_calls", tool_calls=(Call("call_1", "refund", '{"order": "A-1042"}'),))
    agent = FunctionCalling(ScriptedLLM([asks]), [refund])
    page = browser.new_page()
    page.set_content(Stepper(agent.steps(GOAL), agent)._repr_mimebundle_()["text/html"])
    stepper = Shown(page.locator(".als"))
    stepper.press("last")
    stepper.says('refund(order="A-1042")')
    stepper.says("state = agent.run(agent.approve(state))")
    assert stepper.part(".als-decide").count() == 0
    page.close()
