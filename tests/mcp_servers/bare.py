"""An MCP server of the first protocol version, written without any SDK; the argument says what is wrong with it."""

import json
import sys

WRONG = sys.argv[1] if len(sys.argv) > 1 else ""
TOOL = {"name": "shout", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}


def result(request: dict) -> dict | None:
    """Give the result of a request; None is a method that the server does not know."""
    if request["method"] == "initialize":
        info = {"name": "bare", "version": "1"}
        return {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": info}
    if request["method"] == "tools/list":
        if WRONG == "dies while listing":
            sys.exit("cannot open the database: disk full")
        return {"tools": [TOOL], **({"nextCursor": "again"} if WRONG == "endless list" else {})}
    if request["method"] == "tools/call":
        if WRONG == "nonsense result":
            return {"content": "not a list"}
        return {"content": [{"type": "text", "text": request["params"]["arguments"]["text"].upper()}]}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request or WRONG == "silent":
        continue
    found = result(request)
    outcome = {"error": {"code": -32601, "message": "unknown method"}} if found is None else {"result": found}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **outcome}), flush=True)
