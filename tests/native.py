"""A plain loop over native tool calls, which the tests use: the API's own messages, and nothing of the library's."""

import io
import json
from collections.abc import Callable

from agentlib.offline import Settings, app
from agentlib.tools import Tool
from agentlib.world import calculator, search, weather

WORLD = (search, weather, calculator)


def described(*tools: Tool) -> list[dict]:
    """Give tools as a request holds them."""
    return [{"type": "function", "function": {"name": tool.name, "description": tool.description,
                                              "parameters": tool.parameters}} for tool in tools]


def schema(name: str, description: str = "", **properties: dict) -> dict:
    """Describe a tool by hand; every parameter is required."""
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def send(body: dict, settings: Settings | None = None) -> tuple[int, dict]:
    """Send one request to the application, without a client; give the status and the body."""
    return send_bytes(json.dumps({"model": "offline"} | body).encode(), settings)


def send_bytes(raw: bytes, settings: Settings | None = None) -> tuple[int, dict]:
    """Send one request as it stands."""
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/v1/chat/completions", "CONTENT_LENGTH": str(len(raw)),
               "wsgi.input": io.BytesIO(raw)}
    seen: list[str] = []
    content = b"".join(app(settings)(environ, lambda status, headers: seen.append(status)))
    return int(seen[0][:3]), json.loads(content)


def ask(messages: list[dict] | str, tools: list[dict] | None = None, **options: object) -> dict:
    """Give the choice with which the model replies to a conversation, or to one question."""
    conversation = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    offered = {"tools": described(*WORLD) if tools is None else tools} if tools != [] else {}
    status, body = send({"messages": conversation} | offered | options)
    assert status == 200, body
    return body["choices"][0]


def calls(choice: dict) -> list[tuple[str, dict]]:
    """Give the names and arguments of the calls in a reply."""
    functions = [call["function"] for call in choice["message"].get("tool_calls", [])]
    return [(function["name"], json.loads(function["arguments"])) for function in functions]


def run(question: str, tools: list[dict] | None = None, functions: dict[str, Callable] | None = None, most: int = 12,
        before: tuple[dict, ...] = (), **options: object) -> tuple[str, list[dict]]:
    """Ask, run the tools, append, until there is an answer; give it, and the replies (choices) in their order."""
    known = functions or {tool.name: tool for tool in WORLD}
    messages, replies = [*before, {"role": "user", "content": question}], []
    for _ in range(most):
        choice = ask(messages, tools, **options)
        replies.append(choice)
        messages.append({key: value for key, value in choice["message"].items() if key != "refusal"})
        if not calls(choice):
            return choice["message"]["content"], replies
        for call, (name, arguments) in zip(choice["message"]["tool_calls"], calls(choice), strict=True):
            result = carry_out(known, name, arguments)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    raise AssertionError(f"no answer to {question!r} after {most} replies: {replies[-1]}")


def carry_out(functions: dict[str, Callable], name: str, arguments: dict) -> str:
    """Run one call as a plain loop would."""
    if name not in functions:
        return f"Error: unknown tool {name!r}. The tools are: {', '.join(functions)}"
    try:
        return functions[name](**arguments)
    except Exception as error:
        return f"Error: {type(error).__name__}: {error}"
