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
# # 02 · ReAct: think, act, look, repeat
#
# **The question.** A language model writes text and nothing else. How does it come to look things up, use what it
# found, and stop when it knows enough?
#
# **You will build** an agent in fewer than fifty lines: a prompt, a parser, a loop. Then you will find your own loop
# again inside `agentlib`, prove that both do the same, and step through a run in both directions.
#
# **Time:** about an hour. **You need:** lessons 00 and 01.

# %% [markdown]
# ```mermaid
# flowchart LR
#     Q([Question]) --> T[Thought]
#     T --> A[Action]
#     A -->|we run the tool| O[Observation]
#     O --> T
#     T --> F([Final Answer])
# ```
#
# The model writes the thoughts and the actions. We run the tools and write the observations. That division of labour
# is ReAct (Yao et al. 2022, [arXiv:2210.03629](https://arxiv.org/abs/2210.03629)), and the same loop runs under other
# ways to call tools.

# %%
from agentlib import LLM

llm = LLM()
llm

# %% [markdown]
# Without further settings this is the *offline model*: a small program with rules that answers in the format of a
# real provider. It needs no key and no network, and gives the same reply to the same request, so that this text and
# your screen agree. It is not a language model. What you see it do shows how the mechanism works, not how clever
# models are. To run the same cells with a real one, set `AGENTLIB_MODEL` in `.env`.
#
# ## 1 · A question and three tools
#
# Here is a question that looks easy. We shall use it throughout.

# %%
QUESTION = "Which university did the CEO of Intel attend?"
print(QUESTION)

# %% [markdown]
# A tool is an ordinary function. These three look into a small world that comes with the course: an encyclopedia,
# invented weather for some cities, and exact arithmetic.

# %%
from agentlib.world import calculator, search, weather

TOOLS = {"search": search, "weather": weather, "calculator": calculator}
print(weather("Beijing"))
print(calculator("17 * 23"))

# %% [markdown]
# > **Predict.** The encyclopedia has no article called "the university of Intel's CEO". What will a search for the
# > whole question find?

# %%
print(search(QUESTION))

# %% [markdown]
# It finds the company. The answer is one step further: first the name, then the person. A question like this is
# called a *two-hop* question, and no single search answers it.

# %% [markdown]
# ## 2 · Reasoning only
#
# Let the model think, and give it no tools. The prompt asks for a fixed format, so that a program can find the answer
# in the reply. This is known as chain of thought (Wei et al. 2022,
# [arXiv:2201.11903](https://arxiv.org/abs/2201.11903)).

# %%
REASON_ONLY = """Answer the question. Use exactly this format:

Thought: what you know
Final Answer: the answer"""


def opening(prompt, question):
    return [{"role": "system", "content": prompt}, {"role": "user", "content": f"Question: {question}"}]


opening(REASON_ONLY, QUESTION)[1]

# %% [markdown]
# The next cell names the offline model, because we want one that learned its facts some years ago. Every real model
# is in the same position: what it knows by heart ends on the day its training data ended.
#
# > **Predict.** You have just read who leads Intel. What will the model say?

# %%
offline = LLM("offline")
print(offline.chat(opening(REASON_ONLY, QUESTION)).content)

# %% [markdown]
# Compare that with the article above. Pat Gelsinger left in December 2024. The reasoning is sound and the form is
# right; the first fact is stale, so the answer is about the wrong person. Nothing in the reply hints at it.

# %% [markdown]
# ## 3 · A prompt that asks for an action
#
# The model cannot look anything up. It can only write. So we agree on a way to *write* that it wants something looked
# up: one line with the name of a tool and its arguments. First we tell it what there is.

# %%
for tool in TOOLS.values():
    print("-", tool.signature)
    print("   ", tool.description[:90], "…")

# %% [markdown]
# Then we tell it how to ask. This text is the whole protocol. Read it slowly: everything below follows from it.

# %%
FORMAT = """Thought: what you know and what you need next
Action: tool_name(parameter="value")

Then stop. The result comes back to you as:

Observation: the result of the action

Thought, Action and Observation can repeat. When you know the answer, or when no tool is needed, reply with:

Thought: why you know the answer
Final Answer: the answer"""


def prompt_with_tools(form):
    lines = "\n".join(f"- {tool.signature}: {tool.description}" for tool in TOOLS.values())
    return f"Answer the question. You can use these tools:\n\n{lines}\n\nUse exactly this format:\n\n{form}"


PROMPT = prompt_with_tools(FORMAT)
print(len(PROMPT), "characters, sent with every request")

# %% [markdown]
# ## 4 · Where the model must stop
#
# The observation is ours to write: only we can run the tool. The prompt says "Then stop". Nothing forces the model to
# obey.
#
# > **Predict.** We send the prompt and the question, and let the model write as long as it likes. What will stand
# > below the first `Action:`?

# %%
print(offline.chat(opening(PROMPT, QUESTION)).content)

# %% [markdown]
# Read the lines that start with `Observation:`. No tool has run. The model wrote what a tool *might* have said, and
# reasoned from its own invention to an answer. It is fluent, it has the right form, and its first fact is the stale
# one again. In a home-made agent this is hard to see, because the reply looks exactly like a good trace.
#
# The cure is one argument. A *stop word* tells the server to end the reply where these characters would be written
# ([API reference](https://platform.openai.com/docs/api-reference/chat/create), `stop`).

# %%
reply = llm.chat(opening(PROMPT, QUESTION), stop=["Observation:"])
print(reply.content)
print("finish_reason:", reply.finish_reason)

# %% [markdown]
# The reply ends after the action, and the loop can run the tool.
#
# > **Check yourself.** `finish_reason` is `stop`. Was it the same in the reply before, which ran on to the end? Can
# > the loop tell from it which of the two happened?

# %%
print("finish_reason without a stop word:", offline.chat(opening(PROMPT, QUESTION)).finish_reason)

# %% [markdown]
# The API says `stop` both when the model ended by itself and when a stop word cut it off. So the loop has to look at
# the text: an action at the end means *run the tool*, a final answer means *done*.
#
# ## 5 · One turn by hand
#
# Three small steps lead from the reply to the next request. First, find the action in the text. A regular expression
# will do for a reply that keeps to the format. Section 10 shows one that does not.

# %%
import re


def parse_action(text):
    match = re.search(r'Action: (\w+)\((\w+)="(.*)"\)', text)
    return match and (match[1], {match[2]: match[3]})


parse_action(reply.content)

# %% [markdown]
# Second, run the tool with these arguments. Here, for the first time, something happens outside of the model.

# %%
name, arguments = parse_action(reply.content)
result = TOOLS[name](**arguments)
print(result)

# %% [markdown]
# Third, write the observation into the conversation, after the model's own words. The API keeps nothing between two
# requests: what is not in `messages` has not happened.

# %%
messages = opening(PROMPT, QUESTION)
messages.append({"role": "assistant", "content": reply.content.strip()})
messages.append({"role": "user", "content": f"Observation: {result}"})
[message["role"] for message in messages]

# %% [markdown]
# > **Predict.** The observation names two people who led Intel. Which one will the next thought pick up, and what will
# > the next action be?

# %%
reply = llm.chat(messages, stop=["Observation:"])
print(reply.content)

# %% [markdown]
# The model read the observation and made its next action of it. The name in the new query was in no prompt of ours:
# it came from the tool. The rest is a loop.
#
# ## 6 · The loop
#
# Everything above, repeated until a final answer, and at most ten times.

# %%
def run_tool(name, arguments):
    return TOOLS[name](**arguments)


def react(prompt, question, max_iterations=10):
    messages = opening(prompt, question)
    for _ in range(max_iterations):
        text = llm.chat(messages, stop=["Observation:"]).content.strip()
        messages.append({"role": "assistant", "content": text})
        if "Final Answer:" in text:
            break
        name, arguments = parse_action(text)
        messages.append({"role": "user", "content": f"Observation: {run_tool(name, arguments)}"})
    return messages


messages = react(PROMPT, QUESTION)
print(len(messages), "messages; the last begins:", messages[-1]["content"][:20], "…")

# %% [markdown]
# How large is the agent? The prompt, the parser, the tools' call and the loop, counted:

# %%
import inspect

functions = [opening, prompt_with_tools, parse_action, run_tool, react]
sum(len(inspect.getsource(function).splitlines()) for function in functions) + len(FORMAT.splitlines())

# %% [markdown]
# A helper prints a run, without the first two messages and the lists of further titles.

# %%
from textwrap import fill


def show(messages):
    for message in messages[2:]:
        lines = message["content"].split("\nSee also:")[0].splitlines()
        print(*[fill(line, 100) for line in lines], sep="\n", end="\n\n")


show(react(PROMPT, QUESTION))

# %% [markdown]
# Two searches, the second made of what the first one found, and an answer about the right person.
#
# ## 7 · Acting only
#
# Is the thought worth its tokens? The loop does not need it: it reads the action and nothing else. So take the
# thoughts out of the prompt, and leave the loop as it is.

# %%
ACT_ONLY = prompt_with_tools("""Action: tool_name(parameter="value")

Then stop. The result comes back to you as:

Observation: the result of the action

Action and Observation can repeat. When you know the answer, or when no tool is needed, reply with:

Final Answer: the answer""")
print(len(PROMPT) - len(ACT_ONLY), "characters shorter than the prompt with thoughts")

# %% [markdown]
# > **Predict.** One hop first: "Who is the CEO of Intel?" Then our question, which needs two. Which of them will the
# > agent without thoughts answer?

# %%
show(react(ACT_ONLY, "Who is the CEO of Intel?"))

# %%
show(react(ACT_ONLY, QUESTION))

# %% [markdown]
# The first question is answered. In the second, the name that was needed stood in the observation, and the agent went
# back to the words of the question. It had no place to write down what it had learned and what was still missing. So
# it could not change its plan, and answered with what it had: another question's answer. In the offline model this is
# a rule of ours. For real models it was measured: Yao et al. report that acting without reasoning does worse above
# all where a final answer has to be put together from several observations (their section 3.3; figures below).
#
# | prompt | has tools | writes thoughts | on our question |
# |---|---|---|---|
# | reasoning only | no | yes | answers from stale memory |
# | acting only | yes | no | finds the first hop, and answers with that |
# | ReAct | yes | yes | finds both hops |
#
# ## 8 · When no tool is needed
#
# An agent that reaches for a tool each time is slow and dear. The prompt says "or when no tool is needed".

# %%
show(react(PROMPT, "What is 2 + 2?"))

# %% [markdown]
# One model call, no action. With a real model, this is a matter of the prompt and of luck: delete those words from
# `FORMAT`, and it may use tools for more than it should.

# %% [markdown]
# ## 9 · Errors and limits
#
# So far everybody behaved. The next question is about a city that the weather tool does not know.
#
# > **Predict.** The tool raises an exception. Who sees it: the model, or you?

# %%
ATLANTIS = "What is the weather in Atlantis?"
try:
    react(PROMPT, ATLANTIS)
except Exception as error:
    print(type(error).__name__, "reached us:", error)

# %% [markdown]
# You do, and the run is lost. The message was meant for somebody who can try another city, and that is the model. So
# an error of a tool becomes an observation, and so does a tool that does not exist.

# %%
def run_tool(name, arguments):
    if name not in TOOLS:
        return f"Error: unknown tool {name!r}. The tools are: {', '.join(TOOLS)}"
    try:
        return TOOLS[name](**arguments)
    except Exception as error:
        return f"Error: {type(error).__name__}: {error}"


show(react(PROMPT, ATLANTIS))

# %% [markdown]
# The loop did not change: it calls `run_tool`, and that now always gives a text. The run ends with an honest answer.
#
# The other thing that can go wrong is that nothing ends. A model that asks for the same search for ever is easy to
# make: `ScriptedLLM` gives the replies it is told to give, for moments when we need one exact reply.

# %%
from agentlib import ScriptedLLM

STUCK = 'Thought: I should look that up.\nAction: search(query="Intel")'
llm_before, llm = llm, ScriptedLLM([STUCK] * 10)
messages = react(PROMPT, QUESTION)
llm = llm_before
print("model calls:", sum(message["role"] == "assistant" for message in messages))
print(messages[-1]["content"][:40], "…")

# %% [markdown]
# `max_iterations` ended it. But look at what the caller gets: a list whose last entry is an observation, and no word
# on why it stopped. A run that gave up should say so, and keep what it found. For that, a list of messages is not
# enough.
#
# ## 10 · The same agent in `agentlib`
#
# The library keeps the messages as the one truth, and puts them into a `State`: what was asked, what happened, what
# is pending, how it ended.

# %%
from agentlib import ReAct

agent = ReAct(llm, tools=TOOLS.values())
state = agent.run(QUESTION)
print(state.answer)
print(state.status, "·", state.reason, "·", state.usage.calls, "model calls")

# %%
lost = ReAct(ScriptedLLM([STUCK] * 3), tools=TOOLS.values(), max_iterations=3).run(QUESTION)
print(lost.status, "·", lost.reason, "· answer:", lost.answer)
print("best so far:", lost.best_so_far[:60], "…")

# %% [markdown]
# Stopped, why, and no made-up answer. Now read the loop itself. This is not a copy for the lesson; it is printed from
# the module that just ran.

# %%
from agentlib import Agent

print(inspect.getsource(Agent.step))
print(inspect.getsource(Agent.steps))

# %% [markdown]
# An agent is a function from state to state, called until the state no longer runs. One `step` is one thing that you
# can look at: the model was asked (*think*), or the pending tool was run (*act*). Those two are short as well. `act` is
# ready for more than ReAct needs: several calls in one reply (lesson 04), and calls that wait for a person because they
# write (lesson 05).

# %%
print(inspect.getsource(Agent.think))
print(inspect.getsource(Agent.act))

# %% [markdown]
# The parser is where the library does much more than our regular expression. It takes what models really write, such
# as this reply: other labels, markdown, a single quote, and an observation that nobody observed.

# %%
from agentlib.parsing import parse

found = parse("**Action:** `search`\n**Action Input:** {'query': \"Intel's CEO\"}\nObservation: Pat Gelsinger")
print(found.tool, found.arguments)
print("noted:", [note.kind for note in found.notes])

# %% [markdown]
# The invented observation is cut off, and noted, so that nobody mistakes it for a fact.
#
# ## 11 · Checkpoint: the same trace
#
# You built a loop; the library has one. If both are the same agent, then on the same question both must have sent and
# received the same messages, to the letter.

# %%
def wire(state):
    return [message.to_wire() for message in state.messages]


for question in [QUESTION, ATLANTIS, "Is it warmer in Beijing or in Shanghai?", "What is 2 + 2?"]:
    assert react(PROMPT, question) == wire(agent.run(question)), question
    print("same messages:", question)

# %% [markdown]
# ## 12 · Step through it
#
# `agent.steps` yields every state from first to last. A state is never changed, so the list is a recording: the
# Stepper shows it in both directions. Use the buttons, the slider or the arrow keys.
#
# > **Try it.** Find the step at which the second hop begins. What was the model sent there that it had not been sent
# > before?

# %%
from agentlib import Stepper

states = list(agent.steps(QUESTION))
Stepper(states, agent)

# %% [markdown]
# Steps alternate: the model is asked (*think*), then a tool is run (its name stands below the mark). Each think sends
# everything so far once more: that is the only way in which the model knows what it did before.
#
# ## 13 · One false observation
#
# Nothing in the loop checks an observation. Let us go back to the moment after the first search, change what the tool
# "found", and let the agent go on from there.

# %%
for number, each in enumerate(states):
    print(number, each.status, "·", type(each.events[-1]).__name__ if each.events else "nothing yet")

# %% [markdown]
# > **Predict.** Step 2 is the state after the first search. We write into it that Intel is led by Marie Curie. She has
# > an article of her own, which says what she was. Will the agent notice that something is wrong?

# %%
forged = agent.fork(states[2], observation="Intel: Its CEO is Marie Curie (since March 2025).")
other = agent.run(forged)
print(other.answer)

# %%
for event in other.events:
    text = str(event).split("\nSee also:")[0]
    print("edited " if event.edited else "       ", text if len(text) < 100 else text[:98] + " …")

# %% [markdown]
# One false line, and every later thought was built on it. The search after it was real, its result was true, and the
# answer is nonsense with a source. An agent believes its observations; a wrong early step is paid for by all that
# follow.
#
# The old run is as it was: a fork is a new state, made from an old one that cannot change.

# %%
print(states[2].events[-1].text[:60], "…")
assert states == list(agent.steps(QUESTION))

# %% [markdown]
# ## 14 · What it costs
#
# Each request carries all that came before. The server counted the tokens of every request in this run.
#
# > **Predict.** If the observations are of about the same length, how does the size of the request grow from call to
# > call? And the sum of all that was sent?

# %%
from itertools import pairwise

LONG = "How old was the CEO of DeepMind when he won the Nobel Prize?"
run = list(agent.steps(LONG))
thinks = [(before, after) for before, after in pairwise(run) if after.usage.calls > before.usage.calls]
sizes = [after.usage.prompt_tokens - before.usage.prompt_tokens for before, after in thinks]
print(run[-1].answer)
print("tokens sent, call by call:", sizes, "· sum:", sum(sizes))

# %% [markdown]
# What is each request made of? We count characters here, since the server counts tokens only for a request as a
# whole.

# %%
def parts(state):
    opening, history = state.messages[:2], state.messages[2:]
    size = {"instructions and question": sum(len(message.content) for message in opening)}
    for label, role in [("written by the model", "assistant"), ("observations", "user")]:
        size[label] = sum(len(message.content) for message in history if message.role == role)
    return size


table = [parts(before) for before, _ in thinks]
for number, row in enumerate(table, 1):
    print(number, row)

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 3.2))
bottom = [0] * len(table)
for label, color in zip(table[0], ["#c3c9d4", "#d98c3f", "#2f5d8a"], strict=True):
    heights = [row[label] for row in table]
    axes.bar(range(1, len(table) + 1), heights, bottom=bottom, color=color, width=0.6)
    axes.text(len(table) + 0.4, bottom[-1] + heights[-1] / 2, label, va="center")
    bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
axes.set(title="Every call sends the whole history again", xlabel="model call", ylabel="characters sent")
axes.set(xticks=range(1, len(table) + 1), xlim=(0.5, len(table) + 2.2))
axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()

# %%
assert all(later > earlier for earlier, later in pairwise(sizes))
print(f"the last request is {sizes[-1] / sizes[0]:.1f} times the first")
print(f"all requests together are {sum(sizes) / sizes[-1]:.1f} times the last")

# %% [markdown]
# Four calls are too few to see where this leads. The stuck model from section 9 makes runs of any length:
#
# > **Predict.** Twice the steps: how many times the characters sent, in all?

# %%
for steps in [10, 20, 40, 80]:
    scripted = ScriptedLLM([STUCK] * steps)
    ReAct(scripted, tools=TOOLS.values(), max_iterations=steps).run(QUESTION)
    sent = sum(len(message["content"]) for request in scripted.requests for message in request["messages"])
    print(f"{steps:3} steps: {sent:9,} characters")

# %% [markdown]
# Each request is longer than the last by one turn, so the sum grows with the square of the number of steps: in the
# end, twice the steps send almost four times as much. This is one reason for a limit on iterations, and for another
# on the length of an observation. (`agentlib` shortens one of more than 4,000 characters in the message, and keeps
# all of it in the event.)
#
# *Measured on the offline model and a script. The shape comes from the protocol and is the same with every model; the
# numbers are not.*
#
# ## Recap
#
# - The model only writes. An **action** is text in a format that we agreed on with it; we parse it and run the tool.
# - The **stop word** keeps the model from writing the observation itself.
# - The **thought** is where it notes what it found and what is missing. Without it, our agent could not take a
#   second hop.
# - An **error** is an observation too. A **limit** ends the run with a status and a reason, never with a made-up
#   answer.
# - The **state** is all there is. Because it never changes, a run can be stepped, saved, edited and compared.
# - An agent **believes** its observations, and pays for the whole history at each call.
#
# Published figures, so that ours are not mistaken for them (Yao et al. 2022, table 1, PaLM-540B):
#
# | | reasoning only | acting only | ReAct |
# |---|---|---|---|
# | HotpotQA, exact match | 29.4 | 25.7 | 27.4 |
# | FEVER, accuracy | 56.3 | 58.9 | 60.9 |
#
# On HotpotQA, ReAct alone did not beat reasoning alone; the paper's best results come from combining them. It won
# where facts have to be looked up.
#
# ## Try it yourself
#
# 1. Run `react` and the library's agent with `max_iterations=2`. What does each of them give you?
# 2. Put `Tool(search.function, name="lookup", description=search.description)` (from `agentlib`) in the place of
#    `search`.
#    Does the agent still find it? And if the description is "Get the weather in a city."?
# 3. In the Stepper, fork at the second observation and let it say that nothing was found. How does the agent recover?
# 4. Ask questions of your own. What does the offline model say when it does not understand?
