"""The tools of an MCP server, started as a process of its own and spoken to in a thread of its own."""

from __future__ import annotations

import atexit
import math
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..tools import Tool
from .names import distinct, safe_name
from .session import MCPError, Session, all_tools, inner, line

if TYPE_CHECKING:
    from mcp import Client, types

NEEDED = 'MCP needs the package mcp, version 2: pip install "mcp>=2.3,<3"'

Writes = Callable[[str, Mapping[str, Any]], bool]


def may_write(name: str, hints: Mapping[str, Any]) -> bool:
    """Say whether a tool needs approval: unless its server says that it only reads.

    `hints` are the tool's annotations as in the protocol, such as {"readOnlyHint": true}. A tool that says nothing
    counts as one that writes, since that is the protocol's default, and so does one that "only adds"
    (destructiveHint false): a message sent twice is not taken back either.
    """
    return hints.get("readOnlyHint") is not True


class MCPTools:
    """A server's tools while it runs: `with MCPTools(command, args) as tools:`, or `open()` and `close()`.

    Every tool's name begins with `prefix`. `writes(name, hints)` says which tools wait for approval (see `may_write`;
    the hints are the server's word, so give a function of your own for a server that you do not trust). The server
    sees `env` and a few variables such as PATH and HOME, not the whole environment. `timeout` limits each call, and
    `start_timeout` the start with the list of the tools, in seconds. Tools that a server adds later are not seen.
    """

    def __init__(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        prefix: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        writes: Writes = may_write,
        timeout: float = 60.0,
        start_timeout: float = 30.0,
    ) -> None:
        self.command, self.args, self.prefix, self.writes = command, tuple(args), prefix, writes
        self.env, self.cwd = dict(env or {}), cwd
        self.timeout, self.start_timeout = timeout, start_timeout
        self._opened: ExitStack | None = None

    def __enter__(self) -> list[Tool]:
        return self.open()

    def __exit__(self, *error: object) -> None:
        self.close()

    def open(self) -> list[Tool]:
        """Start the server and give its tools. Raises MCPError where that fails, ImportError without the SDK."""
        if self._opened is not None:
            raise MCPError(f"the MCP server {self} is open already")
        require_sdk()
        from anyio.from_thread import start_blocking_portal

        with ExitStack() as opening:
            log = opening.enter_context(tempfile.TemporaryFile())
            portal = opening.enter_context(start_blocking_portal(name="mcp"))
            try:
                client, listed = opening.enter_context(portal.wrap_async_context_manager(self._connected(log)))
            except Exception as error:
                raise MCPError(f"the MCP server {self} cannot be used: {self._reason(error)}{_last(log)}") from error
            self._opened = opening.pop_all()
        atexit.register(self.close)
        try:
            return self._as_tools(listed, Session(portal, client, self.timeout))
        except BaseException:  # a schema that is none
            self.close()
            raise

    def close(self) -> None:
        """Stop the server. Its tools answer with an error from now on. A second close does nothing."""
        opened, self._opened = self._opened, None
        atexit.unregister(self.close)
        if opened is not None:
            opened.close()

    def __str__(self) -> str:  # for the person who wrote the command, never for a model: arguments may hold keys
        return " ".join(" ".join([Path(self.command).name, *self.args]).split())[:200]

    @asynccontextmanager
    async def _connected(self, log: IO[bytes]) -> AsyncIterator[tuple[Client, list[types.Tool]]]:
        """Give the SDK's client and the server's list of tools."""
        import anyio
        from mcp import Client, StdioServerParameters, stdio_client

        server = StdioServerParameters(command=self.command, args=list(self.args), env=self.env, cwd=self.cwd)
        with anyio.fail_after(self.start_timeout) as start:
            async with Client(stdio_client(server, errlog=log)) as client:  # its stderr, for what went wrong
                listed = await all_tools(client)
                start.deadline = math.inf
                yield client, listed

    def _as_tools(self, listed: list[types.Tool], session: Session) -> list[Tool]:
        names = distinct(safe_name(self.prefix + tool.name) for tool in listed)
        return [
            Tool.from_schema(
                name,
                tool.description or tool.title or "",
                tool.input_schema,
                partial(session.call, tool.name),
                writes=self.writes(tool.name, _hints(tool)),
                timeout=self.timeout,
            )
            for name, tool in zip(names, listed, strict=True)
        ]

    def _reason(self, error: Exception) -> str:
        error = inner(error)
        if isinstance(error, TimeoutError):
            return f"no answer within {self.start_timeout:g} seconds of its start"
        if isinstance(error, FileNotFoundError):
            folder = f", or no folder {str(self.cwd)!r}" if self.cwd else ""
            return f"there is no program {self.command!r}{folder}"
        return line(error)


def require_sdk() -> None:
    """Make sure that the SDK is there. Raises ImportError that says what to install."""
    try:
        from mcp import Client  # noqa: F401  (version 1 has none)
    except ImportError as error:
        raise ImportError(NEEDED) from error


def _hints(tool: types.Tool) -> dict[str, Any]:
    return tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else {}


def _last(log: IO[bytes]) -> str:
    """Give the last line that the server wrote on stderr, as the end of a sentence."""
    size = log.seek(0, 2)
    log.seek(max(0, size - 2_000))
    lines = log.read().decode("utf-8", "replace").split("\n")
    said = [text.strip() for text in lines if text.strip()]
    return f". Its last words: {said[-1][:300]}" if said else ""
