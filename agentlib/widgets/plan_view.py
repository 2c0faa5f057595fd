"""The PlanView: the graph of a plan, stepped through its run; a task opens into its own trajectory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..state import State
from .plan_html import plan_step
from .plan_text import plan_text
from .plans import is_planned
from .stepper import Run, Stepper


class PlanView(Stepper):
    """Shows the states of a plan's run as graphs of the plan. `states` are those of one run, first to last.

    With an agent, the plan and the results of tasks can be edited, and the run forked from there; calls that wait can
    be decided, and a run that has not ended goes on with each press of next: all as in the Stepper. Raises ValueError
    when there are no states, or when they are not those of a PlanExecute agent.
    """

    def __init__(self, states: Iterable[State], agent: Any = None) -> None:
        super().__init__(states, agent)
        other = next((state for state in self._runs[0].states if not is_planned(state)), None)
        if other is not None:
            raise ValueError(f"PlanView shows the states of a PlanExecute agent; this is a {type(other).__name__}")

    def _step_html(self, run: Run, number: int) -> str:
        return plan_step(run.states, number, run.shared)

    def __str__(self) -> str:
        return plan_text(self._runs)
