"""The verdict on an answer that a request shows together with a question and observations, as a self-check does.

It is honest by its rules. An answer is supported when

    the observations alone settle all that the question needs, sums done in the head,
    each name and each number of the answer stands in the observations or in the question, and
    the answer names what the observations say.

An answer that only admits that something was not found is supported when the observations do not give it either, and so
is any answer to a greeting or to a question about the model itself, which need no observations.
"""

import re

from .actions import parse_action
from .needs import Talk
from .notes import Note, Value
from .offered import Tool
from .outcomes import Want
from .reading import Reading, Step, text_of
from .settling import described
from .thinking import Conclusion, think
from .wording import fact_text, sentence
from .words import NAME, NUMBER, mentions, number_in, with_the, word_set

_SHOWN = re.compile(r"^[ \t]*Question:[ \t]*(?P<question>.*?)\n\s*Observations:[ \t]*\n?(?P<seen>.*)"
                    r"\n\s*Answer:[ \t]*(?P<answer>.*)", re.M | re.S)
_SEEN = re.compile(r"^[ \t]*\d+\. +(?P<call>[A-Za-z_][\w.-]*\(.*?\)): *", re.M)
_VERDICTS = re.compile(r"\b(supported|yes) or (not supported|no)\b", re.I)
_ADMITS = re.compile(r"\b(?:could not find|cannot|can't|do not know|don't know|did not find)\b", re.I)
_OPENERS = word_set("about according actually also an and as at because both but by for from he her his i if in it its"
                    " no on she since so that the their there these they this to we what with yes")
_TOOLS = (Tool("search", ("query",), "look up"), Tool("weather", ("city",), "weather"))


def verdict(messages: list[dict]) -> str | None:
    """Judge the answer that a request shows; None if it is no such request."""
    prompt = "\n".join(map(text_of, messages))
    shown, words_for_it = _SHOWN.search(text_of(messages[-1])), _VERDICTS.search(prompt)
    if not (shown and words_for_it and messages[-1].get("role") == "user"):
        return None
    conclusion = think(_reading(shown["question"].strip(), shown["seen"]))
    objection = _objection(conclusion, shown["answer"].strip(), f"{shown['question']}\n{shown['seen']}")
    said = words_for_it[2] if objection else words_for_it[1]
    why = objection or " ".join([*(sentence(fact_text(found)) for found in conclusion.mind.trail),
                                 "The answer says nothing else than the observations."])
    return f"Thought: {why}\nFinal Answer: {said.lower()}"


def _reading(question: str, seen: str) -> Reading:
    """Read a question and numbered observations as if they stood in a conversation."""
    marks = [*_SEEN.finditer(seen)]
    ends = [mark.start() for mark in marks[1:]] + [len(seen)]
    steps = tuple(Step(*parse_action(mark["call"]), seen[mark.end(): end].strip())
                  for mark, end in zip(marks, ends, strict=True)) if marks else ()
    notes = tuple(Note(step.observation, step.asked, step.tool) for step in steps)
    return Reading(question=question, earlier=(), tools=_TOOLS, has_format=True, writes_thoughts=True,
                   action_style="call", steps=steps, notes=notes, seed=0)


def _objection(conclusion: Conclusion, answer: str, shown: str) -> str:
    """Say what does not hold, or give an empty text."""
    outcome = conclusion.outcome
    if isinstance(conclusion.need, Talk):
        return ""
    if not isinstance(outcome, Value):
        what = described(outcome.need, outcome.subject) if isinstance(outcome, Want) else outcome.what
        missing = f"The observations do not give {what or 'what the question asks for'}."
        return "" if _ADMITS.search(answer) else missing
    known = {abs(number) for text in re.findall(NUMBER, shown) if (number := number_in(text)) is not None}
    known |= {abs(outcome.number)} if outcome.number is not None else set()
    for claim in _claims(answer):
        number = number_in(claim)
        if not (mentions(shown, claim) if number is None else abs(number) in known):
            return f"The observations do not mention {claim}."
    return "" if _names(answer, outcome) else f"By the observations it is {with_the(outcome.text).rstrip('.')}."


def _claims(answer: str) -> list[str]:
    """Give the names and the numbers of an answer."""
    names = [name for name in re.findall(rf"(?<!\w){NAME}", answer) if name.lower() not in _OPENERS and len(name) > 1]
    return [name for name in names if number_in(name) is None] + re.findall(NUMBER, answer)


def _names(answer: str, value: Value) -> bool:
    """Say whether an answer names a value: its number, its yes or no, or one of its parts."""
    yes_or_no = re.match(r"(?:yes|no)\b", value.text, re.I)
    if yes_or_no:
        return answer.lower().startswith(yes_or_no[0].lower())
    if value.number is not None:
        return any(number_in(text) == value.number for text in re.findall(NUMBER, answer))
    return any(mentions(answer, item) for item in value.items or (value.text,))
