"""How weather, sums and comparisons are settled.

Each settles its parts first, as needs of their own. Then it reads a report, sends a sum to the calculator, or compares.
"""

import re

from . import memory
from .arithmetic import in_head, is_easy
from .choosing import next_call, ranked
from .coding import sum_in_code, was_run
from .needs import Fact, Formula, Name, Need, Pick, Weather, names_in
from .notes import Value
from .outcomes import Lost, Mind, Outcome, Want
from .passages import only_texts
from .reports import weather
from .settling import expression, judged, meant, result_of
from .words import number_in, plain


def settle_weather(mind: Mind, need: Weather) -> Outcome:
    """Settle the weather of a place: the place first."""
    unnamed = mind.acts_only and not isinstance(need.place, Name)
    inner = Value(" ".join(names_in(need))) if unnamed else mind.settle(need.place)
    if not isinstance(inner, Value):
        return inner
    place, reading = inner.head, mind.reading
    offered = meant(reading.notes, place)
    report = next(filter(None, (weather(name, reading.notes) for name in (place, *offered))), None)
    if report is None:
        if not ranked("weather", reading):
            return _weather_by_heart(mind, need, place)
        call = next_call("weather", list(dict.fromkeys([place, inner.first, *offered])), place, reading)
        return Want(call, "weather", place, need) if call else Lost(f"the weather in {place}")
    value = report.get(need.what) or judged(need.what, place, report)
    return mind.keep(need, place, value) if value else Lost(f"the {need.what} in {place}")


def settle_formula(mind: Mind, need: Formula) -> Outcome:
    """Settle the parts, then the sum."""
    numbers = _numbers(mind, need.parts)
    if not isinstance(numbers, list):
        return numbers
    if need.said.endswith("°F") and mind.trail and mind.trail[-1].value.text.endswith("°F"):  # asked for in that unit
        return mind.trail[-1].value
    result = _sum(mind, expression(need.template, numbers), need, carried=bool(need.parts))
    return Value(need.said.replace("{v}", result.text), (), result.number) if isinstance(result, Value) else result


def settle_comparison(mind: Mind, need: Pick) -> Outcome:
    """Settle what is measured of each thing, then compare."""
    numbers = _numbers(mind, need.measures)
    if not isinstance(numbers, list):
        return numbers
    if need.unit:
        return _sum(mind, f"{plain(max(numbers))} - {plain(min(numbers))}", need, carried=True)
    best = max(numbers) if need.highest else min(numbers)
    winners = tuple(label(mind, thing) for thing, number in zip(need.things, numbers, strict=True) if number == best)
    return Value(" and ".join(winners), winners)


def _numbers(mind: Mind, needs: tuple[Need, ...]) -> list[float] | Want | Lost:
    """Settle needs that are numbers."""
    values = mind.settle_all(needs)
    if not isinstance(values, list):
        return values
    without = next((value.text for value in values if value.number is None), None)
    return [value.number for value in values] if without is None else Lost(f"a number in '{without}'")


def label(mind: Mind, thing: Need) -> str:
    """Name a thing that was compared: as in the question, or by its value."""
    if isinstance(thing, Fact) and thing.kind in ("number", "year"):
        thing = thing.of
    value = mind.settle(thing)
    if not isinstance(value, Value):
        return "it"
    return value.text if isinstance(thing, Name) else value.head


def _weather_by_heart(mind: Mind, need: Weather, place: str) -> Value | Lost:
    """Without any tool, take the typical temperature for today's."""
    degrees = None if mind.reading.tools or only_texts(mind.reading.instructions) else memory.climate(place)
    if degrees is None:
        return Lost(f"the weather in {place}, because I have no tool for it")
    return mind.keep(need, place, Value(f"about {degrees} °C", (), float(degrees)), from_memory=True)


def _sum(mind: Mind, asked: str, need: Need, carried: bool) -> Outcome:
    """Settle a sum: from an earlier result, with the tool, or in the head.

    `carried` says that its numbers come from observations, which an acting-only prompt cannot carry into an action.
    """
    program = sum_in_code(asked, mind.reading)
    earlier = result_of(program.arguments[0][1] if program else asked, mind.reading.steps)
    if earlier:
        return Value(earlier, (), number_in(earlier))
    easy = is_easy(asked) or re.fullmatch(r"[\d.]+", asked)
    if not easy and not (carried and mind.acts_only):
        ways = dict.fromkeys([asked, re.sub(r"sqrt\((.+?)\)", r"\1 ** 0.5", asked)])
        call = (None if was_run(program, mind.reading) else program) if program else next_call(
            "sum", list(ways), asked, mind.reading)
        if call:
            return Want(call, "sum", asked, need)
    number = in_head(asked)
    if number is None:
        return Lost(f"the result of {asked}")
    value = Value(plain(number), (), number)
    return value if easy else mind.keep(Name(asked), asked, value, from_memory=not mind.reading.tools)
