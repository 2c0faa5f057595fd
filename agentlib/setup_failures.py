"""Why a set-up failed, in words for the person who waits, and what to do. Standard library only."""

import re
import shutil
import sys
import tempfile
from pathlib import Path

# What the output of venv and pip means for the person who waits, and what to do. The first that matches is said.
FAILURES = {
    r"No space left on device|Disk quota exceeded|not enough space on the disk":
        "the disk is full ({free} MB free at {root}, {free_tmp} MB in {tmp}). Make room for 900 MB,",
    r"Permission denied|Access is denied|Read-only file system":
        "a file could not be written. Check that {root} and what is in it is yours,",
    r"CERTIFICATE_VERIFY_FAILED":
        "the package index's certificate was not accepted. Behind a proxy, set PIP_CERT to the proxy's certificate,",
    r"new connection|name resolution|timed out|Connection (refused|reset|broken|aborted)|ProxyError|getaddrinfo":
        "the package index could not be reached. Connect to the network, or set PIP_INDEX_URL to an index near you,",
    r"No matching distribution found for (?P<package>\S+)":
        "the package index has no {package} for Python {python} on this machine. Use another Python from 3.11 to 3.13,",
}  # fmt: skip


def explain(output: str, venv: Path) -> str:
    """Put what went wrong in one line that says what to do."""
    log = venv / "setup.log"
    more = f" (pip's output: {log})" if log.exists() and log.stat().st_size else ""
    for pattern, advice in FAILURES.items():
        if found := re.search(pattern, output, re.IGNORECASE):
            root, tmp = venv.parent, Path(tempfile.gettempdir())
            words = {"root": root, "free": free_megabytes(root), "tmp": tmp, "free_tmp": free_megabytes(tmp)}
            advice = advice.format(python=python_version(), **words, **found.groupdict())
            return f"{advice} then run the command again.{more}"
    last = (output.strip().splitlines() or ["no output"])[-1]
    return f"the set-up failed: {last}. Delete {venv}, then run the command again.{more}"


def free_megabytes(folder: Path) -> int:
    """Give the free space of a folder's disk, in MB."""
    return shutil.disk_usage(folder).free // 2**20


def python_version() -> str:
    """Give the running Python's version as in '3.11'."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"
