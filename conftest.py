"""What holds for every test and every notebook: offline, and notebooks checked by a strict nbval.

`pytest` collects each .ipynb it is pointed at. nbval is loaded only then, so that a single test file starts fast.
"""

import os
import sys
import tempfile
from pathlib import Path

import hypothesis
import pytest

sys.path.insert(0, str(Path(__file__).parent / "tests" / "harness"))

import offline_only

pytest_plugins = ["browser"]


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add this project's options; accept --nbval also where nbval is not loaded as a plugin."""
    parser.addoption("--all", action="store_true", help="run the long tests too")
    parser.addoption("--screenshots", metavar="DIR", help="save pictures of the lessons that the browser opens")
    if not pluginmanager.has_plugin("nbval"):
        parser.addoption("--nbval", action="store_true", help="changes nothing: notebooks are always compared")


def pytest_configure(config: pytest.Config) -> None:
    """Take this process, and with it the kernels it starts, off the network."""
    os.environ.update(environ := offline_only.environment(os.environ))
    for name in set(os.environ) - set(environ):
        del os.environ[name]
    # The user's own IPython settings must not change what a cell shows.
    ipython = tempfile.TemporaryDirectory(prefix="ipython-", ignore_cleanup_errors=True)
    config.add_cleanup(ipython.cleanup)
    os.environ["IPYTHONDIR"] = ipython.name
    offline_only.block_network()
    # The same examples in every run; a slow machine is no failure.
    hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
    hypothesis.settings.load_profile("repeatable")
    config.option.nbval = False  # The hook below collects the notebooks, also where nbval is loaded as a plugin.


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the long tests unless they are asked for; leave the browser to the end.

    From its first test on, Playwright has an event loop running in this thread, beside which no other can be started.
    """
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    if not config.getoption("--all"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="runs with --all"))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a notebook, cell by cell."""
    if file_path.suffix != ".ipynb":
        return None
    import strict_nbval

    for name, value in strict_nbval.OPTIONS.items():
        setattr(parent.config.option, name, value)
    for key in (strict_nbval.COMPARED, strict_nbval.NOT_COMPARED):
        parent.config.stash.setdefault(key, [])
    return strict_nbval.StrictFile.from_parent(parent, path=file_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many cells escaped comparison, and why."""
    strict_nbval = sys.modules.get("strict_nbval")
    if strict_nbval and strict_nbval.COMPARED in terminalreporter.config.stash:
        for line in strict_nbval.summary(terminalreporter.config.stash):
            terminalreporter.write_line(line)
