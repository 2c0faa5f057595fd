"""What runs inside WebAssembly: it is built into the component together with Python's standard library.

The component is a picture of the interpreter's memory after this file was imported. No file of the standard library
is there when it runs, so everything that can be imported is imported now.
"""

import asyncio
import asyncio.unix_events
import atexit
import contextlib
import gc
import importlib
import io
import linecache
import os
import pkgutil
import random
import selectors
import sys
import time
import traceback
import types
import warnings

NAME = "<code>"  # what a traceback calls the user's code
OUT_OF_MEMORY = -1
# They print, open a browser, are tests, or start something.
SKIPPED = {"__main__", "antigravity", "this", "test", "idlelib", "turtledemo", "ensurepip", "_pyrepl", "wit_world"}


def import_everything() -> None:
    """Import every module of the standard library, so that it is in the picture; the faults of those that are not
    there are told when the user's code imports them."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for name in sorted(sys.stdlib_module_names - SKIPPED):
            _import_with_submodules(name)


def _import_with_submodules(name: str) -> None:
    """Import a module and all that is in it."""
    if name.rpartition(".")[2] in SKIPPED:
        return
    try:
        module = importlib.import_module(name)
    except (ImportError, AttributeError, OSError, RuntimeError):
        return
    for inner in pkgutil.iter_modules(getattr(module, "__path__", [])):
        _import_with_submodules(f"{name}.{inner.name}")


class Missing:
    """The last finder: says why a module is not there."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse a module that nobody else found, with the reason. Submodules get Python's own message."""
        if "." in name:
            return
        if name.lstrip("_") in sys.stdlib_module_names or name in sys.stdlib_module_names:
            why = "Python for WebAssembly is built without it"
        else:
            why = "the WebAssembly sandbox has the standard library only"
        raise ModuleNotFoundError(f"No module named {name!r}: {why}", name=name)


class Loop(asyncio.SelectorEventLoop):
    """An event loop for a machine without sockets: nothing outside can wake it, so it only waits for its own timers."""

    class Waiting(selectors.SelectSelector):
        def select(self, timeout: float | None = None) -> list:
            """Wait until the next timer is due."""
            time.sleep(max(timeout or 0, 0))
            return []

    def __init__(self) -> None:
        super().__init__(self.Waiting())

    def _make_self_pipe(self) -> None:
        """Do without the pair of sockets by which another thread would wake the loop."""

    def _close_self_pipe(self) -> None: ...

    def _write_to_self(self) -> None: ...


class WitWorld:
    """The component's one export, as the component model calls it."""

    def run(self, code: str) -> int:
        """Run the user's code, given as one character for each byte of its UTF-8, and give its exit code."""
        prepare_process()
        text = code.encode("latin-1").decode("utf-8", "surrogatepass")
        exit_code = run_user_code(text)
        with contextlib.suppress(Exception):
            atexit._run_exitfuncs()  # the interpreter itself never ends, so nobody else calls them
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        return exit_code


def prepare_process() -> None:
    """Make of the picture a fresh process: its own luck, its own folder, an environment without secrets."""
    random.seed()  # or every run would draw the same numbers
    os.environ.clear()
    os.environ.update(HOME="/work", TMPDIR="/tmp", PATH="", LANG="C.UTF-8")
    os.chdir("/work")
    sys.argv[:] = [NAME]
    sys.path[:] = ["/work"]
    sys.dont_write_bytecode = True
    sys.meta_path.append(Missing)
    # Line by line, so that what was printed before a kill is seen; the picture's own streams lose what is over 64 kB.
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115 - stays open
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
    sys.excepthook = show_fault


def run_user_code(text: str) -> int:
    """Run the code as the main module, and give its exit code."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    linecache.cache[NAME] = (len(text), None, text.splitlines(keepends=True), NAME)
    try:
        exec(compile(text, NAME, "exec", dont_inherit=True), main.__dict__)
    except SystemExit as error:
        return exit_code_of(error)
    except MemoryError as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return OUT_OF_MEMORY
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def exit_code_of(error: SystemExit) -> int:
    """Give the exit code as Python does: a number is one, nothing is 0, and anything else is printed."""
    if isinstance(error.code, int):
        return error.code & 255
    if error.code is None:
        return 0
    print(error.code, file=sys.stderr)
    return 1


def show_fault(kind: type, error: BaseException, trace: object) -> None:
    """Print the traceback with the user's own lines only."""
    told = traceback.TracebackException(kind, error, trace, compact=True)
    waiting = [told]
    while waiting:
        each = waiting.pop()
        own = [frame for frame in each.stack if frame.filename == NAME or frame.filename.startswith("/work/")]
        each.stack = traceback.StackSummary.from_list(own)
        waiting += [other for other in (each.__cause__, each.__context__, *(each.exceptions or ())) if other]
    print("".join(told.format()), end="", file=sys.stderr)


asyncio.unix_events._UnixDefaultEventLoopPolicy._loop_factory = Loop
import_everything()
gc.collect()
gc.freeze()
