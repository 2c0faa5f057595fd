"""What shows a run in a notebook."""

from .stepper import Stepper

__all__ = ["Stepper"]
