"""nbval, made strict: what it passes in silence, fails here.

Beyond nbval's own comparison, a cell fails when it was never run, when it ignores its output or is skipped without a
reason, when it is tagged raises-exception and raises nothing, and when a widget shows only a text that ipywidgets has
cut. A trailing `;` is honoured, and a kernel that dies is noticed within a second.
"""

import os
import re
import secrets
import time
from collections.abc import Iterator
from functools import partial
from queue import Empty

import kernels
import pytest
from jupyter_client.manager import KernelManager
from nbformat import NotebookNode
from nbval import kernel, plugin
from nbval.kernel import RunningKernel

# What nbval reads from pytest's options, as fixed for this project. Seconds.
OPTIONS = {
    "nbdime": False,
    "nbval_lax": False,
    # The Python that runs pytest, whatever kernels named python3 the user has.
    "nbval_current_env": True,
    "nbval_kernel_name": None,
    "nbval_sanitize_with": None,
    "nbval_kernel_startup_timeout": 60,
    "nbval_cell_timeout": 120,
}
OUTPUT_TIMEOUT = 30  # nbval has 5, which a loaded machine exceeds.
POLL = 0.5

MARKER = re.compile(r"^\s*#+\s*(NBVAL_IGNORE_OUTPUT|PYTEST_VALIDATE_IGNORE_OUTPUT|NBVAL_SKIP)\b[\s:,.-]*(.*)$", re.M)
COMMENT = re.compile(r"^\s*#+[\s:]*(.*)$", re.M)
TAGS = {"nbval-ignore-output", "pytest-validate-ignore-output", "nbval-skip"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

COMPARED = pytest.StashKey[list[str]]()
NOT_COMPARED = pytest.StashKey[list[str]]()


class KernelDied(Exception):
    """The kernel's process ended while a cell was running."""


class StrictKernel(RunningKernel):
    """A kernel that keeps its history, which the trailing `;` needs, and whose death is noticed."""

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """Send a cell as JupyterLab does and return the id of the request."""
        return self.kc.execute(cell_input, store_history=True, allow_stdin=allow_stdin, stop_on_error=False)

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for the reply; KernelDied when there can be none, queue.Empty after `timeout` seconds."""
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            try:
                return super().await_reply(msg_id, timeout=max(0, min(POLL, deadline - time.monotonic())))
            except Empty:
                if not self.is_alive():
                    raise KernelDied from None
                if time.monotonic() >= deadline:
                    raise


class StrictCell(plugin.IPyNbCell):
    """One code cell, compared with what it showed when the notebook was built."""

    def __init__(self, name: str, parent: "StrictFile", cell_num: int, cell: NotebookNode, options: dict[str, bool]):
        super().__init__(name, parent, cell_num, cell, options)
        self.output_timeout = OUTPUT_TIMEOUT
        self.marker, self.reason = find_marker(cell)
        if self.marker == "ignore":
            self.options["check"] = False  # nbval does not know a marker that is followed by its reason.

    def runtest(self) -> None:
        """Run the cell and compare; NbCellError says in its first line what is wrong."""
        if self.cell.source.strip() and self.cell.execution_count is None:
            self.raise_cell_error("This cell was never run, so there is nothing to compare: build the notebook.")
        if self.marker and not self.reason:
            self.raise_cell_error(f"A cell whose marker says {self.marker!r} needs a reason in a comment beside it.")
        if self.marker:
            self.config.stash[NOT_COMPARED].append(f"{self.nodeid}: {self.reason}")
        else:
            self.config.stash[COMPARED].append(self.nodeid)
        if self.marker == "skip":
            pytest.skip(self.reason)
        try:
            super().runtest()
        except KernelDied:
            self.parent.timed_out = True  # The cells that follow are expected to fail.
            self.raise_cell_error("The kernel died while it ran this cell.")
        kinds = [output.output_type for output in self.test_outputs]
        if self.options["check_exception"] and "error" not in kinds:
            self.raise_cell_error("This cell is tagged raises-exception, but raises nothing.")
        if any(is_cut_widget(output) for output in self.test_outputs):
            self.raise_cell_error(
                "A widget shows only its repr, which is cut at 110 characters: give it text/plain and text/html."
            )


class StrictFile(plugin.IPyNbFile):
    """A notebook of strict cells, run in a strict kernel."""

    def setup(self) -> None:
        """Start the kernel; nbval looks up its class and its manager's by these names."""
        plugin.RunningKernel = StrictKernel
        files = kernels.listening(os.environ["IPYTHONDIR"], secrets.token_hex(4))
        kernel.KernelManager = partial(KernelManager, **files)
        super().setup()

    def collect(self) -> Iterator[StrictCell]:
        """The code cells, in order."""
        for cell in super().collect():
            yield StrictCell.from_parent(
                self, name=cell.name, cell_num=cell.cell_num, cell=cell.cell, options=cell.options
            )


def find_marker(cell: NotebookNode) -> tuple[str, str]:
    """How a cell escapes comparison ('skip', 'ignore' or '') and the reason that stands beside it ('' if none).

    The reason follows the marker on its line (`# NBVAL_IGNORE_OUTPUT: the time of day`); a cell that is marked by a tag
    gives it in its first comment.
    """
    comment = MARKER.search(cell.source)
    tags = TAGS.intersection(cell.metadata.get("tags", []))
    if not comment and not tags:
        return "", ""
    skips = "nbval-skip" in tags or (comment and comment[1] == "NBVAL_SKIP")
    beside = comment or COMMENT.search(cell.source)
    reason = beside[beside.lastindex].strip() if beside else ""
    return "skip" if skips else "ignore", reason if len(reason.split()) > 1 else ""


def is_cut_widget(output: NotebookNode) -> bool:
    """Whether an output is a widget's text that ipywidgets has cut, with no HTML to compare instead."""
    data = output.get("data", {})
    return WIDGET_VIEW in data and "text/html" not in data and data.get("text/plain", "").endswith("…")


def summary(stash: pytest.Stash) -> list[str]:
    """The lines for the end of pytest's report."""
    ignored = stash[NOT_COMPARED]
    first = f"notebooks: {len(stash[COMPARED])} cells compared, {len(ignored)} not compared"
    return [first, *(f"  {line}" for line in ignored)]
