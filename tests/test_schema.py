"""From a Python signature to the schema that a model reads, and the objects that the function gets."""

from __future__ import annotations

import enum
import functools
import json
import pickle
import subprocess
import sys
import typing
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Literal, Optional, TypedDict, Union

import pytest
from pydantic import BaseModel, Field

from agentlib.tools import ArgumentsError, Tool, ToolDefinitionError, tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


@dataclass
class Point:
    x: int
    y: int = 0


@dataclass
class Path2:
    points: list[Point]
    tags: list[str] = field(default_factory=list)


class Order(BaseModel):
    number: int
    lines: list[Point] = []


class Box(TypedDict, total=False):
    width: typing.Required[int]
    inner: list[Point]


def properties(function, **options) -> dict:
    return Tool(function, **options).parameters["properties"]


def bind(function, **arguments) -> dict:
    """Give what the function gets; no repairs are needed."""
    values, repairs = Tool(function, "f").bind(json.dumps(arguments))
    assert repairs == ()
    return values


# -- types


def test_a_union_keeps_what_each_of_its_types_says():
    def f(v: list[int] | dict[str, float], c: Literal["r", "g"] | str): ...

    assert properties(f) == {
        "v": {"anyOf": [{"type": "array", "items": {"type": "integer"}},
                        {"type": "object", "additionalProperties": {"type": "number"}}]},
        "c": {"anyOf": [{"enum": ["r", "g"], "type": "string"}, {"type": "string"}]},
    }  # fmt: skip


def test_what_has_a_default_is_not_required():
    def f(city: str, units: str = "metric", *, n: int = 3, tags: Annotated[list[str], Field(default_factory=list)],
          most: int = Field(5, ge=1)): ...  # fmt: skip

    schema = Tool(f).parameters
    assert schema["required"] == ["city"]
    assert {name: each.get("default") for name, each in schema["properties"].items()} == {
        "city": None, "units": "metric", "n": 3, "tags": None, "most": 5}  # fmt: skip
    assert bind(f, city="x") == {"city": "x", "units": "metric", "n": 3, "tags": [], "most": 5}


def test_the_function_gets_real_objects():
    def f(c: Colour, level: Level, p: Point, path: Path2, order: Order, box: Box, day: date, at: datetime,
          pair: tuple[int, str], many: set[int], maybe: Optional[Point] = None,  # noqa: UP045 - people write it so
          some: Union[list[Point], None] = None): ...  # fmt: skip # noqa: UP007 - and so

    values = bind(f, c="red", level=3, p={"x": 1}, path={"points": [{"x": 1, "y": 2}]},
                  order={"number": 7, "lines": [{"x": 1}]}, box={"width": 1, "inner": [{"x": 2}]}, day="2024-05-01",
                  at="2024-05-01T10:00:00", pair=[1, "a"], many=[1, 2], some=[{"x": 3}])  # fmt: skip
    assert values == {
        "c": Colour.RED, "level": Level.HIGH, "p": Point(1), "path": Path2([Point(1, 2)]),
        "order": Order(number=7, lines=[Point(1)]), "box": {"width": 1, "inner": [Point(2)]},
        "day": date(2024, 5, 1), "at": datetime(2024, 5, 1, 10), "pair": (1, "a"), "many": {1, 2}, "maybe": None,
        "some": [Point(3)],
    }  # fmt: skip
    assert type(values["level"]) is Level


def test_a_typed_dict_says_what_is_required_in_it():
    def f(box: Box): ...

    with pytest.raises(ArgumentsError, match=r"^missing: box\.width$"):
        Tool(f).bind('{"box": {}}')


class Open(BaseModel, extra="allow"):
    number: int


class Lax(BaseModel, extra="ignore"):
    number: int


class Outer(TypedDict):
    box: typing.NotRequired[Box]


def test_a_typed_dict_in_another_that_may_be_left_out():
    def f(outer: Outer): ...

    assert bind(f, outer={}) == {"outer": {}}
    assert bind(f, outer={"box": {"width": 1}}) == {"outer": {"box": {"width": 1}}}


def test_what_a_model_would_drop_unseen_is_refused():
    def f(order: Order | None = None, all: list[Order] = (), free: dict | None = None): ...

    def g(order: Order | None = None, open: Open | None = None): ...

    assert Tool(f).parameters["$defs"]["Order"]["additionalProperties"] is False
    for function in (f, g):
        with pytest.raises(ArgumentsError, match=r"^unexpected: order\.numbr"):
            Tool(function).bind('{"order": {"number": 1, "numbr": 2}}')
    with pytest.raises(ArgumentsError, match=r"^unexpected: all\.0\.x$"):
        Tool(f).bind('{"all": [{"number": 1, "x": 2}]}')
    assert bind(f, free={"x": {"y": 1}})["free"] == {"x": {"y": 1}}
    assert bind(g, open={"number": 1, "more": 2})["open"].more == 2


def test_a_model_whose_author_lets_other_keys_be_dropped_drops_them():
    def f(lax: Lax): ...

    assert bind(f, lax={"number": 1, "more": 2}) == {"lax": Lax(number=1)}


def test_a_default_of_none_may_be_given():
    def f(a: int = None,  # noqa: RUF013 - people write it so
          b: Annotated[int, "Noted."] = None,  # noqa: RUF013 - and so
          c: int = Field(None, ge=1, description="Given."),
          d: Annotated[int, Field(description="Inner.")] = None): ...  # fmt: skip # noqa: RUF013 - and so

    assert bind(f, a=None, b=None, c=None) == {"a": None, "b": None, "c": None, "d": None}
    assert bind(f, a=3, c=1) == {"a": 3, "b": None, "c": 1, "d": None}
    assert [each.get("description") for each in properties(f).values()] == [None, "Noted.", "Given.", "Inner."]
    with pytest.raises(ArgumentsError, match=r"^c: Input should be greater than or equal to 1, got 0$"):
        Tool(f).bind('{"c": 0}')


def test_names_in_the_schema_are_not_repeated_as_titles():
    def f(city: str, point: Point): ...

    assert "title" not in json.dumps(properties(f))


# -- where a signature comes from


class Shop:
    """A shop."""

    def sell(self, what: Colour, n: int = 1) -> str:
        """Sell it.

        Args:
            n: How many.
        """
        return f"{what.value} {n}"

    async def __call__(self, what: Literal["x"]) -> str:
        """Call it."""
        return what


def order(item: str, count: int, *, key: str = "", point: Point | None = None) -> str:
    """Order it.

    Args:
        item: What.
        key: The shop's secret.
    """
    return item


@functools.wraps(order)
def logged(*args, **kwargs):
    return order(*args, **kwargs)


def test_methods_objects_wrappers_and_partials():
    assert Tool(Shop().sell).signature == 'sell(what: "red" or "blue", n: integer = 1)'
    assert properties(Shop().sell)["n"]["description"] == "How many."
    assert Tool(Shop(), "shop").signature == 'shop(what: "x")'
    assert Tool(Shop(), "shop").description == "Call it."
    assert Tool(logged).signature == Tool(order).signature
    with pytest.raises(ToolDefinitionError, match="'self' is open"):
        Tool(Shop.sell)


def test_what_a_partial_has_filled_in_is_not_for_the_model():
    made = Tool(functools.partial(order, key="secret", count=2))
    assert made.signature == "order(item: string, point: object or null = null)"
    assert "secret" not in json.dumps(made.to_wire())
    assert made.description == "Order it."
    assert made.function(**made.bind('{"item": "tea"}')[0]) == "tea"
    assert Tool(functools.partial(order, "tea")).parameters["required"] == ["count"]


# -- descriptions


def get(city: str, n: int = 1): ...


@pytest.mark.parametrize(
    ("docstring", "summary", "said"),
    [
        ("Get it.\nArgs:\n    city: Where.\n", "Get it.", "Where."),
        ("Get it.\n\nArgs:\n\n    city: Where.\n", "Get it.", "Where."),
        ("Args:\n    city: Where.\n", "", "Where."),
        ("Args:\n        city: Where.\n\n    Returns:\n        n: x\n", "", "Where."),
        ("Get it.\n\nArgs:\n    city (str): One of:\n        - 'a': first\n        - 'b': second\n", "Get it.",
         "One of:\n- 'a': first\n- 'b': second"),
        ("Get it.\n\n    Args:\n        city: Where it is,\n            all of it.\n    Returns:\n        it",
         "Get it.", "Where it is,\nall of it."),
        ("Get it.\n\nArgs:\n    city (Literal['a: b', 'c'], optional): Where: here.\n", "Get it.", "Where: here."),
        ("Get it.\n\nArgs:\n    odd line\n    city: Where.\n", "Get it.", "Where."),
        ("Get it.\n\nArgs:\n    - `city` (str): Where.\n", "Get it.", "Where."),
        ("Get it.\n\nExamples:\n    city: no\n\nArgs:\n    city: Where.", "Get it.", "Where."),
        ("Get it.\n\nArgs:\n    city: First.\n\n        Second.\n    n: x\n", "Get it.", "First.\n\nSecond."),
        ("Get it.\n\nParameters\n----------\ncity : str\n    Where.\nn : int, optional\n\nReturns\n-------\nstr\n",
         "Get it.", "Where."),
        ("Get it.\n\nParameters\n----------\ncity, n\n    Both.\n", "Get it.", "Both."),
        ("Get it.\n\n:param city: Where\n    it is.\n:type city: str\n:returns: x\n", "Get it.", "Where\nit is."),
        (":param str city: Where.", "", "Where."),
        ("Get it: now.\n\nMore text.", "Get it: now. More text.", None),
        ("Get it.\n\nNote: city: not this one.", "Get it. Note: city: not this one.", None),
        (None, "", None),
    ],
)  # fmt: skip
def test_the_docstring_describes_the_tool_and_its_parameters(monkeypatch, docstring, summary, said):
    monkeypatch.setattr(get, "__doc__", docstring)
    made = Tool(get)
    assert (made.description, made.parameters["properties"]["city"].get("description")) == (summary, said)


def test_an_annotation_says_more_than_the_docstring():
    def f(a: Annotated[str, "Noted."], b: Annotated[int, Field(description="Given.")], c: int,
          d: Annotated[str, "Inner."] | None = None):  # fmt: skip
        """Do.

        Args:
            a: Told.
            b: Told.
            c: Told.
        """

    assert [each["description"] for each in properties(f).values()] == ["Noted.", "Given.", "Told.", "Inner."]


def test_a_description_of_no_parameter_is_a_warning_and_adds_none():
    def f(city: str):
        """Get it.

        Args:
            citty: Where.
        """

    with pytest.warns(UserWarning, match=r"tool 'f': the docstring describes citty, which is no parameter") as caught:
        made = Tool(f)
    assert list(made.parameters["properties"]) == ["city"]
    assert caught[0].filename == __file__


# -- what cannot be described


class NotJson: ...


@pytest.mark.parametrize(
    ("annotation", "why"),
    [("Missing", "name 'Missing' is not defined"), ("list[Missing]", "name 'Missing' is not defined"),
     ("1 +", "syntax"), ("NotJson", "JSON cannot hold"), ("list[NotJson]", "JSON cannot hold"),
     ("typing.Callable[[int], int]", "JSON cannot hold")],
)  # fmt: skip
def test_the_parameter_at_fault_is_named(annotation, why):
    def f(sound: int, odd): ...

    f.__annotations__["odd"] = annotation
    with pytest.raises(ToolDefinitionError, match=f"tool 'f'.*{why}|tool 'f'.*Forward reference") as caught:
        Tool(f)
    assert "odd" in str(caught.value)
    assert "sound" not in str(caught.value)


# -- the tool itself


def test_the_decorator_takes_options():
    @tool(writes=True, final=True, timeout=5.0, name="pay-now", description="Pay.")
    def pay(to: str) -> str:
        return to

    assert (pay.writes, pay.final, pay.timeout, pay.name, pay.description) == (True, True, 5.0, "pay-now", "Pay.")
    assert pay("a") == "a"
    assert (tool(order).writes, tool(order).final, tool(order).timeout) == (False, False, None)
    assert tool()(order).name == "order"


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 1e10, True, "5"])
def test_a_timeout_is_a_number_of_seconds_above_0(timeout):
    with pytest.raises(ToolDefinitionError, match="tool 'order': the timeout must be seconds above 0"):
        Tool(order, timeout=timeout)


def test_a_description_that_no_server_would_take_is_cut_on_the_wire_only():
    long = Tool(order, description="x" * 2000)
    assert len(long.description) == 2000
    assert long.to_wire()["function"]["description"] == "x" * 1023 + "…"


def test_the_tool_on_the_wire():
    assert Tool(Shop().sell).to_wire() == {"type": "function", "function": {
        "name": "sell", "description": "Sell it.", "parameters": {
            "type": "object",
            "properties": {"what": {"$ref": "#/$defs/Colour"},
                           "n": {"type": "integer", "default": 1, "description": "How many."}},
            "required": ["what"], "additionalProperties": False,
            "$defs": {"Colour": {"enum": ["red", "blue"], "title": "Colour", "type": "string"}}}}}  # fmt: skip


def test_a_tool_can_be_sent_to_a_worker():
    copy = pickle.loads(pickle.dumps(Tool(order, writes=True, timeout=3)))
    assert (copy.signature, copy.writes, copy.timeout) == (Tool(order).signature, True, 3)


def test_nothing_heavy_is_imported_before_the_first_tool_is_made():
    program = "import sys, agentlib.tools; print([n for n in ('pydantic', 'jsonschema') if n in sys.modules])"
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
