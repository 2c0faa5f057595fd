"""The call that stands at a label: the name of a tool and its arguments, in one notation."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .labels import ACTION, ACTION_INPUT, NO_TOOL, PADDING, Mark, input_in_line, line_marks, next_label
from .notation import Notation, Note, Read, Unreadable, read_json
from .spelling import meant

# What some models put round a call, such as <tool_call> or [TOOL_CALLS].
TAG = r"(?:</?\|?(?:tool_calls?|function_calls?|tool_use|tools?|python_tag)\|?>|\[/?TOOL_CALLS\])"
_FENCE = re.compile(r"\s*+(?:```[ \t]*+\w*+\s*+)?")
_BEFORE = re.compile(rf"\s*+(?:```[ \t]*+\w*+\s*+)?(?:{TAG}\s*+)?(?:\[\s*+(?=[{{｛]))?")
_AFTER = re.compile(rf"[*_`]++|\s*+```|\s*+{TAG}")
_TOOL = re.compile(r"[*_`\"']*+([Ff]inal [Aa]nswer|[A-Za-z][\w.-]*+)[*_`\"']*+[ \t]*+")
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,99}|[Ff]inal [Aa]nswer", re.ASCII)  # `{"name": "Ada Lovelace", …}` is no call
_TAKEN_BACK = re.compile(
    r"\b(?:if|unless|only|do not|not yet|never|instead|cancel|no|wait,)\b|n't\b|- *wait", re.IGNORECASE
)
_NO_NAMES = {"None", "null", "nil", "undefined"}  # also with brackets; a tool may be named "none"
_WANTED = 'write {"name": "tool_name", "arguments": {…}}'


@dataclass(frozen=True)
class Call:
    """A call that was read, where it ends in the text, and what was not as asked."""

    tool: str
    arguments: dict
    end: int
    notes: tuple[Note, ...] = ()


def read_call(text: str, mark: Mark, notation: Notation) -> Call | None:
    """Read the call at an Action label. Gives None where it is not in this notation, and raises Unreadable where it can
    be in none, or where the rest of its line takes it back or sets a condition.
    """
    call = _call_at(text, mark, notation)
    if call and _TAKEN_BACK.search(re.split(r"[\n{\[]", text[call.end :], maxsplit=1)[0]):  # not in one more call
        raise Unreadable(f"its {ACTION} comes with a condition or is taken back; write the {ACTION} alone in its line")
    return call


def _call_at(text: str, mark: Mark, notation: Notation) -> Call | None:
    """Read the call at a label. A repair never reaches beyond the next label."""
    following = next(line_marks(text, mark.end), None)
    stop = following.start if following else len(text)
    start = _BEFORE.match(text, mark.end).end()
    if text.startswith(("{", "｛"), start):
        return _json_call(notation.value(text, start, stop), text)
    name = _TOOL.match(text, _FENCE.match(text, mark.end).end())
    if not name or name.start(1) >= stop or name[1] in _NO_NAMES:
        raise Unreadable(f"its {ACTION} names no tool")
    tool = name[1].rstrip(".")
    labelled = following if following and following.label == ACTION_INPUT else None
    if labelled := input_in_line(text, name.end()) or labelled:
        return _call_with_input(text, tool, name.end(), labelled, notation)
    if text[name.end() : name.end() + 1] in ("(", "[", "（"):
        found = notation.call(text, name.end(), stop)
        return found and Call(tool, found.value, _after(text, found.end), found.notes)
    unlabelled = _FENCE.match(text, name.end()).end()
    if text.startswith(("{", "｛"), unlabelled):
        found = notation.value(text, unlabelled, stop)
        return found and _with_arguments(tool, found, text, (Note("no_label", ACTION_INPUT),))
    return _call_without_arguments(text, tool, name.end(), stop)


def _call_with_input(text: str, tool: str, named: int, mark: Mark, notation: Notation) -> Call | None:
    """Read what follows an Action Input label: an object, or else the rest of the paragraph."""
    skipped = text[named : mark.start].strip(PADDING)
    if skipped and skipped[0] not in "([（":  # `delete is not needed` asks for no tool
        raise Unreadable(f"its {ACTION} is more than the name of a tool")
    notes = (Note("ignored", skipped),) if skipped else ()
    notes += (Note("inline_label", ACTION_INPUT),) if mark.place == "inline" else ()
    start = _FENCE.match(text, mark.end).end()
    label = next_label(text, start)
    if text.startswith(("{", "｛"), start):
        found = notation.value(text, start, label)
        return found and _with_arguments(tool, found, text, notes)
    end = _end_of_bare_text(text, mark.end, start, label)
    begin = end - len(text[start:end].lstrip(PADDING))
    found = notation.value(text, begin, begin + len(text[begin:end].rstrip(PADDING)))
    return found and replace(_with_arguments(tool, found, text, notes), end=end)


def _end_of_bare_text(text: str, labelled: int, start: int, stop: int) -> int:
    """Find where bare text ends: at the fence that closes, or before the next label. Half of it is never taken."""
    if "```" in text[labelled:start]:
        closed = text.find("```", start, stop)
        if closed < 0:
            raise Unreadable("the arguments are cut off: no fence closes them")
        return closed
    paragraph = re.compile(r"\n[ \t]*+\n").search(text, start, stop)
    if paragraph and text[paragraph.end() : stop].strip(PADDING):
        raise Unreadable(f"its {ACTION_INPUT} has several paragraphs; write it as a JSON object")
    return stop


def _call_without_arguments(text: str, tool: str, end: int, stop: int) -> Call:
    """Take the name alone for the whole call, unless what may be its arguments stands near by."""
    rest = text[end:stop].lstrip(PADDING.replace("\n", ""))
    if rest.split("\n", 1)[0].strip(PADDING):
        raise Unreadable(f'its {ACTION} is not of the form tool_name(parameter="value")')
    if rest.startswith("\n") and rest[1:].split("\n", 1)[0].strip(PADDING):
        raise Unreadable(f"the text after its {ACTION} has no label; write {ACTION_INPUT}: before the arguments")
    if any(mark.label == ACTION_INPUT for mark in line_marks(text)):
        raise Unreadable(f"its {ACTION_INPUT} does not follow its {ACTION}")
    return Call(tool, {}, end)


def _with_arguments(tool: str, found: Read, text: str, notes: tuple[Note, ...] = ()) -> Call:
    return Call(tool, as_arguments(found.value), _after(text, found.end), notes + found.notes)


def _after(text: str, at: int) -> int:
    """Skip what closes a fence, bold text or a tag."""
    while found := _AFTER.match(text, at):
        at = found.end()
    return at


# -- calls in JSON

_WRAPPERS = ("tool_calls", "tool_call", "function_call", "function", "action")
NAMES = ("name", "tool", "tool_name", "action", "function")
ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input")
KEYS = (*_WRAPPERS, *NAMES, *ARGUMENTS)


def _json_call(found: Read | None, text: str) -> Call | None:
    """Read a call in JSON in its common spellings, also inside wrappers such as {"tool_call": …}."""
    if found is None:
        return None
    data, notes = _with_known_keys(_unwrapped(found.value))
    name = next((data[key] for key in NAMES if key in data), None)
    if not isinstance(name, str) or not _NAME.fullmatch(name.strip()) or NO_TOOL.match(name):
        raise Unreadable(f"its JSON names no tool; {_WANTED}")
    given = [data[key] for key in ARGUMENTS if key in data]
    if not given and len(data) > 1:  # what else is there may be meant as arguments, or the whole may be no call
        raise Unreadable(f"its JSON has no arguments; {_WANTED}")
    if len(given) > 1 or _is_schema(given):
        raise Unreadable(f"its JSON describes a tool and does not call it; {_WANTED}")
    arguments = as_arguments(given[0] if given else {})
    return Call(name.strip(), arguments, _after(text, found.end), found.notes + notes)


def _with_known_keys(data: dict) -> tuple[dict, tuple[Note, ...]]:
    """Correct the key of the name or of the arguments where it is misspelt, such as "argumets"."""
    renamed, notes = dict(data), ()
    for known in (NAMES, ARGUMENTS):
        near = {key: found for key in data if key not in KEYS and (found := meant(key, known[:2]))}
        if len(near) == 1 and not any(key in data for key in known):
            ((key, found),) = near.items()
            renamed[found] = renamed.pop(key)
            notes += (Note("renamed_key", f"{key} to {found}"),)
    return renamed, notes


def _is_schema(given: list) -> bool:
    return bool(given) and isinstance(given[0], dict) and given[0].get("type") == "object" and "properties" in given[0]


def _unwrapped(data: dict) -> dict:
    while inner := next((data[key] for key in _WRAPPERS if isinstance(data.get(key), dict | list)), None):
        if isinstance(inner, list) and len(inner) > 1:
            raise Unreadable("its JSON asks for several actions at once; write one")
        inner = inner[0] if isinstance(inner, list) else inner
        if not isinstance(inner, dict):
            break
        data = inner
    return data


def as_arguments(data: object) -> dict:
    """Give a JSON value as named arguments: an object as it is, the JSON text of one unpacked once, a scalar as "0"."""
    if isinstance(data, str) and data.lstrip().startswith("{"):
        found = read_json(data.strip())
        if found is None or found[1] < len(data.strip()):
            raise Unreadable("the arguments are a text that is not JSON")
        data = found[0]
    if isinstance(data, list):
        raise Unreadable("the arguments are a list; write a JSON object with the parameters' names")
    if data is None:
        return {}
    return data if isinstance(data, dict) else {"0": data}
