"""Running the code itself, as a script is run, and saying what went wrong in terms of its own lines only."""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import io
import linecache
import os
import sys
import threading
import traceback
import types
from collections.abc import Sequence

NAME = "<code>"
UNFLUSHED = 120  # the exit code of Python when stdout cannot take the rest
OUT_OF_MEMORY = 40  # a signal that nothing else uses: how a process that ran out of memory ends, see signal(7)


def run_and_exit(code: str, folder: str, search: Sequence[str]) -> None:
    """Run the code as `__main__`, then end this process as Python ends a script: its threads, its exit handlers, its
    files. Imports are looked for in `folder`, its working directory, then in `search`. Never returns."""
    _forget_this_package()
    sys.path[:] = [folder, *search]
    sys.argv[:] = [NAME]
    lines = io.StringIO(code, newline=None).readlines()  # not splitlines, to which more than these ends a line
    linecache.cache[NAME] = (len(code), None, lines, NAME)  # where a traceback looks for the lines
    sys.excepthook = functools.partial(_show, folder)
    threading.excepthook = functools.partial(_show_in_thread, folder)
    ours = set(sys.modules)
    exit_code = _run(code)
    try:
        _finish(ours, folder)
    except BaseException as error:  # an exit handler or a finalizer that calls sys.exit, for one
        _report(error)
        exit_code = exit_code or 1
    exit_code = exit_code if _flush() else exit_code or UNFLUSHED
    os._exit(exit_code)


def _finish(ours: set[str], folder: str) -> None:
    """Do what Python does when a script ends: wait for its threads, run its exit handlers, finalize what it made.

    The modules that the server imported are left as they are: taking those apart would take longer than most runs.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.modules.pop("__main__", None)
    for name, module in list(sys.modules.items()):
        if name not in ours and not _is_installed(module, folder):
            del sys.modules[name]
    _flush_files()  # before: the parts of an open file are finalized in any order, and its buffer may come last
    gc.collect()
    _flush_files()


def _flush_files() -> None:
    """Write what is in the buffers of files that are still open."""
    for each in gc.get_objects():
        if isinstance(each, io.IOBase):
            _flush_one(each)


def _is_installed(module: object, folder: str) -> bool:
    """Whether a module came with Python or a package, and not from the working directory or out of thin air."""
    file = str(getattr(module, "__file__", None) or "")
    return isinstance(module, types.ModuleType) and not _is_own(file, folder)


def _run(code: str) -> int:
    """Run the code, print what it raises, and give its exit code."""
    main = types.ModuleType("__main__")
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    try:
        exec(compile(code, NAME, "exec", dont_inherit=True), main.__dict__)
        return 0
    except SystemExit as error:
        return _exit_code(error.code)
    except BaseException as error:
        out_of_memory = isinstance(error, MemoryError)
        _report(error)
    if out_of_memory:
        _flush()
        os.kill(os.getpid(), OUT_OF_MEMORY)
    return 1


def _exit_code(given: object) -> int:
    """Give the exit code that Python makes of what sys.exit was given."""
    if given is None:
        return 0
    if isinstance(given, int):
        return given & 0xFF
    print(given, file=sys.stderr)
    return 1


def _report(error: BaseException) -> None:
    """Hand an exception to sys.excepthook, which the code may have replaced, without the frames that are ours."""
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException:  # the hook itself fails, or there is no memory left for it
        os.write(2, type(error).__name__.encode("ascii", "replace") + b"\n")


def _show(folder: str, kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
    """Print an exception, and those that led to it, with the lines of the code and its modules, and of no library."""
    shown = traceback.TracebackException(kind, error, trace, compact=True)
    waiting = [shown]
    while waiting:
        each = waiting.pop()
        each.stack[:] = [frame for frame in each.stack if _is_own(frame.filename, folder)]
        waiting += filter(None, (each.__cause__, each.__context__, *(each.exceptions or ())))
    for text in shown.format():
        print(text, file=sys.stderr, end="")


def _is_own(file: str, folder: str) -> bool:
    """Whether a file is the code itself, or a module in its working directory."""
    return file == NAME or file.startswith(f"{folder}/")


def _show_in_thread(folder: str, failed: threading.ExceptHookArgs) -> None:
    if failed.exc_type is not SystemExit:
        print(f"Exception in thread {failed.thread.name if failed.thread else '?'}:", file=sys.stderr)
        _show(folder, failed.exc_type, failed.exc_value, failed.exc_traceback)


def _flush() -> bool:
    """Send what is still in buffers, Python's and the C library's. Gives False when stdout could not take it."""
    ctypes.CDLL(None).fflush(None)
    _flush_one(sys.stderr)
    return _flush_one(sys.stdout)


def _flush_one(stream: object) -> bool:
    try:
        if stream is not None and not stream.closed:
            stream.flush()
        return True
    except BaseException:  # closed, replaced, full: whatever the code made of it
        return False


def _forget_this_package() -> None:
    """Let the code's own modules be found where they have the names of ours."""
    package = __package__.partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
