"""The graph of a plan as SVG: tasks in layers by depth, each with its status as a word, a sign, a line and a colour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from unicodedata import east_asian_width

from ..layering import Layout, layered
from ..plots import plan_title
from ..state import State
from .message_html import escaped
from .plans import plan_number, tasks_of

WIDE, HIGH = 156, 46  # of a task, in pixels
ACROSS, DOWN = WIDE + 52, HIGH + 16  # from one to the next
EDGE = 6  # free around all of them
MANY = 60  # tasks; of more, each step draws a part, else the page would grow with the square of their number
LONGEST = 17  # letters of a name that fit into a task
SIGNS = {
    "done": "M1 6.5 4.5 10 11 2.5", "failed": "M2 2 10 10M10 2 2 10", "running": "M3 1.5v9L10.5 6z",
    "waiting": "M4 2v8M8 2v8", "todo": "M6 1.8a4.2 4.2 0 1 0 .01 0z",
}  # fmt: skip


def graph_html(state: State, keys: Mapping[str, int], changed: Iterable[str]) -> str:
    """Draw the plan of a state. `keys` number the tasks by their ids, for a script.

    Of a plan with very many tasks, those are drawn that a step `changed`, with their neighbours, and those that run,
    wait or have failed.
    """
    tasks = tasks_of(state)
    if len(tasks) > MANY:
        near = _near(state, set(changed))
        tasks = tuple(pair for pair in tasks if pair[0].id in near)
    if not tasks:
        return '<div class="als-graph"></div>'
    drawn = {task.id for task, _ in tasks}
    layout = _layout(tuple((task.id, tuple(each for each in task.depends_on if each in drawn)) for task, _ in tasks))
    spots = [*layout.places.values(), *(place for line in layout.lines.values() for place in line)]
    top, bottom, right = min(y for _, y in spots), max(y for _, y in spots), max(x for x, _ in spots)
    width, height = right * ACROSS + WIDE + 2 * EDGE, (bottom - top) * DOWN + HIGH + 2 * EDGE
    done = {task.id for task, run in tasks if run.status == "done"}
    lines = "\n".join(_line(line, top, ends[0] in done) for ends, line in layout.lines.items())
    # A page that shows no pictures shows their texts: the commas, which no picture shows, keep them apart there.
    nodes = ",\n".join(_node(*pair, layout.places[pair[0].id], top, keys[pair[0].id]) for pair in tasks)
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    name = f'role="img" aria-label="{escaped(caption(state))}"'
    return f'<div class="als-graph"><svg {size} {name}>\n{lines}\n{nodes}\n</svg></div>'


def _near(state: State, changed: set[str]) -> set[str]:
    tasks = tasks_of(state)
    before = {each for task, _ in tasks if task.id in changed for each in task.depends_on}
    after = {task.id for task, _ in tasks if changed.intersection(task.depends_on)}
    return changed | before | after | {task.id for task, run in tasks if run.status in ("running", "waiting", "failed")}


def caption(state: State) -> str:
    """Say how far a plan is."""
    return f"Plan {plan_number(state)}: {plan_title(state)}"


def described(task, run) -> str:
    """Say in words what a task of the graph shows."""
    after = f", after {', '.join(task.depends_on)}" if task.depends_on else ""
    return f"{task.id}: {run.status}{after}"


@lru_cache(maxsize=16)
def _layout(dependencies: tuple[tuple[str, tuple[str, ...]], ...]) -> Layout:
    return layered(dict(dependencies))


def _node(task, run, place: tuple[float, float], top: float, key: int) -> str:
    x, y = place[0] * ACROSS + EDGE, (place[1] - top) * DOWN + EDGE
    sign = f'<path class="als-sign" transform="translate(12 26)" d="{SIGNS.get(run.status, SIGNS["todo"])}"/>'
    data = f'data-task="{key}" data-status="{escaped(run.status)}" aria-label="{escaped(described(task, run))}"'
    return (
        f'<g class="als-node" {data} transform="translate({x:.1f} {y:.1f})">'
        f'<rect width="{WIDE}" height="{HIGH}" rx="7"/>'
        f'<text class="als-name" x="12" y="19">{escaped(_short(task.id))}</text> {sign}'
        f'<text x="30" y="36">{escaped(run.status)}</text></g>'
    )


def _line(places: tuple[tuple[float, float], ...], top: float, is_done: bool) -> str:
    """Draw a line from a task to one that needs it: level where it passes a layer, curved between the layers."""
    spots = [(x * ACROSS + EDGE, (y - top) * DOWN + EDGE + HIGH / 2) for x, y in places]
    path = [f"M{spots[0][0] + WIDE:.1f} {spots[0][1]:.1f}"]
    for (x, y), (to_x, to_y) in pairwise(spots):
        middle = (x + WIDE + to_x) / 2
        path.append(f"H{x + WIDE:.1f}C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}")
    x, y = spots[-1]
    path.append(f"M{x - 7:.1f} {y - 4:.1f}L{x - 1:.1f} {y:.1f}L{x - 7:.1f} {y + 4:.1f}")
    return f'<path class="als-edge"{" data-done" * is_done} d="{"".join(path)}"/>'


def _short(name: str) -> str:
    """Cut a name to what fits; letters of East Asian scripts are twice as wide."""
    widths = [2 if east_asian_width(letter) in "WF" else 1 for letter in name]
    if sum(widths) <= LONGEST:
        return name
    kept = next(n for n in range(len(name), -1, -1) if sum(widths[:n]) < LONGEST)
    return f"{name[:kept]}…"
