"""How fast the tools that fit a step are found, and how often the right one is among the ten offered.

Run: python tests/benchmarks/retrieval.py          prints milliseconds for toolboxes of 50 to 5,000 tools
The tools are made from verbs and things of a business; each question names both, in a sentence with words of its own.
The exit code says whether 1,000 tools took under 5 ms (median, the index built) and every question found its tool.
"""

import statistics
import sys
import time
from itertools import cycle, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agentlib.state import State
from agentlib.tools import Tool
from agentlib.tools.retrieval import BestTools

LIMIT_MS = 5
ROUNDS = 50
VERBS = """create update delete list search archive export import approve cancel share rename merge validate schedule"""
THINGS = """
invoice customer order shipment refund ticket employee contract meeting document playlist recipe vehicle sensor
warehouse payment coupon subscription newsletter survey account password server database backup branch commit
campaign budget forecast flight hotel passenger reservation luggage visa patient prescription appointment allergy
student course grade exam library loan lesson teacher museum concert stadium player league match referee trophy
garden harvest tractor fertiliser weather river bridge tunnel permit
"""
PAIRS = list(product(THINGS.split(), VERBS.split()))
SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Identifier, as in the list"},
        "reason": {"type": "string", "description": "Why, in one sentence"},
        "priority": {"type": "string", "enum": ["low", "normal", "urgent"]},
    },
    "required": ["id"],
}


def toolbox(size: int) -> list[Tool]:
    """Give tools such as cancel_invoice; beyond all pairs of verb and thing, one for each region."""
    made = []
    for (thing, verb), number in zip(cycle(PAIRS), range(size), strict=False):
        region = number // len(PAIRS)
        name = f"{verb}_{thing}" + f"_{region}" * bool(region)
        text = f"{verb.capitalize()} one {thing} of the company. Use it when the user asks for that, not for a report."
        made.append(Tool.from_schema(name, text, SCHEMA, lambda **given: "done"))
    return made


def questions(tools: list[Tool]) -> list[tuple[str, State]]:
    """Give a name and a state whose goal asks for it, for tools all over the toolbox."""
    asked = []
    for tool in tools[:: max(1, len(tools) // ROUNDS)]:
        verb, thing, *_ = tool.name.split("_")
        goal = f"Good morning, I have a question. Could you please {verb} the {thing}s that we talked about last week?"
        asked.append((tool.name, State(goal)))
    return asked


def measure(size: int) -> tuple[float, float, float]:
    """Give the milliseconds to build the index, the median of a selection, and the share of right tools offered."""
    tools, select = toolbox(size), BestTools(k=10)
    for tool in tools:
        _ = tool.parameters  # made when a tool is first offered, with or without retrieval
    start = time.perf_counter()
    select(State("cancel an invoice"), tools)
    built = time.perf_counter() - start
    times, right = [], []
    for name, state in questions(tools):
        start = time.perf_counter()
        offered = select(state, tools)
        times.append(time.perf_counter() - start)
        right.append(name in [tool.name for tool in offered])
    return built * 1000, statistics.median(times) * 1000, sum(right) / len(right)


def main() -> int:
    """Print the table. Gives 1 where 1,000 tools took too long or a right tool was not offered."""
    measure(50)  # loads bm25s, once
    print(f"{'tools':>6} {'index':>9} {'selection':>10} {'right tool offered':>19}")
    rows = {size: measure(size) for size in (50, 200, 1000, 5000)}
    for size, (built, took, right) in rows.items():
        print(f"{size:6,} {built:6.1f} ms {took:7.2f} ms {right:18.0%}")
    print(f"\n1,000 tools: {rows[1000][1]:.2f} ms of {LIMIT_MS}")
    return int(rows[1000][1] > LIMIT_MS or rows[1000][2] < 1)


if __name__ == "__main__":
    sys.exit(main())
