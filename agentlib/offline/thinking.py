"""The procedure: find the first need that the notes do not settle, and act for it; when all are settled, answer.

There are two modes. When the format has `Thought:`, whatever was found is written down and may be used in the next
action. In an acting-only prompt nothing is written down between steps, so the arguments of an action are made of the
question's own words alone. What the question does not name cannot be looked up: the model asks with the whole question,
once more with the question's main words, and then answers with the sentence of the last observation that is nearest to
the question, right or wrong. Yao et al. (2022, arXiv:2210.03629) report the same of language models: acting without
thoughts, they fail to take the answer out of what they found and to ask in another way.
"""

import re
from dataclasses import dataclass

from . import memory
from .arithmetic import in_head, is_easy
from .choosing import Call, next_call, ranked
from .finding import Note, Value, about, best_sentence, find, weather
from .needs import Both, Claim, Fact, Formula, Name, Need, Open, Pick, Talk, Weather
from .questions import understand
from .reading import Reading
from .settling import country, described, expression, judged, key_words, meant, noun_of, own_names, same_sum, wordings
from .words import mentions, number_in, plain, same_name, words


@dataclass(frozen=True)
class Want:
    """Something to ask a tool for: the call, and what it is for."""

    call: Call
    kind: str  # search, weather or sum
    subject: str
    need: Need


@dataclass(frozen=True)
class Lost:
    """Something that could not be found out, in words that end a sentence: 'the CEO of X'."""

    what: str


@dataclass(frozen=True)
class Found:
    """One fact on the way to the answer."""

    need: Need
    subject: str
    value: Value
    from_memory: bool = False


class Mind:
    """One look at a request: what is settled, what is still wanted. It lives for one reply only."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.need = understand(reading.question, reading.earlier)
        self.trail: list[Found] = []
        self.acts_only = bool(reading.tools) and reading.has_format and not reading.writes_thoughts
        self.result = self.settle(self.need)

    def settle(self, need: Need) -> Value | Want | Lost:
        """Give the value of a need, or the next thing to ask for, or what is lost."""
        match need:
            case Name(text):
                return Value(text, (text,), number_in(text) if re.fullmatch(r"[\d.,]+", text) else None)
            case Fact():
                return self._fact(need)
            case Weather():
                return self._weather(need)
            case Formula():
                return self._formula(need)
            case Pick():
                return self._pick(need)
            case Claim(fact, said):
                return self._claim(fact, said)
            case Both(parts):
                return self._both(parts)
            case Talk(kind, text):
                return Value(text or kind)
            case _:
                return self._open(need)

    def _fact(self, need: Fact) -> Value | Want | Lost:
        """Settle a fact: first the thing it is about, then the fact itself."""
        if self.acts_only and not isinstance(need.of, Name) and need.relation != "country":
            return self._whole_question(need)
        inner = self.settle(need.of)
        if not isinstance(inner, Value):
            return inner
        subject = inner.first if isinstance(need.of, Name) else inner.head
        if need.relation == "country":
            if "," in inner.first and not isinstance(need.of, Name):
                return self._note(need, subject, Value(country(inner.first)))
            need = Fact("located", need.of, "place", "country")
        value = self._look(need, subject)
        if isinstance(value, Value) and need.asked == "country":
            value = Value(country(value.first))
        return self._note(need, subject, value) if isinstance(value, Value) else value

    def _look(self, need: Fact, subject: str) -> Value | Want | Lost:
        """Look a fact up in the notes; else ask; else say that it is lost."""
        notes = self.reading.notes
        value = self._in_notes(need, subject, notes, loosely=False)
        if value:
            return value
        if not self.reading.tools or not ranked("search", self.reading):
            return self._by_heart(need, subject)
        if any(words(note.asked) == words(subject) for note in notes):  # the search took the name for another's
            value = self._in_notes(need, subject, notes, loosely=True)
            if value:
                return value
        call = next_call("search", wordings(need, subject, notes), subject, self.reading)
        return Want(call, "search", subject, need) if call else Lost(described(need, subject))

    def _in_notes(self, need: Fact, subject: str, notes: tuple[Note, ...], loosely: bool) -> Value | None:
        """Find a fact in the notes."""
        if need.relation == "about":
            for note in reversed(notes):
                parts = [] if note.is_thought else about(note, subject, loosely)
                if parts:
                    return Value(parts[0].rstrip("."), (parts[0].rstrip("."),))
            return None
        return find(need.relation, subject, notes, noun_of(need), need.kind, loosely)

    def _by_heart(self, need: Fact, subject: str) -> Value | Lost:
        """Remember a fact; without any tools the model also guesses."""
        known = memory.recall(need.relation, subject)
        if known is None and not self.reading.tools:
            known = memory.guess(need.relation, need.kind, subject)
        if known is None:
            return Lost(described(need, subject))
        items = tuple(known.split(" and "))
        self.trail.append(Found(need, subject, Value(known, items, number_in(known)), True))
        return Value(known, items, number_in(known))

    def _note(self, need: Need, subject: str, value: Value) -> Value:
        """Keep a settled fact for the wording of the thought and the answer."""
        if not any(found.need == need and found.subject == subject for found in self.trail):
            self.trail.append(Found(need, subject, value))
        return value

    def _whole_question(self, need: Fact) -> Value | Want | Lost:
        """Acting only, and the thing asked about is not named: ask with the question's words, read the latest observation."""
        last = self.reading.notes[-1:] if self.reading.steps else ()
        for note in last:
            value = find(need.relation, note.title or self.reading.question, last, noun_of(need), need.kind, False)
            if value:
                return self._note(need, note.title or "it", value)
        names, key = own_names(need), " ".join(re.findall(r"[\w'’.-]+", self.reading.question)[:20])
        call = next_call("search", [" ".join(dict.fromkeys(key_words(key))), f"{' '.join(names)} {noun_of(need)}"],
                         " ".join(names), self.reading)
        if call:
            return Want(call, "search", " ".join(names), need)
        return Lost("the answer")

    def _weather(self, need: Weather) -> Value | Want | Lost:
        """Settle the weather of a place: the place first."""
        inner = Value(" ".join(own_names(need))) if self.acts_only and not isinstance(need.place,
                                                                                      Name) else self.settle(need.place)
        if not isinstance(inner, Value):
            return inner
        place = inner.head
        offered = meant(self.reading.notes, place)
        report = next(filter(None, (weather(name, self.reading.notes) for name in (place, *offered))), None)
        if report is None and not ranked("weather", self.reading):
            return self._weather_by_heart(need, place)
        if report is None:
            names = dict.fromkeys([place, inner.first, *offered])
            call = next_call("weather", list(names), place, self.reading)
            return Want(call, "weather", place, need) if call else Lost(f"the weather in {place}")
        value = report.get(need.what) if need.what in ("temperature", "wind", "humidity", "all") else judged(need.what,
                                                                                                             place,
                                                                                                             report)
        if value is None:
            return Lost(f"the {need.what} in {place}")
        return self._note(need, place, value)

    def _weather_by_heart(self, need: Weather, place: str) -> Value | Lost:
        """Without a tool, take the typical temperature for today's."""
        degrees = None if self.reading.tools else memory.climate(place)
        if degrees is None:
            return Lost(f"the weather in {place}, because I have no tool for it")
        value = Value(f"about {degrees} °C", (), float(degrees))
        self.trail.append(Found(need, place, value, True))
        return value

    def _formula(self, need: Formula) -> Value | Want | Lost:
        """Settle the parts, then the sum."""
        values = []
        for part in need.parts:
            value = self.settle(part)
            if not isinstance(value, Value):
                return value
            if value.number is None:
                return Lost(f"a number in '{value.text}'")
            values.append(value.number)
        result = self._sum(expression(need.template, values), need)
        if isinstance(result, Value):
            return Value(need.said.replace("{v}", result.text), (), result.number)
        return result

    def _sum(self, asked: str, need: Need) -> Value | Want | Lost:
        """Settle a sum: from an earlier result, with the tool, or in the head."""
        for step in reversed(self.reading.steps):
            if same_sum(step.asked,
                        asked) and (number := number_in(step.observation)) is not None and not step.observation.lower().startswith("error"):
                return Value(re.search(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", step.observation).group(), (), number)
        easy = is_easy(asked) or re.fullmatch(r"[\d.]+", asked)
        carried = self.acts_only and bool(getattr(need, "parts", True))
        ways = dict.fromkeys([asked, re.sub(r"sqrt\((.+?)\)", r"\1 ** 0.5", asked)])
        call = None if easy or carried else next_call("sum", list(ways), asked, self.reading)
        if call:
            return Want(call, "sum", asked, need)
        number = in_head(asked)
        if number is None:
            return Lost(f"the result of {asked}")
        if not easy:
            self.trail.append(Found(Name(asked), asked, Value(plain(number), (), number), not self.reading.tools))
        return Value(plain(number), (), number)

    def _pick(self, need: Pick) -> Value | Want | Lost:
        """Settle what is measured of each thing, then compare."""
        outcomes = [self.settle(measure) for measure in need.measures]
        wanted = [outcome for outcome in outcomes if isinstance(outcome, Want)]
        if wanted:
            return wanted[0]
        lost = [outcome for outcome in outcomes if not isinstance(outcome, Value) or outcome.number is None]
        if lost:
            return lost[0] if isinstance(lost[0], Lost) else Lost(f"a number to compare in '{lost[0].text}'")
        numbers = [outcome.number for outcome in outcomes]
        if need.unit:
            high, low = max(numbers), min(numbers)
            result = self._sum(f"{plain(high)} - {plain(low)}", need)
            if not isinstance(result, Value):
                return result
            return Value(result.text, (), result.number)
        best = max(numbers) if need.highest else min(numbers)
        winners = tuple(self._label(thing) for thing, number in zip(need.things, numbers, strict=True)
                        if number == best)
        return Value(" and ".join(winners), winners)

    def _label(self, thing: Need) -> str:
        """Name a thing that was compared: as in the question, or by its value."""
        value = self.settle(thing.of if isinstance(thing, Fact) and thing.kind in ("number", "year") else thing)
        return value.head if isinstance(value, Value) and not isinstance(thing,
                                                                         Name) else value.text if isinstance(value,
                                                                                                             Value) else "it"

    def _claim(self, fact: Need, said: str) -> Value | Want | Lost:
        """Settle a fact, then compare it with what was said."""
        value = self.settle(fact)
        if not isinstance(value, Value):
            return value
        holds = any(mentions(item, said) or same_name(item, said) for item in value.items or (value.text,))
        return Value("Yes" if holds else "No", (value.text,))

    def _both(self, parts: tuple[Need, ...]) -> Value | Want | Lost:
        """Settle several questions in their order."""
        outcomes = [self.settle(part) for part in parts]
        for kind in (Want, Lost):
            for outcome in outcomes:
                if isinstance(outcome, kind):
                    return outcome
        return Value("; ".join(outcome.text for outcome in outcomes))

    def _open(self, need: Open) -> Value | Want | Lost:
        """A question outside the grammar: search its key words, take the best sentence."""
        sentence = best_sentence(need.text, self.reading.notes)
        if sentence:
            return Value(sentence)
        key = key_words(need.text)
        names = re.findall(r"[A-Z][\w-]+(?: [A-Z][\w-]+)*", need.text[1:])
        call = next_call("search", [" ".join(key[:8]), *([names[0]] if names else [])], " ".join(key[:4]),
                         self.reading) if key else None
        return Want(call, "search", " ".join(key), need) if call else Lost("")
