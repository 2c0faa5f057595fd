"""The offline model as a server: the part of the OpenAI API that the course uses, as a WSGI application.

Tokens are counted simply: four characters are one token, and each message costs four more, plus three for the reply's
start. Ids and times come from the request's own bytes, so that the same request gives the same bytes.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from .calling import callable_tools, speak
from .checks import check
from .faults import NO_FAULTS, Faults
from .judging import verdict
from .native_faults import meant, struck_message
from .plan_faults import planned
from .plan_requests import planning_in
from .reading import Reading, read, text_of
from .replying import write
from .slips import faulty_reply
from .streaming import CHARACTERS, events
from .wrong import APIError

CREATED = 1735689600  # 1 January 2025: when this model says it was made
_STATUS = {200: "200 OK", 400: "400 Bad Request", 401: "401 Unauthorized", 404: "404 Not Found",
           405: "405 Method Not Allowed", 429: "429 Too Many Requests"}


@dataclass(frozen=True)
class Settings:
    """How the server behaves. None means no limit, or any key."""

    context_window: int = 8192  # tokens, of the request and the reply together
    requests: int | None = None  # so many are answered, every later one gets 429
    api_keys: tuple[str, ...] | None = None
    model: str = "offline"
    faults: Faults = NO_FAULTS  # the mistakes it makes, at their rates


def app(settings: Settings | None = None) -> Callable:
    """Make a WSGI application that answers as the offline model. It can be pickled, for workers."""
    settings = settings or Settings()
    return partial(_respond, settings, iter(range(settings.requests)) if settings.requests is not None else None)


def _respond(settings: Settings, answered: Iterator | None, environ: dict, start_response: Callable
             ) -> Iterable[bytes]:
    """Answer one WSGI request. A stream starts only when the whole reply is known to be none of the API's errors."""
    try:
        body, options = _route(environ, settings, answered)
    except APIError as error:
        more = [("Retry-After", "1")] if error.status == 429 else []
        return _as_json(_STATUS[error.status], error.body, more, start_response)
    except RecursionError:
        return _as_json(_STATUS[400], APIError(400, "The JSON of your request is nested too deep.").body, [],
                        start_response)
    if not options.get("stream"):
        return _as_json(_STATUS[200], body, [], start_response)
    start_response(_STATUS[200], [("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-cache")])
    return events(body, bool((options.get("stream_options") or {}).get("include_usage")))


def _as_json(status: str, body: dict, headers: list, start_response: Callable) -> list[bytes]:
    """Send one JSON object."""
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    length = ("Content-Length", str(len(content)))
    start_response(status, [("Content-Type", "application/json"), length, *headers])
    return [content]


def _route(environ: dict, settings: Settings, answered: Iterator | None) -> tuple[dict, dict]:
    """Find what a request wants and answer it; give also the options that say how to send the answer."""
    method, path = environ.get("REQUEST_METHOD", "GET"), environ.get("PATH_INFO", "").rstrip("/")
    _check_key(environ.get("HTTP_AUTHORIZATION", ""), settings)
    if path == "/v1/models" and method == "GET":
        return {"object": "list", "data": [_model(settings)]}, {}
    if path == f"/v1/models/{settings.model}" and method == "GET":
        return _model(settings), {}
    if path != "/v1/chat/completions":
        raise APIError(404, f"Invalid URL ({method} {path or '/'})")
    if method != "POST":
        raise APIError(405, f"Not allowed to {method} on {path}.", code="method_not_allowed")
    if answered is not None and next(answered, None) is None:
        raise APIError(429, f"Rate limit reached for {settings.model}: Limit {settings.requests} requests. Please try"
                            f" again in 1s.",
                       kind="requests", code="rate_limit_exceeded")
    length = environ.get("CONTENT_LENGTH") or "0"
    raw = environ["wsgi.input"].read(int(length) if length.isdecimal() else 0)
    body = _parsed(raw)
    return complete(body, raw, settings), body


def complete(body: dict, raw: bytes, settings: Settings) -> dict:
    """Answer one request; refuse it first if the API would."""
    check(body, settings.model)
    messages, tools = body["messages"], callable_tools(body)
    prompt_tokens = _prompt_tokens(body)
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    if prompt_tokens + (limit or 1) > settings.context_window:
        raise APIError(400, f"This model's maximum context length is {settings.context_window} tokens. However, you"
                            f" requested {prompt_tokens + (limit or 0)} tokens "
                       f"({prompt_tokens} in the messages, {limit or 0} in the completion). Please reduce the length"
                       f" of the messages or completion.",
                       param="messages", code="context_length_exceeded")
    room = settings.context_window - prompt_tokens
    reading = read(messages, body.get("seed") or 0, tools)
    reply = _with_calls if tools else _in_text
    message, reason = reply(body, reading, min(limit or room, room), settings)
    used = _message_tokens(message)
    return {
        "id": f"chatcmpl-offline-{zlib.crc32(raw):08x}", "object": "chat.completion", "created": CREATED,
        "model": settings.model,
        "choices": [{"index": 0, "message": {"role": "assistant", **message, "refusal": None}, "logprobs": None,
                     "finish_reason": reason}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": used, "total_tokens": prompt_tokens + used},
        "system_fingerprint": "fp_offline",
    }


def _in_text(body: dict, reading: Reading, limit: int, settings: Settings) -> tuple[dict, str]:
    """Reply in text, in whatever format the prompt asks for; give the message and the finish reason."""
    planning = planning_in(body["messages"])
    said = planned(settings.faults, planning, body["messages"], reading.seed) if planning else verdict(body["messages"])
    if said is None:
        said = faulty_reply(settings.faults, reading, body["messages"])
    text, reason = cut(write(reading) if said is None else [said], _stop_words(body), limit)
    return {"content": text}, reason


def _with_calls(body: dict, reading: Reading, limit: int, settings: Settings) -> tuple[dict, str]:
    """Reply with native calls or an answer; give the message and the finish reason.

    Where the request names the function, the finish reason is stop, as the API has it.
    """
    choice = body.get("tool_choice")
    must_call = choice == "required" or isinstance(choice, dict)
    spoken = speak(reading, must_call, at_once=body.get("parallel_tool_calls") is not False)
    sent = meant(spoken, "stop" if isinstance(choice, dict) else "tool_calls", body["messages"])
    sent = struck_message(settings.faults, reading, body["messages"], sent, must_call)
    text, reason = cut([sent.content], _stop_words(body), limit)
    if not sent.calls or text != sent.content:  # a stop word ends the reply, also before its calls
        return {"content": text}, sent.reason if text == sent.content else reason
    calls, whole = _cut_calls(sent.wire_calls, limit - tokens(text))
    return {"content": text or None} | ({"tool_calls": calls} if calls else {}), sent.reason if whole else "length"



def _cut_calls(calls: list[dict], limit: int) -> tuple[list[dict], bool]:
    """Cut calls at the limit of tokens, also in the middle of arguments; say whether all of them are whole."""
    kept: list[dict] = []
    for call in calls:
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        limit -= tokens(name)
        if limit < 1:
            return kept, False
        written = arguments[: limit * CHARACTERS]
        limit -= tokens(written)
        kept.append(call | {"function": {"name": name, "arguments": written}})
        if written != arguments:
            return kept, False
    return kept, True


def _stop_words(body: dict) -> list[str]:
    return [body["stop"]] if isinstance(body.get("stop"), str) else body.get("stop") or []


def _prompt_tokens(body: dict) -> int:
    """Count the tokens of a request: its messages and its tools."""
    tools = tokens(json.dumps(body["tools"], ensure_ascii=False)) if body.get("tools") else 0
    return sum(_message_tokens(message) + 4 for message in body["messages"]) + 3 + tools


def _message_tokens(message: dict) -> int:
    """Count the tokens of a message: its text and its calls."""
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    calls = sum(tokens(function["name"]) + tokens(function["arguments"]) for function in functions)
    return tokens(text_of(message)) + calls


def tokens(text: str) -> int:
    """Count tokens: four characters are one."""
    return -(-len(text) // CHARACTERS)


def cut(pieces: Iterable[str], stop: list[str], limit: int) -> tuple[str, str]:
    """Read pieces until a stop text, which is not returned, or the limit; give the text and the finish reason."""
    text = ""
    for piece in pieces:
        text += piece
        ends = [place for word in stop if word and (place := text.find(word)) >= 0]
        whole = text[: min(ends)] if ends else text
        if len(whole) > limit * CHARACTERS:
            return whole[: limit * CHARACTERS], "length"
        if ends:
            return whole, "stop"
    return text, "stop"


def _model(settings: Settings) -> dict:
    return {"id": settings.model, "object": "model", "created": CREATED, "owned_by": "agentlib"}


def _check_key(header: str, settings: Settings) -> None:
    """Refuse a missing or wrong key where keys are asked for."""
    key = header.removeprefix("Bearer ").strip()
    if settings.api_keys is not None and key not in settings.api_keys:
        shown = f": {key[:3]}***{key[-2:]}" if len(key) > 8 else ""
        said = f"Incorrect API key provided{shown}." if key else "You didn't provide an API key."
        raise APIError(401, said, code="invalid_api_key")


def _parsed(raw: bytes) -> dict:
    """Read the JSON of a request."""
    try:
        body = json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise APIError(400, "We could not parse the JSON body of your request. The API expects a JSON object.")
    return body


def _no_number(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(name)
