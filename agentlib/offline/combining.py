"""What is made of several results: a report, the thing with the highest figure, a difference, a sum, a mean, what comes
up most often.

The results stand as lines `- Oslo: The temperature in Oslo is 9 °C.` behind the words `From these results:`. What is to
be made of them is told by the words before. Figures and names are read off the results as they are: another result
gives another answer. Sums become formulas, so that a calculator works them out where there is one.
"""

import re
from collections import Counter

from .arithmetic import in_head
from .clues import names
from .figures import Figure, Result, degree_in, figures_in, figures_of, names_in_result, values_in, with_cents
from .finding import joined
from .needs import Both, Exact, Formula, Need
from .reading import Reading
from .settling import expression
from .words import mentions, plain

FROM_RESULTS = "From these results:"
NOT_KNOWN = "Not known:"
_SAY = re.compile(r"Say: \"(.+)\"", re.S)
_LINE = re.compile(r"^- (?P<label>[^\n:]+): (?P<text>.*?)(?=^- |^Not known: [^\n]+\Z|\Z)", re.M | re.S)
_MISSING = re.compile(r"^Not known: (?P<what>[^\n]+)\Z", re.M)
_COMMON = re.compile(r"\bwhich (?P<noun>\w+)\b.*\bmost (?:often|common\w*|frequent\w*)|\bmost (?:common|frequent)"
                     r" (?P<other>\w+)|\bmost often\b", re.I)
_DIFFERENCE = re.compile(r"\bdifferences? |\bhow far apart\b|\bby how m(?:uch|any)\b|\bapart\b"
                         r"|\bhow m(?:uch|any)\b[^?.]*\bthan\b", re.I)
_SUM = re.compile(r"\b(?:sum|totals?|altogether|in all|combined|together|add(?:ed)? up)\b", re.I)
_MEAN = re.compile(r"\b(?:average|mean)\b", re.I)
_EACH = re.compile(r"\beach\b|\bsums\b|\btotals\b", re.I)
_REPORT = re.compile(r"\b(?:report|summary|summar|overview|compar|table)", re.I)
_HEADS = {"report": "Report on", "ompar": "Comparison of", "": "Summary of"}
_NO_NOUN = ("most", "more", "least", "less", "before", "after")


def of_results(reading: Reading) -> Need | None:
    """Give what a task makes of results: of those behind its words, else of those that it was given; None if it asks
    for anything else."""
    said = _SAY.fullmatch(reading.question)
    if said:
        return Exact(said[1])
    results = tuple(Result(_short(entry.instruction), entry.text) for entry in reading.results)
    return combination(reading.question, results)


def combination(text: str, results: tuple[Result, ...] = ()) -> Need | None:
    """Give what an instruction makes of the results behind its words, or else of the given ones."""
    asked, found, listed = text.partition(FROM_RESULTS)
    if found:
        inline = tuple(Result(line["label"], line["text"].strip()) for line in _LINE.finditer(listed))
        missing = _MISSING.search(listed)
        return combined(asked.strip(), inline, missing["what"].strip() if missing else "")
    return combined(text, results, "") if len(results) > 1 and is_combination(text) else None


def _short(instruction: str) -> str:
    """Name a task by the last name in its instruction, or by all of it."""
    return (names(instruction) or (instruction.strip(" ?."),))[-1]


def is_combination(text: str) -> bool:
    """Say whether words ask for something that is made of results."""
    return bool(_REPORT.search(text) or _COMMON.search(text) or _DIFFERENCE.search(text) or _SUM.search(text)
                or _MEAN.search(text) or degree_in(text))


def combined(asked: str, results: tuple[Result, ...], missing: str) -> Need:
    """Make of results what is asked for."""
    chosen = _named(asked, results)
    for made in (_most_often, _sums, _difference, _mean, _superlative):
        need = made(asked, chosen)
        if need:
            return _with_missing(need, missing)
    return _with_missing(Exact(_report(asked, chosen)), missing)


def worked_out(need: Need) -> str:
    """Give a combination as text, sums done in the head."""
    match need:
        case Formula(template, _, said):
            number = in_head(template)
            return with_cents(said.replace("{v}", plain(number))) if number is not None else ""
        case Both(parts):
            return "; ".join(map(worked_out, parts))
        case Exact(text):
            return text
    return ""


def _named(asked: str, results: tuple[Result, ...]) -> tuple[Result, ...]:
    """Give the results of the things that are named in what is asked; all, where it names fewer than two."""
    chosen = tuple(each for each in results if mentions(asked, each.label))
    return chosen if len(chosen) > 1 else results


def _with_missing(need: Need, missing: str) -> Need:
    """Say at the end what is not known."""
    if not missing:
        return need
    told = f"{NOT_KNOWN} {missing}"
    match need:
        case Formula(template, parts, said):
            return Formula(template, parts, f"{said}. {told}")
        case Both(parts):
            return Both((*parts[:-1], _with_missing(parts[-1], missing)))
    return Exact(f"{need.text}\n{told}")


# -- kinds


def _most_often(asked: str, results: tuple[Result, ...]) -> Need | None:
    found = _COMMON.search(asked)
    if not found:
        return None
    noun = (found["noun"] or found["other"] or "").lower()
    counts = Counter(value for each in results for value in dict.fromkeys(values_in(each, noun)))
    if not counts:
        return Exact(f"The results name no {noun or 'such thing'}.")
    most = max(counts.values())
    winners = [value for value in counts if counts[value] == most]
    where = {value: [each.label for each in results if value in values_in(each, noun)] for value in winners}
    said = "; ".join(f"{value} ({joined(tuple(labels))})" for value, labels in where.items())
    if most == 1 and len(winners) > 1:
        return Exact(f"None comes up more than once: {said}.")
    often = "once" if most == 1 else "twice" if most == 2 else f"{most} times"
    return Exact(f"{said}: {often}, more than any other." if len(winners) == 1 else f"{said}: {often} each.")


def _sums(asked: str, results: tuple[Result, ...]) -> Need | None:
    if not _SUM.search(asked):
        return None
    found = [(each, figures_in(asked, each)) for each in results]
    own = [(each.label, figures) for each, figures in found if figures]
    if not own:
        return Exact("The results give no figures to add up.")
    parts = [_sum(figures, f"{label}: {figures[0].written}") for label, figures in own] if _EACH.search(asked) else []
    if not parts or (len(own) > 1 and re.search(r"\b(?:in all|altogether|combined|together)\b", asked)):
        every = [figure for _, figures in own for figure in figures]
        parts.append(_sum(every, f"{joined(tuple(label for label, _ in own))} together: {every[0].written}"))
    return _with_missing(Both(tuple(parts)) if len(parts) > 1 else parts[0], _without(results, [n for n, _ in own]))


def _sum(figures: list[Figure], said: str) -> Formula:
    return Formula(_expression(" + ", figures), (), said)


def _difference(asked: str, results: tuple[Result, ...]) -> Need | None:
    if not _DIFFERENCE.search(asked):
        return None
    found = figures_of(asked, results)
    if len(found) < 2:
        return None
    low, high = min(found, key=lambda each: each.value), max(found, key=lambda each: each.value)
    said = f"The difference is {low.written}: {high} less {low}"
    need = Formula(_expression(" - ", [high, low]), (), said)
    return _with_missing(need, _without(results, [each.label for each in found]))


def _mean(asked: str, results: tuple[Result, ...]) -> Need | None:
    if not _MEAN.search(asked):
        return None
    found = figures_of(asked, results)
    if not found:
        return None
    said = f"The average of {_told(found)} is {found[0].written}"
    need = Formula(f"({_expression(' + ', found)}) / {len(found)}", (), said)
    return _with_missing(need, _without(results, [each.label for each in found]))


def _superlative(asked: str, results: tuple[Result, ...]) -> Need | None:
    degree = degree_in(asked)
    found = figures_of(asked, results) if degree else []
    if not found:
        return None
    word, highest = degree
    best = (max if highest else min)(each.value for each in found)
    winners = [each for each in found if each.value == best]
    others = [each for each in found if each not in winners]
    verb = "is" if len(winners) == 1 else "are"
    others.sort(key=lambda each: each.value, reverse=highest)
    place = "first" if word in _NO_NOUN else f"the {word}"
    then = f"; then {_told(others)}" if others else ""
    need = Exact(f"{_told(winners)} {verb} {place}{then}.")
    return _with_missing(need, _without(results, [each.label for each in found]))


def _told(figures: list[Figure]) -> str:
    return joined(tuple(map(str, figures)))


def _report(asked: str, results: tuple[Result, ...]) -> str:
    """Tell all results, and what several of them name."""
    lines = [f"{each.label}: {each.text.rstrip('.')}." for each in results]
    if not _REPORT.search(asked):
        return "\n".join(lines)
    own = {each.label: names_in_result(each) for each in results}
    where = {name: tuple(label for label in own if name in own[label]) for names in own.values() for name in names}
    shared = [f"{name} ({joined(labels)})" for name, labels in where.items() if len(labels) > 1]
    common = [f"In common: {'; '.join(shared)}."] if shared else []
    head = next(head for sign, head in _HEADS.items() if sign in asked.lower())
    return "\n".join([f"{head} {joined(tuple(own))}.", *lines, *common])


def _without(results: tuple[Result, ...], labels: list[str]) -> str:
    """Name the results that gave nothing to reckon with."""
    return ", ".join(f"the figure of {each.label}" for each in results if each.label not in labels)


def _expression(sign: str, figures: list[Figure]) -> str:
    return expression(sign.join(f"{{{place}}}" for place in range(len(figures))), [each.value for each in figures])
