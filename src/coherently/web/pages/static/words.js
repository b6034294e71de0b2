// Texts of the catalogue, with their places filled. Text is set as text, never as markup.
import texts from "./texts.js";

export function say(key, values = {}) {
  const found = texts[key];
  const form = Array.isArray(found) ? found[values.count === 1 ? 0 : 1] : found;
  return form.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export function element(tag, { text, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
  svg.setAttribute("class", "ico");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}
