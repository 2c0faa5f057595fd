"""Tools that convert units. The factors are exact by definition (international yard and pound, 1959; SI brochure)."""

_LENGTHS = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "inch": 0.0254, "foot": 0.3048, "yard": 0.9144,
            "mile": 1609.344}
_WEIGHTS = {"g": 0.001, "kg": 1.0, "tonne": 1000.0, "ounce": 0.028349523125, "pound": 0.45359237}
_VOLUMES = {"ml": 0.001, "litre": 1.0, "pint": 0.473176473, "gallon": 3.785411784}  # pint and gallon of the US
_SPEEDS = {"m/s": 3.6, "km/h": 1.0, "mph": 1.609344, "knot": 1.852}
_OTHER_NAMES = {
    "millimetre": "mm", "centimetre": "cm", "metre": "m", "meter": "m", "kilometre": "km", "kilometer": "km",
    "inches": "inch", "feet": "foot", "ft": "foot", "gram": "g", "kilogram": "kg", "kilo": "kg", "lb": "pound",
    "millilitre": "ml", "liter": "litre", "l": "litre", "kmh": "km/h", "kph": "km/h", "kilometres per hour": "km/h",
    "miles per hour": "mph", "metres per second": "m/s", "fahrenheit": "f", "celsius": "c", "kelvin": "k",
}


def convert_length(value: float, from_unit: str, to_unit: str) -> str:
    """Convert a length or distance from one unit to another: mm, cm, m, km, inch, foot, yard, mile, kilometres, metres.
    Not for the distance between two places: use distance.

    Args:
        value: The number to convert, for example 26.2.
        from_unit: The unit that it is in, for example "miles".
        to_unit: The unit that is wanted, for example "kilometres".
    """
    return _converted(value, from_unit, to_unit, _LENGTHS)


def convert_weight(value: float, from_unit: str, to_unit: str) -> str:
    """Convert a weight or mass from one unit to another: gram, kilogram, tonne, ounce, pound.

    Args:
        value: The number to convert, for example 70.
        from_unit: The unit that it is in, for example "kilograms".
        to_unit: The unit that is wanted, for example "pounds".
    """
    return _converted(value, from_unit, to_unit, _WEIGHTS)


def convert_volume(value: float, from_unit: str, to_unit: str) -> str:
    """Convert a volume of liquid from one unit to another: millilitre, litre, US pint, US gallon.

    Args:
        value: The number to convert, for example 3.
        from_unit: The unit that it is in, for example "gallons".
        to_unit: The unit that is wanted, for example "litres".
    """
    return _converted(value, from_unit, to_unit, _VOLUMES)


def convert_speed(value: float, from_unit: str, to_unit: str) -> str:
    """Convert a speed from one unit to another, to say how fast it is: m/s, km/h, mph, knots.

    Args:
        value: The number to convert, for example 30.
        from_unit: The unit that it is in, for example "knots".
        to_unit: The unit that is wanted, for example "km/h".
    """
    return _converted(value, from_unit, to_unit, _SPEEDS)


def convert_temperature(degrees: float, from_unit: str, to_unit: str) -> str:
    """Convert a temperature between degrees Celsius, Fahrenheit and kelvin. Not for the temperature in a city: use
    weather.

    Args:
        degrees: The number to convert, for example 100.
        from_unit: The unit that it is in, for example "Fahrenheit".
        to_unit: The unit that is wanted, for example "Celsius".
    """
    to_celsius = {"c": degrees, "f": (degrees - 32) * 5 / 9, "k": degrees - 273.15}
    source, target = _known(from_unit, to_celsius), _known(to_unit, to_celsius)
    celsius = to_celsius[source]
    result = {"c": celsius, "f": celsius * 9 / 5 + 32, "k": celsius + 273.15}[target]
    names = {"c": "°C", "f": "°F", "k": "K"}
    return f"{degrees:g} {names[source]} are {round(result, 2):g} {names[target]}."


def _converted(value: float, from_unit: str, to_unit: str, table: dict[str, float]) -> str:
    """Convert by a table of factors."""
    source, target = _known(from_unit, table), _known(to_unit, table)
    return f"{value:g} {source} are {value * table[source] / table[target]:.6g} {target}."


def _known(unit: str, table: dict[str, float]) -> str:
    """Give a unit as a table names it; raise ValueError if it does not."""
    plain = unit.strip().lower().removeprefix("degrees ").removeprefix("°")
    for name in (plain, plain.removesuffix("s")):
        name = _OTHER_NAMES.get(name, name)
        if name in table:
            return name
    raise ValueError(f"unknown unit {unit!r}; the units are {', '.join(table)}")
