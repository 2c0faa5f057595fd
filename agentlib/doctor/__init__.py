"""Is this machine ready for the lessons? Every line says what was seen and, where it is not well, what to do.

It starts with the standard library alone, so that it can also say that there is no environment yet, or a broken one.
What needs the environment's packages is checked by its own Python (`inside.py`), which may fail without harm.
It changes nothing. `machine.CHECKS` and `inside.CHECKS` are the checks; a new one is one more function there.
"""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from agentlib.bootstrap import Environment
from agentlib.doctor import machine
from agentlib.doctor.finding import PROBLEM, Finding, anonymous, command, run_checks

SECONDS = 120  # for the checks inside; a model has 10 of them, and a sandbox may have to be built


def main(root: Path, *, as_json: bool = False) -> int:
    """Check everything, print it, and give the exit status: 1 when there is a problem."""
    try:
        findings = print_json(root) if as_json else print_lines(root)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return int(any(finding.level == PROBLEM for finding in findings))


def print_json(root: Path) -> list[Finding]:
    """Print all findings as one list."""
    findings = list(examine(root))
    print(json.dumps([asdict(finding) for finding in findings], indent=1), flush=True)
    return findings


def print_lines(root: Path) -> list[Finding]:
    """Print every finding as soon as it is there, then the result."""
    findings = []
    for finding in examine(root):
        show(finding)
        findings.append(finding)
    print(f"\n{summary(findings)}", flush=True)
    return findings


def examine(root: Path) -> Iterator[Finding]:
    """Run every check that can be run."""
    environment, finding = machine.find_environment(root)
    yield from run_checks(machine.CHECKS, root, environment)
    yield anonymous(finding)
    if environment:
        yield from look_inside(root, environment)


def look_inside(root: Path, environment: Environment) -> Iterator[Finding]:
    """Have the environment's own Python check what needs its packages."""
    lessons = root / "work" / "notebooks"  # where the kernels run
    folder = lessons if lessons.is_dir() else root
    program = [environment.python, "-P", "-m", "agentlib.doctor.inside", str(root)]  # -P: no module of the learner's
    reading = {"capture_output": True, "encoding": "utf-8", "errors": "replace", "timeout": SECONDS}
    try:
        done = subprocess.run(program, env=environment.variables, cwd=folder, **reading)
        yield from [Finding(**item) for item in json.loads(done.stdout)]
        return
    except subprocess.TimeoutExpired:
        text = f"its Python did not finish the checks within {SECONDS} seconds"
    except OSError as error:
        text = f"its Python does not start: {error}"
    except (ValueError, TypeError):
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        text = f"its Python cannot run the checks: {last}"
    yield anonymous(Finding("environment", PROBLEM, text, f"delete the folder .venv, then run {command('lab')}"))


def show(finding: Finding) -> None:
    """Print one finding, and its fix below it."""
    lines = textwrap.wrap(finding.text, 96, break_long_words=False, break_on_hyphens=False) or [""]
    if finding.fix:
        lines += textwrap.wrap(f"Fix: {finding.fix}", 96, break_long_words=False, break_on_hyphens=False)
    lines[0] = f"{finding.level:8} {finding.check:12} {lines[0]}"
    print(f"\n{' ' * 22}".join(lines), flush=True)


def summary(findings: Sequence[Finding]) -> str:
    """Say the result in one line."""
    counts = {level: sum(finding.level == level for finding in findings) for level in ("problem", "warning")}
    found = [f"{count} {level}{'s' if count > 1 else ''}" for level, count in counts.items() if count]
    return f"{' and '.join(found)}." if found else "All is well."
