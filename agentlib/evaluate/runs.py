"""The runs of a sweep, and their table: success with its interval, model calls, tokens and errors by kind."""

from __future__ import annotations

import csv
import math
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from html import escape

from ..state import Usage

FAILED = "failed"
NOTHING = Usage()
Z = 1.959963984540054  # 95 % of a normal distribution lie so many standard deviations round its mean

OFFLINE = (
    "The offline model is a set of rules, not a language model: this shows how a mechanism works, not how well real "
    "models do."
)


@dataclass(frozen=True)
class Run:
    """One run in short. `status` is that of its last state, or failed where an exception or a dead worker ended it;
    what such a run used is not known. `errors` counts what went wrong by kind: problems such as format_error, and calls
    that gave no result, such as bad_arguments (the kinds of `agentlib.tools.Outcome`).
    """

    task: str
    condition: str
    seed: int
    success: bool
    status: str
    reason: str
    answer: str | None = None
    model: str = ""
    usage: Usage = NOTHING
    errors: tuple[tuple[str, int], ...] = ()

    @property
    def name(self) -> tuple[str, str, int]:
        return self.task, self.condition, self.seed

    @property
    def tokens(self) -> int:
        """The tokens of the requests and of the replies together."""
        return self.usage.prompt_tokens + self.usage.completion_tokens


@dataclass(frozen=True)
class Row:
    """A group of runs. `low` and `high` bound the rate of success at 95 % (Wilson 1927). `calls` and `tokens` are
    means, `fewest` and `most` the range of the model calls; failed runs are left out of them.
    """

    group: tuple
    runs: int
    successes: int
    low: float
    high: float
    calls: float
    fewest: int
    most: int
    tokens: float
    errors: tuple[tuple[str, int], ...]

    @property
    def rate(self) -> float:
        return self.successes / self.runs


@dataclass(frozen=True, repr=False)
class Table:
    """Runs, shown in groups: by their condition, or as `by` says."""

    runs: tuple[Run, ...]
    groups: tuple[str, ...] = ("condition",)

    def by(self, *groups: str) -> Table:
        """Give the same runs grouped by other fields of a run, such as "condition", "task"."""
        known = [field.name for field in fields(Run)]
        for name in groups:
            if name not in known:
                raise ValueError(f"a run has no {name!r}; it has {', '.join(known)}")
        return Table(self.runs, groups)

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row for each group, in the order of the runs."""
        found: dict[tuple, list[Run]] = {}
        for run in self.runs:
            found.setdefault(tuple(getattr(run, name) for name in self.groups), []).append(run)
        return tuple(_row(group, runs) for group, runs in found.items())

    @property
    def caption(self) -> str:
        """What was run, and on which model."""
        counts = [(len({getattr(run, name) for run in self.runs}), name) for name in ("task", "condition", "seed")]
        models = sorted({run.model for run in self.runs if run.model})
        size = f"{_count(len(self.runs), 'run')}: {', '.join(_count(*each) for each in counts)}."
        named = f" Model{'s' * (len(models) > 1)}: {', '.join(models)}." if models else ""
        failed = [run for run in self.runs if run.status == FAILED]
        first = f" {len(failed)} failed, first {failed[0].condition!r} with {failed[0].reason}." if failed else ""
        return size + named + f" {OFFLINE}" * any("offline" in model.split(" + ") for model in models) + first

    def __str__(self) -> str:
        lines = [self._head(), *map(_cells, self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        numbers = range(len(self.groups), len(widths) - 1)
        padded = [
            [cell.rjust(width) if i in numbers else cell.ljust(width)
             for i, (cell, width) in enumerate(zip(line, widths, strict=True))]
            for line in lines
        ]  # fmt: skip
        return "\n".join([*("  ".join(line).rstrip() for line in padded), "", self.caption])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(each)}</th>" for each in self._head())
        rows = "".join(f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in _cells(row))}</tr>\n" for row in self.rows)
        caption = f'<caption style="caption-side: bottom; text-align: left">{escape(self.caption)}</caption>'
        return f"<table>\n{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"

    def to_csv(self, path: str | os.PathLike) -> None:
        """Write one line for each run, with a column for each kind of error."""
        kinds = sorted({kind for run in self.runs for kind, _ in run.errors})
        plain = ["task", "condition", "seed", "success", "status", "reason", "answer", "model"]
        counts = [field.name for field in fields(Usage)]
        with open(path, "w", newline="", encoding="utf-8", errors="backslashreplace") as file:
            writer = csv.writer(file)
            writer.writerow([*plain, *counts, *(f"error: {kind}" for kind in kinds)])
            for run in self.runs:
                errors = dict(run.errors)
                used = [getattr(run.usage, name) for name in counts]
                writer.writerow([*(getattr(run, name) for name in plain), *used, *(errors.get(k, 0) for k in kinds)])

    def _head(self) -> list[str]:
        return [*self.groups, "runs", "success (95 % interval)", "model calls", "tokens", "errors"]


def interval(successes: int, runs: int) -> tuple[float, float]:
    """Give Wilson's interval of a rate at 95 %."""
    if not runs:
        return 0.0, 1.0
    rate, share = successes / runs, Z * Z / runs
    middle = (rate + share / 2) / (1 + share)
    half = Z * math.sqrt(rate * (1 - rate) / runs + share / (4 * runs)) / (1 + share)
    return max(0.0, middle - half), min(1.0, middle + half)


def _row(group: tuple, runs: Sequence[Run]) -> Row:
    successes = sum(run.success for run in runs)
    known = [run for run in runs if run.status != FAILED]
    calls = [run.usage.calls for run in known]
    errors = sum((Counter(dict(run.errors)) for run in runs), Counter())
    return Row(
        group, len(runs), successes, *interval(successes, len(runs)), _mean(calls),
        min(calls, default=0), max(calls, default=0), _mean([run.tokens for run in known]),
        tuple(sorted(errors.items(), key=lambda pair: (-pair[1], pair[0]))),
    )  # fmt: skip


def _mean(numbers: Iterable[int]) -> float:
    """Give the mean; of no numbers, nan."""
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else math.nan


def _cells(row: Row) -> list[str]:
    known = not math.isnan(row.calls)
    return [
        *map(_shortened, map(str, row.group)),
        str(row.runs),
        f"{row.rate:.0%} ({row.low:.0%} to {row.high:.0%})".replace("%", " %"),
        f"{row.calls:.1f} ({row.fewest} to {row.most})" if known else "-",
        f"{row.tokens:,.0f}" if known else "-",
        ", ".join(f"{kind} {count}" for kind, count in row.errors) or "-",
    ]


def _shortened(text: str, limit: int = 50) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
