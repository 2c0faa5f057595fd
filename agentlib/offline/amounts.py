"""Questions for a number: arithmetic in signs or words, small stories, differences, years between events."""

import re

from .comparisons import UNITS, WORDS_OF_DEGREE, measured
from .needs import Fact, Formula, Need, Weather
from .phrases import ask, noun_phrase

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
          "eleven": 11,
          "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "a dozen": 12}
_NUMERIC = ("number", "year")


def compute(text: str) -> Need | None:
    """Parse a question for a number to be worked out."""
    return _difference(text) or _word_problem(text) or _top_amount(text)


def event(text: str) -> Need | None:
    """Give the year of an event: 'the founding of Apple', 'Microsoft was founded', 'he won the Nobel Prize'."""
    if re.fullmatch(r"(?:in )?(?:1\d{3}|20\d{2})", text.strip()):
        return Formula(text.strip()[-4:])
    need = noun_phrase(text)
    if isinstance(need, Fact) and need.kind == "year":
        return need
    for question in (f"when {text}", f"when did {text}"):
        asked = ask(question)
        if isinstance(asked, Fact) and asked.kind == "year":
            return asked
    found = re.fullmatch(r"(?P<who>.+?) (?:founded|co-founded|started|created|set up) (?P<x>.+)", text)
    if found:
        return Fact("founded", noun_phrase(found.group("x")), "year")
    found = re.fullmatch(r"(?P<who>.+?) (?:wrote|published|came out with) (?P<x>.+)", text)
    if found:
        return Fact("published", noun_phrase(found.group("x")), "year")
    found = re.fullmatch(r"(?P<x>.+) (?:came out|appeared)", text)
    return Fact("published", noun_phrase(found.group("x")), "year") if found else None


def _difference(text: str) -> Need | None:
    """'How many years passed between A and B?', 'How many years after A was B?', 'the difference in height ...'."""
    found = re.fullmatch(r"how (?:many years|much time|long)(?: (?:passed|are there|were there|lie|lay|went by|is it"
                         r"|are|was there|elapsed))? (?:between|from) (?P<a>.+?) (?:and|to|until) (?P<b>.+)", text,
                         re.I)
    if found:
        first, second = _parallel(found.group("a"),
                                  re.sub(r"\b(?:his|her|its|their) (\w+)$",
                                         r"\1 of " + re.sub(r".* of ", "", found.group("a")), found.group("b")))
        years = [event(part) for part in (first, second)]
        return Formula("abs({1} - {0})", tuple(years), "{v} years") if all(years) else None
    found = re.fullmatch(r"how (?:many years|long) (?P<w>after|before) (?P<a>.+?) (?:was|did|were) (?P<b>.+)", text,
                         re.I)
    if found:
        clause = re.sub(r"(\S+)$", r"was \1", found.group("b"))
        years = [event(part) for part in (found.group("a"), clause)]
        if years[0] is None and isinstance(years[1], Fact):
            years[0] = Fact(years[1].relation, noun_phrase(found.group("a")), "year")
        return Formula("abs({1} - {0})", tuple(years), "{v} years") if all(years) else None
    found = re.fullmatch(r"(?:what is )?(?:the )?(?:(?P<m>temperature|height|age|population|length|wind|humidity)s?"
                         r" difference|difference (?:in|of) (?P<n>\w+)) (?:between|of) (?P<a>.+?) and (?P<b>.+)", text,
                         re.I)
    if found:
        measure = (found.group("m") or found.group("n")).lower()
        word = next((w for w, (m, highest) in WORDS_OF_DEGREE.items() if m == measure and highest), "")
        things = tuple(noun_phrase(re.sub(r"^in ", "", found.group(key))) for key in "ab")
        if word:
            _, _, measures = measured(word, things, "who" if measure == "age" else text)
            return Formula("abs({0} - {1})", measures, "{v} " + UNITS[measure])
    return None


def _parallel(first: str, second: str) -> tuple[str, str]:
    """Give both halves their head: 'the founding of Apple' and '(of) Google'."""
    head = re.match(r"(?:the )?(\w+(?: \w+)? of )", first)
    if head and not re.match(r"(?:the )?\w+(?: \w+)? of ", second):
        return first, head.group(1) + re.sub(r"^(?:that )?of ", "", second)
    tail = re.match(r"(.+)(?:'s) (\w+)$", second)
    return (f"{first}'s {tail.group(2)}", second) if tail and "'s" not in first and " of " not in first else (first,
                                                                                                              second)


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
    if not text or depth > 5:
        return None
    numeric = _expression(text)
    if numeric:
        return Formula(numeric)
    for pattern, template in _OPERATIONS:
        found = re.fullmatch(pattern, text, re.I)
        if found:
            parts = [_amount(part, depth + 1) for part in _shared(found.groups())]
            if all(parts):
                return _joined(template, parts)
    need = noun_phrase(text)
    return need if isinstance(need, Weather) and need.what in ("temperature", "wind", "humidity") or isinstance(need,
                                                                                                                Fact) and need.kind in _NUMERIC else None


def _shared(groups: tuple[str, ...]) -> list[str]:
    """Give a second operand the head of the first: 'the population of Oslo' and 'Rome'."""
    head = re.match(r"(?:the )?(.+? (?:of|in)) (?=[A-Z])", groups[0])
    return [groups[0]] + [f"{head.group(1)} {re.sub('^(?:of|in|that of) ', '', part)}" if head
                          and re.match(r"(?:(?:that )?of |in )?[A-Z]", part) else part
                          for part in groups[1:]]


_OPERATIONS = (
    (r"sum of (.+) and (.+)", "{0} + {1}"), (r"(?:add|adding) (.+) (?:and|to) (.+)", "{0} + {1}"),
    (r"product of (.+) and (.+)", "{0} * {1}"), (r"(?:multiply|multiplying) (.+) (?:by|with|and) (.+)", "{0} * {1}"),
    (r"(?:quotient|ratio) (?:of|between) (.+) (?:and|to) (.+)", "{0} / {1}"), (r"(?:divide|dividing) (.+) by (.+)",
                                                                               "{0} / {1}"),
    (r"difference (?:between|of) (.+) and (.+)", "abs({0} - {1})"), (r"(?:subtract|subtracting) (.+) from (.+)",
                                                                     "{1} - {0}"),
    (r"(?:average|mean)(?: of)? (.+), (.+),? and (.+)", "({0} + {1} + {2}) / 3"), (r"(?:average|mean)(?: of)? (.+) and"
                                                                                   r" (.+)", "({0} + {1}) / 2"),
    (r"(?:total|combined) (.+ of .+) and (.+)", "{0} + {1}"),
    (r"(.+) plus (.+)", "{0} + {1}"), (r"(.+) minus (.+)", "{0} - {1}"), (r"(.+) (?:times|multiplied by) (.+)",
                                                                          "{0} * {1}"),
    (r"(.+) (?:divided by|over) (.+)", "{0} / {1}"),
    (r"(?:twice|double)(?: of)? (.+)", "2 * {0}"), (r"(?:triple|three times) (.+)", "3 * {0}"), (r"half(?: of)? (.+)",
                                                                                                 "{0} / 2"),
    (r"(?:a |one )?third of (.+)", "{0} / 3"), (r"(?:a |one )?quarter of (.+)", "{0} / 4"),
    (r"(.+?) ?(?:%|percent|per cent) of (.+)", "{0} / 100 * {1}"), (r"square root of (.+)",
                                                                    "sqrt({0})"), (r"square of (.+)", "{0} ** 2"),
    (r"(.+) squared", "{0} ** 2"), (r"(.+) cubed", "{0} ** 3"), (r"(.+) (?:to the power of|to the) (\d+)(?:th|rd"
                                                                 r"|nd)?(?: power)?", "{0} ** {1}"),
    (r"(.+) (?:in|converted to|as|to) (?:degrees )?fahrenheit", "{0} * 9 / 5 + 32"), (r"(.+) (?:in|converted to|as)"
                                                                                      r" kelvin", "{0} + 273.15"),
    (r"(.+) (?:in|converted to) feet", "{0} * 3.28084"), (r"(.+) (?:in|converted to) miles", "{0} / 1.609344"),
    (r"(.+) (?:in|converted to) (?:kilometres|km)", "{0} / 1000"), (r"(-?[\d.]+) ?(?:°C|degrees celsius|celsius"
                                                                    r"|degrees)", "{0}"),
)


def _joined(template: str, parts: list[Need]) -> Formula:
    """Put formulas into a formula, so that one expression remains."""
    leaves: list[Need] = []
    texts = []
    for part in parts:
        if isinstance(part, Formula):
            inner = re.sub(r"\{(\d)\}", lambda m, base=len(leaves): f"{{{base + int(m.group(1))}}}", part.template)
            alone = re.fullmatch(r"[\d.]+|\{\d\}|\w+\([^()]*\)", inner)
            texts.append(inner if alone else f"({inner})")
            leaves += part.parts
        else:
            texts.append(f"{{{len(leaves)}}}")
            leaves.append(part)
    said = "{v} °F" if "9 / 5 + 32" in template else "{v} K" if "273.15" in template else "{v} feet" if "3.28" in template else "{v} miles" if "1.6" in template else "{v}"
    return Formula(template.format(*texts), tuple(leaves), said)


def _expression(text: str) -> str:
    """Give a purely numeric text as an expression of the usual signs, or an empty text."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    for word, number in _WORDS.items():
        text = re.sub(rf"\b{word}\b", str(number), text, flags=re.I)
    for pattern, sign in ((r"×|·|(?<=\d) ?x ?(?=\d)", " * "), (r"÷", " / "), (r"−|–", " - "), (r"\^", " ** ")):
        text = re.sub(pattern, sign, text)
    text = re.sub(r"\s+", " ", re.sub(r"(?<=[\d)])\s*([*/+-]+)\s*(?=[\d(.-])", r" \1 ", text)).strip()
    return text if re.fullmatch(r"-?(?:sqrt|abs|\d|[ .()+*/-])*\d[\d .()+*/-]*",
                                text) and text.count("(") == text.count(")") else ""


def _word_problem(text: str) -> Need | None:
    """A story with two numbers and one step."""
    story = text
    for word, number in _WORDS.items():
        story = re.sub(rf"\b{word}\b", str(number), story, flags=re.I)
    numbers = re.findall(_NUMBER, story)
    if len(numbers) != 2 or not re.search(r"[.,;] (?:how (?:many|much|far|long)|what)|^how (?:many|much|far)|^if ",
                                          story, re.I) or len(story.split()) < 8:
        return None
    for pattern, sign in ((r"\b(?:each|every|per|apiece)\b(?!.*\b(?:split|share|shared|divided)\b)",
                           "*"), (r"\b(?:split|share|shares|shared|divided|divides|equally|distribut)\w*", "/"),
                          (r"\b(?:gives?|gave|loses?|lost|eats?|ate|spends?|spent|left|remain|fewer|less|sells?|sold"
                           r"|away|takes?)\b", "-"),
                          (r"\b(?:more|gets?|got|buys?|bought|altogether|total|together|another|finds?|adds?|and)\b",
                           "+")):
        if re.search(pattern, story, re.I):
            return Formula(f"{numbers[0].replace(',', '')} {sign} {numbers[1].replace(',', '')}")
    return None
