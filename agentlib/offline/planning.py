"""From a goal and the tools at hand to the tasks of a plan.

What is asked of each thing becomes one task per thing, and these run side by side; so do the legs of a journey. What
is to be made of the results is a task that depends on them. A look-up that no tool is there for is not planned, and the
last task says so. A goal that has no parts, or none that can be done, is one task: the goal itself.
"""

import json
import re
from dataclasses import dataclass

from .choosing import ranked
from .combining import FROM_RESULTS, NOT_KNOWN
from .errands import errand_of
from .goals import Goal, parts_of
from .journeys import choice_in
from .needs import Open
from .offered import Tool
from .questions import understand
from .reading import Reading
from .selection import changes, selected
from .signatures import required
from .slots import is_named
from .tasks import kind_of_tool
from .words import fold

_ASKS = re.compile(r"(?:(?:in|at|on|from|by|to) )?(?:who|what|which|where|when|how|whom|is|are|was|were|did|does|do)\b",
                   re.I)


@dataclass(frozen=True)
class Task:
    """One task of a plan, and the name under which the closing task lists its result."""

    id: str
    instruction: str
    depends_on: tuple[str, ...] = ()
    label: str = ""


def plan_for(goal: str, tools: tuple[Tool, ...]) -> list[Task]:
    """Make a plan."""
    parts = parts_of(goal)
    if any(_is_unclear(ask.replace("{x}", thing), tools) for ask in parts.asks for thing in parts.things[:1]):
        parts = Goal(besides=(goal,))
    tasks = _legs(parts, tools)
    left_out = [] if tasks else [f"A way {_route(*leg, parts.when)}" for leg in parts.legs]
    for thing in parts.things:
        asks = [ask.replace("{x}", thing) for ask in parts.asks]
        kept = [ask for ask in asks if can_be_done(ask, tools)]
        left_out += [ask for ask in asks if ask not in kept]
        if kept:
            tasks.append(Task(_slug(thing, tasks), _together(kept), label=thing))
    for ask in parts.besides:
        if can_be_done(ask, tools):
            after = (tasks[-1].id,) if parts.in_turn and tasks else ()
            tasks.append(Task(_slug(about(ask), tasks), sentence_of(ask), after, about(ask)))
        else:
            left_out.append(ask)
    if not tasks or (len(tasks) == 1 and not parts.closing and not left_out):
        return [Task("1", goal.strip() if not tasks or not parts.legs else tasks[0].instruction)]
    if parts.closing or left_out or parts.legs:
        missing = [*map(sentence_of, left_out), *(["There is no tool for this."] if left_out else [])]
        tasks.append(closing(parts.closing or "Put the results together", tasks, missing))
    return tasks


def closing(asked: str, tasks: list[Task], not_known: list[str]) -> Task:
    """Give the task that makes something of the results of others."""
    lines = [f"- {task.label or task.id}: ${{{task.id}}}" for task in tasks]
    missing = [f"{NOT_KNOWN} {' '.join(not_known)}"] if not_known else []
    name = re.search(r"\b(?:report|summary|difference|sum|total|average|comparison)\b", asked.lower())
    text = "\n".join([f"{sentence_of(asked)} {FROM_RESULTS}", *lines, *missing])
    return Task(_slug(name[0] if name else "result", tasks), text, tuple(task.id for task in tasks))


def can_be_done(question: str, tools: tuple[Tool, ...]) -> bool:
    """Say whether a tool is there for a question. Without any tools, facts and sums come from memory."""
    reading = reading_of(question, tools)
    if errand_of(reading):
        return True
    need = understand(question)
    kind = kind_of_tool(need)
    if not tools:
        return kind in ("search", "sum") and not isinstance(need, Open)
    return kind not in ("search", "weather") or bool(ranked(kind, reading))


def _is_unclear(question: str, tools: tuple[Tool, ...]) -> bool:
    """Say whether a question is one that neither the grammar nor a tool is made for."""
    return isinstance(understand(question), Open) and not errand_of(reading_of(question, tools))


def reading_of(question: str, tools: tuple[Tool, ...]) -> Reading:
    """Give a request for one question, as an executor would read it."""
    return Reading(question=question, earlier=(), tools=tools, has_format=False, writes_thoughts=False,
                   action_style="native", steps=(), notes=(), seed=0)


def written(tasks: list[Task]) -> str:
    """Write a plan as JSON."""
    return json.dumps({"tasks": [{"id": task.id, "instruction": task.instruction, "depends_on": [*task.depends_on]}
                                 for task in tasks]}, ensure_ascii=False)


# -- journeys


def _legs(goal: Goal, tools: tuple[Tool, ...]) -> list[Task]:
    """Give a task for each leg, with the tool that goes from one place to another and suits best."""
    tasks: list[Task] = []
    if len(goal.legs) == 1 and choice_in(goal.closing):
        return _all_ways(goal, tools)
    for start, end in goal.legs:
        route = _route(start, end, goal.when)
        ways = connections(route, tools)
        if ways:
            tasks.append(Task(_slug(f"{start} {end}", tasks), with_tool(route, ways[0]), label=f"{start} to {end}"))
    return tasks


def _all_ways(goal: Goal, tools: tuple[Tool, ...]) -> list[Task]:
    """Give a task for each tool that goes from one place to another."""
    tasks: list[Task] = []
    route = _route(*goal.legs[0], goal.when)
    for tool in connections(route, tools):
        kind = re.sub(r"[_.-]", " ", tool.name).split(" ", 1)[-1]
        tasks.append(Task(_slug(kind, tasks), with_tool(route, tool), label=kind))
    return tasks


def _route(start: str, end: str, when: str) -> str:
    return f"from {start} to {end}{f' on {when}' if when else ''}"


def connections(route: str, tools: tuple[Tool, ...]) -> list[Tool]:
    """Give the tools that take two places and change nothing, the best for a route first."""
    fitting = [tool for tool, _ in selected(tools, route)]
    return [tool for tool in fitting if not changes(tool) and sum(map(is_named, required(tool))) == 2]


def with_tool(route: str, tool: Tool) -> str:
    """Word the task of finding a way with a tool: 'Find a train from Oslo to Bergen with find_train.'"""
    verb, *noun = re.sub(r"[_.-]", " ", tool.name).split()
    named = " ".join([verb, *noun]) if len(noun) != 1 else f"{verb} a {noun[0]}"
    return f"{named[:1].upper()}{named[1:]} {route} with {tool.name}."


# -- words


def _together(asks: list[str]) -> str:
    """Put what is asked of one thing into one sentence."""
    first, *others = [ask.strip(" ?.") for ask in asks]
    return sentence_of(", and ".join([first, *(other[:1].lower() + other[1:] for other in others)]))


def sentence_of(ask: str) -> str:
    """Write a question or an instruction as a sentence."""
    ask = ask.strip(" ?.")
    return f"{ask[:1].upper()}{ask[1:]}{'?' if _ASKS.match(ask) else '.'}"


def about(ask: str) -> str:
    """Say shortly what a question is about: its last name, or all of it."""
    names = re.findall(r"(?<!^)\b[A-Z][\w-]*(?: [A-Z][\w-]*)*", ask)
    return names[-1] if names else ask.strip(" ?.")


def _slug(name: str, tasks: list[Task]) -> str:
    """Make an id of a name: one that no other task has."""
    plain = "-".join(re.findall(r"[a-z0-9]+", fold(name))[:4]) or "task"
    taken = {task.id for task in tasks}
    return next(each for each in (plain, *(f"{plain}-{n}" for n in range(2, len(tasks) + 3))) if each not in taken)
