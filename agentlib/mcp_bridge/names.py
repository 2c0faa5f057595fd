"""Names of tools from several places: such as the API takes them, and no two the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from ..tools import Tool


def safe_name(name: str) -> str:
    """Give a name that the chat completions API takes: 1 to 64 of A-Z a-z 0-9 _ -."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "_"


def distinct(names: Iterable[str]) -> list[str]:
    """Give the names, those that came before with a number: read, read_2."""
    given: list[str] = []
    for name in names:
        numbered, number = name, 1
        while numbered in given:
            number += 1
            numbered = f"{name[: 63 - len(str(number))]}_{number}"
        given.append(numbered)
    return given


def join_tools(local: Iterable[Tool], servers: Mapping[str, Iterable[Tool]]) -> list[Tool]:
    """Give the tools of several places as one list: a server's tool whose name another place has too is `server_tool`.

    Local tools keep their names. Which names change does not depend on the order of the servers.
    """
    local, groups = list(local), {server: list(tools) for server, tools in servers.items()}
    names = Counter(tool.name for tools in (local, *groups.values()) for tool in tools)
    joined = [
        (tool, safe_name(f"{server}_{tool.name}") if names[tool.name] > 1 else tool.name)
        for server, tools in groups.items()
        for tool in tools
    ]
    final = distinct([*(tool.name for tool in local), *(name for _, name in joined)])[len(local) :]
    return [*local, *(_renamed(tool, name) for (tool, _), name in zip(joined, final, strict=True))]


def _renamed(tool: Tool, name: str) -> Tool:
    if name == tool.name:
        return tool
    settings = {"writes": tool.writes, "final": tool.final, "timeout": tool.timeout}
    return Tool.from_schema(name, tool.description, tool.parameters, tool.function, **settings)
