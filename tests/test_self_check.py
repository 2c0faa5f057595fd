"""The check before the answer: what is asked, what each verdict does, and that the run can be stepped as any other."""

import pytest

from agentlib import (
    LLM,
    Answer,
    Evaluation,
    GoalReminder,
    LLMError,
    LoopGuard,
    Message,
    Problem,
    ReAct,
    Reply,
    ScriptedLLM,
    SelfCheck,
    State,
    Status,
    Stepper,
    Usage,
)
from agentlib.self_check import PROMPT, read_verdict
from agentlib.widgets.frames import frame


def search(query: str) -> str:
    """Look something up."""
    return f"{query} was built in 1930."


LOOK = 'Thought: I look it up\nAction: search(query="The tower")'
WRONG = "Thought: I know\nFinal Answer: 1931"
RIGHT = "Thought: it says so\nFinal Answer: 1930"
YES = "Thought: Observation 1 says 1930.\nFinal Answer: supported"
NO = "Thought: Observation 1 says 1930, not 1931.\nFinal Answer: not supported"
GOAL = "When was the tower built?"


def agent(*replies, judge=None, **settings) -> SelfCheck:
    """Give a checked agent with a scripted model."""
    return SelfCheck(ReAct(ScriptedLLM(replies), [search], **settings), judge)


def run(*replies, **settings) -> list[State]:
    """Give all states of a run that uses all of its replies."""
    one = agent(*replies, **settings)
    with one.llm:
        return list(one.steps(GOAL))


def kinds(state: State) -> list[str]:
    """Give the kinds of a state's events: the class, or what kind of problem."""
    return [event.kind if isinstance(event, Problem) else type(event).__name__ for event in state.events]


# -- what each verdict does


def test_an_answer_that_is_supported_is_accepted_in_a_step_of_its_own():
    *_, proposed, last = states = run(LOOK, RIGHT, YES)
    assert len(states) == 5
    assert (proposed.status, proposed.answer, kinds(proposed)[-1]) == (Status.RUNNING, None, "Answer")
    assert (last.status, last.reason, last.answer) == (Status.DONE, "final_answer", "1930")
    assert last.messages == proposed.messages
    assert (last.iterations, last.usage.calls) == (3, 3)
    check = last.events[-1]
    assert (check.kind, check.verdict, check.text, check.raw) == (
        "self_check", "supported", "Observation 1 says 1930.", YES
    )  # fmt: skip
    assert last.events[-1].message == next(e.message for e in last.events if isinstance(e, Answer))


def test_an_answer_that_is_not_supported_goes_back_once_with_the_objection():
    states = run(LOOK, WRONG, NO, RIGHT)
    objected, last = states[-2], states[-1]
    assert objected.status is Status.RUNNING
    assert objected.messages[-1] == Message(
        "user",
        "Note: a check found that the observations do not support this answer. Observation 1 says 1930, not 1931. "
        "Look further, or give another answer.",
    )
    assert (last.answer, last.iterations) == ("1930", 4)
    assert kinds(last)[-4:] == ["Answer", "Evaluation", "Thought", "Answer"]
    assert [message.role for message in last.messages[-3:]] == ["assistant", "user", "assistant"]
    assert run(LOOK, WRONG, NO, WRONG)[-1].answer == "1931"  # at most once


def test_the_agent_may_look_further_after_the_objection():
    last = run(WRONG, NO, LOOK, RIGHT)[-1]
    assert (last.answer, kinds(last).count("Evaluation")) == ("1930", 1)


@pytest.mark.parametrize(
    "reply",
    ["", "It looks fine to me.", "Final Answer: supported or not supported", "Final Answer: partly supported",
     "Final Answer: supported, but only in part", LOOK, Reply("", "content_filter"), Reply("Thought: it s", "length")],
)  # fmt: skip
def test_a_verdict_that_cannot_be_read_is_none_and_is_noted(reply):
    last = run(LOOK, WRONG, reply)[-1]
    assert (last.status, last.answer) == (Status.DONE, "1931")
    assert kinds(last)[-2:] == ["Evaluation", "no_verdict"]
    assert last.events[-2].verdict == "unknown"
    assert last.events[-2].raw == (reply.content if isinstance(reply, Reply) else reply)
    assert "it must end with Final Answer: supported or not supported" in last.events[-1].text


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (YES, "supported"),
        ("Final Answer: Supported.", "supported"),
        ("**Final Answer:** `not supported`", "not supported"),
        ("Final Answer: Not supported, since nothing was observed", "not supported"),
        ("<think>Final Answer: supported</think>\nThought: hm\nFinal Answer: not supported", "not supported"),
        ("Finish[supported]", "unknown"),
    ],
)
def test_verdicts_are_read_as_answers_are(reply, verdict):
    assert read_verdict(reply)[0] == verdict


def test_a_check_that_fails_leaves_the_answer_standing():
    last = run(LOOK, WRONG, LLMError("rate_limit", "wait"))[-1]
    assert (last.status, last.reason, last.answer) == (Status.DONE, "final_answer", "1931")
    assert kinds(last)[-1] == "rate_limit"
    assert last.events[-1].text == "the answer could not be checked: wait"
    assert last.usage.calls == 2


def test_a_check_is_a_model_call_within_the_limit():
    last = run(LOOK, WRONG, max_iterations=2)[-1]
    assert (last.answer, kinds(last)[-1], last.iterations) == ("1931", "unchecked", 2)
    last = run(LOOK, WRONG, NO, max_iterations=3)[-1]
    assert (last.status, last.reason, last.answer) == (Status.STOPPED, "max_iterations", None)


def test_a_run_without_an_answer_is_not_checked():
    last = run(LOOK, LOOK, max_iterations=2)[-1]
    assert (last.reason, "Evaluation" in kinds(last)) == ("max_iterations", False)
    last = run("hm", "hm", max_format_errors=2)[-1]
    assert (last.reason, "Evaluation" in kinds(last)) == ("format_error", False)


# -- what is asked


def test_the_check_is_a_request_of_its_own_with_what_was_observed():
    one = agent(LOOK, WRONG, YES)
    last = one.run(GOAL)
    (asked,) = one.llm.requests[-1]["messages"]
    assert asked == {
        "role": "user",
        "content": f"{PROMPT}Question: When was the tower built?\n\n"
        'Observations:\n1. search(query="The tower"): The tower was built in 1930.\n\nAnswer: 1931',
    }
    assert last.events[-1].asked == asked["content"]
    assert "I know" not in asked["content"]  # the thought is not shown to the judge


def test_what_no_tool_said_is_checked_against_nothing():
    one = agent(WRONG, NO, RIGHT)
    one.run(GOAL)
    assert "Observations:\nnone\n\nAnswer: 1931" in one.llm.requests[1]["messages"][0]["content"]


def test_another_model_may_be_the_judge():
    judge = ScriptedLLM([Reply(NO, usage=Usage(1, 50, 5))])
    one = agent(LOOK, WRONG, RIGHT, judge=judge)
    last = one.run(GOAL)
    assert (last.answer, len(judge.requests), last.usage) == ("1930", 1, Usage(4, 50, 5))


# -- it is an agent like any other


def test_a_checked_run_saved_at_any_step_ends_the_same(tmp_path):
    replies = [LOOK, WRONG, NO, LOOK, RIGHT]
    states = run(*replies)
    for state in states:
        state.save(tmp_path / "s.json")
        assert agent(*replies[state.usage.calls :]).run(State.load(tmp_path / "s.json")) == states[-1]


def test_each_turn_has_its_own_check():
    one = agent(LOOK, WRONG, NO, RIGHT, LOOK, WRONG, NO, RIGHT)
    last = one.run(one.say(one.run(GOAL), "And when again?"))
    assert (last.answer, kinds(last).count("Evaluation")) == ("1930", 2)
    assert "Question: And when again?" in one.llm.requests[6]["messages"][0]["content"]


def test_a_finished_state_is_its_own_next_step():
    unchecked = ReAct(ScriptedLLM([RIGHT]), []).run(GOAL)
    assert agent().step(unchecked) is unchecked
    assert agent().run(unchecked) is unchecked


def test_an_answer_that_a_person_wrote_is_checked_too():
    states = run(LOOK, RIGHT, YES)
    one = agent(NO, RIGHT)
    last = one.run(one.fork(states[3], action="Final Answer: 1931"))
    assert (last.answer, kinds(last).count("Evaluation")) == ("1930", 1)
    one = agent(YES)
    last = one.run(one.fork(states[-1], thought="surely"))  # what was checked is gone, and so is its check
    assert (last.answer, kinds(last)[3:]) == ("1930", ["Thought", "Answer", "Evaluation"])
    assert agent(RIGHT, YES).run(agent().fork(states[-1], observation="In 1930.")).answer == "1930"


def test_after_an_objection_what_a_person_writes_stands():
    states = run(LOOK, WRONG, NO, RIGHT)
    forked = agent().fork(states[-1], action="Final Answer: 1932")
    assert (forked.status, forked.answer) == (Status.DONE, "1932")


def test_an_interrupt_while_the_answer_is_checked_keeps_the_trace():
    class Interrupted:
        def chat(self, messages, *, stop=()):
            raise KeyboardInterrupt

    *_, proposed, last = agent(LOOK, RIGHT, judge=Interrupted()).steps(GOAL)
    assert (last.status, last.reason, last.answer) == (Status.INTERRUPTED, "interrupted", None)
    assert (last.messages, last.events) == (proposed.messages, proposed.events)
    assert agent(RIGHT, YES).run(agent().say(last, "Again?")).answer == "1930"


def test_guards_and_the_check_go_together():
    last = run(LOOK, LOOK, LOOK, WRONG, NO, RIGHT, guards=[LoopGuard(), GoalReminder(1)])[-1]
    assert (last.answer, [kind for kind in kinds(last) if "_" in kind]) == ("1930", ["loop_warning"])


def test_a_check_of_a_check_is_one_check():
    inner = ReAct(ScriptedLLM([RIGHT, YES]), [])
    assert kinds(SelfCheck(SelfCheck(inner)).run(GOAL)).count("Evaluation") == 1


# -- in the Stepper


def shown(*replies) -> Stepper:
    """Show a checked run, with token counts as a server gives them."""
    one = agent(*(Reply(reply, usage=Usage(1, 10, 1)) if isinstance(reply, str) else reply for reply in replies))
    return Stepper(one.steps(GOAL), one)


def test_the_check_is_a_step_that_shows_what_was_asked_and_answered():
    stepper = shown(LOOK, WRONG, NO, RIGHT)
    steps = [frame(stepper.branches[0], number) for number in range(6)]
    counted = [(step.kind, step.asked, step.known) for step in steps[3:]]
    assert counted == [("answer", 4, 2), ("check", 0, 0), ("answer", 6, 4)]
    assert (steps[4].title, steps[4].label, steps[4].reply) == ("The answer was checked: not supported.", "check", None)
    text = str(stepper)
    assert "sent to the model, apart from the conversation:\n      Check an answer before it is given." in text
    assert "answered:\n      Thought: Observation 1 says 1930, not 1931.\n      Final Answer: not supported" in text
    assert "> Evaluation (self_check): not supported: Observation 1 says 1930, not 1931." in text
    html = stepper._repr_mimebundle_()["text/html"]
    assert "Sent to the model, apart from the conversation" in html
    assert '<span class="als-badge">not supported</span>' in html
    assert 'data-kind="evaluation"' in html


def test_a_check_that_failed_is_a_step_with_a_problem():
    stepper = shown(LOOK, WRONG, LLMError("rate_limit", "wait"))
    last = frame(stepper.branches[0], 4)
    assert (last.faulty, last.reply, last.asked, last.title) == (True, None, 0, "The run is done: final_answer.")


def test_a_fork_in_the_stepper_is_checked():
    stepper = shown(LOOK, RIGHT, YES, NO, RIGHT)
    assert stepper.receive({"fork": {"run": 0, "step": 3, "field": "action", "text": "Final Answer: 1932"}}) == ""
    assert [frame(stepper.branches[1], number).kind for number in range(3, 6)] == ["answer", "check", "answer"]


def test_the_offline_model_is_asked_as_any_other():
    from agentlib.world import search, weather

    one = SelfCheck(ReAct(LLM("offline"), [search, weather]))
    last = one.run("Is it warmer in Beijing or in Shanghai?")
    (check,) = [event for event in last.events if isinstance(event, Evaluation)]
    assert last.status is Status.DONE
    assert last.answer.startswith("Shanghai is warmer")
    assert check.verdict in ("supported", "not supported", "unknown")
