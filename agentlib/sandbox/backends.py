"""What every backend can do, and which of them is used.

A backend is one way to keep code in. Each is asked two questions before it runs anything: does it really hold on this
machine (`probe`, which tries what must be refused), and can it enforce this policy (`satisfies`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from .policy import Policy
from .result import Result


@dataclass(frozen=True)
class Probe:
    """Whether a backend works on this machine. `reason` says what was found; `fix` is a command or a step, or ''."""

    name: str
    ok: bool
    reason: str
    fix: str = ""

    def __str__(self) -> str:
        fix = f" Fix: {self.fix}" if self.fix and not self.ok else ""
        return f"{self.name}: {'works' if self.ok else 'does not work'}. {self.reason}{fix}"


class Backend(Protocol):
    """One way to run untrusted code. Made without arguments; holds no state between runs."""

    name: str

    def probe(self) -> Probe:
        """Try to run code and to break out of the backend. Asked once per process, then remembered."""

    def satisfies(self, policy: Policy) -> str:
        """Give '' or, in words, what of the policy this backend cannot enforce or offer."""

    def run(self, code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
        """Run the code in a fresh working directory that holds `files` (relative paths, already checked)."""


class SandboxUnavailable(RuntimeError):
    """No backend can run this policy on this machine. The text names each backend, what is missing and the fix."""


class StartError(RuntimeError):
    """A sandbox did not start. The text is what it said."""


_BACKENDS = (  # strongest first: module, class, the systems it exists on ('' for all)
    ("bubblewrap", "Bubblewrap", "linux"),
    ("landlock", "Landlock", "linux"),
    ("container", "Container", ""),
    ("wasm", "Wasm", ""),
)


def all_backends() -> list[Backend]:
    """Give the backends that exist on this operating system, strongest first."""
    wanted = [(module, name) for module, name, system in _BACKENDS if system in ("", sys.platform)]
    return [getattr(importlib.import_module(f".{module}", __package__), name)() for module, name in wanted]


def probes() -> list[Probe]:
    """Probe every backend of this operating system, strongest first."""
    return [backend.probe() for backend in all_backends()]


def choose(policy: Policy, backends: Iterable[Backend]) -> Backend:
    """Give the first backend that can enforce the policy and holds on this machine, or raise SandboxUnavailable."""
    refused = []
    for backend in backends:
        if missing := backend.satisfies(policy):
            refused.append(f"{backend.name}: cannot do this policy: {missing}")
        elif not (probe := backend.probe()).ok:
            refused.append(str(probe))
        else:
            return backend
    listed = "\n".join(f"- {line}" for line in refused) or "- there is no backend for this operating system"
    raise SandboxUnavailable(f"No sandbox can run this code here, so it was not run.\n{listed}")
