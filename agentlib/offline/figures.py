"""What one result of a task gives to work with: figures, values of a kind, and names, read off its text as it is."""

import re
from dataclasses import dataclass

from .clues import names
from .comparisons import UNITS, WORDS_OF_DEGREE
from .notes import Note
from .patterns import statements
from .relations import TABLE
from .settling import country
from .words import MEASURE, NUMBER, YEAR, clean_name, fold, number_in, plain

_MORE = {"cheapest": False, "cheaper": False, "fewest": False, "least": False, "less": False, "fastest": False,
         "faster": False, "quickest": False, "quicker": False, "dearest": True, "most": True, "more": True,
         "slowest": True, "slower": True}
_AMOUNT = r"\d(?:[\d,]*\d)?(?:\.\d+)?"
_MONEY = re.compile(rf"(?P<unit>EUR|USD|GBP|CHF|€|£|\$) ?(?P<n>{_AMOUNT})|(?<![\d:.])(?P<m>{_AMOUNT}) ?(?P<other>EUR"
                    r"|USD|GBP|CHF|euros?|dollars?|€)", re.I)
_TENTHS = re.compile(r"(?:\b(?:EUR|USD|GBP|CHF) |[€£$] ?)\d[\d,]*\.\d(?!\d)|\b\d[\d,]*\.\d(?= (?:EUR|USD|GBP|CHF)\b)")
_TIME = re.compile(r"\b(?:(?P<h>\d+) ?h(?:ours?)?\b(?:,? (?:and )?(?P<m>\d+) ?min)?|(?P<only>\d+) ?min)")
_SPEED = ("fastest", "quickest", "slowest", "faster", "quicker", "slower")
_DEGREES = re.compile(r"(?P<n>[-−]?\d+(?:\.\d+)?) ?°C")
_MEASURES = {"wind": r"([-−]?[\d.]+) ?km/h", "humidity": r"(\d[\d.]*) ?(?:%|percent)"}
_KINDS = {"country": "place", "city": "place", "place": "place", "university": "university", "college": "university",
          "person": "person", "year": "year"}




@dataclass(frozen=True)
class Result:
    """One result, under the name of what it is about."""

    label: str
    text: str


@dataclass(frozen=True)
class Figure:
    """A number that a result gives, and how it is written: `{v} °C`."""

    label: str
    value: float
    written: str

    def __str__(self) -> str:
        return f"{self.label} ({with_cents(self.written.replace('{v}', plain(self.value)))})"


def with_cents(text: str) -> str:
    """Write amounts of money as usual: EUR 297.4 is EUR 297.40."""
    return _TENTHS.sub(r"\g<0>0", text)


def degree_in(text: str) -> tuple[str, bool] | None:
    """Give the first word of degree in a text, and whether the highest figure is meant."""
    known = {**{word: highest for word, (_, highest) in WORDS_OF_DEGREE.items()}, **_MORE}
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in known:
            return word, known[word]
    return None


def figures_of(asked: str, results: tuple[Result, ...]) -> list[Figure]:
    """Give one figure of each result that has one; of several amounts of money their sum."""
    found = []
    for each in results:
        figures = figures_in(asked, each)
        if figures:
            money = bool(_MONEY.search(each.text))
            value = round(sum(one.value for one in figures), 6) if money else figures[0].value
            found.append(Figure(each.label, value, figures[0].written))
    return found


def figures_in(asked: str, result: Result) -> list[Figure]:
    """Give the numbers of a result that what is asked is about: degrees, amounts of money, years, or any."""
    text = result.text.replace(result.label, " ")
    degree = degree_in(asked)
    measure = WORDS_OF_DEGREE.get(degree[0], ("", True))[0] if degree else ""
    if measure in _MEASURES:
        unit = "km/h" if measure == "wind" else "%"
        return [Figure(result.label, number_in(n), f"{{v}} {unit}") for n in re.findall(_MEASURES[measure], text)]
    if degree and degree[0] in _SPEED:
        times = [int(m["h"] or 0) * 60 + int(m["m"] or m["only"] or 0) for m in _TIME.finditer(text)]
        return [Figure(result.label, float(minutes), "{v} min") for minutes in times[:1]]
    degrees = [Figure(result.label, number_in(m["n"]), "{v} °C") for m in _DEGREES.finditer(text)]
    if degrees:
        return degrees[:1]
    money = [Figure(result.label, number_in(m["n"] or m["m"]), f"{m['unit'] or m['other']} {{v}}")
             for m in _MONEY.finditer(text)]
    if money:
        return money
    if measure == "age":
        return [Figure(result.label, float(found[0]), "{v}") for found in [re.search(YEAR, text)] if found]
    found = re.search(MEASURE, text)
    if not found:
        return []
    unit = re.sub(NUMBER, "", found[0]).strip() or UNITS.get(measure, "")
    return [Figure(result.label, number_in(found[0]), f"{{v}} {unit}".strip())]


def values_in(result: Result, noun: str) -> list[str]:
    """Give the values of a kind that a result states, the last one first: of 'Muar is in Malaysia' the country."""
    kind = _KINDS.get(noun, "")
    rows = [row for row in TABLE if row.kind == kind]
    told = Note(result.text)
    stated = [clean_name(found.group("v")) for sentence in told.sentences for row in rows
              for pattern in statements(row.name) for found in pattern.finditer(sentence)]
    stated = [value for value in stated if value]
    if noun == "country":
        return [country(value) for value in stated[-1:]]
    if kind == "university":
        return list(dict.fromkeys(name for value in stated for name in re.split(r" and (?:the )?|, ", value)))
    return list(dict.fromkeys(stated)) if kind else names_in_result(result)


def names_in_result(result: Result) -> list[str]:
    """Give the names in a result that are not those of the thing that it is about."""
    found = [clean_name(name) for part in Note(result.text).sentences for name in names(part)]
    return [name for name in dict.fromkeys(found)
            if name and fold(result.label) not in fold(name) and not re.match(r"[A-Z]+ of ", name)]
