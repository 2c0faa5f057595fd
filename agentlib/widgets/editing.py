"""What of a step can be edited, and what the edit box holds at first."""

from __future__ import annotations

from ..state import Answer, Event, Observation, Problem, Thought, ToolCall, Turn
from .calls import one_line
from .frames import Frame
from .plans import is_plan, is_planned, is_result

EDITABLE = {Thought: "thought", ToolCall: "action", Answer: "action", Observation: "observation"}
LABELS = {ToolCall: "Action: ", Answer: "Final Answer: ", Problem: "Action: "}


def edits(of: Frame) -> dict[int, str]:
    """Say which of the frame's events a fork can change: their positions, and what the fork calls them."""
    if of.decision:  # the call stands in the step that asked for it
        return {}
    if is_planned(of.state):
        return _edits_of_plan(of)
    found = {}
    for position, event in enumerate(of.events):
        if isinstance(event, Turn):  # a fork does not reach back behind it
            found = {}
        field = next((name for cls, name in EDITABLE.items() if isinstance(event, cls)), None)
        if field:  # a fork changes the last of each
            found = {key: name for key, name in found.items() if name != field} | {position: field}
    unread = of.reply is not None and "action" not in found.values()
    problems = [i for i, e in enumerate(of.events) if unread and isinstance(e, Problem) and e.message == of.reply[0]]
    return found | {problems[0]: "action"} if problems else found


def _edits_of_plan(of: Frame) -> dict[int, str]:
    """A fork of a plan's run changes its last plan, or the result of a task, which is named by its place. Of a run that
    was taken up later, older plans and results are events too: the last of each counts."""
    plan = of.state.plan
    last: dict[str, int] = {}
    for position, event in enumerate(of.events):
        if is_plan(event) and plan is not None:
            last["plan"] = position
        elif is_result(event) and plan is not None and event.task in plan.index:
            last[f"task:{plan.index[event.task]}"] = position
        elif isinstance(event, Problem) and plan is None and of.reply:
            last["plan"] = position
    return {position: field for field, position in sorted(last.items(), key=lambda each: each[1])}


def before_text(of: Frame, event: Event) -> str:
    """Give what an edit box holds before the event's own text: its label, and above it the other calls of its reply,
    since all of them are edited together."""
    if is_planned(of.state):
        return ""
    calls = [each for each in of.events if isinstance(each, ToolCall) and isinstance(event, ToolCall)]
    others = [f"{LABELS[ToolCall]}{one_line(call)}\n" for call in calls if call is not event]
    return "".join(others) + LABELS.get(type(event), "")
