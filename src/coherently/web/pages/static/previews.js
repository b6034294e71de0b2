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

// Days as the service reads them; what it would ask about, or cannot read, is not shown as any.
function dates(lines) {
  const days = [...new Set(lines.map(day))].sort((a, b) => a - b), read = days.filter(each => !Number.isNaN(each));
  const several = new Set(read.map(each => new Date(each).getUTCFullYear())).size > 1;
  const form = { day: "numeric", month: "long", timeZone: "UTC", ...(several && { year: "numeric" }) };
  return days.map(each => `by ${Number.isNaN(each) ? "?" : new Date(each).toLocaleDateString("en-GB", form)}`);
}

function day(typed) {
  const text = typed.toLowerCase().split(/\s+/).join(" ");
  let found, ways = [];
  if ((found = /^(\d{4})([-./])(\d{1,2})\2(\d{1,2})$/.exec(text))) ways = [[found[1], found[3], found[4]]];
  else if ((found = /^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})$/.exec(text))) ways = [[found[3], found[2], found[1]]];
  else if ((found = /^(\d{1,2})([-/])(\d{1,2})\2(\d{4})$/.exec(text))) ways = [[found[4], found[3], found[1]], [found[4], found[1], found[3]]];
  else if ((found = /^(\d{1,2})(?:st|nd|rd|th)?\.? (?:of )?([a-z]+)\.?,? (\d{4})$/.exec(text))) ways = [[found[3], month(found[2]), found[1]]];
  else if ((found = /^([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/.exec(text))) ways = [[found[3], month(found[1]), found[2]]];
  const known = new Set(ways.map(way => time(...way.map(Number))).filter(each => !Number.isNaN(each)));
  return known.size === 1 ? [...known][0] : NaN;
}

const MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];

function month(name) {
  return name === "sept" ? 9 : MONTHS.findIndex(each => each === name || each.slice(0, 3) === name) + 1;
}

function time(year, number, date) {
  const found = new Date(Date.UTC(year, number - 1, date));
  return number >= 1 && found.getUTCMonth() === number - 1 && found.getUTCDate() === date ? found.getTime() : NaN;
}

function labels(kind, shape, lines) {
  if (shape === "named") return lines.map(line => line === "..." ? "something else" : line);
  if (shape === "dates") return dates(lines);
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
