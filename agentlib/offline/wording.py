"""How the offline model words thoughts and answers. The seed varies the words, never the facts in them."""

import re

from .choosing import was_refused
from .finding import Value, best_sentence
from .needs import Both, Claim, Fact, Formula, Name, Need, Open, Pick, Talk, Weather
from .relations import BY_NAME
from .settling import described, noun_of
from .thinking import Found, Lost, Mind, Want
from .words import choose

NOTICE = ("I am the offline model of this course: a small set of rules, not a language model. With tools I can look up"
          " people, companies, "
          "universities, places, books and prizes, compare the weather of cities, and do sums. To connect a real"
          " model, set "
          "AGENTLIB_MODEL in `.env`.")
_TALK = {"hello": ("Hello! What would you like to know?", "Hello! Ask me something."),
         "thanks": ("You are welcome.", "My pleasure."),
         "bye": ("Goodbye!",), "feeling": ("I am a set of rules, so always the same. What would you like to know?",),
         "self": (NOTICE,)}
_NEED = ("I need {what}.", "I have to find {what}.", "What I need is {what}.")
_NEXT = ("Next I need {what}.", "Now I have to find {what}.", "What I need next is {what}.")
_MISSED = ("That does not give {what}. I ask in other words.", "I do not see {what} there, so I try another wording.")
_DONE = ("That answers the question.", "This is what was asked for.", "Now I know the answer.")


def thought_of(mind: Mind) -> str:
    """Word the thought that goes with the next move: what is known now, and what follows."""
    reading, result = mind.reading, mind.result
    known = " ".join(f"{sentence(fact_text(found))}" for found in _new(mind))
    if isinstance(result, Want):
        what = described(result.need, result.subject)
        missed = reading.steps and not _new(mind) and _is_again(mind)
        refused = was_refused(reading.steps[-1].tool, reading) if reading.steps else ""
        if missed and refused == reading.steps[-1].observation:
            plan = f"The tool refused: {first_line(refused)} I try in another way. I still need {what}."
        elif missed:
            plan = choose(reading.seed, "missed", _MISSED).format(what=what)
        else:
            plan = choose(reading.seed, f"need{len(reading.steps)}", _NEXT if reading.steps
                          else _NEED).format(what=what)
        return " ".join(filter(None, [known, plan]))
    if isinstance(result, Lost):
        return " ".join(filter(None, [known, (f"I could not find {result.what}." if reading.tools
                                              else f"I do not know {result.what}.") if result.what
                                      else "I have no rule and no tool for this."]))
    if isinstance(mind.need, Talk) or not reading.steps and not any(found.from_memory for found in mind.trail):
        return choose(reading.seed, "direct", ("No tool is needed for this.", "I can answer this directly."))
    return " ".join(filter(None, [known, choose(reading.seed, "done", _DONE)]))


def answer_of(mind: Mind) -> str:
    """Word the final answer, or say what could not be found."""
    result = mind.result
    if isinstance(result, Lost):
        return lost_text(mind, result)
    text = sentence(_answer(mind.need, result, mind))
    if mind.reading.tools and any(found.from_memory for found in mind.trail):
        text += " I say this from memory: I have no tool to check it."
    return text


def lost_text(mind: Mind, lost: Lost) -> str:
    """Say honestly what is missing, and what was found on the way."""
    if not lost.what or isinstance(mind.need, Open):
        return f"I cannot answer this. {NOTICE}"
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
    if isinstance(need, Weather):
        label = "temperature" if need.what == "temperature" else need.what if need.what in ("wind",
                                                                                            "humidity") else "weather"
        return f"the {label} in {subject} is {value}"
    if isinstance(need, Name):
        return f"{subject} is {value}"
    if not isinstance(need, Fact):
        return value
    if need.relation in ("about",) or need.relation not in BY_NAME and len(value.split()) > 7:
        return value
    if need.relation == "author" and need.asked not in ("", "author", "writer"):
        return f"the {need.asked} of {subject} is {value}"
    if need.relation not in BY_NAME:
        return f"the {need.relation} of {subject} is {value}"
    row = BY_NAME[need.relation]
    return row.said.format(x=with_the(subject), v=with_the(value) if row.kind in ("university", "place") else value)


def with_the(name: str) -> str:
    """Put 'the' before names that take it."""
    return re.sub(r"(^|, | and )(?=(?:University|College|Institute) of |(?:\w+ ){1,2}Institute of|United (?:States"
                  r"|Kingdom)|Netherlands|Czech)", r"\1the ", name)


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
    if isinstance(need, Talk):
        return choose(mind.reading.seed, "talk", _TALK.get(need.kind, (value.text,)))
    if isinstance(need, Pick):
        return _pick_answer(need, value, mind)
    if isinstance(need, Claim):
        return f"{value.text}, {fact_text(mind.trail[-1])}"
    if isinstance(need, Both):
        return " ".join(sentence(_answer(part, outcome, mind)) for part in need.parts
                        if isinstance(outcome := mind.settle(part), Value))
    if isinstance(need, Formula):
        shown = [found.value.text for found in mind.trail if not isinstance(found.need, Name)
                 and found.value.number is not None]
        return f"{value.text} ({'; '.join(shown)})" if shown else choose(mind.reading.seed,
                                                                         "sum", (value.text,
                                                                                 f"The result is {value.text}"))
    found = next((one for one in reversed(mind.trail) if one.value == value), None)
    if found is None or not isinstance(need, Fact | Weather):
        return value.text
    if isinstance(need, Weather) and need.what not in ("temperature", "wind", "humidity", "all"):
        return value.text
    text = fact_text(found)
    if isinstance(need, Fact) and isinstance(need.of, Fact) and len(mind.trail) > 1:
        before = mind.trail[-2]
        through = f"{noun_of(before.need)} of {before.subject}" if isinstance(before.need,
                                                                              Fact) and before.need.kind == "person" else ""
        options = (text, re.sub(re.escape(found.subject), f"{found.subject}, the {through},", text, count=1) if through
                   else text)
        return choose(mind.reading.seed, "chain", options)
    return text if found.from_memory else choose(mind.reading.seed,
                                                 "fact", (text, text, f"According to what I found, {text}"))


def _pick_answer(need: Pick, value: Value, mind: Mind) -> str:
    """Word a comparison: the winner first, then the numbers."""
    shown = "; ".join(fact_text(found) for found in mind.trail if isinstance(found.need, Fact | Weather)
                      and found.value.number is not None)
    labels = [mind._label(thing) for thing in need.things]
    if need.unit:
        numbers = [mind.settle(measure).number for measure in need.measures]
        holds = (numbers[0] > numbers[1]) == need.highest
        if numbers[0] == numbers[1]:
            return f"0 {need.unit}: there is no difference ({shown})"
        first, second = labels if holds else labels[::-1]
        turn = "" if holds else f"It is the other way round: {first}, not {second}, is {need.word}. "
        return f"{turn}{value.text} {need.unit} is the difference between {first} and {second} ({shown})"
    if len(value.items) > 1:
        return f"{value.text}: there is no difference ({shown})"
    if need.claim is not None:
        return f"{'Yes' if value.text == labels[need.claim] else 'No'}, {_wins(value.text, need.word)}: {shown}"
    return f"{_wins(value.text, need.word)}: {shown}"


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


def _is_again(mind: Mind) -> bool:
    """Say whether the last step was for the same want."""
    return isinstance(mind.result, Want) and described(mind.result.need,
                                                       mind.result.subject).lower() in _said_before(mind)
