// The judge's sheet with script: live bands and contradictions, saving in the background. Without it, it is a form.
import { localTimes } from "./clocks.js";
import { draw } from "./judge-drawing.js";
import { wire } from "./judge-keys.js";
import { ask, begin, changed, clock, forget, listen, Refused, saving, send, takeFeedback } from "./judge-saving.js";
import { answer, put, same, shown, state, take, takeMeant, typed } from "./judge-state.js";
import { element, icon, say } from "./words.js";
import { histograms } from "./drawing.js";

const SPOKEN = new Set(["comment", "reply", "mind", "unmind", "draw"]); // buttons that send the form as it is
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

function tellSaved(words, picture) {
  for (const each of $$("[data-saved]")) {
    each.hidden = false;
    $("span", each).textContent = words;
    $("use", each).setAttribute("href", `#i-${picture}`);
  }
}

function banner(kind, { picture = "flag", title, words = "", wrong = false, buttons = [] } = {}) {
  const box = $("#banners"), old = $(`[data-banner="${kind}"]`, box);
  if (title === undefined) {
    old?.remove();
    return;
  }
  const made = element("div", { class: wrong ? "banner wrong" : "banner", role: wrong ? "alert" : "status", "data-banner": kind });
  const acts = buttons.map(([text, press]) => {
    const button = element("button", { type: "button", class: "btn", text });
    button.addEventListener("click", press);
    return button;
  });
  made.append(icon(picture), element("span", {}, element("b", { text: title }), ` ${words}`), ...(acts.length > 1 ? [element("span", { class: "acts" }, ...acts)] : acts));
  if (old) old.replaceWith(made);
  else box.append(made);
}

const told = {
  checked: () => draw(),
  saving: () => tellSaved(say("judge.live.saving"), "wait"),
  late() {
    document.body.classList.add("late");
    tellSaved(say("judge.live.checking"), "wait");
  },
  saved() {
    document.body.classList.remove("late");
    banner("offline");
    banner("refused");
    tellSaved(say("judge.live.saved", { time: clock(new Date(saving.saved)) }), "ok");
    draw();
  },
  offline() {
    document.body.classList.remove("late");
    const count = saving.pending.size, words = count ? say("judge.live.offline.more", { count }) : say("judge.live.offline.none");
    banner("offline", { title: say("judge.live.offline", { time: clock(saving.since) }), words });
    tellSaved(say("judge.live.kept"), "flag");
    draw();
  },
  withdrawn() {
    shut();
    banner("shut", { picture: "lock", title: say("judge.live.withdrawn"), words: say("judge.live.withdrawn.more") });
  },
  closed({ count }) {
    shut();
    banner("shut", { picture: "lock", title: say("judge.live.closed"), words: say("judge.live.closed.lost", { count }), buttons: [[say("judge.live.reload"), reload]] });
  },
  refused({ error, events }) {
    document.body.classList.remove("late");
    const words = [error.message, error.problem?.remedy].filter(Boolean).join(" ");
    const again = () => {
      banner("refused");
      changed(events);
    };
    banner("refused", { picture: "bad", wrong: true, title: say("judge.live.wrong"), words, buttons: error.status === 403 ? [[say("judge.live.reload"), () => location.reload()]] : [[say("judge.live.retry"), again]] });
    tellSaved(say("judge.live.kept"), "bad");
  },
};

function reload() {
  forget([...saving.pending.keys()]);
  location.reload();
}

function shut() {
  state.open = false;
  document.body.classList.remove("late");
  for (const each of $$("#sheet input[type=range], #sheet .tool input, [data-hand]")) each.disabled = true;
  for (const each of $$("#sheet input[type=text], #sheet .why textarea")) each.readOnly = true;
  for (const each of $$("[data-row]")) each.classList.add("shut");
  draw();
}

function change(events, moving) {
  draw();
  changed(events, moving);
}

let mistyped = null; // the event whose field says something that is no per cent

function wrong(text, event, noNumber = false) {
  if (text === null) {
    if (mistyped === event) banner("typed");
    return;
  }
  mistyped = event;
  const before = answer(event).probability, stands = before === null ? say("judge.live.wrong.nothing") : say("judge.live.wrong.stands", { value: typed(before) });
  const why = say(noNumber ? "judge.live.wrong.number" : "judge.live.wrong.range", { value: text.trim() });
  banner("typed", { picture: "bad", wrong: true, title: say("judge.live.wrong"), words: `${why} ${stands}` });
}

const clashAt = node => state.feedback.contradictions.find(clash => clash.key === node.closest("[data-clash]")?.dataset.clash);

function move(rows) {
  for (const [event, , now] of rows) put(event, { probability: now });
  change(rows.map(([event]) => event));
}

async function waitUntilSaved() {
  await send();
  for (let tries = 0; (saving.busy || saving.pending.size) && tries < 50 && saving.since === null; tries++) await new Promise(done => setTimeout(done, 40));
}

async function feedbackFrom(call) {
  try {
    await waitUntilSaved();
    const answer = await call();
    if (answer.feedback) takeFeedback(answer.feedback);
    draw();
  } catch (error) {
    if (error instanceof Refused) banner("refused", { picture: "bad", wrong: true, title: error.message, buttons: [[say("judge.live.reload"), () => location.reload()]] });
    else {
      saving.since ??= new Date();
      told.offline();
    }
  }
}

const deeds = {
  fit(node) {
    const clash = clashAt(node), rows = clash.changes.map(({ event, from, to }) => [event, from, to]);
    state.last = { at: clash.question, rows };
    // What fits as shown is shown as fitting; the service says so in a moment.
    const moved = new Set(rows.map(([event]) => event));
    state.feedback = {
      ...state.feedback,
      bands: state.feedback.bands.map(band => (moved.has(band.event) ? { ...band, fits: true } : band)),
      contradictions: state.feedback.contradictions.filter(({ key }) => key !== clash.key),
    };
    move(rows);
  },
  undo() {
    const rows = state.last.rows.map(([event, old, now]) => [event, now, old]);
    state.last = null;
    move(rows);
  },
  revert(node) {
    const was = node.closest("[data-was]").dataset.was, { row } = node.closest("[data-row]").dataset;
    move([[row, answer(row).probability, +(was / 100).toFixed(6)]]);
  },
  mean(node) {
    const card = node.closest("[data-clash]");
    const reason = element("textarea", { rows: 2, maxlength: 5000, "aria-label": say("judge.live.because"), placeholder: say("judge.live.because") });
    const keep = element("button", { type: "button", class: "btn primary", "data-do": "keep", text: say("judge.live.keep") });
    const not = element("button", { type: "button", class: "btn", "data-do": "leave", text: say("judge.live.not_so") });
    $(".acts", card).replaceChildren(reason, keep, not);
    reason.focus();
  },
  leave(node) {
    const note = node.closest(".note");
    node.blur();
    delete note.dataset.drawn;
    draw();
    $("[data-do=mean]", note)?.focus();
  },
  keep(node) {
    const { key } = clashAt(node), reason = $("textarea", node.closest("[data-clash]")).value.trim(), note = node.closest(".note");
    node.blur();
    return feedbackFrom(async () => {
      const answer = await ask("POST", "/meant", { key, reason });
      state.meant.set(key, reason);
      delete note.dataset.drawn;
      return answer;
    });
  },
  back(node) {
    const { key } = clashAt(node);
    return feedbackFrom(async () => {
      const answer = await ask("DELETE", `/meant/${encodeURIComponent(key)}`);
      state.meant.delete(key);
      return answer;
    });
  },
};

async function handIn() {
  await feedbackFrom(async () => {
    const { handed_in } = await ask("POST", "/hand-in");
    for (const each of $$("[data-handed]")) each.textContent = say("judge.live.handed", { time: clock(new Date(handed_in)) });
    for (const each of $$("[data-hand]")) each.textContent = say("judge.live.again");
    $("#say").textContent = $("#handed").textContent;
    return {};
  });
}

function elsewhere(sheet) {
  if (document.body.dataset.round !== `${sheet.round.number} ${sheet.round.phase}`) return round("round");
  takeMeant(sheet.meant);
  const there = new Map(sheet.answers.map(({ event, probability, abstained, locked, reason }) => [event, { probability, abstained, locked, reason }]));
  const none = { probability: null, abstained: false, locked: false, reason: "" };
  const apart = [...state.events.keys()].filter(event => !saving.pending.has(event) && !same(there.get(event) ?? none, answer(event)));
  if (!apart.length) {
    banner("elsewhere");
    if (!saving.pending.size) takeFeedback(sheet.feedback);
    return draw();
  }
  const words = value => (value.probability === null ? say("judge.live.nothing") : shown(value.probability));
  const first = apart[0], title = state.events.get(first).title;
  const named = say("judge.live.elsewhere.one", { title: title[0].toUpperCase() + title.slice(1), there: words(there.get(first) ?? none), here: words(answer(first)) });
  const one = apart.length === 1;
  const accept = () => {
    for (const event of apart) state.answers.set(event, there.get(event) ?? none);
    if (!saving.pending.size) takeFeedback(sheet.feedback);
    banner("elsewhere");
    draw();
  };
  const mine = () => {
    banner("elsewhere");
    change(apart);
  };
  banner("elsewhere", {
    picture: "same",
    title: say("judge.live.elsewhere"),
    words: one ? named : say("judge.live.elsewhere.more", { count: apart.length }),
    buttons: [[one ? say("judge.live.take", { there: words(there.get(first) ?? none) }) : say("judge.live.take.all"), accept], [say("judge.live.mine"), mine]],
  });
}

// A new phase, question or law changes the page itself; it is loaded again unless something would be lost.
async function round(kind) {
  await waitUntilSaved();
  const typing = document.activeElement?.matches("textarea, input[type=text]");
  const draft = $$("textarea[data-free]").some(each => each.value.trim());
  if (kind === "comments" && (typing || draft)) return;
  if (!saving.pending.size && !typing && !draft) return location.reload();
  banner("round", { title: say(kind === "round" ? "judge.live.closed" : "judge.live.reload"), buttons: [[say("judge.live.reload"), () => location.reload()]] });
}

function press(event) {
  const deed = event.target.closest("[data-do]"), hand = event.target.closest("[data-hand]");
  if (deed) {
    event.preventDefault();
    deeds[deed.dataset.do](deed);
  } else if (hand) {
    event.preventDefault();
    if (!state.preview) handIn();
  }
}

async function start() {
  localTimes(document);
  state.preview = "preview" in document.body.dataset;
  if (state.preview) return;
  try {
    take(await ask("GET", ""));
  } catch {
    return; // The form works without script.
  }
  for (const each of $$("#sheet [name=save]")) each.remove();
  for (const each of $$("#sheet input[type=range]")) each.disabled = !state.open; // Without script, fields are typed in.
  begin((what, more) => told[what](more ?? {}));
  wire(change, wrong);
  document.addEventListener("click", press);
  histograms(document);
  document.getElementById("sheet").addEventListener("submit", event => {
    if (!SPOKEN.has(event.submitter?.name)) event.preventDefault();
  });
  if (saving.saved && !saving.pending.size) tellSaved(say("judge.live.saved", { time: clock(new Date(saving.saved)) }), "ok");
  listen({ elsewhere, round, gone: told.withdrawn });
  draw();
  document.body.dataset.ready = "yes";
}

start();
