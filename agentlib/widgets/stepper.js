// Turns the rendered steps of a run (see as_html.py) into a stepper. It makes no content of its own: it shows, hides,
// copies and wires. `kernel` is null in a saved page; else it has send(message), and tell(what) is how it answers.
function mountStepper(root, kernel) {
  const PERIOD = 1400; // milliseconds between steps while playing
  const canEdit = "canEdit" in root.dataset;
  const runs = []; // {label, parent, shared, own: [step elements], row, tab}
  let run = 0, at = 0, timer = 0, width = 0, waiting = "", alive = false;

  // -- the parts

  const controls = {
    first: button("first", "First step", () => go(0)),
    back: button("back", "Step back", () => go(at - 1)),
    play: button("play", "Play", () => (timer ? stop() : play())),
    next: button("next", "Next step", () => forward()),
    last: button("last", "Last step", () => go(Infinity)),
  };
  const ahead = make("span", { className: "als-ahead" });
  controls.next.append(ahead);
  const slider = make("input", { type: "range", className: "als-slider", min: 0, step: 1, ariaLabel: "Step" });
  slider.addEventListener("input", () => go(Number(slider.value)));
  const count = make("span", { className: "als-count" });
  const rows = make("div", { className: "als-rows" });
  const strips = make("div", { className: "als-strips" }, rows);
  const line = make("div", { className: "als-line", hidden: true, role: "alert" });
  const spoken = make("div", { className: "als-spoken", ariaLive: "polite" });
  const stage = make("div", { className: "als-stage" });
  const bar = make("div", { className: "als-bar", role: "toolbar", ariaLabel: "Stepping" });
  bar.append(...Object.values(controls), slider, count);

  // -- runs and steps

  const stepsOf = ({ parent, shared, own }) => (parent === null ? own : [...stepsOf(runs[parent]).slice(0, shared), ...own]);
  const steps = () => stepsOf(runs[run]);

  function addRun(label, parent, shared) {
    const number = runs.length;
    const tab = make("button", { type: "button", className: "als-tab", textContent: label });
    tab.addEventListener("click", () => show(number, at));
    const row = make("div", { className: "als-row", role: "group", ariaLabel: label }, tab);
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
    mark.ariaLabel = mark.title = panel.querySelector(".als-head").textContent;
    mark.addEventListener("click", () => show(number, position));
    own.push(Object.assign(panel, { mark }));
    row.append(mark);
    stage.append(panel);
    if (canEdit) panel.querySelectorAll("[data-edit]").forEach((event) => addEdit(event, number, position));
    quiet(panel);
    mark.dataset.lmSuppressShortcuts = "true";
    if (position >= 24) root.dataset.many = "";
  }

  // -- stepping

  function show(number, position) {
    const old = steps()[at];
    keepHeight();
    [run, at] = [number, Math.max(0, Math.min(position, stepsOf(runs[number]).length - 1))];
    const now = steps()[at];
    const hadFocus = old && old.contains(document.activeElement);
    if (old) old.hidden = true;
    fillRequest(steps(), at);
    now.hidden = false;
    if (hadFocus) root.focus({ preventScroll: true });
    if (old) old.mark.removeAttribute("aria-current");
    now.mark.setAttribute("aria-current", "step");
    runs.forEach(({ tab, row }, i) => { tab.setAttribute("aria-pressed", i === run); row.classList.toggle("als-chosen", i === run); });
    const left = now.mark.offsetLeft - strips.clientWidth / 2;
    if (strips.scrollWidth > strips.clientWidth) strips.scrollLeft = left;
    spoken.textContent = now.mark.title;
    refresh();
  }

  // The page below must not jump while one steps: the stage keeps the height of the tallest step so far, within reason.
  function keepHeight() {
    if (stage.clientWidth !== width) stage.style.minHeight = "";
    width = stage.clientWidth;
    if (width) stage.style.minHeight = `${Math.min(stage.offsetHeight, 480)}px`;
  }

  function refresh() {
    const all = steps(), last = at === all.length - 1;
    const more = last && canEdit && alive && all[at].dataset.ahead;
    slider.max = all.length - 1;
    slider.value = at;
    slider.setAttribute("aria-valuetext", `${at} of ${all.length - 1}: ${all[at].dataset.label}`);
    count.textContent = `${at} / ${all.length - 1}`;
    ahead.textContent = waiting ? "waiting" : more || "";
    const off = { first: at === 0, back: at === 0, last, next: last && (!more || Boolean(waiting)), play: all.length === 1 };
    for (const name in off) controls[name].ariaDisabled = off[name];
    controls.next.ariaLabel = more ? `Next step: ${more}` : "Next step";
    root.toggleAttribute("data-waiting", Boolean(waiting));
    root.ariaBusy = Boolean(waiting);
  }

  function refreshEdits() {
    const why = cannotEdit();
    stage.querySelectorAll(".als-edit").forEach((node) => {
      node.ariaDisabled = Boolean(why);
      node.title = why || "Change this and fork the run from here";
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
    controls.play.ariaLabel = controls.play.title = on ? "Pause" : "Play";
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
    open.ariaLabel = `Edit this ${tag}`;
    open.addEventListener("click", () => (cannotEdit() ? say(cannotEdit()) : edit(event, open, number, position)));
    event.querySelector(".als-tag").append(open);
  }

  function edit(event, open, number, position) {
    stop();
    const shown = event.querySelector(".als-text");
    const text = event.dataset.kind === "problem" ? "" : shown.textContent;
    const field = make("textarea", { className: "als-field", value: event.dataset.draft + text, spellcheck: false });
    field.rows = Math.min(10, Math.max(2, Math.ceil(field.value.length / 70) + field.value.split("\n").length - 1));
    field.ariaLabel = open.ariaLabel;
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
    refreshEdits();
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
    refreshEdits();
  }

  function tell({ hello, done, gone, line: text }) {
    if (gone && waiting) say("The kernel stopped before it answered");
    if (hello || gone) alive = Boolean(hello);
    if (done || gone) waiting = "";
    if (done) say(text);
    refresh();
    refreshEdits();
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
  root.dataset.lmSuppressShortcuts = "true";
  Object.assign(root, { role: "group", ariaLabel: "Stepper. Left and right arrows step, space plays.", tabIndex: 0 });
  root.addEventListener("keydown", onKey);
  const given = [...root.querySelectorAll(".als-run")];
  const goal = root.querySelector(".als-goal");
  given.forEach(({ dataset }) => addRun(dataset.label, "parent" in dataset ? Number(dataset.parent) : null, Number(dataset.shared)));
  given.forEach((section, number) => section.querySelectorAll(":scope > .als-step").forEach((step) => addStep(step, number)));
  root.replaceChildren(goal, bar, strips, line, spoken, stage);
  quiet(root);
  show(0, 0);
  refreshEdits();
  return { add, tell };
}
