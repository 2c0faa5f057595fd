"""From arithmetic as people write it to arithmetic as Python writes it."""

import re

# Full-width characters stand at a fixed distance from the ASCII characters that they repeat.
SIGNS = {0xFF01 + i: 0x21 + i for i in range(94)} | str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**", "\u00a0": " ", "\u202f": " "})
POWERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}

NUMBER = r"(?:\d[\d_]*+(?:\.\d*+)?|\.\d++)"  # possessive, so that a long number is read once
GROUPED = r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)"  # 1,234,567
FUNCTION = r"[A-Za-z_]+\s*\("
PERCENT = rf"({NUMBER})\s*%(?=\s*(?:of\b|[-+*/,)]|$))"  # not the remainder: no number follows


def to_python(expression: str) -> str:
    """Return the expression with Python's operators and plain numbers; refuse what can be read in two ways."""
    text = expression.translate(SIGNS).strip().removesuffix("=").strip()
    text = re.sub(r"(?<=[\d)])\s+[xX]\s+(?=[\d(.])", " * ", text)
    text = re.sub(r"\s*\bper\s?cent\b", "%", text)
    return percentages(large_numbers(ungroup(text)))


def ungroup(text: str) -> str:
    """Take the commas out of 1,234; inside a function's parentheses a comma separates two numbers."""
    result, functions = [], []  # functions: for each open parenthesis, whether it is a function's
    for part in re.findall(rf"{FUNCTION}|{GROUPED}|.", text, re.DOTALL):
        if part.endswith("("):
            functions.append(len(part) > 1)
        elif part == ")" and functions:
            functions.pop()
        elif len(part) > 1 and any(functions):
            refuse_mixed_commas(text)
        elif len(part) > 1:
            part = part.replace(",", "")
        result.append(part)
    return "".join(result)


def refuse_mixed_commas(text: str) -> None:
    """Refuse max(1,234, 5), where one comma seems to group digits and the other to separate numbers."""
    if re.search(r",\s", text):
        raise ValueError("the commas can be read in two ways; inside a function write 1234, not 1,234")


def large_numbers(text: str) -> str:
    """Write 21.9 million as a product."""
    return re.sub(rf"({NUMBER})\s*({'|'.join(POWERS)})\b", lambda m: f"({m[1]}*10**{POWERS[m[2]]})", text)


def percentages(text: str) -> str:
    """Write 15% as (15/100), and 15% of 80 as a product; 17 % 5 stays a remainder."""
    if re.search(rf"[\d.)%]\s*[-+]\s*{PERCENT}(?!\s*of\b)", text):
        raise ValueError("'80 + 15%' can be read in two ways; write 80 + 15% of 80, or 80 + 0.15")
    if re.search(rf"(?:/|%|\*\*)\s*{PERCENT}\s*of\b", text):
        raise ValueError("put parentheses around the percentage, as in 200 / (50% of 80)")
    return re.sub(r"(?<=/100\))\s*of\b", " *", re.sub(PERCENT, r"(\1/100)", text))
