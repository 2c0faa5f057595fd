"""Threads of tools, in real processes: Ctrl-C, a hung tool at the end of the program, a fork."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agentlib.tools.running import TooLong, awaited, in_thread, run_together, within

ROOT = Path(__file__).parents[1]

PROGRAM = """
import sys, threading, time
from agentlib import Call, FunctionCalling, Reply, ScriptedLLM, Tool

def quick() -> str:
    "Be quick."
    return "quick"

def hang() -> str:
    "Hang."
    print("hanging", flush=True)
    time.sleep(600)

calls = tuple(Call(f"c{i}", name, "") for i, name in enumerate(sys.argv[1:]))
agent = FunctionCalling(ScriptedLLM([Reply("", tool_calls=calls), "done"]), [Tool(quick), Tool(hang, timeout=TIMEOUT)],
                        max_parallel=LIMIT)
state = agent.run("q")
print(state.status, *[event.kind for event in state.events if hasattr(event, "call_id")], flush=True)
"""


def program(*calls: str, timeout: float | None = None, limit: int = 8) -> subprocess.Popen:
    """Start a program whose agent makes these calls."""
    source = PROGRAM.replace("TIMEOUT", str(timeout)).replace("LIMIT", str(limit))
    command = [sys.executable, "-c", source, *calls]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(os.name == "nt", reason="a signal cannot be sent to one process there")
@pytest.mark.parametrize(
    ("calls", "limit", "said"),
    [
        (["hang"], 8, "interrupted cancelled"),
        (["quick", "hang", "quick"], 8, "interrupted ok cancelled (ok|cancelled|not_executed)"),  # it may not be so far
        (["quick", "hang", "quick"], 1, "interrupted ok cancelled not_executed"),
        (["hang", "hang", "quick"], 2, "interrupted cancelled cancelled not_executed"),
    ],
)
def test_ctrl_c_answers_every_call_and_the_program_ends(calls, limit, said):
    with program(*calls, limit=limit) as process:
        for _ in range(min(limit, calls.count("hang"))):
            assert process.stdout.readline() == "hanging\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert re.fullmatch(said, out.strip())


def test_a_hung_tool_keeps_no_program_from_ending():
    with program("hang", "quick", timeout=0.1) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out.splitlines()[-1]) == (0, "done timeout ok"), err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_has_threads_of_its_own():
    assert [future.result() for future in run_together([lambda: 1, lambda: 2], 2)] == [1, 2]
    program = (
        "import os, sys\n"
        "from agentlib.tools.running import run_together\n"
        "run_together([lambda: 1, lambda: 2, lambda: 3], 3)\n"
        "child = os.fork()\n"
        "got = [future.result() for future in run_together([lambda: 4, lambda: 5, lambda: 6], 3)]\n"
        "assert got == [4, 5, 6], got\n"
        "sys.exit(0 if not child else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], cwd=ROOT, timeout=60, check=True)


def test_results_stand_in_the_order_of_the_works_and_threads_are_used_again():
    before = threading.active_count()
    for _ in range(50):
        works = [lambda n=n: n for n in range(8)]
        assert [future.result() for future in run_together(works, 4)] == list(range(8))
    assert threading.active_count() < before + 75  # of the 150 that were wanted; how many depends on the machine


def test_an_error_is_kept_for_the_one_who_reads_the_result():
    good, bad = run_together([lambda: 1, lambda: 1 / 0], 2)
    assert good.result() == 1
    with pytest.raises(ZeroDivisionError):
        bad.result()


def test_no_limit_is_the_callers_own_thread():
    assert within(None, threading.get_ident) == threading.get_ident()
    assert within(20, threading.get_ident) != threading.get_ident()


def test_what_takes_too_long_is_given_up_and_what_was_awaited_is_cancelled():
    ended = threading.Event()

    async def slow() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()

    with pytest.raises(TooLong):
        awaited(slow(), 0.05)
    assert ended.wait(20)
    with pytest.raises(TooLong):
        within(0.05, lambda: time.sleep(5))


def test_an_event_loop_that_runs_already_is_no_hindrance():
    async def inner() -> int:
        await asyncio.sleep(0)
        return 3

    async def outer() -> int:
        return awaited(inner(), 20)

    assert asyncio.run(outer()) == 3 and in_thread(lambda: 4).result(20) == 4
