"""The container engine, docker or podman, and what each layer of isolation is called in its language.

A setting may name another: AGENTLIB_CONTAINER_ENGINE, a command such as "podman --runtime /usr/sbin/runc", and
AGENTLIB_CONTAINER_FLAGS, more flags for its `run`, which come last.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from .policy import Policy

NOBODY = "65534:65534"
BOX = "/tmp"  # the one folder that the code can write to; it starts in `work` in it
OPEN_FILES = 1_024
TASKS = 64  # threads that the code may have, and the supervisor's own
_PAGE = 4_096  # bytes
_SECONDS = 60.0  # for a short command of the engine
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY")
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": BOX,
    "LANG": "C.UTF-8",
    "MALLOC_ARENA_MAX": "2",  # or each thread reserves memory that counts as used
    "OPENBLAS_NUM_THREADS": "1",
    # An engine hands on the host's proxies, which may hold a password.
    **{name: "" for each in _PROXIES for name in (each, each.lower())},
}


class EngineError(RuntimeError):
    """The engine refused or failed. The text is its last line."""


@dataclass(frozen=True)
class Engine:
    """A command that speaks docker's language.

    `podman` says whether it is podman, which differs in a few words; `cgroups`, whether it can bound the container as
    a whole. Where it cannot, the supervisor's limits on each process remain, which are the stricter ones.
    """

    command: tuple[str, ...]
    podman: bool
    cgroups: bool = True

    def call(self, *arguments: str, stdin: bytes | None = None, seconds: float = _SECONDS) -> str:
        """Run one of the engine's commands and give what it prints. Raises EngineError."""
        given = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        try:
            done = subprocess.run([*self.command, *arguments], capture_output=True, timeout=seconds, **given)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineError(f"{self.command[0]}: {error}") from error
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
            raise EngineError(f"{self.command[0]}: {told[-1][:300]}")
        return done.stdout.decode("utf-8", "replace").strip()

    def try_call(self, *arguments: str) -> None:
        """Run a command whose failure changes nothing, such as the removal of what is gone already."""
        try:
            self.call(*arguments)
        except EngineError:
            return


def wanted_commands() -> list[tuple[str, ...]]:
    """Give the commands to try: the one from the setting, or docker, then podman."""
    setting = os.environ.get("AGENTLIB_CONTAINER_ENGINE", "")
    if setting.strip():
        return [tuple(shlex.split(setting))]
    # podman's first choice of a runtime does not start everywhere.
    other = [("podman", "--runtime", path) for path in (shutil.which("runc"), shutil.which("crun")) if path]
    return [("docker",), ("podman",), *(other if shutil.which("podman") else [])]


def start_engine(command: tuple[str, ...]) -> Engine:
    """Find out what the command is, and that it answers. Raises EngineError."""
    if not shutil.which(command[0]):
        raise EngineError(f"{command[0]} is not installed")
    version = Engine(command, podman=False).call("--version")
    engine = Engine(command, podman="podman" in version.lower())
    engine.call("info")  # docker's command is there even where its server does not run
    return engine


def no_network() -> list[str]:
    """Give the container a network of its own, with nothing in it."""
    return ["--network", "none"]


def nothing_to_write(engine: Engine) -> list[str]:
    """Make all files read-only, and mount no folder besides: podman would add some of its own."""
    return ["--read-only", *(["--read-only-tmpfs=false"] if engine.podman else [])]


def no_powers() -> list[str]:
    """Run as a user who owns nothing, without any capability, and with no way to gain one."""
    return ["--user", NOBODY, "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]


def limits(engine: Engine, policy: Policy) -> list[str]:
    """Bound memory, processes with their threads, and open files. The supervisor sets the exact limits within."""
    # The files in memory and their copy in the report count as memory too.
    memory = f"{policy.memory * policy.processes + 3 * policy.disk + 200}m"
    tasks = policy.processes + TASKS
    whole = ["--memory", memory, "--memory-swap", memory, "--pids-limit", str(2 * tasks)]
    return [
        *(whole if engine.cgroups else []),
        *("--ulimit", f"nofile={OPEN_FILES}:{OPEN_FILES}", "--ulimit", f"nproc={2 * tasks}:{2 * tasks}"),
    ]


def shared_memory(policy: Policy) -> list[str]:
    """Give no shared memory where there is one process; the locks of several are files there."""
    return ["--ipc", "none"] if policy.processes == 1 else ["--ipc", "private", "--shm-size", f"{policy.disk}m"]


def environment() -> list[str]:
    """Set the few variables that Python needs, and empty those that an engine would hand on."""
    return [part for name, value in _ENVIRONMENT.items() for part in ("--env", f"{name}={value}")]


@contextmanager
def own_disk(engine: Engine, name: str, policy: Policy, given: int) -> Iterator[list[str]]:
    """Give an empty folder in memory, bounded in size and in number of files; it is gone with the container.

    `given` counts the files and folders that are put there for the code.
    """
    inodes = policy.inodes + 2 + given  # the folder itself, and `work` in it, are not the code's either
    if not engine.podman:
        yield ["--tmpfs", f"{BOX}:rw,nosuid,nodev,size={policy.disk * 1_000_000},nr_inodes={inodes},mode=1777"]
        return
    # podman takes no number of files with --tmpfs, and reads `size` of a volume as something else.
    blocks = -(-policy.disk * 1_000_000 // _PAGE)
    options = f"nr_blocks={blocks},nr_inodes={inodes},nosuid,nodev"
    engine.call("volume", "create", "--opt", "type=tmpfs", "--opt", "device=tmpfs", "--opt", f"o={options}", name)
    try:
        yield ["--volume", f"{name}:{BOX}:nocopy"]
    finally:
        engine.try_call("volume", "rm", "--force", name)


@contextmanager
def container_command(
    engine: Engine, image: str, program: Sequence[str], policy: Policy, given: int
) -> Iterator[tuple[str, list[str]]]:
    """Give the container's name and the command that runs a program in it, layer by layer. Afterwards nothing of it
    is left."""
    name = f"agentlib-{secrets.token_hex(8)}"
    with own_disk(engine, name, policy, given) as disk:
        command = [
            *(*engine.command, "run", "--rm", "--interactive", "--name", name),
            *("--pull", "never", "--log-driver", "none", "--hostname", "sandbox", "--workdir", "/"),
            *no_network(),
            *nothing_to_write(engine),
            *no_powers(),
            *limits(engine, policy),
            *shared_memory(policy),
            *environment(),
            *disk,
            *shlex.split(os.environ.get("AGENTLIB_CONTAINER_FLAGS", "")),
            *("--entrypoint", program[0], image, *program[1:]),
        ]
        try:
            yield name, command
        finally:
            engine.try_call("rm", "--force", name)
