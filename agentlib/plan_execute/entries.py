"""From data to tasks: the names that models give to the fields of a plan, and to the fields of a task."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .plan import PlanError, Task

LISTS = ("tasks", "steps", "plan", "subtasks", "todo")
IDS = ("id", "task_id", "step_id", "key", "number", "step_number")
INSTRUCTIONS = ("instruction", "task", "description", "instructions", "step", "action", "what", "do", "title", "name")
DEPENDENCIES = ("depends_on", "dependencies", "deps", "after", "dependsOn", "depends", "requires", "needs")
EXPECTED = ("expected", "expected_output", "expected_result")
TOOLS, ARGUMENTS = ("tool", "function", "tool_name"), ("arguments", "args", "input", "parameters", "tool_input")

Note = Callable[[str], None]


def is_plan(value: Any) -> bool:
    """Say whether data is meant as a plan: a list of tasks, or an object that holds one."""
    listed = _listed(value)
    if value is not listed:
        return listed is not None
    return isinstance(value, list) and bool(value) and all(isinstance(each, list) or is_task(each) for each in value)


def is_task(value: Any) -> bool:
    """Say whether data without the word plan round it is meant as a task: it has an id, or says what it depends on."""
    return isinstance(value, dict) and any(_of(value, names) is not None for names in (IDS, DEPENDENCIES))


def tasks_of(value: Any, note: Note) -> Iterator[Task]:
    """Give the tasks of a plan. Raises PlanError for what would have to be guessed."""
    entries = [*_entries(_listed(value))]
    ids = [_id(entry, place) for place, entry in enumerate(entries, 1)]
    if sum(_of(entry, IDS) is None for entry in entries) not in (0, len(entries)):
        raise PlanError("some tasks have an id and some have none")
    for name, entry in zip(ids, entries, strict=True):
        instruction, depends_on = _instruction(name, entry), _dependencies(name, entry, ids, note)
        yield Task(name, instruction, depends_on, str(_of(entry, EXPECTED) or ""))


def _listed(value: Any) -> Any:
    """Give the list of tasks, or the object that names tasks by their ids, in a plan; None when there is neither."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    found = _of(value, LISTS)
    if isinstance(found, dict) and _of(found, LISTS) is not None:  # {"plan": {"steps": […]}}
        return _listed(found)
    return found if isinstance(found, list | dict) else None


def _entries(listed: Any) -> Iterator[dict]:
    """Give the objects of a list; those of lists in it too, when each says what it depends on."""
    if is_task(listed):
        listed = [listed]
    elif isinstance(listed, dict):
        listed = [{"id": key} | (each if isinstance(each, dict) else {"task": each}) for key, each in listed.items()]
    for each in listed:
        if isinstance(each, list):
            inner = [*_entries(each)]
            if any(_of(entry, DEPENDENCIES) is None for entry in inner):
                raise PlanError("there are lists within the plan's list; make it one, and let depends_on say the order")
            yield from inner
        elif isinstance(each, dict):
            if isinstance(_of(each, LISTS), list | dict):
                raise PlanError("a task has tasks of its own; write them beside it, and let depends_on say the order")
            yield each
        else:
            raise PlanError(f"{_short(each)} is no task: a task is an object with id, instruction and depends_on")


def _of(entry: dict, names: Iterable[str]) -> Any:
    """Give the first of the fields that is there and not null, whatever its case."""
    lower = {key.lower().strip(): value for key, value in entry.items() if value is not None}
    return next((lower[name.lower()] for name in names if name.lower() in lower), None)


def _id(entry: dict, place: int) -> str:
    value = _of(entry, IDS)
    if value is None and isinstance(_of(entry, ("step",)), int):  # {"step": 1, "task": "…"}
        value = _of(entry, ("step",))
    if value is None:
        return str(place)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise PlanError(f"the id {_short(value)} is neither a text nor a number")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _instruction(name: str, entry: dict) -> str:
    tool = _of(entry, TOOLS)
    texts = (entry_value for key in INSTRUCTIONS if isinstance(entry_value := _of(entry, (key,)), str))
    said = next((text.strip() for text in texts if text.strip() and text.strip() != tool), "")
    if not isinstance(tool, str) or not tool.strip():
        return said
    arguments = _of(entry, ARGUMENTS)
    if isinstance(arguments, dict):
        written = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
    else:
        written = "" if arguments is None else json.dumps(arguments, ensure_ascii=False).strip("[]")
    call = f"{tool.strip()}({written})"
    return f"{said} with {call}" if said else call


def _dependencies(name: str, entry: dict, ids: list[str], note: Note) -> tuple[str, ...]:
    value = _of(entry, DEPENDENCIES)
    found = tuple(dict.fromkeys(_named(value, ids)))
    if isinstance(value, str) and found:
        note(f"the dependencies of {name!r} were the text {value!r}, and became {list(found)}")
    return found


def _named(value: Any, ids: list[str]) -> Iterator[str]:
    """Give the ids in what stands for the dependencies of a task: a list, a text, a number, an object."""
    if isinstance(value, list):
        for each in value:
            yield from [each.strip()] if isinstance(each, str) and each.strip() in ids else _named(each, ids)
    elif isinstance(value, dict) and _of(value, IDS) is not None:
        yield _id(value, 0)
    elif isinstance(value, str):
        yield from [value.strip()] if value.strip() in ids else _in_text(value, ids)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield _id({"id": value}, 0)
    elif value is not None and value is not False:
        raise PlanError(f"the dependencies {_short(value)} cannot be read; give a list of ids")


def _in_text(text: str, ids: list[str]) -> Iterator[str]:
    """Give the ids in a text such as "a, b", "$1 and $2", "step 1" or "none"."""
    for part in re.split(r"[,;]|\band\b", text.strip(" []()")):
        plain = part.strip(" \t\n\"'`").removeprefix("$").strip("{}")
        number = re.sub(r"^(?:task|step)s?\s*+#?", "", plain, flags=re.IGNORECASE)
        if plain and plain.lower() not in ("none", "null", "nothing", "-", "n/a"):
            yield number if number in ids and plain not in ids else plain


def _short(value: Any) -> str:
    return repr(value)[:60]
