"""Arguments that nearly fit a tool: what is repaired, what is refused, and that a repaired call fits."""

import enum
import json
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlib import Observation, Problem, ReAct, ScriptedLLM, Tool, Toolbox
from agentlib.parsing.spelling import is_near, meant
from agentlib.tools import ArgumentsError


@dataclass
class Point:
    x: int
    y: int


def now() -> str:
    """Tell the time."""
    return "noon"


def weather(city: str) -> str:
    """Tell the weather."""
    return city


def search(query: str, max_results: int = 3, language: str = "en") -> str:
    """Search."""
    return f"{query} {max_results} {language}"


def book(date_from: str, date_to: str) -> str:
    """Book a room."""
    return f"{date_from} {date_to}"


def draw(points: list[Point], sizes: list[int] | None = None, tags: list[str] = ()) -> str:
    """Draw."""
    return "drawn"


def pay(to: str, amount_cents: int) -> str:
    """Pay."""
    return "paid"


def bind(function, arguments) -> tuple[dict, tuple[str, ...]]:
    """Give the values and the repairs of a call."""
    text = arguments if isinstance(arguments, str) or arguments is None else json.dumps(arguments, ensure_ascii=False)
    return Tool(function).bind(text)


def refusal(function, arguments) -> str:
    """Give the words with which arguments are refused."""
    with pytest.raises(ArgumentsError) as caught:
        bind(function, arguments)
    return str(caught.value)


# -- from a text to an object


@pytest.mark.parametrize("text", ["", "  ", "null", None, "{}"])
def test_no_text_and_null_are_no_arguments(text):
    assert bind(now, text) == ({}, ())
    assert refusal(weather, text) == "missing: city"


def test_json_inside_a_text_is_unpacked_once():
    text = json.dumps('{"city": "Oslo"}')
    assert bind(weather, text) == ({"city": "Oslo"}, ("arguments: JSON inside a text",))
    assert refusal(weather, json.dumps(text)).startswith("the arguments are not a JSON object")


@pytest.mark.parametrize("text", ["[1]", '"hi"', "42", "true", '["city"]'])
def test_other_json_is_no_arguments(text):
    for function in (now, weather):
        assert refusal(function, text) == f"the arguments are not a JSON object, but {text}"


def test_a_bare_text_is_the_one_text_that_is_required():
    def bash(cmd: str, timeout: int = 10) -> str: ...

    assert bind(bash, "echo 'it works'") == ({"cmd": "echo 'it works'", "timeout": 10}, ("cmd: bare text",))
    assert bind(search, " DeepMind CEO ")[0]["query"] == "DeepMind CEO"
    for function in (now, book, pay, draw):
        assert refusal(function, "echo 'it works'").startswith("the arguments are not JSON that can be read")


@pytest.mark.parametrize("text", ['{"city": "Os', '{"city": "Oslo"', '["Oslo', '"Oslo', "{", "{'city': 'Os"])
def test_a_broken_object_is_no_bare_text(text):
    assert refusal(weather, text).startswith("the arguments are not JSON that can be read")


def test_what_is_nearly_json_is_read():
    assert bind(weather, "{'city': 'Oslo'}") == ({"city": "Oslo"}, ("arguments: python_literal",))
    assert bind(weather, '{city: "Oslo"}') == ({"city": "Oslo"}, ("arguments: json_repair",))


# -- keys that are nearly right


@pytest.mark.parametrize(
    ("written", "name"),
    [("qeury", "query"), ("querry", "query"), ("Query", "query"), ("quer", "query"), ("maxResults", "max_results"),
     ("max-results", "max_results"), ("MAX_RESULTS", "max_results"), ("lang", "language"), ("langauge", "language")],
)  # fmt: skip
def test_a_key_that_is_nearly_right_is_corrected(written, name):
    given = {"query": "x", "max_results": 5, "language": "de"}
    values, repairs = bind(search, {(written if key == name else key): value for key, value in given.items()})
    assert (values, repairs) == (given, (f"{written}: meant {name}",))


@pytest.mark.parametrize(
    ("function", "arguments", "why"),
    [
        (book, {"date": "1", "date_to": "2"}, "missing: date_from; unexpected: date (allowed: date_from, date_to)"),
        (book, {"dat": "1", "date_to": "2"}, "missing: date_from; unexpected: dat (allowed: date_from, date_to)"),
        (pay, {"to": "a", "amount": 5}, "missing: amount_cents; unexpected: amount (allowed: to, amount_cents)"),
        (pay, {"too": "a", "amount_cents": 5}, "missing: to; unexpected: too (allowed: to, amount_cents)"),
        (search, {"query": "x", "qeury": "y"}, "unexpected: qeury (allowed: query, max_results, language)"),
        (search, {"qeury": "x", "querry": "y"},
         "missing: query; unexpected: qeury, querry (allowed: query, max_results, language)"),
        (search, {"text": "x"}, "missing: query; unexpected: text (allowed: query, max_results, language)"),
        (search, {"qeury": "x", "lang": None},
         "missing: query; unexpected: qeury, lang (allowed: query, max_results, language)"),
    ],
)  # fmt: skip
def test_a_key_that_could_mean_another_thing_is_refused(function, arguments, why):
    assert refusal(function, arguments) == why


@pytest.mark.parametrize(
    ("written", "name", "near"),
    [
        ("argumets", "arguments", True), ("Arguments", "arguments", True), ("nmae", "name", True),
        ("units", "unit", True), ("dat", "date_from", False),
        ("temp", "temperature", True), ("city_name", "cityName", True), ("expresion", "expression", True),
        ("max_temp", "min_temp", False), ("amount", "amount_cents", False), ("amount_cents", "amount", False),
        ("x", "y", False), ("url", "uri", False), ("host", "post", False), ("date", "data", False),
        ("id1", "id2", False),
        ("point1", "point2", False), ("te", "temperature", False), ("", "name", False), ("_", "name", False),
        ("a" * 100, "a" * 99, False),
    ],
)  # fmt: skip
def test_what_is_a_slip_of_the_pen(written, name, near):
    assert is_near(written, name) is near


def test_a_slip_that_could_be_two_names_is_none():
    assert meant("colou", ["colour", "colors"]) == "colour"
    assert meant("stars", ["start", "stare"]) is None


# -- values one level too deep


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ({"arguments": {"query": "x"}}, "arguments"),
        ({"parameters": {"query": "x", "max_results": 3}}, "parameters"),
        ({"properties": {"query": "x"}}, "properties"),
        ({"arguments": '{"query": "x"}'}, "arguments"),
        ({"argumets": {"query": "x"}}, "argumets"),
        ({"search": {"query": "x"}}, "search"),
        ({"query": {"query": "x"}}, "query"),
        ({"query": {"query": "x", "language": "en"}}, "query"),
        ({"query": {"query": "x"}, "language": "en"}, "query"),
    ],
)
def test_what_stands_one_level_too_deep_is_taken_out(arguments, key):
    values, repairs = bind(search, arguments)
    assert (values, repairs) == ({"query": "x", "max_results": 3, "language": "en"}, (f"{key}: unpacked",))


def test_repairs_work_together():
    values, repairs = bind(search, {"parameters": {"Query": 7, "maxResults": "5"}})
    assert values == {"query": "7", "max_results": 5, "language": "en"}
    assert repairs == ("parameters: unpacked", "Query: meant query", "maxResults: meant max_results",
                       "query: int to str", "max_results: str to int")  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": {"text": "x"}}, {"query": {"query": {"query": "x"}}}, {"arguments": {"arguments": {"query": "x"}}},
        {"type": "object", "properties": {"query": "x"}}, {"properties": {"query": {"type": "string"}}},
        {"search": {"text": "x"}}, {"arguments": [{"query": "x"}]}, {"query": ["x"]}, {"query": ["x", "y"]},
    ],
)  # fmt: skip
def test_what_is_deeper_or_unclear_is_refused(arguments):
    assert next(iter(arguments)) in refusal(search, arguments)


def test_what_the_schema_accepts_is_never_unpacked():
    def store(data: dict, label: str = "") -> str: ...

    def both(data: dict, count: int) -> str: ...

    assert bind(store, {"data": {"data": {"a": 1}}}) == ({"data": {"data": {"a": 1}}, "label": ""}, ())
    assert refusal(both, {"data": {"data": {}, "count": 1}}) == "missing: count"
    assert bind(both, {"data": {"data": 1}, "count": "2"})[0] == {"data": {"data": 1}, "count": 2}


# -- lists


@pytest.mark.parametrize(
    ("name", "value"),
    [("points", '[{"x": 1, "y": 2}]'), ("sizes", "[1, 2]"), ("tags", '["red", "blue"]')],
)
def test_a_list_that_is_written_as_a_text_is_read(name, value):
    values, repairs = bind(draw, {"points": []} | {name: value})
    assert (len(values[name]) > 0, repairs) == (True, (f"{name}: str to list",))


@pytest.mark.parametrize(
    ("name", "value"),
    [("points", None), ("points", {"x": 1, "y": 2}), ("tags", "red, blue"), ("tags", "red"), ("tags", "[red"),
     ("sizes", 3), ("sizes", "3"), ("sizes", [1, "2.5"]), ("grid", [1, 2]), ("grid", ["1", "2"])],
)  # fmt: skip
def test_one_value_is_no_list(name, value):
    def show(points: list[Point] = (), sizes: list[int] = (), tags: list[str] = (), grid: list[list[int]] = ()): ...

    assert refusal(show, {name: value}).startswith(name)


# -- at any depth


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


def deep(points: list[Point] | None = None, counts: dict[str, int] | None = None,
         either: list[int] | Point | None = None,
         level: Level = Level.LOW, step: Literal[1, 2] = 1, day: date | None = None, at: datetime | None = None,
         pair: tuple[int, str] = (1, "a"), number: int | float = 0) -> str: ...  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "fits", "repairs"),
    [
        ("points", [{"x": "1", "y": 2}], [Point(1, 2)], ("points.0.x: str to int",)),
        ("points", '[{"x": 1, "y": "2"}]', [Point(1, 2)], ("points: str to list", "points.0.y: str to int")),
        ("counts", {"a": "1", "b": 2}, {"a": 1, "b": 2}, ("counts.a: str to int",)),
        ("either", ["1"], [1], ("either.0: str to int",)),
        ("either", {"x": "1", "y": 1}, Point(1, 1), ("either.x: str to int",)),
        ("either", "null", None, ("either: str to null",)),
        ("level", "HIGH", Level.HIGH, ("level: HIGH to high",)),
        ("step", "2", 2, ("step: str to int",)),
        ("day", "2024/5/1", date(2024, 5, 1), ("day: 2024/5/1 to 2024-05-01",)),
        ("day", "2024-05-01T00:00:00", date(2024, 5, 1), ("day: 2024-05-01T00:00:00 to 2024-05-01",)),
        ("pair", ["1", "b"], (1, "b"), ("pair.0: str to int",)),
        ("number", "3", 3, ("number: str to int",)),
        ("number", "3.5", 3.5, ("number: str to float",)),
    ],
)
def test_a_value_is_repaired_where_it_stands(name, value, fits, repairs):
    values, made = bind(deep, {name: value})
    assert (values[name], made) == (fits, repairs)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("points", [{"x": "one", "y": 2}], 'points.0.x: Input should be a valid integer, got "one"'),
        ("points", [{"x": 1}], "missing: points.0.y"),
        ("points", [{"x": 1, "y": 2, "z": 3}], "unexpected: points.0.z"),
        ("counts", {"a": True}, "counts.a: Input should be a valid integer, got true"),
        ("level", "middle", "level: Input should be 'low' or 'high', got \"middle\""),
        ("step", True, "step: Input should be 1 or 2, got true"),
        ("step", 3, "step: Input should be 1 or 2, got 3"),
        ("day", "01/02/2024", "day: Input should be a valid date"),
        ("day", "2024/13/1", "day: Input should be a valid date"),
        ("day", "1714521600", "day: Input should be a date as ISO 8601 writes it"),
        ("at", "20240501", "at: Input should be a date-time as ISO 8601 writes it"),
        ("number", "3,5", "number: Input should be a valid integer or a valid number, got \"3,5\""),
        ("number", True, "number: Input should be a valid integer or a valid number, got true"),
    ],
)
def test_what_is_wrong_is_named_where_it_stands(name, value, why):
    assert refusal(deep, {name: value}).startswith(why)


def test_of_many_faults_the_first_are_told():
    told = refusal(deep, {"counts": {f"k{i}": "x" for i in range(50)}})
    assert told.startswith('counts.k0: Input should be a valid integer, got "x"; ')
    assert told.endswith("; and 42 more")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_a_number_is_one_that_json_has(number):
    def measure(x: float = 0, rows: list[dict[str, float]] = (), free: object = None, text: str = ""): ...

    schema = {"properties": {"x": {"type": "number"}, "rows": {"type": "array"}, "free": {}, "text": {}}}
    for tool in (Tool(measure), Tool.from_schema("measure", "", schema, measure)):
        for name, value in (("x", "{}"), ("rows.0.a", '[{{"a": {}}}]'), ("free", "{}")):
            with pytest.raises(ArgumentsError, match=f"^{name}: Input should be a finite number, got -?(NaN|Infinity)"):
                tool.bind(f'{{"{name.split(".")[0]}": {value.format(number)}}}')
        assert tool.bind(f'{{"text": "{number}"}}')[0]["text"] == number


def test_half_of_a_surrogate_pair_is_told_in_letters_that_can_be_sent():
    for arguments in (r'{"n": "\ud800"}', r'{"\ud800": 1}'):
        tool = Tool.from_schema("call", "", {"properties": {"n": {"type": "integer"}}}, print)
        with pytest.raises(ArgumentsError) as caught:
            tool.bind(arguments)
        assert rb"\ud800" in str(caught.value).encode()


# -- what writes is not guessed at


def test_a_tool_that_writes_takes_no_bare_text_and_no_name_that_is_nearly_right():
    def bash(cmd: str) -> str: ...

    writes = Tool(bash, writes=True)
    assert Tool(bash).bind("echo 'it works'") == ({"cmd": "echo 'it works'"}, ("cmd: bare text",))
    for arguments in ("echo 'it works'", '{"cmdd": "x"}', '{"CMD": "x"}'):
        with pytest.raises(ArgumentsError):
            writes.bind(arguments)
    assert writes.bind('"{\\"cmd\\": \\"x\\"}"') == ({"cmd": "x"}, ("arguments: JSON inside a text",))
    assert writes.bind('{"cmd": 3}') == ({"cmd": "3"}, ("cmd: int to str",))


# -- repairs are seen in the run


def test_repairs_are_events_beside_the_observation_and_no_words_to_the_model():
    replies = ['Thought: t\nAction: search(qeury="x", max_results="5")', "Final Answer: done"]
    with ScriptedLLM(replies) as model:
        last = ReAct(model, tools=[search]).run("q")
    observation = next(event for event in last.events if isinstance(event, Observation))
    (problem,) = [event for event in last.events if isinstance(event, Problem)]
    assert last.events.index(problem) == last.events.index(observation) + 1
    assert problem == Problem(message=observation.message, kind="repaired_arguments",
                              text="qeury: meant query; max_results: str to int")  # fmt: skip
    assert last.messages[observation.message].content == "Observation: x 5 en"
    assert (observation.is_error, last.answer) == (False, "done")


def test_a_fork_drops_the_repairs_of_what_it_replaces():
    agent = ReAct(ScriptedLLM(['Action: search(qeury="x")', "Final Answer: done"]), tools=[search])
    states = list(agent.steps("q"))
    forked = agent.fork(states[2], observation="other")
    assert not [event for event in forked.events if isinstance(event, Problem)]


# -- what holds for all arguments

KEYS = st.sampled_from(["query", "qeury", "Query", "max_results", "maxResults", "lang", "arguments", "properties", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["x", "3", "2.0", "true", '{"query": "x"}', "[1]", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(KEYS, JSON, max_size=3))
@settings(max_examples=500)
def test_a_repaired_call_fits_and_needs_no_further_repair(arguments):
    try:
        values, repairs = bind(search, arguments)
    except ArgumentsError as error:
        assert str(error)
        return
    assert [type(value) for value in values.values()] == [str, int, str]
    assert bind(search, values) == (values, ())
    if not repairs:
        assert arguments == {key: values[key] for key in arguments}


@given(st.dictionaries(KEYS, JSON, max_size=3), st.text(max_size=3))
@settings(max_examples=300)
def test_a_value_that_fits_under_its_own_name_is_kept(others, query):
    arguments = others | {"query": query}
    try:
        values, _ = bind(search, arguments)
    except ArgumentsError:
        return
    assert values["query"] == arguments["query"]


@given(st.text() | JSON.map(json.dumps))
@settings(max_examples=200)
def test_no_text_breaks_a_run(text):
    for box in (Toolbox([search]), Toolbox([now]), Toolbox([draw])):
        (name,) = box.tools
        assert box.run(name, text).kind in ("ok", "bad_arguments")
