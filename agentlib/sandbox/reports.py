"""From what came through the pipes to a result. What the code printed decides nothing: the kernel's wait status does,
which only the supervisor can send."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .inside import packing, supervisor, user_code
from .pipes import CappedPipe
from .policy import Policy
from .result import Result, Status


def read_result(
    pipes: Mapping[str, CappedPipe], floods: list[str], policy: Policy, isolation: str, seconds: float
) -> Result:
    """Give the result of a run whose pipes were read. `floods` names those through which too much came."""
    said = {name: bytes(pipes[name].kept).decode("utf-8", "replace") for name in ("stdout", "stderr")}
    truncated = [f"{name}: cut after {policy.output} bytes" for name in said if pipes[name].cut]
    known = {**said, "seconds": seconds, "isolation": isolation}
    try:
        report, files = packing.unpack(bytes(pipes["report"].kept))
    except packing.Unpackable as error:
        return Result(Status.UNAVAILABLE, **known, reason=f"the sandbox failed: {error}")
    if report["failed"].startswith("MemoryError"):
        return Result(Status.MEMORY, **known, reason=f"Python alone needs more than {policy.memory} MB of memory")
    if report["failed"]:
        return Result(Status.UNAVAILABLE, **known, reason=f"the sandbox failed: {report['failed']}")
    exit_code = os.waitstatus_to_exitcode(report["wait_status"])
    named, alike = printed_names(files)
    status, reason = judge(exit_code, report["reason"], floods, policy)
    return Result(
        status=status,
        exit_code=None if reason else exit_code,
        **known,
        files=named,
        truncated=(*truncated, *map(printable, report["left_out"]), *alike),
        reason=reason,
    )


def judge(exit_code: int, killed_for: str, floods: list[str], policy: Policy) -> tuple[Status, str]:
    """Give the status, and the reason where the run did not end by itself."""
    if floods:
        return Status.OUTPUT_LIMIT, f"it printed far more than the {policy.output} bytes that are kept of {floods[0]}"
    if killed_for == "timeout":
        return Status.TIMEOUT, f"it ran longer than {policy.seconds:g} seconds"
    if killed_for and killed_for != supervisor.OUT_OF_MEMORY:
        return Status.KILLED, killed_for
    if (
        killed_for or exit_code == -user_code.OUT_OF_MEMORY
    ):  # the code could end itself so, too: it would only claim to have failed
        return Status.MEMORY, f"it needed more than {policy.memory} MB of memory"
    return (Status.OK if exit_code == 0 else Status.ERROR), ""


def printed_names(files: Mapping[str, bytes]) -> tuple[dict[str, bytes], list[str]]:
    """Give the files by names that can be printed, in order, and which were left out because two would look alike."""
    named: dict[str, bytes] = {}
    alike = []
    for name in sorted(files, key=lambda each: (printable(each) != each, each)):  # those that are as they look first
        if (shown := printable(name)) in named:
            alike.append(f"{shown}: another file whose name would look the same")
        else:
            named[shown] = files[name]
    return dict(sorted(named.items())), alike


def printable(name: str) -> str:
    """Give a file's name as text that can be printed anywhere: what is no visible character stands as an escape."""
    known = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in known)
