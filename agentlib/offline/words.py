"""Small tools for text that every other module here uses: words, names, sentences, and a seeded choice.

Nothing here knows about questions or tools. Names are compared by their telling words, without accents, plurals and
particles such as 'Inc.'.
"""

import re
import unicodedata
import zlib
from functools import lru_cache

# A capitalised name: "Demis Hassabis", "J. K. Rowling", "University of Cambridge", "King's College London".
_CAPITAL = r"(?:[A-Z]\.|(?:St|Dr|Mt|Jr)\.|[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’&-]*)"
_LINK = r"(?:of|the|de|la|le|van|von|der|du|da|di|del|&|al|bin)"
NAME = rf"{_CAPITAL}(?: (?:{_LINK} ){{0,2}}{_CAPITAL}){{0,7}}"
LIST = rf"{NAME}(?:(?:, and |, | and )(?:the )?{NAME}){{0,7}}"
PLACE = rf"{NAME}(?:,(?: in what is now)? (?:the )?{NAME}){{0,3}}"
YEAR = r"\b(?:1\d{3}|20\d{2}|[3-9]\d{2})\b(?! ?(?:km|m|metres|meters|people))(?: BC)?"
NUMBER = r"[-−]?\d[\d,]*(?:\.\d+)?(?: (?:thousand|million|billion|trillion))?"
MEASURE = (rf"{NUMBER}(?: ?(?:%|°C|°F|metres?|meters?|m\b|km/h|km²|km\b|kilometres?|kilometers?|feet|miles?|degrees?"
           r"|square kilometres|years?|inhabitants|people|dollars?|euros?|elements?|kelvin|kg|tonnes?))?")



def word_set(text: str) -> frozenset[str]:
    """Give the words of a text as a set: a compact way to write one down."""
    return frozenset(text.split())


_STOP = word_set("""a about also an and are as at be been by can could currently did do does for from had has have he
    her hers him his how i in into is it its many me much my now of on or our please she so tell than that the their
    them then there these they this to today us was we were what when where which who whom whose why will with would
    you your""")
_GENERIC = word_set("inc corp corporation company co ltd plc group the of mount mt river city novel book")
_PRONOUNS = word_set("he she it its his her they their the this that in on at a an as by and since")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_BREAK = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\b(?:St|Dr|Mr|Mt|Jr)\.)\s+(?=[\"“(]?[^\W_a-z])|\n+")
_SCALE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


def choose(seed: int, key: str, options: tuple):
    """Choose one of the options: always the same one for the same seed and key."""
    return options[zlib.crc32(f"{seed}|{key}".encode(errors="replace")) % len(options)]


def fold(text: str) -> str:
    """Give the text in lower case without accents: 'São Paulo' becomes 'sao paulo'."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text)
    return "".join(c for c in plain if not unicodedata.combining(c)).lower()


def stem(word: str) -> str:
    """Cut off a possessive and a plural, so that 'cities', 'city' and "city's" are one word."""
    word = word.removesuffix("'s").removesuffix("’s").rstrip("'’")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@lru_cache(maxsize=8192)  # a conversation is read again with each request
def words(text: str) -> tuple[str, ...]:
    """Give the telling words of a text: folded, stemmed, without the small ones."""
    return tuple(word for word in map(stem, _WORD.findall(fold(text))) if word not in _STOP)


@lru_cache(maxsize=1024)
def sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences."""
    return tuple(part.strip() for part in _BREAK.split(text) if part.strip())


@lru_cache(maxsize=8192)
def same_name(title: str, name: str) -> bool:
    """Say whether a title names the same thing: 'Demis Hassabis' and 'Hassabis', 'Apple Inc.' and 'Apple'.

    'Google DeepMind' is DeepMind and not Google; 'University of Oxford' is not Oxford.
    """
    whole, part = [[w for w in words(text) if w not in _GENERIC] for text in (title, name)]
    if not whole or not part or sorted(whole) == sorted(part):
        return bool(whole) and sorted(whole) == sorted(part)
    if len(part) == 1 and part[0].isalpha() and name.strip().isupper() and len(name.strip()) > 1:
        return part[0] == "".join(w[0] for w in whole)
    if len(part) > len(whole):
        whole, part, title = part, whole, name
    return whole[-len(part):] == part and not re.search(r" (?:of|for|in|de) ", title.lower())


def may_name(text: str) -> bool:
    """Say whether a text may be a name: it has a capital or a digit, or was typed without any capitals."""
    return bool(re.search(r"[A-Z0-9]", text)) or text == text.lower()


def undated(name: str) -> tuple[str, str]:
    """Split a name and its year: 'Nobel Prize in Physics in 1921'; the year is empty if there is none."""
    found = re.fullmatch(r"(.+?)(?: (?:in|of|for))? (\d{4})", name)
    return (found.group(1), found.group(2)) if found else (name, "")


def mentions(text: str, name: str) -> bool:
    """Say whether a text contains every telling word of a name."""
    wanted = [word for word in words(name) if word not in _GENERIC]
    return bool(wanted) and set(wanted) <= set(words(text))


def clean_name(text: str) -> str:
    """Cut what is not part of a name from its ends; an empty text means that it was no name."""
    text = re.sub(r"^(?:the|The) ", "", text.strip(" ,.;:'\"“”()"))
    text = re.sub(r"['’]s$", "", text)
    return "" if text.lower() in _PRONOUNS else text


def halves(text: str, joint: str = "and") -> list[tuple[str, str]]:
    """Give the ways to split a text in two at a joint, best first: in 'War and Peace and Emma' there are two.

    Best are halves that begin or end alike ('the birth of ... and the birth of ...', '... and of Y'), then a second
    half that begins anew ('... and the founding of ...'), then halves of the same length.
    """
    ways = [(text[: m.start()], text[m.end():]) for m in re.finditer(rf",? (?:{joint}) ", text)]
    return sorted((way for way in ways if all(way)), key=lambda way: (_unlike(*way), abs(
        len(way[0].split()) - len(way[1].split()))))


def is_half(part: str, whole: str) -> bool:
    """Say whether a text is one half of a pair: 'War' of 'War and Peace'."""
    return " and " in whole and any(fold(part) == fold(half) for pair in halves(whole) for half in pair)


def _unlike(first: str, second: str) -> int:
    """Say how little two halves of a pair are alike: 0, 1 or 2."""
    one, other = (re.sub(r"^(?:the|in|of) ", "", half).split(" ") for half in (first, second))
    same_end = one[-1] == other[-1] and "'s " in first and "'s " in second
    if one[0] == other[0] or same_end or re.match(r"(?:that )?of |his |her |its ", second):
        return 0
    return 1 if re.match(r"(?:the|in|at|when|where) [a-z]", second) else 2


def number_in(text: str) -> float | None:
    """Read the first number of a text: '8,849 metres' is 8849, 'about 21.5 million' is 21500000."""
    found = re.search(NUMBER, text)
    if not found:
        return None
    digits, _, scale = found.group().replace("−", "-").replace(",", "").partition(" ")
    value = float(digits) * _SCALE.get(scale, 1)
    return float(round(value)) if scale else value


def plain(number: float) -> str:
    """Write a number without needless digits: 21.0 is '21'."""
    rounded = round(number, 6)
    return str(int(rounded)) if rounded == int(rounded) else repr(rounded)


def with_the(name: str) -> str:
    """Put 'the' before names that take it."""
    return re.sub(r"(^|, | and )(?=(?:University|College|Institute) of |(?:\w+ ){1,2}Institute of|United (?:States"
                  r"|Kingdom)|Netherlands|Czech|world$)", r"\1the ", name)
