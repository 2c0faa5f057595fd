"""The offline model calls tools natively: what it asks for, how it fills a schema, what it makes of what comes back."""

import json

import pytest
from native import WORLD, ask, calls, described, run, schema, send
from test_offline_loop import REACT
from test_offline_questions import QUESTIONS

from agentlib.offline import Settings
from agentlib.tools import Tool
from agentlib.world import calculator, search, weather

COMPARE = "Compare the weather in Beijing and Shanghai."
UNIVERSITY = "Which university did DeepMind's CEO attend?"
TEXT = {"type": "string"}
WEATHER = schema("get_weather", "Get the weather of a city.", city=TEXT)
SEARCH = schema("search", "Look up people and companies in an encyclopedia.", query=TEXT)


# It reaches the same answers as in text, in no more replies.


@pytest.mark.parametrize(("question", "expected", "most"), QUESTIONS)
def test_a_question_is_answered_with_native_calls(question, expected, most):
    answer, replies = run(question)
    assert expected in answer
    assert len(replies) <= most


def test_a_reply_with_calls_is_as_the_api_writes_it():
    choice = ask(COMPARE)
    assert choice["finish_reason"] == "tool_calls"
    message = choice["message"]
    assert message["role"] == "assistant" and message["content"] is None
    assert [call["type"] for call in message["tool_calls"]] == ["function", "function"]
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == [
        '{"city": "Beijing"}', '{"city": "Shanghai"}']


def test_an_answer_has_no_calls():
    choice = ask("Hello")
    assert choice["finish_reason"] == "stop" and "tool_calls" not in choice["message"]
    assert choice["message"]["content"].startswith("Hello")


def test_ids_are_unique_in_a_conversation_and_the_same_every_time():
    def ids() -> list[str]:
        _, replies = run("Who is older, the CEO of Apple or the CEO of Microsoft?")
        return [call["id"] for reply in replies for call in reply["message"].get("tool_calls", [])]

    assert len(ids()) == len(set(ids())) == 4 and ids() == ids()


def test_the_same_call_in_a_shortened_history_gets_a_new_id():
    first = ask(COMPARE)["message"]["tool_calls"][0]
    kept = first | {"id": first["id"][:-4] + "0001"}  # two earlier calls were cut away
    error = {"role": "tool", "tool_call_id": kept["id"], "content": "Error: the service timed out"}
    history = [{"role": "user", "content": "What is the weather in Beijing?"},
               {"role": "assistant", "content": None, "tool_calls": [kept]}, error]
    again = ask(history)["message"]["tool_calls"][0]
    assert again["function"] == kept["function"] and again["id"] != kept["id"]


# Several calls at once.


@pytest.mark.parametrize(("question", "first"), [
    (COMPARE, [("weather", "Beijing"), ("weather", "Shanghai")]),
    ("Which of Beijing, Shanghai and Oslo is the warmest?",
     [("weather", "Beijing"), ("weather", "Shanghai"), ("weather", "Oslo")]),
    ("How many degrees warmer is Shanghai than Beijing?", [("weather", "Shanghai"), ("weather", "Beijing")]),
    ("Is it warmer in the capital of China or in Shanghai?", [("search", "China capital"), ("weather", "Shanghai")]),
    ("Who is older, the CEO of Apple or the CEO of Microsoft?", [("search", "Apple CEO"), ("search", "Microsoft CEO")]),
    ("How many years passed between the founding of Apple and of Google?",
     [("search", "Apple founding year"), ("search", "Google founding year")]),
    ("Who founded Apple and what is the weather in Oslo?", [("search", "Apple founder"), ("weather", "Oslo")]),
    (UNIVERSITY, [("search", "DeepMind CEO")]),
    ("Is it warmer in Beijing or in Beijing?", [("weather", "Beijing")]),
])
def test_what_can_be_asked_at_once_is(question, first):
    assert [(name, *arguments.values()) for name, arguments in calls(ask(question))] == first


@pytest.mark.parametrize(("question", "asked", "expected"), [
    ("What's the weather like in Tokyo, Paris and Oslo?", ["Tokyo", "Paris", "Oslo"], "The weather in Oslo is 9 °C"),
    ("Is it raining in Beijing and Oslo?", ["Beijing", "Oslo"], "No"),
    ("What are the capitals of France, Norway and Brazil?", ["France capital", "Norway capital", "Brazil capital"],
     "The capital of Norway is Oslo."),
    ("Who are the CEOs of Apple and Microsoft?", ["Apple CEO", "Microsoft CEO"], "Satya Nadella"),
    ("When were Apple and Google founded?", ["Apple founding year", "Google founding year"], "1998"),
    ("What is the population of Oslo and of Berlin?", ["Oslo population", "Berlin population"], "3.6 million"),
    ("Where did Larry Page and Alan Turing study?", ["Larry Page university", "Alan Turing university"], "Stanford"),
    ("Who wrote War and Peace?", ["War and Peace author"], "Tolstoy"),
])
def test_a_question_about_several_things_asks_for_each(question, asked, expected):
    answer, replies = run(question)
    assert [value for _, arguments in calls(replies[0]) for value in arguments.values()] == asked
    assert expected in answer and len(replies) == 2


def test_chains_that_do_not_depend_on_each_other_go_side_by_side():
    answer, replies = run("Who is older, the CEO of Apple or the CEO of Microsoft?")
    assert [len(calls(reply)) for reply in replies] == [2, 2, 0]
    assert answer.startswith("Tim Cook is older")


@pytest.mark.parametrize("question", [COMPARE, "How many degrees warmer is Shanghai than Beijing?"])
def test_one_call_at_a_time_where_the_request_says_so(question):
    answer, replies = run(question, parallel_tool_calls=False)
    assert {len(calls(reply)) for reply in replies[:-1]} == {1}
    assert "Shanghai" in answer
    assert len(replies) == len(run(question)[1]) + 1


def test_of_two_calls_only_the_one_that_failed_is_made_again():
    tries = []

    def flaky(city: str) -> str:
        tries.append(city)
        return "Error: the service is temporarily unavailable" if tries == ["Beijing"] else weather(city)

    answer, replies = run(COMPARE, functions={"weather": flaky})
    assert tries == ["Beijing", "Shanghai", "Beijing"]
    assert answer.startswith("Shanghai is warmer") and len(replies) == 3


def test_results_may_come_in_another_order():
    message = ask(COMPARE)["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": weather(city)}
               for call, city in zip(message["tool_calls"], ("Beijing", "Shanghai"), strict=True)]
    history = [{"role": "user", "content": COMPARE}, message, *reversed(results)]
    assert ask(history)["message"]["content"].startswith("Shanghai is warmer")


# It reads schemas.


def filled(tool: dict, question: str = "What is the weather in Oslo?") -> dict:
    """Give the arguments of the first call of the only tool."""
    return calls(ask(question, [tool]))[0][1]


def test_other_names_for_tools_and_parameters():
    tools = [schema("lookup", "Find an article.", term=TEXT), schema("forecast", "The weather.", location=TEXT),
             schema("compute", "Do a sum.", formula=TEXT)]
    functions = {"lookup": lambda term: search(term), "forecast": lambda location: weather(location),
                 "compute": lambda formula: calculator(formula)}
    answer, replies = run("How many degrees warmer is Shanghai than Beijing?", tools, functions)
    assert [calls(reply) for reply in replies] == [
        [("forecast", {"location": "Shanghai"}), ("forecast", {"location": "Beijing"})],
        [("compute", {"formula": "26 - 21"})], []]
    assert answer.startswith("Shanghai is 5 degrees warmer")
    assert "University of Cambridge" in run(UNIVERSITY, tools, functions)[0]


def test_names_that_say_nothing_leave_the_choice_to_the_descriptions():
    tools = [schema("tool_a", "Gives the weather.", x=TEXT), schema("tool_b", "Searches an encyclopedia.", x=TEXT)]
    assert calls(ask("Who runs Apple?", tools))[0][0] == "tool_b"
    assert calls(ask("What is the weather in Oslo?", tools))[0][0] == "tool_a"


@pytest.mark.parametrize(("question", "expected"), [
    ("Who is the CEO of DeepMind?", "search_companies"), ("Where was Alan Turing born?", "search_people"),
    ("What is the capital of Norway?", "search_places"), ("Who wrote Hamlet?", "search_books"),
    ("How humid is it in Shanghai?", "get_humidity"), ("Is it warm in Shanghai?", "get_temperature"),
])
def test_of_tools_of_one_kind_the_one_whose_words_are_near_is_called(question, expected):
    kinds = ("people", "companies", "places", "books")
    tools = [schema(f"search_{kind}", f"Look up {kind}.", query=TEXT) for kind in kinds]
    measures = ("wind", "temperature", "humidity")
    tools += [schema(f"get_{what}", f"Get the {what} in a city.", city=TEXT) for what in measures]
    assert [name for name, _ in calls(ask(question, tools))] == [expected]
    assert [name for name, _ in calls(ask(question, tools[::-1]))] == [expected]


def test_a_report_may_hold_one_measure_only():
    tool = schema("get_humidity", "Get the humidity in a city.", city=TEXT)
    answer, _ = run("How humid is it in Shanghai?", [tool], {"get_humidity": lambda city: "humidity 68 %"})
    assert "68 %" in answer


def test_swapped_descriptions_mislead_it_and_it_recovers_with_the_other_tool():
    tools = described(*WORLD)
    first, second = tools[0]["function"], tools[1]["function"]
    first["description"], second["description"] = second["description"], first["description"]
    answer, replies = run("What is the weather in Oslo?", tools)
    assert [calls(reply)[0][0] for reply in replies[:-1]] == ["search", "weather"]
    assert "9 °C" in answer


@pytest.mark.parametrize(("question", "units", "expected"), [
    ("What is the weather in Oslo?", ["fahrenheit", "celsius"], "celsius"),
    ("What is the weather in Oslo?", ["imperial", "metric"], "metric"),
    ("What is the weather in Oslo?", ["F", "C"], "C"),
    ("What is the temperature in Oslo in Fahrenheit?", ["celsius", "fahrenheit"], "fahrenheit"),
    ("What is the temperature in Oslo in Fahrenheit?", ["metric", "imperial"], "imperial"),
])
def test_a_unit_is_chosen_by_its_meaning(question, units, expected):
    tool = schema("get_weather", "Get the weather of a city.", unit={"type": "string", "enum": units}, city=TEXT)
    assert filled(tool, question) == {"unit": expected, "city": "Oslo"}


@pytest.mark.parametrize(("question", "expected"), [
    ("Who is the CEO of DeepMind?", "company"), ("Where was Alan Turing born?", "person"),
    ("What is the capital of Norway?", "place"), ("Who is the author of The Trial?", "book"),
    ("Who won the Turing Award in 2018?", "prize"),
])
def test_a_category_is_chosen_by_its_meaning(question, expected):
    categories = {"type": "string", "enum": ["person", "company", "place", "book", "prize"]}
    tool = schema("search", "Look things up.", category=categories, query=TEXT)
    assert filled(tool, question)["category"] == expected


def test_a_city_is_chosen_from_an_enum():
    tool = schema("get_weather", "Get the weather.", city={"type": "string", "enum": ["Beijing", "Oslo", "Shanghai"]})
    assert [arguments for _, arguments in calls(ask(COMPARE, [tool]))] == [{"city": "Beijing"}, {"city": "Shanghai"}]


@pytest.mark.parametrize(("properties", "expected"), [
    ({"city": TEXT, "days": {"type": "integer"}}, {"city": "Oslo", "days": 1}),
    ({"city": TEXT, "days": {"type": "integer", "minimum": 2}}, {"city": "Oslo", "days": 2}),
    ({"city": TEXT, "limit": {"type": "integer", "maximum": 2}}, {"city": "Oslo", "limit": 2}),
    ({"city": TEXT, "ratio": {"type": "number", "maximum": 0.75}}, {"city": "Oslo", "ratio": 0.75}),
    ({"city": TEXT, "limit": {"type": "string"}}, {"city": "Oslo", "limit": "3"}),
    ({"city": TEXT, "ratio": {"type": "number", "minimum": 0.5, "maximum": 0.75}}, {"city": "Oslo", "ratio": 0.5}),
    ({"city": TEXT, "detailed": {"type": "boolean"}}, {"city": "Oslo", "detailed": False}),
    ({"city": TEXT, "unit": {"type": ["string", "null"]}}, {"city": "Oslo", "unit": None}),
    ({"city": {"anyOf": [{"type": "null"}, {"type": "string"}]}}, {"city": "Oslo"}),
    ({"cities": {"type": "array", "items": TEXT}}, {"cities": ["Oslo"]}),
    ({"place": {"type": "object", "properties": {"city": TEXT, "days": {"type": "integer"}},
                "required": ["city", "days"]}}, {"place": {"city": "Oslo", "days": 1}}),
    ({"city": TEXT, "mode": {"const": "now"}}, {"city": "Oslo", "mode": "now"}),
    ({}, {}),
])
def test_arguments_have_the_types_of_the_schema(properties, expected):
    assert filled(schema("get_weather", "Get the weather of a city.", **properties)) == expected


def test_the_types_are_found_behind_references():
    parameters = {"type": "object", "properties": {"where": {"$ref": "#/$defs/Where"}}, "required": ["where"],
                  "$defs": {"Where": {"type": "object", "properties": {"city": TEXT}, "required": ["city"]}}}
    tool = schema("get_weather", "Get the weather of a city.")
    tool["function"]["parameters"] = parameters
    assert filled(tool) == {"where": {"city": "Oslo"}}


def test_parameters_that_may_be_left_out_are():
    tool = schema("get_weather", "Get the weather of a city.", city=TEXT, days={"type": "integer"})
    tool["function"]["parameters"]["required"] = ["city"]
    assert filled(tool) == {"city": "Oslo"}
    del tool["function"]["parameters"]["required"]
    tool["function"]["parameters"]["properties"]["days"]["default"] = 1
    assert filled(tool) == {"city": "Oslo"}


def test_a_tool_without_parameters_is_called_without_arguments():
    tool = {"type": "function", "function": {"name": "weather_report", "description": "The weather of all cities."}}
    assert filled(tool) == {}
    answer, _ = run(COMPARE, [tool], {"weather_report": lambda: "Beijing: 21 °C, sunny\nShanghai: 26 °C, cloudy"})
    assert answer.startswith("Shanghai is warmer")


def test_a_description_can_ask_for_the_name_alone():
    assert filled(SEARCH, "Who runs Apple?") == {"query": "Apple CEO"}
    tool = schema("search", "Look up companies.", query={"type": "string", "description": "The exact name of it."})
    assert filled(tool, "Who runs Apple?") == {"query": "Apple"}


def test_a_tool_from_a_python_signature():
    def get_weather(city: str, days: int = 1, unit: str = "celsius") -> str:
        """Get the weather of a city."""
        return weather(city)

    answer, replies = run("What is the weather in Oslo?", described(Tool(get_weather)), {"get_weather": get_weather})
    assert calls(replies[0]) == [("get_weather", {"city": "Oslo"})] and "9 °C" in answer


# It reads results.


def test_an_edited_result_changes_the_answer():
    functions = {"weather": lambda city: "It is 40 degrees in Beijing." if city == "Beijing" else weather(city)}
    assert run(COMPARE, functions=functions)[0].startswith("Beijing is warmer")


@pytest.mark.parametrize("write", [
    lambda city, degrees: {"city": city, "temperature": degrees, "unit": "celsius"},
    lambda city, degrees: {"temperature_c": degrees, "condition": "sunny"},
    lambda city, degrees: {"temp": degrees, "wind_kmh": 9, "humidity": 35},
    lambda city, degrees: {"location": city, "current": {"temperature": f"{degrees} °C", "sky": "clear"}},
    lambda city, degrees: {"location": city, "temperature": str(degrees), "unit": "celsius"},
    lambda city, degrees: [{"city": city, "temperature": degrees}],
    lambda city, degrees: f"{city}: {degrees} °C",
    lambda city, degrees: {"result": f"{city}: {degrees} °C, sunny"},
])
def test_results_in_json_are_read(write):
    degrees = {"Beijing": 31, "Shanghai": 30}
    answer, _ = run(COMPARE, functions={"weather": lambda city: json.dumps(write(city, degrees[city]))})
    assert answer.startswith("Beijing is warmer") and "31 °C" in answer


def test_a_temperature_in_the_unit_asked_for_is_not_converted():
    tool = schema("get_weather", "Get the weather of a city.", city=TEXT,
                  unit={"type": "string", "enum": ["celsius", "fahrenheit"]})
    functions = {"get_weather": lambda city, unit: {"celsius": f"{city}: 9 °C", "fahrenheit": f"{city}: 48 °F"}[unit]}
    answer, replies = run("What is the temperature in Oslo in Fahrenheit?", [tool], functions)
    assert "48 °F" in answer and len(replies) == 2


def test_an_earlier_question_and_its_results_are_remembered():
    _, replies = run("Who is the CEO of DeepMind?")
    message = replies[0]["message"]
    before = ({"role": "user", "content": "Who is the CEO of DeepMind?"}, message,
              {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": search("DeepMind CEO")},
              {"role": "assistant", "content": replies[1]["message"]["content"]})
    answer, replies = run("Where did he study?", before=before)
    assert calls(replies[0])[0] == ("search", {"query": "Demis Hassabis university"})
    assert "Cambridge" in answer


def test_a_thought_beside_a_call_is_believed():
    call = {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"query": "DeepMind CEO"}'}}
    history = [{"role": "user", "content": UNIVERSITY},
               {"role": "assistant", "content": "The CEO of DeepMind is Tim Cook.", "tool_calls": [call]},
               {"role": "tool", "tool_call_id": "a", "content": "No article matches."}]
    assert calls(ask(history)) == [("search", {"query": "Tim Cook university"})]


@pytest.mark.parametrize("arguments", ["", "null", '{"city": "Os', "[1]", '"hi"', '"{\\"city\\": \\"Oslo\\"}"'])
def test_malformed_arguments_in_the_history_are_read_over(arguments):
    call = {"id": "a", "type": "function", "function": {"name": "weather", "arguments": arguments}}
    history = [{"role": "user", "content": "What is the weather in Oslo?"},
               {"role": "assistant", "content": None, "tool_calls": [call]},
               {"role": "tool", "tool_call_id": "a", "content": "Error: the arguments are not JSON that can be read"}]
    expected = [] if "Oslo" in arguments and arguments.endswith('"') else [("weather", {"city": "Oslo"})]
    assert calls(ask(history)) == expected  # the call that was whole is not made again


@pytest.mark.parametrize("nudge", [
    "Please continue.", "Your reply was empty. Call a tool or answer the question.",
    "Format error: your last message had neither a call nor an answer.",
])
def test_a_nudge_is_no_new_question(nudge):
    history = [{"role": "user", "content": "What is the weather in Oslo?"}, {"role": "assistant", "content": "(empty)"},
               {"role": "user", "content": nudge}]
    assert calls(ask(history)) == [("weather", {"city": "Oslo"})]


# It reacts to errors and to what is missing.


def test_a_tool_error_is_said_when_nothing_else_helps():
    def broken(city: str) -> str:
        raise ValueError("no report for this city today")

    answer, replies = run("What is the weather in Oslo?", [WEATHER], {"get_weather": broken})
    assert "could not find the weather in Oslo" in answer and "No report for this city today" in answer
    assert len(replies) <= 4


@pytest.mark.parametrize("write", [
    "Error: unknown tool 'search'. The tools are: encyclopedia".format,
    "Unknown tool name: 'search'. Available tools: 'encyclopedia'".format,
    lambda: json.dumps({"error": "unknown tool 'search'. The tools are: encyclopedia"}),
])
def test_an_unknown_tool_is_replaced_by_one_that_the_error_names(write):
    calls_made = []

    def respond(name: str, arguments: dict) -> str:
        calls_made.append(name)
        return search(*arguments.values()) if name == "encyclopedia" else write()

    functions = {name: lambda name=name, **arguments: respond(name, arguments) for name in ("search", "encyclopedia")}
    answer, _ = run("Who runs Apple?", [SEARCH], functions)
    assert calls_made == ["search", "encyclopedia"] and "Tim Cook" in answer


def test_a_missing_argument_is_given_as_the_error_says():
    def lookup(**arguments: str) -> str:
        if "term" not in arguments:
            return "Error: missing: term. The tool is lookup(term: string)"
        return search(arguments["term"])

    answer, _ = run("Who runs Apple?", [schema("lookup", "Look things up.", query=TEXT)], {"lookup": lookup})
    assert "Tim Cook" in answer


def test_a_slip_of_the_pen_is_corrected_as_the_error_offers():
    answer, replies = run("What is the weather in Bejing?")
    assert [calls(reply)[0][1] for reply in replies[:-1]] == [{"city": "Bejing"}, {"city": "Beijing"}]
    assert "21 °C" in answer


def test_without_a_fitting_tool_it_says_so():
    answer, replies = run("What is the weather in Oslo?", [SEARCH])
    assert len(replies) == 1 and "no tool" in answer
    answer, replies = run("Who is the CEO of Intel?", [WEATHER])
    assert len(replies) == 1 and "Pat Gelsinger" in answer and "from memory" in answer


# The request says whether and what to call.


def test_with_tool_choice_none_it_answers_without_a_call():
    choice = ask("What is the capital of France?", tool_choice="none")
    assert choice["finish_reason"] == "stop" and choice["message"]["content"] == "The capital of France is Paris."


def test_with_tool_choice_none_it_still_reads_the_results():
    message = ask(COMPARE)["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": content}
               for call, content in zip(message["tool_calls"], ("Beijing: 3 °C", "Shanghai: 2 °C"), strict=True)]
    history = [{"role": "user", "content": COMPARE}, message, *results]
    assert ask(history, tool_choice="none")["message"]["content"].startswith("Beijing is warmer")
    assert ask(history, tools=[])["message"]["content"].startswith("Beijing is warmer")  # or with no tools at all


@pytest.mark.parametrize("question", ["Hello", "What is 2 + 2?", "Tell me a joke about tools", "?", ""])
def test_with_tool_choice_required_there_is_always_a_call(question):
    choice = ask(question, tool_choice="required")
    assert calls(choice) and choice["finish_reason"] == "tool_calls"


def test_a_named_tool_is_called_whether_it_fits_or_not():
    named = {"type": "function", "function": {"name": "search"}}
    choice = ask("What is the weather in Oslo?", tool_choice=named)
    assert [name for name, _ in calls(choice)] == ["search"]
    assert choice["finish_reason"] == "stop"  # as the API has it where the function is named
    assert calls(ask("Who runs Apple?", tool_choice=named)) == [("search", {"query": "Apple CEO"})]


def test_a_tool_for_the_answer_gets_it_alone_and_last():
    final = schema("final_answer", "Give the final answer.", answer=TEXT)
    got = []
    functions = {"weather": weather, "final_answer": lambda answer: got.append(answer) or "accepted"}
    _, replies = run(COMPARE, [*described(*WORLD), final], functions)
    assert [[name for name, _ in calls(reply)] for reply in replies] == [["weather"] * 2, ["final_answer"], []]
    assert got[0].startswith("Shanghai is warmer")


def test_a_tool_that_submits_something_else_is_left_alone():
    order = schema("submit_order", "Submit an order.", text=TEXT)
    answer, replies = run(COMPARE, [*described(*WORLD), order])
    assert {name for reply in replies for name, _ in calls(reply)} == {"weather"} and answer.startswith("Shanghai")


def test_a_structured_answer_is_taken_from_the_results():
    final = schema("final_result", "The result.", city=TEXT, temperature={"type": "number"}, summary=TEXT)
    message = ask(COMPARE)["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": weather(city)}
               for call, city in zip(message["tool_calls"], ("Beijing", "Shanghai"), strict=True)]
    choice = ask([{"role": "user", "content": COMPARE}, message, *results], [*described(*WORLD), final],
                 tool_choice="required")
    [(name, arguments)] = calls(choice)
    assert name == "final_result" and arguments["city"] == "Shanghai" and arguments["temperature"] == 26
    assert arguments["summary"].startswith("Shanghai is warmer")


def test_a_prompt_in_a_text_format_is_followed_where_no_tool_may_be_called():
    prompt = {"role": "system", "content": REACT.format(tools="- weather(city: string): Get the weather.")}
    question = {"role": "user", "content": "Question: What is the weather in Oslo?"}
    text = ask([prompt, question], tool_choice="none", stop=["Observation:"])
    assert 'Action: weather(city="Oslo")' in text["message"]["content"]
    assert calls(ask([prompt, question])) == [("weather", {"city": "Oslo"})]


def test_thoughts_come_with_calls_where_the_instructions_ask_for_them():
    aloud = {"role": "system", "content": "Think step by step before you call a tool."}
    message = ask([aloud, {"role": "user", "content": COMPARE}])["message"]
    assert "the weather in Beijing" in message["content"] or "the temperature in Beijing" in message["content"]
    assert len(message["tool_calls"]) == 2
    with_seeds = {ask(COMPARE, seed=seed)["message"]["content"] is None for seed in range(12)}
    assert with_seeds == {True, False}


# Limits and costs.


@pytest.mark.parametrize(("limit", "kept"), [
    (3, ['{"ci']), (7, ['{"city": "Beijing"}']), (10, ['{"city": "Beijing"}', '{"ci']),
])
def test_the_token_limit_cuts_calls_too(limit, kept):
    choice = ask(COMPARE, max_tokens=limit)
    assert choice["finish_reason"] == "length"
    assert [call["function"]["arguments"] for call in choice["message"]["tool_calls"]] == kept


def test_a_limit_before_the_first_argument_leaves_no_call():
    choice = ask(COMPARE, max_tokens=1)
    assert choice["finish_reason"] == "length" and "tool_calls" not in choice["message"]


def test_a_stop_word_in_the_thought_ends_the_reply():
    aloud = [{"role": "system", "content": "Think step by step."}, {"role": "user", "content": COMPARE}]
    choice = ask(aloud, stop=["need", "look", "Beijing"])
    assert choice["finish_reason"] == "stop" and "tool_calls" not in choice["message"]


def test_tools_and_calls_count_as_tokens():
    def used(**body: object) -> dict:
        return send({"messages": [{"role": "user", "content": COMPARE}]} | body)[1]["usage"]

    with_tools, without = used(tools=described(*WORLD)), used()
    more = with_tools["prompt_tokens"] - without["prompt_tokens"]
    assert len(json.dumps(described(*WORLD), ensure_ascii=False)) in range(4 * more - 3, 4 * more + 1)
    assert with_tools["completion_tokens"] == 2 + 5 + 2 + 5  # weather, {"city": "Beijing"}, and the same of Shanghai
    status, body = send({"messages": [{"role": "user", "content": COMPARE}], "tools": described(*WORLD)},
                        Settings(context_window=100))
    assert status == 400 and body["error"]["code"] == "context_length_exceeded"
