"""Python runs this at its start, when this folder is on PYTHONPATH: the process cannot leave the machine."""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

import offline_only


def run_hidden_sitecustomize() -> None:
    """Run the sitecustomize of the system, if there is one: this file stands before it on the path."""
    here = Path(__file__).resolve().parent
    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if Path(path).resolve() != here])
    if spec and spec.loader:
        spec.loader.exec_module(module_from_spec(spec))


offline_only.block_network()
run_hidden_sitecustomize()
