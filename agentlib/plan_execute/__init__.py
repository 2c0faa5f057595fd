"""Plan-and-Execute: a plan of tasks that depend on each other, run side by side, revised when something fails.

    agent = PlanExecute(planner=strong, executor=FunctionCalling(small, tools=[...]))
    state = agent.run("Compare the three companies.")
    state.plan, state.results, state.spent                  # what was planned, what came of it, what it cost by role
    agent.fork(state, task="study a", result="…")           # what was built on it is done again
"""

from .agent import PlanExecute
from .plan import Plan, PlanError, Task, checked
from .reading import read_plan
from .references import substitute, unresolved
from .runs import TaskRun, TaskStatus
from .state import NewPlan, PlanState, TaskResult

__all__ = [
    "NewPlan", "Plan", "PlanError", "PlanExecute", "PlanState", "Task", "TaskResult", "TaskRun", "TaskStatus",
    "checked", "read_plan", "substitute", "unresolved",
]  # fmt: skip
