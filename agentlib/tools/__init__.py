"""Tools: Python functions that a model may call, described by a schema, their arguments checked before they run."""

from .schema import ArgumentsError, ToolDefinitionError
from .tool import Tool, tool
from .toolbox import INTERRUPTED, MAX_OBSERVATION, NOT_EXECUTED, Outcome, Toolbox, shorten

__all__ = [
    "INTERRUPTED",
    "MAX_OBSERVATION",
    "NOT_EXECUTED",
    "ArgumentsError",
    "Outcome",
    "Tool",
    "ToolDefinitionError",
    "Toolbox",
    "shorten",
    "tool",
]
