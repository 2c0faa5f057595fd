"""From what is asked of a table to the Python program that finds it out, as a careful person writes it.

Numbers are read as float: the header does not say which columns hold whole ones. Whatever is found out is printed.
"""

import json
import re

from .tables import ROW, Condition, Job

_BEST = {"largest": "max", "smallest": "min"}
_STATISTICS = {"mean": "mean", "median": "median", "deviation": "stdev"}
_SAID = {"count": "rows", "distinct": "different values", "deviation": "standard deviation"}


def look_at_header(job: Job) -> str:
    """Write the program that prints the names of the columns."""
    return f"import csv\n\nwith open({text(job.file)}, newline=\"\") as file:\n    print(next(csv.reader(file)))"


def program_for(job: Job) -> str:
    """Write the program for a job."""
    if job.kind == "header":
        return look_at_header(job)
    body = _plot(job) if job.is_plot else _row(job) if job.kind == "row" else _measures(job)
    lines = [*_imports(job), "", *_rows(job), *body]
    return "\n".join(lines)


def text(value: str) -> str:
    """Write a text as Python does, in double quotes."""
    return json.dumps(value, ensure_ascii=False)


def saved_as(job: Job) -> str:
    """Name the picture after what it shows."""
    names = [re.sub(r"\W+", "_", name).strip("_").lower() for name in job.columns]
    return f"{'_'.join(filter(None, names)) or 'plot'}.png"


def _imports(job: Job) -> list[str]:
    """Import what the program uses."""
    lines = ["import csv"]
    if any(measure in _STATISTICS for measure in job.measures):
        lines.append("import statistics")
    return [*lines, "import matplotlib.pyplot as plt"] if job.is_plot else lines


def _rows(job: Job) -> list[str]:
    """Read the rows, those that count, in the order that is asked for."""
    lines = [f"with open({text(job.file)}, newline=\"\") as file:", "    rows = list(csv.DictReader(file))"]
    if job.where:
        lines.append(f"rows = [row for row in rows if {_holds(job.where)}]")
    return [*lines, "rows.reverse()"] if job.is_reversed else lines


def _holds(where: Condition) -> str:
    """Write a condition on a row."""
    if where.is_number:
        return f"{_number(where.column)} {where.sign} {where.value}"
    return f"row[{text(where.column)}] {where.sign} {text(where.value)}"


def _number(column: str) -> str:
    return f"float(row[{text(column)}])"


def _measures(job: Job) -> list[str]:
    """Print each measure; where there are several, each with its name."""
    wanted = [(measure, column) for column in job.columns or ("",) for measure in job.measures]
    if len(wanted) == 1:
        return [f"print({_value(*wanted[0])})"]
    return [f"print({text(_label(measure, column, job))}, {_value(measure, column)})" for measure, column in wanted]


def _label(measure: str, column: str, job: Job) -> str:
    """Name a value by what tells it from the others."""
    parts = [_SAID.get(measure, measure)] * (len(job.measures) > 1) + [column] * (len(job.columns) > 1)
    return f"{' '.join(parts)}:"


def _value(measure: str, column: str) -> str:
    """Write the expression for one measure of a column."""
    if measure == "count":
        return "len(rows)"
    if measure == "distinct":
        return f"len({{row[{text(column)}] for row in rows}})"
    function = f"statistics.{_STATISTICS[measure]}" if measure in _STATISTICS else _BEST.get(measure, measure)
    return f"{function}({_number(column)} for row in rows)"


def _row(job: Job) -> list[str]:
    """Print of the row with the largest or smallest value what is asked for."""
    column = job.columns[0]
    best = f"best = {_BEST[job.measures[0]]}(rows, key=lambda row: {_number(column)})"
    if job.key == ROW:
        return [best, 'print(", ".join(f"{name}: {value}" for name, value in best.items()))']
    return [best, f"print(best[{text(job.key)}])"]


def _plot(job: Job) -> list[str]:
    """Draw the columns, save the picture, and say where it is."""
    several = len(job.columns) > 1
    lines = [_drawn(job, column, several) for column in job.columns]
    lines += ["plt.legend()"] if several else []
    lines += [f"plt.xlabel({text(job.key)})", f"plt.ylabel({text(job.columns[0])})"] if _has_axis(job) else []
    name = saved_as(job)
    return [*lines, f"plt.title({text(' and '.join(job.columns))})", f"plt.savefig({text(name)})",
            f"print({text(f'saved {name}')})"]


def _drawn(job: Job, column: str, several: bool) -> str:
    """Write the call that draws one column."""
    function = {"line": "plot", "bars": "bar", "scatter": "scatter", "histogram": "hist"}[job.kind]
    values = f"[{_number(column)} for row in rows]"
    label = f", label={text(column)}" if several else ""
    if _has_axis(job):
        against = f"row[{text(job.key)}]" if job.kind == "bars" else _number(job.key)
        return f"plt.{function}([{against} for row in rows], {values}{label})"
    first = "range(len(rows)), " if job.kind in ("bars", "scatter") else ""
    return f"plt.{function}({first}{values}{label})"


def _has_axis(job: Job) -> bool:
    """Say whether there is a column to draw against; a histogram has none."""
    return bool(job.key) and job.kind != "histogram"
