"use strict";
// The page: reads what was typed, asks the compiled core, and shows what it says. No mathematics happens here.
(() => {
  const EXAMPLE = {
    forecasts: "judge, event, probability\nAnn, rain, 75%\nAnn, wind, 20%\nAnn, rain & wind, 30%\nBob, rain, 60%\nBob, rain & wind, 40%\nBob, wind given rain, 50%\nCid, wind, 15%\nCid, storm, 10%\n",
    laws: "storm -> wind",
    question: "rain | wind",
  };
  const LONGEST = 1e6;  // characters of a panel
  const PART = "\x1e", FIELD = "\x1f";  // between the parts of a message, and between fields of a part
  const SPACE = 3, NAME_START = 1, NAME_PART = 2;  // classes of characters past ASCII
  const COMMENT = /("(?:[^"\\]|\\.)*")|#[^\n]*/g;
  const DECLARATION = /^variable(\s+(?!(and|xor|or|implies|iff|given|in)\b)["\p{L}\p{N}_]|\s*$)/iu;
  const PIN = /^P\s*\(/;

  class Refusal extends Error {}
  const find = (name) => document.getElementById(name);

  // The core

  const bytes = async () => {
    const packed = Uint8Array.from(atob(find("core").textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
  const core = bytes().then((binary) => WebAssembly.compile(binary));

  // Each call has an instance of its own: what was thrown inside leaves nothing behind.
  const instance = async () => {
    let memory = null;
    const text = (at, length) => new TextDecoder().decode(new Uint8Array(memory.buffer, at, length));
    const clock = (_id, _precision, at) => {
      new DataView(memory.buffer).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    };
    const nothing = () => 8;  // WASI's word for a file that is not open
    const made = await WebAssembly.instantiate(await core, {
      page: { refused: (at, length) => { throw new Refusal(text(at, length)); } },
      wasi_snapshot_preview1: { clock_time_get: clock, fd_write: nothing, fd_seek: nothing, fd_close: nothing },
    });
    memory = made.exports.memory;
    made.exports._initialize();
    return { ...made.exports, text };
  };

  const classes = (text) => {
    const found = [];
    for (const letter of new Set(text)) {
      if (letter.codePointAt(0) < 128) continue;
      const kind = /\p{White_Space}/u.test(letter) ? SPACE
        : /\p{XID_Start}/u.test(letter) ? NAME_START
        : /\p{XID_Continue}/u.test(letter) ? NAME_PART : 0;
      if (kind) found.push(`${letter.codePointAt(0)} ${kind}`);
    }
    return found.join(FIELD);
  };

  const statements = (laws) => laws.split(/\r\n|\r|\n/).flatMap((line, i) => {
    const text = line.replace(COMMENT, (_, quoted) => quoted ?? "").trim();
    if (!text) return [];
    return [DECLARATION.test(text) ? "d" : PIN.test(text) ? "p" : "f", String(i + 1), text];
  }).join(FIELD);

  // The answer of the core to a panel, in plain values; a Refusal says what to mend.
  const answer = async (forecasts, laws = "", question = "") => {
    const typed = [forecasts, laws, question].map((text) => text.normalize("NFC"));
    const whole = typed.join("");
    if (whole.length > LONGEST) throw new Refusal(`The panel has ${whole.length} characters; this page takes at most ${LONGEST}.`);
    if (whole.includes(PART) || whole.includes(FIELD)) throw new Refusal("The text has control characters in it. Paste plain text.");
    if (/[\ud800-\udfff]/u.test(whole)) throw new Refusal("The text has half a character in it. Paste it again.");
    const parts = [classes(whole), typed[0], statements(typed[1]), typed[2]];
    const message = new TextEncoder().encode(parts.join(PART));
    const called = await instance();
    const place = called.room(message.length);  // which may move the memory
    new Uint8Array(called.memory.buffer, place, message.length).set(message);
    const length = called.answer();
    return JSON.parse(called.text(called.reply(), length));
  };

  // What is shown

  const element = (name, content = [], attributes = {}) => {
    const svg = ["svg", "line", "circle"].includes(name);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...[content].flat());
    return made;
  };
  const percent = (number) => `${(100 * number).toFixed(1)} %`;
  const points = (number) => (Math.abs(number) < 0.0005 ? "–" : `${number > 0 ? "+" : "−"}${(100 * Math.abs(number)).toFixed(1)}`);
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const box = (title, ...content) => element("section", [element("h2", title), ...content], { class: "box" });
  const trouble = (words) => element("p", `${words[0].toUpperCase()}${words.slice(1)}.`, { class: "bad" });

  const table = (names, rows, kind = "") => element("table", [
    element("thead", element("tr", names.map((name) => element("th", name, { scope: "col", class: name === "Before and after" ? "strip-cell" : "" })))),
    element("tbody", rows),
  ], { class: `answers ${kind}` });

  const strip = (before, after) => {
    const at = (number) => 8 + 104 * number;
    return element("svg", [
      element("line", [], { x1: 8, x2: 112, y1: 10, y2: 10 }),
      element("line", [], { class: "move", x1: at(before), x2: at(after), y1: 10, y2: 10 }),
      element("circle", [], { class: "before", cx: at(before), cy: 10, r: 5 }),
      element("circle", [], { class: "after", cx: at(after), cy: 10, r: 4 }),
    ], { class: "strip", viewBox: "0 0 120 20", "aria-hidden": "true" });
  };

  const STATUS = {
    coherent: "coherent", rounding: "coherent, but for rounding", incoherent: "contradictory", unchecked: "not checked",
  };
  const verdictRow = (name, found) => element("tr", [
    element("th", name, { scope: "row" }),
    element("td", String(found.forecasts)),
    element("td", [STATUS[found.status], ...(found.trouble ? [element("span", `: ${found.trouble}`, { class: "small quiet" })] : [])],
      { class: found.status === "incoherent" ? "bad" : "" }),
    element("td", found.distance === undefined ? "" : found.distance.toFixed(4), { class: "end" }),
  ]);

  const shownCheck = ({ judges, means }) => {
    const wrong = judges.filter((judge) => judge.status === "incoherent").length;
    const rows = judges.map((judge) => verdictRow(judge.judge, judge));
    if (judges.length > 1) rows.push(verdictRow("All, by their means", means));
    return box("Who contradicts themselves",
      element("p", wrong ? `${wrong} of ${count(judges.length, "judge")} ${wrong === 1 ? "contradicts" : "contradict"} themselves.`
        : judges.some((judge) => judge.status === "unchecked") ? "No contradiction was found among the judges that could be checked."
        : "No judge contradicts themselves."),
      element("div", table(["Judge", "Forecasts", "Status", "Distance"], rows, "judge"), { class: "scroller", tabindex: "0", role: "region", "aria-label": "Judges" }));
  };

  const csvCell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const download = (events) => {
    const lines = ["event,mean,probability", ...events.map((row) => [csvCell(row.event), row.mean, row.probability].join(","))];
    const href = `data:text/csv;charset=utf-8,${encodeURIComponent(`${lines.join("\n")}\n`)}`;
    return element("p", element("a", "Download as CSV", { href, download: "coherent.csv" }), { class: "gapt" });
  };

  const shownAnswer = (found) => {
    if (found.trouble) return box("Coherent forecasts", trouble(found.trouble));
    const rows = found.events.map((row) => element("tr", [
      element("th", row.event, { scope: "row" }),
      element("td", percent(row.mean)),
      element("td", element("b", percent(row.probability))),
      element("td", points(row.probability - row.mean)),
      element("td", strip(row.mean, row.probability), { class: "strip-cell" }),
    ]));
    return box("Coherent forecasts",
      element("p", found.objective < 1e-18 ? "The means fit together: nothing had to change."
        : "The nearest numbers that fit together, by the sum of squared changes."),
      element("div", table(["Event", "Mean", "Coherent", "Change", "Before and after"], rows), { class: "scroller", tabindex: "0", role: "region", "aria-label": "Coherent forecasts" }),
      element("p", `Sum of squared changes: ${found.objective.toFixed(6)}; no coherent forecasts have less than ${found.bound.toFixed(6)}.`, { class: "small quiet gapt" }),
      download(found.events));
  };

  const shownBounds = (found) => {
    if (!found) return [];
    if (found.trouble) return [box(found.event, trouble(found.trouble))];
    const same = found.high - found.low < 0.0005;
    const words = same ? `The coherent forecasts give it ${percent(found.low)}.`
      : `The coherent forecasts allow ${percent(found.low)} to ${percent(found.high)}.`;
    return [box(found.event, element("p", words, { id: "bounds" }))];
  };

  let latest = 0;
  const show = async () => {
    const own = ++latest;
    const button = document.querySelector("#panel [type=submit]");
    button.setAttribute("aria-busy", "true");
    let shown = [], refused = [];
    try {
      const found = await answer(find("forecasts").value, find("laws").value, find("question").value);
      shown = [...shownBounds(found.bounds), shownAnswer(found.answer), shownCheck(found)];
    } catch (error) {
      const words = error instanceof Refusal ? error.message : `The page could not answer (${error.message}). Try a smaller panel.`;
      refused = [element("div", element("p", words, { class: "wrongly" }), { class: "banner wrong" })];
    }
    if (own !== latest) return;
    find("refusal").replaceChildren(...refused);
    find("answer").replaceChildren(...shown);
    button.removeAttribute("aria-busy");
    document.body.dataset.shown = String(own);
  };

  const fill = () => {
    for (const [name, text] of Object.entries(EXAMPLE)) find(name).value = text;
    return show();
  };

  find("panel").addEventListener("submit", (event) => { event.preventDefault(); show(); });
  find("panel").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); show(); }
  });
  find("example").addEventListener("click", fill);
  window.coherently = { answer };
  instance().then((made) => {
    for (const each of document.querySelectorAll("[data-limit]")) each.textContent = made[each.dataset.limit]().toLocaleString("en");
  });
  fill();
})();
