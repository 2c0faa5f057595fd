"""From the text of a model to a thought and an action: the ladder, from strict to lenient.

The text protocol is that of ReAct (Yao et al. 2022, arXiv:2210.03629). `parse` takes what models really write: other
spellings of the labels, markdown, code fences, JSON or call syntax, several actions in a reply, invented observations.
It never raises, needs time linear in the length of the reply, and never runs what was not clearly asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .asking import Reply, starts_with_call
from .calls import read_call
from .labels import (
    ACTION,
    ACTION_INPUT,
    FINAL_ANSWER,
    FORMAT,
    OBSERVATION,
    PADDING,
    STOP,
    THOUGHT,
    Mark,
    has_label,
    line_marks,
    next_label,
    outside_fences,
    without_questions,
    without_thinking,
)
from .notation import BARE, EXACT, Notation, Note, Unreadable, to_json
from .repairing import MENDED

__all__ = [
    "ACTION", "ACTION_INPUT", "DISCARDS", "FINAL_ANSWER", "FORMAT", "OBSERVATION", "RUNGS", "STOP", "THOUGHT",
    "Action", "Answer", "Note", "Nothing", "has_label", "parse",
]  # fmt: skip


@dataclass(frozen=True)
class Action:
    """The reply asks for a tool. `arguments` is the text of a JSON object; positional ones have the keys "0", "1" …

    `accepted` is the part of the reply that counts; the rest is in the notes. `rung` says how far down the ladder the
    reader had to go.
    """

    thought: str
    tool: str
    arguments: str
    accepted: str
    notes: tuple[Note, ...] = ()
    rung: str = "strict"


@dataclass(frozen=True)
class Answer:
    """The reply gives the final answer."""

    thought: str
    text: str
    accepted: str
    notes: tuple[Note, ...] = ()
    rung: str = "strict"


@dataclass(frozen=True)
class Nothing:
    """The reply has neither an action nor an answer that can be read. `why` is written for the model."""

    thought: str
    why: str
    rung: str = "nothing"


_KINDS = {OBSERVATION: "invented_observation", ACTION: "extra_action", FINAL_ANSWER: "early_answer"}
DISCARDS = (*_KINDS.values(), "trailing_text")  # the kinds of notes on what follows the first action or answer


# -- the ladder


def parse(text: str) -> Action | Answer | Nothing:
    """Read one reply: its first action or final answer, whichever comes first, and the thought before it."""
    reply = Reply(*without_questions(without_thinking(text)))
    try:
        for rung in RUNGS:
            if found := rung(reply):
                return replace(found, rung=rung.__name__)
        why = f"it has neither an {ACTION} nor a {FINAL_ANSWER}" if reply.text.strip() else "your reply is empty"
    except Unreadable as problem:
        why = str(problem)
    return Nothing(reply.thought, why)


def strict(reply: Reply) -> Action | Answer | None:
    """A line that starts with its label, and call syntax or JSON that is valid as it stands."""
    return _read(reply, EXACT) if reply.request and reply.request.place == "line" else None


def repaired(reply: Reply) -> Action | Answer | None:
    """The same, with arguments that are nearly JSON: a comma too many, a quote missing, a Python literal."""
    return _read(reply, MENDED) if reply.request and reply.request.place == "line" else None


def labelled(reply: Reply) -> Action | Answer | None:
    """No syntax, but it is said what is what: bare text after a label, a label inside a line, a JSON call alone."""
    if reply.request and reply.request.place == "line":
        return _read(reply, BARE)
    return reply.request and next(filter(None, (_read(reply, notation) for notation in (EXACT, MENDED, BARE))), None)


RUNGS = (strict, repaired, labelled)


# -- from a call to a result


def _read(reply: Reply, notation: Notation) -> Action | Answer | None:
    """Read what the reply asks for, in one notation. Gives None where it is not in this notation."""
    mark = reply.request
    if mark.label == FINAL_ANSWER:
        return _answer(reply, mark)
    call = read_call(reply.text, mark, notation)
    if call is None:
        return None
    accepted, notes = reply.text[: call.end].strip(), _notes(reply) + call.notes + _discarded(reply, call.end)
    if call.tool.lower() in _FINISH and len(call.arguments) <= 1:
        text = next(iter(call.arguments.values()), "")
        return Answer(reply.thought, _not_empty(text if isinstance(text, str) else to_json(text)), accepted, notes)
    return Action(reply.thought, call.tool, to_json(call.arguments), accepted, notes)


_FINISH = {"finish", "final_answer", "final answer"}  # the paper's `Finish[answer]` and its like


def _answer(reply: Reply, mark: Mark) -> Answer:
    """Read a final answer: all up to the next label that is not inside a code block of the answer."""
    marks = outside_fences(line_marks(reply.text, mark.end), reply.text, mark.end)
    end = next((m.start for m in marks if m.label != ACTION_INPUT), len(reply.text))
    end = min(end, next_label(reply.text, mark.end)) if mark.place == "inline" else end
    text = reply.text[mark.end : end].strip()
    text = text.removesuffix("**").rstrip() if text.count("**") % 2 else text
    notes = _notes(reply) + _discarded(reply, end)
    return Answer(reply.thought, _not_empty(text), reply.text[:end].strip(), notes)


def _not_empty(answer: str) -> str:
    if answer == "null" or not answer.strip(PADDING):
        raise Unreadable(f"its {FINAL_ANSWER} is empty")
    return answer


def _notes(reply: Reply) -> tuple[Note, ...]:
    """Note where the request stands, if not on a line with its label."""
    notes = {"inline": (Note("inline_label", reply.request.label),), "alone": (Note("no_label", ACTION),)}
    question = (Note("invented_question", reply.question),) if reply.question else ()
    return question + notes.get(reply.request.place, ())


def _discarded(reply: Reply, end: int) -> tuple[Note, ...]:
    """Note what follows the first action or answer, named after the first thing in it that matters."""
    rest = reply.text[end:].strip()
    if not rest.strip(f"{PADDING}]}}"):
        return ()
    labels = (mark.label for mark in line_marks(rest) if mark.label in _KINDS)
    kind = _KINDS.get(next(labels, ACTION if starts_with_call(rest) else ""), "trailing_text")
    return (Note(kind, rest),)
