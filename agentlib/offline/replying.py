"""From a reading to the text of a reply, written piece by piece, as a model writes it."""

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from . import memory
from .arithmetic import in_head
from .choosing import Call
from .needs import Fact, Weather
from .notes import Note
from .outcomes import Want
from .reading import Reading, Step
from .relations import BY_NAME
from .settling import noun_of
from .thinking import think
from .wording import answer_of, thought_of
from .words import plain

_LABELS = re.compile(r"(question|thought|action|action input|observation|final answer)\s*[:：]", re.I)
_MOST_INVENTED = 8  # so many observations it makes up in a row when nothing stops it


@dataclass(frozen=True)
class Move:
    """What the model decided: a call of a tool, or an answer; with the thought that goes with it."""

    thought: str
    call: Call | None
    answer: str
    want: Want | None = None
    calls: tuple[Call, ...] = ()  # the call, and others that need not wait for its result


def decide(reading: Reading, at_once: bool = False) -> Move:
    """Think once, and word what came of it. `at_once` allows several calls together."""
    conclusion = think(reading)
    wants = conclusion.wants if at_once else conclusion.wants[:1]
    want = wants[0] if wants else None
    answer = "" if want else answer_of(conclusion)
    return Move(thought_of(conclusion, wants), want.call if want else None, answer, want,
                tuple(each.call for each in wants))


def write(reading: Reading) -> Iterator[str]:
    """Write a reply. After an action the model writes on: it makes up the observation, unless someone stops reading."""
    for turn in range(_MOST_INVENTED):
        move = decide(reading)
        yield ("\n" if turn else "") + worded(move, reading)
        if move.want is None:
            return
        observation = invented(move.want)
        yield f"\nObservation: {observation}"
        reading = _with_step(reading, move, observation)


def invented(want: Want) -> str:
    """Make up what a tool might say: from memory, true or not, else by a plausible guess."""
    if want.kind == "code":  # what the code prints as it stands, else a number
        said = re.search(r'\bprint\("([^"]*)"\)$', str(want.call.arguments[0][1]))
        return said[1] if said else f"{zlib.crc32(want.subject.encode(errors='replace')) % 10000 / 10}"
    if want.kind == "sum":
        number = in_head(want.subject)
        return plain(number) if number is not None else "Error: cannot read the expression"
    if want.kind == "weather" and isinstance(want.need, Weather):
        return memory.invented_weather(want.subject)
    if isinstance(want.need, Fact) and want.need.relation in BY_NAME:
        row = BY_NAME[want.need.relation]
        value = memory.recall(row.name, want.subject) or memory.guess(row.name, row.kind, want.subject)
        if value:
            said = row.said.format(x=want.subject, v=value)
            return f"{want.subject}: {said[0].upper()}{said[1:]}."
    noun = noun_of(want.need) if isinstance(want.need, Fact) else "question"
    return f"No article matches '{want.subject}' and '{noun}'."


def worded(move: Move, reading: Reading) -> str:
    """Put a move into the format that the prompt asks for."""
    if not reading.has_format:
        return move.answer or move.thought
    lines = [f"Thought: {_one_line(move.thought)}"] if reading.writes_thoughts else []
    is_code = move.want is not None and move.want.kind == "code"
    last = _action(move.call, reading.action_style, is_code) if move.call else f"Final Answer: {_one_line(move.answer)}"
    return "\n".join([*lines, last])


def _one_line(text: str) -> str:
    """Write a text so that nothing quoted in it can be taken for a label of the format."""
    return _LABELS.sub(r"\1", re.sub(r"\s+", " ", text)).strip()


def _action(call: Call, style: str, is_code: bool = False) -> str:
    """Write an action as a call, as JSON, or with a separate input line. Code keeps its lines, which JSON escapes."""
    arguments = {key: _one_line(value) if isinstance(value, str) and not is_code else value
                 for key, value in call.arguments}
    if style == "json":
        return "Action: " + json.dumps({"name": call.tool, "arguments": arguments}, ensure_ascii=False)
    if style == "input":
        return f"Action: {call.tool}\nAction Input: {json.dumps(arguments, ensure_ascii=False)}"
    written = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
    return f"Action: {call.tool}({written})"


def _with_step(reading: Reading, move: Move, observation: str) -> Reading:
    """Add a step to what was read, as if it had been in the request."""
    step = Step(move.call.tool, tuple((key, str(value)) for key, value in move.call.arguments), observation)
    thought = (Note(move.thought, is_thought=True),) if reading.writes_thoughts else ()
    return replace(reading, steps=(*reading.steps, step),
                   notes=(*reading.notes, *thought, Note(observation, step.asked, step.tool)))
