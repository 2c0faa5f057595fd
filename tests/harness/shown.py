"""A Stepper in a browser, used as a person would."""

import re
import statistics

# The click comes at the start of a frame; the message is handled after that frame was laid out and painted.
CLICK_TIMES = """async (root) => {
    const times = [];
    for (let i = 0; i < 20; i++) {
        const button = root.querySelector(i % 10 < 5 ? ".als-next" : ".als-back");
        times.push(await new Promise((resolve) => requestAnimationFrame(() => {
            const start = performance.now(), channel = new MessageChannel();
            channel.port1.onmessage = () => resolve(performance.now() - start);
            button.click();
            channel.port2.postMessage(0);
        })));
    }
    return times;
}"""

CONTROLS = """
    const controls = (root) => [...root.querySelectorAll("a, button, input, summary, textarea, g[tabindex='0']")]
        .filter((node) => node.checkVisibility({ visibilityProperty: true }));
    const named = (node) => `${node.tagName} ${node.ariaLabel || node.textContent.trim()}`;
    const focused = (root) => {
        const node = document.activeElement, look = getComputedStyle(node.querySelector(":scope > rect") || node);
        const drawn = look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 2;
        return root.contains(node) ? [named(node), drawn && node.matches(":focus-visible")] : ["outside", false];
    };
"""


class Shown:
    """One Stepper on a page."""

    def __init__(self, root):
        self.root, self.page = root, root.page
        self.root.wait_for()

    @classmethod
    def in_cell(cls, page, number: int) -> "Shown":
        """The Stepper of a cell, counted from 0."""
        return cls(page.locator(f".jp-Notebook .jp-Cell >> nth={number}").locator(".als"))

    def part(self, selector: str):
        """A part of the step that is shown."""
        return self.root.locator(f".als-step:not([hidden]) {selector}")

    def press(self, name: str) -> None:
        self.root.locator(f".als-{name}").click()

    def press_in_vain(self, name: str) -> None:
        """Press what is marked as disabled, which `press` would wait for."""
        self.root.locator(f".als-{name}").dispatch_event("click")

    def key(self, key: str) -> None:
        self.root.press(key)

    def edit(self, kind: str, text: str) -> None:
        event = self.part(f".als-event[data-kind={kind}]")
        event.get_by_role("button").click()
        event.get_by_role("textbox").fill(text)
        event.get_by_text("Fork from here").click()

    def says(self, text: str) -> None:
        self.root.locator(".als-step:not([hidden])", has_text=text).wait_for()

    def is_at(self, count: str) -> None:
        self.root.locator(".als-count", has_text=re.compile(f"^{count}$")).wait_for()

    def step(self) -> str:
        """The step that is shown, as a person reads it."""
        return self.root.locator(".als-step:not([hidden])").inner_text()

    def last(self) -> int:
        """The number of the last step of the run that is shown."""
        return int(self.root.locator(".als-count").inner_text().split("/")[1])

    def wait_for_kernel(self) -> None:
        """Wait until the kernel has answered, so that steps can be edited."""
        self.root.locator(".als-edit[aria-disabled=false]").first.wait_for(state="attached")

    def wait_for_answer(self) -> None:
        """Wait until the kernel has done what it was asked for."""
        self.root.locator("xpath=self::*[not(@data-waiting)]").wait_for()

    def waits_for_kernel(self) -> bool:
        return self.root.get_attribute("data-waiting") is not None

    def controls(self) -> list[str]:
        """Give every control that can be seen, in order, by its role or tag and its name or text."""
        return self.root.evaluate(f"(root) => {{ {CONTROLS} return controls(root).map(named); }}")

    def reached(self) -> list[tuple[str, bool]]:
        """Go through the Stepper with the Tab key. Give each control that got the focus, and whether one sees that."""
        self.root.focus()
        seen = []
        for _ in self.controls():
            self.page.keyboard.press("Tab")
            seen.append(tuple(self.root.evaluate(f"(root) => {{ {CONTROLS} return focused(root); }}")))
        return seen

    def time_clicks(self) -> tuple[float, float]:
        """Milliseconds from a click to the drawn step: the median by the clock, and the mean of the page's own work.

        The work is processor time, so that it does not fail when other programs take their share; the best of five
        rounds, since what disturbs a measurement only adds to it.
        """
        devtools = self.page.context.new_cdp_session(self.page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

        def work() -> float:
            values = devtools.send("Performance.getMetrics")["metrics"]
            return next(1000 * value["value"] for value in values if value["name"] == "TaskDuration")

        clock, cost = [], []
        for _ in range(5):
            before = work()
            times = self.root.evaluate(CLICK_TIMES)
            cost.append((work() - before) / len(times))
            clock.append(statistics.median(times))
        devtools.detach()
        return min(clock), min(cost)
