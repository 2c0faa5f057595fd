"""What the API refuses about tools and histories of calls; and that any body gets a reply or such an error."""

import json

import jsonschema
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from native import ask, calls, schema, send, send_bytes

TEXT = {"type": "string"}
SEARCH = schema("search", "Look up people and companies in an encyclopedia.", query=TEXT)
WEATHER = schema("get_weather", "Get the weather of a city.", city=TEXT)
USER = {"role": "user", "content": "Hello"}
CALL = {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "x"}


def history(*messages: dict) -> dict:
    return {"messages": [USER, *messages]}


def calling(**changes: object) -> dict:
    return history(CALLING | {"tool_calls": [CALL | changes]}, RESULT)


@pytest.mark.parametrize(("body", "param", "said"), [
    (history(RESULT), "messages.[1].role", "must be a response to a preceding message with 'tool_calls'"),
    (history(CALLING, RESULT, RESULT), "messages.[3].role", "must be a response"),
    (history(CALLING, RESULT | {"tool_call_id": "b"}), "messages.[2].role", "must be a response"),
    (history(CALLING, USER, RESULT), "messages.[2].role", "did not have response messages: a"),
    (history(CALLING), "messages.[2].role", "did not have response messages: a"),
    (history(CALLING | {"tool_calls": [CALL, CALL | {"id": "b"}]}, RESULT), "messages.[3].role",
     "did not have response messages: b"),
    (history(CALLING, {"role": "tool", "content": "x"}), "messages[2].tool_call_id", "Missing"),
    (history(CALLING, RESULT | {"tool_call_id": 7}), "messages[2].tool_call_id", "a string"),
    (history(CALLING, RESULT | {"content": None}), "messages[2].content", "a string"),
    (history(CALLING | {"tool_calls": []}, USER), "messages[1].content", "expected"),
    (history(CALLING | {"tool_calls": [], "content": "x"}, USER), "messages[1].tool_calls", "empty array"),
    (history(CALLING | {"tool_calls": "x"}, RESULT), "messages[1].tool_calls", "an array"),
    (history(CALLING | {"tool_calls": ["x"]}, RESULT), "messages[1].tool_calls[0]", "an object"),
    (history(CALLING | {"tool_calls": [CALL, CALL]}, RESULT), "messages[1].tool_calls", "'a'"),
    (history({"role": "assistant", "content": None}), "messages[1].content", "a string"),
    (calling(id=None), "messages[1].tool_calls[0].id", "Missing"),
    (calling(type="custom"), "messages[1].tool_calls[0].type", "'function'"),
    (calling(function="search"), "messages[1].tool_calls[0].function", "an object"),
    (calling(function={"name": "search", "arguments": {}}), "messages[1].tool_calls[0].function.arguments", "a string"),
    (calling(function={"arguments": "{}"}), "messages[1].tool_calls[0].function.name", "Missing"),
])
def test_a_history_that_does_not_fit_together_is_refused(body, param, said):
    status, answer = send(body)
    assert status == 400 and answer["error"]["type"] == "invalid_request_error"
    assert answer["error"]["param"] == param and said in answer["error"]["message"]


def offering(*tools: object, **more: object) -> dict:
    return {"messages": [USER], "tools": list(tools)} | more


def with_parameters(parameters: object) -> dict:
    tool = schema("search")
    tool["function"]["parameters"] = parameters
    return offering(tool)


WHERE = "tools[0].function.parameters"


@pytest.mark.parametrize(("body", "param", "code"), [
    (offering(*[SEARCH] * 129), "tools", "array_above_max_length"), (offering(), "tools", "empty_array"),
    ({"messages": [USER], "tools": "search"}, "tools", "invalid_type"), (offering("x"), "tools[0]", "invalid_type"),
    (offering({"function": {}}), "tools[0].type", "missing_required_parameter"),
    (offering({"type": "retrieval"}), "tools[0].type", "invalid_value"),
    (offering({"type": "function"}), "tools[0].function", "missing_required_parameter"),
    (offering(SEARCH, {"type": "function", "function": {}}), "tools[1].function.name", "missing_required_parameter"),
    (offering(schema("look up")), "tools[0].function.name", "invalid_value"),
    (offering(schema("")), "tools[0].function.name", "invalid_value"),
    (offering(schema("böse")), "tools[0].function.name", "invalid_value"),
    (offering(schema("x" * 65)), "tools[0].function.name", "string_above_max_length"),
    (offering(schema("f", 7)), "tools[0].function.description", "invalid_type"),
    (with_parameters([]), WHERE, "invalid_type"),
    (with_parameters({"type": "string"}), WHERE, "invalid_function_parameters"),
    (with_parameters({"type": "object"}), WHERE, "invalid_function_parameters"),
    (with_parameters({"type": "object", "properties": []}), WHERE, "invalid_function_parameters"),
    (with_parameters({"type": "object", "properties": {"a": 7}}), WHERE, "invalid_function_parameters"),
    (with_parameters({"type": "object", "properties": {"a": {"type": "text"}}}), WHERE, "invalid_function_parameters"),
    (with_parameters({"type": "object", "properties": {"a": {"type": "array"}}}), WHERE, "invalid_function_parameters"),
    (with_parameters({"type": "object", "properties": {}, "required": "a"}), WHERE, "invalid_function_parameters"),
    (with_parameters({"type": "object", "properties": {"a": {"enum": []}}}), WHERE, "invalid_function_parameters"),
    (offering(SEARCH, tool_choice="any"), "tool_choice", "invalid_value"),
    (offering(SEARCH, tool_choice=7), "tool_choice", "invalid_type"),
    (offering(SEARCH, tool_choice={"type": "function"}), "tool_choice.function.name", "missing_required_parameter"),
    (offering(SEARCH, tool_choice={"type": "function", "function": {"name": "nope"}}), "tool_choice", "invalid_value"),
    (offering(SEARCH, parallel_tool_calls="no"), "parallel_tool_calls", "invalid_type"),
    ({"messages": [USER], "tool_choice": "auto"}, "tool_choice", "invalid_value"),
    ({"messages": [USER], "parallel_tool_calls": False}, "parallel_tool_calls", "invalid_value"),
    ({"messages": [USER], "stream_options": {"include_usage": True}}, "stream_options", "invalid_value"),
    ({"messages": [USER], "functions": [{"name": "f"}]}, "functions", "unsupported_parameter"),
])
def test_tools_that_cannot_be_called_are_refused(body, param, code):
    status, answer = send(body)
    assert status == 400
    assert (answer["error"]["param"], answer["error"]["code"]) == (param, code)


def test_as_many_tools_as_the_api_takes_are_taken():
    tools = [schema(f"tool_{number}", "Does nothing.") for number in range(127)]
    assert calls(ask("What is the weather in Oslo?", [*tools, WEATHER])) == [("get_weather", {"city": "Oslo"})]


# Arguments fit the schema, whatever it is.

KINDS = ("string", "integer", "number", "boolean")
NAMES = st.sampled_from(["city", "query", "limit", "unit", "days", "detailed", "name", "where", "x"])
numbers = st.integers(-50, 50)


@st.composite
def bounded(draw: st.DrawFn) -> dict:
    """Give the schema of a number, perhaps with bounds."""
    low, high = sorted((draw(numbers), draw(numbers)))
    bounds = draw(st.sampled_from([{}, {"minimum": low}, {"maximum": high}, {"minimum": low, "maximum": high}]))
    return {"type": draw(st.sampled_from(["integer", "number"]))} | bounds


enums = st.lists(st.sampled_from(["celsius", "fahrenheit", "person", "company", "", 1, 2.5, "Oslo"]), min_size=1,
                 max_size=4, unique_by=repr).map(lambda values: {"enum": values})
simple = st.sampled_from(KINDS).map(lambda kind: {"type": kind}) | bounded() | enums


def objects(inner: st.SearchStrategy) -> st.SearchStrategy:
    """Give the schemas of objects: all, some or none of the properties required."""
    def made(properties: dict, how_many: int, given: bool) -> dict:
        required = {"required": list(properties)[:how_many]} if given else {}
        return {"type": "object", "properties": properties} | required

    return st.builds(made, st.dictionaries(NAMES, inner, max_size=4), st.integers(0, 4), st.booleans())


def wider(inner: st.SearchStrategy) -> st.SearchStrategy:
    """Put schemas into arrays, objects and alternatives with null."""
    lists = inner.map(lambda item: {"type": "array", "items": item})
    nullable = inner.map(lambda item: {"anyOf": [item, {"type": "null"}]})
    return lists | nullable | objects(inner)


valid = objects(st.recursive(simple, wider, max_leaves=6))
questions = st.sampled_from(["What is the weather in Oslo?", "Who is the CEO of DeepMind?", "What is 17 times 23?",
                             "What is the temperature in Beijing in Fahrenheit?", "Hello"])


@settings(max_examples=200)
@given(valid, questions)
def test_arguments_fit_any_schema(parameters, question):
    tool = schema("lookup", "Look up anything: people, weather, sums.")
    tool["function"]["parameters"] = parameters
    [(name, arguments)] = calls(ask(question, [tool], tool_choice="required"))
    assert name == "lookup"
    jsonschema.validate(arguments, parameters)


# Any body at all.

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=8)
keywords = st.sampled_from(["type", "properties", "required", "enum", "items", "anyOf", "$ref", "$defs", "const",
                            "minimum", "maximum", "default", "description", "city", "limit"])
leaves = json_values | st.sampled_from(["object", "string", "integer", "array", "#/$defs/city", "city", 1e300])
schemas = st.recursive(leaves, lambda inner: st.dictionaries(keywords, inner, max_size=4) | st.lists(inner, max_size=3),
                       max_leaves=12)
parameters = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(keywords, schemas, max_size=3)},
    optional={"required": st.lists(keywords, max_size=3), "$defs": schemas})
names = st.sampled_from(["search", "weather", "calculator", "final_answer", "f"])
functions = st.fixed_dictionaries({"name": names}, optional={
    "description": st.sampled_from(["Look things up.", "The weather.", ""]), "parameters": parameters | schemas})
tools = st.fixed_dictionaries({"type": st.just("function"), "function": functions})
texts = st.sampled_from(["Compare the weather in Beijing and Shanghai.", "Who runs Apple?", "Hello", "", "Ω\ud800",
                         "What is 17 times 23?", "Error: unknown tool"])
arguments = st.sampled_from(["{}", "", "null", '{"city": "Oslo"}', '{"a": [1e999]}', "[" * 2000])
called = st.fixed_dictionaries({"id": st.sampled_from("ab"), "type": st.just("function"), "function":
                                st.fixed_dictionaries({"name": names, "arguments": arguments})})
sent = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": texts | json_values},
    optional={"tool_calls": st.lists(called, max_size=2), "tool_call_id": st.sampled_from("ab")})
choices = st.sampled_from(["none", "auto", "required", {"type": "function", "function": {"name": "search"}}])
others = ("seed", "parallel_tool_calls", "stop", "n", "temperature", "stream_options", "response_format")
bodies = st.fixed_dictionaries(
    {"messages": st.lists(sent, min_size=1, max_size=4) | json_values},
    optional={"tools": st.lists(tools, min_size=1, max_size=3) | json_values, "tool_choice": choices | json_values,
              "max_tokens": st.integers(-1, 99) | json_values} | dict.fromkeys(others, json_values))
# One that is right but for its tools; and a history that fits together, whatever was called.
plain = st.fixed_dictionaries({"messages": st.just([USER | {"content": "Compare Beijing's and Oslo's weather."}]),
                               "tools": st.lists(tools, min_size=1, max_size=3)}, optional={"tool_choice": choices})


@st.composite
def answered(draw: st.DrawFn) -> dict:
    """Give a history in which calls have results."""
    made = draw(st.lists(called, min_size=1, max_size=2, unique_by=lambda call: call["id"]))
    results = [{"role": "tool", "tool_call_id": call["id"],
                "content": draw(texts | json_values.map(json.dumps))} for call in made]
    messages = [USER | {"content": draw(texts)}, CALLING | {"content": draw(texts), "tool_calls": made}, *results]
    return {"messages": messages, "tools": [SEARCH, WEATHER], "max_tokens": draw(st.integers(1, 60))}


@settings(max_examples=400)
@given(bodies | plain | answered() | json_values)
@example(with_parameters({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"],
                          "$defs": {"a": {"$ref": "#/$defs/a"}}}))
@example(with_parameters({"type": "object", "properties": {"a": {"type": "integer", "minimum": 1e999}}}))
@example(with_parameters({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"$ref": 1}}}}}))
def test_any_body_gets_a_reply_or_an_error_of_the_api(body):
    assume(isinstance(body, dict))
    status, answer = send(body)
    if status != 200:
        assert status in (400, 404) and set(answer["error"]) == {"message", "type", "param", "code"}
        return
    message, reason = answer["choices"][0]["message"], answer["choices"][0]["finish_reason"]
    assert isinstance(message["content"], str) or message.get("tool_calls") or reason == "length"
    for call in message.get("tool_calls", []):
        assert set(call) == {"id", "type", "function"} and set(call["function"]) == {"name", "arguments"}
    assert reason == "length" or all(isinstance(values, dict) for _, values in calls(answer["choices"][0]))


@pytest.mark.parametrize("depth", [50, 500, 900, 990, 5000, 200_000])
@pytest.mark.parametrize("place", ["default", "enum", "items"])
def test_json_of_any_depth_is_read_or_refused(depth, place):
    deep = "[" * depth + "]" * depth if place != "items" else '{"items": ' * depth + "{}" + "}" * depth
    raw = json.dumps({"model": "offline"} | with_parameters({"type": "object", "properties": {"a": {place: "DEEP"}}}))
    status, answer = send_bytes(raw.replace('"DEEP"', deep).encode())
    assert status == 200 or (status == 400 and answer["error"]["type"] == "invalid_request_error")
