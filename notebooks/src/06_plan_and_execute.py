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
# # 06 · Plan and execute
#
# **The question.** A ReAct agent decides one step at a time, and carries all that it has seen along. What changes
# when a plan is made first, and each part of it is done by somebody who sees only that part?
#
# **You will build** a plan that is carried out line by line, then a scheduler, which starts each task as soon as it
# can begin. You will compare it with the shortest time that is possible, catch a plan that goes round in a circle, let
# a task fail in the middle, and measure when a plan is not worth its price.
#
# **Time:** about an hour. **You need:** lessons 02, 03b and 04.
#
# ```mermaid
# flowchart LR
#     G([goal]) --> P[planner]
#     P -->|tasks that depend on each other| C{check}
#     C -->|cycle, unknown id, …| P
#     C -->|ready tasks| E[executor, one per task]
#     E -->|a result sets others free| E
#     E -->|a task failed| R[replanner]
#     R --> C
#     E -->|all done| S[synthesizer]
#     S --> A([answer])
# ```
#
# The *planner* splits the goal into tasks. An *executor* does one task. If one fails, the planner is asked again, as
# *replanner*, to change the rest of the plan. The *synthesizer* makes the answer from the results.
#
# Planning first is Plan-and-Solve (Wang et al. 2023, [arXiv:2305.04091](https://arxiv.org/abs/2305.04091)); results
# that later tasks refer to are ReWOO's (Xu et al. 2023, [arXiv:2305.18323](https://arxiv.org/abs/2305.18323)); tasks
# that run side by side as soon as they can, LLMCompiler's (Kim et al. 2023,
# [arXiv:2312.04511](https://arxiv.org/abs/2312.04511)).

# %%
from agentlib import LLM, ReAct
from agentlib.world import calculator, search, weather

llm = LLM()
TOOLS = [search, weather, calculator]
COMPANIES = ["Intel", "AMD", "NVIDIA", "Microsoft", "Siemens"]
GOAL = f"Which of {', '.join(f'the CEO of {name}' for name in COMPANIES[:-1])} and the CEO of Siemens was born first?"
print(GOAL)

# %% [markdown]
# ## 1 · Ten steps in a row
#
# Five companies, and for each a name and a year: ten look-ups. First with the agent of lesson 02.
#
# > **Predict.** How many model calls will it take? How much larger is the last request than the first one?

# %%
react = ReAct(llm, tools=TOOLS, max_iterations=30).run(GOAL)
print(react.answer)
print(react.usage.calls, "model calls ·", f"{react.usage.prompt_tokens:,}", "tokens sent")

# %% [markdown]
# Now look at what each call was sent. A request holds all the messages before the reply:

# %%
def sizes(state):
    """Give the characters that each model call was sent."""
    lengths = [len(message.content) for message in state.messages]
    return [sum(lengths[:at]) for at, message in enumerate(state.messages) if message.role == "assistant"]


print(sizes(react))

# %% [markdown]
# Each call repeats all that went before. The tenth look-up needs one name, and was sent the biographies of four other
# people. The sum of such a row grows with the square of its length.
#
# Now the weakness of lesson 03b: in one reply of ten, the model asks again what it asked before.

# %%
from agentlib.offline import Faults, Settings, app


def faulty(seed, **faults):
    return LLM("offline", seed=seed, offline=app(Settings(faults=Faults(**faults))))


def weakened(seed, rate=0.1):
    return ReAct(faulty(seed, repeated_action=rate), tools=TOOLS, max_iterations=30)


straight, detours = weakened(seed=4, rate=0).run(GOAL), weakened(seed=4).run(GOAL)
print(detours.usage.calls, "model calls ·", f"{detours.usage.prompt_tokens:,}", "tokens sent")

# %%
from agentlib.plots import context_sizes

figure = context_sizes({"straight": straight, "with detours": detours})
figure.axes[0].set(title="A detour stays in every later request", xticks=range(0, 21, 5))
figure

# %%
first, last = sizes(straight)[0], sizes(straight)[-1]
more_calls = detours.usage.calls / straight.usage.calls
more_tokens = detours.usage.prompt_tokens / straight.usage.prompt_tokens
print(f"the last request is {last / first:.1f} times the first")
print(f"with detours: {more_calls:.1f} times the calls, {more_tokens:.1f} times the tokens")
assert last > 3 * first and more_tokens > more_calls

# %% [markdown]
# A detour is paid for more than once: it stays in the conversation, and every later call is sent it again.
#
# *Measured on the offline model, with faults at a rate that we set. It shows the mechanism, not how often real models
# go astray.*

# %% [markdown]
# ## 2 · A plan, line by line
#
# Now the same model first writes down what is to be done. The planner is told what a plan looks like:

# %%
from agentlib import Message, Toolbox
from agentlib.plan_execute import prompts

INSTRUCTIONS = prompts.planner_prompt(Toolbox(TOOLS).describe(), judged=False)  # results are judged in section 8
print("…", INSTRUCTIONS[INSTRUCTIONS.index("Write a plan") :])

# %%
import json

reply = llm.chat([Message("system", INSTRUCTIONS), Message("user", prompts.GOAL.format(goal=GOAL))])
TASKS = json.loads(reply.content)["tasks"]
for task in TASKS:
    print(task["id"], "·", task["instruction"])

# %% [markdown]
# Six tasks: five that look something up, and one that makes something of their results. `${ceo-of-intel}` stands for a
# result that nobody knows yet. Filling it in is our work:

# %%
def told(task, known):
    """Give what the executor is told: its task, with the results that it names, and what all this is for."""
    text = task["instruction"]
    for name, result in known.items():
        text = text.replace("${" + name + "}", result)
    return f"{text}\n\n{prompts.PART.format(goal=GOAL)}"


print(told(TASKS[0], {}))

# %% [markdown]
# The executor is the agent of section 1, new for each task.
#
# > **Predict.** Each executor sees one task. Will there be more model calls than before, or fewer? And more tokens, or
# > fewer?

# %%
def line_by_line(executor):
    """Do the tasks in their order; give the run of each, by its id."""
    runs = {}
    for task in TASKS:
        known = {name: runs[name].answer for name in task["depends_on"]}
        runs[task["id"]] = executor.run(told(task, known))
    return runs


planned = line_by_line(ReAct(llm, tools=TOOLS))
for name, run in planned.items():
    print(f"{name}: {run.answer}")

# %%
def spent(runs):
    """Give the calls and the tokens sent by the planner and the executors together."""
    usages = [reply.usage, *(run.usage for run in runs.values())]
    return sum(usage.calls for usage in usages), sum(usage.prompt_tokens for usage in usages)


print(f"ReAct: {react.usage.calls} calls, {react.usage.prompt_tokens:,} tokens sent")
print("plan:  {} calls, {:,} tokens sent".format(*spent(planned)))

# %% [markdown]
# More calls: a plan has to be written, and each executor has to say that it is done. But each call is smaller. Now both
# with the weakness of section 1. Twenty seeds give twenty different runs:

# %%
alone = [weakened(seed).run(GOAL) for seed in range(20)]
parted = [line_by_line(weakened(seed)) for seed in range(20)]
means = sum(run.usage.prompt_tokens for run in alone) / 20, sum(spent(runs)[1] for runs in parted) / 20
print("mean of 20 runs: ReAct {:,.0f} tokens sent, plan {:,.0f}".format(*means))

# %% [markdown]
# The detours cost the plan less, because each stays within its task. Here is the run with seed 4 of both. The plan's
# first point is the planner.

# %%
import matplotlib.pyplot as plt

ROWS = {"ReAct": sizes(alone[4]), "plan": [len(INSTRUCTIONS + GOAL)]}
ROWS["plan"] += [size for run in parted[4].values() for size in sizes(run)]
figure, axes = plt.subplots(figsize=(7, 3.2), facecolor="white")
for (name, row), color, marker in zip(ROWS.items(), ["#d98c3f", "#2f5d8a"], "os", strict=True):
    axes.plot(range(1, len(row) + 1), row, color=color, marker=marker, markersize=4)
    axes.text(len(row) + 0.4, row[-1], name, color=color, va="center")
axes.set(title="With a plan, no request grows with the whole run", xlabel="model call", ylabel="characters sent")
axes.set(ylim=(0, None), xlim=(0, 24))
axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()

# %%
starts = [sizes(run)[0] for run in parted[4].values()]
print("the first request of each executor:", starts, "· calls:", [run.usage.calls for run in parted[4].values()])
largest = {name: max(row) for name, row in ROWS.items()}
print("the largest request:", largest)
assert largest["ReAct"] > 2 * largest["plan"] and means[1] < means[0] and max(starts) < 2 * min(starts)

# %% [markdown]
# Up to call 8 the two lines rise side by side: the first executor repeats itself just as ReAct does. At call 9 the next
# executor begins, and the detours are gone from its requests. ReAct carries them to the end.
#
# *Measured on the offline model: a mechanism, not a rate. With real models, the authors of ReWOO report five times the
# token efficiency, and 4 % more accuracy, on the questions of HotpotQA (Xu et al. 2023, abstract).*
#
# ## 3 · Who waits for whom
#
# Our list has an order, and most of that order means nothing: Siemens need not wait for Microsoft. Only the comparison
# waits for all. What a task really waits for makes a *graph*.
#
# Here is the same work in smaller pieces, one for each look-up. Nothing until section 6 needs a model.

# %%
GRAPH = {}
for company in COMPANIES:
    GRAPH[f"{company} CEO"] = []
    GRAPH[f"{company} year"] = [f"{company} CEO"]
GRAPH["first"] = [f"{company} year" for company in COMPANIES]
print(len(GRAPH), "tasks; the last one waits for", len(GRAPH["first"]))

# %% [markdown]
# Python's standard library has a class for such graphs, `graphlib.TopologicalSorter`
# ([documentation](https://docs.python.org/3/library/graphlib.html)). It answers one question, again and again: what can
# start now?
#
# > **Predict.** We finish the names of Intel's and AMD's CEOs, and nothing else. What is ready then?

# %%
from graphlib import TopologicalSorter

sorter = TopologicalSorter(GRAPH)
sorter.prepare()
print("at first:", sorter.get_ready())
sorter.done("Intel CEO", "AMD CEO")
print("then:    ", sorter.get_ready())

# %% [markdown]
# The two years, though three names are still missing. `get_ready` names each task once, and `done` sets others free.
#
# ## 4 · A scheduler
#
# The work itself comes first: plain functions, which read the encyclopedia without a model.

# %%
import re


def do(name, known):
    """Do one task. `known` holds the results that it waited for."""
    if name == "first":
        return min(known.values()) + " is the earliest year"
    company, what = name.split()
    if what == "CEO":
        return re.search(r"Its CEO is ([^(]+) \(", search(company))[1]
    return re.search(r"was born .*?(\d{4})", search(known[f"{company} CEO"]))[1]


name = do("Intel CEO", {})
print(name, "·", do("Intel year", {"Intel CEO": name}))

# %% [markdown]
# Who runs such functions side by side is called a *pool*: `submit` hands it work and gives a *future*, which will hold
# the result. Times on a real machine differ from run to run. So our pool has a clock of its own: we *declare* how many
# seconds each task takes. The work is done for real; only the waiting is not. (Python calls a pool an executor, too;
# here an executor does a task of a plan.)

# %%
from agentlib import SimulatedExecutor

ASKING = dict(zip(COMPANIES, [(2, 1), (1, 4), (4, 2), (1, 1), (2, 2)], strict=True))
SECONDS = {f"{company} CEO": seconds[0] for company, seconds in ASKING.items()}
SECONDS |= {f"{company} year": seconds[1] for company, seconds in ASKING.items()} | {"first": 1}
print("one after the other:", sum(SECONDS.values()), "seconds")

# %% [markdown]
# The first idea is to work in *waves*: take all that is ready, run it side by side, wait for all of it, look again.

# %%
from concurrent.futures import FIRST_COMPLETED, wait
from functools import partial
from typing import NamedTuple


class Done(NamedTuple):
    name: str
    result: str
    began: float
    ended: float


def start(name, graph, do, results, pool):
    """Give a task to the pool, with the results that it waited for."""
    work = partial(do, name, {each: results[each] for each in graph[name]})
    work.name = name  # by which the pool knows how long it takes
    return pool.submit(work)


print(start("Intel CEO", GRAPH, do, {}, SimulatedExecutor(SECONDS)).result())

# %%
def in_waves(graph, do, pool):
    sorter, results = TopologicalSorter(graph), {}
    sorter.prepare()
    while sorter.is_active():
        began, wave = pool.clock(), sorter.get_ready()
        futures = [start(name, graph, do, results, pool) for name in wave]
        results |= {name: future.result() for name, future in zip(wave, futures, strict=True)}
        sorter.done(*wave)
        yield from (Done(name, results[name], began, began + SECONDS[name]) for name in wave)


waves = list(in_waves(GRAPH, do, SimulatedExecutor(SECONDS)))
print(waves[-1].result, "· after", waves[-1].ended, "seconds")

# %% [markdown]
# > **Check yourself.** AMD's name is there after one second, and its year takes four. When does the look-up of the year
# > begin, and when could it?
#
# <details><summary>Answer</summary>
#
# It begins after four seconds, when the slowest name of the wave (NVIDIA's) is there. It could begin after one. In a
# wave, everybody waits for everybody.
# </details>
#
# The better version looks again each time that *one* task ends. This is the whole scheduler:

# %%
def run_graph(graph, do, pool, limit=8):
    """Run each task the moment that all it waits for is done, at most `limit` at once."""
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    ready, running, results = [], {}, {}
    while sorter.is_active():
        ready.extend(sorter.get_ready())
        while ready and len(running) < limit:
            name = ready.pop(0)
            running[start(name, graph, do, results, pool)] = name, pool.clock()
        pool.advance()  # lets the simulated time pass until a task ends
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            name, began = running.pop(future)
            results[name] = future.result()
            sorter.done(name)
            yield Done(name, results[name], began, pool.clock())


soon = list(run_graph(GRAPH, do, SimulatedExecutor(SECONDS)))
print(soon[-1].result, "· after", soon[-1].ended, "seconds")

# %% [markdown]
# Did each task run once, and after all that it waits for? Also with real threads?

# %%
import time
from concurrent.futures import ThreadPoolExecutor


class Threads(ThreadPoolExecutor):
    def clock(self):
        return time.monotonic()

    def advance(self):
        """Do nothing: real time passes by itself."""


with Threads(8) as pool:
    threaded = list(run_graph(GRAPH, do, pool))
for run in (soon, threaded):
    ended = {done.name: done.ended for done in run}
    assert len(run) == len(ended) == len(GRAPH)
    assert all(done.began >= ended[each] for done in run for each in GRAPH[done.name])
print("the same results:", {d.name: d.result for d in threaded} == {d.name: d.result for d in soon})

# %% [markdown]
# ## 5 · How fast can it be?
#
# Three schedules of the same work:

# %%
serial = list(run_graph(GRAPH, do, SimulatedExecutor(SECONDS), limit=1))
SCHEDULES = {"one after the other": serial, "in waves": waves, "as soon as possible": soon}
NAMES, COLORS = list(GRAPH)[::-1], {True: "#d98c3f", False: "#2f5d8a"}
figure, sides = plt.subplots(1, 3, figsize=(11, 3.4), sharex=True, sharey=True, facecolor="white")
for axes, (title, schedule) in zip(sides, SCHEDULES.items(), strict=True):
    for done in schedule:
        chain = done.name in ("NVIDIA CEO", "NVIDIA year", "first")
        axes.barh(NAMES.index(done.name), done.ended - done.began, left=done.began, color=COLORS[chain])
    axes.set(title=f"{title}: {schedule[-1].ended:.0f} s", xlabel="seconds", xticks=range(0, 22, 3))
    axes.spines[["top", "right"]].set_visible(False)
sides[0].set_yticks(range(len(NAMES)), NAMES)
figure.tight_layout()

# %% [markdown]
# The orange tasks are the *critical path*: the chain that takes longest. No schedule can be shorter, however many
# tasks run at once (Kelley and Walker 1959). It takes four lines to find its length:

# %%
def critical_path(graph, seconds):
    ends = {}
    for name in TopologicalSorter(graph).static_order():
        ends[name] = seconds[name] + max((ends[each] for each in graph[name]), default=0)
    return max(ends.values())


length = critical_path(GRAPH, SECONDS)
print(length, "seconds")
assert [schedule[-1].ended for schedule in SCHEDULES.values()] == [21, 9, length]

# %% [markdown]
# > **Predict.** The scheduler may run at most `limit` tasks at once. From which limit on does a higher one change
# > nothing?

# %%
LIMITS = range(1, 9)
takes = [list(run_graph(GRAPH, do, SimulatedExecutor(SECONDS), limit))[-1].ended for limit in LIMITS]
bound = [max(length, sum(SECONDS.values()) / limit) for limit in LIMITS]
print(*(f"{limit}: {seconds:.0f} s" for limit, seconds in zip(LIMITS, takes, strict=True)), sep="  ")
enough = LIMITS[takes.index(length)]
print("enough:", enough, "at once")
assert all(seconds >= least for seconds, least in zip(takes, bound, strict=True)) and enough <= len(COMPANIES)

# %%
figure, axes = plt.subplots(figsize=(7, 3.2), facecolor="white")
axes.plot(LIMITS, takes, color="#2f5d8a", marker="o")
axes.plot(LIMITS, bound, color="#9aa3b2", linestyle="--")
axes.text(1.25, takes[0] - 0.5, "our scheduler", color="#2f5d8a", va="center")
axes.text(8, length - 2.2, "least possible: max(work / limit, critical path)", color="#6b7484", va="center", ha="right")
axes.set(title="A higher limit helps until the critical path is reached", xlabel="limit: tasks at once, at most")
axes.set(ylabel="seconds", ylim=(0, 23))
axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()

# %% [markdown]
# No scheduler can be below the dashed line: all the work divided by the limit, or the critical path, whichever takes
# longer. From where it is flat, only a shorter path helps, which is a matter of the *plan*.
#
# *The durations are declared. With real models and tools, the authors of LLMCompiler report answers up to 3.7 times as
# fast as with ReAct (Kim et al. 2023, abstract).*
#
# ## 6 · A plan that goes round in a circle
#
# The order came from a model, so it can be nonsense. Here AMD's name waits for a comparison that waits for it:

# %%
CIRCLE = {**GRAPH, "AMD CEO": ["first"]}
free = [name for name, before in CIRCLE.items() if not before]
print("can start:", free)

# %% [markdown]
# > **Predict.** Four of five names can start, and then four of five years. What happens to a scheduler that starts all
# > that is ready, until everything is done?

# %%
results = {}
for _ in range(20):
    ready = [n for n, before in CIRCLE.items() if n not in results and all(each in results for each in before)]
    results |= {name: do(name, results) for name in ready}
print(len(results), "of", len(CIRCLE), "tasks are done; ready in round 20:", ready)

# %% [markdown]
# Eight tasks are done and paid for, and then none is ever ready again. `graphlib` looks before anything runs:

# %%
from graphlib import CycleError

try:
    TopologicalSorter(CIRCLE).prepare()
except CycleError as error:
    print(error.args[1])

# %% [markdown]
# The error carries the cycle. Who can mend it? Not the scheduler: it cannot know which arrow is wrong. The planner can,
# if it is told. Here is a planner that always begins with such a plan, in the library's agent, `PlanExecute`:

# %%
from agentlib import PlanExecute

executor = ReAct(llm, tools=TOOLS)
agent = PlanExecute(faulty(seed=1, cyclic_plan=1.0), executor, pool=SimulatedExecutor())
mended = agent.run(GOAL)
print(mended.messages[3].content.partition(". Give")[0], "\n")
print(mended.status, "·", mended.answer)
stubborn = PlanExecute(faulty(seed=1, cyclic_plan=1.0, recovery=0.0), executor).run(GOAL)
print(stubborn.status, "·", stubborn.reason, "after", stubborn.usage.calls, "model calls")

# %% [markdown]
# The error, and the format once more, went back as a message, and the second plan was sound. A planner that never
# listens is stopped after three useless plans. Other faults of a plan are found at the same place, before anything
# runs:

# %%
from agentlib import PlanError, Task
from agentlib.plan_execute import checked

TWICE = [Task("a", "look"), Task("a", "look again")]
for tasks in [[], [Task("a", "look", ["b"])], [Task("a", "look at ${a}")], [Task("a", "")], TWICE]:
    try:
        checked(tasks)
    except PlanError as error:
        print(error)

# %% [markdown]
# ## 7 · Checkpoint: the same run
#
# The library's agent and ours get the same plan, the same executor and the same declared times. They must finish the
# same tasks in the same order, at the same moments, with the same results.

# %%
from agentlib import TaskResult

TIMES = {"ceo-of-intel": 3, "ceo-of-amd": 5, "ceo-of-nvidia": 6, "ceo-of-microsoft": 2, "ceo-of-siemens": 4}
INSTRUCTION = {task["id"]: task for task in TASKS}
BEFORE = {task["id"]: task["depends_on"] for task in TASKS}


def ask(name, known):
    return executor.run(told(INSTRUCTION[name], known)).answer


for limit in (1, 2, 3, 8):
    agent = PlanExecute(llm, executor, pool=SimulatedExecutor(TIMES), max_parallel=limit)
    state = agent.run(GOAL)
    theirs = [(event.task, event.text, state.run_of(event.task).started, state.run_of(event.task).finished)
              for event in state.events if isinstance(event, TaskResult)]
    assert theirs == list(run_graph(BEFORE, ask, SimulatedExecutor(TIMES), limit))
    print("at most", limit, "at once:", theirs[-1][3], "seconds, the same in both")

# %%
from agentlib.plots import gantt

print(state.answer)
for each in state.spent:
    print(f"{each.role:12} {each.usage.calls:2} calls, {each.usage.prompt_tokens:5,} tokens sent")
gantt(state)

# %% [markdown]
# Planner and executor need not be the same model, so the costs are kept apart. Only the *synthesizer* is new: our
# version took the last task's result as it was.
#
# > **Try it.** Step through the run. Which tasks run at the same time? Open a task: it has a trajectory of its own,
# > like those of lesson 02.

# %%
from agentlib import PlanView

PlanView(list(agent.steps(GOAL)), agent)

# %% [markdown]
# ## 8 · A failure in the middle
#
# Another goal, and tools that are made for it. There are trains and coaches, and one line is closed today.

# %%
from agentlib import tool


@tool
def find_train(origin: str, destination: str) -> str:
    """Find a train connection from one city to another, with its price."""
    if (origin, destination) == ("Copenhagen", "Hamburg"):
        raise ConnectionError("the line from Copenhagen to Hamburg is closed")
    return f"Train from {origin} to {destination}: 4 h 10 min, EUR 59."


@tool
def find_coach(origin: str, destination: str) -> str:
    """Find a coach connection from one city to another, with its price."""
    return f"Coach from {origin} to {destination}: 5 h 40 min, EUR 29."


TRIP = "Find a way from Oslo to Copenhagen, on to Hamburg and on to Amsterdam. What does the trip cost in total?"
guide = ReAct(llm, tools=[find_train, find_coach, calculator])
print(find_train("Oslo", "Copenhagen"))

# %% [markdown]
# > **Predict.** Three legs are planned with trains, and the one in the middle cannot be had. Which status will its task
# > have at the end? What will the answer say?

# %%
naive = PlanExecute(llm, guide, pool=SimulatedExecutor()).run(TRIP)
for task, run in naive.tasks:
    print(f"{task.id:18} {run.status:6} {run.result[:84]}")
print("\nanswer:", naive.answer)

# %% [markdown]
# *Done.* The executor gave an answer, as it was asked to, and the answer says that it could not do the task. The sum
# adds up two legs of three. That one is missing is said only in words of the model; no status shows it.
#
# So a result has to be looked at. An *evaluator* is a function that says what is wrong with a result, or nothing:

# %%
def names_a_price(task, result):
    return None if "EUR" in result else "it names no price"


judged = PlanExecute(llm, guide, evaluator=names_a_price, max_replans=0, pool=SimulatedExecutor()).run(TRIP)
print(judged.status, "·", judged.reason)
print(judged.achieved)
print(judged.best_so_far)

# %% [markdown]
# Now the failure is one. The two other legs were done all the same: only what depends on a failed task waits for it.
# Without replanning (`max_replans=0`) the run ends here. It keeps what it has.
#
# With replanning, the planner gets one message more. It lists what is done, what failed and why, and what was not
# begun.
#
# > **Predict.** How many of the four tasks will run once more?

# %%
agent = PlanExecute(llm, guide, evaluator=names_a_price, pool=SimulatedExecutor())
trip = list(agent.steps(TRIP))
print(next((message.content for message in trip[-1].messages if "Revise" in message.content), "no revision"))

# %%
print(*(event for event in trip[-1].events[4:] if isinstance(event, TaskResult)), sep="\n")
print("\nanswer:", trip[-1].answer)

# %% [markdown]
# One was done again, in another way, as the message's last sentence asks. Then came the one that had waited for it.
# The two finished legs were kept. The plan is revised at most `max_replans` times, two by default.
#
# > **Try it.** Step to the leg that failed and open it: what did the executor see? Then edit the result of another leg,
# > say to EUR 80, and run on from there. Which tasks are done again?

# %%
from agentlib import Stepper

Stepper(trip, agent)

# %% [markdown]
# ## 9 · A weak executor under a strong planner
#
# The planner must see the whole, an executor sees one task. Do both need the same model? Our weak model repeats itself
# as in section 1, and it has room for 800 tokens in all, request and reply together. The strong one has ten times the
# room.

# %%
def weak(seed):
    return LLM("offline", seed=seed, offline=app(Settings(context_window=800, faults=Faults(repeated_action=0.1))))


def strong(seed):
    return LLM("offline", seed=seed)


lost = ReAct(weak(seed=0), tools=TOOLS, max_iterations=30).run(GOAL)
print(lost.status, "·", lost.reason, "after", lost.usage.calls, "model calls")

# %% [markdown]
# > **Predict.** The same goal, done in four ways: by the weak model alone, by the strong one alone, with a strong
# > planner and weak executors, and the other way round. Which of them succeed?

# %%
from agentlib.evaluate import evaluate


def team(planner, executor):
    return lambda seed: PlanExecute(planner(seed), ReAct(executor(seed), tools=TOOLS), pool=SimulatedExecutor())


def intel_is_first(state):
    return (state.answer or "").startswith(("Lip-Bu Tan", "CEO of Intel (1959)"))


TEAMS = {
    "weak, alone": lambda seed: ReAct(weak(seed), tools=TOOLS, max_iterations=30),
    "strong, alone": lambda seed: ReAct(strong(seed), tools=TOOLS, max_iterations=30),
    "strong plans, weak works": team(strong, weak),
    "weak plans, strong works": team(weak, strong),
}
teams = evaluate([(GOAL, intel_is_first)], TEAMS, seeds=range(20))
teams

# %% [markdown]
# Alone, the weak model stops after four or five calls: the next request does not fit. (The four `format_error`s are
# replies that were cut off, because the request had left hardly any room for them.) One task fits. The other way round,
# 17 calls go well, planning and tasks, and the one that is left fails: the synthesizer is sent all results.
#
# And the price? Say that a token of the strong model costs ten times one of the weak model:

# %%
mixed = team(strong, weak)(seed=0).run(GOAL)
tokens = {each.role: each.usage.prompt_tokens + each.usage.completion_tokens for each in mixed.spent}
alone = straight.usage.prompt_tokens + straight.usage.completion_tokens
price = tokens["executor"] + 10 * (tokens["planner"] + tokens["synthesizer"])
print(tokens)
print(f"together {price:,}; the strong model alone {10 * alone:,}: {100 * price / alone / 10:.0f} %")

weak_alone, strong_alone, both, reverse = teams.rows
assert weak_alone.high < both.low and reverse.high < strong_alone.low and price < 4 * alone

# %% [markdown]
# *Measured on the offline model, with a window and a fault that we chose. It shows why little room is enough for a
# task, not how well a real small model does it. In HuggingGPT (Shen et al. 2023,
# [arXiv:2303.17580](https://arxiv.org/abs/2303.17580)) a language model plans, and models for images or speech carry
# out.*
#
# ## 10 · When a plan is a waste
#
# A plan costs a call before anything is done, and one after all is done. We ask the same question about one to seven
# companies, so 2 to 14 look-ups, of three agents: ReAct, a plan with ReAct executors, and lesson 04's
# `FunctionCalling`.
#
# > **Predict.** From how many look-ups on does the plan take fewer tokens than ReAct? And where is `FunctionCalling`?

# %%
from agentlib import FunctionCalling

MORE = [*COMPANIES, "Airbus", "Google"]


def question(n):
    if n == 1:
        return "In which year was the CEO of Intel born?"
    names = [f"the CEO of {name}" for name in MORE[:n]]
    return f"Which of {', '.join(names[:-1])} and {names[-1]} was born first?"


print(question(1), question(2), sep="\n")

# %%
AGENTS = {
    "ReAct": lambda seed: ReAct(strong(seed), tools=TOOLS, max_iterations=30),
    "plan": team(strong, strong),
    "calls": lambda seed: FunctionCalling(strong(seed), tools=TOOLS),
}
table = evaluate([(question(n), "1959") for n in range(1, 8)], AGENTS, seeds=[0])
used = {name: [run for run in table.runs if run.condition == name] for name in AGENTS}
for name, runs in used.items():
    print(f"{name:6} model calls", *(f"{run.usage.calls:4}" for run in runs), end="   ")
    print("tokens", *(f"{run.tokens:6,}" for run in runs))

# %%
LOOKUPS = range(2, 15, 2)
figure, axes = plt.subplots(figsize=(7, 3.4), facecolor="white")
for name, color, marker in [("ReAct", "#d98c3f", "o"), ("plan", "#2f5d8a", "s"), ("calls", "#6b7484", "^")]:
    row = [run.tokens for run in used[name]]
    axes.plot(LOOKUPS, row, color=color, marker=marker)
    axes.text(14.4, row[-1], {"calls": "FunctionCalling"}.get(name, name), color=color, va="center")
axes.set(title="A plan pays late, and not where one reply can ask for all", xlabel="look-ups", ylabel="tokens")
axes.set(xlim=(1.5, 18), ylim=(0, None), xticks=list(LOOKUPS))
axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()

# %%
assert all(run.success for run in table.runs)
pairs = zip(LOOKUPS, used["ReAct"], used["plan"], strict=True)
cheaper = [n for n, alone, parts in pairs if parts.tokens < alone.tokens]
assert cheaper == [10, 12, 14] and used["calls"][4].tokens == 2756
assert all(used["calls"][n].tokens < used[name][n].tokens for name in ("ReAct", "plan") for n in range(1, 7))
ten_times = 10 * used["calls"][4].tokens
short = used["plan"][0].tokens / used["ReAct"][0].tokens
print(f"the plan is cheaper than ReAct from {cheaper[0]} look-ups on; for 2 it costs {short:.1f} times as much")
print(f"FunctionCalling with a strong model, 10 look-ups: {ten_times:,}; the team of section 9: {price:,}")

# %% [markdown]
# For a short task a plan is a waste. And from four look-ups on, lesson 04's agent needs the fewest tokens of all: the
# look-ups are alike, so it asks for all names in one reply, and for all years in the next. A plan is for what one
# reply cannot ask for: parts that are long themselves, that fail and are done again, that another model does, or that
# a person wants to see before they begin. Even the price of section 9 hardly speaks for the plan here: at ten
# times the price for each token, `FunctionCalling` alone costs only a little more than that team.
#
# *Measured on the offline model, without faults: it shows how the costs grow, not where the lines cross for yours.*
#
# ## 11 · The hardened version
#
# Here is the library's scheduler where it starts what is ready, and where it lets others go:

# %%
import inspect

from agentlib.plan_execute.scheduling import Crew

print(inspect.getsource(Crew.fill))
print(inspect.getsource(Crew.release))

# %% [markdown]
# What is new: each change gives a new state. And what ends or misleads our version:
#
# | what happens | our version | `PlanExecute` |
# |---|---|---|
# | a plan with a cycle | `CycleError` | goes back to the planner, a few times (section 6) |
# | a task fails | its exception ends the run | the tasks that need not wait for it go on (section 8) |
# | a result holds `${id}` | `told` may fill it in, too | what was filled in is not read again |
# | the process ends | all is lost | a saved state goes on; nothing finished is repeated |
#
# The second row for our version, and the third for both:

# %%
from agentlib.plan_execute import substitute


def offline(name, known):
    raise ConnectionError(f"{name}: no connection")


try:
    list(run_graph(GRAPH, offline, SimulatedExecutor(SECONDS)))
except ConnectionError as error:
    print("the run ended:", error)
TEXT, FOUND = "Compare ${a} with ${b}.", {"a": "a page that says ${b}", "b": "42"}
print("told:      ", told({"instruction": TEXT}, FOUND).splitlines()[0])
print("substitute:", substitute(TEXT, FOUND))

# %% [markdown]
# `told` treated a page that somebody else wrote like a part of the plan. The last row: the run is saved when three
# tasks are done, and goes on from the file.

# %%
import tempfile
from pathlib import Path

from agentlib import State

agent = PlanExecute(llm, executor, pool=SimulatedExecutor(TIMES))
half = next(state for state in agent.steps(GOAL) if len(state.results) == 3)
with tempfile.TemporaryDirectory() as folder:
    half.save(Path(folder) / "half.json")
    loaded = State.load(Path(folder) / "half.json")
whole = agent.run(loaded)
print("done before:", *half.results)
print("done after: ", *(event.task for event in whole.events[len(half.events) :] if isinstance(event, TaskResult)))

# %% [markdown]
# ## Recap
#
# - ReAct sends **everything again** with each step. With a plan, each task has **a conversation of its own**.
# - A plan is **tasks and what they wait for**. Check it before it runs: `graphlib` finds cycles, and the error goes
#   back to the planner.
# - Start a task **the moment** that its dependencies are done, not in waves. No schedule beats the **critical path**.
# - "I could not do this" is an answer, too. Without an **evaluator**, a task that failed can count as done.
# - **Replanning** keeps what is done, and is bounded. A run that cannot go on says what it achieved.
# - A **strong** planner and **weak** executors can be cheaper than one strong model.
# - **Short or uniform tasks need no plan.** Measure before you plan.
#
# ## Try it yourself
#
# 1. Give `find_coach` a closed line, too. What does the second revision leave out, and does the answer say so?
# 2. Change `TIMES` so that another task is on the critical path. Does the order of the results change?
# 3. Write a `told` that reads each text once. Compare it with `substitute` on the text of section 11.
# 4. Use `FunctionCalling` for the executors of section 10. Which line moves, and in which direction?
# 5. Fork the finished run: `agent.fork(whole, task="ceo-of-intel", result="…")`. Which tasks are done again?
#
# Next: [08 · Code execution](08_code_execution.ipynb) gives the model one tool for everything, and a sandbox around it.
