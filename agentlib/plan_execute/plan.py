"""What a plan is: tasks that depend on each other, checked before any of them runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from .references import referenced


class PlanError(ValueError):
    """A plan that cannot be carried out. The text says what is wrong with it, for the planner too."""


@dataclass(frozen=True)
class Task:
    """A part of a plan. `instruction` may hold references such as ${id}, which stand for the results of other tasks;
    `expected` says what a good result looks like, where the planner said so."""

    id: str
    instruction: str
    depends_on: tuple[str, ...] = ()
    expected: str = ""

    def __post_init__(self) -> None:
        single = isinstance(self.depends_on, str)
        object.__setattr__(self, "depends_on", (self.depends_on,) if single else tuple(self.depends_on))

    def __str__(self) -> str:
        after = f" (after {', '.join(self.depends_on)})" if self.depends_on else ""
        return f"{self.id}{after}: {self.instruction}"

    def to_json(self) -> dict:
        """Give the JSON object that a planner writes for the task."""
        data = {"id": self.id, "instruction": self.instruction, "depends_on": list(self.depends_on)}
        return data | {"expected": self.expected} if self.expected else data


@dataclass(frozen=True)
class Plan:
    """Tasks in the order in which the planner wrote them. `checked` makes one that can be carried out."""

    tasks: tuple[Task, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", tuple(self.tasks))

    @cached_property
    def index(self) -> dict[str, int]:
        """The place of each task in `tasks`, by its id."""
        return {task.id: place for place, task in enumerate(self.tasks)}

    def __str__(self) -> str:
        return "\n".join(map(str, self.tasks))

    def to_json(self) -> str:
        """Give the plan as a planner writes it."""
        return json.dumps({"tasks": [task.to_json() for task in self.tasks]}, ensure_ascii=False)

    def sorter(self) -> TopologicalSorter:
        """Give a sorter of the ids that starts, and goes on, in the order of the plan. Raises CycleError."""
        sorter: TopologicalSorter = TopologicalSorter()
        for task in self.tasks:
            sorter.add(task.id)
        for task in self.tasks:
            sorter.add(task.id, *task.depends_on)
        sorter.prepare()
        return sorter

    @cached_property
    def order(self) -> tuple[Task, ...]:
        """The tasks, each after those that it depends on."""
        sorter, ordered = self.sorter(), []
        while ready := sorter.get_ready():
            ordered += [self.tasks[self.index[each]] for each in ready]
            sorter.done(*ready)
        return tuple(ordered)

    @cached_property
    def depths(self) -> dict[str, int]:
        """How many tasks must come before each, one after the other."""
        depths: dict[str, int] = {}
        for task in self.order:
            depths[task.id] = max((depths[each] + 1 for each in task.depends_on), default=0)
        return depths

    def critical_path(self, duration: Callable[[Task], float]) -> tuple[tuple[str, ...], float]:
        """Give the chain of tasks that takes longest, and how long: no run is shorter (Kelley and Walker 1959)."""
        ends: dict[str, float] = {}
        before: dict[str, str | None] = {}
        for task in self.order:
            before[task.id] = max(task.depends_on, key=ends.__getitem__, default=None)
            ends[task.id] = duration(task) + (ends[before[task.id]] if task.depends_on else 0)
        last = max(ends, key=ends.__getitem__, default=None)
        length, path = ends.get(last, 0.0), []
        while last is not None:
            path.append(last)
            last = before[last]
        return tuple(reversed(path)), length


def checked(tasks: Iterable[Task]) -> Plan:
    """Give the plan, with the dependencies that its references ask for. Raises PlanError, which names all faults."""
    tasks = tuple(tasks)
    if not tasks:
        raise PlanError("the plan is empty: it needs at least one task")
    faults = [*_faults_of_ids(tasks), *_faults_of_dependencies(tasks)]
    plan = Plan(tuple(_with_references(task, {each.id for each in tasks}) for task in tasks))
    if not faults:
        try:
            plan.sorter()
        except CycleError as error:
            path = _cycle(error.args[1], plan)
            faults = [f"cycle: {' -> '.join(path)} (each of them depends on the next)"]
    if faults:
        raise PlanError("; ".join(faults))
    return plan


def _faults_of_ids(tasks: tuple[Task, ...]) -> Iterable[str]:
    for each, times in Counter(task.id for task in tasks).items():
        if not each.strip() or "/" in each or "\n" in each:
            yield f"the id {each!r} must be a word or a number, without a slash"
        if times > 1:
            yield f"duplicate id: {times} tasks are named {each!r}"
    yield from (f"task {task.id!r} has no instruction" for task in tasks if not task.instruction.strip())


def _faults_of_dependencies(tasks: tuple[Task, ...]) -> Iterable[str]:
    known = {task.id for task in tasks}
    for task in tasks:
        if task.id in task.depends_on or task.id in referenced(task.instruction, known):
            yield f"self-dependency: task {task.id!r} depends on itself"
        for each in task.depends_on:
            if each not in known:
                yield f"unknown dependency: task {task.id!r} depends on {each!r}, which is no task"


def _with_references(task: Task, known: set[str]) -> Task:
    """Add what the instruction refers to: a result can only be filled in when it is there."""
    needed = tuple(dict.fromkeys((*task.depends_on, *referenced(task.instruction, known))))
    return task if needed == task.depends_on else Task(task.id, task.instruction, needed, task.expected)


def _cycle(found: list[str], plan: Plan) -> list[str]:
    """Write a cycle from its first task in the plan, each task before the one that it depends on."""
    around = found[:0:-1]  # graphlib writes each before the one that depends on it, and the first twice
    start = around.index(min(around, key=plan.index.__getitem__))
    return [*around[start:], *around[:start], around[start]]
