"""The house rules for a built lesson: what stops the build, and what an author should look at."""

import re
from pathlib import Path

from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[1]
MAX_CODE_LINES = 30
MAX_OUTPUT_LINES = 60
USUAL_CELLS = range(45, 91)
PICTURES = {"image/png", "image/jpeg"}
# What would differ in the next run or on the next machine.
UNSTABLE = {
    "an object's address": re.compile(r"\bat 0x[0-9a-fA-F]{6,}"),
    "the kernel's temporary path": re.compile(r"ipykernel_\d+"),
    "a path of this machine": re.compile(re.escape(str(ROOT))),
}


def place(notebook: NotebookNode, cell: NotebookNode) -> str:
    """A code cell as a person finds it: its number in the notebook's margin and its first line."""
    number = next(number for number, other in enumerate(code_cells(notebook), 1) if other is cell)
    return f"cell [{number}] `{first_line(cell.source)}`"


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The code cells, in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def first_line(text: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def problems(notebook: NotebookNode) -> list[str]:
    """What the house rules forbid, one line each."""
    found = []
    for cell in code_cells(notebook):
        where = place(notebook, cell)
        lines = len(cell.source.splitlines())
        if not lines:
            found.append(f"{where}: the cell is empty")
        if lines > MAX_CODE_LINES:
            found.append(f"{where}: {lines} lines of code, at most {MAX_CODE_LINES}")
        raises = "raises-exception" in cell.metadata.get("tags", [])
        if raises and not any(output.output_type == "error" for output in cell.outputs):
            found.append(f"{where}: tagged raises-exception, but raises nothing")
        for output in cell.outputs:
            shown = len(visible_text(output).splitlines())
            if shown > MAX_OUTPUT_LINES:
                found.append(f"{where}: an output of {shown} lines, at most {MAX_OUTPUT_LINES}")
            for what, pattern in UNSTABLE.items():
                if pattern.search(all_text(output)):
                    found.append(f"{where}: the output holds {what}, which is another one each time")
    return found


def visible_text(output: NotebookNode) -> str:
    """The text that a reader sees of an output; none where HTML or a picture stands for it."""
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return "\n".join(output.traceback)
    return output.data.get("text/plain", "") if set(output.data) == {"text/plain"} else ""


def all_text(output: NotebookNode) -> str:
    """Everything in an output but pictures, as one text."""
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return "\n".join([output.evalue, *output.traceback])
    return "\n".join(str(value) for mime, value in sorted(output.data.items()) if mime not in PICTURES)


def advice(notebook: NotebookNode) -> list[str]:
    """What an author should look at, one line each."""
    found = []
    if len(notebook.cells) not in USUAL_CELLS:
        found.append(f"{len(notebook.cells)} cells; a lesson has {USUAL_CELLS[0]} to {USUAL_CELLS[-1]}")
    silent = [place(notebook, cell) for cell in code_cells(notebook) if not cell.outputs]
    if silent:
        found.append(f"shows nothing: {', '.join(silent)}")
    errors = [cell for cell in code_cells(notebook) if any(out.get("name") == "stderr" for out in cell.outputs)]
    found += [f"{place(notebook, cell)}: writes to stderr" for cell in errors]
    return found
