"""The sixty tools of a company's assistant: they work, and what they refuse they explain."""

import math
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlib.tools import Toolbox
from agentlib.world.many import QUESTIONS, company_tools, vague
from agentlib.world.many.office import Office

TOOLS = {tool.name: tool for tool in company_tools()}


@pytest.mark.parametrize(("name", "arguments", "said"), [
    ("air_quality", {"city": "Oslo"}, "Oslo: air quality index 18, good."),
    ("wind_chill", {"celsius": -5, "wind_kmh": 30}, "It feels like -13.0 °C."),  # the table of Environment Canada: -13
    ("daylight", {"latitude": 0, "month": "March"}, "about 12.0 hours"),
    ("daylight", {"latitude": 80, "month": "June"}, "about 24.0 hours"),
    ("daylight", {"latitude": 80, "month": "December"}, "about 0.0 hours"),
    ("item_price", {"item": "Desk Lamp"}, "EUR 34.90"), ("in_stock", {"item": "umbrellas"}, "of umbrella are in stock"),
    ("convert_currency", {"amount": 250, "from_currency": "euros", "to_currency": "USD"}, "270.00 USD"),
    ("sales_tax", {"price": 80}, "The tax is 16.00; the price with tax is 96.00."),
    ("loan_payment", {"loan": 20000, "percent": 4, "years": 5}, "368.33"),
    ("loan_payment", {"loan": 1200, "percent": 0, "years": 1}, "100.00"),
    ("split_bill", {"total": 96.4, "people": 4}, "24.10"),
    ("savings", {"amount": 1000, "percent": 3, "years": 10}, "1343.92"),
    ("distance", {"from_city": "Paris", "to_city": "London"}, "343 km"),
    ("find_flights", {"from_city": "Berlin", "to_city": "Madrid"}, "07:10, EUR 129; 16:45, EUR 98"),
    ("find_flights", {"from_city": "Madrid", "to_city": "Berlin"}, "none"),
    ("time_in", {"city": "Sydney", "time": "20:30", "home": "London"}, "it is 07:30 in Sydney"),
    ("convert_length", {"value": 1, "from_unit": "mile", "to_unit": "km"}, "1.60934 km"),
    ("convert_weight", {"value": 1, "from_unit": "pounds", "to_unit": "g"}, "453.592 g"),
    ("convert_volume", {"value": 1, "from_unit": "gallon", "to_unit": "litres"}, "3.78541 litre"),
    ("convert_speed", {"value": 30, "from_unit": "knots", "to_unit": "km/h"}, "55.56 km/h"),
    ("convert_temperature", {"degrees": -40, "from_unit": "°F", "to_unit": "celsius"}, "-40 °C"),
    ("add_days", {"date": "2024-02-28", "days": 2}, "2024-03-01"), ("leap_year", {"year": 1900}, "no leap year"),
    ("weekday", {"date": "2025-12-24"}, "a Wednesday"), ("week_number", {"date": "2024-12-30"}, "week 1 of 2025"),
    ("is_palindrome", {"text": "A man, a plan, a canal: Panama"}, "is a palindrome"),
    ("sort_words", {"text": "Zoe, adam, Mia"}, "adam, Mia, Zoe"),
    ("percent_change", {"before": 80, "after": 60}, "-25.0 %"), ("average", {"numbers": [1, 2, 4]}, "2.33333"),
    ("manager_of", {"person": "Baker"}, "is Priya Nair"), ("handbook", {"topic": "holidays"}, "28 days"),
])
def test_what_a_tool_says(name, arguments, said):
    assert said in TOOLS[name](**arguments)


@pytest.mark.parametrize(("name", "arguments", "said"), [
    ("convert_length", {"value": 1, "from_unit": "kg", "to_unit": "m"}, "unknown unit 'kg'; the units are mm, cm, m"),
    ("add_days", {"date": "24.12.2025", "days": 1}, "write it like 2025-03-10"),
    ("add_days", {"date": "2025-01-01", "days": 10**9}, "out of the calendar"),
    ("air_quality", {"city": "Atlantis"}, "there are stations in Beijing"),
    ("split_bill", {"total": 9, "people": 0}, "at least one has to pay"),
    ("read_mail", {"mail_id": "M-9"}, "there is no mail 'M-9'; there are M-1, M-2, M-3"),
    ("time_in", {"city": "Oslo", "time": "9 am", "home": "Rome"}, "write it like 09:00"),
    ("average", {"numbers": []}, "at least one"), ("percent_change", {"before": 0, "after": 1}, "no change in percent"),
    ("roman_numeral", {"number": 4000}, "from 1 to 3999"), ("prime_factors", {"number": 1}, "from 2 to"),
    ("wind_chill", {"celsius": 30, "wind_kmh": 30}, "at most 10 °C"), ("phone_of", {"person": "Bo"}, "there are Priya"),
    ("item_price", {"item": "sofa"}, "the shop has backpack"), ("team_members", {"team": "sales"}, "design, finance"),
])
def test_what_a_tool_refuses_it_explains(name, arguments, said):
    with pytest.raises(ValueError) as error:
        TOOLS[name](**arguments)
    assert said in str(error.value) and "\n" not in str(error.value)


@given(st.integers(2, 10**7))
def test_prime_factors_multiply_to_the_number_and_are_prime(number):
    factors = [int(part) for part in re.findall(r"\d+", TOOLS["prime_factors"](number).partition("=")[2])]
    assert math.prod(factors) == number
    assert all(all(factor % divisor for divisor in range(2, math.isqrt(factor) + 1)) for factor in factors)


@given(st.integers(1, 3999))
def test_roman_numerals_can_be_read_back(number):
    value = dict(zip("IVXLCDM", (1, 5, 10, 50, 100, 500, 1000), strict=True))
    letters = TOOLS["roman_numeral"](number).removesuffix(".").split()[-1]
    read = [value[letter] for letter in letters]
    assert sum(-one if one < after else one for one, after in zip(read, [*read[1:], 0], strict=True)) == number
    assert not re.search(r"(.)\1{3}", letters)


@given(st.dates(), st.integers(-500, 500))
def test_days_are_counted_as_they_are_added(day, days):
    try:
        later = TOOLS["add_days"](str(day), days).removesuffix(".").split()[-1]
    except ValueError:
        return
    assert TOOLS["days_between"](str(day), later).startswith(f"There are {abs(days)} days")


def test_what_is_written_is_seen_by_the_other_tools_of_the_same_office_only():
    office, other = Office(), Office()
    office.create_event("Review", "2025-04-02", "10:00")
    office.move_event("E-12", "2025-05-01")
    office.delete_event("E-11")
    office.delete_file("draft.txt")
    assert office.list_events("2025-04-02") == "On 2025-04-02: E-14 Review at 10:00."
    assert "10:00" not in office.free_slots("2025-04-02") and "draft.txt" not in office.files
    assert "Team breakfast" in other.list_events("2025-04-02") and "draft.txt" in other.files
    copy = pickle.loads(pickle.dumps(office))
    copy.send_mail("Priya", "Hi", "See you.")
    assert copy.events == office.events and copy.sent == [("Priya", "Hi", "See you.")] and office.sent == []


def test_the_vague_descriptions_change_nothing_else():
    tools = company_tools()
    for good, bad in zip(tools, vague(tools), strict=True):
        assert (good.name, good.parameters, good.writes) == (bad.name, bad.parameters, bad.writes)
        assert len(bad.description) < len(good.description)


def test_each_tool_of_the_toolbox_can_be_called_from_json():
    toolbox = Toolbox(company_tools())
    assert toolbox.run("daylight", '{"latitude": 60, "month": "June"}').kind == "ok"
    assert toolbox.run("list_mails", "{}").text.startswith("M-1 from Anna Kowalska")
    assert {asked.tool for asked in QUESTIONS} == set(toolbox.tools)
