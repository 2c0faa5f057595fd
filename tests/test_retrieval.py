"""Large toolboxes: the model is offered the tools that fit, and never more than the API takes."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlib.state import Message, State, Thought, ToolCall, Turn
from agentlib.tools import Tool
from agentlib.tools.retrieval import LIMIT, BestTools, ByCategory, _scores, query_of, rank
from agentlib.tools.words import words
from agentlib.world.many import QUESTIONS, categories, company_tools, vague


def made(name: str, description: str = "", properties: dict | None = None) -> Tool:
    schema = {"type": "object", "properties": properties or {}}
    return Tool.from_schema(name, description, schema, lambda **given: "done")


def names(tools) -> list[str]:
    return [tool.name for tool in tools]


def called(*calls: str, goal: str = "g") -> State:
    """Give a state in which these tools were called, one after the other."""
    events = [ToolCall(message=i, id=f"c{i}", name=name, arguments="{}", raw="") for i, name in enumerate(calls)]
    return State(goal, events=tuple(events))


OFFICE = [
    made("createInvoice", "Make a new invoice for a customer."),
    made("send_email", "Send a message.", {"to": {"type": "string", "description": "Address of the recipient"}}),
    made("get_weather", "Weather report of a city."),
    made("convert", "Change a value.", {"unit": {"type": "string", "enum": ["celsius", "fahrenheit", "kelvin"]}}),
    made("lookup", "Find things.", {"filter": {"type": "object", "properties": {"passport_number": {}}}}),
    made("chaxun_tianqi", "查询一个城市的天气预报"),
    made("ding_jiudian", "预订酒店房间"),
    made("consultar_clima", "Consulta el pronóstico del tiempo en una ciudad."),
]
FILLER = [made(f"filler_{i}", f"Does chore number {i}.") for i in range(200)]


# -- what is found


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("Please make out the invoices", "createInvoice"),  # in camel case, and in the plural
        ("what was the WEATHER like", "get_weather"),  # behind an underscore, in capitals
        ("emailing somebody", "send_email"),  # another ending
        ("who are the recipients?", "send_email"),  # in a parameter's description
        ("how much is that in Fahrenheit", "convert"),  # an allowed value
        ("check her passport", "lookup"),  # a nested parameter's name
        ("明天上海的天气怎么样？", "chaxun_tianqi"),  # no spaces between the words
        ("我想订一间酒店", "ding_jiudian"),
        ("cual es el pronostico", "consultar_clima"),  # without its accent
        ("ｗｅａｔｈｅｒ", "get_weather"),  # full width
    ],
)
def test_a_tool_is_found_by_its_name_its_description_and_its_parameters(query, best):
    assert rank([*FILLER, *OFFICE], query)[0].name == best


def test_the_tool_for_a_question_is_among_the_ten_offered_of_sixty_and_descriptions_matter():
    def found(tools, **settings):
        select = BestTools(k=10, **settings)
        return [asked.tool for asked in QUESTIONS if asked.tool in names(select(State(asked.question), tools))]

    tools = company_tools()
    assert found(tools) == found(tools, ranking=ByCategory(categories())) == [asked.tool for asked in QUESTIONS]
    assert len(found(vague(tools))) < len(QUESTIONS)


def test_words_of_names_and_languages():
    assert words("userHTTPServer2") == ["userhttpserver2", "user", "http", "server", "2"]
    assert words("GitHub") == ["github", "git", "hub"]
    assert words("天气") == ["天", "气", "天气"]
    assert words("날씨") == ["날", "씨", "날씨"]
    assert words("Zürich, STRASSE und straße") == ["zurich", "strass", "und", "strass"]
    assert words("what is it that you will have me do") == words("?!  …") == []


def test_a_query_that_fits_nothing_leaves_the_tools_in_their_order():
    for query in ("", "the of and", "xylophone quartz", "🙂", "\ud83d"):
        assert rank(OFFICE, query) == OFFICE
    assert names(BestTools(k=3)(State("xylophone"), OFFICE)) == names(OFFICE[:3])


def test_tools_without_a_word_are_ranked_too():
    silent = [made("_"), made("-"), made("the")]
    assert rank(silent, "weather") == silent
    assert rank([], "weather") == []


def test_a_changed_description_is_searched_at_once():
    tools = [*FILLER, made("alpha", "Nothing of note."), made("beta", "Nothing of note.")]
    assert rank(tools, "telescope")[0].name == "filler_0"
    tools[-1].description = "Points the telescope."
    assert rank(tools, "telescope")[0].name == "beta"


def test_a_schema_of_any_shape_is_read():
    odd = {
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "A zebra"},
            "enum": {"anyOf": [{"enum": [1, None, "okapi"]}, {"const": "quagga"}]},
            "list": {"type": "array", "items": {"$ref": "#/$defs/Beast"}},
        },
        "$defs": {"Beast": {"type": "object", "properties": {"giraffe": {"type": "string", "default": "lion"}}}},
    }
    tools = [*FILLER, Tool.from_schema("zoo", "", odd, lambda **given: "")]
    for query in ("zebra", "okapi", "quagga", "giraffe", "description"):
        assert rank(tools, query)[0].name == "zoo", query
    assert rank(tools, "lion")[0].name == "filler_0"  # a default says nothing about what the tool is for


# -- what is offered in a step


def test_a_small_toolbox_is_offered_whole():
    assert BestTools(k=10)(State("weather"), OFFICE) == tuple(OFFICE)


def test_later_steps_find_other_tools_by_the_last_thought():
    select = BestTools(k=1)
    first = State("Bill the customer for the hotel")
    thought = Thought(message=2, text="Now I send her an email.", raw="")
    later = State(first.goal, events=(Thought(message=1, text="About the weather", raw=""), thought))
    assert names(select(first, [*FILLER, *OFFICE])) == ["createInvoice"]
    assert names(BestTools(k=2)(later, [*FILLER, *OFFICE])) == ["createInvoice", "send_email"]
    assert "weather" not in query_of(later)


def test_a_thought_of_an_earlier_turn_is_not_searched_for():
    events = (Thought(message=1, text="the weather", raw=""), Turn(message=2, text="an invoice"))
    assert query_of(State("an invoice", events=events)) == "an invoice"


def test_pinned_tools_are_always_offered_and_the_order_is_the_tools_own():
    tools = [*FILLER[:100], made("calculator"), *FILLER[100:], *OFFICE]
    offered = names(BestTools(k=2, pinned=("get_weather", "calculator"))(State("send an email"), tools))
    assert offered == ["filler_0", "calculator", "send_email", "get_weather"]
    assert "calculator" in names(BestTools(k=1, pinned="calculator")(State("an invoice"), tools))


def test_tools_in_use_stay():
    tools, turn = [*FILLER, *OFFICE], Turn(message=9, text="and in Shanghai?")
    select = BestTools(k=1)
    assert names(select(called("get_weather", goal="email"), tools)) == ["send_email", "get_weather"]
    after = called("get_weather").add(Message("user", turn.text), turn, goal=turn.text)
    assert "get_weather" in names(select(after, tools))  # a follow-up seldom names the tool again
    assert "get_weather" not in names(select(after.add(Message("user", "x"), turn), tools))
    assert names(select(called("no_such_tool", goal="email"), tools)) == ["send_email"]


def test_never_more_than_the_api_takes_and_the_core_tools_are_among_them():
    tools = [made(f"tool_{i}", "One of many equals.") for i in range(141)]
    used = [f"tool_{i}" for i in range(20, 141)]
    select = BestTools(k=LIMIT, pinned=("tool_140", "tool_139"))
    offered = select(called(*used, goal="one of the equals"), tools)
    assert len(offered) == LIMIT == 128
    assert {"tool_139", "tool_140", *used[-100:]} <= set(names(offered))
    ties = names(select(State("one of the equals"), tools))
    assert ties == [*(f"tool_{i}" for i in range(126)), "tool_139", "tool_140"]
    longest = called(*names(tools), goal="x")  # more in use than the API takes: those used last
    assert names(BestTools(k=1)(longest, tools)) == names(tools[-LIMIT:])


def test_mistakes_are_named_at_once():
    for k in (0, 129):
        with pytest.raises(ValueError, match=f"k is {k}; the API takes 1 to 128 tools"):
            BestTools(k=k)
    with pytest.raises(ValueError, match="129 tools are pinned"):
        BestTools(pinned=tuple(map(str, range(129))))
    with pytest.raises(ValueError, match="no tool is named 'calculater', which is pinned"):
        BestTools(pinned=("calculater",))(State("x"), OFFICE)


def test_searching_writes_no_log(caplog):
    rank([made("alone", "Not indexed before.")], "alone")
    assert caplog.records == []


def test_threads_get_the_same_answer():
    tools = [*FILLER, *OFFICE]
    fresh = [made(tool.name, tool.description, tool.parameters["properties"]) for tool in tools]
    queries = ["weather", "invoice", "天气预报", "recipient"] * 10
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda query: names(rank(fresh, query)), queries))
    assert together == [names(rank(tools, query)) for query in queries]


# -- by category


def test_the_best_categories_come_first_and_a_large_one_does_not_win_by_its_size():
    animals = [made(f"feed_{i}", "Feed an animal of the city zoo.") for i in range(60)]
    weather = [made("weather_report", "The weather in a city."), made("storm_warning", "A warning of a storm.")]
    travel = [made("book_train", "Book a seat."), made("find_timetable", "When does it leave?")]
    stray = [made("stray", "Has no category.")]
    tools = [*animals, *travel, *weather, *stray]
    groups = {"animals": animals, "weather": weather, "travel": travel}
    kinds = {tool.name: category for category, group in groups.items() for tool in group}
    ranked = ByCategory(kinds, best=1)(tools, "weather in the city")
    assert names(ranked[:2]) == ["weather_report", "storm_warning"]  # the second has no word of the query
    assert sorted(names(ranked)) == sorted(names(tools))
    assert names(ByCategory(kinds)(tools, "nothing fits")) == names([*animals, *travel, *weather, *stray])
    select = BestTools(k=2, pinned=("book_train",), ranking=ByCategory(kinds))
    assert names(select(State("weather"), tools)) == ["book_train", "weather_report", "storm_warning"]


# -- for all toolboxes

NAMES = st.text("abcdeABC_-", min_size=1, max_size=12)
TOOLBOXES = st.lists(
    st.builds(made, NAMES, st.text("abc de,天气\n", max_size=30)), max_size=140, unique_by=lambda tool: tool.name
)
QUERIES = st.text("abcde 天气.", max_size=20)


@given(TOOLBOXES, QUERIES, st.integers(1, 128), st.data())
def test_what_is_offered_is_bounded_ordered_and_holds_the_pinned(tools, query, k, data):
    some = st.lists(st.sampled_from(names(tools)), max_size=5) if tools else st.just([])
    pinned, used = tuple(data.draw(some)), data.draw(some)
    select, state = BestTools(k=k, pinned=pinned), called(*used, goal=query)
    offered = select(state, tools)
    assert min(k, len(tools)) <= len(offered) <= min(LIMIT, k + len({*pinned, *used}))
    assert list(offered) == [tool for tool in tools if tool in offered]
    assert {*pinned, *used} <= set(names(offered))
    assert offered == select(state, tuple(tools))


@given(TOOLBOXES, QUERIES)
def test_a_ranking_holds_each_tool_once_whatever_the_order(tools, query):
    ranked = rank(tools, query)
    assert sorted(names(ranked)) == sorted(names(tools))
    backwards = rank(tools[::-1], query)
    scores = dict(zip(names(tools), _scores(tools, query), strict=True))
    assert [scores[tool.name] for tool in ranked] == [scores[tool.name] for tool in backwards]


@given(st.lists(st.sampled_from(["p", "q", "r"]), min_size=1, max_size=30), st.sampled_from(["p", "q", "none", ""]))
def test_equal_tools_keep_their_order(kinds, query):
    tools = [made(f"{'_' * i}-", kind) for i, kind in enumerate(kinds)]  # their names hold no word
    ranked = rank(tools, query)
    fitting = [tool for tool in tools if tool.description == query]
    assert ranked == fitting + [tool for tool in tools if tool.description != query]
