"""The rungs of the ladder: which one reads a reply, what it notes, and what it refuses rather than guesses."""

import json
import time

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agentlib.parsing import RUNGS, Action, Answer, Nothing, parse
from agentlib.parsing.notation import MAX_LENGTH


def read(text: str) -> tuple[str, str, dict]:
    """Give the rung, the tool and the arguments of a reply that must be an action."""
    found = parse(text)
    assert isinstance(found, Action), found
    return found.rung, found.tool, json.loads(found.arguments)


def kinds(text: str) -> list[str]:
    """Give the kinds of the notes on a reply."""
    return [note.kind for note in parse(text).notes]


def refusal(text: str) -> str:
    """Give the reason why a reply asks for nothing."""
    found = parse(text)
    assert isinstance(found, Nothing), found
    assert found.rung == "nothing"
    return found.why


def test_the_ladder_has_named_rungs_in_their_order():
    assert [rung.__name__ for rung in RUNGS] == ["strict", "repaired", "labelled"]
    assert all(rung.__doc__ for rung in RUNGS)


# -- strict


@pytest.mark.parametrize(
    "text",
    [
        'Thought: t\nAction: f(a=1, b="x")',
        'Action: f\nAction Input: {"a": 1, "b": "x"}',
        'Action: {"name": "f", "arguments": {"a": 1, "b": "x"}}',
        '**Action:** `f(a=1, b="x")`',
        '1. Thought: t\n2. **Action**: f(a=1, b="x")',
        "* Action: f(a=1, b='x')",
        '**Action**\nf(a=1, b="x")',
        'Action: [{"name": "f", "arguments": {"a": 1, "b": "x"}}]',
        'Action: <tool_call>{"name": "f", "arguments": {"a": 1, "b": "x"}}</tool_call>',
    ],
)
def test_what_is_valid_in_its_place_is_strict(text):
    assert read(text) == ("strict", "f", {"a": 1, "b": "x"})
    assert kinds(text) == []


def test_an_answer_on_its_line_is_strict():
    assert parse("Thought: t\nFinal Answer: 42").rung == "strict"
    assert parse("Action: Finish[42]").rung == "strict"
    assert parse("Action: Finish[the whole story]").rung == "labelled"


# -- repaired

REPAIRS = ("python_literal", "punctuation", "json_repair")
MENDED = [
    ("{'q': 'x', 'n': 1}", {"q": "x", "n": 1}, "python_literal"),
    ('{"q": "x", "n": 1,}', {"q": "x", "n": 1}, "python_literal"),
    ('{"p": "\\d+"}', {"p": "\\d+"}, "python_literal"),
    ("｛“q”：“x，y”，“n”：1｝", {"q": "x，y", "n": 1}, "punctuation"),
    ('{"q"："x", "n"：[1，2]}', {"q": "x", "n": [1, 2]}, "punctuation"),
    ("{q: 'x', n: 1}", {"q": "x", "n": 1}, "json_repair"),
    ('{query: DeepMind CEO}', {"query": "DeepMind CEO"}, "json_repair"),
    ('{"a": "b" "c": 1}', {"a": "b", "c": 1}, "json_repair"),
    ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, "json_repair"),
    ('{"a": 1; "b": 2}', {"a": 1, "b": 2}, "json_repair"),
    ('{"a": "say "hi" now", "n": 1}', {"a": 'say "hi" now', "n": 1}, "json_repair"),
    ('{"a": "say "hi""}', {"a": 'say "hi"'}, "json_repair"),
    ('{"q": "5" nails"}', {"q": '5" nails'}, "json_repair"),
    ("{'q': 'it's open'}", {"q": "it's open"}, "json_repair"),
    ('{"hours": 1", "minutes": 2"}', {"hours": 1, "minutes": 2}, "json_repair"),
    ('{"a": "b", // the first\n "c": 1}', {"a": "b", "c": 1}, "json_repair"),
    ('{"a": ["x" "y"]}', {"a": ["x", "y"]}, "json_repair"),
    ('{a: "x\ny", b: "C:\\\\x"}', {"a": "x\ny", "b": "C:\\x"}, "json_repair"),
    ('{"p": "(a)\\1"}', {"p": "(a)\\1"}, "json_repair"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "expected", "kind"), MENDED)
def test_punctuation_is_put_right(written, expected, kind):
    for text in (f"Thought: t\nAction: f\nAction Input: {written}", f"Action: f({written})", f"Action: f {written}"):
        found = parse(f"{text}\nObservation: invented")
        assert (type(found), found.rung, json.loads(found.arguments)) == (Action, "repaired", expected)
        assert [(note.kind, note.text) for note in found.notes if note.kind in REPAIRS] == [(kind, written)]
        assert found.notes[-1].kind == "invented_observation"


def test_a_call_with_full_width_punctuation():
    assert read("Action：f（a=2，b=“上海，浦东”）") == ("repaired", "f", {"a": 2, "b": "上海，浦东"})
    assert kinds("Action：f（a=2，b=“上海，浦东”）") == ["punctuation"]
    assert read('Action: f(a="x，y：（z）")') == ("strict", "f", {"a": "x，y：（z）"})


@pytest.mark.parametrize(
    "written",
    [
        '{"amount": 1', '{"amount": 1, "to": "Bo', '{"a": {"b": 1}', '{"a": [1, 2}', '{"a": "x}', '{"a": "x, "b": 2}',
        '{"text": "smile :}', '{"a": ', '{"a"', "{",
    ],
)  # fmt: skip
def test_arguments_that_were_cut_off_are_never_completed(written):
    for text in (f"Action: pay\nAction Input: {written}", f'Action: {{"name": "pay", "arguments": {written}',
                 f'{{"name": "pay", "arguments": {written}', f"Action: pay({written}", f"Action: pay {written}"):
        assert isinstance(parse(text), Nothing), text
        assert isinstance(parse(f"{text}\nFinal Answer: paid"), Nothing), text


@pytest.mark.parametrize(
    "written",
    [
        '{"a": 10%}', '{"a": 5 km}', '{"t": 12:30}', '{"a": 1,000}', '{"a": 1, "b"}', '{"a": }', '{"a":, "b": 1}',
        '{"a": "x" + "y"}', '{"a": "yes" "no"}', '{"a": "1" 2}', '{"expr": 2*(3+4)}', '{"a": undefined}', '{"a": NaN}',
        '{"a": ...}', "{1, 2}", "{'a': exit()}", '{"a": "x", "a": "y"}', "{'a': 1, 'a': 2}", '{a: 1, a: 2}',
        '{"a": 007}', '{{"a": 1}}', '{"a" [1, 2]}', '{"a": , "b": ""}', '{"e: 1, "b": 2}', '{"a": "x" "y": 2, z}',
        '{"a": 1 "a": 2}', '{"p": "C:\\xyz\\n"}', '{"a": -}', '{"a": true, b: none}', '{"a": tru}', '{"a": "x": "y"}',
    ],
)  # fmt: skip
def test_what_a_repair_would_have_to_guess_is_refused(written):
    assert isinstance(parse(f"Action: f\nAction Input: {written}"), Nothing)


def test_only_so_much_is_repaired():
    fits = "{" + ", ".join(f"k{i}: {i}" for i in range(500)) + "}"
    assert read(f"Action: f\nAction Input: {fits}")[0] == "repaired"
    long = "{a: '" + "x" * MAX_LENGTH + "'}"
    assert refusal(f"Action: f\nAction Input: {long}") == f"the arguments are longer than {MAX_LENGTH} characters"
    deep = "{a: " * 200 + "1" + "}" * 200
    assert refusal(f"Action: f\nAction Input: {deep}").startswith("the arguments are not a JSON object")


# -- labelled: bare text, labels inside a line, calls that stand alone


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Action: f\nAction Input: New York", {"0": "New York"}),
        ("Action: f[New York]", {"0": "New York"}),
        ('Action: f[5" nails]\nThought: the "x', {"0": '5" nails'}),
        ("Action: f[it's here]\nThought: 'b'", {"0": "it's here"}),
        ('Action: f["Quiet Engines" author]', {"0": '"Quiet Engines" author'}),
        ("Action: f(city=New York)", {"city": "New York"}),
        ("Action: f\nAction Input: 1/2\nAction Output: 0.5", {"0": "1/2"}),
        ("Action: f\nAction Input: Lima Observation: 20 C", {"0": "Lima"}),
    ],
)
def test_bare_text_is_labelled(text, expected):
    assert read(text) == ("labelled", "f", expected)
    assert "bare_text" in kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        'Thought: I need X. Action: f(query="x")',
        'Thought: I need X. **Action:** `f(query="x")`.',
        'Thought: Is it X? Action: f\nAction Input: {"query": "x"}',
        'Thought: I need X. Action: f Action Input: {"query": "x"}',
        'I need X. Action: {"name": "f", "arguments": {"query": "x"}}',
        'Thought: 先查。Action：f（query=“x”）',
        'Thought: I need X. Action: f(query="x") Observation: it is y. Thought: done. Final Answer: y',
        'Thought: I need X. Action: f(query="x")\nObservation: y\nFinal Answer: y',
        'Thought: I need X. Action: f(query="x")\nFinal Answer: y',
    ],
)
def test_a_label_after_a_sentence_counts(text):
    assert read(text) == ("labelled", "f", {"query": "x"})
    assert kinds(text)[0] == "inline_label"
    assert "Action" not in parse(text).thought


def test_an_input_in_the_line_of_its_action():
    assert read("Action: f Action Input: Paris") == ("labelled", "f", {"0": "Paris"})
    assert kinds("Action: f Action Input: Paris") == ["inline_label", "bare_text"]


def test_an_answer_after_a_sentence_counts():
    found = parse("Thought: I know it. Final Answer: 42")
    assert isinstance(found, Answer)
    assert (found.thought, found.text, found.rung) == ("I know it.", "42", "labelled")
    found = parse("I know it. Final Answer: 42 Action: f(x=1)")
    assert (found.text, [note.kind for note in found.notes]) == ("42", ["inline_label", "extra_action"])
    assert refusal("Thought: I know it. Final Answer:") == "its Final Answer is empty"


@pytest.mark.parametrize(
    "text",
    [
        'Thought: I could write Action: delete(path="/")',
        'Thought: I must not do it. Action: delete(path="/") would be wrong.',
        "Thought: I can do it. Action: delete",
        "Thought: I can do it. Action: none",
        "Thought: I can do it. action: delete(path='/')",
        "Thought: the Final Answer: is not known",
        "Thought: I know it. The final answer is 42.",
        "Thought: I know it. Answer: 42",
        "I will use the search tool with the query x.",
        'I will call search(query="x").',
    ],
)
def test_talk_of_an_action_is_no_action(text):
    assert refusal(text) == "it has neither an Action nor a Final Answer"


CALL = '{"name": "f", "arguments": {"query": "x"}}'


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"Thought: t\n{CALL}",
        f"Let me see:\n```json\n{CALL}\n```",
        f"Let me see.\n\n```\n{CALL}\n```\n",
        f"Let me see. <tool_call>{CALL}</tool_call>",
        f"<tool_call>\n{CALL}\n</tool_call>\nThat will do.",
        f"<tool_call>\n{CALL}",
        f"<|tool_call|>{CALL}<|/tool_call|>",
        f"[TOOL_CALLS] [{CALL}]",
        f"[{CALL}]",
        f"{CALL}\n{CALL}",
        f"[{CALL}, {CALL}]",
        f"{CALL}\nObservation: y\nFinal Answer: y",
        f"{CALL}\nThought: so it is\nFinal Answer: y",
        'Thought: t\n{"action": "f", "action_input": {"query": "x"}}',
        'Thought: t\n{"type": "function", "function": {"name": "f", "arguments": "{\\"query\\": \\"x\\"}"}}',
        "Thought: t\n{'name': 'f', 'arguments': {'query': 'x'}}",
        'Thought: t\n{"name": "f", "argumets": {"query": "x"}}',
        '{"Name": "f", "Arguments": {"query": "x"}}',
        '{"nmae": "f", "parameters": {"query": "x"}}',
        '{"name": "f", "arguments": {"query": "x"}}}',
    ],
)
def test_a_call_in_json_may_stand_alone(text):
    if "argumets" in text:  # a misspelt key is corrected where the whole reply, or a label, says that it is a call
        text = text.removeprefix("Thought: t\n")
    assert read(text) == ("labelled", "f", {"query": "x"})
    assert "no_label" in kinds(text)


def test_the_first_of_several_calls_in_a_list_runs_and_the_rest_is_noted():
    found = parse(f'[{CALL}, {{"name": "g", "arguments": {{}}}}]')
    assert (found.tool, found.notes[-1].kind) == ("f", "extra_action")
    assert '"g"' in found.notes[-1].text


@pytest.mark.parametrize(
    "text",
    [
        f"I would never call:\n{CALL}",
        f"Here is an example:\n```json\n{CALL}\n```",
        f"I could write:\n{CALL}",
        f"I will not call it.\n{CALL}",
        f"```json\n{CALL}\n```\nis how one would call it.",
        f"The last call was {CALL}",
        'The record is:\n{"name": "Ada", "age": 36}',
        'Thought: t\n{"query": "x"}',
    ],
)
def test_json_that_is_only_shown_is_no_call(text):
    assert isinstance(parse(text), Nothing)


def test_a_definition_of_a_tool_is_no_call():
    schema = '{"type": "object", "properties": {"a": {"type": "string"}}}'
    for text in (
        f'{{"name": "f", "description": "d", "parameters": {schema}}}',
        f'Action: {{"name": "f", "arguments": {{"a": "x"}}, "parameters": {schema}}}',
    ):
        assert refusal(text).startswith("its JSON describes a tool")


def test_a_label_wins_over_json_before_it():
    assert read(f"Thought: t\n{CALL}\nAction: g(a=1)") == ("strict", "g", {"a": 1})


def test_a_broken_call_is_not_passed_over_for_an_invented_answer():
    assert isinstance(parse('{"name": "f", "arguments": {"a": 1\nFinal Answer: 5'), Nothing)
    assert isinstance(parse('<tool_call>{"name": "f", "arguments": {"a": 10%}}</tool_call>\nFinal Answer: 5'), Nothing)


# -- what is not clearly asked for


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Action: search\nQuery: Paris", "the text after its Action has no label; write Action Input: before"),
        ('Action Input: {"a": 1}\nAction: f', "its Action Input does not follow its Action"),
        ('Action: f\nThought: hm\nAction Input: {"a": 1}', "its Action Input does not follow its Action"),
        ('Action: search(query="DeepMind CEO)', "a quote is not closed"),
        ('Action: f\nAction Input: "Paris', "a quote is not closed"),
        ('Action: f(a="x" b=2)', "the values in 'a=\"x\" b=2' need quotes"),
        ('Action: f("x", y=New York)', "the values in '\"x\", y=New York' need quotes"),
        ('Action: f(query="say "hi" now")', "the quotes in 'query=\"say \"hi\" now\"' do not match"),
        ("Action: f(query='what's up')", "a quote is not closed"),
        ("Action: f(...)", "'...' stands in place of its arguments"),
        ("Action: None(x=1)", "its Action names no tool"),
        ("Action: null()", "its Action names no tool"),
        ('Action: {"name": null, "arguments": {}}', "its JSON names no tool"),
        ('{"name": "None", "arguments": {}}', "its JSON names no tool"),
        ('{"name": "f", "arguments": {"minutes": 3, "minutes": 10}}', "its JSON gives 'minutes' twice"),
        ("12 + 30 = 42\n\nQuestion: What is 1 + 1?\nAction: f(x=1)", "it has a Question before any Action"),
        ("Question: What is 1 + 1?", "it has a Question before any Action"),
    ],
)
def test_what_is_in_doubt_is_sent_back(text, why):
    assert refusal(text).startswith(why)


def test_a_question_at_the_head_of_a_reply_is_taken_off_and_noted():
    found = parse("Question: Is it warm?\nThought: t\nAction: weather\nAction Input: Madrid")
    assert (found.thought, found.accepted) == ("t", "Thought: t\nAction: weather\nAction Input: Madrid")
    assert found.notes[0].kind == "invented_question"


def test_labels_inside_a_code_block_belong_to_the_answer():
    block = "use\n```\nThought: a\nAction: f(x=1)\n```\nas shown"
    found = parse(f"Final Answer: {block}\nAction: g(x=1)")
    assert (found.text, [note.kind for note in found.notes]) == (block, ["extra_action"])
    assert parse("Final Answer: a\n```\nThought: b").text == "a\n```"  # a block that never closes hides nothing


# -- what holds for every reply

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\"'`\\{}[]():;,=＂“”‘’"), min_size=1, max_size=8)
VALUES = st.integers(-999, 999) | st.booleans() | st.from_regex(r"[a-z]{2,8}( [a-z]{2,8}){0,2}", fullmatch=True)
OBJECTS = st.dictionaries(st.from_regex(r"[a-z]{2,6}", fullmatch=True), VALUES, min_size=1, max_size=4)
DAMAGE = {
    "no quotes round keys": lambda data: "{" + ", ".join(f"{k}: {json.dumps(v)}" for k, v in data.items()) + "}",
    "single quotes": repr,
    "a comma too many": lambda data: json.dumps(data)[:-1] + ",}",
    "no commas": lambda data: json.dumps(data, separators=(" ", ": ")),
    "full width": lambda data: json.dumps(data).translate(str.maketrans(",:{}", "，：｛｝")),
    "a comment": lambda data: json.dumps(data)[:-1] + " // as asked\n}",
    "over lines": lambda data: json.dumps(data, indent=2).replace('"', "'"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@given(OBJECTS)
@settings(max_examples=60)
def test_a_repair_gives_what_was_meant(damage, data):
    written = damage(data)
    found = parse(f"Thought: t\nAction: f\nAction Input: {written}")
    assert isinstance(found, Action), (written, found)
    assert json.loads(found.arguments) == data


@given(OBJECTS, st.data())
@settings(max_examples=150)
def test_no_beginning_of_an_object_is_run(data, draw):
    written = json.dumps(data)
    end = draw.draw(st.integers(1, len(written) - 1))
    for start in ("Action: pay\nAction Input: ", 'Action: {"name": "pay", "arguments": ', "Action: pay("):
        text = start + written[:end]
        assert isinstance(parse(text), Nothing)


MEMBERS = st.tuples(
    st.sampled_from(['"a"', "b", "'c'", "“d”", '"e', "f'"]),
    st.sampled_from([":", ": ", "：", " ", "=", ""]),
    st.sampled_from(["1", '"x"', "x y", "'it's'", '"5" y"', "true", "[1 2]", "[1,]", '["p" "q"]', "2%", '""', '"\\1"']),
    st.sampled_from([", ", " ", ",", "，", ";", ",,", "\n"]),
)


@given(st.lists(MEMBERS, min_size=1, max_size=4, unique_by=lambda member: member[0]))
@settings(max_examples=250, suppress_health_check=[HealthCheck.filter_too_much])
def test_nothing_is_put_in_and_nothing_left_out(members):
    inner = "".join(map("".join, members))
    found = parse(f"Action: f\nAction Input: {{{inner}}}")
    assume(isinstance(found, Action) and found.rung == "repaired")
    (source,) = [note.text for note in found.notes if note.kind in REPAIRS]
    assert [c for c in found.arguments if c.isalnum()] == [c for c in source if c.isalnum()]
    assert not any(sign in text for text in _texts(json.loads(found.arguments)) for sign in (":", "\n", "=", ",", ";"))


def _texts(value) -> list[str]:
    """Give all texts in a value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in _texts(each)]


@given(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), OBJECTS)
@settings(max_examples=100)
def test_what_is_accepted_reads_the_same_again(thought, data):
    assume(isinstance(parse(f"Thought: {thought}."), Nothing))
    call = json.dumps({"name": "look", "arguments": data})
    for reply in (f"Thought: {thought}. Action: look({data!r})", f"Thought: {thought}.\n{call}", f"[{call}, {call}]"):
        found = parse(f"{reply}\nObservation: invented")
        assert isinstance(found, Action), reply
        again = parse(found.accepted)
        assert (again.tool, again.arguments, again.rung) == (found.tool, found.arguments, found.rung)


# -- time

HARD = [
    '{a: "x" ', "{a:", '{"a" ', '{a: "', "'", "{a b ", '{"a": 1 "b', "// ", "/* ", "“", "{a: [", '{x: "a\\', "```\n{",
    '. Action: f("', ". Action: f ", ". Final Answer ", '{"name":', '{"name": "f", "arguments": {', "<tool_call>{",
    "[{", '\n{"name": "f",', "\nQuestion: x", "\n```a", "**Action**\n", "1. ", "\n1. Action", "。Action：",
    " Action Input:", " ", "\n", '\\"', "{]", '"a', "/* */", "</think> x",
]  # fmt: skip


@pytest.mark.parametrize("start", ["", "Action: f\nAction Input: {", "Action: f({", '{"name": "f", "arguments": {'])
def test_time_is_linear_on_every_rung(start):
    for piece in HARD:
        text = (start + piece * ((1 << 20) // len(piece)))[: 1 << 20] + '"}]}'
        began = time.process_time()
        parse(text)
        assert time.process_time() - began < 0.5, (start, piece)


@pytest.mark.parametrize("piece", HARD)
def test_the_longest_that_is_repaired_takes_little_time(piece):
    for end in ("}", '"}', "']}"):
        text = "Action: f\nAction Input: {" + piece * ((MAX_LENGTH - 60) // len(piece)) + end
        began = time.process_time()
        parse(text)
        assert time.process_time() - began < 0.2, (piece, end)
