"""How the offline model words thoughts and answers. The seed varies the words, never the facts in them.

A thought says what is known now and what comes next; an answer is worded after the kind of the question.
"""

import re

from .figures import with_cents
from .finding import best_sentence, joined
from .measures import label
from .needs import Both, Claim, Either, Errand, Exact, Fact, Formula, Name, Need, Pick, Talk, Weather
from .notes import Value
from .outcomes import Found, Lost, Mind, Want
from .passages import only_texts, otherwise
from .relations import BY_NAME
from .settling import described
from .thinking import Conclusion
from .words import choose, with_the

NOTICE = ("I am the offline model of this course: a small set of rules, not a language model. With tools I can look up "
          "people, companies, universities, places, books and prizes, compare the weather of cities, and do sums. To "
          "connect a real model, set AGENTLIB_MODEL in `.env`.")
_TALK = {
    "hello": ("Hello! What would you like to know?", "Hello! Ask me something."),
    "thanks": ("You are welcome.", "My pleasure."), "bye": ("Goodbye!", "Goodbye, and thank you."),
    "feeling": ("I am a set of rules, so always the same. What would you like to know?",), "self": (NOTICE,),
    "where": ("For which city?", "Which city do you mean?"),
}
_NEED = ("I need {what}.", "I have to find {what}.", "What I need is {what}.")
_FIRST = ("First I need {what}.", "I have to start with {what}.", "The first thing I need is {what}.")
_NEXT = ("Next I need {what}.", "Now I have to find {what}.", "What I need next is {what}.")
_TOGETHER = ("I need {what}.", "I need {what}, and ask for them at once.", "I can look for {what} at the same time.")
_ERRAND = ("I call {tool} for this.", "The tool for this is {tool}.", "I need {tool} here.")
_MISSED = ("That does not give {what}. I ask in other words.", "I do not see {what} there, so I try another wording.")
_MEASURED = ("temperature", "wind", "humidity", "all")
_LONG = 7  # a value of more words is a sentence of its own
_IN_ONE_WORD = re.compile(r"\b(?:answer|reply|respond|return|give|write|output)\b[^.\n]{0,30}\b(?:only|just|nothing but"
                          r"|one|a single)\b[^.\n]{0,20}\b(?:name|word|number|value|year|city|title|place)\b"
                          r"|\b(?:name|number|value|city|year|title|word) only\b|\bnothing else\b|\bno explanation",
                          re.I)
_DONE = ("That answers the question.", "This is what was asked for.", "Now I know the answer.")


def thought_of(conclusion: Conclusion, wants: tuple[Want, ...] = ()) -> str:
    """Word the thought that goes with the next move: what is known now, and what follows."""
    mind, result = conclusion.mind, conclusion.outcome
    reading = mind.reading
    if isinstance(result, Want):
        follows = _plan(mind, result, conclusion.need) if len(wants) < 2 else _plan_together(mind, wants)
    elif isinstance(result, Lost):
        verb = "could not find" if reading.tools or reading.given else "do not know"
        follows = f"I {verb} {result.what}." if result.what else "I have no rule and no tool for this."
    elif isinstance(conclusion.need, Talk | Exact) or not (reading.notes or mind.trail):
        return choose(reading.seed, "direct", ("No tool is needed for this.", "I can answer this directly."))
    else:
        follows = choose(reading.seed, "done", _DONE)
    return " ".join([*(sentence(fact_text(found)) for found in _new(mind)), follows])


def _plan(mind: Mind, want: Want, whole: Need) -> str:
    """Word what the model does next, and why."""
    reading, what = mind.reading, described(want.need, want.subject)
    if want.kind == "code":
        return want.subject
    if isinstance(want.need, Errand):
        return choose(reading.seed, f"errand{len(reading.steps)}", _ERRAND).format(tool=want.call.tool)
    again = not _new(mind) and what.lower() in _said_before(mind)
    if not (reading.steps and again):
        ways = _NEXT if reading.steps else _NEED if want.need == whole else _FIRST
        return choose(reading.seed, f"need{len(reading.steps)}", ways).format(what=what)
    if reading.notes[-1].is_error:
        return f"The tool refused: {first_line(reading.notes[-1].text)} I try in another way. I still need {what}."
    return choose(reading.seed, f"missed{len(reading.steps)}", _MISSED).format(what=what)


def _plan_together(mind: Mind, wants: tuple[Want, ...]) -> str:
    """Word that several things are asked for at once."""
    what = joined(tuple(dict.fromkeys(described(want.need, want.subject) for want in wants)))
    return choose(mind.reading.seed, f"together{len(mind.reading.steps)}", _TOGETHER).format(what=what)


def answer_of(conclusion: Conclusion) -> str:
    """Word the final answer, or say what could not be found."""
    mind, need, result = conclusion.mind, conclusion.need, conclusion.outcome
    if isinstance(need, Exact) or (isinstance(result, Value) and (
            isinstance(need, Errand) or _IN_ONE_WORD.search(mind.reading.instructions))):
        return result.text
    if isinstance(result, Value) and mind.reading.is_task and (told := _task_result(need, result, mind)):
        return told
    if isinstance(result, Lost) and only_texts(mind.reading.instructions):
        return otherwise(mind.reading.instructions) or f"The text does not give {result.what or 'an answer'}."
    if isinstance(result, Lost) and result.said:
        return sentence(result.said)
    if isinstance(result, Lost):
        return f"I cannot answer this. {NOTICE}" if not result.what else lost_text(mind, result)
    text = sentence(_answer(need, result, mind))
    if mind.reading.tools and any(found.from_memory for found in mind.trail):
        text += " I say this from memory: I have no tool to check it."
    return text


def _task_result(need: Need, result: Value, mind: Mind) -> str:
    """Word the result of a task: whoever reads it has not seen how it came about, so each fact on the way is told."""
    if isinstance(need, Formula) or (isinstance(need, Both) and all(isinstance(part, Formula) for part in need.parts)):
        return sentence(with_cents(result.text))
    told = isinstance(need, Fact | Both | Either) and not any(found.from_memory for found in mind.trail)
    return " ".join(sentence(fact_text(found)) for found in mind.trail) if told else ""


def lost_text(mind: Mind, lost: Lost) -> str:
    """Say honestly what is missing, and what was found on the way."""
    if mind.acts_only and mind.reading.steps and not mind.reading.notes[-1].is_error:
        nearest = _nearest(mind)
        if nearest:
            return nearest
    known = " ".join(sentence(fact_text(found)) for found in mind.trail)
    last = mind.reading.notes[-1] if mind.reading.steps else None
    why = f" The tool said: {first_line(last.text)}" if last and last.is_error else ""
    if not mind.reading.tools:
        return f"I do not know {lost.what}. {NOTICE}"
    return " ".join(filter(None, [f"I could not find {lost.what}.{why}", known and f"What I found: {known}"]))


def fact_text(found: Found) -> str:
    """Word one settled fact: 'the CEO of DeepMind is Demis Hassabis'."""
    need, subject, value = found.need, found.subject, found.value.text
    match need:
        case Weather(what) if what in _MEASURED:
            return f"the {what if what in ('temperature', 'wind', 'humidity') else 'weather'} in {subject} is {value}"
        case Name():
            return f"{subject} is {value}"
        case Fact(relation="country") if value == subject:
            return f"the country is {with_the(value)}"
        case Fact(relation="author", asked=asked) if asked not in ("", "author", "writer"):
            return f"the {asked} of {subject} is {value}"
        case Fact(relation) if relation in BY_NAME:
            row = BY_NAME[relation]
            takes_the = row.kind in ("university", "place")
            return row.said.format(x=with_the(subject), v=with_the(value) if takes_the else value)
        case Fact(relation) if relation != "about" and len(value.split()) <= _LONG:
            number = "number of " if need.kind == "number" else ""
            return f"the {number}{relation} of {with_the(subject)} is {value}"
    return value


def sentence(text: str) -> str:
    """Make a sentence of a text: a capital in front, a full stop at the end."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".") if text else ""


def first_line(text: str) -> str:
    """Give the first line of an error without the word Error."""
    return sentence(re.sub(r"^\s*error\s*[:：]?\s*(?:\w+(?:Error|Exception): )?", "", text.strip().split("\n")[0],
                           flags=re.I)[:200])


def _answer(need: Need, value: Value, mind: Mind) -> str:
    """Word an answer after the kind of the question."""
    seed = mind.reading.seed
    match need:
        case Talk(kind):
            return choose(seed, "talk", _TALK.get(kind, (value.text,)))
        case Pick():
            return _comparison(need, value, mind)
        case Claim():
            return f"{value.text}, {fact_text(mind.trail[-1])}"
        case Both(parts):
            answers = [(part, mind.settle(part)) for part in parts]
            return " ".join(sentence(_answer(part, each, mind)) for part, each in answers)
        case Formula():
            shown = "; ".join(found.value.text for found in mind.trail if _is_measure(found))
            result = choose(seed, "sum", (value.text, f"The result is {value.text}"))
            return f"{value.text} ({shown})" if shown else result
        case Weather(what) if what not in _MEASURED:  # yes or no
            return value.text
    found = next((one for one in reversed(mind.trail) if one.value == value), None)
    if found is None:
        return value.text
    text = fact_text(found)
    before = mind.trail[-2] if len(mind.trail) > 1 else found
    through = isinstance(before.need, Fact) and before.need.kind == "person" and before.value.first == found.subject
    if through:
        whole = text.replace(found.subject, f"{found.subject}, {described(before.need, before.subject)},", 1)
        return choose(seed, "chain", (text, whole))
    return text if found.from_memory else choose(seed, "fact", (text, text, f"According to what I found, {text}"))


def _comparison(need: Pick, value: Value, mind: Mind) -> str:
    """Word a comparison: the winner first, then the numbers."""
    shown = "; ".join(fact_text(found) for found in mind.trail if _is_measure(found))
    labels = [label(mind, thing) for thing in need.things]
    if need.unit:
        return f"{_difference(need, value, labels, mind)} ({shown})"
    if len(value.items) > 1:
        return f"{value.text}: there is no difference ({shown})"
    said = "" if need.claim is None else "Yes, " if value.text == labels[need.claim] else "No, "
    return f"{said}{_wins(value.text, need.word)}: {shown}"


def _difference(need: Pick, value: Value, labels: list[str], mind: Mind) -> str:
    """Word by how much two things differ, also when it is the other way round than the question says."""
    first, second = (mind.settle(measure).number for measure in need.measures)
    if first == second:
        return f"0 {need.unit}: there is no difference"
    holds = (first > second) == need.highest
    winner, other = labels if holds else labels[::-1]
    turn = "" if holds else "It is the other way round: "
    unit = "" if need.unit in need.word else f" {need.unit}"
    verb = "has" if re.match("more|fewer|less", need.word) else "is"
    return f"{turn}{winner} {verb} {value.text}{unit} {need.word} than {other}"


def _is_measure(found: Found) -> bool:
    """Say whether a fact is a number that was looked up, not worked out."""
    return isinstance(found.need, Fact | Weather) and found.value.number is not None


def _wins(winner: str, word: str) -> str:
    """Word who wins a comparison: 'Oslo is colder', 'Tokyo has more inhabitants', 'Apple came first'."""
    if word in ("first", "earlier", "earliest", "before", "later", "latest", "last", "after"):
        return f"{winner} came {dict(before='first', after='later').get(word, word)}"
    if re.search(r"inhabitants|people|population|wind$|temperature|(?<!more )(?<!most )(?<!less )humidity", word):
        return f"{winner} has {word if word.startswith(('more', 'fewer', 'less')) else 'the ' + word}"
    return f"{winner} is {'the ' if word.endswith('est') or word.startswith('most') else ''}{word}"


def _nearest(mind: Mind) -> str:
    """Acting only: take the sentence of the last observation that is nearest to the question, right or wrong."""
    return best_sentence(mind.reading.question, mind.reading.notes[-1:], least=0.1)


def _new(mind: Mind) -> list[Found]:
    """Give the facts that the last observation settled, or, without tools, all of them."""
    if not mind.reading.notes:
        return mind.trail
    before = _said_before(mind)
    return [found for found in mind.trail if fact_text(found).lower().rstrip(".") not in before]


def _said_before(mind: Mind) -> str:
    """Give all earlier thoughts as one text."""
    return " ".join(note.text.lower() for note in mind.reading.notes if note.is_thought)
