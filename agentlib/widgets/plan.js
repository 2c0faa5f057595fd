// The graph of a plan: a task that is pressed opens below it, as it was in the step that is shown. Its text stands in the
// last step that changed it, and is moved from there, not copied: what one opened in it stays open.
function mountPlan(root) {
  const stage = root.querySelector(".als-stage");
  const place = make("div", { className: "als-opened", role: "region", ariaLabel: "The task that is open" });
  let step = null, chosen = "", panel = null, home = null;

  const nodes = () => [...step.querySelectorAll(".als-node")];
  const nodeOf = (key) => nodes().find((node) => node.dataset.task === key);

  // Give the text of a task, from the last of the run's own steps, up to the one that is shown, that holds it.
  function panelOf(key) {
    const row = step.mark.parentElement;
    const own = [...stage.children].filter((each) => each.mark.parentElement === row);
    const until = own.slice(0, own.indexOf(step) + 1).reverse();
    return until.flatMap((each) => [...each.querySelectorAll(":scope > .als-panels > .als-task")]).find((each) => each.dataset.task === key);
  }

  function show() {
    if (panel) home.replaceWith(panel);
    [panel, home] = [null, null];
    const node = nodeOf(chosen);
    const found = node && panelOf(chosen);
    if (found) {
      [panel, home] = [found, document.createComment("")];
      panel.replaceWith(home);
      panel.open = true;
      place.replaceChildren(panel);
    } else place.replaceChildren(make("div", { className: "als-note", textContent: nodes().length ? "Press a task to open it." : "" }));
    nodes().forEach((each) => each.setAttribute("aria-expanded", String(each === node)));
  }

  // Make the tasks of the step that is shown into buttons.
  function arrive(now) {
    step = now;
    step.querySelector(".als-graph svg")?.setAttribute("role", "group");
    step.querySelector(".als-graph").after(place);
    nodes().forEach((node) => {
      node.setAttribute("role", "button");
      node.setAttribute("tabindex", "0");
      node.dataset.lmSuppressShortcuts = "true";
    });
    show();
  }

  function press(node) {
    chosen = node.dataset.task === chosen ? "" : node.dataset.task;
    show();
  }

  function onKey(event) {
    const node = event.target.closest(".als-node");
    if (event.key === "Escape" && panel && (node || place.contains(event.target)) && event.target.tagName !== "TEXTAREA") {
      const back = nodeOf(chosen);
      press(back);
      back.focus();
    } else if (node && (event.key === "Enter" || event.key === " ")) press(node);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  stage.addEventListener("click", (event) => {
    const node = event.target.closest(".als-node");
    if (node) press(node);
  });
  root.addEventListener("keydown", onKey, true);
  const look = () => {
    const now = stage.querySelector(":scope > .als-step:not([hidden])");
    if (now && now !== step) arrive(now);
  };
  new MutationObserver(look).observe(stage, { subtree: true, attributes: true, attributeFilter: ["hidden"] });
  root.ariaLabel = "Plan view. Left and right arrows step, space plays, Enter opens a task.";
  look();
}
