"""Native calls: which tools a request lets the model call, and the reply that calls them.

Calls that do not depend on each other come in one reply, unless `parallel_tool_calls` is false. With `tool_choice` none
no tool is called; with required, or the name of a function, one always is, whether it helps or not. A tool that is
there to hand in the answer (`final_answer`, `finish`, `submit_result`) gets it, alone, when the answer is known.
"""

import json
import re
import zlib
from dataclasses import dataclass

from .choosing import Call
from .filling import Value, fill
from .offered import Parameter, Tool, tool_from_schema
from .reading import Reading
from .replying import Move, decide
from .settling import key_words
from .words import choose, number_in, word_set, words

_HANDS_IN = word_set("final finish submit done")
_ANSWER = word_set("answer result response output")  # what may stand beside it: submit_order is another thing
_WHOLE_ANSWER = re.compile(r"answer|text|response|result|summary|explanation|reason|message|content|output", re.I)


@dataclass(frozen=True)
class Spoken:
    """A reply with the API's own field for calls: the text or none, and the calls."""

    content: str | None
    calls: tuple[Call, ...] = ()
    thought: str = ""  # what the model thinks, said or not


def callable_tools(body: dict) -> tuple[Tool, ...]:
    """Give the tools that a checked request lets the model call: all, none, or the one that it names."""
    choice = body.get("tool_choice")
    tools = {tool.name: tool for tool in map(tool_from_schema, body.get("tools") or ()) if tool}
    if choice == "none":
        return ()
    return (tools[choice["function"]["name"]],) if isinstance(choice, dict) else tuple(tools.values())


def speak(reading: Reading, must_call: bool, at_once: bool) -> Spoken:
    """Reply with calls or with an answer. `must_call` forbids the answer, `at_once` allows several calls."""
    move = decide(reading, at_once)
    calls = move.calls or _handing_in(move, reading, must_call) or (_forced(reading) if must_call else ())
    return Spoken(_aloud(move, reading) if calls else move.answer, calls, move.thought)


def wire_calls(calls: tuple[Call, ...], messages: list[dict]) -> list[dict]:
    """Write calls as the API does. The same call in the same place of a conversation has the same id."""
    return with_ids([(call.tool, json.dumps(dict(call.arguments), ensure_ascii=False)) for call in calls], messages)


def with_ids(functions: list[tuple[str, str]], messages: list[dict]) -> list[dict]:
    """Write calls, given as names and arguments, with ids that the conversation does not have yet."""
    known = {call["id"] for message in messages for call in message.get("tool_calls") or ()}
    written, number = [], len(known)
    for name, arguments in functions:
        digest = zlib.crc32(f"{name}{arguments}".encode(errors="replace"))
        while (call_id := f"call_{digest:08x}{number:04d}") in known:  # a shortened history may still hold it
            number += 1
        known.add(call_id)
        number += 1
        written.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}})
    return written


def _aloud(move: Move, reading: Reading) -> str | None:
    """Give the thought if the instructions ask for it, or now and then with a seed; most models call without a word."""
    now_and_then = reading.seed != 0 and choose(reading.seed, f"aloud{len(reading.steps)}", (True, False, False))
    return move.thought if reading.thinks_aloud or now_and_then else None


def _handing_in(move: Move, reading: Reading, must_call: bool) -> tuple[Call, ...]:
    """Give the call that hands in the answer, if there is a tool for that and it did not get it yet."""
    named = {tool: set(words(re.sub("[_-]", " ", tool.name))) for tool in reading.tools}
    tool = next((tool for tool, name in named.items() if name & _HANDS_IN and name <= _HANDS_IN | _ANSWER), None)
    if tool is None or (not must_call and any(step.tool == tool.name for step in reading.steps)):
        return ()
    short = re.split(r" (?:is|was|are|were|has|came)\b", move.answer)[0].strip(" .")
    parts = tool.schema or ()
    return (Call(tool.name, tuple(_part_of(part, move.answer, short, len(parts) == 1) for part in parts)),)


def _part_of(part: Parameter, answer: str, short: str, alone: bool) -> tuple[str, Value]:
    """Take a parameter's value out of the answer."""
    whole = alone or bool(_WHOLE_ANSWER.search(part.name))
    about = next((piece for piece in re.split(r"[;:(]", answer) if short in piece and number_in(piece) is not None),
                 answer)
    return fill((part,), answer if whole else short, short, about if part.kind in ("integer", "number") else answer)[0]


def _forced(reading: Reading) -> tuple[Call, ...]:
    """Call the tool whose words are nearest to the question, with what the question says."""
    asked = set(words(reading.question))
    tool = max(reading.tools, key=lambda tool: len(asked & set(words(f"{tool.name} {tool.description}"))))
    key = " ".join(key_words(reading.question)[:8]) or reading.question
    names = re.findall(r"[A-Z][\w-]+(?: [A-Z][\w-]+)*", reading.question[1:])
    return (Call(tool.name, fill(tool.schema or (), key, names[-1] if names else key, reading.question)),)
