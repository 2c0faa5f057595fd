"""What an MCP tool gave, as text: a model that reads text is told of pictures and files in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock


def as_text(result: CallToolResult) -> str:
    """Give a result as text: its blocks, one below the other, then its structured content where
    the blocks do not say the same."""
    blocks = [_block(block) for block in result.content]
    structured = result.structured_content
    if structured is not None and not _is_said(structured, blocks):
        blocks.append(json.dumps(structured, ensure_ascii=False))
    return "\n".join(blocks)


def _block(block: ContentBlock) -> str:
    if block.type == "text":
        return block.text
    if block.type in ("image", "audio"):
        return f"[{block.type}: {block.mime_type}, {_size(block.data)}; it cannot be shown here]"
    if block.type == "resource_link":
        described = f": {block.description}" if block.description else ""
        return f"[link to the resource {block.name}, {block.uri}{described}]"
    resource = block.resource
    if hasattr(resource, "text"):
        return f"[resource {resource.uri}]\n{resource.text}"
    kind = resource.mime_type or "binary"
    return f"[resource {resource.uri}: {kind}, {_size(resource.blob)}; it cannot be shown here]"


def _size(base64: str) -> str:
    """Give the size of what a base64 text holds."""
    return f"{len(base64.rstrip('=')) * 3 // 4:,} bytes"


def _is_said(structured: Any, blocks: list[str]) -> bool:
    """Say whether the blocks hold the structured content: the protocol asks servers to give it as text as well.

    Servers wrap a value that is no object as {"result": value}, and give a list as one block for each item.
    """
    wrapped = isinstance(structured, dict) and [*structured] == ["result"]
    values = [structured, structured["result"]] if wrapped else [structured]
    read = [_read(text) for text in blocks]
    said = [*read, *blocks, read, blocks]
    return any(type(value) is type(each) and value == each for value in values for each in said)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
