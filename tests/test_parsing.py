"""From a model's text to a thought and an action: what is read, what is refused, and that it never fails."""

import json
import keyword
import time
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from agentlib.parsing import ACTION, DISCARDS, FORMAT, Action, Answer, Note, Nothing, parse
from agentlib.state import ToolCall

REAL_REPLIES = Path(__file__).parent / "data" / "real_replies.jsonl"


def action(text: str) -> Action:
    """Parse a reply that must be an action."""
    found = parse(text)
    assert isinstance(found, Action), found
    return found


def call(text: str) -> tuple[str, dict]:
    """Give the tool and the arguments of a reply that must be an action."""
    found = action(text)
    return found.tool, json.loads(found.arguments)


def answer(text: str) -> str:
    """Give the text of a reply that must be an answer."""
    found = parse(text)
    assert isinstance(found, Answer), found
    return found.text


def refusal(text: str) -> str:
    """Give the reason why a reply asks for nothing."""
    found = parse(text)
    assert isinstance(found, Nothing), found
    return found.why


def kinds(text: str) -> list[str]:
    """Give the kinds of the notes on a reply."""
    return [note.kind for note in parse(text).notes]


# -- the format that the prompt asks for


def test_what_the_prompt_shows_is_read():
    shown = [part for part in FORMAT.split("\n\n") if part.startswith("Thought: ")]
    thought = "what you know and what you need next"
    assert parse(shown[0]) == Action(thought, "tool_name", '{"parameter": "value"}', shown[0])
    assert parse(shown[1]) == Answer("why you know the answer", "the answer", shown[1])


def test_a_plain_call():
    found = action('Thought: I need its CEO.\nAction: search(query="DeepMind CEO", limit=3, exact=true)')
    assert found.thought == "I need its CEO."
    assert (found.tool, found.arguments) == ("search", '{"query": "DeepMind CEO", "limit": 3, "exact": true}')
    assert found.notes == ()


# -- braces, quotes and labels inside values


@pytest.mark.parametrize(
    "arguments",
    [
        {"where": {"all": [{"k": {"eq": 1}}]}, "note": "ends with } then {"},
        {"code": "f = {'a': [1, (2)]}  # ]})"},
        {"q": "what's open at 9?"},
        {"q": 'she said "yes" (twice)'},
        {"path": "C:\\temp\\new"},
        {"text": "Observation: not one\nAction: none(x=1)\nFinal Answer: no"},
        {"text": "```python\nprint('{')\n```"},
        {"text": "Thought：全角：冒号"},
        {"text": "<think>not hidden</think>"},
        {"deep": [[[{"a": [None, True, False, -1.5e-7]}]]]},
    ],
)
def test_values_may_hold_anything(arguments):
    as_json = json.dumps(arguments, ensure_ascii=False)
    assert call(f"Thought: t\nAction: f\nAction Input: {as_json}") == ("f", arguments)
    assert call(f'Thought: t\nAction: {{"name": "f", "arguments": {as_json}}}') == ("f", arguments)
    keywords = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
    assert call(f"Thought: t\nAction: f({keywords})") == ("f", arguments)


def test_raw_newlines_in_quotes_belong_to_the_value():
    assert call('Action: write\nAction Input: {"text": "a\nObservation: x\nAction: b"}') == (
        "write",
        {"text": "a\nObservation: x\nAction: b"},
    )
    assert call('Action: run(name="a.py", code="x = 1\nprint(\\"x\\")\n")') == (
        "run",
        {"name": "a.py", "code": 'x = 1\nprint("x")\n'},
    )
    assert call('Action: run(code="""x = \'a\'\nFinal Answer: no""")') == ("run", {"code": "x = 'a'\nFinal Answer: no"})


# -- where the arguments stand


def test_blank_lines_and_fences_between_the_labels():
    text = 'Action: calculator\n\nAction Input:\n```json\n{\n  "expression": "17 * 3",\n  "places": 0\n}\n```\n'
    assert call(text) == ("calculator", {"expression": "17 * 3", "places": 0})
    assert kinds(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'Action:\nsearch(query="x")',
        'Action:\n\n\nsearch(query="x")',
        'Action:\n```\nsearch(query="x")\n```',
        'Action: ```python\nsearch(query="x")\n```\n',
        'Action: `search(query="x")`',
        'Action: search (query="x")',
        'Action: search\n\n{"query": "x"}',
        'Action: ```json\n{"name": "search", "arguments": {"query": "x"}}\n```',
        'Action:\r\nsearch(query="x")\r\n',
        "Action: search\r\nAction Input: {\"query\": \"x\"}\r\n",
        'Action: search\nAction Input:\n\n\n{"query": "x"}',
    ],
)
def test_an_action_may_be_on_the_next_line_or_in_a_fence(text):
    assert call(text) == ("search", {"query": "x"})
    assert parse(text).accepted == text.strip()


def test_a_bracket_after_the_name_is_ignored_when_an_input_follows():
    found = action('Action: add(a, b)\nAction Input: {"a": 2}')
    assert (found.tool, found.arguments) == ("add", '{"a": 2}')
    assert found.notes == (Note("ignored", "(a, b)"),)


# -- other spellings of the labels


@pytest.mark.parametrize(
    "text",
    [
        'thought: t\naction: add\ninput: {"a": 2}',
        '**Thought:** t\n**Action:** `add`\n**Action Input:** {"a": 2}',
        '**Thought**: t\n**Action**: **add**\n**Action Input**: {"a": 2}',
        'THOUGHT: t\nACTION: add\nACTION INPUT: {"a": 2}',
        "- Thought: t\n- Action: add(a=2)",
        "### Thought: t\n### Action: add(a=2)",
        "Thought 1: t\nAction 1: add(a=2)",
        "Thought：t\nAction：add（a=2）",
        '  Thought : t\n\tAction : add(a=2)',
        "_Thought:_ t\n_Action:_ add(a=2)",
        "Thoughts: t\nAction: add(a=2)",
    ],
)
def test_labels_in_other_spellings(text):
    found = action(text)
    assert (found.thought, found.tool, found.arguments) == ("t", "add", '{"a": 2}')
    assert found.notes == ()


def test_full_width_colons_are_labels_only_after_labels():
    found = action('Thought：先查天气：上海\nAction：get_weather\nAction Input：{"city": "上海：浦东"}')
    assert (found.thought, found.tool, found.arguments) == ("先查天气：上海", "get_weather", '{"city": "上海：浦东"}')
    assert answer("Final Answer：上海：26 度") == "上海：26 度"


def test_letters_that_only_look_like_a_labels_letters_are_no_label():
    for text in ("Actıon: f()", "Obſervation: x", "Final Anſwer: 3", "Àction: f()"):
        assert refusal(text) == "it has neither an Action nor a Final Answer"


def test_a_label_inside_a_line_is_no_label():
    assert answer("Thought: at 12:30 - Observation: it is late\nFinal Answer: 12:30") == "12:30"
    refusal('Thought: I could write Action: delete(path="/")')
    refusal("Thought: the Final Answer: is not known")


def test_missing_thought_labels():
    found = action('I should hand this over.\nAction: handoff\nAction Input: {"to": "billing"}')
    assert (found.thought, found.tool, found.arguments) == ("I should hand this over.", "handoff", '{"to": "billing"}')
    assert parse("Worked it out on paper.\nAnswer: 42") == Answer(
        "Worked it out on paper.", "42", "Worked it out on paper.\nAnswer: 42"
    )
    assert action("Action: f()").thought == ""


# -- other notations of a call


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("{'q': 'what is open', 'pages': ['A', 'B'], 'strict': True, 'after': None}",
         {"q": "what is open", "pages": ["A", "B"], "strict": True, "after": None}),
        ("{'q': \"what's open\", 'n': 1}", {"q": "what's open", "n": 1}),
        ('{"q": "x", "strict": True, "n": None}', {"q": "x", "strict": True, "n": None}),
        ("{'q': 'x', 'strict': true, 'n': null}", {"q": "x", "strict": True, "n": None}),
        ('{"a": 1,}', {"a": 1}),
        ("{'pair': (1, 2)}", {"pair": [1, 2]}),
        ('"{\\"city\\": \\"Oslo\\"}"', {"city": "Oslo"}),
        ("null", {}),
        ("None", {}),
        ("{}", {}),
        ("", {}),
        ('"Paris"', {"0": "Paris"}),
        ("'Paris'", {"0": "Paris"}),
        ("“Paris”", {"0": "Paris"}),
        ("Paris", {"0": "Paris"}),
        ("New York, NY", {"0": "New York, NY"}),
        ("what's open", {"0": "what's open"}),
        ("17 * (2 + 3)", {"0": "17 * (2 + 3)"}),
        ("90", {"0": 90}),
    ],
)  # fmt: skip
def test_inputs_in_other_notations(arguments, expected):
    assert call(f"Thought: t\nAction: f\nAction Input: {arguments}") == ("f", expected)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Search[New York]", {"0": "New York"}),
        ("Search[what's up (now)]", {"0": "what's up (now)"}),
        ('Search["x"]', {"0": "x"}),
        ("Search[]", {}),
        ("Search()", {}),
        ("Search(query=New York)", {"query": "New York"}),
        ("Search(query=“上海”)", {"query": "上海"}),
        ("Search(1 + 2)", {"0": "1 + 2"}),
        ("Search(3 * (2 + 4))", {"0": "3 * (2 + 4)"}),
        ("Search('it''s')", {"0": "its"}),
        ("Search(\"a\", 2, flag=True)", {"0": "a", "1": 2, "flag": True}),
        ('Search({"query": "x"})', {"query": "x"}),
        ("Search(-1)", {"0": -1}),
        ("Search(none)", {"0": "none"}),
    ],
)
def test_calls_in_other_notations(written, expected):
    name, arguments = call(f"Thought: t\nAction: {written}")
    assert (name, arguments) == ("Search", expected)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "f", "parameters": {"a": 1}}',
        '{"name": "f", "arguments": "{\\"a\\": 1}"}',
        '{"tool": "f", "args": {"a": 1}}',
        '{"tool_name": "f", "tool_input": {"a": 1}}',
        '{"action": "f", "action_input": {"a": 1}}',
        '{"function": "f", "input": {"a": 1}}',
        '{"tool_call": {"action": "f", "args": {"a": 1}}}',
        '{"function_call": {"name": "f", "arguments": "{\\"a\\": 1}"}}',
        '{"type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}',
        '{"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}]}',
        '{"thought": "t", "action": {"name": "f", "arguments": {"a": 1}}}',
        "{'name': 'f', 'arguments': {'a': 1}}",
    ],
)
def test_calls_in_the_spellings_of_json(text):
    assert call(f"Thought: t\nAction: {text}") == ("f", {"a": 1})
    assert call(f"```json\n{text}\n```") == ("f", {"a": 1})
    assert kinds(text) == ["no_label"] + ["python_literal"] * text.startswith("{'")


# -- what the model wrote after its action


@pytest.mark.parametrize(
    ("rest", "kind"),
    [
        ("Observation: water boils at 90 C\nThought: settled\nFinal Answer: 90 C", "invented_observation"),
        ("Observation 1: 90 C", "invented_observation"),
        ("**Observation:** 90 C", "invented_observation"),
        ("Observation：90 C", "invented_observation"),
        ('Thought: now read\nAction: cat\nAction Input: {"path": "a"}', "extra_action"),
        ("Action: b(x=1)\nAction: c(x=2)", "extra_action"),
        ("Final Answer: 90 C", "early_answer"),
        ("Thought: I know\nFinal Answer: 90 C", "early_answer"),
        ("I will wait for the result.", "trailing_text"),
        ("Question: How high is Oslo?\nThought: hm", "trailing_text"),
    ],
)
@pytest.mark.parametrize(
    "asked",
    ['Action: table\nAction Input: {"metres": 3000}', "Action: table(metres=3000)",
     'Action: {"name": "table", "arguments": {"metres": 3000}}'],
)  # fmt: skip
def test_only_the_first_action_counts_and_the_rest_is_kept_as_a_note(asked, rest, kind):
    found = action(f"Thought: t\n{asked}\n{rest}")
    assert (found.tool, found.arguments) == ("table", '{"metres": 3000}')
    assert found.accepted == f"Thought: t\n{asked}"
    assert found.notes == (Note(kind, rest),)
    assert kind in DISCARDS


def test_bare_input_ends_at_the_next_label_or_at_the_fence_that_closes():
    assert call("Action: weather\nAction Input: Lima\nObservation: 20 C") == ("weather", {"0": "Lima"})
    assert call("Action: weather\nAction Input: Lima\n\nObservation: 20 C") == ("weather", {"0": "Lima"})
    code = "Action: python\nAction Input:\n```python\nprint(1)\n\nprint(2)\n```\nThat should do it."
    assert call(code) == ("python", {"0": "print(1)\n\nprint(2)"})


def test_half_of_a_bare_input_is_never_taken():
    assert "several paragraphs" in refusal("Action: write\nAction Input: Dear Ann,\n\nI love you.")
    assert "no fence closes" in refusal("Action: python\nAction Input:\n```python\nprint(1)\n\npri")


@pytest.mark.parametrize(
    "text",
    [
        'The mail says:\n> Action: delete(path="/")\nI refuse.\nFinal Answer: no',
        '```python\n# Action: delete(path="/")\n```\nFinal Answer: no',
        '<thought>\nAction: delete(path="/")\n</thought>\nFinal Answer: no',
        '<reasoning>\nAction: delete(path="/")\n</reasoning>\nFinal Answer: no',
        'Thought: <think>\nAction: delete(path="/")\n</think>\nFinal Answer: no',
        '<!--\nAction: delete(path="/")\n-->\nFinal Answer: no',
    ],
)
def test_what_is_quoted_or_thought_aloud_or_commented_out_is_not_asked_for(text):
    assert parse(text).text == "no"


@pytest.mark.parametrize(
    "text",
    [
        'Action: delete(path="/") only if the user agrees\nFinal Answer: Do you agree?',
        'Action: delete(path="/"), unless you object',
        'Action: delete(path="/") - no, wait…',
        'Action: {"name": "delete", "arguments": {"path": "/"}} if the user agrees',
        'Action: delete(path="/a", path="/b")',
        'I will ignore <tool_call>{"name": "delete", "arguments": {"path": "/"}}</tool_call>',
        '{"name": "Ada Lovelace", "input": "born 1815"}',
    ],
)
def test_what_is_conditional_taken_back_or_contradicts_itself_is_not_done(text):
    assert isinstance(parse(text), Nothing)


def test_a_word_after_the_call_is_no_condition():
    twice = '{"name": "f", "arguments": {"a": "no"}}'
    assert call(f"[{twice}, {twice}]") == ("f", {"a": "no"})
    assert call('Action: search(query="x") and then I will wait for the result') == ("search", {"query": "x"})


def test_an_observation_before_any_action_voids_the_reply():
    for text in ("Observation: nice\nThought: go\nAction: f()", "Thought: a\nObservation: b\nFinal Answer: c"):
        assert refusal(text) == "it has an Observation before any Action, and only tools write an Observation"


# -- answers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thought: t\nFinal Answer: 42", "42"),
        ("Answer: 42", "42"),
        ("FINAL ANSWER: 42", "42"),
        ("**Final Answer:** 42", "42"),
        ("**Final Answer**: 42", "42"),
        ("**Final Answer: 42**", "42"),
        ("Final Answer:\n\n42", "42"),
        ("Final Answer: two\nlines", "two\nlines"),
        ("Final Answer: two\n\nparagraphs", "two\n\nparagraphs"),
        ("Final Answer: **bold** and `code`", "**bold** and `code`"),
        ("Final Answer: none", "none"),
        ("Final Answer: use <think> tags", "use <think> tags"),
        ("Action: Finish[42]", "42"),
        ("Action: finish(answer=\"42\")", "42"),
        ("Action: Finish\nAction Input: 42", "42"),
        ("Action: Final Answer\nAction Input: 42", "42"),
        ("Action: final_answer(42)", "42"),
        ('{"action": "Final Answer", "action_input": "42"}', "42"),
        ("Action: Finish[what's left]", "what's left"),
    ],
)
def test_answers(text, expected):
    assert answer(text) == expected


def test_the_first_of_an_action_and_an_answer_counts():
    assert answer('Final Answer: 42\nAction: f(x=1)') == "42"
    assert kinds('Final Answer: 42\nAction: f(x=1)') == ["extra_action"]
    assert call("Action: f(x=1)\nFinal Answer: 42") == ("f", {"x": 1})
    assert answer("Action: Finish[42]\nAction: f(x=1)") == "42"
    assert call("Action: f(x=1)\nAction: Finish[42]") == ("f", {"x": 1})


def test_an_invented_further_question_is_cut_off():
    found = parse("Thought: t\nFinal Answer: 42\n\nQuestion: And 43?\nThought: hm\nAction: f(x=1)")
    assert isinstance(found, Answer)
    assert (found.text, found.accepted) == ("42", "Thought: t\nFinal Answer: 42")
    assert found.notes == (Note("extra_action", "Question: And 43?\nThought: hm\nAction: f(x=1)"),)


@pytest.mark.parametrize(
    "text",
    ["Final Answer:", "Final Answer:\n\n", "Thought: t\nFinal Answer: **  **", "Action: Finish[]", "Action: Finish()",
     'Action: finish(answer="")', "Action: finish(answer=None)", '{"action": "Final Answer", "action_input": ""}',
     "Final Answer:\nAction: f()"],
)  # fmt: skip
def test_an_empty_answer_is_none(text):
    assert refusal(text) == "its Final Answer is empty"


@pytest.mark.parametrize(
    "none", ["None", "none needed", "N/A", "null", "No action needed", "not required", "**None**", '"None"']
)
def test_an_action_that_is_none_leaves_the_answer(none):
    found = parse(f"Thought: I know it.\nAction: {none}\nAction Input: None\nFinal Answer: 4")
    assert isinstance(found, Answer)
    assert (found.thought, found.text) == ("I know it.", "4")
    assert refusal(f"Thought: I know it.\nAction: {none}") == "it has neither an Action nor a Final Answer"


def test_a_tool_may_have_a_name_that_starts_like_none():
    for name in ("none", "nothing", "null_values", "no", "not_needed"):
        assert call(f"Action: {name}(x=1)") == (name, {"x": 1})


# -- thinking aloud


@pytest.mark.parametrize(
    "hidden",
    [
        "<think>Format says Action: then Observation: ... maybe Action: foo</think>\n",
        "<think>\nAction: foo(x=1)\nFinal Answer: 9\n</think>\n\n",
        "<think>a</think>\n<think>\nAction: foo()\n</think>\n",
        "<thinking>\nObservation: x\n</thinking>\n",
        "<THINK>\nAction: foo()\n</THINK>",
        "I could try\nAction: foo(x=1)\nor not.\n</think>\n",  # the opening tag stood in the prompt
    ],
)
def test_what_is_thought_aloud_is_not_read(hidden):
    found = action(f"{hidden}Thought: check\nAction: ping\nAction Input: {{}}")
    assert (found.thought, found.tool, found.arguments, found.notes) == ("check", "ping", "{}", ())
    assert found.accepted == "Thought: check\nAction: ping\nAction Input: {}"


def test_thinking_that_never_ends_asks_for_nothing():
    assert refusal("<think>\nAction: foo(x=1)") == "your reply is empty"


# -- what is not clearly asked for

NEITHER = "it has neither an Action nor a Final Answer"
WANTED = '{"name": "tool_name", "arguments": {…}}'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "your reply is empty"),
        (" \n\t ", "your reply is empty"),
        ("I cannot do that.", NEITHER),
        ("The final answer is 42.", NEITHER),
        ("Thought: I will search.", NEITHER),
        ('search(query="x")', NEITHER),
        ("Action: 17 * 23", "its Action names no tool"),
        ("Action:", "its Action names no tool"),
        ("Action: \nThought: hm", "its Action names no tool"),
        ("Action: (x=1)", "its Action names no tool"),
        ('Action: ["search", "x"]', "its Action names no tool"),
        ("Action: 2 to the power of 10\nAction Input: 2 to the power of 10", "its Action names no tool"),
        ("Action: I should search.", 'its Action is not of the form tool_name(parameter="value")'),
        ("Action: half of 10000 = 5000", 'its Action is not of the form tool_name(parameter="value")'),
        ('Action: search "Paris"', 'its Action is not of the form tool_name(parameter="value")'),
        ("Action: delete is not needed\nAction Input: none", "its Action is more than the name of a tool"),
        ("Action: f(x=New York, y=2)", "the values in 'x=New York, y=2' need quotes"),
        ('Action: f(x: "y")', "write parameter=\"value\" in place of 'x: \"y\"'"),
        ('Action: {"name": "f", "arguments": "{\\"a\\": 1} and"}', "the arguments are a text that is not JSON"),
        ('Action: f(x="y"', "the arguments are cut off: no bracket closes '(x=\"y\"'"),
        ('Action: f(x="y', "the arguments are cut off: no bracket closes '(x=\"y'"),
        ('{"tool_call": {"name": "f"', 'the arguments are cut off: no bracket closes \'{"tool_call": {"name": "f"\''),
        ('Action: f\nAction Input: {"a": 1', "the arguments are cut off: no bracket closes '{\"a\": 1'"),
        ("Action: f\nAction Input: {1, 2}", "the arguments are not a JSON object: '{1, 2}'"),
        ('Action: f\nAction Input: {"a": NaN}', "the arguments are not a JSON object: '{\"a\": NaN}'"),
        ("Action: f\nAction Input: {'a': exit()}", "the arguments are not a JSON object: \"{'a': exit()}\""),
        ("Action: f\nAction Input: [1]", "the arguments are a list; write a JSON object with the parameters' names"),
        ("Action: {}", f"its JSON names no tool; write {WANTED}"),
        ('{"final": "42"}', f"its JSON names no tool; write {WANTED}"),
        ('{"action": "none", "action_input": {}}', f"its JSON names no tool; write {WANTED}"),
        ('{"name": "Alice", "age": 3}', f"its JSON has no arguments; write {WANTED}"),
        ('Action: {"name": "search", "query": "x"}', f"its JSON has no arguments; write {WANTED}"),
        ('{"tool_calls": [{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}]}',
         "its JSON asks for several actions at once; write one"),
        ("Action: f(" + "1, " * 4000 + ")", "the arguments are longer than 8000 characters"),
        ('Action: f\nAction Input: {"a": "' + "x" * 8000 + '"}', "the arguments are longer than 8000 characters"),
        ("Action: f\nAction Input: " + "x" * 8001, "the arguments are longer than 8000 characters"),
    ],
)  # fmt: skip
def test_nothing_is_run_that_was_not_clearly_asked_for(text, why):
    assert refusal(text) == why


def real_replies() -> list[dict]:
    return [json.loads(line) for line in REAL_REPLIES.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("real", real_replies(), ids=lambda real: real["what"])
def test_replies_of_a_real_small_model(real):
    found = parse(real["reply"])
    assert type(found).__name__.lower() == real["read"]
    assert real["value"] == {Action: lambda: found.tool, Answer: lambda: found.text, Nothing: lambda: ""}[type(found)]()


# -- what holds for every text

LABELS = ("Thought", "Action", "Action Input", "input", "Observation", "Final Answer", "answer", "Question")
LETTERS = st.text(max_size=12)
PIECES = st.one_of(
    LETTERS,
    st.sampled_from([*LABELS, ":", "：", " ", "\n", "\r\n", "**", "`", "```json\n", "```", '"', "'", "\\", '"""']),
    st.sampled_from([*"(){}[]（）=,", "<think>", "</think>", "None", "Finish", "f(", "x=1", '{"name": "f"', "tool"]),
    st.sampled_from(["ſ", "ı", "\u2028", "\x00", "\ud800", "1e999", "NaN", "9" * 5000]),
    st.builds(lambda label, rest: f"\n{label}: {rest}", st.sampled_from(LABELS), LETTERS),
)


@given(st.lists(PIECES, max_size=24).map("".join) | st.text())
@settings(max_examples=400, deadline=None)
@example("Action: f(" + "-" * 7900 + "1)")
@example("Action: f(" + "[" * 3900 + "]" * 3900 + ")")
@example('Action: {"action":' + '{"action":' * 700 + '"f"' + "}" * 701)
@example("Action: f(a" + "[0]" * 2600 + ")")
@example("Action: f(" + "(1," * 2600)
def test_every_text_is_an_action_an_answer_or_nothing(text):
    found = parse(text)
    if isinstance(found, Action):
        assert isinstance(json.loads(found.arguments), dict)
        assert "NaN" not in found.arguments or "NaN" in text
        assert found.tool.strip()
    if isinstance(found, Answer):
        assert found.text.strip()
    if isinstance(found, Nothing):
        assert found.why
    elif "think>" not in found.accepted.lower():
        again = parse(found.accepted)  # what is kept in the conversation says the same when it is read again
        assert type(again) is type(found)
        assert not [note for note in again.notes if note.kind in DISCARDS]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(str.isidentifier)
TOOLS = NAMES.filter(lambda name: isinstance(parse(f"Action: {name}()"), Action))  # not `finish`, not `none`
THOUGHTS = st.text(st.characters(codec="utf-8", exclude_characters="<"), min_size=1).map(
    lambda text: " ".join(text.split()).strip("*` ")
)


@given(THOUGHTS, TOOLS, st.dictionaries(NAMES.filter(lambda name: not keyword.iskeyword(name)), JSON, max_size=3))
@settings(max_examples=200, deadline=None)
def test_what_is_written_in_call_syntax_or_json_reads_back(thought, tool, arguments):
    text = json.dumps(arguments, ensure_ascii=False)
    assume(isinstance(parse(f"Thought: {thought}"), Nothing) and parse(f"Thought: {thought}").thought == thought)
    for written in (
        str(ToolCall(message=0, id="c", name=tool, arguments=text, raw="")),
        f'{ACTION}: {{"name": "{tool}", "arguments": {text}}}',
        f"{ACTION}: {tool}\nAction Input: {text}",
    ):
        found = action(f"Thought: {thought}\n{written}")
        assert (found.thought, found.tool, json.loads(found.arguments)) == (thought, tool, arguments)


# -- time

LONG, SHORT = 1 << 20, 1 << 16
PIECES_OF_LONG_TEXTS = [
    "*", " ", "\n", ":", "(", "[", "{", "}", '"', "'", "\\", "`", "\t", "a", "\r\n", "* ", "\n *", " \n \n",
    "Action:", "Action:\n", "Action: f(\n", "Action: f\n", "\nAction: None", "Action: f\nAction Input: {",
    "Action: f\nAction Input: x\n", "Thought:", "\nThought:", "Final Answer:", "\nFinal Answer: x", "Observation:",
    "Question:\n", "<think>", "</think>", "\n<think>x</think>", "<think", '{"a":', "'''", '\\"', "Action 1", "a=",
    'f(a="', "</think> x", "none ", "\u2028",
]  # fmt: skip


def seconds(text: str) -> float:
    """Give the processor's time to read a text."""
    start = time.process_time()
    parse(text)
    return time.process_time() - start


@pytest.mark.parametrize("start", ["", "Action: f(a=", "Action: f\nAction Input: ", "Action: ", "Final Answer: "])
def test_time_is_linear_in_the_length(start):
    texts = [(start + piece * (LONG // len(piece)))[:LONG] for piece in PIECES_OF_LONG_TEXTS]
    slowest = sorted(((seconds(text[:SHORT]), text) for text in texts), reverse=True)[:5]
    for short, text in slowest:
        long = seconds(text)
        assert long < 0.5, (text[:60], long)
        assert long < 64 * max(short, 0.004), (text[:60], long, short)  # 16 times the length; its square is 256
