// A file that is dropped or chosen is read at once.
import { say } from "./words.js";

function ready(form) {
  const zone = form.querySelector(".drop"), input = form.querySelector("input[type=file]");
  const send = () => {
    if (!input.files.length) return;
    zone.querySelector("b").textContent = say("live.reading");
    form.requestSubmit();
  };
  input.addEventListener("change", send);
  for (const [type, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    zone.addEventListener(type, event => {
      event.preventDefault();
      zone.classList.toggle("over", over);
      if (type === "drop" && event.dataTransfer.files.length) {
        input.files = event.dataTransfer.files;
        send();
      }
    });
  }
}

export function dropZones() {
  for (const form of document.querySelectorAll("form[data-drop]")) ready(form);
}
