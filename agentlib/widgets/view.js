// The live view: the same page and the same stepper as in a saved notebook, and a kernel behind it.
function render({ model, el }) {
  el.innerHTML = model.get("page");
  const send = (message) => {
    try { model.send(message); } catch { stepper.tell({ gone: true }); } // the kernel is no longer there
  };
  const stepper = mountStepper(el.firstElementChild, { send });
  let taken = 0;
  const grow = () => model.get("added").slice(taken).forEach((step) => { taken += 1; stepper.add(step); });
  const greet = () => send({ hello: true });
  const lost = () => { stepper.tell({ gone: true }); greet(); };
  grow();
  model.on("change:added", grow);
  model.on("msg:custom", stepper.tell);
  model.on("comm_live_update", lost);
  greet();
  return () => {
    model.off("change:added", grow);
    model.off("msg:custom", stepper.tell);
    model.off("comm_live_update", lost);
  };
}

export default { render };
