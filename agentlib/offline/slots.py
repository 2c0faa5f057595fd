"""From a question to the arguments of any tool, by its schema alone: each parameter looks for what has its shape.

What a parameter wants is told by its type, its allowed values, the example in its description and the words of its
name. Nothing is made up: a required argument that the question does not give stays open, and `errands` sees to it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .clues import amounts, dates, files, ids, names, quoted, shape, times
from .filling import Value, related
from .offered import Parameter, Tool
from .senses import alike, stems
from .signatures import optional, required
from .units import unit_for
from .words import NAME, words

_NAMED = frozenset(stems("person customer city place country location home name colleague recipient sender company"
                         " author to from start destination origin"))
_TEXTS = frozenset(stems("text content message body phrase sentence title subject word query term list"))
_DATES = frozenset(stems("date day start end"))
((_TIME,), (_FILE,)) = stems("time"), stems("file")
_SAID = frozenset(stems("reason body message comment note explanation"))  # may follow a colon or a "because"
_BARE = re.compile(r"(?:\b(?i:number|no\.?|id|order|case|ticket) |#)(\d{3,8})\b")
_SAYS = re.compile(r"(?::|\bbecause\b|\bsince\b|[,.?!](?= (?:it|they|the|my) ))\s+(.+?)[.!]?$", re.I)
_SEVERAL = re.compile(rf"{NAME}(?:, {NAME})*,? and {NAME}")
_NO_KEY = frozenset(stems("does much many are is there any has have give tell need show find get list please all"))


@dataclass(frozen=True)
class Filled:
    """The arguments that a text gives for a tool, and the required parameters that it does not give."""

    arguments: tuple[tuple[str, Value], ...]
    missing: tuple[Parameter, ...] = ()


def fill_from(tool: Tool, text: str) -> list[Filled]:
    """Fill a tool's parameters: once, or once for each of several ids or names that its one parameter may take."""
    first, used, missing = [], set(), []
    for part in required(tool):
        value = next((each for each in _candidates(part, tool, text) if repr(each) not in used), None)
        if value is None and not part.may_be_null:
            missing.append(part)
            continue
        used.add(repr(value))
        first.append((part.name, value))
    for part in optional(tool):
        value = _choice(part, text) if part.choices else None
        first += [] if value is None else [(part.name, value)]
    name, values = _several(tool, text)
    return [Filled(tuple((key, other if key == name else value) for key, value in first), tuple(missing))
            for other in values] or [Filled(tuple(first), tuple(missing))]


def _several(tool: Tool, text: str) -> tuple[str, tuple[str, ...]]:
    """Give the one parameter for which the text has several ids or a list of names, and these."""
    with_ids = [part for part in required(tool) if _is_id(part)]
    with_names = [part for part in required(tool) if is_named(part)]
    if len(with_ids) == 1 and len(found := _ids(with_ids[0], text)) > 1:
        return with_ids[0].name, found
    listed = _SEVERAL.search(text)
    if len(with_names) == 1 and not with_ids and listed and len(found := names(text)) > 1:
        return with_names[0].name, found
    return "", ()


def _candidates(part: Parameter, tool: Tool, text: str) -> Iterator[Value]:
    """Give the values of a text that a parameter may take, best first."""
    if part.choices:
        value = _choice(part, text)
        yield from () if value is None else (value,)
    elif part.kind in ("integer", "number"):
        yield from _numbers(part, text)
    elif part.kind == "boolean":
        yield bool(set(words(part.name.replace("_", " "))) & set(words(text)))
    elif part.kind == "array":
        yield from _lists(part, tool, text)
    elif part.kind != "object":
        yield from _texts(part, tool, text)


def _texts(part: Parameter, tool: Tool, text: str) -> Iterator[str]:
    """Give the texts that a parameter may take, by its shape and by what its name says."""
    own = set(stems(part.name))
    if _is_id(part):
        yield from _ids(part, text)
    elif own & _DATES and dates(text):
        yield from dates(text)
    elif _TIME in own:
        yield from times(text)
    elif _FILE in own:
        yield from (*files(text), *quoted(text))
    elif own & set(stems("unit currency")):
        yield from unit_for(part.name, text)
    elif own & _SAID:
        yield from (*quoted(text), *(found[1] for found in [_SAYS.search(text)] if found))
    elif own & _TEXTS:
        yield from (*quoted(text), *_after_colon(text), *_key(part, tool, text))
    elif is_named(part):
        yield from _names(part, text)
    else:
        yield from (*quoted(text), *_key(part, tool, text))


def _is_id(part: Parameter) -> bool:
    """Say whether a parameter takes an id, by its name or its example."""
    return bool(re.search(r"(?:^|_)(?:id|code|number)$", part.name)) and part.kind in ("string", "any") and not dates(
        part.description)


def _ids(part: Parameter, text: str) -> tuple[str, ...]:
    """Give the ids in a text; those with the example's shape, if there is an example."""
    pattern = shape(part.description)
    found = ids(text)
    found = tuple(each for each in found if pattern.fullmatch(each)) if pattern else found
    return found or tuple(_BARE.findall(text))


def takes_id(part: Parameter, text: str) -> bool:
    """Say whether a parameter takes one of the ids in a text."""
    return _is_id(part) and bool(_ids(part, text))


def takes_shaped(part: Parameter, text: str) -> bool:
    """Say whether a parameter takes something of the text that is known by its shape: a date, a file, a name."""
    own = set(stems(part.name))
    is_date, is_text = own & _DATES, own & (_TEXTS | _SAID)
    return bool((is_date and dates(text)) or (_TIME in own and times(text)) or (_FILE in own and files(text))
                or (is_text and quoted(text)) or (is_named(part) and names(text)))


def is_named(part: Parameter) -> bool:
    """Say whether a parameter takes the name of a person or a place."""
    return part.kind in ("string", "any") and not part.choices and not _is_id(part) and bool(
        {*stems(part.name), part.name.lower()} & (_NAMED | {"to", "from"}) - _TEXTS)


def _names(part: Parameter, text: str) -> tuple[str, ...]:
    """Give the names in a text; first those behind 'from' or 'to', where the parameter is called so."""
    role = re.match(r"from|to(?=_|$)", part.name)
    behind = re.findall(rf"\b{role[0]} ({NAME})", text) if role else []
    return tuple(dict.fromkeys((*behind, *names(text))))


def _numbers(part: Parameter, text: str) -> list[int | float]:
    """Give the numbers of a text that fit the type: first those beside which stands what the parameter is about."""
    name, told = stems(part.name), stems(re.split("for example", part.description)[0])
    fitting = [each for each in amounts(text) if part.kind == "number" or each.value == int(each.value)]

    def nearness(amount) -> int:
        before, unit = stems(amount.before), stems(amount.after.split(" ")[0])
        by_name = sum(alike(one, other) for one in (*unit, *unit, *before) for other in name)
        return 2 * by_name + sum(alike(one, other) for one in (*unit, *before) for other in told)

    return [each.written for each in sorted(fitting, key=lambda amount: -nearness(amount))]


def _lists(part: Parameter, tool: Tool, text: str) -> Iterator[list]:
    """Give what a list may hold: all numbers of the text, or its quoted parts or names."""
    item = part.parts[0] if part.parts else None
    numeric = item.kind in ("integer", "number") if item else bool(set(stems(part.name)) & set(stems("number value")))
    found = [each.written for each in amounts(text)] if numeric else list(quoted(text) or names(text))
    yield from [found] if found else []


def _choice(part: Parameter, text: str) -> Value:
    """Give the allowed value that the text names, or else means; None if it does neither."""
    said, small = stems(text), set(text.lower().split())
    for fits in (lambda one: one in said or one in small, lambda one: any(alike(one, other) for other in said)):
        found = [each for each in part.choices if isinstance(each, str) and any(map(fits, stems(each) or (each,)))]
        if found:
            return found[0]
    numbers = [each.written for each in amounts(text)]
    meant = [each for each in part.choices if isinstance(each, str) and related(set(words(each))) & set(words(text))]
    return next((each for each in part.choices if each in numbers), meant[0] if meant else None)


def _after_colon(text: str) -> tuple[str, ...]:
    found = re.search(r":\s+(.+?)[.?!]?$", text)
    return (found[1],) if found else ()


def _key(part: Parameter, tool: Tool, text: str) -> tuple[str, ...]:
    """Give what is left of a question without the words that only say what to do: 'desk lamp' of 'What does a desk lamp
    cost?'."""
    own = stems(f"{tool.name} {part.name}")
    kept = [word for word in re.findall(r"[\w'-]+", text) if (found := stems(word)) and found[0] not in _NO_KEY
            and not any(alike(found[0], each) for each in own)]
    return (" ".join(kept),) if kept else ()
