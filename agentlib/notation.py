"""The notations in which models write arguments: JSON, Python literals, call syntax, bare text.

Every reader takes a text and a place in it, looks at most `MAX_LENGTH` characters ahead, and gives the value with the
place where it ends. Positional arguments get the keys "0", "1" …, which no parameter can have as its name.
"""

from __future__ import annotations

import ast
import json
import re
import warnings

MAX_LENGTH = 8_000

_FAULTS = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)  # what json and ast raise on odd input


class Unreadable(Exception):
    """Says, for the model, what is wrong with the notation."""


def to_json(value: object) -> str:
    """Give the JSON text of a value. Raises ValueError for NaN and infinity, which JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_json(text: str, start: int) -> tuple[object, int] | None:
    """Read the JSON value at `start`, raw newlines in its strings let through, or give None."""
    try:
        value, length = json.JSONDecoder(strict=False).raw_decode(text[start : start + MAX_LENGTH])
        to_json(value)
        return value, start + length
    except _FAULTS:
        return None


def read_object(text: str, start: int) -> tuple[dict, int]:
    """Read the JSON object at `start`, or the Python dict that a model wrote for one."""
    found = read_json(text, start)
    if found is None:
        end = closing(text, start)
        try:
            found = _literal(_expression(text[start:end])), end
            to_json(found[0])
        except _FAULTS:
            raise Unreadable(f"the arguments are not a JSON object: {text[start : start + 60]!r}") from None
    return as_arguments(found[0]), found[1]


def read_call(text: str, start: int) -> tuple[dict, int, str]:
    """Read the brackets at `start`: `(query="x", n=3)`, `("x")`, or bare text as in `Search[query]`.

    The third value is the bare text where it was one, else ''.
    """
    end = closing(text, start)
    inner = text[start + 1 : end - 1].strip()
    try:
        return _call_arguments(inner), end, ""
    except _FAULTS:
        return _bare_arguments(inner), end, inner


def read_text(text: str) -> tuple[dict, str]:
    """Read a whole text: a JSON value, or the bare text of one argument, which is the second value, else ''."""
    if len(text) > MAX_LENGTH:
        raise Unreadable(f"the arguments are longer than {MAX_LENGTH} characters")
    if text.lower() == "none":
        return {}, ""
    value = read_json(text, 0)
    if value and value[1] == len(text):
        return as_arguments(value[0]), ""
    return {"0": _without_quotes(text)} if text else {}, text


def as_arguments(data: object) -> dict:
    """Give a JSON value as named arguments: an object as it is, the JSON text of one unpacked once, a scalar as "0"."""
    if isinstance(data, str) and data.lstrip().startswith("{"):
        found = read_json(data.strip(), 0)
        if found is None or found[1] < len(data.strip()):
            raise Unreadable("the arguments are a text that is not JSON")
        data = found[0]
    if isinstance(data, list):
        raise Unreadable("the arguments are a list; write a JSON object with the parameters' names")
    if data is None:
        return {}
    return data if isinstance(data, dict) else {"0": data}


NO_TOOL = re.compile(
    r"[ \t*_`\"']*+(?:none|null|nil|n/?a|no (?:action|tool)|not? (?:needed|required)|nothing)\b(?![(\[（])",
    re.IGNORECASE,
)
_WRAPPERS = ("tool_calls", "tool_call", "function_call", "function", "action")
_NAMES = ("name", "tool", "tool_name", "action", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input")


def named_call(data: dict) -> tuple[str, dict]:
    """Read a JSON call in its common spellings, also inside wrappers such as {"tool_call": …}."""
    data = _unwrapped(data)
    name = next((data[key] for key in _NAMES if key in data), None)
    if not isinstance(name, str) or not name.strip() or NO_TOOL.match(name):
        raise Unreadable('its JSON names no tool; write {"name": "tool_name", "arguments": {…}}')
    given = [data[key] for key in _ARGUMENTS if key in data]
    if not given and len(data) > 1:  # what else is there may be meant as arguments, or the whole may be no call
        raise Unreadable('its JSON has no arguments; write {"name": "tool_name", "arguments": {…}}')
    return name.strip(), as_arguments(given[0] if given else {})


def _unwrapped(data: dict) -> dict:
    while inner := next((data[key] for key in _WRAPPERS if isinstance(data.get(key), dict | list)), None):
        if isinstance(inner, list) and len(inner) > 1:
            raise Unreadable("its JSON asks for several actions at once; write one")
        inner = inner[0] if isinstance(inner, list) else inner
        if not isinstance(inner, dict):
            break
        data = inner
    return data


_STRING_OR_BRACKET = re.compile(
    r"""\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|[()\[\]{}（）]""",
    re.DOTALL,
)


def closing(text: str, start: int) -> int:
    """Find the end of the bracket that opens at `start`, past strings and inner brackets."""
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text, start, start + MAX_LENGTH):
        depth += (token[0] in "([{（") - (token[0] in ")]}）")
        if depth == 0:
            return token.end()
    if len(text) - start > MAX_LENGTH:
        raise Unreadable(f"the arguments are longer than {MAX_LENGTH} characters")
    raise Unreadable(f"the arguments are cut off: no bracket closes {text[start : start + 40]!r}")


def _call_arguments(inner: str) -> dict:
    call = _expression(f"f({_STRING_OR_BRACKET.sub(_on_one_line, inner)}\n)")
    if not isinstance(call, ast.Call) or any(keyword.arg is None for keyword in call.keywords):
        raise ValueError(inner)
    arguments = {str(i): _literal(node) for i, node in enumerate(call.args)}
    arguments |= {keyword.arg: _literal(keyword.value) for keyword in call.keywords}
    to_json(arguments)
    if list(arguments) == ["0"] and isinstance(arguments["0"], dict):
        return arguments["0"]
    return arguments


def _on_one_line(token: re.Match) -> str:
    """Escape the raw newlines of a string: models write them between single quotes, Python does not read them there."""
    if token[0].startswith(('"""', "'''")):
        return token[0]
    return re.sub(r"\\.|[\r\n]", lambda m: {"\r": r"\r", "\n": r"\n"}.get(m[0], m[0]), token[0], flags=re.DOTALL)


def _bare_arguments(inner: str) -> dict:
    """Give unquoted text as the one argument that it can be: `New York`, or `city=New York`."""
    if re.match(r"\w++\s*+:\s*+[\"'{\[]", inner):
        raise Unreadable(f'write parameter="value" in place of {inner[:60]!r}')
    name, equals, value = inner.partition("=")
    if not equals or not name.strip().isidentifier():
        return {"0": _without_quotes(inner)}
    if re.search(r",\s*+\w++\s*+=", value):
        raise Unreadable(f"the values in {inner[:60]!r} need quotes")
    return {name.strip(): _without_quotes(value.strip())}


_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}


def _without_quotes(text: str) -> str:
    """Take off the quotes around a text."""
    return text[1:-1] if len(text) > 1 and _QUOTES.get(text[0]) == text[-1] else text


def _expression(source: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in a model's string is no business of the learner's
        return ast.parse(source.strip(), mode="eval").body


_JSON_NAMES = {"true": True, "false": False, "null": None}


class _JsonNames(ast.NodeTransformer):
    """Lets JSON's true, false and null stand in a Python literal."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_JSON_NAMES[node.id]) if node.id in _JSON_NAMES else node


def _literal(node: ast.expr) -> object:
    return ast.literal_eval(_JsonNames().visit(node))
