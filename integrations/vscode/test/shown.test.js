"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const shown = require("../src/shown");

const here = path.join(__dirname, "..");
const read = (name) => JSON.parse(fs.readFileSync(path.join(here, name), "utf8"));

test("marks at the ends of lines are found, also behind Chinese and emoji", () => {
  const text = "- 数据库用 SQLite（2026-02-28，0.80） ^card-01kj\n- 🐈 ^turn-5w4c-0\n看 ^card-x 这里\n";
  const found = shown.marks(text).map(([from, to]) => text.slice(from, to));
  assert.deepStrictEqual(found, ["^card-01kj", "^turn-5w4c-0"]);
});

test("a character is never cut in two", () => {
  assert.strictEqual(shown.short("🐈🐈🐈", 2), "🐈🐈…");
  assert.strictEqual(shown.short(" a\n b "), "a b");
});

test("cards are grouped by type, the fullest first", () => {
  const cards = [{ type: "rule" }, { type: "decision" }, { type: "decision" }];
  assert.deepStrictEqual(shown.byType(cards).map(([type, of]) => [type, of.length]), [["decision", 2], ["rule", 1]]);
});

test("a diff becomes its two sides", () => {
  const diff = "--- a/long-term/IDENTITY.md\n+++ b/long-term/IDENTITY.md\n@@ -1 +1,2 @@\n # 我\n-旧\n+新\n+more";
  assert.deepStrictEqual(shown.sides(diff), {
    before: "# long-term/IDENTITY.md\n# 我\n旧",
    after: "# long-term/IDENTITY.md\n# 我\n新\nmore",
  });
});

test("hits say how good, what and where", () => {
  const hit = { text: "数据库不用 MongoDB 了", score: 0.794, kind: "card", status: "active", path: "semantic/a.md", who: "林夏", at: "2026-02-28" };
  const [item] = shown.hits([hit]);
  assert.strictEqual(item.label, hit.text);
  assert.strictEqual(item.description, "林夏 · 2026-02-28");
  assert.match(item.detail, /^0\.79 · card · active · semantic/);
});

test("the status bar is empty where nothing waits", () => {
  assert.strictEqual(shown.waiting({ review: 0, conflicts: 0 }), "");
  assert.strictEqual(shown.waiting({ review: 9, conflicts: 2 }), "● 11");
});

test("the note of a file and of a line", () => {
  assert.strictEqual(shown.noteOf("---\r\nid: card-01a\r\nkind: card\r\n---\r\n"), "card-01a");
  assert.strictEqual(shown.noteOf("# none"), "");
  assert.strictEqual(shown.noteOnLine("- x ^event-9z "), "event-9z");
  assert.strictEqual(shown.blame([{ at: "" }, { at: "2026-02-28T06:21", job: "distil-1", why: "said so" }]), "2026-02-28 · distil-1 · said so");
});

test("both languages name the same, and every word of the program has its Chinese", () => {
  assert.deepStrictEqual(Object.keys(read("package.nls.json")), Object.keys(read("package.nls.zh-cn.json")));
  const manifest = fs.readFileSync(path.join(here, "package.json"), "utf8");
  const used = [...manifest.matchAll(/%([\w.]+)%/g)].map((found) => found[1]);
  for (const name of used) assert.ok(read("package.nls.json")[name], name);
  const source = fs.readFileSync(path.join(here, "src/extension.js"), "utf8");
  const words = [...source.matchAll(/\bt\("((?:[^"\\]|\\.)*)"/g)].map((found) => found[1]);
  const chinese = read("l10n/bundle.l10n.zh-cn.json");
  for (const word of words) assert.ok(chinese[word], word);
  for (const word of Object.keys(chinese)) assert.ok(words.includes(word), `unused: ${word}`);
});

test("every command of the manifest is carried out, and a folder chooses no program", () => {
  const manifest = read("package.json");
  const source = fs.readFileSync(path.join(here, "src/extension.js"), "utf8");
  for (const { command } of manifest.contributes.commands) assert.ok(source.includes(`"${command}":`), command);
  assert.strictEqual(manifest.contributes.configuration.properties["kimi.command"].scope, "machine");
  assert.strictEqual(manifest.capabilities.untrustedWorkspaces.supported, false);
  const lines = ["src/extension.js", "src/shown.js"].map((name) => fs.readFileSync(path.join(here, name), "utf8").split("\n").length);
  assert.ok(lines[0] + lines[1] <= 600, "small enough to read");
});
