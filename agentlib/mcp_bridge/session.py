"""One connection to an MCP server: what is said to it, and in which words its failures are told."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..tools.running import TooLong
from .results import as_text

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from mcp import Client, types

MAX_PAGES = 1_000  # of a list of tools; a server that gives more does not end


class MCPError(RuntimeError):
    """The server cannot be started, has ended, or does not answer as it should."""


class MCPToolError(MCPError):
    """The server ran the tool, and the tool failed. The text is the server's own."""


async def all_tools(client: Client) -> list[types.Tool]:
    """Give the tools of all pages; a name that comes again is the same tool."""
    found: dict[str, types.Tool] = {}
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            found.setdefault(tool.name, tool)
        cursor = page.next_cursor
        if not cursor:
            return list(found.values())
    raise MCPError(f"its list of tools has more than {MAX_PAGES} pages")


@dataclass(frozen=True)
class Session:
    """A connection in its thread. `call` may be used from any other."""

    portal: BlockingPortal
    client: Client
    timeout: float

    @property
    def server(self) -> str:
        """The name that the server gives itself."""
        info = self.client.server_info
        return f"the MCP server {info.name}" if info and info.name else "the MCP server"

    def call(self, name: str, /, **arguments: Any) -> str:
        """Run a tool. Raises MCPError, and TooLong after the server was told to give up."""
        # Half a character (a lone surrogate) cannot be sent, and would end the connection.
        sound = json.loads(json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace"))
        work = partial(self.client.call_tool, name, sound, read_timeout_seconds=self.timeout)
        try:
            future = self.portal.start_task_soon(work)
        except RuntimeError:
            raise MCPError(f"the connection to the MCP server was closed; open it again to call {name}") from None
        try:
            result = future.result()
        except Exception as error:
            raise self._worded(error, name) from error
        finally:
            future.cancel()  # after Ctrl-C, nobody waits for it any more
        if result.is_error:
            raise MCPToolError(as_text(result) or f"{name} failed and did not say why")
        return as_text(result)

    def _worded(self, error: Exception, name: str) -> Exception:
        from mcp import MCPError as Refusal
        from mcp.types import REQUEST_TIMEOUT

        if isinstance(error, Refusal) and error.code == REQUEST_TIMEOUT:
            return TooLong(f"{name} gave no result within {self.timeout:g} seconds")
        return MCPError(f"{self.server} gave no result of {name}: {line(error)}")


def inner(error: BaseException) -> BaseException:
    """Give what happened: the SDK's task groups wrap it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def line(error: BaseException) -> str:
    """Say an error of the SDK in one line."""
    from mcp import MCPError as Refusal
    from mcp.types import CONNECTION_CLOSED

    if isinstance(error, Refusal) and error.code == CONNECTION_CLOSED:
        return "it has ended"
    return " ".join(str(error).split())[:300] or type(error).__name__
