"""What the planner, the executor and the synthesizer are told. The planner's texts are one conversation."""

from __future__ import annotations

from collections.abc import Iterable

from ..state import Message
from ..tools import shorten
from .plan import Task
from .reading import EXAMPLE
from .references import referenced, substitute
from .runs import TaskRun, TaskStatus
from .state import PlanState

PLANNER = """\
You plan, and others carry out the plan. Break the goal into tasks, as few as will do. Whoever does a task sees its \
instruction and the results of the tasks that it depends on, but not the other tasks: say in each instruction all that \
it needs. Tasks that do not depend on each other run at the same time.

Whoever does the tasks can use these tools:

{tools}

Write a plan as JSON in exactly this format, and nothing else:

{example}

In an instruction, ${{id}} stands for the result of the task with that id."""

WITH_EXPECTED = ' A task may have one more field, "expected": what a good result looks like.'

EXECUTOR = "Do the task. Use the tools for what you do not know for certain. Give the result as plain text, no more."

GOAL = "Goal: {goal}"

BAD_PLAN = "Plan error: {why}. Give the whole plan again, as JSON in exactly this format:\n\n{example}"

SAME_PLAN = (
    "Plan error: this is the same plan that failed. Change what failed: another way, other tools, or smaller tasks."
)

REPLAN = """\
Some tasks failed. Revise the rest of the plan.

Done (their results are kept; a new task may depend on them):
{done}

Failed:
{failed}

Not done yet:
{rest}

Write the tasks that are to be done now, as JSON in the same format, and nothing else. Leave out what is done. Do not \
repeat what failed in the same way."""

SYNTHESIS = """\
All tasks are done. Their results:

{done}

Give the final answer to the goal from these results, as plain text, and nothing else. The goal: {goal}"""

NONE = "(none)"

EMPTY_ANSWER = "Your reply was empty. Give the final answer as plain text."

EXPECTED = "Expected: {expected}"
KNOWN = "Results of earlier tasks:\n{known}"
PART = "This is one task of a plan; do this task only. The goal of the plan, for context: {goal}"


def task_prompt(task: Task, state: PlanState) -> str:
    """Give what the executor is told: its task with the results that it names, the others that it depends on, and the
    goal."""
    known = {each: state.run_of(each).result for each in task.depends_on}
    named = referenced(task.instruction, known)
    others = [state.plan.tasks[state.plan.index[each]] for each in task.depends_on if each not in named]
    listed = "\n".join(_entry(each, "Result", shorten(known[each.id])) for each in others)
    parts = [
        substitute(task.instruction, {each: shorten(known[each]) for each in named}),
        EXPECTED.format(expected=task.expected) if task.expected else "",
        KNOWN.format(known=listed) if listed else "",
        PART.format(goal=state.goal),
    ]
    return "\n\n".join(filter(None, parts))


def planner_prompt(tools: str, judged: bool) -> str:
    """Give the instructions of the planner. Where results are judged, it is asked to say what it expects of them."""
    return PLANNER.format(tools=tools, example=EXAMPLE) + WITH_EXPECTED * judged


def replan_prompt(state: PlanState) -> str:
    """Give what the replanner is told: what is done, what failed and why, and what has not been done."""
    rest = [(task, run) for task, run in state.tasks if run.status not in (TaskStatus.DONE, TaskStatus.FAILED)]
    failed = [(task, run) for task, run in state.tasks if run.status is TaskStatus.FAILED]
    return REPLAN.format(
        done=_done(state),
        failed="\n".join(_entry(task, "Error", _why(run)) for task, run in failed) or NONE,
        rest="\n".join(_entry(task, "Depends on", ", ".join(task.depends_on)) for task, _ in rest) or NONE,
    )


def synthesis_prompt(state: PlanState) -> str:
    """Give what the synthesizer is told: all results, and the goal."""
    return SYNTHESIS.format(done=_done(state), goal=state.goal)


def as_goal(messages: Iterable[Message]) -> str:
    """Give the conversation with the planner as one text: the goal of a planner that is an agent."""
    return "\n\n".join(message.content for message in messages)


def _done(state: PlanState) -> str:
    done = [(task, run) for task, run in state.tasks if run.status is TaskStatus.DONE]
    return "\n".join(_entry(task, "Result", shorten(run.result)) for task, run in done) or NONE


def _why(run: TaskRun) -> str:
    return f"{run.error}. Its result was: {shorten(run.result)}" if run.result else run.error


def _entry(task: Task, label: str, text: str) -> str:
    """Write a task in a list, with a text below it whose further lines are indented."""
    head = f"- {task.id}: {task.instruction}"
    return f"{head}\n{label}: {text}".replace("\n", "\n  ") if text else head
