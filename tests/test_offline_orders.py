"""The offline model with tools that its grammar knows nothing of: orders of a shop, and the sixty of a company.

It chooses by words, fills by the schema, follows errors, and stops where a person says no.
"""

import json
from contextlib import closing

import pytest
from native import WORLD, ask, calls, described, run, schema
from test_offline_loop import REACT, chat
from test_offline_loop import actions as actions_of

from agentlib.tools import Toolbox
from agentlib.world import Orders
from agentlib.world.many import QUESTIONS, among, categories, company_tools, vague

TEXT = {"type": "string"}
STATUS = "What is the status of order A-1042?"
LAMP = "Refund order A-1017: the lamp arrived broken."


@pytest.fixture
def orders():
    with closing(Orders()) as opened:
        yield opened


def do(orders: Orders, question: str, tools: list | None = None, **options: object) -> tuple[str, list]:
    """Ask with the shop's tools and those of the lessons; give the answer, and the calls reply by reply."""
    offered = [*orders.tools, *WORLD] if tools is None else tools
    answer, replies = run(question, described(*offered), {tool.name: tool for tool in offered}, **options)
    return answer, [calls(reply) for reply in replies[:-1]]


def in_text(orders: Orders, question: str) -> tuple[str, list[str]]:
    """Ask in the text protocol; give the answer and the actions."""
    toolbox = Toolbox([*orders.tools, *WORLD])
    messages = [{"role": "system", "content": REACT.format(tools=toolbox.describe())},
                {"role": "user", "content": f"Question: {question}"}]
    for _ in range(8):
        reply = chat(messages)
        messages.append({"role": "assistant", "content": reply})
        if "Final Answer: " in reply:
            return reply.partition("Final Answer: ")[2].strip(), actions_of(messages)
        name, _, given = reply.partition("Action: ")[2].strip().partition("(")
        arguments = json.dumps(eval(f"dict({given}", {"__builtins__": {}, "dict": dict}))  # its own call syntax
        messages.append({"role": "user", "content": f"Observation: {toolbox.run(name, arguments).text}"})
    raise AssertionError(messages)


# What it does, natively and in text


@pytest.mark.parametrize(("question", "made", "expected"), [
    (STATUS, [("lookup_order", {"order_id": "A-1042"})], "Order A-1042 of Noor Haddad, status: shipped."),
    ("How much did Mei Chen pay for order A-1003?", [("lookup_order", {"order_id": "A-1003"})], "EUR 75.80"),
    ("When was order A-1003 delivered?", [("lookup_order", {"order_id": "A-1003"})], "delivered on 2025-02-11"),
    ("Who ordered A-1042?", [("lookup_order", {"order_id": "A-1042"})], "Noor Haddad"),
    ("Which orders of Mei Chen are still on their way?",
     [("find_orders", {"customer": "Mei Chen", "status": "shipped"})], "A-1044 shipped"),
    ("Please cancel order A-1020.", [("cancel_order", {"order_id": "A-1020"})], "Tom Baker gets EUR 42.00 back"),
    ("Refund EUR 10 of order A-1009 because the strap is torn.",
     [("refund", {"order_id": "A-1009", "amount": 10, "reason": "the strap is torn"})], "Refunded EUR 10.00"),
    (LAMP, [("lookup_order", {"order_id": "A-1017"}),
            ("refund", {"order_id": "A-1017", "amount": 34.9, "reason": "the lamp arrived broken"})],
     "Refunded EUR 34.90 of the EUR 48.40"),
    ("Refund order A-1003.",
     [("lookup_order", {"order_id": "A-1003"}),
      ("refund", {"order_id": "A-1003", "amount": 75.8, "reason": "asked for by the customer"})], "Refunded EUR 75.80"),
    ("Can you refund order A-1009? The strap is torn.",
     [("lookup_order", {"order_id": "A-1009"}),
      ("refund", {"order_id": "A-1009", "amount": 69, "reason": "The strap is torn"})], "Refunded EUR 69.00"),
    ("Cancel Tom Baker's order of the chess set.",
     [("find_orders", {"customer": "Tom Baker"}), ("cancel_order", {"order_id": "A-1020"})], "Cancelled order A-1020"),
    ("Refund the lamp of Amara Okafor, it arrived broken.",
     [("find_orders", {"customer": "Amara Okafor"}), ("lookup_order", {"order_id": "A-1017"}),
      ("refund", {"order_id": "A-1017", "amount": 34.9, "reason": "it arrived broken"})], "Refunded EUR 34.90"),
])
def test_what_is_asked_of_the_shop_is_done(orders, question, made, expected):
    answer, replies = do(orders, question)
    assert [call for reply in replies for call in reply] == made and expected in answer
    with closing(Orders()) as fresh:
        said, written = in_text(fresh, question)
    assert [action.partition("(")[0] for action in written] == [name for name, _ in made] and expected in said


def test_several_orders_are_looked_up_at_once(orders):
    answer, replies = do(orders, "What is the status of orders A-1042 and A-1043?")
    assert replies == [[("lookup_order", {"order_id": "A-1042"}), ("lookup_order", {"order_id": "A-1043"})]]
    assert "status: shipped" in answer and "status: cancelled" in answer
    _, replies = do(orders, "What is the status of orders A-1042 and A-1043?", parallel_tool_calls=False)
    assert [len(reply) for reply in replies] == [1, 1]


def test_an_edited_result_changes_the_answer(orders):
    tools = {tool.name: tool for tool in orders.tools}
    tools["lookup_order"] = lambda order_id: f"Order {order_id} of Ada Bell. Status: lost. Paid: EUR 1." + " Ok." * 20
    answer, _ = run(STATUS, described(*orders.tools), tools)
    assert answer == "Order A-1042 of Ada Bell, status: lost."


def test_a_result_in_json_is_told_in_words():
    tool = schema("order_status", "Look up the status of an order.", order_id=TEXT)
    functions = {"order_status": lambda order_id: json.dumps({"order": order_id, "status": "lost", "days": 3})}
    assert run(STATUS, [tool], functions)[0] == "A-1042, lost, days 3."


@pytest.mark.parametrize("question", [
    "Compare the weather in Beijing and Shanghai.", "Who is the CEO of Apple?", "What is 17 * 23?", "Hello",
    "Which university did DeepMind's CEO attend?", "Is it warmer in Beijing or in Shanghai?",
])
def test_the_questions_of_the_lessons_are_answered_as_without_the_shop(orders, question):
    assert do(orders, question) == do(orders, question, tools=list(WORLD))


# Errors and people


def test_an_error_that_offers_another_id_is_followed(orders):
    answer, replies = do(orders, "What is the status of order 1017?")
    assert replies == [[("lookup_order", {"order_id": "1017"})], [("lookup_order", {"order_id": "A-1017"})]]
    assert "delivered" in answer


@pytest.mark.parametrize(("question", "said", "most"), [
    ("What is the status of order A-9999?", "there is no order A-9999", 1),
    ("Refund A-1020, please, it is too late.", "use cancel_order", 2),
    ("Refund order A-1042.", "it can be refunded once it is delivered", 2),
    ("Refund EUR 99 of order A-1017: broken.", "refund at most EUR 48.40", 1),
    ("Which orders of Mei Chan are still on their way?", "Did you mean Mei Chen or Wei Chen?", 1),
])
def test_what_the_shop_refuses_is_said_and_not_tried_in_other_ways(orders, question, said, most):
    before = orders.query("SELECT * FROM orders")
    answer, replies = do(orders, question)
    assert said in answer and len(replies) == most and orders.query("SELECT * FROM orders") == before


def test_a_passing_error_is_tried_again(orders):
    tries = []

    def flaky(order_id: str) -> str:
        tries.append(order_id)
        return "Error: the service timed out" if len(tries) == 1 else orders.lookup_order(order_id)

    answer, _ = run(STATUS, described(*orders.tools), {"lookup_order": flaky})
    assert tries == ["A-1042", "A-1042"] and "shipped" in answer


@pytest.mark.parametrize(("warning", "most"), [("", 2), ("; it may still have its effect", 1)])
def test_a_time_limit_is_tried_again_unless_the_call_may_have_had_its_effect(orders, warning, most):
    tools = {tool.name: tool for tool in orders.tools}
    tools["cancel_order"] = lambda order_id: f"Error: cancel_order gave no result within 0.1 seconds{warning}"
    answer, replies = run("Please cancel order A-1020.", described(*orders.tools), tools)
    assert [calls(reply) for reply in replies[:-1]] == [[("cancel_order", {"order_id": "A-1020"})]] * most
    assert answer.startswith("I could not do this. The tool said: cancel_order gave no result")


@pytest.mark.parametrize("both", ["A-1017 and A-1020", "A-1020 and A-1017"])
def test_of_two_calls_that_end_differently_both_ends_are_told(orders, both):
    answer, _ = do(orders, f"Cancel orders {both}.")
    assert answer.startswith("Cancelled order A-1020; Tom Baker gets EUR 42.00 back. I could not do the rest. The tool"
                             " said: order A-1017 is delivered")


@pytest.mark.parametrize("question", ["Cancel my order.", "Refund my order."])
def test_what_it_is_not_told_it_asks_for_and_does_not_make_up(orders, question):
    answer, replies = do(orders, question)
    assert replies == [] and "I need to know the order id" in answer


def test_of_two_orders_that_may_be_meant_it_takes_none(orders):
    answer, replies = do(orders, "Cancel the order of Lucia Silva.")
    assert [name for reply in replies for name, _ in reply] == ["find_orders"]
    assert "I need to know the order id" in answer and "A-1056" in answer and "A-1059" in answer


@pytest.mark.parametrize(("rejection", "why"), [
    ("Error: rejected by a person: that is too much", " (that is too much)"), ("Error: rejected by a person", ""),
])
def test_what_a_person_rejected_is_said_and_not_tried_again(orders, rejection, why):
    tools = {tool.name: tool for tool in orders.tools} | {"refund": lambda **arguments: rejection}
    answer, replies = run(LAMP, described(*orders.tools), tools)
    assert answer == f"I did not do this: a person rejected refund{why}." and len(replies) == 3
    answer, replies = run("What is the weather in Oslo?", functions={"weather": lambda city: rejection})
    assert answer == f"I did not do this: a person rejected weather{why}." and len(replies) == 2


def test_a_call_that_a_person_edited_counts_as_done(orders):
    history = [{"role": "user", "content": LAMP}]
    first = ask(history, described(*orders.tools))["message"]
    history += [first, {"role": "tool", "tool_call_id": first["tool_calls"][0]["id"],
                        "content": orders.lookup_order("A-1017")}]
    second = ask(history, described(*orders.tools))["message"]
    edited = '{"order_id": "A-1017", "amount": 20, "reason": "broken"}'
    second["tool_calls"][0]["function"]["arguments"] = edited
    history += [second, {"role": "tool", "tool_call_id": second["tool_calls"][0]["id"],
                         "content": orders.refund(**json.loads(edited))}]
    reply = ask(history, described(*orders.tools))
    assert calls(reply) == [] and "Refunded EUR 20.00" in reply["message"]["content"]


@pytest.mark.parametrize("note", ["Note: you have called lookup_order 3 times in a row. Do something else.",
                                  "Note: the goal is still: find the status.", "note: hurry",
                                  "Format error: the reply was empty. Call a tool, or give the answer as text."])
@pytest.mark.parametrize("question", [STATUS, "What is the weather in Oslo?"])
def test_what_comes_from_a_guard_or_the_loop_is_not_the_question(orders, question, note):
    tools = described(*orders.tools, *WORLD)
    history = [{"role": "user", "content": question}, {"role": "assistant", "content": "(empty)"},
               {"role": "user", "content": note}]
    assert calls(ask(history, tools)) == calls(ask(question, tools)) != []


def test_a_note_of_the_users_own_may_be_the_question():
    assert calls(ask("Note: I am in a hurry. What is the weather in Oslo?")) == [("weather", {"city": "Oslo"})]


# It chooses by words


@pytest.mark.parametrize("question", [
    "Sing me a song.", "My cat is ill.", "Recommend a film for tonight.", "Why is the sky blue?", "What is love?",
    "Tell me a joke about tools", "How do I bake bread?",
])
def test_where_no_tool_fits_it_says_so(orders, question):
    answer, replies = do(orders, question, tools=orders.tools)
    assert replies == [] and answer != question and ("I cannot answer" in answer or "I could not find" in answer
                                                     or "I do not know" in answer)


def test_names_that_say_nothing_leave_the_choice_to_the_descriptions():
    tools = [schema("tool_a", "Cancel an order that is not shipped yet.", order_id=TEXT),
             schema("run_b", "Look up the status of an order.", order_id=TEXT)]
    assert calls(ask(STATUS, tools))[0][0] == "run_b"
    assert calls(ask("Please cancel order A-1020.", tools))[0][0] == "tool_a"


def test_what_a_description_says_the_tool_is_not_for_counts_against_it():
    plain = "Look up an order by its id: status and dates."
    parcels = schema("parcel_info", f"{plain} Not for the parcels of orders.", order_id=TEXT)
    others = schema("order_info", f"{plain}", order_id=TEXT)
    assert calls(ask("Where is the parcel of order A-1042?", [parcels, others]))[0][0] == "order_info"
    parcels["function"]["description"] = f"{plain} For the parcels of orders."
    assert calls(ask("Where is the parcel of order A-1042?", [parcels, others]))[0][0] == "parcel_info"


@pytest.mark.parametrize(("properties", "question", "expected"), [
    ({"order_id": TEXT}, "Track A-1042", {"order_id": "A-1042"}),
    ({"date": TEXT}, "Track parcels of 3 May 2025", {"date": "2025-05-03"}),
    ({"person": TEXT}, "Track the parcels of Ada Bell", {"person": "Ada Bell"}),
    ({"text": TEXT}, 'Track parcels with "red ink"', {"text": "red ink"}),
    ({"start": TEXT, "end": TEXT}, "Track parcels from 2025-01-02 to 2025-02-03",
     {"start": "2025-01-02", "end": "2025-02-03"}),
    ({"days": {"type": "integer"}, "weight": {"type": "number"}}, "Track parcels of 2.5 weight, 7 days old",
     {"days": 7, "weight": 2.5}),
    ({"from_city": TEXT, "to_city": TEXT}, "Track parcels to Oslo from Rome", {"from_city": "Rome", "to_city": "Oslo"}),
    ({"size": {"type": "string", "enum": ["small", "large"]}}, "Track large parcels", {"size": "large"}),
    ({"weights": {"type": "array", "items": {"type": "number"}}}, "Track parcels of 1, 2 and 3.5",
     {"weights": [1, 2, 3.5]}),
    ({"code": TEXT | {"description": 'Such as "PX-77".'}}, "Track parcel PX-12, order A-1042", {"code": "PX-12"}),
])
def test_arguments_come_from_the_question_by_their_shape(properties, question, expected):
    [(_, arguments)] = calls(ask(question, [schema("track_parcels", "Track parcels.", **properties)]))
    assert arguments == expected


# Many tools


def accuracy(describe, count: int) -> int:
    """Count the questions for which the right tool is called first, among so many."""
    tools = describe(company_tools())
    first = [calls(ask(asked.question, described(*among(tools, asked.tool, count)))) for asked in QUESTIONS]
    return sum(bool(made) and made[0][0] == asked.tool for made, asked in zip(first, QUESTIONS, strict=True))


def test_the_table_has_a_question_and_a_category_for_each_tool():
    names = [tool.name for tool in company_tools()]
    assert len(names) == len(set(names)) == 60
    assert sorted(asked.tool for asked in QUESTIONS) == sorted(names) == sorted(categories())
    assert len(set(categories().values())) == 13


def test_a_larger_choice_holds_the_smaller_one_and_the_right_tool():
    tools = company_tools()
    for asked in QUESTIONS:
        names = [{tool.name for tool in among(tools, asked.tool, count)} for count in (1, 5, 20, 60)]
        assert [len(each) for each in names] == [1, 5, 20, 60] and names[0] == {asked.tool}
        assert names[0] < names[1] < names[2] < names[3]
    with pytest.raises(ValueError, match="60 tools"):
        among(tools, "refund", 61)


def test_vague_descriptions_and_many_tools_make_it_choose_worse():
    good = [accuracy(list, count) for count in (5, 20, 60)]
    bad = [accuracy(vague, count) for count in (5, 20, 60)]
    assert good == sorted(good, reverse=True) and bad == sorted(bad, reverse=True)
    assert all(better > worse for better, worse in zip(good, bad, strict=True))
    assert good[0] >= 55 and good[-1] > bad[-1] + 5


def test_each_tool_answers_its_question():
    """Most are called with the right arguments, too: the answer is that of the tool, and no error."""
    told = []
    for asked in QUESTIONS:
        tools = among(company_tools(), asked.tool, 5)
        answer, replies = run(asked.question, described(*tools), {tool.name: tool for tool in tools})
        told.append(bool(calls(replies[0])) and "could not" not in answer)
    assert sum(told) >= 56
