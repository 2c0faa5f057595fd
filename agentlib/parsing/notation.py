"""The notations in which models write arguments, read as they stand: JSON, Python call syntax, bare text.

A `Notation` reads a value (what follows `Action Input:`, or a call in JSON) and a call (the brackets after a tool's
name). Either gives None where the text is not in that notation, and looks at most `MAX_LENGTH` characters ahead.
Positional arguments get the keys "0", "1" …, which no parameter can have as its name.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass

MAX_LENGTH = 8_000

FAULTS = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)  # what json and ast raise on odd input


class Unreadable(Exception):
    """Says, for the model, what is wrong with its reply. No other notation may be tried."""


@dataclass(frozen=True)
class Note:
    """What was repaired or discarded on the way. `kind` is a word that can be counted, `text` what it was about."""

    kind: str
    text: str


@dataclass(frozen=True)
class Read:
    """A value that was read, the place where it ends, and what was repaired."""

    value: object
    end: int
    notes: tuple[Note, ...] = ()


Reader = Callable[[str, int, int], Read | None]


@dataclass(frozen=True)
class Notation:
    """Two readers of a text, from a place to a stop."""

    value: Reader
    call: Reader


def to_json(value: object) -> str:
    """Give the JSON text of a value. Raises ValueError for NaN and infinity, which JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# -- JSON and call syntax


def read_json(text: str, start: int = 0) -> tuple[object, int] | None:
    """Read the JSON value at `start`, raw newlines in its strings let through, or give None."""
    try:
        value, length = _DECODER.raw_decode(text[start : start + MAX_LENGTH])
        to_json(value)
        return value, start + length
    except FAULTS:
        return None


def _without_contradictions(pairs: list[tuple[str, object]]) -> dict:
    """Make an object of its members. One that is given twice, and not the same, leaves open what is asked for."""
    data = dict(pairs)
    for name, value in pairs if len(data) < len(pairs) else ():
        if data[name] != value:
            raise Unreadable(f"its JSON gives {name[:60]!r} twice")
    return data


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_without_contradictions)


def json_value(text: str, start: int, stop: int) -> Read | None:
    """Read a JSON object, whatever follows it, or another JSON value that fills the place up to `stop`."""
    found = read_json(text, start)
    if found is None or not (isinstance(found[0], dict) or found[1] == stop):
        return None
    return Read(*found)


def python_call(text: str, start: int, stop: int) -> Read | None:
    """Read brackets that hold what Python's hold, `(query="x", n=3)` or `("x")`, or a JSON object."""
    try:
        end = closing(text, start)
        inner = text[start + 1 : end - 1].strip()
        if inner.startswith("{"):
            found = read_json(inner)
            return Read(found[0], end) if found and found[1] == len(inner) else None
        return Read(call_arguments(inner), end)
    except (Unreadable, *FAULTS):
        return None


_STRING_OR_BRACKET = re.compile(
    r"""\\.|\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|[()\[\]{}（）｛｝]""",
    re.DOTALL,
)


def closing(text: str, start: int, stop: int | None = None) -> int:
    """Find the end of the bracket that opens at `start`, past strings and inner brackets."""
    depth = 0
    stop = len(text) if stop is None else stop
    for token in _STRING_OR_BRACKET.finditer(text, start, min(stop, start + MAX_LENGTH)):
        depth += (token[0] in "([{（｛") - (token[0] in ")]}）｝")
        if depth == 0:
            return token.end()
    if stop - start > MAX_LENGTH:
        raise Unreadable(f"the arguments are longer than {MAX_LENGTH} characters")
    raise Unreadable(f"the arguments are cut off: no bracket closes {text[start : start + 40]!r}")


def call_arguments(inner: str) -> dict:
    """Read what stands between the brackets of a Python call. Raises one of FAULTS."""
    lines = "\n" in inner or "\r" in inner
    call = _expression(f"f({_STRING_OR_BRACKET.sub(_on_one_line, inner) if lines else inner}\n)")
    if not isinstance(call, ast.Call) or any(keyword.arg is None for keyword in call.keywords):
        raise ValueError(inner)
    if len({keyword.arg for keyword in call.keywords}) < len(call.keywords):
        raise Unreadable(f"its call gives a parameter twice: {inner[:60]!r}")
    arguments = {str(i): _literal(node) for i, node in enumerate(call.args)}
    arguments |= {keyword.arg: _literal(keyword.value) for keyword in call.keywords}
    to_json(arguments)
    return arguments


def python_literal(source: str) -> object:
    """Read a Python literal in which JSON's true, false and null may stand. Raises one of FAULTS."""
    value = _literal(_expression(source))
    to_json(value)
    return value


def _on_one_line(token: re.Match) -> str:
    """Escape the raw newlines of a string: models write them between single quotes, Python does not read them there."""
    if token[0].startswith(('"""', "'''")):
        return token[0]
    return re.sub(r"\\.|[\r\n]", lambda m: {"\r": r"\r", "\n": r"\n"}.get(m[0], m[0]), token[0], flags=re.DOTALL)


def _expression(source: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in a model's string is no business of the learner's
        return ast.parse(source.strip(), mode="eval").body


_JSON_NAMES = {"true": True, "false": False, "null": None}


class _JsonNames(ast.NodeTransformer):
    """Lets JSON's names stand in a Python literal, and no key twice."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_JSON_NAMES[node.id]) if node.id in _JSON_NAMES else node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        names = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        if len(names) > len(set(names)):
            raise ValueError("a key stands twice")
        return self.generic_visit(node)


def _literal(node: ast.expr) -> object:
    return ast.literal_eval(_JsonNames().visit(node))


# -- bare text


def bare_value(text: str, start: int, stop: int) -> Read | None:
    """Read the bare text of one argument. Raises Unreadable for an object, which is more than text."""
    if text.startswith(("{", "｛"), start):
        raise Unreadable(f"the arguments are not a JSON object: {text[start : closing(text, start, stop)][:60]!r}")
    bare = text[start:stop]
    if len(bare) > MAX_LENGTH:
        raise Unreadable(f"the arguments are longer than {MAX_LENGTH} characters")
    if not bare or bare.lower() == "none":
        return Read({}, stop)
    return Read({"0": _without_quotes(bare)}, stop, (Note("bare_text", bare),))


def bare_call(text: str, start: int, stop: int) -> Read | None:
    """Read brackets that hold bare text: `Search[New York]`, `search(city=New York)`."""
    end = _closing_in_line(text, start) or closing(text, start, stop)
    inner = text[start + 1 : end - 1].strip()
    if inner.startswith("{"):
        raise Unreadable(f"the arguments are not a JSON object: {inner[:60]!r}")
    if re.match(r"\w++\s*+[:：]\s*+[\"'“{\[]", inner):
        raise Unreadable(f'write parameter="value" in place of {inner[:60]!r}')
    name, equals, value = inner.partition("=")
    named = bool(equals) and name.strip().isidentifier()
    bare = value.strip() if named else inner
    if (named and re.search(r",\s*+\w++\s*+=", bare)) or _has_name_after_quote(bare):
        raise Unreadable(f"the values in {inner[:60]!r} need quotes")
    if re.fullmatch(r"[.…]+", inner):
        raise Unreadable(f"{inner[:60]!r} stands in place of its arguments")
    given = _without_quotes(bare)
    if given == bare and bare.startswith(('"', "'", "“")) and (named or text[start] != "["):
        raise Unreadable(f"the quotes in {inner[:60]!r} do not match")
    return Read({name.strip() if named else "0": given}, end, (Note("bare_text", inner),))


def _closing_in_line(text: str, start: int) -> int | None:
    """Find the end of a bracket in its line, where a lone quote is only a sign: `Search[5" nails]`."""
    depth = 0
    for bracket in re.compile(r"[(\[{（]|[)\]}）]|\n").finditer(text, start, start + MAX_LENGTH):
        if bracket[0] == "\n":
            return None
        depth += 1 if bracket[0] in "([{（" else -1
        if depth == 0:
            return bracket.end()
    return None


def _has_name_after_quote(text: str) -> bool:
    quote = re.search(r"[\"']", text)
    return bool(quote and re.compile(r"\w\s*+=").search(text, quote.end()))


_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}


def _without_quotes(text: str) -> str:
    """Take off the quotes around a text. Raises Unreadable where one opens and does not close."""
    opening, inner, close = text[:1], text[1:-1], _QUOTES.get(text[:1], "")
    if len(text) > 1 and close == text[-1] and close not in inner:
        return inner
    odd = text.count(opening) % 2 if opening == close else text.count(opening) != text.count(close)
    if close and odd and not re.match(r"['’]\d", text):  # the '90s
        raise Unreadable(f"a quote is not closed in {text[:60]!r}")
    return text


EXACT = Notation(json_value, python_call)
BARE = Notation(bare_value, bare_call)
