"""A run as plain text, for terminals and for reading aloud: one block for each step."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from textwrap import indent

from ..state import Event, Message, State
from .calls import call_named, extras, one_line, said, to_decide
from .frames import Frame, frame, split_reply
from .plans import where
from .visible import visible

LONGEST = 4000  # characters of one text; more are counted, not shown


def text(runs: Sequence) -> str:
    """Give all runs as the Stepper shows them."""
    return runs_text(runs, "Stepper", _step)


def runs_text(runs: Sequence, view: str, step: Callable[[Frame], Iterator[str]]) -> str:
    """Give all runs, with the lines of each step; a fork begins with the step that differs."""
    blocks = []
    for run in runs:
        last = run.states[-1]
        ending = f"{last.status} ({last.reason})" if last.reason else str(last.status)
        blocks.append(f"{view}, {run.label}: {len(run.states)} steps, {clean(ending)}\nQuestion: {clean(last.goal)}")
        blocks += ["\n".join(step(frame(run.states, i))) for i in range(run.shared, len(run.states))]
    return "\n\n".join(blocks)


def _step(of: Frame) -> Iterator[str]:
    yield f"-- Step {of.number} · {clean(of.label)} · {clean(of.title)}"
    changes = [f"{c.name} {c.value:,}{f' ({c.change:+,})' if c.change else ''}" for c in of.counters]
    yield f"   {', '.join(changes)}"
    yield f"   status {clean(of.status)}"
    if of.removed:
        yield f"   messages of the step before that were taken away: {of.removed}"
    reply = of.reply[0] if of.reply else len(of.state.messages)
    yield from (line for index, message in of.added if index < reply for line in _message(of, index, message))
    if of.asked:
        yield f"   sent to the model: messages 0 to {of.asked - 1}, {of.asked - of.known} of them new"
    yield from (line for index, message in of.added if index >= reply for line in _message(of, index, message))
    if of.aside:
        yield from _block("   sent to the model, apart from the conversation:", of.aside.asked)
        yield from _block("   answered:", of.aside.raw)
    yield from (event_text(of, event) for event in of.events)
    yield from (line for each in of.worked for line in _inside(f"task {each.task.id}", each.run.inner))
    yield from waits_text(of)


def _message(of: Frame, index: int, message: Message) -> Iterator[str]:
    content, before, after = message.content or "", "", ""
    if of.reply and index == of.reply[0]:
        raw = of.reply[1]
        before, content, after = split_reply(raw, content) or (raw, content, "")
    title = f"   message {index}, {clean(message.role)}{_answers(of.state, message)}"
    read = "\n".join(said(of.state, event) for event in of.events if event.message == index)
    yield from (_block(f"{title}, discarded:", before) if before else [])
    yield from ([f"{title}: as read below"] if content.strip() == read else _block(f"{title}:", content))
    yield from (_block(f"{title}, discarded:", after) if after else [])
    yield from (f"      {clean(f'{call.id}: {one_line(call)}')}" for call in message.tool_calls)
    if of.reply and index == of.reply[0]:
        yield from (f"      discarded: {clean(one_line(call))}" for call in of.discarded)
    more = extras(message)
    yield from ([f"      {clean(json.dumps(more, ensure_ascii=False))}"] if more else [])


def _answers(state: State, message: Message) -> str:
    call_id = message.tool_call_id
    return f", answers {clean(call_id)} of {clean(call_named(state, call_id).name)}" if call_id else ""


def event_text(of: Frame, event: Event) -> str:
    """Give an event as a text that stands in a step."""
    text = _clip(said(of.state, event) + (" [edited]" if event.edited else ""))
    return indent(text, "     ").replace("     ", "   > ", 1)


def waits_text(of: Frame) -> Iterator[str]:
    """Give the calls that wait for a person, and how to decide."""
    for call in of.waiting:
        within = clean(where(of.state, call.id))
        yield f"   this call{' ' * bool(within)}{within} writes, so it waits for a person: {clean(one_line(call))}"
        yield from _block("   to decide:", to_decide(call, len(of.waiting) > 1)) if of.is_last else []


def _inside(name: str, inner: State) -> Iterator[str]:
    """Give what the model of a task was sent, and answered."""
    for index, message in enumerate(inner.messages):
        title = f"   {clean(name)}, message {index}, {clean(message.role)}{_answers(inner, message)}:"
        yield from _block(title, message.content) if message.content or not message.tool_calls else [title]
        yield from (f"      {clean(f'{call.id}: {one_line(call)}')}" for call in message.tool_calls)


def _block(title: str, content: str) -> list[str]:
    return [title, indent(_clip(content.strip("\n")), "      ")] if content.strip() else [f"{title} (empty)"]


def _clip(content: str) -> str:
    content = visible(content)
    more = len(content) - LONGEST
    return content if more <= 0 else f"{content[:LONGEST]}… ({more:,} more characters)"


def clean(line: str) -> str:
    """Give a text in one line, with nothing in it that a terminal obeys."""
    return " ".join(visible(line).split())
