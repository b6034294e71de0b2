// What the judge does: type, drag, press. Everything ends in `change`.
import { answer, left, put, read, state, typed } from "./judge-state.js";

const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const clip = value => Math.min(1, Math.max(0, value));
const STEPS = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

const questionOf = node => {
  const id = node.closest("[data-question]")?.dataset.question;
  return state.sheet.questions.find(question => question.id === id);
};

function set(event, probability, change, moving = false) {
  if (!state.open || (answer(event).probability === probability && !answer(event).abstained)) return;
  put(event, { probability, ...(probability === null ? { abstained: false } : {}) });
  state.last = null;
  change([event], moving);
}

// Takes over what was typed; keeps it in the field, and says why, if it is no per cent.
function commit(field, change, wrong) {
  const value = read(field.value), event = field.dataset.event;
  if (value === undefined || (value !== null && (value < 0 || value > 100))) {
    field.setAttribute("aria-invalid", "true");
    wrong(field.value, event, value === undefined);
    return false;
  }
  field.removeAttribute("aria-invalid");
  set(event, value === null ? null : +(value / 100).toFixed(6), change);
  field.value = typed(answer(event).probability);
  wrong(null, event);
  return true;
}

function press(event, change, wrong) {
  const field = event.target;
  if (!field.matches?.("input[type=text][data-event]")) return;
  if (event.key === "Enter") {
    event.preventDefault();
    if (!commit(field, change, wrong)) return;
    const all = $$("input[type=text][data-event]");
    const next = all[all.indexOf(field) + 1];
    if (next) {
      next.focus();
      next.select();
    } else field.blur();
  } else if (event.key === "Escape") {
    field.removeAttribute("aria-invalid");
    field.value = typed(answer(field.dataset.event).probability);
    wrong(null, field.dataset.event);
    field.select();
  } else if (STEPS[event.key] && !event.altKey && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    const now = read(field.value) ?? 50;
    field.value = String(+(100 * clip((now + STEPS[event.key]) / 100)).toFixed(2));
    commit(field, change, wrong);
  }
}

function tool(box, change) {
  const question = questionOf(box), act = box.closest("[data-act]").dataset.act, events = question.events.map(({ id }) => id);
  if (act === "lock") for (const id of events) put(id, { locked: box.checked && answer(id).probability !== null });
  else for (const id of events) put(id, box.checked ? { probability: null, abstained: true, locked: false } : { abstained: false });
  state.last = null;
  change(events);
}

function drag(curve, change) {
  let moving = null;
  const at = event => +clip((164 - (event.clientY - curve.getBoundingClientRect().top)) / 148).toFixed(2);
  curve.addEventListener("pointerdown", event => {
    const id = event.target.closest("[data-point]")?.dataset.point ?? event.target.dataset.hit;
    if (!id || !state.open || event.button > 0) return;
    moving = id;
    curve.setPointerCapture(event.pointerId);
    event.preventDefault();
    if (event.target.dataset.hit) set(id, at(event), change);
  });
  curve.addEventListener("pointermove", event => moving && set(moving, at(event), change, true));
  for (const end of ["pointerup", "pointercancel"]) curve.addEventListener(end, () => (moving = null));
}

export function wire(change, wrong) {
  const sheet = document.getElementById("sheet");
  sheet.addEventListener("input", ({ target }) => {
    if (target.matches("input[type=range]")) set(target.dataset.event, +target.value / 100, change, true);
  });
  // A press on an open slider answers it where it was pressed, even in the middle, where its thumb would be.
  sheet.addEventListener("pointerup", ({ target }) => {
    if (target.matches("input[type=range]") && answer(target.dataset.event).probability === null) set(target.dataset.event, +target.value / 100, change);
  });
  sheet.addEventListener("change", ({ target }) => {
    if (target.matches("input[type=text][data-event]")) commit(target, change, wrong);
    else if (target.matches("[data-act] input")) tool(target, change);
    else if (target.matches(".why textarea")) {
      const events = questionOf(target).events.map(({ id }) => id).filter(id => answer(id).probability !== null || answer(id).abstained);
      for (const id of events) put(id, { reason: target.value.trim() });
      if (events.length) change(events);
    }
  });
  sheet.addEventListener("keydown", event => press(event, change, wrong));
  sheet.addEventListener("focusin", ({ target }) => target.matches("input[type=text][data-event]") && target.select());
  sheet.addEventListener("click", event => {
    const give = event.target.closest("[data-give]");
    if (!give) return;
    event.preventDefault();
    const question = questionOf(give), rest = left(question) / 100;
    if (rest > 0) set(give.value, +clip((answer(give.value).probability ?? 0) + rest).toFixed(6), change);
  });
  for (const curve of $$("[data-curve]")) drag(curve, change);
}
