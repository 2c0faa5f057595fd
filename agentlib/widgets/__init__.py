"""What shows a run in a notebook."""

from .plan_view import PlanView
from .stepper import Stepper

__all__ = ["PlanView", "Stepper"]
