"""A question without its wrapping: politeness, a question mark, 'X is led by whom' turned round.

What is left is the form that the grammar's patterns are written for.
"""

import re

_POLITE = re.compile(
    r"^(?:(?:hello|hi|hey|please|ok|okay|well|so|and|now|then|also|just)\b[,!. ]+"
    r"|(?:can|could|would|will) you (?:please )?(?:tell me|find out|find|look up|say|help me find|check|calculate"
    r"|compute"
    r"|work out"
    r"|give me|show me)[, ]+"
    r"|(?:please )?(?:tell me|find out|look up|find|give me|name|show me|check|calculate|compute|work out|determine"
    r"|evaluate"
    r"|state) (?!me\b)"
    r"|i(?: would like|'d like| want| need) to know[, ]+|i wonder[, ]+|do you (?:happen to )?know[, ]+|what do (?:you"
    r"|we|i) get if (?:you|we|i) |take (?=\d)|convert (?=the |\d|[A-Z])"
    r"|quick question[:,] |question: |using the tools[, ]+|what do you think[,:] )", re.I)
_TAIL = re.compile(
    r"(?:,? (?:please|right now|at the moment|today|now|currently|tonight|tomorrow|this morning|these days|nowadays"
    r"|thanks"
    r"|thank you"
    r"|for me|exactly|again|in your opinion|and (?:tell|give) me the (?:result|answer)))+$", re.I)
_IN_PLACE = re.compile(
    r"^(?!(?:(?:in|on|at|by|from|to) )?(?:what|who|whom|which|where|when|how) )(?P<x>.+?) (?P<be>is|was|are|were) "
    r"(?P<verb>[\w ]+?) "
    r"(?P<wh>(?:by|in|at|on) (?:whom|which|what)\b[\w ]*)$", re.I)
_TURNED = re.compile(r"^(?P<wh>who|what|where|when) (?P<x>(?:the|[A-Z]).+) (?P<be>is|was|are|were)$", re.I)
_LONGEST = 500  # characters of a question that are read


def normal(text: str) -> str:
    """Give a question without politeness, question mark and needless spaces."""
    text = re.sub(r"\s+", " ", re.sub("[’‘]", "'", text[:_LONGEST])).strip(" ?!.…")
    text = re.sub(r"\b(what|who|where|when|how|it|that|there|weather)'s\b", r"\1 is", text, flags=re.I)
    text = re.sub(r" (?:currently|actually|presently|nowadays|else) (?=\w)", " ", text)
    text = _IN_PLACE.sub(r"\g<wh> \g<be> \g<x> \g<verb>", text)  # 'Boeing is led by whom' is 'by whom is Boeing led'
    text = re.sub(r"\b(?:the )?(?:(?:full )?name|title) of (?=the |.*'s )", "", text)
    before = None
    while before != text:
        before, text = text, without_tail(_POLITE.sub("", text)).strip(" ?!.,")
    return _TURNED.sub(r"\g<wh> \g<be> \g<x>", text)  # '(do you know) who the CEO of Intel is'


def without_tail(text: str) -> str:
    """Cut 'today', 'please' and the like from the end."""
    return _TAIL.sub("", text)
