"""Small questions that settling a need comes down to: which words to ask with, what a report or a sum says.

None of them looks anything up: they take a need, a note or a text and give a text or a value.
"""

import re

from .needs import Errand, Fact, Need, Open, Weather
from .notes import Note, Value
from .reading import Step
from .relations import BY_NAME
from .words import choose, fold, plain, same_name, undated, with_the, words

_SKY = {"rain": "rain|drizzle|shower|storm", "snow": "snow", "sun": "sun|clear", "cloud": "cloud|overcast",
        "fog": "fog|mist|haz", "storm": "storm|thunder"}
_DEGREES = {"warm": (20, 999), "cold": (-999, 12)}  # °C, from and below
_WINDY = 25  # km/h, from


def noun_of(need: Fact) -> str:
    """Name a relation by its main noun: 'CEO', 'university', or what the question called it."""
    return BY_NAME[need.relation].nouns[0] if need.relation in BY_NAME else need.relation


def described(need: Need, subject: str) -> str:
    """Describe what is wanted: 'the CEO of DeepMind'."""
    if isinstance(need, Fact):
        if need.relation == "about":
            return f"an article on {subject}"
        return f"the {need.asked if need.asked and need.relation in BY_NAME else noun_of(need)} of {with_the(subject)}"
    if isinstance(need, Open):
        return f"something on '{subject}'"
    if isinstance(need, Errand):
        return f"what the tools say about {subject}"
    return f"the weather in {subject}" if isinstance(need, Weather) else f"the result of {subject}"


def wordings(need: Fact, subject: str, notes: tuple[Note, ...], seed: int) -> list[str]:
    """Give queries for a fact: with its noun, then the bare name, or what the name's own article points to.

    A seed may put the first one in other words.
    """
    noun, own = noun_of(need), [note for note in notes if same_name(note.title, undated(subject)[0])]
    if need.relation == "about":
        return [subject, f"what is {subject}"]
    if own:
        return [f"{subject} {noun}", *own[-1].pointers[:2], f"{noun} of {subject}"]
    near = [title for note in notes for title in note.pointers if set(words(subject)) & set(words(title))]
    usual, turned = f"{subject} {noun}", f"{noun} of {subject}"
    first = choose(seed, f"ask|{subject}", (usual, turned, subject)) if seed else usual
    return list(dict.fromkeys([first, subject, *near, turned]))


def key_words(text: str) -> list[str]:
    """Give the telling words of a text as they are written."""
    return [word for word in (part.strip("'’.,") for part in re.findall(r"[\w'’.-]+", text)) if words(word)]


def country(place: str) -> str:
    """Give the country of a place: 'Smiljan, in what is now Croatia' is in Croatia."""
    return re.sub(r"^in what is now |^the ", "", place.split(", ")[-1])


def meant(notes: tuple[Note, ...], place: str) -> list[str]:
    """Give the place that an error offers in its stead, if it looks like a slip of the pen."""
    offered = [m for note in notes if note.is_error and fold(place) in fold(note.text)
               for m in re.findall(r"[Dd]id you mean ['\"]?([A-Z][\w .-]+?)['\"]?(?: or |\?)", note.text)]
    return [name for name in offered if len(set(fold(name)) ^ set(fold(place))) <= 2
            and fold(name)[0] == fold(place)[0]]


def judged(what: str, place: str, report: dict[str, Value]) -> Value | None:
    """Answer a yes-or-no question about the weather; None if the report does not say enough."""
    sky = report["sky"].text if "sky" in report else None
    degrees = report["temperature"].number if "temperature" in report else None
    wind = report["wind"].number if "wind" in report else None
    yes = None
    if what in _SKY and sky is not None:
        yes = bool(re.search(_SKY[what], sky))
    elif what == "dry" and sky is not None:
        yes = not re.search(_SKY["rain"], sky)
    elif what in _DEGREES and degrees is not None:
        low, high = _DEGREES[what]
        yes = low <= degrees < high
    elif what == "windy" and wind is not None:
        yes = wind >= _WINDY
    return None if yes is None else Value(f"{'Yes' if yes else 'No'}, the report for {place} says {report['all'].text}")


def expression(template: str, values: list[float]) -> str:
    """Put numbers into a template; the absolute value of a difference puts the larger number first."""
    if re.fullmatch(r"abs\(\{\d\} - \{\d\}\)", template):
        template, values = "{0} - {1}", sorted(values, reverse=True)
    return template.format(*(plain(value) if value >= 0 else f"({plain(value)})" for value in values))


def result_of(asked: str, steps: tuple[Step, ...]) -> str:
    """Give the result of a sum that a tool has already worked out, or an empty text."""
    for step in reversed(steps):
        if _plain_sum(step.asked) == _plain_sum(asked) and not step.observation.lower().startswith("error"):
            found = re.search(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", step.observation)
            if found:
                return found.group()
    return ""


def _plain_sum(text: str) -> str:
    """Write a sum without spaces, and a root as a power."""
    return re.sub(r"sqrt\((.+?)\)", r"\1**0.5", re.sub(r"\s", "", text))
