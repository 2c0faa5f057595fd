"""Questions about a table in a file: what is asked of which columns, and of which rows.

    "What is the mean of the Close column in msft.csv?"         -> measure, mean, Close
    "How many rows of orders.csv have the Status shipped?"      -> measure, count, rows where Status is shipped
    "On which Date was Volume highest in msft.csv?"             -> row, largest, Volume, and of that row the Date
    "Plot the Close column of msft.csv, oldest first."          -> line, Close, rows turned round

A question that names no file, or nothing that can be read so, is no such question. Columns are taken as they are named:
whether the file has them is for the code to find out.
"""

import re
from dataclasses import replace

from .tables import ROW, Condition, Job

FILE = re.compile(r"[\"'`“]?(?P<name>(?:[\w-]+[/.])*[\w-]+\.csv)\b(?:'s\b)?[\"'`”]?", re.I)
_MEASURES = {
    "sum": r"sum(?:med)?(?: up)?|totals?|adds? up|added up", "mean": r"mean|averages?", "median": r"median",
    "deviation": r"standard deviation", "largest": r"largest|biggest|greatest|highest|maximum|maximal|max",
    "smallest": r"smallest|lowest|least|minimum|minimal|min",
}
_ANY = "|".join(_MEASURES.values())
_EXTREME = f"(?:{_MEASURES['largest']}|{_MEASURES['smallest']})"
_MEASURE = re.compile(rf"\b(?:{'|'.join(f'(?P<{name}>{words})' for name, words in _MEASURES.items())})\b", re.I)

_STOP = ("the|a|an|of|in|on|for|from|to|and|or|is|was|are|were|be|has|have|had|did|does|with|where|whose|which|what"
         "|that|columns?|rows?|all|each|against|over|versus|vs|by|as|it|its|if|when|using|please")
_WORD = rf"(?!(?:{_STOP})\b)[^\s,;:?!\"'`“”]+"
_NAME = rf"{_WORD}(?: {_WORD}){{0,3}}"
_LIST = rf"{_NAME}(?:, {_NAME})*(?:,? and (?:the )?{_NAME})?"
_QUOTED = re.compile(r"[\"`“]([^\"`“”]+)[\"`”]|(?<!\w)'([^']+)'(?!\w)")

_ROWS = r"(?:rows?|lines|records|entries)"
_COUNT = re.compile(rf"\bhow many (?:data )?{_ROWS}\b|\b(?:number|count) of (?:the |all )?{_ROWS}\b"
                    rf"|\bcount (?:the |all )*{_ROWS}\b|\brow count\b", re.I)
_HOW_MANY = re.compile(r"\bhow many \w+|\bnumber of \w+|\bcount\b", re.I)
_DISTINCT = re.compile(r"\b(?:how many|number of|count (?:the )?)\s*(?:different|distinct|unique)\b", re.I)
_HEADER = re.compile(r"\b(?:which|what)(?: are the)?(?: names of the)? columns\b|\bwhat is the header\b"
                     r"|\b(?:list|show|give|name)(?: me)? (?:the |all )*(?:columns|header)\b", re.I)

_ABOVE = r"(?:is |was )?(?:above|over|more than|greater than|larger than|higher than|>)"
_BELOW = r"(?:is |was )?(?:below|under|less than|fewer than|smaller than|lower than|<)"
_EQUAL = r"(?:is equal to|equal to|equals?|is|was|==?|of)"
_OF_ROWS = rf"(?:\b(?:for|in|of|over) (?:all |the |those )*{_ROWS} )?"
_VALUE = r"(?P<value>[^,;]+)$"
_WHERE = re.compile(
    rf"{_OF_ROWS}\b(?:where|whose|with|for which|in which|having|have|has) (?:the |an? )?(?P<column>{_NAME})"
    rf"(?: column)? (?P<sign>{_ABOVE}|{_BELOW}|{_EQUAL}) (?:the )?{_VALUE}", re.I)
_WHERE_SHORT = re.compile(
    rf"\b(?:with|having|have|has|(?:how many {_ROWS} )(?:is|was)) (?:the |an? )?(?P<column>{_WORD}) "
    rf"(?!columns?\b)(?:(?P<sign>{_ABOVE}|{_BELOW}|{_EQUAL}) )?{_VALUE}", re.I)
_WHERE_FOR = re.compile(rf"\bfor (?:the )?(?P<column>[A-Z]\w*) (?!columns?\b){_VALUE}")

_ORDER = re.compile(r"[,;]?\s*(?:with )?(?:the )?(?:rows )?(?:\boldest (?:\w+ )?first|\bfrom (?:the )?oldest to "
                    r"(?:the )?newest|\bin (?:the )?(?:order of time|chronological order|reversed? order)"
                    r"|\bchronologically|\breversed|\bin reverse|\breverse the rows(?:,? and)?)\b", re.I)
_PLOT = re.compile(r"\b(?P<verb>plot|draw|chart|graph|make|create|show|give|save)\b(?: me)?(?: (?:a|the))?"
                   r"(?: (?P<kind>line|bar|scatter))?(?: ?(?P<what>plot|chart|graph|diagram|histogram|picture))?"
                   r"(?: of)?(?: the)?\b", re.I)
_AGAINST = re.compile(rf"^(?:values? of )?(?:the )?(?P<y>{_LIST})(?: columns?)? "
                      rf"(?P<how>against|versus|vs\.?|over|by|as a function of) (?:the )?(?P<x>{_NAME})", re.I)
_DATED = re.compile(r"date|day|week|month|year|time", re.I)  # an axis for which the order of the rows will do
_ON_ROW = (
    re.compile(rf"\b(?:which|what|the) (?P<key>{_NAME}|row) (?:has|had|have|with|of|for) (?:the )?(?P<word>{_EXTREME})"
               rf" (?:values? (?:of|in) )?(?:the )?(?P<column>{_NAME})", re.I),
    re.compile(rf"\bwhich (?P<key>{_WORD}) \w+ the (?P<word>{_EXTREME}) (?P<column>{_NAME})", re.I),
    re.compile(rf"\b(?:which|what) (?P<key>{_NAME}|row) (?:is|was|were|had|has) (?:the )?(?P<column>{_NAME})"
               rf"(?: column)? (?:at )?(?:its |the )?(?P<word>{_EXTREME})\b", re.I),
)
_PARTS = re.compile(r",? and (?:then )?(?=(?:plot|draw|make|count|sum|find|compute|calculate|what|how many)\b)"
                    r"|(?<=[.?!]) (?=[A-Z])", re.I)
# What no rule covers: better no code than code that leaves it out.
_BEYOND = re.compile(r"\b(?:differences?|squares?|squared|minus|plus|times|divided|ratio|percent(?:age)?|correlation"
                     r"|per|(?:for|of|by|in) each|grouped|group|between|(?:first|last) \d+|e-?mail|send|delete|remove"
                     r"|write)\b", re.I)
_LEFT = re.compile(rf"\b(?:where|whose)\b|\b(?:have|has|having|with) [^.]*(?:{_ABOVE}|{_BELOW}) \S", re.I)
_ITS_ROW = re.compile(r",? and (?:(?:(?:in|on) )?which row\b|(?:(?:give|show|name) )?(?:me )?(?:the|its) (?:whole )?"
                      r"row\b).*$", re.I)


def jobs_in(question: str, file: str = "") -> tuple[Job, ...]:
    """Read what a question asks of a table, one thing or several; `file` is the one that was spoken of before."""
    found = FILE.search(question)
    file = found["name"] if found else file
    if not file:
        return ()
    several = [_job(part, file) for part in _PARTS.split(question)]
    jobs = several if all(several) else [_job(question, file)]
    return tuple(filter(None, jobs))


def _job(question: str, file: str) -> Job | None:
    """Read one question about a table."""
    found = FILE.search(question)
    file = found["name"] if found else file
    text = re.sub(r"\b(?:again|please)\b", "", _without_file(question))
    is_reversed = bool(_ORDER.search(text))
    text, where = _condition(_ORDER.sub("", text).strip(" ?!.,"))
    if _BEYOND.search(text) or _LEFT.search(text):
        return None
    job = _header(text) or _plot(text) or _row(text) or _measure(text, where)
    return replace(job, file=file, where=where, is_reversed=is_reversed) if job else None


def _without_file(question: str) -> str:
    """Cut the name of the file out, with the words that lead to it, and 'with Python'."""
    file = FILE.pattern.replace("?P<name>", "?:")
    lead = r"(?:\b(?:in|of|from|for|to|with|by)\s+)?(?:\b(?:the|my|this)\s+)?(?:\b(?:csv\s+)?file\s+)?"
    text = re.sub(f"{lead}{file}", " ", question, flags=re.I)
    text = re.sub(r"\b(?:with|using|in) (?:the )?python(?: tool)?\b", "", text, flags=re.I)
    return re.sub(r"\s+([,;.?!])", r"\1", re.sub(r"\s+", " ", text)).strip()


def _condition(text: str) -> tuple[str, Condition | None]:
    """Cut the condition off a question: 'where Status is shipped'."""
    for found in filter(None, _conditions(text)):
        said = found.groupdict().get("sign") or ""
        sign = ">" if re.fullmatch(_ABOVE, said, re.I) else "<" if re.fullmatch(_BELOW, said, re.I) else "=="
        if re.search(r"\b(?:and|or)\b", found["value"]) and not _QUOTED.search(found["value"]):
            continue  # two conditions, or something else that is asked
        where = Condition(found["column"].strip(), sign, found["value"].strip(" .?!\"'`“”"))
        if re.match(_EXTREME, where.column, re.I) or (sign != "==" and not where.is_number):
            continue  # 'Which Date has the highest Close of all?'
        kept = "how many rows" if _COUNT.search(found[0]) else ""
        rest = f"{text[:found.start()]}{kept}".strip(" ,")
        if _row(rest) or _measure(rest, where):
            return rest, where
    return text, None


def _conditions(text: str) -> list[re.Match | None]:
    """Give the ways to find a condition in a question."""
    counts = _HOW_MANY.search(text) and not _DISTINCT.search(text)
    return [_WHERE.search(text), _WHERE_SHORT.search(text) if counts else None, _WHERE_FOR.search(text)]


def _header(text: str) -> Job | None:
    return Job("", "header") if _HEADER.search(text) else None


def _plot(text: str) -> Job | None:
    """Read what is to be drawn: columns, alone or against another."""
    found = _PLOT.search(text)
    if found is None or not (found["what"] or found["verb"].lower() in ("plot", "draw", "chart", "graph")):
        return None
    kind = {"bar": "bars", "scatter": "scatter"}.get((found["kind"] or "").lower(), "line")
    kind = "histogram" if (found["what"] or "").lower() == "histogram" else kind
    rest = text[found.end():].strip()
    against = _AGAINST.match(rest)
    if against:
        kind = "bars" if against["how"].lower() == "by" else kind
        key = "" if kind == "line" and _DATED.search(against["x"]) else against["x"]
        return Job("", kind, (), _split(against["y"]), key)
    first = re.match(_LIST, rest, re.I)
    columns = _columns(rest) or (_split(first[0]) if first else ())
    return Job("", kind, (), columns) if columns else None


def _row(text: str) -> Job | None:
    """Read a question for the row in which a column is largest or smallest."""
    for pattern in _ON_ROW:
        found = pattern.search(text)
        if found and not re.fullmatch(rf"(?:{_ANY}|values?)(?: .*)?", found["key"], re.I):
            key = ROW if found["key"].lower() == ROW else found["key"]
            return Job("", "row", (_measures_in(found["word"])[0],), (_one(found["column"]),), key)
    own = _ITS_ROW.search(text)
    job = _measure(text[: own.start()], None) if own else None
    if job and len(job.columns) == 1 and job.measures in (("largest",), ("smallest",)):
        return replace(job, kind="row", key=ROW)
    return None


def _measure(text: str, where: Condition | None) -> Job | None:
    """Read which numbers are asked for: of columns, or of rows."""
    if _DISTINCT.search(text):
        columns = _columns(text) or _after(text, "different|distinct|unique")
        return Job("", "measure", ("distinct",), columns) if columns else None
    if _COUNT.search(text) or (where and _HOW_MANY.search(text)):
        return Job("", "measure", ("count",))
    columns = _columns(text) or _after(text, _ANY)
    measures = _measures_in(re.sub("|".join(map(re.escape, columns)), "", text)) if columns else ()
    measures = measures or _measures_in(text)
    return Job("", "measure", measures, columns) if columns and measures else None


def _measures_in(text: str) -> tuple[str, ...]:
    """Give the measures that a text names, each once."""
    return tuple(dict.fromkeys(found.lastgroup for found in _MEASURE.finditer(text)))


def _columns(text: str) -> tuple[str, ...]:
    """Give the columns that a question calls so, or that it puts in quotes."""
    quoted = tuple(next(filter(None, found.groups())) for found in _QUOTED.finditer(text))
    if quoted:
        return quoted
    before = re.search(rf"\b(?P<names>{_LIST}) columns?\b", text, re.I)
    after = re.search(rf"\bcolumns? (?:named |called )?(?P<names>{_LIST})", text, re.I)
    if before and after and re.fullmatch(rf"(?:.* )?(?:{_ANY}|plot|draw)", before["names"], re.I):
        before = None  # 'sum column Volume'
    found = before or after
    return _split(found["names"]) if found else ()


def _after(text: str, word: str) -> tuple[str, ...]:
    """Give the columns that follow a word: 'the average Close', 'the sum of Volume'."""
    found = re.search(rf".*\b(?:{word})\b (?:(?:values?|numbers?) )?(?:(?:of|in|for) )?(?:all )?(?:the )?"
                      rf"(?P<names>{_LIST})", text, re.I)
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
