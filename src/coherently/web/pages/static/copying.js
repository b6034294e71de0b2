// Buttons that copy a text, and fields that are selected as a whole.
import { say } from "./words.js";

async function copy(button) {
  const old = [...button.childNodes];
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    const field = button.parentElement.querySelector("input, textarea");
    field?.select();
    if (!document.execCommand?.("copy")) return;
  }
  button.replaceChildren(say("live.copied"));
  setTimeout(() => button.replaceChildren(...old), 1500);
}

export function copyButtons(root) {
  for (const each of root.querySelectorAll("[data-copy]")) each.hidden = false;
}

document.addEventListener("click", event => {
  const button = event.target.closest?.("[data-copy]");
  if (button) copy(button);
});
document.addEventListener("focusin", event => { if ("select" in (event.target.dataset ?? {})) event.target.select(); });
