"""The Stepper's live view. Its front end holds all that is shown, so that stepping needs no kernel; this end adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from .as_html import asset


class View(anywidget.AnyWidget):
    """The first page, and what was added since. `receive` is given each request, and gives the line to show."""

    _esm = "\n".join(map(asset, ("parts.js", "stepper.js", "plan.js", "approval.js", "view.js")))
    _css = asset("stepper.css") + asset("calls.css") + asset("plan.css")
    page = traitlets.Unicode().tag(sync=True)
    added = traitlets.List().tag(sync=True)

    def __init__(self, page: str, receive: Callable[[dict], str]) -> None:
        super().__init__(page=page)
        self._receive = receive
        self.on_msg(self._answer)

    def mimebundle(self) -> dict:
        """Give the part of a cell's output that shows this view."""
        bundle = self._repr_mimebundle_()
        return dict(bundle[0] if isinstance(bundle, tuple) else bundle)

    def _answer(self, _widget: Any, message: dict, _buffers: Any) -> None:
        """Greet a view, so that it knows of a kernel that listens; carry out what else it asks for."""
        if "hello" in message:
            self.send({"hello": True})
            return
        line = ""
        try:
            line = self._receive(message)
        finally:  # the view waits for this, also when the kernel is interrupted
            self.send({"done": True, "line": line})
