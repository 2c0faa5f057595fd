"""Reading an action that stands in the history: what the model wrote itself, well-formed or not.

A model knows what it meant. So this reads more loosely than any parser that runs tools may.
"""

import json
import re
from functools import lru_cache

_FENCE = re.compile(r"```\w*|`")
_OPENS = re.compile(r"[(\[（]")
_CLOSES = re.compile(r"[)\]）][^)\]）]*\Z")
_WRAPPERS = ("tool_call", "function_call")
_NAMES = ("name", "tool", "tool_name")
_ARGUMENTS = ("arguments", "args", "parameters")
# A name and its value in quotes of any kind or none, in call syntax or in something like JSON.
_PAIR = re.compile(r"([A-Za-z_]\w*)[\"']?\s*[=:]\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|“([^”]*)”"
                   r"|([^\s,(){}\"'“][^,(){}]*))")

_DEEPEST = 3

Pairs = tuple[tuple[str, str], ...]


@lru_cache(maxsize=2048)  # a conversation is read again with each request
def parse_action(text: str) -> tuple[str, Pairs]:
    """Read an action in any of the layouts that a prompt may ask for, or that a fault made of it."""
    text = _FENCE.sub("", text).strip()
    if text.startswith("{"):
        return _from_object(text)
    bracket = _OPENS.search(text)
    if not bracket:
        return text.split("\n")[0].strip(), ()
    name, rest = text[: bracket.start()], text[bracket.end():]
    return name.strip().split("\n")[0], parse_arguments(_CLOSES.sub("", rest))


def parse_arguments(text: str) -> Pairs:
    """Read arguments: JSON, name=value pairs, or one bare value."""
    text = _FENCE.sub("", text).strip()
    data = _json(text) if text.startswith("{") else None
    if data is not None:
        return _pairs(data)
    return _loosely(text) or ((("", text.strip("'\"“”")),) if text and not text.startswith("{") else ())


def _from_object(text: str) -> tuple[str, Pairs]:
    """Read a call written as JSON, or as something like it."""
    data = _json(text)
    if data is None:
        found = dict(_loosely(text))
        name = next((found.pop(key) for key in _NAMES if key in found), "")
        return name, tuple(found.items())
    while inner := next((data[key] for key in _WRAPPERS if isinstance(data.get(key), dict)), None):
        data = inner
    arguments = next((data[key] for key in _ARGUMENTS if key in data), None)
    name = next((str(data[key]) for key in _NAMES if key in data), "")
    return name, parse_arguments(arguments) if isinstance(arguments, str) else _pairs(arguments)


def _json(text: str) -> dict | None:
    """Read the JSON object at the start of a text."""
    try:
        data, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _loosely(text: str) -> Pairs:
    """Find pairs of names and values in any text."""
    return tuple((m[1], _on_one_line(next(g for g in m.groups()[1:] if g is not None))) for m in _PAIR.finditer(text))


def _pairs(data: object, path: str = "") -> Pairs:
    """Make pairs of a JSON object; what lies a level deeper has a name of its own, such as `arguments.query`."""
    pairs: Pairs = ()
    for key, value in data.items() if isinstance(data, dict) else ():
        deeper = isinstance(value, dict) and path.count(".") < _DEEPEST
        pairs += _pairs(value, f"{path}{key}.") if deeper else ((f"{path}{key}", _on_one_line(str(value))),)
    return pairs


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
