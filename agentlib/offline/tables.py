"""What can be asked of a table in a file. `table_questions` reads it off a question, `programs` writes the code."""

import re
from dataclasses import dataclass, replace

ROW = "row"  # as a key: all of the row


@dataclass(frozen=True)
class Condition:
    """Which rows count: those whose column is equal to (==), above (>) or below (<) a value."""

    column: str
    sign: str
    value: str

    @property
    def is_number(self) -> bool:
        """Whether the value is compared as a number. '007' is a text."""
        return bool(re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", self.value))


@dataclass(frozen=True)
class Job:
    """What is asked of a table. Columns are named as in the question, until the header says how they are called."""

    file: str
    kind: str  # measure, row, header, line, scatter, bars or histogram
    measures: tuple[str, ...] = ()  # sum, mean, median, deviation, largest, smallest, count, distinct
    columns: tuple[str, ...] = ()
    key: str = ""  # the column to tell of a row, or against which a plot draws the others
    where: Condition | None = None
    is_reversed: bool = False  # the rows of the file come in the other order

    @property
    def is_plot(self) -> bool:
        """Whether a picture is asked for."""
        return self.kind in ("line", "scatter", "bars", "histogram")

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that the job names."""
        keys = (self.key,) if self.key not in ("", ROW) else ()
        return (*self.columns, *keys, *((self.where.column,) if self.where else ()))


def missing(job: Job, header: tuple[str, ...]) -> list[str]:
    """Give the columns of a job that no name in the header fits, not even but for case, spaces and points."""
    known = set(map(_plain, header))
    return [name for name in job.named if _plain(name) not in known]


def renamed(job: Job, header: tuple[str, ...]) -> Job:
    """Give the job with its columns called as in the header, which has them all."""
    names = {name: name if name in header else next(each for each in header if _plain(each) == _plain(name))
             for name in job.named}
    where = replace(job.where, column=names[job.where.column]) if job.where else None
    columns = tuple(names[name] for name in job.columns)
    return replace(job, columns=columns, key=names.get(job.key, job.key), where=where)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
