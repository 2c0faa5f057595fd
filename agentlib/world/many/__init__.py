"""Sixty small tools of a company's assistant, to measure how well a model picks among many.

    tools = company_tools()                                  # fresh data: what an agent does, no other one sees
    for asked in QUESTIONS:
        offered = among(tools, asked.tool, 20)               # the right one and 19 others
        offered = vague(offered)                             # the same with descriptions that say little

Every tool works. The questions and the vague descriptions stand in `many.jsonl`. Each tool is right for one question.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from ...tools import Tool
from ..calculator import calculator
from ..encyclopedia import search
from ..orders import Orders
from ..records import read_records
from ..weather import weather
from . import dates, money, numbers, sky, staff, text, travel, units
from .office import Office
from .stock import Stock

WRITES = ("cancel_order", "create_event", "delete_event", "delete_file", "move_event", "refund", "send_mail")


@dataclass(frozen=True)
class Asked:
    """A question, and the tool that it is for."""

    question: str
    tool: str


def company_tools() -> list[Tool]:
    """Give the sixty tools, on fresh data, in the order of their categories."""
    orders, office = Orders(), Office()
    stock = Stock(orders)
    functions: list[Callable] = [
        weather.function, sky.air_quality, sky.wind_chill, sky.daylight,
        search.function, staff.define_word, staff.handbook,
        orders.find_orders, orders.lookup_order, orders.refund, orders.cancel_order, stock.item_price, stock.in_stock,
        office.list_events, office.create_event, office.free_slots, office.move_event, office.delete_event,
        office.list_mails, office.read_mail, office.search_mail, office.send_mail,
        office.list_files, office.read_file, office.find_in_files, office.delete_file, office.file_size,
        money.convert_currency, money.sales_tax, money.loan_payment, money.split_bill, money.savings,
        travel.distance, travel.find_flights, travel.find_hotels, travel.time_in,
        units.convert_length, units.convert_weight, units.convert_volume, units.convert_speed,
        units.convert_temperature,
        text.count_words, text.reverse_text, text.is_palindrome, text.sort_words, text.upper_case,
        dates.days_between, dates.add_days, dates.weekday, dates.week_number, dates.leap_year,
        calculator.function, numbers.prime_factors, numbers.average, numbers.roman_numeral, numbers.percent_change,
        staff.phone_of, staff.manager_of, staff.team_members, staff.office_of,
    ]
    return [Tool(function, writes=function.__name__ in WRITES) for function in functions]


def vague(tools: Iterable[Tool]) -> list[Tool]:
    """Give the same tools with descriptions that say little, and nothing about when to use them."""
    said = {record["tool"]: record["vague"] for record in _records()}
    return [Tool(tool.function, tool.name, said[tool.name], writes=tool.writes) for tool in tools]


def among(tools: Sequence[Tool], right: str, count: int) -> list[Tool]:
    """Give `count` tools with the right one among them. A larger choice holds the smaller one.

    The others are drawn by a rule that goes across the categories. Raises ValueError when there are not so many.
    """
    names = [tool.name for tool in tools]
    if right not in names or not 1 <= count <= len(tools):
        raise ValueError(f"there are {len(tools)} tools; give the name of one, and how many from 1 on")
    step = next(step for step in range(len(tools) * 3 // 8, len(tools) + 2) if math.gcd(step, len(tools)) == 1)
    places = {(names.index(right) + step * turn) % len(tools) for turn in range(count)}  # each place comes up once
    return [tool for place, tool in enumerate(tools) if place in places]


def categories() -> dict[str, str]:
    """Give the category of each tool."""
    return {record["tool"]: record["category"] for record in _records()}


@cache
def _records() -> list[dict]:
    return read_records("many.jsonl")


QUESTIONS = tuple(Asked(record["question"], record["tool"]) for record in _records())
