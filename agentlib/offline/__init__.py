"""The offline model: a small set of rules behind the OpenAI wire protocol. It is not a language model.

`app()` gives a WSGI application that serves `POST /v1/chat/completions` and `GET /v1/models`; `app(Settings(...))` one
with other limits. Each request is read afresh: its format, its tools, its question, the steps taken so far. How a reply
comes about, in the order in which the modules are best read:

    server      the wire: errors, stop words, tokens (checks and tool_checks: what is refused; streaming: the events)
    reading     messages -> what was asked, with which tools, and what happened so far (notes: texts to read from;
                offered: tools in the API's own field or in the prompt; results: native calls and what tools returned)
    questions   question -> a tree of needs (the kinds are in needs). The grammar: cleaning, conversation, phrases,
                comparisons, amounts, listing; relations and patterns say how people ask for a fact and how texts state
                it
    passages    texts that the prompt itself gives: they count as observations. tasks: instructions, not questions
    thinking    tree and notes -> an outcome: a value, a want, or a loss. By kind: facts, measures (settling: details)
    finding     text of observations and thoughts -> values (reports: weather)
    memory      what it knows by heart, some of it out of date; arithmetic: sums in the head
    choosing    want and tools -> a call (filling: the arguments, after the schema)
    errands     questions for tools that the grammar knows nothing of: which tool (selection: what speaks for one;
                fitness: by its words; senses: which words mean nearly the same), with which arguments (slots: what each
                parameter looks for; signatures: the parameters; clues and units: what a text gives; gathering: what
                other results give), and what to answer (retelling)
    coding      code for a tool that runs Python: for sums and for tables in files (table_questions: what is asked;
                tables: what can be; programs: the code), and what comes of it, tracebacks too
    wording     thoughts and answers in words, varied by the seed
    replying    the reply in the format asked for, and what it makes up when no stop word stops it
    calling     the reply with native calls, several at once, and what the request says about them
    judging     the verdict on an answer that a request shows beside observations, as a self-check does
    assigned    one task of a plan, as its executor is told of it: the instruction is the question
    combining   what a task makes of results: a report, a difference, a sum, what comes up most often (figures: what one
                result gives)
    plan_requests  the conversation with a planner. planning: a goal and the tools at hand -> tasks (goals: the parts of
                a goal; clauses: what asks and what closes; things: the same of each; journeys; verbal: needs in words)
    plan_revisions  another way for what failed. synthesis: the answer from the results. plan_faults: bad plans, when a
                lesson asks for them
    faults      the mistakes that it makes when a lesson asks for them: rates and luck. slips: what it then says;
                malformed: how a reply goes wrong in its form (malformation: what that is; parts: what it is made of).
                native_faults and native_malformed: the same for native calls
"""

from .faults import Faults
from .server import Settings, app

__all__ = ["Faults", "Settings", "app"]
