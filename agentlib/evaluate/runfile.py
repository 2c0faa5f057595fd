"""A file of finished runs, so that an interrupted sweep goes on where it stopped."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict

from ..jsonlines import LinesError, append_line, open_lines
from ..state import Usage
from .runs import Run

KIND = "sweep"


class RunFile:
    """The runs of a file that are wanted: `keys` gives for each name (task, condition, seed) the key that its run must
    have been kept with. Raises LinesError for a file that is none.
    """

    def __init__(self, path: str | os.PathLike, keys: Mapping[tuple, str]) -> None:
        self.path = os.fspath(path)
        self.keys = keys
        self.runs: dict[tuple, Run] = {}
        changed: dict[tuple, Run] = {}
        for number, line in open_lines(path, KIND):
            key, run = _decode(path, number, line)
            if run.name in keys:
                (self.runs if keys[run.name] == key else changed)[run.name] = run
        outdated = Counter(run.condition for name, run in changed.items() if name not in self.runs)
        if outdated:
            each = ", ".join(f"{count} of {condition!r}" for condition, count in sorted(outdated.items()))
            text = f"{self.path}: the task, the condition or the score has changed since; made again: {each}"
            warnings.warn(text, stacklevel=3)

    def keep(self, run: Run) -> None:
        """Add a run to the file."""
        append_line(self.path, {"key": self.keys[run.name], **asdict(run), "errors": dict(run.errors)})


def _decode(path: str | os.PathLike, number: int, line: dict) -> tuple[str, Run]:
    try:
        values = {**line, "usage": Usage(**line["usage"]), "errors": tuple(sorted(line["errors"].items()))}
        key, run = values.pop("key"), Run(**values)
        if [*map(type, (key, *run.name, run.status, run.reason))] != [str, str, str, int, str, str]:
            raise TypeError(run)
        return key, run
    except (KeyError, TypeError, AttributeError):
        raise LinesError(f"line {number} of {path} is not a run") from None
