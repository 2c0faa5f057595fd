"""A well-formed reply in its parts, and how the parts are written: what faults take apart and put together wrongly."""

import json
import re
from dataclasses import dataclass

_REPLY = re.compile(
    r"(?:Thought: (?P<thought>.*)\n)?"
    r"(?:Action: (?P<action>.*)(?:\nAction Input: (?P<input>.*))?|Final Answer: (?P<answer>.*))\n*")
_NAME = re.compile(r"(?:, )?(\w+)=")


@dataclass(frozen=True)
class Parts:
    """The parts of a reply: of an action it has a tool and arguments, else an answer."""

    text: str
    thought: str
    tool: str
    arguments: dict
    answer: str

    @property
    def head(self) -> str:
        """The line before the action or the answer, if the format has thoughts."""
        return f"Thought: {self.thought}\n" if self.thought else ""

    @property
    def as_call(self) -> str:
        """The call in call syntax."""
        return f"{self.tool}({pairs(self.arguments)})"

    def as_json(self, **changes: object) -> str:
        """The call as JSON, with other values for its name or its arguments."""
        return to_json({"name": self.tool, "arguments": self.arguments} | changes)

    @property
    def only_text(self) -> tuple[str, str]:
        """The name and the value of the one argument, if it is a text; else two empty texts."""
        values = [*self.arguments.items()]
        return values[0] if len(values) == 1 and isinstance(values[0][1], str) else ("", "")


def parts_of(text: str) -> Parts | None:
    """Take a well-formed reply apart; None if it is not well-formed."""
    found = _REPLY.fullmatch(text)
    if not found:
        return None
    thought = found["thought"] or ""
    if found["answer"] is not None:
        return Parts(text.rstrip(), thought, "", {}, found["answer"])
    try:
        tool, arguments = _call(found["action"], found["input"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return Parts(text.rstrip(), thought, tool, arguments, "") if tool and isinstance(arguments, dict) else None


def _call(action: str, given: str | None) -> tuple[str, dict]:
    """Read an action in one of the three styles that the model writes: two lines, JSON, call syntax."""
    if given is not None:
        return action, json.loads(given)
    if action.startswith("{"):
        data = json.loads(action)
        return data["name"], data["arguments"]
    tool, at, arguments = action.partition("(")[0], action.find("(") + 1, {}
    while name := _NAME.match(action, at):
        arguments[name[1]], at = json.JSONDecoder().raw_decode(action, name.end())
    if not at or action[at:] != ")":
        raise ValueError(action)
    return tool, arguments


def pairs(arguments: dict) -> str:
    """Write arguments as call syntax has them."""
    return ", ".join(f"{key}={to_json(value)}" for key, value in arguments.items())


def to_json(value: object) -> str:
    """Give the JSON text of a value, letters of all scripts as they are."""
    return json.dumps(value, ensure_ascii=False)
