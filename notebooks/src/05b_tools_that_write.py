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
from agentlib import LLM, FunctionCalling
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

    def pay(self, order_id, amount):
        self.paid.append((order_id, amount))
        if self.loses():
            raise ConnectionError("the connection timed out")
        return f"Refunded EUR {amount:.2f} for order {order_id}."


def pays_each_time(bank):
    def refund(order_id: str, amount: float, reason: str) -> str:
        """Pay money back for an order that arrived broken, wrong or late."""
        return bank.pay(order_id, amount)

    return refund


print(Bank(lambda: False).pay("A-1017", 34.90))

# %% [markdown]
# > **Predict.** The first answer is lost, the second arrives. What will the agent do, and what will the customer have
# > at the end?

# %%
LAMP = "Refund EUR 34.90 of order A-1017: the lamp arrived broken."
bank = Bank(iter([True, False]).__next__)
state = FunctionCalling(llm, [pays_each_time(bank)]).run(LAMP)
print(state)
print("paid:", bank.paid)

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
# failed. An instruction is a wish. What must never happen belongs into the code that moves the money.
# </details>
#
# ## 3 · Once, whatever the model does
#
# Two repairs. The first refuses a second payment. The second recognises the same call, and gives the first result
# again without paying. This is called *idempotent*: to do it twice is to do it once. Payment APIs ask for a key by
# which they recognise a repetition (for example Stripe, [Idempotent
# requests](https://docs.stripe.com/api/idempotent_requests)).

# %%
def refuses_the_second(bank):
    def refund(order_id: str, amount: float, reason: str) -> str:
        """Pay money back for an order that arrived broken, wrong or late."""
        if any(order == order_id for order, _ in bank.paid):
            raise ValueError(f"order {order_id} was already refunded")
        return bank.pay(order_id, amount)

    return refund


def repeats_the_result(bank):
    def refund(order_id: str, amount: float, reason: str) -> str:
        """Pay money back for an order that arrived broken, wrong or late."""
        if (order_id, amount) in bank.paid:
            return f"Refunded EUR {amount:.2f} for order {order_id}; it had been paid before, and was not paid again."
        return bank.pay(order_id, amount)

    return refund


DESIGNS = [pays_each_time, refuses_the_second, repeats_the_result]
print(*(design.__name__ for design in DESIGNS), sep="\n")

# %% [markdown]
# > **Predict.** Both pay once. What does the customer *hear* in each case?

# %%
for design in DESIGNS[1:]:
    bank = Bank(iter([True, False]).__next__)
    state = FunctionCalling(llm, [design(bank)]).run(LAMP)
    print(f"{design.__name__}: paid {len(bank.paid)} time\n   {state.answer}\n")

# %% [markdown]
# The refusal protects the money and spoils the answer. "I could not do this" is not true: it was done, by the call
# before. The customer will call again.
#
# How often does it matter? Sixty runs each, while more and more of the bank's answers are lost. We count two things:
# money paid more than once, and answers that are not true. The money has always been sent, so "Refunded" is the true
# one.

# %%
from random import Random


def trial(design, rate, seed):
    chance = Random(seed)
    bank = Bank(lambda: chance.random() < rate)
    state = FunctionCalling(LLM("offline", seed=seed), [design(bank)]).run(LAMP)
    return len(bank.paid) > 1, not state.answer.startswith("Refunded")


RATES = [0.0, 0.2, 0.4, 0.6]
found = {}
for design in DESIGNS:
    trials = {rate: [trial(design, rate, seed) for seed in range(60)] for rate in RATES}
    found[design.__name__] = [tuple(map(sum, zip(*trials[rate], strict=True))) for rate in RATES]
    print(f"{design.__name__:19}", *found[design.__name__])

# %%
import matplotlib.pyplot as plt

COLORS = dict(zip(found, [("#d98c3f", "o"), ("#6b7484", "^"), ("#2f5d8a", "s")], strict=True))
figure, sides = plt.subplots(1, 2, figsize=(9.5, 3.3))
for place, (axes, title) in enumerate(zip(sides, ["Paid more than once", "The answer is not true"], strict=True)):
    for name, (color, marker) in COLORS.items():
        rates = [100 * counts[place] / 60 for counts in found[name]]
        height = rates[-1] + (4 if place == 0 and name == "refuses_the_second" else 0)  # two lines lie on each other
        axes.plot([100 * rate for rate in RATES], rates, color=color, marker=marker)
        axes.text(62, height, name.replace("_", " "), color=color, va="center")
    axes.set(title=f"{title}, % of runs", xlabel="lost answers, %", xlim=(-3, 105), ylim=(-3, 75))
    axes.set_xticks([0, 20, 40, 60])
    axes.spines[["top", "right"]].set_visible(False)
figure.suptitle("A refusal saves the money; the same result again saves the answer, too")
figure.tight_layout()

# %%
twice = {name: [counts[0] for counts in rows] for name, rows in found.items()}
untrue = {name: [counts[1] for counts in rows] for name, rows in found.items()}
assert not any(twice["refuses_the_second"] + twice["repeats_the_result"])
assert twice["pays_each_time"][-1] > 20 and not any(untrue["repeats_the_result"])
assert all(b > a for a, b in zip(untrue["pays_each_time"][1:], untrue["refuses_the_second"][1:], strict=True))
print("only repeats_the_result pays once and tells the truth, in", 60 * len(RATES), "runs of each")

# %% [markdown]
# *Measured on the offline model, which tries a call again after a time-out, once, and with answers that we lost on
# purpose. It shows a mechanism. How often your bank's answers get lost is another question.*
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
# And each refusal says what to do instead, as in lesson 05a.
#
# > **Predict.** Eight threads refund the same order at the same time. How many succeed?

# %%
from concurrent.futures import ThreadPoolExecutor

from agentlib import Toolbox

box = Toolbox(Orders().tools)
CALL = '{"order_id": "A-1017", "amount": 34.9, "reason": "broken"}'
with ThreadPoolExecutor(8) as pool:
    outcomes = list(pool.map(lambda _: box.run("refund", CALL), range(8)))
kinds = [outcome.kind for outcome in outcomes]
print(kinds.count("ok"), "ok,", kinds.count("tool_error"), "refused")
print(next(outcome.text for outcome in outcomes if outcome.is_error))

# %% [markdown]
# ## 5 · What no rule can know
#
# The shop now cannot pay twice, nor refund more than was paid, nor refund an order that has not arrived. Is that
# enough? The same tools again, with nobody who looks.
#
# > **Predict.** One order is to be cancelled; for the other one, somebody wants to know the status. What do the tables
# > say afterwards?

# %%
from agentlib import Tool

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
# The answer is poor: it is silent about the order that *was* cancelled. Trust the tables, and the trace, more than the
# prose.
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
# world.** It was the database that said no: approval and the rule of section 4 are two locks, and you want both.
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
# People go home. A waiting run is a state, and a state can be saved.

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
# > **Predict.** Now the hard case. A person approves, the program saves, and dies *while* the tool runs. Was the money
# > sent? What should the loaded state do: run the call, or not?

# %%
agent.approve(waiting).save(file)
loaded = State.load(file)
print(loaded.status, "·", loaded.reason, "·", "approved calls:", len(loaded.approved))

# %% [markdown]
# It asks again. The file cannot know whether the money was sent. So nothing is paid a second time without a person who
# has looked: at most once, never twice.
#
# ## 9 · Nobody there
#
# A program at night has no one to ask. `run` returns with the waiting state, and nothing is done. If the run should go
# on, somebody must decide, and without a person there is one safe decision:

# %%
from agentlib.approval import attended, reject_all

last = list(attended(agent, "Please cancel order A-1056.", reject_all))[-1]
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
# Attention is what approval is made of. Spend it on calls that cannot be undone, and let code decide the rest: limits,
# rules in the database, or a sandbox (lesson 08).
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
import os
import sys

from agentlib.mcp_bridge import MCPTools

PATHS = {"PYTHONPATH": os.pathsep.join([folder.name, *filter(None, sys.path)])}


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
# ## 12 · Whose word is it?
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
# - Make writes **idempotent**: the same call again gives the same result, and does nothing more.
# - What must never happen belongs **where the money is**: a key, a check, a transaction. Not in the prompt.
# - What is allowed need not be wanted. A call that writes **waits**, with its exact arguments, in a state.
# - **Approve** lets this one call run, once. **Reject** tells the model why. **Edit** asks again.
# - Saved, loaded, interrupted: **at most once**. Unattended: **reject**.
# - Ask **seldom**, and where it counts. A server's hints are **its word**, not yours.
#
# ## Try it yourself
#
# 1. Give `refund` a `timeout` of 0.1 seconds and a bank that sleeps longer. What does the error say, and why?
# 2. Write a decision function for `attended` that looks the order up before it approves.
# 3. Serve the tools of section 2 over MCP, and lose the answer between server and client: close the server while a call
#    runs.
# 4. In section 5 the model misreads a request. Find a wording that it reads rightly. Would you give up the approval
#    then?
#
# Next: [06 · Plan and execute](06_plan_and_execute.ipynb) separates planning from doing.
