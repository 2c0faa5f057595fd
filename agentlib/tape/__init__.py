"""Record what a model replies, and replay it without the model, the key and the network.

A teacher records once, with a key in .env:

    llm = RecordingLLM(LLM(), "lesson.tape")
    ReAct(llm, tools=[search]).run("Who runs DeepMind?")

Thirty learners replay, with the file alone:

    llm = TapeLLM("lesson.tape")
    ReAct(llm, tools=[search]).run("Who runs DeepMind?")   # the same replies, the same state

Both can stand wherever an LLM can. A tape is a file of JSON lines. Each holds a request as it was sent, its tools too,
and the reply with its calls, or the error; keys, addresses and headers are no part of it, and where a text repeats one
it is written as [key] or [address]. The same request with the same reply is kept once. Where a model replied
differently to the same request, the replies are replayed in their order, then the last one again. An error is replayed
only where no reply was recorded: it came from the network or the account, not from the model.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..jsonlines import LinesError, append_line, open_lines, read_lines
from ..llm import LLMError, Reply, read_settings, to_wire
from ..secrecy import without, without_addresses
from ..state import Call, Message, Usage
from .nearest import how_it_differs

KIND = "tape"
SETTINGS = ("model", "seed", "temperature", "max_tokens")


@dataclass(frozen=True)
class Take:
    """One line of a tape. `asked` is the request with its tools and stop words also where they were not sent."""

    asked: dict
    outcome: Reply | LLMError
    line: int = 0


class RecordingLLM:
    """A model that does what `llm` does, and writes each new reply to the end of the tape at `path`.

    Raises LLMError (bad_tape) where the file is no tape or cannot be written. One process records to a file at a time.
    """

    def __init__(self, llm: Any, path: str | os.PathLike) -> None:
        self.llm = llm
        self.path = os.fspath(path)
        self.model = llm.model
        self.base_url = getattr(llm, "base_url", None)
        self._kept = {_identity(line) for _, line in _lines(path, open_lines)}

    def __repr__(self) -> str:
        return f"RecordingLLM({self.llm!r}, {self.path!r})"

    def chat(
        self, messages: Iterable[Message | Mapping], *, tools: Sequence[dict] = (), stop: Sequence[str] = ()
    ) -> Reply:
        """Ask the model, and keep what it says. Raises LLMError as the model does."""
        messages, given = list(messages), _given(tools, stop)
        request = self.request(messages, **given)
        try:
            reply = self.llm.chat(messages, **given)
        except LLMError as error:
            self._keep(request, given, error)
            raise
        self._keep(request, given, reply)
        return reply

    def request(
        self, messages: Iterable[Message | Mapping], *, tools: Sequence[dict] = (), stop: Sequence[str] = ()
    ) -> dict:
        """Give the body of the request, as the model sends it."""
        if hasattr(self.llm, "request"):
            return self.llm.request(messages, **_given(tools, stop))
        return {"model": self.model, "messages": to_wire(messages), **_given(tools, stop)}

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be written to a file: the keys of the model and those of this machine."""
        around = [value for name, value in os.environ.items() if name.endswith("_API_KEY")]
        return (*getattr(self.llm, "secrets", ()), *around, read_settings().get("OPENAI_API_KEY", ""))

    def _keep(self, request: dict, given: dict, outcome: Reply | LLMError) -> None:
        line = self._encode(request, outcome)
        if not_sent := {name: value for name, value in given.items() if name not in request}:
            line["not_sent"] = not_sent  # left out for the server's sake (AGENTLIB_OMIT)
        line = without(self.secrets, line)
        if (identity := _identity(line)) not in self._kept:
            try:
                append_line(self.path, line)
            except LinesError as error:
                raise LLMError("bad_tape", str(error)) from None
            self._kept.add(identity)

    def _encode(self, request: dict, outcome: Reply | LLMError) -> dict:
        if isinstance(outcome, LLMError):
            text = without_addresses(str(outcome), self.base_url)
            return {"request": request, "error": {"reason": outcome.reason, "text": text}}
        usage = {name: getattr(outcome.usage, name) for name in Usage.__dataclass_fields__}
        reply = {"content": outcome.content, "finish_reason": outcome.finish_reason, "usage": usage}
        calls = {"tool_calls": [call.to_wire() for call in outcome.tool_calls]} if outcome.tool_calls else {}
        return {"request": request, "reply": reply | calls}


class TapeLLM:
    """A model that gives the recorded replies of a tape. `model`, `seed`, `temperature` and `max_tokens` choose among
    what was recorded; they may be left out where the tape holds one setting only.

    Raises LLMError: bad_tape for a file that is none or that needs a choice, not_on_tape for what was not recorded.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        *,
        model: str | None = None,
        seed: int | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.path = os.fspath(path)
        given = dict(zip(SETTINGS, (model, seed, temperature, max_tokens), strict=True))
        takes = [take for take, _ in _lines(path, read_lines)]
        self.settings = _choose(path, takes, {name: value for name, value in given.items() if value is not None})
        self.model = self.settings.get("model", "tape")
        self._takes = [take for take in takes if _settings(take) == self.settings]
        self._replies: dict[str, list[Reply | LLMError]] = {}
        for take in self._takes:
            kept = self._replies.setdefault(_identity(take.asked), [])
            if isinstance(take.outcome, LLMError) or take.outcome not in kept:
                kept.append(take.outcome)
        self._times: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"TapeLLM({self.path!r}, model={self.model!r})"

    def chat(
        self, messages: Iterable[Message | Mapping], *, tools: Sequence[dict] = (), stop: Sequence[str] = ()
    ) -> Reply:
        """Give the reply that was recorded. Raises LLMError: the recorded one, or not_on_tape."""
        asked = self.request(messages, tools=tools, stop=stop)
        identity = _identity(asked)
        if identity not in self._replies:
            why = how_it_differs(asked, [(take.line, take.asked, _said(take)) for take in self._takes])
            raise LLMError("not_on_tape", f"this request is not on the tape {self.path}: {why}")
        outcomes = self._replies[identity]
        outcomes = [outcome for outcome in outcomes if isinstance(outcome, Reply)] or outcomes[-1:]
        outcome = outcomes[min(self._times[identity], len(outcomes) - 1)]
        self._times[identity] += 1
        if isinstance(outcome, LLMError):
            raise LLMError(outcome.reason, str(outcome))  # a new one: raising one twice would join their tracebacks
        return outcome

    def request(
        self, messages: Iterable[Message | Mapping], *, tools: Sequence[dict] = (), stop: Sequence[str] = ()
    ) -> dict:
        """Give the request that is looked for."""
        return {**self.settings, "messages": to_wire(messages), **_given(tools, stop)}


def _given(tools: Sequence[dict], stop: Sequence[str]) -> dict:
    """Give what a request holds beside its messages and settings; what is empty is not sent."""
    return {name: list(value) for name, value in (("tools", tools), ("stop", stop)) if value}


# -- lines


def _lines(path: str | os.PathLike, read: Any) -> list[tuple[Take, dict]]:
    """Read the lines of a tape with `read`, and what they mean. Raises LLMError (bad_tape), which names the line."""
    try:
        return [(_decode(path, number, value), value) for number, value in read(path, KIND)]
    except LinesError as error:
        raise LLMError("bad_tape", str(error)) from None


def _decode(path: str | os.PathLike, number: int, value: dict) -> Take:
    try:
        asked = {**value["request"], **value.get("not_sent", {})}
        if not all(isinstance(each, dict) for each in [*asked["messages"], *asked.get("tools", [])]):
            raise TypeError(asked)
        if "error" in value:
            outcome = LLMError(_text(value["error"]["reason"]), _text(value["error"]["text"]))
        else:
            reply = value["reply"]
            usage = Usage(**{name: int(count) for name, count in reply["usage"].items()})
            calls = tuple(map(_call, reply.get("tool_calls", [])))
            outcome = Reply(_text(reply["content"]), _text(reply["finish_reason"]), usage, calls)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise LinesError(f"line {number} of {path} is not a request and its reply") from None
    return Take(asked, outcome, number)


def _call(wire: dict) -> Call:
    return Call(_text(wire["id"]), _text(wire["function"]["name"]), _text(wire["function"]["arguments"]))


def _said(take: Take) -> dict:
    """Give the message of a recorded reply, as a request would hold it; after an error, an empty one."""
    return (take.outcome if isinstance(take.outcome, Reply) else Reply("")).message.to_wire()


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _identity(value: dict) -> str:
    """Give a text that is the same for equal values on every machine."""
    return json.dumps(value, sort_keys=True)  # in ASCII, so that two halves of a character equal the whole


# -- settings


def _settings(take: Take) -> dict:
    return {name: value for name, value in take.asked.items() if name not in ("messages", "tools", "stop")}


def _choose(path: str | os.PathLike, takes: list[Take], given: dict) -> dict:
    """Give the one recorded setting that has what was given. Raises LLMError where there is none or more than one."""
    recorded = list({_identity(_settings(take)): _settings(take) for take in takes}.values())
    if not recorded:
        raise LLMError("bad_tape", f"{path} holds no recorded request")
    fitting = [each for each in recorded if given.items() <= each.items()]
    if len(fitting) == 1:
        return fitting[0]
    wanted = ", ".join(f"{name}={value!r}" for name, value in given.items())
    if not fitting:
        raise LLMError("not_on_tape", f"{path} holds no recording with {wanted}; it has {_words(recorded)}")
    raise LLMError("bad_tape", f"{path} holds recordings with several settings; say which: {_words(fitting)}")


def _words(recorded: list[dict], most: int = 5) -> str:
    words = [", ".join(f"{name}={value!r}" for name, value in each.items()) for each in recorded]
    return "; ".join(words[:most]) + (f"; and {len(words) - most} more" if len(words) > most else "")
