"""The ways in which a reply with native calls goes wrong, one small function each.

Those of `NATIVE_ONLY` have no counterpart in the text protocol; the others bear its name there: one rate is for both.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from .parts import pairs, to_json

NATIVE_ONLY = ("missing_argument", "extra_argument", "null_arguments", "empty_arguments", "duplicate_ids",
               "stop_with_calls", "lost_calls")


@dataclass(frozen=True)
class Sent:
    """What the model sends: the text, the calls as (id, name, arguments) and the finish reason.

    Beside it stand what it thinks, and the ids that the conversation has already.
    """

    content: str
    calls: tuple[tuple[str, str, str], ...]
    reason: str
    thought: str = ""
    used: tuple[str, ...] = ()

    @property
    def wire_calls(self) -> list[dict]:
        """The calls as the API writes them."""
        return [{"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
                for call_id, name, arguments in self.calls]

    def with_call(self, place: int, name: str, arguments: str) -> "Sent":
        """Give it with another name and other arguments of one call."""
        changed = (self.calls[place][0], name, arguments)
        return replace(self, calls=(*self.calls[:place], changed, *self.calls[place + 1:]))


Write = Callable[[Sent, int], Sent | None]  # the second is which of the calls is struck
NATIVE: dict[str, Write] = {}


def _arguments(write: Callable[[str, dict], str | None]) -> Write:
    """Enter a function that gives the arguments of a call as they should not be, from its name and arguments."""

    def malform(sent: Sent, place: int) -> Sent | None:
        if not sent.calls:
            return None
        _, name, arguments = sent.calls[place]
        written = write(name, json.loads(arguments))
        return None if written is None or written == arguments else sent.with_call(place, name, written)

    NATIVE[write.__name__] = malform
    malform.__doc__ = write.__doc__
    return malform


def _message(write: Write) -> Write:
    """Enter a function on the whole reply."""
    NATIVE[write.__name__] = write
    return write


# -- arguments that are no JSON, or JSON in another way


@_arguments
def truncated_arguments(name: str, given: dict) -> str | None:
    """The arguments break off in the middle of the last value."""
    text = to_json(given)
    return text[: -max(3, len(str(list(given.values())[-1])) // 2 + 2)] if given else None


@_arguments
def missing_bracket(name: str, given: dict) -> str:
    """The last bracket is missing."""
    return to_json(given)[:-1]


@_arguments
def arguments_as_text(name: str, given: dict) -> str:
    """The arguments are encoded twice: a JSON string that holds JSON."""
    return to_json(to_json(given))


@_arguments
def single_quotes(name: str, given: dict) -> str | None:
    """A Python dict instead of JSON."""
    return repr(given) if given else None


@_arguments
def trailing_comma(name: str, given: dict) -> str | None:
    """A comma after the last argument."""
    return f"{to_json(given)[:-1]},}}" if given else None


@_arguments
def unquoted_keys(name: str, given: dict) -> str | None:
    """Bare names, as in JavaScript."""
    return re.sub(r'"(\w+)": ', r"\1: ", to_json(given)) if given else None


@_arguments
def raw_newline(name: str, given: dict) -> str | None:
    """A line break inside a text, where a space belongs."""
    text = next((value for value in given.values() if isinstance(value, str) and value.count(" ") > 1), "")
    inside = to_json(text)[1:-1]
    return to_json(given).replace(inside, "\n".join(inside.rsplit(" ", 1))) if text else None


@_arguments
def null_arguments(name: str, given: dict) -> str:
    """The arguments are null."""
    return "null"


@_arguments
def empty_arguments(name: str, given: dict) -> str:
    """The arguments are an empty text."""
    return ""


# -- arguments that the schema does not know


@_arguments
def nested_arguments(name: str, given: dict) -> str:
    """The arguments one level too deep."""
    return to_json({"arguments": given})


@_arguments
def misspelt_parameter(name: str, given: dict) -> str | None:
    """Two letters of a parameter's name in the wrong order."""
    key = next((key for key in given if len(key) > 3 and key[1] != key[2]), "")
    wrong = f"{key[:1]}{key[2:3]}{key[1:2]}{key[3:]}"
    return to_json({wrong if each == key else each: value for each, value in given.items()}) if key else None


@_arguments
def number_as_text(name: str, given: dict) -> str:
    """A number in quotes."""
    return to_json({key: str(value) if type(value) in (int, float) else value for key, value in given.items()})


@_arguments
def missing_argument(name: str, given: dict) -> str | None:
    """The last argument is left out."""
    return to_json(dict(list(given.items())[:-1])) if given else None


@_arguments
def extra_argument(name: str, given: dict) -> str:
    """An argument that the tool does not have, such as other tools have."""
    others = {"language": "en", "limit": 5, "format": "json", "note": ""}
    return to_json(given | dict([next((key, value) for key, value in others.items() if key not in given)]))


# -- calls in the wrong place


@_message
def bare_json(sent: Sent, place: int) -> Sent | None:
    """The call as JSON in the text, and none in its field."""
    return _in_text(sent, place, "{}")


@_message
def code_fence(sent: Sent, place: int) -> Sent | None:
    """The same in a block of code."""
    return _in_text(sent, place, "```json\n{}\n```")


@_message
def wrapper_object(sent: Sent, place: int) -> Sent | None:
    """The same in the tags that many open models write, and that a server should have read."""
    return _in_text(sent, place, "<tool_call>\n{}\n</tool_call>")


@_message
def missing_action_label(sent: Sent, place: int) -> Sent | None:
    """The call in call syntax in the text."""
    if not sent.calls:
        return None
    _, name, arguments = sent.calls[place]
    return _only_text(sent, f"{name}({pairs(json.loads(arguments))})")


@_message
def prose(sent: Sent, place: int) -> Sent | None:
    """A sentence that says which tool it will use, and no call."""
    if not sent.calls:
        return None
    _, name, arguments = sent.calls[place]
    values = " and ".join(map(str, json.loads(arguments).values()))
    return _only_text(sent, f"I will use {name}{f' on {values}' if values else ''}.")


@_message
def thought_only(sent: Sent, place: int) -> Sent | None:
    """A thought, and no call."""
    return _only_text(sent, sent.thought) if sent.calls and sent.thought else None


@_message
def empty_reply(sent: Sent, place: int) -> Sent:
    """Nothing: neither a text nor a call."""
    return _only_text(sent, "")


@_message
def lost_calls(sent: Sent, place: int) -> Sent | None:
    """The finish reason says tool_calls, and there are none."""
    return replace(_only_text(sent, ""), reason="tool_calls") if sent.calls else None


@_message
def early_answer(sent: Sent, place: int) -> Sent | None:
    """An answer beside a call that has no result yet."""
    return replace(sent, content=f"The result of {sent.calls[place][1]} answers the question.") if sent.calls else None


@_message
def stop_with_calls(sent: Sent, place: int) -> Sent | None:
    """The finish reason says stop, and there are calls."""
    return replace(sent, reason="stop") if sent.calls and sent.reason != "stop" else None


@_message
def duplicate_ids(sent: Sent, place: int) -> Sent | None:
    """All calls of the reply have one id; an only one has that of an earlier call."""
    ids = [call_id for call_id, _, _ in sent.calls]
    same = ids[0] if len(ids) > 1 else sent.used[-1] if ids and sent.used else None
    return replace(sent, calls=tuple((same, *function) for _, *function in sent.calls)) if same else None


def _in_text(sent: Sent, place: int, around: str) -> Sent | None:
    """Write one call into the text, and leave the field for calls empty."""
    if not sent.calls:
        return None
    _, name, arguments = sent.calls[place]
    return _only_text(sent, around.replace("{}", to_json({"name": name, "arguments": json.loads(arguments)})))


def _only_text(sent: Sent, content: str) -> Sent:
    return replace(sent, content=content, calls=(), reason="stop")
