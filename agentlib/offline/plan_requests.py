"""A conversation with the planner: is a plan asked for, a better one, a revised one, or the answer; and the reply.

A request is one of these when its instructions ask for a plan as JSON, with dependencies between tasks. Which of the
four it is, the last message says: the goal, an error with the plan, a list of what failed, or the results.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .assigned import Entry, entries
from .offered import Tool, tools_in
from .plan_revisions import Failure, revision
from .planning import Task, plan_for, written
from .reading import text_of
from .synthesis import answer_from

_ASKS_FOR_PLAN = re.compile(r"\bplan\b.*\bJSON\b.*\bdepends_on\b", re.I | re.S)
_GOAL = re.compile(r"\s*goal:\s*(?P<goal>.+)", re.I | re.S)
_PLAN_ERROR = re.compile(r"\s*plan error:", re.I)
_SAME = re.compile(r"\bsame plan\b", re.I)
_FAILED = re.compile(r"\bfailed\b.*\brevise\b", re.I)
_RESULTS = re.compile(r"\btheir results:\n(?P<done>.*?)\n\n[^\n]*\bfinal answer\b.*?goal: (?P<goal>.+)", re.I | re.S)
_SECTION = re.compile(r"^(?P<name>Done|Failed|Not done yet)[^\n]*:\n(?P<listed>.*?)(?=\n\n|\Z)", re.M | re.S)


@dataclass(frozen=True)
class Planning:
    """What a conversation with the planner has come to."""

    tools: tuple[Tool, ...]
    goal: str
    plans: tuple[tuple[Task, ...], ...]  # those that were taken up so far for this goal
    asked: str  # the last message that is no complaint about the reply before
    complaints: tuple[str, ...]  # about the replies since then

    @property
    def wants_plan(self) -> bool:
        """Whether the reply is to be a plan, and not the answer."""
        return _RESULTS.search(self.asked) is None


def planning_in(messages: list[dict]) -> Planning | None:
    """Read a conversation with the planner; None if it is anything else."""
    instructions = "\n".join(text_of(each) for each in messages if each.get("role") in ("system", "developer"))
    users = [place for place, each in enumerate(messages) if each.get("role") == "user"]
    goals = [(place, found) for place in users if (found := _GOAL.match(text_of(messages[place])))]
    if not (goals and _ASKS_FOR_PLAN.search(instructions)):
        return None
    start, goal = goals[-1]
    turn = [(each.get("role"), text_of(each)) for each in messages[start:]]
    asked = [text for role, text in turn if role == "user" and not _complains(text)]
    since = max(place for place, (role, text) in enumerate(turn) if role == "user" and not _complains(text))
    complaints = tuple(text for role, text in turn[since + 1:] if role == "user")
    refused = {place - 1 for place, (_, text) in enumerate(turn) if _PLAN_ERROR.match(text) and not _SAME.search(text)}
    plans = tuple(plan for place, (role, text) in enumerate(turn)
                  if role == "assistant" and place not in refused and (plan := tuple(_tasks(text))))
    return Planning(tools_in(instructions), goal["goal"].strip(), plans, asked[-1], complaints)


def reply_to(planning: Planning) -> str:
    """Give the plan, the revised plan, or the answer."""
    results = _RESULTS.search(planning.asked)
    if results:
        return answer_from(results["goal"].strip(), entries(results["done"]), planning.plans)
    return written(tasks_for(planning))


def tasks_for(planning: Planning) -> list[Task]:
    """Give the tasks of the plan that is asked for."""
    if not _FAILED.search(planning.asked):
        return plan_for(planning.goal, planning.tools)
    listed = {found["name"]: entries(found["listed"]) for found in _SECTION.finditer(planning.asked)}
    failures = tuple(_failure(entry) for entry in listed.get("Failed", ()))
    done = tuple(entry.id for entry in listed.get("Done", ()))
    return revision(planning.goal, planning.tools, planning.plans, done, failures, listed.get("Not done yet", ()))


def _complains(text: str) -> bool:
    return bool(_PLAN_ERROR.match(text)) or "reply was empty" in text


def _failure(entry: Entry) -> Failure:
    return Failure(entry.id, entry.instruction, entry.text)


def _tasks(text: str) -> Iterator[Task]:
    """Read a plan of an earlier reply, as far as it is JSON."""
    try:
        data = json.loads(text[text.index("{"): text.rindex("}") + 1])
        listed = data["tasks"]
        yield from [Task(str(each["id"]), str(each["instruction"]), tuple(map(str, each.get("depends_on") or ())))
                    for each in listed]
    except (ValueError, KeyError, TypeError, AttributeError):
        return
