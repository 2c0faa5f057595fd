"""What the offline model knows by heart: a few facts, some of them out of date, and guesses where it knows nothing.

It uses this only when it has no fitting tool. Asked without tools it answers from here with confidence, right or
wrong, as language models do. What is not here it guesses if a plausible guess is easy (a university, a person, a city,
a year), always the same one; other numbers it does not guess: it says that it does not know them.
"""

import zlib

from .words import choose, fold, same_name

# (relation, thing): what the model remembers
FACTS = {
    ("ceo", "Intel"): "Pat Gelsinger",  # wrong since December 2024: Lip-Bu Tan since March 2025
    ("studied_at", "Pat Gelsinger"): "Santa Clara University",  # right as far as it goes; a master's from Stanford too
    ("ceo", "Starbucks"): "Laxman Narasimhan",  # wrong since August 2024: Brian Niccol
    ("studied_at", "Laxman Narasimhan"): "University of Pune",
    ("ceo", "Nike"): "John Donahoe",  # wrong since October 2024: Elliott Hill
    ("studied_at", "John Donahoe"): "Dartmouth College",
    ("ceo", "Boeing"): "Dave Calhoun",  # wrong since August 2024: Kelly Ortberg
    ("studied_at", "Dave Calhoun"): "Virginia Tech",
    ("ceo", "Amazon"): "Jeff Bezos",  # wrong since July 2021: Andy Jassy
    ("studied_at", "Jeff Bezos"): "Princeton University",
    ("ceo", "YouTube"): "Susan Wojcicki",  # wrong since February 2023: Neal Mohan
    ("studied_at", "Susan Wojcicki"): "Harvard University",
    ("most populous country", "the world"): "China",  # wrong since April 2023: India
    ("capital", "Kazakhstan"): "Nur-Sultan",  # wrong since September 2022: Astana
    ("moons", "Saturn"): "82",  # wrong since 2023; 274 were known in March 2025
    ("headquarters", "Boeing"): "Chicago, United States",  # wrong since May 2022: Arlington
    ("ceo", "DeepMind"): "Demis Hassabis",
    ("ceo", "Microsoft"): "Satya Nadella",
    ("ceo", "Apple"): "Tim Cook",
    ("ceo", "Google"): "Sundar Pichai",
    ("founder", "Microsoft"): "Bill Gates and Paul Allen",
    ("founded", "Microsoft"): "1975",
    ("founded", "Apple"): "1976",
    ("founded", "Google"): "1998",
    ("headquarters", "DeepMind"): "London, England",
    ("capital", "France"): "Paris",
    ("capital", "Germany"): "Berlin",
    ("capital", "Italy"): "Rome",
    ("capital", "Japan"): "Tokyo",
    ("capital", "China"): "Beijing",
    ("capital", "United Kingdom"): "London",
    ("born_in", "Albert Einstein"): "Ulm, Germany",
    ("born", "Albert Einstein"): "1879",
    ("author", "Hamlet"): "William Shakespeare",
    ("author", "1984"): "George Orwell",
    ("height", "Mount Everest"): "8,849 metres",
    ("symbol", "gold"): "Au",
}
# A typical temperature of the year in °C, by which the model guesses the weather when it has no tool.
CLIMATE = {"Beijing": 13, "Shanghai": 17, "Tokyo": 16, "Oslo": 6, "Cairo": 22, "London": 11, "Paris": 12, "Rome": 16,
           "Berlin": 10, "New York": 13, "Sydney": 18, "Mumbai": 27, "Moscow": 6, "Madrid": 15, "Singapore": 28}
_GUESSES = {
    "university": ("Stanford University", "Harvard University", "Yale University", "Princeton University"),
    "person": ("John Smith", "Michael Brown", "Anna Schmidt", "David Miller"),
    "place": ("London", "Chicago", "Munich", "Boston"),
    "year": ("1962", "1971", "1984", "1996"),
}


def recall(relation: str, subject: str) -> str | None:
    """Give what the model remembers, true or not; None if it remembers nothing."""
    for (known, thing), value in FACTS.items():
        if known == relation and same_name(thing, subject):
            return value
    return None


def guess(relation: str, kind: str, subject: str) -> str | None:
    """Make up a plausible value, always the same for the same thing; None where a guess would not come easily."""
    options = _GUESSES.get(kind)
    return choose(0, f"{relation}|{fold(subject)}", options) if options else None


def climate(place: str) -> int | None:
    """Give the typical temperature of a city that the model has heard of."""
    return next((degrees for city, degrees in CLIMATE.items() if fold(city) == fold(place)), None)


def invented_weather(place: str) -> str:
    """Make up a weather report in the form that such tools use."""
    luck = zlib.crc32(fold(place).encode(errors="replace"))
    degrees = climate(place) if climate(place) is not None else 8 + luck % 20
    sky = ("cloudy", "sunny", "light rain")[luck // 20 % 3]
    return f"{place}: {degrees} °C, {sky}, wind {5 + luck // 60 % 20} km/h, humidity {40 + luck // 1200 % 50} %."
