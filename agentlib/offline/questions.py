"""From a question to the tree of what it needs: a small recursive grammar.

A noun phrase is a name ("DeepMind"), a relation of a noun phrase ("the CEO of ...", "...'s CEO"), or a relative clause
("the city where ... has its headquarters"). A question asks for one of them, for a weather report, for a number, or for a
comparison of several.
"""

import re
from functools import lru_cache

from .amounts import compare, compute, event
from .needs import Both, Claim, Fact, Formula, Name, Need, Open, Pick, Talk, Weather
from .relations import BY_NAME, noun_pattern, questions
from .words import NAME, clean_name, words

_POLITE = re.compile(r"^(?:(?:hello|hi|hey|please|ok|okay|well|so|and|now|then|also|just)\b[,!. ]+|(?:can|could|would|will) you (?:please )?"
                     r"(?:tell me|find out|look up|say|help me find|check|calculate|compute|work out|give me|show me)[, ]+"
                     r"|(?:please )?(?:tell me|find out|look up|find|give me|name|show me|check|say me|calculate|compute|work out|determine"
                     r"|evaluate|state) (?!me\b)|i (?:would like|'d like|want|need) to know[, ]+|i wonder[, ]+|do you (?:happen to )?know[, ]+|take (?=\d)"
                     r"|quick question[:,] |question: |using the tools[, ]+|what do you think[,:] )", re.I)
_TAIL = re.compile(r"(?:,? (?:please|right now|at the moment|today|now|currently|tonight|tomorrow|this morning|and tell me the (?:result|answer)|and give me the (?:result|answer)|these days|thanks|thank you|for me|exactly"
                   r"|again|in your opinion))+$", re.I)
_TALK = (
    ("thanks", r"(?:many )?(?:thanks|thank you|thx|cheers)\b.{0,40}"),
    ("hello", r"(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|greetings)\b.{0,20}|(?:please )?(?:say|greet).{0,20}\b(?:hello|hi)\b.{0,40}"),
    ("bye", r"(?:bye|goodbye|good night|see you)\b.{0,20}"),
    ("feeling", r"how are you\b.{0,20}|how do you do"),
    ("self", r"(?:what(?:'s| is) your name|who are you|what are you|are you (?:a |an )?(?:human|robot|real|llm|language model|ai|chatgpt|gpt).{0,20}"
             r"|which model are you|what model .{0,20}|what can you do|what do you know|help|introduce yourself)"),
)
_WEATHER = {"temperature": "temperature", "weather": "all", "conditions": "all", "forecast": "all", "wind speed": "wind",
            "wind": "wind", "humidity": "humidity", "weather like": "all", "weather forecast": "all", "weather report": "all",
            "current weather": "all", "air temperature": "temperature", "current temperature": "temperature"}
_IS_IT = {"rain": "rain", "raining": "rain", "rainy": "rain", "wet": "rain", "snowing": "snow", "snow": "snow", "snowy": "snow",
          "sunny": "sun", "cloudy": "cloud", "windy": "wind?", "cold": "cold", "warm": "warm", "hot": "warm", "freezing": "cold",
          "foggy": "fog", "dry": "dry", "clear": "sun", "stormy": "storm"}
_PERSON = r"(?:person|man|woman|one|people|scientist|physicist|chemist|author|writer|manager|leader|founder|engineer|inventor|entrepreneur)"
_RELATIVE = (
    (r"(?:the )?(?:city|town|place) (?:where|in which|that|which)? ?(?P<c>.+)", "in which city {c}"),
    (r"(?:the )?country whose capital (?:city )?is (?P<c>.+)", "which country is {c} the capital of"),
    (r"(?:the )?(?:country|nation|state) (?:where|in which|that|which)? ?(?P<c>.+)", "in which country {c}"),
    (r"(?:the )?(?:university|college|school) (?:where|at which|that|which|from which)? ?(?P<c>.+)", "which university {c}"),
    (rf"(?:the )?{_PERSON} (?:who|that|whom) (?P<c>.+)", "who {c}"),
    (r"(?:the )?(?:company|firm|organisation|organization|group) (?:that|which|who) (?P<c>.+)", "which company {c}"),
    (r"(?:the )?(?:year|time|day) (?:when|in which|that)? ?(?P<c>.+)", "when {c}"),
    (r"(?:the )?river (?:that|which)? ?(?P<c>.+)", "which river {c}"),
    (r"(?:the )?(?:book|novel|play) (?:that|which)? ?(?P<c>.+)", "which book {c}"),
    (r"where (?P<c>.+)", "where {c}"), (r"who(?:ever)? (?P<c>.+)", "who {c}"),
)
_KINDS = {"who": "person", "whose": "person", "when": "year", "where": "place"}
_DEPTH = 7


Turns = tuple[tuple[str, str], ...]


@lru_cache(maxsize=256)
def understand(question: str, before: Turns = ()) -> Need:
    """Give the tree of needs of a question; `before` are earlier questions with answers, that it may lean on."""
    text = _with_names(normal(question), before)
    for kind, pattern in _TALK:
        if re.fullmatch(pattern, text, re.I):
            return Talk(kind, text)
    if re.match(r"(?:please )?(?:say|repeat|write|print|reply with|answer with) ?(?:the words?|exactly|only|just)?:? [\"'“‘].+", text, re.I):
        return Talk("repeat", re.sub(r"^.*?[\"'“‘](.+?)[\"'”’]?[.!]*$", r"\1", text))
    found = _follow_up(text, before) or parse(text)
    return found or Open(text)


def normal(text: str) -> str:
    """Give a question without politeness, question mark and needless spaces."""
    text = re.sub(r"\s+", " ", text.replace("’", "'").replace("‘", "'"))[:500].strip(" ?!.…")
    text = re.sub(r"\b(what|who|where|when|how|it|that|there)'s\b", r"\1 is", text, flags=re.I)
    text = re.sub(r" (?:currently|actually|presently|nowadays|else) (?=\w)", " ", text)
    text = re.sub(rf"^(?!(?:what|who|which|where|when|how) )(?P<x>.+?) (?P<be>is|was|are|were) (?P<v>[\w ]+?) (?P<wh>(?:by|in|at|on) (?:whom|which|what)\b[\w ]*)$", r"\g<wh> \g<be> \g<x> \g<v>", text, flags=re.I)
    text = re.sub(r"\b(?:the )?(?:full )?name of (?=the |[A-Z].*'s )", "", text)
    before = None
    while before != text:
        before, text = text, _TAIL.sub("", _POLITE.sub("", text)).strip(" ?!.,")
    return text


def parse(text: str, depth: int = 0) -> Need | None:
    """Parse a whole question; None if the grammar does not cover it."""
    if not text or depth > _DEPTH:
        return None
    return (_two_questions(text, depth) or _age(text) or compare(text, noun_phrase) or compute(text, noun_phrase)
            or _weather(text, depth) or _claim(text, depth) or ask(text, depth) or _which_thing(text, depth))


def ask(text: str, depth: int = 0) -> Need | None:
    """Parse a question about a fact."""
    if depth > _DEPTH:
        return None
    for row, pattern in questions():
        found = pattern.fullmatch(text)
        if found and not re.match(r"(?:the )?(?:capital|ceo)\b$", found.group("x"), re.I):
            fact = Fact(row.name, noun_phrase(found.group("x"), depth + 1), row.kind)
            part = found.groupdict().get("part") or ""
            return Fact("country", fact, "place") if part.lower() == "country" and row.kind == "place" else fact
    found = re.fullmatch(r"(?:what|who|which|where|when|how (?:much|many|old|long|far|big)) (?:is|was|are|were)(?: the name of)? (.+)", text, re.I)
    phrase = noun_phrase(found.group(1) if found else text, depth + 1)
    if not isinstance(phrase, Name):
        return phrase
    if found and re.match(r"(?:what|who) ", text, re.I):
        return Fact("about", phrase, "thing")
    return None


def noun_phrase(text: str, depth: int = 0) -> Need:
    """Parse a noun phrase; what is nothing else is a name."""
    text = re.sub(r"^(?:the|a|an|its|his|her|their) (?=[a-z])|^(?:the )(?=[A-Z])", "", text.strip(" ,?.\"“”"))
    if depth > _DEPTH:
        return Name(text)
    return (_weather_of(text, depth) or _relative(text, depth) or _relation_of(text, depth) or _possessive(text, depth)
            or _compound(text, depth) or Name(re.sub(r"^(?:city|country|town|state|company|book|novel|river|mountain|element|person"
                                                     r"|scientist|writer|author|university|play) (?:of |called |named )?(?=[\"“A-Z0-9])", "",
                                                     text).strip("\"“” '")))


def relation_of(noun: str) -> tuple[str, str] | None:
    """Give relation and kind of a noun: 'alma mater' is studied_at, a university."""
    noun = re.sub(r"^(?:the |current |present |new |first |own |official |total |exact |main |former |name of the |acting )+", "", noun.strip(), flags=re.I)
    for pattern, row in noun_pattern():
        if pattern.fullmatch(noun):
            return row.name, row.kind
    return None


def _relation_of(text: str, depth: int) -> Need | None:
    """'the NOUN of X', for nouns of the table and for others."""
    found = re.match(r"(?P<noun>[\w' -]{2,40}?) (?P<link>of|at|for|behind|in|on) (?:the )?(?P<rest>.+)$", text)
    if not found:
        return None
    noun, rest = found.group("noun"), found.group("rest")
    if noun.split()[-1][0].isupper() and not noun.split()[-1].isupper():
        return None  # University of Cambridge, Bank of America
    superlative = re.match(r"(?:the )?(?:\w+(?<!for)est|most \w+) ", noun)
    if found.group("link") in ("in", "on") and not superlative:
        return None
    inner = noun_phrase(text[found.start("rest"):], depth + 1)
    known = relation_of(noun)
    if isinstance(inner, Name) and known and known[0] in ("located", "country", "studied_at") and " " not in noun and noun != "education" and not re.match(r"the ", text[found.end("link") + 1:]):
        return inner if inner.text[:1].isupper() and found.group("link") == "of" else None
    if known:
        return _with_country(known, inner, noun)
    if (found.group("link") == "of" or superlative) and noun.islower() and len(noun.split()) <= 3:
        noun = re.sub("tallest", "highest", re.sub("biggest", "largest", noun))
        return Fact(noun, inner, "thing", noun)
    return None


def _possessive(text: str, depth: int) -> Need | None:
    """"X's NOUN": the last possessive whose tail is a relation."""
    for found in reversed(list(re.finditer(r"(?:'s|(?<=s)') ", text))):
        owner, noun = text[: found.start()], text[found.end():]
        known = relation_of(noun)
        weather = _WEATHER.get(noun.lower())
        if weather:
            return Weather(weather, noun_phrase(owner, depth + 1))
        if known:
            return _with_country(known, noun_phrase(owner, depth + 1), noun)
        if noun.islower() and len(noun.split()) <= 3:
            return Fact(noun, noun_phrase(owner, depth + 1), "thing", noun)
    return None


def _compound(text: str, depth: int) -> Need | None:
    """'DeepMind CEO', 'Paris weather': a name followed by a noun of the table."""
    parts = text.split(" ")
    for cut in range(max(1, len(parts) - 3), len(parts)):
        head, noun = " ".join(parts[:cut]), " ".join(parts[cut:])
        if not re.match("[A-Z0-9]", head) or (noun[:1].isupper() and not noun.isupper()):
            continue
        if noun.lower() in _WEATHER:
            return Weather(_WEATHER[noun.lower()], noun_phrase(head, depth + 1))
        known = relation_of(noun)
        if known and known[0] not in ("located", "country", "river", "studied_at", "works", "owner", "area"):
            return _with_country(known, noun_phrase(head, depth + 1), noun)
    return None


def _with_country(known: tuple[str, str], inner: Need, noun: str) -> Need:
    """Make the fact of a relation."""
    return Fact(known[0], inner, known[1], noun)


def _relative(text: str, depth: int) -> Need | None:
    """'the city where DeepMind has its headquarters' asks 'in which city DeepMind has its headquarters'."""
    for pattern, question in _RELATIVE:
        found = re.fullmatch(pattern, text, re.I)
        if found and (" " in found.group("c") or "whose" in pattern):
            need = ask(question.format(c=found.group("c")), depth + 1)
            if isinstance(need, Fact) and need.relation != "about" and need.relation in BY_NAME:
                return need
    return None


def _weather_of(text: str, depth: int) -> Need | None:
    """'the temperature in Oslo'."""
    nouns = "|".join(sorted(_WEATHER, key=len, reverse=True))
    found = re.fullmatch(rf"(?:current |present |today's )?(?P<noun>{nouns})(?: is)?(?: like)?(?: today| now| right now| currently| outside)? (?:in|of|at|for|over) (?P<x>.+)", text, re.I)
    if not found:
        return None
    return Weather(_WEATHER[found.group("noun").lower()], noun_phrase(_TAIL.sub("", found.group("x")), depth + 1))


def _weather(text: str, depth: int) -> Need | None:
    """A question about the weather of one place."""
    states = "|".join(_IS_IT)
    for pattern, what in (
        (r"(?:what|how) (?:is|will|was) (?:the )?(?P<noun>weather|temperature|wind|humidity)(?: be)?(?: like)?(?: like)? (?:(?:in|at|for|over) |(?=where ))(?P<x>.+)", ""),
        (r"how (?:is it|does it feel|is the weather) (?:outside )?in (?P<x>.+)", "all"),
        (r"how (?:warm|hot|cold|cool) (?:is it|is|does it get)(?: outside)? ?(?:in )?(?P<x>.+)", "temperature"),
        (r"how many degrees (?:is it|are there|does it have|is)(?: in)? (?P<x>.+)", "temperature"),
        (r"how (?:windy|strong is the wind)(?: is it)? in (?P<x>.+)", "wind"), (r"how humid (?:is it|is) ?(?:in )?(?P<x>.+)", "humidity"),
        (r"what (?:temperature|weather) (?:does|do|is it|has|have|is there)(?: they)? ?(?:have )?(?:in )?(?P<x>.+?)(?: have)?", "temperature"),
        (r"(?:should|must|do|would|will) (?:i|we|one) (?:need|take|bring|carry|wear|have|pack|want)(?: to (?:take|bring|carry|wear))? (?:an? |my |some )?"
         r"(?P<noun>umbrella|raincoat|coat|jacket|sunglasses|scarf|gloves)(?: with me)?(?: in| to| for| when in)? (?P<x>.+)", ""),
    ):
        found = re.fullmatch(pattern, text, re.I)
        if found:
            noun = (found.groupdict().get("noun") or "").lower()
            gear = {"raincoat": "umbrella", "jacket": "coat", "scarf": "coat", "gloves": "coat"}.get(noun, noun)
            return Weather(what or _WEATHER.get(noun, gear), noun_phrase(_TAIL.sub("", found.group("x")), depth + 1))
    found = re.fullmatch(rf"(?:is|does|will|are)(?: it| there| the weather)? (?:going to )?(?:be )?(?:very |really )?(?P<w>{states})(?: outside)? (?:today |now )?(?:in|at) (?P<x>.+)", text, re.I)
    return Weather(_IS_IT[found.group("w").lower()], noun_phrase(found.group("x"), depth + 1)) if found else None


def _which_thing(text: str, depth: int) -> Need | None:
    """'How many moons does Saturn have?', 'Which colour does X have?': a noun outside the table."""
    found = (re.fullmatch(r"(?P<w>how many|which|what) (?P<noun>[a-z][a-z -]{2,40}?) (?:does|do|did|has|have) (?:the )?(?P<x>.+?)(?: have| has| got| use)?", text, re.I)
             or re.fullmatch(r"(?P<w>how many) (?P<noun>[a-z][a-z -]{2,40}?) (?:are there |are |live |work )?(?:in|at|on|of|for) (?:the )?(?P<x>.+)", text, re.I))
    if not found or depth > _DEPTH:
        return None
    number = found.group("w").lower() == "how many"
    inner = noun_phrase(found.group("x"), depth + 1)
    known = relation_of(found.group("noun"))
    if known:
        return Fact(known[0], inner, known[1], found.group("noun"))
    starts_well = isinstance(inner, Fact) or bool(re.match(r"[A-Z0-9]", inner.text if isinstance(inner, Name) else ""))
    return Fact(found.group("noun"), inner, "number" if number else "thing", found.group("noun")) if starts_well else None


def _claim(text: str, depth: int) -> Need | None:
    """'Is Tim Cook the CEO of Apple?', 'Did Orwell write 1984?': a fact, and what is said of it."""
    verbs = {"write": "wrote", "found": "founded", "discover": "discovered", "invent": "invented", "paint": "painted", "win": "won",
             "own": "owns", "run": "runs", "lead": "leads", "start": "started", "create": "created"}
    for pattern, question in _CLAIMS:
        found = re.fullmatch(pattern, text, re.I)
        if not found:
            continue
        groups = found.groupdict()
        verb = groups.get("v", "").lower()
        fact = ask(question.format(**{**groups, "v": verbs.get(verb, verb)}), depth + 1)
        if isinstance(fact, Fact) and fact.relation in BY_NAME and re.match(r"[A-Z0-9]", groups["a"]):
            return Claim(fact, groups["a"])
    return None


_CLAIMS = (
    (r"(?:is|was) (?P<a>(?:(?-i:[A-Z])[\w.'-]* )+)(?:the |an? )(?P<b>[\w ]+ (?:of|at) .+)", "what is the {b}"),
    (r"(?:did|does) (?P<a>.+?) (?P<v>write|found|discover|invent|paint|win|own|run|lead|start|create) (?P<b>.+)", "who {v} {b}"),
    (r"(?:is|was|were) (?P<b>.+?) (?P<v>written|founded|discovered|invented|painted|won|owned|run|led|created) by (?P<a>.+)", "who was {b} {v} by"),
    (r"was (?P<b>.+?) (?P<v>born|founded|published|built) in (?P<a>\d{3,4})", "when was {b} {v}"),
    (r"(?:is|was) (?P<b>.+?) (?P<v>born|based|located) in (?P<a>.+)", "where was {b} {v}"),
    (r"did (?P<b>.+?) (?:study at|attend|go to|graduate from) (?:the )?(?P<a>.+)", "which university did {b} attend"),
    (r"did (?P<b>.+?) die in (?P<a>\d{3,4})", "when did {b} die"), (r"is (?P<b>(?-i:[A-Z]).+?) in (?P<a>(?-i:[A-Z]).+)", "where is {b}"),
)


def _with_names(text: str, before: Turns) -> str:
    """Put names for pronouns that lean on the turn before: 'Where did he study?', 'And its capital?'."""
    if not before or re.search(r".\b[A-Z]", text):
        return text
    recent = before[-3:]
    spoken_of = [one for place in range(len(recent)) for one in _spoken_of(recent[: place + 1])] or [("", False)]
    person = [one for one, is_person in spoken_of if is_person][-1:] or [spoken_of[-1][0]]
    thing = [one for one, is_person in spoken_of if not is_person][-1:] or [spoken_of[-1][0]]
    pair = list(dict.fromkeys(one for one, _ in spoken_of))[-2:]
    text = re.sub(r"\b(?:the two|these|those|them|both)\b", " and ".join(pair), text) if len(pair) == 2 else text
    for pattern, form, names in ((r"\b(?:his|her)\b(?= \w)", "{}'s", person), (r"\b(?:he|she|him|her)\b", "{}", person), (r"\bthere\b", "in {}", thing),
                                 (r"\b(?:its|their)\b", "{}'s", thing), (r"\b(?:it|they)\b(?! (?:warm|cold|rain|snow|sunny|windy|hot))", "{}", thing)):
        if names[0] and re.search(pattern, text, re.I):
            return re.sub(pattern, lambda m, form=form, names=names: form.format(names[0]), text, count=1, flags=re.I)
    return text


def _spoken_of(turns: Turns) -> list[tuple[str, bool]]:
    """Give the persons and things that the last turn was about, and whether each is a person."""
    question, answer = turns[-1]
    need = understand(question, turns[:-1])
    own = _names(need)
    new = [name for name in map(clean_name, re.findall(NAME, answer)) if name and not set(words(name)) & set(words(question))]
    new = [name for name in new if not relation_of(name) and words(name) and name not in ("According", "Yes", "No")]
    about_person = isinstance(need, Fact) and need.relation in _OF_PERSONS
    found = [(name, about_person) for name in own]
    if isinstance(need, Fact) and need.kind in ("person", "place", "university") and new:
        found.append((new[-1] if need.kind == "person" else new[0], need.kind == "person"))
    return found


_OF_PERSONS = ("studied_at", "subject", "born_in", "born", "died_in", "died", "prize", "prize_year", "works", "nationality", "spouse", "company")


def _age(text: str) -> Need | None:
    """'How old was X when ...' is the year of the event less the year of birth."""
    found = re.fullmatch(r"how old (?:was|were|is) (?P<x>.+?) (?:when|at the time|in the year) (?:of )?(?P<c>.+)", text, re.I)
    if not found:
        return None
    person = noun_phrase(found.group("x"))
    clause = re.sub(r"\b(?:he|she|they|it)\b", found.group("x"), found.group("c"))
    year = event(re.sub(r"\b(?:his|her|their)\b", found.group("x") + "'s", clause), noun_phrase, ask)
    return Formula("{0} - {1}", (year, Fact("born", person, "year")), "about {v} years old") if year else None


def _two_questions(text: str, depth: int) -> Need | None:
    """'Who founded Apple, and when was it founded?': two questions joined by 'and'."""
    found = re.match(r"(.+?),? and (?=(?:what|who|when|where|which|how|in which|is it)\b)(.+)$", text, re.I)
    if not found or re.match(r"how old was|between", text, re.I):
        return None
    first = parse(found.group(1), depth + 1)
    names = _names(first) if first else []
    second = re.sub(r"\bits\b", f"{names[-1]}'s", re.sub(r"\b(?:it|he|she|they|there)\b", names[-1], found.group(2))) if names else ""
    other = parse(second, depth + 1)
    return Both((first, other)) if first and other else None


def _follow_up(text: str, before: Turns) -> Need | None:
    """'And in Shanghai?' asks the question before of another thing."""
    if not before:
        return None
    found = re.fullmatch(r"(?i:and |or |what about |how about )*(?i:in |of |for |at |with )?(?P<x>(?:the )?[A-Z0-9][^?]*|the .+)", text)
    earlier = understand(before[-1][0], before[:-1])
    if found and not re.match(r"(?:who|what|where|when|which|how|is|does|did|compare|in which|at which|tell)\b", found.group("x"), re.I) and not compute(text, noun_phrase):
        return _replace_name(earlier, noun_phrase(found.group("x")))
    return None


def _replace_name(need: Need, other: Need) -> Need | None:
    """Put another thing in the place of the innermost name."""
    if isinstance(need, Name):
        return other
    if isinstance(need, Fact):
        inner = _replace_name(need.of, other)
        return Fact(need.relation, inner, need.kind, need.asked) if inner else None
    if isinstance(need, Weather):
        inner = _replace_name(need.place, other)
        return Weather(need.what, inner) if inner else None
    return None


def _names(need: Need) -> list[str]:
    """Give the names in a tree, in reading order."""
    if isinstance(need, Name):
        return [need.text]
    inner = {Fact: lambda n: (n.of,), Weather: lambda n: (n.place,), Formula: lambda n: n.parts, Pick: lambda n: n.things,
             Both: lambda n: n.parts, Claim: lambda n: (n.fact,)}.get(type(need), lambda n: ())(need)
    return [name for part in inner for name in _names(part)]
