"""The image that a container starts from: made from the Python that runs this, without a registry.

On Linux it holds that Python, its standard library, numpy and matplotlib where they are installed, and the shared
libraries they need; nothing else, not even a shell. Elsewhere the local Python is no program for Linux, so an image
that somebody fetched is the base: AGENTLIB_CONTAINER_IMAGE names it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path

from .container_engine import BOX, Engine, EngineError

HERE = Path(__file__).parent
OURS = "opt/agentlib"  # where the supervisor is in the image
SITE = f"{OURS}/packages"
PACKAGES = ("numpy", "matplotlib")
_SKIPPED = {"site-packages", "dist-packages", "test", "tests", "idlelib", "ensurepip"}
_SECONDS = 600.0  # for the engine to take in an image


def image_for(engine: Engine) -> tuple[str, str]:
    """Give the image's name and the Python in it; the image is made unless it is there. Raises EngineError."""
    base = os.environ.get("AGENTLIB_CONTAINER_IMAGE", "")
    if base:
        return derived_image(engine, base), "python3"
    if sys.platform != "linux":
        fix = "fetch an image with Python for Linux and name it in AGENTLIB_CONTAINER_IMAGE"
        raise EngineError(f"an image can be made from the local Python on Linux only; {fix}")
    content = sorted({**local_python(), **our_files()}.items())
    program = os.path.realpath(sys.executable)
    repository = f"localhost/agentlib-sandbox-{hashlib.sha256(program.encode()).hexdigest()[:8]}"
    name = f"{repository}:{key(content)}"
    if not is_there(engine, name):
        make_image(engine, name, content)
        remove_others(engine, repository, name)
    return name, program


def remove_others(engine: Engine, repository: str, kept: str) -> None:
    """Remove the images that were made of this Python before something in them changed."""
    for name in engine.call("images", "--format", "{{.Repository}}:{{.Tag}}", repository).split():
        if name != kept:
            engine.try_call("rmi", name)


def is_there(engine: Engine, name: str) -> bool:
    """Tell whether the engine has the image."""
    try:
        engine.call("image", "inspect", name)
    except EngineError:
        return False
    return True


def key(content: list[tuple[str, Path]]) -> str:
    """Name the content of an image, by the path, size and time of each file."""
    listed = [f"{path} {file.stat().st_size} {file.stat().st_mtime_ns}" for path, file in content]
    return hashlib.sha256("\n".join(listed).encode()).hexdigest()[:16]


def local_python() -> dict[str, Path]:
    """List the running Python: path in the image -> file. Raises EngineError.

    All but the packages lies where it does here, so that Python finds its own parts.
    """
    program = Path(os.path.realpath(sys.executable))
    if program.is_relative_to(BOX):
        raise EngineError(f"Python lies in {BOX}, which is the code's own folder in a container")
    folders = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    packages = dict(package_files())
    files = [program, *(file for folder in folders for file in files_below(folder))]
    compiled = [str(file) for file in [*files, *packages.values()] if file.name.endswith(".so")]
    shipped = set(packages.values())
    files += [file for file in shared_libraries([str(program), *compiled]) if file not in shipped]
    return {**{str(file).lstrip("/"): file for file in files}, **packages}


def files_below(folder: Path) -> Iterator[Path]:
    """Give the files of a folder that Python needs to run."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _SKIPPED)
        for name in sorted(names):
            if (file := Path(place, name)).is_file() and not name.endswith(".a"):
                yield file


def package_files() -> Iterator[tuple[str, Path]]:
    """Give the files of the packages for data that are installed, and of what they require: path in the image, file."""
    known: set[str] = set()
    waiting = list(PACKAGES)
    while waiting:
        try:
            found = importlib.metadata.distribution(waiting.pop())
        except importlib.metadata.PackageNotFoundError:
            continue
        if found.name in known:
            continue
        known.add(found.name)
        needed = [line for line in found.requires or [] if "extra ==" not in line]
        waiting += [re.match(r"[\w.-]+", line).group() for line in needed]
        for file in found.files or []:
            path = Path(os.path.realpath(file.locate()))
            if ".." not in file.parts and not _SKIPPED & set(file.parts) and path.is_file():
                yield f"{SITE}/{file}", path


def shared_libraries(programs: list[str]) -> list[Path]:
    """List the system's libraries that programs load, as the dynamic linker finds them (ldd(1)), and the linker."""
    try:
        done = subprocess.run(["ldd", *programs], capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"ldd, which lists shared libraries, cannot be run: {error}") from error
    return [Path(os.path.normpath(path)) for path in sorted(set(re.findall(r"(/\S+) \(0x", done.stdout)))]


def our_files() -> dict[str, Path]:
    """List what runs in the container besides Python: the supervisor and its layers."""
    inside = [path for path in sorted((HERE / "inside").iterdir()) if path.suffix in (".py", ".json")]
    return {f"{OURS}/{path.relative_to(HERE).as_posix()}": path for path in [HERE / "container_inside.py", *inside]}


def make_image(engine: Engine, name: str, content: list[tuple[str, Path]]) -> None:
    """Hand the files to the engine as one archive."""
    command = [*engine.command, "import", "-", name]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        try:
            with process.stdin, tarfile.open(fileobj=process.stdin, mode="w|", dereference=True) as archive:
                add_folders(archive)
                for path, file in content:
                    archive.add(file, path, recursive=False, filter=owned_by_root)
            told = process.stderr.read().decode("utf-8", "replace")
        except BrokenPipeError:
            told = process.stderr.read().decode("utf-8", "replace")
    if process.returncode:
        raise EngineError(f"the image could not be made: {(told.strip().splitlines() or ['no reason given'])[-1]}")


def add_folders(archive: tarfile.TarFile) -> None:
    """Add the folders that an engine mounts something on. The code's own is the code's."""
    for path in ("proc", "sys", "dev", "etc", "tmp"):
        entry = tarfile.TarInfo(path)
        entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if path == "tmp" else 0o755
        archive.addfile(entry)


def owned_by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Make an entry root's, readable to all, and writable to nobody."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o555 if entry.mode & 0o100 or entry.isdir() else 0o444
    return entry


def derived_image(engine: Engine, base: str) -> str:
    """Put the supervisor into a copy of another image."""
    if not is_there(engine, base):
        raise EngineError(f"there is no image {base!r} (AGENTLIB_CONTAINER_IMAGE); fetch it first")
    identity = engine.call("image", "inspect", "--format", "{{.Id}}", base)
    content = sorted(our_files().items())
    name = f"localhost/agentlib-sandbox:{hashlib.sha256((identity + key(content)).encode()).hexdigest()[:16]}"
    if is_there(engine, name):
        return name
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for path, file in content:
            archive.add(file, path, recursive=False, filter=owned_by_root)
    made = engine.call("create", "--pull", "never", base, "true")  # never started
    try:
        engine.call("cp", "-", f"{made}:/", stdin=held.getvalue(), seconds=_SECONDS)
        engine.call("commit", made, name, seconds=_SECONDS)
    finally:
        engine.try_call("rm", "--force", made)
    return name
