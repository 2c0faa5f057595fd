// The live view: the same page and the same stepper as in a saved notebook, and a kernel behind it.
function render({ model, el }) {
  el.innerHTML = model.get("page");
  const stepper = mountStepper(el.firstElementChild, { send: (message) => model.send(message) });
  let taken = 0;
  const grow = () => model.get("added").slice(taken).forEach((step) => { taken += 1; stepper.add(step); });
  const greet = () => model.send({ hello: true });
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
