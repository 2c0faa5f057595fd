"""The tools that a request offers: in the API's own field, or described in the text of the instructions."""

import json
import re
from dataclasses import dataclass

_LABEL = re.compile(r"(?:Question|Thought|Action Input|Action|Observation|Final Answer|Answer|Format error)$", re.I)
_SIGNATURE = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])\s*[`*]*([A-Za-z_][\w.-]*)[`*]*"
                        r"\s*\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)[`*]*"
                        r"(?:\s*->\s*\w+)?\s*[:：–—-]*\s*(.*)$", re.M)
_NAMED = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])\s*[`*]*([A-Za-z_][\w.-]*)[`*]*\s*[:：]\s*(.+)$", re.M)
_MOST_BRACKETS = 200  # so many places where JSON might start are tried
_DEEPEST = 8  # levels of a schema that are read


@dataclass(frozen=True)
class Parameter:
    """A parameter as its schema describes it."""

    name: str
    kind: str = "string"  # string, integer, number, boolean, array or object; any where no schema says it
    description: str = ""
    choices: tuple[str | int | float | bool, ...] = ()  # of an enum, as JSON values
    parts: tuple["Parameter", ...] = ()  # of an object, the required ones; of an array, its item
    low: float | None = None  # the least and the greatest number allowed
    high: float | None = None
    may_be_null: bool = False


@dataclass(frozen=True)
class Tool:
    """A tool as the request describes it."""

    name: str
    parameters: tuple[str, ...]  # the required ones
    description: str
    schema: tuple[Parameter, ...] | None = None  # the same, where there is a schema
    optional: tuple[Parameter, ...] = ()  # those that may be left out, where there is a schema
    signature: str = ""  # the parameters as a prompt writes them, where there is none


def tools_in(text: str) -> tuple[Tool, ...]:
    """Find the tools that the instructions describe: signatures in a list, JSON schemas, or named lines."""
    found = [Tool(m.group(1), _required(m.group(2)), m.group(3).strip(), signature=m.group(2))
             for m in _SIGNATURE.finditer(text)]
    found = found or _from_json(text)
    if not found and re.search(r"\btools?\b", text, re.I):
        found = [Tool(m.group(1), (), m.group(2)) for m in _NAMED.finditer(text) if not _LABEL.match(m.group(1))]
    return tuple(dict((tool.name, tool) for tool in found).values())


def _required(signature: str) -> tuple[str, ...]:
    """Give the names of the parameters that have no default."""
    parts = re.split(r",(?![^\[({]*[\])}])", signature)
    names = [part.split(":")[0].split("=")[0].strip() for part in parts
             if part.strip() and "=" not in part and "optional" not in part.lower() and "?" not in part.split(":")[0]]
    return tuple(name.strip("*` ") for name in names if re.match(r"^[`*]*[A-Za-z_]\w*", name))


def _from_json(text: str) -> list[Tool]:
    """Find tools given as JSON objects with a name and parameters, alone or in a list."""
    tools: list[Tool] = []
    at, decoder = 0, json.JSONDecoder()
    for _ in range(_MOST_BRACKETS if "parameters" in text else 0):
        mark = re.compile(r"[\[{]").search(text, at)
        if not mark:
            break
        try:
            data, at = decoder.raw_decode(text, mark.start())
        except (ValueError, RecursionError):
            at = mark.start() + 1
            continue
        tools += [tool for item in (data if isinstance(data, list) else [data]) if (tool := tool_from_schema(item))]
    return tools


def tool_from_schema(item: object) -> Tool | None:
    """Read one tool of the API's own layout; None if it is none. Without parameters it takes no arguments."""
    body = item.get("function", item) if isinstance(item, dict) else None
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        return None
    schema = body.get("parameters", {"properties": {}} if body is not item else None)
    if not isinstance(schema, dict):
        return None
    described = schema if isinstance(schema.get("properties"), dict) else {"properties": schema}
    found = _required_parts(described, schema)
    names = tuple(part.name for part in found)
    others = tuple(_parameter(name, part, schema, 0) for name, part in described["properties"].items()
                   if name not in names)
    return Tool(body["name"], names, str(body.get("description") or ""), found, others)


def _required_parts(schema: dict, whole: dict, depth: int = 0) -> tuple[Parameter, ...]:
    """Read the parameters that a call must fill: the required ones, or the first where all may be left out."""
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) and depth < _DEEPEST else {}
    required = schema.get("required")
    if not isinstance(required, list):  # then a default says which may be left out
        required = [name for name, part in properties.items() if not isinstance(part, dict) or "default" not in part]
    names = [name for name in required if isinstance(name, str)] or list(properties)[:1]
    return tuple(_parameter(name, properties.get(name), whole, depth) for name in dict.fromkeys(names))


def _parameter(name: str, schema: object, whole: dict, depth: int) -> Parameter:
    """Read one parameter; of alternatives the first that is not null."""
    schema, nullable = _resolved(schema, whole)
    kinds = schema.get("type") if isinstance(schema.get("type"), list) else [schema.get("type")]
    named = [kind for kind in kinds if isinstance(kind, str) and kind != "null"]
    kind = named[0] if named else "object" if "properties" in schema else "string"
    choices = schema["enum"] if isinstance(schema.get("enum"), list) else [schema["const"]] if "const" in schema else []
    item = (_parameter(name, schema.get("items"), whole, depth + 1),) if kind == "array" and depth < _DEEPEST else ()
    return Parameter(name, kind, str(schema.get("description") or ""),
                     tuple(one for one in choices if isinstance(one, str | int | float)),
                     _required_parts(schema, whole, depth + 1) if kind == "object" else item,
                     _number(schema.get("minimum")), _number(schema.get("maximum")), nullable or "null" in kinds)


def _resolved(schema: object, whole: dict) -> tuple[dict, bool]:
    """Follow references and alternatives to a plain schema; say also whether null is allowed."""
    nullable = False
    for _ in range(_DEEPEST):
        schema = schema if isinstance(schema, dict) else {}
        options = next((schema[key] for key in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(key), list)), [])
        kept = [each for each in options if isinstance(each, dict) and each.get("type") != "null"]
        nullable = nullable or len(kept) < len(options)
        if isinstance(schema.get("$ref"), str):
            schema = next((whole[place][schema["$ref"].split("/")[-1]] for place in ("$defs", "definitions")
                           if isinstance(whole.get(place), dict) and schema["$ref"].split("/")[-1] in whole[place]), {})
        elif kept and "type" not in schema:
            schema = {**{key: value for key, value in schema.items() if key == "description"}, **kept[0]}
        else:
            break
    return schema if isinstance(schema, dict) else {}, nullable


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
