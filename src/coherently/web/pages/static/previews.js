// The options or steps of a question, as they are typed, one on each line.
import { element } from "./words.js";

function numbers(lines) {
  const found = lines.map(line => /^(-?\d+(?:[.,]\d+)?)\s*(\D*)$/.exec(line)).filter(Boolean);
  const unit = found.map(each => each[2].trim()).find(Boolean);
  const cuts = [...new Set(found.map(each => each[1].replace(",", ".")))].sort((a, b) => a - b);
  return [cuts, unit ? `\u00a0${unit}` : ""];
}

function labels(kind, shape, lines) {
  if (shape === "named") return lines.map(line => line === "..." ? "something else" : line);
  if (shape === "dates") return [...new Set(lines)].sort().map(line => `by ${line}`);
  const [cuts, unit] = numbers(lines);
  if (shape === "at-most") return cuts.map(cut => `${cut}${unit} or less`);
  if (shape === "at-least") return cuts.map(cut => `${cut}${unit} or more`);
  if (!cuts.length) return [];
  const between = cuts.slice(1).map((cut, i) => `${cuts[i]} to ${cut}${unit}`);
  return [`under ${cuts[0]}${unit}`, ...between, `${cuts[cuts.length - 1]}${unit} or more`];
}

function show(form) {
  const lines = form.elements.lines.value.split("\n").map(line => line.trim()).filter(Boolean);
  const made = labels(form.dataset.lines, form.elements.shape.value, lines);
  form.querySelector("[data-preview]").replaceChildren(...made.map(text => element("span", { class: "opt", text })));
}

export function linePreviews() {
  for (const form of document.querySelectorAll("form[data-lines]")) {
    form.addEventListener("input", () => show(form));
    show(form);
  }
}
