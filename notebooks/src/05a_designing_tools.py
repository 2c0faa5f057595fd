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
# # 05a · Designing tools: what the model reads
#
# **The question.** A model never sees your code. It sees a name, a description and a schema. What must these say, so
# that it picks the right tool among many, and fills it in rightly?
#
# **You will build** a measurement of tool selection, over sixty questions and up to sixty tools. You will mend
# descriptions by it, offer only the tools that fit, and repair one badly made tool step by step, with a score after
# each step.
#
# **Time:** about an hour. **You need:** lesson 04.

# %% [markdown]
# ```mermaid
# flowchart LR
#     Q[question] --> M{model}
#     D["names and descriptions"] -- which tool? --> M
#     S["parameters: names, types, examples"] -- what to fill in? --> M
#     M --> C[call] --> T["your function"]
#     T -- result --> M
#     T -- "error: what now?" --> M
# ```
#
# Three texts of yours steer the model: the description, the schema, and the error. This lesson takes them one by one.
# Lesson 05b is about tools that change something.

# %%
from agentlib import LLM, FunctionCalling, Tool
from agentlib.world.many import company_tools, vague

llm = LLM()
tools = company_tools()
print(len(tools), "tools of a company's assistant, such as", ", ".join(tool.name for tool in tools[24:27]))

# %% [markdown]
# ## 1 · What the model sees
#
# Each of these tools is a real function. Here is all that a model gets to know of one:

# %%
by_name = {tool.name: tool for tool in tools}
for key, value in by_name["delete_file"].to_wire()["function"].items():
    print(f"{key:12}", value)

# %% [markdown]
# Every tool has a second description, which says little:

# %%
files = [by_name[name] for name in ("list_files", "read_file", "find_in_files", "delete_file", "file_size")]
for good, bad in zip(files, vague(files), strict=True):
    print(f"{good.name:14} {bad.description:18} | {good.description[:60]}")

# %% [markdown]
# > **Predict.** The names are the same in both sets, and they say a good deal. Does the description matter at all when
# > somebody asks to throw a file away?

# %%
def first_call(question, tools, select=None):
    agent = FunctionCalling(llm, tools, select=select)
    state = agent.step(agent.start(question))
    return (state.pending[0].name if state.pending else None), state.usage.prompt_tokens


question = "Throw the file draft.txt away for good."
print("good: ", first_call(question, files)[0])
print("vague:", first_call(question, vague(files))[0])

# %% [markdown]
# The code behind the tools is the same. The offline model calls the tool whose words fit the question best; the words
# of a name count double. "Delete a file for good." shares words with the question. "Handles entries." shares none, and
# the question does not contain the word "delete".
#
# ## 2 · From one example to a number
#
# One question proves little. There is one for each of the sixty tools, with the tool that it is for:

# %%
from agentlib.world.many import QUESTIONS

for asked in QUESTIONS[::12]:
    print(f"{asked.tool:16} {asked.question}")

# %% [markdown]
# A test is then: offer some tools, the right one among them, and look at the first call. `among` draws the others by a
# fixed rule, from all over the toolbox.

# %%
from agentlib.world.many import among

print([tool.name for tool in among(tools, "delete_file", 5)])

# %%
def measure(tools, count, select=None):
    calls = [first_call(asked.question, among(tools, asked.tool, count), select) for asked in QUESTIONS]
    missed = [asked for asked, (name, _) in zip(QUESTIONS, calls, strict=True) if name != asked.tool]
    return missed, sum(tokens for _, tokens in calls) // len(calls)


said_little = vague(tools)
for name, each in {"good": tools, "vague": said_little}.items():
    missed, tokens = measure(each, 5)
    print(f"{name:6} 5 tools: {60 - len(missed)} of 60 right, {tokens} tokens in a request")

# %% [markdown]
# ## 3 · More tools
#
# > **Predict.** Now 20 tools, and then all 60. The right one is always among them, so nothing becomes impossible. By
# > about what factor do the tokens of a request grow? Do the good descriptions lose questions as well, and why?

# %%
results = {}
for count in (5, 20, 60):
    for name, each in {"good": tools, "vague": said_little}.items():
        results[name, count] = missed, tokens = measure(each, count)
        print(f"{count:2} tools, {name:6} {60 - len(missed)} of 60 right, {tokens:5} tokens")

# %% [markdown]
# Two things happen. The more tools there are, the more are alike, and the more often a neighbour is called: good
# descriptions slow that down and do not stop it. And every request carries all the tools, so the price grows with the
# toolbox, for every step of every run.
#
# *Measured on the offline model. It picks by how well the words fit, so this shows the mechanism, and not how well any
# real model does. Questions and tools were written by the same people: your users will ask in other words.*
#
# > **Check yourself.** Suppose that nine of ten choices are right, and that an agent needs four of them in a row. How
# > often does it take no wrong turn?
#
# <details><summary>Answer</summary>
#
# If the errors are independent: 0.9 to the power 4, which is 66 %. Lesson 03b had the same arithmetic.
# </details>
#
# ## 4 · Read the misses
#
# A number says how bad it is. The misses say why.

# %%
for asked in results["good", 60][0]:
    print(f"{asked.question[:56]:57} {asked.tool:13} called: {first_call(asked.question, tools)[0]}")

# %% [markdown]
# Four of the six are neighbours: a tool that is near in meaning was called. Twice it was `search`: this model takes a
# question to the encyclopedia unless another tool fits clearly better. Now take the appointment that was to be
# cancelled. Its tool has a good description:

# %%
for name in ("delete_event", "cancel_order"):
    print(f"{name}: {by_name[name].description}\n")

# %% [markdown]
# Still `cancel_order` wins. Its *name* has the customer's word in it, and this model counts a name double.
#
# > **Predict.** We change nothing but the name: `delete_event` becomes `cancel_event`. Is that enough?

# %%
renamed = [Tool(tool.function, "cancel_event", writes=True) if tool.name == "delete_event" else tool for tool in tools]
print(first_call("Cancel my appointment E-12.", renamed)[0])

# %% [markdown]
# A name is the first line of the description. Choose the word that people will use, and use one word for one thing in
# the whole toolbox.
#
# Beware of what we have just done, though. We looked at a miss and mended it, so this question measures nothing any
# more. After such repairs you need new questions.
#
# ## 5 · When, and when not
#
# Now two tools that are really alike. Both pay money back. Which one is right depends on whether the order was
# shipped.

# %%
WHAT = {
    "cancel_order": "Cancel an order and pay the money back.",
    "refund_order": "Pay the money back for an order.",
}
WHEN = {
    "cancel_order": "Cancel an order before it is shipped; the money goes back.",
    "refund_order": "Pay money back after delivery, when something arrived broken, wrong or late.",
}
WHEN_NOT = {
    "cancel_order": f"{WHEN['cancel_order']} Not for delivered or broken items: use refund_order.",
    "refund_order": f"{WHEN['refund_order']} Not for orders that are not shipped yet: use cancel_order.",
}
print(*WHEN_NOT.values(), sep="\n")

# %% [markdown]
# Eight customers, and what is right for each. We call a tool with the first pair of descriptions:

# %%
CUSTOMERS = {
    "Please cancel order A-1020.": "cancel_order",
    "I want my money back for A-1020, before it is shipped.": "cancel_order",
    "Pay the money back for order A-1053, it is not shipped yet.": "cancel_order",
    "Pay back the money for order A-1020. It is not shipped yet and I do not need it.": "cancel_order",
    "Order A-1017 arrived broken. I want my money back.": "refund_order",
    "The order A-1017 was delivered too late, give the money back.": "refund_order",
    "Cancel A-1017 and give me my money back, it was delivered broken.": "refund_order",
    "Cancel my order A-1017: the lamp arrived broken.": "refund_order",
}


def marks(pair):
    two = [Tool(by_name["cancel_order"].function, name, text) for name, text in pair.items()]
    return "".join("+" if first_call(question, two)[0] == tool else "-" for question, tool in CUSTOMERS.items())


print("what:", marks(WHAT))

# %% [markdown]
# > **Predict.** Each minus is a customer for whom the wrong tool was called. Read those questions. Which of them does
# > this matcher of words get right when the descriptions say *when*? And when they also say *when not*?

# %%
for told, pair in {"what": WHAT, "when": WHEN, "when, and when not": WHEN_NOT}.items():
    print(f"{told:20} {marks(pair)}  {marks(pair).count('+')} of 8")

# %% [markdown]
# Saying when changed nothing here: most of what the customers say still fits both tools. A sentence that begins with
# "Not for" speaks *against* the wrong tool, and says which one is meant. It costs a line for each pair that is easily
# confused, and only there. (A real model understands "before it is shipped" better than a matcher of words, so your
# second line may be better than ours. Measure it.)
#
# The miss that is left says "Cancel" and means "refund". Here the person errs, not the description.
#
# Anthropic's engineers give the same advice for real models: describe a tool as to a new colleague, with what seems
# obvious to you, and keep tools clearly apart ([Writing effective tools for
# agents](https://www.anthropic.com/engineering/writing-tools-for-agents), 2025). There is a risk, too. Descriptions
# can be *advertising*, too: with edited descriptions, tools were used over ten times more often by GPT-4.1 and
# Qwen2.5-7B than with the original ones (Faghih et al. 2025, [arXiv:2505.18135](https://arxiv.org/abs/2505.18135)).
# Remember that when you plug in tools that others wrote.
#
# ## 6 · Offer only what fits
#
# Sixty tools in every request cost tokens, and most of them never matter. And there is a hard limit, too: the API
# takes at most 128 ([API reference](https://platform.openai.com/docs/api-reference/chat/create)).

# %%
from agentlib import ToolDefinitionError

crowd = [Tool(tool.function, f"{tool.name}_{n}") for n in range(3) for tool in tools]
try:
    FunctionCalling(llm, crowd)
except ToolDefinitionError as error:
    print(error)

# %% [markdown]
# The way out is to search. Tools are short documents, and the question is a query. `rank` sorts them by BM25, a
# formula of classic text search (Robertson and Zaragoza 2009): rare words count more than frequent ones.

# %%
from agentlib.tools.retrieval import BestTools, rank

print([tool.name for tool in rank(tools, "How many dollars do I get for 250 euros?")[:5]])

# %% [markdown]
# `BestTools` is a function for the agent's `select`: before each step it says which tools are offered. Its heart, from
# the library:

# %%
import inspect

print(inspect.getsource(BestTools.__call__))

# %% [markdown]
# Besides the best `k`, two kinds are always offered: those you pin, and those in use. A model goes on with what it has
# begun, and "and in Shanghai?" names no tool.
#
# > **Predict.** How many tools should be offered? What goes wrong with too few, and what with too many?

# %%
from agentlib import State


def found_by(select, tools):
    return sum(asked.tool in [tool.name for tool in select(State(asked.question), tools)] for asked in QUESTIONS)


for k in (1, 3, 5, 10, 20):
    missed, tokens = measure(tools, 60, BestTools(k=k))
    print(f"k={k:2}: right tool offered {found_by(BestTools(k=k), tools)}, called {60 - len(missed)}; {tokens} tokens")

# %% [markdown]
# With too few, the right tool may not be offered, and no model can call it then. With too many, the neighbours are
# back. Five is best here. But a difference of a few questions in sixty proves little; the tokens are the certain gain.
#
# And the vague descriptions? Does search make up for them?

# %%
for name, each in {"good": tools, "vague": said_little}.items():
    for count in (5, 20, 60):
        results[f"{name}, best 5", count] = measure(each, count, BestTools(k=5))
    missed, tokens = results[f"{name}, best 5", 60]
    print(f"{name:6} best 5 of 60: {60 - len(missed)} right, {tokens} tokens")

# %%
import matplotlib.pyplot as plt

COUNTS, BLUE, ORANGE = [5, 20, 60], "#2f5d8a", "#d98c3f"
STYLES = {"good, best 5": (BLUE, "s-", 0), "good": (BLUE, "o--", 0),  # the last: two lines end side by side
          "vague": (ORANGE, "o--", 1.5), "vague, best 5": (ORANGE, "s-", -1.5)}
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4), gridspec_kw={"width_ratios": [3, 2]})
for name, (color, line, shift) in STYLES.items():
    rates = [100 * (1 - len(results[name, n][0]) / 60) for n in COUNTS]
    left.plot(COUNTS, rates, line, color=color)
    left.text(62, rates[-1] + shift, name, color=color, va="center")
for name, label in {"good": "all", "good, best 5": "best 5"}.items():
    tokens = [results[name, n][1] for n in COUNTS]
    right.plot(COUNTS, tokens, STYLES[name][1], color=BLUE)
    right.text(62, tokens[-1], label, color=BLUE, va="center")
left.set(title="Words decide, with or without search", ylabel="right first call, %", ylim=(60, 102), xlim=(0, 85))
right.set(title="Search saves tokens", ylabel="tokens in a request", ylim=(0, None), xlim=(0, 78))
for axes in (left, right):
    axes.set(xlabel="tools in the toolbox", xticks=COUNTS)
    axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()

# %%
share = results["good, best 5", 60][1] / results["good", 60][1]
print(f"best 5 of 60: {100 * share:.0f} % of the tokens")
assert share < 0.2
assert all(len(results["good", n][0]) < len(results["vague", n][0]) for n in COUNTS)
assert len(results["vague, best 5", 60][0]) >= len(results["vague", 60][0])

# %% [markdown]
# *Measured on the offline model: sixty questions, each asked once. It shows a mechanism and is no forecast for real
# models.*
#
# Search reads the same descriptions as the model. Where they say little, both are lost: retrieval is no repair for bad
# words.
#
# With real models, larger gains are reported. Offering only what a search found raised the share of right selections
# from 13.62 % to 43.13 % on a benchmark of MCP servers, with about half of the prompt's tokens (Gan and Sun 2025,
# [arXiv:2505.03275](https://arxiv.org/abs/2505.03275)). Anthropic reports 49 % to 74 % for Claude Opus 4 with a tool
# that searches for tools, in internal tests ([Advanced tool
# use](https://www.anthropic.com/engineering/advanced-tool-use), 2025). The idea is older: ToolLLM picked among 16,464
# APIs by a trained retriever (Qin et al. 2023, [arXiv:2307.16789](https://arxiv.org/abs/2307.16789)), and Gorilla was
# trained to use what a retriever finds (Patil et al. 2023, [arXiv:2305.15334](https://arxiv.org/abs/2305.15334)).
#
# ## 7 · Formats, with an example
#
# The tool is chosen. Now it must be filled in. This question holds two things that look like the id of an order:

# %%
from agentlib.world import Orders

shop = Orders()


def lookup_order(order_id: str) -> str:
    """Look up one order: its status and what was paid."""
    return shop.lookup_order(order_id).partition(" Placed")[0]


INVOICE = "My invoice is RE2025-118 and my order is A-1017. What is the status?"
print(*FunctionCalling(llm, [lookup_order]).run(INVOICE).events, sep="\n")

# %% [markdown]
# It called twice, since nothing told it which of the two is meant. `RE2025` is not even the whole invoice number: this
# model takes capital letters, perhaps a hyphen, and digits for an id, and stops at the next sign. The needless call
# costs tokens, and its error ends up in the answer. One example in the parameter's description helps:

# %%
from typing import Annotated


def lookup_order(order_id: Annotated[str, 'The id of the order, for example "A-1042".']) -> str:
    """Look up one order: its status and what was paid."""
    return shop.lookup_order(order_id).partition(" Placed")[0]


print(*FunctionCalling(llm, [lookup_order]).run(INVOICE).events, sep="\n")

# %% [markdown]
# An example is shorter than a rule ("a capital letter, a hyphen, four digits") and says the same. For real models,
# Anthropic reports that examples of use raised right parameters from 72 % to 90 % in internal tests with complex ones
# ([Advanced tool use](https://www.anthropic.com/engineering/advanced-tool-use)).
#
# ## 8 · A bad tool, repaired step by step
#
# Now a tool in which everything is bad, though its query works. Three other tools stand beside it.

# %%
def listed(customer, status=None):
    rows = shop.query("SELECT id FROM orders WHERE customer = ? AND status = coalesce(?, status)", customer, status)
    return ", ".join(order for (order,) in rows) or "none"


def get_data(x: str, y: str) -> str:
    """Gets data."""
    return listed(x, y)


print(get_data("Mei Chen", "shipped"))

# %% [markdown]
# Six questions, and the orders that a right answer names. The last one misspells a name, as people do. What would the
# query give for it?

# %%
SIX = {
    "Which orders of Mei Chen are still on their way?": "A-1044 A-1051",
    "Which orders does Mei Chen have?": "A-1003 A-1012 A-1044 A-1051 A-1057",
    "Which orders of Noor Haddad were refunded?": "A-1028",
    "List the orders of Kenji Mori.": "A-1008 A-1048 A-1058 A-1060",
    "Which orders of Tom Baker are not shipped yet?": "A-1020",
    "Which orders of Mei Chan are still on their way?": "A-1044 A-1051",
}
print("Tom Baker:", listed("Tom Baker", "placed"))
print("Mei Chan: ", listed("Mei Chan", "shipped"))

# %%
import re

from agentlib.world import calculator, search, weather


def score(function):
    agent = FunctionCalling(llm, [function, search, weather, calculator])
    states = [agent.run(question) for question in SIX]
    right = [re.findall(r"A-\d{4}", state.answer) == SIX[state.goal].split() for state in states]
    print(f"{sum(right)} of 6 right")
    return states


states = score(get_data)
print(*states[2].events[:3], sep="\n")

# %% [markdown]
# The model does not even try the tool. It looks for the customer in an encyclopedia.
#
# **Step 1: a name and a description.**

# %%
def find_orders(x: str, y: str) -> str:
    """List the orders of one customer of the shop."""
    return listed(x, y)


print(score(find_orders)[0].answer)

# %% [markdown]
# The right tool now, and no better score. Nothing says what `y` is, so the model asks the user.
#
# **Step 2: parameters that say what they are.**

# %%
def find_orders(customer: str, status: str) -> str:
    """List the orders of one customer of the shop."""
    return listed(customer, status)


for state in score(find_orders)[:2]:
    print(*state.events, sep="\n", end="\n\n")

# %% [markdown]
# Two errors of ours. First, `status` may be any text, so the model wrote any text. Second, it is required, so a
# question that does not give a status cannot be answered at all.
#
# The first is the worse one. The tool found nothing for a status that does not exist, and said "none". Nothing looks
# like an error, and the customer is told that there are no orders.
#
# > **Predict.** We make `status` optional, and leave it a text. Which of the six go right?
#
# **Step 3: required only what is really required.**

# %%
def find_orders(customer: str, status: str | None = None) -> str:
    """List the orders of one customer of the shop."""
    return listed(customer, status)


print(score(find_orders)[0].events[0])

# %% [markdown]
# Now the two questions without a status go right. For the others, the model leaves the status out, and the answer
# names orders that nobody asked for. Which words would be allowed is still nowhere to be read.
#
# **Step 4: a closed choice is a type, not a sentence.** `Literal` becomes an `enum` in the schema.

# %%
from typing import Literal

Status = Literal["placed", "shipped", "delivered", "cancelled", "refunded"]


def find_orders(customer: str, status: Status | None = None) -> str:
    """List the orders of one customer of the shop."""
    return listed(customer, status)


states = score(find_orders)
print(states[0].events[0])
print(*states[5].events, sep="\n")

# %% [markdown]
# "On their way" became `shipped`: with the allowed words before it, the model can match. (The library would refuse any
# other word, and name the five.)
#
# What is left is the misspelt name, and again the false "none". The schema cannot help here: any name is a text.
#
# **Step 5: an error that teaches.**

# %%
from difflib import get_close_matches

NAMES = [name for (name,) in shop.query("SELECT name FROM customers ORDER BY name")]


def find_orders(customer: str, status: Status | None = None) -> str:
    """List the orders of one customer of the shop."""
    if customer not in NAMES:
        near = " or ".join(get_close_matches(customer, NAMES, 1)) or NAMES[0]
        raise ValueError(f"there is no customer {customer!r}. Did you mean {near}?")
    return listed(customer, status)


states = score(find_orders)
print(*states[5].events, sep="\n")

# %% [markdown]
# It said what was wrong, and what would be right, and the model mended its call by itself. From 0 to 5 of 6, and the
# SQL query is still the first one.

# %%
print(*states[4].events, sep="\n")

# %% [markdown]
# The last miss: the offline model matches words, and "not shipped" holds "shipped". Our word for it, "placed", is one
# that no customer uses. Exercise 3 below mends this. When you have mended what you can, the misses that are left are a
# reason for another model, and a measured one.
#
# > **Try it.** Go to the step in which the error comes back. What would the model have done with the observation
# > "none"? Edit it, fork, and see.

# %%
from agentlib import Stepper

agent = FunctionCalling(llm, [find_orders, search, weather, calculator])
Stepper(list(agent.steps("Which orders of Mei Chan are still on their way?")), agent)

# %% [markdown]
# ## 9 · Errors are prompts
#
# How much does the wording of an error matter? The same fault, a number in place of an id, with three texts:

# %%
from agentlib import Toolbox

TEXTS = ["KeyError: '1017'", "invalid id", "there is no order '1017'. Order ids look like A-1042. Did you mean A-1017?"]


def lookup_that_says(text):
    def lookup_order(order_id: str) -> str:
        """Look up one order: its status."""
        if order_id != "A-1017":
            raise ValueError(text)
        return "Order A-1017: delivered."

    return Tool(lookup_order)


print(Toolbox([lookup_that_says(TEXTS[1])]).run("lookup_order", '{"order_id": "1017"}').text)

# %% [markdown]
# > **Predict.** Which of the three leads to an answer? How many calls are made?

# %%
for text in TEXTS:
    state = FunctionCalling(llm, [lookup_that_says(text)]).run("What is the status of order 1017?")
    print(f"{text}\n   → {state.usage.calls - 1} calls: {state.answer}\n")

# %% [markdown]
# A traceback is written for a programmer, who can look into the code. The model cannot. A good error has three parts:
# what was wrong, what a right value looks like, and what to do next. Anthropic's text of section 5 says the same.
#
# > **Check yourself.** Should the tool have taken "1017" for "A-1017" by itself, without an error?
#
# <details><summary>Answer</summary>
#
# For a lookup, perhaps: nothing is lost if the guess is wrong. For a refund, no. A tool that changes something should
# do what it was told, or refuse. `Toolbox` makes the same difference: it corrects a misspelt parameter for a tool that
# reads, and not for one that writes.
# </details>
#
# The library writes such errors for all that a schema can find. This is the place:

# %%
print(inspect.getsource(Toolbox.run))

# %%
box = Toolbox([find_orders])
for arguments in ('{"customer": "Mei Chen", "status": "lost"}', '{"name": "Mei Chen"}'):
    print(box.run("find_orders", arguments).text)

# %% [markdown]
# ## Recap
#
# - The model sees a **name**, a **description** and a **schema**. A name is the first line of the description.
# - Say **when**, and for tools that are alike say **when not**, and what to use instead.
# - **Measure** selection on many questions, read the misses, mend, and measure on new ones.
# - Many tools cost accuracy and tokens. **Offer those that fit**; search reads the same words, so bad ones stay bad.
# - An **example** beats a rule. A closed choice is a **type**. Require only what is really **required**.
# - "none" for a wrong input is a **false answer**. Raise an **error that teaches**: what, what instead, what next.
#
# ## Try it yourself
#
# 1. Write five new questions for the calendar tools, in words that the descriptions do not use. How many go right?
# 2. Run section 6 with `BestTools(k=5, ranking=ByCategory(categories()))`: first the category, then the tool. Import
#    `ByCategory` from `agentlib.tools.retrieval` and `categories` from `agentlib.world.many`. Is it better?
# 3. In the `find_orders` of step 5, write `"not_shipped"` in place of `"placed"` in `Status`, and turn it back into
#    "placed" before the query. Which question goes right now, and which two go wrong, and why? Change one more word of
#    `Status` in the same way, so that all six go right.
# 4. Replace the tool `weather` by one whose description promises everything: orders, mails, dates, money. How many
#    questions does it win in the good toolbox, and how many in the vague one?
#
# Next: lesson 05b. A tool that only reads can be called once too often. A tool that pays cannot.
