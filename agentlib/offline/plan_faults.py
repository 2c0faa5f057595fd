"""How a plan goes wrong when a lesson asks for it, and how the model comes out of it again.

Three mistakes that planners make: tasks that wait for each other in a circle, a task that waits for one that is not
there, and prose where JSON was asked for. After an error the model recovers as it does from any other: with `recovery`
where the message shows the format or names a task of the plan, with `blind_recovery` where it does not; else it gives
the same plan again, word for word. The luck is that of `Faults`.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from .faults import Faults
from .plan_requests import Planning, reply_to, tasks_for
from .planning import Task, written
from .reading import text_of

_SHOWS_FORMAT = re.compile(r"\"depends_on\"|\b(?:another way|other tools|smaller tasks)\b")
_NAMED = re.compile(r"'([^']+)'")


def planned(faults: Faults, planning: Planning, messages: list[dict], seed: int) -> str:
    """Give the reply of the planner, with a fault where one strikes. Only plans are struck, answers are not."""
    if not (faults.plan_rates and planning.wants_plan):
        return reply_to(planning)
    chance = faults.chances(messages, seed)
    if planning.complaints:
        before = [text_of(each) for each in messages if each.get("role") == "assistant"][-1]
        recovery = faults.recovery if _helps(planning.complaints[-1], planning) else faults.blind_recovery
        return reply_to(planning) if chance("recovery") < recovery else before
    kind = faults.struck_plan(chance)
    tasks = tasks_for(planning)
    return WRONG[kind](tasks) if kind else written(tasks)


def _helps(complaint: str, planning: Planning) -> bool:
    ids = {task.id for plan in planning.plans for task in plan}
    return bool(_SHOWS_FORMAT.search(complaint)) or not ids.isdisjoint(_NAMED.findall(complaint))


def _in_a_circle(tasks: list[Task]) -> str:
    """Let the first task wait for the last, too."""
    first, *others = tasks
    return written([replace(first, depends_on=(*first.depends_on, tasks[-1].id)), *others])


def _waiting_for_nobody(tasks: list[Task]) -> str:
    """Let the last task wait for one that is not there."""
    *others, last = tasks
    return written([*others, replace(last, depends_on=(*last.depends_on, "check"))])


def _in_prose(tasks: list[Task]) -> str:
    """Tell the plan."""
    first, *others = [task.instruction.split("\n")[0].removesuffix(" From these results:") for task in tasks]
    told = [f"First I would do this: {first}", *(f"Then: {each}" for each in others)]
    return " ".join(["Here is how I would go about it.", *told])


WRONG: dict[str, Callable[[list[Task]], str]] = {
    "cyclic_plan": _in_a_circle, "unknown_dependency": _waiting_for_nobody, "plan_in_prose": _in_prose,
}
