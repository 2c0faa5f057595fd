"""Tools whose schema comes from elsewhere: what is read, what fits, what is repaired, what is refused and how."""

import json
import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signatures import signature

from agentlib.offline.tool_checks import check_tools
from agentlib.tools import ArgumentsError, Tool, Toolbox, ToolDefinitionError


def call(**arguments: object) -> dict:
    """Give what it was called with."""
    return arguments


def made(schema, **options) -> Tool:
    return Tool.from_schema("call", "Call it.", schema, call, **options)


def refusal(tool: Tool, arguments: dict) -> str:
    with pytest.raises(ArgumentsError) as caught:
        tool.bind(json.dumps(arguments))
    return str(caught.value)


# -- thousands of signatures


@pytest.mark.parametrize("block", range(8))
def test_of_thousands_of_signatures_fitting_arguments_pass_and_wrong_ones_are_named(block):
    for seed in range(block * 500, block * 500 + 500):
        schema, fits, wrong = signature(seed)
        tool, rng = made(schema), random.Random(seed)
        assert tool.bind(json.dumps(fits)) == (fits, ()), (schema, fits)
        for name in set(schema["required"]):
            assert refusal(tool, {k: v for k, v in fits.items() if k != name}).startswith(f"missing: {name}")
        assert "unexpected: zzz9" in refusal(tool, fits | {"zzz9": 1})
        for name in rng.sample(list(wrong), min(2, len(wrong))):
            assert name in refusal(tool, fits | {name: wrong[name]}), (schema, name, wrong[name])


@given(st.integers(min_value=4000), st.data())
@settings(max_examples=150, deadline=None)
def test_whatever_is_accepted_is_accepted_again_as_it_is(seed, data):
    schema, fits, wrong = signature(seed)
    tool = made(schema)
    texts = {name: json.dumps(value) for name, value in fits.items()}
    mixed = {name: data.draw(st.sampled_from([fits[name], texts[name], wrong[name]])) for name in fits}
    try:
        values, _ = tool.bind(json.dumps(mixed))
    except ArgumentsError as error:
        assert any(name in str(error) for name in mixed)
        return
    assert tool.bind(json.dumps(values)) == (values, ())


# -- what is found in the wild


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}, {"type": "object", "properties": {}},
                                    {"type": "dict", "properties": {}, "required": []},
                                    {"$schema": "http://json-schema.org/draft-07/schema#"}])  # fmt: skip
def test_without_parameters_there_are_none(schema):
    tool = made(schema)
    assert tool.parameters["properties"] == {}
    assert tool.parameters["type"] == "object"
    assert tool.parameters.get("required", []) == []
    assert tool.signature == "call()"
    assert tool.bind("") == ({}, ())
    assert refusal(tool, {"args": [], "kwargs": {}}) == "unexpected: args, kwargs (allowed: none)"


@pytest.mark.parametrize(
    ("word", "kind", "value"),
    [("dict", "object", {"a": 1}), ("float", "number", 1.5), ("tuple", "array", [1, "a"]), ("String", "string", "x"),
     ("HashMap", "object", {}), ("long", "integer", 3), ("ArrayList", "array", []), ("STRING", "string", "x"),
     ("bool", "boolean", True)],
)  # fmt: skip
def test_the_words_of_benchmarks_for_types(word, kind, value):
    tool = made({"type": "dict", "properties": {"x": {"type": word}}, "required": ["x"]})
    assert tool.parameters["properties"]["x"] == {"type": kind} | ({"items": {}} if kind == "array" else {})
    assert tool.bind(json.dumps({"x": value})) == ({"x": value}, ())


def test_any_is_anything():
    tool = made({"type": "dict", "properties": {"x": {"type": "any"}}, "required": ["x"]})
    assert tool.signature == "call(x: any)"
    for value in (1, "x", None, [1], {"a": True}):
        assert tool.bind(json.dumps({"x": value})) == ({"x": value}, ())


def test_a_required_name_that_is_not_defined_is_not_asked_for():
    tool = made({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"]})
    assert tool.parameters["required"] == ["a"]
    assert tool.bind('{"a": "x"}') == ({"a": "x"}, ())


def test_what_older_drafts_and_openapi_write():
    properties = {
        "a": {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "required": True},
        "b": {"type": "string", "enum": ["x"], "nullable": True},
        "c": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]},
    }
    tool = made({"type": "object", "properties": properties})
    assert tool.parameters["required"] == ["a"]
    assert tool.bind('{"a": 2, "b": null, "c": [1, "x"]}')[1] == ()
    assert refusal(tool, {"a": 1}) == "a: Input should be greater than 1, got 1"
    assert properties["a"]["exclusiveMinimum"] is True  # the caller's own is not changed


@pytest.mark.parametrize(
    ("schema", "wire", "fits", "repaired", "refused"),
    [
        ({"type": "integer", "enum": ["1", "2", "any"]}, {"type": ["integer", "string"], "enum": [1, 2, "any"]},
         [1, "any"], ("2", 2, "x: str to int"), [3, "some", True, None]),
        ({"type": "boolean", "enum": ["True", "False"]}, {"type": "boolean", "enum": [True, False]},
         [True, False], ("False", False, "x: str to bool"), ["any", 1, None]),
        ({"type": "integer", "enum": ["A", "B"]}, {"type": "string", "enum": ["A", "B"]},
         ["A"], ("b", "B", "x: b to B"), [1, "C"]),
        ({"type": "string", "enum": ["True", "any"]}, {"type": "string", "enum": ["True", "any"]},
         ["True"], (True, "True", "x: bool to str"), [False, 1]),
        ({"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]},
         {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
         [[], ["b", "a"]], (["A"], ["a"], "x.0: A to a"), ["a", ["c"], [["a"]]]),
        ({"type": "array", "items": {"type": "integer"}, "enum": ["1", "2"]},
         {"type": "array", "items": {"type": "integer", "enum": [1, 2]}},
         [[1]], (["2"], [2], "x.0: str to int"), [[3]]),
    ],
)  # fmt: skip
def test_an_enum_that_its_type_contradicts(schema, wire, fits, repaired, refused):
    tool = made({"type": "object", "properties": {"x": schema}, "required": ["x"]})
    assert tool.parameters["properties"]["x"] == wire
    for value in fits:
        assert tool.bind(json.dumps({"x": value})) == ({"x": value}, ())
    given, value, repair = repaired
    assert tool.bind(json.dumps({"x": given})) == ({"x": value}, (repair,))
    for value in refused:
        assert refusal(tool, {"x": value}).startswith("x")


def test_a_default_that_is_null_may_be_given():
    tool = made({"type": "object", "properties": {"day": {"type": "string", "default": None},
                                                  "kind": {"type": "string", "enum": ["a"], "default": None},
                                                  "city": {"type": "string", "default": "Oslo"}}})  # fmt: skip
    assert tool.signature == 'call(day: string or null = null, kind: "a" or null = null, city: string = "Oslo")'
    assert tool.bind('{"day": null, "kind": null}') == ({"day": None, "kind": None}, ())
    assert refusal(tool, {"city": None}) == "city: Input should be a valid string, got null"
    assert refusal(tool, {"kind": 3}) == "kind: Input should be 'a' or null, got 3"


def test_a_type_that_says_nothing_is_any():
    tool = made({"properties": {"x": {"type": ""}, "y": {"type": "array"}}})
    assert tool.parameters["properties"] == {"x": {}, "y": {"type": "array", "items": {}}}
    check_tools({"tools": [tool.to_wire()]})  # the API refuses an array without items
    assert tool.bind('{"x": [1], "y": [1, "a"]}') == ({"x": [1], "y": [1, "a"]}, ())


def test_parameters_that_might_be_null_are_an_object_all_the_same():
    for schema in ({"type": ["object", "null"]}, {"type": "object", "nullable": True}, {"default": None}):
        assert made(schema | {"properties": {"n": {"type": ["array", "null"]}}}).parameters["type"] == "object"
    assert refusal(made({"type": ["object", "null"], "properties": {"n": {}}, "required": ["n"]}), {}) == "missing: n"


@pytest.mark.parametrize("required", [None, False, True, []])
def test_required_that_names_nothing(required):
    assert made({"properties": {"n": {"required": False}}, "required": required}).bind("{}") == ({}, ())


def test_an_integer_is_an_int_to_the_function():
    tool = made({"properties": {"n": {"type": "integer"}}})
    values, repairs = tool.bind('{"n": 3.0}')
    assert (type(values["n"]), repairs) == (int, ("n: float to int",))


def test_references_and_recursion():
    tool = made({"$ref": "#/$defs/Args", "$defs": {
        "Args": {"type": "object", "properties": {"tree": {"$ref": "#/$defs/Node"}}, "required": ["tree"]},
        "Node": {"type": "object", "properties": {"n": {"type": "integer"},
                                                  "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
                 "required": ["n"]}}})  # fmt: skip
    assert tool.signature == "call(tree: object)"
    assert tool.bind('{"tree": {"n": 1, "kids": [{"n": "2"}]}}') == (
        {"tree": {"n": 1, "kids": [{"n": 2}]}}, ("tree.kids.0.n: str to int",))  # fmt: skip
    assert refusal(tool, {"tree": {"n": 1, "kids": [{}]}}) == "missing: tree.kids.0.n"


def test_names_that_are_no_python_identifiers():
    tool = made({"type": "object", "properties": {"from": {"type": "integer"}, "x-y": {"type": "string"}}})
    assert Toolbox([tool]).run("call", '{"from": 1, "x-y": "z"}').text == '{"from": 1, "x-y": "z"}'


def test_open_parameters_stay_open():
    tool = made({"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}})
    assert tool.bind('{"b": 1}') == ({"b": 1}, ())
    assert refusal(tool, {"b": "x"}) == 'b: Input should be a valid integer, got "x"'


# -- what is refused at the definition


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "array"}, "the parameters are an object, not 'array'"),
        ([], r"parameters: a schema is an object, not \[\]"),
        ({"properties": ["a"]}, r"parameters.properties: an object of schemas is expected, not \['a'\]"),
        ({"properties": {"a": "string"}}, "parameters.properties.a: a schema is an object, not 'string'"),
        ({"properties": {"a": {"type": "strnig"}}}, "parameters.properties.a.type: 'strnig' is no type of JSON Schema"),
        ({"properties": {"a": {"enum": "x"}}}, "properties.a.enum: 'x' is not of type 'array'"),
        ({"properties": {"a": {"pattern": "("}}}, "properties.a.pattern: '\\(' is not a 'regex'"),
        ({"properties": {"a": {"$ref": "#/$defs/None"}}}, "'#/\\$defs/None' leads to no schema in these parameters"),
        ({"properties": {"a": {"$ref": "http://localhost/x"}}}, "'http://localhost/x' leads to no schema"),
        ({"city": {"type": "string"}, "days": {"type": "integer"}}, "put city, days into 'properties'"),
        ({"properties": {"a": {"enum": []}}}, "properties.a.enum: of an empty list nothing can be chosen"),
        ({"properties": {"a": {"anyOf": {"type": "string"}}}}, "properties.a.anyOf: a list of schemas is expected"),
        ({"properties": {"a": {"allOf": None}}}, "properties.a.allOf: a list of schemas is expected, not None"),
        ({"properties": {"a": {"required": [{}]}}}, r"properties.a.required: a list of names is expected, not \[{}\]"),
        ({"properties": {}, "required": "a"}, "parameters.required: a list of names is expected, not 'a'"),
        ({"properties": {"a": {"$dynamicRef": "#x"}}}, r"\$dynamicRef cannot be followed; write \$ref"),
        ({"properties": {"a": {"minimum": "1"}}}, "properties.a.minimum: '1' is not of type 'number'"),
    ],
)
def test_a_malformed_schema_is_refused_at_the_definition(schema, why):
    with pytest.raises(ToolDefinitionError, match=f"^tool 'call': .*{why}"):
        made(schema)


KEYWORDS = st.sampled_from([
    "type", "properties", "required", "enum", "const", "items", "prefixItems", "anyOf", "allOf", "not", "$ref", "$defs",
    "additionalProperties", "unevaluatedProperties", "default", "nullable", "minimum", "exclusiveMinimum", "pattern",
    "format", "$id", "a",
])  # fmt: skip
WORDS = st.sampled_from([None, True, 0, 1.5, "", "string", "integer", "array", "object", "any", "#", "#/$defs/a", "a"])
SCHEMAS = st.recursive(
    WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(KEYWORDS, SCHEMAS, max_size=3), SCHEMAS)
@settings(max_examples=400, deadline=None)
def test_whatever_stands_for_a_schema_is_read_or_refused_in_one_line(schema, inner):
    whole = schema | {"properties": {"a": inner, "b": {"type": "integer"}}}
    try:
        tool = made(whole)
    except ToolDefinitionError as error:
        assert str(error).startswith("tool 'call': ")
        assert len(str(error).splitlines()) == 1
        return
    check_tools({"tools": [tool.to_wire()]})
    for arguments in ({}, {"a": 1, "b": "2"}, {"a": [{"a": "x"}], "b": None}):
        try:
            tool.bind(json.dumps(arguments))
        except ArgumentsError as error:
            assert str(error)


def test_a_name_and_a_function_are_checked_too():
    with pytest.raises(ToolDefinitionError, match="cannot be a tool's name"):
        Tool.from_schema("a.b", "", {}, call)
    with pytest.raises(ToolDefinitionError, match="None cannot be called"):
        Tool.from_schema("a", "", {}, None)


# -- arguments

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1},
                   "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
    "required": ["city"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "values", "repairs"),
    [
        ({"city": "Oslo", "days": "3"}, {"city": "Oslo", "days": 3}, ("days: str to int",)),
        ({"city": "Oslo", "unit": "Celsius"}, {"city": "Oslo", "unit": "celsius"}, ("unit: Celsius to celsius",)),
        ({"ctiy": "Oslo"}, {"city": "Oslo"}, ("ctiy: meant city",)),
        ({"arguments": {"city": "Oslo"}}, {"city": "Oslo"}, ("arguments: unpacked",)),
        ({"city": 4}, {"city": "4"}, ("city: int to str",)),
    ],
)
def test_the_repairs_are_those_of_other_tools(arguments, values, repairs):
    assert made(WEATHER).bind(json.dumps(arguments)) == (values, repairs)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "missing: city"),
        ({"city": "Oslo", "days": True}, "days: Input should be a valid integer, got true"),
        ({"city": "Oslo", "days": 0}, "days: Input should be greater than or equal to 1, got 0"),
        ({"city": "Oslo", "unit": "kelvin"}, "unit: Input should be 'celsius' or 'fahrenheit', got \"kelvin\""),
        ({"city": "Oslo", "place": 1}, "unexpected: place (allowed: city, days, unit)"),
    ],
)
def test_the_words_are_those_of_other_tools(arguments, why):
    assert refusal(made(WEATHER), arguments) == why


def test_a_choice_of_types_is_told_in_one():
    tool = made({"properties": {"x": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}}})
    assert refusal(tool, {"x": 1.5}) == "x: Input should be a valid integer or a valid array, got 1.5"
    assert tool.bind('{"x": "3"}') == ({"x": 3}, ("x: str to int",))


def test_it_can_be_sent_to_a_worker():
    tool = pickle.loads(pickle.dumps(made(WEATHER, writes=True, timeout=2)))
    assert (tool.bind('{"city": "x"}'), tool.writes, tool.timeout) == (({"city": "x"}, ()), True, 2)
