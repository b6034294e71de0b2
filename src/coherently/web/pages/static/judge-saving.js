// Saving: a change is on this device at once, and sent soon after; "Saved" is said once the service has it on its disk.
import { shown as time } from "./clocks.js";
import { answer, same, state, unseen } from "./judge-state.js";

const SOON = 120, LATE = 1000, SLOWEST = 15000, REMEMBERED = 50, AGAIN = 500, TRIES = 6;
const token = () => document.querySelector('meta[name="csrf-token"]')?.content ?? "";
const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), byte => byte.toString(16).padStart(2, "0")).join("");

export const saving = {
  pending: new Map(), // event -> the answer as it is to be sent
  since: null, // when the connection was lost
  saved: null, // what the service said last
  busy: false,
};
const own = []; // the events of own changes, which the stream will tell again
let timer = 0, late = 0, again = 0, wait = 1000, tell = () => {}, store = "";

export class Refused extends Error {
  constructor(status, problem) {
    super(problem?.message ?? "");
    this.status = status;
    this.problem = problem;
  }
}

export async function ask(method, path, body, key) {
  const headers = { Accept: "application/json", "X-CSRF-Token": token() };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const answer = await fetch(`/api/v1/sheet${path}`, { method, headers, credentials: "same-origin", keepalive: body !== undefined, body: body === undefined ? undefined : JSON.stringify(body) });
  const told = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : null;
  if (answer.ok) return told;
  if (answer.status >= 500 || answer.status === 429) throw new TypeError(`status ${answer.status}`);
  throw new Refused(answer.status, told?.error);
}

export function begin(listener) {
  tell = listener;
  store = `coherently-sheet:${state.sheet.panel.id}:${state.sheet.judge.name}`;
  saving.saved = state.sheet.saved;
  if (state.preview) return;
  takeFeedback(state.feedback);
  for (const [event, kept] of Object.entries(onDevice())) {
    if (!state.events.has(event) || same(kept, answer(event))) continue;
    state.answers.set(event, kept);
    saving.pending.set(event, kept);
  }
  keep();
  if (saving.pending.size && state.open) send();
  addEventListener("online", () => saving.pending.size && send());
  // What waits is sent when the page is left; what does not arrive is on the device.
  addEventListener("pagehide", () => saving.pending.size && send());
}

function onDevice() {
  try {
    return JSON.parse(localStorage.getItem(store)) ?? {};
  } catch {
    return {};
  }
}

function keep() {
  try {
    if (saving.pending.size) localStorage.setItem(store, JSON.stringify(Object.fromEntries(saving.pending)));
    else localStorage.removeItem(store);
  } catch {
    // Without a store on the device, what is sent is all that is kept.
  }
}

// A number that still moves under the hand is sent when it rests; anything else at once.
export function changed(events, moving = false) {
  for (const event of events) saving.pending.set(event, answer(event));
  if (!state.preview) keep();
  if (state.preview) {
    saving.pending.clear();
    unseen(events);
    tell("checked");
    return;
  }
  tell("saving");
  clearTimeout(timer);
  timer = setTimeout(send, moving ? SOON : 0);
}

export function forget(events) {
  for (const event of events) saving.pending.delete(event);
  keep();
}

export async function send() {
  clearTimeout(timer);
  if (saving.busy) {
    timer = setTimeout(send, SOON);
    return;
  }
  if (!saving.pending.size) return;
  const batch = new Map(saving.pending);
  const body = { answers: [...batch].map(([event, given]) => ({ event, ...given })) };
  saving.busy = true;
  late = setTimeout(() => tell("late"), LATE);
  try {
    own.push([...batch.keys()].sort().join());
    own.splice(0, own.length - REMEMBERED);
    const told = await ask("POST", "/answers", body, fresh());
    saving.saved = told.saved;
    for (const [event, sent] of batch) if (saving.pending.get(event) && same(saving.pending.get(event), sent)) saving.pending.delete(event);
    keep();
    takeFeedback(told.feedback);
    wait = 1000;
    const back = saving.since !== null;
    saving.since = null;
    tell(saving.pending.size ? "saving" : "saved", { back });
  } catch (error) {
    failed(error, batch);
  } finally {
    clearTimeout(late);
    saving.busy = false;
    if (saving.pending.size && saving.since === null && !state.shut) timer = setTimeout(send, SOON);
  }
}

// What could not be checked in time keeps its old band, and is asked for again a few times.
export function takeFeedback(feedback, tries = 0) {
  const known = new Set(feedback.bands.map(band => band.event));
  const old = feedback.finished ? [] : state.feedback.bands.filter(band => !known.has(band.event) && (answer(band.event).probability !== null || answer(band.event).abstained));
  state.feedback = { ...feedback, bands: [...feedback.bands, ...old.map(band => ({ ...band, fits: true, old: true }))] };
  clearTimeout(again);
  if (!feedback.finished && tries < TRIES) again = setTimeout(() => recheck(tries + 1), AGAIN);
}

async function recheck(tries) {
  if (saving.busy || saving.pending.size) return; // The next answer brings feedback.
  try {
    const { feedback } = await ask("GET", "");
    if (saving.busy || saving.pending.size) return;
    takeFeedback(feedback, tries);
    tell("checked");
  } catch {
    // The next answer says what is wrong.
  }
}

function failed(error, batch) {
  if (!(error instanceof Refused)) {
    saving.since ??= new Date();
    unseen(saving.pending.keys());
    tell("offline");
    clearTimeout(timer);
    timer = setTimeout(() => {
      saving.since && send();
    }, wait);
    wait = Math.min(2 * wait, SLOWEST);
    return;
  }
  if (error.status === 401) {
    state.shut = true;
    tell("withdrawn");
  } else if (error.status === 409) {
    state.shut = true;
    tell("closed", { count: batch.size });
  } else {
    forget(batch.keys());
    tell("refused", { error, events: [...batch.keys()] });
  }
}

// What another window or device of the same judge does.
export function listen({ elsewhere, round, gone }) {
  if (state.preview || !window.EventSource) return;
  const stream = new EventSource("/api/v1/sheet/stream");
  const look = async () => {
    if (saving.busy) return setTimeout(look, SOON);
    try {
      elsewhere(await ask("GET", ""));
    } catch {
      // The next change, or the next answer, says what is wrong.
    }
  };
  stream.addEventListener("answers", event => {
    const told = JSON.parse(event.data);
    const place = own.indexOf([...(told.events ?? [])].sort().join());
    if (place >= 0) own.splice(place, 1);
    else look();
  });
  // What changed between the page and the stream is in neither.
  stream.addEventListener("open", () => setTimeout(look, 5 * SOON));
  for (const kind of ["meant", "hand-in"]) stream.addEventListener(kind, () => setTimeout(look, 2 * SOON));
  for (const kind of ["round", "questions", "laws", "panel", "comments"]) stream.addEventListener(kind, () => round(kind));
  stream.addEventListener("judges", look);
  stream.addEventListener("ended", () => {
    stream.close();
    state.shut = true;
    gone();
  });
  addEventListener("pagehide", () => stream.close());
}

export const clock = moment => time(moment, "clock");
