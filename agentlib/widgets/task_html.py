"""One task of a plan as HTML: what it was told, what came of it, and all that its agent did."""

from __future__ import annotations

from ..state import State
from .event_html import event_html
from .message_html import escaped, folded_html, pre
from .plans import Moved, moved

PREVIEW = 90  # characters of an instruction beside the name of its task


def task_html(each: Moved, key: str = "") -> str:
    """Show a task, folded. `key` tells a script which task it is."""
    task, run = each.task, each.run
    told = f'<span class="als-preview">{escaped(task.instruction[:PREVIEW].splitlines()[0])}</span>'
    head = f'<b>{escaped(task.id)}</b> <span class="als-badge">{escaped(run.status)}</span> {told}'
    parts = [
        _part("Instruction", pre(task.instruction)),
        _part("Depends on", pre(", ".join(task.depends_on))) if task.depends_on else "",
        _part("Expected", pre(task.expected)) if task.expected else "",
        _part("Error", pre(run.error)) if run.error else "",
        _part("Result, written by a person" if run.edited else "Result", pre(run.result)) if run.result else "",
        _part(_took(run), trajectory_html(run.inner)) if run.inner else "",
    ]
    data = f'data-status="{escaped(run.status)}"' + (f' data-task="{key}"' if key else "")
    return f'<details class="als-task" {data}><summary>{head}</summary>{"".join(parts)}</details>'


def trajectory_html(state: State) -> str:
    """Show all that happened in a run, and below it, folded, what its model was sent."""
    events = "".join(event_html(state, event) for event in state.events)
    calls = sum(message.role == "assistant" for message in state.messages)
    title = f"What the model was sent, and answered: {_count(calls, 'call')}, {_count(len(state.messages), 'message')}"
    conversation = f'<details class="als-message"><summary>{title}</summary>{_conversation(state)}</details>'
    within = "".join(task_html(each) for each in moved(None, state))
    return events + conversation + within


def _conversation(state: State) -> str:
    """Show the messages in their order, and before each reply how many of them the model was sent."""
    parts, calls = [], 0
    for index, message in enumerate(state.messages):
        if message.role == "assistant":
            calls += 1
            sent = "the message" if index == 1 else f"the {index} messages"
            parts.append(f'<div class="als-note">Call {calls} was sent {sent} above, and answered:</div>')
        parts.append(folded_html(state, message))
    return "".join(parts)


def _took(run) -> str:
    times = (run.started, run.finished)
    return "What it did" if None in times else f"What it did, in {run.finished - run.started:.1f} s"


def _part(title: str, body: str) -> str:
    return f'<div class="als-section"><div class="als-section-title">{title}</div>{body}</div>'


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
