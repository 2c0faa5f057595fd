"""Many runs, one table: each task under each condition with each seed.

    def plain(seed):
        return ReAct(LLM(seed=seed), tools=[search, weather])

    def guarded(seed):
        return ReAct(LLM(seed=seed), tools=[search, weather], guards=[LoopGuard()])

    tasks = [("Is it warmer in Beijing or in Shanghai?", "Shanghai")]
    table = evaluate(tasks, {"plain": plain, "guarded": guarded}, seeds=range(20), path="sweep.jsonl")
    table                              # success with its interval, model calls, tokens and errors of each condition
    table.by("condition", "task").rows

A condition makes a new agent for each run, from the seed alone, so no run can change another: the table is the same
whatever the executor, the number of workers and the order in which they finish. A call that waits for approval is
rejected, since nobody is there to ask.
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from operator import index
from typing import Any

from ..approval import attended, reject_all
from ..state import Observation, Problem, State, Status
from .fingerprint import fingerprint
from .progress import progress
from .runfile import RunFile
from .runs import FAILED, Run, Table
from .sweeping import check, run_all

Check = Callable[[State], bool]
Condition = Callable[[int], Any]

_LETTER = r"[^\W\u3040-\u30ff\u3400-\u9fff]"  # of a script that puts spaces between words


@dataclass(frozen=True)
class Cell:
    """One run to be made."""

    task: str
    expected: Any
    condition: str
    make: Condition
    seed: int
    score: Callable[[State, Any], bool]

    @property
    def name(self) -> tuple[str, str, int]:
        return self.task, self.condition, self.seed


def mentions(state: State, expected: str) -> bool:
    """Say whether the answer holds the expected text, not inside a longer word or number; upper case does not count.

    It is a search, not a judgement: "not Shanghai" holds Shanghai, too.
    """
    words = r"\s+".join(map(re.escape, expected.casefold().split()))
    pattern = rf"(?<!{_LETTER})(?<!\d[.,]){words}(?!{_LETTER})(?![.,]\d)"
    return re.search(pattern, (state.answer or "").casefold()) is not None


def evaluate(
    tasks: Iterable[tuple[str, str | Check]],
    conditions: Mapping[str, Condition],
    seeds: Iterable[int],
    *,
    score: Callable[[State, Any], bool] = mentions,
    executor: Executor | None = None,
    path: str | os.PathLike | None = None,
) -> Table:
    """Run each task under each condition with each seed, and give the table of all runs.

    A task is a question and what is expected: a text for `score`, or a function that says whether the last state is a
    success. A condition is a function from a seed to an agent. `executor` is any of `concurrent.futures`, such as a
    ProcessPoolExecutor or Dask's `client.get_executor()`; its workers must be able to import the functions. None: here.

    `path` is a file that keeps each run when it ends. When it exists, only the runs that it lacks are made; failed ones
    count as made, until their lines are deleted. Runs of a task or a condition that has changed since are made again,
    and a warning says so.

    A run that raises, or whose worker dies, is a run with the status failed. KeyboardInterrupt ends the sweep.
    """
    tasks, conditions = list(tasks), dict(conditions)
    cells = _cells(tasks, conditions, [*map(index, seeds)], score)
    file = RunFile(path, _keys(cells)) if path is not None else None
    done = dict(file.runs) if file else {}
    failed = sum(run.status == FAILED for run in done.values())
    missing = [cell for cell in cells if cell.name not in done]
    if executor is not None and missing:
        check(executor, tasks, conditions, score)
    with progress(len(cells)) as show, closing(run_all(run_cell, missing, executor)) as results:
        for cell, result in results:
            run = _lost(cell, result) if isinstance(result, Exception) else result
            if run.status == Status.INTERRUPTED:  # the agent has caught the interrupt, to keep its trace
                raise KeyboardInterrupt
            done[cell.name] = run
            failed += run.status == FAILED
            if file:
                file.keep(run)
            show(len(done), failed)
    return Table(tuple(done[cell.name] for cell in cells))


def run_cell(cell: Cell) -> Run:
    """Make the agent, run it, and give the run in short. Only KeyboardInterrupt gets out."""
    model = ""
    try:
        agent = cell.make(cell.seed)
        model = " + ".join(sorted(_models(agent)))
        (state,) = deque(attended(agent, cell.task, reject_all), maxlen=1)
        success = cell.expected(state) if callable(cell.expected) else cell.score(state, cell.expected)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also the SystemExit of a tool that calls sys.exit
        return _failed(cell, _line(error), model)
    return Run(
        *cell.name, bool(success), str(state.status), state.reason, state.answer, model, state.usage, _errors(state)
    )


# -- cells


def _cells(tasks: list, conditions: dict[str, Condition], seeds: list[int], score: Callable) -> list[Cell]:
    for task in tasks:
        if not (isinstance(task, tuple | list) and len(task) == 2 and isinstance(task[0], str)):
            raise ValueError(f"a task is a question and what is expected, not {task!r}")
        if not (callable(task[1]) or score is not mentions or isinstance(task[1], str)):
            raise ValueError(f"what is expected is a text or a function of the last state, not {task[1]!r}")
    for name, values in (("questions", [question for question, _ in tasks]), ("seeds", seeds)):
        if len(set(values)) < len(values):
            raise ValueError(f"two {name} are the same; each run needs a name of its own")
    for name, make in conditions.items():
        if not callable(make):
            raise ValueError(f"condition {name!r} is a {type(make).__name__}; it must be a function from seed to agent")
    return [
        Cell(question, expected, name, make, seed, score)
        for question, expected in tasks
        for name, make in conditions.items()
        for seed in seeds
    ]


def _keys(cells: list[Cell]) -> dict[tuple, str]:
    """Give each cell's name a key that changes when its task, its condition or the score does."""
    tasks = {cell.task: fingerprint(cell.task, cell.expected) for cell in {each.task: each for each in cells}.values()}
    makers = {each.condition: each for each in cells}.values()
    conditions = {cell.condition: fingerprint(cell.make, cell.score) for cell in makers}
    return {cell.name: f"{tasks[cell.task]}-{conditions[cell.condition]}" for cell in cells}


# -- what is kept of a run


def _errors(state: State) -> tuple[tuple[str, int], ...]:
    """Count the problems and the results that are errors, by kind."""
    problems = [event.kind for event in state.events if isinstance(event, Problem)]
    failures = [event.kind for event in state.events if isinstance(event, Observation) and event.is_error]
    return tuple(sorted(Counter(problems + failures).items()))


def _models(agent: Any, depth: int = 4) -> set[str]:
    """Give the names of the models that an agent, and the agents within it, ask."""
    if hasattr(agent, "chat"):
        return {str(getattr(agent, "model", type(agent).__name__))}
    within = vars(agent).values() if depth and hasattr(agent, "run") and hasattr(agent, "__dict__") else ()
    return set().union(*(_models(each, depth - 1) for each in within))


def _lost(cell: Cell, error: Exception) -> Run:
    return _failed(cell, f"the worker gave no result: {type(error).__name__}", "")


def _failed(cell: Cell, reason: str, model: str) -> Run:
    return Run(*cell.name, False, FAILED, reason, model=model, errors=((FAILED, 1),))


def _line(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())[:200]
    except Exception:  # a class of somebody's own may fail at this, too
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
