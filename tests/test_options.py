"""Which tests run: the long ones when asked for, those of the browser where there is one."""

import subprocess
import sys
from pathlib import Path

import pytest
from test_notebooks import run_pytest

ROOT = Path(__file__).resolve().parents[1]


def test_long_tests_run_only_when_asked_for(tmp_path):
    (tmp_path / "test_it.py").write_text("import pytest\n\n@pytest.mark.long\ndef test_long():\n    pass\n")
    assert "SKIPPED [1] test_it.py:3: runs with --all" in run_pytest(tmp_path)
    assert "1 passed" in run_pytest(tmp_path, "--all")


def test_a_missing_browser_fails_on_ci_and_skips_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "test_it.py").write_text("def test_page(browser):\n    pass\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    report = run_pytest(tmp_path)
    assert "Failed: not installed: chromium" in report and "1 error" in report
    monkeypatch.delenv("CI")
    report = run_pytest(tmp_path)
    assert "SKIPPED [1]" in report and ": not installed: chromium" in report and "1 skipped" in report


@pytest.mark.parametrize(("options", "skips"), [([], True), (["--all"], False)])
def test_the_test_command_passes_all_on(options, skips):
    lessons = ["--setup-plan", "-rs", "-p", "no:cacheprovider", "tests/test_lessons_browser.py"]
    command = [sys.executable, "-m", "agentlib", "test", *options, *lessons]
    report = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=100).stdout
    assert "test_lessons_browser.py" in report
    assert ("runs with --all" in report) is skips
