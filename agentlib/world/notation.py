"""From arithmetic as people write it to arithmetic as Python writes it."""

import re

# Full-width forms of the ASCII characters stand at a fixed distance from them.
SIGNS = {0xFF01 + i: 0x21 + i for i in range(94)} | str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**", "\u00a0": " ", "\u202f": " "})

GROUPED = r"\d{1,3}(?:,\d{3})+(?![\d,])"  # 1,234,567
NUMBER = r"(?:\d[\d_]*\.?\d*|\.\d+)"
ENDS_A_VALUE = r"(?<=[\d.)%])\s*"


def to_python(expression: str) -> str:
    """Return the expression with Python's operators and plain numbers; refuse what can be read in two ways."""
    text = expression.translate(SIGNS).strip().removesuffix("=").strip()
    text = re.sub(r"(?<=[\d)])\s+[xX]\s+(?=[\d(.])", " * ", text)
    return percentages(ungroup(text))


def ungroup(text: str) -> str:
    """Take the commas out of 1,234; inside a function's parentheses a comma separates two numbers."""
    result, calls = [], []  # calls: for each open parenthesis, whether it belongs to a function
    for part in re.findall(rf"[A-Za-z_]+\s*\(|[()]|(?<![\d.,]){GROUPED}|.", text, re.DOTALL):
        if part.endswith("("):
            calls.append(len(part) > 1)
        elif part == ")" and calls:
            calls.pop()
        elif len(part) > 1 and not any(calls):
            part = part.replace(",", "")
        result.append(part)
    for inside in re.findall(r"[A-Za-z_]+\s*\(([^()]*)\)", text):
        if re.search(r"\d,\d{3}(?!\d)", inside) and re.search(r",\s", inside):
            raise ValueError(f"'{inside}' can be read in two ways; inside a function write 1234, not 1,234")
    return "".join(result)


def percentages(text: str) -> str:
    """Write 15% as (15 / 100), and 15% of 80 as a product; 17 % 5 stays a remainder."""
    percent = rf"{NUMBER}\s*%(?=\s*(?:of\b|[-+*/)]|$))"
    if re.search(rf"{ENDS_A_VALUE}[-+]\s*{percent}(?!\s*of\b)", text):
        raise ValueError("'80 + 15%' can be read in two ways; write 80 + 15% of 80, or 80 + 0.15")
    if re.search(rf"(?:/|%|\*\*)\s*{percent}\s*of\b", text):
        raise ValueError("put parentheses around the percentage: 200 / (50% of 80)")
    text = re.sub(rf"({NUMBER})\s*%(?=\s*(?:of\b|[-+*/,)]|$))", r"(\1/100)", text)
    return re.sub(r"(?<=/100\))\s*of\b", " *", text)
