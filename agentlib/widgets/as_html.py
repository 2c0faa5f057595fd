"""A run as HTML that reads without a script: one `<details>` for each step. Everything is escaped here, once.

The live widget and the saved twin are both made of these fragments. A message is rendered once, in the step that
brought it; where a later request holds it again, the script copies that rendering.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from ..state import Answer, Evaluation, Event, Message, Observation, Problem, State, Thought, ToolCall, Turn
from .frames import DRAFT, Frame, call_of, call_text, edits, frame, split_reply
from .visible import shape, visible

# Notebooks differ in where they put a script of an output, but it stays in the same output.
MOUNT = """const here = document.currentScript?.parentElement ?? document;
here.querySelectorAll(".als:not([data-mounted])").forEach((root) => mountStepper(root, null));"""
LONG = 500  # characters of a message from which on it starts folded
KINDS = {
    Thought: "thought", ToolCall: "action", Observation: "observation", Answer: "answer", Problem: "problem",
    Turn: "turn", Evaluation: "evaluation",
}  # fmt: skip
NAMES = {ToolCall: "Action", Answer: "Final Answer"}


def page(runs: Sequence, *, can_edit: bool) -> str:
    """Give all runs in one element, without style and script. A run has label, parent, shared and states."""
    editing = " data-can-edit" if can_edit else ""
    body = "".join(_run(run, number, runs) for number, run in enumerate(runs))
    return f'<div class="als"{editing}>\n{body}</div>'


def twin(runs: Sequence, *, can_edit: bool) -> str:
    """Give the page with its style, and the script that turns it into a stepper where scripts run."""
    script = f"(() => {{\n{asset('parts.js')}\n{asset('stepper.js')}\n{MOUNT}\n}})();"
    style = f"<style>\n{asset('stepper.css')}</style>"
    return f"{style}\n{page(runs, can_edit=can_edit)}\n<script>\n{script}\n</script>"


def step(states: Sequence[State], number: int) -> str:
    """Give one step of a run."""
    of = frame(states, number)
    flags = " ".join(name for name, on in (("edited", of.edited), ("faulty", of.faulty)) if on)
    data = {"kind": of.kind, "label": of.label, "flags": flags, "ahead": of.ahead}
    attributes = "".join(f' data-{name}="{_text(value)}"' for name, value in data.items() if value)
    asked = bool(of.asked or of.reply or of.aside)
    left, right = (_sent(of), _answered(of) + _events(of) + _added(of)) if asked else (_events(of), _added(of))
    head = (
        f'<span class="als-number">Step {number}</span> <span class="als-title">{_text(of.title)}</span> '
        f'<span class="als-status">{_text(of.status)}</span>'
    )
    return (
        f'<details class="als-step"{attributes}><summary class="als-head">{head}</summary>\n'
        f"{_counters(of)}{_removed(of)}\n{_pair(left, right)}</details>\n"
    )


def asset(name: str) -> str:
    """Give the text of a file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _run(run, number: int, runs: Sequence) -> str:
    parent = "" if run.parent is None else f' data-parent="{run.parent}"'
    note = ""
    if run.shared:
        same = "step 0 is that" if run.shared == 1 else f"steps 0 to {run.shared - 1} are those"
        note = f": {same} of {runs[run.parent].label}"
    title = f'<div class="als-run-title">{_text(run.label)}{_text(note)}</div>\n' if len(runs) > 1 else ""
    goal = f'<div class="als-goal"><span class="als-q">Question</span> {_text(run.states[0].goal)}</div>\n'
    steps = "".join(step(run.states, i) for i in range(run.shared, len(run.states)))
    data = f'data-label="{_text(run.label)}" data-shared="{run.shared}"{parent}'
    return f'<div class="als-run" {data}>\n{goal if number == 0 else ""}{title}{steps}</div>\n'


def _counters(of: Frame) -> str:
    cells = [_counter(c.name, f"{c.value:,}", f"{c.change:+,}" if c.change else "") for c in of.counters]
    return f'<div class="als-counters">{"".join(cells)}</div>'


def _counter(name: str, value: str, change: str) -> str:
    changed = f" <ins>{change}</ins>" if change else ""
    return f"<span>{name} <b>{value}</b>{changed}</span> "


def _pair(left: str, right: str) -> str:
    parts = "".join(f'<div class="als-column">{part}</div>' for part in (left, right) if part)
    return f'<div class="als-columns">{parts}</div>'


def _sent(of: Frame) -> str:
    """Show what the model was sent: what earlier steps brought is only referred to."""
    if of.aside:
        return _section("Sent to the model, apart from the conversation", _pre(of.aside.asked))
    if not of.asked:
        return ""
    count = f"{of.asked} message{'s' * (of.asked != 1)}, {of.asked - of.known} new"
    fresh = ", ".join(message.role for message in of.state.messages[of.known : of.asked])
    refs = f'<div class="als-refs" data-asked="{of.asked}" data-known="{of.known}">{_text(f"New: {fresh}.")} '
    refs += "Each message stands in the step that brought it.</div>"
    brought = "".join(_message(index, message) for index, message in of.added if index < of.asked)
    return _section(f"{'Would have been sent' if of.edited else 'Sent to the model'}: {count}", refs + brought)


def _answered(of: Frame) -> str:
    """Show the whole reply, with what was discarded of it marked."""
    if of.aside:
        return _section("Answered, as it came", _pre(of.aside.raw))
    if of.reply is None:
        return ""
    index, raw = of.reply
    message = of.state.messages[index]
    body = _reply(raw, message.content or "") + _extras(message)
    shown = f'<div class="als-message als-raw" data-m="{index}" data-role="{_text(message.role)}">{body}</div>'
    return _section("Written in place of the reply" if of.edited else "Answered, as it came", shown)


def _added(of: Frame) -> str:
    """Show the messages that the step brought, but for those of its own request and the reply."""
    first = of.reply[0] + 1 if of.reply else of.asked
    brought = [_message(index, message) for index, message in of.added if index >= first]
    return _section("Added to the messages" if of.before else "Ready for the model", "".join(brought))


def _reply(raw: str, accepted: str) -> str:
    parts = split_reply(raw, accepted)
    if parts is None:
        kept = f'<div class="als-note">Kept of it</div><pre class="als-text" dir="auto">\n{_text(accepted)}</pre>'
        return f'<div class="als-whole"><pre class="als-text" dir="auto">\n{_text(raw)}</pre></div>{kept}'
    before, kept, after = parts
    head, tail = (f'<del title="discarded">{_text(part)}</del>' if part else "" for part in (before, after))
    note = '<div class="als-note als-whole">The struck part was discarded.</div>' if head or tail else ""
    return f'<pre class="als-text" dir="auto">\n{head}{_text(kept)}{tail}</pre>{note}'


def _message(index: int, message: Message) -> str:
    content = message.content or ""
    opened = "" if len(content) > LONG else " open"
    first = "" if opened else f' <span class="als-preview">{_text(content[:80].split(chr(10))[0])}</span>'
    role = f'<span class="als-role">{_text(message.role)}</span>'
    summary = f'<span class="als-size">{shape(content)}</span>{role}{first}'
    body = f'<pre class="als-text" dir="auto">\n{_text(content)}</pre>{_extras(message)}'
    data = f'data-m="{index}" data-role="{_text(message.role)}"'
    return f'<details class="als-message" {data}{opened}><summary>{summary}</summary>{body}</details>'


def _extras(message: Message) -> str:
    """Show what a message carries on the wire beside its role and text."""
    wire = {key: value for key, value in message.to_wire().items() if key not in ("role", "content")}
    text = json.dumps(wire, ensure_ascii=False, indent=1) if wire else ""
    return f'<pre class="als-text">\n{_text(text)}</pre>' if text else ""


def _pre(text: str) -> str:
    return f'<pre class="als-text" dir="auto">\n{_text(text)}</pre>'


def _events(of: Frame) -> str:
    fields = edits(of)
    shown = "".join(_event(of, event, fields.get(position, "")) for position, event in enumerate(of.events))
    return _section("Read from it" if of.reply else "What happened", shown) if shown else ""


def _event(of: Frame, event: Event, field: str) -> str:
    kind = next((kind for cls, kind in KINDS.items() if isinstance(event, cls)), "other")
    name = NAMES.get(type(event), type(event).__name__)
    notes = [f"from {call_of(of.state, event).name}"] if isinstance(event, Observation) else []
    notes += [event.kind] if isinstance(event, Problem | Evaluation) else []
    notes += [event.verdict] if isinstance(event, Evaluation) else []
    notes += ["error"] if getattr(event, "is_error", False) else []
    notes += ["shortened for the model"] if _is_shortened(of.state, event) else []
    notes = "".join(f' <span class="als-badge">{_text(note)}</span>' for note in notes)
    notes += ' <span class="als-badge als-edited">edited</span>' if event.edited else ""
    draft = {"problem": DRAFT, "action": "Action: ", "answer": "Final Answer: "}.get(kind, "")
    edit = f' data-edit="{field}" data-draft="{draft}"' if field else ""
    return (
        f'<div class="als-event" data-kind="{kind}"{edit}><div class="als-tag">{_text(name)}{notes}</div>'
        f'<pre class="als-text" dir="auto">\n{_event_text(event)}</pre></div>'
    )


def _event_text(event: Event) -> str:
    if isinstance(event, ToolCall):
        name, arguments = call_text(event)
        return f"<b>{_text(name)}</b>{_text(arguments)}"
    return _text(event.text if type(event) in KINDS else str(event))


def _is_shortened(state: State, event: Event) -> bool:
    if not isinstance(event, Observation) or event.message >= len(state.messages):
        return False
    return event.text not in (state.messages[event.message].content or "")


def _removed(of: Frame) -> str:
    if not of.removed:
        return ""
    return f'<div class="als-note">{of.removed} message{"s" * (of.removed != 1)} of the step before: taken away.</div>'


def _section(title: str, body: str) -> str:
    return f'<div class="als-section"><div class="als-section-title">{_text(title)}</div>{body}</div>' if body else ""


def _text(text: str) -> str:
    return escape(visible(str(text)))
