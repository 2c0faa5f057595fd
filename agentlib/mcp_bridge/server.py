"""Serve tools to any MCP client: python3 -m agentlib.mcp_bridge package.module:toolbox

The client starts that command and speaks to it over stdin and stdout. Approval is the client's: a tool that writes says
so in its annotations, and a person decides there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Iterable
from functools import partial, reduce
from importlib import import_module
from typing import TYPE_CHECKING

from ..tools import Outcome, Tool, Toolbox, ToolDefinitionError
from ..tools.running import in_thread
from .client import require_sdk

if TYPE_CHECKING:
    from mcp import types
    from mcp.server.context import ServerRequestContext as Context

USAGE = "usage: python3 -m agentlib.mcp_bridge package.module:toolbox (a Toolbox, or a list of tools)"


def serve_tools(tools: Toolbox | Iterable[Tool | Callable], *, name: str = "agentlib") -> None:
    """Serve the tools over stdin and stdout until the client closes them.

    What tools print goes to stderr. Raises ImportError without the package mcp.
    """
    toolbox = tools if isinstance(tools, Toolbox) else Toolbox(tools)
    require_sdk()
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    async def list_tools(context: Context, request: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return _listed(toolbox)

    async def call_tool(context: Context, request: types.CallToolRequestParams) -> types.CallToolResult:
        running = in_thread(partial(_run, toolbox, request.name, json.dumps(request.arguments or {})))
        return _result(await asyncio.shield(asyncio.wrap_future(running)))  # a thread cannot be cancelled

    async def serve() -> None:
        server = Server(name, on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    asyncio.run(serve())


def _listed(toolbox: Toolbox) -> types.ListToolsResult:
    from mcp import types

    def described(tool: Tool) -> types.Tool:
        hints = types.ToolAnnotations(read_only_hint=not tool.writes)
        texts = {"name": tool.name, "description": tool.description}
        return types.Tool(**texts, input_schema=tool.parameters, annotations=hints)

    return types.ListToolsResult(tools=[described(tool) for tool in toolbox.tools.values()])


def _run(toolbox: Toolbox, name: str, arguments: str) -> Outcome:
    try:
        return toolbox.run(name, arguments)
    except SystemExit as error:  # a tool ends its own call, not the server
        return Outcome(f"Error: the tool called sys.exit({error.code!r})", "tool_error")


def _result(outcome: Outcome) -> types.CallToolResult:
    from mcp import types

    text = outcome.text.encode("utf-8", "replace").decode()  # half a character would end the connection
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=outcome.is_error)


def load(place: str) -> Toolbox:
    """Give the toolbox at `package.module:name`. Raises ValueError with what is wrong in one line."""
    module, colon, name = place.partition(":")
    if not (module and colon and name):
        raise ValueError(f"{place!r} is no place of tools. {USAGE}")
    try:
        with contextlib.redirect_stdout(sys.stderr):  # stdout belongs to the protocol
            found = reduce(getattr, name.split("."), import_module(module))
            return found if isinstance(found, Toolbox) else Toolbox(found)
    except (ImportError, AttributeError, TypeError) as error:
        is_definition = isinstance(error, ToolDefinitionError)
        raise ValueError(f"{place}: {error}" + ("" if is_definition else f". {USAGE}")) from error


def main(arguments: list[str]) -> int:
    """Serve the toolbox that the only argument names. Gives the exit code: 2 where there is none to serve."""
    try:
        toolbox = load(arguments[0]) if len(arguments) == 1 else None
        if toolbox is None:
            raise ValueError(USAGE)
    except ValueError as error:
        print(f"agentlib: {error}", file=sys.stderr)
        return 2
    try:
        serve_tools(toolbox, name=arguments[0].partition(":")[0])
    except ImportError as error:
        print(f"agentlib: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
