"""A sandbox that stays warm between runs: what the runs import is imported once, and each starts in a fork of that.

The runs share nothing but those imports: each has its own process, its own files and its own limits.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .backends import Backend, Probe, SandboxUnavailable, StartError, all_backends, choose
from .inputs import checked_files
from .policy import Policy
from .result import Result, Status

if TYPE_CHECKING:
    from .server import Server

DATA_WORK = ("numpy", "matplotlib.pyplot")


class Pool:
    """A backend that is kept running, with `modules` imported. Close it, or use it in a `with` statement.

    `policy` holds for every run that names none of its own; what may be read and reached is settled by it for all runs.
    Raises SandboxUnavailable when no backend that can stay warm holds here, or it does not start.
    """

    def __init__(self, policy: Policy = Policy(), modules: Sequence[str] = (), backend: str = "") -> None:  # noqa: B008
        self.policy = policy
        self.modules = tuple(modules)
        warm = [each for each in all_backends() if hasattr(each, "start") and backend in ("", each.name)]
        self._backend: Backend = choose(policy, warm)
        self._lock = threading.Lock()
        self._closed = False
        self._server = self._started()
        from . import forks  # which Windows has none of, and there this is not reached

        forks.own(self)

    @property
    def name(self) -> str:
        """The name of the backend, which stands in every result as `isolation`."""
        return self._backend.name

    def probe(self) -> Probe:
        """Give the backend's probe."""
        return self._backend.probe()

    def satisfies(self, policy: Policy) -> str:
        """Give '' or what it cannot do of the policy."""
        for name in ("read", "network"):
            if getattr(policy, name) != getattr(self.policy, name):
                return f"{name}, which is settled when the pool is made"
        return self._backend.satisfies(policy)

    def run(self, code: str, files: Mapping[str, bytes | str] | None = None, policy: Policy | None = None) -> Result:
        """Run code as `agentlib.sandbox.run` does. Several threads may do so at once."""
        policy = policy or self.policy
        if missing := self.satisfies(policy):
            raise SandboxUnavailable(f"this pool cannot do this policy: {missing}")
        given = checked_files(files or {}, policy)
        try:
            return self._living_server().run(code, given, policy)
        except OSError as error:
            return Result(Status.UNAVAILABLE, isolation=self.name, reason=f"the code could not be run: {error}")

    def close(self) -> None:
        """End the sandbox and every run in it. It cannot be used again."""
        with self._lock:
            self._closed = True
            self._server.close()

    def leave_to_parent(self) -> None:
        """Have a lock of its own, in a fork, which starts its own sandbox when it runs something."""
        self._lock = threading.Lock()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _living_server(self) -> Server:
        """Give the server, a new one if the old one has ended."""
        with self._lock:
            if self._closed:
                raise SandboxUnavailable("this pool was closed: make a new one")
            if not self._server.alive:
                self._server.close()
                self._server = self._started()
            return self._server

    def _started(self) -> Server:
        try:
            return self._backend.start(self.policy, self.modules)
        except (StartError, OSError) as error:
            raise SandboxUnavailable(f"the sandbox did not start: {error}") from error
