"""The revised rest of a plan, after tasks failed.

What failed is tried in another way that was not tried yet: with another tool that takes the same, in smaller tasks,
in other words. What failed for a reason that passes may be tried once more as it is. Where no way is left, the task is
left out, and the last task says what is not known. A task keeps its id, so that what refers to it stays right.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .assigned import Entry
from .clauses import clauses
from .combining import FROM_RESULTS, NOT_KNOWN
from .offered import Tool
from .planning import Task, connections, sentence_of, with_tool
from .questions import understand
from .verbal import other_questions

_PASSES = re.compile(r"timed? ?out|temporar|unavailable|try again later|busy|rate.?limit"
                     r"|connection (?:was )?(?:lost|reset|refused)", re.I)
_AGAIN = "Try again: "
_SAY = f"Say: \"{NOT_KNOWN} "
_ROUTE = re.compile(r"\b(?P<route>from .+?) with (?P<tool>[\w.-]+?)\.?$")
_NAMED_TOOL = re.compile(r",? (?:with|using) [\w.-]+?(?=\.?$)")


@dataclass(frozen=True)
class Failure:
    """A task that failed, and why."""

    id: str
    instruction: str
    why: str


def revision(goal: str, tools: tuple[Tool, ...], plans: tuple[tuple[Task, ...], ...], done: tuple[str, ...],
             failures: tuple[Failure, ...], rest: tuple[Entry, ...]) -> list[Task]:
    """Give the tasks that are to be done now."""
    known = {task.id: task for plan in plans for task in plan}
    tried = {_plain(task.instruction) for plan in plans for task in plan}
    tried |= {_plain(failure.instruction) for failure in failures}
    tasks: list[Task] = []
    lost: list[Failure] = []
    for failure in failures:
        before = known[failure.id].depends_on if failure.id in known else ()
        ways = [*_other_tools(failure, tools), *(() if _was_changed(failure.id, plans) else _other_words(failure))]
        way = next((way for way in ways if not {_plain(text) for text in way} <= tried), None)
        if way is None:
            lost.append(failure)
        else:
            tasks += _in_steps(failure.id, way, before)
    tasks += [_waiting(entry, known) for entry in rest]
    why = [_first_words(each, plans) for each in lost if FROM_RESULTS not in each.instruction]
    kept = _without(tasks, {each.id for each in lost}, why)
    return kept or [_nothing_left(lost, why)]


# -- other ways


def _other_tools(failure: Failure, tools: tuple[Tool, ...]) -> list[tuple[str, ...]]:
    """Give the same task with each tool that can do it, the best first."""
    route = _ROUTE.search(failure.instruction)
    return [(with_tool(route["route"], tool),) for tool in connections(route["route"], tools)] if route else []


def _was_changed(name: str, plans: tuple[tuple[Task, ...], ...]) -> bool:
    """Say whether a task is no longer the one that was planned first: words are changed once, then it is left out."""
    if not plans:
        return False
    first = next((plan for plan in plans if any(task.id == name for task in plan)), ())
    told = {task.instruction for plan in plans for task in plan if task.id == name}
    return len(told) > 1 or first not in plans[:1]


def _other_words(failure: Failure) -> Iterator[tuple[str, ...]]:
    """Give smaller tasks, other words, or the same again after what passes; each is one instruction, or several that
    follow each other."""
    text = failure.instruction.removeprefix(_AGAIN)
    asked, closes, results = text.partition(FROM_RESULTS)
    smaller = [] if closes else clauses(text)
    if len(smaller) > 1:
        yield tuple(sentence_of(part) for part in smaller)
    for other in [] if closes else other_questions(understand(text)):
        yield (other,)
    if closes and not asked.startswith("List"):
        yield (f"List the results. {FROM_RESULTS}{results}",)
    if _PASSES.search(failure.why):
        yield (f"{_AGAIN}{text}",)


def _in_steps(name: str, way: tuple[str, ...], before: tuple[str, ...]) -> list[Task]:
    """Make tasks of instructions that follow each other. The last has the old id; what comes before has a number."""
    tasks: list[Task] = []
    for place, instruction in enumerate(way, 1):
        own = name if place == len(way) else f"{name}-{place}"
        tasks.append(Task(own, instruction, (*before, *(task.id for task in tasks))))
    return tasks


# -- what cannot be done


def _waiting(entry: Entry, known: dict[str, Task]) -> Task:
    """Give a task that was not begun, as it was planned."""
    after = tuple(part.strip() for part in entry.text.split(",") if part.strip())
    return known.get(entry.id) or Task(entry.id, entry.instruction, after)


def _without(tasks: list[Task], lost: set[str], why: list[str]) -> list[Task]:
    """Take out what depends on nothing but lost tasks, and from the others what they would say of these."""
    kept: list[Task] = []
    for task in tasks:
        after = tuple(name for name in task.depends_on if name not in lost)
        if after == task.depends_on:
            kept.append(task)
        elif after:
            kept.append(replace(task, instruction=_shortened(task.instruction, lost, why), depends_on=after))
        else:
            lost = {*lost, task.id}
    return kept if len(kept) == len(tasks) or not kept else _without(kept, lost, why)


def _shortened(instruction: str, lost: set[str], why: list[str]) -> str:
    """Take the lines of lost results out of an instruction, and say what is not known."""
    lines = [line for line in instruction.split("\n") if not any(f"${{{name}}}" in line for name in lost)]
    before = [line.removeprefix(NOT_KNOWN).strip() for line in lines if line.startswith(NOT_KNOWN)]
    lines = [line for line in lines if not line.startswith(NOT_KNOWN)]
    missing = " ".join(dict.fromkeys([*before, *map(_question, why)]))
    return "\n".join([*lines, f"{NOT_KNOWN} {missing}"] if missing else lines)


def _first_words(failure: Failure, plans: tuple[tuple[Task, ...], ...]) -> str:
    """Give the instruction of a task, or of the one that it is a part of, as it was planned first."""
    names = (failure.id, re.sub(r"-\d+$", "", failure.id))
    return next((task.instruction for plan in plans for task in plan if task.id in names), failure.instruction)


def _nothing_left(lost: list[Failure], why: list[str]) -> Task:
    """Give the one task that is left where nothing else can be done: to say so."""
    said = next((each.instruction for each in lost if each.instruction.startswith(_SAY)), "")
    what = " ".join(dict.fromkeys(map(_question, why or [each.instruction for each in lost])))
    return Task("unknown", said or f"{_SAY}{what}\"")


def _question(instruction: str) -> str:
    """Say what a task was to find out."""
    route = _ROUTE.search(instruction)
    if route:
        return f"A way {route['route']}."
    return sentence_of(_NAMED_TOOL.sub("", instruction.removeprefix(_AGAIN).partition(FROM_RESULTS)[0]))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!?")
