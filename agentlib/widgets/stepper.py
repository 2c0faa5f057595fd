"""The Stepper: a run that can be stepped, forwards and backwards, edited and forked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..state import Problem, State, Status
from . import as_html, as_text


@dataclass
class Run:
    """One run of a Stepper. A fork shares its first `shared` states with the run `parent`."""

    label: str
    states: list[State]
    parent: int | None = None
    shared: int = 0


class Stepper:
    """Shows states step by step. `states` are those of one run, first to last: `agent.steps(goal)` gives them.

    With an agent, a step can be edited and the run forked from there, and a run that has not ended goes on with each
    press of next. Where a call waits for approval, the next step is what one decides about it. Raises ValueError when
    there are no states.
    """

    def __init__(self, states: Iterable[State], agent: Any = None) -> None:
        if isinstance(states, State):
            name = type(self).__name__
            raise ValueError(f"{name} takes the states of a run, not one state: {name}(agent.steps(goal), agent)")
        self.agent = agent
        self._runs = [Run("run 1", list(states))]
        if not self._runs[0].states:
            raise ValueError("there are no states to step through")

    @classmethod
    def live(cls, agent: Any, goal: str | State) -> Stepper:
        """Show a run that is made while one steps: each press of next asks the model, or runs the tool, just then."""
        return cls([goal if isinstance(goal, State) else agent.start(goal)], agent)

    @property
    def branches(self) -> tuple[tuple[State, ...], ...]:
        """The states of every run, first to last: the one given, with what live steps added, then the forks."""
        return tuple(tuple(run.states) for run in self._runs)

    def receive(self, message: dict) -> str:
        """Do what a view asks for: a fork, a step, or a decision. Gives one line when that did not end well, else ''.

        The states are shown as they come. No exception leaves here, save KeyboardInterrupt: nobody could catch it,
        and a learner who mistyped an action, or whose tool calls sys.exit(), needs a sentence.
        """
        try:
            run = self._fork(**message["fork"]) if "fork" in message else self._advance(**message["next"])
            return _complaint(run.states[-1])
        except SystemExit as error:  # its text is often a bare number
            return f"SystemExit {error}".strip().splitlines()[0]
        except Exception as error:
            return (str(error).strip() or type(error).__name__).splitlines()[0]

    def _fork(self, *, run: int, step: int, field: str, text: str) -> Run:
        parent = self._runs[run]
        forked = self.agent.fork(parent.states[step], **_change(parent.states[step], field, text))
        label = f"fork at step {step}"
        same = sum(other.label.split(" · ")[0] == label for other in self._runs)
        child = Run(f"{label} · {same + 1}" if same else label, parent.states[:step], run, step)
        for state in self.agent.steps(forked):
            if all(other is not child for other in self._runs):  # only now: a run without states cannot be shown
                self._runs.append(child)
            self._add(child, state)
        return child

    def _advance(self, *, run: int, shown: int, decision: dict | None = None) -> Run:
        """Make one step, unless the view had not seen the last one when it asked: what it saw was decided already."""
        going = self._runs[run]
        last = going.states[-1]
        if shown != len(going.states):
            return going
        if last.status is Status.WAITING:
            self._add(going, self._decide(last, **decision or {}))
        elif last.status is Status.RUNNING:
            self._add(going, self.agent.step(last))
        return going

    def _decide(self, state: State, *, verdict: str = "", text: str = "", call: str | None = None) -> State:
        """Give the state after a person's decision; `text` is the reason to reject, or the new arguments."""
        match verdict:
            case "approve":
                return self.agent.approve(state, call)
            case "reject":
                return self.agent.reject(state, call, reason=text.strip())
            case "edit":
                return self.agent.edit(state, call, arguments=text)
        raise ValueError("the call waits: approve it, reject it or edit it")

    def _add(self, run: Run, state: State) -> None:
        run.states.append(state)
        if "widget" in vars(self):
            self.widget.added = [*self.widget.added, self._entry(run)]

    def _entry(self, run: Run) -> dict:
        origin = {"label": run.label, "parent": run.parent, "shared": run.shared}
        return {"run": self._runs.index(run), **origin, "html": self._step_html(run, len(run.states) - 1)}

    def _step_html(self, run: Run, number: int) -> str:
        return as_html.step(run.states, number)

    @cached_property
    def widget(self) -> Any:
        """The live view, an anywidget; made at the first use."""
        from .view import View

        page = as_html.page(self._runs, can_edit=self.agent is not None, shown=self._step_html)
        return View(page, self.receive)

    def __str__(self) -> str:
        return as_text.text(self._runs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{run.label}: {len(run.states)} steps' for run in self._runs)})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict:
        twins = {
            "text/plain": str(self),
            "text/html": as_html.twin(self._runs, can_edit=self.agent is not None, shown=self._step_html),
        }
        return self.widget.mimebundle() | twins


def _change(state: State, field: str, text: str) -> dict[str, str]:
    """Give what a fork is told. The field `task:2` is the result of the task at that place of the plan."""
    name, _, place = field.partition(":")
    return {"task": state.plan.tasks[int(place)].id, "result": text} if place else {name: text}


def _complaint(state: State) -> str:
    """Say in one line why a run stopped; '' for one that goes on or came to its end."""
    if state.status not in (Status.STOPPED, Status.INTERRUPTED):
        return ""
    problems = [event.text for event in state.events if isinstance(event, Problem)]
    return f"{state.status} ({state.reason}){': ' + problems[-1] if problems else ''}".splitlines()[0]
