"""Weather reports: from the text of an observation to temperature, wind, humidity and sky.

The sentence that names the city counts, or else the report that came when the city was asked for.
"""

import re

from .notes import Note, Value
from .words import NUMBER, mentions, number_in

_DEGREES = re.compile(r"(minus )?([-−]?\d+(?:\.\d+)?) ?(°\s?[CF]|degrees?(?: (?:Celsius|Fahrenheit))?)", re.I)
_SKY = re.compile(r"(?:[a-z]+ )?\b(?:sun\w*|clear|cloud\w*|overcast|rain\w*|snow\w*|fog\w*|mist\w*|storm\w*|thunder\w*"
                  r"|drizzle|showers?|haz[ey]|dry|hail)\b", re.I)
_MEASURES = {"wind": re.compile(rf"wind[^\d.]{{0,20}}({NUMBER} ?km/h)", re.I),
             "humidity": re.compile(rf"humidity[^\d.]{{0,20}}({NUMBER} ?%)", re.I)}


def weather(place: str, notes: tuple[Note, ...]) -> dict[str, Value] | None:
    """Read the weather of a place: temperature, wind, humidity, sky and the whole text; the latest note counts."""
    for note in reversed(notes):
        if note.is_error or note.is_thought:
            continue
        named = [part for part in re.split(r"\n|;|(?<=[a-z%C])\.\s", note.text) if mentions(part, place)]
        if named or (mentions(note.asked, place) and not _is_about_another(note, place, notes)):
            report = _read(" ".join(named) or note.text)
            if report:
                return report
    return None


def _is_about_another(note: Note, place: str, notes: tuple[Note, ...]) -> bool:
    """Say whether a report that does not name the place names another one that was asked about."""
    return any(mentions(note.text, other.asked) for other in notes if other.asked and not mentions(other.asked, place))


def _read(text: str) -> dict[str, Value] | None:
    """Read the parts of a weather report; there must be one at least."""
    degrees, sky = _DEGREES.search(text), _SKY.search(text)
    if not degrees and not sky and not any(pattern.search(text) for pattern in _MEASURES.values()):
        return None
    report = {"all": Value(re.sub(r"^[^:]{1,60}:\s*", "", text).strip().rstrip("."))}
    if degrees:
        number = float(degrees.group(2).replace("−", "-")) * (-1 if degrees.group(1) else 1)
        unit = "°F" if "F" in degrees.group(3).upper() else "°C"
        report["temperature"] = Value(f"{number:g} {unit}", (), number)
    if sky:
        report["sky"] = Value(sky.group().lower())
    for key, pattern in _MEASURES.items():
        found = pattern.search(text)
        if found:
            report[key] = Value(found.group(1), (), number_in(found.group(1)))
    return report
