"""The offline model as a server: the part of the OpenAI API that the course uses, as a WSGI application.

Tokens are counted simply: four characters are one token, and each message costs four more, plus three for the reply's
start. Ids and times come from the request's own bytes, so that the same request gives the same bytes.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from .faults import NO_FAULTS, Faults
from .reading import read, text_of
from .replying import write
from .slips import faulty_reply

CREATED = 1735689600  # 1 January 2025: when this model says it was made
_CHARACTERS = 4
_STATUS = {200: "200 OK", 400: "400 Bad Request", 401: "401 Unauthorized", 404: "404 Not Found",
           405: "405 Method Not Allowed", 429: "429 Too Many Requests"}
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


@dataclass(frozen=True)
class Settings:
    """How the server behaves. None means no limit, or any key."""

    context_window: int = 8192  # tokens, of the request and the reply together
    requests: int | None = None  # so many are answered, every later one gets 429
    api_keys: tuple[str, ...] | None = None
    model: str = "offline"
    faults: Faults = NO_FAULTS  # the mistakes it makes, at their rates


class APIError(Exception):
    """An answer that the API gives instead of a reply."""

    def __init__(self, status: int, message: str, *, kind: str = "invalid_request_error", param: str | None = None,
                 code: str | None = None):
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


def app(settings: Settings | None = None) -> Callable:
    """Make a WSGI application that answers as the offline model. It can be pickled, for workers."""
    settings = settings or Settings()
    return partial(_respond, settings, iter(range(settings.requests)) if settings.requests is not None else None)


def _respond(settings: Settings, answered: Iterator | None, environ: dict, start_response: Callable) -> list[bytes]:
    """Answer one WSGI request."""
    headers = [("Content-Type", "application/json")]
    try:
        status, body = 200, _route(environ, settings, answered)
    except APIError as error:
        status, body = error.status, error.body
        headers += [("Retry-After", "1")] if status == 429 else []
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    start_response(_STATUS[status], [*headers, ("Content-Length", str(len(content)))])
    return [content]


def _route(environ: dict, settings: Settings, answered: Iterator | None) -> dict:
    """Find what a request wants and answer it."""
    method, path = environ.get("REQUEST_METHOD", "GET"), environ.get("PATH_INFO", "").rstrip("/")
    _check_key(environ.get("HTTP_AUTHORIZATION", ""), settings)
    if path == "/v1/models" and method == "GET":
        return {"object": "list", "data": [_model(settings)]}
    if path == f"/v1/models/{settings.model}" and method == "GET":
        return _model(settings)
    if path != "/v1/chat/completions":
        raise APIError(404, f"Invalid URL ({method} {path or '/'})")
    if method != "POST":
        raise APIError(405, f"Not allowed to {method} on {path}.", code="method_not_allowed")
    if answered is not None and next(answered, None) is None:
        raise APIError(429, f"Rate limit reached for {settings.model}: Limit {settings.requests} requests. Please try"
                            f" again in 1s.",
                       kind="requests", code="rate_limit_exceeded")
    raw = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    return complete(_parsed(raw), raw, settings)


def complete(body: dict, raw: bytes, settings: Settings) -> dict:
    """Answer one checked request."""
    _check(body, settings)
    messages = body["messages"]
    prompt_tokens = sum(tokens(text_of(message)) + 4 for message in messages) + 3
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    if prompt_tokens + (limit or 1) > settings.context_window:
        raise APIError(400, f"This model's maximum context length is {settings.context_window} tokens. However, you"
                            f" requested {prompt_tokens + (limit or 0)} tokens "
                       f"({prompt_tokens} in the messages, {limit or 0} in the completion). Please reduce the length"
                       f" of the messages or completion.",
                       param="messages", code="context_length_exceeded")
    stop = [body["stop"]] if isinstance(body.get("stop"), str) else body.get("stop") or []
    room = settings.context_window - prompt_tokens
    reading = read(messages, body.get("seed") or 0)
    faulty = faulty_reply(settings.faults, reading, messages)
    pieces = write(reading) if faulty is None else [faulty]
    text, reason = cut(pieces, stop, min(limit or room, room))
    used = tokens(text)
    return {
        "id": f"chatcmpl-offline-{zlib.crc32(raw):08x}", "object": "chat.completion", "created": CREATED,
        "model": settings.model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "refusal": None}, "logprobs": None,
                     "finish_reason": reason}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": used, "total_tokens": prompt_tokens + used},
        "system_fingerprint": "fp_offline",
    }


def tokens(text: str) -> int:
    """Count tokens: four characters are one."""
    return -(-len(text) // _CHARACTERS)


def cut(pieces: Iterable[str], stop: list[str], limit: int) -> tuple[str, str]:
    """Read pieces until a stop text, which is not returned, or the limit; give the text and the finish reason."""
    text = ""
    for piece in pieces:
        text += piece
        ends = [place for word in stop if word and (place := text.find(word)) >= 0]
        whole = text[: min(ends)] if ends else text
        if len(whole) > limit * _CHARACTERS:
            return whole[: limit * _CHARACTERS], "length"
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
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise APIError(400, "We could not parse the JSON body of your request. The API expects a JSON object.")
    return body


def _check(body: dict, settings: Settings) -> None:
    """Refuse a request whose fields are not as the API wants them."""
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise APIError(400, "you must provide a model parameter", param="model")
    if body["model"] != settings.model:
        raise APIError(404, f"The model `{body['model']}` does not exist or you do not have access to it.",
                       param="model", code="model_not_found")
    if not isinstance(body.get("messages"), list):
        raise APIError(400, "Missing required parameter: 'messages'." if "messages" not in body
                       else _wrong("messages", "an array of objects"), param="messages")
    if not body["messages"]:
        raise APIError(400, "Invalid 'messages': empty array. Expected an array with minimum length 1.",
                       param="messages", code="empty_array")
    for place, message in enumerate(body["messages"]):
        _check_message(message, f"messages[{place}]")
    _check_stop(body.get("stop"))
    for name in ("max_tokens", "max_completion_tokens"):
        _check_number(body, name, int, 1, 10**9)
    _check_number(body, "temperature", (int, float), 0, 2)
    _check_number(body, "seed", int, -(2**63), 2**63)
    _check_number(body, "n", int, 1, 1)
    for name, what in (("stream", "Streaming"), ("tools", "Tool calling"), ("functions", "Function calling")):
        if body.get(name):
            raise APIError(400, f"{what} is not supported by the offline model yet.", param=name,
                           code="unsupported_parameter")


def _check_message(message: object, param: str) -> None:
    """Refuse a message without a known role, or with content that is no text."""
    if not isinstance(message, dict):
        raise APIError(400, _wrong(param, "an object"), param=param, code="invalid_type")
    if message.get("role") not in _ROLES:
        raise APIError(400, f"Invalid value: {json.dumps(message.get('role'))[:40]}. Supported values are:"
                            f" {', '.join(map(repr, _ROLES))}.",
                       param=f"{param}.role", code="invalid_value")
    content = message.get("content")
    if content is None and message["role"] == "assistant":
        return
    if not isinstance(content, str | list) or (isinstance(content, list)
                                               and not all(isinstance(part, dict) for part in content)):
        raise APIError(400, _wrong(f"{param}.content", "a string or an array of objects"), param=f"{param}.content",
                       code="invalid_type")


def _check_stop(stop: object) -> None:
    """Refuse stop words that are not a text or a list of one to four texts."""
    words = [stop] if isinstance(stop, str) else [] if stop is None else stop
    if not isinstance(words, list) or len(words) > 4 or not all(isinstance(word, str) for word in words):
        raise APIError(400, _wrong("stop", "a string or an array of at most 4 strings"), param="stop",
                       code="invalid_type")


def _check_number(body: dict, name: str, kind: type | tuple, low: float, high: float) -> None:
    """Refuse a number of the wrong kind or out of its bounds."""
    value = body.get(name)
    if value is None:
        return
    if not isinstance(value, kind) or isinstance(value, bool):
        raise APIError(400, _wrong(name, "a number"), param=name, code="invalid_type")
    if not low <= value <= high:
        raise APIError(400, f"Invalid '{name}': {value} is out of range. Expected a value from {low} to {high}.",
                       param=name, code="invalid_value")


def _wrong(name: str, expected: str) -> str:
    return f"Invalid type for '{name}': expected {expected}."
