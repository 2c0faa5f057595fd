"""Which tests run: the long ones when asked for, those of the browser where there is one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_notebooks import run_pytest

ROOT = Path(__file__).resolve().parents[1]


TESTS = """
import pytest

@pytest.mark.browser
def test_page(browser):
    pass

@pytest.mark.long
def test_long():
    pass
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of tests, on a machine without a browser."""
    (tmp_path / "test_it.py").write_text(TESTS)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_long_tests_are_skipped_and_so_are_those_of_a_missing_browser(folder, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    report = run_pytest(folder, "-p", "no:nbval")
    assert re.search(r"^SKIPPED \[1\] test_it.py:.*: runs with --all$", report, re.M)
    assert re.search(r"^SKIPPED \[1\] .*: not installed: chromium$", report, re.M)
    assert "2 skipped" in report


def test_on_ci_everything_runs_and_a_missing_browser_is_an_error(folder, monkeypatch):
    monkeypatch.setenv("CI", "true")
    report = run_pytest(folder, "-p", "no:nbval", "--all", "-v")
    assert re.search(r"test_long PASSED.*\n.*test_page ERROR", report)  # the browser comes last
    assert "Failed: not installed: chromium" in report
    assert re.search(r"^=+ 1 passed, .*1 error", report, re.M)


@pytest.mark.parametrize(("options", "skips"), [([], True), (["--all"], False)])
def test_the_test_command_passes_all_on(options, skips):
    lessons = ["--setup-plan", "-rs", "-p", "no:cacheprovider", "tests/test_lessons_browser.py"]
    command = [sys.executable, "-m", "agentlib", "test", *options, *lessons]
    report = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=100).stdout
    assert "test_lessons_browser.py" in report
    assert ("runs with --all" in report) is skips
