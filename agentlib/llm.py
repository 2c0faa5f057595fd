"""The one seam to a model: messages in, a `Reply` out, over the openai client.

`AGENTLIB_MODEL` says which model: unset or `offline` is the offline model, which needs no key and no network; any
other value is a model name, sent to `OPENAI_BASE_URL` with `OPENAI_API_KEY`. The settings come from the environment,
then from the nearest `.env` at or above the working directory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .model_errors import LLMError, bad_reply, explain
from .secrecy import keys_in
from .state import Call, Message, Usage

if TYPE_CHECKING:
    from openai import OpenAI

SETTINGS = ("AGENTLIB_MODEL", "AGENTLIB_OMIT", "OPENAI_API_KEY", "OPENAI_BASE_URL")

ONE_CALL = Usage(calls=1)
# no JSON, JSON nested too deep, a proxy that needs a package, a certificate file that is missing or none
_ODD = (ValueError, RecursionError, ImportError, OSError)


@dataclass(frozen=True)
class Reply:
    """One reply of a model. `finish_reason` is stop, length, tool_calls or content_filter, as the server said it; it
    does not always agree with whether there are `tool_calls`, which are as the model wrote them, unchecked."""

    content: str
    finish_reason: str = "stop"
    usage: Usage = ONE_CALL
    tool_calls: tuple[Call, ...] = ()

    @property
    def message(self) -> Message:
        return Message("assistant", self.content, self.tool_calls)


class LLM:
    """A chat model. What is not given comes from the settings; `seed`, `temperature` and `max_tokens` are sent only
    when given. `timeout` is in seconds; `max_retries` counts the client's own retries, with its backoff.

    `offline` is the application that answers for the offline model: an `agentlib.offline.app` with other settings.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        seed: int | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        offline: Any = None,
    ) -> None:
        settings = read_settings()
        name = model or settings.get("AGENTLIB_MODEL") or "offline"
        self.model = "offline" if name.lower() == "offline" else name
        self.in_process = self.model == "offline" and base_url is None  # whatever key or endpoint lies around
        self.base_url = "http://offline/v1" if self.in_process else base_url or settings.get("OPENAI_BASE_URL")
        self._api_key = api_key or (None if self.in_process else settings.get("OPENAI_API_KEY"))
        self._omit = {name.strip() for name in settings.get("AGENTLIB_OMIT", "").split(",")}
        self._options = {"seed": seed, "temperature": temperature, "max_tokens": max_tokens}
        self._client_options = {"timeout": timeout, "max_retries": max_retries}
        self._offline = offline

    def __repr__(self) -> str:
        return f"LLM({self.model!r})"  # never the key

    def chat(
        self, messages: Iterable[Message | Mapping], *, tools: Sequence[dict] = (), stop: Sequence[str] = ()
    ) -> Reply:
        """Ask the model once; `tools` are as the API has them. Raises LLMError, whose text says what to change."""
        import httpx2
        import openai

        body = self._body([m.wire if isinstance(m, Message) else m for m in messages], tools, stop)
        try:
            # `chat.completions.create` walks the whole request on every call, which grows with the history; the
            # client's own `post` sends the same body and does not. As `object` the reply stays plain JSON.
            completion = self.client.post("/chat/completions", body=body, cast_to=object)
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, *_ODD) as error:
            known = {"model": self.model, "base_url": self.base_url, "key": self._api_key, "secrets": self.secrets}
            raise explain(error, **known) from None
        try:
            return _read(completion)
        except (TypeError, KeyError, IndexError, AttributeError, ValueError, OverflowError):
            raise bad_reply(completion, self.base_url, self.secrets) from None

    def request(
        self, messages: Iterable[Message | Mapping], *, tools: Sequence[dict] = (), stop: Sequence[str] = ()
    ) -> dict:
        """Give the body of the request, as it is sent."""
        return self._body(to_wire(messages), tools, stop)

    def _body(self, messages: list[Mapping], tools: Sequence[dict], stop: Sequence[str]) -> dict:
        lists = {"tools": list(tools) or None, "stop": list(stop) or None}  # the API refuses empty ones
        body = {"model": self.model, "messages": messages} | lists | self._options
        return {key: value for key, value in body.items() if value is not None and key not in self._omit}

    @property
    def secrets(self) -> tuple[str, ...]:
        """The key, and what the address may hold of one: nothing of this may be written or shown."""
        return (self._api_key or "", *keys_in(self.base_url or ""))

    @cached_property
    def client(self) -> OpenAI:
        """The openai client, made at the first use: its import takes a second."""
        import openai

        if self.in_process:
            import httpx2

            http = httpx2.Client(transport=httpx2.WSGITransport(self._offline or _offline_app()))
            return openai.OpenAI(
                api_key=self._api_key or "offline", base_url=self.base_url, http_client=http, **self._client_options
            )
        key = self._api_key or ("none" if self.base_url else None)  # a local server wants no key, the client wants one
        return openai.OpenAI(api_key=key, base_url=self.base_url, **self._client_options)

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != "client"}  # so that workers can have it


def to_wire(messages: Iterable[Message | Mapping]) -> list[dict]:
    """Give messages as the JSON objects of the API."""
    return [message.to_wire() if isinstance(message, Message) else dict(message) for message in messages]


def _offline_app() -> Any:
    from .offline import app

    return app()


def read_settings() -> dict[str, str]:
    """Give the settings of `SETTINGS` that are set and not empty: the environment first, then the nearest `.env`."""
    from dotenv import dotenv_values

    path = _env_file()
    try:
        found = {**dotenv_values(path), **os.environ}
    except (OSError, UnicodeDecodeError):
        raise LLMError("bad_settings", f"{path} cannot be read; it must be a text file in UTF-8") from None
    return {name: found[name].strip() for name in SETTINGS if (found.get(name) or "").strip()}


def _env_file() -> str:
    """Give the path of the nearest `.env`, or "" when there is none, or no working directory any more."""
    from dotenv import find_dotenv

    try:
        return find_dotenv(usecwd=True)
    except OSError:
        return ""


def _read(completion: Any) -> Reply:
    """Give the Reply of a completion. Servers that are not quite OpenAI's leave out all but the text."""
    choice, usage = completion["choices"][0], completion.get("usage") or {}
    tokens = [int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens")]
    message, reason = choice["message"], str(choice.get("finish_reason") or "stop")
    content = _text(message.get("content")) or _text(message.get("refusal"))
    return Reply(content, reason, Usage(1, *tokens), tuple(map(_call, message.get("tool_calls") or ())))


def _call(call: Any) -> Call:
    """Read one call. Some servers leave out the id, or send the arguments as an object instead of its text."""
    name, arguments = call["function"]["name"], call["function"].get("arguments")
    if not isinstance(name, str):
        raise TypeError(name)
    written = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    return Call(str(call.get("id") or ""), name, written)


def _text(content: Any) -> str:
    """Give the text of a message, also where a server sends it in parts."""
    if not isinstance(content, str | list | None):
        raise TypeError(content)
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


class ScriptedLLM:
    """A model for tests and for cells that must show one exact reply: it gives the replies it was given, in order.

    A reply is a text, a `Reply`, or an `LLMError` to raise. `requests` records what was sent. Asking for more than the
    script holds raises ScriptError, and so does leaving a `with` block before all of it was used.
    """

    model = "scripted"

    def __init__(self, replies: Iterable[str | Reply | LLMError]) -> None:
        self.replies = tuple(replies)
        self.requests: list[dict] = []

    def chat(
        self, messages: Iterable[Message | Mapping], *, tools: Sequence[dict] = (), stop: Sequence[str] = ()
    ) -> Reply:
        offered = {"tools": list(tools)} if tools else {}
        self.requests.append({"messages": to_wire(messages), "stop": list(stop)} | offered)
        if len(self.requests) > len(self.replies):
            raise ScriptError(f"the script holds {len(self.replies)} replies, and was asked for one more")
        reply = self.replies[len(self.requests) - 1]
        if isinstance(reply, LLMError):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(reply)

    def __enter__(self) -> ScriptedLLM:
        return self

    def __exit__(self, error: type | None, *_: object) -> None:
        if error is None and len(self.requests) < len(self.replies):
            raise ScriptError(f"only {len(self.requests)} of the script's {len(self.replies)} replies were used")


class ScriptError(AssertionError):
    """A script that was used up, or not."""
