"""The supervisor of one run: starts the code in a process of its own, watches it, kills it, and reports.

Nothing that the code does can reach it: it is another process, which the code may not look into, signal or trace, and
which holds the only way to report. What it reports is the wait status that the kernel gives, and the files.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from . import capabilities, collecting, limits, packing, processes, system_calls, user_code

OURS = 1  # the working directory
CLOSED_IN = b"closed in"
OUT_OF_MEMORY = "memory"
LOOK_EVERY = 0.02  # seconds, where the kernel has no limit and the supervisor must count


@dataclass(frozen=True)
class Job:
    """One run. `box` is the folder that the code may write to; it starts in `box`/work."""

    code: str
    files: dict[str, bytes]
    box: str
    search: list[str]
    seconds: float
    memory: int
    processes: int
    disk: int
    inodes: int
    network: bool
    namespaces: bool

    @property
    def folder(self) -> str:
        """The working directory."""
        return f"{self.box}/work"

    @property
    def most_entries(self) -> int:
        """How many files and folders there may be, with those that were there from the start: given, or made by us."""
        parts = [path.split("/") for path in self.files]
        folders = {tuple(names[:depth]) for names in parts for depth in range(1, len(names))}
        return self.inodes + len(self.files) + len(folders) + OURS


@dataclass(frozen=True)
class Pipes:
    """The ends of the host's pipes that belong to one run. `host` ends when the host gives up on the run."""

    stdout: int
    stderr: int
    report: int
    host: int


def supervise(job: Job, pipes: Pipes, keep_in: Callable[[], None]) -> bool:
    """Run a job to its end and report. `keep_in` closes the code's process in further, before the code starts.

    Gives whether anybody was there to hear the report.
    """
    for name in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(name, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    put_files(job)
    capabilities.set_dumpable(False)  # before the fork, so that there is no moment without
    told, tell = os.pipe()
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        capabilities.die_with(supervisor)
        become_user_code(job, pipes, keep_in, tell)
    for pipe in (tell, pipes.stdout, pipes.stderr):
        os.close(pipe)
    fault = wait_until_closed_in(told)
    reason = "" if fault else watch(job, child, pipes.host)
    status = processes.kill_all(child, job.namespaces)
    files, left_out = collecting.collect(job.folder, job.most_entries, job.disk * limits.MEGABYTE)
    header = {"failed": fault, "wait_status": status, "reason": reason, "left_out": left_out}
    return write_all(pipes.report, packing.pack(header, files))


def wait_until_closed_in(told: int) -> str:
    """Wait until the code's process has every layer around it, and give '', or what it says went wrong."""
    with os.fdopen(told, "rb") as pipe:
        said = pipe.read(4096)
    return "" if said == CLOSED_IN else said.decode("utf-8", "replace") or "it ended before the code could be run"


def put_files(job: Job) -> None:
    """Make the working directory and put in the input files."""
    os.makedirs(job.folder, exist_ok=True)
    for path, content in job.files.items():
        target = f"{job.folder}/{path}"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)


def become_user_code(job: Job, pipes: Pipes, keep_in: Callable[[], None], tell: int) -> None:
    """Turn this process, layer by layer, into one that is fit to run the code, and run it. Never returns.

    It tells the supervisor when that is done; by the time the code runs, it has no way left to tell anything.
    """
    try:
        capabilities.set_dumpable(True)  # or it could not read its own /proc/self
        os.setsid()  # no terminal
        tell = connect_output(pipes, tell)
        os.chdir(job.folder)
        os.environ.update(HOME=job.box, TMPDIR=job.box, MPLCONFIGDIR=f"{job.box}/matplotlib")
        tasks = limits.THREADS + job.processes + (0 if job.namespaces else processes.tasks_of_this_user())
        limits.set_limits(limits.process_limits(job.seconds, job.memory, job.disk, tasks))
        capabilities.drop_all()
        keep_in()
        allowed = {"processes": job.processes, "network": job.network, "namespaces": job.namespaces}
        program = system_calls.build_filter(os.uname().machine, **allowed, own_pid=os.getpid())
        system_calls.install(program)
        start_fresh()
        os.write(tell, CLOSED_IN)
    except BaseException as error:
        os.write(tell, f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    os.close(tell)
    user_code.run_and_exit(job.code, job.folder, job.search)


def connect_output(pipes: Pipes, tell: int) -> int:
    """Make the three standard streams those of the run, and close everything else that was inherited but `tell`.

    Gives the number that `tell` has now.
    """
    null = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((null, 0), (pipes.stdout, 1), (pipes.stderr, 2)):
        os.dup2(source, target)
    os.closerange(3, tell)
    os.closerange(tell + 1, 1 << 16)
    # Line by line, so that what was printed before a run is killed is not lost.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - stays open
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    return tell


def start_fresh() -> None:
    """Undo what a process inherits from the one it was forked from: signal handling, and luck."""
    for name in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(name, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random.seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()


def watch(job: Job, child: int, host: int) -> str:
    """Wait until the code has ended by itself, and give ''; else give why it has to be killed."""
    end = time.monotonic() + job.seconds
    server = os.getppid()
    counted = not job.namespaces or job.processes > 1
    waiting = select.poll()
    waiting.register(handle := os.pidfd_open(child), select.POLLIN)
    waiting.register(host, 0)  # hanging up is always told
    try:
        while (left := end - time.monotonic()) > 0:
            ready = waiting.poll(1000 * (min(left, LOOK_EVERY) if counted else left))
            if any(each == handle for each, _ in ready):
                return over_limit(job, child) if counted else ""
            if ready or os.getppid() != server:
                return "the sandbox was ended"
            if counted and (fault := over_limit(job, child)):
                return fault
        return "timeout"
    finally:
        os.close(handle)


def over_limit(job: Job, child: int) -> str:
    """Give '' or which limit the run is over, of those that the kernel does not enforce."""
    family = processes.running(job.namespaces) if job.processes > 1 else [child]
    if len(family) > job.processes:
        return f"processes: more than {job.processes} at once"
    if len(family) > 1 and processes.memory_of(family) > job.memory * limits.MEGABYTE:
        return OUT_OF_MEMORY
    return "" if job.namespaces else over_disk(job, family)


def over_disk(job: Job, family: list[int]) -> str:
    """Give '' or which limit on files the run is over: those that it has, and those that it removed and still holds."""
    most = job.disk * limits.MEGABYTE
    held: dict[tuple[int, int], int] = {}
    for process in family:
        held |= processes.removed_but_held(process, job.box, unknown=most)
    entries, size = collecting.count(job.box, job.most_entries)
    if entries + len(held) > job.most_entries:
        return f"inodes: more than {job.inodes} files and folders, or folders too deep"
    if size + sum(held.values()) > most:
        return f"disk: more than {job.disk} MB"
    return ""


def write_all(pipe: int, data: bytes) -> bool:
    """Write to a pipe until all is written, or nobody reads it. Give whether all was read or is there to be read."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(pipe, view) :]
        return True
    except BrokenPipeError:
        return False
