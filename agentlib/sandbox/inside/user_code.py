"""Running the code itself, as a script is run, and saying what went wrong in terms of its own lines only."""

from __future__ import annotations

import ctypes
import linecache
import os
import sys
import threading
import traceback
import types
from collections.abc import Sequence

NAME = "<code>"
OUT_OF_MEMORY = 40  # a signal that nothing else uses: how a process that ran out of memory ends, see signal(7)


def run_and_exit(code: str, search: Sequence[str]) -> None:
    """Run the code as `__main__`, then end this process as Python ends a script: its threads, its exit handlers, its
    files. `search` is where its imports are looked for. Never returns."""
    _forget_this_package()
    sys.path[:] = search
    sys.argv[:] = [NAME]
    lines = code.splitlines(keepends=True)
    linecache.cache[NAME] = (len(code), None, lines, NAME)  # where a traceback looks for the lines
    sys.excepthook = _show
    threading.excepthook = lambda failed: _show_in_thread(failed)
    exit_code = _run(code)
    # Not sys.exit: that would unwind, and run, what the server that this process was forked from still has open.
    ctypes.pythonapi.Py_Exit(exit_code)


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


def _show(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
    """Print an exception with its lines of the code."""
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


def _show_in_thread(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_type is not SystemExit:
        print(f"Exception in thread {failed.thread.name if failed.thread else '?'}:", file=sys.stderr)
        _show(failed.exc_type, failed.exc_value, failed.exc_traceback)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError, MemoryError):
            continue


def _forget_this_package() -> None:
    """Let the code's own modules be found where they have the names of ours."""
    package = __package__.partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
