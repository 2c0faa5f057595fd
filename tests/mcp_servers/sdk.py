"""An MCP server made with the official SDK, whose tools give everything that the protocol knows. One tool a page."""

import json
import os

import anyio
from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

NOTHING = {"type": "object", "properties": {}}
DELETE = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
ANY = {"type": "object", "additionalProperties": True}
TOOLS = [
    ("read.file", "Read a file.", NOTHING, {"read_only_hint": True}),
    ("read/file", "Read a file, the new way.", NOTHING, {"read_only_hint": True}),
    ("delete", "Delete a file.", DELETE, None),
    ("append", "Add a line.", NOTHING, {"read_only_hint": False, "destructive_hint": False}),
    ("echo", "Give the arguments back.", ANY, None),
    ("blocks", "Give every kind of content.", NOTHING, None),
    ("structured", "Give structured content only.", NOTHING, None),
    ("said", "Give structured content, and the same as text.", NOTHING, None),
    ("more", "Give structured content, and another text.", NOTHING, None),
    ("fails", "Fail.", NOTHING, None),
    ("silent_failure", "Fail without a word.", NOTHING, None),
    ("refused", "Be refused by the protocol.", NOTHING, None),
    ("hang", "Never end.", NOTHING, None),
    ("was_started", "Wait until hang was called.", NOTHING, None),
    ("was_cancelled", "Wait until hang was told to end.", NOTHING, None),
    ("meet", "Wait until this was called three times.", NOTHING, None),
    ("surroundings", "Say who and where the server is.", NOTHING, None),
    ("die", "End the server.", NOTHING, None),
    ("x" * 80, "Has a long name.", NOTHING, None),
]
PAGE = "page "
met, started, cancelled, waiting = anyio.Event(), anyio.Event(), anyio.Event(), []


def text(said: str, **more) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=said)], **more)


def every_block() -> types.CallToolResult:
    uri = "file:///notes"
    written = types.TextResourceContents(uri=f"{uri}.txt", text="Milk, eggs")
    binary = types.BlobResourceContents(uri=f"{uri}.bin", blob="AAAA")
    return types.CallToolResult(
        content=[
            types.TextContent(text="Here it is:"),
            types.ImageContent(data="aGVsbG8=", mime_type="image/png"),
            types.AudioContent(data="aGVsbG8h", mime_type="audio/wav"),
            types.ResourceLink(name="notes", uri=f"{uri}.txt", description="What to buy"),
            types.EmbeddedResource(resource=written),
            types.EmbeddedResource(resource=binary),
        ]
    )


async def hang() -> types.CallToolResult:
    started.set()
    try:
        await anyio.sleep_forever()
    finally:
        cancelled.set()
    return text("never")


async def meet() -> types.CallToolResult:
    waiting.append(1)
    if len(waiting) == 3:
        met.set()
    await met.wait()
    return text("met")


async def list_tools(context, request) -> types.ListToolsResult:
    place = int(request.cursor.removeprefix(PAGE)) if request and request.cursor else 0
    name, description, schema, hints = TOOLS[place]
    tool = types.Tool(name=name, description=description, input_schema=schema)
    tool.annotations = types.ToolAnnotations(**hints) if hints else None
    return types.ListToolsResult(tools=[tool], next_cursor=f"{PAGE}{place + 1}" if place + 1 < len(TOOLS) else None)


async def call_tool(context, request) -> types.CallToolResult:
    data = {"city": "Beijing", "degrees": 21}
    match request.name:
        case "blocks":
            return every_block()
        case "structured":
            return types.CallToolResult(content=[], structured_content=data)
        case "said":
            return text(json.dumps(data, indent=4), structured_content=data)
        case "more":
            return text("It is warm.", structured_content=data)
        case "fails":
            return text("No city is named Pekin. Did you mean Beijing?", is_error=True)
        case "silent_failure":
            return types.CallToolResult(content=[], is_error=True)
        case "refused":
            raise MCPError(types.INVALID_PARAMS, "not today")
        case "hang":
            return await hang()
        case "was_started":
            await started.wait()
            return text("yes")
        case "was_cancelled":
            await cancelled.wait()
            return text("yes")
        case "meet":
            return await meet()
        case "surroundings":
            return text(json.dumps({"pid": os.getpid(), "cwd": os.getcwd(), "word": os.environ.get("WORD")}))
        case "die":
            os._exit(1)
        case name:
            return text(json.dumps({"name": name, "arguments": request.arguments}))


async def main() -> None:
    server = Server("everything", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


anyio.run(main)
