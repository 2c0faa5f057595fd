"""Pictures of states: their data is that of the states, and what is drawn can be told without colours."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlib import (
    Call,
    FunctionCalling,
    LLMError,
    Message,
    PlanExecute,
    PlanState,
    ReAct,
    Reply,
    ScriptedLLM,
    SimulatedExecutor,
    State,
    Task,
)
from agentlib.layering import layered
from agentlib.plots import bars, call_sizes, context_sizes, critical_path, gantt, plan_graph

matplotlib.use("agg")

TASKS = [
    Task("apple", "study"), Task("google", "study"), Task("microsoft", "study"), Task("risks", "fail", ["google"]),
    Task("compare", "compare", ["apple", "google", "microsoft"]),
    Task("report", "write", ["compare", "risks", "apple"]),
]  # fmt: skip
SECONDS = {"apple": 3, "google": 2, "microsoft": 4, "risks": 1.5, "compare": 1}


class Worker:
    """A model that fails at "fail", and answers anything else."""

    def chat(self, messages, *, tools=(), stop=()):
        if messages[1].content.startswith("fail"):
            raise LLMError("unreachable", "gone")
        return Reply("a result")


def states(*replies: str, **settings) -> list[PlanState]:
    """Give a run of TASKS, of which one fails."""
    agent = PlanExecute(ScriptedLLM(replies), Worker(), pool=SimulatedExecutor(SECONDS), **settings)
    return [*agent.steps(agent.fork(agent.start("Compare."), plan=TASKS))]


def texts(figure) -> list[str]:
    return [text.get_text().strip() for text in figure.axes[0].texts]


# -- the plan as a graph


def test_the_graph_shows_each_task_with_its_status_in_words():
    figure = plan_graph(states(max_replans=0)[-1])
    shown = texts(figure)
    assert dict(zip(shown[::2], shown[1::2], strict=True)) == {
        "apple": "done", "google": "done", "microsoft": "done", "risks": "failed", "compare": "done", "report": "todo",
    }  # fmt: skip
    assert figure.axes[0].get_title() == "4 of 6 tasks are done, 1 failed"


def test_the_graph_shows_what_runs():
    titles = [plan_graph(state).axes[0].get_title() for state in states(max_replans=0)[:3]]
    assert titles == ["0 of 6 tasks are done", "1 of 6 tasks are done, 3 running", "2 of 6 tasks are done, 2 running"]


def test_a_line_leads_from_each_dependency_to_its_task():
    figure = plan_graph(states(max_replans=0)[-1])
    arrows = [patch for patch in figure.axes[0].patches if type(patch).__name__ == "FancyArrowPatch"]
    assert len(arrows) == sum(len(task.depends_on) for task in TASKS)


def test_a_state_without_a_plan_cannot_be_drawn():
    for draw in (plan_graph, gantt):
        with pytest.raises(ValueError, match="no plan to draw"):
            draw(State("goal"))


@st.composite
def graphs(draw) -> dict[str, list[str]]:
    """Give dependencies without a cycle."""
    size = draw(st.integers(1, 12))
    return {str(i): [str(j) for j in sorted(draw(st.sets(st.integers(0, i - 1))) if i else ())] for i in range(size)}


@given(graphs())
def test_tasks_stand_after_their_dependencies_and_never_on_each_other(dependencies):
    layout = layered(dependencies)
    assert list(layout.places) == list(dependencies)
    assert set(layout.lines) == {(before, after) for after, needed in dependencies.items() for before in needed}
    for (before, after), line in layout.lines.items():
        assert (line[0], line[-1]) == (layout.places[before], layout.places[after])
        assert all(right[0] - left[0] == 1 for left, right in pairwise(line))
    taken = [*layout.places.values(), *(place for line in layout.lines.values() for place in line[1:-1])]
    for layer in {x for x, _ in taken}:
        heights = sorted(y for x, y in taken if x == layer)
        assert all(high - low > 0.999 for low, high in pairwise(heights))


def test_a_chain_is_a_straight_line_and_a_diamond_is_even():
    assert layered({"a": [], "b": ["a"], "c": ["b"]}).places == {"a": (0, 0), "b": (1, 0), "c": (2, 0)}
    places = layered({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}).places
    assert places["a"][1] == places["d"][1] == (places["b"][1] + places["c"][1]) / 2


def test_lines_that_need_not_cross_do_not():
    places = layered({"a": [], "b": [], "x": ["b"], "y": ["a"]}).places
    assert (places["a"][1] < places["b"][1]) == (places["y"][1] < places["x"][1])


# -- the run


def test_the_bars_are_the_times_of_the_tasks():
    drawn = {bar.task: (bar.begin, bar.end, bar.status, bar.critical) for bar in bars(states(max_replans=0)[-1])}
    assert drawn == {
        "apple": (0, 3, "done", False),
        "google": (0, 2, "done", False),
        "microsoft": (0, 4, "done", True),
        "risks": (2, 3.5, "failed", False),
        "compare": (4, 5, "done", True),
    }
    assert critical_path(states(max_replans=0)[-1]) == (("microsoft", "compare"), 5)


def test_the_chart_shows_the_bars_and_the_length_of_the_critical_path():
    figure = gantt(states(max_replans=0)[-1])
    axes = figure.axes[0]
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(0, 3), (0, 2), (0, 4), (2, 1.5), (4, 1)]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["apple", "google", "microsoft", "risks", "compare"]
    assert axes.lines[0].get_xdata()[0] == 5
    assert axes.get_title() == "5.0 s; critical path 5.0 s, one after the other 11.5 s"
    assert texts(figure) == ["failed", "critical path"]


def test_a_task_that_a_revision_dropped_is_drawn_too():
    last = states('{"tasks": [{"id": "report", "instruction": "write"}]}', "ok")[-1]
    assert [bar.task for bar in bars(last)] == ["apple", "google", "microsoft", "risks", "compare", "report"]
    assert [bar.task for bar in bars(last) if bar.critical] == ["microsoft", "compare"]


def test_a_run_in_which_no_times_were_noted_cannot_be_drawn():
    agent = PlanExecute(ScriptedLLM(["ok"]), Worker())
    with pytest.raises(ValueError, match=r"give the agent a clock, such as time\.monotonic"):
        gantt(agent.run(agent.fork(agent.start("g"), plan=[Task("a", "x")])))


# -- the context


def test_the_sizes_are_those_of_the_requests():
    model = ScriptedLLM(['{"tasks": [{"id": "a", "instruction": "one"}, {"id": "b", "instruction": "two"}]}', "ok"])
    sent = []

    class Counted(Worker):
        def chat(self, messages, *, tools=(), stop=()):
            sent.append(sum(len(message.content) for message in messages))
            return super().chat(messages)

    last = PlanExecute(model, Counted(), pool=SimulatedExecutor()).run("goal")
    outer = [sum(len(message["content"]) for message in request["messages"]) for request in model.requests]
    assert call_sizes(last) == (outer[0], *sent, outer[1])


def test_the_sizes_of_a_conversation_grow_and_calls_count_too():
    model = ScriptedLLM([Reply("", tool_calls=(Call("c", "look", '{"x": 1}'),)), "done"])
    last = FunctionCalling(model, [look]).run("goal")
    opening = sum(len(message.content) for message in last.messages[:2])
    call = len('[{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{\\"x\\": 1}"}}]')
    assert call_sizes(last) == (opening, opening + call + len("found 1"))
    assert call_sizes(last, count=lambda text: 1) == (2, 4)


def look(x: int) -> str:
    """Look."""
    return f"found {x}"


def test_each_line_is_labelled_with_its_run_and_the_title_compares_them():
    plan, react = states(max_replans=0)[-1], ReAct(ScriptedLLM(["Final Answer: 1"])).run("goal")
    figure = context_sizes({"plan": plan, "ReAct": react, "nothing": State("g", (Message("user", "g"),))})
    lines = figure.axes[0].lines
    assert [tuple(line.get_ydata()) for line in lines] == [call_sizes(plan), call_sizes(react), ()]
    assert texts(figure) == ["plan", "ReAct"]
    assert len({line.get_marker() for line in lines}) == 3
    title = f"plan {max(call_sizes(plan)):,}, ReAct {max(call_sizes(react)):,}, nothing 0"
    assert figure.axes[0].get_title() == f"Largest request in characters: {title}"


def test_the_pictures_can_be_saved_and_none_stays_open(tmp_path):
    from matplotlib import pyplot

    last = states(max_replans=0)[-1]
    for number, figure in enumerate((plan_graph(last), gantt(last), context_sizes({"plan": last}))):
        figure.savefig(tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").stat().st_size > 5_000
    assert not pyplot.get_fignums()


def test_matplotlib_is_imported_only_to_draw():
    loaded = "[name for name in ('matplotlib', 'openai', 'json_repair') if name in sys.modules]"
    code = f"import sys, agentlib.plots, agentlib.plan_execute; print({loaded})"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"
