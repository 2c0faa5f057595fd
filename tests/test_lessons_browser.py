"""Every lesson as a learner meets it: a working copy in JupyterLab, run as a whole, its first Stepper tried.

The standard run opens the first lesson; `test --all` opens every one. `--screenshots DIR` saves what a learner sees.
"""

import json
import re
from pathlib import Path

import pytest
from browser import ROOT, RUN_ALL, wait_until_idle
from screenshots import photograph
from shown import Shown

LESSONS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
EDIT = "This is what I write here instead."
IS_DRAWN = """() => [...document.querySelectorAll(".jp-Notebook img")].every((image) => image.complete)
    && !document.querySelector(".jp-Notebook pre > code.language-mermaid")"""

pytestmark = pytest.mark.browser


class Lesson:
    """A lesson that was opened, and run from top to bottom."""

    def __init__(self, lab, name: str):
        self.lab, self.path = lab, f"notebooks/{name}"
        self.before = self.file()
        self.page = lab.open(self.path)
        self.cell = self.first_stepper()

    def file(self) -> dict:
        """The notebook as it is saved."""
        return json.loads((self.lab.folder / self.path).read_bytes())

    def first_stepper(self) -> int | None:
        """The number of the first cell that shows a Stepper."""
        for number, cell in enumerate(self.before["cells"]):
            for output in cell.get("outputs", ()):
                if 'class="als"' in "".join(output.get("data", {}).get("text/html", "")):
                    return number
        return None

    def stepper(self) -> Shown:
        """The first Stepper, at its first step."""
        if self.cell is None:
            pytest.skip("this lesson has no Stepper")
        shown = Shown.in_cell(self.page, self.cell)
        shown.key("Home")
        return shown

    def run(self) -> list[dict]:
        """Run all cells as the menu does, and give those with code once all is done and drawn."""
        self.page.evaluate(RUN_ALL)
        self.page.wait_for_function(IS_DRAWN)
        cells = self.page.evaluate("jupyterapp.shell.currentWidget.content.model.toJSON().cells")
        return [cell for cell in cells if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]

    def restart(self) -> None:
        """Restart the kernel, and say yes when asked."""
        self.page.evaluate("void jupyterapp.commands.execute('kernelmenu:restart')")
        self.page.locator(".jp-Dialog .jp-mod-accept").click()
        self.page.locator(".jp-Dialog").wait_for(state="detached")
        wait_until_idle(self.page)

    def reopen(self) -> None:
        """Save the notebook, and load the page again."""
        self.page.evaluate("jupyterapp.commands.execute('docmanager:save')")
        self.page.reload()
        wait_until_idle(self.page)


@pytest.fixture(
    scope="module", params=[LESSONS[0], *(pytest.param(name, marks=pytest.mark.long) for name in LESSONS[1:])]
)
def lesson(request, lab):
    lab.said.clear()
    lesson = Lesson(lab, request.param)
    yield lesson
    lesson.page.close()


@pytest.fixture(autouse=True)
def no_error_in_the_console(lab):
    yield
    assert lab.said == []


def test_the_copy_can_be_stepped_before_anything_is_run(lesson):
    stepper = lesson.stepper()
    stepper.press("next")
    stepper.is_at(f"1 / {stepper.last()}")
    stepper.key("ArrowLeft")
    stepper.is_at(f"0 / {stepper.last()}")


def test_run_all_runs_every_cell_and_shows_no_error(lesson, request):
    cells = lesson.run()
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        kinds = [output.get("name", output["output_type"]) for output in cell["outputs"]]
        assert "stderr" not in kinds, cell["source"]
        assert ("error" in kinds) == ("raises-exception" in cell["metadata"].get("tags", [])), cell["source"]
    assert lesson.page.locator(".jp-Notebook .jupyter-widgets-error, .jp-Notebook .jp-mod-warning").count() == 0
    broken = "images => images.filter(image => !image.naturalWidth).map(image => image.src)"
    assert lesson.page.locator(".jp-Notebook img").evaluate_all(broken) == []
    if folder := request.config.getoption("--screenshots"):
        photograph(lesson.page, Path(folder))


def test_the_stepper_steps_both_ways_by_click_and_by_key(lesson):
    stepper = lesson.stepper()
    last = stepper.last()
    assert last > 0
    there = [stepper.step()]
    for number in range(1, last + 1):
        stepper.press("next")
        stepper.is_at(f"{number} / {last}")
        there.append(stepper.step())
    assert len(set(there)) == last + 1
    for number in range(last - 1, -1, -1):
        stepper.key("ArrowLeft")
        stepper.is_at(f"{number} / {last}")
        assert stepper.step() == there[number]
    for number in range(1, last + 1):
        stepper.key("ArrowRight")
        assert stepper.step() == there[number]
    for number in range(last - 1, -1, -1):
        stepper.press("back")
        assert stepper.step() == there[number]
    stepper.key("End")
    assert stepper.step() == there[-1]
    stepper.key("Home")
    assert stepper.step() == there[0]


def test_the_stepper_plays_to_the_end(lesson):
    stepper = lesson.stepper()
    stepper.root.locator(f".als-mark >> nth={max(0, stepper.last() - 2)}").click()
    stepper.press("play")
    stepper.root.get_by_role("button", name="Pause").wait_for()
    stepper.is_at(f"{stepper.last()} / {stepper.last()}")
    stepper.root.get_by_role("button", name="Play").wait_for()


def test_a_step_of_the_lesson_is_drawn_within_16_milliseconds(lesson):
    clock, work = lesson.stepper().time_clicks()
    print(f"click to drawn step: {clock:.1f} ms, the page itself worked {work:.1f} ms")
    assert work < 16


def test_every_control_has_a_name_for_those_who_cannot_see_it(lesson):
    stepper = lesson.stepper()
    for _ in range(stepper.last() + 1):
        tree = stepper.root.aria_snapshot()
        assert re.findall(r"^ *- '?(?:button|slider|textbox|link|checkbox|combobox|img)(?! \").*$", tree, re.M) == []
        stepper.key("ArrowRight")
    stepper.key("Home")  # where a run waits, next is called by what it leads to
    for name in ("First step", "Step back", "Play", "Next step", "Last step"):
        assert stepper.root.get_by_role("button", name=name, exact=True).count() == 1
    assert stepper.root.get_by_role("slider", name="Step", exact=True).count() == 1
    assert stepper.root.get_by_role("toolbar", name="Stepping").count() == 1


def test_the_tab_key_reaches_every_control_and_one_sees_where_one_is(lesson):
    stepper = lesson.stepper()
    stepper.wait_for_kernel()
    for _ in range(min(3, stepper.last() + 1)):
        assert stepper.reached() == [(name, True) for name in stepper.controls()]
        stepper.key("ArrowRight")


def test_a_fork_from_the_first_observation_is_a_new_branch(lesson):
    stepper = lesson.stepper()
    stepper.wait_for_kernel()
    runs = stepper.root.locator(".als-tab").count()
    for _ in range(stepper.last()):
        if stepper.part(".als-event[data-kind=observation] .als-edit").count():
            break
        stepper.press("next")
    else:
        pytest.skip("this run has no observation of its own that can be edited")
    at = stepper.root.locator(".als-count").inner_text().split(" /")[0]
    stepper.edit("observation", EDIT)
    tab = stepper.root.get_by_role("button", name=f"fork at step {at}")
    tab.wait_for()
    stepper.wait_for_answer()
    assert tab.get_attribute("aria-pressed") == "true"
    assert stepper.root.locator(".als-tab").count() == runs + 1
    assert stepper.root.locator(".als-line").is_hidden()
    stepper.is_at(f"{at} / {stepper.last()}")
    assert EDIT in stepper.part(".als-event[data-kind=observation]").last.inner_text()
    assert stepper.last() > int(at)  # the agent went on from there
    stepper.root.get_by_role("button", name="run 1").click()
    assert EDIT not in stepper.step()


def test_a_saved_lesson_is_stepped_without_its_kernel(lesson):
    stepper = lesson.stepper()
    stepper.press("next")
    first = stepper.step()
    lesson.restart()
    stepper = lesson.stepper()
    stepper.press("next")
    assert stepper.step() == first
    lesson.reopen()
    stepper = lesson.stepper()
    stepper.press("next")
    stepper.is_at(f"1 / {stepper.last()}")
    assert stepper.step().split() == first.split()
    assert lesson.page.locator(".jp-Notebook .jupyter-widgets-error").count() == 0
    now = [[list(output.get("data", {})) for output in cell.get("outputs", ())] for cell in lesson.file()["cells"]]
    then = [[list(output.get("data", {})) for output in cell.get("outputs", ())] for cell in lesson.before["cells"]]
    assert now == then
