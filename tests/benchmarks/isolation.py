"""What lesson 08 shows of sandboxes. Run: python tests/benchmarks/isolation.py          prints it
                                        python tests/benchmarks/isolation.py --keep   and keeps it in agentlib/measured

Which of eight attempts get through, on each backend that works here and with no isolation; which of them each layer of
the Linux backends stops by itself; and what a run costs, as `sandbox.py` beside this file measures it. The attempts are
those of the lesson, harmless and bounded: the key and the file are planted, the port is this program's own.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from socket import create_server, socket

sys.path.insert(0, str(ROOT := Path(__file__).parents[2]))

from sandbox import candidates, measure

from agentlib.measured import keep
from agentlib.sandbox import Policy, all_backends, python_folders, run, unprivileged
from agentlib.sandbox.bubblewrap import find_bwrap
from agentlib.sandbox.namespaces import show_only, unshare_everything

COMMAND = "python tests/benchmarks/isolation.py --keep"
ROUNDS = 20
KEY, SECRET = "WEATHER_KEY", "not-a-real-key"
POLICY = Policy(seconds=5, memory=200)
NOTHING = "no isolation"

ATTEMPTS = {
    "read the key in the environment": "import os; os.environ['WEATHER_KEY']",
    "read a file of the host": "open({file!r}).read()",
    "write a file of the host": "open({file!r}, 'a').write('x')",
    "send data to a port": "import socket; socket.create_connection(('127.0.0.1', {port}), 5).sendall(b'x')",
    "start 20 processes": """
import subprocess, sys
for _ in range(20):
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)""",
    "hold 300 MB, of 200 allowed": "block = bytearray(300_000_000)",
    "hold 1 MB outside the limit": "import os; os.write(os.memfd_create('x'), bytes(1_000_000))",
    "run without end": "while True: pass",
}

# One layer each, put around a process that has no other. `{ours}` is the folder of agentlib.
LAYERS = {
    "empty environment": "import os; os.environ.clear()",
    "namespaces": "",  # not put around itself, but around by bubblewrap
    "file rules": """
from agentlib.sandbox import python_folders
from agentlib.sandbox.inside import file_access
file_access.restrict([*python_folders.readable(), "/dev/null"], ["."])""",
    "limits": f"""
from agentlib.sandbox.inside import limits
tasks = limits.THREADS + {POLICY.processes}
limits.set_limits(limits.process_limits({POLICY.seconds}, {POLICY.memory}, {POLICY.disk}, tasks))""",
    "call filter": """
import os
from agentlib.sandbox.inside import system_calls as calls
program = calls.build_filter(os.uname().machine, processes=1, network=False, namespaces=True, own_pid=os.getpid())
calls.install(program)""",
}


def got_through(attempt: str, way: str, file: Path, listener: socket) -> bool:
    """Make one attempt, and say whether it got through: the code ran to its end, and the host saw what it did."""
    code = ATTEMPTS[attempt].format(file=str(file), port=listener.getsockname()[1])
    passed = passes_layer(way, code) if way in LAYERS else passes_backend(way, code)
    changed, visited = file.read_text() != SECRET, has_visitor(listener)
    assert passed or not (changed or visited), f"{attempt} with {way} failed, and was seen at the host"
    return passed


def passes_backend(backend: str, code: str) -> bool:
    """Run code in a backend, or in none, and say whether it ran to its end."""
    where = {"unsafe_no_isolation": True} if backend == NOTHING else {"backend": backend}
    result = run(code, policy=POLICY, **where)
    assert result.status != "unavailable", result.reason
    return result.ok


def passes_layer(layer: str, code: str) -> bool:
    """Run code as an ordinary user with one layer around it, and say whether it ran to its end within the time."""
    python = python_folders.interpreter()
    path = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
    program = [python, "-c", f"{path}\n{LAYERS[layer]}\n{code}"]
    needed = [*python_folders.readable(), str(ROOT / "agentlib")]
    if layer == "namespaces":
        needed = python_folders.readable()
        program = [find_bwrap(), "--die-with-parent", *unshare_everything(), *show_only(needed), "--", *program]
    try:
        command = unprivileged.command(python, needed, program)
        return subprocess.run(command, capture_output=True, timeout=POLICY.seconds).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def has_visitor(listener: socket) -> bool:
    """Say whether anybody connected since this was asked last."""
    try:
        listener.accept()[0].close()
        return True
    except BlockingIOError:
        return False


@contextmanager
def host() -> Iterator[tuple[Path, socket]]:
    """Plant a key and a file, which nothing but a sandbox protects, and listen on a port."""
    with tempfile.TemporaryDirectory() as folder, create_server(("127.0.0.1", 0)) as listener:
        os.chmod(folder, 0o777)
        listener.setblocking(False)
        os.environ[KEY] = SECRET
        yield Path(folder, "secret"), listener
        del os.environ[KEY]


def table(ways: list[str], attempts: list[str]) -> dict[str, list[bool]]:
    """Give, for each backend or layer, whether each attempt was stopped."""
    print(" " * 20, *attempts, sep=" | ")
    stopped: dict[str, list[bool]] = {}
    with host() as (file, listener):
        for way in ways:
            stopped[way] = []
            for attempt in attempts:
                file.write_text(SECRET)
                file.chmod(0o666)
                stopped[way].append(not got_through(attempt, way, file, listener))
            print(f"{way:20}", *("stopped    " if each else "got through" for each in stopped[way]))
    return stopped


def main() -> None:
    """Measure, print and keep."""
    working = [backend.name for backend in all_backends() if backend.probe().ok]
    attempts = list(ATTEMPTS)
    layers = table(list(LAYERS), attempts[:-1])  # what ends the last one is no layer, but whoever watches
    backends = table([NOTHING, *working], attempts)
    with ExitStack() as stack:
        costs = {name: round(ms, 1) for name, ms in measure(candidates(stack), ROUNDS).items()}
    print(*(f"{name:26} {ms:8.1f} ms" for name, ms in costs.items()), sep="\n")
    if "--keep" in sys.argv[1:]:
        found = {"attempts": attempts, "layers": layers, "backends": backends, "milliseconds": costs}
        keep("isolation", COMMAND, rounds=ROUNDS, **found)


if __name__ == "__main__":
    main()
