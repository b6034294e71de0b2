// Times in the time zone of whoever looks at the page.
const styles = {
  clock: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  days: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  moment: { weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  deadline: { weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" },
  day: { day: "numeric", month: "long", year: "numeric" },
};

export function shown(moment, style) {
  const chosen = style === "clock" && moment.toDateString() !== new Date().toDateString() ? "days" : style;
  return new Intl.DateTimeFormat("en-GB", styles[chosen]).format(moment);
}

export function localTimes(root) {
  for (const each of root.querySelectorAll("time[data-time]")) {
    const moment = new Date(each.dateTime);
    if (!Number.isNaN(moment.getTime())) each.textContent = shown(moment, each.dataset.time);
  }
}
