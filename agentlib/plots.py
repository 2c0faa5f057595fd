"""Pictures of states: functions that take states and give a matplotlib figure. What they draw can be had as data too.

    plan_graph(state)                                  # the plan, each task with its status
    gantt(state)                                       # when each task ran, against the critical path
    context_sizes({"plan": state, "ReAct": other})     # how much each model call was sent

matplotlib is imported when a figure is made. States are only read, and no strategy is imported.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from .layering import layered
from .state import Message, State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY, LIGHT, INK = "#2f5d8a", "#d98c3f", "#8a93a3", "#e6e9ee", "#1f2430"
FILLS = {"done": BLUE, "failed": ORANGE, "running": LIGHT, "waiting": LIGHT, "todo": "white"}
EDGES = {"done": BLUE, "failed": ORANGE, "running": BLUE, "waiting": ORANGE, "todo": GREY}
DASHES = {"waiting": "--", "todo": ":"}  # so that a status can be told without its colour
MARKERS = "osD^v"
LARGEST = 60  # inches


# -- the plan


def plan_graph(state: State) -> Figure:
    """Draw the plan from left to right: each task after those that it depends on, with its status.

    Raises ValueError for a state without a plan.
    """
    tasks = _tasks(state)
    layout = layered({task.id: task.depends_on for task, _ in tasks})
    across = [x for x, _ in layout.places.values()]
    heights = [y for line in layout.lines.values() for _, y in line] + [y for _, y in layout.places.values()]
    figure, axes = _axes(2.2 * max(across) + 2.4, 0.8 * (max(heights) - min(heights)) + 1.5)
    for line in layout.lines.values():
        _draw_line(axes, line)
    for task, run in tasks:
        _draw_task(axes, layout.places[task.id], task, run.status)
    axes.set(xlim=(-0.55, max(across) + 0.55), ylim=(max(heights) + 0.55, min(heights) - 0.55))
    axes.set_axis_off()
    axes.set_title(plan_title(state))
    return figure


def plan_title(state: State) -> str:
    """Say how far a plan is."""
    counts = Counter(str(run.status) for _, run in _tasks(state))
    others = [f"{counts[each]} {each}" for each in ("failed", "waiting", "running") if counts[each]]
    return ", ".join([f"{counts['done']} of {counts.total()} tasks are done", *others])


def _draw_line(axes: Any, line: tuple) -> None:
    """Draw a line that leaves each place, and arrives at the next, level."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    bends = [(line[0][0] + 0.42, line[0][1]), *line[1:-1], (line[-1][0] - 0.42, line[-1][1])]
    points, codes = bends[:1], [Path.MOVETO]
    for (x, y), (to_x, to_y) in pairwise(bends):
        middle = (x + to_x) / 2
        points += [(middle, y), (middle, to_y), (to_x, to_y)]
        codes += [Path.CURVE4] * 3
    arrow = FancyArrowPatch(path=Path(points, codes), arrowstyle="-|>", mutation_scale=9, color=GREY, linewidth=1)
    axes.add_patch(arrow)


def _draw_task(axes: Any, place: tuple, task: Any, status: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y = place
    box = FancyBboxPatch((x - 0.4, y - 0.3), 0.8, 0.6, boxstyle="round,pad=0.02", mutation_aspect=2.5)
    box.set(facecolor=FILLS[status], edgecolor=EDGES[status], linestyle=DASHES.get(status, "-"), linewidth=1.5)
    axes.add_patch(box)
    color = "white" if status == "done" else INK
    text = {"color": color, "ha": "center", "va": "center"}
    axes.text(x, y - 0.12, shorten(task.id, 22, placeholder="…") or "…", fontsize=9, weight="bold", **text)
    axes.text(x, y + 0.14, str(status), fontsize=8, **text)


# -- the run


@dataclass(frozen=True)
class Bar:
    """When a task ran, in seconds since the first began. One that has not ended lasts until the last moment noted."""

    task: str
    status: str
    begin: float
    end: float
    critical: bool


def bars(state: State) -> tuple[Bar, ...]:
    """Give a bar for each task that has begun, in the order in which they did, those of dropped tasks too.

    `critical` marks the longest chain of tasks that waited for each other. Raises ValueError when no times were noted.
    """
    runs = [(each.task, each.run) for each in getattr(state, "dropped", ())] + _tasks(state)
    begun = sorted((pair for pair in runs if pair[1].started is not None), key=lambda pair: pair[1].started)
    if not begun:
        raise ValueError("no times were noted; give the agent a clock, such as time.monotonic, or a SimulatedExecutor")
    first = begun[0][1].started
    last = max(run.started if run.finished is None else run.finished for _, run in begun)
    ends = {id(run): last if run.finished is None else run.finished for _, run in begun}
    path, _ = critical_path(state)
    kept = {id(run) for _, run in _tasks(state)}
    return tuple(
        Bar(task.id, str(run.status), run.started - first, ends[id(run)] - first, task.id in path and id(run) in kept)
        for task, run in begun
    )


def critical_path(state: State) -> tuple[tuple[str, ...], float]:
    """Give the chain of tasks that took longest, and how many seconds: no run is shorter, on any number of workers."""
    took = {task.id: 0.0 if None in (run.started, run.finished) else run.finished - run.started
            for task, run in _tasks(state)}  # fmt: skip
    return state.plan.critical_path(lambda task: took[task.id])


def gantt(state: State) -> Figure:
    """Draw when each task ran. The bars of the critical path are orange, and its length is a line."""
    drawn, (_, length) = bars(state), critical_path(state)
    figure, axes = _axes(7, 0.32 * len(drawn) + 1.3)
    for row, bar in enumerate(drawn):
        hatch = {"hatch": "////", "edgecolor": "white"} if bar.status == "failed" else {}
        axes.barh(row, bar.end - bar.begin, left=bar.begin, height=0.7, color=ORANGE if bar.critical else BLUE, **hatch)
        if bar.status != "done":
            axes.annotate(f" {bar.status}", (bar.end, row), va="center", fontsize=8, color=INK)
    axes.axvline(length, color=GREY, linestyle="--", linewidth=1)
    axes.annotate("critical path ", (length, -0.55), ha="right", va="bottom", fontsize=8, color=ORANGE, weight="bold")
    axes.set_yticks(range(len(drawn)), [shorten(bar.task, 30, placeholder="…") or "…" for bar in drawn])
    axes.set(xlabel="seconds", ylim=(len(drawn) - 0.4, -1.2))
    axes.set_title(gantt_title(state))
    return figure


def gantt_title(state: State) -> str:
    """Compare how long a run took with its critical path, and with its tasks one after the other."""
    drawn, (_, length) = bars(state), critical_path(state)
    took, alone = max(bar.end for bar in drawn), sum(bar.end - bar.begin for bar in drawn)
    return f"{took:.1f} s; critical path {length:.1f} s, one after the other {alone:.1f} s"


# -- the context


def call_sizes(state: State, count: Callable[[str], int] = len) -> tuple[int, ...]:
    """Give how much each model call of a run was sent, call by call: in characters, or in what `count` counts.

    Calls within the tasks of a plan stand where their task ended. Where a guard cut messages, what was cut is missing.
    """
    sizes: list[int] = []
    within = _inner_states(state)
    for at, message in enumerate(state.messages):
        if message.role == "assistant":
            sizes.append(sum(count(_sent(each)) for each in state.messages[:at]))
            sizes += [size for inner in within.get(at, ()) for size in call_sizes(inner, count)]
    return tuple(sizes)


def context_sizes(runs: Mapping[str, State], count: Callable[[str], int] = len, unit: str = "characters") -> Figure:
    """Draw how much each model call of some runs was sent, one line for each run, by its name."""
    found = {name: call_sizes(state, count) for name, state in runs.items()}
    figure, axes = _axes(7, 3.4)
    colors = [BLUE, ORANGE, GREY, INK]
    for i, (name, sizes) in enumerate(found.items()):
        style = {"color": colors[i % len(colors)], "marker": MARKERS[i % len(MARKERS)], "markersize": 4}
        axes.plot(range(1, len(sizes) + 1), sizes, **style)
        if sizes:
            axes.annotate(f" {name}", (len(sizes), sizes[-1]), va="center", color=style["color"], weight="bold")
    axes.set(xlabel="model call", ylabel=f"{unit} sent", ylim=(0, None))
    axes.xaxis.get_major_locator().set_params(integer=True)  # there is no half a call
    axes.margins(x=0.12)
    axes.set_title(context_title(found, unit))
    return figure


def context_title(sizes: Mapping[str, tuple[int, ...]], unit: str = "characters") -> str:
    """Say how large the largest request of each run was."""
    largest = ", ".join(f"{name} {max(each, default=0):,}" for name, each in sizes.items())
    return f"Largest request in {unit}: {largest}"


def _inner_states(state: State) -> dict[int, list[State]]:
    """Give the states of a plan's tasks, by the message of the plan in which each was done."""
    runs = {(each.task.id, str(each.run.status)): each.run for each in getattr(state, "dropped", ())}
    runs |= {(task.id, str(run.status)): run for task, run in getattr(state, "tasks", ())}
    found: dict[int, list[State]] = {}
    for event in state.events:
        run = runs.get((getattr(event, "task", None), str(getattr(event, "status", ""))))
        if run is not None and run.inner is not None:
            found.setdefault(event.message, []).append(run.inner)
    return found


def _sent(message: Message) -> str:
    calls = [call.to_wire() for call in message.tool_calls]
    return message.content + (json.dumps(calls, ensure_ascii=False) if calls else "")


# -- what all share


def _tasks(state: State) -> list[tuple[Any, Any]]:
    if getattr(state, "plan", None) is None:
        raise ValueError("this state has no plan to draw")
    return list(state.tasks)


def _axes(width: float, height: float) -> tuple[Figure, Any]:
    """Make a white figure: on a dark page it stands as a card, and its ink stays readable."""
    from matplotlib import pyplot

    size = (min(width, LARGEST), min(height, LARGEST))
    figure, axes = pyplot.subplots(figsize=size, layout="constrained", facecolor="white")
    pyplot.close(figure)  # else a notebook would show it twice: as an open figure, and as the value of the cell
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
