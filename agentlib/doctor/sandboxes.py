"""Whether code that a model wrote can be kept in on this machine, and by what."""

from collections.abc import Iterator
from pathlib import Path

from agentlib.doctor.finding import OK, WARNING, Finding

QUICK = ("bubblewrap", "landlock")  # a container or WebAssembly may take a minute to try: asked only without these


def sandboxes(root: Path) -> Iterator[Finding]:
    """Probe the sandbox's backends, strongest first: each is made to refuse what it must refuse."""
    from agentlib.sandbox import all_backends

    backends = all_backends()
    probes = [backend.probe() for backend in backends if backend.name in QUICK]
    for backend in backends:
        if backend.name not in QUICK and not any(probe.ok for probe in probes):
            probes.append(backend.probe())
    held = any(probe.ok for probe in probes)
    for probe in probes:
        level = OK if probe.ok or held else WARNING  # one that holds is enough
        text = f"{probe.name} {'works' if probe.ok else 'does not work'}. {probe.reason}"
        yield Finding("sandbox", level, text, "" if held else probe.fix)
