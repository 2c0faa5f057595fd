// The live view: the same page and the same stepper as in a saved notebook, and a kernel behind it.
function render({ model, el }) {
  el.innerHTML = model.get("page");
  let alive = false, taken = 0;
  const gone = () => (alive ? "" : "No kernel has answered: it is busy, or this cell has to be run again");
  const decisions = mountDecisions(el.firstElementChild, gone, (line) => tell({ done: true, line }));
  const post = (message) => {
    try { model.send(message); } catch { tell({ gone: true }); } // the kernel is no longer there
  };
  const send = (message) => {
    const whole = decisions.withDecision(message);
    if (whole) post(whole);
    else tell({ done: true, line: "" });
  };
  const stepper = mountStepper(el.firstElementChild, { send });
  if (el.querySelector(".als-graph")) mountPlan(el.firstElementChild);
  const tell = (what) => {
    if (what.hello || what.gone) alive = Boolean(what.hello);
    stepper.tell(what);
    decisions.offer();
  };
  const grow = () => {
    model.get("added").slice(taken).forEach((step) => { taken += 1; stepper.add(step); });
    decisions.offer();
  };
  const greet = () => post({ hello: true });
  const lost = () => { tell({ gone: true }); greet(); };
  grow();
  model.on("change:added", grow);
  model.on("msg:custom", tell);
  model.on("comm_live_update", lost);
  greet();
  return () => {
    model.off("change:added", grow);
    model.off("msg:custom", tell);
    model.off("comm_live_update", lost);
  };
}

export default { render };
