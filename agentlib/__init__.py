"""Agents you can read, step and take apart.

Every name below is loaded when it is first used, so `import agentlib` is quick and needs only the standard library.
An old Python reads this file before it is told that it is too old: keep the syntax plain.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "LLM": "llm",
    "Agent": "agent",
    "Answer": "state",
    "BestTools": "tools.retrieval",
    "Call": "state",
    "ContextBudget": "guards",
    "Decision": "state",
    "Evaluation": "state",
    "FunctionCalling": "function_calling",
    "GoalReminder": "guards",
    "LLMError": "llm",
    "LoopGuard": "guards",
    "MCPTools": "mcp_bridge",
    "Message": "state",
    "NewPlan": "plan_execute",
    "Observation": "state",
    "Plan": "plan_execute",
    "PlanError": "plan_execute",
    "PlanExecute": "plan_execute",
    "PlanState": "plan_execute",
    "PlanView": "widgets",
    "Problem": "state",
    "ReAct": "react",
    "RecordingLLM": "tape",
    "Reply": "llm",
    "Run": "evaluate",
    "ScriptedLLM": "llm",
    "SelfCheck": "self_check",
    "SimulatedExecutor": "simulated",
    "State": "state",
    "StateError": "state",
    "Status": "state",
    "Stepper": "widgets",
    "Table": "evaluate",
    "TapeLLM": "tape",
    "Task": "plan_execute",
    "TaskResult": "plan_execute",
    "TaskRun": "plan_execute",
    "TaskStatus": "plan_execute",
    "Thought": "state",
    "Tool": "tools",
    "ToolCall": "state",
    "ToolDefinitionError": "tools",
    "Toolbox": "tools",
    "Turn": "state",
    "Usage": "state",
    "run_agent": "function_calling",
    "tool": "tools",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    """Import the module that defines `name`, and keep the result (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError("module 'agentlib' has no attribute {!r}".format(name))
    value = getattr(import_module("agentlib." + _HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__():
    """List the public names, loaded or not."""
    return sorted(set(globals()) | set(__all__))
