"""From the goal of a plan to its parts: what is asked of each thing, what is asked besides, and what closes it.

"Compare Intel and AMD: who is the CEO of each, and where did each CEO study? Write a short report." asks two things of
each of two companies, and closes with a report. A goal is read clause by clause; what the grammar of questions can
take apart by itself (a comparison, a sum, a list) is left to it.
"""

import re
from dataclasses import dataclass

from .clauses import clauses, closing_of, lowered, makes, speaks_of_all
from .combining import is_combination
from .comparisons import WORDS_OF_DEGREE, measured
from .figures import degree_in
from .journeys import choice_in, day_of, legs_of
from .listing import OF_WORKS
from .needs import Both, Either, Fact, Formula, Name, Need, Open, Pick, names_in
from .phrases import relation_of
from .questions import understand
from .things import CLASSES, for_each, one_of
from .verbal import question_for
from .words import NAME, sentences

_JOINT = r"(?:,? (?:and|or) |, )(?:(?:of|in|at|for|from|by) )?(?:the )?"
_NAMES = re.compile(rf"(?<!\w){NAME}(?:{_JOINT}{NAME})+")
_SPLIT = re.compile(rf"{_JOINT}(?={NAME})")
_HEAD = re.compile(r"^(?:(?:please )?(?:compare|study|research|consider|take|look at)|for(?: each of)?|of(?: each of)?"
                   r"|about|regarding)(?: the)?(?: [a-z]+){0,2}? "
                   r"\{x\}(?:\s*[:,–-]\s*(?P<rest>.+)| (?:by|and) (?P<more>.+))?$", re.I)
_COMPARE = re.compile(r"(?:please )?compare (?:the )?(?=.*\{x\})", re.I)
_OF_CLASS = re.compile(rf"(?:\b(?:the|these|those) )?(?:\b(?:two|three|four|five|six|\d+) )?\b{CLASSES}[,:]? \{{x\}},?")
_AT_END = re.compile(rf"^(?:for (?:each|all) of (?:these|those|the following)(?: {CLASSES})?,? )?(.+?): \{{x\}}\W*$",
                     re.I)
_ABOUT = re.compile(r".*?\b(?:on|about|of) (?P<what>.*\{x\}.*)$")
_WHOLE = re.compile(r",? (?:in total|altogether|in all|together|combined)\b", re.I)
_OPERATION = re.compile(r"\b(?:the )?(?:sum|total|difference|average) (?:(?:of|in|between) )?(?:the )?")
_PRONOUN = re.compile(r"\b(?:he|she|it|they)\b|\b(?P<of>his|her|its|their)\b|\b(?P<there>there)\b")
_MOST = 9  # things that the same is asked of


@dataclass(frozen=True)
class Goal:
    """The parts of a goal. Each of `asks` holds {x} for the things; `besides` are asked once, in turn where each leans
    on the one before; `legs` are those of a journey."""

    things: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()
    in_turn: bool = False
    legs: tuple[tuple[str, str], ...] = ()
    when: str = ""
    closing: str = ""


def parts_of(text: str) -> Goal:
    """Take a goal apart. One that is a single question has one part: itself."""
    text = " ".join(text.split())
    legs, behind = legs_of(text)
    if legs:
        return _journey(text, legs, behind)
    return _of_each(text) or _by_grammar(text) or _clause_by_clause(text) or Goal(besides=(text,))


# -- the same of each thing


def _of_each(text: str) -> Goal | None:
    """Take apart a goal that asks the same of several things."""
    listed = _list_in(text)
    things = tuple(dict.fromkeys(_SPLIT.split(listed)))
    if not 2 <= len(things) <= _MOST or _is_title(listed, text):
        return None
    marked = re.sub(re.escape(listed), "{x}", text, count=1, flags=re.I)
    marked = _OF_CLASS.sub("{x}", re.sub(re.escape(listed), "them", marked, flags=re.I))
    marked = _AT_END.sub(r"\1", marked)
    asks: list[str] = []
    closing: list[str] = []
    for clause in _bodies(marked, closing):
        if makes(clause) and "{x}" not in clause:
            closing.append(clause)
        elif makes(clause):
            asks.append(_ask_of_report(clause))
            closing.append(clause)
        elif speaks_of_all(clause) or (degree_in(clause) and is_combination(clause)):
            ask = _measure(clause, things, text) if not asks or "{x}" in clause else ""
            asks += [ask] if ask else []
            closing.append(clause)
        else:
            asks.append(for_each(clause, asks))
    asks = [ask for ask in dict.fromkeys(asks) if "{x}" in ask]
    return Goal(things, tuple(asks), closing=closing_of(closing).replace("{x}", listed)) if asks else None


def _list_in(text: str) -> str:
    """Give the first list of names in a text; of 'the CEOs of Intel and AMD' the companies."""
    found = _NAMES.search(lowered(text))
    listed = found[0] if found else ""
    head = re.match(r"([\w ]+?) (?:of|at|in) (?:the )?(?=[A-Z])", listed)
    is_noun = head and head[1].endswith("s") and relation_of(one_of(head[1]))
    return listed[head.end():] if is_noun else listed


def _is_title(listed: str, text: str) -> bool:
    """Say whether the list is, or holds, the title of a work, as the grammar reads it: War and Peace is one book."""
    facts = [fact for fact in _facts(understand(text)) if fact.relation in OF_WORKS and isinstance(fact.of, Name)]
    return any(" and " in fact.of.text and fact.of.text in listed for fact in facts)


def _facts(need: Need) -> list[Fact]:
    parts = need.parts if isinstance(need, Both) else _ways(need)[:1]
    return [part for part in parts if isinstance(part, Fact)]


def _ways(need: Need) -> tuple[Need, ...]:
    return need.ways if isinstance(need, Either) else (need,)


def _bodies(marked: str, closing: list[str]) -> list[str]:
    """Give the clauses of a goal, without a head that only names the things; 'compare' is to be done at the end."""
    found: list[str] = []
    for clause in clauses(marked):
        head = _HEAD.match(clause)
        if not head or (re.match(r"(?:please )?compare\b.*\{x\}$", clause, re.I) and clause.count(" ") > 1):
            found.append(clause)
            continue
        if re.match(r"(?:please )?compare", clause, re.I):
            closing.append("compare them")
        found += clauses(head["rest"] or head["more"] or "")
    return found


def _ask_of_report(clause: str) -> str:
    """Give the question behind a report or a comparison: 'a report on the CEOs of {x}' asks who the CEO of {x} is."""
    compared = _COMPARE.match(clause)
    about = _ABOUT.match(clause)
    what = clause[compared.end():] if compared else about["what"] if about else ""
    what = re.sub(r"^the ", "", what)
    noun = re.match(r"(\w+) of \{x\}", what)
    if noun and noun[1].endswith("s") and not relation_of(one_of(noun[1])):
        return f"find the {what}"
    known = relation_of(one_of(noun[1])) if noun else None
    what = f"{one_of(noun[1])}{what[noun.end(1):]}" if noun else what
    what = what if what.startswith("{x}") else f"the {what}"
    return for_each(f"{'who' if known and known[1] == 'person' else 'what'} is {what}", []) if "{x}" in what else ""


def _measure(clause: str, things: tuple[str, ...], text: str) -> str:
    """Give the question whose answers are to be compared or added up."""
    degree = degree_in(clause)
    if degree and degree[0] in WORDS_OF_DEGREE:
        question = question_for(measured(degree[0], (things[0], things[1]), text)[1][0])
        return question.strip("?").replace(things[0], "{x}") if question else ""
    bare = _WHOLE.sub("", _OPERATION.sub("the ", clause))
    return for_each(bare, []) if "{x}" in bare else ""


# -- other goals


def _journey(text: str, legs: tuple[tuple[str, str], ...], behind: str) -> Goal:
    """Put together a journey; what else the goal asks for comes besides, or closes it."""
    rest = [clause for clause in clauses(behind) if len(clause.split()) > 2]
    made = [clause for clause in rest if makes(clause) or is_combination(clause)]
    choice = choice_in(text)
    if choice and len(legs) == 1:
        made = [f"find the {choice} way from {legs[0][0]} to {legs[0][1]}"]
    others = tuple(each for each in rest if each not in made)
    return Goal(besides=others, legs=legs, when=day_of(text), closing=closing_of(made))


def _by_grammar(text: str) -> Goal | None:
    """Take apart what the grammar understands as several needs of their own."""
    need = _ways(understand(text))[0] if len(sentences(text)) == 1 else Open(text)
    asks = [question_for(part) for part in _parts(need)]
    if len(set(asks)) < 2 or not all(asks):
        return None
    return Goal(besides=tuple(asks), closing="" if isinstance(need, Both) else text.rstrip("?.! "))


def _parts(need: Need) -> tuple[Need, ...]:
    """Give the parts of a comparison, a sum or a list that are asked for by themselves."""
    match need:
        case Pick(measures=parts):
            return parts
        case Formula("{0} + {1}" | "abs({0} - {1})" | "({0} + {1}) / 2" | "({0} + {1} + {2}) / 3", parts):
            return parts
        case Both(parts) if len({name for part in parts for name in names_in(part)}) > 1:
            return parts
    return ()


def _clause_by_clause(text: str) -> Goal | None:
    """Take each clause as a part, where there are several that stand for themselves, or lean on the one before."""
    found = clauses(text)
    made = [each for each in found if makes(each) or speaks_of_all(each)]
    asks = [clause for clause in found if clause not in made]
    leaning = [bool(_PRONOUN.search(clause)) for clause in asks]
    alone = [bool(re.search(rf"(?<!^){NAME}", clause)) for clause in asks]
    if len(asks) < 2 or (re.match(r"(?:who|what|when|where|which|how)\b", text, re.I) and any(leaning)):
        return None
    if all(alone):
        return Goal(besides=tuple(asks), closing=closing_of(made))
    spoken_of = re.search(rf"\bthe [a-zA-Z ]+? of {NAME}", asks[0])
    if alone[0] and spoken_of and all(leaning[1:]):
        bare = [re.sub(r"^(?:then|and|also),? ", "", clause, flags=re.I) for clause in asks]
        named = [bare[0], *(_PRONOUN.sub(lambda m: _instead(m, spoken_of[0]), clause) for clause in bare[1:])]
        return Goal(besides=tuple(named), in_turn=True, closing=closing_of(made))
    return None


def _instead(pronoun: re.Match, name: str) -> str:
    return f"{name}'s" if pronoun["of"] else f"in {name}" if pronoun["there"] else name
