// Formulas are read while they are typed: the fault under the caret, equal meanings, and names that are spelt alike.
import { ask } from "./asking.js";
import { element, icon, say } from "./words.js";

const WAIT = 120;
const running = new WeakMap();

function line(name, ...parts) {
  return element("p", {}, icon(name), element("span", {}, ...parts));
}

function sentence(text) {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

function suggestion(field, { name, known }) {
  const quoted = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const put = field.value.replace(new RegExp(`(?<![\\w.@:-])${quoted}(?![\\w])`, "g"), known);
  const button = element("button", { type: "button", class: "linkish", text: known });
  button.addEventListener("click", () => {
    field.value = put;
    field.focus();
    read(field, 0);
  });
  return line("flag", element("code", { text: name }), ` ${say("live.new")} `, button, "?");
}

function lines(field, found) {
  const made = found.suggestions.map(each => suggestion(field, each));
  const twice = found.same_as ? say("live.same", { number: found.same_as }) : found.opposite_of ? say("live.opposite", { number: found.opposite_of }) : null;
  if (twice) made.push(line("same", twice));
  const spelt = new Set(found.suggestions.map(each => each.name));
  const said = found.remarks.filter(remark => !(twice && /question \d+/.test(remark)) && ![...spelt].some(name => remark.startsWith(`“${name}”`)));
  made.push(...said.map(remark => line("flag", sentence(remark))));
  if (!made.length) made.push(line("ok", found.about ? say("live.about", { about: found.about }) : say("live.fine")));
  return made;
}

function show(field, found) {
  const box = document.getElementById(field.getAttribute("aria-describedby"));
  const wrong = Boolean(found?.fault);
  box.classList.toggle("wrong", wrong);
  field.setAttribute("aria-invalid", wrong);
  if (!found) box.replaceChildren();
  else if (wrong) {
    const caret = element("span", { class: "caret", "aria-hidden": "true", text: `${" ".repeat(Math.max(found.column - 1, 0))}^` });
    box.replaceChildren(...(found.column ? [caret] : []), line("bad", sentence(found.fault)));
    caret.scrollLeft = field.scrollLeft;
  } else box.replaceChildren(...lines(field, found));
  const button = field.form?.querySelector("[data-say-same]");
  if (button) {
    button.dataset.say ??= button.textContent;
    button.textContent = found?.same_as || found?.opposite_of ? button.dataset.saySame : button.dataset.say;
  }
}

function read(field, wait = WAIT) {
  running.get(field)?.abort();
  const stop = new AbortController();
  running.set(field, stop);
  if (!field.value.trim()) return show(field, null);
  setTimeout(async () => {
    if (stop.signal.aborted) return;
    const body = { text: field.value, kind: field.dataset.parse };
    try {
      const found = await ask("POST", `/panels/${document.body.dataset.panel}/read`, body, { signal: stop.signal });
      if (!stop.signal.aborted) show(field, found);
    } catch (error) {
      if (error.name !== "AbortError" && !stop.signal.aborted) show(field, null);
    }
  }, wait);
}

export function readDrafts() {
  document.addEventListener("input", event => { if (event.target.dataset?.parse) read(event.target); });
  document.addEventListener("scroll", event => {
    if (!event.target.dataset?.parse) return;
    const caret = document.getElementById(event.target.getAttribute("aria-describedby")).querySelector(".caret");
    if (caret) caret.scrollLeft = event.target.scrollLeft;
  }, true);
  for (const field of document.querySelectorAll("[data-parse]")) if (field.value) read(field, 0);
}
