"""How a fault gets into a reply with native calls. The luck, the recovery and the rates are those of the text protocol.

A malformed reply of a kind that native calls do not have (there are no labels, no brackets) leaves its rate to all the
kinds that they have, evenly. So `Faults.malformed(0.15)` strikes 15 % of the replies in either protocol.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace

from .calling import Spoken, wire_calls, with_ids
from .faults import MISTAKES, Faults, drawn
from .malformed import MALFORMED
from .native_malformed import NATIVE, Sent
from .notes import Value
from .parts import to_json
from .reading import Reading, is_from_the_loop, text_of
from .results import as_text
from .slips import helps, is_error, mistyped
from .thinking import think
from .wording import answer_of

_NOTE = re.compile(r"\s*note\s*[:：]", re.I)

Chance = Callable[[str], float]


def meant(spoken: Spoken, reason: str, messages: list[dict]) -> Sent:
    """Give the reply as the model means it; `reason` is the finish reason where there are calls."""
    calls = [(call["id"], call["function"]["name"], call["function"]["arguments"])
             for call in wire_calls(spoken.calls, messages)]
    used = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    return Sent(spoken.content or "", tuple(calls), reason if calls else "stop", spoken.thought, tuple(used))


def struck_message(faults: Faults, reading: Reading, messages: list[dict], sent: Sent, must_call: bool) -> Sent:
    """Give the reply as it is sent: as it was meant, or as a fault made it.

    `must_call` says that it may not be without calls.
    """
    if not (faults.rates or faults.native_rates):
        return sent
    chance = faults.chances(messages, reading.seed)
    replies, answers = _since_question(messages)
    told = "\n".join(text for text in answers if is_error(text) or _NOTE.match(text))
    recovery = faults.recovery if helps(told, reading) else faults.blind_recovery
    if replies and (any(map(is_error, answers)) or (told and not replies[-1].get("tool_calls"))):
        return sent if chance("recovery") < recovery else _again(replies[-1], messages, sent, must_call)
    if faults.repeated_action and replies and _functions(replies[-1]) in list(map(_functions, replies[:-1])):
        goes_on = 1 - recovery if told else faults.persistence
        return _again(replies[-1], messages, sent, must_call) if chance("persistence") < goes_on else sent

    def written(kind: str) -> Sent | None:
        place = int(chance("call") * len(sent.calls))
        made = (NATIVE[kind](sent, place) if kind in NATIVE
                else _mistaken(kind, reading, replies, messages, sent, chance))
        return None if made == sent or (made and must_call and not made.calls) else made

    kind = _struck(faults, chance, lambda kind: written(kind) is not None)
    return (written(kind) if kind else None) or sent


def _struck(faults: Faults, chance: Chance, fits: Callable[[str], bool]) -> str | None:
    """Say which fault strikes, if any: first whether and which block or mistake, then which of the block."""
    homeless = sum(rate for kind, rate in faults.rates.items() if kind in MALFORMED and kind not in NATIVE)
    forms = {kind: getattr(faults, kind) + homeless / len(NATIVE) for kind in NATIVE}
    blocks = [forms, *({kind: getattr(faults, kind)} for kind in MISTAKES)]
    block = drawn([sum(each.values()) for each in blocks], chance("whether"))
    fitting = {kind: rate for kind, rate in blocks[block].items() if rate and fits(kind)} if block is not None else {}
    which = drawn(list(fitting.values()), chance("which") * sum(fitting.values()))
    return None if which is None else list(fitting)[which]


def _mistaken(kind: str, reading: Reading, replies: list[dict], messages: list[dict], sent: Sent, chance: Chance
              ) -> Sent | None:
    """Make a mistake that is none of form; None if it does not fit."""
    if not sent.calls:
        return None
    place = int(chance("call") * len(sent.calls))
    _, name, arguments = sent.calls[place]
    if kind == "invented_tool":
        known = {tool.name for tool in reading.tools}
        names = [each for each in (_misspelt(name), f"get_{name}", f"{name}_tool") if each not in known]
        return sent.with_call(place, names[int(chance("tool") * len(names))], arguments)
    if kind == "wrong_type":
        given = {key: mistyped(value) for key, value in json.loads(arguments).items()}
        return sent.with_call(place, name, to_json(given))
    if kind == "repeated_action":
        earlier = [reply for reply in replies if reply.get("tool_calls")]
        return _again(earlier[int(chance("repeated") * len(earlier))], messages, sent, True) if earlier else None
    conclusion = think(replace(reading, tools=()))
    if not isinstance(conclusion.outcome, Value):
        return None
    return replace(sent, content=answer_of(conclusion), calls=(), reason="stop")


def _again(reply: dict, messages: list[dict], sent: Sent, must_call: bool) -> Sent:
    """Say the same as in an earlier reply, with new ids; where there must be a call and it had none, what was meant."""
    functions = _functions(reply)
    if must_call and not functions:
        return sent
    calls = tuple((call["id"], *function) for call, function in zip(
        with_ids(functions, messages), functions, strict=True))
    return replace(sent, content=text_of(reply), calls=calls, reason="tool_calls" if calls else "stop")


def _functions(reply: dict) -> list[tuple[str, str]]:
    """Give the names and arguments of a reply's calls."""
    functions = [call["function"] for call in reply.get("tool_calls") or ()]
    return [(function["name"], function["arguments"]) for function in functions]


def _since_question(messages: list[dict]) -> tuple[list[dict], list[str]]:
    """Give the model's replies since the last question, and what came back on the last of them."""
    asked = max((place for place, message in enumerate(messages)
                 if message.get("role") == "user" and not is_from_the_loop(text_of(message))), default=0)
    after = messages[asked:]
    replies = [message for message in after if message.get("role") == "assistant"]
    last = max((place for place, message in enumerate(after) if message.get("role") == "assistant"), default=len(after))
    return replies, [as_text(text_of(message)) for message in after[last + 1:]]


def _misspelt(name: str) -> str:
    """Spell a tool's name wrongly: one of two vowels is lost, as in get_wether, or else two letters change places."""
    lost = re.sub(r"([aeiou])[aeiou]", r"\1", name, count=1)
    return lost if lost != name else f"{name[:-2]}{name[-1:]}{name[-2:-1]}" if name[-2:-1] != name[-1:] else f"{name}s"

