// Histograms that are drawn: a finger or a mouse over the bars sets the fields below them, which are what is sent.
const TALL = 100;

function redraw(field) {
  const heights = [...field.querySelectorAll(".heights input")].map(each => Math.max(0, Number(each.value) || 0));
  const most = Math.max(TALL, ...heights);
  field.querySelectorAll(".bar").forEach((bar, i) => {
    const height = (56 * heights[i]) / most;
    bar.setAttribute("y", 58 - height);
    bar.setAttribute("height", height + 1);
  });
}

function paint(field, event) {
  const box = field.querySelector("[data-bars]").getBoundingClientRect();
  const inputs = field.querySelectorAll(".heights input");
  const place = Math.min(inputs.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * inputs.length)));
  const share = Math.min(1, Math.max(0, 1 - (event.clientY - box.top) / box.height));
  inputs[place].value = Math.round(TALL * share);
  redraw(field);
}

export function histograms(root) {
  for (const field of root.querySelectorAll("[data-histogram]")) {
    const bars = field.querySelector("[data-bars]");
    let drawing = false;
    bars.addEventListener("pointerdown", event => {
      if (event.button > 0) return;
      drawing = true;
      bars.setPointerCapture(event.pointerId);
      event.preventDefault();
      paint(field, event);
    });
    bars.addEventListener("pointermove", event => drawing && paint(field, event));
    for (const end of ["pointerup", "pointercancel"]) bars.addEventListener(end, () => (drawing = false));
    field.addEventListener("input", () => redraw(field));
  }
}
