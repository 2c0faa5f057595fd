// The buttons under a call that waits for a person. A decision is a step of the run like any other: it goes to the
// kernel with the press of next. `gone` says why nothing can be decided just now, or ""; `say` shows a line.
function mountDecisions(root, gone, say) {
  const FORMS = {
    reject: { open: "Reject…", label: "Why not? The model reads this.", send: "Reject" },
    edit: { open: "Edit…", label: "The arguments, as JSON. The call waits again with them.", send: "Use these arguments" },
  };
  let decision = null;

  const plain = (className, textContent) => make("button", { type: "button", className, textContent });
  const isLast = ({ mark }) => mark === mark.parentElement.lastElementChild;

  // Build the buttons where a call waits now, and take them away where it was decided.
  function offer() {
    root.querySelectorAll(".als-call-waiting").forEach((box) => {
      const open = isLast(box.closest(".als-step"));
      if (open && !box.querySelector(".als-decide")) build(box);
      if (!open) box.querySelectorAll(".als-decide, .als-how").forEach((part) => part.remove());
    });
    root.querySelectorAll(".als-decide button:not(.als-cancel)").forEach((node) => {
      node.ariaDisabled = Boolean(gone());
      node.title = gone();
    });
  }

  function build(box) {
    const approve = plain("als-approve", "Approve");
    approve.addEventListener("click", () => decide({ verdict: "approve" }, box));
    const choices = make("div", { className: "als-choices" }, approve);
    const place = make("div", { className: "als-decide", role: "group", tabIndex: -1 }, choices);
    place.ariaLabel = `Waits for your decision: ${box.dataset.call}`;
    for (const verdict in FORMS) {
      const open = plain("als-choice", FORMS[verdict].open);
      open.addEventListener("click", () => ask(verdict, box, choices, open));
      choices.append(open);
    }
    box.querySelector(".als-how")?.remove();
    box.append(place);
    quiet(box);
  }

  // Ask for the reason or the arguments. What was typed stays until the run has gone on.
  function ask(verdict, box, choices, opener) {
    const { label, send } = FORMS[verdict];
    const text = verdict === "edit" ? box.dataset.arguments : "";
    const field = make("textarea", { className: "als-field", value: text, spellcheck: false });
    field.rows = Math.min(12, Math.max(2, text.split("\n").length));
    const [go, cancel] = [plain("als-fork", send), plain("als-cancel", "Cancel")];
    const form = make("div", { className: "als-form" }, make("label", {}, label, field), make("div", {}, go, cancel));
    const close = () => { form.remove(); choices.hidden = false; opener.focus(); };
    go.addEventListener("click", () => decide({ verdict, text: field.value }, box));
    cancel.addEventListener("click", close);
    field.addEventListener("keydown", (key) => { if (key.key === "Escape") close(); });
    choices.hidden = true;
    choices.after(form);
    quiet(form);
    field.focus();
  }

  function decide(made, { dataset }) {
    if (gone()) return say(gone());
    decision = dataset.id ? { ...made, call: dataset.id } : made; // of several, one is named
    root.querySelector(".als-next").click();
    decision = null;
  }

  // Give a request for a step as it is sent: with the decision, where a call waits. null: nobody has decided yet.
  function withDecision(message) {
    const place = root.querySelector(".als-step:not([hidden]) .als-decide");
    if (!message.next || !place) return message;
    if (!decision) place.focus(); // not on a button: who keeps pressing next must not approve by it
    return decision && { next: { ...message.next, decision } };
  }

  return { offer, withDecision };
}
