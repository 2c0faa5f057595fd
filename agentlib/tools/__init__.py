"""Tools: Python functions that a model may call, described by a schema, their arguments checked before they run."""

from .schema import ArgumentsError, ToolDefinitionError
from .tool import Tool, tool
from .toolbox import CANCELLED, INTERRUPTED, MAX_OBSERVATION, MOST_TOOLS, NOT_EXECUTED, Outcome, Toolbox, shorten

__all__ = [
    "CANCELLED",
    "INTERRUPTED",
    "MAX_OBSERVATION",
    "MOST_TOOLS",
    "NOT_EXECUTED",
    "ArgumentsError",
    "Outcome",
    "Tool",
    "ToolDefinitionError",
    "Toolbox",
    "shorten",
    "tool",
]
