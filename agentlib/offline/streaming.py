"""A completion as a stream of server-sent events: a chunk for each token, in the order in which the API sends them."""

import json
from collections.abc import Iterator

CHARACTERS = 4  # of one token


def events(completion: dict, include_usage: bool) -> Iterator[bytes]:
    """Give the events: the role, the text, the calls, the finish reason, the usage if it is wanted, and the end."""
    head = {key: completion[key] for key in ("id", "created", "model", "system_fingerprint")}
    head = {"object": "chat.completion.chunk"} | head
    usage = {"usage": None} if include_usage else {}
    choice = completion["choices"][0]
    for delta in _deltas(choice["message"]):
        part = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        yield _event(head | {"choices": [part]} | usage)
    last = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": choice["finish_reason"]}
    yield _event(head | {"choices": [last]} | usage)
    if include_usage:
        yield _event(head | {"choices": [], "usage": completion["usage"]})
    yield b"data: [DONE]\n\n"


def _deltas(message: dict) -> Iterator[dict]:
    """Give what each chunk adds to the message. A call starts with its id and name; its arguments come in pieces."""
    yield {"role": "assistant", "content": None if message["content"] is None else "", "refusal": None}
    for piece in _pieces(message["content"] or ""):
        yield {"content": piece}
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        start = {"index": index, **call, "function": {"name": function["name"], "arguments": ""}}
        yield {"tool_calls": [start]}
        for piece in _pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterator[str]:
    return (text[at:at + CHARACTERS] for at in range(0, len(text), CHARACTERS))


def _event(chunk: dict) -> bytes:
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"
