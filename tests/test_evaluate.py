"""Sweeps: the same table whatever runs it, in whatever order; nothing is lost when workers die or people stop it."""

import csv
import io
import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentlib import (
    LLM,
    Call,
    FunctionCalling,
    LLMError,
    ReAct,
    Reply,
    Run,
    ScriptedLLM,
    Table,
    Tool,
    Toolbox,
    Usage,
    tool,
)  # fmt: skip
from agentlib.evaluate import evaluate, mentions
from agentlib.evaluate.fingerprint import fingerprint
from agentlib.evaluate.runs import OFFLINE, Z, interval
from agentlib.evaluate.sweeping import run_all
from agentlib.jsonlines import LinesError
from agentlib.state import Answer, State, Status
from agentlib.world import Orders, calculator, search, weather

ROOT = Path(__file__).parents[1]
TASKS = [("Where?", "Paris"), ("When?", "1925")]
SPAWN = multiprocessing.get_context("spawn")


# -- conditions: at the top of a module, where workers find them


@tool
def number(n: int) -> str:
    """Give a number."""
    if n == 13:
        os._exit(1)
    return str(n)


def twice(n: int) -> int:
    """Double."""
    return 2 * n


class Where:
    """Holds tools where they are made."""

    @tool
    def inside(n: int) -> int:
        """Give a number."""
        return n


def answers(seed: int) -> ReAct:
    """Look up a number, then answer; one seed in three is wrong, one in five stumbles first."""
    stumble = ["hm", "Action: nothing(n=1)", "Action: number(n='x')"] if seed % 5 == 0 else []
    final = "Final Answer: It was Paris, in 1925." if seed % 3 else "Final Answer: I forgot."
    replies = [*stumble, f"Thought: t\nAction: number(n={seed % 7})", Reply(final, "stop", Usage(1, 10 + seed, 2))]
    return ReAct(ScriptedLLM(replies), [number])


def gives_up(seed: int) -> ReAct:
    return ReAct(ScriptedLLM(["hm"] * 3) if seed % 2 else ScriptedLLM([LLMError("rate_limit", "wait")]))


CONDITIONS = {"answers": answers, "gives up": gives_up}


def raises(seed: int) -> ReAct:
    """Make an agent that uses up its script, or none at all."""
    if seed == 1:
        raise ValueError("no\nagent")
    if seed == 2:
        sys.exit("a tool that exits")
    return ReAct(ScriptedLLM([])) if seed == 3 else answers(seed)


def deadly(seed: int) -> ReAct:
    """Make an agent whose worker dies with the seeds 2 and 5."""
    script = ScriptedLLM([f"Action: number(n={13 if seed in (2, 5) else seed})", "Final Answer: Paris 1925"])
    return ReAct(script, [number])


def offline(seed: int) -> ReAct:
    return ReAct(LLM(seed=seed), [search, weather, calculator])


def few_calls(seed: int) -> ReAct:
    return ReAct(LLM(seed=seed), [search, weather, calculator], max_iterations=2)


@tool(writes=True)
def erase(n: int) -> str:
    """Erase a number."""
    raise AssertionError("nobody let this run")


@tool(timeout=0.05)
def slow(n: int) -> str:
    """Take too long."""
    time.sleep(0.4)
    return str(n)


def calls_tools(tools: list, seed: int) -> FunctionCalling:
    """Make an agent that calls several tools at once, one of which needs approval; every third time one is slow."""
    names = ["number", "number", "erase", "nothing", *["slow"] * (seed % 3 == 0), "lookup_order"]
    arguments = {"lookup_order": {"order_id": "A-1042"}}
    calls = [Call(f"c{i}", name, json.dumps(arguments.get(name, {"n": i}))) for i, name in enumerate(names)]
    return FunctionCalling(ScriptedLLM([Reply("", "tool_calls", tool_calls=tuple(calls)), "Paris, 1925"]), tools)


def calls_natively(seed: int) -> FunctionCalling:
    return FunctionCalling(LLM(seed=seed), [search, weather, calculator])


WEATHER = [("Is it warmer in Beijing or in Shanghai?", "Shanghai"), ("What is 17 * 23?", "391")]


class RandomOrder(Executor):
    """Does what was submitted in an order of its own, in threads of its own, some at once."""

    def __init__(self, seed: int, workers: int) -> None:
        self._max_workers = workers
        self.random = random.Random(seed)
        self.waiting: list = []
        self.changed = threading.Condition()
        self.most = 0
        for _ in range(workers):
            threading.Thread(target=self._work, daemon=True).start()

    def submit(self, function, /, *args, **kwargs) -> Future:
        future = Future()
        with self.changed:
            self.waiting.append((future, function, args, kwargs))
            self.most = max(self.most, len(self.waiting))
            self.changed.notify()
        return future

    def _work(self) -> None:
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.waiting)
                future, function, args, kwargs = self.waiting.pop(self.random.randrange(len(self.waiting)))
            if function is None:
                return
            if future.set_running_or_notify_cancel():
                future.set_result(function(*args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self.changed:
            self.waiting += [(None, None, None, None)] * self._max_workers
            self.changed.notify_all()


# -- what a run is


def test_a_run_says_how_it_ended_and_what_it_took():
    table = evaluate(TASKS[:1], CONDITIONS, [5, 6, 7])
    assert table.runs == (
        Run("Where?", "answers", 5, True, "done", "final_answer", "It was Paris, in 1925.", "scripted",
            Usage(5, 15, 2), (("bad_arguments", 1), ("format_error", 1), ("unknown_tool", 1))),
        Run("Where?", "answers", 6, False, "done", "final_answer", "I forgot.", "scripted", Usage(2, 16, 2)),
        Run("Where?", "answers", 7, True, "done", "final_answer", "It was Paris, in 1925.", "scripted",
            Usage(2, 17, 2)),
        Run("Where?", "gives up", 5, False, "stopped", "format_error", None, "scripted", Usage(3),
            (("format_error", 3),)),
        Run("Where?", "gives up", 6, False, "stopped", "rate_limit", None, "scripted", Usage(0), (("rate_limit", 1),)),
        Run("Where?", "gives up", 7, False, "stopped", "format_error", None, "scripted", Usage(3),
            (("format_error", 3),)),
    )  # fmt: skip
    assert table.runs[0].tokens == 17


def test_a_task_may_bring_its_own_check_and_a_sweep_its_own_score():
    checked = evaluate([("Where?", lambda state: state.usage.calls == 2)], {"answers": answers}, [1, 5])
    assert [run.success for run in checked.runs] == [True, False]
    scored = evaluate([("Where?", 2)], {"answers": answers}, [1, 5], score=lambda state, n: state.usage.calls == n)
    assert [run.success for run in scored.runs] == [True, False]


@pytest.mark.parametrize(
    ("answer", "expected", "is_in"),
    [
        ("It is warmer in Shanghai.", "Shanghai", True), ("SHANGHAI", "shanghai", True), ("It is 4.", "4", True),
        ("It is 42.", "4", False), ("It is 3.4.", "4", False), ("It is 4.5.", "4", False), ("It is 1,400", "1", False),
        ("391", "391", True), ("1391", "391", False), ("4 °C, dry", "4 °C", True), ("-4 °C", "-4", True),
        ("New\n York", "new york", True), ("Yorkshire", "York", False), ("上海更暖和。", "上海", True),
        ("Straße", "STRASSE", True), ("a (b)", "(b)", True), ("", "x", False), (None, "x", False),
    ],
)  # fmt: skip
def test_the_score_looks_for_the_expected_text(answer, expected, is_in):
    events = (Answer(message=0, text=answer, raw=answer),) if answer is not None else ()
    state = State("q", events=events, status=Status.DONE if events else Status.STOPPED)
    assert mentions(state, expected) is is_in


def test_what_raises_is_a_failed_run_with_one_line():
    table = evaluate(TASKS[:1], {"raises": raises}, range(5))
    assert [(run.status, run.reason) for run in table.runs] == [
        ("done", "final_answer"),
        ("failed", "ValueError: no agent"),
        ("failed", "SystemExit: a tool that exits"),
        ("failed", "ScriptError: the script holds 0 replies, and was asked for one more"),
        ("done", "final_answer"),
    ]
    (row,) = table.rows
    assert (row.runs, row.successes, row.fewest, row.most) == (5, 1, 2, 5)  # what the failed ones took is not known
    assert row.errors == (("failed", 3), ("bad_arguments", 1), ("format_error", 1), ("unknown_tool", 1))
    assert "3 failed, first 'raises' with ValueError: no agent." in table.caption


def test_a_call_that_waits_for_approval_is_rejected_and_counted():
    table = evaluate(TASKS[:1], {"calls": partial(calls_tools, [number, erase, slow])}, [0, 1])
    assert [(run.status, run.success, run.errors) for run in table.runs] == [
        ("done", True, (("rejected", 1), ("timeout", 1), ("unknown_tool", 2))),
        ("done", True, (("rejected", 1), ("unknown_tool", 2))),
    ]


# -- whatever runs it


def test_function_calling_gives_the_same_table_everywhere():
    shop = Orders()
    conditions = {
        "scripted": partial(calls_tools, [number, erase, slow, *shop.tools]),
        "offline": calls_natively,
    }
    here = evaluate(WEATHER, conditions, range(4))
    assert {run.status for run in here.runs} == {"done"}
    assert dict(here.rows[0].errors)["rejected"] == 8
    with ThreadPoolExecutor(4) as threads:
        assert evaluate(WEATHER, conditions, range(4), executor=threads) == here
    with ProcessPoolExecutor(2, SPAWN) as processes:
        assert evaluate(WEATHER, conditions, range(4), executor=processes) == here


def test_processes_and_threads_give_the_same_table():
    here = evaluate(WEATHER, {"offline": offline, "few calls": few_calls}, range(5))
    assert {run.status for run in here.runs} == {"done", "stopped"}
    with ThreadPoolExecutor(4) as threads:
        assert evaluate(WEATHER, {"offline": offline, "few calls": few_calls}, range(5), executor=threads) == here
    with ProcessPoolExecutor(2, SPAWN) as processes:
        there = evaluate(WEATHER, {"offline": offline, "few calls": few_calls}, range(5), executor=processes)
    assert there == here
    assert str(there) == str(here)
    assert OFFLINE in there.caption


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 99), st.integers(1, 8), st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True),
    st.permutations(TASKS), st.permutations(list(CONDITIONS)),
)  # fmt: skip
def test_the_order_of_the_work_changes_nothing(order, workers, seeds, tasks, names):
    here = evaluate(TASKS, CONDITIONS, sorted(seeds))
    with RandomOrder(order, workers) as executor:
        there = evaluate(tasks, {name: CONDITIONS[name] for name in names}, seeds, executor=executor)
    assert sorted(there.runs, key=repr) == sorted(here.runs, key=repr)
    assert [run.seed for run in there.runs] == seeds * 4  # the order is the one that was asked for
    assert executor.most <= 2 * workers


def test_a_large_sweep_is_submitted_little_by_little():
    taken = []
    with ThreadPoolExecutor(2) as executor:
        results = run_all(twice, (taken.append(n) or n for n in range(100_000)), executor)
        for done in range(100):
            item, result = next(results)
            assert result == 2 * item
            assert len(taken) <= done + 4
        results.close()


# -- workers that die


def test_a_worker_that_dies_is_one_failed_run():
    with ProcessPoolExecutor(2, SPAWN) as executor:
        table = evaluate(TASKS, {"deadly": deadly}, range(8), executor=executor)
    failed = "the worker gave no result: BrokenProcessPool"
    expected = [("failed", failed) if seed in (2, 5) else ("done", "final_answer") for seed in range(8)] * 2
    assert [(run.status, run.reason) for run in table.runs] == expected


def test_on_a_dask_cluster():
    import dask
    from distributed import Client, LocalCluster

    quick = {"distributed.scheduler.allowed-failures": 0, "distributed.comm.timeouts.connect": "5s"}
    with (
        dask.config.set(quick),
        LocalCluster(2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None,
                     silence_logs=50) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        executor = client.get_executor()
        here = evaluate(TASKS, CONDITIONS, range(20))
        assert evaluate(TASKS, CONDITIONS, range(20), executor=executor) == here
        calling = {"calls": partial(calls_tools, [number, erase, slow, *Orders().tools])}
        assert evaluate(TASKS, calling, range(4), executor=executor) == evaluate(TASKS, calling, range(4))
        local = evaluate(TASKS, {"a lambda": lambda seed: answers(seed)}, range(3), executor=executor)
        assert [run.status for run in local.runs] == ["done"] * 6  # Dask sends functions that have no place, too
        table = evaluate(TASKS[:1], {"deadly": deadly}, range(4), executor=executor)
    assert [(run.status, run.reason) for run in table.runs] == [
        ("done", "final_answer"), ("done", "final_answer"),
        ("failed", "the worker gave no result: KilledWorker"), ("done", "final_answer"),
    ]  # fmt: skip


def test_what_workers_cannot_take_is_said_before_anything_runs():
    with ProcessPoolExecutor(1, SPAWN) as executor, pytest.raises(ValueError, match="workers cannot take") as caught:
        evaluate(TASKS, {"a lambda": lambda seed: answers(seed)}, range(1000), executor=executor)
    assert "at the top of a module" in str(caught.value)


# -- what was interrupted goes on


class Counting:
    """A condition that counts the agents it makes, and interrupts after so many."""

    def __init__(self, make, most: int) -> None:
        self.make, self.most, self.seeds = make, most, []

    def __call__(self, seed: int) -> ReAct:
        if len(self.seeds) == self.most:
            raise KeyboardInterrupt
        self.seeds.append(seed)
        return self.make(seed)

    def __getstate__(self) -> tuple:
        return (self.make,)  # what it counts is not what it is


@pytest.mark.parametrize("stop", range(1, 8))
def test_an_interrupt_keeps_what_is_finished(tmp_path, stop):
    path, whole = tmp_path / "sweep.jsonl", evaluate(TASKS, {"answers": answers}, range(4))
    first, second = Counting(answers, stop), Counting(answers, 99)
    with pytest.raises(KeyboardInterrupt):
        evaluate(TASKS, {"answers": first}, range(4), path=path)
    assert evaluate(TASKS, {"answers": second}, range(4), path=path) == whole
    assert first.seeds + second.seeds == [0, 1, 2, 3] * 2
    third = Counting(answers, 0)
    assert evaluate(TASKS, {"answers": third}, range(4), path=path) == whole


def interrupts(seed: int) -> ReAct:
    """Make an agent that is interrupted within a step, as by Ctrl-C; it keeps its trace and does not raise."""

    def stop(n: int) -> str:
        """Stop."""
        raise KeyboardInterrupt

    return answers(seed) if seed < 2 else ReAct(ScriptedLLM(["Action: stop(n=1)"]), [stop])


@pytest.mark.parametrize("workers", [0, 1])
def test_an_interrupt_within_a_step_ends_the_sweep_and_is_no_run(tmp_path, workers):
    path = tmp_path / "sweep.jsonl"
    with ThreadPoolExecutor(1) as threads, pytest.raises(KeyboardInterrupt):
        evaluate(TASKS, {"x": interrupts}, range(4), executor=threads if workers else None, path=path)
    assert [json.loads(line).get("seed") for line in path.read_text("utf-8").splitlines()] == [None, 0, 1]


PROGRAM = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from agentlib import ReAct, ScriptedLLM
from agentlib.evaluate import evaluate

def slow(seed):
    if seed >= 10 and not os.path.exists("again"):
        time.sleep(1)
    return ReAct(ScriptedLLM([f"Final Answer: Paris {seed}"]))

if __name__ == "__main__":
    workers = int(sys.argv[1])
    executor = ProcessPoolExecutor(workers) if workers else None
    print(evaluate([("Where?", "Paris")], {"slow": slow}, range(40), executor=executor, path="sweep.jsonl"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT to a group of processes")
@pytest.mark.parametrize("workers", ["0", "2"])
def test_ctrl_c_and_again(tmp_path, workers):
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "program.py", workers]
    running = subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)  # fmt: skip
    path = tmp_path / "sweep.jsonl"
    while not (path.exists() and path.read_bytes().count(b"\n") > 5):
        time.sleep(0.01)
        assert running.poll() is None
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (out, running.returncode != 0) == (b"", True)
    assert b"KeyboardInterrupt" in err
    (tmp_path / "again").touch()
    kept = path.read_bytes()
    assert 6 <= kept.count(b"\n") < 41
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=True)
    assert "slow" in done.stdout
    assert done.stderr == ""
    assert path.read_bytes().startswith(kept)
    assert path.read_bytes().count(b"\n") == 41


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.floats(0, 1), st.floats(0, 1))
@example(random.Random(1), 1.0, 1.0)
def test_any_part_of_the_file_is_enough_to_go_on(tmp_path, shuffled, kept, cut):
    path = tmp_path / "sweep.jsonl"
    path.unlink(missing_ok=True)
    whole = evaluate(TASKS, CONDITIONS, range(3), path=path)
    header, *lines = path.read_bytes().splitlines(keepends=True)
    shuffled.shuffle(lines)
    lines = lines[: round(kept * len(lines))]
    rest = lines.pop()[: round(cut * 100)] if lines else b""
    path.write_bytes(header + b"".join(lines) + rest)
    made = {name: Counting(make, 99) for name, make in CONDITIONS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last line is cut off
        assert evaluate(TASKS, made, range(3), path=path).runs != ()
        path.write_bytes(header + b"".join(lines) + rest)
        assert evaluate(TASKS, CONDITIONS, range(3), path=path) == whole
    assert path.read_bytes().count(b"\n") == 13


def test_a_sweep_can_grow(tmp_path):
    path = tmp_path / "sweep.jsonl"
    evaluate(TASKS[:1], {"answers": Counting(answers, 99)}, range(2), path=path)
    made = Counting(answers, 99)
    table = evaluate(TASKS, {"gives up": gives_up, "answers": made}, range(3), path=path)
    assert table == evaluate(TASKS, {"gives up": gives_up, "answers": answers}, range(3))
    assert made.seeds == [2, 0, 1, 2]


def with_limit(seed: int, limit: int) -> ReAct:
    return ReAct(ScriptedLLM(["hm"] * limit), max_format_errors=limit)


def test_what_has_changed_is_made_again_and_said(tmp_path):
    path = tmp_path / "sweep.jsonl"
    conditions = {"a": partial(with_limit, limit=2), "b": answers}
    evaluate(TASKS, conditions, range(3), path=path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(TASKS, {"a": partial(with_limit, limit=2), "b": answers}, range(3), path=path)
    with pytest.warns(UserWarning, match="has changed since; made again: 6 of 'a'") as said:
        table = evaluate(TASKS, {"a": partial(with_limit, limit=1), "b": answers}, range(3), path=path)
    assert said[0].filename == __file__
    assert {run.usage.calls for run in table.runs if run.condition == "a"} == {1}
    with pytest.warns(UserWarning, match="made again: 3 of 'a', 3 of 'b'"):
        evaluate([TASKS[0], ("When?", "1926")], {"a": partial(with_limit, limit=1), "b": answers}, range(3), path=path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(TASKS, conditions, range(3), path=path).runs[0].usage.calls == 2  # the old ones are kept


def test_a_file_that_is_no_sweep_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    for text, line in [("Dear diary", "is not a sweep"), ('{"agentlib": "tape", "version": 1}\n', "is not a sweep"),
                       ('{"agentlib": "sweep", "version": 1}\n{"key": "x"}\n', "line 2 of ")]:  # fmt: skip
        path.write_text(text, "utf-8")
        with pytest.raises(LinesError, match=line):
            evaluate(TASKS, CONDITIONS, [1], path=path)
        assert path.read_text("utf-8") == text


# -- what counts as a change


RATE = 0.1


def names_a_global(seed):
    return helper(seed) * RATE


def helper(seed):
    return seed


FINGERPRINTS = """
import functools, sys
sys.path[:0] = {paths!r}
import test_evaluate as t
from agentlib.evaluate.fingerprint import fingerprint
from agentlib import LLM
values = [t.answers, t.names_a_global, functools.partial(t.with_limit, limit=2), t.number, t.Counting(t.answers, 1),
          lambda seed: {{"a", "b", "c", seed}}, LLM(seed=1), t.mentions]
print([fingerprint(value) for value in values])
"""


def test_a_fingerprint_is_the_same_in_every_process():
    program = FINGERPRINTS.format(paths=[str(ROOT / "tests")])
    said = {
        subprocess.run([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": s},
                       capture_output=True, text=True, timeout=60, check=True).stdout
        for s in ("1", "2")
    }  # fmt: skip
    assert len(said) == 1
    assert len(set(eval(said.pop()))) == 8


def test_a_change_in_what_a_function_uses_is_noticed(monkeypatch):
    before = fingerprint(names_a_global)
    assert fingerprint(names_a_global) == before
    monkeypatch.setattr(sys.modules[__name__], "RATE", 0.2)
    assert (changed := fingerprint(names_a_global)) != before
    monkeypatch.setattr(sys.modules[__name__], "helper", lambda seed: seed + 1)
    assert fingerprint(names_a_global) not in (before, changed)

    def with_tool(**options):
        monkeypatch.setattr(sys.modules[__name__], "number", Tool(twice, **options))
        return fingerprint(answers)

    assert with_tool() == with_tool()
    assert len({with_tool(), with_tool(description="Other."), with_tool(writes=True), with_tool(timeout=1.0)}) == 4

    def made(n):
        return lambda seed: seed + n

    assert fingerprint(made(1)) == fingerprint(made(1)) != fingerprint(made(2))

    class Agent1:
        limit = 3

        def step(self):
            return 1

    first = fingerprint(lambda seed: Agent1())
    Agent1.limit = 4
    second = fingerprint(lambda seed: Agent1())
    Agent1.step = lambda self: 2
    assert len({first, second, fingerprint(lambda seed: Agent1())}) == 3


# -- the table


def some_runs() -> Table:
    return evaluate(TASKS, CONDITIONS, range(10))


def test_the_table_can_be_read():
    assert str(some_runs()) == repr(some_runs()) == (
        "condition  runs  success (95 % interval)   model calls  tokens  errors\n"
        "answers      20      60 % (39 % to 78 %)  2.6 (2 to 5)      16  "
        "bad_arguments 4, format_error 4, unknown_tool 4\n"
        "gives up     20        0 % (0 % to 16 %)  1.5 (0 to 3)       0  format_error 30, rate_limit 10\n"
        "\n"
        "40 runs: 2 tasks, 2 conditions, 10 seeds. Model: scripted."
    )


def test_the_html_says_what_the_text_says_and_is_escaped():
    table = evaluate([("<b>&", "x")], {"<i>": answers}, [1]).by("task", "condition")
    html = table._repr_html_()
    for cell in ("&lt;b&gt;&amp;", "&lt;i&gt;", "0 % (0 % to 79 %)", "2.0 (2 to 2)", table.caption):
        assert cell in html
    assert "<b>" not in html
    assert html.count("<tr>") == 2


def test_other_groups():
    rows = some_runs().by("task", "condition").rows
    assert [row.group for row in rows] == [
        ("Where?", "answers"), ("Where?", "gives up"), ("When?", "answers"), ("When?", "gives up"),
    ]  # fmt: skip
    assert [row.runs for row in rows] == [10] * 4
    assert some_runs().by("reason").rows[0].group == ("final_answer",)
    with pytest.raises(ValueError, match="a run has no 'tasks'; it has task, condition"):
        some_runs().by("tasks")


def test_the_csv_has_a_column_for_each_kind_of_error(tmp_path):
    path = tmp_path / "runs.csv"
    some_runs().to_csv(path)
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
    assert len(rows) == 40
    assert rows[5] == {
        "task": "Where?", "condition": "answers", "seed": "5", "success": "True", "status": "done",
        "reason": "final_answer", "answer": "It was Paris, in 1925.", "model": "scripted", "calls": "5",
        "prompt_tokens": "15", "completion_tokens": "2", "error: bad_arguments": "1", "error: format_error": "1",
        "error: rate_limit": "0", "error: unknown_tool": "1",
    }  # fmt: skip


def test_an_empty_sweep_and_failures_alone_can_be_shown():
    assert "0 runs" in str(evaluate([], CONDITIONS, []))
    assert "nan" not in str(evaluate(TASKS[:1], {"raises": raises}, [1])) + evaluate([], {}, [])._repr_html_()


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_wilsons(counts):
    successes, runs = counts
    low, high = interval(successes, runs)
    rate = successes / runs
    assert 0 <= low <= high <= 1
    assert low - 1e-12 <= rate <= high + 1e-12
    for bound in (low, high):  # its ends are the rates that lie just Z standard errors from what was seen
        assert (rate - bound) ** 2 == pytest.approx(Z**2 * bound * (1 - bound) / runs, abs=1e-9)
    assert interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("tasks", "conditions", "seeds", "line"),
    [
        (["Where?"], CONDITIONS, [1], "a task is a question and what is expected, not 'Where\\?'"),
        ([("Where?", 3)], CONDITIONS, [1], "a text or a function of the last state, not 3"),
        ([TASKS[0], TASKS[0]], CONDITIONS, [1], "two questions are the same"),
        (TASKS, CONDITIONS, [1, 1], "two seeds are the same"),
        (TASKS, {"a": answers(1)}, [1], "condition 'a' is a ReAct; it must be a function from seed to agent"),
    ],
)
def test_what_cannot_be_swept_is_one_line(tasks, conditions, seeds, line):
    with pytest.raises(ValueError, match=line):
        evaluate(tasks, conditions, seeds)


# -- what is shown meanwhile


def test_nothing_is_shown_where_there_is_no_terminal(capfd):
    evaluate(TASKS, CONDITIONS, range(3))
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="opens a pseudo-terminal")
def test_a_terminal_shows_a_bar_that_goes_away(tmp_path):
    import pty

    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "again").touch()
    master, terminal = pty.openpty()
    running = subprocess.Popen([sys.executable, "program.py", "0"], cwd=tmp_path, stdout=subprocess.PIPE,
                               stderr=terminal, env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
    out, _ = running.communicate(timeout=60)
    os.close(terminal)
    shown = os.read(master, 100_000).decode()
    os.close(master)
    assert b"\r" not in out
    assert "\r[###############...............] 20 of 40 runs\r" in shown
    assert shown.endswith("\r[##############################] 40 of 40 runs\r" + " " * 46 + "\r")


# -- pickling


def test_tools_can_be_pickled_by_their_place():
    for each in (number, Where.inside, search, Tool(twice, name="double", description="d"), tool(twice)):
        copy = pickle.loads(pickle.dumps(each))
        assert (repr(copy), copy.description, copy.parameters) == (repr(each), each.description, each.parameters)
        assert copy.function is each.function
        assert "_parameters" not in vars(pickle.loads(pickle.dumps(each)))  # made again when needed
    copy = pickle.loads(pickle.dumps(Toolbox([number, twice])))
    assert copy.run("twice", '{"n": "4"}').text == "8"
    renamed = Tool(number.function, name="other")
    assert pickle.loads(pickle.dumps(renamed)).name == "other"


def test_a_worker_process_gets_a_whole_agent():
    agent = offline(3)
    with ProcessPoolExecutor(1, SPAWN) as executor:
        assert executor.submit(agent.run, WEATHER[0][0]).result() == agent.run(WEATHER[0][0])


SCRIPT = """
import multiprocessing, pickle, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
import cloudpickle
from agentlib import ReAct, ScriptedLLM, tool

@tool
def double(n: int) -> int:
    '''Double.'''
    return FACTOR * n

FACTOR = 2

if __name__ == "__main__":
    agent = ReAct(ScriptedLLM(["Action: double(n=4)", "Final Answer: done"]), [double])
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        print(pool.submit(agent.run, "q").result().events[1].text)
    print("import pickle; print(pickle.loads(%r).run('q').events[1].text)" % cloudpickle.dumps(agent))
"""


def test_a_tool_of_a_script_reaches_its_workers_and_those_of_dask(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    said = subprocess.run([sys.executable, "script.py"], env=environ, cwd=tmp_path, capture_output=True, text=True,
                          timeout=60, check=True).stdout.splitlines()  # fmt: skip
    assert said[0] == "8"
    there = subprocess.run([sys.executable, "-c", said[1]], env=environ, capture_output=True, text=True, timeout=60,
                           check=True)  # fmt: skip
    assert there.stdout == "8\n"  # by value, as Dask sends what has no module


# -- the import


def test_the_names_are_there_and_load_nothing_from_elsewhere():
    program = (
        "import sys; from agentlib import Table; from agentlib.evaluate import evaluate\n"
        "print(callable(evaluate), sorted({'openai', 'httpx2', 'pydantic', 'distributed'} & set(sys.modules)))"
    )
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "True []\n"
