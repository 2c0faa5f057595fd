"""The process that hosts one run in WebAssembly. `wasm.py` starts it, watches it and kills it.

It is run by its path, in a Python without environment, and imports nothing of agentlib. What the code inside may call
is decided here, in `capabilities`.
"""

import json
import os
import stat
import sys
import threading
import time
from pathlib import Path

STACK = 16 * 2**20  # bytes, for the thread that runs the code
WASM_STACK = 2 * 2**20  # of these, for the code (wasmtime allows no more): what recurses deeper ends in an error
OPEN_FILES = 256
LOOK_EVERY = 0.02  # seconds


def main() -> None:
    """Run `room`/code in the component, and write to `room`/outcome how it ended."""
    component, room, memory, disk, seconds = sys.argv[1:]
    limit_process(int(disk), float(seconds))
    threading.stack_size(STACK)
    runner = threading.Thread(target=host, args=(component, Path(room), int(memory)))
    runner.start()
    while runner.is_alive():
        runner.join(LOOK_EVERY)
        if removed_but_held() > int(disk):
            write_outcome(Path(room), {"stopped": f"disk: more than {int(disk) // 10**6} MB"})
            os._exit(1)


def removed_but_held() -> int:
    """Count the bytes of the files that the code has removed and still holds open: whoever looks into its folders
    does not see them. On Windows they cannot be seen from here either."""
    if sys.platform == "win32":
        return 0
    size = 0
    for number in range(3, OPEN_FILES):
        try:
            about = os.fstat(number)
        except OSError:
            continue
        size += about.st_size if stat.S_ISREG(about.st_mode) and about.st_nlink == 0 else 0
    return size


def limit_process(disk: int, seconds: float) -> None:
    """Limit this process too, where the operating system can: the size of one file, open files, time on the
    processor. They catch what gets past the watcher."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {"CORE": 0, "FSIZE": disk, "NOFILE": OPEN_FILES, "CPU": int(seconds) + 60}
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def host(component: str, room: Path, memory: int) -> None:
    """Make a fresh instance and run the code in it."""
    from wasmtime import ExitTrap, Store, WasmtimeError
    from wasmtime.component import Component, Linker

    engine = make_engine()
    linker = Linker(engine)
    linker.add_wasip2()
    store = Store(engine)
    store.set_limits(memory_size=memory)
    store.set_wasi(capabilities(room))
    # One character for each byte, since not all text that Python can hold is text to the component.
    code = (room / "code").read_bytes().decode("latin-1")
    instance = linker.instantiate(store, Component.deserialize_file(engine, component))
    run = instance.get_func(store, instance.get_export_index(store, "run"))
    (room / "started").touch()
    began = time.monotonic()
    try:
        outcome = {"exit_code": run(store, code)}
    except ExitTrap as ended:  # os._exit: WASI tells 0 from all others only
        outcome = {"exit_code": ended.code}
    except WasmtimeError as fault:
        outcome = {"fault": str(fault).strip().splitlines()[-1].strip()[:200]}
    outcome["seconds"] = time.monotonic() - began
    write_outcome(room, outcome)


def write_outcome(room: Path, outcome: dict) -> None:
    """Tell how the code ended, in one step: the whole of it is there, or nothing."""
    (room / "outcome.part").write_text(json.dumps(outcome), encoding="utf-8")
    os.replace(room / "outcome.part", room / "outcome")


def make_engine():
    """Give the engine; the component was compiled for one with these settings."""
    from wasmtime import Config, Engine

    config = Config()
    config.max_wasm_stack = WASM_STACK
    return Engine(config)


def capabilities(room: Path):
    """List all that the code can reach: two empty folders, and where to print. No environment, no arguments, no
    input; WASI's network calls are there and refuse every address."""
    from wasmtime import WasiConfig

    wasi = WasiConfig()
    wasi.preopen_dir(str(room / "files" / "work"), "/work")
    wasi.preopen_dir(str(room / "files" / "tmp"), "/tmp")
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    return wasi


if __name__ == "__main__":
    main()
