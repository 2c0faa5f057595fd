// Turns the rendered steps of a run (see as_html.py) into a stepper. It makes no content of its own: it shows, hides,
// copies and wires. `kernel` is null in a saved page; else it has send(message), and tell(what) is how it answers.
function mountStepper(root, kernel) {
  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const icon = (path) => {
    const box = make("span", { className: "als-icon" });
    box.innerHTML = `<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="${path}"/></svg>`;
    return box;
  };
  const PATHS = {
    first: "M4 3.5v9M12 3.5 7.5 8l4.5 4.5", back: "M10 3.5 5.5 8l4.5 4.5", play: "M5 3.5v9L12.5 8z", pause: "M5 3.5v9M11 3.5v9",
    next: "M6 3.5 10.5 8 6 12.5", last: "M12 3.5v9M4 3.5 8.5 8 4 12.5",
  };
  const PERIOD = 1400; // milliseconds between steps while playing
  const canEdit = "canEdit" in root.dataset;
  const runs = []; // {label, parent, shared, own: [step elements], row, tab}
  let run = 0, at = 0, timer = 0, width = 0, waiting = "", alive = false;

  // -- the parts

  const button = (name, label, action) => {
    const node = make("button", { type: "button", className: `als-button als-${name}`, title: label }, icon(PATHS[name]));
    node.setAttribute("aria-label", label);
    node.addEventListener("click", action);
    return node;
  };
  const controls = {
    first: button("first", "First step", () => go(0)),
    back: button("back", "Step back", () => go(at - 1)),
    play: button("play", "Play", () => (timer ? stop() : play())),
    next: button("next", "Next step", () => forward()),
    last: button("last", "Last step", () => go(Infinity)),
  };
  const ahead = make("span", { className: "als-ahead" });
  controls.next.append(ahead);
  const slider = make("input", { type: "range", className: "als-slider", min: 0, step: 1 });
  slider.setAttribute("aria-label", "Step");
  slider.addEventListener("input", () => go(Number(slider.value)));
  const count = make("span", { className: "als-count" });
  const rows = make("div", { className: "als-rows" });
  const strips = make("div", { className: "als-strips" }, rows);
  const line = make("div", { className: "als-line", hidden: true });
  line.setAttribute("role", "alert");
  const spoken = make("div", { className: "als-spoken" });
  spoken.setAttribute("aria-live", "polite");
  const stage = make("div", { className: "als-stage" });
  const bar = make("div", { className: "als-bar" }, ...Object.values(controls), slider, count);
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", "Stepping");

  // -- runs and steps

  const stepsOf = ({ parent, shared, own }) => (parent === null ? own : [...stepsOf(runs[parent]).slice(0, shared), ...own]);
  const steps = () => stepsOf(runs[run]);

  function addRun(label, parent, shared) {
    const number = runs.length;
    const tab = make("button", { type: "button", className: "als-tab", textContent: label });
    tab.addEventListener("click", () => show(number, at));
    const row = make("div", { className: "als-row" }, tab);
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", label);
    for (let i = 0; i < shared; i++) row.append(make("span", { className: "als-shared" }));
    rows.append(row);
    runs.push({ label, parent, shared, own: [], row, tab });
    root.toggleAttribute("data-forked", runs.length > 1);
    return runs.at(-1);
  }

  function addStep(details, number) {
    const { own, shared, row } = runs[number];
    const position = shared + own.length;
    const panel = make("div", { className: "als-step", hidden: true }, ...details.childNodes);
    Object.assign(panel.dataset, details.dataset);
    panel.firstElementChild.replaceWith(make("div", { className: "als-head" }, ...panel.firstElementChild.childNodes));
    const mark = make("button", { type: "button", className: "als-mark" }, make("i"), make("span", { textContent: panel.dataset.label }));
    Object.assign(mark.dataset, { kind: panel.dataset.kind, flags: panel.dataset.flags || "" });
    mark.title = panel.querySelector(".als-head").textContent;
    mark.setAttribute("aria-label", mark.title);
    mark.addEventListener("click", () => show(number, position));
    own.push(Object.assign(panel, { mark }));
    row.append(mark);
    stage.append(panel);
    if (canEdit) panel.querySelectorAll("[data-edit]").forEach((event) => addEdit(event, number, position));
    quiet(panel);
    quiet(row);
    rows.style.setProperty("--als-steps", Math.max(...runs.map((each) => stepsOf(each).length)));
    root.toggleAttribute("data-many", stepsOf(runs[number]).length > 24 || "many" in root.dataset);
  }

  // Copy the messages of a step's request from the steps that brought them: the new ones at once, the others when asked.
  function fillRequest(position) {
    const refs = steps()[position].querySelector(".als-refs:not([data-filled])");
    if (!refs) return;
    const before = steps().slice(0, position + 1).reverse();
    const copy = (number) => {
      const sources = before.flatMap((step) => [...step.querySelectorAll(`[data-m="${number}"]`)]);
      const source = sources.find((node) => !refs.parentElement.contains(node));
      if (!source) return "";
      const node = source.cloneNode(true);
      node.removeAttribute("data-m");
      if (node.tagName === "DETAILS") return node;
      const role = make("span", { className: "als-role", textContent: node.dataset.role });
      node.querySelectorAll("del, .als-whole").forEach((part) => part.remove());
      return make("details", { className: "als-message", open: true }, make("summary", {}, role), ...node.childNodes);
    };
    const { asked, known } = { asked: Number(refs.dataset.asked), known: Number(refs.dataset.known) };
    const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
    const fresh = range(known, asked).map(copy).filter(Boolean);
    fresh.forEach((node) => node.classList.add("als-new"));
    const earlier = make("details", { className: "als-earlier" });
    earlier.append(make("summary", { textContent: `${known} earlier message${known === 1 ? "" : "s"}` }));
    earlier.addEventListener("toggle", () => { earlier.append(...range(0, known).map(copy)); quiet(earlier); }, { once: true });
    refs.replaceChildren(...(known ? [earlier] : []), ...fresh);
    refs.dataset.filled = "";
    quiet(refs);
  }

  // -- stepping

  function show(number, position) {
    const old = steps()[at];
    keepHeight();
    [run, at] = [number, Math.max(0, Math.min(position, stepsOf(runs[number]).length - 1))];
    const now = steps()[at];
    if (old) old.hidden = true;
    fillRequest(at);
    now.hidden = false;
    if (old) old.mark.removeAttribute("aria-current");
    now.mark.setAttribute("aria-current", "step");
    runs.forEach(({ tab, row }, i) => { tab.setAttribute("aria-pressed", i === run); row.classList.toggle("als-chosen", i === run); });
    const left = now.mark.offsetLeft - strips.clientWidth / 2;
    if (strips.scrollWidth > strips.clientWidth) strips.scrollLeft = left;
    spoken.textContent = now.mark.title;
    refresh();
  }

  // The page below must not jump while one steps: the stage keeps the height of the tallest step shown so far.
  function keepHeight() {
    if (stage.clientWidth !== width) stage.style.minHeight = "";
    width = stage.clientWidth;
    if (width) stage.style.minHeight = `${stage.offsetHeight}px`;
  }

  function refresh() {
    const all = steps(), last = at === all.length - 1;
    const more = last && canEdit && alive && all[at].dataset.ahead;
    slider.max = all.length - 1;
    slider.value = at;
    slider.style.setProperty("--als-done", all.length > 1 ? at / (all.length - 1) : 1);
    slider.setAttribute("aria-valuetext", `${at} of ${all.length - 1}: ${all[at].dataset.label}`);
    count.textContent = `${at} / ${all.length - 1}`;
    ahead.textContent = waiting ? "waiting" : more || "";
    const dim = (name, on) => controls[name].setAttribute("aria-disabled", on);
    dim("first", at === 0);
    dim("back", at === 0);
    dim("last", last);
    dim("next", last && (!more || Boolean(waiting)));
    dim("play", all.length === 1);
    controls.next.setAttribute("aria-label", more ? `Next step: ${more}` : "Next step");
    root.toggleAttribute("data-waiting", Boolean(waiting));
    root.setAttribute("aria-busy", Boolean(waiting));
    root.querySelectorAll(".als-edit").forEach((node) => {
      node.setAttribute("aria-disabled", Boolean(cannotEdit()));
      node.title = cannotEdit() || "Change this and fork the run from here";
    });
  }

  const go = (position) => { stop(); show(run, position); };

  function forward() {
    stop();
    if (at < steps().length - 1) return show(run, at + 1);
    if (!waiting && canEdit && alive && steps()[at].dataset.ahead) ask({ next: { run, shown: steps().length } });
  }

  function play() {
    if (at === steps().length - 1) show(run, 0);
    timer = setInterval(() => {
      if (!root.isConnected || at >= steps().length - 1) return stop();
      show(run, at + 1);
      if (at === steps().length - 1) stop();
    }, PERIOD);
    playing(true);
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    playing(false);
  }

  function playing(on) {
    controls.play.firstChild.replaceWith(icon(on ? PATHS.pause : PATHS.play));
    controls.play.title = on ? "Pause" : "Play";
    controls.play.setAttribute("aria-label", controls.play.title);
  }

  // -- editing, with a kernel

  const cannotEdit = () => {
    if (!kernel) return "Editing needs a running kernel: run this cell";
    if (!alive) return "No kernel has answered: it is busy, or this cell has to be run again";
    return waiting ? "Waiting for the kernel" : "";
  };

  function addEdit(event, number, position) {
    const open = make("button", { type: "button", className: "als-edit", textContent: "Edit" });
    const tag = event.querySelector(".als-tag").firstChild.textContent.trim();
    open.setAttribute("aria-label", `Edit this ${tag}`);
    open.addEventListener("click", () => (cannotEdit() ? say(cannotEdit()) : edit(event, open, number, position)));
    event.querySelector(".als-tag").append(open);
  }

  function edit(event, open, number, position) {
    const shown = event.querySelector(".als-text");
    const text = event.dataset.kind === "problem" ? "" : shown.textContent;
    const field = make("textarea", { className: "als-field", value: event.dataset.draft + text, spellcheck: false });
    field.rows = Math.min(10, Math.max(2, Math.ceil(field.value.length / 70) + field.value.split("\n").length - 1));
    field.setAttribute("aria-label", open.getAttribute("aria-label"));
    const fork = make("button", { type: "button", className: "als-fork", textContent: "Fork from here" });
    const cancel = make("button", { type: "button", className: "als-cancel", textContent: "Cancel" });
    const form = make("div", { className: "als-form" }, field, make("div", {}, fork, cancel));
    const close = () => { form.remove(); shown.hidden = open.hidden = false; open.focus(); };
    cancel.addEventListener("click", close);
    fork.addEventListener("click", () => {
      if (cannotEdit()) return say(cannotEdit());
      close();
      ask({ fork: { run: number, step: position, field: event.dataset.edit, text: field.value } });
    });
    field.addEventListener("keydown", (key) => { if (key.key === "Escape") close(); });
    shown.hidden = open.hidden = true;
    event.append(form);
    quiet(form);
    field.focus();
  }

  function ask(message) {
    stop();
    waiting = Object.keys(message)[0];
    say("");
    kernel.send(message);
    refresh();
  }

  function say(text) {
    line.textContent = text;
    line.hidden = !text;
  }

  // -- what a view calls

  function add({ run: number, label, parent, shared, html }) {
    const isNew = number === runs.length, isLast = number === run && at === steps().length - 1;
    if (isNew) addRun(label, parent, shared);
    addStep(make("template", { innerHTML: html }).content.firstElementChild, number);
    if (waiting && isNew) show(number, shared);
    else if (waiting === "next" && isLast) show(number, Infinity);
    else refresh();
  }

  function tell({ hello, done, gone, line: text }) {
    if (gone && waiting) say("The kernel stopped before it answered");
    if (hello || gone) alive = Boolean(hello);
    if (done || gone) waiting = "";
    if (done) say(text);
    refresh();
  }

  // JupyterLab takes keys such as b, m and x as commands unless the element that has the focus says otherwise.
  function quiet(within) {
    within.querySelectorAll("button, input, textarea, summary").forEach((node) => (node.dataset.lmSuppressShortcuts = "true"));
  }

  function onKey(event) {
    const tag = event.target.tagName;
    if (tag === "TEXTAREA" || event.altKey || event.ctrlKey || event.metaKey) return;
    const keys = { ArrowLeft: () => go(at - 1), ArrowRight: forward, Home: () => go(0), End: () => go(Infinity) };
    if (tag !== "BUTTON" && tag !== "SUMMARY") keys[" "] = () => (timer ? stop() : play());
    if (!keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }

  root.dataset.mounted = "";
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = "true";
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Stepper. Left and right arrows step, space plays.");
  root.addEventListener("keydown", onKey);
  const given = [...root.querySelectorAll(".als-run")];
  const goal = root.querySelector(".als-goal");
  given.forEach(({ dataset }) => addRun(dataset.label, "parent" in dataset ? Number(dataset.parent) : null, Number(dataset.shared)));
  given.forEach((section, number) => section.querySelectorAll(":scope > .als-step").forEach((step) => addStep(step, number)));
  root.replaceChildren(goal, bar, strips, line, spoken, stage);
  quiet(root);
  show(0, 0);
  return { add, tell };
}
