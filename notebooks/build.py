"""Build the lessons: run each source in src/ and write the executed notebook beside this file.

    python3 -m agentlib build [lesson ...] [--check]

A rebuild gives the same bytes. `--check` writes nothing and says how the committed notebooks differ from what their
sources build. To have every picture drawn anew, delete the notebook first.
"""

import argparse
import copy
import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import jupytext
import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "harness"))

import kernels
import offline_only
from lesson_rules import PICTURES, advice, code_cells, first_line, place, problems

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CELL_TIMEOUT = 120  # seconds
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# Only what is the same for every version of Python.
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}


class BuildError(Exception):
    """A source that gives no notebook; the message says where and why, one line for each problem."""


def read_source(path: Path) -> NotebookNode:
    """The notebook of a py:percent source, not yet run, with ids that depend on the cells' text only."""
    try:
        notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    except (ValueError, nbformat.ValidationError) as error:
        raise BuildError(f"the source cannot be read: {first_line(str(error))}") from None
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        text = f"{cell.cell_type}\n{cell.source}"
        seen[text] += 1
        # Jupytext notes how many blank lines followed a cell.
        cell.metadata = {key: value for key, value in cell.metadata.items() if not key.startswith("lines_to_")}
        cell.id = hashlib.sha256(f"{seen[text]}\n{text}".encode()).hexdigest()[:12]
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def make_client(notebook: NotebookNode, folder: Path, files: str, started: list[NotebookNode]) -> NotebookClient:
    """Give what runs a notebook in a kernel of this Python; cells are added to `started` as they start."""
    # Without kernel folders, python3 is the Python that runs this script, whatever kernels the user has.
    specs = KernelSpecManager(kernel_dirs=[])
    return NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs, **kernels.listening(files)),
        timeout=CELL_TIMEOUT,
        startup_timeout=CELL_TIMEOUT,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        store_widget_state=False,
        skip_cells_with_tag="",  # No cell is left out.
        on_cell_start=lambda cell, cell_index: started.append(cell),
    )


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run the cells in a fresh offline kernel, with `folder` as its working directory."""
    started: list[NotebookNode] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as ipython:
        client = make_client(notebook, folder, ipython, started)
        environment = offline_only.environment(os.environ) | {"IPYTHONDIR": ipython}
        try:
            client.execute(cleanup_kc=True, env=environment, stderr=subprocess.DEVNULL)
        except CellExecutionError as error:
            # An error while a result is displayed has its name in the output only.
            shown = next((out for out in started[-1].outputs if out.output_type == "error"), error)
            raise BuildError(f"{place(notebook, started[-1])}: {shown.ename}: {first_line(shown.evalue)}") from None
        except DeadKernelError:
            raise BuildError(f"{place(notebook, started[-1])}: the kernel died") from None
        except CellTimeoutError:
            raise BuildError(f"{place(notebook, started[-1])}: not done after {CELL_TIMEOUT} seconds") from None
        except RuntimeError as error:
            raise BuildError(f"the kernel did not start: {first_line(str(error))}") from None


def clean(notebook: NotebookNode) -> None:
    """Take out what differs from run to run, and the widgets' live views, which need a kernel; their text stays."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(code_cells(notebook), 1):
        cell.execution_count = number
        cell.metadata.pop("execution", None)
        for output in cell.outputs:
            output.get("data", {}).pop(WIDGET_VIEW, None)
            output.get("metadata", {}).pop(WIDGET_VIEW, None)
            if output.output_type == "execute_result":
                output.execution_count = number
            if output.output_type == "error":
                output.traceback = [portable(line) for line in output.traceback]
        cell.outputs = [output for output in merge_streams(cell.outputs) if output.get("data", True)]


def merge_streams(outputs: list[NotebookNode]) -> Iterator[NotebookNode]:
    """The outputs with neighbouring pieces of text joined: stdout, then stderr.

    The kernel sends both in pieces whose size and order depend on the clock.
    """
    for is_stream, group in groupby(outputs, lambda output: output.output_type == "stream"):
        if not is_stream:
            yield from group
            continue
        pieces = list(group)
        for name in ("stdout", "stderr"):
            text = "".join(piece.text for piece in pieces if piece.name == name)
            if text:
                yield nbformat.v4.new_output("stream", name=name, text=text)


def portable(line: str) -> str:
    """A traceback's line with the paths of this machine shortened."""
    places = {sysconfig.get_path("purelib"): "site-packages", sysconfig.get_path("stdlib"): "python", str(ROOT): ""}
    for folder, name in places.items():
        for written in (folder, folder.replace(str(Path.home()), "~", 1)):
            line = line.replace(written + os.sep, f"{name}/" if name else "")
    return line


def keep_pictures(built: NotebookNode, committed: NotebookNode) -> None:
    """Take over the committed bytes of pictures, as far as the code and its text outputs are the same from the top.

    Another version of a drawing library draws other bytes for the same plot; version control need not see them.
    """
    for new, old in zip(code_cells(built), code_cells(committed), strict=False):
        if new.source != old.source or without_pictures(new.outputs) != without_pictures(old.outputs):
            return
        new.outputs = copy.deepcopy(old.outputs)


def without_pictures(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """A copy of the outputs in which each picture is only a mark that there is one."""
    outputs = copy.deepcopy(outputs)
    for output in outputs:
        for mime in PICTURES.intersection(output.get("data", {})):
            output.data[mime] = ""
    return outputs


def differences(committed: NotebookNode, built: NotebookNode) -> list[str]:
    """How a committed notebook departs from a built one, cell by cell; cells are counted from 1, text cells too."""
    found = []
    if len(committed.cells) != len(built.cells):
        found.append(f"{len(committed.cells)} cells instead of {len(built.cells)}")
    for number, (old, new) in enumerate(zip(committed.cells, built.cells, strict=False), 1):
        changed = [key for key in sorted({*old, *new}) if old.get(key) != new.get(key)]
        if changed:
            # An id follows from the source: it says something only when it is all that differs.
            names = [key for key in changed if key != "id"] or changed
            found.append(f"{' and '.join(names)} of cell {number} `{first_line(new.source)[:60]}`")
    if committed.metadata != built.metadata:
        found.append("the notebook's metadata")
    return found


def build(source: Path, target: Path) -> NotebookNode:
    """The executed notebook of a source; BuildError when a cell fails or a house rule is broken."""
    notebook = read_source(source)
    execute(notebook, target.parent)
    clean(notebook)
    if found := problems(notebook):
        raise BuildError("\n".join(found))
    if committed := read_notebook(target):
        keep_pictures(notebook, committed)
    return notebook


def read_notebook(path: Path) -> NotebookNode | None:
    """A notebook file, or None where there is no readable one."""
    try:
        return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except (OSError, ValueError, nbformat.reader.NotJSONError):
        return None


def render(notebook: NotebookNode) -> bytes:
    """The bytes of the notebook's file."""
    return (nbformat.writes(notebook, version=4).rstrip("\n") + "\n").encode()


def write(path: Path, content: bytes) -> None:
    """Replace a file whole or not at all."""
    temporary = path.with_suffix(".building")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def check(source: Path, target: Path) -> list[str]:
    """Say that the committed notebook is what its source builds; BuildError, with the first difference, when not."""
    committed = read_notebook(target)
    if committed is None:
        raise BuildError("there is no readable notebook: build it")
    built = build(source, target)
    if render(built) == target.read_bytes():
        return ["is what its source builds"]
    found = differences(committed, built) or ["the file's layout"]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    raise BuildError(f"differs from what its source builds: {found[0]}{more}")


def update(source: Path, target: Path) -> list[str]:
    """Build a notebook and write it where it changed; what happened and what to look at, one line each."""
    notebook = build(source, target)
    content = render(notebook)
    if target.exists() and target.read_bytes() == content:
        return ["unchanged", *advice(notebook)]
    write(target, content)
    return [f"written, {len(notebook.cells)} cells", *advice(notebook)]


def main(arguments: list[str], folder: Path = HERE) -> int:
    """Build or check the lessons of `folder` and say how it went, a line for each; 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="python3 -m agentlib build", description=__doc__.partition("\n")[0])
    parser.add_argument("lessons", nargs="*", metavar="lesson", help="a number or the start of a name; all if none")
    parser.add_argument("--check", action="store_true", help="write nothing; say how the notebooks differ")
    options = parser.parse_args(arguments)
    sources = sorted((folder / "src").glob("*.py"))
    for name in options.lessons:
        if not any(source.name.startswith(name) for source in sources):
            parser.error(f"no source in {folder.name}/src starts with {name!r}")
    wanted = [source for source in sources if source.name.startswith(tuple(options.lessons) or "")]
    failed = False
    for source in wanted:
        target = folder / f"{source.stem}.ipynb"
        try:
            lines = check(source, target) if options.check else update(source, target)
        except BuildError as error:
            lines, failed = str(error).splitlines(), True
        for line in lines:
            print(f"{target.name}: {line}", flush=True)
    for orphan in sorted({path.stem for path in folder.glob("*.ipynb")} - {source.stem for source in sources}):
        print(f"{orphan}.ipynb: has no source in {folder.name}/src")
        failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
