"""The backend that matplotlib draws with in the sandbox: `plt.show()` saves each open figure as figure-1.png and so on.

It is found by its name in the environment variable MPLBACKEND, as matplotlib documents for "module://" backends.
"""

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas
from matplotlib.backends.backend_agg import RendererAgg  # noqa: F401 - part of what a backend offers

__all__ = ["FigureCanvas", "show"]


def show(*_: object, **__: object) -> None:
    """Save the open figures in the working directory and close them, as a notebook does. Overwrites nothing."""
    import matplotlib.pyplot as plt

    for number in plt.get_fignums():
        plt.figure(number).savefig(_free_name(), bbox_inches="tight")
        plt.close(number)


def _free_name() -> Path:
    """Give the first figure-N.png that does not exist."""
    number = 1
    while (path := Path(f"figure-{number}.png")).exists():
        number += 1
    return path
