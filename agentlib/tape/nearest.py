"""Which of many requests is nearest to one that was asked, and where the two part, in a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile

_BEFORE, _AFTER = 20, 40  # characters shown round a difference
_WORDS = 200  # of a message are compared

Recorded = tuple[int, dict, dict]  # its line, the request, and the message of the reply


def how_it_differs(asked: dict, recorded: Sequence[Recorded]) -> str:
    """Say how the nearest of the recorded requests differs from what was asked."""
    line, nearest, reply = _nearest(asked, recorded)
    same = _same(asked, nearest)
    mine, theirs = asked["messages"][same:], nearest["messages"][same:]
    if mine and theirs:
        return f"message {same + 1} differs from the nearest one (line {line}): {_parting(mine[0], theirs[0])}"
    if theirs:
        return f"the nearest one (line {line}) begins with its {same} messages and has {len(theirs)} more"
    if mine:
        return _after(mine, reply, same, line)
    if difference := _tools_differ(asked.get("tools", []), nearest.get("tools", [])):
        return f"against the nearest one (line {line}), {difference}"
    stops = [_shown(each.get("stop", [])) for each in (asked, nearest)]
    return f"its stop words are {stops[0]}, those of the nearest one (line {line}) {stops[1]}"


def _after(mine: Sequence[dict], reply: dict, same: int, line: int) -> str:
    """Say how messages differ from the recorded reply to those before them."""
    if mine[0] != reply:
        return f"message {same + 1} differs from the reply on the tape (line {line}): {_parting(mine[0], reply)}"
    return f"the tape ends with message {same + 1} (the reply of line {line}), and this request goes on"


def _tools_differ(mine: list[dict], theirs: list[dict]) -> str:
    """Say which tools were offered here and not there, or the other way round; else which one is another; else ''."""
    ours, recorded = ({_name(tool): tool for tool in tools} for tools in (mine, theirs))
    more, less = [n for n in ours if n not in recorded], [n for n in recorded if n not in ours]
    if more or less:
        parts = [f"{what} {', '.join(names)}" for names, what in ((more, "added"), (less, "missing")) if names]
        return f"its tools differ: {'; '.join(parts)}"
    for name, tool in ours.items():
        if tool != recorded[name]:
            return f"its tool {name} differs in its {_part_of_tool(tool, recorded[name])}"
    return "" if mine == theirs else f"its tools come in another order: {', '.join(ours)}"


def _part_of_tool(mine: dict, theirs: dict) -> str:
    """Name the first part of a tool that differs, and show where."""
    parts, recorded = ({**tool.get("function", {}), **tool} for tool in (mine, theirs))
    name = next(name for name in {**parts, **recorded} if parts.get(name) != recorded.get(name))
    return f"{name}: {_texts_part(*(_plain(each.get(name)) for each in (parts, recorded)))}"


def _name(tool: dict) -> str:
    """Give the name of a tool; of one that is not as the API has it, all of it."""
    function = tool.get("function")
    return str(function["name"]) if isinstance(function, dict) and "name" in function else _written(tool)


def _nearest(asked: dict, recorded: Sequence[Recorded]) -> Recorded:
    """Give the request that shares the most first messages, then that whose next message is most alike."""
    longest = max(_same(asked, each) for _, each, _ in recorded)
    close = [each for each in recorded if _same(asked, each[1]) == longest]
    return max(close, key=lambda each: (*_likeness(asked, each[1], longest), -each[0]))


def _same(asked: dict, other: dict) -> int:
    return _common(asked["messages"], other["messages"])


def _common(mine: Sequence, theirs: Sequence) -> int:
    """Count the first items that are the same."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False))])


def _likeness(asked: dict, other: dict, index: int) -> tuple[bool, float]:
    mine, theirs = asked["messages"][index : index + 1], other["messages"][index : index + 1]
    if not mine or not theirs:  # the requests end here: alike when both do, and more so with the same tools
        tools = [list(map(_written, each.get("tools", []))) for each in (asked, other)]
        return not mine and not theirs, SequenceMatcher(None, *tools, autojunk=False).ratio()
    words = [_content(message).split()[:_WORDS] for message in (*mine, *theirs)]
    return mine[0].get("role") == theirs[0].get("role"), SequenceMatcher(None, *words, autojunk=False).ratio()


def _parting(mine: dict, theirs: dict) -> str:
    """Show the first characters that differ in two messages."""
    if mine.get("role") != theirs.get("role"):
        return f"its role is {mine.get('role')!r}, recorded was {theirs.get('role')!r}"
    return _texts_part(_content(mine), _content(theirs))


def _texts_part(*texts: str) -> str:
    place = _common(*texts)
    start = max(place - _BEFORE, 0)
    asked, recorded = (
        "…" * (start > 0) + text[start : place + _AFTER] + "…" * (place + _AFTER < len(text)) for text in texts
    )
    return f"from character {place + 1} on it is {_shown(asked)}, recorded was {_shown(recorded)}"


def _content(message: dict) -> str:
    content = message.get("content")
    alone = isinstance(content, str) and message.keys() <= {"role", "content"}
    return content if alone else _written(message)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else _written(value)


def _written(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")
