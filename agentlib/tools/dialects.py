"""What stands for JSON Schema in the wild, written as JSON Schema (draft 2020-12) has it.

The words for types are those of the Berkeley Function-Calling Leaderboard (`dict`, `float`, `tuple`, `any`, and Java's
and JavaScript's own), and so are an `enum` on an array that lists what its items may be, and one of texts where the
type is another; `nullable` and a boolean `exclusiveMinimum` are OpenAPI 3.0's; a boolean `required` is draft 3's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .coercing import fits_type, read_as, resolved, type_of
from .faults import ToolDefinitionError

_TYPES = {
    "object": "object dict map hashmap hashtable record struct",
    "array": "array list tuple set arraylist linkedlist queue stack vector",
    "string": "string str char text",
    "integer": "integer int long short byte bigint",
    "number": "number float double decimal",
    "boolean": "boolean bool",
    "null": "null none",
    "": "any",  # no type at all: anything fits
}
_WORDS = {word: kind for kind, words in _TYPES.items() for word in words.split()}
_ONE = ("additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "contains", "propertyNames",
        "not", "if", "then", "else")  # fmt: skip
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_KNOWN = {*_ONE, *_LISTS, *_MAPS, "dependencies"}
_ABOUT = ("$schema", "$id")  # all references are read from the root
_OPEN = ("additionalProperties", "unevaluatedProperties", "patternProperties", "anyOf", "oneOf", "allOf")


def as_json_schema(schema: dict | None, tool: str) -> dict:
    """Give the schema of a tool's parameters: always an object, which takes no others unless it says so.

    None and an empty schema are no parameters. A `required` name that is not defined is left out: nobody could say what
    to give for it. Raises ToolDefinitionError for what is no schema of an object.
    """
    root = _plain({} if schema is None else schema, f"tool {tool!r}: parameters")
    if "properties" not in root and (loose := [key for key in root if key not in _KNOWN and _is_typed(root[key])]):
        raise ToolDefinitionError(f"tool {tool!r}: parameters: put {', '.join(loose)} into 'properties'")
    _check_references(root, root, tool)
    top = resolved(root, root) | {key: root[key] for key in ("$defs", "definitions") if key in root}
    if "object" not in _listed(top.get("type", "object")):
        raise ToolDefinitionError(f"tool {tool!r}: the parameters are an object, not {top['type']!r}")
    properties = top.get("properties", {})
    closed = {} if any(key in top for key in _OPEN) else {"additionalProperties": False}
    made = {"type": "object", "properties": properties} | top | closed | {"type": "object"}
    required = made.pop("required", [])
    if isinstance(required, list) and required:
        made["required"] = [name for name in required if name in properties or not closed]
    return made


def _listed(kinds: Any) -> list:
    """Give the one type, or the several, as a list."""
    return kinds if isinstance(kinds, list) else [kinds]


def _is_typed(schema: Any) -> bool:
    return isinstance(schema, dict) and "type" in schema


def _plain(schema: Any, where: str) -> dict:
    """Rewrite a schema and all that it holds."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    if not isinstance(schema, dict):
        raise ToolDefinitionError(f"{where}: a schema is an object, not {schema!r:.60}")
    made = {key: value for key, value in schema.items() if key not in _ABOUT}
    for key in _MAPS:
        if key in made:
            made[key] = _each(made[key], f"{where}.{key}")
    if isinstance(made.get("items"), list):  # before draft 2020-12
        made["prefixItems"] = made.pop("items")
    for key in _LISTS:
        if key in made:
            made[key] = _all(made[key], f"{where}.{key}")
    for key in _ONE:
        if key in made and not isinstance(made[key], bool):
            made[key] = _plain(made[key], f"{where}.{key}")
    for rewrite in (_with_required, _with_types, _with_limits, _with_items, _with_enum, _with_null):
        rewrite(made, where)
    return made


def _each(schemas: Any, where: str) -> dict:
    if not isinstance(schemas, dict):
        raise ToolDefinitionError(f"{where}: an object of schemas is expected, not {schemas!r:.60}")
    return {name: _plain(each, f"{where}.{name}") for name, each in schemas.items()}


def _all(schemas: Any, where: str) -> list[dict]:
    if not isinstance(schemas, list):
        raise ToolDefinitionError(f"{where}: a list of schemas is expected, not {schemas!r:.60}")
    return [_plain(each, f"{where}.{i}") for i, each in enumerate(schemas)]


def _with_required(made: dict, where: str) -> None:
    """Take `"required": true` from a property to the object that holds it."""
    properties = made.get("properties", {})
    flagged = [name for name, each in properties.items() if each.get("required") is True]
    for name in [name for name, each in properties.items() if isinstance(each.get("required"), bool)]:
        properties[name] = {key: value for key, value in properties[name].items() if key != "required"}
    required = made.get("required")
    if isinstance(required, bool | None):
        required = []
    if not isinstance(required, list) or not all(isinstance(each, str) for each in required):
        raise ToolDefinitionError(f"{where}.required: a list of names is expected, not {required!r:.60}")
    if required or flagged:
        made["required"] = list(dict.fromkeys([*required, *flagged]))


def _with_types(made: dict, where: str) -> None:
    """Write the words for types as JSON Schema has them."""
    if "type" not in made:
        return
    kinds = _listed(made["type"])
    words = [_WORDS.get(kind.lower() or "any") if isinstance(kind, str) else None for kind in kinds]
    if None in words or not words:
        raise ToolDefinitionError(f"{where}.type: {made['type']!r:.60} is no type of JSON Schema")
    if "" in words:
        del made["type"]
    else:
        made["type"] = list(dict.fromkeys(words)) if isinstance(made["type"], list) else words[0]


def _with_limits(made: dict, where: str) -> None:
    """Write `"minimum": 1, "exclusiveMinimum": true` as `"exclusiveMinimum": 1`."""
    for key, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(made.get(key), bool):
            is_exclusive = made.pop(key)
            if is_exclusive and limit in made:
                made[key] = made.pop(limit)


def _with_items(made: dict, where: str) -> None:
    """Say of an array that its items are anything, where nothing is said: the API refuses an array without `items`.

    An enum of an array that lists no arrays is meant for the items.
    """
    if "array" in _listed(made.get("type")) and "prefixItems" not in made:
        made.setdefault("items", {})
    values, items = made.get("enum"), made.get("items")
    if made.get("type") != "array" or not isinstance(values, list) or not isinstance(items, dict):
        return
    if not any(isinstance(each, list) for each in values):
        made["items"] = items | {"enum": made.pop("enum")}
        _with_enum(made["items"], where)


def _with_enum(made: dict, where: str) -> None:
    """Write the values of an enum in the type that is said: of the integers "1" and "any", 1 and "any" may be given."""
    kind, values = made.get("type"), made.get("enum")
    if values == []:
        raise ToolDefinitionError(f"{where}.enum: of an empty list nothing can be chosen")
    if not isinstance(kind, str) or not isinstance(values, list):
        return
    made["enum"] = [each if fits_type(each, kind) else read_as(each, kind) for each in values]
    kinds = [kind if fits_type(each, kind) else type_of(each) for each in made["enum"]]
    made["type"] = kinds[0] if len(set(kinds)) == 1 else list(dict.fromkeys(kinds))


def _with_null(made: dict, where: str) -> None:
    """Write `"nullable": true` as one more type; a default that is null may be given, too."""
    may_be_null = made.pop("nullable", False) is True or made.get("default", "") is None
    if may_be_null and "type" in made:
        made["type"] = made["type"] if "null" in _listed(made["type"]) else [*_listed(made["type"]), "null"]
        if isinstance(made.get("enum"), list) and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]


def _check_references(schema: dict, root: dict, tool: str) -> None:
    """Refuse a `$ref` that leads nowhere, or out of the schema: nothing is fetched."""
    if other := next((key for key in ("$dynamicRef", "$recursiveRef") if key in schema), None):
        raise ToolDefinitionError(f"tool {tool!r}: {other} cannot be followed; write $ref")
    reference = schema.get("$ref")
    if isinstance(reference, str) and not _exists(reference, root):
        raise ToolDefinitionError(f"tool {tool!r}: $ref {reference!r} leads to no schema in these parameters")
    _walk(schema, lambda inner: _check_references(inner, root, tool))


def _walk(schema: dict, visit: Callable[[Any], None]) -> None:
    """Visit the schemas that stand directly in a schema."""
    maps = [each for key in _MAPS for each in schema.get(key, {}).values()]
    lists = [each for key in _LISTS for each in schema.get(key, [])]
    for each in (*maps, *lists, *(schema.get(key) for key in _ONE)):
        if isinstance(each, dict):
            visit(each)


def _exists(reference: str, root: Any) -> bool:
    start, *path = reference.split("/")
    for key in path:
        key = key.replace("~1", "/").replace("~0", "~")
        root = root[int(key)] if isinstance(root, list) and key.isdigit() and int(key) < len(root) else (
            root.get(key) if isinstance(root, dict) else None)  # fmt: skip
    return start == "#" and isinstance(root, dict)
