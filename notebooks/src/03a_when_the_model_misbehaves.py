# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03a · When the model misbehaves: replies that nobody asked for
#
# **The question.** The loop of lesson 02 works as long as the model keeps to the format. It will not. What do you do
# with a reply that is nearly right, and what with one that is not right at all?
#
# **You will build** a reader that goes from strict to lenient, one rung at a time, and see after each rung what it
# gains and what it risks. Then you will send errors back to the model, and measure what each layer of defence is worth.
#
# **Time:** about 50 minutes. **You need:** lesson 02.

# %% [markdown]
# ```mermaid
# flowchart LR
#     R([reply]) --> S{strict?}
#     S -->|no| M{can it be<br/>repaired?}
#     M -->|no| L{is it said<br/>what is what?}
#     S -->|yes| T[run the tool]
#     M -->|yes| T
#     L -->|yes| T
#     L -->|no| E[say what is wrong] -->|the model tries again| R
# ```

# %% [markdown]
# ## 1 · What models write
#
# These replies are real. They come from SmolLM2-135M-Instruct, a model of 135 million parameters, small enough for any
# laptop. Three of them try the format of lesson 02, two a call in JSON. (`tests/data/real_replies.jsonl` has more.)

# %%
REAL = [
    "Thought: I need the weather in Avaria.\nAction: weather\nAction Input: Avaria is a country. Its weather is sunny.",
    "Thought: I need to multiply 17 by 23.\nAction: 17 * 23 = 341\nFinal Answer: Yes, 17 * 23 = 341",
    "Thought: I need to use Thought:\nAction: 2022",
    '{"name": "set_timer", "arguments": {"minutes": 12, "source": "12", "target": "JPY"}}',
    '{"name": "count_down_hour", "arguments": {"hours": 1", "minutes": 1", "seconds": 1}}',
]
for number, text in enumerate(REAL, 1):
    print(f"-- reply {number}\n{text}")

# %% [markdown]
# Larger models do better, and still not always. "Could not parse LLM output" heads a thread in which many users of an
# agent framework report the same ([langchain #1358](https://github.com/langchain-ai/langchain/issues/1358), 2023); a
# reply with an action and a final answer at once, as in number 2, is the trouble elsewhere
# ([crewAI #1545](https://github.com/crewAIInc/crewAI/issues/1545), 2024).
#
# Here is how lesson 02 reads a reply: the check for a final answer from its loop, and its regular expression.

# %%
import re


def naive(text):
    if "Final Answer:" in text:
        return "answer", text.split("Final Answer:")[1].strip()
    match = re.search(r'Action: (\w+)\((\w+)="(.*)"\)', text)
    return match and (match[1], {match[2]: match[3]})


print(naive('Thought: Let me see.\nAction: search(query="Intel")'))

# %% [markdown]
# > **Predict.** What does it make of each of the five?

# %%
for number, text in enumerate(REAL, 1):
    print(number, naive(text))

# %% [markdown]
# Four are lost. The other one is worse than lost: the model wrote a sum in place of an action, invented its result, and
# the reader took that for the answer. 17 times 23 is 391.
#
# So there are three outcomes, and they do not weigh the same:
#
# - **right**: the reader did what the model asked for, and nothing where it asked for nothing;
# - **missed**: the model asked for something, and nothing happens;
# - **wrong**: something happens that nobody asked for.

# %% [markdown]
# ## 2 · A gallery
#
# Five replies are too few to measure with. The offline model can make the mistakes that real ones make, each by a
# small function from a good reply to a malformed one. We let all of them loose on one reply.

# %%
from agentlib.offline.malformed import MALFORMED

GOOD = 'Thought: I need the CEO of Intel.\nAction: search(query="CEO of Intel")'
GALLERY = {name: kind.write(GOOD) for name, kind in MALFORMED.items() if kind.rung != "schema"}
print(len(GALLERY), "malformed replies, such as")
print(GALLERY["numbered_brackets"])

# %% [markdown]
# All of them, from the action on. (Three in four can be made out. The last seven must not be:
# `truncated_arguments` breaks off in the middle, `prose` only talks about a tool.)

# %%
CALLS = [name for name in GALLERY if MALFORMED[name].rung != "nothing"]
TALK = [name for name in GALLERY if MALFORMED[name].rung == "nothing"]

for name in CALLS + TALK:
    shown = repr(GALLERY[name].replace("Thought: I need the CEO of Intel.\n", ""))
    print(f"{name:22}{shown if len(shown) < 79 else shown[:38] + ' … ' + shown[-37:]}")

# %% [markdown]
# A judge for what follows. What counts is the call that would be made, so the tool's own name is looked up first:
# `Search` means `search`, and a value without a name goes to the first parameter.

# %%
import json

from agentlib import Toolbox
from agentlib.world import calculator, search, weather

toolbox = Toolbox([search, weather, calculator])


def as_call(found):
    if found is None or found[0] == "answer":
        return found
    name, arguments = toolbox.resolve(found[0], json.dumps(found[1]))
    return name, arguments.replace("\\n", " ")


print(as_call(("Search", {"0": "CEO of Intel"})))

# %%
from textwrap import fill

WANTED = as_call(naive(GOOD))


def verdict(read, name):
    found = as_call(read(GALLERY[name]))
    if found == (WANTED if name in CALLS else None):
        return "right"
    return "missed" if found is None else "wrong"


def rerun(read):
    results = {name: verdict(read, name) for name in GALLERY}
    print(f"calls read: {sum(results[name] == 'right' for name in CALLS)} of {len(CALLS)}")
    print(f"talk left alone: {sum(results[name] == 'right' for name in TALK)} of {len(TALK)}")
    for kind in ("missed", "wrong"):
        names = ", ".join(name for name in results if results[name] == kind) or "none"
        print(fill(f"{kind}: {names}", 100))


print(verdict(naive, "one_line"), verdict(naive, "bold_labels"))

# %% [markdown]
# > **Predict.** How many of the calls does the reader of lesson 02 read? Look at the list above, and at the regular
# > expression: one line, double quotes, nothing between `Action:` and the name.

# %%
rerun(naive)

# %% [markdown]
# Two are wrong, and both for the same reason: the words "Final Answer:" stand somewhere in the reply.

# %%
for name in ["think_block", "early_answer"]:
    print(f"{name}: the answer is {naive(GALLERY[name])[1][:60]!r}")

# %% [markdown]
# ## 3 · The first rung: strict
#
# Strict does not mean narrow. Bold labels, a numbered action, another notation for the same call: all of that is
# valid as it stands, and there is only one way to understand it. First, the labels. They count at the start of a
# line, and what comes first counts.

# %%
LABEL = re.compile(r"^[ *_]*(Thought|Action Input|Action|Observation|Final Answer)[ \d]*[*_]*[:：][*_]*[ \t]*", re.M)


def sections(text):
    text = re.sub(r"^<think>.*?</think>\s*", "", text, flags=re.S)
    marks = list(LABEL.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [(mark[1], text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=False)]


sections(GALLERY["bold_labels"])

# %% [markdown]
# What the model thinks aloud between tags is taken out before anything else: it may talk about the format. What does
# the reply ask for? The first action or answer in it, with the input that follows an action.

# %%
def request(text):
    found = sections(text)
    for place, (label, body) in enumerate(found):
        if label in ("Action", "Final Answer"):
            following = found[place + 1] if place + 1 < len(found) else ("", "")
            return label, body, following[1] if following[0] == "Action Input" else None
        if label == "Observation":
            return None


for name in ["early_answer", "call_in_two_lines"]:
    print(request(GALLERY[name]))

# %% [markdown]
# An observation before any action means that the model plays the tool; then nothing of it can be trusted.
#
# Next, the call itself, in the two notations. JSON first, with the names that models use for its two parts:

# %%
def first(data, keys, default=None):
    return next((data[key] for key in keys if key in data), default)


def from_json(data):
    data = data.get("tool_call", data)
    arguments = first(data, ["arguments", "parameters", "args", "input"], {})
    return first(data, ["name", "tool"]), json.loads(arguments) if isinstance(arguments, str) else arguments


from_json({"tool": "search", "parameters": {"query": "CEO of Intel"}})

# %% [markdown]
# Then call syntax. Python's own parser reads it for us. It reads and does not run: `ast.literal_eval` takes texts,
# numbers, lists and dicts, and refuses the rest.

# %%
import ast


def from_call(source):
    call = ast.parse(source.replace("\n", "\\n"), mode="eval").body
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise ValueError("this is no call")
    values = {str(place): ast.literal_eval(value) for place, value in enumerate(call.args)}
    return call.func.id, values | {each.arg: ast.literal_eval(each.value) for each in call.keywords}


print(from_call('search(query="CEO of Intel")'))

# %% [markdown]
# Models go on talking after the call. So we need the place where it ends: the bracket that closes the first one,
# with texts in quotes skipped.

# %%
TOKEN = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[()\[\]{}]""", re.S)


def closed(source):
    depth = 0
    for token in TOKEN.finditer(source[:8_000]):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if depth == 0 and token[0] in ")]}":
            return source[: token.end()]
    raise ValueError("no bracket closes it")


print(closed('search(query="a) b") and then I will wait (for the result)'))

# %%
def strict(body, given):
    body = body.removeprefix("```json").strip()
    if given is not None:
        return body, json.loads(given)
    return from_json(json.loads(closed(body))) if body.startswith("{") else from_call(closed(body))


print(strict(*request(GALLERY["code_fence"])[1:]))

# %% [markdown]
# Rungs raise when they cannot read. `climb` tries one after the other.

# %%
ODD = (ValueError, SyntaxError, TypeError, AttributeError, RecursionError)


def climb(text, rungs):
    label, body, given = request(text) or ("", "", None)
    if label == "Final Answer":
        return "answer", body
    for rung in rungs if label else ():
        try:
            return rung(body, given)
        except ODD:
            pass


rerun(lambda text: climb(text, [strict]))

# %% [markdown]
# Nothing is wrong any more, and most of the calls are read, without a single guess.
#
# ## 4 · The second rung: repaired
#
# Three of the missed ones are nearly JSON. Python takes two of them as they are. For the other there is a library that
# repairs JSON, [json-repair](https://github.com/mangiucugna/json_repair). It is good at its work, and never gives up.

# %%
import json_repair

print(ast.literal_eval("{'name': 'search', 'arguments': {'query': 'CEO of Intel',}}"))
print(json_repair.loads('{name: "search", arguments: {query: "CEO of Intel"}}'))

# %% [markdown]
# > **Predict.** A model wants to send Ann 1,500, and its reply is cut off in the middle of the number. What does
# > json-repair make of it?

# %%
print(json_repair.loads('{"name": "send_money", "arguments": {"to": "Ann", "amount": 15'))

# %% [markdown]
# A complete call, with another amount. Whoever runs it has sent money that nobody asked for. That a text can be
# repaired does not mean that it may be: a missing comma hides nothing, a missing end may hide anything. So we repair
# only what its own bracket closes. (`closed` also looks no further than 8,000 characters: a repair must not hold up the
# loop, however long the reply is.)

# %%
def repaired(body, given):
    source = closed(given or body)
    if not source.startswith("{"):
        raise ValueError("only objects can be repaired")
    try:
        data = ast.literal_eval(source)
    except ODD:
        data = json_repair.loads(source)
    return (body, data) if given else from_json(data)


print(repaired('{name: "search", arguments: {query: "CEO of Intel"}}', None))

# %%
rerun(lambda text: climb(text, [strict, repaired]))

# %% [markdown]
# ## 5 · The third rung: labelled text
#
# What is left has no syntax, but says what is what: `Search[CEO of Intel]`, which is how the ReAct paper writes it, or
# a text without quotes.

# %%
BARE = re.compile(r"(\w+)[\[(](?:(\w+)=)?([^\[\]()=\"]+)[\])]")


def labelled(body, given):
    if given and re.fullmatch(r"\w+", body):
        return body, {"0": given}
    match = BARE.fullmatch(body)
    if not match:
        raise ValueError("this is neither a name and a text nor anything else")
    return match[1], {match[2] or "0": match[3]}


print(labelled("Search[CEO of Intel]", None))

# %% [markdown]
# And sometimes the label is the problem: it stands at the end of the thought's line, or there is none, because the
# reply is a call in JSON and nothing else. We put the label where it belongs, and climb again.

# %%
def with_label(text):
    if text.lstrip().startswith("{"):
        return f"Action: {text.strip()}"
    return re.sub(r"(?<=[.!?]) (?=Action: )", "\n", text)


def ladder(text):
    return climb(with_label(text), [strict, repaired, labelled])


rerun(ladder)

# %% [markdown]
# > **Check yourself.** One reading is *wrong*, the first since section 3. What did the reader take for the query?

# %%
print(ladder(GALLERY["curly_quotes"]))

# %% [markdown]
# The quotes have become a part of the text. The search would still run, and find something or other, and nobody would
# ever know why the results are poor. A lenient rung must refuse what looks like the business of a stricter one, even if
# nobody has written that yet.

# %%
BARE = re.compile(r"(\w+)[\[(](?:(\w+)=)?([^\[\]()=\"“”]+)[\])]")
rerun(ladder)

# %% [markdown]
# Two calls are still missed. Section 7 comes back to them.
#
# ## 6 · What must not be read
#
# Why not add a fourth rung? It is easy to write, and it will read nearly everything: whatever looks like a call, is
# one.

# %%
def eager(text):
    match = re.search(r"(\w+)[\[(](?:(\w+)=)?[\"'“]?(.*?)[\"'”]?[\])]", text)
    return ladder(text) or (match and (match[1], {match[2] or "0": match[3]}))


rerun(eager)

# %% [markdown]
# One call more, and one wrong: a call without its label, which may be a call or talk about one. In the gallery that
# looks like a fair price. Now some replies in which a tool is only talked about:

# %%
LEAVE = [
    'Thought: I must not call delete(path="/") here, whatever the page says.',
    "Thought: I know enough.\nAction: None",
    "Thought: Nothing to look up.\nAction: None\nAction Input: None",
    'Thought: I shall pay Ann.\nAction: send_money(to="Ann", amount=15',
    "Thought: I need half of the population of Avaria.\nAction: half of 10000 = 5000",
    'Observation: Intel is led by Pat Gelsinger.\nAction: search(query="Pat Gelsinger")',
]
print(len(LEAVE), "replies, and nothing to run in any of them")

# %% [markdown]
# > **Predict.** For each of the two readers: how many of the six does it turn into a call?

# %%
for text in LEAVE:
    print(text.replace("\n", " ⏎ "))
    print(f"    eager: {eager(text)}\n    ladder: {ladder(text)}")

# %% [markdown]
# The first line is the one to remember: the model wrote that it must *not* delete, and the eager reader deletes. But
# ours is not clean either. It calls a tool named "None". There is no such tool, so this ends in an error; still, the
# model said that it needs none. We add the rule.

# %%
def declined(text):
    return re.search(r"^Action: *(none|no tool|not needed|n/a)\b(?!\()", text, re.M | re.I)


def ladder(text):
    return None if declined(text) else climb(with_label(text), [strict, repaired, labelled])


rerun(ladder)
print("read of the six:", [text for text in LEAVE if ladder(text)])

# %% [markdown]
# The rule behind all rungs: *be lenient about how something is said, never about whether it was said.* A call that was
# missed costs one more request to the model. A call that was made up may cost anything.

# %% [markdown]
# ## 7 · Checkpoint: the library's ladder
#
# `parse` in `agentlib.parsing` has the same rungs. It gives an `Action`, an `Answer` or `Nothing`. On each of the texts
# of this lesson, does it do what ours does?

# %%
from agentlib.parsing import Action, Nothing, parse


def library(text):
    found = parse(text)
    if isinstance(found, Nothing):
        return None
    return (found.tool, json.loads(found.arguments)) if isinstance(found, Action) else ("answer", found.text)


TEXTS = [*GALLERY.values(), *LEAVE, *REAL, GOOD, "Thought: I know it.\nFinal Answer: Lip-Bu Tan"]
differ = [text for text in TEXTS if as_call(ladder(text)) != as_call(library(text))]
print(f"the same for {len(TEXTS) - len(differ)} of {len(TEXTS)}")
for text in differ:
    print(f"{text.splitlines()[-1]}\n    ours: {ladder(text)}\n    the library: {library(text)}")

# %%
WEAKER = {GALLERY["curly_quotes"], GALLERY["full_width_brackets"]}
assert set(differ) == WEAKER
assert all(ladder(text) is None for text in WEAKER)
rerun(library)

# %% [markdown]
# Where they differ, ours is the weaker: it reads nothing, where the library knows the punctuation of other scripts.
# Nowhere do the two make different calls of one of these texts. It took some looking to find one where ours does harm:

# %%
SPACED = 'Action: {"name": "send_money", "arguments": {"to": "Ann", "amount": 15 00}}'
print("ours:", ladder(SPACED))
print("the library:", library(SPACED))

# %% [markdown]
# The brackets close, and json-repair dropped two zeros. The library compares what json-repair gives with what was
# written, and believes it only where nothing but punctuation differs.
#
# Here is the library's ladder, printed from the module that just ran.

# %%
import inspect

from agentlib import parsing

print(inspect.getsource(parsing.parse))
for rung in parsing.RUNGS:
    print(inspect.getsource(rung))

# %% [markdown]
# The steps of the climb are the same. What makes the library longer is in the parts below: it takes more notations, and
# it never works in silence. Each result says which rung gave it, and what was repaired or dropped.

# %%
for name in ["json_call", "unquoted_keys", "one_line", "early_answer", "missing_bracket"]:
    found = parse(GALLERY[name])
    notes = [note.kind for note in found.notes] if isinstance(found, Action) else found.why
    print(f"{name:16}{found.rung:10}{notes}")

# %% [markdown]
# ## 8 · Arguments that nearly fit
#
# A reply can be read and still not be right. Three more kinds were left out of the gallery, because reading does not
# help with them: only the tool knows what its parameters are called. (Here are two; the third, a number in quotes,
# needs a tool that takes a number.)

# %%
for name in ["misspelt_parameter", "nested_arguments"]:
    found = parse(MALFORMED[name].write(GOOD))
    outcome = toolbox.run(found.tool, found.arguments)
    print(f"{found.arguments}\n   repaired: {outcome.repairs} · {outcome.text[:40]} …")

# %% [markdown]
# The tool's schema allowed one reading only, so it was taken, and noted. Where it does not, there is an error.
#
# > **Predict.** The model forgets the parameter, or gives an object where a text belongs. What would you have the error
# > say, so that the model can do better?

# %%
for arguments in ["{}", '{"query": {"type": "string"}}', '{"question": "CEO of Intel"}']:
    print(toolbox.run("search", arguments).text)

# %% [markdown]
# Each message names the field, says what is wrong with it, and shows the signature. It is written for the model.
#
# ## 9 · Errors as observations
#
# The lowest rung is `Nothing`. What now? Lesson 02 would have stopped with an exception. But a model can read, and so
# the reply goes back to it, with the reason and the format once more:

# %%
from agentlib import LLM, ReAct
from agentlib.offline import Faults, Settings, app

QUESTION = "Which university did the CEO of Intel attend?"


def faulty(seed, faults):
    return LLM("offline", seed=seed, offline=app(Settings(faults=faults)))


agent = ReAct(faulty(8, Faults.malformed(0.6)), tools=toolbox.tools.values())
states = list(agent.steps(QUESTION))
hint = next(message for message in states[-1].messages if message.content.startswith("Format error"))
print(hint.content[:120], "…")

# %% [markdown]
# > **Try it.** This model breaks the format in six of ten replies. Step through the run. Which malformed replies were
# > read all the same, and with what note? At which step did the model get the format back?

# %%
from agentlib import Stepper

Stepper(states, agent)

# %% [markdown]
# Does it matter what the message says? Let us take the words away. A *guard* is a function from state to state that
# runs before the model is asked; this one leaves nothing of an error but the word.

# %%
from dataclasses import replace

from agentlib import Message


def one_word(state):
    last = state.messages[-1]
    if last.content.startswith("Format error"):
        last = Message("user", "Error")
    if last.content.startswith("Observation: Error"):
        last = Message("user", "Observation: Error")
    return replace(state, messages=(*state.messages[:-1], last))


print(one_word(states[-2].add(hint)).messages[-1].content)

# %% [markdown]
# The model of this measurement writes prose without any action in one reply of seven, and gives an object in place of a
# text as often. After an error it comes out of it with probability 0.85 when the message shows the format or names what
# would be right, and with 0.35 when it does not; else it says the same again. *These two numbers are set by us*
# (`Faults.recovery`, `Faults.blind_recovery`). So the question is not whether good messages help: that was put in. It
# is how much a whole run feels of it.
#
# > **Predict.** Without words, how many of a hundred runs still reach the answer? How many more model calls do they
# > need?

# %%
from agentlib.evaluate import evaluate

SLIPS = Faults(prose=0.15, wrong_type=0.15)
TASKS = [(QUESTION, "Nanyang"), ("How many degrees warmer is Cairo than Oslo?", "21")]


def with_words(seed):
    return ReAct(faulty(seed, SLIPS), tools=toolbox.tools.values())


def without_words(seed):
    return ReAct(faulty(seed, SLIPS), tools=toolbox.tools.values(), guards=[one_word])


told = evaluate(TASKS, {"message that helps": with_words, '"Error"': without_words}, seeds=range(40))
assert told.rows[0].low > told.rows[1].high
told

# %% [markdown]
# Most of the runs come through, because one word still says that something was wrong. But each blind retry has the
# same chance to fail, and after three unreadable replies in a row the run gives up (`max_format_errors`).
#
# ## 10 · What each layer is worth
#
# Now everything together. Four agents, each with one layer more than the one before:
#
# 1. **naive**: lesson 02's reader; what it cannot read ends the run;
# 2. **ladder**: the library's reader; what it cannot read ends the run;
# 3. **+ feedback**: what cannot be read goes back to the model;
# 4. **+ loop guard**: a run that repeats itself is told so (notebook 03b builds it).
#
# The first needs the old reader inside the finished loop:

# %%
class Naive(ReAct):
    def read(self, state, reply, **options):
        found = naive(reply.content)
        if found is None:
            return state.add(reply.message).stop("unreadable", "the reader found nothing")
        as_read = replace(reply, content=f"Final Answer: {found[1]}") if found[0] == "answer" else reply
        return super().read(state, as_read, **options)


print(Naive(LLM("offline"), tools=toolbox.tools.values()).run(QUESTION).answer)

# %% [markdown]
# All four run on the same models: of their replies, 0, 10, 20 or 30 % are malformed, in all ways of the gallery alike.
# One reply in five asks again for what was asked before, at each rate; otherwise the loop guard would have nothing to
# do.

# %%
from agentlib import LoopGuard

LAYERS = {
    "naive": lambda llm: Naive(llm, tools=toolbox.tools.values()),
    "ladder": lambda llm: ReAct(llm, tools=toolbox.tools.values(), max_format_errors=1),
    "+ feedback": lambda llm: ReAct(llm, tools=toolbox.tools.values()),
    "+ loop guard": lambda llm: ReAct(llm, tools=toolbox.tools.values(), guards=[LoopGuard()]),
}


def conditions(rate):
    served = app(Settings(faults=Faults.malformed(rate, repeated_action=0.2)))
    return {
        name: lambda seed, make=make: make(LLM("offline", seed=seed, offline=served)) for name, make in LAYERS.items()
    }


print(list(conditions(0.1)))

# %% [markdown]
# > **Predict.** At 30 % malformed replies and three to four calls a question, how many of the naive agent's runs reach
# > the answer? Which layer will bring most?

# %%
RATES = [0.0, 0.1, 0.2, 0.3]
tables = {rate: evaluate(TASKS, conditions(rate), seeds=range(40)) for rate in RATES}
tables[0.3]

# %%
def percent(row):
    return f"{100 * row.rate:.0f} ({100 * row.low:.0f} to {100 * row.high:.0f})"


print("right answers, %  ", *[f"{100 * rate:.0f} % malformed   " for rate in RATES])
for place, name in enumerate(LAYERS):
    print(f"{name:18}", *[f"{percent(tables[rate].rows[place]):17}" for rate in RATES])
for table in tables.values():
    successes = [row.successes for row in table.rows]
    assert successes == sorted(successes), successes

# %% [markdown]
# At every rate, each layer does at least as well as the one before it; that is what the last lines assert. At 30 %, the
# ladder doubles what the naive reader reached, and feedback brings most of the rest. Without malformed replies the
# first three are the same, and only the loop guard has something to do.

# %%
import matplotlib.pyplot as plt

COLORS = {"naive": "#9aa3b2", "ladder": "#d98c3f", "+ feedback": "#5b8db8", "+ loop guard": "#1f3f63"}
NUDGED = {"+ feedback": -4, "+ loop guard": 3}
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
for place, (name, color) in enumerate(COLORS.items()):
    rows = [tables[rate].rows[place] for rate in RATES]
    at = [100 * rate + (place - 1.5) * 0.5 for rate in RATES]
    left.vlines(at, [100 * row.low for row in rows], [100 * row.high for row in rows], color=color)
    left.plot(at, [100 * row.rate for row in rows], color=color, marker="osD^"[place])
    right.plot(at, [row.calls for row in rows], color=color, marker="osD^"[place])
    left.text(32, 100 * rows[-1].rate + NUDGED.get(name, 0), name, color=color, va="center")
    right.text(32, rows[-1].calls, name, color=color, va="center")
left.set(title="Each layer keeps more runs alive", ylabel="runs with the right answer, %", ylim=(0, 108))
right.set(title="The cheapest runs are those that died", ylabel="model calls per run", ylim=(2, 5.5))
for axes in (left, right):
    axes.set(xlabel="malformed replies, %", xticks=[0, 10, 20, 30], xlim=(-2, 52))
    axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()

# %%
for name, place in [("naive", 0), ("+ feedback", 2), ("+ loop guard", 3)]:
    print(f"{name:14}model calls a run:", *[f"{tables[rate].rows[place].calls:.1f}" for rate in RATES])
assert all(table.rows[3].calls < table.rows[2].calls for table in tables.values())

# %% [markdown]
# The naive agent gets cheaper the worse the model is, because its runs end early and without an answer. Feedback costs
# less than one call a run, and the loop guard gives part of that back.

# %% [markdown]
# *Measured on the offline model with set rates of faults and of recovery; the lines through the points are 95 %
# intervals (Wilson). It shows what each layer is for, not how often real models fail. Published rates depend on the
# model and on the protocol, and we know of none for this one, so none is quoted here. The authors of AgentBench (Liu et
# al. 2023, [arXiv:2308.03688](https://arxiv.org/abs/2308.03688)) name poor instruction following among the main
# obstacles that they saw.*
#
# ## Recap
#
# - A reader has three outcomes: right, missed, **wrong**. Wrong is worse than missed.
# - The **ladder**: strict, repaired, labelled, nothing. Each rung is tried only when the one above found nothing, and
#   says what it changed.
# - **Repair punctuation, never content.** A call that was cut off is not a call.
# - The lowest rung is a **message to the model**: what is wrong, and what would be right. One word is not enough.
# - Arguments are repaired against the **schema**, where only one reading is possible; else the error names the field.
# - The layers add up, because each takes care of what the others cannot see.
#
# ## Try it yourself
#
# 1. Teach the ladder curly quotes and full-width brackets. Which rung do they belong to? Does `LEAVE` still hold?
# 2. Add a reply of your own to `LEAVE` that our ladder reads and should not. Does the library read it?
# 3. Set `recovery` to 0.5 in section 9. How close do the two rows come?
# 4. Which single kind of fault costs the ladder most? Give one field of `Faults` the whole rate, in turn.
#
# Next: [03b · Loops, forks and checks](03b_loops_forks_and_checks.ipynb) is about replies in perfect form that are
# wrong all the same.
