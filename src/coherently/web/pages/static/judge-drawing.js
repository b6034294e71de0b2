// Draws what the answers and the last feedback say. Nothing is taken from a field that has the focus.
import { answer, bandOf, blamed, fitOf, left, shown, standing, state, stateOf, typed, whole } from "./judge-state.js";
import { element, icon, say } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const UNCHECKED = new Map([["not-checked", "judge.live.unchecked"], ["too-much", "judge.live.too_much"]]);
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const article = question => $(`[data-question="${CSS.escape(question.id)}"]`);
const row = event => $(`[data-row="${CSS.escape(event)}"]`);

function svg(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function glyph() {
  const made = svg("svg", { class: "glyph", viewBox: "0 0 22 12", "aria-hidden": "true" });
  made.append(svg("rect", { class: "band", x: 1, y: 2, width: 20, height: 8 }), svg("rect", { class: "cap", x: 1, y: 0, width: 2, height: 12 }), svg("rect", { class: "cap", x: 19, y: 0, width: 2, height: 12 }));
  return made;
}

const see = (node, on) => node?.setAttribute("visibility", on ? "visible" : "hidden");
const share = probability => `${+(100 * Math.min(1, Math.max(0, probability))).toFixed(2)}%`;
export const height = probability => 164 - 148 * probability;

function drawRow(event, bad) {
  const node = row(event), { probability, locked } = answer(event), band = bandOf(event);
  if (!node) return;
  const out = probability !== null && band !== undefined && !band.fits;
  node.classList.toggle("out", out);
  node.classList.toggle("meant", out && !bad.has(event));
  node.classList.toggle("none", probability === null);
  node.classList.toggle("locked", locked);
  const field = $("input[type=text]", node), slider = $("input[type=range]", node);
  if (document.activeElement !== field && !field.hasAttribute("aria-invalid")) field.value = typed(probability);
  if (slider) drawSlider(node, slider, probability, band, out);
  const moved = $(".moved", node);
  if (moved) {
    moved.hidden = moved.dataset.was === "" || moved.dataset.was === typed(probability);
    node.classList.toggle("changed", !moved.hidden);
  }
}

function drawSlider(node, slider, probability, band, out) {
  if (probability !== null) slider.value = 100 * probability;
  const key = probability === null ? "judge.live.value.none" : out ? "judge.live.value.out" : "judge.live.value";
  slider.setAttribute("aria-valuetext", say(key, { value: typed(probability) }));
  const group = $(".bandg", node), gap = $(".gap", node);
  see(group, band !== undefined);
  if (band) {
    const [middle, low, high] = group.children;
    middle.setAttribute("x", share(band.low));
    middle.setAttribute("width", share(band.high - band.low));
    low.setAttribute("x", share(band.low));
    high.setAttribute("x", share(band.high));
  }
  see(gap, out);
  if (out) {
    gap.setAttribute("x1", share(probability));
    gap.setAttribute("x2", share(probability < band.low ? band.low : band.high));
  }
}

function range(band) {
  const low = whole(band.low), high = whole(band.high);
  return element("b", { class: "nowrap", text: say(low === high ? "judge.live.point" : "judge.live.range", { low, high }) });
}

// A sentence whose place {range} is a node.
function around(key, node) {
  const [before, after] = say(key, { range: "\u0000" }).split("\u0000");
  return [before, node, after];
}

function bandLine(event) {
  const band = bandOf(event), one = whole(band.low) === whole(band.high), gone = answer(event).abstained;
  const key = gone ? (one ? "judge.live.imply" : "judge.live.leave") : one ? "judge.live.allow.one" : "judge.live.allow";
  return element("p", {}, glyph(), ...around(key, range(band)));
}

function lines(question, here) {
  const own = new Set(question.events.map(({ id }) => id)), made = [];
  const away = new Set(standing().filter(clash => clash.question !== question.number && clash.events.some(event => own.has(event))).map(clash => clash.question));
  for (const number of [...away].sort((a, b) => a - b)) {
    const link = element("a", { href: `#q${number}`, text: say("judge.live.away", { number }) });
    made.push(element("p", {}, element("span", { class: "bad" }, icon("bad"), " ", link)));
  }
  const states = new Set(question.events.map(({ id }) => fitOf(id)));
  for (const [word, key] of UNCHECKED) if (states.has(word)) made.push(element("p", { "data-unchecked": "" }, icon("wait"), ` ${say(key)}`));
  if (question.events.length > 1) {
    const known = question.events.some(({ id }) => bandOf(id));
    const key = question.kind === "partition" ? "judge.live.each" : `judge.live.steps.${article(question).dataset.rises}`;
    if (known && !here.length) made.push(element("p", {}, glyph(), say(key, { whole: say("judge.live.point", { high: 100 }) })));
    return made;
  }
  const { id } = question.events[0], { probability, abstained } = answer(id);
  if (abstained) made.push(element("p", { text: say("judge.live.gone") }));
  else if (probability === null) return [...made, element("p", { text: say("judge.live.open") })];
  if (bandOf(id) && !bandOf(id).old && (abstained || !here.length)) made.push(bandLine(id));
  return made;
}

function name(event) {
  const { title, question } = state.events.get(event);
  return `${question.number} ${title[0].toUpperCase()}${title.slice(1)}`;
}

const button = (words, attributes) => element("button", { type: "button", text: words, ...attributes });

function kept(clash) {
  const reason = state.meant.get(clash.key);
  const card = element("div", { class: "clash kept", "data-clash": clash.key, role: "group", "aria-label": say("judge.live.meant") });
  card.append(element("p", { class: "head2" }, icon("flag"), " ", say("judge.live.meant")), element("p", { class: "say", text: clash.sentence }));
  if (reason) card.append(element("blockquote", { text: `“${reason}”` }));
  const because = element("p", { class: "because", text: `${say("judge.live.seen")} ` });
  if (state.open) because.append(button(say("judge.live.back"), { class: "linkish", "data-do": "back" }));
  card.append(because);
  return card;
}

function table(clash) {
  const made = element("table", { class: "fit" });
  for (const { event, from, to } of clash.changes) {
    const cells = [shown(from), "→"].map(text => element("td", { text }));
    made.append(element("tr", {}, element("th", { scope: "row", text: name(event) }), ...cells, element("td", {}, element("b", { text: shown(to) }))));
  }
  for (const event of clash.locked) {
    const words = say("judge.live.stays", { value: typed(answer(event).probability) });
    made.append(element("tr", {}, element("th", { scope: "row", text: name(event) }), element("td", { colspan: 3, text: words })));
  }
  return made;
}

function card(clash) {
  if (clash.meant) return kept(clash);
  const made = element("div", { class: "clash", "data-clash": clash.key, role: "group", "aria-label": say("judge.live.clashes", { count: 1 }) });
  made.append(element("p", { class: "say" }, icon("bad"), " ", clash.sentence));
  if (!state.open) return made;
  if (clash.changes.length || clash.locked.length) made.append(table(clash));
  if (clash.stuck) made.append(element("p", { class: "because", text: clash.stuck }));
  const acts = element("div", { class: "acts" });
  if (clash.changes.length) acts.append(button(say("judge.live.fit"), { class: "btn primary", "data-do": "fit" }));
  acts.append(button(say("judge.live.mean"), { class: "btn", "data-do": "mean" }));
  made.append(acts);
  return made;
}

function drawNote(question) {
  const note = $(".note", article(question));
  const here = state.feedback.contradictions.filter(clash => clash.question === question.number);
  const made = [];
  if (state.last?.at === question.number) {
    const moves = state.last.rows.map(([, old, now]) => `${typed(old)} → ${shown(now)}`).join(", ");
    made.push(element("p", {}, icon("ok"), ` ${say("judge.live.fitted", { moves })} `, button(say("judge.live.undo"), { class: "linkish", "data-do": "undo" })));
  }
  made.push(...lines(question, here), ...here.map(card));
  const now = element("div", {}, ...made);
  // A card in which a reason is being typed stays; so does whatever has not changed.
  if (note.contains(document.activeElement) && document.activeElement.matches("textarea, input")) return;
  if (note.dataset.drawn === now.innerHTML) return;
  const focus = note.contains(document.activeElement) ? document.activeElement.dataset.do : null;
  note.replaceChildren(...now.childNodes);
  note.dataset.drawn = note.innerHTML;
  if (focus) ($(`[data-do="${focus}"]`, note) ?? $("button, a", note))?.focus();
}

function drawLeft(root, rest) {
  const number = $("[data-left]", root);
  if (!number) return;
  number.textContent = `${Math.abs(rest) || 100}\u00a0%`;
  $("[data-left-words]", root).textContent = say(rest < 0 ? "judge.live.over" : rest ? "judge.live.left" : "judge.live.given");
}

function drawShare(question) {
  const root = article(question), rest = left(question), group = $("[data-share]", root), made = [];
  drawLeft(root, rest);
  if (!group) return; // The discussion has no bar.
  let at = 0;
  for (const { id } of question.events) {
    const value = answer(id).probability ?? 0, wide = Math.min(value, 1 - at);
    if (wide > 0) made.push(svg("rect", { class: "s", x: share(at), width: share(wide), height: 28 }));
    if (wide > 0.04) made.push(svg("text", { x: share(at + wide / 2), y: 18.5, "text-anchor": "middle" }, typed(value)));
    at = Math.min(1, at + value);
  }
  if (rest > 0) made.push(svg("rect", { class: "hatch", x: share(1 - rest / 100), width: `${rest}%`, y: 0.5, height: 27 }));
  group.replaceChildren(...made);
  group.parentNode.setAttribute("aria-label", say("judge.live.share", { given: 100 - rest, left: rest }));
  const give = $("[data-give]", root), heir = question.events.find(({ id }) => answer(id).probability === null) ?? question.events.at(-1);
  if (!give) return;
  give.hidden = rest <= 0;
  give.value = heir.id;
  give.textContent = say("judge.live.give", { title: heir.title });
}

function drawLadder(question, bad) {
  const root = article(question), rises = root.dataset.rises === "yes";
  if (!$("[data-curve]", root)) return; // The discussion has no curve.
  let before = rises ? 0 : 1, seen = true;
  for (const { id } of question.events) {
    const { probability } = answer(id), band = bandOf(id), group = $(`[data-band="${CSS.escape(id)}"]`, root);
    see(group, band !== undefined);
    if (band) {
      const [middle, high, low] = group.children;
      middle.setAttribute("y", height(band.high));
      middle.setAttribute("height", 148 * (band.high - band.low));
      high.setAttribute("y", height(band.high));
      low.setAttribute("y", height(band.low) - 2);
    }
    const point = $(`[data-point="${CSS.escape(id)}"]`, root), line = $(`[data-seg="${CSS.escape(id)}"]`, root);
    see(point, probability !== null);
    see(line, probability !== null && seen);
    const off = probability !== null && band !== undefined && !band.fits;
    point.classList.toggle("off", off);
    point.classList.toggle("meant", off && !bad.has(id));
    point.setAttribute("y", height(probability ?? 0));
    line.setAttribute("y1", height(before));
    line.setAttribute("y2", height(probability ?? 0));
    before = probability ?? 0;
    seen = probability !== null;
  }
  const most = answer(question.events.at(rises ? -1 : 0).id).probability, bar = $("[data-rest]", root);
  see(bar, most !== null);
  if (most !== null) {
    bar.setAttribute("y", height(1 - most));
    bar.setAttribute("height", 148 * (1 - most));
  }
  $("[data-rest-words]", root).textContent = most === null ? "–" : `${100 - whole(most)}\u00a0%`;
}

function drawTools(question) {
  const root = article(question), own = question.events.map(({ id }) => answer(id));
  const set = (act, on, words, picture) => {
    const tool = $(`[data-act="${act}"]`, root);
    if (!tool) return; // The round takes no answers.
    $("input", tool).checked = on;
    $("span", tool).textContent = say(words);
    $("use", tool).setAttribute("href", `#i-${picture}`);
  };
  const locked = own.every(each => each.locked), gone = own.every(each => each.abstained);
  set("lock", locked, locked ? "judge.live.locked" : "judge.live.lock", locked ? "lock" : "open");
  set("abstain", gone, gone ? "judge.live.abstained" : "judge.live.abstain", "skip");
  const text = $(".why textarea", root), reason = own.map(each => each.reason).find(Boolean) ?? "";
  if (text && document.activeElement !== text) text.value = reason;
}

function drawSteps() {
  const bad = blamed();
  $$(".steps a").forEach((link, i) => {
    const question = state.sheet.questions[i];
    if (!question) return;
    const now = stateOf(question), hurt = question.events.some(({ id }) => bad.has(id)), made = [];
    const open = !hurt && question.events.some(({ id }) => UNCHECKED.has(fitOf(id)));
    if (now !== "done") made.push(svg("rect", { class: "bg", x: 0.5, y: 18.5, width: "97%", height: 7, rx: 2 }));
    if (now === "done" || now === "part") made.push(svg("rect", { class: "fg", y: 18, width: now === "done" ? "100%" : "50%", height: 8, rx: 2 }));
    if (now === "abst") made.push(svg("line", { class: "bg", x1: "15%", x2: "85%", y1: 22, y2: 22 }));
    if (hurt) made.push(svg("circle", { class: "mark", cx: "50%", cy: 33, r: 3 }));
    if (open) made.push(svg("circle", { class: "ring", cx: "50%", cy: 33, r: 2.5 }));
    $("svg", link).replaceChildren(...made);
    link.setAttribute("aria-label", say(hurt ? "judge.live.step.bad" : open ? "judge.live.step.unchecked" : "judge.live.step", { number: question.number, state: say(`judge.live.state.${now}`) }));
  });
}

const listed = parts => (parts.length > 1 ? `${parts.slice(0, -1).join(", ")} ${say("judge.live.and")} ${parts.at(-1)}` : parts.join(""));

function todo() {
  const parts = [];
  for (const question of state.sheet.questions) {
    const rest = question.kind === "partition" && question.events.length > 1 && stateOf(question) !== "open" ? left(question) : 0;
    if (!rest && question.kind === "partition" && stateOf(question) === "part") parts.push(say("judge.live.todo.empty", { number: question.number }));
    if (rest && stateOf(question) !== "abst") parts.push(say(rest > 0 ? "judge.live.todo.left" : "judge.live.todo.over", { number: question.number, left: Math.abs(rest) }));
  }
  const open = state.sheet.questions.filter(question => stateOf(question) === "open").map(question => String(question.number));
  if (open.length > 3) parts.push(say("judge.live.todo.many", { count: open.length }));
  else if (open.length) parts.push(say("judge.live.todo.open", { count: open.length, numbers: listed(open) }));
  const count = standing().length;
  if (count) parts.push(say("judge.live.todo.clash", { count }));
  const unchecked = state.feedback.checked ? "" : ` ${say("judge.live.todo.unchecked")}`;
  if (!parts.length) return `${say(state.feedback.checked ? "judge.live.todo.all" : "judge.live.todo.all.unchecked")} ${say("judge.live.todo.come")}${unchecked}`;
  const words = listed(parts);
  return `${words[0].toUpperCase()}${words.slice(1)}. ${say("judge.live.todo.still")}${unchecked}`;
}

let spoken = null;

export function draw() {
  const bad = blamed(), questions = state.sheet.questions;
  for (const question of questions) {
    if (!article(question)) continue;
    for (const { id } of question.events) drawRow(id, bad);
    if (question.events.length > 1) (question.kind === "ladder" ? drawLadder : drawShare)(question, bad);
    drawTools(question);
    drawNote(question);
  }
  // A contradiction is not left where nobody sees it.
  for (const each of $$(".quiet-topics:not([open])")) if ($(".clash:not(.kept)", each)) each.open = true;
  drawSteps();
  const done = questions.filter(question => ["done", "abst"].includes(stateOf(question))).length, count = questions.length;
  for (const each of $$("[data-done]")) each.textContent = say("judge.live.done", { done, count });
  for (const each of $$("[data-progress]")) each.textContent = say("judge.live.done.long", { done, count });
  if ($("#todo")) $("#todo").textContent = todo();
  const open = standing(), words = say(`judge.live.${open.length ? "clashes" : "none"}${state.feedback.checked ? "" : ".yet"}`, { count: open.length });
  for (const each of $$("[data-clashes]")) {
    each.textContent = words;
    each.classList.toggle("bad", open.length > 0);
    each.classList.toggle("quiet", !open.length);
  }
  const earlier = new Map(state.sheet.earlier.map(each => [each.event, each.probability]));
  const moved = [...state.events.keys()].filter(event => (earlier.get(event) ?? null) !== answer(event).probability).length;
  for (const each of $$("[data-moved]")) each.textContent = say("judge.live.moved", { count: moved });
  const news = open.map(clash => clash.sentence).join(" ");
  if (spoken !== null && spoken !== news) $("#say").textContent = news ? `${words}. ${news}` : words;
  spoken = news;
}
