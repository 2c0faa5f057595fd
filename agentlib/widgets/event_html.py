"""Events as HTML: what was read from a reply, what a tool gave, what a person decided, what came of a task."""

from __future__ import annotations

import json

from ..exactly import exactly
from ..state import Answer, Decision, Evaluation, Event, Observation, Problem, State, Thought, ToolCall, Turn
from .calls import decided, source
from .message_html import call_html, escaped, pre
from .plans import is_plan, is_result

KINDS = {
    Thought: "thought", ToolCall: "action", Observation: "observation", Answer: "answer", Problem: "problem",
    Turn: "turn", Evaluation: "evaluation", Decision: "decision",
}  # fmt: skip
NAMES = {ToolCall: "Action", Answer: "Final Answer"}


def event_html(state: State, event: Event, edit: str = "") -> str:
    """Show an event of a state. `edit` holds the attributes that say how it is edited, '' where it is not."""
    notes = "".join(f' <span class="als-badge">{escaped(note)}</span>' for note in _notes(state, event))
    notes += ' <span class="als-badge als-edited">edited</span>' if event.edited else ""
    return (
        f'<div class="als-event" data-kind="{_kind(event)}"{edit}><div class="als-tag">{escaped(_name(event))}{notes}'
        f"</div>{_body(state, event)}</div>"
    )


def _kind(event: Event) -> str:
    if is_plan(event) or is_result(event):
        return "plan" if is_plan(event) else f"task-{escaped(event.status)}"
    return next((kind for cls, kind in KINDS.items() if isinstance(event, cls)), "other")


def _name(event: Event) -> str:
    if is_plan(event) or is_result(event):
        return "Plan" if is_plan(event) else f"Task {event.task}"
    return NAMES.get(type(event), type(event).__name__)


def _notes(state: State, event: Event) -> list[str]:
    """Give what is to be said of an event beside its name."""
    notes = []
    if isinstance(event, Observation):
        notes = [f"from {source(state, event)}", *[event.kind] * event.is_error]
    elif isinstance(event, Problem | Evaluation):
        notes = [event.kind]
    elif is_result(event):
        notes = [event.status]
    if isinstance(event, Evaluation | Decision):
        notes += [event.verdict]
    return notes + ["shortened for the model"] * _is_shortened(state, event)


def _body(state: State, event: Event) -> str:
    if is_plan(event):
        return _plan(event)
    if isinstance(event, ToolCall):
        text = call_html(event)
    elif isinstance(event, Decision):
        text = escaped(decided(state, event))
    else:
        text = escaped(event.text if type(event) in KINDS or is_result(event) else str(event))
    return f'<pre class="als-text" dir="auto">\n{text}</pre>'


def _plan(event: Event) -> str:
    """List the tasks of a plan. What an edit begins with is the plan as JSON, which stays hidden."""
    rows = ",\n".join(f"  {json.dumps(task.to_json(), ensure_ascii=False)}" for task in event.plan.tasks)
    written = exactly(f'{{"tasks": [\n{rows}\n]}}')
    tasks = "".join(_task(task, task.id in event.kept) for task in event.plan.tasks)
    return f'<pre class="als-text" dir="auto" hidden>\n{escaped(written)}</pre><div class="als-plan">{tasks}</div>'


def _task(task, kept: bool) -> str:
    after = f' <span class="als-badge">after {escaped(", ".join(task.depends_on))}</span>' if task.depends_on else ""
    done = ' <span class="als-badge">kept: it is done</span>' if kept else ""
    expected = f'<div class="als-note">Expected: {escaped(task.expected)}</div>' if task.expected else ""
    head = f'<div class="als-tag">{escaped(task.id)}{after}{done}</div>'
    return f'<div class="als-planned">{head}{pre(task.instruction)}{expected}</div>'


def _is_shortened(state: State, event: Event) -> bool:
    if not isinstance(event, Observation) or event.message >= len(state.messages):
        return False
    return event.text not in (state.messages[event.message].content or "")
