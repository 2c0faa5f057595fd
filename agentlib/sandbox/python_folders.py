"""Which folders of the host a Python program needs to read: the interpreter, its libraries and packages, the system's.

Nothing else of the host is shown to the code: not the home folder, even where Python itself is installed in it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
PARTS_OF_A_PREFIX = ("bin", "lib", "lib64")  # and not share, where programs keep what belongs to a user
OWN_INSIDE = ("/", "/tmp", "/dev", "/proc", "/sandbox")
OURS = tuple(str(Path(__file__).parent / name) for name in ("inside", "figures"))


def interpreter() -> str:
    """Give the interpreter that runs this process, not the link to it in a virtual environment."""
    return os.path.realpath(sys.executable)


def packages() -> list[str]:
    """Give the folders of installed packages, and that of the backend for figures, as entries of sys.path."""
    found = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    return [*map(os.path.realpath, filter(os.path.isdir, found)), OURS[1]]


def readable(also: tuple[str, ...] = ()) -> list[str]:
    """Give every path that the code may read, outermost first, with none that lies within another."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    parts = [os.path.join(prefix, part) for prefix in prefixes for part in PARTS_OF_A_PREFIX]
    real = [os.path.realpath(path) for path in (*parts, *packages(), *OURS)]
    given = [os.path.normpath(path) for path in also]
    return outermost([path for path in (*SYSTEM, *real, *given) if os.path.exists(path)])


def cannot_show(also: tuple[str, ...]) -> str:
    """Give '' or, in words, which of the paths that a policy wants to be readable cannot be."""
    missing = [path for path in also if not os.path.exists(path)]
    whole = [path for path in also if os.path.normpath(path) in OWN_INSIDE]
    said = [f"reading {path}, which does not exist" for path in missing]
    return "; ".join([*said, *(f"reading {path} as a whole, which is the code's own inside" for path in whole)])


def outermost(paths: list[str]) -> list[str]:
    """Leave out every path that lies within another, and sort the rest."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not any(path == other or path.startswith(f"{other}/") for other in kept):
            kept.append(path)
    return kept
