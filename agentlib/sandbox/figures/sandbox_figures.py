"""The backend that matplotlib draws with in the sandbox: showing a figure saves it, as figure-1.png and so on.

It is found by its name in the environment variable MPLBACKEND, as matplotlib documents for "module://" backends.
"""

from pathlib import Path

from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

__all__ = ["FigureCanvas", "FigureManager", "show"]


class FigureManager(FigureManagerBase):
    """What `figure.show()` reaches."""

    def show(self) -> None:
        """Save the figure."""
        _save(self.canvas.figure)


class FigureCanvas(FigureCanvasAgg):
    """Draws without a screen."""

    manager_class = FigureManager


def show(*_: object, **__: object) -> None:
    """Save the open figures in the working directory and close them, as a notebook does. What `plt.show()` calls."""
    import matplotlib.pyplot as plt

    for number in plt.get_fignums():
        _save(plt.figure(number))
        plt.close(number)


def _save(figure: object) -> None:
    """Save a figure under the first name figure-N.png that does not exist."""
    number = 1
    while (path := Path(f"figure-{number}.png")).exists():
        number += 1
    figure.savefig(path, bbox_inches="tight")
