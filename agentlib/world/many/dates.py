"""Tools on dates. They take dates as YYYY-MM-DD and know nothing of today."""

from datetime import date, timedelta


def days_between(start: str, end: str) -> str:
    """Count the days between two dates.

    Args:
        start: The first date, for example "2025-03-01".
        end: The second date, for example "2025-06-15".
    """
    days = abs((_date(end) - _date(start)).days)
    return f"There are {days} days between {start} and {end}."


def add_days(date: str, days: int) -> str:
    """Give the date that is a number of days after a date, or before it when the number is negative.

    Args:
        date: The date to start from, for example "2025-03-10".
        days: How many days to go on, for example 45.
    """
    try:
        return f"{days} days after {date} is {_date(date) + timedelta(days=days)}."
    except OverflowError:
        raise ValueError("days: that leads out of the calendar; the years are 1 to 9999") from None


def weekday(date: str) -> str:
    """Say which day of the week a date is, from Monday to Sunday.

    Args:
        date: The date, for example "2025-12-24".
    """
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")  # whatever the locale
    return f"{date} is a {names[_date(date).weekday()]}."


def week_number(date: str) -> str:
    """Give the number of the calendar week that a date is in (ISO 8601).

    Args:
        date: The date, for example "2025-05-20".
    """
    year, week, _ = _date(date).isocalendar()
    return f"{date} is in week {week} of {year}."


def leap_year(year: int) -> str:
    """Say whether a year is a leap year, with a 29 February.

    Args:
        year: The year, for example 2028.
    """
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return f"{year} is {'a' if is_leap else 'no'} leap year."


def _date(text: str) -> date:
    """Read a date; raise ValueError if it is none."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is no date; write it like 2025-03-10") from None
