// Parts of the page that stay true: when something changes, the page is asked again and the changed parts are put in.
import { localTimes, shown } from "./clocks.js";
import { copyButtons } from "./copying.js";
import { element, icon, say } from "./words.js";

const APART = 80;
const KINDS = ["panel", "questions", "laws", "judges", "round", "answers", "hand-in", "outcomes", "comments", "meant", "aggregation", "restored"];
let busy = false, again = false, timer = 0, pause = 700;

function replace(old, made) {
  if (old.outerHTML === made.outerHTML || old.dataset.shown === made.outerHTML) return;
  if (old.contains(document.activeElement) && document.activeElement.matches("input, textarea, select")) return;
  const focus = old.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent : null;
  for (const each of old.querySelectorAll("details[open][data-stay]")) {
    const same = made.querySelector(`details[data-stay="${each.dataset.stay}"]`);
    if (same) same.open = true;
  }
  const text = made.outerHTML;
  localTimes(made);
  copyButtons(made);
  old.replaceWith(made);
  made.dataset.shown = text;
  if (focus) [...made.querySelectorAll("a, button, summary")].find(each => (each.getAttribute("aria-label") ?? each.textContent) === focus)?.focus();
}

async function refresh() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  try {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (answer.ok) {
      const made = new DOMParser().parseFromString(await answer.text(), "text/html");
      const parts = new Map([...made.querySelectorAll("[data-live]")].map(each => [each.dataset.live, each]));
      for (const old of document.querySelectorAll("[data-live]")) {
        const part = parts.get(old.dataset.live);
        if (part) replace(old, document.adoptNode(part));
        else old.remove();
      }
      if (made.body.dataset.whole !== document.body.dataset.whole) location.reload();
      document.body.dataset.seen = String(Number(document.body.dataset.seen ?? 0) + 1);
    }
  } catch {
    // The stream says when the connection is lost; the next change asks again.
  } finally {
    busy = false;
    waitForMore();
    if (again) {
      again = false;
      soon();
    }
  }
}

// What is still being worked out is asked for again, ever more slowly.
function waitForMore() {
  if (!document.querySelector("[data-again]")) pause = 700;
  else setTimeout(soon, (pause = Math.min(1.6 * pause, 15_000)));
}

function soon() {
  timer ||= setTimeout(() => {
    timer = 0;
    refresh();
  }, APART);
}

function lost(since) {
  const box = document.querySelector(".banners");
  if (!box || box.querySelector("[data-lost]")) return;
  const words = element("span", { text: say("live.lost", { time: shown(since, "clock") }) });
  box.append(element("div", { class: "banner", role: "status", "data-lost": "" }, icon("flag"), words));
}

export function followStream() {
  const address = document.body.dataset.stream;
  if (!address) return;
  const stream = new EventSource(address);
  let since = null, waiting = 0;
  stream.addEventListener("open", () => {
    clearTimeout(waiting);
    document.querySelector("[data-lost]")?.remove();
    since = null;
    soon(); // What changed between the page and the stream.
  });
  stream.addEventListener("error", () => {
    since ??= new Date();
    clearTimeout(waiting);
    waiting = setTimeout(() => lost(since), 3000);
  });
  for (const kind of KINDS) stream.addEventListener(kind, soon);
  stream.addEventListener("ended", () => stream.close());
  addEventListener("pagehide", () => stream.close());
}
