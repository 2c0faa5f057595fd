"""The two backends of Linux in tests: skipped where they do not work, but for CI, where they must."""

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from agentlib.sandbox import Policy

PATIENT = Policy(seconds=60)  # where time is not the subject
LINUX = ("bubblewrap", "landlock")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap and landlock exist on Linux only")


def needs(name: str) -> str:
    """Give the name of a backend that works; skip the test where it does not. In CI that is a failure."""
    probe = _probes()[name]
    if not probe.ok and not os.environ.get("CI"):
        pytest.skip(str(probe))
    assert probe.ok, probe
    return name


@functools.cache
def _probes() -> dict:
    from agentlib.sandbox.bubblewrap import Bubblewrap
    from agentlib.sandbox.landlock import Landlock

    return {backend.name: backend.probe() for backend in (Bubblewrap(), Landlock())}


@contextmanager
def warm_pools() -> Iterator[Callable]:
    """Give a function from a backend's name to a warm pool, which is made when it is first asked for."""
    from agentlib.sandbox.pool import Pool

    with ExitStack() as stack:
        yield functools.cache(lambda name: stack.enter_context(Pool(PATIENT, backend=name)))
