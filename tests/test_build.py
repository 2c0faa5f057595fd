"""A lesson's notebook is what its source builds: the same bytes each time, or one line that says what is wrong."""

import base64
import json
import struct
import sys
import zlib
from pathlib import Path

import nbformat
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "notebooks"))

import build

NOTEBOOKS = Path(build.__file__).parent
NAMES = sorted({path.stem for path in [*NOTEBOOKS.glob("src/*.py"), *NOTEBOOKS.glob("*.ipynb")]})
SLIDER = """
import ipywidgets

class Twin(ipywidgets.IntSlider):
    def _repr_mimebundle_(self, **kwargs):
        return {**super()._repr_mimebundle_(**kwargs), "text/plain": "a slider", "text/html": "<p>a slider</p>"}

Twin()
"""
RAISES = ' tags=["raises-exception"]\n'


@pytest.fixture
def lessons(tmp_path, capsys):
    """An empty folder of lessons."""
    (tmp_path / "src").mkdir()
    return Lessons(tmp_path, capsys)


class Lessons:
    """One lesson, its source and its notebook, and the build command."""

    def __init__(self, folder, capsys):
        self.folder, self.capsys = folder, capsys
        self.source = folder / "src" / "01_lesson.py"
        self.target = folder / "01_lesson.ipynb"

    def write(self, *cells):
        """Write the source; a cell is what follows `# %%`."""
        self.source.write_text("\n\n".join(f"# %%{cell}" for cell in cells) + "\n", encoding="utf-8")

    def run(self, *arguments):
        """Build; the status and the printed text."""
        status = build.main(list(arguments), folder=self.folder)
        return status, self.capsys.readouterr().out

    def notebook(self):
        return nbformat.read(self.target, as_version=4)

    def cells(self):
        return [cell for cell in self.notebook().cells if cell.cell_type == "code"]

    def edit(self, change):
        """Apply `change` to the committed notebook."""
        notebook = self.notebook()
        change(notebook)
        self.target.write_bytes(build.render(notebook))


def test_rebuild_gives_the_same_bytes(lessons):
    lessons.write(
        " [markdown]\n# # A lesson",
        "\nimport sys\nprint('one')\nprint('aside', file=sys.stderr)\nprint('two')",
        "\nimport matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()",
        '\nprint("a")\ndisplay(1)\nprint("b")',
        '\nprint("a")\ndisplay(1)\nprint("b")',
        f"\n{SLIDER}",
        RAISES + 'import json\njson.loads("{")',
        "\n6 * 7;",
    )
    assert lessons.run()[0] == 0
    first = lessons.target.read_bytes()
    lessons.target.unlink()
    assert lessons.run()[0] == 0
    assert lessons.target.read_bytes() == first
    assert sorted(path.name for path in lessons.folder.iterdir()) == ["01_lesson.ipynb", "src"]

    cells = lessons.cells()
    assert [cell.execution_count for cell in cells] == [1, 2, 3, 4, 5, 6, 7]
    assert [(out.name, out.text) for out in cells[0].outputs] == [("stdout", "one\ntwo\n"), ("stderr", "aside\n")]
    assert "image/png" in cells[1].outputs[0].data
    assert [out.output_type for out in cells[2].outputs] == ["stream", "display_data", "stream"]
    assert cells[4].outputs[0].data == {"text/plain": "a slider", "text/html": "<p>a slider</p>"}
    assert cells[5].outputs[0].ename == "JSONDecodeError"
    assert cells[6].outputs == []


def test_notebook_holds_nothing_of_the_machine_or_the_run(lessons):
    lessons.write(f"\n{SLIDER}", RAISES + 'import json\njson.loads("{")', RAISES + "import agentlib.absent")
    lessons.run()
    notebook = lessons.notebook()
    assert notebook.metadata == build.METADATA
    assert [dict(cell.metadata) for cell in notebook.cells[:1]] == [{}]
    outputs = json.dumps([cell.outputs for cell in notebook.cells])
    for foreign in ("widget-view", str(NOTEBOOKS.parent), sys.prefix, sys.base_prefix, str(Path.home()) + "/", "~/"):
        assert foreign not in outputs


def test_cell_keeps_its_id_when_others_come_and_go(lessons):
    lessons.write("\nprint(1)", "\nprint(2)", "\nprint(2)")
    before = [cell.id for cell in build.read_source(lessons.source).cells]
    lessons.write(" [markdown]\n# New", "\nprint(2)", "\nprint(3)", "\nprint(2)")
    after = [cell.id for cell in build.read_source(lessons.source).cells]
    assert len(set(before)) == 3
    assert [after[1], after[3]] == before[1:]


def picture(shade):
    """A PNG of one grey pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes([0, shade]))), (b"IEND", b"")]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in chunks)).decode()


def test_picture_keeps_its_committed_bytes_until_something_else_changes(lessons):
    show = '\ndisplay({"image/png": shown, "text/plain": "a pixel"}, raw=True)'
    lessons.write("\nname = 'grey'\nname", f"\nshown = {picture(1)!r}{show}")
    lessons.run()

    def redraw(notebook):
        notebook.cells[1].outputs[0].data["image/png"] = picture(2)

    lessons.edit(redraw)
    committed = lessons.target.read_bytes()
    assert "unchanged" in lessons.run()[1]
    assert lessons.run("--check")[0] == 0
    assert lessons.target.read_bytes() == committed

    lessons.write("\nname = 'grey'  # A shade.\nname", f"\nshown = {picture(1)!r}{show}")
    lessons.run()
    assert lessons.cells()[1].outputs[0].data["image/png"].strip() == picture(1)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("\nx = 1\n1 / 0", "cell [2] `x = 1`: ZeroDivisionError: division by zero"),
        ("\n# Ends\nimport os\nos._exit(1)", "cell [2] `# Ends`: the kernel died"),
        (RAISES + "x = 1", "cell [2] `x = 1`: tagged raises-exception, but raises nothing"),
        ("\n" + "x = 1\n" * 31, "cell [2] `x = 1`: 31 lines of code, at most 30"),
        (
            "\nfor i in range(61): print(i)",
            "cell [2] `for i in range(61): print(i)`: an output of 61 lines, at most 60",
        ),
        ("\nobject()", "cell [2] `object()`: the output holds an object's address, which is another one each time"),
    ],
)
def test_broken_cell_stops_the_build_and_leaves_the_notebook(lessons, cell, message):
    lessons.target.write_text("what was there before", encoding="utf-8")
    lessons.write("\nprint(1)", cell, "\nprint(3)")
    status, text = lessons.run()
    assert (status, text) == (1, f"01_lesson.ipynb: {message}\n")
    assert lessons.target.read_text(encoding="utf-8") == "what was there before"
    assert sorted(path.name for path in lessons.folder.iterdir()) == ["01_lesson.ipynb", "src"]


def test_kernel_is_offline(lessons, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("AGENTLIB_MODEL", "something-dear")
    lessons.write(
        "\nimport os\nos.environ.get('OPENAI_API_KEY'), os.environ['AGENTLIB_MODEL'], os.path.basename(os.getcwd())",
        "\nimport socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)",
    )
    assert "NetworkBlocked: The network is blocked" in lessons.run()[1]
    lessons.write(lessons.source.read_text(encoding="utf-8").split("# %%")[1])
    lessons.run()
    assert lessons.cells()[0].outputs[0].data["text/plain"] == f"(None, 'offline', '{lessons.folder.name}')"


def test_check_notices_what_was_edited(lessons):
    lessons.write(" [markdown]\n# Text", "\nprint(1)")
    assert lessons.run("--check") == (1, "01_lesson.ipynb: there is no readable notebook: build it\n")
    lessons.run()
    assert lessons.run("--check") == (0, "01_lesson.ipynb: is what its source builds\n")

    lessons.write(" [markdown]\n# Other text", "\nprint(1)")
    differs = "01_lesson.ipynb: differs from what its source builds:"
    assert lessons.run("--check") == (1, f"{differs} source of cell 1 `Other text`\n")

    def change_output(notebook):
        notebook.cells[0].source = "Other text"
        notebook.cells[1].outputs[0].text = "2\n"
        notebook.cells[0].id = build.read_source(lessons.source).cells[0].id
        notebook.metadata.kernelspec.name = "other"

    lessons.edit(change_output)
    committed = lessons.target.read_bytes()
    assert lessons.run("--check") == (1, f"{differs} outputs of cell 2 `print(1)` (and 1 more)\n")
    assert lessons.target.read_bytes() == committed


def test_build_advises_the_author(lessons):
    lessons.write("\nx = 1", "\nimport sys\nprint('oh', file=sys.stderr)")
    status, text = lessons.run()
    assert status == 0
    assert "2 cells; a lesson has 45 to 90" in text
    assert "shows nothing: cell [1] `x = 1`" in text
    assert "cell [2] `import sys`: writes to stderr" in text


def test_names_choose_lessons_and_a_wrong_name_says_so(lessons, capsys):
    lessons.write("\nprint(1)")
    (lessons.folder / "src" / "02_broken.py").write_text("# %%\n1 / 0\n", encoding="utf-8")
    (lessons.folder / "03_orphan.ipynb").write_text("{}", encoding="utf-8")
    status, text = lessons.run("01")
    assert "01_lesson.ipynb: written, 1 cells" in text and "02_broken" not in text
    assert status == 1 and "03_orphan.ipynb: has no source in" in text
    with pytest.raises(SystemExit):
        lessons.run("07")
    assert "starts with '07'" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_committed_notebook_has_the_cells_of_its_source(name):
    """Its outputs are proved by nbval, which runs it."""
    source = build.read_source(NOTEBOOKS / "src" / f"{name}.py")
    committed = build.read_notebook(NOTEBOOKS / f"{name}.ipynb")
    assert committed, "not built yet"
    for cell in build.code_cells(committed):
        cell.outputs, cell.execution_count = [], None
    assert build.differences(committed, source) == []
