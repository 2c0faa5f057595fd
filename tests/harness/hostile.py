"""Runs the hostile snippets of tests/data/hostile.txt in a sandbox, and looks at what they did to the host.

A program, since it must be able to run as another user: python hostile.py BACKEND [GROUP ...]. It prints a JSON object:
how many snippets ran, and what got through. A snippet may use `attempt(name, action)`, which prints GOT unless the
action raises; `call(name, ...)` and `raw(number, ...)`, system calls; `buffer`, some bytes; `refused()`, which raises.
"""

import ctypes
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from agentlib.sandbox import Policy, Result  # noqa: E402
from agentlib.sandbox.pool import Pool  # noqa: E402

SNIPPETS = ROOT / "tests" / "data" / "hostile.txt"
NUMBERS = json.loads((ROOT / "tests" / "data" / "system_calls.json").read_text())
SECONDS = 3.0
LATE = 4.0  # seconds after the time limit by which a result must be there, on a busy machine
ABSTRACT = (
    f"\0agentlib-hostile-{os.getpid()}",
    f"\0agentlib-hostile-packets-{os.getpid()}",
)  # one each, if several run
PRELUDE = """
import ctypes as _ctypes
_libc = _ctypes.CDLL(None, use_errno=True)
buffer = _ctypes.create_string_buffer(256)
def refused():
    raise OSError("refused")
def raw(number, *arguments):
    found = _libc.syscall(number, *arguments)
    if found < 0:
        raise OSError(_ctypes.get_errno(), "refused")
    return found
def call(name, *arguments):
    return raw(NUMBERS[name], *arguments) if name in NUMBERS else refused()
def attempt(name, action):
    try:
        found = action()
    except (OSError, ValueError, MemoryError, RuntimeError) as error:
        print(name, "refused:", type(error).__name__)
    else:
        print("GOT", ascii(name), ascii(found)[:80])
"""


@dataclass(frozen=True)
class Snippet:
    """One piece of hostile code, and the statuses that it may end with; () for any."""

    name: str
    group: str
    statuses: tuple[str, ...]
    code: str


def snippets() -> list[Snippet]:
    """Read them all."""
    found = []
    for part in SNIPPETS.read_text(encoding="utf-8").split("\n=== ")[1:]:
        head, _, code = part.partition("\n")
        name, group, *statuses = (text.strip() for text in head.split("|"))
        found.append(Snippet(name, group, tuple(" ".join(statuses).split()), code))
    return found


@dataclass
class Ground:
    """What the snippets try to get at. `hits` are the connections and packets that arrived."""

    home: Path
    shared: Path
    port: int
    udp: int
    victim: subprocess.Popen
    piped: int
    hits: list[str] = field(default_factory=list)

    def fill(self, code: str) -> str:
        """Put the real paths, ports and processes into a snippet."""
        values = {"home": self.home, "shared": self.shared, "port": self.port, "udp": self.udp}
        values |= {"pid": os.getpid(), "victim": self.victim.pid}
        numbers = f"NUMBERS = {NUMBERS[os.uname().machine]}\n"
        return numbers + PRELUDE + re.sub(r"\{(home|shared|port|udp|pid|victim)\}", lambda m: str(values[m[1]]), code)

    def picture(self) -> dict[str, tuple]:
        """Give what must not change: each path with its mode, size, owner, times and number of names."""
        found = {}
        for path in sorted([self.home, *self.home.rglob("*"), self.shared, *self.shared.rglob("*")]):
            about = path.lstat()
            found[str(path)] = about.st_mode, about.st_size, about.st_uid, about.st_mtime_ns, about.st_nlink
        return found

    def came_through_pipe(self) -> bytes:
        """Give what was written into the named pipe in the folder that may only be read."""
        try:
            return os.read(self.piped, 1000)
        except BlockingIOError:  # somebody has it open, and has written nothing
            return b""

    def state_of_victim(self) -> str:
        """Give the letter by which the kernel says what a process does: S for sleeping."""
        return Path(f"/proc/{self.victim.pid}/stat").read_text().rpartition(")")[2].split()[0]


@contextmanager
def ground() -> Iterator[Ground]:
    """Lay out a home folder with secrets, open to every user, servers of each kind, and a process with a key."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hostile-home-", dir="/tmp")))
        secrets = {".ssh/id_ed25519": "CANARY-SSH", "project/.env": "KEY=CANARY-ENV", "lesson.ipynb": "CANARY"}
        for name, text in secrets.items():
            (home / name).parent.mkdir(exist_ok=True)
            (home / name).write_text(text)
        shared = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hostile-shared-", dir="/tmp")))
        (shared / "data.csv").write_text("a,b")
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0)))]
        for kind, address in (
            (socket.SOCK_STREAM, f"{home}/stream"),
            (socket.SOCK_DGRAM, f"{home}/packets"),
            (socket.SOCK_STREAM, ABSTRACT[0]),
            (socket.SOCK_DGRAM, ABSTRACT[1]),
        ):
            servers.append(stack.enter_context(socket.socket(socket.AF_UNIX, kind)))
            servers[-1].bind(address)
        servers.append(stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
        servers[-1].bind(("127.0.0.1", 0))
        os.mkfifo(shared / "pipe")
        piped = os.open(shared / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        stack.callback(os.close, piped)
        for path in (home, *home.rglob("*"), shared, *shared.rglob("*")):
            path.chmod(0o777)
        with suppress(OSError):  # not every file system keeps such notes
            os.setxattr(home / "project/.env", "user.note", b"CANARY-NOTE")
        waiting = [sys.executable, "-I", "-S", "-c", "input()"]
        victim = subprocess.Popen(waiting, stdin=subprocess.PIPE, env={"API_KEY": "CANARY-KEY"})
        stack.enter_context(victim)
        stack.callback(victim.kill)
        laid = Ground(home, shared, servers[0].getsockname()[1], servers[-1].getsockname()[1], victim, piped)
        for server in servers:
            threading.Thread(target=listen, args=(server, laid.hits), daemon=True).start()
        yield laid


def listen(server: socket.socket, hits: list[str]) -> None:
    """Note what arrives at a server until it is closed."""
    if server.type == socket.SOCK_STREAM:
        server.listen()
    while True:
        try:
            if server.type == socket.SOCK_STREAM:
                server.accept()[0].close()
            else:
                server.recv(100)
        except OSError:
            return
        hits.append(f"something arrived at {server.getsockname()!r}")


def descendants() -> set[int]:
    """Give the living processes that come from this one, adopted ones too."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(folder.name)] = int(parent)
    found, waiting = set(), [os.getpid()]
    while waiting:
        current = waiting.pop()
        children = {process for process, parent in parents.items() if parent == current}
        found |= children
        waiting += children
    return found


def faults(snippet: Snippet, result: Result, seconds: float, laid: Ground) -> list[str]:
    """Give what is wrong with a run: what it printed, how it ended, and what the host saw of it."""
    found = re.findall(r"^GOT.*", result.stdout, re.MULTILINE)[:3]
    found += laid.hits
    if snippet.statuses and result.status not in snippet.statuses:
        found.append(f"the status is {result.status}: {result.stderr[-300:]}")
    if result.status == "unavailable":
        found.append(f"it did not run: {result.reason}")
    if seconds > SECONDS + LATE:
        found.append(f"it took {seconds:.1f} seconds")
    if max(len(result.stdout.encode()), len(result.stderr.encode())) > 3 * Policy().output:
        found.append("the output is not capped")
    found += [f"the host's secret is in {name}" for name, data in result.files.items() if b"CANARY" in data]
    found += [f"a system file is in {name}" for name, data in result.files.items() if b"root:" in data]
    return found


def run_all(backend: str, groups: list[str]) -> dict:
    """Run the snippets of the groups (all, without any) and give what got through."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # orphans become children of this process, so that they are seen
    os.environ["API_KEY"] = "CANARY-KEY"
    through, count = {}, 0
    with ground() as laid, Pool(Policy(seconds=SECONDS, read=(str(laid.shared),)), backend=backend) as pool:
        pool.run("pass")
        family, before = descendants(), laid.picture()
        for snippet in snippets():
            if groups and snippet.group not in groups:
                continue
            began = time.monotonic()
            result = pool.run(laid.fill(snippet.code))
            found = faults(snippet, result, time.monotonic() - began, laid)
            if left := settled_survivors(family):
                found.append(f"processes are left: {sorted(left)}")
            if (now := laid.picture()) != before:
                found.append(f"files of the host changed: {sorted(now.items() ^ before.items())}")
            if laid.victim.poll() is not None or laid.state_of_victim() not in "SR":
                found.append("a process of the host was killed or stopped")
            if leaked := laid.came_through_pipe():
                found.append(f"the host was sent {leaked!r}")
            if found:
                through[snippet.name] = found
            laid.hits.clear()
            before, count = now, count + 1
    return {"ran": count, "user": os.getuid(), "through": through}


def settled_survivors(family: set[int]) -> set[int]:
    """Give the processes that are new and still there, after the moment that a killed one may take to be gone."""
    end = time.monotonic() + 2
    while (left := descendants() - family) and time.monotonic() < end:
        time.sleep(0.01)
    return left


if __name__ == "__main__":
    print(json.dumps(run_all(sys.argv[1], sys.argv[2:])))
