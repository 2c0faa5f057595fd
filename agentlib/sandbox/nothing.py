"""No isolation at all: the code runs as you and can do all that you can. Only for code that you have read.

Time and output are limited, since that takes no isolation; nothing else of the policy holds.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from . import trees
from .policy import Policy
from .result import Result, Status
from .watched import MANY, deadline, watch

# The code's own folder is where it finds its modules; its name in a traceback is that of the other backends.
START = (
    "import os, sys; text = open(sys.argv.pop(), encoding='utf-8', errors='surrogatepass').read(); "
    "os.chdir(sys.argv.pop()); sys.path[0] = os.getcwd(); exec(compile(text, '<code>', 'exec'))"
)


class NoIsolation:
    """Runs code in a process of its own, and nothing more."""

    name = "none"

    def run(self, code: str, files: Mapping[str, bytes], policy: Policy) -> Result:
        """Run the code as the user that you are."""
        room = Path(tempfile.mkdtemp(prefix="agentlib-none-"))
        work = room / "work"
        try:
            work.mkdir()
            trees.put(work, files)
            (room / "code").write_bytes(code.encode("utf-8", "surrogatepass"))
            return _run(room, work, files, policy)
        finally:
            trees.remove(room)


def _run(room: Path, work: Path, files: Mapping[str, bytes], policy: Policy) -> Result:
    """Run what was written down, and give what came of it."""
    late = deadline(policy.seconds)

    def look(written: int) -> str:
        if written > MANY * policy.output:
            return Status.OUTPUT_LIMIT
        return Status.TIMEOUT if late() else ""

    began = time.monotonic()
    command = [sys.executable, "-c", START, str(work), str(room / "code")]
    ending = watch(command, look, policy.output, environ=os.environ)
    seconds = time.monotonic() - began
    files, left_out = trees.collect(work, policy, trees.entries(files))
    written = {"stdout": ending.stdout_written, "stderr": ending.stderr_written}
    cut = [f"{name}: cut after {policy.output} bytes" for name in written if written[name] > policy.output]
    by_itself = Status.ERROR if ending.exit_code else Status.OK
    return Result(
        status=Status(ending.stopped) if ending.stopped else by_itself,
        exit_code=None if ending.stopped else ending.exit_code,
        stdout=ending.stdout.decode("utf-8", "replace"),
        stderr=ending.stderr.decode("utf-8", "replace"),
        files=files,
        truncated=(*cut, *left_out),
        seconds=seconds,
        isolation=NoIsolation.name,
        reason=f"it went over the limit of {policy.seconds:g} seconds or of output" if ending.stopped else "",
    )
