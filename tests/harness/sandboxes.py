"""The two backends of Linux in tests: skipped where they do not work, but for CI, where they must."""

import functools
import os
import sys

import pytest

LINUX = ("bubblewrap", "landlock")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap and landlock exist on Linux only")


def needs(name: str) -> None:
    """Skip the test where a backend does not work. In CI that is a failure."""
    probe = _probes()[name]
    if not probe.ok and not os.environ.get("CI"):
        pytest.skip(str(probe))
    assert probe.ok, probe


@functools.cache
def _probes() -> dict:
    from agentlib.sandbox.bubblewrap import Bubblewrap
    from agentlib.sandbox.landlock import Landlock

    return {backend.name: backend.probe() for backend in (Bubblewrap(), Landlock())}
