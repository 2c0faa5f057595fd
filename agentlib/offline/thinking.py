"""The procedure: find the first need that the notes do not settle, and act for it; when all are settled, answer.

There are two modes. When the format has `Thought:`, whatever was found is written down and may be used in the next
action. In an acting-only prompt nothing is written down between steps, so the arguments of an action are made of the
question's own words alone. What the question does not name cannot be looked up: the model asks with the whole question,
once more with the question's main words, and then answers with the sentence of the last observation that is nearest to
the question, right or wrong. Yao et al. (2022, arXiv:2210.03629) report the same of language models: acting without
thoughts, they fail to take the answer out of what they found and to ask in another way.

Tools come first: the model answers directly only when it greets or talks about itself, when the words to say are given,
when a sum has one sign and one-digit numbers, or when an earlier observation already holds what is asked. Without a
fitting tool it does sums in the head and takes facts from memory, and says that it cannot check them.
"""

import re
from dataclasses import dataclass

from .choosing import next_call
from .combining import of_results
from .errands import errand_of, rejection, settle_errand
from .facts import settle_fact
from .finding import best_sentence
from .measures import settle_comparison, settle_formula, settle_weather
from .needs import Both, Claim, Either, Errand, Exact, Fact, Formula, Name, Need, Open, Pick, Talk, Weather
from .notes import Value
from .outcomes import Lost, Mind, Outcome, Want
from .passages import with_texts
from .questions import understand
from .reading import Reading
from .settling import key_words
from .tasks import task_of
from .words import mentions, number_in, same_name


@dataclass(frozen=True)
class Conclusion:
    """What thinking came to: what was asked, what was settled on the way, and the outcome."""

    need: Need
    mind: Mind
    outcome: Outcome
    wants: tuple[Want, ...] = ()  # the outcome, if it is one, and the others that do not depend on it


def think(reading: Reading) -> Conclusion:
    """Think once about a request."""
    refused = rejection(reading)
    if refused:
        return Conclusion(Exact(refused), Mind(reading, settle), Value(refused))
    made = of_results(reading) if reading.is_task else None
    errand = None if made else errand_of(reading)
    reading = reading if made or errand else with_texts(reading)
    whole = made or errand or task_of(Mind(reading, settle)) or understand(reading.question, reading.earlier)
    looks = []
    for way in whole.ways if isinstance(whole, Either) else (whole,):
        mind = Mind(reading, settle)
        looks.append((way, mind, mind.settle(way)))
        if not isinstance(looks[-1][2], Lost):
            break
    need, mind, outcome = looks[0 if isinstance(looks[-1][2], Lost) else -1]
    by_heart = any(found.from_memory for found in mind.trail)
    nearest = best_sentence(reading.question, reading.given, least=0.5)
    if nearest and (by_heart or isinstance(outcome, Lost)):  # the text may say it in words that no rule knows
        return Conclusion(Exact(nearest), mind, Value(nearest))
    if not isinstance(outcome, Want):
        return Conclusion(need, mind, outcome)
    return Conclusion(need, mind, outcome, (outcome, *(want for want in mind.wants if want.call != outcome.call)))


def settle(mind: Mind, need: Need) -> Outcome:
    """Settle a need after its kind."""
    match need:
        case Name(text):
            return Value(text, (text,), number_in(text) if re.fullmatch(r"\d[\d.,]*", text) else None)
        case Exact(text):
            return Value(text)
        case Talk(kind, text):
            return Value(text or kind)
        case Fact():
            return settle_fact(mind, need)
        case Weather():
            return settle_weather(mind, need)
        case Formula():
            return settle_formula(mind, need)
        case Pick():
            return settle_comparison(mind, need)
        case Claim(fact, said):
            return _settle_claim(mind, fact, said)
        case Both(parts):
            return _settle_both(mind, parts)
        case Errand():
            return settle_errand(mind, need)
    return _settle_open(mind, need.text)


def _settle_claim(mind: Mind, fact: Need, said: str) -> Outcome:
    """Settle a fact, then compare it with what was said."""
    value = mind.settle(fact)
    if not isinstance(value, Value):
        return value
    holds = any(mentions(item, said) or same_name(item, said) for item in value.items or (value.text,))
    return Value("Yes" if holds else "No", (value.text,))


def _settle_both(mind: Mind, parts: tuple[Need, ...]) -> Outcome:
    """Settle several questions."""
    values = mind.settle_all(parts)
    return Value("; ".join(value.text for value in values)) if isinstance(values, list) else values


def _settle_open(mind: Mind, question: str) -> Outcome:
    """A question outside the grammar: search its key words, take the best sentence."""
    sentence = best_sentence(question, mind.reading.notes)
    if sentence:
        return Value(sentence)
    key = key_words(question)
    if not key:
        return Lost("")
    names = re.findall(r"[A-Z][\w-]+(?: [A-Z][\w-]+)*", question[1:])
    call = next_call("search", [" ".join(key[:8]), *names[:1]], " ".join(key[:4]), mind.reading)
    return Want(call, "search", " ".join(key), Open(question)) if call else Lost("")
