"""The offline model: a small set of rules behind the OpenAI wire protocol. It is not a language model.

`app()` gives a WSGI application that serves `POST /v1/chat/completions` and `GET /v1/models`. Each request is read
afresh: its format, its tools, its question, the steps taken so far. How a reply comes about, module by module:

    server      the wire: checks, errors, stop words, tokens
    reading     messages -> what was asked, with which tools, and what happened so far
    questions   question -> a tree of needs (needs, amounts and relations belong to it)
    finding     text of observations and thoughts -> values
    thinking    tree and notes -> the next want, or the answer (memory: what it knows by heart, some of it wrong)
    choosing    want and tools -> a call
    wording     thoughts and answers in words, varied by the seed
    replying    the reply in the format asked for, and what it makes up when no stop word stops it
"""

from .server import Settings, app

__all__ = ["Settings", "app"]
