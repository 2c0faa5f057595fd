"""Times that lessons show. They were measured once, on a machine and with a command that each file names.

A time differs on every machine and in every run; a lesson that measured it anew would show another output each time.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any


def measured(name: str) -> dict[str, Any]:
    """Give what was measured: `machine`, `date`, `command` and the figures. Raises FileNotFoundError."""
    return json.loads(files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8"))


def keep(name: str, command: str, **figures: Any) -> None:
    """Write a measurement made on this machine, today."""
    import datetime
    import os
    import platform

    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    known = {"machine": system, "date": datetime.date.today().isoformat(), "command": command}
    path = Path(__file__).with_name(f"{name}.json")
    path.write_text(json.dumps(known | figures, indent=1) + "\n", encoding="utf-8")
