"""Texts given in the prompt count as observations, and the simple instructions of a workflow are carried out."""

import pytest
from test_offline_loop import LESSON_TOOLS, REACT, REASONING, actions, chat, run

from agentlib.world import search, weather

INTEL, TAN = search("Intel"), search("Lip-Bu Tan")
WHO = "Who is the CEO of Intel?"
UNIVERSITY = "Which university did the CEO of Intel attend?"
FROM_TEXT = "Answer the question from the text."
REPORTS = f"{weather('Cairo')}\n{weather('Oslo')}"
MUSEUM = "The museum opens at nine on Mondays. Tickets cost 12 euros."


def ask(user: str, system: str = "", **options: object) -> str:
    """Give the reply to one message of a user, with instructions or without."""
    messages = [{"role": "system", "content": system}] if system else []
    return chat([*messages, {"role": "user", "content": user}], stop=(), **options)


# A text is read wherever it stands.


@pytest.mark.parametrize("user", [
    f"Text: {INTEL}\n\nQuestion: {WHO}", f"Context: {INTEL}\n\n{WHO}", f"{WHO}\n\nContext:\n{INTEL}",
    f"Question: {WHO}\n\nText: {INTEL}", f"Question: {WHO}\nText: {INTEL}", f"{INTEL}\n\n{WHO}", f"{WHO}\n{INTEL}",
    f"{INTEL}\n\nQuestion: {WHO}",
    f"Here is what the encyclopedia says: {INTEL}\n\nQuestion: {WHO}", f'"""\n{INTEL}\n"""\n\n{WHO}',
    f"```\n{INTEL}\n```\n{WHO}", f"<context>\n{INTEL}\n</context>\n{WHO}",
    "Facts:\n- Apple's CEO is Tim Cook.\n- Intel's CEO is Lip-Bu Tan.\n\n" + WHO,
    "Intel is a company. Its CEO is Lip-Bu Tan. " + WHO, f"Text: Intel is led by Lip-Bu Tan. {WHO}",
    f"Text 1: {search('Apple')}\n\nText 2: {INTEL}\n\nQuestion: {WHO}",
    f"Text: {INTEL}\n\nAccording to the text, who is the CEO of Intel?",
    f"Text: {INTEL}\n\nWho is the CEO?", f"Text: {INTEL}\n\nQuestion: Who leads the company?",
])
@pytest.mark.parametrize("system", ["", FROM_TEXT, REASONING])
def test_a_text_beside_the_question_is_answered_from(user, system):
    reply = ask(user, system)
    assert "The CEO of Intel is Lip-Bu Tan." in reply
    assert reply.startswith("Thought: ") == (system == REASONING)


@pytest.mark.parametrize("system", [
    f"Answer from this text.\n\nText: {INTEL}", f'You know this:\n"""\n{INTEL}\n"""\nAnswer in one line.',
    f"{REASONING}\n\nContext: {INTEL}", f"Use these facts:\n- {INTEL}",
])
def test_a_text_among_the_instructions_is_answered_from(system):
    assert "The CEO of Intel is Lip-Bu Tan." in ask(f"Question: {WHO}", system)


def test_the_text_counts_and_not_what_is_known_by_heart():
    assert "Pat Gelsinger" in ask(WHO)
    assert "Ada Lovelace" in ask(f"Text: The CEO of Intel is Ada Lovelace.\n\nQuestion: {WHO}")


@pytest.mark.parametrize(("text", "question", "expected"), [
    (f"{INTEL}\n\n{TAN}", UNIVERSITY, "Nanyang University"), (f"{INTEL}\n{TAN}", UNIVERSITY, "Nanyang University"),
    (REPORTS, "Is it warmer in Cairo or in Oslo?", "Cairo is warmer"),
    (INTEL, "When was it founded?", "1968"), (TAN, "Where was he born?", "Muar"),
    ("Berlin is a city. It has 5 inhabitants. Rome is a city. It has 7 inhabitants.",
     "Which has more inhabitants, Berlin or Rome?", "Rome has more inhabitants"),
    (MUSEUM, "When does the museum open?", "at nine on Mondays"), (MUSEUM, "How much do tickets cost?", "12 euros"),
])
@pytest.mark.parametrize("layout", ["Text: {text}\n\nQuestion: {question}", "{text}\n\n{question}"])
def test_hops_comparisons_pronouns_and_words_that_no_rule_knows_are_read_from_texts(text, question, expected, layout):
    assert expected in ask(layout.format(text=text, question=question), FROM_TEXT)


def test_a_text_of_an_earlier_turn_is_still_known():
    messages = [{"role": "user", "content": f"Text: {INTEL}\n\nWhen was Intel founded?"},
                {"role": "assistant", "content": "In 1968."}, {"role": "user", "content": WHO}]
    assert "Lip-Bu Tan" in chat(messages)


def test_an_agent_asks_a_tool_only_for_what_the_text_does_not_hold():
    _, messages = run(f"{UNIVERSITY}\n\nText: {INTEL}")
    assert actions(messages) == ['search(query="Lip-Bu Tan university")']
    _, messages = run(UNIVERSITY, prompt=REACT + f"\n\nText: {INTEL}\n{TAN}")
    assert actions(messages) == []


@pytest.mark.parametrize("question", [
    "Tom has 3 boxes with 12 apples in each box.\nHow many apples does he have?",
    "Anna has 45 euros. She spends 18 of them. How much is left?",
])
def test_a_story_with_a_sum_is_no_text_to_read_from(question):
    assert ask(question).strip() in ("36.", "27.")


@pytest.mark.parametrize("question", ["Sum up 17 and 23.", "Multiply 17 by 23."])
@pytest.mark.parametrize("prompt", [REACT, REASONING])
def test_a_question_without_a_question_mark_is_no_text(question, prompt):
    assert "Final Answer: the answer" not in run(question, prompt=prompt)[0]
    assert "offline model" not in run(question, prompt=prompt)[0]


# A text that does not hold the answer.


def test_without_a_limit_it_falls_back_on_what_it_knows():
    assert "Tim Cook" in ask(f"Text: {INTEL}\n\nQuestion: Who is the CEO of Apple?", FROM_TEXT)


@pytest.mark.parametrize("only", [
    "Answer only from the text.", "Use only the information in the context.", "Answer from the text alone.",
    "Do not use any other knowledge.", "If the text does not say it, say so.",
])
@pytest.mark.parametrize("question", ["Who is the CEO of Apple?", "What is the weather in Oslo?", "Why is it so?"])
def test_asked_to_use_nothing_else_it_says_that_the_text_does_not_give_it(only, question):
    assert ask(f"Text: {INTEL}\n\nQuestion: {question}", only).startswith("The text does not give ")
    reply = ask(f"Text: {INTEL}\n\nQuestion: {question}", f"{REASONING}\n\n{only}")
    assert "\nFinal Answer: The text does not give " in reply
    assert "Lip-Bu Tan" in ask(f"Text: {INTEL}\n\nQuestion: {WHO}", only)


@pytest.mark.parametrize(("told", "expected"), [
    ('If the text does not say, answer "unknown".', "unknown"), ("If it is not there, reply 'not found'.", "not found"),
    ("If there is no answer in it, say I do not know.", "I do not know"),
])
def test_it_says_in_the_words_asked_for_that_the_text_does_not_hold_it(told, expected):
    assert ask(f"Text: {INTEL}\n\nQuestion: Who is the CEO of Apple?", f"Use only the text. {told}") == expected


# Instructions that are no questions.


@pytest.mark.parametrize(("told", "text", "expected"), [
    ("Which name in the text is the CEO?", INTEL, "Lip-Bu Tan"),
    ("Which name in the text is the CEO? Answer with the name only.", INTEL, "Lip-Bu Tan"),
    ("Extract the name of the person.", INTEL, "Lip-Bu Tan"), ("Extract the name of the CEO.", INTEL, "Lip-Bu Tan"),
    ("Extract the name of the person.", TAN, "Lip-Bu Tan"), ("Extract the company from the text.", INTEL, "Intel"),
    ("Extract the city.", INTEL, "Santa Clara"), ("Extract the year.", INTEL, "1968"),
    ("Extract the university.", TAN, "Nanyang University"), ("Extract the number.", weather("Oslo"), "9 °C"),
    ("List the people in the text.", INTEL, "Lip-Bu Tan, Gordon Moore and Robert Noyce"),
    ("Which year does the text name?", "The bridge was opened in 1932.", "1932"),
    ("Extract the name of the CEO.", TAN.replace("CEO", "chair"), "The text does not say."),
])
def test_values_are_extracted_from_a_text(told, text, expected):
    assert ask(text, told) == ask(f"Text: {text}", told) == ask(f"{told}\n\nText: {text}") == expected


def test_an_extraction_follows_the_format():
    assert ask(f"Text: {INTEL}", f"Extract the name of the CEO.\n\n{REASONING}").endswith("\nFinal Answer: Lip-Bu Tan")


@pytest.mark.parametrize(("told", "question", "expected"), [
    ("Extract the cities from the question.", "Is it warmer in Cairo or in Oslo?", "Cairo and Oslo"),
    ("Extract the name of the company.", WHO, "Intel"),
])
def test_names_are_extracted_from_a_question(told, question, expected):
    assert ask(question, told) == ask(f"{told}\n\nQuestion: {question}") == expected


QUESTIONS = {
    WHO: "encyclopedia", "Is it warmer in Cairo or in Oslo?": "weather", "What is 17 * 23?": "arithmetic",
    "How many degrees warmer is Cairo than Oslo?": "weather", "Do I need an umbrella in Oslo?": "weather",
    "Tom has 3 boxes with 12 apples in each box. How many apples does he have?": "arithmetic",
    "Was Google founded in 1998?": "encyclopedia", "Which is older, War and Peace and Hamlet?": "encyclopedia",
    "What is twice the height of K2?": "encyclopedia",
}


@pytest.mark.parametrize(("question", "expected"), QUESTIONS.items())
@pytest.mark.parametrize("told", [
    "Classify the question: weather, encyclopedia or arithmetic. Answer with one word.",
    "Classify the question as weather, encyclopedia, or arithmetic.",
    "Is this question about the weather, the encyclopedia or arithmetic?",
    "Which kind of question is this: weather, encyclopedia or arithmetic?",
    "Answer with one word: weather, encyclopedia, arithmetic.",
    "Labels: weather, encyclopedia, arithmetic. Give the one that fits.",
    "Choose the category that fits.\n- weather: today's weather\n- encyclopedia\n- arithmetic (sums)",
])
def test_a_question_gets_one_of_the_labels(told, question, expected):
    assert ask(question, told) == ask(f"Question: {question}", told) == ask(f"{told}\n\nQuestion: {question}")
    assert ask(question, told) == expected


@pytest.mark.parametrize(("question", "expected"), [
    ("Hello!", "OTHER"), ("What is 12 times 12?", "MATH"), (UNIVERSITY, "FACTS"), ("Is it cold in Oslo?", "WEATHER"),
])
def test_labels_keep_their_letters_and_talk_fits_none_of_them(question, expected):
    assert ask(question, "Reply with exactly one of: WEATHER, FACTS, MATH, OTHER.") == expected


def test_a_label_follows_the_format():
    told = f"Classify the question: weather, encyclopedia or arithmetic.\n\n{REASONING}"
    assert ask(f"Question: {WHO}", told).endswith("\nFinal Answer: encyclopedia")


@pytest.mark.parametrize(("told", "question", "expected"), [
    ("Write the search query for this question.", UNIVERSITY, "Intel CEO"),
    ("Write a search query. Reply with the query only.", "Who wrote Hamlet?", "Hamlet author"),
    ("What would you search for?", "Is it warmer in Cairo or in Oslo?", "weather in Cairo"),
    ("Write the expression for the calculator.", "What is 15 % of 80?", "15 / 100 * 80"),
    (f"Write the next search query.\n\nText: {INTEL}", UNIVERSITY, "Lip-Bu Tan university"),
    ("Write the search query.", "Hello!", "Hello!"),
])
def test_a_query_is_what_it_would_pass_to_a_tool(told, question, expected):
    assert ask(question, told) == ask(f"{told}\n\nQuestion: {question}") == expected


@pytest.mark.parametrize("told", ["Answer with the name only.", "Reply with just the name.", "No explanation."])
def test_an_answer_may_be_asked_for_in_a_word(told):
    assert ask(f"Text: {INTEL}\n\nQuestion: {WHO}", told) == "Lip-Bu Tan"


def test_an_agents_prompt_is_no_instruction_of_a_workflow():
    prompt = REACT.replace("Answer the question.", "Answer the question. Write a search query or name a city.")
    _, messages = run(WHO, prompt=prompt, tools=f"{LESSON_TOOLS}\n- classify(text: string): Choose one of: a, b or c.")
    assert actions(messages) == ['search(query="Intel CEO")']
