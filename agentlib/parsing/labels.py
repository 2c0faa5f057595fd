"""The labels of the ReAct text protocol: what the prompt asks for, and where they stand in a reply.

This is the one definition from which both the instructions and the reader are made, so that the prompt cannot ask for
what `parse` does not understand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

THOUGHT, ACTION, ACTION_INPUT, OBSERVATION, FINAL_ANSWER, QUESTION = (
    "Thought", "Action", "Action Input", "Observation", "Final Answer", "Question",
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

# A label at the start of a line: "Thought:", "**Action:**", "1. Action 2 :", "Final Answer：" and the like. Possessive
# quantifiers (*+) never give back what they took, which keeps a reply of a million stars or spaces linear.
_LABELS = {
    "thought": THOUGHT, "thoughts": THOUGHT, "action": ACTION, "action input": ACTION_INPUT, "input": ACTION_INPUT,
    "arguments": ACTION_INPUT, "observation": OBSERVATION, "action output": OBSERVATION, "final answer": FINAL_ANSWER,
    "answer": FINAL_ANSWER, "question": QUESTION,
}  # fmt: skip
_LINE = re.ASCII | re.IGNORECASE | re.MULTILINE  # ASCII: else "ı" is an "i", and no key of _LABELS


def _label(*labels: str) -> str:
    # No ">" and no single "#" before it: what is quoted, or stands in a comment, is not asked for.
    before = r"^(?:[ \t]*+#{2,6}(?=[ \t*]))?[ \t*_`-]*+(?:\d++[.)][ \t*_`]*+)?"
    after = r"(?:[:：][*_`]*+[ \t]*+|(?<=\*\*)[ \t]*+$)"  # bold letters on a line of their own need no colon
    first = "".join(sorted({label[0] for label in labels}))  # one look at it spares most lines a closer one
    return rf"{before}(?=[{first}])({'|'.join(labels)})[ \t]*+\d*+[ \t*_`]*+{after}"


NO_TOOL = re.compile(
    r"[ \t*_`\"']*+(?:none|null|nil|n/?a|no (?:action|tool)|not? (?:needed|required)|nothing)\b(?![(\[（])",
    re.IGNORECASE,
)
_LABEL = re.compile(_label(*sorted(_LABELS, key=len, reverse=True)), _LINE)
_THOUGHT = re.compile(_label("thoughts", "thought"), _LINE)
_DECLINED = re.compile(_label("action input", "action", "input") + NO_TOOL.pattern + r".*+\n?", _LINE)  # Action: None
_QUESTIONS = re.compile(rf"\A\s*+(?:{_label('question')}.*+(?:\n\s*+|\Z))+", _LINE)
# What a reasoning model thinks aloud: blocks that start a line or a thought (elsewhere the tag is only talked about),
# also cut off ones, the head of a reply whose opening tag stands in the prompt, and comments.
_TAGS = r"(?:think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad)>"
_THINK = re.compile(
    rf"^[ \t]*+(?:{THOUGHT}:[ \t]*+)?<{_TAGS}.*?(?:</{_TAGS}|\Z)|\A(?:(?!<{_TAGS}).)*?</{_TAGS}[ \t]*+$"
    r"|^[ \t]*+<!--.*?(?:-->|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
# Inside a line a label counts where a sentence has just ended, and as it is written in the prompt.
_WORDS = re.compile(f"({ACTION}|{FINAL_ANSWER})[ \t*_`]*+[:：][*_`]*+[ \t]*+")
_SENTENCE_END = re.compile(r"(?:[.!?…][\"'”’)\]*_`]*[ \t]+|[。！？][”’）]*[ \t]*)[*_`]*\Z")
_INNER_LABEL = re.compile(f"(?<=[ \t])[*_`]*+(?:{THOUGHT}|{ACTION}|{OBSERVATION}|{FINAL_ANSWER})[*_`]*+[:：]")
_INPUT_IN_LINE = re.compile(f"[ \t*_`,;.]*+{ACTION_INPUT}[*_`]*+[:：][*_`]*+[ \t]*+")
_FENCE = re.compile(r"^[ \t]*+```", re.MULTILINE)
PADDING = " \t\r\n*`"


class Mark(NamedTuple):
    """A label in a text. `end` is where what it labels begins. `place` is line, inline or alone (a call unlabelled)."""

    start: int
    end: int
    label: str
    place: str = "line"


def without_thinking(text: str) -> str:
    """Take out what a reasoning model thinks aloud in tags."""
    return _THINK.sub("", text) if "<" in text else text


def without_questions(text: str) -> tuple[str, str]:
    """Take off the question that a reply starts with, which only the user asks; the second value is what was taken."""
    found = _QUESTIONS.match(text)
    return (text[found.end() :], found[0].strip()) if found else (text, "")


def line_marks(text: str, start: int = 0) -> Iterator[Mark]:
    """Find the labels that start a line, one after the other."""
    for found in _LABEL.finditer(text, start):
        yield Mark(found.start(), found.end(), _LABELS[found[1].lower()])


def inline_mark(text: str, end: int) -> Mark | None:
    """Find the first Action or Final Answer that follows a sentence inside a line, before the place `end`."""
    for found in _WORDS.finditer(text, 0, end):
        if _SENTENCE_END.search(text[max(0, found.start() - 12) : found.start()]):
            return Mark(found.start(), found.end(), found[1], "inline")
    return None


def input_in_line(text: str, at: int) -> Mark | None:
    """Find an Action Input that follows the name of the tool in its line."""
    found = _INPUT_IN_LINE.match(text, at)
    return Mark(at, found.end(), ACTION_INPUT, "inline") if found else None


def next_label(text: str, start: int) -> int:
    """Give the place of the next label, at the start of a line or inside one, else the end of the text."""
    found = (_LABEL.search(text, start), _INNER_LABEL.search(text, start))
    return min(match.start() if match else len(text) for match in found)


def outside_fences(marks: Iterator[Mark], text: str, start: int) -> Iterator[Mark]:
    """Leave out the labels inside code fences that open after `start` and close."""
    fences = (found.start() for found in _FENCE.finditer(text, start))
    opened, closed = next(fences, len(text)), next(fences, len(text))
    for mark in marks:
        while closed <= mark.start:
            opened, closed = next(fences, len(text)), next(fences, len(text))
        if mark.start < opened or closed == len(text):
            yield mark


def has_label(text: str) -> bool:
    """Say whether a text starts with a label."""
    return bool(_LABEL.match(text))


def is_declined(text: str, at: int) -> bool:
    """Say whether what an Action label labels is "None" or the like."""
    return bool(NO_TOOL.match(text, at))


def as_thought(text: str) -> str:
    """Give a text without the labels of thoughts and without actions that are "None"."""
    return _THOUGHT.sub("", _DECLINED.sub("", text)).strip(PADDING)
