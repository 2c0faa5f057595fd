"""What JupyterLab writes when it saves a notebook: no live views that have a twin in HTML.

A live view can be drawn only as long as the kernel that made it runs. After that, JupyterLab would show "model not
found" in its place, and not the twin, which needs no kernel.
"""

from typing import Any

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
OPTION = f"--FileContentsManager.pre_save_hook={__name__}.drop_live_views"


def drop_live_views(model: dict[str, Any], **_: Any) -> None:
    """Take the live views out of a file that is about to be written; the open page keeps its own."""
    if model["type"] != "notebook":
        return
    for cell in model["content"]["cells"]:
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output["data"].pop(WIDGET_VIEW, None)
