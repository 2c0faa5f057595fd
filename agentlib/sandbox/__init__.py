"""Run code that nobody has read, such as a model's, without giving it the machine.

`run` uses the strongest backend that holds on this machine and can enforce the policy. It never falls back silently:
without one it raises `SandboxUnavailable`, which says what is missing and how to get it.
"""

from __future__ import annotations

from collections.abc import Mapping

from .backends import Backend, Probe, SandboxUnavailable, all_backends, choose, probes
from .inputs import InputError, checked_files
from .policy import Policy, PolicyError
from .pool import DATA_WORK, Pool
from .result import Result, Status

__all__ = [
    "DATA_WORK",
    "Backend",
    "InputError",
    "Policy",
    "PolicyError",
    "Pool",
    "Probe",
    "Result",
    "SandboxUnavailable",
    "Status",
    "all_backends",
    "probes",
    "run",
]


def run(
    code: str,
    files: Mapping[str, bytes | str] | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen, so that it cannot change between calls
    backend: str | Backend | None = None,
    *,
    unsafe_no_isolation: bool = False,
) -> Result:
    """Run Python code in a sandbox and give what came of it.

    `files` are put into the working directory first: relative path -> content. `backend` is a backend or its name;
    without one, the strongest that can do the policy is used. Raises SandboxUnavailable, InputError.
    `unsafe_no_isolation=True` runs the code as you, able to do all that you can; the result says isolation="none".
    """
    given = checked_files(files or {}, policy)
    if unsafe_no_isolation:
        from .nothing import NoIsolation

        return NoIsolation().run(code, given, policy)
    return _backend(backend, policy).run(code, given, policy)


def _backend(wanted: str | Backend | None, policy: Policy) -> Backend:
    """Find the backend to use: the one that is wanted, or the strongest. Each must probe and satisfy the policy."""
    if wanted is not None and not isinstance(wanted, str):
        return choose(policy, [wanted])
    known = all_backends()
    if wanted is None:
        return choose(policy, known)
    named = [each for each in known if each.name == wanted]
    if not named:
        names = ", ".join(each.name for each in known)
        raise SandboxUnavailable(f"there is no backend {wanted!r} on this operating system; there are: {names}")
    return choose(policy, named)
