"""Pictures of a notebook in JupyterLab, for a person to look at: two themes, two widths, screen by screen.

The dark ones show diagrams in the colours of the light theme, in which they were drawn. JupyterLab keeps a diagram as
it is when the theme changes, and draws it in the theme's colours when the notebook is opened.
"""

from collections.abc import Iterator
from pathlib import Path

SCREENS = [("Light", 1280), ("Dark", 1280), ("Light", 700)]  # theme, width
SCROLL = "(node, top) => { node.scrollTop = top; }"
IS_AT_END = "(node) => node.scrollTop + node.clientHeight >= node.scrollHeight - 1"


def photograph(page, folder: Path) -> None:
    """Save what a person sees of the notebook that is open."""
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(page.evaluate("jupyterapp.shell.currentWidget.context.path")).stem
    before = page.viewport_size
    page.evaluate("jupyterapp.shell.collapseLeft()")
    for theme, width in SCREENS:
        page.set_viewport_size({"width": width, "height": 1000})
        choose_theme(page, f"JupyterLab {theme}")
        for number in screens(page):
            page.screenshot(path=folder / f"{name}-{theme.lower()}-{width}-{number:02}.png")
    page.set_viewport_size(before)


def choose_theme(page, name: str) -> None:
    """Change the theme."""
    page.evaluate("(name) => jupyterapp.commands.execute('apputils:change-theme', { theme: name })", name)
    page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")
    page.wait_for_selector("#jupyterlab-splash", state="detached")


def screens(page) -> Iterator[int]:
    """Scroll from the top to the end, a screen at a time with a little overlap, and count."""
    paper = page.locator(".jp-WindowedPanel-outer")
    step = paper.evaluate("(node) => node.clientHeight") - 40
    number = 0
    while number == 0 or not paper.evaluate(IS_AT_END):
        paper.evaluate(SCROLL, number * step)
        yield number
        number += 1
