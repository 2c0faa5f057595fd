"""Exact and safe arithmetic: an expression is parsed and walked, never run as code.

Numbers are fractions, so that 0.1 + 0.2 is 0.3. Everything is bounded: the length, the depth, and the size of each
number on the way. As in Python, // and % round down. round() takes halves away from zero, as people do.
"""

import ast
import math
import operator
import re
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

from ..tools import tool
from .notation import to_python

MAX_CHARACTERS = 300
MAX_DEPTH = 150  # a sum of so many numbers is so deep
MAX_BITS = 4096  # of the top or the bottom of a fraction: about 1,200 digits
DIGITS = 12  # significant digits of a result that is not a whole number
ROOT_DIGITS = 40  # of roots and fractional powers; the last ten are dropped again
HELP = "Use numbers, + - * / // % **, parentheses, sqrt, abs, round, min and max, as in (26 - 21) / 2."
# Quotes, and a letter after a digit, as in 3and: Python would read some of these, with a warning.
NEVER_ARITHMETIC = re.compile(r"""['"\\#]|\d(?!e[-+]?\d)[a-z]""", re.IGNORECASE)
TOO_LARGE = "a number in the calculation is too large or too small; about 1,200 digits are the limit"


@tool
def calculator(expression: str) -> str:
    """Calculate an arithmetic expression without rounding errors. Takes + - * / // % ** and parentheses,
    percentages such as "15% of 80", and the functions sqrt, abs, round, min and max.

    Args:
        expression: Numbers and operators, for example "17 * 23" or "max(21, 26) - 21".
    """
    if len(expression) > MAX_CHARACTERS:
        raise ValueError(f"the expression is longer than {MAX_CHARACTERS} characters")
    source = to_python(expression)
    try:
        return write(evaluate(parse(source), source, MAX_DEPTH))
    except SyntaxError:
        raise ValueError(f"cannot read '{expression}' as arithmetic. {HELP}") from None


def parse(source: str) -> ast.expr:
    """Return the expression's tree. Raises SyntaxError."""
    if NEVER_ARITHMETIC.search(source):
        raise SyntaxError
    try:
        return ast.parse(source, mode="eval").body
    except ValueError:  # a null character, on Python 3.11
        raise SyntaxError from None


def evaluate(node: ast.expr, source: str, depth: int) -> Fraction:
    """Return the value of one node of the expression; depth is how much deeper it may go."""
    if depth == 0:
        raise ValueError(f"the expression is nested more than {MAX_DEPTH} levels deep")
    match node:
        case ast.Constant():
            value = number(ast.get_source_segment(source, node) or "")
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            inner = evaluate(operand, source, depth - 1)
            value = -inner if isinstance(node.op, ast.USub) else inner
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            value = OPERATORS[type(op)](evaluate(left, source, depth - 1), evaluate(right, source, depth - 1))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            value = call(name, [evaluate(arg, source, depth - 1) for arg in args])
        case _:
            raise ValueError(f"cannot calculate '{ast.get_source_segment(source, node)}'. {HELP}")
    return bounded(value)


def number(literal: str) -> Fraction:
    """Return exactly the number that is written, which a float would not be."""
    try:
        parsed = Decimal(literal)
    except ArithmeticError:
        raise ValueError(f"'{literal}' is not a decimal number") from None
    if abs(parsed.adjusted()) > MAX_BITS // 4:  # before a huge power of ten is written out
        raise ValueError(TOO_LARGE)
    return Fraction(parsed)


def bounded(value: Fraction) -> Fraction:
    """Return the value if its size is within bounds."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ValueError(TOO_LARGE)
    return value


def divide(operation: Callable[[Fraction, Fraction], Fraction]) -> Callable[[Fraction, Fraction], Fraction]:
    """Return a division that refuses zero in plain words."""

    def checked(left: Fraction, right: Fraction) -> Fraction:
        if right == 0:
            raise ValueError("division by zero")
        return Fraction(operation(left, right))

    return checked


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """Return base ** exponent: exact for a whole exponent, to 40 digits for a fractional one."""
    if base == 0 and exponent < 0:
        raise ValueError("division by zero: 0 has no negative power")
    if exponent.denominator == 1:
        size = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1  # a lower bound: 1 ** n is free
        if size * abs(exponent.numerator) > MAX_BITS or abs(exponent.numerator).bit_length() > 64:
            raise ValueError(TOO_LARGE)
        return base ** exponent.numerator
    if base < 0:
        raise ValueError("a negative number has no real power with a fractional exponent")
    try:
        return rounded(Context(prec=ROOT_DIGITS).power(decimal(base), decimal(exponent)))
    except ArithmeticError:
        raise ValueError(TOO_LARGE) from None


def sqrt(value: Fraction) -> Fraction:
    """Return the square root: exact where it is a fraction, to 30 digits where it is not."""
    if value < 0:
        raise ValueError("a negative number has no real square root")
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if (top * top, bottom * bottom) == (value.numerator, value.denominator):
        return Fraction(top, bottom)
    return rounded(Context(prec=ROOT_DIGITS).sqrt(decimal(value)))


def decimal(value: Fraction) -> Decimal:
    """Return a fraction as a decimal number of ROOT_DIGITS digits."""
    return Context(prec=ROOT_DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator))


def rounded(value: Decimal) -> Fraction:
    """Drop the last digits, which rounding has touched, so that 8 ** (1 / 3) is 2."""
    if value and not -MAX_BITS // 4 < value.adjusted() < ROOT_DIGITS - 10:
        raise ValueError("the root or power is too large or too small to be given to its last digit")
    return Fraction(Context(prec=ROOT_DIGITS - 10).plus(value))


def round_half_away(value: Fraction, digits: Fraction = Fraction(0)) -> Fraction:
    """Round to so many digits after the point, halves away from zero: 2.5 becomes 3."""
    if digits.denominator != 1 or abs(digits) > 100:
        raise ValueError("round(number, digits) takes a whole number of digits from -100 to 100")
    scale = Fraction(10) ** digits.numerator
    whole = math.floor(abs(value) * scale + Fraction(1, 2))
    return (whole if value >= 0 else -whole) / scale


# Each function with the fewest and the most numbers it takes.
FUNCTIONS: dict[str, tuple[Callable[..., Fraction], int, int]] = {
    "sqrt": (sqrt, 1, 1),
    "abs": (abs, 1, 1),
    "round": (round_half_away, 1, 2),
    "min": (lambda *numbers: min(numbers), 1, MAX_CHARACTERS),
    "max": (lambda *numbers: max(numbers), 1, MAX_CHARACTERS),
}

OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: divide(operator.truediv),
    ast.FloorDiv: divide(operator.floordiv),
    ast.Mod: divide(operator.mod),
    ast.Pow: power,
}


def call(name: str, arguments: list[Fraction]) -> Fraction:
    """Call one of the functions with a number of arguments that it takes."""
    function, fewest, most = FUNCTIONS[name]
    if not fewest <= len(arguments) <= most:
        raise ValueError(f"{name} does not take {len(arguments)} numbers; inside a function write 1234, not 1,234")
    return function(*arguments)


def write(value: Fraction) -> str:
    """Return a number as people write it: 391, 0.3, 0.333333333333, 1.5e-20."""
    if value.denominator == 1:
        return str(value.numerator)
    context = Context(prec=max(DIGITS, len(str(abs(int(value)))) + 2))  # the part before the point is always whole
    shown = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return f"{shown:f}" if shown.adjusted() >= -7 else f"{shown:e}"
