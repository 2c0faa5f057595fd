"""What a sandbox costs, beside what one would use without it.

Run: python tests/benchmarks/sandbox.py [ROUNDS]    prints median milliseconds, and each one's ratio to a bare
interpreter. All are measured in turn within each round, each round begins with another one, and a bare interpreter is
measured before each, so that a busy machine is as busy for all. It ends with exit code 1 where a promise does not hold:
warm at most 2 times the bare interpreter, with numpy and matplotlib loaded at most 4 times, a warm plot under 300 ms,
and 10 times faster than a container where an engine works here. Only the plot's is a time and no ratio: on a machine
with more to do than it has processors, it is not judged.
"""

import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from agentlib.sandbox import Policy, Result, all_backends, run  # noqa: E402
from agentlib.sandbox.pool import DATA_WORK, Pool  # noqa: E402

PLAIN = "print(sum(range(10)))"
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.title('squares')\nplt.savefig('squares.png')"
POLICY = Policy(seconds=60)
BARE = "python3 -I -c"


def bare() -> None:
    """Run the plain code in an interpreter of its own, isolated from nothing but the user's settings."""
    done = subprocess.run([sys.executable, "-I", "-c", PLAIN], capture_output=True, check=True)
    assert done.stdout == b"45\n"


def checked(make: Callable[[], Result], file: str = "") -> Callable[[], None]:
    """Give a function that makes a run and checks that it did what it should."""

    def measured() -> None:
        result = make()
        assert result.ok, (result.stderr, result.reason)
        assert result.files[file].startswith(b"\x89PNG") if file else result.stdout == "45\n"

    return measured


def candidates(stack: ExitStack) -> dict[str, Callable[[], None]]:
    """Give what is measured: the bare interpreter, then each backend that works here, cold and warm."""
    found = {BARE: bare}
    for backend in all_backends():
        probe = backend.probe()
        if not probe.ok:
            print(f"not measured: {probe}")
            continue
        found[f"{backend.name}, cold"] = checked(lambda name=backend.name: run(PLAIN, policy=POLICY, backend=name))
        if hasattr(backend, "start"):
            plain = stack.enter_context(Pool(POLICY, backend=backend.name))
            data = stack.enter_context(Pool(POLICY, DATA_WORK, backend.name))
            found[f"{backend.name}, warm"] = checked(lambda pool=plain: pool.run(PLAIN))
            found[f"{backend.name}, warm, data"] = checked(lambda pool=data: pool.run(PLAIN))
            found[f"{backend.name}, warm plot"] = checked(lambda pool=data: pool.run(PLOT), "squares.png")
    return found


def measure(functions: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Give the median milliseconds of each; of the bare interpreter, of as many runs as all the others together."""
    taken: dict[str, list[float]] = {name: [] for name in functions}
    others = [name for name in functions if name != BARE]
    for name in others:  # the first time warms up
        functions[name]()
    for number in range(rounds):
        first = number % len(others)
        for name in others[first:] + others[:first]:
            taken[BARE].append(time_of(functions[BARE]))
            taken[name].append(time_of(functions[name]))
    return {name: statistics.median(times) for name, times in taken.items()}


def time_of(function: Callable[[], None]) -> float:
    """Give the milliseconds that a call takes."""
    began = time.perf_counter()
    function()
    return 1000 * (time.perf_counter() - began)


def broken_promises(found: dict[str, float], busy: bool) -> list[str]:
    """Give what does not hold of what is promised. On a busy machine only ratios are judged."""
    bare_time = found[BARE]
    wrong = []
    for name, time_taken in found.items():
        most = {"warm": 2 * bare_time, "warm, data": 4 * bare_time, "plot": math.inf if busy else 300.0}
        kind = next((kind for kind in ("plot", "warm, data", "warm") if name.endswith(kind)), "")
        if kind and time_taken > most[kind]:
            wrong.append(f"{name}: {time_taken:.1f} ms, more than {most[kind]:.1f}")
        if kind == "warm" and "container, cold" in found and 10 * time_taken > found["container, cold"]:
            wrong.append(f"{name}: not 10 times faster than a container")
    return wrong


def main() -> int:
    """Measure, print, and give the exit code."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0  # Windows has none
    with ExitStack() as stack:
        found = measure(candidates(stack), int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    for name, time_taken in found.items():
        print(f"{name:26} {time_taken:8.1f} ms  {time_taken / found[BARE]:6.1f}x")
    busy = load > (os.cpu_count() or 1)
    wrong = broken_promises(found, busy)
    print(f"the machine was busy (load {load:.1f}), so times are not judged" if busy else f"load {load:.1f}")
    print(*wrong or ["all promises hold"], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
