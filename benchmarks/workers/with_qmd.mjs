// qmd's keyword search through its library; no model is loaded.
// searchLex wants every word of a question in one note, so a whole question finds nothing.
// Asked in the way its own program asks once a model has taken a question apart: a keyword
// query for each word that tells something, joined by qmd's own fusion, without reranking.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, home] = process.argv.slice(2);
const main = join(home, "node_modules/@tobilu/qmd/dist/index.js");
const { createStore } = await import(pathToFileURL(main).href);
const about = join(home, "node_modules/@tobilu/qmd/package.json");
const { version } = JSON.parse(readFileSync(about, "utf-8"));
const tell = (said) => process.stdout.write(JSON.stringify(said) + "\n");

const LITTLE = new Set(
  "what when where which who whom whose why how did does was were are is the and for with that this from about have has had".split(" "),
);
const wordsOf = (text) =>
  [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])].filter(
    (word) => word.length > 2 && !LITTLE.has(word),
  );

const began = performance.now();
const store = await createStore({
  dbPath: join(process.env.HOME, "index.sqlite"),
  config: { collections: { notes: { path: folder, pattern: "**/*.md" } } },
});
await store.update();
tell({ version, seconds: (performance.now() - began) / 1000 });
for await (const line of createInterface({ input: process.stdin })) {
  const { q, limit } = JSON.parse(line);
  const start = performance.now();
  const queries = wordsOf(q).map((query) => ({ type: "lex", query }));
  const found = queries.length ? await store.search({ queries, limit, rerank: false }) : [];
  const ms = performance.now() - start;
  tell({ paths: found.map((one) => one.displayPath.split("/").pop()), ms });
}
await store.close();
