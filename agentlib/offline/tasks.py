"""Instructions that are no questions, as a workflow gives them: choose a label, extract a value, write a query.

A list of labels in the prompt is chosen from as tools are, by what the question needs first. An extraction takes the
first value of the right kind that the text states; of a question it takes the names. A query is what the model itself
would pass to a tool. All three answer with the bare words. They are read only where no tools are offered.
"""

import re
from dataclasses import replace

from .choosing import SIGNS
from .finding import joined
from .needs import Both, Claim, Either, Exact, Formula, Need, Pick, Talk, Weather, names_in
from .notes import Note
from .offered import Tool
from .outcomes import Mind, Want
from .passages import otherwise
from .patterns import statements
from .phrases import relation_of
from .questions import understand
from .relations import BY_NAME, TABLE
from .words import MEASURE, NAME, YEAR, clean_name, same_name, sentences, word_set, words

_ONE = r"[\"'`“]?[\w-]+(?: [\w-]+){0,2}?[\"'`”]?"
_LIST = re.compile(
    r"(?:\b(?:classify|categori[sz]e|label|route|sort|choose|pick|decide)\b[^:]*?(?::|\b(?:as|into|to|between|from|of)\b)"
    r"|\b(?:one of|one word|labels?|categories|options|(?:which|what) (?:kind|type|category|label|tool)\b)[^:]*?:"
    r"|\b(?:is it|is this|is the)(?: (?:a )?question)?(?: about| on| for)?(?: the)?)"
    rf"\s*(?P<list>{_ONE}(?:, {_ONE})*,? or {_ONE}|{_ONE}(?:, {_ONE})+(?:,? and {_ONE})?)(?=[.?!:;]|$)", re.I)
_BULLETS = re.compile(r"^[ \t]*[-*•][ \t]*[\"'`]?([\w-]+)[\"'`]?(?:[ \t]*[:–—(-][ \t]*(.*))?$", re.M)
_CHOOSE = re.compile(r"\b(?:classify|categor\w+|route|label|choose|pick|which (?:kind|type)|one of)\b", re.I)
_OTHER = word_set("other none general unknown neither chat smalltalk talk direct else")
_QUERY = re.compile(r"\b(?:write|give|what|formulate|turn|rewrite|reply|return)\b[^.\n]*\b(?:query|expression"
                    r"|search (?:terms?|words?))\b|\bwhat would you (?:search|look)", re.I)
_WHERE = "(?:question|text|passage|article|context|sentence|paragraph|document|observation|result)s?"
_EXTRACT = (
    re.compile(r"(?i:please )?(?i:extract|give|name|return|write down|list|copy|output|find|pick out)(?i: me)?"
               r"(?i: only| just)?(?i: the| all| any)* (?P<what>[\w' -]+?)"
               r"(?: (?:that|which|who) (?:is|are|was) (?:named|mentioned|given))?"
               rf"(?: (?:in|from|of|mentioned in|named in) (?:the|this|that) (?P<where>{_WHERE}))?[.:]?"),
    re.compile(r"(?i:which|what) (?:name|person|place|city|number|year|company)"
               rf"(?: in (?:the|this) (?P<where>{_WHERE}))? is (?:the |its )?(?P<what>[\w' -]+?)\??"),
    re.compile(rf"(?i:which|what) (?P<what>[a-z]+) (?:does|do) the (?P<where>{_WHERE}) (?:name|mention|ask about)\??"),
)
_KINDS = {"person": "person", "people": "person", "man": "person", "woman": "person", "name": "person",
          "company": "company", "companies": "company", "city": "place", "cities": "place", "place": "place",
          "country": "place", "location": "place", "year": "year", "date": "year", "number": "number",
          "figure": "number", "university": "university"}


def task_of(mind: Mind) -> Need | None:
    """Do what the prompt instructs, if it is one of the three tasks; None if it asks a question like any other."""
    reading = mind.reading
    told = reading.instructions
    if "Action:" in told or reading.action_style == "native":
        return None
    labels = _labels(told)
    if labels:
        return Exact(_best(labels, reading.question, kind_of_tool(understand(reading.question, reading.earlier))))
    if _QUERY.search(told) or _QUERY.search(reading.question):
        return Exact(_query(mind))
    for line in (reading.question, *sentences(told)):
        found = next(filter(None, (pattern.fullmatch(line) for pattern in _EXTRACT)), None)
        what = re.sub(r"^(?:(?:full )?names? of (?:the |all )?)|'s name$", "", found.group("what")) if found else ""
        if what and (relation_of(what) or _kind_of(what)):
            value = _extracted(mind, what, found.group("where") or "")
            return Exact(value or otherwise(told) or "The text does not say.")
    return None


def _labels(told: str) -> dict[str, str]:
    """Give the labels that a prompt lists, each with its description."""
    found = next((m for line in told.splitlines() for m in [_LIST.search(line)] if m), None)
    if found:
        names = re.split(r",? (?:or|and) |, ", found.group("list"))
        return {re.sub(r"^(?:(?:the|an?|or|and) )+", "", name.strip("\"'`“” ")): "" for name in names}
    return dict(_BULLETS.findall(told)) if _CHOOSE.search(told) else {}


def _best(labels: dict[str, str], question: str, kind: str) -> str:
    """Choose the label that fits a kind of need best; else one that fits no kind at all; else the last."""
    own = {label: set(words(f"{label} {about}".replace("_", " "))) for label, about in labels.items()}
    signs, asked = SIGNS.get(kind, _OTHER), set(words(question))
    fits = {label: 2 * len(own[label] & signs) + len(own[label] & asked) for label in labels}
    best = max(labels, key=lambda label: fits[label])
    if fits[best]:
        return best
    of_any_kind = frozenset().union(*SIGNS.values())
    return next((label for label in labels if not own[label] & of_any_kind), [*labels][-1])


def kind_of_tool(need: Need) -> str:
    """Say what a need asks for first: search, weather, sum, or talk."""
    match need:
        case Weather():
            return "weather"
        case Formula(parts=()):
            return "sum"
        case Formula(parts=parts) | Both(parts=parts) | Pick(measures=parts) | Either(ways=parts):
            return kind_of_tool(parts[0])
        case Claim(fact=inner):
            return kind_of_tool(inner)
    return "talk" if isinstance(need, Talk) else "search"


def _query(mind: Mind) -> str:
    """Give what the model would pass to a tool for the question."""
    tools = tuple(Tool(kind, ("query",), kind) for kind in SIGNS)
    asking = Mind(replace(mind.reading, tools=tools, has_format=False), mind.procedure)
    want = asking.settle(understand(mind.reading.question, mind.reading.earlier))
    if not isinstance(want, Want):
        return mind.reading.question
    text = str(want.call.arguments[0][1])
    return f"weather in {text}" if want.kind == "weather" else text


def _extracted(mind: Mind, what: str, where: str) -> str:
    """Give what is to be extracted: of a text its values of that kind, of a question its names."""
    notes = mind.reading.given
    if where == "question" or not notes:
        return joined(tuple(names_in(understand(mind.reading.question, mind.reading.earlier))))
    relation = relation_of(what)
    kind = _kind_of(what)
    values = [value for note in notes for value in _stated(note, kind, relation)]
    if kind != "place":
        values = [name for value in values for name in re.split(r", and |, | and ", value)]
    elif what.endswith(("city", "cities")):
        values = [value.split(",")[0] for value in values]
    return joined(tuple(dict.fromkeys(values))) if what.endswith(("s", "people")) else (values or [""])[0]


def _kind_of(what: str) -> str:
    """Give the kind of thing that a noun names: a person, a place, a year; or an empty text."""
    noun = what.split()[-1].lower()
    return _KINDS.get(noun) or _KINDS.get(noun.removesuffix("s"), "")


def _stated(note: Note, kind: str, relation: tuple[str, str] | None) -> list[str]:
    """Give the values of a kind, or of one relation, that an article states, the likeliest first."""
    about_person = bool(re.search(r"\b(?:He|She|he|she)\b", note.body))
    if note.title and kind == ("person" if about_person else "company"):
        return [note.title]
    rows = [BY_NAME[relation[0]]] if relation and not kind else [row for row in TABLE if row.kind == kind]
    names = [clean_name(found.group("v")) for row in rows for pattern in statements(row.name)
             for sentence in note.sentences for found in pattern.finditer(sentence)]
    if not any(names) and kind:
        names = map(clean_name, re.findall({"year": YEAR, "number": MEASURE}.get(kind, NAME), note.body))
    return [name for name in names if name and not same_name(name, note.title)]
