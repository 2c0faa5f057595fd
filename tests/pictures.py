"""Makes the README's pictures of the Stepper again: `python tests/pictures.py` (needs playwright and chromium)."""

from __future__ import annotations

import shutil
import sys
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

# ruff: noqa: E402 - the package is found first
from PIL import Image
from playwright.sync_api import sync_playwright

from agentlib import LLM, ReAct, Stepper
from agentlib.widgets.as_html import asset, page
from agentlib.world import calculator, search, weather

GOAL = "Which university did the CEO of DeepMind attend?"
FALSE = "The CEO of DeepMind is John Jumper."
FOLDER = ROOT / "notebooks" / "images"
FONTS = '--jp-ui-font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif'
THEMES = {
    "stepper.png": ("true", "#fff", FONTS),
    "stepper-dark.png": (
        "false",
        "#111",
        f"{FONTS}; --jp-layout-color1: #111; --jp-layout-color2: #2a2a2a; --jp-border-color2: #444;"
        " --jp-content-font-color1: rgba(255, 255, 255, 0.87)",
    ),
}
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def make_stepper() -> Stepper:
    """Give a run of the offline model and a fork of it, in which an observation is false."""
    agent = ReAct(LLM("offline"), tools=[search, weather, calculator])
    stepper = Stepper(agent.steps(GOAL), agent)
    if complaint := stepper.receive({"fork": {"run": 0, "step": 2, "field": "observation", "text": FALSE}}):
        raise SystemExit(complaint)
    return stepper


def make_page(stepper: Stepper, theme: str, background: str, variables: str) -> str:
    """Give a page that shows the stepper as a notebook with a kernel does."""
    mount = 'mountStepper(document.querySelector(".als"), { send() {} }).tell({ hello: true });'
    return (
        f'<!doctype html><meta charset="utf-8"><style>{asset("stepper.css")}</style>'
        f"<body data-jp-theme-light='{theme}' style='margin: 12px; background: {background}; {variables}'>"
        f"{page(stepper._runs, can_edit=True)}<script>{asset('parts.js')}\n{asset('stepper.js')}\n{mount}</script>"
    )


def main() -> None:
    """Write one picture for each theme."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    stepper = make_stepper()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, theme in THEMES.items():
            tab = browser.new_page(viewport={"width": 920, "height": 640}, device_scale_factor=1.5)
            tab.set_content(make_page(stepper, *theme))
            tab.click(".als-mark >> nth=3")
            tab.mouse.move(0, 0)
            picture = Image.open(BytesIO(tab.locator(".als").screenshot())).convert("RGB")
            picture.quantize(128).save(FOLDER / name, optimize=True)
            print(f"{name}: {(FOLDER / name).stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
