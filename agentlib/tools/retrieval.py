"""Tool retrieval: offer the model the tools of a large toolbox that fit what it is about to do.

Beyond some fifty tools a model picks worse and every request costs more, and the chat completions API refuses more
than 128. So the tools are ranked like documents: BM25 (Robertson and Zaragoza 2009, as bm25s computes it) over name,
description, and the parameters' names, descriptions and allowed values.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..state import State, Thought, ToolCall, Turn
from .tool import Tool
from .toolbox import MOST_TOOLS as LIMIT
from .toolbox import shorten
from .words import words

QUERY = 4_000  # characters of a goal and of a thought that are searched for

Ranking = Callable[[Sequence[Tool], str], list[Tool]]


def rank(tools: Sequence[Tool], query: str) -> list[Tool]:
    """Give all the tools, those that fit the query best first. Equals keep their order, and so do those that do not
    fit at all, which come last."""
    scored = zip(_scores(tools, query), tools, strict=True)
    return [tool for _, tool in sorted(scored, key=lambda pair: -pair[0])]


@dataclass(frozen=True)
class ByCategory:
    """A ranking by category first and tool second: the tools of the `best` categories that fit stand before all others.

    `categories` gives the category of a tool's name; tools that it does not name are a category of their own. What a
    category is worth is the sum of its three best tools, so that none wins by its size.
    """

    categories: Mapping[str, str]
    best: int = 3

    def __call__(self, tools: Sequence[Tool], query: str) -> list[Tool]:
        scores: dict[str | None, list[float]] = {}
        for tool, score in zip(tools, _scores(tools, query), strict=True):
            scores.setdefault(self.categories.get(tool.name), []).append(score)
        worth = {category: sum(sorted(found)[-3:]) for category, found in scores.items()}
        fitting = [category for category in worth if worth[category] > 0]
        chosen = sorted(fitting, key=lambda category: -worth[category])[: self.best]
        return sorted(rank(tools, query), key=lambda tool: self.categories.get(tool.name) not in chosen)


@dataclass(frozen=True)
class BestTools:
    """A `select` for FunctionCalling: the `k` tools that fit best, the `pinned` ones, and those in use.

    What is searched for is the goal of the turn and the last thought, so that later steps find other tools. A tool is
    in use when it was called in this turn or in the one before it: a model goes on with what it has begun, and a
    follow-up ("and in Shanghai?") seldom names it again. There are at most 128 tools in all; where that is too few, the
    worst of the `k` are left out first, then the tools used longest ago. The tools stand in their own order, which
    keeps the provider's prompt cache useful. Raises ValueError for a `k` outside 1 to 128 and for a pinned name that no
    tool has.
    """

    k: int = 10
    pinned: tuple[str, ...] = ()
    ranking: Ranking = rank

    def __post_init__(self) -> None:
        pinned = (self.pinned,) if isinstance(self.pinned, str) else tuple(dict.fromkeys(self.pinned))
        object.__setattr__(self, "pinned", pinned)
        if not 1 <= self.k <= LIMIT:
            raise ValueError(f"BestTools: k is {self.k}; the API takes 1 to {LIMIT} tools")
        if len(self.pinned) > LIMIT:
            raise ValueError(f"BestTools: {len(self.pinned)} tools are pinned; the API takes {LIMIT} in all")

    def __call__(self, state: State, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        known = {tool.name: tool for tool in tools}
        if missing := [name for name in self.pinned if name not in known]:
            raise ValueError(f"BestTools: no tool is named {missing[0]!r}, which is pinned")
        if len(tools) <= self.k:
            return tuple(tools)
        best = [tool.name for tool in self.ranking(tools, query_of(state))[: self.k]]
        wanted = dict.fromkeys([*self.pinned, *_in_use(state), *best])
        offered = [name for name in wanted if name in known][:LIMIT]
        return tuple(tool for tool in tools if tool.name in offered)


def query_of(state: State) -> str:
    """Give what the next step is about: the goal of the turn and the last thought of it."""
    thoughts = [event.text for event in state.this_turn if isinstance(event, Thought)]
    return "\n".join(shorten(text, QUERY) for text in [state.goal, *thoughts[-1:]])


def _in_use(state: State) -> list[str]:
    """Give the names called in this turn and in the one before it, the latest first."""
    turns = [i for i, event in enumerate(state.events) if isinstance(event, Turn)]
    begin = turns[-2] if len(turns) > 1 else 0
    return [event.name for event in reversed(state.events[begin:]) if isinstance(event, ToolCall)]


# -- the index

# The key holds all that is searched and can be changed, so an entry is never out of date; old toolboxes drop out.
_KEPT = 8


def _scores(tools: Sequence[Tool], query: str) -> list[float]:
    """Give how well each tool fits; 0.0 is not at all."""
    index = _index(tuple((tool, tool.name, tool.description) for tool in tools))
    wanted = words(query)
    if index is None or not wanted:
        return [0.0] * len(tools)
    return index.get_scores(wanted).tolist()


@lru_cache(_KEPT)
def _index(described: tuple[tuple[Tool, str, str], ...]) -> Any:
    """Build the search index of a toolbox, or None where it holds no word."""
    texts = [[name, description, *_parameter_texts(tool.parameters)] for tool, name, description in described]
    documents = [[word for text in each for word in words(text)] for each in texts]
    if not any(documents):
        return None
    from bm25s import BM25  # loads numpy

    logging.getLogger("bm25s").setLevel(logging.NOTSET)  # it asks for DEBUG, whatever the program's own level
    index = BM25(backend="numpy")
    index.index(documents, show_progress=False)
    return index


def _parameter_texts(schema: Any) -> Iterator[str]:
    """Give the names, descriptions and allowed values in a JSON Schema, at any depth."""
    if isinstance(schema, list):
        for each in schema:
            yield from _parameter_texts(each)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key == "description" and isinstance(value, str):
            yield value
        elif key in ("enum", "const"):
            yield from (str(each) for each in (value if isinstance(value, list) else [value]))
        elif key in ("properties", "$defs", "definitions") and isinstance(value, dict):
            yield from value if key == "properties" else ()
            for inner in value.values():
                yield from _parameter_texts(inner)
        elif key not in ("default", "examples", "required"):
            yield from _parameter_texts(value)
