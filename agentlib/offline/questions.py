"""From a question to the tree of what it needs: a small recursive grammar.

Each kind of question has a function that gives a need or None; the first that gives one wins. What no rule covers is
open: its words are searched for.
"""

import re
from functools import lru_cache

from .amounts import compute, event, reworded
from .cleaning import normal, without_tail
from .comparisons import compare
from .conversation import Turn, follow_up, with_names
from .listing import of_each, singular
from .needs import Both, Claim, Fact, Formula, Name, Need, Open, Talk, Weather, names_in
from .phrases import DEPTH, WEATHER, ask, embedded, noun_phrase, relation_of
from .relations import BY_NAME
from .words import may_name

_ASKS = re.compile(r"(?:who|what|which|where|when|in|at|from|[A-Z]\S*'s)\b", re.I)
_TURNS = 4  # earlier turns that a question may lean on
_REPEAT = (r"(?:please )?(?:say|repeat|write|print|reply with|answer with) ?(?:the words?|exactly|only|just)?:? "
           r"[\"'“‘](.+?)[\"'”’]?[.!]*")
_TALK = (
    ("thanks", r"(?:many )?(?:thanks|thank you|thx|cheers)\b.{0,40}"),
    ("hello", r"(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|greetings)\b.{0,20}|(?:please )?(?:say"
              r"|greet).{0,20}\b(?:hello|hi)\b.{0,40}"),
    ("bye", r"(?:bye|goodbye|good night|see you)\b.{0,20}"),
    ("feeling", r"how are you\b.{0,20}|how do you do"),
    ("where", r"(?:what|how) is the (?:weather|temperature)(?: like)?|(?:is|will) it (?:be )?(?:raining|rain|cold|warm"
              r"|hot|sunny|windy)"
              r"|(?:do|should) i (?:need|take) an? (?:umbrella|coat|jacket)"),
    ("self", r"(?:what(?:'s| is) your name|who are you|what are you|are you (?:a |an )?(?:human|robot|real|llm"
             r"|language model|ai|chatgpt|gpt).{0,20}"
             r"|which model are you|what model .{0,20}|what can you do|what do you know|help|introduce yourself)"),
)
# words for what a yes-or-no question about the weather asks
_YES_NO = {
    "rain": "rain", "raining": "rain", "rainy": "rain", "wet": "rain", "umbrella": "rain", "raincoat": "rain",
    "snow": "snow", "snowing": "snow", "snowy": "snow", "sunny": "sun", "clear": "sun", "sunglasses": "sun",
    "cloudy": "cloud", "foggy": "fog", "stormy": "storm", "dry": "dry", "windy": "windy", "warm": "warm", "hot": "warm",
    "cold": "cold", "freezing": "cold", "coat": "cold", "jacket": "cold", "scarf": "cold", "gloves": "cold",
}
_WEATHER_QUESTIONS = (
    (r"(?:what|how) (?:is|will|was) (?:the )?(?P<noun>weather|temperature|wind|humidity)(?: be)?(?: like)? "
     r"(?:(?:in|at|for|over) |(?=where ))(?P<x>.+)", ""),
    (r"what (?:the )?(?P<noun>weather|temperature) is(?: like)? in (?P<x>.+)", ""),
    (r"how (?:is it|does it feel|is the weather) (?:outside )?in (?P<x>.+)", "all"),
    (r"how (?:warm|hot|cold|cool) (?:is it|is|does it get)(?: outside)? ?(?:in )?(?P<x>.+)", "temperature"),
    (r"how many degrees (?:is it|are there|does it have|is)(?: in)? (?P<x>.+)", "temperature"),
    (r"how (?:windy|strong is the wind)(?: is it)? in (?P<x>.+)", "wind"),
    (r"how humid (?:is it|is) ?(?:in )?(?P<x>.+)", "humidity"),
    (r"what (?P<noun>temperature|weather) (?:does|do|is it|has|have|is there)(?: they)? ?(?:have )?(?:in )?"
     r"(?P<x>.+?)(?: have)?", ""),
    (r"(?:should|must|do|would|will) (?:i|we|one) (?:need|take|bring|carry|wear|have|pack|want)"
     r"(?: to (?:take|bring|carry|wear))? (?:an? |my |some )?(?P<noun>umbrella|raincoat|coat|jacket|sunglasses|scarf"
     r"|gloves)"
     r"(?: with me)?(?: in| to| for| when in)? (?P<x>.+)", ""),
    (rf"(?:is|does|will|are)(?: it| there| the weather)? (?:going to )?(?:be )?(?:very |really )?"
     rf"(?P<noun>{'|'.join(_YES_NO)})(?: outside)? (?:today |now )?(?:(?:in|at) |(?=where ))(?P<x>.+)", ""),
)
_WHICH_THING = (
    r"(?:how many|which|what) (?P<noun>[a-z][a-z -]{2,40}?) (?:does|do|did|has|have) (?:the )?"
    r"(?P<x>.+?)(?: have| has| got| use)?",
    r"how many (?P<noun>[a-z][a-z -]{2,40}?) (?:are there |are |live |work )?(?:in|at|on|of|for) (?:the )?(?P<x>.+)",
)
_PAST = {"write": "wrote", "found": "founded", "discover": "discovered", "invent": "invented", "paint": "painted",
         "win": "won", "own": "owns", "run": "runs", "lead": "leads", "start": "started", "create": "created"}
_CLAIMS = (
    (r"(?:is|was) (?P<a>(?:(?-i:[A-Z])[\w.'-]* )+)(?:the |an? )(?P<b>[\w ]+ (?:of|at) .+)", "what is the {b}"),
    (r"(?:did|does) (?P<a>.+?) (?P<v>write|found|discover|invent|paint|win|own|run|lead|start|create) (?P<b>.+)",
     "who {v} {b}"),
    (r"(?:is|was|were) (?P<b>.+?) (?P<v>written|founded|discovered|invented|painted|won|owned|run|led|created) by"
     r" (?P<a>.+)", "who was {b} {v} by"),
    (r"was (?P<b>.+?) (?P<v>born|founded|published|built) in (?P<a>\d{3,4})", "when was {b} {v}"),
    (r"(?:is|was) (?P<b>.+?) (?P<v>born|based|located) in (?P<a>.+)", "where was {b} {v}"),
    (r"did (?P<b>.+?) (?:study at|attend|go to|graduate from) (?:the )?(?P<a>.+)", "which university did {b} attend"),
    (r"did (?P<b>.+?) die in (?P<a>\d{3,4})", "when did {b} die"),
    (r"is (?P<b>(?-i:[A-Z]).+?) in (?P<a>(?-i:[A-Z]).+)", "where is {b}"),
)

@lru_cache(maxsize=256)
def understand(question: str, before: tuple[tuple[str, str], ...] = ()) -> Need:
    """Give the tree of needs of a question; `before` are earlier questions with answers, that it may lean on."""
    before = before[-_TURNS:]
    turns = [Turn(asked, answer, understand(asked, before[:place])) for place, (asked, answer) in enumerate(before)]
    text = reworded(with_names(normal(question), turns))
    for kind, pattern in _TALK:
        if re.fullmatch(pattern, text, re.I):
            return Talk(kind, text)
    repeat = re.fullmatch(_REPEAT, text, re.I)
    if repeat:
        return Talk("repeat", repeat.group(1))
    return of_each(follow_up(text, turns) or parse(singular(text))) or Open(text)


def parse(text: str, depth: int = 0) -> Need | None:
    """Parse a whole question; None if the grammar does not cover it."""
    if not text or depth > DEPTH:
        return None
    return (_two_questions(text, depth) or _age(text) or compare(text) or compute(text)
            or _weather(text, depth) or _claim(text, depth) or ask(text, depth) or _which_thing(text, depth)
            or (embedded(text) if _ASKS.match(text) and not depth else None))


def _which_thing(text: str, depth: int) -> Need | None:
    """'How many moons does Saturn have?', 'Which colour does X have?': a noun outside the table."""
    for pattern in _WHICH_THING:
        found = re.fullmatch(pattern, text, re.I)
        if not found:
            continue
        noun, inner = found.group("noun"), noun_phrase(found.group("x"), depth + 1)
        known = relation_of(noun)
        if known:
            return Fact(known[0], inner, known[1], noun)
        if isinstance(inner, Fact) or (isinstance(inner, Name) and may_name(inner.text)):
            return Fact(noun, inner, "number" if text.lower().startswith("how many") else "thing", noun)
    return None


def _weather(text: str, depth: int) -> Need | None:
    """A question about the weather of one place."""
    for pattern, what in _WEATHER_QUESTIONS:
        found = re.fullmatch(pattern, text, re.I)
        if found:
            noun = (found.groupdict().get("noun") or "").lower()
            what = what or WEATHER.get(noun) or _YES_NO[noun]
            return Weather(what, noun_phrase(without_tail(found.group("x")), depth + 1))
    return None


def _claim(text: str, depth: int) -> Need | None:
    """'Is Tim Cook the CEO of Apple?', 'Did Orwell write 1984?': a fact, and what is said of it."""
    for pattern, question in _CLAIMS:
        found = re.fullmatch(pattern, text, re.I)
        if not found:
            continue
        groups = found.groupdict()
        verb = groups.get("v", "").lower()
        fact = ask(question.format(**{**groups, "v": _PAST.get(verb, verb)}), depth + 1)
        if isinstance(fact, Fact) and fact.relation in BY_NAME and may_name(groups["a"]):
            return Claim(fact, groups["a"])
    return None


def _age(text: str) -> Need | None:
    """'How old was X when ...' is the year of the event less the year of birth."""
    for pattern in (r"how old (?:was|were|is) (?P<x>.+?) (?:when|at the time|in the year) (?:of )?(?P<event>.+)",
                    r"at what age did (?P<x>.+?) (?P<event>(?:die|win|found|write|publish|receive)\b.*)",
                    r"how (?:many years|long) did (?P<x>.+?) (?P<event>live)"):
        found = re.fullmatch(pattern, text, re.I)
        if found:
            person = found.group("x")
            clause = found.group("event") if pattern.startswith("how old") else f"{person} {found.group('event')}"
            clause = re.sub(r"\blive$", "die", clause)
            year = event(_named(clause, person, names_in(noun_phrase(person))[-1]))
            years = (year, Fact("born", noun_phrase(person), "year"))
            return Formula("{0} - {1}", years, "about {v} years old") if year else None
    return None


def _named(text: str, name: str, thing: str = "") -> str:
    """Put a name for every pronoun; the thing, if given, for 'it': 'the founder of Amazon when he founded it'."""
    text = re.sub(r"\bit\b", lambda _: thing or name, text)
    text = re.sub(r"\b(?:his|her|its|their)\b", lambda _: f"{name}'s", text)
    return re.sub(r"\b(?:he|she|they|there)\b", lambda _: name, text)


def _two_questions(text: str, depth: int) -> Need | None:
    """'Who founded Apple, and when was it founded?': two questions joined by 'and'."""
    text = re.sub(r"^(when|where|who) and (when|where|who|by whom) (.+)", r"\1 \3 and \2 \3", text, flags=re.I)
    found = re.match(r"(.+?),? and (?=(?:what|who|when|where|which|how|in which|is it)\b)(.+)$", text, re.I)
    if not found or re.match(r"how old was|between", text, re.I):
        return None
    first = parse(found.group(1), depth + 1)
    names = names_in(first) if first else []
    other = parse(_named(found.group(2), names[-1]), depth + 1) if names else None
    return Both((first, other)) if first and other else None
