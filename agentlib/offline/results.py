"""Native calls and their results, as a conversation keeps them, put into the lines that the rest of the model reads.

Tools in native calls often answer in JSON. `as_text` turns it into the sentences that people and other tools write.
"""

import json
import re

_TEXTS = ("title", "name", "city", "location", "place")  # what a result is about
_BODIES = ("result", "text", "content", "summary", "answer", "value", "output", "extract")
_UNITS = ((r"temp\w*_f\b|fahrenheit", "°F"), (r"temp|celsius", "°C"), (r"wind", "km/h"), (r"humid", "%"))
_FAILED = re.compile(r"(?:unknown tool|(?:the )?tool .{1,80}(?:not found|does not exist)|no such tool|traceback"
                     r"|\d+ validation errors?|(?-i:[A-Z]\w*(?:Error|Exception)):|(?:call|execution) failed)", re.I)
_DEEPEST = 6


def calls_of(message: dict) -> dict[str, str]:
    """Give the calls of an assistant message: by their ids, as JSON of name and arguments."""
    calls = {}
    for call in message.get("tool_calls") or ():
        function = call["function"]
        try:
            arguments = json.loads(function["arguments"])
            arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        except (ValueError, RecursionError):  # malformed arguments stand in the history as they were written
            arguments = None
        calls[call["id"]] = json.dumps({"name": function["name"], "arguments": arguments})
    return calls


def as_text(result: str) -> str:
    """Give a result in plain words; an error, however it is written, starts with 'Error: '."""
    try:
        data = json.loads(result) if result.strip()[:1] in ("{", "[", '"') else result
    except (ValueError, RecursionError):
        data = result
    if isinstance(data, dict) and data.get("error"):
        return f"Error: {_said(data['error'])}"
    text = result if data is result else _said(data)
    return f"Error: {text}" if _FAILED.match(text.strip()) else text


def _said(data: object, depth: int = 0) -> str:
    """Put JSON into words: what it is about, a colon, then its parts."""
    if isinstance(data, list):
        return "\n".join(_said(item, depth + 1) for item in data) if depth < _DEEPEST else ""
    if not isinstance(data, dict):
        return "" if data is None else json.dumps(data) if isinstance(data, bool) else str(data)
    if depth >= _DEEPEST:
        return ""
    about = next((str(data[key]) for key in _TEXTS if isinstance(data.get(key), str)), "")
    left = {key: value for key, value in data.items() if not (key in _TEXTS and value == about)}
    parts = [_part(str(key), value, data, depth) for key, value in left.items() if str(key) not in ("unit", "units")]
    return ": ".join(filter(None, [about, ", ".join(filter(None, parts))]))


def _part(key: str, value: object, data: dict, depth: int) -> str:
    """Word one part: a measure with its unit, a text alone, anything else with its name."""
    text = _said(value, depth + 1)
    if "temp" in key and re.fullmatch(r"-?\d+(?:\.\d+)?", text):
        value = float(text)  # tools write numbers as texts, too
    if isinstance(value, int | float) and not isinstance(value, bool):
        said = f"{key} {data.get('unit') or data.get('units') or ''}" if "temp" in key else key
        unit = next((unit for pattern, unit in _UNITS if re.search(pattern, said, re.I)), "")
        unit = "°F" if re.search(r"fahrenheit|\bf\b|imperial", said, re.I) else unit
        label = "" if unit[:1] == "°" else re.split(r"_", key)[0] if unit else key.replace("_", " ")
        return text if key in _BODIES else f"{label} {text} {unit}".strip()
    return text if isinstance(value, str) or key in _BODIES else f"{key.replace('_', ' ')} {text}" if text else ""
