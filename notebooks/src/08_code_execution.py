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
# # 08 · Code execution: one tool for everything
#
# **The question.** A model that can run code can compute, read data and draw. The same tool can read your keys and
# delete your files. How do you keep the first and prevent the second?
#
# **You will build** a tool that runs Python, let an agent analyse real data with it, write a filter for dangerous code
# and break it twice. Then you take the sandbox of `agentlib` apart, layer by layer, and attack each layer.
#
# **Time:** about an hour. **You need:** lessons 04 and 05a.

# %% [markdown]
# ```mermaid
# flowchart LR
#     M([model]) -->|code| S
#     subgraph S [sandbox: a process with nothing around it]
#         direction TB
#         P[Python] --- F[its own files]
#     end
#     S -->|what it printed, its files| M
#     P -. key .-x H[your machine]
#     P -. files .-x H
#     P -. network .-x H
# ```
#
# The sandbox needs something of the operating system. The first cell asks what there is here. If there is nothing, it
# says what to install and stops: then read on with the outputs as they are.

# %%
from agentlib.sandbox import Policy, SandboxUnavailable, all_backends, run
from agentlib.sandbox.backends import choose

try:
    here = choose(Policy(), all_backends()).name
except SandboxUnavailable as error:
    raise SystemExit(str(error)) from None  # ends "Run All" here
linux = here in ("bubblewrap", "landlock")
print("ready" if linux else f"ready with {here}; the outputs below were made on Linux, and some will differ here")

# %% [markdown]
# ## 1 · Sums in the head
#
# > **Predict.** No tools. The model is asked for five products. Where will it go wrong?

# %%
from agentlib import LLM, Message

llm = LLM()
PRODUCTS = ["7 * 8", "48 * 91", "482 * 912", "48217 * 91283", "123456789 * 987654321"]
for product in PRODUCTS:
    said = llm.chat([Message("user", f"What is {product}?")]).content
    print(f"{product:22} {said:20} {'right' if said == f'{eval(product)}.' else f'wrong: {eval(product)}'}")

# %% [markdown]
# The first two wrong answers differ from the right ones in one digit. Nothing in them looks wrong. This is the offline
# model, and its errors are made by a rule, which you can read:

# %%
import inspect

from agentlib.offline import arithmetic

print(inspect.getsource(arithmetic.in_head))

# %% [markdown]
# Real models err for another reason. They write a number from left to right, while carries come from the right. In
# 2023, ChatGPT and GPT-4 had 55 % and 59 % of products of two three-digit numbers right (Dziri et al., [Faith and
# Fate](https://arxiv.org/abs/2305.18654)). The authors' explanation: models match pieces of computations that they have
# seen, and do not carry out the steps.
#
# Models are good at *writing down* what has to be computed. So let them write a program, and let Python run it. Two
# papers proposed it in one week of November 2022. With PAL, a code model beat a much larger one that reasoned in words
# by 15 points on school mathematics ([Gao et al.](https://arxiv.org/abs/2211.10435)). Program of Thoughts gained about
# 12 % on average over eight data sets ([Chen et al.](https://arxiv.org/abs/2211.12588)). CodeAct made code the language
# of *all* actions, with up to 20 % more successes ([Wang et al. 2024](https://arxiv.org/abs/2402.01030)).
#
# ## 2 · The interpreter as a tool
#
# `run` executes code in a sandbox. For now, take it as given; from section 5 on you open it. As a tool it is three
# lines.
#
# > **Predict.** The agent has the tool now. Will its answer be right?

# %%
from agentlib import FunctionCalling


def python(code: str) -> str:
    """Do arithmetic by running Python code."""
    return run(code).stdout


print(FunctionCalling(llm, [python]).run("What is 48217 * 91283?"))

# %% [markdown]
# It called the tool, and its answer is as wrong as before. The code is an expression, as one would type it in a
# notebook; a program prints only what it is told to print. The observation was empty, and the model filled the gap
# from its head. With a tool call in the trace, the answer even looks checked.
#
# The description has to say how the tool wants its code, and an empty result has to say that it is empty. The
# library's tool does both. (Some modules of the sandbox can be imported on Linux only, so we read their source from the
# files.)

# %%
import ast
from pathlib import Path
from textwrap import fill

import agentlib.sandbox
from agentlib.sandbox.tool import PythonSession, python_tool

LIBRARY = Path(agentlib.sandbox.__file__).parent


def source(file, name):
    text = (LIBRARY / file).read_text(encoding="utf-8")
    (found,) = [node for node in ast.parse(text).body if getattr(node, "name", "") == name]
    return ast.get_source_segment(text, found) + "\n"


print(fill(python_tool().description, 100), "\n")
print(source("tool.py", "success"))

# %% [markdown]
# Errors are the model's to read, so a failure keeps the traceback, and of it only the lines of the code itself:

# %%
from agentlib import Toolbox

box = Toolbox([python_tool()])
print(box.run("python", '{"code": "price = 30\\nprint(price / 0)\\n"}').text)

# %% [markdown]
# > **Predict.** The same question, the same model, this tool. What changes?

# %%
print(FunctionCalling(llm, [python_tool()]).run("What is 48217 * 91283?"))

# %% [markdown]
# One word: `print`. The model read the description.
#
# *The offline model writes such programs from a few templates; that it prints where the description speaks of printing
# is one of its rules. How often your model needs to be told, your model will show.*
#
# ## 3 · Real data
#
# matplotlib comes with some sample data. One file holds the daily prices of a share, and how many were traded.

# %%
import matplotlib

data = Path(matplotlib.get_data_path(), "sample_data", "msft.csv").read_bytes()
lines = data.decode().splitlines()
print(*lines[:3], "...", lines[-1], sep="\n")
print(len(lines) - 1, "days")

# %% [markdown]
# A `PythonSession` is the tool with files: it puts some into the working directory, and keeps what the code writes for
# the next call. Variables are not kept.
#
# > **Predict.** The question says `volume`, and the column is called `Volume`. What will the tool answer to the first
# > program? What comes next?

# %%
import csv
import json

from agentlib import ToolCall

session = PythonSession(Policy(seconds=60), keep_files=True, files={"msft.csv": data})
agent = FunctionCalling(llm, [session.tool()])
state = agent.run("What is the sum of the volume column in msft.csv?")
for event in state.events:
    text = json.loads(event.arguments)["code"] if isinstance(event, ToolCall) else event.text
    print(f"{type(event).__name__:12}", text.splitlines()[-1])  # the last line of each

rows = list(csv.DictReader(lines))
print("without the agent:", total := sum(int(row["Volume"]) for row in rows))
assert str(total) in state.answer

# %% [markdown]
# A traceback is an observation like any other. This one ended in the name that is not there. The second program looks
# at the header, and the third is right: the sum without the agent is the same.
#
# Now a picture.

# %%
from IPython.display import Image

drawn = agent.run("Plot the Close column of msft.csv.")
print(json.loads(drawn.events[0].arguments)["code"], "\n")
print(*drawn.events[1:], sep="\n")


def picture(name):
    found = session.files.get(name)
    return Image(found) if found else print(f"no {name}: this backend has no matplotlib")


picture("close.png")

# %% [markdown]
# > **Check yourself.** The program ended without an error, and the agent says that it is done. What is wrong with the
# > picture? Look at the data above once more.
#
# <details><summary>Answer</summary>
#
# The file begins with the last day. Time runs from right to left: the share seems to fall, and it rose.
# </details>

# %%
states = list(agent.steps(agent.say(drawn, "Plot the Close column of msft.csv, oldest first.")))
print(states[-1].answer)
assert float(rows[0]["Close"]) > float(rows[-1]["Close"])  # the first row is the newest: it rose
picture("close.png")

# %% [markdown]
# Code that ran is not code that is right. No sandbox helps here; tests do (lesson 07), and somebody who looks.
#
# > **Try it.** Step through the second turn. Which line of the program is new?

# %%
from agentlib import Stepper

Stepper(states, agent)

# %% [markdown]
# ## 4 · Why not `exec`?
#
# Python can run a text by itself. Many home-made agents do, since it is one line. For this section we plant a key where
# programs keep their keys.

# %%
import os

os.environ["WEATHER_KEY"] = "not-a-real-key-7f3a"
ATTACK = 'import os\nprint(os.environ["WEATHER_KEY"])'
exec(ATTACK, {})

# %% [markdown]
# The code runs in our process, with our rights, and the key is in its hands. The model need not be evil: a web page
# that it has read may have told it to (*prompt injection*).
#
# The obvious answer is to read the code before it runs. No imports, no dangerous names:

# %%
FORBIDDEN = {"open", "exec", "eval", "compile", "getattr", "globals", "vars", "input", "__import__", "__builtins__"}


def check(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            return "no imports"
        if isinstance(node, ast.Name) and node.id in FORBIDDEN:
            return f"no {node.id}"
    return ""


def filtered(code):
    if reason := check(code):
        return print("refused:", reason)
    exec(code, {})


filtered(ATTACK)
filtered("print(sum(range(10)))")

# %% [markdown]
# It stops the attack and lets the sum through.
#
# > **Predict.** Every value in Python knows its class, every class its parent, and a parent its children. Can a program
# > without imports and names get from an empty tuple `()` to the key?

# %%
WALK = """
for each in ().__class__.__base__.__subclasses__():
    if each.__name__ == "_wrap_close":
        print(each.__init__.__globals__["environ"]["WEATHER_KEY"])
"""
filtered(WALK)

# %% [markdown]
# From the tuple to `object`, from there to all classes that are loaded, among them one that the module `os` defines.
# The globals of its functions are that module. The program never says `os`.
#
# So forbid attributes that begin with an underscore:

# %%
def check_more(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return f"no attribute {node.attr}"
    return first_check(code)


first_check, check = check, check_more
filtered(WALK)

# %% [markdown]
# > **Predict.** Is that the end of it? A generator has a frame, and a frame knows who called it.

# %%
FRAMES = """
def walk():
    yield walker.gi_frame.f_back.f_back

walker = walk()
for frame in walker:
    print(frame.f_globals["os"].environ["WEATHER_KEY"])
    break
"""
filtered(FRAMES)

# %% [markdown]
# The frame of the code, then the frame of `filtered` itself, and its globals are this notebook's. One more rule would
# stop that, and the next walk would need another. The filter must know every path; the attacker needs one. They share
# one heap of objects, in which everything is connected.
#
# This is not only an exercise. The library simpleeval fell to generators' frames in 2024
# ([issue 138](https://github.com/danthedeckie/simpleeval/issues/138)). The interpreter in Hugging Face's smolagents,
# with static and dynamic checks, was escaped in 2025
# ([CVE-2025-5120](https://www.cve.org/CVERecord?id=CVE-2025-5120)).
#
# ## 5 · The wall in the right place
#
# What can a *process* do to the world? By itself, nothing. It asks the kernel, by *system calls*: open this file, send
# these bytes. There are some hundreds of calls, and no way around them. A wall there does not care which Python led to
# the call.
#
# So the code runs in a process of its own, and the kernel is told what that process may ask for. Each attack below runs
# twice: in a bare process, and in the sandbox. All of them are harmless and bounded, and go for things that we planted.

# %%
import tempfile

PATIENT, LITTLE = Policy(seconds=30), Policy(seconds=30, memory=200)
folder = tempfile.TemporaryDirectory()
secret = Path(folder.name, ".env")
secret.write_text("WEATHER_KEY=not-a-real-key-7f3a\n", encoding="utf-8")
os.chmod(folder.name, 0o777), secret.chmod(0o666)  # nothing but the sandbox shall protect it


def attack(code, policy=PATIENT):
    for place, result in {
        "no isolation": run(code, policy=policy, unsafe_no_isolation=True),
        "sandbox": run(code, policy=policy),
    }.items():
        error = result.stderr.strip().split("\n")[-1].split(":")[0]  # its kind; the words differ between systems
        print(f"{place:13} {result.status:8}", result.stdout.strip() or result.reason or error)


attack("print('hello')")

# %% [markdown]
# `unsafe_no_isolation` is long and ugly on purpose. Never use it for code that you have not read.
#
# ### The environment
#
# > **Predict.** A new process. Does it still have the key?

# %%
attack('import os\nprint(os.environ.get("WEATHER_KEY", "no such variable"))')

# %% [markdown]
# A process inherits all variables of its parent. The cure is to start with none:

# %%
print(source("namespaces.py", "set_environment"))

# %% [markdown]
# ### Files
#
# The key stands in a file, too.
#
# > **Predict.** The code knows the path of the file. Is it refused the file, or is there none?

# %%
attack(f"""
for mode in ("r", "a"):
    try:
        with open({str(secret)!r}, mode) as file:
            print(file.read().strip() if mode == "r" else file.write("x") and "written")
    except OSError:
        print("refused:", mode)
""")
secret.write_text("WEATHER_KEY=not-a-real-key-7f3a\n", encoding="utf-8")
print("in the folder:", os.listdir(folder.name))

# %% [markdown]
# Both are possible, by the layer that does it. *Namespaces* give the process another view of the machine: a tree of
# files in which only what is listed exists. There the file does not exist. *Landlock* leaves the view and refuses to
# open: for containers, in which namespaces are often forbidden.

# %%
print(source("namespaces.py", "show_only"))
print(source("inside/file_access.py", "restrict"))

# %% [markdown]
# Read once what *is* listed: Python and its libraries, read-only, and one empty folder. Your home folder is not.
#
# ### The network
#
# Code that has found something wants to send it. We listen at a port of this machine.

# %%
import socket

listener = socket.create_server(("127.0.0.1", 0))
listener.setblocking(False)


def arrived():
    try:
        return listener.accept()[0].recv(100).decode()
    except BlockingIOError:
        return "nothing"


SEND = f"""
import socket
with socket.create_connection(("127.0.0.1", {listener.getsockname()[1]}), 5) as wire:
    wire.sendall(b"the key is ...")
print("sent")
"""
attack(SEND)
print("arrived:", arrived(), "· then:", arrived())

# %% [markdown]
# The network is a namespace as well. Inside there is none but its own loopback, on which nobody listens. (Which layer
# answers first is another matter: the last one, below, refuses to make a socket at all.)

# %%
print(source("namespaces.py", "unshare_everything"))

# %% [markdown]
# ### Memory
#
# > **Predict.** 200 MB are allowed. The code asks for 300, and has a second plan.

# %%
attack("block = bytearray(300_000_000)\nprint('holds 300 MB')", LITTLE)
attack("try:\n    bytearray(300_000_000)\n    print('got them')\nexcept MemoryError:\n    print('refused')", LITTLE)

# %% [markdown]
# The second program catches the error. It may go on, and still cannot have more. These are the kernel's oldest limits,
# set for one process:

# %%
print(source("inside/limits.py", "process_limits"))

# %% [markdown]
# ### Processes
#
# A *fork bomb* starts itself again and again until the machine stands still. Ours stops at twenty, and its children do
# nothing.

# %%
attack("""
import subprocess, sys
for count in range(20):
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
print("started", count + 1)
""")

# %% [markdown]
# The first start was refused. Children are more than a load: each would have a memory limit of its own.
#
# ### System calls
#
# Some system calls are holes in the other layers. One makes a file that lives in memory, and no limit above counts it.

# %%
attack("""
import os
file = os.memfd_create("hidden")
print("holds", os.write(file, bytes(1_000_000)), "bytes that no limit counts")
""")

# %% [markdown]
# The last layer, *seccomp*, is a list of what may be called at all. It says what is allowed. A list of what is
# forbidden would be the filter of section 4 again: the kernel gets new calls, too.

# %%
listed = ast.parse((LIBRARY / "inside" / "system_calls.py").read_text(encoding="utf-8")).body
(allowed,) = [node.value for node in listed if ast.unparse(node).startswith("ALLOWED =")]
for what, calls in ast.literal_eval(allowed).items():
    print(f"{what:28} {len(calls.split()):3}  {' '.join(calls.split()[:5])} ...")

# %% [markdown]
# The kernel wants the list as a small program, which it runs before every call:

# %%
print(source("inside/system_calls.py", "build_filter"))

# %% [markdown]
# ### Time
#
# Lesson 04 gave tools a `timeout`. Is that not enough?
#
# > **Predict.** The tool is given up after 0.2 seconds. What does its thread do then?

# %%
import threading
import time

from agentlib import Tool

enough, turns = threading.Event(), [0]


def endless() -> str:
    """Loop without end."""
    while not enough.is_set():
        turns[0] += 1
    return "ended"


print(Toolbox([Tool(endless, timeout=0.2)]).run("endless", "{}").text)

# %%
before = turns[0]
while turns[0] == before:
    time.sleep(0.1)
print("it still counts")
enough.set()

# %% [markdown]
# Nobody can stop a thread from outside. A time limit for a thread only means that we wait no longer. A process can be
# killed, and all it has started with it:

# %%
STUBBORN = """
while True:
    try:
        while True:
            pass
    except BaseException:
        print("you cannot stop me")
"""
result = run(STUBBORN, policy=Policy(seconds=1))
print(result.status, "·", result.reason)

# %% [markdown]
# The kill comes from a *supervisor*, another process that the code cannot reach. And what is printed is cut while it
# is read, so that no flood fills *our* memory:

# %%
result = run("while True:\n    print('x' * 1000)", policy=Policy(output=2_000, seconds=60))
print(result.status, "·", len(result.stdout), "characters kept ·", result.truncated[0])

# %% [markdown]
# ## 6 · All layers, in order
#
# This is the code's process, on its way from ours to the code:

# %%
print(source("inside/supervisor.py", "become_user_code"))

# %% [markdown]
# > **Check yourself.** Why does the filter of system calls come last? And who says to the supervisor that all is in
# > place: could the code say so itself?
#
# <details><summary>Answer</summary>
#
# The layers before it need calls that it forbids. It tells through a pipe, which is closed before the first line of
# the code runs. If a layer fails, the process ends, and the code does not run.
# </details>
#
# Is any of this superfluous? A script put *one* layer around a process and made our attacks, and did so for each
# layer.
#
# > **Predict.** Which single layer stops most of them? Which attack is stopped by none?

# %%
from agentlib.measured import measured

found = measured("isolation")
print(found["machine"], "·", found["date"], "·", found["command"])
layers = found["layers"]
print(" " * 31, *(f"{layer:17}" for layer in layers))
for place, name in enumerate(found["attempts"][:-1]):
    print(f"{name:31}", *(f"{'stopped' if row[place] else '-':17}" for row in layers.values()))
stoppers = [sum(column) for column in zip(*layers.values(), strict=True)]
assert min(stoppers) >= 1 and not any(map(all, layers.values()))
print("\nstopped by one layer only:", stoppers.count(1), "of", len(stoppers))

# %% [markdown]
# No layer stops all, and every attack is stopped by at least one. Where two stop the same attack, one may fail. Where
# there is one, it must not. So each backend is *probed* before its first use: `agentlib` lays out a secret, a port and
# a process, runs code that goes for them, and uses the backend only if all attempts fail.

# %% [markdown]
# ## 7 · Other walls
#
# `agentlib` has four backends and takes the first that holds and can enforce the policy: bubblewrap (namespaces) and
# Landlock on Linux, a container engine, and Python compiled to WebAssembly, which runs everywhere but has the standard
# library only. The same attacks on each:

# %%
print(" " * 32, *(f"{backend:13}" for backend in found["backends"]))
for place, name in enumerate(found["attempts"]):
    print(f"{name:32}", *(f"{'stopped' if row[place] else '-':13}" for row in found["backends"].values()))
assert all(all(row) for name, row in found["backends"].items() if name != "no isolation")

# %% [markdown]
# *Measured once, by the command above. (The bare process has a time limit as well.) Eight attacks prove little about
# the ninth; the tests of this project make about a hundred.*
#
# You can also rent a wall. The code then runs on somebody else's machine, where your files and keys never were. None of
# these was run here; this is what they say themselves:
#
# | service | what it is, by its documentation | the network, by its documentation |
# |---|---|---|
# | E2B | a sandbox in the cloud | [open][e2b]; closed by `allow_internet_access=False` |
# | Modal | a sandbox in the cloud | [nothing comes in][modal]; `block_network=True` blocks what goes out |
# | Daytona | [a microVM][daytona] with a kernel of its own | [open][limits]; closed by a network policy |
#
# [e2b]: https://e2b.dev/docs/network/internet-access
# [modal]: https://modal.com/docs/guide/sandbox-networking
# [daytona]: https://www.daytona.io/docs/en/v2/isolation
# [limits]: https://www.daytona.io/docs/en/v2/network-limits.md
#
# Two of the three say that the network is open unless you close it. For code that was given your data, close it.
#
# To plug one in, write one class. This is all that a backend has to be:

# %%
from agentlib.sandbox import Backend

print(inspect.getsource(Backend))

# %% [markdown]
# For a hosted service, `run` would send code and files with the service's client, and make a `Result` of what comes
# back. `satisfies` would name what the service cannot enforce. `probe` would make real attempts, as ours do. Here is a
# smaller one that is complete: it writes down what was run, and leaves the rest to another backend.

# %%
class Audited:
    """Runs code in another backend, and keeps what was run."""

    name = "audited"

    def __init__(self, inner):
        self.inner, self.log = inner, []
        self.probe, self.satisfies = inner.probe, inner.satisfies

    def run(self, code, files, policy):
        result = self.inner.run(code, files, policy)
        self.log.append((result.status, code))
        return result


audited = Audited(choose(Policy(), all_backends()))
run("print(6 * 7)", backend=audited)
Toolbox([python_tool(backend=audited)]).run("python", '{"code": "1 / 0"}')
print(*audited.log, sep="\n")

# %% [markdown]
# ## 8 · What it costs
#
# > **Predict.** `print(sum(range(10)))` in a bare interpreter, in each sandbox, in a container: what are the ratios?

# %%
costs = found["milliseconds"]
bare = costs["python3 -I -c"]
SHOWN = [name for name in costs if "data" not in name and "plot" not in name]
SHOWN.sort(key=costs.get)
for name in SHOWN:
    print(f"{name:18} {costs[name]:6.1f} ms {costs[name] / bare:6.1f} times the bare interpreter")
assert costs["bubblewrap, warm"] < 2 * bare and costs["container, cold"] > 10 * costs["bubblewrap, warm"]

# %%
import matplotlib.pyplot as plt

COLORS = {"warm": "#2f5d8a", "cold": "#d98c3f"}
figure, axes = plt.subplots(figsize=(7, 3))
for row, name in enumerate(reversed(SHOWN)):
    axes.barh(row, costs[name], color=COLORS.get(name[-4:], "#9aa3b2"))
    axes.text(costs[name] + 8, row, f"{costs[name]:.0f} ms", va="center")
axes.set(title="A warm sandbox costs about as much as a bare interpreter", xlabel="milliseconds, median")
axes.set(yticks=range(len(SHOWN)), yticklabels=reversed(SHOWN), xlim=(0, 1.15 * max(costs.values())))
axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()

# %% [markdown]
# *Cold* starts the sandbox for one run. *Warm* keeps it: a `Pool` imports what the runs need once, and every run is a
# fork of it, with numpy and matplotlib loaded if you want. What must not be warm is the state:
#
# > **Predict.** Two runs in one pool. Does the second one see the variable, or the file, of the first?

# %%
from agentlib.sandbox.pool import Pool


def two_runs(pool):
    pool.run("import builtins\nbuiltins.left = 42\nopen('left.txt', 'w').write('42')")
    second = pool.run("import builtins, os\nprint('variable:', hasattr(builtins, 'left'), '· files:', os.listdir('.'))")
    return second.stdout.strip()


if linux:  # only these two backends can stay warm
    with Pool(Policy(seconds=30)) as pool:
        print(two_runs(pool))

# %% [markdown]
# ## 9 · What it does not stop
#
# Each backend says what it leaves open:

# %%
for file in ("bubblewrap.py", "landlock.py", "container.py", "wasm.py"):
    text = ast.get_docstring(ast.parse((LIBRARY / file).read_text(encoding="utf-8")))
    print(f"{file.removesuffix('.py')}:", fill(text[text.index("hat it does not stop") - 1 :], 100), "\n")

# %% [markdown]
# And three things that no wall around the code can stop:
#
# - **A wrong answer.** The plot of section 3 ran without an error.
# - **What you hand in.** Files that you give to the code are in its hands, and what it prints goes to the model. A
#   sentence in a CSV can be an instruction to it.
# - **What you do with the result.** The files that come back were made by code that nobody has read. Looking at a
#   picture is one thing; importing a module is another.

# %%
listener.close()
folder.cleanup()
del os.environ["WEATHER_KEY"]
print("left behind:", Path(folder.name).exists(), "WEATHER_KEY" in os.environ)

# %% [markdown]
# ## Recap
#
# - Models guess digits. Let them **write the program**, and let Python compute.
# - A tool that runs code must say how it wants it (**print**), and say when **nothing** was printed.
# - A **traceback is an observation**; the model can repair what it can read.
# - **`exec` and filters lose**: code and filter share one process. The wall belongs between process and **kernel**.
# - Empty **environment**, own **files**, no **network**, **limits**, a list of **calls**, a **supervisor** that kills.
#   No layer does it alone.
# - Probe by **attempts**, never fall back in silence, and say what is **not** stopped.
# - Warm, it costs about as much as a bare interpreter.
#
# ## Try it yourself
#
# 1. Extend `check_more` until `FRAMES` is refused. Then find another way in. (The `format` of a text reads attributes.)
# 2. Give the sandbox `Policy(processes=4)` and run the attack with twenty processes again. What is the status now, and
#    why? And with `Popen`, which does not wait?
# 3. Write an `Audited` that refuses a run when the same code has failed twice.
# 4. Connect a real model and ask it the questions of section 3. Does it look at the picture before it says that it is
#    done?
