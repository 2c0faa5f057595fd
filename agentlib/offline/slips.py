"""How a fault gets into a reply: what strikes, what the model then says, and how it comes out of it again.

An error is any message whose first line starts with the word Error or Warning, after a label or one more word
(`Observation: Error: …`, `Format error: …`). It helps when it says what would be right, by plain signs:

    it shows the format (the label `Action:` or `Final Answer:`; of native calls, the words "call a tool"), or
    it names a tool of the list other than the one just called, or
    it names a parameter of one of the tools, or
    it is the note of a guard: these say what to do instead.

`Error`, `Error: bad input` and `Error: unknown tool 'wiki'` do not help. `Error: unknown tool 'wiki'. The tools are:
search, weather` does, and so does `Error: query: Input should be a valid string`.

A model that repeats itself does as it did after the same reply before: it repeats one call, or several in turn. A
guard's note, which starts with `Note:`, gets it out of this, as an error would; and on an answer it is an objection.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from .choosing import Call
from .faults import Faults
from .malformed import MALFORMED
from .needs import Fact
from .notes import Value
from .reading import Reading, text_of
from .replying import Move, decide, worded
from .settling import noun_of
from .thinking import think
from .wording import answer_of, thought_of
from .words import fold

_ERROR = re.compile(r"\s*(?:observation[:：]\s*)?(?:\w+[ \t]+)?(?:error|warning)\b", re.I)
_NOTE = re.compile(r"^\s*note[:：]", re.I | re.M)
_ANSWERS = re.compile(r"^\W*final answer\W*[:：]", re.I | re.M)
_ACTS = re.compile(r"^\W*action\W*\d*\W*[:：]", re.I | re.M)
_SHOWS_FORMAT = re.compile(r"\b(?:action|final answer)[ \t]*[:：]|\bcall (?:a|one of the) tools?\b", re.I)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TOOLS = {"search": ("google", "wikipedia", "web_search"), "weather": ("forecast", "temperature", "get_weather_report"),
          "sum": ("python", "wolfram_alpha", "solve")}


def is_error(text: str) -> bool:
    """Say whether a message is an error or a warning, by its first words."""
    return bool(_ERROR.match(text))


def faulty_reply(faults: Faults, reading: Reading, messages: list[dict]) -> str | None:
    """Give the reply to a request that a fault strikes; None if none does."""
    if not (faults.rates and reading.has_format):
        return None
    chance = faults.chances(messages, reading.seed)
    replies, answers = _since_question(messages)
    told = "\n".join(text for text in answers if _ERROR.match(text) or _NOTE.match(text))
    recovery = faults.recovery if helps(told, reading) else faults.blind_recovery
    if any(map(_ERROR.match, answers)) or (told and _ANSWERS.search(replies[-1])):
        return None if chance("recovery") < recovery else replies[-1]
    if faults.repeated_action and replies[-1:] and replies[-1] in replies[:-1]:
        goes_on = 1 - recovery if told else faults.persistence
        return replies[replies.index(replies[-1]) + 1] if chance("persistence") < goes_on else None
    if chance("whether") >= faults.total:
        return None
    move = decide(reading)

    def written(kind: str) -> str | None:
        return _written(kind, move, reading, replies, chance)

    kind = faults.struck(chance, lambda kind: written(kind) is not None)
    return written(kind) if kind else None


def helps(message: str, reading: Reading) -> bool:
    """Say whether an error message says what would be right."""
    named = set(re.findall(r"\w+", message))
    called = reading.steps[-1].tool if reading.steps else ""
    names = {tool.name for tool in reading.tools if tool.name != called}
    names |= {parameter for tool in reading.tools for parameter in tool.parameters}
    names -= {"a", "i", "I"}  # they are English words, too
    return bool(_NOTE.search(message) or _SHOWS_FORMAT.search(message) or names & named)


def _written(kind: str, move: Move, reading: Reading, replies: list[str], chance: Callable[[str], float]) -> str | None:
    """Write a reply with the given fault; None if it does not fit."""
    text = worded(move, reading)
    if kind in MALFORMED:
        malformed = MALFORMED[kind].write(text)
        return None if malformed == text else malformed
    if kind == "repeated_action":
        actions = [reply for reply in replies if _ACTS.search(reply)]
        return _one_of(actions, chance("repeated")) if actions and reading.steps and move.want else None
    mistaken = {"invented_tool": _with_invented_tool, "wrong_type": _with_wrong_type, "premature_answer": _premature}
    changed = mistaken[kind](move, reading, chance) if move.want else None
    return worded(changed, reading) if changed else None


def _with_invented_tool(move: Move, reading: Reading, chance: Callable[[str], float]) -> Move:
    """Call a tool that is not there: the thing wanted as a name, or a tool as other systems have it."""
    noun = noun_of(move.want.need) if isinstance(move.want.need, Fact) else ""
    others = _TOOLS.get(move.want.kind, (f"get_{move.call.tool}", f"{move.call.tool}_tool"))
    names = [re.sub(r"\W+", "_", fold(noun)), *others]
    unknown = [name for name in names if name and name not in {tool.name for tool in reading.tools}]
    return replace(move, call=replace(move.call, tool=_one_of(unknown, chance("tool"))))


def _with_wrong_type(move: Move, reading: Reading, chance: Callable[[str], float]) -> Move:
    """Give the schema's object where the text belongs, or a number in words."""
    arguments = tuple((key, mistyped(value)) for key, value in move.call.arguments)
    return replace(move, call=Call(move.call.tool, arguments))


def mistyped(value: object) -> object:
    """Give a value of another type."""
    if isinstance(value, str):
        return {"type": "string", "value": value}
    if isinstance(value, bool | list | dict | None):
        return str(value)
    return _NUMBERS[int(value)] if value in range(len(_NUMBERS)) else "many"


def _premature(move: Move, reading: Reading, chance: Callable[[str], float]) -> Move | None:
    """Answer from what is known so far, the rest from memory or by a guess, as if there were nothing to look up."""
    conclusion = think(replace(reading, tools=()))
    if not isinstance(conclusion.outcome, Value):
        return None
    return Move(thought_of(conclusion), None, answer_of(conclusion))


def _since_question(messages: list[dict]) -> tuple[list[str], list[str]]:
    """Give the model's replies since the last question, and what came back on the last of them."""
    asked = max((place for place, message in enumerate(messages) if message.get("role") == "user"
                 and re.match(r"\s*question[:：]", text_of(message), re.I)), default=0)
    texts = [(message.get("role") == "assistant", text_of(message)) for message in messages[asked:]]
    replies = [text for is_reply, text in texts if is_reply]
    last = max((place for place, (is_reply, _) in enumerate(texts) if is_reply), default=len(texts))
    return replies, [text for _, text in texts[last + 1:]]


def _one_of(options: list[str], chance: float) -> str:
    return options[int(chance * len(options))]
