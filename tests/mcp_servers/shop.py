"""A toolbox that is served over MCP: python -m agentlib.mcp_bridge shop:toolbox"""

import sys
import threading
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from agentlib.tools import Tool, Toolbox, tool

print("The shop is loading.")  # stdout belongs to the protocol


@dataclass
class Item:
    sku: str
    count: int = 1


@tool
def total(items: list[Item], currency: Literal["EUR", "CNY"] = "EUR") -> str:
    """Add up an order."""
    print("counting")
    return f"{sum(item.count for item in items) * 10} {currency}"


def refund(order: Annotated[str, Field(description="Number of the order, such as A-17")]) -> dict:
    """Pay the money back."""
    return {"refunded": order}


@tool
async def stock() -> list[str]:
    """List what is there."""
    return ["茶", "coffee"]


@tool
def broken() -> None:
    """Fail."""
    raise LookupError("the shelf is empty")


@tool
def leave() -> None:
    """End the program."""
    sys.exit("bye")


@tool
def hang() -> None:
    """Never end."""
    threading.Event().wait()


@tool
def half() -> str:
    """Give half of a character."""
    return "\ud83d!"


toolbox = Toolbox([total, Tool(refund, writes=True), stock, broken, leave, hang, half])
as_list = [total, refund]
twice = [total, total]
number = 7
