"""Tools on money. The exchange rates are fixed and made up, near those of spring 2025."""

_PER_EURO = {"EUR": 1.0, "USD": 1.08, "GBP": 0.84, "JPY": 162.0, "CHF": 0.95, "SEK": 10.9, "CNY": 7.85}
_OTHER_NAMES = {"euro": "EUR", "dollar": "USD", "pound": "GBP", "yen": "JPY", "franc": "CHF", "krona": "SEK",
                "yuan": "CNY", "€": "EUR", "$": "USD", "£": "GBP"}


def convert_currency(amount: float, from_currency: str, to_currency: str) -> str:
    """Convert an amount of money from one currency to another: euros, dollars, pounds sterling, yen, francs, kronas,
    yuan.

    Args:
        amount: The amount of money, for example 250.
        from_currency: The currency that it is in, for example "euros".
        to_currency: The currency that is wanted, for example "dollars".
    """
    source, target = _currency(from_currency), _currency(to_currency)
    return f"{amount:.2f} {source} are {amount / _PER_EURO[source] * _PER_EURO[target]:.2f} {target}."


def sales_tax(price: float, percent: float = 20.0) -> str:
    """Calculate the sales tax (VAT) on a price, and the price with the tax.

    Args:
        price: The price without tax, for example 80.
        percent: The rate of the tax in percent.
    """
    tax = price * percent / 100
    return f"The tax is {tax:.2f}; the price with tax is {price + tax:.2f}."


def loan_payment(loan: float, percent: float, years: int) -> str:
    """Calculate the monthly rate at which a loan is paid off.

    Args:
        loan: The amount borrowed, for example 20000.
        percent: The interest in percent a year, for example 4.
        years: How many years it takes, for example 5.
    """
    months, rate = years * 12, percent / 1200
    if months < 1 or loan <= 0 or percent < 0:
        raise ValueError("the loan and the years must be above 0, and the percent not below it")
    monthly = loan / months if rate == 0 else loan * rate / (1 - (1 + rate) ** -months)
    return f"The monthly rate is {monthly:.2f}."


def split_bill(total: float, people: int) -> str:
    """Split the bill of a meal among people, and say how much each pays.

    Args:
        total: The whole bill, for example 96.40.
        people: How many people pay, for example 4.
    """
    if people < 1:
        raise ValueError("people: at least one has to pay")
    return f"Each pays {total / people:.2f}."


def savings(amount: float, percent: float, years: int) -> str:
    """Calculate what savings will be worth after some years with compound interest.

    Args:
        amount: What is saved now, for example 1000.
        percent: The interest in percent a year, for example 3.
        years: How many years pass, for example 10.
    """
    if not 0 <= years <= 200 or not -100 <= percent <= 1000:
        raise ValueError("years go from 0 to 200, and percent from -100 to 1000")
    return f"After {years} years it is worth {amount * (1 + percent / 100) ** years:.2f}."


def _currency(name: str) -> str:
    """Give the code of a currency; raise ValueError if it is not known."""
    plain = name.strip().lower()
    code = _OTHER_NAMES.get(plain) or _OTHER_NAMES.get(plain.removesuffix("s")) or plain.upper()
    if code not in _PER_EURO:
        raise ValueError(f"unknown currency {name!r}; the currencies are {', '.join(_PER_EURO)}")
    return code
