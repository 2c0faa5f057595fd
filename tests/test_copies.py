"""Working copies: whatever a learner does in work/, and whatever a pull brings, nothing of the learner's is lost."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbclient import NotebookClient

from agentlib import copies

ROOT = Path(__file__).parent.parent
LESSON = "notebooks/02_react.ipynb"


def notebook(*cells: tuple[str, str]) -> bytes:
    """Write an executed notebook: for every cell, its code and what it prints."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A lesson", id="title")])
    for number, (code, printed) in enumerate(cells, 1):
        output = nbformat.v4.new_output("stream", text=printed)
        made.cells.append(
            nbformat.v4.new_code_cell(code, id=f"cell-{number}", execution_count=number, outputs=[output])
        )
    return nbformat.writes(made).encode()


FIRST = notebook(("print(1)", "1\n"), ("print(2)", "2\n"))
SECOND = notebook(("print(1)", "1\n"), ("print(2 + 1)", "3\n"))
THIRD = notebook(("print(1)", "1\n"), ("print(4)", "4\n"))


class Course:
    """A clone with one lesson and one picture, and a learner who works in it."""

    def __init__(self, root: Path) -> None:
        self.root, self.trusted = root, []
        self.publish(FIRST)
        self.publish(b"png-1", "notebooks/images/run.png")

    def publish(self, data: bytes | None, name: str = LESSON) -> None:
        """Do what a pull does to one file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink() if data is None else path.write_bytes(data)

    def lab(self) -> list[str]:
        """Do what lab does before JupyterLab starts."""
        self.trusted = []
        return copies.refresh(self.root, self.trusted.extend)

    def copy(self, name: str = LESSON) -> Path:
        return self.root / "work" / name

    def edit(self, change, name: str = LESSON) -> bytes:
        """Change the copy's notebook as JupyterLab writes it, and give its bytes."""
        content = json.loads(self.copy(name).read_bytes())
        change(content)
        self.copy(name).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return self.copy(name).read_bytes()

    def files(self) -> dict[str, bytes]:
        """Give every file in work/ but the manifest."""
        work = self.root / "work"
        found = {path.relative_to(work).as_posix(): path.read_bytes() for path in work.rglob("*") if path.is_file()}
        del found[copies.MANIFEST]
        return found


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


@pytest.fixture
def begun(course):
    """A course whose learner has opened it once."""
    course.lab()
    return course


def answer(content: dict) -> None:
    """Change the code of a cell."""
    content["cells"][1]["source"] = ["print('mine')"]


# What is copied


def test_the_first_lab_copies_lessons_exercises_and_their_files_and_nothing_else(course):
    wanted = {
        LESSON: FIRST,
        "notebooks/images/run.png": b"png-1",
        "exercises/02_react.ipynb": SECOND,
        "exercises/data/tasks.jsonl": b"{}",
        "exercises/data/tool.py": b"x = 1",
        "solutions/02_react.ipynb": THIRD,
    }
    others = ["notebooks/src/02_react.py", "notebooks/build.py", "notebooks/.ipynb_checkpoints/02_react.ipynb"]
    others += ["exercises/src/02_react.py", "notebooks/.DS_Store", "agentlib/state.py", "README.md"]
    for name, data in {**wanted, **dict.fromkeys(others, b"-")}.items():
        course.publish(data, name)
    said = course.lab()
    assert course.files() == wanted
    assert said == [
        "Copied to work/, where you can change everything: "
        "notebooks/02_react.ipynb, exercises/02_react.ipynb, solutions/02_react.ipynb."
    ]


def test_the_second_lab_does_nothing_and_says_nothing(begun):
    stamp = begun.copy(copies.MANIFEST).stat().st_mtime_ns
    assert begun.lab() == [] and begun.trusted == []
    assert begun.copy(copies.MANIFEST).stat().st_mtime_ns == stamp


def test_a_folder_without_lessons_gets_no_work_folder(tmp_path):
    assert copies.refresh(tmp_path, print) == []
    assert list(tmp_path.iterdir()) == []


def test_relative_links_and_pictures_of_all_lessons_hold_in_the_copies(tmp_path):
    for name, data in copies.sources(ROOT):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    copies.refresh(tmp_path, lambda paths: None)
    checked = 0
    for path in (tmp_path / "work").rglob("*.ipynb"):
        for cell in json.loads(path.read_bytes())["cells"]:
            if cell["cell_type"] == "markdown":
                text = "".join(cell["source"])
                for link in re.findall(r"\]\(([^)\s]+)", text) + re.findall(r'(?:src|href)="([^"]+)"', text):
                    checked += 1
                    if not re.match(r"[a-z]+:|#", link):
                        assert (path.parent / unquote(link.partition("#")[0])).exists(), f"{path.name}: {link}"
    assert checked


# What counts as a change


def run_again(content: dict) -> None:
    """Run everything, live: other counts, times, a widget's view and another picture, and the same text in pieces."""
    content["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    content["metadata"]["language_info"] = {"name": "python", "version": "3.13.0"}
    content["cells"].append({"cell_type": "code", "id": "x", "metadata": {}, "source": [], "outputs": []})
    for number, cell in enumerate(content["cells"][1:3], 7):
        cell["execution_count"] = number
        cell["metadata"] = {"execution": {"iopub.execute_input": "2026-01-01T00:00:00Z"}, "scrolled": True}
        (output,) = cell["outputs"]
        text = "".join(output["text"])
        cell["outputs"] = [{**output, "text": [text[0]]}, {**output, "text": [text[1:]]}]
        view = {copies.WIDGET_VIEW: {"model_id": "f00"}, "image/png": "AAAA"}
        cell["outputs"].append({"output_type": "display_data", "metadata": {}, "data": view})


def clear(content: dict) -> None:
    """Clear all outputs."""
    for cell in content["cells"][1:]:
        cell["outputs"], cell["execution_count"] = [], None


@pytest.mark.parametrize("change", [run_again, clear, lambda content: None], ids=["run", "cleared", "saved"])
def test_a_lesson_that_was_only_run_is_replaced_by_the_newer_version(begun, change):
    begun.edit(change)
    begun.publish(SECOND)
    assert begun.lab() == [f"Copied to work/, where you can change everything: {LESSON}."]
    assert begun.files() == {LESSON: SECOND, "notebooks/images/run.png": b"png-1"}


def add_cell(content: dict) -> None:
    """Add a note."""
    content["cells"].append({"cell_type": "markdown", "id": "x", "metadata": {}, "source": "I see."})


def live_output(content: dict) -> None:
    """Run the code with a model that costs money."""
    content["cells"][1]["outputs"][0]["text"] = ["what a real model said\n"]


def failure(content: dict) -> None:
    """Show an error that the lesson does not show."""
    content["cells"][1]["outputs"] = [{"output_type": "error", "ename": "E", "evalue": "x", "traceback": []}]


def delete_cell(content: dict) -> None:
    """Delete a cell."""
    del content["cells"][1]


def swap_cells(content: dict) -> None:
    """Move a cell."""
    content["cells"][1:3] = content["cells"][2:0:-1]


CHANGES = [answer, add_cell, delete_cell, swap_cells, live_output, failure]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_lesson_that_was_changed_is_kept_and_the_newer_version_put_beside_it(begun, change):
    mine = begun.edit(change)
    begun.publish(SECOND)
    said = begun.lab()
    assert said == [f"work/{LESSON} has changes of yours; the newer version is beside it: 02_react.new.ipynb."]
    assert begun.copy().read_bytes() == mine
    assert begun.copy("notebooks/02_react.new.ipynb").read_bytes() == SECOND
    assert begun.lab() == []  # said once


@pytest.mark.parametrize("damage", [b"", b"not JSON", b'{"cells": 3}', b'{"cells": [{}]}', b"\xff\xfe", b"[" * 10_000])
def test_a_copy_that_is_no_notebook_any_more_counts_as_changed(begun, damage):
    begun.copy().write_bytes(damage)
    begun.publish(SECOND)
    begun.lab()
    assert begun.copy().read_bytes() == damage
    assert begun.copy("notebooks/02_react.new.ipynb").read_bytes() == SECOND


def test_other_files_are_compared_byte_by_byte(begun):
    begun.publish(b"png-2", "notebooks/images/run.png")
    assert begun.lab() == [] and begun.copy("notebooks/images/run.png").read_bytes() == b"png-2"
    begun.copy("notebooks/images/run.png").write_bytes(b"mine")
    begun.publish(b"png-3", "notebooks/images/run.png")
    (said,) = begun.lab()
    assert said.endswith("beside it: run.new.png.")
    assert begun.copy("notebooks/images/run.png").read_bytes() == b"mine"
    assert begun.copy("notebooks/images/run.new.png").read_bytes() == b"png-3"


def test_a_lesson_run_by_jupyter_on_this_machine_is_unchanged(tmp_path, monkeypatch):
    content = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("import sys\nprint('out')\nprint('err', file=sys.stderr)\n{'a': [1, 2]}"),
            nbformat.v4.new_code_cell("from IPython.display import HTML\nHTML('<b>x</b>')"),
        ]
    )
    NotebookClient(content, kernel_name="python3").execute()
    course = Course(tmp_path)
    course.publish(nbformat.writes(content).encode())
    course.lab()
    again = nbformat.read(course.copy(), as_version=4)
    NotebookClient(again, kernel_name="python3").execute()
    nbformat.write(again, course.copy())
    course.publish(SECOND)
    course.lab()
    assert course.copy().read_bytes() == SECOND


# What happens over time


def test_a_second_newer_version_replaces_the_first_one_beside_unless_that_was_changed_too(begun):
    mine = begun.edit(answer)
    begun.publish(SECOND)
    begun.lab()
    begun.publish(THIRD)
    begun.lab()
    assert begun.files() == {
        LESSON: mine,
        "notebooks/02_react.new.ipynb": THIRD,
        "notebooks/images/run.png": b"png-1",
    }
    also_mine = begun.edit(answer, "notebooks/02_react.new.ipynb")
    begun.publish(FIRST)
    assert begun.lab()[0].endswith("beside it: 02_react.new2.ipynb.")
    assert begun.copy("notebooks/02_react.new.ipynb").read_bytes() == also_mine
    assert begun.copy("notebooks/02_react.new2.ipynb").read_bytes() == FIRST


def test_the_version_beside_does_not_come_back_once_it_was_deleted(begun):
    begun.edit(answer)
    begun.publish(SECOND)
    begun.lab()
    begun.copy("notebooks/02_react.new.ipynb").unlink()
    assert begun.lab() == [] and not begun.copy("notebooks/02_react.new.ipynb").exists()


def test_the_version_beside_may_take_the_place_of_the_old_one(begun):
    begun.edit(answer)
    begun.publish(SECOND)
    begun.lab()
    begun.copy("notebooks/02_react.new.ipynb").replace(begun.copy())
    begun.publish(THIRD)
    begun.lab()
    assert begun.files() == {LESSON: THIRD, "notebooks/images/run.png": b"png-1"}


def test_a_renamed_copy_stays_and_a_clean_one_is_made(begun):
    mine = begun.edit(answer)
    begun.copy().rename(begun.copy("notebooks/mine.ipynb"))
    begun.lab()
    assert begun.copy().read_bytes() == FIRST and begun.copy("notebooks/mine.ipynb").read_bytes() == mine
    assert begun.trusted == [begun.copy()]


def test_a_copy_of_a_lesson_that_is_gone_stays_and_this_is_said_once(begun):
    mine = begun.edit(answer)
    begun.publish(None)
    assert begun.lab() == [f"work/{LESSON} is no longer one of the lessons; your copy stays."]
    assert begun.lab() == []
    assert begun.copy().read_bytes() == mine
    begun.publish(SECOND)  # it comes back
    begun.lab()
    assert begun.copy().read_bytes() == mine
    assert begun.copy("notebooks/02_react.new.ipynb").read_bytes() == SECOND


def test_a_learners_own_file_is_not_overwritten_by_a_lesson_of_the_same_name(begun):
    begun.copy("notebooks/03_new.ipynb").write_bytes(b"mine")
    begun.publish(THIRD, "notebooks/03_new.ipynb")
    begun.lab()
    assert begun.copy("notebooks/03_new.ipynb").read_bytes() == b"mine"
    assert begun.copy("notebooks/03_new.new.ipynb").read_bytes() == THIRD


@pytest.mark.parametrize(
    "manifest", [None, b"", b"{", b"[]", b'{"files": []}', b'{"files": {"notebooks/02_react.ipynb": {}}}', b"\xff"]
)
def test_a_lost_or_broken_manifest_loses_nothing(begun, manifest):
    mine = begun.edit(answer)
    begun.copy(copies.MANIFEST).unlink()
    if manifest is not None:
        begun.copy(copies.MANIFEST).write_bytes(manifest)
    begun.lab()
    assert begun.copy().read_bytes() == mine
    begun.publish(SECOND)
    begun.lab()
    assert begun.copy().read_bytes() == mine
    assert begun.copy("notebooks/02_react.new.ipynb").read_bytes() == SECOND


def test_a_lost_manifest_is_made_again_from_copies_that_were_only_run(begun):
    ran = begun.edit(run_again)
    begun.copy(copies.MANIFEST).unlink()
    assert begun.lab() == [] and begun.copy().read_bytes() == ran
    begun.publish(SECOND)
    begun.lab()
    assert begun.copy().read_bytes() == SECOND


def test_a_refresh_that_was_cut_short_is_done_again_trust_included(course):
    def stopped(paths):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copies.refresh(course.root, stopped)
    assert course.lab() == [] and course.trusted == [course.copy()]
    assert course.files()[LESSON] == FIRST


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["lab", "first", "second", "third", "withdraw", "answer", "run", "delete", "lose manifest"]),
        max_size=12,
    )
)
def test_whatever_happens_in_whatever_order_no_work_of_the_learner_is_lost(tmp_path_factory, events):
    course = Course(tmp_path_factory.mktemp("course"))
    versions = {"first": FIRST, "second": SECOND, "third": THIRD}
    mine = set()
    for number, event in enumerate([*events, "lab"]):
        there = course.copy().exists()
        if event == "lab":
            course.lab()
        elif event in versions:
            course.publish(versions[event])
        elif event == "withdraw" and (course.root / LESSON).exists():
            course.publish(None)
        elif event == "answer" and there:
            mine.discard(course.copy().read_bytes())  # the learner's own doing
            mine.add(course.edit(lambda content, n=number: content["cells"][1].update(source=f"print('mine {n}')")))
        elif event == "run" and there and course.copy().read_bytes() not in mine:
            course.edit(clear)
        elif event == "delete" and there:
            mine.discard(course.copy().read_bytes())
            course.copy().unlink()
        elif event == "lose manifest":
            course.copy(copies.MANIFEST).unlink(missing_ok=True)
    kept = set(course.files().values())
    assert mine <= kept
    if (course.root / LESSON).exists() and not mine:
        assert copies.content_of(LESSON, course.copy().read_bytes()).text  # there is a copy to work with


def test_a_file_is_written_as_a_whole_or_not_at_all(begun, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    begun.publish(SECOND)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            begun.lab()
    assert begun.files() == {LESSON: FIRST, "notebooks/images/run.png": b"png-1"}
    begun.lab()
    assert begun.copy().read_bytes() == SECOND


def test_looking_costs_little_when_nothing_changed(course):
    for number in range(24):
        big = notebook(*[(f"print({n})", "x" * 5000 + "\n") for n in range(40)])
        course.publish(big, f"notebooks/{number:02}_lesson.ipynb")
    course.lab()
    times = []
    for _ in range(5):
        begin = time.process_time()
        course.lab()
        times.append(time.process_time() - begin)
    assert min(times) < 0.1


# Trust, and the command


def trusts(data_folder: Path, *paths: Path) -> list[bool]:
    """Ask Jupyter which of the notebooks it trusts."""
    code = (
        "import sys, json, nbformat; from nbformat.sign import NotebookNotary; notary = NotebookNotary()\n"
        "print(json.dumps([notary.check_signature(nbformat.read(path, as_version=4)) for path in sys.argv[1:]]))"
    )
    environment = os.environ | {"JUPYTER_DATA_DIR": str(data_folder)}
    command = [sys.executable, "-c", code, *map(str, paths)]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)


def project(folder: Path) -> Path:
    """Write a copy of the project that fits the environment of the tests, with one lesson."""
    shutil.copytree(ROOT / "agentlib", folder / "agentlib", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").write_text('[project]\ndependencies = ["jupyterlab>=4,<5"]\n')
    (folder / "notebooks").mkdir()
    (folder / LESSON).write_bytes(FIRST)
    (folder / "notebooks" / "build.py").write_text("")
    return folder


BROWSER = """
import re, sys, urllib.parse, urllib.request
path = urllib.request.url2pathname(urllib.parse.urlsplit(sys.argv[1]).path)
print("OPENED", re.search(r'href="http://[^/]+([^"?]+)', open(path).read())[1], file=sys.stderr, flush=True)
"""


def start_lab(folder: Path, data_folder: Path, *arguments: str) -> tuple[str, str]:
    """Start lab with a browser that says what it opens, and end it; give what was printed, and the page."""
    browser = data_folder.parent / "browser.py"
    browser.write_text(BROWSER)
    folders = {f"JUPYTER_{name}_DIR": str(data_folder / name) for name in ("CONFIG", "RUNTIME")}
    settings = {"JUPYTER_DATA_DIR": str(data_folder), "BROWSER": f"{sys.executable} {browser} %s"}
    process = subprocess.Popen(
        [sys.executable, "-m", "agentlib", "lab", *arguments, "--", "--port", "0"],
        cwd=folder,
        env=os.environ | folders | settings,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    last_resort = threading.Timer(60, process.kill)
    last_resort.start()
    log = page = ""
    for line in process.stderr:
        log += line
        if line.startswith("OPENED "):
            page = line.split()[1]
            process.send_signal(signal.SIGINT)
    process.wait()
    last_resort.cancel()
    return log, page


@pytest.mark.skipif(os.name == "nt", reason="JupyterLab is ended by a signal")
def test_lab_opens_the_working_copy_trusted(tmp_path):
    folder, data_folder = project(tmp_path / "my lessons"), tmp_path / "data"
    log, page = start_lab(folder, data_folder)
    assert log.startswith(f"Copied to work/, where you can change everything: {LESSON}.\n")
    assert page == "/lab/tree/notebooks/02_react.ipynb"
    assert f"Serving notebooks from local directory: {folder / 'work'}\n" in log
    other = tmp_path / "other.ipynb"
    other.write_bytes(SECOND)
    assert trusts(data_folder, folder / "work" / LESSON, other) == [True, False]


def test_paths_lead_to_the_copies_of_lessons_and_to_everything_else_as_it_is(begun):
    root = begun.root
    begun.publish(b"", "notebooks/build.py")
    assert copies.working_copy(root, root / LESSON) == begun.copy()
    assert copies.working_copy(root, root / "notebooks") == root / "work" / "notebooks"
    for path in [root / "notebooks" / "build.py", root / "README.md", root, root.parent / "x.ipynb", begun.copy()]:
        assert copies.working_copy(root, path) == path


def test_a_work_folder_that_cannot_be_made_is_named_in_one_line(tmp_path):
    folder = project(tmp_path / "lessons")
    (folder / "work").write_text("a file where the folder should be")
    command = [sys.executable, "-m", "agentlib", "lab"]
    result = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith(f"agentlib: the lessons cannot be copied to {folder / 'work'}")
