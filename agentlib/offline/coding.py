"""Code for a tool that runs Python: for sums, and for questions about a table in a file.

`table_questions` reads what is asked of the table, `programs` writes the code. The results are read in their order, so
that each request comes to the same point again. An error is an observation: a column that is not there sends the model
to the header once, and then on with the name that is the same but for case. Any other error ends it, and the answer
says which. What the code printed is the answer as it stands.

A sum is printed only where the tool's description speaks of printing, else the model gives the bare expression, as a
person does at the prompt, and finds that nothing was printed.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .choosing import Call, ranked, usable
from .needs import Errand
from .notes import Value
from .offered import Parameter, Tool
from .outcomes import Lost, Outcome, Want
from .programs import look_at_header, program_for
from .reading import Reading
from .results import as_text
from .signatures import required
from .table_questions import FILE, jobs_in
from .tables import Job, missing, renamed

_CODE = re.compile(r"code|source|source_code|program|script|python|python_code|snippet", re.I)
_SAYS_CODE = re.compile(r"\b(?:code|program|script|source|python)\b", re.I)
_PYTHON = re.compile(r"(?<![a-z])python(?![a-z])", re.I)
_RUN = r"(?<![a-z])(?:run|runs|running|execute|executes|exec|interpreter|interpret)(?![a-z])"
_RUNS = re.compile(rf"{_RUN} (?:a |any |the |your |some )?(?:code|programs?|scripts?)(?![a-z])"
                   r"|\bcode interpreter\b", re.I)
_RUNS_PYTHON = re.compile(rf"{_RUN}|^python\b", re.I)
_OTHER = re.compile(r"\b(?:javascript|typescript|sql|bash|shell|ruby|java|rust|php|perl|lua|matlab)\b|\bC\+\+", re.I)
_SAYS_TABLE = re.compile(r"\b(?:columns?|rows?|plot)\b", re.I)
_PRINTS = re.compile(r"\bprint", re.I)

_ERROR = re.compile(r"\s*error\b", re.I)
_TRACEBACK = re.compile(r"^Traceback \(most recent call last\)", re.M)
_NO_COLUMN = re.compile(r"\bKeyError: (?P<name>'[^'\n]*'|\"[^\"\n]*\")")
_NO_FILE = re.compile(r"\bFileNotFoundError: [^\n]*?(?P<name>'[^'\n]*'|\"[^\"\n]*\")")
_LAST_LINE = re.compile(r"^(?P<line>(?:\w+\.)*\w+(?:Error|Exception|Interrupt|Exit)\b[^\n]*)", re.M)
_PREFIX = re.compile(r"^\s*error:?\s*(?:\w+(?:Error|Exception|Failed|Unavailable): )?", re.I)
_NOT_RUN = re.compile(r"argument|parameter|JSON|timed? ?out|temporar|try again|busy|rate limit|connection", re.I)
_FRAME = re.compile(r"^\[[^\n]*\]$")  # what a tool adds about files and limits
_TRIES = 2  # so many times a call is made again that did not come to run
_WORDS = {"sum": "the sum of", "mean": "the mean of", "median": "the median of", "largest": "the largest value of",
          "smallest": "the smallest value of", "deviation": "the standard deviation of",
          "distinct": "the different values of", "count": "the number of rows"}


@dataclass(frozen=True)
class _Program:
    """Code to run, and the thought that goes with it."""

    code: str
    thought: str


def code_tool(tools: Iterable[Tool]) -> Tool | None:
    """Give the first tool that runs Python: it needs one text, and its words say code."""
    return next(filter(runs_code, tools), None)


def runs_code(tool: Tool) -> bool:
    """Say whether a tool runs Python code that it is given as its one required argument."""
    part = _code_part(tool)
    if part is None or part.kind not in ("string", "any") or part.choices:
        return False
    about = f"{tool.name.replace('_', ' ')} {tool.description}"
    says = _CODE.fullmatch(part.name) or _SAYS_CODE.search(part.description)
    python = _PYTHON.search(f"{about} {part.name} {part.description}")
    runs = (python and _RUNS_PYTHON.search(about)) or (_RUNS.search(about) and not _OTHER.search(about))
    return bool(says and runs)


def _code_part(tool: Tool) -> Parameter | None:
    """Give the one parameter that a tool requires."""
    parts = required(tool)
    return parts[0] if len(parts) == 1 else None


# -- sums


def sum_in_code(asked: str, reading: Reading) -> Call | None:
    """Give the call that works out a sum, where a tool that runs code is the best one for it."""
    fitting = ranked("sum", reading)
    tool = fitting[0] if fitting else code_tool(usable(reading))
    if tool is None or not runs_code(tool):
        return None
    part = _code_part(tool)
    expression = re.sub(r"sqrt\((\w[\w.]*)\)", r"\1 ** 0.5", asked)
    expression = re.sub(r"sqrt(\([^()]*\))", r"\1 ** 0.5", expression)
    prints = _PRINTS.search(f"{tool.description} {part.description}")
    return Call(tool.name, ((part.name, f"print({expression})" if prints else expression),))


def was_run(call: Call, reading: Reading) -> bool:
    """Say whether a call came to run before, or failed too often."""
    code = _squashed(str(call.arguments[0][1]))
    same = [step for step in reading.steps if step.tool == call.tool and _squashed(step.asked) == code]
    return any(_ran(as_text(step.observation)) for step in same) or len(same) > _TRIES


def _squashed(text: str) -> str:
    return re.sub(r"\s", "", text)


# -- tables


def errand_in_code(reading: Reading) -> Errand | None:
    """Give the errand of a question about a table, if there is a tool that runs code."""
    tool = code_tool(usable(reading))
    return Errand(reading.question, (tool.name,)) if tool and _jobs(reading) else None


def _jobs(reading: Reading) -> tuple[Job, ...]:
    """Read what is asked of a table. A file that was named before, or in the goal of a plan, is still spoken of."""
    if FILE.search(reading.question) or not _SAYS_TABLE.search(reading.question):
        return jobs_in(reading.question)
    before = [found["name"] for text in (*reading.said, *(asked for asked, _ in reading.earlier))
              for found in FILE.finditer(text)]
    return jobs_in(reading.question, before[-1] if before else "")


def settle_in_code(need: Errand, reading: Reading) -> Outcome | None:
    """Settle a question about a table, one thing after the other; None if it is no such question."""
    tool = code_tool(usable(reading))
    jobs = _jobs(reading) if tool and need.tools == (tool.name,) else ()
    results = iter([as_text(step.observation) for step in reading.steps if step.tool == tool.name] if jobs else ())
    told = []
    for job in jobs:
        outcome = _settle(job, results)
        if isinstance(outcome, Lost):
            return Lost(outcome.what, " ".join([*told, outcome.said]))
        if isinstance(outcome, _Program):
            call = Call(tool.name, ((_code_part(tool).name, outcome.code),))
            return Want(call, "code", outcome.thought, need)
        told.append(outcome.text)
    return Value(" ".join(told)) if told else None


def _settle(job: Job, results: Iterator[str]) -> "Value | Lost | _Program":
    """Read the results of a job up to the one that settles it, or give the program to run next."""
    looks, header, not_run = False, (), 0
    for seen in results:
        if not _failed(seen):
            if not looks:
                return _told(job, seen)
            header, looks = _names(seen), False
            if unknown := missing(job, header):
                return Lost("the answer", f"There is no column {unknown[0]!r} in {job.file}. {_columns(header)}")
            job = renamed(job, header)
        elif _NO_COLUMN.search(seen) and not (looks or header):
            looks = True
        elif _ran(seen) or (not_run := not_run + 1) > _TRIES:
            return _lost(job, seen)
    return _Program(look_at_header(job) if looks else program_for(job), _thought(job, looks, header))


def _failed(seen: str) -> bool:
    """Say whether code or its call failed."""
    return bool(_ERROR.match(seen) or _TRACEBACK.search(seen))


def _ran(seen: str) -> bool:
    """Say whether code came to run, well or not: it was not the call that failed, or something that passes."""
    return not _failed(seen) or bool(_TRACEBACK.search(seen) or _LAST_LINE.search(seen) or not _NOT_RUN.search(seen))


def _names(seen: str) -> tuple[str, ...]:
    """Read the names of the columns, as Python prints a list."""
    try:
        names = ast.literal_eval(_printed(seen)[0])
    except (ValueError, SyntaxError, IndexError, MemoryError, RecursionError):
        return ()
    return tuple(map(str, names)) if isinstance(names, list) else ()


def _printed(seen: str) -> list[str]:
    """Give the lines that the code printed, without what the tool adds below them."""
    lines = [line.strip() for line in seen.strip().split("\n") if line.strip()]
    while len(lines) > 1 and _FRAME.match(lines[-1]):
        lines.pop()
    return lines


def _told(job: Job, seen: str) -> Value:
    """Tell what was printed: the columns, where a picture is, or the values as they stand."""
    lines = _printed(seen)
    if job.kind == "header" and _names(seen):
        return Value(_columns(_names(seen)))
    saved = re.search(r"^saved (\S+)$", "\n".join(lines), re.M) if job.is_plot else None
    if saved:
        return Value(f"The plot is in {saved[1]}.")
    said = "; ".join(lines) or "The tool returned nothing"
    return Value(said if said.endswith((".", "!", "?")) else f"{said}.")


def _columns(header: tuple[str, ...]) -> str:
    """Name the columns in a sentence."""
    return f"The columns are {', '.join(header[:-1])}{' and ' * (len(header) > 1)}{header[-1]}." if header else ""


def _lost(job: Job, seen: str) -> Lost:
    """Say why the code came to nothing."""
    no_file = _NO_FILE.search(seen)
    if no_file and no_file["name"].strip("'\"") == job.file:
        return Lost("the answer", f"There is no file {job.file}.")
    ended = _LAST_LINE.findall(_PREFIX.sub("", seen))
    if ended:
        return Lost("the answer", f"I could not do this. The code ended with {ended[-1]}")
    return Lost("the answer", f"I could not do this. The tool said: {_PREFIX.sub('', seen).strip().split(chr(10))[0]}")


def _thought(job: Job, looks: bool, header: tuple[str, ...]) -> str:
    """Word what the code is for."""
    if looks:
        return f"The code found no such column. I look which columns {job.file} has."
    if header:
        return f"The header says how the columns are called. I try again with {' and '.join(job.named)}."
    if job.kind == "header":
        return f"I look which columns {job.file} has."
    names = " and ".join(job.columns)
    what = f"plot {names}" if job.is_plot else f"find {' and '.join(_WORDS[each] for each in job.measures)} {names}"
    return f"I read {job.file} with Python and {what.strip()}."
