"""What the model may read values from, and what it finds there.

A note is an observation, a thought or a given text; a value is what was read off one. Titles, sentences and pointers to
other articles are worked out when they are first asked for.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from .words import sentences, words

_LONGEST = 6000  # characters of one observation that are read
_TITLE = re.compile(r"([^:\n.!?]{1,80}?):\s+(?=\S)")


@dataclass(frozen=True)
class Value:
    """Something found: its text, its first part, and its number if it has one."""

    text: str
    items: tuple[str, ...] = ()
    number: float | None = None

    @property
    def first(self) -> str:
        """The first of several values."""
        return self.items[0] if self.items else self.text

    @property
    def head(self) -> str:
        """The first value without what follows a comma: 'London, England' is London."""
        return self.first.split(",")[0]


@lru_cache(maxsize=2048)  # a conversation is read again with each request
def note(text: str, asked: str = "", tool: str = "", is_thought: bool = False) -> "Note":
    """Give a note, the same one for the same text, so that what was read off it stays."""
    return Note(text, asked, tool, is_thought)


@dataclass(frozen=True)
class Note:
    """A piece of text to read values from: an observation with what was asked for, or a thought."""

    text: str
    asked: str = ""
    tool: str = ""
    is_thought: bool = False

    @cached_property
    def title(self) -> str:
        """The title of the article in an observation, if it is one."""
        found = None if self.is_thought else _TITLE.match(self.text)
        return found.group(1) if found else ""

    @cached_property
    def body(self) -> str:
        """The text without title and without the pointers to other articles."""
        body = re.split(r"\n\s*See also\s*:", self.text[:_LONGEST])[0]
        return body[len(self.title) + 1:] if self.title else body

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the body."""
        return sentences(self.body)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The telling words of the text and of what was asked."""
        return frozenset(words(self.text)) | frozenset(words(self.asked))

    @cached_property
    def is_error(self) -> bool:
        """Whether the tool refused."""
        return bool(re.match(r"\s*error\b", self.text, re.I))

    @cached_property
    def is_empty(self) -> bool:
        """Whether the tool found nothing."""
        return bool(re.match(r"\s*(?:error\b|no (?:article|result|entry|match|information|page)|nothing (?:was )?found"
                             r"|not found)", self.text, re.I))

    @cached_property
    def pointers(self) -> list[str]:
        """Titles of other articles that the observation names."""
        found = re.search(r"(?:See also\s*:|\bTry)\s*([^\n]+)", self.text)
        return [part.strip(" .'’‘\"?") for part in re.split(r"[;,]| or ", found.group(1))] if found else []
