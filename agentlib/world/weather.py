"""Made-up weather: one fixed day for each city.

Nothing here was measured or forecast. "Today" is one invented, plausible day per city that never changes, so that a
lesson gives the same answer each time it runs.
"""

import re
from dataclasses import dataclass
from functools import cache

from ..tools import tool
from .records import fold, read_records


@dataclass(frozen=True)
class Day:
    """The invented day of one city; `places` are the countries or states that may follow its name."""

    city: str
    places: tuple[str, ...]
    aliases: tuple[str, ...]
    celsius: int
    sky: str
    wind_kmh: int
    humidity_percent: int

    def __str__(self) -> str:
        return (f"{self.city}: {self.celsius} °C, {self.sky}, "
                f"wind {self.wind_kmh} km/h, humidity {self.humidity_percent} %.")


@tool
def weather(city: str) -> str:
    """Get today's weather in a city: temperature in °C, sky, wind in km/h and humidity in percent.
    Takes the name of one city and covers larger cities of all continents.

    Args:
        city: The name of one city, for example "Beijing" or "Cambridge, England".
    """
    name, _, place = re.sub(r"[()]", ",", city).strip(" ,?").partition(",")
    day = days().get(key(name))
    if day and (not key(place) or key(place) in map(key, day.places)):
        return str(day)
    hint = f"Did you mean {day.city} in {day.places[0]}?" if day else advice(city)
    raise ValueError(f"the weather service does not cover '{city}'. {hint}")


def key(name: str) -> str:
    """Return a name without case, accents, full stops and outer spaces and commas."""
    return fold(name).replace(".", "").strip(" ,")


def cities() -> tuple[str, ...]:
    """Return the names of the cities that are covered, in alphabetical order."""
    return tuple(sorted({day.city for day in days().values()}))


@cache
def days() -> dict[str, Day]:
    """Return the day of each city under each of its folded names."""
    table: dict[str, Day] = {}
    for record in read_records("weather.jsonl"):
        day = Day(**{**record, "places": tuple(record["places"]), "aliases": tuple(record["aliases"])})
        table.update({key(name): day for name in (day.city, *day.aliases)})
    return table


def advice(name: str) -> str:
    """Return what to try instead of a name that is not covered."""
    from difflib import get_close_matches  # needed after a mistake only

    said = [known for known in days() if re.search(rf"\b{re.escape(known)}\b", key(name))]
    close = get_close_matches(key(name), list(days()), n=6, cutoff=0.7)
    found = list(dict.fromkeys(days()[known].city for known in said + close))[:3]
    if found:
        return f"Did you mean {' or '.join(found)}?"
    return "Give the English name of one larger city, for example Beijing, London or New York."
