"""Tools on air, wind and light. The air's quality is made up, one fixed day for each city; the rest is formulas."""

import math
from typing import Literal

_AIR = {"beijing": 92, "delhi": 168, "oslo": 18, "london": 41, "paris": 47, "los angeles": 74, "cairo": 121,
        "sydney": 22, "tokyo": 38, "mexico city": 98}  # US air quality index
_BANDS = ((50, "good"), (100, "moderate"), (150, "unhealthy for some"), (500, "unhealthy"))
_DAY_OF_YEAR = {"January": 15, "February": 46, "March": 74, "April": 105, "May": 135, "June": 166, "July": 196,
                "August": 227, "September": 258, "October": 288, "November": 319, "December": 349}  # the 15th of each
Month = Literal["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                "November", "December"]


def air_quality(city: str) -> str:
    """Say how clean or polluted the air in a city is today (air quality index). Not for temperature, rain or wind: use
    weather.

    Args:
        city: The name of one city, for example "Delhi".
    """
    index = _AIR.get(city.strip().lower())
    if index is None:
        raise ValueError(f"no station in {city!r}; there are stations in {', '.join(map(str.title, sorted(_AIR)))}")
    return f"{city}: air quality index {index}, {next(band for limit, band in _BANDS if index <= limit)}."


def wind_chill(celsius: float, wind_kmh: float) -> str:
    """Calculate how cold it feels with wind, from the degrees and the wind in km/h (formula of Environment Canada and
    the US National Weather Service, 2001).

    Args:
        celsius: The temperature in °C, at most 10, for example -5.
        wind_kmh: The wind in km/h, at least 5, for example 30.
    """
    if celsius > 10 or wind_kmh < 5:
        raise ValueError("the formula holds for at most 10 °C and at least 5 km/h")
    power = wind_kmh**0.16
    return f"It feels like {13.12 + 0.6215 * celsius - 11.37 * power + 0.3965 * celsius * power:.1f} °C."


def daylight(latitude: float, month: Month) -> str:
    """Calculate how many hours of daylight a day has at a latitude, in the middle of a month.

    Args:
        latitude: Degrees north of the equator, south is negative, for example 60.
        month: The month.
    """
    if abs(latitude) > 90:
        raise ValueError("latitude: it goes from -90 to 90")
    tilt = math.radians(-23.44) * math.cos(2 * math.pi * (_DAY_OF_YEAR[month] + 10) / 365)
    cosine = -math.tan(math.radians(latitude)) * math.tan(tilt)
    hours = 24 * math.acos(max(-1.0, min(1.0, cosine))) / math.pi
    return f"A day in {month} has about {hours:.1f} hours of daylight at latitude {latitude:g}."
