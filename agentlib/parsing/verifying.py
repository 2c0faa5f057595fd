"""json-repair, believed only where it changed nothing but punctuation.

json-repair never gives up and makes something of any text. So it is asked only about the extracted arguments, at most
`MAX_LENGTH` characters of them, and what it makes of them counts only if everything that was written is in it, in its
order, nothing else is, and each text stands in the source between its quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .notation import MAX_LENGTH, to_json

MAX_DEPTH, MAX_QUOTES = 50, 1_000  # json-repair's time grows with the square of either, or worse

STRING = r"\\.|\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'"
_COMMENT = re.compile(rf"({STRING})|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)", re.DOTALL)
_BRACKET = re.compile(rf"(?:{STRING})|([(\[{{)\]}}])", re.DOTALL)
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_KEY = re.compile(r"[^\W\d][\w .$-]*+")
_BARE = re.compile(r"[^\W\d][\w .-]*+")
_NEVER_TEXT = {"undefined", "nan", "inf", "infinity", "nil", "tru", "fals", "nul"}
_EMPTY = re.compile(r"(?<![\w\"'])(?:\"\"|'')(?![\w\"'])")
# Two texts, or a text and a key, that json-repair took for one: `x" b: "y`.
_JOINED = re.compile(
    r"[\"'`“”]\s*+[+,:;=，：；]?\s*+[\"'`“”]|[\"`“”]\s*+\w*+\s*+[:=：]|[:=：]\s*+[\"`“”]|\n(?s:.*)[\"`“”]|[\"`“”][^\n]*+\n"
)
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_ESCAPES = {r"\n": " ", r"\r": " ", r"\t": " ", r"\"": " ", r"\'": " ", r"\/": "/", r"\\": "\\"}


def read_repaired(source: str) -> object:
    """Let json-repair read a text. Raises ValueError where one would have to take its word for the result."""
    import json_repair

    source = _COMMENT.sub(lambda found: found[1] or " ", source)
    if len(source) > MAX_LENGTH or sum(map(source.count, "\"'`“”")) > MAX_QUOTES:
        raise ValueError("too much to repair")
    containers = _count_brackets(source)
    value = _settled(json_repair.loads(source, skip_json_loads=True), source)
    parts = [*_parts(value)]
    if _content(" ".join(filter(None, parts))) != _content(_unescaped(source)):
        raise ValueError("something was left out or put in")
    if parts.count(None) != containers or parts.count("") > len(_EMPTY.findall(source)):
        raise ValueError("a list, an object or an empty text was left out or put in")
    return value


def _count_brackets(source: str) -> int:
    """Count the brackets outside strings that open. Raises ValueError where they are not nested as in JSON."""
    opened: list[str] = []
    count, last = 0, ""
    for token in filter(None, _BRACKET.findall(source)):
        if token in _CLOSES:
            opened.append(_CLOSES[token])
            count += 1
        elif not opened or opened.pop() != token:
            raise ValueError("brackets that do not match")
        if len(opened) > MAX_DEPTH or (last + token == "{{" and re.search(r"\{\s*+\{", source)):
            raise ValueError("brackets that are too deep")
        last = token
    return count


def _parts(value: object) -> Iterator[str | None]:
    """Give all keys and values as texts in their order, and None for each list and object."""
    if isinstance(value, dict):
        yield None
        for key, each in value.items():
            yield key
            yield from _parts(each)
    elif isinstance(value, list):
        yield None
        for each in value:
            yield from _parts(each)
    else:
        yield value if isinstance(value, str) else to_json(value)


def _content(text: str) -> str:
    """Give what is neither punctuation nor white space, with Python's constants as JSON's."""
    words = re.sub(r"\b(?:True|False|None)\b", lambda found: _CONSTANTS[found[0]], text)
    return re.sub(r"[\s\"'`“”,:;={}\[\]()]+", "", words)


def _unescaped(source: str) -> str:
    return re.sub(r"\\(?:u[0-9a-fA-F]{4}|.)", lambda found: _ESCAPES.get(found[0], found[0]), source, flags=re.DOTALL)


def _settled(value: object, source: str) -> object:
    """Check that each text of a repaired value stands in the source, and take off a quote that only closed it."""
    if isinstance(value, dict):
        if not all(map(_KEY.fullmatch, value)):
            raise ValueError("a key that is more than a name")
        return {key: _settled(each, source) for key, each in value.items()}
    if isinstance(value, list):
        return [_settled(each, source) for each in value]
    return _text(value, source) if isinstance(value, str) else value


def _text(text: str, source: str) -> str:
    if _JOINED.search(text):
        raise ValueError(f"{text!r} may be more than one text")
    for candidate in (text, text[:-1]) if text[-1:] in ("'", '"', "`") else (text,):
        written = to_json(candidate)[1:-1]
        for quote, form in [(q, f) for q in "\"'`" for f in (candidate, written, candidate.replace(q, "\\" + q))]:
            if _stands(f"{quote}{form}{quote}", source):
                return candidate
    bare = _BARE.fullmatch(text) and text.lower() not in _NEVER_TEXT
    if bare and not any(f"{quote}{text}" in source or f"{text}{quote}" in source for quote in "\"'`"):
        return text
    raise ValueError(f"{text!r} does not stand in the source")


def _stands(quoted: str, source: str) -> bool:
    """Say whether a text in its quotes is in the source, and neither of them is part of another pair."""
    at = source.find(quoted)
    while at >= 0:
        before, after = source[at - 1 : at], source[at + len(quoted) : at + len(quoted) + 1]
        if before in tuple(" \t\n:,;=[({") and after in (*" \t\n:,;=])}/", ""):
            return True
        at = source.find(quoted, at + 1)
    return False
