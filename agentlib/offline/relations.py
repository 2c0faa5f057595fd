"""What the offline model can ask about a thing: one row for each relation.

A row says by which nouns people name the relation ("the CEO of ..."), in which questions they ask for it, and in which
sentences a text states it. Nothing here names a person, a company or any other particular thing.
"""

import re
from dataclasses import dataclass
from functools import cache

from .words import LIST, MEASURE, NAME, PLACE, YEAR


@dataclass(frozen=True)
class Relation:
    """One relation. In patterns `{x}` stands for the thing asked about and `{name}`, `{year}`, ... for the value."""

    name: str
    kind: str  # person, university, place, year, number or thing: what a value looks like
    nouns: tuple[str, ...]  # regular expressions; the first is plain text, used in searches and thoughts
    asks: tuple[str, ...]  # questions, without the question mark
    says: tuple[str, ...]  # sentences about x
    said: str  # how the model words it
    turned: str = ""  # a sentence in the article on the value that names x
    many: bool = False  # whether all values together are the answer


WHO = r"(?:who|whom|(?:which|what) (?:person|man|woman|people|author|writer|novelist|poet|scientist|executive))"
WHERE = r"(?:where|(?:in |at )?(?:which|what) (?P<part>city and country|city|country|place|town|state))"
WHEN = r"(?:when|how long ago|(?:in )?(?:which|what) year|since when)"
UNI = (r"(?:where|(?:at |to |from )?(?:which|what) (?:university|universities|college|colleges|school|schools"
       r"|institution))")
BE = r"(?:is|was|are|were|has been|'s)"
DO = r"(?:did|does|do|has|have|had)"
BOSS = r"(?:ceo|chief executive(?: officer)?|boss|managing director)"
FOUND = r"(?:found|founded|co-found|co-founded|start|started|establish|established|create|created|set up)"

TABLE = (
    Relation("ceo", "person", ("CEO", "chief executive officer", "chief executive", "boss", "head", "leader", "director",
                               "managing director", "president", "chief"),
             (rf"{WHO} (?:currently |now )?(?:runs|leads|heads|manages|directs|is running|is leading|is in charge of"
              r"|is at the helm of|is at the head of) {x}",
              rf"{WHO} {BE} {{x}} (?:run|led|headed|managed) by", rf"(?:by )?{WHO} {BE} {{x}} (?:run|led|headed)",
              rf"{WHO} {BE} in charge (?:of|at) {{x}}"),
             (rf"{BOSS}(?: of [^.,(]{{1,40}})?(?: is| was| has been|, who is|,) (?:now )?{{name}}", r"chief executive(?: officer)? {name}",
              rf"(?:run|led|headed|managed|directed) (?:since \w+(?: \d+)? )?by (?:its |the )?(?:{BOSS},? )?{{name}}",
              rf"{{name}} (?:is|was|became|has been|serves as|took over as) (?:now |currently )?(?:the |its )?"
              rf"(?:new |current )?(?:co-founder and |founder and )?{BOSS}",
              r"{name} (?:now )?(?:runs|leads|heads)\b", r"(?:director|head|leader|president) (?:is|was) {name}"),
             "the CEO of {x} is {v}",
             rf"(?:{BOSS}|head|director|leader) of {{x}}|(?:runs|leads|heads) {{x}}"),
    Relation("founder", "person", ("founder", "founders", "co-founder", "co-founders", "creator"),
             (rf"{WHO} (?:{FOUND}) {{x}}", rf"(?:by )?{WHO} {BE} {{x}} (?:{FOUND})(?: by)?"),
             (rf"(?:{FOUND})(?: in {YEAR}| in \w+ {YEAR})?(?: in [A-Z]\w+)?,? by {{list}}",
              r"founders? (?:is|was|are|were) {list}", rf"{{list}} (?:{FOUND})\b"),
             "{x} was founded by {v}", rf"(?:{FOUND}|founder of) (?:the company )?{{x}}", many=True),
    Relation("founded", "year", ("founding year", "founding", "foundation", "establishment", "year of foundation"),
             (rf"{WHEN} {BE} {{x}} (?:{FOUND})", rf"{WHEN} {DO} .+? (?:{FOUND}) {{x}}", rf"{WHEN} {{x}} {BE} (?:{FOUND})"),
             (rf"(?:{FOUND})\b[^.;]{{0,60}}? (?:in|on) (?:\d+ )?(?:[a-z]+ )?{{year}}", r"dates (?:from|back to) {year}"),
             "{x} was founded in {v}"),
    Relation("capital", "place", ("capital", "capital city"),
             (r"(?:which|what) city is (?:the )?capital of {x}",),
             (r"capital(?: city)?(?: of [^.,]{2,30})? (?:is|was) {name}", r"{name} is (?:its|the) capital",
              r"capital,? {name}"), "the capital of {x} is {v}", r"capital (?:and largest city )?(?:city )?of {x}"),
    Relation("capital_of", "place", ("country",), (rf"(?:which|what) country {BE} {{x}} (?:the )?capital of",
             rf"(?:of )?(?:which|what) country {BE} {{x}} the capital", r"{x} is the capital of (?:which|what) country"),
             (r"capital (?:and largest city )?(?:city )?of {place}",), "{x} is the capital of {v}"),
    Relation("headquarters", "place", ("headquarters", "head office", "seat", "base", "home city"),
             (rf"{WHERE} {BE} {{x}} (?:based|headquartered)(?: in)?", rf"{WHERE} {{x}} {BE} (?:based|headquartered)(?: in)?",
              rf"{WHERE} (?:{DO} )?{{x}} (?:have|has|keep|keeps) (?:its|their|the) (?:headquarters|head office|seat|base)(?: in)?",
              rf"{WHERE} {BE} (?:the )?(?:headquarters|head office) of {{x}}",
              rf"{WHERE} (?:the )?(?:headquarters|head office) of {{x}} {BE}(?: located| in)?",
              rf"{WHERE} {BE} {{x}}'s? (?:headquarters|head office)(?: located| in)?"),
             (r"(?:headquarters|head office|seat) (?:is|are|was|were|lie|lies)(?: now)?(?: located)? (?:in|at) {place}",
              r"(?:headquartered|based) (?:in|at) {place}"),
             "the headquarters of {x} are in {v}"),
    Relation("owner", "thing", ("owner", "parent company", "parent", "mother company"),
             (rf"(?:{WHO}|which company|what company|what) (?:owns|bought|acquired) {{x}}",
              rf"(?:{WHO}|which company|what company) {BE} {{x}} (?:owned by|bought by|a (?:subsidiary|part) of)",
              rf"(?:{WHO}|which company|what company) {DO} {{x}} belong to", r"to whom does {x} belong"),
             (r"(?:owned|bought|acquired) by {name}", r"(?:owner|parent company|parent) (?:is|was) {name}",
              r"(?:belongs to|subsidiary of|part of) {name}", r"{name} (?:bought|acquired|owns) (?:it|the company)"),
             "{x} is owned by {v}", r"(?:owns|owner of|parent company of|bought) {x}"),
    Relation("studied_at", "university",
             ("university", "alma mater", "college", "school", "education", "place of study"),
             (rf"{UNI} (?:{DO} )?{{x}} (?:attend|attended|visit|study at|studied at|study|studied|go to|went to|go|went"
              r"|graduate from|graduated from|graduate|graduated|get (?:his|her|a) degree(?: from)?|train at"
              r"|go to (?:college|university|school)|went to (?:college|university|school)|educated at|learn)(?: at)?",
              rf"{UNI} {BE} {{x}} (?:educated|a student|an alumnus|a graduate)(?: at| of)?",
              rf"{UNI} {DO} {{x}} (?:get|receive|earn|do) (?:his|her|a|the) (?:degree|phd|doctorate|studies)(?: from| at)?"),
             (r"(?:studied|graduated|educated|student|degrees?|phd|doctorate|ph\.d\.|bachelor|master|mba|read [a-z ]{3,40})"
              r"\b(?: [a-z]+\b){0,9}? (?:at|from|of) (?:the )?{list}", r"(?:attended|alumnus of|alumna of|graduate of)"
              r" (?:the )?{list}", r"(?:went|going) to (?:the )?{list}", r"alma mater (?:is|was) (?:the )?{list}"),
             "{x} studied at {v}", many=True),
    Relation("subject", "thing", ("subject", "field of study", "field"),
             (rf"what (?:subject |subjects )?{DO} {{x}} (?:study|studied|read|major in)(?: at (?:the )?(?:university|college))?",
              rf"(?:which|what) subject {DO} {{x}} (?:study|read)"),
             (r"(?:studied|degree in|read) {words}(?= at| from|\.|,| and (?:then|received))",),
             "{x} studied {v}"),
    Relation("born_in", "place", ("birthplace", "place of birth", "home town", "hometown", "birth place"),
             (rf"{WHERE} {BE} {{x}} born(?: in)?", rf"{WHERE} {{x}} {BE} born(?: in)?", rf"{WHERE} {DO} {{x}} come from",
              rf"{WHERE} {BE} {{x}} from"),
             (rf"born (?:on [^.;]{{3,20}}?|in {YEAR})?,? ?(?:in|at) {{place}}", r"(?:from|native of) {place}"),
             "{x} was born in {v}"),
    Relation("born", "year", ("year of birth", "birth year", "date of birth", "birth date", "birthday", "birth"),
             (rf"{WHEN} {BE} {{x}} born(?: in)?", rf"{WHEN} {{x}} {BE} born(?: in)?"),
             (r"born\b[^;(]{0,60}? {year}", r"\({year}[-–]"), "{x} was born in {v}"),
    Relation("died_in", "place", ("place of death", "deathplace"),
             (rf"{WHERE} {DO} {{x}} die(?: in)?", rf"{WHERE} {{x}} died(?: in)?"),
             (rf"died (?:on [^.;]{{3,20}}?|in {YEAR})?,? ?(?:in|at) {{place}}",), "{x} died in {v}"),
    Relation("died", "year", ("year of death", "death", "death year", "date of death"),
             (rf"{WHEN} {DO} {{x}} die(?: in)?", rf"{WHEN} {{x}} died(?: in)?"),
             (r"died\b[^;]{0,60}? {year}", r"[-–]{year}\)"), "{x} died in {v}"),
    Relation("prize_year", "year", ("prize year",),
             (rf"{WHEN} {DO} {{x}} (?:win|receive|get|share) (?:the|a|an|his|her) .*(?:prize|award|medal)(?: in [a-z]+)?",
              rf"{WHEN} {{x}} (?:won|received|got|shared) (?:the|a|an|his|her) .*(?:prize|award|medal)(?: in [a-z]+)?",
              rf"{WHEN} {BE} {{x}} awarded (?:the|a|an|his|her) .*(?:prize|award|medal)(?: in [a-z]+)?"),
             (r"(?:won|received|awarded|shared|prize)\b[^;]{0,80}? (?:in|of) {year}", r"{year} Nobel Prize"),
             "{x} won the prize in {v}"),
    Relation("prize", "thing", ("prize", "award", "Nobel Prize", "prizes", "awards"),
             (rf"(?:what|which) (?:nobel )?(?:prize|award|prizes|awards) {DO} {{x}} (?:win|receive|get|won|share)",
              rf"(?:what|which) (?:nobel )?(?:prize|award) {BE} {{x}} awarded",
              rf"in (?:what|which) (?:field|subject|category) {DO} {{x}} (?:win|get|receive) (?:the|a|his|her) nobel prize",
              rf"what {DO} {{x}} (?:win|get|receive) (?:the|a|his|her) nobel prize (?:for|in)"),
             (r"(?:won|received|awarded|shared|share of) (?:half of |a share of |jointly )?(?:the|a|an) (?:\d{4} )?{prize}",),
             "{x} won the {v}"),
    Relation("author", "person", ("author", "writer", "novelist", "poet", "playwright"),
             (rf"{WHO} (?:wrote|penned|has written|is the author of) {{x}}", rf"(?:by )?{WHO} {BE} {{x}} (?:written|authored)(?: by)?",
              rf"{WHO} (?:composed|painted|directed|designed|made|built) {{x}}",
              rf"(?:by )?{WHO} {BE} {{x}} (?:composed|painted|directed|designed|made|built)(?: by)?"),
             (r"(?:written|authored|composed|painted|directed|designed|made|built) (?:in \d+ )?by (?:the )?"
              r"(?:[a-z]+(?:-[a-z]+)? ){0,4}?{list}",
              r"(?:novel|book|play|poem|story|essay|epic|tragedy|comedy|trilogy|painting|opera|work|series|tale|collection"
              r"|autobiography|novella|satire) (?:[a-z]+ )?by (?:the )?(?:[a-z]+(?:-[a-z]+)? ){0,4}?{list}",
              r"(?:author|writer|painter|composer|architect) (?:is|was) {list}", r"{name} (?:wrote|painted|designed) it"),
             "{x} was written by {v}", r"(?:wrote|author of|writer of|painted|designed) [^.]{0,60}?{x}"),
    Relation("published", "year", ("publication year", "year of publication", "publication", "release"),
             (rf"{WHEN} {BE} {{x}} (?:first )?(?:published|written|released|printed)",
              rf"{WHEN} {DO} {{x}} (?:come out|appear)",
              rf"{WHEN} {DO} .+? (?:write|publish) {{x}}", rf"{WHEN} {{x}} {BE} (?:first )?(?:published|written)"),
             (r"(?:published|written|appeared|printed|released)\b[^;]{0,50}? (?:in |about |around )+{year}",
              r"(?:from|of) {year}"),
             "{x} was published in {v}"),
    Relation("built", "year", ("year of completion", "completion", "opening", "construction"),
             (rf"{WHEN} {BE} {{x}} (?:built|opened|completed|finished|constructed|inaugurated)", rf"{WHEN} {DO} {{x}} open"),
             (r"(?:completed|finished|opened|built|constructed|inaugurated)\b[^;]{0,50}? {year}",), "{x} was completed in {v}"),
    Relation("began", "year", ("year",), (),
             (r"(?:born|founded|published|established|created|written|completed|opened|built)\b[^;]{0,60}? {year}",),
             "{x} dates from {v}"),
    Relation("works", "thing", ("novel", "book", "works", "books", "novels", "play"),
             (rf"(?:what|which) (?:novel|novels|book|books|play|plays|works?)? ?{DO} {{x}} (?:write|written|publish)",
              rf"what {DO} {{x}} write"),
             (r"(?:wrote|author of|published|known for|novels?) (?:the )?(?:[a-z]+ ){0,3}?{works}",), "{x} wrote {v}",
             r"(?:novel|book|play|poem|story|work)\b[^.]{0,30}? by {x}"),
    Relation("country", "place", ("country", "home country", "nation"), (), (), "{x} is in {v}"),
    Relation("located", "place", ("city", "location", "place", "town", "site"),
             (rf"{WHERE} {BE} {{x}}(?: located| situated)?(?: in)?", rf"{WHERE} {{x}} {BE}(?: located| situated)?(?: in)?",
              rf"{WHERE} (?:{DO} )?{{x}} (?:lie|lies|stand|stands|belong to)(?: in)?", rf"{WHERE} can (?:i|one|you) find {{x}}"),
             (r"(?:is|lies|stands|located|situated) (?:a [a-z -]{3,40} )?(?:in|at|near) (?:the [a-z ]{3,30} of )?{place}",
              r"capital (?:and largest city )?of {place}",
              r"(?:university|museum|city|tower|mountain|building|bridge|company|institute|volcano|port|town|temple|palace"
              r"|cathedral|peak|lake|church|monument)\b(?: [a-z-]+){0,5}? (?:in|of) (?:the [a-z]+ of )?{place}",
              r"(?:in|on the border of|between) {place}"),
             "{x} is in {v}"),
    Relation("population", "number", ("population", "number of inhabitants", "inhabitants", "number of people", "residents"),
             (r"how many (?:people|inhabitants|residents|citizens) (?:live|are there|are living|are) in {x}",
              rf"how many (?:people|inhabitants|residents|citizens) {DO} {{x}} have", r"how (?:populous|populated) is {x}"),
             (r"{number} (?:inhabitants|people|residents)", r"population (?:of|is|was)(?: about| around| roughly)* {number}"),
             "{x} has {v} inhabitants"),
    Relation("river", "thing", ("river",),
             (rf"(?:on |through )?(?:which|what) river {DO} {{x}} (?:lie|stand)(?: on)?", r"(?:on )?(?:which|what) river (?:is|lies|stands) {x}(?: on)?",
              r"(?:which|what) river (?:flows|runs|goes) through {x}"),
             (r"(?:on|along) (?:the )?(?:banks of )?(?:the )?(?:river )?{name}", r"(?:the )?(?:river )?{name} (?:flows|runs) through"),
             "{x} lies on the {v}"),
    Relation("height", "number", ("height", "elevation", "altitude"), (r"how (?:high|tall) (?:is|was|are) {x}",),
             (r"{number} (?:metres|meters|m|feet)\b(?: \([^)]*\))?,? (?:high|tall|above)", r"(?:height|elevation)[^.]{0,20}? {number}"),
             "{x} is {v} high"),
    Relation("length", "number", ("length",), (r"how long (?:is|was|are) {x}",),
             (r"{number} (?:km|kilometres|kilometers|miles|metres) long", r"length[^.]{0,20}? {number}"), "{x} is {v} long"),
    Relation("area", "number", ("area", "size", "surface"), (r"how (?:big|large) (?:is|are) {x}",),
             (r"(?:area|covers|size)[^.]{0,25}? {number}", r"{number} (?:square kilometres|km²)"), "{x} covers {v}"),
    Relation("symbol", "thing", ("chemical symbol", "symbol"),
             (r"(?:what|which) (?:chemical )?symbol (?:does|has) {x}(?: have)?",),
             (r"symbol (?:is|:)? ?{name}", r"\(symbol {name}\)"), "the chemical symbol of {x} is {v}"),
    Relation("currency", "thing", ("currency", "money"),
             (r"(?:which|what) (?:currency|money) (?:does|do|is) (?:people in )?{x}(?: use| used| have)?",
              r"(?:which|what) (?:currency|money) is used in {x}", r"what do people (?:pay with in|in) {x}(?: pay with| use)?"),
             (r"currency (?:is|was) {words}(?=[.,;(]|$)",), "the currency of {x} is {v}"),
    Relation("language", "thing", ("official language", "language", "languages", "official languages"),
             (r"(?:which|what) (?:official )?languages? (?:is|are) (?:spoken|official) in {x}",
              r"(?:which|what) languages? (?:do|does) (?:people |they )?(?:in )?{x} (?:speak|have)"),
             (r"languages? (?:is|are) {list}",), "the official language of {x} is {v}"),
    Relation("nationality", "thing", ("nationality", "citizenship"),
             (rf"(?:what|which) nationality {BE} {{x}}",),
             (r"(?:is|was) an? (?:[a-z]+ly )?{name}(?:-born)?(?= [a-z])",), "{x} is {v}"),
    Relation("spouse", "person", ("wife", "husband", "spouse", "partner"),
             (rf"{WHO} {BE} {{x}} married to", rf"{WHO} {DO} {{x}} marry"),
             (r"(?:married(?: to)?|(?:wife|husband|spouse) (?:is|was)) (?:the [a-z]+ )?{name}",), "{x} is married to {v}"),
    Relation("company", "thing", ("company", "employer", "firm"),
             (rf"(?:which|what) company (?:{DO} |{BE} )?{{x}} (?:run|lead|head|manage|found|start|runs|leads|heads|manages|founded|started|ceo of"
              r"|the ceo of|work for|works for)", r"who does {x} work for"),
             (r"(?:CEO|chief executive|president) of {name}", r"(?:founders? of|founded) {name}"), "the company of {x} is {v}"),
    Relation("winner", "person", ("winner", "winners", "laureate", "laureates"),
             (rf"{WHO} (?:won|received|got|was awarded|shared) {{x}}", rf"(?:by )?{WHO} {BE} {{x}} (?:won|awarded)(?: by| to)?",
              r"to whom was {x} awarded"),
             (r"(?:won by|awarded to) {list}",), "{x} was won by {v}", r"(?:won|shared|received) (?:half of )?(?:the )?{x}", many=True),
    Relation("discoverer", "person", ("discoverer", "inventor"),
             (rf"{WHO} (?:discovered|invented|developed) {{x}}", rf"(?:by )?{WHO} {BE} {{x}} (?:discovered|invented)(?: by)?"),
             (r"(?:discovered|invented|isolated|developed)[^.;]{0,30}? by (?:the )?(?:[a-z]+ ){0,3}?{list}",
              r"{list} (?:discovered|invented) it"),
             "{x} was discovered by {v}", r"(?:discovered|invented) [^.]{0,40}?{x}"),
)
BY_NAME = {row.name: row for row in TABLE}
_VALUES = {"name": NAME, "list": LIST, "place": PLACE, "year": YEAR, "number": MEASURE, "prize": r"[A-Z][^.;]*?Prize(?: (?:in|for) [A-Za-z]+(?: or [A-Z]\w+)?)?",
           "words": r"(?:the )?[A-Za-z][\w ,-]{1,60}?", "works": r"[A-Z0-9“\"][^.;()]{2,120}"}


@cache
def questions() -> tuple[tuple[Relation, re.Pattern], ...]:
    """Give every question pattern with its relation, in the table's order."""
    return tuple((row, re.compile(ask.replace("{x}", r"(?P<x>.+?)"), re.I)) for row in TABLE for ask in row.asks)


@cache
def statements(name: str) -> tuple[re.Pattern, ...]:
    """Give the sentence patterns of a relation; the group `v` is the value. Names keep their capitals."""
    return tuple(_statement(says) for says in BY_NAME[name].says)


@cache
def noun_pattern() -> tuple[tuple[re.Pattern, Relation], ...]:
    """Give patterns that match a whole noun of a relation, longest first."""
    pairs = sorted(((noun, row) for row in TABLE for noun in row.nouns), key=lambda pair: -len(pair[0]))
    return tuple((re.compile(re.escape(noun) + "s?", re.I), row) for noun, row in pairs)


def _statement(says: str) -> re.Pattern:
    """Compile a sentence pattern: words in any case, values as they are written."""
    literal, macro, rest = re.match(r"(.*?)\{([a-z]+)\}(.*)", says).groups()
    return re.compile(f"(?<![\\w-])(?i:{literal})(?P<v>{_VALUES[macro]})(?i:{rest})")
