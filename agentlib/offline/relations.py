"""What the offline model can ask about a thing: one row for each relation.

A row says by which nouns people name the relation ("the CEO of ..."), in which questions they ask for it, and in which
sentences a text states it. Nothing here names a person, a company or any other particular thing.
"""

from dataclasses import dataclass

from .words import YEAR


@dataclass(frozen=True)
class Relation:
    """One relation. In its patterns `{x}` is the thing asked about, `<name>` or `<year>` the value, `{who}` a macro."""

    name: str
    kind: str  # person, university, place, year, number or thing: what a value looks like
    nouns: tuple[str, ...]  # regular expressions; the first is plain text, used in searches and thoughts
    asks: tuple[str, ...]  # questions, without the question mark
    says: tuple[str, ...]  # sentences about x
    said: str  # how the model words it
    turned: str = ""  # a sentence in the article on the value that names x
    many: bool = False  # whether all values together are the answer


MACROS = {
    "who": r"(?:who|whom|(?:which|what) (?:person|man|woman|people|author|writer|novelist|poet|scientist|executive))",
    "where": r"(?:where|(?:in |at )?(?:which|what) (?P<part>city and country|city|country|place|town|state))",
    "when": r"(?:when|how long ago|(?:in )?(?:which|what) year|since when)",
    "uni": r"(?:where|(?:at |to |from )?(?:which|what) (?:universit(?:y|ies)|colleges?|schools?|institution))",
    "be": r"(?:is|was|are|were|has been|'s)",
    "do": r"(?:did|does|do|has|have|had)",
    "boss": r"(?:ceo|chief executive(?: officer)?|boss|managing director)",
    "found": r"(?:(?:co-)?found|(?:co-)?founded|start|started|establish|established|create|created|set up)",
    "year": YEAR,
}
TABLE = (
    Relation("ceo",
             "person", ("CEO", "chief executive officer", "chief executive", "boss", "head", "leader", "director",
                               "managing director", "president", "chief"),
             (r"{who} (?:currently |now )?(?:runs|leads|heads|manages|directs|is running|is leading|is in charge of"
              r"|is at the helm of|is at the head of) {x}",
              r"{who} {be} {x} (?:run|led|headed|managed) by", r"(?:by )?{who} {be} {x} (?:run|led|headed)",
              r"{who} {be} in charge (?:of|at) {x}"),
             (r"{boss}(?: of [^.,(]{1,40})?(?: is| was| has been|, who is|,) (?:now )?<name>",
              r"chief executive(?: officer)? <name>",
              r"(?:run|led|headed|managed|directed) (?:since \w+(?: \d+)? )?by (?:its |the )?(?:{boss},? )?<name>",
              r"<name> (?:is|was|became|has been|serves as|took over as) (?:now |currently )?(?:the |its )?"
              r"(?:new |current )?(?:co-founder and |founder and )?{boss}",
              r"<name> (?:now )?(?:runs|leads|heads)\b", r"(?:director|head|leader|president) (?:is|was) <name>"),
             "the CEO of {x} is {v}",
             r"(?:{boss}|head|director|leader) of {x}|(?:runs|leads|heads) {x}"),
    Relation("founder", "person", ("founder", "founders", "co-founder", "co-founders", "creator"),
             (r"{who} (?:{found}) {x}", r"(?:by )?{who} {be} {x} (?:{found})(?: by)?"),
             (r"(?:{found})(?: in {year}| in \w+ {year})?(?: in [A-Z]\w+)?,? by <list>",
              r"founders? (?:is|was|are|were) <list>", r"<list> (?:{found})\b"),
             "{x} was founded by {v}", r"(?:{found}|founder of) (?:the company )?{x}", many=True),
    Relation("founded", "year", ("founding year", "founding", "foundation", "establishment", "year of foundation"),
             (r"{when} {be} {x} (?:{found})", r"{when} {do} .+? (?:{found}) {x}", r"{when} {x} {be} (?:{found})"),
             (r"(?:{found})\b[^.;]{0,60}? (?:in|on) (?:\d+ )?(?:[a-z]+ )?<year>", r"dates (?:from|back to) <year>"),
             "{x} was founded in {v}"),
    Relation("capital", "place", ("capital", "capital city"),
             (r"(?:which|what) city is (?:the )?capital of {x}",),
             (r"capital(?: city)?(?: of [^.,]{2,30})? (?:is|was) <name>", r"<name> is (?:its|the) capital",
              r"capital,? <name>"), "the capital of {x} is {v}", r"capital (?:and largest city )?(?:city )?of {x}"),
    Relation("capital_of", "place", ("country",), (r"(?:which|what) country {be} {x} (?:the )?capital of",
             r"(?:of )?(?:which|what) country {be} {x} the capital", r"{x} is the capital of (?:which|what) country"),
             (r"capital (?:and largest city )?(?:city )?of <place>",), "{x} is the capital of {v}"),
    Relation("headquarters", "place", ("headquarters", "head office", "seat", "base", "home city"),
             (r"{where} {be} {x} (?:based|headquartered)(?: in)?", r"{where} {x} {be} (?:based|headquartered)(?: in)?",
              r"{where} (?:{do} )?{x} (?:have|has|keep|keeps) (?:its|their|the) (?:headquarters|head office|seat"
              r"|base)(?: in)?",
              r"{where} {be} (?:the )?(?:headquarters|head office) of {x}",
              r"{where} (?:the )?(?:headquarters|head office) of {x} {be}(?: located| in)?",
              r"{where} {be} {x}'s? (?:headquarters|head office)(?: located| in)?"),
             (r"(?:headquarters|head office|seat) (?:is|are|was|were|lie|lies)(?: now)?(?: located)? (?:in|at) <place>",
              r"(?:headquartered|based) (?:in|at) <place>"),
             "the headquarters of {x} are in {v}"),
    Relation("owner", "thing", ("owner", "parent company", "parent", "mother company"),
             (r"(?:{who}|which company|what company|what) (?:owns|bought|acquired) {x}",
              r"(?:{who}|which company|what company) {be} {x} (?:owned by|bought by|a (?:subsidiary|part) of)",
              r"(?:{who}|which company|what company) {do} {x} belong to", r"to whom does {x} belong"),
             (r"(?:owned|bought|acquired) by <name>", r"(?:owner|parent company|parent) (?:is|was) <name>",
              r"(?:belongs to|subsidiary of|part of) <name>", r"<name> (?:bought|acquired|owns) (?:it|the company)"),
             "{x} is owned by {v}", r"(?:owns|owner of|parent company of|bought) {x}"),
    Relation("studied_at", "university",
             ("university", "alma mater", "college", "school", "education", "place of study"),
             (r"{uni} (?:{do} )?{x} (?:attend|attended|visit|study at|studied at|study|studied|go to|went to|go|went"
              r"|graduate from|graduated from|graduate|graduated|get (?:his|her|a) degree(?: from)?|train at"
              r"|go to (?:college|university|school)|went to (?:college|university|school)|educated at|learn)(?: at)?",
              r"{uni} {be} {x} (?:educated|a student|an alumnus|a graduate)(?: at| of)?",
              r"{uni} {do} {x} (?:get|receive|earn|do) (?:his|her|a|the) (?:degree|phd|doctorate)(?: from| at)?"),
             (r"(?:studied|graduated|educated|student|degrees?|phd|doctorate|ph\.d\.|bachelor|master|mba|read"
              r" [a-z ]{3,40})"
              r"\b(?: [a-z]+\b){0,9}? (?:at|from|of) (?:the )?<list>", r"(?:attended|alumnus of|alumna of|graduate of)"
              r" (?:the )?<list>", r"(?:went|going) to (?:the )?<list>", r"alma mater (?:is|was) (?:the )?<list>"),
             "{x} studied at {v}", many=True),
    Relation("subject", "thing", ("subject", "field of study", "field"),
             (r"what (?:subject |subjects )?{do} {x} (?:study|studied|read|major in)(?: at (?:the )?(?:university"
              r"|college))?",
              r"(?:which|what) subject {do} {x} (?:study|read)"),
             (r"(?:studied|degree in|read) <words>(?= at| from|\.|,| and (?:then|received))",),
             "{x} studied {v}"),
    Relation("born_in", "place", ("birthplace", "place of birth", "home town", "hometown", "birth place"),
             (r"{where} {be} {x} born(?: in)?", r"{where} {x} {be} born(?: in)?", r"{where} {do} {x} come from",
              r"{where} {be} {x} from"),
             (r"born (?:on [^.;]{3,20}?|in {year})?,? ?(?:in|at) <place>", r"(?:from|native of) <place>"),
             "{x} was born in {v}"),
    Relation("born", "year", ("year of birth", "birth year", "date of birth", "birth date", "birthday", "birth"),
             (r"{when} {be} {x} born(?: in)?", r"{when} {x} {be} born(?: in)?"),
             (r"born\b[^;(]{0,60}? <year>", r"\(<year>[-–]"), "{x} was born in {v}"),
    Relation("died_in", "place", ("place of death", "deathplace"),
             (r"{where} {do} {x} die(?: in)?", r"{where} {x} died(?: in)?"),
             (r"died (?:on [^.;]{3,20}?|in {year})?,? ?(?:in|at) <place>",), "{x} died in {v}"),
    Relation("died", "year", ("year of death", "death", "death year", "date of death"),
             (r"{when} {do} {x} die(?: in)?", r"{when} {x} died(?: in)?"),
             (r"died\b[^;]{0,60}? <year>", r"[-–]<year>\)"), "{x} died in {v}"),
    Relation("prize_year", "year", ("prize year",),
             (r"{when} {do} {x} (?:win|receive|get|share) (?:the|a|an|his|her) .*(?:prize|award|medal)(?: in [a-z]+)?",
              r"{when} {x} (?:won|received|got|shared) (?:the|a|an|his|her) .*(?:prize|award|medal)(?: in [a-z]+)?",
              r"{when} {be} {x} awarded (?:the|a|an|his|her) .*(?:prize|award|medal)(?: in [a-z]+)?"),
             (r"(?:won|received|awarded|shared|prize)\b[^;]{0,80}? (?:in|of) <year>", r"<year> Nobel Prize"),
             "{x} won the prize in {v}"),
    Relation("prize", "thing", ("prize", "award", "Nobel Prize", "prizes", "awards"),
             (r"(?:what|which) (?:nobel )?(?:prize|award|prizes|awards) {do} {x} (?:win|receive|get|won|share)",
              r"(?:what|which) (?:nobel )?(?:prize|award) {be} {x} awarded",
              r"in (?:what|which) (?:field|subject) {do} {x} (?:win|get|receive) (?:the|a|his|her) nobel prize",
              r"what {do} {x} (?:win|get|receive) (?:the|a|his|her) nobel prize (?:for|in)"),
             (r"(?:won|received|awarded|shared|share of) (?:half of |a share of |jointly )?(?:the|a|an) (?:\d{4}"
              r" )?<prize>",),
             "{x} won the {v}"),
    Relation("author", "person", ("author", "writer", "novelist", "poet", "playwright"),
             (r"{who} (?:wrote|penned|has written|is the author of) {x}",
              r"(?:by )?{who} {be} {x} (?:written|authored)(?: by)?",
              r"{who} (?:composed|painted|directed|designed|made|built) {x}",
              r"(?:by )?{who} {be} {x} (?:composed|painted|directed|designed|made|built)(?: by)?"),
             (r"(?:written|authored|composed|painted|directed|designed|made|built) (?:in \d+ )?by (?:the )?"
              r"(?:[a-z]+(?:-[a-z]+)? ){0,4}?<list>",
              r"(?:novel|book|play|poem|story|essay|epic|tragedy|comedy|trilogy|painting|opera|work|series|tale"
              r"|collection"
              r"|autobiography|novella|satire) (?:[a-z]+ )?by (?:the )?(?:[a-z]+(?:-[a-z]+)? ){0,4}?<list>",
              r"(?:author|writer|painter|composer|architect) (?:is|was) <list>",
              r"<name> (?:wrote|painted|designed) it"),
             "{x} was written by {v}", r"(?:wrote|author of|writer of|painted|designed) [^.]{0,60}?{x}"),
    Relation("published", "year", ("publication year", "year of publication", "publication", "release"),
             (r"{when} {be} {x} (?:first )?(?:published|written|released|printed)",
              r"{when} {do} {x} (?:come out|appear)",
              r"{when} {do} .+? (?:write|publish) {x}", r"{when} {x} {be} (?:first )?(?:published|written)"),
             (r"(?:published|written|appeared|printed|released)\b[^;]{0,50}? (?:in |about |around )+<year>",
              r"(?:from|of) <year>"),
             "{x} was published in {v}"),
    Relation("built", "year", ("year of completion", "completion", "opening", "construction"),
             (r"{when} {be} {x} (?:built|opened|completed|finished|constructed|inaugurated)", r"{when} {do} {x} open"),
             (r"(?:completed|finished|opened|built|constructed|inaugurated)\b[^;]{0,50}? <year>",),
             "{x} was completed in {v}"),
    Relation("began", "year", ("year",), (),
             (r"(?:born|founded|published|established|created|written|completed|opened|built)\b[^;]{0,60}? <year>",),
             "{x} dates from {v}"),
    Relation("works", "thing", ("novel", "book", "works", "books", "novels", "play"),
             (r"(?:what|which) (?:novel|novels|book|books|play|plays|works?)? ?{do} {x} (?:write|written|publish)",
              r"what {do} {x} write"),
             (r"(?:wrote|author of) (?:the )?(?:[a-z]+ ){0,3}?<works>",), "{x} wrote {v}",
             r"(?:novel|book|play|poem|story|work)\b[^.]{0,30}? by {x}"),
    Relation("country", "place", ("country", "home country", "nation"), (), (), "{x} is in {v}"),
    Relation("located", "place", ("city", "location", "place", "town", "site"),
             (r"{where} {be} {x}(?: located| situated)?(?: in)?", r"{where} {x} {be}(?: located| situated)?(?: in)?",
              r"{where} (?:{do} )?{x} (?:lie|lies|stand|stands|belong to)(?: in)?",
              r"{where} can (?:i|one|you) find {x}"),
             (r"(?:is|lies|stands|located|situated) (?:a [a-z -]{3,40} )?(?:in|at|near) (?:the [a-z ]{3,30} of"
              r" )?<place>",
              r"capital (?:and largest city )?of <place>",
              r"(?:university|museum|city|tower|mountain|building|bridge|company|institute|volcano|port|town|temple"
              r"|palace"
              r"|cathedral|peak|lake|church|monument)\b(?: [a-z-]+){0,5}? (?:in|of) (?:the [a-z]+ of )?<place>",
              r"(?:in|on the border of|between) <place>"),
             "{x} is in {v}"),
    Relation("population",
             "number", ("population", "number of inhabitants", "inhabitants", "number of people", "residents"),
             (r"how many (?:people|inhabitants|residents|citizens) (?:live|are there|are living|are) in {x}",
              r"how many (?:people|inhabitants|residents|citizens) {do} {x} have",
              r"how (?:populous|populated) is {x}"),
             (r"<number> (?:inhabitants|people|residents)",
              r"population (?:of|is|was)(?: about| around| roughly)* <number>"),
             "{x} has {v} inhabitants"),
    Relation("river", "thing", ("river",),
             (r"(?:on |through )?(?:which|what) river {do} {x} (?:lie|stand)(?: on)?",
              r"(?:on )?(?:which|what) river (?:is|lies|stands) {x}(?: on)?",
              r"(?:which|what) river (?:flows|runs|goes) through {x}"),
             (r"(?:on|along) (?:the )?(?:banks of )?(?:the )?(?:river )?<name>",
              r"(?:the )?(?:river )?<name> (?:flows|runs) through"),
             "{x} lies on the {v}"),
    Relation("height", "number", ("height", "elevation", "altitude"), (r"how (?:high|tall) (?:is|was|are) {x}",),
             (r"<number> (?:metres|meters|m|feet)\b(?: \([^)]*\))?,? (?:high|tall|above)",
              r"(?:height|elevation)[^.]{0,20}? <number>"),
             "{x} is {v} high"),
    Relation("length", "number", ("length",), (r"how long (?:is|was|are) {x}",),
             (r"<number> (?:km|kilometres|kilometers|miles|metres) long", r"length[^.]{0,20}? <number>"),
             "{x} is {v} long"),
    Relation("area", "number", ("area", "size", "surface"), (r"how (?:big|large) (?:is|are) {x}",),
             (r"(?:area|covers|size)[^.]{0,25}? <number>", r"<number> (?:square kilometres|km²)"), "{x} covers {v}"),
    Relation("symbol", "thing", ("chemical symbol", "symbol"),
             (r"(?:what|which) (?:chemical )?symbol (?:does|has) {x}(?: have)?",),
             (r"symbol (?:is|:)? ?<name>", r"\(symbol <name>\)"), "the chemical symbol of {x} is {v}"),
    Relation("currency", "thing", ("currency", "money"),
             (r"(?:which|what) (?:currency|money) (?:does|do|is) (?:people in )?{x}(?: use| used| have)?",
              r"(?:which|what) (?:currency|money) is used in {x}",
              r"what do people (?:pay with in|in) {x}(?: pay with| use)?"),
             (r"currency (?:is|was) <words>(?=[.,;(]|$)",), "the currency of {x} is {v}"),
    Relation("language", "thing", ("official language", "language", "languages", "official languages"),
             (r"(?:which|what) (?:official )?languages? (?:is|are) (?:spoken|official) in {x}",
              r"(?:which|what) languages? (?:do|does) (?:people |they )?(?:in )?{x} (?:speak|have)"),
             (r"languages? (?:is|are) <list>",), "the official language of {x} is {v}"),
    Relation("nationality", "thing", ("nationality", "citizenship"),
             (r"(?:what|which) nationality {be} {x}",),
             (r"(?:is|was) an? (?:[a-z]+ly )?<name>(?:-born)?(?= [a-z])",), "{x} is {v}"),
    Relation("spouse", "person", ("wife", "husband", "spouse", "partner"),
             (r"{who} {be} {x} married to", r"{who} {do} {x} marry"),
             (r"(?:married(?: to)?|(?:wife|husband|spouse) (?:is|was)) (?:the [a-z]+ )?<name>",),
             "{x} is married to {v}"),
    Relation("company", "thing", ("company", "employer", "firm"),
             (r"(?:which|what) company (?:{do} |{be} )?{x} (?:run|lead|head|manage|found|start|runs|leads|heads"
              r"|manages|founded|started|ceo of|the ceo of|work for|works for)", r"who does {x} work for",
              r"(?:which|what) company {be} (?:led|run|headed|managed|founded|started) by {x}"),
             (r"(?:CEO|chief executive|president) of <name>", r"(?:founders? of|founded) <name>"),
             "the company of {x} is {v}"),
    Relation("winner", "person", ("winner", "winners", "laureate", "laureates"),
             (r"{who} (?:won|received|got|was awarded|shared) {x}",
              r"(?:by )?{who} {be} {x} (?:won|awarded)(?: by| to)?",
              r"to whom was {x} awarded"),
             (r"(?:won by|awarded to) <list>",), "{x} was won by {v}",
             r"(?:won|shared|received) (?:half of )?(?:the )?{x}", many=True),
    Relation("discoverer", "person", ("discoverer", "inventor"),
             (r"{who} (?:discovered|invented|developed) {x}",
              r"(?:by )?{who} {be} {x} (?:discovered|invented)(?: by)?"),
             (r"(?:discovered|invented|isolated|developed)[^.;]{0,30}? by (?:the )?(?:[a-z]+ ){0,3}?<list>",
              r"<list> (?:discovered|invented) it"),
             "{x} was discovered by {v}", r"(?:discovered|invented) [^.]{0,40}?{x}"),
)
BY_NAME = {row.name: row for row in TABLE}
