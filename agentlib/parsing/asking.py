"""Where a reply asks for something: at a label, and also, when it is clear, inside a line or in a call of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .calls import ARGUMENTS, KEYS, TAG, Call, read_call
from .labels import (
    ACTION,
    FINAL_ANSWER,
    OBSERVATION,
    PADDING,
    QUESTION,
    Mark,
    as_thought,
    has_label,
    inline_mark,
    is_declined,
    line_marks,
)
from .notation import BARE, EXACT, Notation, Unreadable
from .repairing import MENDED

_INTRUDERS = {
    OBSERVATION: f"it has an {OBSERVATION} before any {ACTION}, and only tools write an {OBSERVATION}",
    QUESTION: f"it has a {QUESTION} before any {ACTION}, and only the user asks a {QUESTION}",
}
# A JSON call that stands alone: on a line of its own, in a fence or behind a tag.
_JSON_CALL = rf"(?:\[\s*+)?(?=\{{\s*+[\"'](?:{'|'.join(KEYS)}|type|id)[\"'])"
_ALONE = re.compile(
    rf"^(?:[ \t]*+```[ \t]*+\w*+\s*+)?[ \t]*+{_JSON_CALL}"
    rf"|(?:^[ \t]*+```[ \t]*+\w*+\s*+)?(?P<tag>{TAG}\s*+(?:```[ \t]*+\w*+\s*+)?){_JSON_CALL}",
    re.MULTILINE,
)
_HAS_ARGUMENTS = re.compile(rf"[\"'](?:{'|'.join(ARGUMENTS)})[\"']\s*+:")
_WHOLE = re.compile(r"\s*+(?:```[ \t]*+\w*+\s*+)?(?=\{)")
_MORE_CALLS = re.compile(rf"[\s`,\]]*+(?:{TAG}\s*+)?(?:```\w*+\s*+)?(?:\[\s*+)?[{{]")
_ONLY_TALK = re.compile(
    r"\b(?:example|instance|e\.g|could|would|not|never|avoid|instead|format)\b|n't\b", re.IGNORECASE
)
_DENIED = re.compile(
    r"(?:\bnot|\bnever|\bavoid|n't) +(?:to +)?(?:call|calling|run|running|use|using|do|send)\b"
    r"|\b(?:ignor(?:e|ing)|refus(?:e|ing)|declin(?:e|ing)|reject(?:ing)?|skip(?:ping)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Reply:
    """The text of a reply, and the question of its own that was taken off its head."""

    text: str
    question: str = ""

    @cached_property
    def request(self) -> Mark | None:
        """What the reply asks for first. Raises Unreadable where it plays the tool or the user before that."""
        if self.question and not self.text.strip():
            raise Unreadable(_INTRUDERS[QUESTION])
        mark = self._first_label
        earlier = self._in_a_line or self._alone
        if earlier is None and mark and mark.label in _INTRUDERS:
            raise Unreadable(_INTRUDERS[mark.label])
        return earlier or mark

    @property
    def thought(self) -> str:
        """What stands before the request; all of it where there is none."""
        try:
            mark = self.request
        except Unreadable:
            mark = self._first_label
        return as_thought(self.text[: mark.start] if mark else self.text)

    @cached_property
    def _first_label(self) -> Mark | None:
        """The first label that matters to what happens next."""
        for mark in line_marks(self.text):
            if mark.label in (FINAL_ANSWER, *_INTRUDERS):
                return mark
            if mark.label == ACTION and not is_declined(self.text, mark.end):
                return mark
        return None

    @property
    def _limit(self) -> int:
        return self._first_label.start if self._first_label else len(self.text)

    @property
    def _in_a_line(self) -> Mark | None:
        """An answer, or a call that fills the rest of its line, after a sentence and its label."""
        mark = inline_mark(self.text, self._limit)
        if mark is None or mark.label == FINAL_ANSWER:
            return mark
        call = None if is_declined(self.text, mark.end) else self._call_at(mark, EXACT, MENDED, BARE)
        if call is None or not re.search(r"[(\[{（｛:：]", self.text[mark.end : call.end]):
            return None
        rest = self.text[call.end :].split("\n", 1)[0].strip(f"{PADDING}.")
        return None if rest and not has_label(rest) else mark

    @property
    def _alone(self) -> Mark | None:
        """A call in JSON without a label, after which the reply says nothing more."""
        first, text = self._first_label, self.text
        found = _ALONE.search(text, 0, self._limit) or (None if first else _WHOLE.match(text))
        if found is None or (first and first.label == ACTION) or _is_only_talk(text[: found.start()]):
            return None
        mark = Mark(found.start(), found.end(), ACTION, "alone")
        whole = not text[: found.start()].strip()
        call = self._call_at(mark, EXACT, MENDED)
        if call is None:  # a broken call may not be passed over for the answer that was invented after it
            asks = _HAS_ARGUMENTS.search(text, mark.end, mark.end + 300) or (whole and first is None)
            return mark if asks else None
        rest = text[call.end :].strip(f"{PADDING}]}}")
        over = not rest or found.groupdict().get("tag") or has_label(rest) or starts_with_call(rest)
        return mark if over and (whole or _HAS_ARGUMENTS.search(text, mark.end, call.end)) else None

    def _call_at(self, mark: Mark, *notations: Notation) -> Call | None:
        for notation in notations:
            try:
                if call := read_call(self.text, mark, notation):
                    return call
            except Unreadable:
                return None
        return None


def _is_only_talk(before: str) -> bool:
    """Say whether a text introduces what follows as an example, or as what is not to be done."""
    last = before.rstrip(PADDING)[-200:].rsplit("\n", 1)[-1]
    return bool(_DENIED.search(last) or (last.endswith((":", "：")) and _ONLY_TALK.search(last)))


def starts_with_call(text: str) -> bool:
    """Say whether a text starts with a call in JSON, or with one more of a list."""
    return bool(_MORE_CALLS.match(text))
