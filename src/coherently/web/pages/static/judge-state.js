// What the page knows of the sheet: questions, answers, and the last feedback. Numbers are probabilities.
const GRACE = 0.5;

export const state = {
  sheet: null,
  events: new Map(), // event -> { id, title, question }
  answers: new Map(), // event -> { probability, abstained, locked, reason }
  feedback: { bands: [], contradictions: [], states: {}, checked: true, finished: true },
  meant: new Map(), // key -> reason
  open: false,
  preview: false,
  last: null, // what the last "Make it fit" moved: { at, rows: [[event, old, new]] }
};

const nothing = { probability: null, abstained: false, locked: false, reason: "" };

export function take(sheet) {
  state.sheet = sheet;
  state.open = ["private", "revision"].includes(sheet.round.phase);
  state.events.clear();
  for (const question of sheet.questions) for (const event of question.events) state.events.set(event.id, { ...event, title: event.title || question.title, question });
  state.answers.clear();
  for (const { event, probability, abstained, locked, reason } of sheet.answers) state.answers.set(event, { probability, abstained, locked, reason });
  state.feedback = sheet.feedback;
  takeMeant(sheet.meant);
}

export function takeMeant(list) {
  state.meant = new Map(list.map(({ key, reason }) => [key, reason]));
}

export const answer = event => state.answers.get(event) ?? nothing;
export const same = (a, b) => a.probability === b.probability && a.abstained === b.abstained && a.locked === b.locked && a.reason === b.reason;

export function put(event, change) {
  const made = { ...answer(event), ...change };
  if (made.probability !== null) made.abstained = false;
  else made.locked = false;
  state.answers.set(event, made);
}

export const whole = probability => Math.floor(100 * probability + 0.5 + 1e-9);
export const typed = probability => (probability === null ? "" : String(+(100 * probability).toFixed(2)));
export const shown = probability => `${typed(probability)}\u00a0%`;

// A comma is a decimal point, "%" is ignored; undefined if it is no number, null if it is empty.
export function read(text) {
  const clean = text.replace(",", ".").replace("%", "").trim();
  if (clean === "") return null;
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(clean) ? Number(clean) : undefined;
}

export const bandOf = event => state.feedback.bands.find(band => band.event === event);
export const standing = () => state.feedback.contradictions.filter(clash => !clash.meant);
// Whether an answer fits with the others: fits, contradicts, not-checked or too-much.
export const fitOf = event => (answer(event).probability === null ? undefined : state.feedback.states[event]);
// Answers that the service has not seen are not checked.
export function unseen(events) {
  const states = Object.fromEntries([...events].map(event => [event, "not-checked"]));
  state.feedback = { ...state.feedback, states: { ...state.feedback.states, ...states }, checked: false };
}
export const blamed = () => new Set(standing().flatMap(clash => clash.events));

export function left(question) {
  const rest = 100 - 100 * question.events.reduce((sum, { id }) => sum + (answer(id).probability ?? 0), 0);
  return Math.abs(rest) <= GRACE ? 0 : Math.round(rest);
}

export function stateOf(question) {
  const own = question.events.map(({ id }) => answer(id));
  if (own.every(({ abstained }) => abstained)) return "abst";
  const given = own.filter(({ probability }) => probability !== null);
  if (given.length === own.length && !(question.kind === "partition" && own.length > 1 && left(question))) return "done";
  return given.length || own.some(({ abstained }) => abstained) ? "part" : "open";
}
