"""From a text to the words that a search compares: of any language, and of names in a program.

`get_weatherReports` gives get, weather and report, among others; 天气预报 gives its characters and their pairs.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

# Scripts that are written without spaces, or, like Korean, with particles joined to the word. Pairs of characters stand
# in for words there (the CJK bigrams of Lucene); single ones find words of one character.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"  # kana, Han, Hangul
)
_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|[^\W_{_UNSPACED}]+")
_PART = re.compile(r"[0-9]+|[^\W\d_]+")
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # getWeather, HTTPServer


def words(text: str) -> list[str]:
    """Give the words of a text in their order: lower case, without accents, English
    endings (Porter's second stemmer) and English stop words."""
    found: list[str] = []
    for run in _RUN.finditer(_plain(text)):
        if run["unspaced"]:
            found += [*run[0], *(run[0][i : i + 2] for i in range(len(run[0]) - 1))]
        else:
            found += _spaced(run[0])
    return found


def _spaced(run: str) -> list[str]:
    """Give the words of a run of letters and digits; one in camel case also as a whole: GitHub, git, hub."""
    parts = [part for piece in _PART.findall(run) for part in _CASE.split(piece)]
    whole = [run] if len(parts) > 1 else []
    return [_stem(word) for each in whole + parts if (word := each.casefold()) not in _stop_words()]


def _plain(text: str) -> str:
    """Take off accents and other marks, full width and ligatures: Zürich, ｗｅａｔｈｅｒ."""
    if text.isascii():
        return text
    letters = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.category(c).startswith("M"))
    return unicodedata.normalize("NFC", "".join(letters))  # joins the letters of a Korean syllable again


@lru_cache(20_000)
def _stem(word: str) -> str:
    """Give the stem of an English word; other words nearly always stay as they are."""
    from snowballstemmer.english_stemmer import EnglishStemmer

    return EnglishStemmer().stemWord(word)  # one for each word: a stemmer is not safe between threads


@cache
def _stop_words() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN_PLUS  # loads numpy

    return frozenset(STOPWORDS_EN_PLUS)
