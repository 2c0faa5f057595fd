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
# # 00 · Start here
#
# **The question.** What is this course, what answers when you press *run*, and what do you do when something fails?
#
# **You will** run an agent, step through what it did, change the past, and see what a wrong setting looks like.
#
# **Time:** ten to twenty minutes. **You need:** nothing but this page. No key, no network.

# %% [markdown]
# ```mermaid
# flowchart LR
#     N[a cell in a notebook] --> A[agentlib: the loop]
#     A -->|messages| M[a model]
#     M -->|a reply| A
#     A -->|a call| T[tools]
#     T -->|a result| A
# ```
#
# An **agent** is a program that asks a language model what to do next, does it, tells the model what came of it, and
# asks again. In this course you build such programs from nothing, watch every step, break them and repair them.
# `agentlib` is a small package that holds the finished versions, so that you can compare them with yours.

# %% [markdown]
# ## 1 · The first run
#
# Click on the next cell and press <kbd>Shift</kbd>+<kbd>Enter</kbd>. The cell runs, and the next one is selected.

# %%
from agentlib import LLM, ReAct
from agentlib.world import calculator, search, weather

agent = ReAct(LLM(), tools=[search, weather, calculator])
state = agent.run("Is it warmer in Beijing or in Shanghai?")
print(state.answer)

# %% [markdown]
# > **Predict.** The agent can call three tools. Which did it call, how often, and how often was the model asked?

# %%
print(state)

# %% [markdown]
# Each *thought* and each *action* was written by the model. Each *observation* is what a tool gave back. After the
# last observation the model had all it needed, and wrote the *final answer*. Lesson 02 builds this loop.
#
# The weather is invented: one day for each city, the same for ever, so that your screen shows what this text says.

# %% [markdown]
# ## 2 · What answered?

# %%
llm = LLM()
llm

# %% [markdown]
# This is the **offline model**: a set of rules in a small program, which stands in for a language model. It speaks
# the wire format of a real provider, needs no key, costs nothing, and gives the same reply to the same request.
#
# It is not a language model, and it knows its limits better than most:

# %%
print(agent.run("Write a poem about autumn.").answer)

# %% [markdown]
# What it can show you is how the *mechanism* works: the loop, the formats, the failures. How well real models do is a
# question for real models, and where the lessons talk about that they name a published source.
#
# It reads what it is given, and answers from that. Here is the same agent with a tool of your own making:

# %%
from agentlib import tool


@tool
def thermometer(city: str) -> str:
    """Get the temperature in a city."""
    return f"{city}: {3 * len(city)} °C."


print(thermometer("Cairo"), thermometer("Reykjavik"))

# %% [markdown]
# > **Predict.** Our thermometer measures the length of the name. Which city will the agent call warmer?

# %%
print(agent.run("Is it warmer in Cairo or in Reykjavik?").answer)
print(ReAct(LLM(), tools=[thermometer]).run("Is it warmer in Cairo or in Reykjavik?").answer)

# %% [markdown]
# The first line is the agent with the weather tool, the second the one with ours. Neither doubted its tool.

# %% [markdown]
# ## 3 · The model switch
#
# The same cells run against a real model. The settings stand in a file named `.env`, in the folder of the project;
# copy `.env.example` to begin with. Three lines matter:
#
# | setting | what it says |
# |---|---|
# | `AGENTLIB_MODEL` | which model; not set, or `offline`, is the offline model, whatever else is set |
# | `OPENAI_BASE_URL` | where: any server that speaks the chat completions API, one on your own machine too |
# | `OPENAI_API_KEY` | your key there; it stays in `.env`, which git ignores |
#
# Never write a key into a notebook. Notebooks are shared, and their outputs with them.
#
# > **Predict.** Sooner or later a key is wrong. What will a cell show then: a page of traceback, or less?

# %% tags=["raises-exception"]
from agentlib.offline import Settings, app

strict = app(Settings(api_keys=("the right one",)))
LLM("offline", offline=strict, api_key="a wrong one").chat([{"role": "user", "content": "Hello"}])

# %% [markdown]
# One line: what is wrong, where to correct it, and what to do without. (In this cell the key was given by hand; yours
# stands in `.env`.) The offline model sends the very error that a provider sends (status 401), so this is what you
# would see. Inside an agent the run is not lost:

# %%
broken = ReAct(LLM("offline", offline=strict, api_key="a wrong one"), tools=[search]).run("Who wrote Hamlet?")
print(broken.status, "·", broken.reason)
print(len(broken.messages), "messages are kept")

# %% [markdown]
# The cure is the right key:

# %%
cured = ReAct(LLM("offline", offline=strict, api_key="the right one"), tools=[search]).run("Who wrote Hamlet?")
print(cured.status, "·", cured.answer)

# %% [markdown]
# ## 4 · The Stepper
#
# A run is a list of *states*. The Stepper shows them one at a time, in both directions.

# %%
from agentlib import Stepper

states = list(agent.steps("Which university did the CEO of DeepMind attend?"))
Stepper(states, agent)

# %% [markdown]
# Try these, in this order:
#
# 1. **Step.** Press *next* until the end, then *back*. Or click into the Stepper and use the arrow keys.
# 2. **Look.** At a step named *think*, open what the model was sent. Everything before this step is in it: a model
#    remembers nothing between two requests.
# 3. **Edit.** Go to the first observation, press *Edit*, and write that the CEO of DeepMind is Alan Turing.
# 4. **Fork.** Press *Fork from here*. A second run appears below the first, which stays as it was.
#
# Editing needs a running kernel. Stepping does not: it works in a saved notebook too.
#
# What the buttons do, you can do in code:

# %%
forked = agent.fork(states[2], observation="DeepMind: Its CEO is Alan Turing (since March 2025).")
print(agent.run(forked).answer)

# %% [markdown]
# You changed one observation, and the agent believed you. Remember this when you read what an agent found.

# %% [markdown]
# ## 5 · How the lessons work
#
# - **Predict** before you run. A cell that surprises you teaches more than one that does not.
# - **Change** things. This is your own copy of the lesson; the original is kept elsewhere.
# - A **checkpoint** is a cell that proves something: it fails if what it says is not so. Here is one:

# %%
again = agent.run("Which university did the CEO of DeepMind attend?")
assert again == states[-1]
print("the same run, to the letter:", again == states[-1])

# %% [markdown]
# - Each lesson ends with things to **try**. Exercises that check themselves are being written: each will have a
#   cell for
#   your code and a check that says one of three things: right, not yet and why, or not attempted.

# %% [markdown]
# ## 6 · When something fails
#
# | what you see | what to do |
# |---|---|
# | a line that starts with `LLMError` | read it: it says which setting to change |
# | `ModuleNotFoundError: agentlib` | the notebook runs in another Python; start with `python3 -m agentlib lab` |
# | a cell that never ends | the square in the toolbar interrupts it; the run so far is kept |
# | the Stepper is only a list | run its cell again, or *Trust Notebook* in the command palette (Ctrl+Shift+C) |
# | anything else, or all at once | *Kernel › Restart Kernel and Run All Cells* |
# | still | in a terminal, in the project's folder: `python3 -m agentlib doctor` says what to fix |

# %% [markdown]
# ## Recap
#
# - An agent asks a model, runs tools, and tells the model what came of it, until there is an answer.
# - The offline model stands in for a real one. It shows the mechanism, not the skill.
# - A run is a list of states that never change: step through it, edit one, go on from there.
# - A wrong setting is one line, and the run up to there is kept.
#
# Next: [01 · What is an agent?](01_what_is_an_agent.ipynb) compares one call, a workflow and an agent.
