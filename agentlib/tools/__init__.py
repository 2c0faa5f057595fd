"""Tools: Python functions that a model may call, described by a schema, their arguments checked before they run."""

from .schema import ArgumentsError, ToolDefinitionError
from .tool import Tool, tool
from .toolbox import MAX_OBSERVATION, Outcome, Toolbox, shorten

__all__ = ["MAX_OBSERVATION", "ArgumentsError", "Outcome", "Tool", "ToolDefinitionError", "Toolbox", "shorten", "tool"]
