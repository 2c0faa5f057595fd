"""An encyclopedia of short articles and a ranked search over them.

The ranking is Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
A word of an article's names counts as NAME_WEIGHT words of its text, and a name said in full counts once more.
"""

import math
import re
from dataclasses import dataclass
from functools import cache

from ..tools import tool
from .records import fold, read_records

K1 = 1.2  # how fast repetition stops to count (the usual value)
B = 0.3  # how much longer articles are held back (less than the usual 0.75, since all articles are short)
NAME_WEIGHT = 5
MOST = 0.5  # so much of a question's weight must be in an article that it does not name
SEE_ALSO = 3  # at most so many further titles
STOP_WORDS = frozenset(re.findall(r"\w+", """
    a about am an and are as at be been by did do does for from had has have he her his how i in is it its many me
    much of on or please she so tell that the their them they this to was were what when where which who whom whose
    why with
"""))
# Questions name a role where articles tell an event.
EVENTS = {
    "author": "written", "birthplace": "born", "birthday": "born", "creator": "created", "discoverer": "discovered",
    "education": "studied", "founder": "founded", "inventor": "invented", "owner": "owned", "population": "inhabitant",
    "winner": "won", "wrote": "written",
}


@dataclass(frozen=True)
class Article:
    """One article; `as_of` (YYYY-MM) is the month for which its changeable facts were checked, or ''."""

    title: str
    aliases: tuple[str, ...]
    text: str
    reference: str
    as_of: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The title and the aliases."""
        return (self.title, *self.aliases)


@dataclass(frozen=True)
class Entry:
    """An article as the search sees it: the words of each of its names, and how often it has each word."""

    article: Article
    names: tuple[frozenset[str], ...]
    counts: dict[str, int]
    length: int


@dataclass(frozen=True)
class Index:
    """All entries, the weight of each word (the rarer, the heavier), and the mean length of an article."""

    entries: tuple[Entry, ...]
    weights: dict[str, float]
    unknown: float
    mean_length: float

    def weight(self, words: frozenset[str]) -> float:
        """Return the summed weight of words; a word that no article has weighs most."""
        return sum(self.weights.get(word, self.unknown) for word in sorted(words))


@cache
def articles() -> tuple[Article, ...]:
    """Return all articles, sorted by title."""
    records = read_records("articles.jsonl")
    return tuple(Article(**{**record, "aliases": tuple(record["aliases"])}) for record in records)


def find(query: str) -> list[Article]:
    """Return the articles that match, best first; equal scores are sorted by title."""
    wanted = frozenset(words(query))
    entries = [entry for entry in index().entries if not wanted.isdisjoint(entry.counts)]
    subject = frozenset(word for entry in entries for word in said_name(entry, wanted))
    scored = [(score(entry, wanted), entry.article) for entry in entries if matches(entry, wanted, subject)]
    return [article for _, article in sorted(scored, key=lambda pair: (-pair[0], pair[1].title))]


@tool
def search(query: str) -> str:
    """Look up people, companies, universities, places, books, prizes, planets and elements in an encyclopedia.
    Takes a name or a few words and gives the best article as "Title: text", with the titles of related articles.

    Args:
        query: A name or a few words, for example "Marie Curie" or "CEO of Intel".
    """
    found = find(query)
    if not found:
        return f"No article matches '{query}'. Try the name of a person, a company, a place, a book or a prize."
    best, others = found[0], [article.title for article in found[1 : 1 + SEE_ALSO]]
    return f"{best.title}: {best.text}" + (f"\nSee also: {'; '.join(others)}" if others else "")


def words(text: str) -> list[str]:
    """Return the folded words that carry meaning, without a possessive or plural s."""
    found = re.findall(r"[a-z0-9]+", re.sub(r"['’]s?\b", "", fold(text)))
    plain = (singular(word) for word in found if word not in STOP_WORDS)
    return [EVENTS.get(word, word) for word in plain]


def singular(word: str) -> str:
    """Cut a plural s; names such as Paris and Venus keep theirs."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@cache
def index() -> Index:
    """Count the words of all articles, once."""
    entries = tuple(enter(article) for article in articles())
    seen: dict[str, int] = {}
    for entry in entries:
        for word in entry.counts:
            seen[word] = seen.get(word, 0) + 1
    weights = {word: rarity(count, len(entries)) for word, count in seen.items()}
    return Index(entries, weights, rarity(0, len(entries)), sum(entry.length for entry in entries) / len(entries))


def enter(article: Article) -> Entry:
    """Prepare one article for the search."""
    names = tuple(frozenset(words(name)) for name in article.names)
    text = words(article.text)
    counts = {word: NAME_WEIGHT for word in frozenset[str]().union(*names)}
    for word in text:
        counts[word] = counts.get(word, 0) + 1
    return Entry(article, names, counts, len(text))


def rarity(count: int, total: int) -> float:
    """Return BM25's inverse document frequency of a word that `count` of `total` articles have."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def said_name(entry: Entry, wanted: frozenset[str]) -> frozenset[str]:
    """Return the heaviest name of the article that the question says in full, or no words."""
    return max((name for name in entry.names if name <= wanted), key=index().weight, default=frozenset())


def matches(entry: Entry, wanted: frozenset[str], subject: frozenset[str]) -> bool:
    """Say whether the question names the article, or the article has most of it and speaks of what it names."""
    known = wanted & entry.counts.keys()
    on_subject = bool(known & subject) or not subject
    has_most = index().weight(known) >= MOST * index().weight(wanted)
    return bool(said_name(entry, wanted)) or (on_subject and has_most)


def score(entry: Entry, wanted: frozenset[str]) -> float:
    """Return the BM25 score, plus the weight of the name that the question says in full."""
    norm = K1 * (1 - B + B * entry.length / index().mean_length)
    counted = ((word, entry.counts[word]) for word in sorted(wanted & entry.counts.keys()))
    ranked = sum(index().weights[word] * count * (K1 + 1) / (count + norm) for word, count in counted)
    return ranked + index().weight(said_name(entry, wanted))
