"""Questions for a number or for a comparison: arithmetic, differences, 'warmer', 'older', 'more inhabitants'."""

import re
from collections.abc import Callable

from .needs import Fact, Formula, Need, Pick, Weather

Phrase = Callable[[str], Need]

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
          "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "a dozen": 12}
_NUMERIC = ("number", "year")
# word -> (measure, highest wins)
_WORDS_OF_DEGREE = {
    "warmer": ("temperature", True), "warmest": ("temperature", True), "hotter": ("temperature", True), "hottest": ("temperature", True),
    "colder": ("temperature", False), "coldest": ("temperature", False), "cooler": ("temperature", False), "coolest": ("temperature", False),
    "chillier": ("temperature", False), "higher temperature": ("temperature", True), "lower temperature": ("temperature", False),
    "highest temperature": ("temperature", True), "lowest temperature": ("temperature", False),
    "windier": ("wind", True), "windiest": ("wind", True), "more wind": ("wind", True), "stronger wind": ("wind", True), "strongest wind": ("wind", True),
    "calmer": ("wind", False), "less wind": ("wind", False), "wetter": ("humidity", True), "wettest": ("humidity", True),
    "more humid": ("humidity", True), "most humid": ("humidity", True), "higher humidity": ("humidity", True), "drier": ("humidity", False),
    "dryer": ("humidity", False), "driest": ("humidity", False), "less humid": ("humidity", False),
    "more inhabitants": ("population", True), "most inhabitants": ("population", True), "more people": ("population", True),
    "most people": ("population", True), "more populous": ("population", True), "most populous": ("population", True),
    "larger population": ("population", True), "largest population": ("population", True), "bigger population": ("population", True),
    "biggest population": ("population", True), "fewer inhabitants": ("population", False), "fewer people": ("population", False),
    "smaller population": ("population", False), "smallest population": ("population", False), "bigger": ("population", True),
    "biggest": ("population", True), "larger": ("population", True), "largest": ("population", True), "smaller": ("population", False),
    "smallest": ("population", False), "higher": ("height", True), "highest": ("height", True), "taller": ("height", True),
    "tallest": ("height", True), "lower": ("height", False), "lowest": ("height", False), "longer": ("length", True),
    "longest": ("length", True), "shorter": ("length", False), "shortest": ("length", False), "older": ("age", False),
    "oldest": ("age", False), "younger": ("age", True), "youngest": ("age", True), "newer": ("age", True), "newest": ("age", True),
    "earlier": ("age", False), "earliest": ("age", False), "first": ("age", False), "later": ("age", True), "latest": ("age", True),
    "last": ("age", True), "before": ("age", False), "after": ("age", True),
}
_DEGREE = re.compile(r"\b(?:the )?(" + "|".join(sorted(_WORDS_OF_DEGREE, key=len, reverse=True)) + r")\b", re.I)
_UNITS = {"temperature": "degrees", "wind": "km/h", "humidity": "percentage points", "population": "inhabitants", "height": "metres",
          "length": "kilometres", "age": "years"}
_HEAD = re.compile(r"^(?:(?:compare|which|what|who|where|is|are|was|were|does|do|did|has|have|it|there|of|between|among|than|in|at|the two|city|cities|one|is it"
                   r"|company|companies|country|countries|book|books|novel|mountain|river|university|person|people|inhabitants|live|lives|living|born|founded"
                   r"|published|established|built|written|started|weather|outside|currently|now|today|right now|and|or|by|how much|how many|these"
                   r"|thing|place|tower|building|peak|temperature|out|either|degrees|years|metres|meters|kilometres|km|scientist)\b[ ,:]*|[,:;] *)+", re.I)
_TAIL = re.compile(r"(?:[ ,:]*\b(?:is|are|was|were|has|have|it|which|what|who|where|city|one|does|do|did|the|in|live|company|country|born|founded|published|established|a|an|to|weather|currently|now|today))+$", re.I)


def compare(text: str, phrase: Phrase) -> Need | None:
    """Parse a comparison of two or more things, or the question by how much they differ."""
    found = _DEGREE.search(text)
    plain = re.fullmatch(r"(?:compare )?(?:the )?(?:weather|temperatures?) (?:in|of|between) (.+? (?:and|or|with|to) .+)", text, re.I)
    if plain and not found:
        return _pick("warmer", re.sub(r" (?:with|to) ", " and ", plain.group(1)), text, phrase)
    if not found or re.match(r"how old|when |what year|in what year|in which year", text, re.I):
        return None
    word, before, after = found.group(1).lower(), text[: found.start()], text[found.end():]
    if re.search(r"\bthan\b", after):
        return _than(word, before, after, text, phrase)
    if word in ("before", "after") and _bare(before) and re.match(r"(?:was|is|were|did)\b", text, re.I):
        return _than(word, before, " than " + after, text, phrase)
    rest = _HEAD.sub("", after.strip())
    listed = rest if re.search(r" (?:or|and) |,", rest) else _bare(before)
    return _pick(word, listed, text, phrase)


def compute(text: str, phrase: Phrase) -> Need | None:
    """Parse a question for a number to be worked out."""
    return _difference(text, phrase) or _word_problem(text) or _top_amount(text, phrase)


def event(text: str, phrase: Phrase, ask: Callable[[str], Need | None]) -> Need | None:
    """Give the year of an event: 'the founding of Apple', 'Microsoft was founded', 'he won the Nobel Prize'."""
    if re.fullmatch(r"(?:in )?(?:1\d{3}|20\d{2})", text.strip()):
        return Formula(text.strip()[-4:])
    need = phrase(text)
    if isinstance(need, Fact) and need.kind == "year":
        return need
    for question in (f"when {text}", f"when did {text}"):
        asked = ask(question)
        if isinstance(asked, Fact) and asked.kind == "year":
            return asked
    found = re.fullmatch(r"(?P<who>.+?) (?:founded|co-founded|started|created|set up) (?P<x>.+)", text)
    if found:
        return Fact("founded", phrase(found.group("x")), "year")
    found = re.fullmatch(r"(?P<who>.+?) (?:wrote|published|came out with) (?P<x>.+)", text)
    if found:
        return Fact("published", phrase(found.group("x")), "year")
    found = re.fullmatch(r"(?P<x>.+) (?:came out|appeared)", text)
    return Fact("published", phrase(found.group("x")), "year") if found else None


def _bare(text: str) -> str:
    """Cut the words of the question itself from both ends."""
    return _TAIL.sub("", _HEAD.sub("", text.strip())).strip()


def _than(word: str, before: str, after: str, text: str, phrase: Phrase) -> Need | None:
    """'Is A warmer than B?', 'How many degrees warmer is A than B?', 'Is it warmer in A than in B?'."""
    left, right = re.split(r"\bthan\b", after, maxsplit=1)
    first = _bare(left) or _bare(before)
    first = re.sub(r" (?:born|founded|published)$", "", first)
    how_much = bool(re.match(r"(?:by )?how (?:much|many)", text, re.I))
    things = [first, re.sub(r"^(?:in|on|at|of|it is in|is it in|was|is|were) ", "", right.strip(" ,?"))]
    things[1] = re.sub(r" (?:is|was|does|do|did|has|were)$", "", things[1])
    if not all(things):
        return None
    need = _measured(word, tuple(phrase(thing.strip()) for thing in things), text)
    claim = 0 if re.match(r"(?:is|are|was|were|does|do|did|has|have)\b", text, re.I) else None
    return Pick(word, need[0], need[1], need[2], claim, _UNITS[_WORDS_OF_DEGREE[word][0]] if how_much else "")


def _pick(word: str, listed: str, text: str, phrase: Phrase) -> Need | None:
    """Make a comparison of the things in a list: 'A or B', 'A, B and C', 'in A or in B'."""
    separators = r",? or |, " if " or " in listed else r",? and |, "
    parts = [re.sub(r"^(?:in|at|of|on|is it in|that of) ", "", part.strip(" ,?.:")) for part in re.split(separators, listed)]
    parts = [part for part in parts if part]
    if len(parts) < 2 or not all(re.search(r"[A-Z0-9]", part) for part in parts):
        return None
    highest, things, measures = _measured(word, tuple(phrase(part) for part in parts), text)
    return Pick(word, highest, things, measures)


def _measured(word: str, things: tuple[Need, ...], text: str) -> tuple[bool, tuple[Need, ...], tuple[Need, ...]]:
    """Give the direction, the things, and what is measured of each of them."""
    measure, highest = _WORDS_OF_DEGREE[word]
    if measure in ("temperature", "wind", "humidity"):
        return highest, things, tuple(Weather(measure, thing) for thing in things)
    relation = measure
    if measure == "age":
        relation = ("born" if re.search(r"\b(?:born|who|younger|person)\b", text, re.I) else "founded" if re.search(r"found|establish|compan|universit", text, re.I)
                    else "published" if re.search(r"publish|written|novel|book", text, re.I) else "began")
    kind = "year" if measure == "age" else "number"
    return highest, things, tuple(thing if isinstance(thing, Fact) and thing.kind in _NUMERIC else Fact(relation, thing, kind) for thing in things)


def _difference(text: str, phrase: Phrase) -> Need | None:
    """'How many years passed between A and B?', 'the temperature difference between A and B', 'how many years after A was B?'."""
    found = re.fullmatch(r"how (?:many years|much time|long)(?: (?:passed|are there|were there|lie|lay|went by|is it|are|was there|elapsed))? (?:between|from) (?P<a>.+?) (?:and|to|until) (?P<b>.+)", text, re.I)
    if found:
        first, second = _parallel(found.group("a"), re.sub(r"\b(?:his|her|its|their) (\w+)$", r"\1 of " + re.sub(r".* of ", "", found.group("a")), found.group("b")))
        years = [event(part, phrase, lambda question: _ask(question)) for part in (first, second)]
        return Formula("abs({1} - {0})", tuple(years), "{v} years") if all(years) else None
    found = re.fullmatch(r"how (?:many years|long) (?P<w>after|before) (?P<a>.+?) (?:was|did|were) (?P<b>.+)", text, re.I)
    if found:
        clause = re.sub(r"(\S+)$", r"was \1", found.group("b"))
        years = [event(part, phrase, lambda question: _ask(question)) for part in (found.group("a"), clause)]
        if years[0] is None and isinstance(years[1], Fact):
            years[0] = Fact(years[1].relation, phrase(found.group("a")), "year")
        return Formula("abs({1} - {0})", tuple(years), "{v} years") if all(years) else None
    found = re.fullmatch(r"(?:what is )?(?:the )?(?:(?P<m>temperature|height|age|population|length|wind|humidity)s? difference|difference (?:in|of) (?P<n>\w+)) (?:between|of) (?P<a>.+?) and (?P<b>.+)", text, re.I)
    if found:
        measure = (found.group("m") or found.group("n")).lower()
        word = next((w for w, (m, highest) in _WORDS_OF_DEGREE.items() if m == measure and highest), "")
        things = tuple(phrase(re.sub(r"^in ", "", found.group(key))) for key in "ab")
        if word:
            _, _, measures = _measured(word, things, "who" if measure == "age" else text)
            return Formula("abs({0} - {1})", measures, "{v} " + _UNITS[measure])
    return None


def _ask(question: str) -> Need | None:
    from .questions import ask  # the grammar is one recursion in two files
    return ask(question)


def _parallel(first: str, second: str) -> tuple[str, str]:
    """Give both halves their head: 'the founding of Apple' and '(of) Google'."""
    head = re.match(r"(?:the )?(\w+(?: \w+)? of )", first)
    if head and not re.match(r"(?:the )?\w+(?: \w+)? of ", second):
        return first, head.group(1) + re.sub(r"^(?:that )?of ", "", second)
    tail = re.match(r"(.+)(?:'s) (\w+)$", second)
    return (f"{first}'s {tail.group(2)}", second) if tail and "'s" not in first and " of " not in first else (first, second)


def _top_amount(text: str, phrase: Phrase) -> Need | None:
    """Parse 'what is' and an amount that must be worked out."""
    body = re.sub(r"^(?:what|how much|how many) (?:is|are|was|makes?|does|do|would be|equals?) (?:the result of )?|^(?:how much|what) ", "", text, flags=re.I)
    body = re.sub(r" (?:make|equal|equals|give|is)$|^(?:the )?(?:result|value) of | ?=$", "", body, flags=re.I)
    need = _amount(body, phrase, 0)
    return need if isinstance(need, Formula) else None


def _amount(text: str, phrase: Phrase, depth: int) -> Need | None:
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
            parts = [_amount(part, phrase, depth + 1) for part in _shared(found.groups())]
            if all(parts):
                return _joined(template, parts)
    need = phrase(text)
    return need if isinstance(need, Weather) and need.what in ("temperature", "wind", "humidity") or isinstance(need, Fact) and need.kind in _NUMERIC else None


def _shared(groups: tuple[str, ...]) -> list[str]:
    """Give a second operand the head of the first: 'the population of Oslo' and 'Rome'."""
    head = re.match(r"(?:the )?(.+? (?:of|in)) (?=[A-Z])", groups[0])
    return [groups[0]] + [f"{head.group(1)} {re.sub('^(?:of|in|that of) ', '', part)}" if head and re.match(r"(?:(?:that )?of |in )?[A-Z]", part) else part
                          for part in groups[1:]]


_OPERATIONS = (
    (r"sum of (.+) and (.+)", "{0} + {1}"), (r"(?:add|adding) (.+) (?:and|to) (.+)", "{0} + {1}"),
    (r"product of (.+) and (.+)", "{0} * {1}"), (r"(?:multiply|multiplying) (.+) (?:by|with|and) (.+)", "{0} * {1}"),
    (r"(?:quotient|ratio) (?:of|between) (.+) (?:and|to) (.+)", "{0} / {1}"), (r"(?:divide|dividing) (.+) by (.+)", "{0} / {1}"),
    (r"difference (?:between|of) (.+) and (.+)", "abs({0} - {1})"), (r"(?:subtract|subtracting) (.+) from (.+)", "{1} - {0}"),
    (r"(?:average|mean)(?: of)? (.+), (.+),? and (.+)", "({0} + {1} + {2}) / 3"), (r"(?:average|mean)(?: of)? (.+) and (.+)", "({0} + {1}) / 2"),
    (r"(?:total|combined) (.+ of .+) and (.+)", "{0} + {1}"),
    (r"(.+) plus (.+)", "{0} + {1}"), (r"(.+) minus (.+)", "{0} - {1}"), (r"(.+) (?:times|multiplied by) (.+)", "{0} * {1}"),
    (r"(.+) (?:divided by|over) (.+)", "{0} / {1}"),
    (r"(?:twice|double)(?: of)? (.+)", "2 * {0}"), (r"(?:triple|three times) (.+)", "3 * {0}"), (r"half(?: of)? (.+)", "{0} / 2"),
    (r"(?:a |one )?third of (.+)", "{0} / 3"), (r"(?:a |one )?quarter of (.+)", "{0} / 4"),
    (r"(.+?) ?(?:%|percent|per cent) of (.+)", "{0} / 100 * {1}"), (r"square root of (.+)", "sqrt({0})"), (r"square of (.+)", "{0} ** 2"),
    (r"(.+) squared", "{0} ** 2"), (r"(.+) cubed", "{0} ** 3"), (r"(.+) (?:to the power of|to the) (\d+)(?:th|rd|nd)?(?: power)?", "{0} ** {1}"),
    (r"(.+) (?:in|converted to|as|to) (?:degrees )?fahrenheit", "{0} * 9 / 5 + 32"), (r"(.+) (?:in|converted to|as) kelvin", "{0} + 273.15"),
    (r"(.+) (?:in|converted to) feet", "{0} * 3.28084"), (r"(.+) (?:in|converted to) miles", "{0} / 1.609344"),
    (r"(.+) (?:in|converted to) (?:kilometres|km)", "{0} / 1000"), (r"(-?[\d.]+) ?(?:°C|degrees celsius|celsius|degrees)", "{0}"),
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
    return text if re.fullmatch(r"-?(?:sqrt|abs|\d|[ .()+*/-])*\d[\d .()+*/-]*", text) and text.count("(") == text.count(")") else ""


def _word_problem(text: str) -> Need | None:
    """A story with two numbers and one step."""
    story = text
    for word, number in _WORDS.items():
        story = re.sub(rf"\b{word}\b", str(number), story, flags=re.I)
    numbers = re.findall(_NUMBER, story)
    if len(numbers) != 2 or not re.search(r"[.,;] (?:how (?:many|much|far|long)|what)|^how (?:many|much|far)|^if ", story, re.I) or len(story.split()) < 8:
        return None
    for pattern, sign in ((r"\b(?:each|every|per|apiece)\b(?!.*\b(?:split|share|shared|divided)\b)", "*"), (r"\b(?:split|share|shares|shared|divided|divides|equally|distribut)\w*", "/"),
                          (r"\b(?:gives?|gave|loses?|lost|eats?|ate|spends?|spent|left|remain|fewer|less|sells?|sold|away|takes?)\b", "-"),
                          (r"\b(?:more|gets?|got|buys?|bought|altogether|total|together|another|finds?|adds?|and)\b", "+")):
        if re.search(pattern, story, re.I):
            return Formula(f"{numbers[0].replace(',', '')} {sign} {numbers[1].replace(',', '')}")
    return None
