// The options or steps of a question, as they are typed, one on each line.
import { element } from "./words.js";

function numbers(lines) {
  const found = lines.map(line => /^([-+\u2212]?\d(?:[\d.,\u00a0\u202f\u2009 '\u2019_]*\d)?)\s*(\D*)$/.exec(line)).filter(Boolean);
  const unit = found.map(each => each[2].trim()).find(Boolean);
  const cuts = [...new Set(found.map(each => read(each[1])))].sort((a, b) => a - b);
  return [cuts.map(readable), unit ? `\u00a0${unit}` : ""];
}

// A number as the service reads it. What it would ask about, since it can be read in two ways, is not shown as either.
function read(typed) {
  const clean = typed.replace(/[\u00a0\u202f\u2009 '\u2019_]/g, "").replace("\u2212", "-"), last = Math.max(clean.lastIndexOf("."), clean.lastIndexOf(","));
  if (last < 0) return Number(clean);
  const whole = clean.slice(0, last), rest = clean.slice(last + 1), sign = clean[last];
  if (whole.includes(sign)) return Number(clean.replaceAll(sign, ""));
  if (rest.length === 3 && /^[-+]?[1-9]\d{0,2}$/.test(whole)) return NaN;
  return Number(`${whole.replace(/[.,]/g, "")}.${rest}`);
}

function readable(number) {
  if (Number.isNaN(number)) return "?";
  const [whole, rest] = String(number).split(".");
  const grouped = whole.replace("-", "").length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return rest ? `${grouped}.${rest}` : grouped;
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
