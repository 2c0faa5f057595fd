"""From a want and the tools at hand to a call: which tool fits by its words, and what to pass it.

Each word of a tool's name and description that a kind of want looks for counts. A call that was already made is not
made again, unless it failed for a passing reason.
"""

import re
from dataclasses import dataclass

from .filling import SUBJECTS, Value, fill, related
from .offered import Parameter, Tool
from .reading import Reading
from .words import fold, word_set, words

# What the model looks for in a tool's name and description.
SIGNS = {
    "search": word_set(
        "search look lookup find encyclopedia encyclopaedia article wiki wikipedia knowledge fact people person "
        "company information retrieve query web page book question browse answer reference library university"),
    "weather": word_set("weather temperature forecast climate rain wind humidity meteo meteorology sky condition"),
    "sum": word_set("calculator calculate calculation compute computation arithmetic math mathematics expression "
                    "evaluate sum formula"),
}
# Words of these that any tool may have, and words that name no subject.
_ANY = word_set("search look lookup find information retrieve query question answer get show tool function fact")
_PLAIN = word_set("encyclopedia encyclopaedia wikipedia wiki weather forecast temperature humidity"
                  " arithmetic")
_ERROR = re.compile(r"\s*error\b", re.I)
_UNKNOWN = re.compile(r"\s*error\b(?:.*\b(?:unknown|no such|not found|does not exist|there is no).{0,10}\btool"
                      r"|.*\btool\b.{0,40}\b(?:unknown|not exist|not found))", re.I)
_OFFERED = re.compile(r"^.*?\btools(?: are| available)?\s*:", re.I | re.S)
_TRANSIENT = re.compile(r"timed? ?out|temporar|unavailable|try again later|busy|rate limit|connection", re.I)


@dataclass(frozen=True)
class Call:
    """A tool and its arguments."""

    tool: str
    arguments: tuple[tuple[str, Value], ...]


def ranked(kind: str, reading: Reading, wording: str = "") -> list[Tool]:
    """Give the tools that fit, best first; tools that fit something else better come last, and alone do not count.

    Among those that fit, words count that are near to what is asked for: search_books is for the author of a novel.
    """
    scores = {tool: _scores(tool) for tool in usable(reading) if kind != "search" or not is_foreign(tool)}
    order = {tool: scores[tool][kind] + _nearness(tool, wording, reading) for tool in scores if scores[tool][kind]}
    by_score = sorted(order, key=lambda tool: -order[tool])
    fitting = [tool for tool in by_score if scores[tool][kind] >= max(scores[tool].values())]
    return fitting + [tool for tool in by_score if tool not in fitting] if fitting else []


def is_foreign(tool: Tool) -> bool:
    """Say whether a tool is for something else than what the model looks for by itself.

    It has a subject of its own in its name, and none of their subjects in its name or its description.
    """
    known = SUBJECTS.union(*SIGNS.values()) - _ANY
    name = set(words(re.sub(r"[_.-]|(?<=[a-z])(?=[A-Z])", " ", tool.name)))
    subject = {word for word in name - _ANY if len(word) > 1}
    return bool(subject) and not subject & known and not set(words(tool.description)) & _PLAIN


def next_call(kind: str, wordings: list[str], thing: str, reading: Reading, most: int = 3) -> Call | None:
    """Give the first call that was not made yet: each wording with the best tool, then one with the next best."""
    tools = ranked(kind, reading, wordings[0])
    if not tools:
        return None
    tries = [(tools[0], wording) for wording in wordings[:most]] + [(tool, wordings[0]) for tool in tools[1:2]]
    for tool, wording in tries:
        named = wording if kind == "weather" else thing  # each wording is another name of the place
        call = Call(tool.name, fill(_parameters(tool, reading), wording, named, reading.question))
        if not _was_made(call, reading):
            return call
    return None


def _refusal(tool: str, reading: Reading) -> str:
    """Give the text of the last error of a tool, or an empty text."""
    errors = [step.observation for step in reading.steps if step.tool == tool and _ERROR.match(step.observation)]
    return errors[-1] if errors else ""


def _scores(tool: Tool) -> dict[str, int]:
    """Score a tool for each kind of want: a word of its name counts two, up to three words of its description one each.

    So the description wins where the two disagree.
    """
    name = set(words(re.sub(r"[_.-]|(?<=[a-z])(?=[A-Z])", " ", tool.name)))
    description = set(words(tool.description))
    return {each: 2 * len(name & signs) + min(3, len(description & signs)) for each, signs in SIGNS.items()}


def _nearness(tool: Tool, wording: str, reading: Reading) -> int:
    """Count the words that a tool shares with what is asked for, or that mean the same."""
    own = set(words(re.sub(r"[_.-]", " ", tool.name))) | set(words(tool.description))
    asked, question = set(words(wording)), set(words(reading.question))
    return 3 * len(own & related(asked)) + len(own & related(question))


def _parameters(tool: Tool, reading: Reading) -> tuple[Parameter, ...]:
    """Give a tool's required parameters, as its last error corrects them."""
    missing = re.search(r"missing[^:'\"\n]*[:]? *['\"]?([A-Za-z_]\w*(?:, *[A-Za-z_]\w*)*)['\"]?",
                        _refusal(tool.name, reading), re.I)
    known = {part.name: part for part in tool.schema or ()}
    names = tool.parameters or (("query",) if tool.schema is None else ())
    if missing and missing.group(1).lower() not in ("required", "argument", "parameter"):
        named = tuple(re.split(r", *", missing.group(1)))
        names = (*names, *(name for name in named if name not in names)) if set(named) & set(known) else named
    return tuple(known.get(name, Parameter(name, "any")) for name in names)


def _was_made(call: Call, reading: Reading) -> bool:
    """Say whether the same call was made before; one that failed for a passing reason may be made twice more."""
    asked = [(key, fold(str(value)).strip()) for key, value in call.arguments]
    made = [(step, [(key, fold(value).strip()) for key, value in step.arguments])
            for step in reading.steps if step.tool.lower() == call.tool.lower()]
    same = [step for step, arguments in made if arguments == asked or (asked and arguments == [("", asked[0][1])])]
    passing = [step for step in same if _ERROR.match(step.observation) and _TRANSIENT.search(step.observation)]
    return len(same) > len(passing) or len(passing) > 2


def usable(reading: Reading) -> list[Tool]:
    """Give the tools of the prompt without those that an error called unknown, and those that the error offers."""
    errors = [step for step in reading.steps if _UNKNOWN.match(step.observation)]
    unknown = {step.tool for step in errors}
    offered = [name for step in errors for name in re.findall(r"[\w.-]+", _OFFERED.sub("", step.observation, count=1))
               if _OFFERED.search(step.observation)]
    known = [tool for tool in reading.tools if tool.name not in unknown]
    names = dict.fromkeys(name for name in offered if name not in {tool.name for tool in known} | unknown)
    return known + [Tool(name, (), "") for name in names]
