"""Texts that a prompt itself gives to read from. They count as observations: an answer comes from them before it comes
from memory or from a tool.

A text stands behind a line such as `Text:`, `Context:` or `Here is what the encyclopedia says:`, in quotes, fences or
tags, or simply beside the question. What asks (a question, or an instruction such as "Extract ...") is told apart
from it line by line.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from .needs import Formula, Open
from .notes import Note, note
from .questions import understand
from .reading import Reading
from .words import NAME, mentions, sentences

_KIND = (r"(?:text|context|facts?|passages?|articles?|documents?|excerpts?|paragraphs?|notes|background|sources?"
         r"|encyclopa?edia|information|search results?|reports?|snippets?|evidence)")
_MARK = re.compile(rf"^[ \t*#>-]*(?!(?:classify|categori|choose|pick|route|label|decide|which|what|who)\b)"
                   rf"(?P<lead>[^\n:.?!]{{0,60}}\b{_KIND}\b[^\n:.?!]{{0,40}})[*]*[:：][ \t*]*", re.M | re.I)
_BLOCK = re.compile(rf"```(?:\w*\n)?(.+?)```|\"\"\"(.+?)\"\"\"|'''(.+?)'''|<{_KIND}>(.+?)</{_KIND}>", re.S | re.I)
_LABEL = re.compile(r"\s*(?:question|thought|action|action input|observation|final answer|answer)\s*[:：]", re.I)
_ASKING = re.compile(
    r"\s*(?:please |now |then )?(?:answer|reply|respond|use|give|write|extract|classify|categori[sz]e|choose|pick"
    r"|route|name|list|return|say|tell|think|find|copy|if the|which|what|who|whose|whom|when|where|how"
    r"|(?:in|at|on|by|from|to) (?:which|what|whom)|is|was|are|were|did|does|do|can|could)\b", re.I)
_ON_ANSWERS = re.compile(r"\s*(?:answer|use|reply|respond|say|think|if|return|give|then)\b|\s*[\w ]+:", re.I)
_SUBJECT = re.compile(rf"(?:The )?({NAME})(?: \([^)]*\))?,? (?:is|was|are|were) (?:an?|the (?:capital|\w+est))\b")
_IT = (rf"(?:according to|based (?:only )?on|from|using(?: only)?|in) (?:the|this|that)(?: \w+)? {_KIND}"
       r"(?: above| below)?")
_FROM_IT = re.compile(rf"^{_IT},? |,? {_IT}(?=[?.]?$)", re.I)
_ONLY = re.compile(rf"\b(?:only|solely|exclusively|nothing but|no other|not use (?:any )?(?:other|outside))\b"
                   rf"[^.\n]{{0,40}}\b(?:{_KIND}|knowledge)\b|\b{_KIND} (?:alone|only)\b"
                   rf"|\bif the {_KIND} (?:does|do)(?: not|n't)\b", re.I)
_OTHERWISE = re.compile(r"\b(?i:if (?:the|it|you|there|no))\b[^.\n]{3,80}?,? (?i:say|answer|reply|write|respond|return)"
                        r"(?: with)?(?: only| just| exactly)?:? (?:[\"'“‘](?P<quoted>.+?)[\"'”’]"
                        r"|(?P<bare>[A-Z][\w ]{1,40}))")
_HEADED = re.compile(r"^((?:write|give|classify|categori[sz]e|route|label|extract|choose|turn|answer)\b[^?:]+?): "
                     r"(.+\?)$", re.I)
_FORMAT = re.compile(r"^\W*(?:thought|action|final answer)\s*[:：]|^\W*\w+\(\w*(?::|\))", re.M | re.I)
_PRONOUN = re.compile(r"\b(it|he|she|they|the (?:company|person|city|country|book|novel))\b|\b(its|his|her|their)\b",
                      re.I)


@dataclass(frozen=True)
class Prompt:
    """What a piece of a prompt consists of: texts to read from, lines of instructions, and the question."""

    texts: tuple[str, ...]
    instructions: str
    question: str


def with_texts(reading: Reading) -> Reading:
    """Put the texts that a request gives among the notes, and leave the bare question."""
    setting = prompt_of(reading.instructions, False)
    asked = prompt_of(reading.question, True)
    before = [prompt_of(question, True) for question, _ in reading.earlier]
    others = [prompt_of(said, True) for said in reading.said
              if said != reading.question and not said.lower().startswith("note:")]
    instructions = f"{reading.instructions}\n{asked.instructions}"
    if not asked.question:  # the system's message instructs, the user's is the text
        tasks = [line for line in sentences(reading.instructions) if _asks(line) and not _ON_ANSWERS.match(line)]
        asked = replace(asked, question=tasks[-1]) if tasks and not reading.tools else Prompt((), "", reading.question)
    texts = dict.fromkeys(text for part in (setting, *before, *others, asked) for text in part.texts)
    notes = tuple(each for text in texts for each in _notes(text))
    earlier = tuple((prompt_of(question, True).question, answer) for question, answer in reading.earlier)
    tools = () if only_texts(instructions) else reading.tools
    question = _in_full(asked.question, notes) if notes else asked.question
    return replace(reading, question=question, instructions=instructions, earlier=earlier, tools=tools, given=notes,
                   notes=(*notes, *reading.notes))


@lru_cache(maxsize=512)  # a conversation is read again with each request
def prompt_of(text: str, may_be_bare: bool) -> Prompt:
    """Take a piece of a prompt apart. Only what a user says may hold a text without any mark, beside the question."""
    texts = [next(filter(None, m.groups())).strip() for m in _BLOCK.finditer(text) if _is_prose(m.group())]
    rest = _BLOCK.sub(lambda m: "" if _is_prose(m.group()) else m.group(), text)
    asking, at = [], 0
    for mark in _MARK.finditer(rest):
        if mark.start() < at:
            continue
        asking += rest[at:mark.start()].splitlines()
        read, at = _until_asked(rest, mark.end())
        texts += [read] if read else []
        asking += [mark.group("lead") + "."] if _ASKING.match(mark.group("lead")) else []
    asking += rest[at:].splitlines()
    asking = [part for line in asking if line.strip() for part in _HEADED.sub(r"\1.\n\2", line.strip()).splitlines()]
    whole = understand(rest, ()) if may_be_bare and not texts and not _FORMAT.search(rest) else None
    if isinstance(whole, Formula):  # a story with a sum
        return Prompt((), "", text)
    if isinstance(whole, Open) or (whole and len(sentences(rest)) > 1):
        lines = asking if len(asking) > 1 else list(sentences(rest))
        texts = ["\n".join(line for line in lines if not _asks(line) and len(line.split()) > 3)]
        asking = [line for line in lines if line not in texts[0]]
        texts = texts if texts[0] else []
    if not texts and len(asking) < 2:
        return Prompt((), "", text)
    asking = [part for line in asking for part in sentences(line)]
    question = next((line for line in reversed(asking) if line.endswith("?")), asking[-1] if asking else "")
    others = "\n".join(line for line in asking if line != question)
    return Prompt(tuple(texts), others, _FROM_IT.sub("", question).strip())


def only_texts(instructions: str) -> bool:
    """Say whether the prompt allows nothing but the given texts."""
    return bool(_ONLY.search(instructions))


def otherwise(instructions: str) -> str:
    """Give the words that the prompt wants when the texts do not hold the answer, or an empty text."""
    found = _OTHERWISE.search(instructions)
    return (found.group("quoted") or found.group("bare")).strip() if found else ""


def _until_asked(text: str, start: int) -> tuple[str, int]:
    """Read a text from a place on, up to a line or a last sentence that asks; give it and where it ends."""
    end = start
    for line in text[start:].splitlines(keepends=True):
        if _MARK.match(line) or (_asks(line) and line.strip()):
            break
        *before, last = sentences(line.strip()) or ("",)
        if before and last.endswith("?"):
            end += line.rfind(last)
            break
        end += len(line)
    return text[start:end].strip(" \n\t\"“”"), end


def _asks(line: str) -> bool:
    """Say whether a line asks or instructs."""
    return line.strip().endswith("?") or bool(_LABEL.match(line) or _ASKING.match(line))


def _is_prose(block: str) -> bool:
    """Say whether a block in quotes or fences is a text, and not a format or data."""
    return not re.search(r"^\s*(?:thought|action|final answer)\s*:|^\W*[\[{]", block.strip("`'\"\n "), re.M | re.I)


@lru_cache(maxsize=512)
def _notes(text: str) -> tuple[Note, ...]:
    """Cut a text into articles, one for each thing that it introduces: 'Intel: ...', or 'Intel is a ...'."""
    articles: list[str] = []
    for line in text.splitlines():
        line = re.sub(r"^\s*(?:[-*•]|\d+[.)]|\[\d+\])\s+", "", line).strip()
        for place, part in enumerate(sentences(line)):
            title, subject = Note(part).title.removeprefix("See also"), _SUBJECT.match(part)
            new = title or (subject.group(1) if subject else "")
            if title or not articles or (new and not mentions(Note(articles[-1]).title, new)):
                articles.append(part if title or not new else f"{new}: {part}")
            else:
                articles[-1] += f"{' ' if place else chr(10)}{part}"
    return tuple(note(article, tool="text") for article in articles)


def _in_full(question: str, notes: tuple[Note, ...]) -> str:
    """Name the thing that a question on a text leaves out: 'When was it founded?', 'Who is the CEO?'."""
    title = next((each.title for each in notes if each.title), "")
    if not title or not question.endswith("?") or re.search(r".\b[A-Z][a-z]", question):
        return question
    changed = _PRONOUN.sub(lambda m: title if m.group(1) else f"{title}'s", question, count=1)
    if changed != question:
        return changed
    return re.sub(r"^((?:who|what) (?:is|are|was|were) the [a-z ]+?)(\?|$)", rf"\1 of {title}\2", question, flags=re.I)
