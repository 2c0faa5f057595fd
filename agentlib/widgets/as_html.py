"""A run as HTML that reads without a script: one `<details>` for each step. Everything is escaped here, once.

The live widget and the saved twin are both made of these fragments. A message is rendered once, in the step that
brought it; where a later request holds it again, the script copies that rendering.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

from ..state import Event, State, ToolCall
from .calls import as_json, one_line, to_decide
from .editing import before_text, edits
from .event_html import event_html
from .frames import Frame, frame
from .message_html import call_html, calls_html, carried_html, escaped, message_html, pre, reply_html
from .plans import where
from .task_html import task_html, trajectory_html

# Notebooks differ in where they put a script of an output, but it stays in the same output.
MOUNT = """const here = document.currentScript?.parentElement ?? document;
here.querySelectorAll(".als:not([data-mounted])").forEach((root) => mountStepper(root, null));"""
MOUNT_PLAN = MOUNT.replace("mountStepper(root, null)", "{ mountStepper(root, null); mountPlan(root); }")


def step_of(run: Any, number: int) -> str:
    """Give one step of a run, as the Stepper shows it."""
    return step(run.states, number)


def page(runs: Sequence, *, can_edit: bool, shown: Callable[[Any, int], str] = step_of) -> str:
    """Give all runs in one element, without style and script. A run has label, parent, shared and states; `shown`
    gives one step of a run, by its number."""
    editing = " data-can-edit" if can_edit else ""
    body = "".join(_run(run, number, runs, shown) for number, run in enumerate(runs))
    return f'<div class="als"{editing}>\n{body}</div>'


def twin(runs: Sequence, *, can_edit: bool, shown: Callable[[Any, int], str] = step_of) -> str:
    """Give the page with its style, and the script that turns it into a stepper where scripts run."""
    body = page(runs, can_edit=can_edit, shown=shown)
    has_graph = 'class="als-graph"' in body
    scripts = ["parts.js", "stepper.js", *["plan.js"] * has_graph]
    script = "\n".join(["(() => {", *map(asset, scripts), MOUNT_PLAN if has_graph else MOUNT, "})();"])
    more = asset("calls.css") if "als-call" in body else ""  # most saved runs need none of it
    more += asset("plan.css") if 'class="als-plan"' in body or 'class="als-task"' in body else ""
    return f"<style>\n{asset('stepper.css')}{more}</style>\n{body}\n<script>\n{script}\n</script>"


def step(states: Sequence[State], number: int) -> str:
    """Give one step of a run."""
    of = frame(states, number)
    asked = bool(of.asked or of.reply or of.aside)
    left, right = (_sent(of), _answered(of) + events_html(of) + _added(of)) if asked else (events_html(of), _added(of))
    tasks = _tasks(of)
    left, right = (left, right + tasks) if asked else (left + tasks, right)
    return f"{head_html(of)}\n{counters_html(of)}{_removed(of)}{waits_html(of)}\n{_pair(left, right)}</details>\n"


def head_html(of: Frame) -> str:
    """Give the start of a step, which the caller ends with `</details>`."""
    flags = " ".join(name for name, on in (("edited", of.edited), ("faulty", of.faulty)) if on)
    data = {"kind": of.kind, "label": of.label, "flags": flags, "ahead": of.ahead}
    attributes = "".join(f' data-{name}="{escaped(value)}"' for name, value in data.items() if value)
    head = (
        f'<span class="als-number">Step {of.number}</span> <span class="als-title">{escaped(of.title)}</span> '
        f'<span class="als-status">{escaped(of.status)}</span>'
    )
    return f'<details class="als-step"{attributes}><summary class="als-head">{head}</summary>'


def asset(name: str) -> str:
    """Give the text of a file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _run(run, number: int, runs: Sequence, shown: Callable[[Any, int], str]) -> str:
    parent = "" if run.parent is None else f' data-parent="{run.parent}"'
    note = ""
    if run.shared:
        same = "step 0 is that" if run.shared == 1 else f"steps 0 to {run.shared - 1} are those"
        note = f": {same} of {runs[run.parent].label}"
    title = f'<div class="als-run-title">{escaped(run.label)}{escaped(note)}</div>\n' if len(runs) > 1 else ""
    goal = f'<div class="als-goal"><span class="als-q">Question</span> {escaped(run.states[0].goal)}</div>\n'
    steps = "".join(shown(run, i) for i in range(run.shared, len(run.states)))
    data = f'data-label="{escaped(run.label)}" data-shared="{run.shared}"{parent}'
    return f'<div class="als-run" {data}>\n{goal if number == 0 else ""}{title}{steps}</div>\n'


def counters_html(of: Frame) -> str:
    """Show the state's counters, and by how much the step changed them."""
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


def _tasks(of: Frame) -> str:
    """Show the tasks of a plan that did something in the step, each with what its model was sent."""
    planner = getattr(of.state, "asked", None)
    asked = _section("Inside the planner", trajectory_html(planner)) if planner else ""
    return asked + _section("Inside the tasks", "".join(map(task_html, of.worked)))


def _added(of: Frame) -> str:
    """Show the messages that the step brought, but for those of its own request and the reply."""
    first = of.reply[0] + 1 if of.reply else of.asked
    brought = [message_html(of, index, message) for index, message in of.added if index >= first]
    title = "Changed in the messages" if of.decision and of.edited else "Added to the messages"
    return _section(title if of.before else "Ready for the model", "".join(brought))


def waits_html(of: Frame) -> str:
    """Show the calls that wait for a person, and how to decide: in code, with buttons where a kernel listens."""
    return "".join(_waits(of, call) for call in of.waiting)


def _waits(of: Frame, call: ToolCall) -> str:
    lines = to_decide(call, len(of.waiting) > 1)
    how = f'<div class="als-how"><div class="als-note">To decide:</div>{pre(lines)}</div>' if of.is_last else ""
    within = where(of.state, call.id)
    data = f' data-id="{escaped(call.id)}"' if within else ""
    return (
        f'<div class="als-call-waiting" data-call="{escaped(one_line(call))}" '
        f'data-arguments="{escaped(as_json(call.arguments))}"{data}>'
        f'<div class="als-section-title">This call{escaped(within)} writes, so it waits for a person</div>'
        f'<pre class="als-text" dir="auto">\n{call_html(call)}</pre>{how}</div>'
    )


def events_html(of: Frame) -> str:
    """Show what the step brought."""
    fields = edits(of)
    edited = (_edit(of, event, fields.get(position, "")) for position, event in enumerate(of.events))
    shown = "".join(event_html(of.state, *pair) for pair in zip(of.events, edited, strict=True))
    return _section("Read from it" if of.reply else "What happened", shown) if shown else ""


def _edit(of: Frame, event: Event, field: str) -> str:
    """Give the attributes that say how a fork changes an event, and what its edit box begins with."""
    return f' data-edit="{field}" data-draft="{escaped(before_text(of, event))}"' if field else ""


def _removed(of: Frame) -> str:
    if not of.removed:
        return ""
    return f'<div class="als-note">{of.removed} message{"s" * (of.removed != 1)} of the step before: taken away.</div>'


def _section(title: str, body: str) -> str:
    return f'<div class="als-section"><div class="als-section-title">{escaped(title)}</div>{body}</div>' if body else ""
