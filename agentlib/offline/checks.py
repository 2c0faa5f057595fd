"""What the API refuses in the body of a request, and the error that it sends."""

import json

from .tool_checks import check_history, check_tools
from .wrong import APIError, empty_array, missing, wrong_type, wrong_value

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def check(body: dict, model: str) -> None:
    """Refuse a request whose fields are not as the API wants them."""
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise APIError(400, "you must provide a model parameter", param="model")
    if body["model"] != model:
        raise APIError(404, f"The model `{body['model']}` does not exist or you do not have access to it.",
                       param="model", code="model_not_found")
    if "messages" not in body:
        raise missing("messages")
    if not isinstance(body["messages"], list):
        raise wrong_type("messages", "an array of objects")
    if not body["messages"]:
        raise empty_array("messages")
    for place, message in enumerate(body["messages"]):
        _check_message(message, f"messages[{place}]")
    check_history(body["messages"])
    check_tools(body)
    _check_stop(body.get("stop"))
    _check_stream(body)
    for name in ("max_tokens", "max_completion_tokens"):
        _check_number(body, name, int, 1, 10**9)
    _check_number(body, "temperature", (int, float), 0, 2)
    _check_number(body, "seed", int, -(2**63), 2**63)
    _check_number(body, "n", int, 1, 1)
    if body.get("functions"):
        raise APIError(400, "'functions' is not supported by the offline model. Use 'tools'.", param="functions",
                       code="unsupported_parameter")


def _check_message(message: object, param: str) -> None:
    """Refuse a message without a known role, or with content that is no text."""
    if not isinstance(message, dict):
        raise wrong_type(param, "an object")
    if message.get("role") not in _ROLES:
        raise APIError(400, f"Invalid value: {json.dumps(message.get('role'))[:40]}. Supported values are:"
                            f" {', '.join(map(repr, _ROLES))}.",
                       param=f"{param}.role", code="invalid_value")
    content = message.get("content")
    if content is None and message["role"] == "assistant" and message.get("tool_calls"):
        return
    if not isinstance(content, str | list) or (isinstance(content, list)
                                               and not all(isinstance(part, dict) for part in content)):
        raise wrong_type(f"{param}.content", "a string or an array of objects")


def _check_stop(stop: object) -> None:
    """Refuse stop words that are not a text or a list of one to four texts."""
    words = [stop] if isinstance(stop, str) else [] if stop is None else stop
    if not isinstance(words, list) or len(words) > 4 or not all(isinstance(word, str) for word in words):
        raise wrong_type("stop", "a string or an array of at most 4 strings")


def _check_stream(body: dict) -> None:
    """Refuse a wish to stream that is none, and options for a stream that was not asked for."""
    if not isinstance(body.get("stream"), bool | None):
        raise wrong_type("stream", "a boolean")
    options = body.get("stream_options")
    if options is None:
        return
    if not isinstance(options, dict):
        raise wrong_type("stream_options", "an object")
    if not body.get("stream"):
        raise wrong_value("stream_options", "'stream_options' is only allowed when 'stream' is enabled.")
    if not isinstance(options.get("include_usage"), bool | None):
        raise wrong_type("stream_options.include_usage", "a boolean")


def _check_number(body: dict, name: str, kind: type | tuple, low: float, high: float) -> None:
    """Refuse a number of the wrong kind or out of its bounds."""
    value = body.get(name)
    if value is None:
        return
    if not isinstance(value, kind) or isinstance(value, bool):
        raise wrong_type(name, "a number")
    if not low <= value <= high:
        raise APIError(400, f"Invalid '{name}': {value} is out of range. Expected a value from {low} to {high}.",
                       param=name, code="invalid_value")
