"""From a request to what it asks for: the format, the tools, the question, and the steps taken so far.

The server keeps nothing between requests. Everything is read again, each time, from the messages alone.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from .actions import parse_action, parse_arguments
from .assigned import Entry, assignment_in
from .notes import Note, note
from .offered import Tool, tools_in
from .results import as_text, calls_of

_LABEL = re.compile(r"^[ \t*#]*(Question|Thought|Action Input|Action|Observation|Final Answer|Answer|Format error)"
                    r"[ \t*\d]*[:：][ \t*]*", re.M | re.I)
_ALOUD = re.compile(r"\b(?:think (?:step by step|aloud|out loud|before)|explain (?:your|each|what you)|show your"
                    r" (?:reasoning|thoughts?)|say why)", re.I)
_NOTE = re.compile(r"\s*note\s*[:：]", re.I)
# A loop that had a reply it could not use may ask for another one; that is no new question.
_NUDGE = re.compile(r"^\W*(?:please )?(?:continue|go on|proceed|carry on|try again)\b.{0,30}$"
                    r"|\byour (?:last |previous )?(?:reply|response|message) (?:was|is|had|has|did)\b"
                    r"|\b(?:call a tool|use a tool|call one of the tools)\b", re.I)


@dataclass(frozen=True)
class Step:
    """One action and what came back."""

    tool: str
    arguments: tuple[tuple[str, str], ...]
    observation: str

    @property
    def asked(self) -> str:
        """The values of the arguments."""
        return " ".join(value for _, value in self.arguments)


@dataclass(frozen=True)
class Reading:
    """What the model understood of a request."""

    question: str
    earlier: tuple[tuple[str, str], ...]  # questions and answers before this one
    tools: tuple[Tool, ...]
    has_format: bool
    writes_thoughts: bool
    action_style: str  # call, json, input, or native: in the API's own field
    steps: tuple[Step, ...]
    notes: tuple[Note, ...]  # thoughts and observations in their order
    seed: int
    thinks_aloud: bool = False  # native calls come with a thought, because the instructions ask for it
    instructions: str = ""
    said: tuple[str, ...] = ()  # what the user said without a label
    given: tuple[Note, ...] = ()  # texts to read from that the prompt itself holds; `passages` finds them
    is_task: bool = False  # the question is one task of a plan; `assigned` reads it
    results: tuple[Entry, ...] = ()  # of earlier tasks, which this one was given


def read(messages: list[dict], seed: int, offered: tuple[Tool, ...] = ()) -> Reading:
    """Read a request's messages. Tools that the request itself offers are called natively, whatever the format says."""
    reading = _read(messages, seed, offered)
    task = assignment_in(reading.question)
    if task is None:
        return reading
    known = tuple(note(entry.text, is_thought=True) for entry in task.results)
    return replace(reading, question=task.instruction, notes=(*known, *reading.notes), said=(),
                   is_task=True, results=task.results)


def _read(messages: list[dict], seed: int, offered: tuple[Tool, ...]) -> Reading:
    """Read a request's messages; the question is all that the user asked."""
    instructions, lines = _split_messages(messages)
    _, notes = _steps(lines)  # what was found for an earlier question is still known
    told = {"instructions": instructions, "said": tuple(text for label, text in lines if label == "user")}
    question, earlier, lines = _last_question(lines)
    steps, _ = _steps(lines)
    labels = {m.group(1).lower() for m in _LABEL.finditer(instructions)}
    tools = tools_in(instructions)
    if offered:
        aloud = "thought" in labels or bool(_ALOUD.search(instructions))
        return Reading(question, earlier, offered, False, aloud, "native", steps, notes, seed, aloud, **told)
    return Reading(question, earlier, tools, bool(labels & {"action", "final answer"}), "thought" in labels,
                   _style(instructions), steps, notes, seed, **told)


def text_of(message: dict) -> str:
    """Give the text of a message, whose content may be a string, a list of parts, or nothing."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content if isinstance(part, dict)
                     and isinstance(part.get("text"), str))


def is_nudge(text: str) -> bool:
    """Say whether a user's message only asks for another reply, because the last one could not be used."""
    return not _LABEL.match(text) and bool(_NUDGE.search(text))


def is_from_the_loop(text: str) -> bool:
    """Say whether a user's message comes from the loop or one of its guards, and asks nothing."""
    label = _LABEL.match(text)
    return is_nudge(text) or bool(_NOTE.match(text)) or bool(label and label[1].lower() == "format error")


def _split_messages(messages: list[dict]) -> tuple[str, list[tuple[str, str]]]:
    """Give the instructions, and the rest of the conversation as (label, text) lines."""
    instructions, lines, calls = [], [], {}
    for message in messages:
        text, role = text_of(message), message.get("role")
        if role in ("system", "developer"):
            instructions.append(text)
            continue
        if role in ("tool", "function"):
            lines += [("action", calls.get(message.get("tool_call_id"), "")), ("observation", as_text(text))]
            continue
        if role == "assistant" and message.get("tool_calls"):
            calls |= calls_of(message)
            lines += [("thought", text)] if text else []
            continue
        if role == "user" and lines and is_nudge(text):
            continue
        start = max(text.rfind("Question:"), text.rfind("Question："))
        if role == "user" and start > 0 and not lines:
            instructions.append(text[:start])
            lines.append(("user", text[:start]))  # it may hold a text to read from
            text = text[start:]
        lines += _labelled(text, "said" if role == "assistant" else "user")
    return "\n".join(instructions), lines


@lru_cache(maxsize=2048)  # a conversation is read again with each request
def _labelled(text: str, unlabelled: str) -> tuple[tuple[str, str], ...]:
    """Cut a text at its labels; what stands before the first gets the given label."""
    marks = list(_LABEL.finditer(text))
    if unlabelled == "user" and marks and marks[0].start() == 0 and marks[0].group(1).lower() == "observation":
        marks = marks[:1]  # a tool may return anything, also text that looks like labels
    first = text[: marks[0].start()] if marks else text
    lines = [(unlabelled, first.strip())] if first.strip() or not marks else []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=False):
        label = mark.group(1).lower()
        if label == "format error":
            return (*lines, (label, text[mark.end():].strip()))
        lines.append((label, text[mark.end():end].strip()))
    return tuple(lines)


def _last_question(lines: list[tuple[str, str]]) -> tuple[str, tuple, list[tuple[str, str]]]:
    """Give the last question, the turns before it, and the lines after it."""
    asking = "question" if any(label == "question" for label, _ in lines) else "user"
    places = [i for i, (label, text) in enumerate(lines) if label == asking and (text or asking == "question")]
    places = [i for i in places if not _NOTE.match(lines[i][1])] or places  # a guard's note is no question
    turns = []
    for start, end in zip(places, [*places[1:], len(lines)], strict=False):
        answers = [text for label, text in lines[start + 1:end] if label in ("final answer", "answer", "said")]
        turns.append((lines[start][1], answers[-1] if answers else ""))
    if not turns:
        return "", (), lines
    return turns[-1][0], tuple(turns[:-1]), lines[places[-1] + 1:]


def _steps(lines: list[tuple[str, str]]) -> tuple[tuple[Step, ...], tuple[Note, ...]]:
    """Pair actions with their observations, and keep thoughts and observations as notes.

    A thought that led to an answer is dropped when a guard's note objects to that answer.
    """
    steps, notes, call, before = [], [], None, ""
    for label, text in lines:
        if label == "thought":
            text, _, action = text.partition(" Action: ")  # both on one line
            notes.append(note(text, is_thought=True))
            call = parse_action(action) if action else call
        elif label == "action" or (label == "said" and text.startswith("{")):
            call = parse_action(text)
        elif label == "action input" and call:
            call = (call[0], parse_arguments(text))
        elif label == "observation":
            tool, arguments = call or ("", ())
            steps.append(Step(tool, arguments, text))
            notes.append(note(text, steps[-1].asked, tool))
            call = None
        elif label == "user" and before in ("final answer", "answer") and text.lower().startswith("note:"):
            while notes and notes[-1].is_thought:
                notes.pop()
        before = label
    return tuple(steps), tuple(notes)


def _style(instructions: str) -> str:
    """Say how the prompt's own example writes an action: a call, JSON, or a separate input line."""
    if re.search(r"^[ \t]*Action Input\s*[:：]", instructions, re.M | re.I):
        return "input"
    shows_json = re.search(r"^[ \t]*Action[ \t]*[:：]\s*`{0,3}(?:json)?\s*\{", instructions, re.M | re.I)
    return "json" if shows_json else "call"
