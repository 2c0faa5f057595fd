"""Questions about a table in a file: what is asked of which columns, and of which rows.

    "What is the mean of the Close column in msft.csv?"         -> measure, mean, Close
    "How many rows of orders.csv have the Status shipped?"      -> measure, count, rows where Status is shipped
    "On which Date was Volume highest in msft.csv?"             -> row, largest, Volume, and of that row the Date
    "Plot Close against Date in msft.csv, oldest first."        -> line, Close, against Date, rows turned round

A question that names no file, or nothing that can be read so, is no such question. Columns are taken as they are named:
whether the file has them is for the code to find out.
"""

import re
from dataclasses import dataclass, replace

FILE = re.compile(r"[\"'`“]?(?P<name>(?:[\w-]+[/.])*[\w-]+\.csv)\b[\"'`”]?(?:'s\b)?", re.I)
MEASURES = {
    "sum": r"sum(?:med)?(?: up)?|totals?|add(?:ed)? up|adds? up", "mean": r"mean|averages?", "median": r"median",
    "deviation": r"standard deviation", "largest": r"largest|biggest|greatest|highest|maximum|maximal|max",
    "smallest": r"smallest|lowest|least|minimum|minimal|min",
}
_MEASURE = "|".join(f"(?P<{name}>{words})" for name, words in MEASURES.items())
_ANY = "|".join(MEASURES.values())
_EXTREME = f"(?:{MEASURES['largest']}|{MEASURES['smallest']})"

_STOP = ("the|a|an|of|in|on|for|from|to|and|or|is|was|are|were|be|has|have|had|did|does|with|where|whose|which|what|that"
         "|columns?|rows?|all|each|against|over|versus|vs|by|as|it|its|if|when|using|please")
_WORD = rf"(?!(?:{_STOP})\b)[^\s,;:?!\"'`“”]+"
_NAME = rf"{_WORD}(?: {_WORD}){{0,3}}"
_LIST = rf"{_NAME}(?:, {_NAME})*(?:,? and (?:the )?{_NAME})?"
_QUOTED = re.compile(r"[\"`“]([^\"`“”]+)[\"`”]|(?<!\w)'([^']+)'(?!\w)")

_ROWS = r"(?:rows?|lines|records|entries)"
_COUNT = re.compile(rf"\bhow many (?:data )?{_ROWS}\b|\b(?:number|count) of (?:the |all )?{_ROWS}\b"
                    rf"|\bcount (?:the |all )*{_ROWS}\b|\brow count\b", re.I)
_HOW_MANY = re.compile(r"\bhow many \w+|\bnumber of \w+|\bcount\b", re.I)
_DISTINCT = re.compile(r"\b(?:how many|number of|count (?:the )?)\s*(?:different|distinct|unique)\b", re.I)
_HEADER = re.compile(r"\b(?:which|what)(?: are the)?(?: names of the)? columns\b"
                     r"|\b(?:list|show|give|name)(?: me)? (?:the |all )*(?:columns|header)\b|\bwhat is the header\b", re.I)

_ABOVE = r"(?:is |was )?(?:above|over|more than|greater than|larger than|higher than|>)"
_BELOW = r"(?:is |was )?(?:below|under|less than|fewer than|smaller than|lower than|<)"
_EQUAL = r"(?:is equal to|equal to|equals?|is|was|==?|of)"
_WHERE = re.compile(
    rf"(?:\b(?:for|in|of) )?(?:\b(?:all |the |those )*rows )?\b(?:where|whose|with|for which|in which|having|have|has)\b "
    rf"(?:the |an? )?(?P<column>{_NAME})(?: column)? (?P<sign>{_ABOVE}|{_BELOW}|{_EQUAL}) (?:the )?(?P<value>[^,;]+)$",
    re.I)
_WHERE_SHORT = re.compile(
    rf"\b(?:with|having|have|has|(?:how many {_ROWS} )(?:is|was)) (?:the |an? )?(?P<column>{_WORD})(?: column)? "
    r"(?P<value>[^,;]+)$", re.I)

_ORDER = re.compile(r"[,;]?\s*\(?(?:(?:with )?(?:the )?oldest (?:rows? |one |values? )?first|from (?:the )?oldest to (?:the )?"
                    r"newest|in (?:the )?(?:order of time|chronological order|reversed? order)|chronologically"
                    r"|reversed|in reverse)\b\)?", re.I)
_PLOT = re.compile(r"\b(?:plot|draw|chart|graph|make|create|show|give|save)\b(?: me)?(?: (?:a|the))?(?: (?P<kind>line|bar"
                   r"|scatter))?(?: ?(?P<what>plot|chart|graph|diagram|histogram|picture))?(?: of)?(?: the)?\b", re.I)
_AGAINST = re.compile(rf"^(?:values? of )?(?:the )?(?P<y>{_LIST})(?: columns?)? (?:against|versus|vs\.?|over|by|as a"
                      rf" function of) (?:the )?(?P<x>{_NAME})(?: column)?", re.I)
_ON_ROW = (
    re.compile(rf"\b(?:which|what|in which|on which|the) (?P<key>{_NAME}|row) (?:is |are )?(?:has|had|have|with|of|for)"
               rf" (?:the )?(?P<word>{_EXTREME}) (?:values? (?:of|in) )?(?:the )?(?P<column>{_NAME})", re.I),
    re.compile(rf"\b(?:which|what) (?P<key>{_NAME}|row) (?:is|was|were|had|has) (?:the )?(?P<column>{_NAME})(?: column)?"
               rf" (?:at )?(?:its |the )?(?P<word>{_EXTREME})\b", re.I),
)
_ITS_ROW = re.compile(r",? and (?:(?:in |on )?which row\b.*|(?:give |show |name )?(?:me )?(?:the|its) (?:whole )?row\b.*)$",
                      re.I)


@dataclass(frozen=True)
class Condition:
    """Which rows count: those whose column is equal to (==), above (>) or below (<) a value."""

    column: str
    sign: str
    value: str

    @property
    def is_number(self) -> bool:
        """Whether the value is compared as a number. '007' is a text."""
        return bool(re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", self.value))


@dataclass(frozen=True)
class Job:
    """What is asked of a table. `key` is the column to tell of the row that is meant; 'row' is all of it."""

    file: str
    kind: str  # measure, row, header, line, scatter, bars or histogram
    measures: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    key: str = ""  # of a row; of a plot the column that the others are drawn against
    where: Condition | None = None
    reverse: bool = False  # the rows of the file in the other order

    @property
    def is_plot(self) -> bool:
        """Whether a picture is asked for."""
        return self.kind in ("line", "scatter", "bars", "histogram")


def job_in(question: str, file: str = "") -> Job | None:
    """Read a question about a table; `file` is the one that was spoken of before."""
    found = FILE.search(question)
    file = found["name"] if found else file
    if not file:
        return None
    text, reverse = _without_file(question), False
    if _ORDER.search(text):
        text, reverse = _ORDER.sub("", text), True
    text = text.strip(" ?!.,")
    text, where = _condition(text)
    job = _header(text) or _plot(text) or _row(text) or _measure(text, where)
    return replace(job, file=file, where=where, reverse=reverse) if job else None


def renamed(job: Job, header: tuple[str, ...]) -> tuple[Job | None, str]:
    """Give the job with the columns named as in the header, the same but for case, spaces and points; or None and the
    name that nothing there fits."""
    known = {_plain(name): name for name in reversed(header)}
    named = [*job.columns, *([job.key] if job.key not in ("", "row") else []), *([job.where.column] if job.where else [])]
    missing = next((name for name in named if name not in header and _plain(name) not in known), "")
    if missing:
        return None, missing
    names = {name: name if name in header else known[_plain(name)] for name in named}
    where = replace(job.where, column=names[job.where.column]) if job.where else None
    columns = tuple(names[name] for name in job.columns)
    return replace(job, columns=columns, key=names.get(job.key, job.key), where=where), ""


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _without_file(question: str) -> str:
    """Cut the name of the file out, with the words that lead to it."""
    named = rf"(?:\b(?:in|of|from|for|to|with)\s+)?(?:\b(?:the|my|this)\s+)?(?:\b(?:csv\s+)?file\s+)?{FILE.pattern}"
    text = re.sub(r"\?P<name>", "?:", named)
    text = re.sub(text, " ", question, flags=re.I)
    text = re.sub(r"\b(?:with|using|in) (?:the )?python(?: tool)?\b", "", text, flags=re.I)
    return re.sub(r"\s+([,;.?!])", r"\1", re.sub(r"\s+", " ", text)).strip()


def _condition(text: str) -> tuple[str, Condition | None]:
    """Cut the condition off a question: 'where Status is shipped'."""
    found = _WHERE.search(text)
    if found and re.fullmatch(_EXTREME, found["column"].split(" ")[0], re.I):
        found = None  # 'Which Date has the highest Close of all?'
    if found is None and _HOW_MANY.search(text):
        found = _WHERE_SHORT.search(text)
    if found is None:
        return text, None
    said = found.groupdict().get("sign") or ""
    sign = ">" if re.fullmatch(_ABOVE, said, re.I) else "<" if re.fullmatch(_BELOW, said, re.I) else "=="
    value = found["value"].strip(" .?!\"'`“”")
    where = Condition(found["column"].strip("\"'`“”"), sign, value.replace(",", "") if sign != "==" else value)
    if sign != "==" and not where.is_number:
        return text, None
    kept = "how many rows" if _COUNT.search(found[0]) else ""
    return f"{text[:found.start()]}{kept}".strip(" ,"), where


def _header(text: str) -> Job | None:
    return Job("", "header") if _HEADER.search(text) else None


def _plot(text: str) -> Job | None:
    """Read what is to be drawn: columns, alone or against another."""
    found = _PLOT.search(text)
    if found is None or not (found["what"] or re.match(r"plot|draw|chart|graph", found[0], re.I)):
        return None
    what = (found["what"] or "").lower()
    kind = {"bar": "bars", "scatter": "scatter"}.get((found["kind"] or "").lower(), "line")
    kind = "histogram" if what == "histogram" else kind
    rest = text[found.end():].strip()
    against = _AGAINST.match(rest)
    if against:
        return Job("", kind, (), _split(against["y"]), against["x"])
    columns = _columns(rest) or _split(match[0] if (match := re.match(_LIST, rest, re.I)) else "")
    return Job("", kind, (), columns) if columns else None


def _row(text: str) -> Job | None:
    """Read a question for the row in which a column is largest or smallest."""
    for pattern in _ON_ROW:
        found = pattern.search(text)
        if found and not re.fullmatch(rf"(?:{_ANY}|values?)(?: .*)?", found["key"], re.I):
            return Job("", "row", (_measure_of(found["word"]),), (_one(found["column"]),), found["key"])
    own = _ITS_ROW.search(text)
    job = _measure(text[: own.start()], None) if own else None
    if job and len(job.measures) == len(job.columns) == 1 and job.measures[0] in ("largest", "smallest"):
        return replace(job, kind="row", key="row")
    return None


def _measure(text: str, where: Condition | None) -> Job | None:
    """Read which numbers are asked for: of columns, or of rows."""
    if _DISTINCT.search(text):
        columns = _columns(text) or _after(text, r"different|distinct|unique")
        return Job("", "measure", ("distinct",), columns) if columns else None
    if _COUNT.search(text) or (where and _HOW_MANY.search(text)):
        return Job("", "measure", ("count",))
    words = list(re.finditer(rf"\b(?:{_MEASURE})\b", text, re.I))
    columns = (_columns(text) or _after(text, _ANY)) if words else ()
    named = [word for word in words if not any(word[0] in column for column in columns)] or words[:1]
    measures = tuple(dict.fromkeys(word.lastgroup for word in named if word.lastgroup))
    return Job("", "measure", measures, columns) if columns and measures else None


def _measure_of(word: str) -> str:
    return next(name for name, words in MEASURES.items() if re.fullmatch(words, word, re.I))


def _columns(text: str) -> tuple[str, ...]:
    """Give the columns that a question calls so, or that it puts in quotes."""
    quoted = tuple(next(filter(None, found.groups())) for found in _QUOTED.finditer(text))
    if quoted:
        return quoted
    found = (re.search(rf"\bcolumns? (?:named |called )?(?P<names>{_LIST})", text, re.I)
             or re.search(rf"(?P<the>\bthe )?(?P<names>\b{_LIST}) columns?\b", text, re.I))
    return _split(found["names"]) if found else ()


def _after(text: str, word: str) -> tuple[str, ...]:
    """Give the columns that follow a word: 'the average Close', 'the sum of Volume'."""
    found = re.search(rf".*\b(?:{word})\b (?:(?:values?|numbers?) )?(?:(?:of|in|for) )?(?:all )?(?:the )?(?P<names>{_LIST})",
                      text, re.I)
    return _split(found["names"]) if found else ()


def _split(names: str) -> tuple[str, ...]:
    """Give the names of a list."""
    parts = (re.sub(r"^the ", "", part, flags=re.I) for part in re.split(r",? and |, ", names))
    return tuple(dict.fromkeys(filter(None, map(_one, parts))))


def _one(name: str) -> str:
    """Take off what is no part of a name: a measure before it ('total Volume'), 'values' behind it."""
    name = re.sub(r" (?:values?|numbers?)$", "", name.strip(" .\"'`“”"), flags=re.I)
    first, _, rest = name.partition(" ")
    is_measure = re.fullmatch(_ANY, first, re.I)
    return rest if rest and is_measure and (first.islower() or not rest[:1].isupper()) else name
