"""What scheduling a plan costs: microseconds per task beyond the task itself, and how near a run comes to its critical
path.

Run: python tests/benchmarks/plans.py
The tasks of the first table do nothing, so that all the time is scheduling; they run in threads, and in the executor
with a clock of its own. `kept` is the same with a list of every state, which grows with the square of their number, as
each state holds all events so far; it has no limit here. The tasks of the second table sleep.
"""

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agentlib import Answer, Plan, PlanExecute, PlanState, ScriptedLLM, SimulatedExecutor, State, Status, Task

PER_TASK = 200e-6  # seconds
OVER, EXTRA = 1.03, 5e-3  # of the critical path, and seconds
GROWTH = 2.0  # of the cost per task, from 100 to 10,000 tasks
ENDED = State("task", events=(Answer(message=0, text="done", raw="done"),), status=Status.DONE, reason="final_answer")


class Sleeping:
    """An executor whose tasks take the seconds that their instruction names."""

    def steps(self, start: str):
        seconds = float(start.split()[0])
        if seconds:
            time.sleep(seconds)
        yield ENDED


def plan(size: int, seed: int, longest: float = 0.0) -> list[Task]:
    """Make a plan in which each task depends on up to three of the fifty before it."""
    rng = random.Random(seed)
    return [
        Task(str(i), f"{rng.uniform(0, longest):.4f}", {str(rng.randrange(max(0, i - 50), i)) for _ in "abc"[:i]})
        for i in range(size)
    ]


def prepared(tasks: list[Task], limit: int) -> tuple[PlanExecute, PlanState]:
    agent = PlanExecute(ScriptedLLM(["answer"]), Sleeping(), max_parallel=limit)
    return agent, agent.fork(agent.start("goal"), plan=Plan(tasks))


def cost(size: int, pool: SimulatedExecutor | None, keep: bool = False) -> float:
    """Give the seconds per task of a whole run."""
    agent, state = prepared(plan(size, seed=size), limit=4)
    kept = []
    start = time.perf_counter()
    for state in agent.steps(state, pool=pool):  # noqa: B020 (the last one is looked at)
        if keep:
            kept.append(state)
    seconds = time.perf_counter() - start
    assert len(state.results) == size
    return seconds / size


def scheduling() -> bool:
    """Print the costs; say whether they are within the limits."""
    own_clock = SimulatedExecutor
    good = True
    for name, pool, keep in (("threads", None, False), ("simulated", own_clock, False), ("kept", own_clock, True)):
        costs = {size: min(cost(size, pool and pool(), keep) for _ in range(3)) for size in (100, 1_000, 10_000)}
        growth = costs[10_000] / costs[100]
        shown = ", ".join(f"{size:,} tasks {seconds * 1e6:.0f} µs" for size, seconds in costs.items())
        limits = "" if keep else f" (limits: {PER_TASK * 1e6:.0f} µs, growth {GROWTH})"
        print(f"{name}: {shown} a task, growth {growth:.2f}{limits}")
        good &= keep or (max(costs.values()) <= PER_TASK and growth <= GROWTH)
    return good


def seconds_of(agent: PlanExecute, state: PlanState) -> float:
    """Give the seconds until the last task has ended."""
    start = time.perf_counter()
    for state in agent.steps(state):  # noqa: B020 (the last one is looked at)
        if len(state.results) == len(state.plan.tasks):
            break
    return time.perf_counter() - start


def makespan(seed: int) -> bool:
    """Print how long a plan of sleeping tasks takes; say whether that is near its critical path."""
    tasks = plan(40, seed, longest=0.1)
    agent, state = prepared(tasks, limit=len(tasks))
    _, path = state.plan.critical_path(lambda task: float(task.instruction))
    seconds = min(seconds_of(agent, state) for _ in range(3))  # the machine may be busy with something else
    limit = path * OVER + EXTRA
    print(f"plan {seed}: {seconds:.4f} s, critical path {path:.4f} s, limit {limit:.4f} s")
    return seconds <= limit


if __name__ == "__main__":
    results = [scheduling(), *map(makespan, range(5))]
    sys.exit(not all(results))
