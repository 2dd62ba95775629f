// qmd's keyword search (searchLex) through its library; no model is loaded.
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
  const found = await store.searchLex(q, { limit });
  const ms = performance.now() - start;
  tell({ paths: found.map((one) => one.displayPath.split("/").pop()), ms });
}
await store.close();
