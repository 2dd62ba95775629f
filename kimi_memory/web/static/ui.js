// Keys and a warning before unsaved words are left. Every page works without this file.
const inField = (node) => node.closest?.("input, textarea, select, [contenteditable]");
const press = (name) => {
  const found = document.querySelector(`[data-do="${CSS.escape(name)}"]`);
  found?.click();
  if (found?.tagName === "SUMMARY") found.parentElement.querySelector("textarea")?.focus();
  return Boolean(found);
};

const step = (by) => {
  const rows = [...document.querySelectorAll(".row[tabindex]")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return rows.length > 0;
};

let waiting = 0;
const lead = (key) => {
  const to = document.querySelector(`nav a[data-key="${CSS.escape(key)}"]`);
  to?.click();
  return Boolean(to);
};

const act = (event) => {
  const now = Date.now();
  if (now - waiting < 1500) {
    waiting = 0;
    return lead(event.key);
  }
  switch (event.key) {
    case "g":
      waiting = now;
      return true;
    case "/":
      document.querySelector("#ask")?.focus();
      return true;
    case "Enter": {
      const row = document.activeElement?.closest(".row");
      const link = row === document.activeElement && row?.querySelector(".statement a");
      if (link) link.click();
      return Boolean(link);
    }
    case "j":
    case "k":
      return press(event.key) || step(event.key === "j" ? 1 : -1);
    default:
      return event.key.length === 1 && press(event.key);
  }
};

document.addEventListener("keydown", (event) => {
  // While an input method composes, keys are not ours; nor with Ctrl, Alt or Command.
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if (inField(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (act(event)) event.preventDefault();
});

// What does not fit a narrow screen is scrolled to what counts: the open page, the note of a graph.
const centre = (box, what) => {
  if (!box || !what) return;
  const [outer, inner] = [box, what].map((one) => one.getBoundingClientRect());
  box.scrollLeft += inner.x + inner.width / 2 - outer.x - outer.width / 2;
};
centre(document.querySelector("nav"), document.querySelector("nav [aria-current]"));
centre(document.querySelector(".drawing"), document.querySelector("circle.start"));

let dirty = false;
for (const form of document.querySelectorAll("form[data-guard]")) {
  form.addEventListener("keydown", (event) => {
    if (event.key !== "s" || event.isComposing || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("button.main"));
  });
  form.addEventListener("input", () => { dirty = true; });
  form.addEventListener("submit", () => { dirty = false; });
}
addEventListener("beforeunload", (event) => { if (dirty) event.preventDefault(); });
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", () => navigator.clipboard.writeText(button.dataset.copy));
}

// The memory is being opened: looked for again and again, and the page stays until there is another.
const look = async () => {
  const page = await fetch(location.href).then((one) => one.text(), () => 'data-again="0"');
  const done = /data-again="(\d+)"/.exec(page);
  if (!done) return location.reload();
  if (done[1] !== "0") document.querySelector("progress").value = done[1];
  return setTimeout(look, 1000);
};
if (document.querySelector("[data-again]")) setTimeout(look, 1000);

// One stream for all tabs of a memory, held by one that is seen: a browser has six connections to
// a server. What is new is named and never loaded by itself, so nobody loses what they write.
const place = document.body.dataset.live;
let news = 0;
const tell = () => {
  const link = document.querySelector("#news");
  news += 1;
  link.textContent = link.dataset.says.replace("#", news);
  link.hidden = false;
};
let leave = null;
const follow = () => {
  const seen = document.visibilityState === "visible";
  if (seen === Boolean(leave)) return;
  leave?.abort();
  leave = seen ? new AbortController() : null;
  if (!seen) return;
  const { signal } = leave;
  const hold = () => new Promise((done) => {
    const stream = new EventSource(place);
    stream.addEventListener("message", () => { tell(); others.postMessage(1); });
    signal.addEventListener("abort", () => { stream.close(); done(); });
  });
  navigator.locks.request(place, { signal }, hold).catch(() => {});
};
const others = place && navigator.locks ? new BroadcastChannel(place) : null;
if (others) {
  others.addEventListener("message", tell);
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => { leave?.abort(); leave = null; });
  addEventListener("pageshow", follow);
  follow();
}
