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
# # 05b · Tools that write
#
# **The question.** A lookup that goes wrong costs a second lookup. A refund that goes wrong costs money. What must a
# tool promise before a model may call it, and when must a person agree first?
#
# **You will build** a refund that pays twice, and two that do not; then runs that stop and wait, are approved,
# rejected, changed, saved and taken up again. At the end the same tools come from another program, over MCP.
#
# **Time:** about an hour. **You need:** lesson 05a.

# %% [markdown]
# ```mermaid
# stateDiagram-v2
#     direction LR
#     [*] --> running
#     running --> waiting: the next call writes
#     waiting --> running: approve
#     waiting --> running: reject, with a reason
#     waiting --> waiting: edit
#     running --> done: answer
# ```
#
# ## 1 · A shop
#
# Our shop is a real SQLite database: orders, their lines, and refunds. It lives in memory, so each `Orders()` is a
# fresh copy, and you may break it.

# %%
from agentlib import LLM, FunctionCalling, Tool
from agentlib.world import Orders

llm = LLM()
shop = Orders()
for row in shop.query("SELECT item, quantity, cents FROM order_lines WHERE order_id = 'A-1017'"):
    print(row)

# %% [markdown]
# Four tools: two look, two write. Money is in whole cents in the tables, and in euros where people and models read it.

# %%
for tool in shop.tools:
    print("writes" if tool.writes else "reads ", tool.signature[:70])

# %% [markdown]
# Looking is what you know from lesson 05a:

# %%
agent = FunctionCalling(llm, shop.tools)
print(agent.run("Which orders of Mei Chen are still on their way?"))

# %% [markdown]
# ## 2 · Paid twice
#
# First a refund as one writes it on the first day: it calls the bank and passes on the answer. The bank is sound. But
# sometimes its answer gets lost on the way back.

# %%
class Bank:
    """Pays, and loses some of its answers."""

    def __init__(self, loses):
        self.paid, self.loses = [], loses

    def pay(self, order_id, amount, reason):
        self.paid.append((order_id, amount, reason))
        if self.loses():
            raise ConnectionError("the connection timed out")
        return f"Refunded EUR {amount:.2f} for order {order_id}."


print(Bank(lambda: False).pay("A-1017", 34.90, "the lamp arrived broken"))

# %%
def pays_each_time(bank):
    def refund(order_id: str, amount: float, reason: str) -> str:
        """Pay money back for an order that arrived broken, wrong or late."""
        return bank.pay(order_id, amount, reason)

    return refund


print(Tool(pays_each_time(Bank(lambda: False))).signature)

# %% [markdown]
# > **Predict.** The first answer is lost, the second arrives. What will the agent do, and what will the customer have
# > at the end?

# %%
LAMP = "Refund EUR 34.90 of order A-1017: the lamp arrived broken."
bank = Bank(iter([True, False]).__next__)
state = FunctionCalling(llm, [pays_each_time(bank)]).run(LAMP)
print(state)
print(*bank.paid, sep="\n")

# %% [markdown]
# 69.80 euros, and an answer that reads well. Nobody made a mistake that one could see: "timed out" sounds as if
# nothing had happened, and to try again is right for every tool that *reads*. A time-out says only that there is no
# answer. The work may be done.
#
# > **Check yourself.** Would it help to write in the instructions: "Never refund an order twice"?
#
# <details><summary>Answer</summary>
#
# Perhaps often, and not always. The model did not want to refund twice, either: it believed that the first try had
# failed. An instruction makes a mistake rarer. What must never happen belongs in the code that moves the money.
# </details>
#
# ## 3 · Once, whatever the model does
#
# A first repair: the tool refuses a second payment.
#
# > **Predict.** The money is safe. What does the customer *hear*, when the first answer is lost?

# %%
def refuses_the_second(bank):
    def refund(order_id: str, amount: float, reason: str) -> str:
        """Pay money back for an order that arrived broken, wrong or late."""
        if any(order == order_id for order, *_ in bank.paid):
            raise ValueError(f"order {order_id} was already refunded")
        return bank.pay(order_id, amount, reason)

    return refund


def with_one_answer_lost(design):
    bank = Bank(iter([True, False]).__next__)
    state = FunctionCalling(llm, [design(bank)]).run(LAMP)
    print(f"payments: {len(bank.paid)}. {state.answer}")


with_one_answer_lost(refuses_the_second)

# %% [markdown]
# The refusal protects the money and spoils the answer. "I could not do this" is not true: it was done, by the call
# before. The customer will call again.
#
# A second repair: the tool recognises the *same call*, and gives its result again without paying. This is called
# *idempotent*: to do it twice is to do it once.

# %%
def repeats_the_result(bank):
    def refund(order_id: str, amount: float, reason: str) -> str:
        """Pay money back for an order that arrived broken, wrong or late."""
        if (order_id, amount, reason) in bank.paid:
            return f"Refunded EUR {amount:.2f} for order {order_id}; it had been paid before, and was not paid again."
        return bank.pay(order_id, amount, reason)

    return refund


with_one_answer_lost(repeats_the_result)

# %% [markdown]
# But which call is the same one? Here it is one with the same three arguments.
#
# > **Predict.** Two of three mugs arrived broken, at EUR 9.90 each. The first one is reported, then the second, then
# > the first again, in other words. Which of the three calls pay?

# %%
bank = Bank(lambda: False)
refund = repeats_the_result(bank)
for reason in ("a mug arrived broken", "a mug arrived broken", "one of the mugs was broken"):
    print(refund("A-1002", 9.90, reason))

# %% [markdown]
# Wrong twice. The second mug was reported in the words of the first, so it was not paid. The first one was paid again,
# since its words had changed. Arguments only hint at what was meant. Payment APIs therefore ask the caller for a key:
# a new one for each payment that is wanted, the same one for each try (for example Stripe, [Idempotent
# requests](https://docs.stripe.com/api/idempotent_requests)). Where there is no key, a second rule must help. Section
# 4 has one.
#
# How often does all this matter? Sixty runs each, while more and more of the bank's answers are lost. Each run ends in
# one of four ways, and only the first is right: the customer was paid once, and is told so.

# %%
from collections import Counter
from random import Random

ENDS = {(1, True): "paid once, told so", (1, False): "paid once, told no",
        (2, True): "paid twice, told once", (2, False): "paid twice, told no"}
RATES = [0.0, 0.2, 0.4, 0.6]


def trial(design, rate, seed):
    chance = Random(seed)
    bank = Bank(lambda: chance.random() < rate)
    state = FunctionCalling(LLM("offline", seed=seed), [design(bank)]).run(LAMP)
    return ENDS[len(bank.paid), state.answer.startswith("Refunded")]


found = {}
for design in (pays_each_time, refuses_the_second, repeats_the_result):
    found[design.__name__] = [Counter(trial(design, rate, seed) for seed in range(60)) for rate in RATES]
    print(f"{design.__name__}, 40 % lost:", dict(sorted(found[design.__name__][2].items())))

# %%
import matplotlib.pyplot as plt

COLORS = dict(zip(ENDS.values(), ["#2f5d8a", "#b9c0ca", "#d98c3f", "#7a4210"], strict=True))
figure, sides = plt.subplots(1, 3, figsize=(9.5, 3.4), sharey=True)
for axes, (name, counts) in zip(sides, found.items(), strict=True):
    bottom = [0.0] * len(RATES)
    for end, color in COLORS.items():
        shares = [100 * each[end] / 60 for each in counts]
        axes.bar(range(len(RATES)), shares, bottom=bottom, color=color, edgecolor="white", label=end)
        bottom = [low + share for low, share in zip(bottom, shares, strict=True)]
    axes.set(title=name.replace("_", " "), xlabel="answers lost, %")
    axes.set_xticks(range(len(RATES)), [f"{100 * rate:.0f}" for rate in RATES])
    axes.spines[["top", "right"]].set_visible(False)
sides[0].set_ylabel("runs, %")
figure.legend(*sides[0].get_legend_handles_labels(), loc="lower center", ncols=4, frameon=False)
figure.suptitle("A refusal saves the money; the same result again saves the answer, too")
figure.tight_layout(rect=(0, 0.09, 1, 1))

# %% [markdown]
# The first two designs end wrongly equally often: in each run in which the first answer is lost. The one pays too
# much, and the other says what is not so.

# %%
right = {name: sum(each["paid once, told so"] for each in counts) for name, counts in found.items()}
for name, count in right.items():
    print(f"{name:19} {count} of {60 * len(RATES)} runs end rightly")
assert right["pays_each_time"] == right["refuses_the_second"] < right["repeats_the_result"] == 60 * len(RATES)

# %% [markdown]
# *Measured on the offline model. It tries a call once more after an error that sounds as if it would pass, such as
# "timed out". The answers were lost on purpose. This shows a mechanism; how often your bank's answers get lost is
# another question.*
#
# ## 4 · The rule in the database
#
# `bank.paid` is a list in memory. In the shop, the rule stands where nothing gets around it:

# %%
import inspect

from agentlib.world.shop import TABLES

print(TABLES[-1])
print(inspect.getsource(Orders.refund))

# %% [markdown]
# The primary key allows one refund for an order, whatever the program does. The transaction is whole or not at all.
# And both repairs are here. The same call again gets its result. Any other second refund of the order is refused: the
# shop cannot know whether it is a new wish or the old one in other words. Then the error says what was paid, and this
# is true either way. (A second mug in the words of the first gets the first result, but the answer says that
# nothing was paid again.)
#
# > **Predict.** Eight threads refund one order at the same time: first all with the same call, then each with another
# > amount. How many calls succeed, and how many pay?

# %%
from concurrent.futures import ThreadPoolExecutor

from agentlib import Toolbox


def eight_at_once(amounts):
    shop = Orders()
    box = Toolbox(shop.tools)
    calls = [f'{{"order_id": "A-1017", "amount": {amount}, "reason": "broken"}}' for amount in amounts]
    with ThreadPoolExecutor(8) as pool:
        kinds = Counter(outcome.kind for outcome in pool.map(lambda call: box.run("refund", call), calls))
    ((payments,),) = shop.query("SELECT count(*) FROM refunds WHERE order_id = 'A-1017'")
    print(f"{kinds['ok']} ok, {kinds['tool_error']} refused, payments: {payments}")


eight_at_once([34.9] * 8)
eight_at_once(range(1, 9))

# %%
box = Toolbox(Orders().tools)
for amount in (34.9, 34.9, 4.5):
    print(box.run("refund", f'{{"order_id": "A-1017", "amount": {amount}, "reason": "broken"}}').text)

# %% [markdown]
# ## 5 · What no rule can know
#
# The shop now cannot pay twice, nor refund more than was paid, nor refund an order that has not arrived. Is that
# enough? The same tools again, and no person is asked.
#
# > **Predict.** One order is to be cancelled; for the other one, somebody wants to know the status. What do the tables
# > say afterwards?

# %%
BOTH = "Cancel order A-1020, and tell me the status of order A-1053."
STATUS = "SELECT id, status FROM orders WHERE id IN ('A-1020', 'A-1053')"
alone = Orders()
print(FunctionCalling(llm, [Tool(tool.function, tool.name) for tool in alone.tools]).run(BOTH))
print(alone.query(STATUS))

# %% [markdown]
# The model cancelled both: it misread the request, and took one verb for the two orders. Both calls were *allowed*: a
# tool that exists, arguments that fit, an order that may be cancelled. Only a person knows that the second was not
# *wanted*.
#
# So the tools that write carry a mark, and a marked call waits.

# %%
shop = Orders()
agent = FunctionCalling(llm, shop.tools)  # refund and cancel_order have writes=True
waiting = agent.run(BOTH)
print(waiting.status, "·", waiting.reason)
print(*waiting.pending, sep="\n")

# %% [markdown]
# `run` has returned, but the run is not over. The state holds the calls, exactly as they would be made. Nothing was
# done:

# %%
print(shop.query(STATUS))

# %% [markdown]
# ## 6 · Approve, and reject
#
# Each call that writes is decided by itself. The first one is right:

# %%
second = agent.run(agent.approve(waiting))
print(*second.events[-2:], sep="\n")
print("waits:", *second.pending)

# %% [markdown]
# The second one is not. A rejection has a reason, and the reason is for the model:

# %%
done = agent.run(agent.reject(second, reason="only its status was asked for"))
print(*done.events[-3:], sep="\n")
print(shop.query(STATUS))

# %% [markdown]
# A rejected call has a result like any other, an error with the reason in it, so the history stays whole (lesson 04).
# The answer is poor: it is silent about the order that *was* cancelled. What was done stands in the tables and in the
# trace.
#
# Here is how it works, from the library. A stage is a group of calls that run together; a call that writes is a stage
# of its own:

# %%
from agentlib import Agent

print(inspect.getsource(Agent.act))

# %% [markdown]
# What if somebody presses the button twice?

# %%
call = waiting.pending[0].id
approved = agent.approve(waiting, call)
print("a second approval changes nothing:", agent.approve(approved, call) == approved)
print("nor does one that comes too late: ", agent.approve(done, call) == done)

# %% [markdown]
# > **Predict.** States are never changed, so the old waiting state is still there. Somebody goes back to it, approves
# > the first call once more, and lets it run. What happens?

# %%
again = agent.run(agent.approve(waiting))
print(again.events[-1])

# %% [markdown]
# The state knows nothing of the other run, and so the call runs. **Going back does not undo what was done in the
# world.** It was the shop that said no, since the order is no longer one that can be
# cancelled. Approval does not replace such rules; you want both.
#
# ## 7 · Edit
#
# The customer asked for 34.90. The lamp had a scratch, and you agree to 20.
#
# > **Predict.** You edit the amount. Is the edited call approved, or does it wait again?

# %%
waiting = agent.run(LAMP)
edited = agent.edit(waiting, arguments={"order_id": "A-1017", "amount": 20, "reason": "the lamp arrived scratched"})
print(edited.status, "·", edited.reason, "·", *edited.pending)

# %% [markdown]
# It waits. An approval belongs to one call with its arguments; a changed call is another call. And what does not fit
# the tool is refused at once:

# %%
try:
    agent.edit(waiting, arguments={"order_id": "A-1017", "amount": "thirty"})
except ValueError as error:
    print(error)

# %%
done = agent.run(agent.approve(edited))
print(*done.events, sep="\n")

# %% [markdown]
# The message to the model was changed as well, so it reads its own call with 20 euros, and its answer fits what was
# done. The trace keeps what it wanted first.
#
# ## 8 · Tomorrow, in another process
#
# The person may answer tomorrow. A waiting run is a state, and a state can be saved.

# %%
import tempfile
from pathlib import Path

from agentlib import State

folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "waiting.json"
waiting = agent.run("Refund EUR 9.90 of order A-1002: a mug arrived broken.")
waiting.save(file)
loaded = State.load(file)
print("the same state:", loaded == waiting, "·", *loaded.pending)

# %% [markdown]
# Now the hard case: a person approves, the program saves, and dies *while* the tool runs. We do just that. This program
# runs the approved call on a shop in a file, and ends after the payment, before the result is known.

# %%
import os
import subprocess
import sys

CHILD = """
import os
from agentlib import FunctionCalling, LLM, State, Tool
from agentlib.world import Orders

def refund(order_id: str, amount: float, reason: str) -> str:
    Orders("shop.db").refund(order_id, amount, reason)
    os._exit(7)  # dies here, without a word

agent = FunctionCalling(LLM("offline"), [Tool(refund, writes=True)])
approved = agent.approve(State.load("waiting.json"))
approved.save("waiting.json")
agent.run(approved)
"""
PATHS = {"PYTHONPATH": os.pathsep.join([folder.name, *filter(None, sys.path)])}
ended = subprocess.run([sys.executable, "-c", CHILD], cwd=folder.name, env=os.environ | PATHS)
print("the program ended with", ended.returncode)

# %% [markdown]
# > **Predict.** Was the money sent? Can the saved state tell? What should the loaded state do: run the call, or not?

# %%
loaded = State.load(file)
print(loaded.status, "·", loaded.reason, "·", "approved calls:", len(loaded.approved))
shop = Orders(Path(folder.name) / "shop.db")
print(shop.query("SELECT * FROM refunds WHERE order_id = 'A-1002'"))

# %% [markdown]
# The money was sent, and the file cannot know it: it was saved before. So the loaded state runs nothing by itself. The
# call waits again, for a person who has looked.
#
# > **Predict.** The person does not look, and approves. What is paid, and what is said?

# %%
agent = FunctionCalling(llm, shop.tools)
print(agent.run(agent.approve(loaded)).answer)
print(shop.query("SELECT * FROM refunds WHERE order_id = 'A-1002'"))
shop.close()

# %% [markdown]
# Each approval runs a call at most once. It cannot stop a person who approves again. What stopped the second payment
# was the shop, which recognised the call. Approval does not make a write idempotent.
#
# ## 9 · Nobody there
#
# A program at night has no one to ask. `run` returns with the waiting state, and nothing is done. If the run should go
# on, somebody must decide, and without a person there is one safe decision:

# %%
from agentlib.approval import attended, reject_all

shop = Orders()
last = list(attended(FunctionCalling(llm, shop.tools), "Please cancel order A-1056.", reject_all))[-1]
print(*last.events[-3:], sep="\n")
print(shop.query("SELECT status FROM orders WHERE id = 'A-1056'"))

# %% [markdown]
# `attended` runs an agent, and asks a function whenever it waits. `ask_in_terminal` is another such function. You can
# write your own, say one that approves up to ten euros and rejects the rest:

# %%
import json


def up_to_ten(agent, state):
    amount = json.loads(state.pending[0].arguments).get("amount")
    if amount is not None and amount <= 10:
        return agent.approve(state)
    return agent.reject(state, reason="above ten euros, a person must look")


for amount in ("9.90", "29.70"):
    goal = f"Refund EUR {amount} of order A-1002: the mugs arrived broken."
    print(list(attended(FunctionCalling(llm, Orders().tools), goal, up_to_ten))[-1].answer)

# %% [markdown]
# ## 10 · In the notebook
#
# > **Try it.** Go to the last step. It shows the call that waits, and three buttons. Change the amount, look at what
# > waits then, and approve it. Then go back to the step that waited and approve again. Who
# > stops the second refund?

# %%
from agentlib import Stepper

agent = FunctionCalling(llm, Orders().tools)
Stepper(list(agent.steps(LAMP)), agent)

# %% [markdown]
# How often would a person be asked? Take the sixty questions of lesson 05a:

# %%
from agentlib.world.many import QUESTIONS, company_tools

company = FunctionCalling(llm, company_tools())
first = [company.step(company.start(asked.question)).pending[:1] for asked in QUESTIONS]
writes = [call.name for calls in first for call in calls if company.toolbox.tools[call.name].writes]
print(len(writes), "of", len(QUESTIONS), "first calls wait:", ", ".join(sorted(writes)))

# %% [markdown]
# If *every* call waited, who would still read each one? Anthropic reports that users of Claude Code accept 93 % of its
# permission prompts ([Claude Code auto mode](https://www.anthropic.com/engineering/claude-code-auto-mode), 2026).
# People look closely at a few questions, not at hundreds. Ask them about calls that cannot be undone, and let code
# decide the rest: limits, rules in the database, or a sandbox (lesson 08).
#
# ## 11 · Tools from another program
#
# Tools need not live in your process. The *Model Context Protocol* (MCP,
# [modelcontextprotocol.io](https://modelcontextprotocol.io)) is a way for one program to offer tools to any agent. A
# server lists its tools with names, descriptions and schemas, as in this lesson, and runs the calls.
#
# A server for our shop is two lines in a file:

# %%
server_file = Path(folder.name) / "shop_server.py"
server_file.write_text("from agentlib.world import Orders\n\ntools = Orders().tools\n", encoding="utf-8")
print(server_file.read_text(encoding="utf-8"))

# %% [markdown]
# We start it as a process of its own. The package `mcp` is an optional extra. Where it is missing, the next cell says
# so, and those that use the server show nothing.

# %%
from agentlib.mcp_bridge import MCPTools


def start(place, **settings):
    server = MCPTools(sys.executable, ["-m", "agentlib.mcp_bridge", place], env=PATHS, **settings)
    try:
        return server, server.open()
    except ImportError as error:  # without the package mcp
        print(error)
        return server, []


server, remote = start("shop_server:tools")
for tool in remote:
    print("writes" if tool.writes else "reads ", tool.name)

# %% [markdown]
# > **Predict.** The same question to the same agent, once with our tools, once with the server's. Where do the two
# > traces differ?

# %%
if remote:
    local, far = FunctionCalling(llm, Orders().tools), FunctionCalling(llm, remote)
    for goal in ("Which orders of Mei Chen are still on their way?", LAMP):
        print("equal:", far.run(goal) == local.run(goal), "·", far.run(goal).status, "·", goal)

# %% [markdown]
# Nowhere. The names, descriptions and schemas are the same, so the requests are; and the call that writes waits here
# as well. For the agent, a tool is a tool.
#
# An error, by the way, names its origin:

# %%
if remote:
    print(Toolbox(remote).run("lookup_order", '{"order_id": "1017"}').text)
server.close()

# %% [markdown]
# ## 12 · Who says that a tool writes?
#
# How did the agent know that `refund` writes? The server said so: a tool may carry a hint, `readOnlyHint`. Here is a
# second server. It offers the same tools, and has forgotten the marks.

# %%
careless = "from agentlib import Tool\nfrom agentlib.world import Orders\n\n"
careless += "tools = [Tool(tool.function, tool.name) for tool in Orders().tools]\n"
(Path(folder.name) / "careless_server.py").write_text(careless, encoding="utf-8")
print(careless)

# %% [markdown]
# > **Predict.** What happens with the refund?

# %%
server, remote = start("careless_server:tools")
if remote:
    print(FunctionCalling(llm, remote).run(LAMP))
server.close()

# %% [markdown]
# The money is gone, and nobody was asked. The protocol says it plainly: a client must not trust hints unless it trusts
# the server, and there should always be a person who can refuse a call ([specification,
# Tools](https://modelcontextprotocol.io/specification/2025-06-18/server/tools)). So decide yourself, by your own list:

# %%
READS = ("find_orders", "lookup_order")
server, remote = start("careless_server:tools", writes=lambda name, hints: name not in READS)
if remote:
    print(FunctionCalling(llm, remote).run(LAMP))
server.close()

# %% [markdown]
# A list of what is *allowed* without a question is safer than a list of what is dangerous: a tool that is added
# tomorrow waits.
#
# > **Check yourself.** Besides its hints, what else of a strange server does the model believe?
#
# <details><summary>Answer</summary>
#
# Its descriptions, which may praise the tool or give orders, and its results. Both stand in the model's messages like
# everything else. Approval and your own rules are what does not go through the model.
# </details>
#
# ## Recap
#
# - A **time-out** says that there is no answer. It does not say that nothing was done.
# - Make writes **idempotent**: the same call again gets its result, and does nothing more. What is "the same" is best
#   said by a key.
# - What must never happen belongs **where the money is**: a key, a check, a transaction. Not in the prompt.
# - What is allowed need not be wanted. A call that writes **waits**, with its exact arguments, in a state.
# - **Approve** lets this one call run, once. **Reject** tells the model why. **Edit** asks again.
# - An approval runs a call **at most once**; a loaded state asks again. Unattended: **reject**.
# - Ask **seldom**, and where it counts. A server's hints are **its word**, not yours.
#
# ## Try it yourself
#
# 1. Make the refund of section 2 a tool with a time limit, `Tool(refund, timeout=0.1)`, and let the bank sleep for half
#    a second after it has paid. How often does it pay? Now add `writes=True`, and approve. What does the error say, and
#    what does the model make of it?
# 2. Write a decision function for `attended` that looks the order up before it approves.
# 3. Serve a refund over MCP that pays, writes the payment into a file, and ends its process with `os._exit(1)`. What
#    does the agent hear, and what does the file say?
# 4. In section 5 the model misreads a request. We tried many wordings of it, and none went right. Ask for the two
#    things in two runs instead. What do the tables say now? Would you give up the approval?
#
# Next: [06 · Plan and execute](06_plan_and_execute.ipynb) separates planning from doing.
