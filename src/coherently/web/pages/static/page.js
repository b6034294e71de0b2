// What all pages of the facilitator do with script; without it every form still works.
import { localTimes } from "./clocks.js";
import { copyButtons } from "./copying.js";
import { dropZones } from "./dropping.js";
import { followStream } from "./live.js";
import { linePreviews } from "./previews.js";
import { readDrafts } from "./reading.js";
import { sendOnChange } from "./choosing.js";

for (const each of document.querySelectorAll("[data-without-script]")) each.hidden = true;
localTimes(document);
copyButtons(document);
dropZones();
readDrafts();
linePreviews();
sendOnChange();
followStream();
