"""Questions for a number: arithmetic in signs or words, small stories, differences, years between events.

A question becomes one expression whose parts are numbers or further needs: 'twice the height of K2' is `2 * {0}`.
Where a pair can be split in several ways, each is a way to read the question.
"""

import re

from .comparisons import UNITS, WORDS_OF_DEGREE, measured
from .needs import Fact, Formula, Need, Weather, either
from .phrases import ask, noun_phrase
from .relations import BY_NAME
from .words import halves

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
          "eleven": 11, "twelve": 12, "a dozen": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50,
          "hundred": 100}
# In their order: what is said first binds least. The last part words the result.
_OPERATIONS = (
    (r"sum of {pair}", "{0} + {1}", ""),
    (r"(?:sum|add) up {pair}", "{0} + {1}", ""),
    (r"(?:add|adding) (.+) (?:and|to) (.+)", "{0} + {1}", ""),
    (r"product of (.+) and (.+)", "{0} * {1}", ""),
    (r"(?:multiply|multiplying) (.+) (?:by|with|and) (.+)", "{0} * {1}", ""),
    (r"(?:quotient|ratio) (?:of|between) (.+) (?:and|to) (.+)", "{0} / {1}", ""),
    (r"(?:divide|dividing) (.+) by (.+)", "{0} / {1}", ""),
    (r"difference (?:between|of) {pair}", "abs({0} - {1})", ""),
    (r"(?:subtract|subtracting) (.+) from (.+)", "{1} - {0}", ""),
    (r"(?:average|mean)(?: of)? (.+), (.+),? and (.+)", "({0} + {1} + {2}) / 3", ""),
    (r"(?:average|mean)(?: of)? {pair}", "({0} + {1}) / 2", ""),
    (r"(?:total|combined) (.+ of .+) and (.+)", "{0} + {1}", ""),
    (r"(.+) plus (.+)", "{0} + {1}", ""),
    (r"(.+) minus (.+)", "{0} - {1}", ""),
    (r"(.+) (?:times|multiplied by) (.+)", "{0} * {1}", ""),
    (r"(.+) (?:divided by|over) (.+)", "{0} / {1}", ""),
    (r"(?:twice|double)(?: of)? (.+)", "2 * {0}", ""),
    (r"(?:triple|three times) (.+)", "3 * {0}", ""),
    (r"half(?: of)? (.+)", "{0} / 2", ""),
    (r"(?:a |one )?third of (.+)", "{0} / 3", ""),
    (r"(?:a |one )?quarter of (.+)", "{0} / 4", ""),
    (r"(\d+ ?/ ?\d+) of (.+)", "{0} * {1}", ""),
    (r"(.+?) ?(?:%|percent|per cent) of (.+)", "{0} / 100 * {1}", ""),
    (r"square root of (.+)", "sqrt({0})", ""),
    (r"square of (.+)", "{0} ** 2", ""),
    (r"(.+) squared", "{0} ** 2", ""),
    (r"(.+) cubed", "{0} ** 3", ""),
    (r"(.+) (?:to the power of|to the) (\d+)(?:th|rd|nd)?(?: power)?", "{0} ** {1}", ""),
    (r"(.+) (?:in|converted to|as|to) (?:degrees )?fahrenheit", "{0} * 9 / 5 + 32", " °F"),
    (r"(.+) (?:in|converted to|as) kelvin", "{0} + 273.15", " K"),
    (r"(.+) (?:in|converted to) feet", "{0} * 3.28084", " feet"),
    (r"(.+) (?:in|converted to) miles", "{0} / 1.609344", " miles"),
    (r"(.+) (?:in|converted to) (?:kilometres|km)", "{0} / 1000", " km"),
    (r"(-?[\d.]+) ?(?:°C|degrees celsius|celsius|degrees)", "{0}", ""),
)
# Roundabout questions for a number, and the same in the words of the operations.
_REWORDED = (
    (r"how far apart are (?:the )?(.+)", r"difference between \1"),
    (r"what (?:do|does) (.+) (?:add up to|come to|make)(?: in total| together)?", r"sum of \1"),
    (r"(?:by )?how (?:much|many \w+) (?:does|do|did) (.+) exceed (.+)", r"how much higher is \1 than \2"),
    (r"how many times (?:as )?\w+ is (.+) (?:than|as) (.+)", r"how much is the height of \1 divided by height of \2"),
    (r"(?:take )?(.+?),? and (?:then )?(add|subtract) (\d[\d.]*)(?: to it| from it)?",
     lambda m: f"{m[1]} {'plus' if m[2] == 'add' else 'minus'} {m[3]}"),
    (r"(?:take )?(.+?),? and (?:then )?(multiply|divide) it by (\d[\d.]*)",
     lambda m: f"{m[1]} {'times' if m[2] == 'multiply' else 'divided by'} {m[3]}"),
    (r"if (?:i|you|we) (.+), what (?:do|would|will) (?:i|you|we) get", r"\1"),
)
_STEPS = (
    ("*", r"^(?!.*\b(?:split|shares?|shared|divided)\b).*\b(?:each|every|per|apiece)\b"),
    ("/", r"\b(?:split|shares?|shared|divided|divides|equally|distribut\w*)\b"),
    ("-", r"\b(?:gives?|gave|loses?|lost|eats?|ate|spends?|spent|left|remain|fewer|less|sells?|sold|away|takes?)\b"),
    ("+", r"\b(?:more|gets?|got|buys?|bought|altogether|total|together|another|finds?|adds?|and)\b"),
)
_DEPTH = 5
_ASKS_NUMBER = r"[.,;] (?:how (?:many|much|far|long)|what)|^how (?:many|much|far)|^if "


def compute(text: str) -> Need | None:
    """Parse a question for a number to be worked out."""
    return _between_years(text) or _difference(text) or _word_problem(text) or _top_amount(text)


def reworded(text: str) -> str:
    """Put a roundabout question for a number into the words that the grammar knows."""
    for pattern, other in _REWORDED:
        text = re.sub(rf"^{pattern}$", other, text, flags=re.I)
    return text


def event(text: str) -> Need | None:
    """Give the year of an event: 'the founding of Apple', 'Microsoft was founded', 'he won the Nobel Prize'."""
    year = re.fullmatch(r"(?:in )?(1\d{3}|20\d{2})", text.strip())
    if year:
        return Formula(year.group(1))
    for need in (noun_phrase(text), ask(f"when {text}"), ask(f"when did {text}")):
        if isinstance(need, Fact) and need.kind == "year":
            return need
    for relation, pattern in (("founded", r".+? (?:founded|co-founded|started|created|set up) (.+)"),
                              ("published", r".+? (?:wrote|published|came out with) (.+)"),
                              ("published", r"(.+) (?:came out|appeared)")):
        found = re.fullmatch(pattern, text)
        if found:
            return Fact(relation, noun_phrase(found.group(1)), "year")
    return None


def _between_years(text: str) -> Need | None:
    """'How many years passed between A and B?', 'How many years after A was B founded?'."""
    between = re.fullmatch(
        r"how (?:many years|much time|long)(?: (?:passed|are there|were there|lie|lay|went by|is it|are|was there"
        r"|elapsed))? (?:between|from) (.+)", text, re.I)
    after = re.fullmatch(r"how (?:many years|long) (?:after|before) (?P<a>.+?) (?:was|did|were) (?P<b>.+)", text, re.I)
    pairs = []
    if between:
        split = halves(between.group(1), "and|to|until")
        pairs = [tuple(map(event, _parallel(*pair))) for pair in split]
        if not any(map(all, pairs)):  # 'between Hamlet and Faust'
            pairs = [tuple(Fact("began", noun_phrase(name), "year") for name in pair) for pair in split]
    elif after:
        second = event(re.sub(r"(\S+)$", r"was \1", after.group("b")))
        first = event(after.group("a"))
        if first is None and isinstance(second, Fact):
            first = Fact(second.relation, noun_phrase(after.group("a")), "year")
        pairs = [(first, second)]
    return either([Formula("abs({1} - {0})", pair, "{v} years") for pair in pairs if all(pair)])


def _difference(text: str) -> Need | None:
    """'The difference in height between A and B', 'the temperature difference between A and B'."""
    measures = "temperature|height|age|population|length|wind|humidity"
    found = re.fullmatch(rf"(?:what is )?(?:the )?(?:(?P<m>{measures})s? difference|difference (?:in|of)"
                         rf" (?P<n>{measures}))"
                         r" (?:between|of) (?P<pair>.+)", text, re.I)
    if not found:
        return None
    measure = (found.group("m") or found.group("n")).lower()
    word = next(word for word, (each, _) in WORDS_OF_DEGREE.items() if each == measure)
    pairs = [tuple(re.sub(r"^in ", "", name) for name in pair) for pair in halves(found.group("pair"))]
    return either([Formula("abs({0} - {1})", measured(word, pair, text)[1], "{v} " + UNITS[measure])
                   for pair in pairs])


def _parallel(first: str, second: str) -> tuple[str, str]:
    """Give both halves their head: 'the founding of Apple and of Google', 'the birth of Turing and his death'."""
    second = re.sub(r"^(?:his|her|its|their) (\w+)$", lambda m: f"{m.group(1)} of {re.sub('.* of ', '', first)}",
                    second)
    head = re.match(r"(?:the )?(\w+(?: \w+)? of )", first)
    if head and not re.match(r"(?:the )?\w+(?: \w+)? of ", second):
        return first, head.group(1) + re.sub(r"^(?:that )?of ", "", second)
    tail = re.search(r"'s (\w+)$", second)
    if tail and "'s" not in first and " of " not in first:
        return f"{first}'s {tail.group(1)}", second
    return first, second


def _top_amount(text: str) -> Need | None:
    """Parse 'what is' and an amount that must be worked out."""
    body = re.sub(r"^(?:what|how much|how many) (?:is|are|was|makes?|does|do|would be|equals?) (?:the result of )?"
                  r"|^(?:how much|what) ", "", text, flags=re.I)
    body = re.sub(r" (?:make|equal|equals|give|is)$|^(?:the )?(?:result|value) of | ?=$", "", body, flags=re.I)
    need = _amount(body, 0)
    return need if isinstance(need, Formula) else None


def _amount(text: str, depth: int) -> Need | None:
    """Parse an amount: an expression, an operation on amounts, a number, or a measurable thing."""
    text = re.sub(r"^the (?=[a-z])", "", text.strip(" ,?"))
    if not text or depth > _DEPTH:
        return None
    numeric = _expression(text)
    if numeric:
        return Formula(numeric)
    for pattern, template, unit in _OPERATIONS:
        found = re.fullmatch(pattern.replace("{pair}", "(.+ and .+)"), text, re.I)
        ways = [] if not found else halves(found.group(1)) if "{pair}" in pattern else [found.groups()]
        for way in ways:
            parts = [_amount(part, depth + 1) for part in _shared(way)]
            if all(parts):
                return _joined(template, parts, unit)
    need = noun_phrase(text)
    if isinstance(need, Weather):
        return need if need.what in ("temperature", "wind", "humidity") else None
    outside = isinstance(need, Fact) and need.relation not in BY_NAME and depth  # 'the atomic number of carbon'
    return need if outside or (isinstance(need, Fact) and need.kind in ("number", "year")) else None


def _shared(groups: tuple[str, ...]) -> list[str]:
    """Give a second operand the head of the first: 'the population of Oslo' and 'Rome'."""
    patterns = (r"(?:the )?(.+? (?:of|in)) (?=[A-Z])", r"([a-z ]+? (?:of|in)) (?=[a-z ]+$)")
    head = next(filter(None, (re.match(pattern, groups[0]) for pattern in patterns)), None)
    if not head:
        return list(groups)
    lead = head.group(1)
    return [groups[0],
            *(re.sub(r"^(?:(?:that )?of |in )?(?=[A-Z]|[a-z]+$)", lambda _: f"{lead} ", part) for part in groups[1:])]


def _joined(template: str, parts: list[Need], unit: str) -> Formula:
    """Put formulas into a formula, so that one expression remains."""
    leaves: list[Need] = []
    texts = []
    for part in parts:
        base = len(leaves)
        inner = part.template if isinstance(part, Formula) else "{0}"
        leaves += part.parts if isinstance(part, Formula) else [part]
        inner = re.sub(r"\{(\d)\}", lambda m, base=base: f"{{{base + int(m.group(1))}}}", inner)
        texts.append(inner if re.fullmatch(r"[\d.]+|\{\d\}|\w+\([^()]*\)", inner) else f"({inner})")
    return Formula(template.format(*texts), tuple(leaves), "{v}" + unit)


def _expression(text: str) -> str:
    """Give a purely numeric text as an expression of the usual signs, or an empty text."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", _in_digits(text))
    for pattern, sign in ((r"×|·|(?<=\d) ?x ?(?=\d)", " * "), (r"÷", " / "), (r"−|–", " - "), (r"\^", " ** ")):
        text = re.sub(pattern, sign, text)
    text = re.sub(r"\s+", " ", re.sub(r"(?<=[\d)])\s*([*/+-]+)\s*(?=[\d(.-])", r" \1 ", text)).strip()
    readable = re.fullmatch(r"-?(?:sqrt|abs|[\d .()+*/-])*\d[\d .()+*/-]*", text)
    return text if readable and text.count("(") == text.count(")") else ""


def _word_problem(text: str) -> Need | None:
    """A story with two numbers and one step."""
    story = _in_digits(text)
    numbers = [number.replace(",", "") for number in re.findall(_NUMBER, story)]
    if len(numbers) != 2 or len(story.split()) < 8 or not re.search(_ASKS_NUMBER, story, re.I):
        return None
    sign = next((sign for sign, signs in _STEPS if re.search(signs, story, re.I)), "")
    if sign == "/" and re.search(r"\d \w+ (?:share|split|divide)\b", story):  # '4 friends share 48 sweets'
        numbers.reverse()
    return Formula(f"{numbers[0]} {sign} {numbers[1]}") if sign else None


def _in_digits(text: str) -> str:
    """Write small numbers in digits."""
    for word, number in _WORDS.items():
        text = re.sub(rf"\b{word}\b", str(number), text, flags=re.I)
    return text
