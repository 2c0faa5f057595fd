"""A run as HTML that reads without a script: one `<details>` for each step. Everything is escaped here, once.

The live widget and the saved twin are both made of these fragments. A message is rendered once, in the step that
brought it; where a later request holds it again, the script copies that rendering.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from ..state import Answer, Decision, Evaluation, Event, Observation, Problem, State, Thought, ToolCall, Turn
from .calls import TO_DECIDE, as_json, decided, one_line, source
from .editing import before_text, edits
from .frames import Frame, frame
from .message_html import call_html, calls_html, carried_html, escaped, message_html, pre, reply_html

# Notebooks differ in where they put a script of an output, but it stays in the same output.
MOUNT = """const here = document.currentScript?.parentElement ?? document;
here.querySelectorAll(".als:not([data-mounted])").forEach((root) => mountStepper(root, null));"""
KINDS = {
    Thought: "thought", ToolCall: "action", Observation: "observation", Answer: "answer", Problem: "problem",
    Turn: "turn", Evaluation: "evaluation", Decision: "decision",
}  # fmt: skip
NAMES = {ToolCall: "Action", Answer: "Final Answer"}


def page(runs: Sequence, *, can_edit: bool) -> str:
    """Give all runs in one element, without style and script. A run has label, parent, shared and states."""
    editing = " data-can-edit" if can_edit else ""
    body = "".join(_run(run, number, runs) for number, run in enumerate(runs))
    return f'<div class="als"{editing}>\n{body}</div>'


def twin(runs: Sequence, *, can_edit: bool) -> str:
    """Give the page with its style, and the script that turns it into a stepper where scripts run."""
    body = page(runs, can_edit=can_edit)
    script = f"(() => {{\n{asset('parts.js')}\n{asset('stepper.js')}\n{MOUNT}\n}})();"
    more = asset("calls.css") if "als-call" in body else ""  # most saved runs need none of it
    return f"<style>\n{asset('stepper.css')}{more}</style>\n{body}\n<script>\n{script}\n</script>"


def step(states: Sequence[State], number: int) -> str:
    """Give one step of a run."""
    of = frame(states, number)
    flags = " ".join(name for name, on in (("edited", of.edited), ("faulty", of.faulty)) if on)
    data = {"kind": of.kind, "label": of.label, "flags": flags, "ahead": of.ahead}
    attributes = "".join(f' data-{name}="{escaped(value)}"' for name, value in data.items() if value)
    asked = bool(of.asked or of.reply or of.aside)
    left, right = (_sent(of), _answered(of) + _events(of) + _added(of)) if asked else (_events(of), _added(of))
    head = (
        f'<span class="als-number">Step {number}</span> <span class="als-title">{escaped(of.title)}</span> '
        f'<span class="als-status">{escaped(of.status)}</span>'
    )
    return (
        f'<details class="als-step"{attributes}><summary class="als-head">{head}</summary>\n'
        f"{_counters(of)}{_removed(of)}{_waits(of)}\n{_pair(left, right)}</details>\n"
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
    title = f'<div class="als-run-title">{escaped(run.label)}{escaped(note)}</div>\n' if len(runs) > 1 else ""
    goal = f'<div class="als-goal"><span class="als-q">Question</span> {escaped(run.states[0].goal)}</div>\n'
    steps = "".join(step(run.states, i) for i in range(run.shared, len(run.states)))
    data = f'data-label="{escaped(run.label)}" data-shared="{run.shared}"{parent}'
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
        return _section("Sent to the model, apart from the conversation", pre(of.aside.asked))
    if not of.asked:
        return ""
    count = f"{of.asked} message{'s' * (of.asked != 1)}, {of.asked - of.known} new"
    fresh = ", ".join(message.role for message in of.state.messages[of.known : of.asked])
    refs = f'<div class="als-refs" data-asked="{of.asked}" data-known="{of.known}">{escaped(f"New: {fresh}.")} '
    refs += "Each message stands in the step that brought it.</div>"
    brought = "".join(message_html(of, index, message) for index, message in of.added if index < of.asked)
    return _section(f"{'Would have been sent' if of.edited else 'Sent to the model'}: {count}", refs + brought)


def _answered(of: Frame) -> str:
    """Show the whole reply, with what was discarded of it marked."""
    if of.aside:
        return _section("Answered, as it came", pre(of.aside.raw))
    if of.reply is None:
        return ""
    index, raw = of.reply
    message = of.state.messages[index]
    calls = carried_html(message) + _discarded(of)
    body = calls if calls and not raw.strip() else reply_html(raw, message.content or "") + calls
    shown = f'<div class="als-message als-raw" data-m="{index}" data-role="{escaped(message.role)}">{body}</div>'
    return _section("Written in place of the reply" if of.edited else "Answered, as it came", shown)


def _discarded(of: Frame) -> str:
    """Show the calls that came with a reply and were not run, since it could not be used."""
    if not of.discarded:
        return ""
    note = '<div class="als-note">The struck calls were discarded.</div>'
    return f'<div class="als-whole"><del title="discarded">{calls_html(of.discarded)}</del>{note}</div>'


def _added(of: Frame) -> str:
    """Show the messages that the step brought, but for those of its own request and the reply."""
    first = of.reply[0] + 1 if of.reply else of.asked
    brought = [message_html(of, index, message) for index, message in of.added if index >= first]
    title = "Changed in the messages" if of.decision and of.edited else "Added to the messages"
    return _section(title if of.before else "Ready for the model", "".join(brought))


def _waits(of: Frame) -> str:
    """Show the call that waits for a person, and how to decide: in code here, with buttons where a kernel listens."""
    call = of.waits
    if call is None:
        return ""
    how = f'<div class="als-how"><div class="als-note">To decide:</div>{pre(TO_DECIDE)}</div>' if of.is_last else ""
    return (
        f'<div class="als-call-waiting" data-call="{escaped(one_line(call))}" '
        f'data-arguments="{escaped(as_json(call.arguments))}">'
        f'<div class="als-section-title">This call writes, so it waits for a person</div>'
        f'<pre class="als-text" dir="auto">\n{call_html(call)}</pre>{how}</div>'
    )


def _events(of: Frame) -> str:
    fields = edits(of)
    shown = "".join(_event(of, event, fields.get(position, "")) for position, event in enumerate(of.events))
    return _section("Read from it" if of.reply else "What happened", shown) if shown else ""


def _event(of: Frame, event: Event, field: str) -> str:
    kind = next((kind for cls, kind in KINDS.items() if isinstance(event, cls)), "other")
    name = NAMES.get(type(event), type(event).__name__)
    notes = "".join(f' <span class="als-badge">{escaped(note)}</span>' for note in _notes(of, event))
    notes += ' <span class="als-badge als-edited">edited</span>' if event.edited else ""
    edit = f' data-edit="{field}" data-draft="{escaped(before_text(of, event))}"' if field else ""
    return (
        f'<div class="als-event" data-kind="{kind}"{edit}><div class="als-tag">{escaped(name)}{notes}</div>'
        f'<pre class="als-text" dir="auto">\n{_event_text(of, event)}</pre></div>'
    )


def _notes(of: Frame, event: Event) -> list[str]:
    """Give what is to be said of an event beside its name."""
    notes = []
    if isinstance(event, Observation):
        notes = [f"from {source(of.state, event)}", *[event.kind] * event.is_error]
    elif isinstance(event, Problem | Evaluation):
        notes = [event.kind]
    if isinstance(event, Evaluation | Decision):
        notes += [event.verdict]
    return notes + ["shortened for the model"] * _is_shortened(of.state, event)


def _event_text(of: Frame, event: Event) -> str:
    if isinstance(event, ToolCall):
        return call_html(event)
    if isinstance(event, Decision):
        return escaped(decided(of.state, event))
    return escaped(event.text if type(event) in KINDS else str(event))


def _is_shortened(state: State, event: Event) -> bool:
    if not isinstance(event, Observation) or event.message >= len(state.messages):
        return False
    return event.text not in (state.messages[event.message].content or "")


def _removed(of: Frame) -> str:
    if not of.removed:
        return ""
    return f'<div class="als-note">{of.removed} message{"s" * (of.removed != 1)} of the step before: taken away.</div>'


def _section(title: str, body: str) -> str:
    return f'<div class="als-section"><div class="als-section-title">{escaped(title)}</div>{body}</div>' if body else ""
