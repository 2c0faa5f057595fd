"""The server that stays warm: imports what runs will need, then forks for each job, so that a job finds it imported.

The host starts it with one connected socket. Each message carries five open files: the job, the pipes for stdout,
stderr and the report, and a pipe that ends when the host gives up. The server ends when the host closes the socket,
and every run with it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import signal
import socket
import sys

from . import (
    capabilities,
    collecting,
    file_access,
    metadata,
    network,
    packing,
    places,
    processes,
    supervisor,
    system_calls,
)

MOST_SETTINGS = 1 << 17  # bytes


def serve(connected: int) -> None:
    """Serve until the host hangs up. It first sends the settings, as JSON: namespaces, packages, readable, given (what
    of that the policy names, with namespaces), modules, network, own_folder (without)."""
    host = socket.socket(fileno=connected)
    known = json.loads(host.recv(MOST_SETTINGS))
    if known["namespaces"]:  # bubblewrap's own process outside is the parent, which none has in here
        capabilities.die_with(0)
    sys.path += known["packages"]  # behind the standard library
    known["search"] = list(sys.path)
    add_builtins_of_a_script()
    load(known["modules"])
    system_calls.call_numbers(os.uname().machine)  # read once, for all runs
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries those that end
    ready(host, known["network"])
    while True:
        message, files, _, _ = socket.recv_fds(host, 16, 5)
        if not message:
            end(known)
        if os.fork() == 0:
            host.close()
            run_job(files, known)
            os._exit(0)
        for file in files:
            os.close(file)


def end(settings: dict) -> None:
    """Wait until all runs have ended, whose host has hung up on them, too; then end, and leave no folder behind.

    With namespaces the kernel does all that.
    """
    if not settings["namespaces"]:
        with contextlib.suppress(ChildProcessError):  # there are none left
            os.waitpid(-1, 0)
        collecting.remove_if_possible(settings["own_folder"])
    os._exit(0)


def ready(host: socket.socket, places: list[str]) -> None:
    """Tell the host that jobs can come, and hand it the sockets by which it lets them reach these places."""
    made = network.listen(places) if places else {}
    if made:
        network.announce_proxy(made["proxy"].getsockname()[1])
    socket.send_fds(host, [json.dumps(list(made)).encode()], [each.fileno() for each in made.values()])
    for each in made.values():
        each.close()


def add_builtins_of_a_script() -> None:
    """Add what scripts expect and the `site` module, which is not loaded, would bring: exit, quit, help and so on."""
    import site

    site.setquit()
    site.setcopyright()
    site.sethelper()


def load(modules: list[str]) -> None:
    """Import what the runs will use, and draw once, since the first picture takes longest."""
    for name in modules:
        importlib.import_module(name)
    if "matplotlib.pyplot" in sys.modules:
        pyplot = sys.modules["matplotlib.pyplot"]
        figure = pyplot.figure()
        figure.gca().plot([1, 2], label="a")
        figure.savefig(io.BytesIO())
        pyplot.close(figure)
    gc.collect()
    gc.freeze()  # garbage collection in a fork would touch, and so copy, every page


def run_job(files: list[int], settings: dict) -> None:
    """Become the supervisor of one run. Never raises: what fails is in the report."""
    job_file, *pipes = files
    pipes = supervisor.Pipes(*pipes)
    try:
        size = os.fstat(job_file).st_size
        header, given = packing.unpack(os.pread(job_file, size, 0))
        os.close(job_file)
        job = supervisor.Job(files=given, search=settings["search"], namespaces=settings["namespaces"], **header)
        if job.namespaces:
            run_in_new_namespaces(job, pipes, settings["readable"], settings["given"])
        else:
            run_with_landlock(job, pipes, settings["readable"])
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"
        supervisor.write_all(pipes.report, packing.pack({"failed": text}, {}))


def run_in_new_namespaces(job: supervisor.Job, pipes: supervisor.Pipes, readable: list[str], given: list[str]) -> None:
    """Supervise as process 1 of new namespaces, with which all of the run ends. See `places`."""
    places.leave_for_new_namespaces()
    if os.fork() == 0:
        places.mount_own_disk(job.box, job.disk, job.most_entries, readable, shared_memory=job.processes > 1)
        supervisor.supervise(job, pipes, keep_in=lambda: keep_from_writing(job, given))


def keep_from_writing(job: supervisor.Job, given: list[str]) -> None:
    """Let nothing be written to but what is the run's own, where the kernel has Landlock: a folder that is mounted
    read-only still lets a program write into a named pipe in it.

    Version 1 is left out, since it lets nothing be moved from one folder to another. What is given from within /tmp
    lies within what the run could write to there, so then only its other folder is left to write to.
    """
    own_tmp = [] if any(path.startswith("/tmp/") for path in given) else ["/tmp"]
    if file_access.version() >= file_access.MOVES:
        file_access.restrict(["/"], [job.box, *own_tmp, "/dev"], network=job.network)


def run_with_landlock(job: supervisor.Job, pipes: supervisor.Pipes, readable: list[str]) -> None:
    """Supervise from outside; the code's process gives up all files but a few. See `file_access`."""

    def keep_in() -> None:
        file_access.restrict(readable, ["/dev/null", job.box])
        metadata.ignore_changes_within(job.box)

    processes.adopt_orphans()
    told = supervisor.supervise(job, pipes, keep_in)
    if not told:  # the host has ended, and will not do it
        collecting.remove_if_possible(job.box)
