"""What it costs to check one call: the text of the arguments to what the function gets.

Run: python tests/benchmarks/tools.py          prints microseconds of processor time, the median of 31 rounds of 1,000
The exit code says whether a call that fits stays under 50 microseconds, for a function and for a given schema.
"""

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).parents[2]))

from agentlib.tools import Tool

LIMIT, ROUNDS, CALLS = 50, 31, 1_000


def weather(city: str, days: int = 1, unit: Literal["celsius", "fahrenheit"] = "celsius") -> str:
    """Tell the weather."""
    return city


SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"},
                   "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
    "required": ["city"],
}  # fmt: skip
FITS = json.dumps({"city": "Oslo", "days": 3, "unit": "celsius"})
NEARLY = json.dumps({"city": "Oslo", "days": "3", "unit": "Celsius"})


def microseconds(tool: Tool, text: str) -> float:
    """Give the median of the processor's time to check one call."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(CALLS):
            tool.bind(text)
        times.append((time.process_time() - start) / CALLS * 1e6)
    return statistics.median(times)


if __name__ == "__main__":
    tools = {"a function": Tool(weather), "a given schema": Tool.from_schema("weather", "", SCHEMA, weather)}
    measured = {(what, how): microseconds(tool, text) for what, tool in tools.items()
                for how, text in (("fits", FITS), ("two repairs", NEARLY))}  # fmt: skip
    for (what, how), spent in measured.items():
        print(f"{what}, {how}: {spent:.1f} µs" + f" of {LIMIT}" * (how == "fits"))
    sys.exit(any(spent > LIMIT for (_, how), spent in measured.items() if how == "fits"))
