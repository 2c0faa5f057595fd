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
# # 04 · Function calling: a field for actions
#
# **The question.** So far the model wrote its actions as text, and a parser had to find them. Most providers offer
# another way: a field of its own for calls. What goes over the wire then? What does it solve, and what does it not?
#
# **You will build** the five steps by hand with the API's own client, a schema by hand and then from a function's
# signature, and the loop. You will run two calls at once, read every finish reason, and set both protocols side by
# side on the same faults.
#
# **Time:** about an hour. **You need:** lessons 02 and 03a.

# %% [markdown]
# ```mermaid
# sequenceDiagram
#     participant You as your program
#     participant Model
#     You->>Model: 1. messages and tools
#     Model->>You: 2. tool_calls: name, arguments, id
#     Note over You: 3. run the function
#     You->>Model: 4. the history and a tool message with that id
#     Model->>You: 5. the answer, or more calls
# ```
#
# These five steps are in the API's documentation (OpenAI, [Function
# calling](https://platform.openai.com/docs/guides/function-calling)). Other providers and local servers have copied
# the format. We walk through them once, slowly.

# %%
from agentlib import LLM

llm = LLM()
client = llm.client  # the openai client itself
type(client).__name__, llm.model

# %% [markdown]
# ## 1 · Five steps on the wire
#
# **Step 1: say what can be called.** A tool is described by a name, a sentence, and a JSON Schema of its parameters.
# Here it is written by hand.

# %%
import json

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Get today's weather in a city: temperature in °C, sky, wind and humidity.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
messages = [{"role": "user", "content": "What is the weather in Oslo?"}]
print(len(json.dumps(WEATHER)), "characters, sent with every request")

# %% [markdown]
# **Step 2: the model asks for a call.** `with_raw_response` keeps the response as well, to see what really travelled.
#
# > **Predict.** The reply has a `message` with a `content`. What will stand in `content`?

# %%
raw = client.chat.completions.with_raw_response.create(model=llm.model, messages=messages, tools=[WEATHER])
for field, value in json.loads(raw.http_request.content).items():
    print(f"sent {field:9}", json.dumps(value)[:78])

# %%
choice = raw.parse().choices[0]
print("content:", choice.message.content)
print("finish_reason:", choice.finish_reason)

# %% [markdown]
# Nothing. The model did not answer, and wrote no sentence about what it wants to do. Its wish is in another field. (The
# `finish_reason` says why the reply ended; more of it in section 7.) Here is the reply as it came, not as a Python
# object shows it:

# %%
received = json.loads(raw.http_response.content)["choices"][0]["message"]
print(json.dumps(received, indent=1))

# %% [markdown]
# Look at `arguments`. It is not an object. It is a *text* that should hold one, because the model wrote it, character
# by character, like anything else. Nothing has run yet, either: a provider does not run your functions.
#
# **Step 3: run the function.** That is our work, as it was in lesson 02.

# %%
from agentlib.world import calculator, search, weather

call = choice.message.tool_calls[0]
arguments = json.loads(call.function.arguments)
result = weather(**arguments)
print(call.function.name, arguments, "→", result)

# %% [markdown]
# **Step 4: send the result back.** The model remembers nothing. The next request repeats all of the conversation: the
# question, the reply with its call, and a message in a new role, `tool`. It names the call that it answers. (In the
# reply we write an empty text for `null`: the API takes both, some servers only a text.)

# %%
asked = {"role": "assistant", "content": "", "tool_calls": received["tool_calls"]}
answered = {"role": "tool", "tool_call_id": call.id, "content": result}
history = [*messages, asked, answered]
for message in history:
    print(message["role"].ljust(10), message.get("content") or "(calls weather)")

# %% [markdown]
# **Step 5: the model answers**, or asks for more.

# %%
reply = client.chat.completions.create(model=llm.model, messages=history, tools=[WEATHER]).choices[0]
print(reply.message.content)
print("finish_reason:", reply.finish_reason)

# %% [markdown]
# That is the whole protocol. It is the loop of ReAct in another form: the action stands in `tool_calls`, the
# observation in a `tool` message. What is gone is the parser, the stop word, and the invented observation: the model
# has no place to write one.
#
# ## 2 · A history that the API refuses
#
# Ids are new. They have to match, and the server checks it.
#
# > **Predict.** We leave out the tool's message and ask the next question at once. What happens: a worse answer, a
# > second call, or an error?

# %%
import openai


def refusal(history):
    try:
        client.chat.completions.create(model=llm.model, messages=history, tools=[WEATHER])
    except openai.BadRequestError as error:
        return error.body["message"]


print(refusal([*messages, asked, {"role": "user", "content": "And in Lima?"}]))

# %% [markdown]
# An error, for every request from now on, since every request repeats the history. An agent that crashes between a call
# and its result leaves a conversation that can never go on. The reverse is refused as well, a result without its call:

# %%
print(refusal([*messages, answered]))

# %% [markdown]
# That one happens when a long history is cut by its length, with the cut between a call and its result.
#
# > **Check yourself.** Lesson 03b's `ContextBudget` cuts the oldest messages. What must it treat as one piece?
#
# <details><summary>Answer</summary>
#
# A reply together with all the results of its calls. It does: the source says "a reply and all that answers it".
# </details>
#
# ## 3 · A schema from a signature
#
# The schema by hand has a weakness: it is a second description of the same function. Change the function and forget the
# schema, and the model calls something that no longer exists. The signature already says nearly all of it.

# %%
from agentlib import Tool


def forecast(city: str, days: int = 1) -> str:
    """Forecast the weather of a city."""
    return f"{city}: sunny for {days} days."


print(json.dumps(Tool(forecast).parameters, indent=1))

# %% [markdown]
# The types, the default and what is required come from the signature. pydantic makes the schema, so all that pydantic
# knows can stand there: an optional value, one of a few words, a nested object. Descriptions come from the docstring,
# or from `Annotated`.

# %%
from typing import Annotated, Literal


def reading(
    city: Annotated[str, "The name of one city, such as Oslo."],
    unit: Literal["celsius", "fahrenheit"] = "celsius",
    hours: list[int] | None = None,
) -> str:
    """Read the thermometer of a city."""
    return f"{city}: 9 {unit}"


for name, schema in Tool(reading).parameters["properties"].items():
    print(f"{name:6}", schema)

# %% [markdown]
# Compare our schema by hand with the one that the library makes from `weather`:

# %%
by_hand, from_signature = WEATHER["function"]["parameters"], weather.to_wire()["function"]["parameters"]
for key in sorted(by_hand.keys() | from_signature.keys()):
    same = by_hand.get(key) == from_signature.get(key)
    print(f"{key:21}", "the same" if same else f"{by_hand.get(key)}  |  {from_signature.get(key)}")

# %% [markdown]
# The second one says two things more: how a city should be written, and that no other key is allowed.
#
# What cannot be described to a model is refused when the tool is made, not when it is called:

# %%
from agentlib import ToolDefinitionError


def sloppy(query, *more, **options):
    return query


try:
    Tool(sloppy)
except ToolDefinitionError as error:
    print(error)

# %% [markdown]
# ## 4 · Arguments are only text
#
# A schema in the request is a wish. Unless the provider enforces it, the model can write anything.
#
# > **Predict.** Five argument texts for `forecast`. Which run, which do not? What should the model be told?

# %%
from agentlib import Toolbox

box = Toolbox([forecast])
for text in ['{"city": "Oslo"}', '{"city": "Oslo", "days": "3"}', '{"city": "Oslo", "days": "soon"}',
             '{"town": "Oslo"}', '{"city": "Os']:
    outcome = box.run("forecast", text)
    print(f"{text:34} {outcome.kind:14} {'; '.join(outcome.repairs) or outcome.text[:66]}")

# %% [markdown]
# `"3"` can only mean 3, so it is repaired, and the repair is recorded. `"soon"` is no number, and nothing is guessed.
# The last one was cut off; a call that was cut off is not a call. Each refusal names the field and what is expected,
# because the model will read it:

# %%
print(box.run("forecast", '{"town": "Oslo", "days": "soon"}').text)
print(box.run("forcast", '{"city": "Oslo"}').text)

# %% [markdown]
# ## 5 · The loop
#
# Now the five steps as a loop. It is shorter than the one of lesson 02, because there is nothing to parse.

# %%
TOOLS = [search, weather, calculator]
INSTRUCTIONS = "Answer the question. Use the tools for what you do not know for certain."


def run_calls(message, box):
    for call in message.tool_calls:
        outcome = box.run(call.function.name, call.function.arguments)
        yield {"role": "tool", "tool_call_id": call.id, "content": outcome.text}


def run(question, box, most=10):
    history = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": question}]
    tools = [tool.to_wire() for tool in box.tools.values()]
    for _ in range(most):
        reply = client.chat.completions.create(model=llm.model, messages=history, tools=tools)
        message = reply.choices[0].message
        history.append({"role": "assistant", "content": message.content or ""})
        if not message.tool_calls:
            return history
        history[-1]["tool_calls"] = [call.model_dump() for call in message.tool_calls]
        history += run_calls(message, box)
    raise RuntimeError(f"no answer after {most} replies")


history = run("Which university did the CEO of Intel attend?", Toolbox(TOOLS))
print(history[-1]["content"])

# %%
def show(message):
    for call in message.get("tool_calls", []):
        print("  calls", call["function"]["name"], call["function"]["arguments"], "as", call["id"][-6:])
    if message["content"]:
        print(f"{message['role']:9}", message["content"][:88])


for message in history[1:]:
    show(message)

# %% [markdown]
# The same two searches as in lesson 02, and the same answer.
#
# > **Check yourself.** The loop ends when there are no calls. Why does it not look at `finish_reason`?
#
# <details><summary>Answer</summary>
#
# Because servers disagree about it. Some say `stop` although there are calls. Whether there are calls is a fact; the
# finish reason is a comment on it. There are cases in which the comment matters: section 7.
# </details>
#
# ## 6 · Two calls in one reply
#
# > **Predict.** The model is asked to compare two cities. It knows both names from the start. How many replies will it
# > need: one, two or three?

# %%
compared = run("Compare the weather in Beijing and Shanghai.", Toolbox(TOOLS))
for message in compared[1:]:
    show(message)

# %% [markdown]
# Two. `tool_calls` is a list, and the model asked for both cities in one reply. The results come back as two messages,
# each with its id. Our loop ran the calls one after the other. They do not depend on each other, so they may run at
# the same time, each in a thread of its own.

# %%
from concurrent.futures import ThreadPoolExecutor

LIMIT = 8  # calls at once


def run_calls(message, box):
    with ThreadPoolExecutor(LIMIT) as pool:
        outcomes = pool.map(lambda call: box.run(call.function.name, call.function.arguments), message.tool_calls)
        for call, outcome in zip(message.tool_calls, outcomes, strict=True):
            yield {"role": "tool", "tool_call_id": call.id, "content": outcome.text}


again = run("Compare the weather in Beijing and Shanghai.", Toolbox(TOOLS))
print("the same messages:", again == compared)

# %% [markdown]
# `pool.map` gives the results in the order of the calls, not in the order in which they finish. So the history is the
# same as before, and only the time is not. Here is that time, measured beforehand: tools that wait 100 ms each, as a
# tool waits for a server.

# %%
from agentlib.measured import measured

times = measured("parallel_calls")
print(times["machine"], "·", times["date"], "·", times["command"])
for n, serial, parallel in zip(times["calls"], times["one_by_one"], times["at_once"], strict=True):
    print(f"{n} calls: {serial:.2f} s one by one, {parallel:.2f} s at once")

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 3.2))
for name, color, marker in [("one_by_one", "#d98c3f", "o"), ("at_once", "#2f5d8a", "s")]:
    axes.plot(times["calls"], times[name], color=color, marker=marker)
    axes.text(8.15, times[name][-1], name.replace("_", " "), color=color, va="center")
axes.set(title="Calls that wait together cost one wait", xlabel="calls in one reply", ylabel="seconds", xlim=(0.7, 9.6))
axes.set(ylim=(0, 0.9))
axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()

# %%
saved = [round(serial / parallel, 1) for serial, parallel in zip(times["one_by_one"], times["at_once"], strict=True)]
print("times faster:", saved)
assert all(ratio > 0.9 * n for n, ratio in zip(times["calls"], saved, strict=True))

# %% [markdown]
# That holds for tools that *wait*. Tools that compute share the processor, and Python threads share one. And it holds
# for tools that only *read*. If one of the two calls pays an invoice, you may want to look first: lesson 05.
#
# ## 7 · Finish reasons
#
# `finish_reason` is the server's comment on why the reply ended. It is right most of the time. Here are the cases that
# people meet, each with a scripted reply, and what `agentlib`'s agent makes of it.
#
# > **Predict.** For each line: does the agent answer, run a tool, ask again, or stop?

# %%
from agentlib import Call, FunctionCalling, Reply, ScriptedLLM

OSLO = (Call("c1", "weather", '{"city": "Oslo"}'),)
CUT = (Call("c1", "weather", '{"city": "Os'),)
CASES = {
    "stop, with a call": Reply("", "stop", tool_calls=OSLO),
    "tool_calls, without one": Reply("I shall look.", "tool_calls"),
    "length, inside a call": Reply("", "length", tool_calls=CUT),
    "length, inside a text": Reply("In Oslo it is", "length"),
    "stop, and nothing": Reply("", "stop"),
    "content_filter": Reply("", "content_filter"),
}


def what_follows(reply):
    agent = FunctionCalling(ScriptedLLM([reply]), tools=TOOLS)
    state = agent.step(agent.start("What is the weather in Oslo?"))
    if state.pending:
        return "runs " + state.pending[0].name
    return {"running": "asks again", "done": "answers", "stopped": "stops"}[state.status]


for name, reply in CASES.items():
    print(f"{name:24} {what_follows(reply)}")

# %% [markdown]
# - **With calls and `stop`**, the calls are a fact, and the reason is only a comment: they run.
# - **Announced calls that are not there** are no answer: the model is asked again.
# - **`length` with a call runs nothing**, whole or not: nobody can tell whether a value was longer. If a text is cut,
#   the answer stands, with a note that it was cut.
# - **Nothing at all** is sent back with a hint, a few times, and then the run stops.
# - **A filter** is final. Asking again would be filtered again.
#
# Is the cut-off call only a story? Set the limit of tokens low and see (`raw` is the reply as it came):

# %%
short = FunctionCalling(LLM("offline", max_tokens=9), tools=TOOLS, max_format_errors=1)
state = short.run("What is 12 * 1234567?")
print(state.status, "·", state.reason)
written = json.loads(state.events[-1].raw)["tool_calls"][0]["function"]["arguments"]
print("the arguments:", written)
print("mended:       ", calculator(**json.loads(written + '"}')), "  right:", 12 * 1234567)

# %% [markdown]
# The arguments end in the middle of a number. A program that mends the quote and the bracket gets a result without any
# error, and a wrong one. So a call that was cut off is not run.
#
# ## 8 · The hardened version
#
# `FunctionCalling` is the loop of this lesson with what it lacked. Its heart, printed from the module itself:

# %%
import inspect

print(inspect.getsource(FunctionCalling.ask))
print(inspect.getsource(FunctionCalling.read))

# %% [markdown]
# The rest, `step`, `think` and `act`, it shares with ReAct: you read them in lesson 02. What our loop did not do:
#
# | what happens | our loop | `FunctionCalling` |
# |---|---|---|
# | arguments that are no JSON | are sent back as they are | are sent back inside JSON: some servers parse the history |
# | two calls with one id, or none | the next request is refused | each call gets an id of its own |
# | Ctrl-C between call and result | the next request is refused | every call is answered, as cancelled or not run |
# | a tool that hangs | the program hangs | `@tool(timeout=…)` gives it up |
# | a reply with nothing in it | it is taken for the answer | it is sent back, a few times |
#
# The third one is worth seeing. The second of three calls is interrupted:

# %%
def count(place: str) -> str:
    """Count the people in a place."""
    if place == "station":
        raise KeyboardInterrupt  # as if you had pressed Ctrl-C
    return f"3 people in the {place}"


places = [Call(f"c{n}", "count", json.dumps({"place": place})) for n, place in enumerate(["park", "station", "pool"])]
script = ScriptedLLM([Reply("", tool_calls=tuple(places))])
state = FunctionCalling(script, tools=[count], max_parallel=1).run("How many people are there?")
print(state)

# %% [markdown]
# The run is `interrupted`, and its history is whole: three calls, three results. It can be resumed, or saved for
# tomorrow.
#
# ## 9 · Checkpoint: the same trace
#
# On a run without accidents, your loop and the library's must exchange the same messages, to the letter.

# %%
agent = FunctionCalling(llm, tools=TOOLS, instructions=INSTRUCTIONS)
for question in ["Which university did the CEO of Intel attend?", "Compare the weather in Beijing and Shanghai."]:
    library = [message.to_wire() for message in agent.run(question).messages]
    assert run(question, Toolbox(TOOLS)) == library, question
    print(len(library), "messages, all the same:", question)

# %% [markdown]
# Now step through the comparison. In step 1 one reply asks for two calls, and in step 2 both run.
#
# > **Try it.** Edit the observation of Shanghai: let it be 5 °C there, and fork. Which city is warmer then? (Of several
# > results in one step, the last one can be edited; those before it stay.)

# %%
from agentlib import Stepper

Stepper(list(agent.steps("Compare the weather in Beijing and Shanghai.")), agent)

# %% [markdown]
# ## 10 · Text or calls, on the same faults
#
# Is the field for calls worth it? A model can malform its calls in both protocols. The offline model does so at a rate
# that we set, in the ways that belong to each protocol. One way that belongs to this one: the call stands in the text,
# and the field is empty (`wrapper_object`, since the text wraps it in tags). It happens with local servers that do not
# recognise what the model wrote.
#
# > **Predict.** Our loop ends when there are no calls. What will it take for the answer?

# %%
from agentlib import Answer, Status
from agentlib.offline import Faults, Settings, app


def faulty(seed, faults):
    return LLM("offline", seed=seed, offline=app(Settings(faults=faults)))


class OurLoop(FunctionCalling):
    def read(self, state, reply, **options):
        if reply.tool_calls:
            return super().read(state, reply, **options)
        answer = Answer(message=len(state.messages), text=reply.content, raw=reply.content)
        return state.add(reply.message, answer, status=Status.DONE, reason="final_answer")


IN_THE_TEXT = Faults(wrapper_object=0.5)
print(OurLoop(faulty(1, IN_THE_TEXT), tools=TOOLS).run("What is the weather in Oslo?").answer)

# %% [markdown]
# That is not an answer. `FunctionCalling` looks for it with the parser of lesson 03a, and sends it back:

# %%
print(FunctionCalling(faulty(1, IN_THE_TEXT), tools=TOOLS).run("What is the weather in Oslo?"))

# %% [markdown]
# Now all ways of malforming together, and three agents: ReAct with its ladder of lesson 03a, our loop inside the
# library's agent, and `FunctionCalling`.
#
# > **Predict.** At 30 % malformed replies, which of the three brings most runs to the right answer?

# %%
from agentlib import ReAct
from agentlib.evaluate import evaluate

TASKS = [
    ("Which university did the CEO of Intel attend?", "Nanyang"),
    ("How many degrees warmer is Cairo than Oslo?", "21"),
]
WAYS = {"text": ReAct, "our loop": OurLoop, "FunctionCalling": FunctionCalling}


def conditions(rate):
    faults = Faults.malformed(rate)
    return {name: lambda seed, way=way: way(faulty(seed, faults), tools=TOOLS) for name, way in WAYS.items()}


RATES = [0.0, 0.1, 0.2, 0.3]
tables = {rate: evaluate(TASKS, conditions(rate), seeds=range(40)) for rate in RATES}
for place, name in enumerate(WAYS):
    rows = [tables[rate].rows[place] for rate in RATES]
    print(f"{name:15}", *[f"{100 * row.rate:4.0f} % in {row.calls:.1f} calls" for row in rows])

# %%
COLORS = {"text": "#d98c3f", "our loop": "#9aa3b2", "FunctionCalling": "#2f5d8a"}
figure, axes = plt.subplots(figsize=(7, 3.4))
for place, (name, color) in enumerate(COLORS.items()):
    rows = [tables[rate].rows[place] for rate in RATES]
    at = [100 * rate + 0.5 * (place - 1) for rate in RATES]
    axes.vlines(at, [100 * row.low for row in rows], [100 * row.high for row in rows], color=color)
    axes.plot(at, [100 * row.rate for row in rows], color=color, marker="osD"[place])
    axes.text(31.5, 100 * rows[-1].rate, name, color=color, va="center")
axes.set(title="A reply without a call is taken for the answer", ylabel="runs with the right answer, %", ylim=(0, 106))
axes.set(xlabel="malformed replies, %", xticks=[0, 10, 20, 30], xlim=(-2, 42))
axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()

# %%
in_text, our_loop, library = tables[0.3].rows
assert our_loop.high < library.low and library.successes <= in_text.successes
wrong = [run for run in tables[0.3].runs if run.condition == "FunctionCalling" and not run.success]
print(len(wrong), "wrong answers. One of them:", wrong[0].answer)

# %% [markdown]
# The field for calls took the parser away, and something went with it. In the text protocol an answer is announced:
# `Final Answer:`. Here, whatever comes without a call *is* the answer, also "I will look that up". No program can tell
# that sentence from an answer by its form. On the other side, the calls need fewer replies as long as all goes well,
# because two can come at once.
#
# *Measured on the offline model with set rates of faults; lines through the points are 95 % intervals (Wilson). It
# shows how each protocol fails, not how often real models do: measure it with yours.*
#
# ## 11 · One aside: what a request costs your own computer
#
# This lesson called `client.chat.completions.create`, as the documentation does. `LLM.chat`, which the agents use,
# sends the same body by another door: `client.post`. The reason is in the numbers.

# %%
costs = measured("requests")
print(costs["machine"], "·", costs["date"], "·", costs["command"])
for n, create, chat in zip(costs["messages"], costs["create_ms"], costs["chat_ms"], strict=True):
    print(f"history of {n:3} messages: create {create:6.2f} ms, LLM.chat {chat:5.2f} ms")
each = costs["create_ms"][-1] / costs["messages"][-1]
print(f"create: {each:.2f} ms a message; 200 requests that grow by two: {each * sum(range(2, 402, 2)) / 1000:.0f} s")

# %% [markdown]
# `create` walks through the whole request to transform it, each time. For one question that is nothing. A run of 200
# steps pays it again and again for the same history, as the last line adds up. The bytes on the wire are the same:

# %%
sent = client.chat.completions.with_raw_response.create(model=llm.model, messages=messages, tools=[WEATHER])
print("the same body:", json.loads(sent.http_request.content) == llm.request(messages, tools=[WEATHER]))

# %% [markdown]
# ## Recap
#
# - Function calling is **five steps**: describe, ask, run, send back, answer. The provider runs nothing.
# - `arguments` is a **text**, written by the model. Check it against the schema, repair what has one reading, and
#   answer the rest with an error that names the field.
# - A **schema** comes from the signature, so that it cannot drift away from the function.
# - **Every call gets exactly one result**, also after an error, a timeout or Ctrl-C. Else the history is dead.
# - Calls of one reply can run **at once**. Their results keep the order of the calls.
# - A reply **with calls** is run, whatever its `finish_reason`, unless its end was lost (`length`). A reply without
#   calls is taken for the **answer**, so look whether it is one.
#
# ## Try it yourself
#
# 1. Set `LIMIT` to 1 and to 2, and give the model a tool that sleeps. Does the history change? Does the time?
# 2. Write a schema by hand in which `city` has an `enum` of three cities, and ask about a fourth. Which city does this
#    model pick? What would you put into the description, or into the enum, so that it can say "none of these"?
# 3. Make a tool with `@tool(final=True)` that hands in the answer. With a `ScriptedLLM`, let the model call it together
#    with the search that it needs. What comes back? Would such a tool close the gap of section 10?
# 4. Change one character of a `tool_call_id` in `history` and send it. Whose fault does the message say it is?
#
# Next: [05a · Designing tools](05a_designing_tools.ipynb) is about what a description must say, and what happens with
# sixty tools; [05b](05b_tools_that_write.ipynb) about who has to agree before one of them writes.
