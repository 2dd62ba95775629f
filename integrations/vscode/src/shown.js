// What the views show, made of what the server answers. Nothing here knows the editor, so
// `node --test` tries it without one.
"use strict";

const MARK = / \^(?:card|event|digest|turn|project)-[0-9a-z-]+[ \t]*$/gm;
const JOBS = ["distil", "daily", "weekly"];

/** Return the ranges of the marks at the ends of lines, as [start, end] offsets. */
function marks(text) {
  return [...text.matchAll(MARK)].map((found) => [found.index + 1, found.index + found[0].length]);
}

/** Return text in one line of at most so many characters; a character is never cut in two. */
function short(text, most = 80) {
  const line = [...String(text).replace(/\s+/g, " ").trim()];
  return line.length > most ? `${line.slice(0, most).join("")}…` : line.join("");
}

/** Group cards by type, types with the most cards first. */
function byType(cards) {
  const groups = new Map();
  for (const card of cards) {
    if (!groups.has(card.type)) groups.set(card.type, []);
    groups.get(card.type).push(card);
  }
  return [...groups].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
}

/** Return the two sides of a unified diff, for the diff editor of VS Code. */
function sides(diff) {
  const before = [], after = [];
  for (const line of diff.split("\n")) {
    if (line.startsWith("--- ") || line.startsWith("@@")) continue;
    if (line.startsWith("+++ ")) {
      const name = line.slice(4).replace(/^b\//, "");
      before.push(`# ${name}`);
      after.push(`# ${name}`);
    } else if (line.startsWith("+")) after.push(line.slice(1));
    else if (line.startsWith("-")) before.push(line.slice(1));
    else {
      before.push(line.replace(/^ /, ""));
      after.push(line.replace(/^ /, ""));
    }
  }
  return { before: before.join("\n"), after: after.join("\n") };
}

/** Return the items of the quick pick for the hits of a search. */
function hits(found) {
  return found.map((hit) => ({
    label: short(hit.text, 100),
    description: [hit.who, hit.at].filter(Boolean).join(" · "),
    detail: `${hit.score.toFixed(2)} · ${hit.kind} · ${hit.status} · ${hit.path}`,
    alwaysShow: true,
    hit,
  }));
}

/** Return what stands in the status bar; empty where nothing waits. */
function waiting(count) {
  const all = count.review + count.conflicts;
  return all ? `● ${all}` : "";
}

/** Return the note a document is of, by the id in its front matter; empty where it has none. */
function noteOf(text) {
  const head = /^---\r?\n([\s\S]*?)\r?\n---/.exec(text);
  const id = head && /^id:\s*["']?((?:card|event)-[0-9a-z]+)/m.exec(head[1]);
  return id ? id[1] : "";
}

/** Return the note whose mark ends a line; empty where none does. */
function noteOnLine(line) {
  const found = /\^((?:card|event)-[0-9a-z]+)[ \t]*$/.exec(line);
  return found ? found[1] : "";
}

/** Return a blame of fields in one line. */
function blame(fields) {
  const one = fields.find((field) => field.at);
  return one ? [one.at.slice(0, 10), one.job, short(one.why, 60)].filter(Boolean).join(" · ") : "";
}

module.exports = { JOBS, blame, byType, hits, marks, noteOf, noteOnLine, short, sides, waiting };
