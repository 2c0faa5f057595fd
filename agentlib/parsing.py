"""From the text of a model to a thought and an action: the ReAct text protocol (Yao et al. 2022, arXiv:2210.03629).

The labels below are the one definition from which both the instructions and the reader are made, so that the prompt
cannot ask for what `parse` does not understand. `parse` takes what models really write: other spellings of the labels,
markdown, code fences, JSON or call syntax, several actions in a reply, invented observations. It never raises, needs
time linear in the length of the reply, and never runs what was not clearly asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .notation import NO_TOOL, Unreadable, named_call, read_call, read_object, read_text, to_json

THOUGHT, ACTION, ACTION_INPUT, OBSERVATION, FINAL_ANSWER = (
    "Thought", "Action", "Action Input", "Observation", "Final Answer",
)  # fmt: skip
STOP = (f"{OBSERVATION}:",)

FORMAT = f"""\
{THOUGHT}: what you know and what you need next
{ACTION}: tool_name(parameter="value")

Then stop. The result comes back to you as:

{OBSERVATION}: the result of the action

{THOUGHT}, {ACTION} and {OBSERVATION} can repeat. When you know the answer, or when no tool is needed, reply with:

{THOUGHT}: why you know the answer
{FINAL_ANSWER}: the answer"""


@dataclass(frozen=True)
class Note:
    """What was repaired or discarded on the way. `kind` is a word that can be counted, `text` what it was about."""

    kind: str
    text: str


@dataclass(frozen=True)
class Action:
    """The reply asks for a tool. `arguments` is the text of a JSON object; positional ones have the keys "0", "1" …

    `accepted` is the part of the reply that counts; the rest is in the notes.
    """

    thought: str
    tool: str
    arguments: str
    accepted: str
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The reply gives the final answer."""

    thought: str
    text: str
    accepted: str
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Nothing:
    """The reply has neither an action nor an answer that can be read. `why` is written for the model."""

    thought: str
    why: str


# A label at the start of a line: "Thought:", "**Action:**", "> action 2 :", "Final Answer：" and the like. Possessive
# quantifiers (*+) never give back what they took, which keeps a reply of a million stars or spaces linear.
_LABELS = {
    "thought": THOUGHT, "thoughts": THOUGHT, "action": ACTION, "action input": ACTION_INPUT, "input": ACTION_INPUT,
    "observation": OBSERVATION, "final answer": FINAL_ANSWER, "answer": FINAL_ANSWER, "question": "Question",
}  # fmt: skip
_LINE = re.ASCII | re.IGNORECASE | re.MULTILINE  # ASCII: else "ı" is an "i", and no key of _LABELS


def _label(*labels: str) -> str:
    return rf"^[ \t>*_#`-]*+({'|'.join(labels)})[ \t]*+\d*+[ \t*_`]*+[:：][*_`]*+[ \t]*+"


_LABEL = re.compile(_label(*sorted(_LABELS, key=len, reverse=True)), _LINE)
_DECLINED = re.compile(_label("action input", "action", "input") + NO_TOOL.pattern + r".*+\n?", _LINE)  # Action: None
# What a reasoning model thinks aloud: blocks that start a line (elsewhere the tag is only talked about), also cut off
# ones, and the head of a reply whose opening tag stands in the prompt.
_THINK = re.compile(
    r"^[ \t]*+<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|\A(?:(?!<think).)*?</think(?:ing)?>[ \t]*+$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"\s*+(?:```[ \t]*+\w*+\s*+)?")
_FENCE_END = re.compile(r"[*_`]++|\s*+```")
_PADDING = " \t\r\n*`"
_TOOL = re.compile(r"[*_`\"']*+([Ff]inal [Aa]nswer|[A-Za-z][\w.-]*+)[*_`\"']*+[ \t]*+")
_KINDS = {OBSERVATION: "invented_observation", ACTION: "extra_action", FINAL_ANSWER: "early_answer"}
DISCARDS = (*_KINDS.values(), "trailing_text")  # the kinds of notes on what follows the first action or answer
_FINISH = {"finish", "final_answer", "final answer"}


def parse(text: str) -> Action | Answer | Nothing:
    """Read one reply: its first action or final answer, whichever comes first, and the thought before it."""
    visible = _THINK.sub("", text)
    if not visible.strip():
        return Nothing("", "your reply is empty")
    marks = [_Mark(m.start(), m.end(), _LABELS[m[1].lower()]) for m in _LABEL.finditer(visible)]
    for mark in marks:
        if mark.label == ACTION and not NO_TOOL.match(visible, mark.end):
            return _read_action(visible, mark, marks)
        if mark.label == FINAL_ANSWER:
            return _read_answer(visible, mark, marks)
        if mark.label == OBSERVATION:
            why = f"it has an {OBSERVATION} before any {ACTION}, and only tools write an {OBSERVATION}"
            return Nothing(_thought(visible[: mark.start]), why)
    return _read_unlabelled(visible)


def has_label(text: str) -> bool:
    """Say whether a text starts with a label."""
    return bool(_LABEL.match(text))


@dataclass(frozen=True)
class _Mark:
    start: int
    end: int
    label: str


@dataclass(frozen=True)
class _Call:
    """A call that was read, where it ends in the text, and what was not as asked."""

    tool: str
    arguments: dict
    end: int
    notes: tuple[Note, ...] = ()


def _read_action(text: str, mark: _Mark, marks: list[_Mark]) -> Action | Answer | Nothing:
    thought = _thought(text[: mark.start])
    try:
        call = _read_call(text, mark, next((m for m in marks if m.start >= mark.end), None))
    except Unreadable as problem:
        return Nothing(thought, str(problem))
    return _action_or_finish(thought, call, text, marks)


def _action_or_finish(thought: str, call: _Call, text: str, marks: list[_Mark]) -> Action | Answer | Nothing:
    """Make the result of a call that was read. The paper's `Finish[answer]` and its like are the final answer."""
    accepted, notes = text[: call.end].strip(), call.notes + _discarded(text, call.end, marks)
    if call.tool.lower() in _FINISH and len(call.arguments) <= 1:
        answer = next(iter(call.arguments.values()), "")
        if answer in ("", None):
            return Nothing(thought, f"its {FINAL_ANSWER} is empty")
        return Answer(thought, answer if isinstance(answer, str) else to_json(answer), accepted, notes)
    return Action(thought, call.tool, to_json(call.arguments), accepted, notes)


def _read_answer(text: str, mark: _Mark, marks: list[_Mark]) -> Answer | Nothing:
    end = next((m.start for m in marks if m.start >= mark.end and m.label != ACTION_INPUT), len(text))
    answer = text[mark.end : end].strip()
    answer = answer.removesuffix("**").rstrip() if answer.count("**") % 2 else answer
    if not answer.strip(_PADDING):
        return Nothing(_thought(text[: mark.start]), f"its {FINAL_ANSWER} is empty")
    return Answer(_thought(text[: mark.start]), answer, text[:end].strip(), _discarded(text, end, marks))


def _read_unlabelled(text: str) -> Action | Answer | Nothing:
    """Read a reply without labels: one that is a JSON call as a whole asks clearly for a tool, any other does not."""
    start = _skip_fence(text, 0)
    try:
        data, end = read_object(text, start) if text.startswith("{", start) else ({}, start)
        if data and not text[end:].strip(_PADDING):
            call = _Call(*named_call(data), len(text), (Note("no_label", ACTION),))
            return _action_or_finish("", call, text, [])
    except Unreadable as problem:
        return Nothing("", str(problem))
    return Nothing(_thought(text), f"it has neither an {ACTION} nor a {FINAL_ANSWER}")


def _read_call(text: str, mark: _Mark, following: _Mark | None) -> _Call:
    """Read the tool and its arguments after an Action label, in any of the notations that models use."""
    start = _skip_fence(text, mark.end)
    if text.startswith("{", start):
        data, end = read_object(text, start)
        return _Call(*named_call(data), _skip_fence_end(text, end))
    name = _TOOL.match(text, start)
    if not name or (following and name.start(1) >= following.start):
        raise Unreadable(f"its {ACTION} names no tool")
    tool = name[1].rstrip(".")
    if following and following.label == ACTION_INPUT:
        return _read_input(text, tool, name.end(), following)
    if text[name.end() : name.end() + 1] in ("(", "[", "（"):
        arguments, end, bare = read_call(text, name.end())
        return _Call(tool, arguments, _skip_fence_end(text, end), (Note("bare_text", bare),) if bare else ())
    unlabelled = _skip_fence(text, name.end())
    if text.startswith("{", unlabelled):
        arguments, end = read_object(text, unlabelled)
        return _Call(tool, arguments, _skip_fence_end(text, end), (Note("no_label", ACTION_INPUT),))
    if text[name.end() :].split("\n", 1)[0].strip(_PADDING):
        raise Unreadable(f'its {ACTION} is not of the form tool_name(parameter="value")')
    return _Call(tool, {}, name.end())


def _read_input(text: str, tool: str, named: int, mark: _Mark) -> _Call:
    """Read what follows an Action Input label: a JSON value, or else the bare text of the one parameter."""
    skipped = text[named : mark.start].strip(_PADDING)
    if skipped and skipped[0] not in "([（":  # `delete is not needed` asks for no tool
        raise Unreadable(f"its {ACTION} is more than the name of a tool")
    notes = (Note("ignored", skipped),) if skipped else ()
    start = _skip_fence(text, mark.end)
    if text.startswith("{", start):
        arguments, end = read_object(text, start)
        return _Call(tool, arguments, _skip_fence_end(text, end), notes)
    paragraph = re.compile(r"\n[ \t]*+\n").search(text, start)
    label = _LABEL.search(text, start)
    end = min(found.start() if found else len(text) for found in (paragraph, label))
    arguments, bare = read_text(text[start:end].strip(_PADDING))
    return _Call(tool, arguments, end, (*notes, Note("bare_text", bare)) if bare else notes)


def _thought(before: str) -> str:
    return _LABEL.sub("", _DECLINED.sub("", before)).strip(_PADDING)


def _discarded(text: str, end: int, marks: list[_Mark]) -> tuple[Note, ...]:
    """Note what follows the first action or answer, named after the first thing in it that matters."""
    rest = text[end:].strip()
    kind = next((_KINDS[mark.label] for mark in marks if mark.start >= end and mark.label in _KINDS), "trailing_text")
    return (Note(kind, rest),) if rest.strip(_PADDING) else ()


def _skip_fence(text: str, at: int) -> int:
    return _FENCE.match(text, at).end()


def _skip_fence_end(text: str, at: int) -> int:
    closed = _FENCE_END.match(text, at)
    return closed.end() if closed else at
