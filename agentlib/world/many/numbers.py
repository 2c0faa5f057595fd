"""Tools on numbers."""

_ROMAN = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
          (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
_LARGEST = 10**12  # whose factors are found in a moment


def prime_factors(number: int) -> str:
    """Find the prime factors of a whole number.

    Args:
        number: The whole number, for example 360.
    """
    if not 2 <= number <= _LARGEST:
        raise ValueError(f"number: give a whole number from 2 to {_LARGEST}")
    factors, left, divisor = [], number, 2
    while divisor * divisor <= left:
        while left % divisor == 0:
            factors.append(divisor)
            left //= divisor
        divisor += 1
    return f"{number} = {' * '.join(map(str, [*factors, left] if left > 1 else factors))}."


def average(numbers: list[float]) -> str:
    """Calculate the average (mean) of some numbers.

    Args:
        numbers: The numbers, for example [4, 8, 15].
    """
    if not numbers:
        raise ValueError("numbers: give at least one")
    return f"The average is {sum(numbers) / len(numbers):.6g}."


def roman_numeral(number: int) -> str:
    """Write a number in Roman numerals.

    Args:
        number: The number, for example 2025.
    """
    if not 1 <= number <= 3999:
        raise ValueError("number: Roman numerals go from 1 to 3999")
    written, left = "", number
    for value, letters in _ROMAN:
        written += letters * (left // value)
        left %= value
    return f"{number} is {written}."


def percent_change(before: float, after: float) -> str:
    """Calculate by how many percent something grew or fell, from what it was before to what it was after.

    Args:
        before: The first number, for example 80.
        after: The second number, for example 92.
    """
    if before == 0:
        raise ValueError("before: from 0 there is no change in percent")
    return f"The change is {(after - before) / abs(before) * 100:+.1f} %."
