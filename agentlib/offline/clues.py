"""What a text gives to fill arguments with: quoted texts, ids, dates, times, amounts, numbers, names.

Each kind is recognised by its shape. An example in a parameter's description, such as "A-1042", is a shape too: any
text with letters, digits and signs in the same places.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from .words import NAME, word_set

QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)")
DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")
_LONG_DATE = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({'|'.join(_MONTHS)}),? (\d{{4}})\b", re.I)
_TIME = re.compile(r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b")
ID = re.compile(r"\b[A-Z]{1,4}-?\d{1,8}\b|\b[A-Z]{1,4}-[A-Z0-9]{2,8}\b")
_FILE = re.compile(r"\b[\w/-]+\.[a-z]{2,4}\b")
NUMBER = re.compile(r"(?<![\w.-])-?\d[\d,]*(?:\.\d+)?(?![\w-]*\d)")
_EXAMPLE = re.compile(r"(?:example|such as|e\.g\.|like)[ :]*(.+)", re.I)
_OPENERS = word_set("""
    a am an and are as at be book but by calculate can cancel check compute convert could count create delete did
    do does draw find for from get give has have hello how i if in is it list look make may move must my need no
    not of on open or order please put read refund remove say send set shall should show so sort spell split tell
    that the there these this throw to translate was we were what when where which who whom whose why will with
    would write yes you
""")


@dataclass(frozen=True)
class Amount:
    """A number in a text, with the words before and after it, by which one tells what it counts."""

    value: float
    before: str
    after: str

    @property
    def written(self) -> int | float:
        """The number as JSON has it: whole where it is."""
        return int(self.value) if self.value == int(self.value) else self.value


@lru_cache(maxsize=1024)
def quoted(text: str) -> tuple[str, ...]:
    """Give the quoted parts of a text, without the quotes and a comma or stop at the end."""
    return tuple(next(filter(None, found.groups())).strip() for found in QUOTED.finditer(text))


def dates(text: str) -> tuple[str, ...]:
    """Give the dates of a text as YYYY-MM-DD."""
    written = _LONG_DATE.sub(lambda m: f"{m[3]}-{_MONTHS.index(m[2].lower()) + 1:02d}-{int(m[1]):02d}", text)
    return tuple(DATE.findall(written))


def times(text: str) -> tuple[str, ...]:
    """Give the times of day of a text."""
    return tuple(_TIME.findall(text))


def files(text: str) -> tuple[str, ...]:
    """Give the names of files in a text."""
    return tuple(_FILE.findall(text))


def ids(text: str) -> tuple[str, ...]:
    """Give the ids of a text, such as A-1042."""
    return tuple(dict.fromkeys(ID.findall(text)))


@lru_cache(maxsize=1024)
def amounts(text: str) -> tuple[Amount, ...]:
    """Give the numbers of a text that are no part of a date, a time or an id."""
    for pattern in (QUOTED, _LONG_DATE, DATE, _TIME, ID):
        text = pattern.sub(lambda m: " " * len(m[0]), text)
    found = []
    for m in NUMBER.finditer(text):
        before, after = text[:m.start()].split(), re.sub(r"^°", " ", text[m.end():]).split()
        value = float(m[0].replace(",", ""))
        found.append(Amount(value, " ".join(before[-2:]), " ".join(after[:2]).strip("?.!,;:")))
    return tuple(found)


@lru_cache(maxsize=1024)
def names(text: str) -> tuple[str, ...]:
    """Give the capitalised names of a text; last comes one that may only be the first word."""
    text = re.sub(r"^\W*([A-Z]\w*)", lambda m: " " * len(m[0]) if m[1].lower() in _OPENERS else m[0],
                  ID.sub(" ", QUOTED.sub(" ", text)))
    cut = [re.sub(r"['’]s$", "", name) for name in re.findall(rf"(?<!\w){NAME}(?:['’]s\b)?", text)]
    found = [name for name in cut if name.lower() not in _OPENERS and len(name) > 1 and not name.isupper()]
    first = re.match(r"\W*([A-Z][\w'’-]*) (?![A-Z])", text)
    return tuple(dict.fromkeys(sorted(found, key=lambda name: bool(first) and name == first[1])))


@lru_cache(maxsize=512)
def shape(description: str) -> re.Pattern | None:
    """Give the shape of a parameter's example, if it has signs or digits by which one knows it; else None.

    "A-1042" gives letter, hyphen, digits: as many letters, any number of digits.
    """
    found = _EXAMPLE.search(description)
    said = found[1] if found else description
    example = next(iter(quoted(said)), "") or (ID.search(said) or [""])[0]
    if not re.search(r"\d", example) or " " in example or not re.search(r"\D", example):
        return None
    parts = re.findall(r"[A-Z]+|[a-z]+|\d+|.", example)
    written = "".join(r"\d+" if part.isdigit() else rf"[A-Z]{{{len(part)}}}" if part.isupper() else "[a-z]+"
                      if part.islower() else re.escape(part) for part in parts)
    return re.compile(rf"(?<![\w-]){written}(?![\w-])")
