// What stepper.js is built from: elements, icons, and the copying of messages.
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

const button = (name, label, action) => {
  const look = { type: "button", className: `als-button als-${name}`, title: label, ariaLabel: label };
  const node = make("button", look, icon(PATHS[name]));
  node.addEventListener("click", action);
  return node;
};

// JupyterLab takes keys such as b, m and x as commands unless the element that has the focus says otherwise.
function quiet(within) {
  within.querySelectorAll("button, input, textarea, summary").forEach((node) => (node.dataset.lmSuppressShortcuts = "true"));
}

// Copy the messages of a step's request from the steps that brought them: the new ones at once, the others when asked.
function fillRequest(steps, position) {
  const refs = steps[position].querySelector(".als-refs:not([data-filled])");
  if (!refs) return;
  const before = steps.slice(0, position + 1).reverse();
  const copy = (number) => {
    const at = `[data-m="${number}"]`;
    const source = before.find((step) => step.querySelector(at))?.querySelector(at);
    if (!source || refs.parentElement.contains(source)) return ""; // the step shows it already
    const node = source.cloneNode(true);
    node.removeAttribute("data-m");
    if (node.tagName === "DETAILS") return node;
    const role = make("span", { className: "als-role", textContent: node.dataset.role });
    node.querySelectorAll("del, .als-whole").forEach((part) => part.remove());
    return make("details", { className: "als-message", open: true }, make("summary", {}, role), ...node.childNodes);
  };
  const [asked, known] = [Number(refs.dataset.asked), Number(refs.dataset.known)];
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
