"""Tools over MCP, the Model Context Protocol (modelcontextprotocol.io): from any server, and to any client.

A server is a program that offers tools to any agent, and is spoken to over its stdin and stdout.

    with MCPTools("python3", ["weather_server.py"]) as tools:
        state = FunctionCalling(llm, tools).run("Is it warm in Beijing?")

The other way round, `python3 -m agentlib.mcp_bridge package.module:toolbox` serves tools to any client.

The protocol is spoken by its official SDK, the package `mcp`, which is loaded when it is needed. The SDK is
asynchronous; it runs in a thread with an event loop of its own, so tools are called as any others are: from several
threads at once, and in a notebook, whose own loop is busy.
"""

from .client import MCPTools, may_write
from .names import join_tools
from .server import main, serve_tools
from .session import MCPError, MCPToolError

__all__ = ["MCPError", "MCPToolError", "MCPTools", "join_tools", "main", "may_write", "serve_tools"]
