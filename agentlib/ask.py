"""One agent in the terminal: its steps are printed as they happen, and a call that writes is asked about.

Where nobody can be asked, since the input is no terminal, a call that writes is rejected, and the model is told so.
"""

import argparse
import os
import sys
from typing import Any

STRATEGIES = ("react", "function_calling", "plan_execute")
TOOLS = ("world", "orders")
ABOUT = (
    "The model is the one that .env names, or the offline model. The tools of world: search, weather, calculator. "
    "Those of orders look into a small shop, and two of them write: you are asked before they do."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of `ask`."""
    parser.add_argument("question", type=some_text, help='such as "Is it warmer in Beijing or in Shanghai?"')
    parser.add_argument("--model", help="another model than .env names")
    parser.add_argument("--strategy", choices=STRATEGIES, default="react", help="how it acts (default: %(default)s)")
    parser.add_argument("--tools", choices=TOOLS, default="world", help="what it can use (default: %(default)s)")
    parser.add_argument("--max-iterations", type=positive, default=10, help="most model calls (default: %(default)s)")


def positive(text: str) -> int:
    """Read a whole number from 1."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def some_text(text: str) -> str:
    """Read a text that says something."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the question is empty")
    return text


def as_arguments(options: argparse.Namespace) -> list[str]:
    """Write parsed arguments as they would be typed."""
    model = [f"--model={options.model}"] if options.model else []
    chosen = [f"--strategy={options.strategy}", f"--tools={options.tools}"]
    return [*model, *chosen, f"--max-iterations={options.max_iterations}", "--", options.question]


def ask(options: argparse.Namespace) -> int:
    """Run the agent, print each event as it comes, and give the exit status: 0 when there is an answer."""
    from agentlib import LLM, LLMError, Status
    from agentlib.approval import ask_in_terminal, attended, reject_all
    from agentlib.widgets.calls import said
    from agentlib.widgets.visible import visible

    decide = ask_in_terminal if sys.stdin is not None and sys.stdin.isatty() else reject_all
    try:
        llm = LLM(options.model)
        agent = agent_of(options.strategy, llm, tools(options.tools), options.max_iterations)
        print(f"Question: {options.question}\n", flush=True)
        shown = 0
        for state in attended(agent, options.question, decide):
            for event in state.events[shown:]:
                print(visible(said(state, event)), flush=True)  # a terminal obeys control characters
            shown = len(state.events)
    except LLMError as error:
        print(f"agentlib: {error}", file=sys.stderr)
        return 1
    usage = state.usage
    tokens = f"{usage.prompt_tokens} tokens sent, {usage.completion_tokens} received"
    print(f"\n{state.status} ({state.reason}); model: {llm.model}; model calls: {usage.calls}; {tokens}")
    return 0 if state.status is Status.DONE else 1


def agent_of(strategy: str, llm: Any, tools: list, max_iterations: int) -> Any:
    """Make the agent of this strategy; a plan's tasks are done by function calling."""
    from agentlib import FunctionCalling, PlanExecute, ReAct

    if strategy == "react":
        return ReAct(llm, tools, max_iterations=max_iterations)
    acting = FunctionCalling(llm, tools, max_iterations=max_iterations)
    return PlanExecute(llm, acting, max_iterations=max_iterations) if strategy == "plan_execute" else acting


def tools(name: str) -> list:
    """Give the tools of this name."""
    from agentlib.world import Orders, calculator, search, weather

    return Orders().tools if name == "orders" else [search, weather, calculator]


def main() -> int:
    """Read the arguments and ask."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # an answer may have letters that the terminal lacks
    parser = argparse.ArgumentParser(prog="python3 -m agentlib ask", description=ABOUT)
    add_arguments(parser)
    try:
        return ask(parser.parse_args())
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


if __name__ == "__main__":
    sys.exit(main())
