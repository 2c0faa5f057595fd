"""Faults of the offline model: at the rates that were set, the same everywhere, and met by an agent as meant."""

import json
import math
import os
import pickle
import re
import subprocess
import sys
from dataclasses import fields, replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_offline_loop import LESSON_TOOLS, REACT, opening, run, send
from test_offline_questions import QUESTIONS

from agentlib import LLM, Answer, Message, Observation, Problem, ReAct, Status, ToolCall
from agentlib.offline import Faults, Settings, app
from agentlib.offline.faults import MISTAKES, PLAN_ONLY
from agentlib.offline.malformed import MALFORMED
from agentlib.offline.native_malformed import NATIVE_ONLY
from agentlib.offline.reading import read
from agentlib.offline.slips import helps
from agentlib.parsing import parse
from agentlib.world import calculator, search, weather

TOOLS = [search, weather, calculator]
UNIVERSITY = "Which university did DeepMind's CEO attend?"
ACTION = 'Thought: First I need the CEO of DeepMind.\nAction: search(query="DeepMind CEO now")'
TWO_ARGUMENTS = 'Thought: I need the three nearest.\nAction: nearest(city="Oslo", count=3)'
ANSWER = "Thought: Now I know the answer.\nFinal Answer: The CEO of DeepMind is Demis Hassabis."


def reply_of(messages: list[dict], faults: Faults | None = None, seed: int = 0) -> str:
    """Give the reply of the offline model with these faults, or without any."""
    settings = Settings(faults=faults) if faults else None
    body = {"model": "offline", "messages": messages, "stop": ["Observation:"], "seed": seed}
    return send(body, settings)[1]["choices"][0]["message"]["content"]


def model(faults: Faults, seed: int = 0) -> LLM:
    return LLM("offline", seed=seed, offline=app(Settings(faults=faults)))


def requests(count: int) -> list[tuple[list[dict], int]]:
    """Give so many different requests that ask for an action: a question and a seed."""
    questions = [question for question, _, calls in QUESTIONS if calls > 1]
    return [(opening(questions[i % len(questions)]), i) for i in range(count)]


def struck(count: int, faults: Faults) -> list[tuple[str, str]]:
    """Give the clean and the faulty reply of each of `count` requests that a fault strikes."""
    pairs = [(reply_of(messages, seed=seed), reply_of(messages, faults, seed)) for messages, seed in requests(count)]
    return [(clean, faulty) for clean, faulty in pairs if clean != faulty]


def is_likely(hits: int, count: int, rate: float) -> bool:
    """Say whether so many hits, or a number further off, come in more than one of 1,000 samples (exact, binomial)."""
    def at(k: int) -> float:
        ways = math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
        return math.exp(ways + k * math.log(rate) + (count - k) * math.log(1 - rate))

    below, above = math.fsum(map(at, range(hits + 1))), math.fsum(map(at, range(hits, count + 1)))
    return min(below, above) > 0.0005


def test_the_bounds_refuse_a_rate_that_is_off():
    assert is_likely(150, 1000, 0.15) and is_likely(180, 1000, 0.15)
    assert not is_likely(200, 1000, 0.15) and not is_likely(105, 1000, 0.15)


# Rates and luck


def test_every_kind_has_a_rate():
    names = [f.name for f in fields(Faults)]
    others = ["recovery", "blind_recovery", "persistence", "seed"]
    assert names == [*MALFORMED, *MISTAKES, *NATIVE_ONLY, *PLAN_ONLY, *others]


@pytest.mark.parametrize("rate", [0.05, 0.15, 0.5])
def test_the_total_of_malformed_replies_comes_true(rate):
    assert is_likely(len(struck(600, Faults.malformed(rate))), 600, rate)


def test_the_total_holds_for_answers_too_although_few_kinds_fit_them():
    messages = run("Who runs Apple?")[1][:-1]
    hits = sum(reply_of(messages, Faults.malformed(0.3), seed) != reply_of(messages, seed=seed) for seed in range(1000))
    assert is_likely(hits, 1000, 0.3)


@pytest.mark.parametrize("kind", MISTAKES[:2])
def test_the_rate_of_a_mistake_comes_true(kind):
    assert is_likely(len(struck(600, Faults(**{kind: 0.2}))), 600, 0.2)


def test_the_kinds_of_a_block_come_in_proportion_to_their_rates():
    hits = struck(1000, Faults(bold_labels=0.05, empty_reply=0.15))
    empty = sum(faulty == "" for _, faulty in hits)
    assert is_likely(len(hits), 1000, 0.2) and is_likely(empty, len(hits), 0.75)


def test_all_kinds_that_fit_occur_when_a_rate_is_spread_evenly():
    hits = struck(700, Faults.malformed(1.0))
    seen = {kind for clean, faulty in hits for kind, form in MALFORMED.items() if form.write(clean.rstrip()) == faulty}
    assert set(MALFORMED) - seen == {"number_as_text"}  # no tool of the lesson takes a number


def test_one_fault_strikes_a_reply_at_most():
    forms = [form.write for form in MALFORMED.values()]
    for clean, faulty in struck(300, Faults.malformed(1.0)):
        assert faulty in [write(clean.rstrip()) for write in forms]


def test_the_same_request_gives_the_same_bytes_in_every_process():
    body = {"model": "offline", "messages": opening(UNIVERSITY), "seed": 4, "stop": ["Observation:"]}
    code = ("import json, sys; sys.path.insert(0, 'tests'); from test_offline_loop import send\n"
            "from agentlib.offline import Faults, Settings\n"
            f"print(json.dumps([send({body!r} | {{'seed': seed}}, Settings(faults=Faults.malformed(0.5)))"
            " for seed in range(40)]))")
    here = [list(send(body | {"seed": seed}, Settings(faults=Faults.malformed(0.5)))) for seed in range(40)]
    for hash_seed in ("0", "123"):
        environ = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == here


def test_the_luck_is_the_same_on_every_machine():
    chance = Faults(seed=1).chances([{"role": "user", "content": "Question: Wer? 誰?"}], 7)
    assert [round(chance(purpose), 6) for purpose in ("whether", "which", "recovery")] == [0.2552, 0.724279, 0.832449]


def test_another_seed_is_another_luck_and_so_is_another_seed_of_the_faults():
    faults, messages = Faults.malformed(0.5), opening(UNIVERSITY)
    by_request = {reply_of(messages, faults, seed).encode() for seed in range(40)}
    by_faults = {reply_of(messages, replace(faults, seed=seed)).encode() for seed in range(40)}
    assert len(by_request) > 5 and len(by_faults) > 5


def test_each_step_draws_anew():
    """Of the runs whose first reply was malformed, as many are malformed at the second as of the others."""
    faults = Faults(json_call=0.3)
    later = {True: [], False: []}
    for messages, seed in requests(800):
        first = reply_of(messages, faults, seed)
        history = [*messages, {"role": "assistant", "content": 'Thought: x\nAction: search(query="x")'},
                   {"role": "user", "content": "Observation: No article matches 'x'."}]
        later["{" in first].append("{" in reply_of(history, faults, seed))
    assert all(is_likely(sum(hits), len(hits), 0.3) for hits in later.values())


def test_at_a_higher_rate_the_faults_of_a_lower_one_strike_too():
    def hit(rate: float) -> set[int]:
        return {seed for messages, seed in requests(250) if reply_of(messages, Faults.malformed(rate), seed) !=
                reply_of(messages, seed=seed)}

    assert hit(0.05) < hit(0.15) < hit(0.3)


def test_without_rates_nothing_changes():
    for messages, seed in requests(60):
        body = {"model": "offline", "messages": messages, "seed": seed}
        error = [*messages, {"role": "assistant", "content": "x"}, {"role": "user", "content": "Format error: no."}]
        faults = Faults(recovery=0, blind_recovery=0, persistence=1, seed=5)
        for history in (messages, error):
            assert send(body | {"messages": history}, Settings(faults=faults)) == send(body | {"messages": history})


def test_a_request_without_a_format_is_answered_as_ever():
    messages = [{"role": "user", "content": "Who is the CEO of Intel?"}]
    assert reply_of(messages, Faults.malformed(1.0)) == reply_of(messages)


@pytest.mark.parametrize("rates", [{"prose": 1.1}, {"prose": -0.1}, {"recovery": 2}, {"prose": float("nan")},
                                   {"prose": 0.6, "empty_reply": 0.6}])
def test_rates_that_cannot_be_are_refused(rates):
    with pytest.raises(ValueError, match="rate"):
        Faults(**rates)
    with pytest.raises(ValueError, match="rate"):
        Faults.malformed(1.2)


def test_a_spread_rate_goes_with_other_fields():
    faults = Faults.malformed(0.3, invented_tool=0.1, seed=3)
    assert (round(faults.total, 9), faults.invented_tool, faults.seed) == (0.4, 0.1, 3)
    assert Faults.malformed(0.3, prose=0.0).prose == 0


def test_a_model_with_faults_can_be_sent_to_a_worker():
    llm = model(Faults.malformed(0.9), seed=7)
    copy = pickle.loads(pickle.dumps(llm))
    messages = ReAct(llm, TOOLS).start(UNIVERSITY).messages
    assert copy.chat(messages) == llm.chat(messages) != LLM("offline", seed=7).chat(messages)


# The kinds, one by one


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformation_is_visible_and_leaves_other_text_alone(kind):
    write = MALFORMED[kind].write
    changed = [text for text in (ACTION, TWO_ARGUMENTS, ANSWER) if write(text) != text]
    assert changed
    assert [write(text) for text in ("Hello!", "Thought: x", "Action: f(x", "")] == ["Hello!", "Thought: x",
                                                                                    "Action: f(x", ""]
    assert write.__doc__


@pytest.mark.parametrize("kind, text, expected", [
    ("json_call", TWO_ARGUMENTS, 'Action: {"name": "nearest", "arguments": {"city": "Oslo", "count": 3}}'),
    ("call_in_two_lines", ACTION, 'Action: search\nAction Input: {"query": "DeepMind CEO now"}'),
    ("wrapper_object", ACTION, 'Action: {"tool_call": {"name": "search", "arguments": {"query": "DeepMind CEO now"}}}'),
    ("single_quotes", ACTION, "Action: {'name': 'search', 'arguments': {'query': 'DeepMind CEO now'}}"),
    ("missing_quotes", ACTION, "Action: search(query=DeepMind CEO now)"),
    ("curly_quotes", ACTION, "Action: search(query=“DeepMind CEO now”)"),
    ("raw_newline", ACTION, 'Action: search(query="DeepMind CEO\nnow")'),
    ("trailing_comma", ACTION, 'Action: {"name": "search", "arguments": {"query": "DeepMind CEO now",}}'),
    ("unquoted_keys", TWO_ARGUMENTS, 'Action: {name: "nearest", arguments: {city: "Oslo", count: 3}}'),
    ("full_width_brackets", TWO_ARGUMENTS, 'Action: nearest（city="Oslo", count=3）'),
    ("one_line", ACTION, 'I need the CEO of DeepMind. Action: search(query="DeepMind CEO now")'),
    ("missing_bracket", ACTION, 'Action: {"name": "search", "arguments": {"query": "DeepMind CEO now"}'),
    ("bold_labels", ANSWER, "**Final Answer:** The CEO of DeepMind is Demis Hassabis."),
    ("full_width_colons", ACTION, 'Action：search(query="DeepMind CEO now")'),
    ("numbered_brackets", ACTION, "Action 1: Search[DeepMind CEO now]"),
    ("misspelt_parameter", TWO_ARGUMENTS, 'Action: nearest(ctiy="Oslo", count=3)'),
    ("number_as_text", TWO_ARGUMENTS, 'Action: nearest(city="Oslo", count="3")'),
    ("truncated_arguments", ACTION, 'Action: search(query="DeepMind'),
    ("sentence_as_action", ACTION, "Action: use search to find out about DeepMind CEO now"),
    ("prose", ANSWER, "The CEO of DeepMind is Demis Hassabis."),
    ("thought_only", ANSWER, "Thought: Now I know the answer."),
])
def test_what_a_malformation_writes(kind, text, expected):
    assert MALFORMED[kind].write(text).endswith(expected)


@pytest.mark.parametrize("kind", MALFORMED)
def test_each_malformation_is_read_on_the_rung_that_it_names(kind):
    rung = MALFORMED[kind].rung
    for text in (ACTION, TWO_ARGUMENTS, ANSWER):
        if (malformed := MALFORMED[kind].write(text)) != text:
            assert parse(malformed).rung == ("strict" if rung == "schema" else rung)


@pytest.mark.parametrize("kind", [kind for kind, form in MALFORMED.items() if form.rung not in ("schema", "nothing")])
def test_what_a_rung_should_read_is_the_call_that_was_meant(kind):
    question = "Which university did the CEO of Intel attend?"
    clean, faulty = (_second_call(faults, question) for faults in (Faults(), Faults(**{kind: 1.0})))
    assert (faulty.name, _values(faulty)) == (clean.name, _values(clean))


@pytest.mark.parametrize("kind", ["misspelt_parameter", "nested_arguments"])
def test_what_the_schema_has_to_put_right_is_put_right_or_named_in_an_error(kind):
    state = ReAct(model(Faults(**{kind: 1.0})), TOOLS, max_iterations=1).run(UNIVERSITY)
    observation = next(event for event in state.events if isinstance(event, Observation))
    assert "query" in observation.text if observation.is_error else observation.text.startswith("DeepMind:")


@pytest.mark.parametrize("kind", [kind for kind, form in MALFORMED.items() if form.rung == "nothing"])
def test_what_nobody_should_run_comes_back_as_a_problem(kind):
    state = ReAct(model(Faults(**{kind: 1.0})), TOOLS, max_iterations=1).run(UNIVERSITY)
    assert state.events[0].kind in ("format_error", "empty_reply")
    assert not any(isinstance(event, ToolCall) for event in state.events)


def test_an_invented_tool_is_unknown_and_its_name_plausible():
    state = ReAct(model(Faults(invented_tool=1.0)), TOOLS, max_iterations=1).run("What is the population of Berlin?")
    call, observation = (next(e for e in state.events if isinstance(e, kind)) for kind in (ToolCall, Observation))
    assert call.name in ("population", "google", "wikipedia", "web_search")
    assert observation.is_error and f"unknown tool {call.name!r}" in observation.text


def test_a_wrong_type_is_refused_by_the_schema():
    state = ReAct(model(Faults(wrong_type=1.0)), TOOLS, max_iterations=1).run(UNIVERSITY)
    (observation,) = [event for event in state.events if isinstance(event, Observation)]
    assert observation.is_error and "query" in observation.text


def test_a_repeated_action_is_one_that_was_made_before():
    state = ReAct(model(Faults(repeated_action=1.0, persistence=0.0)), TOOLS, max_iterations=2).run(UNIVERSITY)
    first, second = [event for event in state.events if isinstance(event, ToolCall)]
    assert (first.name, first.arguments) == (second.name, second.arguments)


def test_a_premature_answer_comes_without_an_observation_and_without_a_doubt():
    state = ReAct(model(Faults(premature_answer=1.0)), TOOLS).run("Who is the CEO of Intel?")
    assert [type(event).__name__ for event in state.events] == ["Thought", "Answer"]
    assert "Pat Gelsinger" in state.answer and "check" not in state.answer


def test_premature_answers_build_on_what_was_observed():
    _, messages = run(UNIVERSITY)
    reply = reply_of(messages[:4], Faults(premature_answer=1.0))
    assert "The CEO of DeepMind is Demis Hassabis" in reply and "Final Answer:" in reply


def _second_call(faults: Faults, question: str) -> ToolCall:
    """Give the call that the second reply of a run asks for, when the first had no fault."""
    agent = ReAct(model(faults), TOOLS)
    start = agent.start(question)
    for text in (ACTION.replace("DeepMind", "Intel"), "Observation: Intel: Its CEO is Lip-Bu Tan (since 2025)."):
        start = start.add(Message("user" if text.startswith("Obs") else "assistant", text))
    state = agent.step(start)
    return next(event for event in state.events if isinstance(event, ToolCall))


def _values(call: ToolCall) -> list:
    return [" ".join(value.split()) for value in json.loads(call.arguments).values()]


# Recovery


def after(error: str) -> list[dict]:
    return [*opening(UNIVERSITY), {"role": "assistant", "content": "I will look it up."},
            {"role": "user", "content": error}]


@pytest.mark.parametrize("error, rate", [
    ("Format error: it has no Action. Use exactly this format:\n\nThought: …\nAction: tool(parameter=\"value\")", 0.8),
    ("Observation: Error: unknown tool 'wiki'. The tools are: search, weather, calculator", 0.8),
    ("Observation: Error: query: Input should be a valid string", 0.8),
    ("Observation: Error", 0.3),
    ("Observation: Error: bad input", 0.3),
    ("Format error: could not parse your reply.", 0.3),
])
def test_how_often_it_recovers_depends_on_what_the_message_says(error, rate):
    faults = Faults(prose=0.1, recovery=0.8, blind_recovery=0.3)
    replies = [reply_of(after(error), faults, seed) for seed in range(1000)]
    recovered = [seed for seed, reply in enumerate(replies) if reply == reply_of(after(error), seed=seed)]
    assert is_likely(len(recovered), 1000, rate)
    assert {replies[seed] for seed in range(1000) if seed not in recovered} == {"I will look it up."}


@pytest.mark.parametrize("message, expected", [
    ("Error", False), ("Error: failed", False), ("Error: unknown tool 'wiki'", False),
    ("Error: it is not possible, and I cannot say why", False),
    ("Format error: write\nAction: tool_name(…)", True), ("Error: write `Final Answer: …`", True),
    ("Error: try the calculator", True), ("Error: missing: city", True),
    ("Note: you have done this three times. Do something else.", True),
])
def test_what_makes_a_message_helpful_is_visible(message, expected):
    assert helps(message, read(opening(UNIVERSITY), 0)) is expected


def test_an_error_that_names_only_the_tool_just_called_does_not_help():
    history = [*opening(UNIVERSITY), {"role": "assistant", "content": 'Thought: x\nAction: search(qeury="x")'},
               {"role": "user", "content": "Observation: Error: TypeError in search"}]
    assert not helps("Error: TypeError in search", read(history, 0))
    assert helps("Error: TypeError in search: use weather", read(history, 0))


@pytest.mark.parametrize("seen, expected", [("AA", "A"), ("ABA", "B"), ("ABAB", "A")])
def test_having_repeated_itself_it_goes_on_as_it_did_before(seen, expected):
    replies = {name: f'Thought: {name}\nAction: search(query="{name}")' for name in "AB"}
    history = opening(UNIVERSITY)
    for name in seen:
        history += [{"role": "assistant", "content": replies[name]},
                    {"role": "user", "content": "Observation: No article matches."}]
    faults = Faults(repeated_action=0.01, persistence=0.7, recovery=0.9)
    again = sum(reply_of(history, faults, seed) == replies[expected] for seed in range(1000))
    assert is_likely(again, 1000, 0.7)
    noted = [*history, {"role": "user", "content": "Note: you have called this 3 times in a row. Do something else."}]
    assert is_likely(sum(reply_of(noted, faults, seed) == replies[expected] for seed in range(1000)), 1000, 0.1)


def test_an_objection_to_an_answer_makes_it_look_further():
    history = [*opening("Who is the CEO of Intel?"),
               {"role": "assistant", "content": "Thought: The CEO is Pat Gelsinger.\nFinal Answer: Pat Gelsinger."},
               {"role": "user", "content": "Note: a check found that the observations do not support this answer."}]
    assert 'Action: search(query="Intel CEO")' in reply_of(history)
    faults = Faults(premature_answer=0.1, recovery=0.8)
    again = sum(reply_of(history, faults, seed) == history[2]["content"] for seed in range(1000))
    assert is_likely(again, 1000, 0.2)


# In an agent


def terse(state):
    """A guard that leaves nothing of an error message but the word."""
    last = state.messages[-1]
    if last.role == "user" and re.match("Format error|Observation: Error", last.content):
        return replace(state, messages=(*state.messages[:-1], Message("user", "Observation: Error")))
    return state


def sweep(faults: Faults, count: int, **options) -> tuple[list[bool], list]:
    """Run `count` questions, each with a seed of its own luck; give which were answered right, and the last states."""
    llms = [model(faults, seed) for seed in range(10)]
    questions = [QUESTIONS[i % len(QUESTIONS)] for i in range(count)]
    states = [ReAct(llms[i % 10], TOOLS, **options).run(question) for i, (question, _, _) in enumerate(questions)]
    right = [text in (state.answer or "") for (_, text, _), state in zip(questions, states, strict=True)]
    return right, states


def test_two_thousand_runs_with_malformed_replies_all_end_in_a_state_with_a_reason():
    right, states = sweep(Faults.malformed(0.15), 2000)
    assert all(state.status in (Status.DONE, Status.STOPPED) and state.reason for state in states)
    assert all(state.iterations <= 10 for state in states)
    assert sum(right) / 2000 > 0.98
    problems = sum(isinstance(event, Problem) for state in states for event in state.events)
    assert problems > 200  # the faults were there


def test_a_message_that_shows_the_format_is_worth_more_than_a_bare_one():
    (helped, states), (blind, blind_states) = (sweep(Faults.malformed(0.3), 400, guards=guards)
                                               for guards in ((), (terse,)))
    assert sum(helped) > sum(blind) + 20
    assert {state.reason for state in blind_states} >= {"final_answer", "format_error", "empty_reply"}
    assert all(isinstance(state.events[-1], Answer | Problem) for state in states)


def test_all_faults_at_once():
    faults = Faults.malformed(0.2, **dict.fromkeys(MISTAKES, 0.1))
    _, states = sweep(faults, 300)
    assert all(state.reason for state in states)
    assert len({state.reason for state in states}) > 1


@pytest.mark.parametrize("kind", [kind for kind, form in MALFORMED.items()  # of several, a loop keeps the first
                                  if form.rung != "nothing" and kind != "several_actions"])
def test_the_model_understands_its_own_malformed_actions_in_the_history(kind):
    """What a parser that reads everything would leave in the history, the model itself can go on from."""
    question, text = "How many degrees warmer is Shanghai than Beijing?", 'Thought: x\nAction: weather(city="Shanghai")'
    history = opening(question)
    for call, seen in ((text, "Shanghai: 26 °C, sunny."),
                       (text.replace("Shanghai", "Beijing"), "Beijing: 21 °C, sunny."),
                       ('Thought: x\nAction: calculator(expression="26 - 21")', "5")):
        written = MALFORMED[kind].write(call)
        history += [{"role": "assistant", "content": written}, {"role": "user", "content": f"Observation: {seen}"}]
    assert "Final Answer: Shanghai is 5 degrees warmer" in reply_of(history)


# For all inputs


@given(st.text())
@example("Thought: \nAction: f()")
@example('Action: {"name": "f", "arguments": ' + "[" * 3000)
@example("Action: f(x=" + "[" * 100_000)
def test_no_text_makes_a_malformation_raise(text):
    for form in MALFORMED.values():
        assert isinstance(form.write(text), str)
        assert isinstance(form.write(f"Thought: x\nAction: {text}"), str)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]),
                          st.sampled_from(["", "Error", "Note: x", ACTION, ANSWER, "Observation: Error: x", "x\ud800",
                                           "Question: Who?", "Final Answer: x"])), max_size=8), st.integers(0, 50))
def test_no_history_makes_the_model_fail(history, seed):
    messages = [{"role": "system", "content": REACT.format(tools=LESSON_TOOLS)},
                *({"role": role, "content": text} for role, text in history)]
    faults = Faults.malformed(0.5, **dict.fromkeys(MISTAKES, 0.125))
    assert isinstance(reply_of(messages, faults, seed), str)


# The verdict on an answer


CHECK = """\
Check an answer before it is given. It is supported when each of its claims follows from the observations.

Thought: what the observations say about each claim
Final Answer: supported or not supported

Question: {question}

Observations:
{seen}

Answer: {answer}"""
DEEPMIND = '1. search(query="DeepMind CEO"): DeepMind: Its CEO is Demis Hassabis (since 2010).\nSee also: Alphabet'
HASSABIS = ('\n2. search(query="Demis Hassabis university"): Demis Hassabis: Demis Hassabis studied computer science at'
            " the University of Cambridge.")
WEATHER = ('1. weather(city="Beijing"): Beijing: 21 °C, sunny, wind 5 km/h, humidity 40 %.\n'
           '2. weather(city="Shanghai"): Shanghai: 26 °C, cloudy, wind 5 km/h, humidity 40 %.')
CAPITAL = '1. search(query="capital"): France: The capital of France is Lyon.'


@pytest.mark.parametrize("question, seen, answer, expected", [
    (UNIVERSITY, DEEPMIND + HASSABIS, "Demis Hassabis studied at the University of Cambridge.", "supported"),
    (UNIVERSITY, DEEPMIND + HASSABIS, "Demis Hassabis studied at Princeton University.", "do not mention Princeton"),
    (UNIVERSITY, DEEPMIND, "Demis Hassabis studied at the University of Cambridge.", "do not give the university of"),
    (UNIVERSITY, "none", "The University of Cambridge.", "do not give the CEO of DeepMind"),
    (UNIVERSITY, DEEPMIND + HASSABIS, "Demis Hassabis.", "it is the University of Cambridge"),
    ("Is it warmer in Beijing or in Shanghai?", WEATHER, "Shanghai is warmer: 26 °C against 21 °C.", "supported"),
    ("Is it warmer in Beijing or in Shanghai?", WEATHER, "Shanghai is warmer: 36 °C against 21 °C.", "mention 36"),
    ("How many degrees warmer is Shanghai than Beijing?", WEATHER, "5 degrees.", "supported"),
    ("How many degrees warmer is Shanghai than Beijing?", WEATHER, "21 degrees.", "it is 5"),
    ("What is the weather in Atlantis?", "1. weather(city=\"Atlantis\"): Error: no weather for 'Atlantis'",
     "I could not find the weather in Atlantis.", "supported"),
    ("What is the capital of France?", CAPITAL, "The capital of France is Lyon.", "supported"),  # as the tool said
    ("What is the capital of France?", CAPITAL, "The capital of France is Paris.", "do not mention Paris"),
    ("Hello!", "none", "Hello! Ask me something.", "supported"),
])
def test_a_verdict_comes_from_the_observations_alone(question, seen, answer, expected):
    reply = reply_of([{"role": "user", "content": CHECK.format(question=question, seen=seen, answer=answer)}])
    assert re.fullmatch(r"Thought: .+\nFinal Answer: (?:not )?supported", reply)
    assert reply.endswith("\nFinal Answer: supported") == (expected == "supported")
    assert expected in reply


def test_a_verdict_is_free_of_faults():
    check = CHECK.format(question=UNIVERSITY, seen=DEEPMIND, answer="The University of Cambridge.")
    messages = [{"role": "user", "content": check}]
    assert reply_of(messages, Faults.malformed(1.0)) == reply_of(messages)


def test_what_the_model_answers_from_observations_it_also_finds_supported_and_what_it_guesses_it_does_not():
    for faults, expected in ((Faults(), "supported"), (Faults(premature_answer=1.0), "not supported")):
        states = sweep(faults, len(QUESTIONS))[1]
        for state in states if expected == "supported" else [s for s in states if s.goal in GUESSED]:
            calls = [event for event in state.events if isinstance(event, ToolCall)]
            seen = [event for event in state.events if isinstance(event, Observation)]
            lines = [f"{str(call)[8:]}: {result.text}" for call, result in zip(calls, seen, strict=True)]
            listed = "\n".join(f"{i}. {line}" for i, line in enumerate(lines, 1)) or "none"
            check = CHECK.format(question=state.goal, seen=listed, answer=state.answer)
            reply = reply_of([{"role": "user", "content": check}])
            assert reply.endswith(f"Final Answer: {expected}"), (state.goal, state.answer, reply)


GUESSED = {UNIVERSITY, "Who is the CEO of DeepMind?", "Where did Alan Turing study?", "When was DeepMind founded?",
           "What is the weather in Oslo?", "Is it warmer in Beijing or in Shanghai?"}
