"""Tools: how they are described, what is repaired, what is refused, and that a call never breaks the run."""

import asyncio
import enum
import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlib import Tool, Toolbox, tool
from agentlib.tools import MAX_OBSERVATION, ArgumentsError, Outcome, ToolDefinitionError, shorten

ROOT = Path(__file__).parents[1]


def run(function, arguments: str | dict = "{}") -> Outcome:
    """Call a function as a model would."""
    made = function if isinstance(function, Tool) else Tool(function)
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Toolbox([made]).run(made.name, text)


def pay(to: str, amount: int) -> str:
    """Pay somebody."""
    raise AssertionError("called with arguments that do not fit")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int


class Counter:
    """Counts."""

    def __init__(self) -> None:
        self.n = 0

    def add(self, by: int) -> int:
        """Count on."""
        self.n += by
        return self.n

    @classmethod
    def named(cls, name: str) -> str:
        """Say a name."""
        return name

    @staticmethod
    def twice(n: int) -> int:
        """Double."""
        return 2 * n

    def __call__(self, n: int) -> int:
        """Triple."""
        return 3 * n


# -- how a tool is described


def every_type(
    text: str,
    whole: int,
    number: float,
    yes: bool,
    unit: Literal["C", "F"],
    either: int | str,
    colour: Colour,
    many: list[int],
    named: dict[str, float],
    point: Point,
    day: date,
    anything,
    perhaps: int | None = None,
    greeting: str = "grüß\n",
    *,
    last: bool = False,
) -> None:
    """Take every type."""


def test_the_line_of_a_tool_in_the_prompt():
    assert Tool(every_type).signature == (
        'every_type(text: string, whole: integer, number: number, yes: boolean, unit: "C" or "F", '
        'either: integer or string, colour: "red" or "blue", many: array, named: object, point: object, day: string, '
        'anything: any, perhaps: integer or null = null, greeting: string = "grüß\\n", last: boolean = false)'
    )
    assert repr(Tool(pay)) == "Tool(pay(to: string, amount: integer))"
    assert Toolbox([pay, Counter().add]).describe() == (
        "- pay(to: string, amount: integer): Pay somebody.\n- add(by: integer): Count on."
    )
    assert Toolbox([]).describe() == "(no tools)"


def test_the_schema_says_what_is_required_and_that_nothing_else_is_allowed():
    schema = Tool(every_type).parameters
    assert schema["type"] == "object"
    assert schema["required"] == list(schema["properties"])[:12]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["perhaps"]["default"] is None

    def now() -> str:
        """Tell the time."""
        return "noon"

    assert Tool(now).signature == "now()"
    assert Tool(now).parameters["properties"] == {}
    assert run(now).text == "noon"


@pytest.mark.parametrize(
    ("docstring", "description"),
    [
        (None, ""),
        ("Get it.", "Get it."),
        ("Get it,\nall of it.\n\nMore.", "Get it, all of it. More."),
        ("Returns the weather of a city.", "Returns the weather of a city."),
        ("Parameters are read from a file.", "Parameters are read from a file."),
        ("Get it.\nArgs:\n    city: Where.\n", "Get it."),
        ("Get it.\n\nArgs:\n\n    city: Where.\n", "Get it."),
        ("Args:\n    city: Where.\n", ""),
        ("Get it.\n\nReturns:\n    The weather.\n", "Get it."),
        ("Get it.\n\nParameters\n----------\ncity : str\n", "Get it."),
        ("Get it.\n\n:param city: Where.\n:return: What.\n", "Get it."),
        ("Get it.\n\nRaises: nothing at all.", "Get it. Raises: nothing at all."),
    ],
)
def test_the_description_is_the_docstring_up_to_its_sections(docstring, description):
    def get(city: str) -> str: ...

    get.__doc__ = docstring
    assert Tool(get).description == description


def test_a_name_and_a_description_may_be_given():
    made = Tool(pay, name="pay-now", description="Pay at once.")
    assert Toolbox([made]).describe() == "- pay-now(to: string, amount: integer): Pay at once."


def test_a_decorated_function_can_still_be_called():
    @tool
    def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    assert isinstance(add, Tool)
    assert (add(1), add(1, b=2), add.name) == (2, 3, "add")


def test_methods_partials_and_objects_are_tools_too():
    counter = Counter()
    assert (run(counter.add, {"by": 2}).text, counter.n) == ("2", 2)
    assert run(Counter.named, {"name": "c"}).text == "c"
    assert run(Counter.twice, {"n": 2}).text == "4"
    assert run(Tool(counter, name="triple"), {"n": 2}).text == "6"
    assert run(Tool(functools.partial(pow, 2), name="power")).kind == "bad_arguments"
    assert Tool(functools.partial(every_type, "x"), name="rest").signature.startswith("rest(whole: integer")


def test_annotations_may_be_texts_and_carry_notes():
    def f(a: "int", b: Annotated["str", "a note"], c: "Colour" = Colour.RED) -> None: ...

    assert Tool(f).signature == 'f(a: integer, b: string, c: "red" or "blue" = "red")'


def test_parameters_may_be_named_like_the_parts_of_a_model():
    def f(schema: str, json: str, copy: int, model_fields: str, field_0: str, _private: str) -> list:
        return [schema, json, copy, model_fields, field_0, _private]

    values = {"schema": "a", "json": "b", "copy": 1, "model_fields": "c", "field_0": "d", "_private": "e"}
    assert json.loads(run(f, values).text) == list(values.values())


# -- what cannot be a tool


@pytest.mark.parametrize("name", ["my tool!", "выборка", "a" * 65, "<lambda>", "", "a\n", "a.b"])
def test_names_that_the_api_refuses_are_refused_at_the_definition(name):
    with pytest.raises(ToolDefinitionError, match="cannot be a tool's name: use 1 to 64 of A-Z a-z 0-9 _ -"):
        Tool(pay, name=name)
    Tool(pay, name="a" * 64)
    with pytest.raises(ToolDefinitionError, match="'<lambda>' cannot be a tool's name"):
        Tool(lambda x: x)


class NotJson:
    pass


def with_args(q: str, *args) -> None: ...
def with_kwargs(q: str, **kwargs) -> None: ...
def positional_only(q: str, /) -> None: ...
def unknown_type(q: "Missing") -> None: ...  # noqa: F821
def bad_annotation(q: "1 +") -> None: ...  # noqa: F722
def no_json_type(q: NotJson) -> None: ...
def generator(q: str):
    yield q


async def async_generator(q: str):
    yield q


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (with_args, r"tool 'with_args': parameter '\*args' cannot be described to a model"),
        (with_kwargs, r"tool 'with_kwargs': parameter '\*\*kwargs' cannot be described to a model"),
        (positional_only, "tool 'positional_only': parameter 'q: str' cannot be described to a model"),
        (Counter.add, "tool 'add': 'self' is open; give the method of an object"),
        (unknown_type, "tool 'unknown_type': parameter 'q': name 'Missing' is not defined"),
        (bad_annotation, "tool 'bad_annotation': parameter 'q': "),
        (no_json_type, r"tool 'no_json_type' has a type that JSON cannot hold \(q: <class '.*NotJson'>\)"),
        (generator, "tool 'generator' is a generator; return a list or a text"),
        (async_generator, "tool 'async_generator' is a generator; return a list or a text"),
        (max, "tool 'max': no signature found"),
        (3, "'' cannot be a tool's name"),
    ],
)
def test_what_cannot_be_described_is_refused_at_the_definition(function, why):
    with pytest.raises(ToolDefinitionError, match=why) as caught:
        Tool(function)
    assert "\n" not in str(caught.value)


def test_two_tools_need_two_names():
    with pytest.raises(ToolDefinitionError, match="two tools are named 'pay'"):
        Toolbox([pay, tool(pay)])


# -- arguments that do not fit


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "missing: to, amount"),
        ({"to": "a"}, "missing: amount"),
        ({"to": "a", "amount": 1, "currency": "EUR"}, "unexpected: currency (allowed: to, amount)"),
        ({"type": "object", "properties": {}},
         "missing: to, amount; unexpected: type, properties (allowed: to, amount)"),
        ({"to": "a", "amount": "many"}, 'amount: Input should be a valid integer, got "many"'),
        ({"to": None, "amount": [1]},
         "to: Input should be a valid string, got null; amount: Input should be a valid integer, got [1]"),
        ({"to": "größer", "amount": "größer"}, 'amount: Input should be a valid integer, got "größer"'),
        ("[]", "the arguments are not a JSON object, but []"),
        ("null", "missing: to, amount"),
        ('"x"', 'the arguments are not a JSON object, but "x"'),
        ("", "missing: to, amount"),
        ("to a", "the arguments are not JSON that can be read: Expecting value: line 1 column 1 (char 0)"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_name_every_field_and_call_nothing(arguments, why):
    outcome = run(pay, arguments)
    assert outcome == Outcome(f"Error: {why}. The tool is pay(to: string, amount: integer)", "bad_arguments")
    assert outcome.is_error
    with pytest.raises(ArgumentsError) as caught:
        Tool(pay).bind(arguments if isinstance(arguments, str) else json.dumps(arguments))
    assert str(caught.value) == why


def test_errors_inside_a_value_name_the_place():
    def draw(point: Point, sizes: list[int]) -> None: ...

    assert run(draw, {"point": {"x": 1}, "sizes": [1, "2"]}).text.startswith(
        'Error: missing: point.y; sizes.1: Input should be a valid integer, got "2".'
    )


# -- repairs


def scalars(n: int, x: float, b: bool, s: str, u: str | int) -> list:
    return [n, x, b, s, u]


def test_repairs_lose_nothing_and_are_recorded():
    outcome = run(scalars, {"n": "3", "x": "2.5", "b": "true", "s": 4, "u": "7"})
    assert outcome.text == '[3, 2.5, true, "4", "7"]'
    assert outcome.repairs == ("n: str to int", "x: str to float", "b: str to bool", "s: int to str")


def test_what_fits_is_not_touched():
    outcome = run(scalars, {"n": 3, "x": 2, "b": False, "s": "4", "u": 7})
    assert (outcome.text, outcome.repairs) == ('[3, 2.0, false, "4", 7]', ())


@pytest.mark.parametrize(
    ("name", "value", "repaired"),
    [("n", " 42 ", 42), ("n", "-7", -7), ("n", 3.0, 3), ("x", "1e3", 1000.0), ("x", "-0.5", -0.5),
     ("b", "False", False), ("s", 1.5, "1.5"), ("s", -3, "-3")],
)  # fmt: skip
def test_each_repair(name, value, repaired):
    fitting = {"n": 1, "x": 1.0, "b": True, "s": "", "u": ""}
    outcome = run(scalars, fitting | {name: value})
    assert json.loads(outcome.text)["nxbsu".index(name)] == repaired
    assert len(outcome.repairs) == 1
    assert run(scalars, fitting | {name: repaired}).repairs == ()  # what is repaired needs no repair


@pytest.mark.parametrize(
    ("name", "value"),
    [("n", "3.7"), ("n", "abc"), ("n", True), ("n", 3.5), ("n", ""), ("n", "٣"), ("n", "1_000"), ("n", "9" * 5000),
     ("n", 1e300 * 10), ("n", None), ("n", [3]), ("x", "inf"), ("x", "nan"), ("x", "1,5"), ("x", True), ("x", ""),
     ("b", 1), ("b", "yes"), ("b", ""), ("s", True), ("s", None), ("s", ["a"]), ("u", 1.5), ("u", None)],
)  # fmt: skip
def test_what_is_ambiguous_is_not_repaired(name, value):
    outcome = run(scalars, {"n": 1, "x": 1.0, "b": True, "s": "", "u": ""} | {name: value})
    assert outcome.kind == "bad_arguments"
    assert outcome.text.startswith(f"Error: {name}")


def test_an_optional_number_in_quotes_is_repaired_too():
    def f(n: int | None = None) -> int | None:
        return n

    assert (run(f, {"n": "3"}).text, run(f, {"n": None}).text, run(f).text) == ("3", "null", "null")


# -- names and positions


@pytest.mark.parametrize(
    ("name", "arguments", "resolved"),
    [
        ("pay", {"0": "a", "1": 2}, ("pay", {"to": "a", "amount": 2})),
        ("Pay", {"0": "a", "amount": 2}, ("pay", {"to": "a", "amount": 2})),
        ("PAY", {"amount": 2, "0": "a"}, ("pay", {"amount": 2, "to": "a"})),
        ("pay", {"0": "a", "to": "b"}, ("pay", {"0": "a", "to": "b"})),  # given twice: not ours to decide
        ("pay", {"0": "a", "1": 2, "2": 3}, ("pay", {"to": "a", "amount": 2, "2": 3})),
        ("send", {"0": "a"}, ("send", {"0": "a"})),
    ],
)
def test_names_and_positions_are_resolved_where_that_is_unambiguous(name, arguments, resolved):
    found, text = Toolbox([pay]).resolve(name, json.dumps(arguments))
    assert (found, json.loads(text)) == resolved


def test_a_capital_that_could_mean_two_tools_means_none():
    box = Toolbox([Tool(pay, name="pay"), Tool(pay, name="PAY")])
    assert box.resolve("Pay", "{}") == ("Pay", "{}")
    assert box.resolve("PAY", "{}") == ("PAY", "{}")


def test_an_unknown_tool_is_answered_with_the_known_ones():
    box = Toolbox([pay, Counter().add])
    assert box.run("get_pay", "{}") == Outcome("Error: unknown tool 'get_pay'. The tools are: pay, add", "unknown_tool")
    assert Toolbox([]).run("x", "{}").text == "Error: unknown tool 'x'. The tools are: none"


# -- what a tool gives


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        (None, "null"),
        (3, "3"),
        (True, "true"),
        ({"a": [1, "ü"]}, '{"a": [1, "ü"]}'),
        ((1, 2), "[1, 2]"),
        ({"b", "a", "c"}, '["a", "b", "c"]'),
        (date(2020, 1, 2), "2020-01-02"),
        (b"x", "x"),
        (b"\xff", "b'\\xff'"),
        (Point(1, 2), '{"x": 1, "y": 2}'),
        ({(1, 2): 3}, "{(1, 2): 3}"),
    ],
)
def test_a_result_becomes_a_text(result, text):
    def f():
        return result

    assert run(f) == Outcome(text)


def test_a_set_is_the_same_text_in_every_process():
    program = "from agentlib import Toolbox\ndef f(): return {'n', 'e', 'sw'}\nprint(Toolbox([f]).run('f', '{}').text)"
    for seed in ("1", "2"):
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": seed}, cwd=ROOT,
                              capture_output=True, text=True, check=True)  # fmt: skip
        assert done.stdout == '["e", "n", "sw"]\n'


async def fetch(u: str = "x") -> str:
    """Fetch."""
    await asyncio.sleep(0)
    return f"ok {u}"


@functools.wraps(fetch)
def wrapped(*args, **kwargs):
    return fetch(*args, **kwargs)


async def failing() -> str:
    raise ValueError("later")


def test_async_functions_are_waited_for():
    assert run(fetch, {"u": "y"}) == Outcome("ok y")
    assert run(wrapped) == Outcome("ok x")
    assert run(failing) == Outcome("Error: ValueError: later", "tool_error")


def test_async_functions_are_waited_for_where_a_loop_already_runs():
    async def cell() -> Outcome:
        return run(fetch)

    assert asyncio.run(cell()) == Outcome("ok x")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError(), "Error: ValueError"),
        (KeyError("x"), "Error: KeyError: 'x'"),
        (TypeError("inside"), "Error: TypeError: inside"),
        (RecursionError("deep"), "Error: RecursionError: deep"),
        (ExceptionGroup("some", [ValueError("a")]), "Error: ExceptionGroup: some (1 sub-exception)"),
    ],
)
def test_what_a_tool_raises_is_for_the_model(error, text):
    def f():
        raise error

    assert run(f) == Outcome(text, "tool_error")


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt()])
def test_what_is_for_the_person_is_not_caught(error):
    def f():
        raise error

    with pytest.raises(type(error)):
        run(f)


def test_a_long_text_keeps_its_head_and_its_tail_and_fits():
    text = "head" + "x" * 100_000 + "tail"
    short = shorten(text, 2000)
    assert len(short) == 2000
    assert short.startswith("headxxx")
    assert short.endswith("xxxtail")
    assert "truncated" in short
    assert shorten("x" * 2000, 2000) == "x" * 2000
    assert len(shorten(text)) == MAX_OBSERVATION


# -- what holds for all arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PARAMETERS = st.sampled_from(["text", "whole", "number", "yes", "unit", "either", "colour", "many", "point", "0", "1"])
BOX = Toolbox([every_type, scalars, Counter().add])


@given(st.sampled_from(["every_type", "scalars", "ADD", "add"]), st.dictionaries(PARAMETERS | st.text(), JSON))
@settings(max_examples=300, deadline=None)
def test_no_arguments_break_a_run(name, arguments):
    outcome = BOX.run(*BOX.resolve(name, json.dumps(arguments)))
    assert isinstance(outcome.text, str)
    assert outcome.kind in ("ok", "bad_arguments")


@given(st.text() | JSON.map(json.dumps))
@settings(max_examples=200, deadline=None)
def test_no_text_in_place_of_arguments_breaks_a_run(text):
    assert BOX.run("add", text).kind in ("ok", "bad_arguments")


@given(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.text())
@settings(max_examples=100, deadline=None)
def test_fitting_arguments_arrive_as_they_are(n, x, b, s):
    outcome = run(scalars, {"n": n, "x": x, "b": b, "s": s, "u": s})
    assert (json.loads(outcome.text), outcome.repairs) == ([n, x, b, s, s], ())


def test_an_exception_that_cannot_say_what_it_is_becomes_an_observation_all_the_same():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    def fail() -> str:
        """Fail."""
        raise Mute

    assert Toolbox([fail]).run("fail", "{}").text == "Error: Mute"


class Silent:
    """An object that says nothing of itself."""


@dataclass(frozen=True)
class Reading:
    """A dataclass with what JSON has no type for."""

    on: date
    values: frozenset[int]


class Level(enum.Enum):
    LOW = "low"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (None, "null"),
        ("null", "null"),
        ({"a": [1, None, True]}, '{"a": [1, null, true]}'),
        ({"b", "a"}, '["a", "b"]'),
        ([{"sets": {2, 1}}], '[{"sets": [1, 2]}]'),
        (Reading(date(2025, 1, 2), frozenset({3, 1})), '{"on": "2025-01-02", "values": [1, 3]}'),
        ([Level.LOW, Decimal("1.50")], '["low", "1.50"]'),
        (Silent(), "<Silent>"),
        ([1, Silent()], '[1, "<Silent>"]'),
        (3 + 4j, "3+4j"),
        ({(1, 2): "a key that is no text"}, "{(1, 2): 'a key that is no text'}"),
    ],
)
def test_whatever_a_tool_returns_is_a_text(result, text):
    outcome = Toolbox([Tool(lambda: result, "give", "Give it.")]).run("give", "")
    assert (outcome.kind, outcome.text) == ("ok", text)


def test_a_result_that_holds_itself_is_a_text():
    endless: list = []
    endless.append(endless)
    assert Toolbox([Tool(lambda: endless, "give", "Give it.")]).run("give", "").text == "[[...]]"
