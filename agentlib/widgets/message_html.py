"""Messages and calls as HTML. Everything that a model, a tool or a person wrote is escaped here, once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from ..state import Call, Message, State, ToolCall
from .calls import call_named, call_text, extras, size
from .frames import Frame, split_reply
from .visible import visible

LONG = 500  # characters of a message from which on it starts folded


def message_html(of: Frame, index: int, message: Message) -> str:
    """Show a message; a long one starts folded."""
    return folded_html(of.state, message, f'data-m="{index}" data-role="{escaped(message.role)}"')


def folded_html(state: State, message: Message, data: str = "") -> str:
    """Show a message of a state; `data` are attributes of its element."""
    content = message.content or ""
    opened = "" if len(content) > LONG else " open"
    first = "" if opened else f' <span class="als-preview">{escaped(content[:80].split(chr(10))[0])}</span>'
    role = f'<span class="als-role">{escaped(message.role)}</span>{_answers(state, message)}'
    summary = f'<span class="als-size">{size(message)}</span>{role}{first}'
    body = (pre(content) if content or not message.tool_calls else "") + carried_html(message)
    return f'<details class="als-message"{" " * bool(data)}{data}{opened}><summary>{summary}</summary>{body}</details>'


def _answers(state: State, message: Message) -> str:
    """Say which call a tool's message answers."""
    if not message.tool_call_id:
        return ""
    name = call_named(state, message.tool_call_id).name
    return f' <span class="als-call-id">{escaped(message.tool_call_id)}</span> {escaped(name)}'


def reply_html(raw: str, accepted: str) -> str:
    """Show a whole reply, with what was discarded of it struck out."""
    parts = split_reply(raw, accepted)
    if parts is None:
        kept = f'<div class="als-note">Kept of it</div><pre class="als-text" dir="auto">\n{escaped(accepted)}</pre>'
        return f'<div class="als-whole"><pre class="als-text" dir="auto">\n{escaped(raw)}</pre></div>{kept}'
    before, kept, after = parts
    head, tail = (f'<del title="discarded">{escaped(part)}</del>' if part else "" for part in (before, after))
    note = '<div class="als-note als-whole">The struck part was discarded.</div>' if head or tail else ""
    return f'<pre class="als-text" dir="auto">\n{head}{escaped(kept)}{tail}</pre>{note}'


def carried_html(message: Message) -> str:
    """Show what a message carries beside its role and text: its calls, and what else is on the wire."""
    more = extras(message)
    wire = json.dumps(more, ensure_ascii=False, indent=1) if more else ""
    return calls_html(message.tool_calls) + (f'<pre class="als-text">\n{escaped(wire)}</pre>' if wire else "")


def calls_html(calls: Sequence[Call]) -> str:
    """Show the calls of a message, each with its id."""
    return "".join(
        f'<div class="als-call"><pre class="als-text" dir="auto">\n{call_html(call)}</pre>'
        f'<span class="als-call-id">{escaped(call.id)}</span></div>'
        for call in calls
    )


def call_html(call: ToolCall | Call) -> str:
    """Show a call in a line."""
    name, arguments = call_text(call)
    return f"<b>{escaped(name)}</b>{escaped(arguments)}"


def pre(text: str) -> str:
    """Show a text with its lines as they are."""
    return f'<pre class="als-text" dir="auto">\n{escaped(text)}</pre>'


def escaped(text: str) -> str:
    """Give a text as HTML shows it and cannot take for its own."""
    return escape(visible(str(text)))
