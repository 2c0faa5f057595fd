"""Signatures as function-calling benchmarks have them, with arguments that fit and arguments that do not; seeded."""

import random
from typing import Any

NAMES = ["city", "from", "max results", "unit", "query", "items", "class", "größe", "n", "options", "date-from", "type"]
WORDS = ["red", "green", "blue", "Paris", "a b", "3", "true", ""]
SCALARS = {"string": ["string", "String", "char"], "integer": ["integer", "long"],
           "number": ["number", "float", "double"], "boolean": ["boolean", "Boolean"]}  # fmt: skip


def scalar(rng: random.Random, kind: str) -> Any:
    """Give a value of a type, as its own type."""
    return {"string": rng.choice(WORDS), "integer": rng.randint(-9, 99), "number": rng.randint(-9, 99) / 4,
            "boolean": rng.random() < 0.5}[kind]  # fmt: skip


def described(rng: random.Random, depth: int) -> tuple[dict, Any, Any]:
    """Give the schema of a value, a value that fits, and one that does not and cannot be repaired."""
    kind = rng.choice([*SCALARS, "enum", "array", "tuple", "dict", "object", "any of", "nullable"])
    if kind in SCALARS:
        wrong = {"string": [1], "integer": "many", "number": "3,5", "boolean": "perhaps"}[kind]
        return {"type": rng.choice(SCALARS[kind]), "description": "A value."}, scalar(rng, kind), wrong
    if kind == "enum":
        choices = rng.choice([["celsius", "fahrenheit"], [1, 2, 3], ["a"]])
        of = "string" if isinstance(choices[0], str) else "integer"
        return {"type": of, "enum": choices}, rng.choice(choices), rng.choice(["not in it", None, 77, True])
    if kind == "nullable":
        return {"type": ["integer", "null"]}, rng.choice([None, 3]), "none of them"
    if kind == "any of":
        choices = [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]
        return {"anyOf": choices}, rng.choice([7, ["x"]]), 1.5
    inner, fits, wrong = described(rng, depth - 1) if depth else ({"type": "string"}, "x", {"no": "text"})
    if kind in ("array", "tuple"):
        return {"type": kind, "items": inner}, [fits] * rng.randint(1, 3), [fits, wrong]
    if kind == "dict":
        return {"type": "dict", "additionalProperties": inner}, {"some": fits}, {"some": fits, "other": wrong}
    schema = {"type": rng.choice(["dict", "object"]), "properties": {"inner": inner, "free": {"type": "any"}},
              "required": ["inner"]}  # fmt: skip
    free = rng.choice([1, "x", None, [True]])
    return schema, {"inner": fits, "free": free}, rng.choice([{"inner": wrong}, {"free": 1}])


def signature(seed: int) -> tuple[dict, dict, dict]:
    """Give the schema of a tool's parameters, arguments that fit, and for each parameter a value that does not."""
    rng = random.Random(seed)
    names = rng.sample(NAMES, rng.randint(0, 5))
    made = {name: described(rng, 2) for name in names}
    required = [name for name in names if rng.random() < 0.6]
    schema = {"type": rng.choice(["dict", "object"]), "properties": {name: made[name][0] for name in names},
              "required": required}  # fmt: skip
    given = {name: made[name][1] for name in names if name in required or rng.random() < 0.5}
    return schema, given, {name: made[name][2] for name in names}
