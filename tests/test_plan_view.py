"""A plan's run in the PlanView and in the Stepper: what is shown of it, in text and in HTML, and what one can do."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_stepper import HOSTILE, Page, fork, html_of

from agentlib import (
    Call,
    FunctionCalling,
    LLMError,
    PlanExecute,
    PlanView,
    ReAct,
    Reply,
    ScriptedLLM,
    SimulatedExecutor,
    State,
    Status,
    Stepper,
    TaskStatus,
    Usage,
    tool,
)
from agentlib.plan_execute.state import PLANNING
from agentlib.widgets import as_html
from agentlib.widgets.frames import frame
from agentlib.widgets.graph_html import SIGNS
from agentlib.widgets.plans import PLANNER
from agentlib.widgets.visible import visible

GOAL = "Compare the two cities."
SHAPES = {"svg", "g", "rect", "path", "text"}


class Worker:
    """A model that answers the first line of its task in brackets; that fails when told to; that pays when told to."""

    model = "worker"

    def chat(self, messages, *, tools=(), stop=()):
        line = next(message.content for message in messages if message.role == "user").splitlines()[0]
        if line.startswith("fail"):
            raise LLMError("unreachable", "the line is dead")
        if line.startswith("pay") and messages[-1].role == "user":
            return Reply("", "tool_calls", Usage(1, 20, 7), (Call("c", "pay", json.dumps({"what": line})),))
        return Reply(f"[{line}]", usage=Usage(1, 10, 5))


@tool(writes=True)
def pay(what: str) -> str:
    """Pay for something."""
    return f"paid {what}"


def task(name, instruction, *after):
    return {"id": name, "instruction": instruction, "depends_on": list(after)}


def plan(*tasks):
    return Reply(json.dumps({"tasks": tasks}), usage=Usage(1, 100, 50))


def planning(*replies, **settings):
    """An agent whose planner gives these replies; tasks end in a fixed order."""
    executor = FunctionCalling(Worker(), [pay])
    return PlanExecute(ScriptedLLM(replies), executor, pool=SimulatedExecutor({"rome": 2.0}), **settings)


CITIES = plan(task("rome", "look at Rome"), task("oslo", "fail at Oslo"), task("report", "${rome}, ${oslo}"))
AGAIN = plan(task("oslo", "look at Oslo"), task("report", "compare ${rome} and ${oslo}"))
PAYING = plan(task("a", "pay rent"), task("b", "pay tax"), task("c", "say so", "a", "b"))


def shown(kind, *replies, **settings):
    agent = planning(*replies, **settings)
    return kind(agent.steps(GOAL), agent)


def press(view, **decision):
    """Press next, with a decision or without."""
    given = {"decision": decision} if decision else {}
    return view.receive({"next": {"run": 0, "shown": len(view.branches[0]), **given}})


def of_class(page, name):
    """Give the attributes and the text of each element of a class."""
    return [(has, "".join(texts)) for _, has, texts in page.elements if has.get("class") == name]


def graphs(view):
    """Give what each graph shows: the status of each task, by its name."""
    found = re.findall(r"<svg width.*?</svg>", html_of(view), re.S)
    named = [[a["aria-label"] for a, _ in of_class(Page(svg), "als-node")] for svg in found]
    return [dict(re.match(r"(\w+): (\w+)", label).groups() for label in labels) for labels in named]


# -- the PlanView


def test_each_step_shows_the_plan_as_it_was_then():
    assert graphs(shown(PlanView, CITIES, AGAIN, "Rome.")) == [
        {"rome": "todo", "oslo": "todo", "report": "todo"},
        {"rome": "running", "oslo": "failed", "report": "todo"},
        {"rome": "done", "oslo": "failed", "report": "todo"},
        {"rome": "done", "oslo": "todo", "report": "todo"},
        {"rome": "done", "oslo": "done", "report": "running"},
        {"rome": "done", "oslo": "done", "report": "done"},
        {"rome": "done", "oslo": "done", "report": "done"},
    ]


def test_the_text_tells_the_run_status_by_status():
    text = str(shown(PlanView, CITIES, AGAIN, "Rome."))
    assert text.startswith(f"PlanView, run 1: 8 steps, done (final_answer)\nQuestion: {GOAL}\n\n-- Step 0 · start")
    assert re.findall(r"^-- Step \d · (.*)", text, re.M) == [
        "start · Nothing is sent yet: 2 messages ready.",
        "plan · A plan of 3 tasks.",
        "oslo · Task oslo failed; rome begins.",
        "rome · Task rome is done.",
        "replan · Plan 2: 1 task kept, 2 to do.",
        "oslo · Task oslo is done; report begins.",
        "report · Task report is done.",
        "answer · The model answers.",
    ]
    third = text.split("-- Step ")[3]
    assert (
        third.splitlines()[1:]
        == [
            "   status running",
            "   Plan 1: 0 of 3 tasks are done, 1 failed, 1 running",
            "   running: rome",
            "   failed: oslo",
            "   todo: report (after rome, oslo)",
            "   > Task oslo (failed): stopped (unreachable): the line is dead",
            "",
            "",
        ][:-1]
    )
    assert text.count("dropped by a replan: oslo (failed)") == 4


def test_every_status_has_a_sign_and_a_place_in_the_text():
    assert set(SIGNS) == set(TaskStatus)
    assert len(set(SIGNS.values())) == len(SIGNS)
    view = shown(PlanView, CITIES, AGAIN, "Rome.")
    page = Page(html_of(view))
    for attributes, text in of_class(page, "als-node"):
        assert attributes["data-status"] in text  # the word, not the colour alone
    assert PLANNER == PLANNING


def test_a_task_is_shown_whole_where_it_changed():
    page = Page(html_of(shown(PlanView, CITIES, AGAIN, "Rome.")))
    tasks = [(a["data-task"], a["data-status"], text) for a, text in of_class(page, "als-task")]
    assert [each[:2] for each in tasks] == [
        *[("0", "todo"), ("1", "todo"), ("2", "todo")],
        *[("0", "running"), ("1", "failed")],
        ("0", "done"),
        *[("1", "todo"), ("2", "todo")],
        *[("1", "done"), ("2", "running")],
        ("2", "done"),
    ]
    done = tasks[-1][2]
    assert "compare ${rome} and ${oslo}" in done  # what it was told by the plan
    assert "compare [look at Rome] and [look at Oslo]\n\nThis is one task of a plan" in done  # and what its model saw
    assert "Call 1 was sent the 2 messages above, and answered:" in done
    assert "What it did, in 1.0 s" in done
    assert "the line is dead" in tasks[4][2]


def test_the_html_reads_without_a_script_and_repeats_no_identifier():
    page = Page(html_of(shown(PlanView, CITIES, AGAIN, "Rome.")))
    steps = [a for t, a, _ in page.elements if t == "details" and a["class"] == "als-step"]
    assert len(steps) == 8
    assert not any("id" in a or ("role" in a and a["role"] == "button") for _, a, _ in page.elements)
    named = [a["aria-label"] for t, a, _ in page.elements if t == "svg"]
    assert named[1] == "Plan 1: 0 of 3 tasks are done, 1 failed, 1 running"
    assert "todo: report (after rome, oslo)" in page.texts("div", "als-states")[1]


def test_a_graph_stands_within_its_picture():
    many = plan(task("a", "x"), *(task(f"t{i}", "x", "a") for i in range(9)), task("z", "x", "t0", "a"))
    html = html_of(shown(PlanView, many, "ok"))
    svg = re.search(r"<svg width=\"(\d+)\" height=\"(\d+)\".*?</svg>", html, re.S)
    width, height = map(int, svg.groups())
    corners = [(float(x), float(y)) for x, y in re.findall(r"<g [^>]*translate\((\S+) (\S+)\)", svg[0])]
    assert len(set(corners)) == 11
    assert all(0 <= x <= width - 156 and 0 <= y <= height - 46 for x, y in corners)


def large(count):
    """A run of a plan of so many tasks, each after one of those before it."""
    return shown(PlanView, plan(*(task(f"t{i}", "look", *[f"t{i // 3}"] * (i > 2)) for i in range(count))), "ok")


def test_of_a_very_large_plan_each_step_draws_a_part():
    view = large(200)
    sizes = [len(graph) for graph in graphs(view)]
    assert sizes[0] == 200
    assert max(sizes[1:]) < 20
    assert "Plan 1: 1 of 200 tasks are done, 2 running; the picture shows what this step was about" in html_of(view)
    assert "todo: t0, t1, t2, " in str(view)
    assert "and 140 more" in str(view)
    small = len(html_of(large(100)))
    print(f"100 tasks: {small:,} characters; 200 tasks: {len(html_of(view)):,}")
    assert len(html_of(view)) < 2.5 * small


def test_both_forms_are_the_same_every_time():
    code = """if True:
        import sys, test_plan_view as t
        for kind in (t.PlanView, t.Stepper):
            view = t.shown(kind, t.CITIES, t.AGAIN, "Rome.", "Oslo.")
            t.fork(view, "task:0", "It is closed.", 3)
            sys.stdout.buffer.write((str(view) + t.html_of(view)).encode())
    """
    command, outputs = [sys.executable, "-c", code], set()
    for seed in ("1", "2"):
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed}
        outputs.add(subprocess.run(command, capture_output=True, check=True, env=environ).stdout)
    assert len(outputs) == 1
    assert b"fork at step 3" in outputs.pop()


def test_a_plan_view_needs_states_of_a_plan():
    with pytest.raises(ValueError, match="PlanExecute agent; this is a State"):
        PlanView(ReAct(ScriptedLLM(["Final Answer: x"]), []).steps(GOAL))
    with pytest.raises(ValueError, match=r"not one state: PlanView\(agent.steps\(goal\), agent\)"):
        PlanView(planning(CITIES).start(GOAL))
    assert repr(PlanView([planning(CITIES).start(GOAL)])) == "PlanView(run 1: 1 steps)"


def hostile_view(kind, text):
    """A run that holds this text wherever a planner, a worker or a person can put one, as far as plans allow it."""
    name = " ".join(text.replace("/", "").split()) or "a"
    first = planning(plan(task(name, f"{text} x"), task("b", "look", name)), Reply(f"{text} y"))
    states = [*first.steps(GOAL)]
    last = states[-1]
    for change in ({"result": text}, {"status": TaskStatus.FAILED, "error": text}):
        last = last.with_run(0, replace(last.runs[0], **change))
        states.append(last)
    return kind(states, first)


@pytest.mark.parametrize("kind", [PlanView, Stepper])
@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1) | st.text(alphabet="<>&\"'= !-abdegilmoprst\n\r\x00", min_size=1) | st.just(HOSTILE))
def test_no_text_adds_an_element(kind, text):
    view = hostile_view(kind, text)
    page = Page(as_html.page(view._runs, can_edit=True, shown=view._step_html))
    plain = {"div", "span", "details", "summary", "pre", "b", "ins", "del"}
    assert {tag for tag, _, _ in page.elements} <= plain | (SHAPES if kind is PlanView else set())
    names = {name for _, attributes, _ in page.elements for name in attributes if not name.startswith("data-")}
    drawn = {"width", "height", "viewbox", "role", "aria-label", "transform", "rx", "x", "y", "d"}
    assert names <= {"class", "dir", "open", "title", "hidden"} | drawn
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", str(view))
    if kind is PlanView:
        assert visible(text) in page.texts("pre", "als-text")


def test_style_and_script_cannot_end_early():
    for kind in (PlanView, Stepper):
        html = html_of(hostile_view(kind, HOSTILE))
        assert html.count("</script") == html.count("</style") == 1


def test_only_what_shows_a_plan_carries_its_script_and_style():
    assert "mountPlan" in html_of(shown(PlanView, CITIES, AGAIN, "x"))
    stepper = html_of(shown(Stepper, CITIES, AGAIN, "x"))
    assert "mountPlan" not in stepper
    assert ".als-task" in stepper
    other = ReAct(ScriptedLLM(['Final Answer: class="als-task" class="als-graph"']), [])
    assert "als-planned" not in html_of(Stepper(other.steps(GOAL), other))


@st.composite
def random_plans(draw, names="abcdef"):
    """A plan whose tasks depend on earlier ones; some fail, some wait for a person."""
    count = draw(st.integers(1, len(names)))
    kinds = draw(st.lists(st.sampled_from(["look", "fail", "pay"]), min_size=count, max_size=count))
    after = [draw(st.lists(st.sampled_from(names[:i]), unique=True, max_size=3)) if i else [] for i in range(count)]
    return plan(*(task(name, f"{kinds[i]} {i}", *after[i]) for i, name in enumerate(names[:count])))


@settings(max_examples=40, deadline=None)
@given(st.lists(random_plans(), min_size=1, max_size=3), st.booleans())
def test_every_run_can_be_shown_and_its_tasks_are_where_the_state_says(plans, approved):
    agent = planning(*plans, *["ok"] * 3)
    states = [*agent.steps(GOAL)]
    while states[-1].status is Status.WAITING:
        states.append(agent.approve(states[-1]) if approved else agent.reject(states[-1], reason="no"))
        states += [*agent.steps(states[-1])][1:]
    view = PlanView(states, agent)
    planned = [state for state in states if state.plan]
    assert graphs(view) == [{task.id: str(run.status) for task, run in state.tasks} for state in planned]
    Page(html_of(Stepper(states, agent)))
    sent = [frame(states, number).asked for number in range(len(states))]
    assert sum(map(bool, sent)) == sum(message.role == "assistant" for message in states[-1].messages)
    assert all(frame(states, number).title != "The state changed." for number in range(len(states)))
    assert str(view).count("\n-- Step ") == len(states)


# -- the Stepper on a plan


def test_the_stepper_tells_the_planners_calls_from_those_within_tasks():
    view = shown(Stepper, CITIES, AGAIN, "Rome.")
    frames = [frame(view.branches[0], number) for number in range(8)]
    assert [(f.kind, f.asked, f.known) for f in frames] == [
        ("start", 0, 0), ("plan", 2, 0), ("task", 0, 0), ("task", 0, 0),
        ("replan", 4, 2), ("task", 0, 0), ("task", 0, 0), ("answer", 6, 4),
    ]  # fmt: skip
    assert [f.removed for f in frames] == [0] * 8
    assert [f.ahead for f in frames] == [
        "ask the model", "run task rome", "run task rome", "ask the model",
        "run task oslo", "run task report", "ask the model", "",
    ]  # fmt: skip
    assert [f.faulty for f in frames] == [False, False, True, *[False] * 5]
    page = Page(html_of(view))
    numbers = [int(a["data-m"]) for _, a, _ in page.elements if "data-m" in a]
    assert sorted(numbers) == list(range(len(view.branches[0][-1].messages)))  # those within tasks are no part of it


def test_the_stepper_shows_what_each_call_within_a_task_was_sent():
    view = shown(Stepper, CITIES, AGAIN, "Rome.")
    asked = view.branches[0][-1].run_of("report").inner.messages
    inside = of_class(Page(html_of(view)), "als-task")[-1][1]
    text = str(view)
    assert "Inside the tasks" in html_of(view)
    for number, message in enumerate(asked):
        assert message.content in inside
        assert f"   task report, message {number}, {message.role}:" in text
    assert "tasks done 1 (+1), replans 0" in text


def test_a_bad_plan_a_failed_replan_and_a_limit_say_what_happened():
    states = shown(Stepper, "No plan.", CITIES, LLMError("timeout", "too slow"), max_replans=1).branches[0]
    titles = [frame(states, number).title for number in (1, 2, 5, 6)]
    assert titles == [
        "The model's reply could not be used.",
        "A plan of 3 tasks.",
        "No new plan came: whoever was asked gave an error.",
        "The run is stopped: max_replans.",
    ]


# -- what one can do


@pytest.mark.parametrize("kind", [PlanView, Stepper])
def test_a_result_is_edited_and_what_was_built_on_it_is_done_again(kind):
    view = shown(kind, CITIES, AGAIN, "Rome.", AGAIN, "Oslo.")
    assert fork(view, "task:0", "It is closed.", 3) == ""
    first, second = view.branches
    assert second[3].run_of("rome").result == "It is closed."
    assert frame(second, 3).title == "A person wrote this result of task rome."
    assert [run[-1].answer for run in (first, second)] == ["Rome.", "Oslo."]
    assert second[-1].results["report"] == "[compare It is closed. and [look at Oslo]]"
    assert Page(html_of(view)).texts("div", "als-run-title")[1] == "fork at step 3: steps 0 to 2 are those of run 1"


def test_a_plan_is_edited_as_json():
    view = shown(PlanView, CITIES, AGAIN, "Rome.", "Both.")
    page = Page(html_of(view))
    fields = [(a["data-edit"], a["data-draft"]) for _, a, _ in page.elements if "data-edit" in a]
    assert [name for name, _ in fields] == ["plan", "task:1", "task:0", "plan", "task:1", "task:2"]
    assert {draft for _, draft in fields} == {""}
    hidden = [text for a, text in ((a, "".join(t)) for _, a, t in page.elements) if "hidden" in a]
    assert json.loads(hidden[0])["tasks"][0] == task("rome", "look at Rome")
    assert fork(view, "plan", hidden[0].replace("fail at Oslo", "see Oslo"), 1) == ""
    assert view.branches[1][-1].answer == "Both."
    assert view.branches[1][-1].results["oslo"] == "[see Oslo]"


def test_a_fork_shows_all_tasks_again_since_its_graph_opens_them_from_its_own_steps():
    view = shown(PlanView, CITIES, AGAIN, "Rome.", AGAIN, "Oslo.")
    fork(view, "task:0", "It is closed.", 3)
    html = as_html.page(view._runs, can_edit=True, shown=view._step_html)
    second = Page(html.split('<div class="als-run"')[2].join(['<div class="als-run"', ""])[: -len("</div>")])
    assert {a["data-task"] for a, _ in of_class(second, "als-task")} == {"0", "1", "2"}


@pytest.mark.parametrize("kind", [PlanView, Stepper])
def test_a_run_that_was_taken_up_later_is_shown_and_goes_on(kind):
    agent = planning(CITIES, AGAIN, "Rome.", plan(task("lima", "look at Lima")), "Lima.")
    done = agent.run(GOAL)
    assert Page(html_of(kind([done], agent))).texts("span", "als-title") == ["The run as it was taken up here."]
    fields = re.findall(r'data-edit="([^"]+)"', html_of(kind([done], agent)))
    assert sorted(fields) == ["plan", "task:0", "task:1", "task:2"]  # of the last plan, not of what it replaced
    view = kind.live(agent, agent.say(done, "And Lima?"))
    assert 'data-edit="' not in html_of(view)  # there is no plan in this turn yet
    for _ in range(3):
        assert press(view) == ""
    assert view.branches[0][-1].answer == "Lima."
    assert "Plan 1: 1 of 1 tasks are done" in str(view) or kind is Stepper


def test_a_call_within_a_task_is_decided_by_its_name():
    view = shown(PlanView, PAYING, "ok")
    waiting = [(a["data-id"], text) for a, text in of_class(Page(html_of(view)), "als-call-waiting")]
    assert [name for name, _ in waiting] == ["a/c", "b/c"]
    assert "This call in task b writes, so it waits for a person" in waiting[1][1]
    assert "agent.approve(state, &#x27;b/c&#x27;)" in html_of(view)
    assert "state = agent.edit(state, 'b/c', arguments={…})" in str(view)
    assert press(view, verdict="approve", call="b/c") == ""
    last = len(view.branches[0]) - 1
    of = frame(view.branches[0], last)
    assert (of.kind, of.label, of.title) == ("decide", "approved", "pay in task b was approved.")
    assert '   > Decision: approved: pay(what="pay tax")' in str(view)
    assert of.ahead == "run task b"
    press(view)
    assert view.branches[0][-1].results == {"b": "[pay tax]"}
    press(view)
    assert view.branches[0][-1].status is Status.WAITING
    press(view, verdict="reject", text="too dear")
    assert frame(view.branches[0], len(view.branches[0]) - 1).title == "pay in task a was rejected."
    for _ in range(3):
        assert press(view) == ""
    assert view.branches[0][-1].answer == "ok"


def test_arguments_of_a_call_within_a_task_are_changed_and_it_waits_again():
    view = shown(Stepper, plan(task("a", "pay rent")), "ok")
    assert press(view, verdict="edit", text='{"what": "half the rent"}', call="a/c") == ""
    of = frame(view.branches[0], len(view.branches[0]) - 1)
    assert of.title == "A person changed the arguments of pay in task a."
    assert [call.arguments for call in of.waiting] == ['{"what": "half the rent"}']
    assert "agent.approve(state))" in str(view)  # the only one needs no name


def test_a_live_view_takes_one_step_for_each_press():
    view = PlanView.live(planning(CITIES, AGAIN, "Rome."), GOAL)
    for _ in range(8):
        assert press(view) == ""
    assert view.branches[0][-1].answer == "Rome."
    assert graphs(view)[1]["rome"] == "done"  # a step runs one task to its end
    seen = [entry["html"] for entry in view.widget.added]
    assert seen == []  # the page held them all when the view was made
    assert "als-graph" in view.widget.page


def test_a_planner_that_is_an_agent_and_waits_is_shown():
    asks = Reply("", "tool_calls", tool_calls=(Call("c", "pay", '{"what": "a map"}'),))
    planner = FunctionCalling(ScriptedLLM([asks, plan(task("a", "look"))]), [pay])
    agent = PlanExecute(planner, FunctionCalling(Worker()), synthesizer=Worker(), pool=SimulatedExecutor())
    view = Stepper(agent.steps(GOAL), agent)
    of = frame(view.branches[0], 1)
    assert (of.kind, of.title) == ("wait", "pay of the planner waits for approval.")
    assert "Inside the planner" in html_of(view)
    assert press(view, verdict="approve", call="(planner)/c") == ""
    press(view)
    assert frame(view.branches[0], 3).kind == "plan"


def test_a_plan_within_a_plan_opens_too():
    inner = PlanExecute(ScriptedLLM([plan(task("deep", "look")), "done"]), Worker(), pool=SimulatedExecutor())
    agent = PlanExecute(ScriptedLLM([plan(task("outer", "plan it")), "ok"]), inner, pool=SimulatedExecutor())
    tasks = [text for _, text in of_class(Page(html_of(PlanView(agent.steps(GOAL), agent))), "als-task")]
    assert any("outer" in text and "deep" in text and "[look]" in text for text in tasks)


def test_states_that_hold_no_plan_yet_are_shown():
    view = PlanView([planning().start(GOAL)])
    assert "There is no plan yet." in html_of(view)
    assert isinstance(view.branches[0][0], State)
