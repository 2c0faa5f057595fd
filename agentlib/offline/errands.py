"""Questions for which a tool is there that the grammar knows nothing of: orders, a calendar, units, whatever it is.

The rule is general. The tool whose words fit the question best is called with what the question gives. What is missing
is looked up: with a tool that changes nothing, speaks of the same thing, and can be called with what is known. An error
that offers another value is followed once; any other ends the errand, and the answer says why. What a person rejected
is not tried again.

The grammar comes first where it understands the question and the best tool is one that it would use itself. Without any
foreign tool (one that is no encyclopedia, weather report or calculator by its words) there are no errands.
"""

import re
from dataclasses import replace

from .choosing import SIGNS, Call, is_foreign, ranked, usable
from .clues import ids, names
from .coding import errand_in_code, settle_in_code
from .fitness import LEAST, ranking
from .gathering import about, gathered
from .needs import Errand, Need, Open, Talk
from .notes import Value
from .offered import Tool
from .outcomes import Lost, Mind, Outcome, Want
from .questions import understand
from .reading import Reading, Step
from .retelling import retold
from .selection import changes, selected
from .senses import stems
from .signatures import required
from .slots import Filled, fill_from
from .tasks import kind_of_tool
from .words import fold

_ERROR = re.compile(r"\s*error\b", re.I)
_REJECTED = re.compile(r"\s*error: (?:the call was |it was )?rejected\b(?: by (?:a|the) (?:person|user|human))?"
                       r"[:.,;]?\s*(?P<why>.*)", re.I | re.S)
_PREFIX = re.compile(r"^\s*error:?\s*(?:\w+(?:Error|Exception): )?", re.I)
_PASSING = re.compile(r"timed? ?out|no result within|temporar|unavailable|try again later|busy|rate limit|connection",
                      re.I)
_EFFECT = re.compile(r"may still have its effect", re.I)
_OFFERED = re.compile(r"\bdid you mean ['\"]?(?P<value>[^'\"?\n]+?)['\"]?\?", re.I)
_NO_SUBJECT = frozenset(stems("id name date time from to unit number text word value amount reason get find look"))
_MARGIN = 1.0  # by so much a tool must fit better than the grammar's own to be preferred to it
_NUMERIC = ("integer", "number", "array")
_TRIES = 2  # so many tools are tried, the second only where neither changes anything


def errand_of(reading: Reading) -> Errand | None:
    """Give the errand that a question is, if a tool fits it better than what the grammar would do."""
    in_code = errand_in_code(reading)
    if in_code:
        return in_code
    tools = tuple(usable(reading))
    if not any(map(is_foreign, tools)):
        return None
    named = _named(reading, tools)
    if named:
        return Errand(re.sub(rf",? (?:with|using) {re.escape(named.name)}\b", "", reading.question), (named.name,))
    need = understand(reading.question, reading.earlier)
    fitting = [(tool, fit) for tool, fit in selected(tools, reading.question) if fit >= LEAST]
    if (isinstance(need, Talk) and need.kind != "repeat") or not fitting:
        return None
    if _is_the_grammars(need, reading, tools, dict(fitting)):
        return None
    return Errand(reading.question, tuple(tool.name for tool, _ in fitting))


def _named(reading: Reading, tools: tuple[Tool, ...]) -> Tool | None:
    """Give the tool with which a task of a plan is to be done, where it names one: 'with find_train'."""
    named = [tool for tool in tools if reading.is_task and re.search(
        rf"\b(?:with|using) {re.escape(tool.name)}\b", reading.question)]
    return named[0] if named else None


def _is_the_grammars(need: Need, reading: Reading, tools: tuple[Tool, ...], fits: dict[Tool, float]) -> bool:
    """Say whether the grammar has a tool of its own for a need that is as good as the best of those that fit."""
    best, kind = next(iter(fits)), kind_of_tool(need)
    own = next(iter(ranked(kind, reading, reading.question)), None) if kind in SIGNS else None
    if own is None:
        return False
    if kind == "sum" and any(part.kind in _NUMERIC for part in required(best)):
        return False  # a sum goes to a calculator as one expression, to other tools as numbers
    if best == own or isinstance(need, Open):
        return best == own
    by_words = dict(ranking(tools, reading.question))[best]  # that it could be called is no reason to call it
    return by_words < LEAST or fits[best] < fits.get(own, 0.0) + _MARGIN


def settle_errand(mind: Mind, need: Errand) -> Outcome:
    """Call the tool that fits; look up what is missing for it; give what came of it."""
    in_code = settle_in_code(need, mind.reading)
    if in_code:
        return in_code
    known = {tool.name: tool for tool in usable(mind.reading)}
    fitting = [known[name] for name in need.tools if name in known][:_TRIES]
    outcome: Outcome = Lost("the answer")
    for tool in fitting:
        if tool != fitting[0] and any(filled.missing for filled in fill_from(tool, need.text)):
            break
        outcome = _with_tool(mind, need, tool, list(known.values()))
        if not isinstance(outcome, Lost) or any(map(changes, fitting)) or not _failed(mind.reading):
            break
    return outcome


def rejection(reading: Reading) -> str:
    """Say that a person rejected a call, if that happened since the question; or give an empty text."""
    found = [(step, match) for step in reading.steps if (match := _REJECTED.match(step.observation))]
    if not found:
        return ""
    step, match = found[-1]
    why = " ".join(match["why"].split()).rstrip(".")
    return f"I did not do this: a person rejected {step.tool}{f' ({why})' if why else ''}."


def _with_tool(mind: Mind, need: Errand, tool: Tool, tools: list[Tool]) -> Outcome:
    """Do an errand with one tool."""
    wanted = fill_from(tool, need.text)
    if any(filled.missing for filled in wanted):
        completed = _completed(mind, need, tool, wanted[0], tools)
        if not isinstance(completed, Filled):
            return completed
        wanted = [completed]
    made = [step for step in mind.reading.steps if step.tool == tool.name]
    done = [step for step in made if not _ERROR.match(step.observation)]
    if len(done) >= len(wanted):
        return retold(need.text, done)
    wants = [_next(mind.reading, need, tool, filled) for filled in wanted if not _is_done(filled, done)]
    wants = [want for want in wants if want]
    if not wants:
        return _partly(retold(need.text, done), made) if done else _lost(made)
    mind.wants.extend(want for want in wants if all(want.call != other.call for other in mind.wants))
    return wants[0]


def _completed(mind: Mind, need: Errand, tool: Tool, filled: Filled, tools: list[Tool]) -> Filled | Want | Lost:
    """Give what is missing from what was found, or the call that may find it; lost is what nothing can tell."""
    missing = filled.missing
    seen = [step for step in mind.reading.steps if not _ERROR.match(step.observation) and step.tool != tool.name]
    for part in missing:
        value = gathered(part, tool, need.text, [about(step, filled.arguments) for step in seen])
        if value is not None:
            filled = replace(filled, arguments=(*filled.arguments, (part.name, value)),
                             missing=tuple(other for other in filled.missing if other != part))
    if not filled.missing:
        order = [part.name for part in required(tool)]
        return replace(filled, arguments=tuple(sorted(filled.arguments, key=lambda pair: (
            order.index(pair[0]) if pair[0] in order else len(order)))))
    for other in _helpers(tool, tools, need):
        given = _known(fill_from(other, need.text)[0], other, filled)
        if not given.missing and not any(step.tool == other.name for step in seen):
            want = _next(mind.reading, need, other, given)
            if want:
                return want
    failed = [step for step in mind.reading.steps if _ERROR.match(step.observation)]
    return _lost(failed) if failed else _open(tool, filled, seen)


def _known(given: Filled, tool: Tool, filled: Filled) -> Filled:
    """Leave out what need not be given, and put in what was found out for the tool that it is all about: an order's
    id from a list of orders."""
    known = dict(filled.arguments)
    needed = {part.name for part in required(tool)}
    stated = tuple((name, value) for name, value in given.arguments if name in needed)
    found = tuple((part.name, known[part.name]) for part in given.missing if part.name in known)
    return Filled((*stated, *found), tuple(part for part in given.missing if part.name not in known))


def _helpers(tool: Tool, tools: list[Tool], need: Errand) -> list[Tool]:
    """Give the tools that may tell what is missing, best first: they change nothing and speak of the same thing."""
    own = _subjects(tool)
    fits = {other.name: fit for other, fit in selected(tuple(tools), need.text)}

    def nearness(other: Tool) -> float:
        same = own & _subjects(other)
        about = any(stem in stems(other.description) for stem in stems(tool.name))
        return 2 * len(same) + about + min(1.0, fits[other.name] / 10) if same or about else 0.0

    found = [other for other in tools if other != tool and not changes(other) and nearness(other)]
    return sorted(found, key=lambda other: -nearness(other))


def _subjects(tool: Tool) -> set[str]:
    """Give the words that say what a tool deals with: those of its name and of its required parameters."""
    return set(stems(" ".join([tool.name, *(part.name for part in required(tool))]))) - _NO_SUBJECT


def _next(reading: Reading, need: Errand, tool: Tool, filled: Filled) -> Want | None:
    """Give the call to make, as an error corrects it; None if it was made, or failed for good."""
    call = Call(tool.name, filled.arguments)
    failed = [step for step in reading.steps if step.tool == tool.name and _ERROR.match(step.observation)]
    for step in failed:
        call = _corrected(call, step)
    if sum(_same(call, step) for step in failed) > (1 if failed and _passes(failed[-1]) else 0) or len(failed) > 3:
        return None
    subject = next(iter((*ids(need.text), *names(need.text))), "this")
    return Want(call, "errand", subject, need)


def _corrected(call: Call, failed: Step) -> Call:
    """Put in what an error offers for a value that it names."""
    offer = _OFFERED.search(failed.observation)
    if not offer or " or " in offer["value"]:
        return call
    return replace(call, arguments=tuple(
        (key, offer["value"].strip() if isinstance(value, str) and fold(value) in fold(
            failed.observation[:offer.start()]) else value) for key, value in call.arguments))


def _same(call: Call, step: Step) -> bool:
    return sorted((key, fold(str(value))) for key, value in call.arguments) == sorted(
        (key, fold(value)) for key, value in step.arguments)


def _is_done(filled: Filled, done: list[Step]) -> bool:
    return any(_same(Call(step.tool, filled.arguments), step) for step in done)


def _passes(step: Step) -> bool:
    """Say whether an error is of the kind that passes, and does not warn that the call may have done its work."""
    return bool(_PASSING.search(step.observation)) and not _EFFECT.search(step.observation)


def _failed(reading: Reading) -> bool:
    return bool(reading.steps) and bool(_ERROR.match(reading.steps[-1].observation))


def _lost(failed: list[Step]) -> Lost:
    """Say why an errand failed, in the words of the last error."""
    why = _PREFIX.sub("", failed[-1].observation) if failed else ""
    said = " ".join(why.split())[:300]
    return Lost("the answer", f"I could not do this. The tool said: {said}" if said else "I could not do this.")


def _partly(told: Value, made: list[Step]) -> Lost:
    """Tell what was done of an errand of several calls, and why the rest failed."""
    rest = _lost([step for step in made if _ERROR.match(step.observation)]).said
    return Lost("the answer", f"{told.text} {rest.replace('I could not do this.', 'I could not do the rest.')}")


def _open(tool: Tool, filled: Filled, seen: list[Step]) -> Lost:
    """Say what the user has to tell, and what was found on the way."""
    what = " and the ".join(part.name.replace("_", " ") for part in filled.missing)
    found = f" What I found: {'; '.join(seen[-1].observation.splitlines())}" if seen else ""
    return Lost(f"the {what}", f"To use {tool.name} I need to know the {what}.{found}")
