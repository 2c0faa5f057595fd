"""What can go wrong between us and a model, each in one line that says what to change."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from .secrecy import without, without_addresses


class LLMError(Exception):
    """A model could not be asked. `reason` is one word, such as wrong_key; the text says what to change."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason

    def _render_traceback_(self) -> list[str]:
        """Tell Jupyter to show one line: a wrong setting is no bug of the learner's."""
        return [f"{type(self).__name__} ({self.reason}): {self}"]

    def __reduce__(self) -> tuple:
        return type(self), (self.reason, str(self))


OFFLINE = "or set AGENTLIB_MODEL=offline to go on without it"

_TOO_LONG = re.compile(r"context.{0,20}(?:length|window|size)|maximum context|too many tokens|prompt is too long", re.I)
_FILTERED = re.compile(r"content[ _](?:filter|management|policy)", re.I)
_UNSUPPORTED = re.compile(r"(?:un|not )support|unrecogni[sz]ed|unknown|not (?:allowed|permitted)", re.I)
_OPTIONAL = re.compile(r"\b(?:stop|seed|temperature|max_tokens)\b")  # what a request can do without
_PATH_KEY = re.compile(r"(?<=[^/]/)(?=[^/?#]*\d)[^/?#]{16,}")  # a long part with a digit; a name is rarely one


def explain(
    error: Exception, *, model: str, base_url: str | None, key: str | None = None, secrets: Sequence[str] = ()
) -> LLMError:
    """Turn an error of the openai client into an LLMError. A secret, should a server repeat it, is left out."""
    import openai

    where = _address(base_url, secrets)
    said = _one_line(getattr(error, "message", None) or str(error), base_url, secrets)
    match error:
        case openai.APITimeoutError():
            return LLMError("timeout", f"{where} did not answer in time; give LLM a longer timeout, {OFFLINE}")
        case openai.APIStatusError():
            return _explain_status(error, model, where, said)
        case openai.APIConnectionError() | UnicodeEncodeError() if key and not re.fullmatch("[!-~]+", key):
            return LLMError("wrong_key", "OPENAI_API_KEY holds a character that no key has; paste it again")
        case openai.APIConnectionError() if not re.match("https?://", where) and base_url:
            return LLMError("unreachable", f"OPENAI_BASE_URL must start with http:// or https://, and is {where}")
        case openai.APIConnectionError():
            return LLMError("unreachable", f"cannot reach {where}; check OPENAI_BASE_URL and the network, {OFFLINE}")
        case UnicodeEncodeError():
            return LLMError("bad_request", "a message holds half a character (a lone surrogate), which cannot be sent")
        case json.JSONDecodeError() | UnicodeDecodeError() | RecursionError():
            return bad_reply("no JSON", base_url, secrets)
        case OSError():
            return LLMError("bad_settings", f"cannot prepare the connection: {said}; check SSL_CERT_FILE")
    if "api_key" in said:
        return LLMError("no_key", f"there is no key for {model!r}; set OPENAI_API_KEY in .env, {OFFLINE}")
    said = without_addresses(said, base_url)  # the address of a proxy may hold a key too
    return LLMError("unreachable", f"cannot ask {where}: {said}; check OPENAI_BASE_URL and the proxy, {OFFLINE}")


def bad_reply(body: object, base_url: str | None, secrets: Sequence[str] = ()) -> LLMError:
    """Say that a server answered, but not as one that serves chat completions."""
    where, said = _address(base_url, secrets), _one_line(str(body), base_url, secrets)
    return LLMError("bad_reply", f"{where} gave no chat completion; check OPENAI_BASE_URL. It sent: {said}")


def _explain_status(error, model: str, where: str, said: str) -> LLMError:
    status, code = error.status_code, str(error.code or "")
    if status == 401:  # the server's own text may repeat the key
        return LLMError("wrong_key", f"{where} does not accept the key; correct OPENAI_API_KEY in .env, {OFFLINE}")
    if status == 403:
        return LLMError("not_allowed", f"{where} refuses this key or region for {model!r}: {said}")
    if status == 404:
        fix = "correct AGENTLIB_MODEL or OPENAI_BASE_URL in .env"
        return LLMError("unknown_model", f"{where} knows no model {model!r}; {fix}. It said: {said}")
    if status == 402 or (status == 429 and "quota" in code + said):
        return LLMError("no_credit", f"the account at {where} has no credit left; add some, {OFFLINE}")
    if status == 429:
        fix = "wait, then run agent.resume(state)"
        return LLMError("rate_limit", f"too many requests for {where}; {fix}. It said: {said}")
    if status == 413 or code == "context_length_exceeded" or (status == 400 and _TOO_LONG.search(said)):
        return LLMError("context_too_long", f"the messages do not fit the context of {model!r}: {said}")
    if code == "content_filter" or (status == 400 and _FILTERED.search(said)):
        return LLMError("content_filter", f"the filter of {where} refused the request; word the question differently")
    parameter = _OPTIONAL.search(f"{error.param} {said}")
    if status in (400, 422) and parameter and _UNSUPPORTED.search(code + said):
        fix = f"set AGENTLIB_OMIT={parameter[0]} in .env"
        return LLMError("unsupported", f"{model!r} does not take the parameter {parameter[0]!r}; {fix}")
    if status >= 500:
        return LLMError("server_error", f"{where} failed (status {status}); try again later, {OFFLINE}")
    return LLMError("bad_request", f"{where} refused the request (status {status}): {said}")


def _address(base_url: str | None, secrets: Sequence[str]) -> str:
    """Give the address without its user, its query, and what may be a key in its path."""
    shown = re.sub(r"^([\w+.-]*://)?[^?#]*@", r"\1", base_url or "the OpenAI API")
    return _one_line(re.sub(r"(?s)[?#].*", "", shown), base_url, secrets)


def _one_line(text: str, base_url: str | None, secrets: Sequence[str]) -> str:
    hidden = without((*secrets, *_PATH_KEY.findall(base_url or "")), text)
    return " ".join(hidden.split())[:300]
