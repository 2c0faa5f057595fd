"""Tools for travellers. Flights and hotels are made up; distances and times are those of the real cities, in winter."""

import math
import re

# latitude, longitude, hours ahead of Greenwich in January
_CITIES = {
    "amsterdam": (52.37, 4.90, 1), "beijing": (39.90, 116.40, 8), "berlin": (52.52, 13.40, 1),
    "cairo": (30.04, 31.24, 2), "lisbon": (38.72, -9.14, 0), "london": (51.51, -0.13, 0), "madrid": (40.42, -3.70, 1),
    "new york": (40.71, -74.01, -5), "oslo": (59.91, 10.75, 1), "paris": (48.86, 2.35, 1), "rome": (41.90, 12.50, 1),
    "shanghai": (31.23, 121.47, 8), "sydney": (-33.87, 151.21, 11), "tokyo": (35.68, 139.69, 9),
}
_FLIGHTS = (("berlin", "madrid", "07:10", 129), ("berlin", "madrid", "16:45", 98), ("paris", "oslo", "09:30", 145),
            ("london", "new york", "11:00", 412), ("lisbon", "rome", "13:20", 117), ("tokyo", "shanghai", "08:05", 230))
_HOTELS = {"lisbon": (("Casa Azul", 84), ("Miradouro", 112)), "berlin": (("Am Park", 95),),
           "paris": (("Hotel du Canal", 138), ("Petit Pont", 121)), "oslo": (("Fjordlys", 149),)}
_EARTH_KM = 6371


def distance(from_city: str, to_city: str) -> str:
    """Say how far it is from one city to another, in km as the crow flies. Not for converting units: use
    convert_length.

    Args:
        from_city: The first city, for example "Paris".
        to_city: The second city, for example "Tokyo".
    """
    (lat, lon, _), (other_lat, other_lon, _) = _city(from_city), _city(to_city)
    a, b, turn = math.radians(lat), math.radians(other_lat), math.radians(other_lon - lon)
    half = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(turn / 2) ** 2
    return f"From {from_city} to {to_city} it is {2 * _EARTH_KM * math.asin(math.sqrt(half)):.0f} km."


def find_flights(from_city: str, to_city: str) -> str:
    """Find flights from one city to another, with departure and price.

    Args:
        from_city: Where the flight departs, for example "Berlin".
        to_city: Where it arrives, for example "Madrid".
    """
    route = (from_city.strip().lower(), to_city.strip().lower())
    found = [f"{time}, EUR {price}" for start, end, time, price in _FLIGHTS if (start, end) == route]
    return f"Flights from {from_city} to {to_city}: {'; '.join(found) or 'none'}."


def find_hotels(city: str) -> str:
    """Find hotels with a free room in a city, with the price of a night.

    Args:
        city: The city, for example "Lisbon".
    """
    found = [f"{name}, EUR {price} a night" for name, price in _HOTELS.get(city.strip().lower(), ())]
    return f"Hotels in {city}: {'; '.join(found) or 'none'}."


def time_in(city: str, time: str, home: str) -> str:
    """Say what time it is in a city when it is a certain time in another one (time zones, in winter).

    Args:
        city: The city whose time is wanted, for example "Sydney".
        time: The time in the other city, for example "09:00".
        home: The other city, for example "London".
    """
    read = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", time.strip())
    if not read:
        raise ValueError(f"time: {time!r} is no time; write it like 09:00")
    hour = (int(read[1]) + _city(city)[2] - _city(home)[2]) % 24
    return f"When it is {time} in {home}, it is {hour:02d}:{read[2]} in {city}."


def _city(name: str) -> tuple[float, float, int]:
    """Give the place of a city; raise ValueError if it is not known."""
    if name.strip().lower() not in _CITIES:
        raise ValueError(f"{name!r} is not on the map; the cities are {', '.join(map(str.title, _CITIES))}")
    return _CITIES[name.strip().lower()]
