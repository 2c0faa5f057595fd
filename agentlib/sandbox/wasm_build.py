"""Build CPython for WebAssembly, once for each user: half a minute, no network, about 50 MB in the user's cache folder.

componentize-py brings the interpreter; wasmtime compiles it for this processor. Both come from PyPI. Before a workshop:
`python -m agentlib.sandbox.wasm_build`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
NEEDED = ("componentize-py", "wasmtime")
_WORLD = "package agentlib:sandbox;\nworld runner { export run: func(code: string) -> s32; }\n"
_SECONDS = 600  # for a build on a slow machine


class BuildError(RuntimeError):
    """The component could not be built. The text says why."""


def missing_packages() -> list[str]:
    """Name the packages that are needed and not installed."""
    return [name for name in NEEDED if _version(name) is None]


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def component(*, anew: bool = False) -> Path:
    """Give the compiled component, and build it when this user has none of these versions. Raises BuildError."""
    target = cache_folder() / f"python-{key()}.cwasm"
    if anew or not target.exists():
        if sys.stderr.isatty():  # a saved notebook must not differ for it
            print("Building Python for WebAssembly, once: this takes about half a minute.", file=sys.stderr, flush=True)
        build(target)
        remove_older(target)
    return target


def key() -> str:
    """Name what the component depends on: versions, processor and the code that is built in."""
    parts = [_WORLD, platform.system(), platform.machine(), *(f"{name} {_version(name)}" for name in NEEDED)]
    parts += [(HERE / name).read_text(encoding="utf-8") for name in ("wasm_guest.py", "wasm_child.py")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def cache_folder() -> Path:
    """Give this user's folder for it. Nobody else may write there: what is in it is run as machine code."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    folder = base / "agentlib" / "wasm"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        raise BuildError(f"{folder} belongs to, or can be written by, another user; remove it")
    return folder


def build(target: Path) -> None:
    """Build the component beside `target` and move it there in one step, so that no half of it is ever used."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="build-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        (folder / "world.wit").write_text(_WORLD, encoding="utf-8")
        (folder / "wasm_guest.py").write_bytes((HERE / "wasm_guest.py").read_bytes())
        _run_python(folder, "-c", _COMPONENTIZE)
        _run_python(folder, "-c", _COMPILE, str(HERE))
        try:
            os.replace(folder / "python.cwasm", target)
        except PermissionError:  # Windows: a run is using the one that is there
            if not target.exists():
                raise


def remove_older(kept: Path) -> None:
    """Remove components that were made for other versions more than a month ago. A Python that needs one builds it."""
    for file in kept.parent.glob("python-*.cwasm"):
        if file != kept and time.time() - file.stat().st_mtime > 30 * 86_400:
            file.unlink(missing_ok=True)


_COMPONENTIZE = """
import sys
from componentize_py import script
sys.argv = ["componentize-py", "--quiet", "-d", "world.wit", "-w", "runner",
            "componentize", "wasm_guest", "-p", ".", "-o", "python.wasm"]
script()
"""
_COMPILE = """
import sys
sys.path.insert(0, sys.argv[1])
from wasm_child import make_engine
from wasmtime.component import Component
with open("python.cwasm", "wb") as file:
    file.write(Component.from_file(make_engine(), "python.wasm").serialize())
"""


def _run_python(folder: Path, *arguments: str) -> None:
    """Run Python in the folder, without the user's environment, which would become part of the picture."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", *arguments],
            cwd=folder,
            env=bare_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"Python for WebAssembly could not be built: {error}") from error
    if done.returncode:
        told = done.stdout.decode("utf-8", "replace").strip()[-500:]
        raise BuildError(f"Python for WebAssembly could not be built: {told or f'exit code {done.returncode}'}")


def bare_environment() -> dict[str, str]:
    """Give the few variables that a Python process needs to start and to load its libraries, and no others."""
    needed = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TEMP", "TMPDIR")
    return {name: os.environ[name] for name in needed if name in os.environ}


if __name__ == "__main__":
    print(component())
