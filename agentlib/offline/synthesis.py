"""The answer to the goal of a plan, from the results of its tasks.

The results that no other result was built on answer the goal. Several of them are put together as the goal asks, as a
comparison or a sum, else they are told one after the other.
"""

from .assigned import Entry
from .combining import combined, is_combination, worked_out
from .figures import Result
from .goals import parts_of
from .planning import Task, about


def answer_from(goal: str, done: tuple[Entry, ...], plans: tuple[tuple[Task, ...], ...]) -> str:
    """Give the answer to a goal."""
    used = {name for plan in plans for task in plan for name in task.depends_on if task.id in {e.id for e in done}}
    used |= {entry.id for entry in done for other in done if f"${{{entry.id}}}" in other.instruction}
    last = [entry for entry in done if entry.id not in used] or list(done)
    if len(last) == 1:
        return last[0].text or "The task gave no result."
    closing = parts_of(goal).closing
    if closing and is_combination(closing):
        made = worked_out(combined(closing, tuple(Result(about(entry.instruction), entry.text) for entry in last), ""))
        if made:
            return made
    return "\n".join(entry.text for entry in last if entry.text) or "The tasks gave no results."
