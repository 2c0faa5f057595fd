import builtins
import json
from typing import Annotated

import pytest
from pydantic import AfterValidator

from agentlib import (
    Call,
    Decision,
    FunctionCalling,
    Message,
    Observation,
    Problem,
    ReAct,
    Reply,
    ScriptedLLM,
    SelfCheck,
    State,
    Status,
    Tool,
    tool,
)
from agentlib.approval import ask_in_terminal, attended, reject_all, waiting
from agentlib.offline.checks import check


class Shop:
    """What the tools of a test change."""

    def __init__(self) -> None:
        self.refunds: list[tuple[str, int]] = []

    def refund(self, order: str, amount: int) -> str:
        """Pay an order back."""
        self.refunds.append((order, amount))
        return f"paid {amount} for {order}"

    def look_up(self, order: str) -> str:
        """Look an order up."""
        return f"{order} is broken"

    @property
    def tools(self) -> list[Tool]:
        return [Tool(self.look_up), Tool(self.refund, writes=True)]


def refund(order: str = "A-1", amount: object = 5, call_id: str = "w") -> Call:
    return Call(call_id, "refund", json.dumps({"order": order, "amount": amount}))


def look_up(call_id: str = "r") -> Call:
    return Call(call_id, "look_up", '{"order": "A-1"}')


def asks(*calls: Call) -> Reply:
    return Reply("", "tool_calls", tool_calls=calls)


def agent(shop: Shop, *replies: str | Reply) -> FunctionCalling:
    return FunctionCalling(ScriptedLLM(replies), shop.tools)


def sendable(state: State) -> bool:
    messages = [message.to_wire() for message in (*state.messages, Message("user", "Thanks."))]
    check({"model": "offline", "messages": messages}, "offline")
    return True


def results(state: State) -> list[tuple[str, str]]:
    return [(e.call_id, e.kind) for e in state.events if isinstance(e, Observation)]


# -- waiting


def test_a_call_that_writes_waits_and_nothing_is_written():
    shop = Shop()
    state = agent(shop, asks(refund())).run("q")
    assert (state.status, state.reason, shop.refunds) == (Status.WAITING, "approval", [])
    assert (state.pending[0].name, state.pending[0].arguments) == ("refund", '{"order": "A-1", "amount": 5}')
    assert state.answer is None


def test_calls_before_it_run_at_once_and_those_after_it_wait_with_it():
    shop = Shop()
    one = agent(shop, asks(look_up("1"), look_up("2"), refund(), look_up("3")), "done")
    state = one.run("q")
    assert results(state) == [("1", "ok"), ("2", "ok")] and [call.id for call in state.pending] == ["w", "3"]
    done = one.run(one.approve(state))
    assert [call_id for call_id, _ in results(done)] == ["1", "2", "w", "3"] and sendable(done)


def test_a_step_of_a_state_that_waits_is_the_state_and_a_new_turn_is_refused():
    one = agent(Shop(), asks(refund()))
    state = one.run("q")
    assert one.step(state) is state and one.run(state) is state
    with pytest.raises(ValueError, match="this state is waiting"):
        one.say(state, "hello?")


def test_a_call_that_cannot_run_bothers_nobody():
    shop = Shop()
    state = agent(shop, asks(refund(amount="much")), "sorry").run("q")
    assert results(state) == [("w", "bad_arguments")] and state.answer == "sorry"


# -- yes


def test_what_was_approved_runs_exactly_and_in_a_step_of_its_own():
    shop = Shop()
    one = agent(shop, asks(refund(), look_up()), "done")
    approved = one.approve(one.run("q"))
    assert (approved.status, shop.refunds) == (Status.RUNNING, [])
    after = one.step(approved)
    assert shop.refunds == [("A-1", 5)] and results(after) == [("w", "ok")] and after.approved == ()
    assert one.run(after).answer == "done"
    assert [e.verdict for e in after.events if isinstance(e, Decision)] == ["approved"]


def test_a_second_approval_changes_nothing():
    shop = Shop()
    one = agent(shop, asks(refund()), "done")
    approved = one.approve(one.run("q"), "w")
    assert one.approve(approved) is approved and one.approve(approved, "w") is approved
    assert one.reject(approved, "w", "too late") is approved
    done = one.run(approved)
    assert one.approve(done, "w") is done and one.run(one.approve(done)) == done and shop.refunds == [("A-1", 5)]


def test_an_approval_is_no_approval_of_the_next_call_like_it():
    shop = Shop()
    one = agent(shop, asks(refund()), asks(refund(call_id="w2")), "done")
    state = one.run(one.approve(one.run("q")))
    assert (state.status, state.pending[0].id, shop.refunds) == (Status.WAITING, "w2", [("A-1", 5)])


def test_two_calls_that_write_are_decided_one_after_the_other():
    shop = Shop()
    one = agent(shop, asks(refund(), refund("A-2", call_id="w2")), "done")
    state = one.run("q")
    with pytest.raises(ValueError, match="w2 waits behind w; decide on w first"):
        one.approve(state, "w2")
    state = one.run(one.approve(state))
    assert state.pending[0].id == "w2" and shop.refunds == [("A-1", 5)]
    done = one.run(one.reject(state, "w2", "one is enough"))
    assert results(done) == [("w", "ok"), ("w2", "rejected")] and shop.refunds == [("A-1", 5)] and sendable(done)


def test_a_call_that_never_was_is_said():
    one = agent(Shop(), asks(refund()))
    with pytest.raises(ValueError, match="this state holds no call 'x'"):
        one.approve(one.run("q"), "x")


# -- no


def test_a_rejection_reaches_the_model_with_its_reason():
    shop = Shop()
    one = agent(shop, asks(refund()), "I did not refund it.")
    done = one.run(one.reject(one.run("q"), reason="it is too much"))
    assert shop.refunds == [] and done.answer == "I did not refund it."
    assert done.messages[3] == Message("tool", "Error: rejected by a person: it is too much", tool_call_id="w")
    assert [str(e) for e in done.events if isinstance(e, Decision)] == ["Decision: rejected: it is too much"]


# -- another


def test_an_edited_call_waits_again_as_it_is_now():
    shop = Shop()
    one = agent(shop, asks(look_up(), refund()), "done")
    edited = one.edit(one.run("q"), arguments={"order": "A-1", "amount": 3})
    assert edited.status is Status.WAITING and one.run(edited) == edited and shop.refunds == []
    assert json.loads(edited.messages[2].tool_calls[1].arguments) == {"order": "A-1", "amount": 3}
    assert edited.pending[0].edited and edited.pending[0] in edited.events
    done = one.run(one.approve(edited))
    assert shop.refunds == [("A-1", 3)] and sendable(done)


def test_arguments_that_do_not_fit_are_refused_and_nothing_is_lost():
    one = agent(Shop(), asks(refund()))
    state = one.run("q")
    for wrong in ({"order": "A-1"}, '{"order": "A-1", "amount": "much"}', "no JSON"):
        with pytest.raises(ValueError, match="these arguments do not fit refund: "):
            one.edit(state, arguments=wrong)
    assert state.status is Status.WAITING


def test_a_fork_that_changes_an_approved_call_asks_again():
    shop = Shop()
    one = agent(shop, asks(refund()), "done")
    approved = one.approve(one.run("q"))
    fork = one.run(one.fork(approved, action='refund(order="A-1", amount=500)'))
    assert (fork.status, shop.refunds) == (Status.WAITING, [])


# -- over time


def test_a_state_that_waits_can_be_saved_and_decided_another_day(tmp_path):
    shop = Shop()
    agent(shop, asks(refund())).run("q").save(tmp_path / "s.json")
    other_day = agent(shop, "done")
    assert other_day.run(other_day.approve(State.load(tmp_path / "s.json"))).answer == "done"
    assert shop.refunds == [("A-1", 5)]


def test_an_approved_write_whose_result_was_lost_waits_again(tmp_path):
    shop = Shop()
    one = agent(shop, asks(refund()), "done")
    approved = one.approve(one.run("q"))
    approved.save(tmp_path / "s.json")
    one.step(approved)  # it ran, and then the process died before this state was saved
    loaded = State.load(tmp_path / "s.json")
    assert (loaded.status, loaded.reason, loaded.approved) == (Status.WAITING, "approval", ())
    assert one.run(loaded) == loaded and shop.refunds == [("A-1", 5)]
    (problem,) = (event for event in loaded.events if isinstance(event, Problem))
    assert problem.kind == "unrecorded_write" and "may have run" in problem.text


def test_an_interrupt_in_a_write_says_that_it_may_have_had_its_effect():
    @tool(writes=True)
    def pay() -> str:
        """Pay."""
        raise KeyboardInterrupt

    one = FunctionCalling(ScriptedLLM([asks(Call("w", "pay", ""), Call("v", "pay", ""))]), [pay])
    state = one.run(one.approve(one.run("q")))
    assert state.status is Status.INTERRUPTED and results(state) == [("w", "cancelled"), ("v", "not_executed")]
    assert "it may have had its effect" in state.messages[3].content and sendable(state)


# -- other agents


def test_the_text_protocol_waits_too():
    shop = Shop()
    one = ReAct(ScriptedLLM(['Thought: t\nAction: refund(order="A-1", amount=5)', "Final Answer: done"]), shop.tools)
    state = one.run("q")
    assert (state.status, shop.refunds) == (Status.WAITING, [])
    edited = one.edit(state, arguments={"order": "A-1", "amount": 4})
    assert edited.messages[2].content == 'Thought: t\nAction: refund(order="A-1", amount=4)'
    assert one.run(one.approve(edited)).answer == "done" and shop.refunds == [("A-1", 4)]


def test_a_checked_agent_waits_too():
    shop = Shop()
    verdict = "Thought: fine\nFinal Answer: supported"
    one = SelfCheck(agent(shop, asks(refund()), "done", verdict))
    state = one.run("q")
    assert one.run(one.approve(state)).answer == "done" and shop.refunds == [("A-1", 5)]
    assert one.edit(state, arguments={"order": "A-2", "amount": 1}).pending[0].arguments != state.pending[0].arguments


# -- what must not get around it


def test_a_call_whose_arguments_only_fit_later_is_not_run_without_approval():
    seen, paid = [], []

    def known(order: str) -> str:
        if order not in seen:
            raise ValueError("look it up first")
        return order

    def look(order: str) -> str:
        """Look an order up."""
        seen.append(order)
        return "found"

    def pay(order: Annotated[str, AfterValidator(known)]) -> str:
        """Pay."""
        paid.append(order)
        return "paid"

    for first in ([], [Call("a", "look", '{"order": "A"}')]):
        seen.clear()
        calls = asks(*first, Call("b", "pay", '{"order": "A"}'))
        state = FunctionCalling(ScriptedLLM([calls, "done"]), [look, Tool(pay, writes=True)]).run("q")
        assert paid == [] and state.status is (Status.WAITING if first else Status.DONE)


def test_a_call_that_writes_and_ends_the_run_is_refused_beside_others_before_anybody_is_asked():
    shop = Shop()
    hand_in = Tool(shop.refund, writes=True, final=True)
    one = FunctionCalling(ScriptedLLM([asks(look_up(), refund()), asks(refund(call_id="v"))]), [shop.look_up, hand_in])
    state = one.run("q")
    assert results(state) == [("r", "ok"), ("w", "not_alone")] and state.pending[0].id == "v"
    assert one.run(one.approve(state)).answer == "paid 5 for A-1"


def test_a_decision_is_forgotten_when_its_call_is_open_again():
    one = agent(Shop(), asks(look_up(), refund()), "done")
    fork = one.fork(one.approve(one.run("q")), observation="it is whole")
    assert not any(isinstance(event, Decision) for event in fork.events) and fork.approved == ()
    assert one.run(fork).status is Status.WAITING


def test_a_call_cannot_be_approved_before_it_waits():
    one = agent(Shop(), asks(refund()))
    asked = one.step(one.start("q"))
    with pytest.raises(ValueError, match="w does not wait yet; take a step first"):
        one.approve(asked, "w")
    assert one.approve(asked) is asked


def test_arguments_that_are_no_json_and_a_tool_that_is_gone_are_said_in_one_line():
    one = agent(Shop(), asks(refund()))
    state = one.run("q")
    with pytest.raises(ValueError, match="these arguments do not fit refund"):
        one.edit(state, arguments={"order": {1, 2}})
    with pytest.raises(ValueError, match="this agent has no tool 'refund'"):
        FunctionCalling(ScriptedLLM([]), []).edit(state, arguments={})


# -- who decides


def test_unattended_everything_is_rejected():
    shop = Shop()
    *_, last = attended(agent(shop, asks(refund()), asks(refund("A-2")), "nothing was done"), "q", reject_all)
    assert shop.refunds == [] and last.answer == "nothing was done"
    assert all("nobody was there" in m.content for m in last.messages if m.role == "tool")


@pytest.mark.parametrize(
    ("typed", "refunds", "said"),
    [
        (["y"], [("A-1", 5)], "paid 5 for A-1"),
        ([" YES "], [("A-1", 5)], "paid 5 for A-1"),
        (["n"], [], "Error: rejected by a person"),
        ([""], [], "Error: rejected by a person"),
        (["it is too much"], [], "Error: rejected by a person: it is too much"),
        (["e", '{"order": "A-1", "amount": 2}', "y"], [("A-1", 2)], "paid 2 for A-1"),
        (["e", "two", "e", '{"amount": 2}', "n"], [], "Error: rejected by a person"),
        ([], [], "Error: not approved: nobody was there to approve it"),
        (["e"], [], "Error: not approved: nobody was there to approve it"),
    ],
)
def test_a_person_is_asked_in_the_terminal(monkeypatch, capsys, typed, refunds, said):
    lines = iter(typed)

    def read(prompt: str) -> str:
        line = next(lines, None)
        if line is None:
            raise EOFError
        return line

    monkeypatch.setattr(builtins, "input", read)
    shop = Shop()
    *_, last = attended(agent(shop, asks(refund()), "done"), "q", ask_in_terminal)
    assert shop.refunds == refunds and last.messages[3].content == said and last.answer == "done"
    assert 'refund(order="A-1", amount=5)' in capsys.readouterr().out


def test_the_call_that_waits_is_found():
    one = agent(Shop(), asks(refund()), "done")
    state = one.run("q")
    assert waiting(state) is state.pending[0] and waiting(one.approve(state)) is None
