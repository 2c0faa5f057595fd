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
# **You will build** a tool that runs Python, let an agent analyse data with it, write a filter for dangerous code and
# break it twice. Then you attack the sandbox of `agentlib`, layer by layer.
#
# **Time:** about an hour. **You need:** lessons 04 and 05a.
#
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
# A *sandbox* runs code so that it reaches nothing but what it was given. The operating system must help. On Linux that
# is *bubblewrap*, a program that gives others their own view of the machine, or *Landlock*, by which a process gives up
# access to files. The first cell asks what there is here. If there is nothing, it says what to install and stops: then
# read on with the outputs as they are.

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
# ## 1 · Products without a tool
#
# > **Predict.** No tools. The model is asked for five products. Where will it go wrong?

# %%
from agentlib import LLM, Message

llm = LLM()
PAIRS = [(7, 8), (48, 91), (482, 912), (48217, 91283), (123456789, 987654321)]
for a, b in PAIRS:
    said = llm.chat([Message("user", f"What is {a} * {b}?")]).content
    print(f"{a} * {b}: {said}", "right" if said == f"{a * b}." else f"wrong, it is {a * b}")

# %% [markdown]
# The first two wrong answers differ from the right ones in one digit. Nothing in them looks wrong. The offline model
# makes its errors by a rule:

# %%
import inspect

from agentlib.offline import arithmetic

print(inspect.getsource(arithmetic.in_head))

# %% [markdown]
# Real models err for another reason. In 2023, ChatGPT and GPT-4 had 55 % and 59 % of products of two three-digit
# numbers right (Dziri et al., [Faith and Fate](https://arxiv.org/abs/2305.18654)). The authors' explanation: models
# match pieces of computations that they have seen, and do not carry out the steps.
#
# Models are good at *writing down* what has to be computed. So let them write a program, and let Python run it. With
# PAL, a code model beat a much larger one that reasoned in words by 15 points on school mathematics ([Gao et al.
# 2022](https://arxiv.org/abs/2211.10435)). CodeAct made code the language of *all* actions, with up to 20 % more
# successes ([Wang et al. 2024](https://arxiv.org/abs/2402.01030)).
#
# ## 2 · The interpreter as a tool
#
# `run` executes code in a sandbox, which section 5 opens. As a tool it is three lines.
#
# > **Predict.** The agent has the tool now. Will its answer be right?

# %%
from agentlib import FunctionCalling


def python(code: str) -> str:
    """Do arithmetic by running Python code."""
    return run(code).stdout


print(FunctionCalling(llm, [python]).run("What is 48217 * 91283?"))

# %% [markdown]
# It called the tool, and its answer is as wrong as before. The code is an expression, as in a notebook; a program
# prints only what it is told to print. The observation was empty, and the model filled the gap from its head.
#
# The description has to say how the tool wants its code, and an empty result has to say that it is empty. The
# library's tool does both. (Some modules of the sandbox can be imported on Linux only, so we read the files.)

# %%
import ast
from pathlib import Path
from textwrap import fill

import agentlib.sandbox
from agentlib.sandbox.tool import PythonSession, python_tool

LIBRARY = Path(agentlib.sandbox.__file__).parent


def source(file, name, since=""):
    """Give the source of a function: all of it, or from the line on that begins with `since`."""
    text = (LIBRARY / file).read_text(encoding="utf-8")
    (found,) = [node for node in ast.parse(text).body if getattr(node, "name", "") == name]
    lines = ast.get_source_segment(text, found).splitlines()
    first = next(at for at, line in enumerate(lines) if line.strip().startswith(since))
    return "\n".join([lines[0], "    ..."] * (first > 0) + lines[first:]) + "\n"


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
# is one of its rules.*
#
# ## 3 · Real data
#
# matplotlib comes with the daily prices of a share, and how many were traded.

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
# This traceback ended in the name that is not there. The second program looks at the header, and the third is right:
# the sum without the agent is the same. Now a picture.

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
#
# `say` gives a run that has ended one more message of the user, and the agent goes on from there:

# %%
states = list(agent.steps(agent.say(drawn, "Plot the Close column of msft.csv, oldest first.")))
print(states[-1].answer)
assert float(rows[0]["Close"]) > float(rows[-1]["Close"])  # the first row is the newest: it rose
picture("close.png")

# %% [markdown]
# Code that ran is not code that is right. No sandbox helps here; tests do, and somebody who looks.
#
# > **Try it.** Step through the second turn. Which line of the program is new?

# %%
from agentlib import Stepper

Stepper(states, agent)

# %% [markdown]
# ## 4 · Why not `exec`?
#
# Python can run a text by itself, in one line. For this section we plant a key where programs keep their keys.

# %%
import os

os.environ["WEATHER_KEY"] = "not-a-real-key-7f3a"
ATTACK = 'import os\nprint(os.environ["WEATHER_KEY"])'
exec(ATTACK, {})

# %% [markdown]
# The code runs in our process, with our rights, and has the key. The model need not mean harm: a web page that it has
# read may have told it to (*prompt injection*).
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
# The globals of its functions are that module.
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
# > **Predict.** Is that the end of it? A generator has a *frame*, which holds the variables of code
# > that runs; and a frame knows who called it.

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
# The frame of the code, then the frame of `filtered` itself, and its globals are this notebook's. The filter
# must know every path; the attacker needs one. Code and notebook are one process, in which any object may lead to any
# other.
#
# The library simpleeval was escaped by generators' frames in 2024 ([issue
# 138](https://github.com/danthedeckie/simpleeval/issues/138)). The interpreter in Hugging Face's smolagents, with
# checks before and during the run, was escaped in 2025
# ([CVE-2025-5120](https://www.cve.org/CVERecord?id=CVE-2025-5120)).
#
# ## 5 · The wall in the right place
#
# What can a *process* do to the world? By itself, nothing. It asks the *kernel*, the core of the operating system, by
# *system calls*: open this file, send these bytes. There is no way around them. A wall there does not depend on which
# Python led to the call.
#
# So the code runs in a process of its own, and the kernel is told what that process may ask for. Each attack below runs
# twice: in a bare process, and in the sandbox. All are harmless and go for things that we planted.

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
# Never use `unsafe_no_isolation` for code that you have not read.
#
# ### The environment
#
# > **Predict.** A new process. Does it still have the key?

# %%
attack('import os\nprint(os.environ.get("WEATHER_KEY", "no such variable"))')

# %% [markdown]
# A process inherits all variables of its parent. The cure is to start with none. Here and below, functions of the
# library make the arguments of bubblewrap's command, `bwrap`:

# %%
print(source("namespaces.py", "set_environment"))

# %% [markdown]
# ### Files
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
# Either can be. bubblewrap uses *namespaces*, by which the kernel gives a process another view of the machine: a tree
# of files in which only what is listed exists. There the file does not exist:

# %%
print(source("namespaces.py", "show_only", since="arguments ="))

# %% [markdown]
# `--ro-bind-try` shows a path read-only; `--tmpfs` makes an empty folder. *Landlock* leaves the view as it is, and
# refuses to open. It works also where namespaces are forbidden, as in many containers. Its function ends with one
# rule for each path, the promise never to gain rights by starting a program (`prctl`), and the step that cannot be
# taken back:

# %%
print(source("inside/file_access.py", "restrict", since="for paths"))

# %% [markdown]
# In both, Python and its libraries are there to read, and one empty folder to write to.
#
# ### The network
#
# We listen at a port of this machine.

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
# `PermissionError` is the answer of the last layer below, which refuses to make a socket. Behind it stands another: the
# network is a namespace, too. Inside, 127.0.0.1 is the sandbox's own, and nobody listens there. (Section 6 tries each
# layer alone.) `--unshare-net` does that; the others do it for users, processes, shared memory and names:

# %%
print(source("namespaces.py", "unshare_everything", since="return"))

# %% [markdown]
# ### Memory
#
# > **Predict.** 200 MB are allowed. The code asks for 300, and has a second plan.

# %%
attack("block = bytearray(300_000_000)\nprint('holds 300 MB')", LITTLE)
attack("try:\n    bytearray(300_000_000)\n    print('got them')\nexcept MemoryError:\n    print('refused')", LITTLE)

# %% [markdown]
# The second program catches the error. It may go on, and still cannot have more. The kernel keeps such limits for each
# process: `AS` is its memory, `FSIZE` the size of a file, `NPROC` counts processes, `NOFILE` open files.

# %%
print(source("inside/limits.py", "process_limits"))

# %% [markdown]
# ### Processes
#
# A *fork bomb* starts itself again and again until the machine stands still. Ours stops at twenty.

# %%
attack("""
import subprocess, sys
for count in range(20):
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
print("started", count + 1)
""")

# %% [markdown]
# The first start was refused. Each child would have a memory limit of its own.
#
# ### System calls
#
# Some system calls lead past the other layers. One makes a file in memory, which no limit above counts.

# %%
attack("""
import os
file = os.memfd_create("hidden")
print("holds", os.write(file, bytes(1_000_000)), "bytes that no limit counts")
""")

# %% [markdown]
# The last layer is a list of the calls that are allowed; the kernel's means for it is named *seccomp*. A list of what
# is forbidden would be the filter of section 4 again: the kernel gets new calls, too.

# %%
listed = ast.parse((LIBRARY / "inside" / "system_calls.py").read_text(encoding="utf-8")).body
(allowed,) = [node.value for node in listed if ast.unparse(node).startswith("ALLOWED =")]
for what, calls in ast.literal_eval(allowed).items():
    print(f"{what:28} {len(calls.split()):3}  {' '.join(calls.split()[:5])} ...")

# %% [markdown]
# The kernel wants the list as a small program, which it runs before every call. The function that writes it ends so.
# What it answers is `ALLOW`, or an error: `EPERM` (not permitted), `ENOTSUP` (not supported), `ENOSYS` (no such call).

# %%
print(source("inside/system_calls.py", "build_filter", since="for name in allowed"))

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
# Nobody can stop a thread from outside: we only wait no longer. A process can be killed, and all it has started with
# it:

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
# is read, or it could fill *our* memory:

# %%
result = run("while True:\n    print('x' * 1000)", policy=Policy(output=2_000, seconds=60))
print(result.status, "·", len(result.stdout), "characters kept ·", result.truncated[0])

# %% [markdown]
# ## 6 · All layers, in order
#
# The code's process ends its preparation so. `drop_all` gives up the *capabilities*, which are the single rights of the
# user root. `keep_in` calls Landlock.

# %%
print(source("inside/supervisor.py", "become_user_code", since="limits.set_limits"))

# %% [markdown]
# > **Check yourself.** Why does the filter of system calls come last? And who says to the supervisor that all is in
# > place: could the code say so itself?
#
# <details><summary>Answer</summary>
#
# The layers before it need calls that it forbids. The message goes through a pipe, which is closed before the code
# runs. If a layer fails, the process ends, and the code does not run.
# </details>
#
# Is any of this superfluous? A script put each layer *alone* around a process, and made seven of our attacks.
#
# > **Predict.** Does any layer stop all seven? How many of the attacks are stopped by one layer only?

# %%
from agentlib.measured import measured

found = measured("isolation")
print(found["machine"], "·", found["date"], "·", found["command"])
layers = found["layers"]
print(" " * 31, *(f"{layer:17}" for layer in layers))
*tried, endless_loop = found["attempts"]  # the last one is not a matter of layers: see below
for place, name in enumerate(tried):
    print(f"{name:31}", *(f"{'stopped' if row[place] else '-':17}" for row in layers.values()))
stoppers = [sum(column) for column in zip(*layers.values(), strict=True)]
assert min(stoppers) >= 1 and not any(map(all, layers.values()))
print("\nstopped by one layer only:", stoppers.count(1), "of", len(stoppers))
print("not in the table:", endless_loop)

# %% [markdown]
# No layer stops all seven, and each of the seven is stopped by at least one. The eighth attack, the endless loop, is
# missing: time is a limit of its own, which the supervisor watches from outside. (`CPU`, among the limits above, counts
# processor time; code that sleeps uses none.)
#
# Where two layers stop the same attack, one may fail. Where there is one, it must not. So each *backend* (one way to
# make a sandbox) is *probed* before its first use: `agentlib` lays out a secret, a port and a process, runs code that
# goes for them, and uses the backend only if all attempts fail.

# %% [markdown]
# ## 7 · Other walls
#
# `agentlib` has four backends and takes the first that holds and can enforce the policy: bubblewrap and Landlock on
# Linux, a container engine (such as Docker), and Python as *WebAssembly*, code for a machine made of software, which
# runs everywhere but has the standard library only. The same attacks on each, with the eighth:

# %%
print(" " * 32, *(f"{backend:13}" for backend in found["backends"]))
for place, name in enumerate(found["attempts"]):
    print(f"{name:32}", *(f"{'stopped' if row[place] else '-':13}" for row in found["backends"].values()))
assert all(all(row) for name, row in found["backends"].items() if name != "no isolation")

# %% [markdown]
# *Measured once, by the command above. (The bare process has a time limit as well.) Eight attacks prove little about
# the ninth; the tests of this project make more than a hundred.*
#
# You can also rent a sandbox, on a machine where your files and keys never were. None of these was run here. By their
# own documentation, [E2B](https://e2b.dev/docs/network/internet-access) and
# [Daytona](https://www.daytona.io/docs/en/v2/network-limits.md) leave the network open until you close it; with
# [Modal](https://modal.com/docs/guide/sandbox-networking) nothing comes in, and `block_network=True` blocks what goes
# out. For code that was given your data, close it.
#
# To plug one in, write one class. This is all that a backend has to be:

# %%
from agentlib.sandbox import Backend

print(inspect.getsource(Backend))

# %% [markdown]
# Here is a small one that is complete: it writes down what was run, and leaves the rest to another backend.

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
# A *cold* run starts everything anew: the sandbox, and Python in it. For *warm* runs a `Pool` keeps one sandbox, in
# which Python is loaded already; each run is a *fork*, a copy of that process.
#
# > **Predict.** `print(sum(range(10)))`: what takes longer, to start a bare interpreter or to run in a warm sandbox?

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
# > **Predict.** Two warm runs in one pool. Does the second one see the variable, or the file, of the first?

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
# And three things that no sandbox can stop:
#
# - **A wrong answer.** The plot of section 3 ran without an error.
# - **What you hand in.** The code can read the files that you give it, and what it prints goes to the model. A sentence
#   in a CSV can be an instruction to it.
# - **What you do with the result.** The files that come back were made by code that nobody has read. Import none.

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
# - A **traceback is an observation**: the model can repair its program.
# - **`exec` and filters lose**: code and filter share one process. The wall belongs between process and **kernel**.
# - Empty **environment**, own **files**, no **network**, **limits**, a list of **calls**, a **supervisor** that kills.
#   No layer does it alone.
# - Probe by **attempts**, and say what is **not** stopped.
#
# ## Try it yourself
#
# 1. Extend `check_more` until `FRAMES` is refused. Then find another way in. (The `format` of a text reads attributes.)
# 2. Give the sandbox `Policy(processes=4)` and run the attack with twenty processes again. What is the status now? And
#    with `Popen`, which does not wait?
# 3. Write an `Audited` that refuses a run when the same code has failed twice.
# 4. Connect a real model and ask it the questions of section 3. Does it see what is wrong with the picture?
#
# This is the last lesson so far. More are being written: on reflection, on ways to fail, and on choosing a strategy.
