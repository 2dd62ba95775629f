// The memory in VS Code: views, decorations and commands over the language server of kimi-memory.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");
const shown = require("./shown");

const t = vscode.l10n.t;
const SCHEME = "kimi-diff";
const texts = new Map();
let client, lastJob, bar, dim, blamed;
const views = [];

/** A tree whose rows are asked of the server when it is shown, and again after each change. */
class Rows {
  constructor(load) {
    this.load = load;
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }
  refresh() {
    this.changed.fire();
  }
  getTreeItem(row) {
    return row;
  }
  async getChildren(row) {
    if (row) return row.below || [];
    return client ? this.load() : [];
  }
}

function row(label, more = {}) {
  const below = more.below;
  const state = below ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None;
  return Object.assign(new vscode.TreeItem(label, state), more);
}

function root() {
  const named = vscode.workspace.getConfiguration("kimi").get("memory");
  if (named) return vscode.Uri.file(named);
  return memoryFolder;
}

let memoryFolder;

function fileAt(path, line = 0) {
  const at = new vscode.Range(line, 0, line, 0);
  const uri = vscode.Uri.joinPath(root(), ...path.split("/"));
  return { command: "vscode.open", title: "", arguments: [uri, { selection: at, preview: true }] };
}

/** Ask the server; what it refuses is shown as one sentence. */
async function ask(command, ...given) {
  try {
    return await client.sendRequest("workspace/executeCommand", { command, arguments: given });
  } catch (error) {
    vscode.window.showErrorMessage(String(error.message || error));
    return undefined;
  }
}

async function held() {
  const found = shown.byType((await ask("kimi.held")) || []);
  return found.map(([type, cards]) =>
    row(type, {
      description: String(cards.length),
      below: cards.map((card) =>
        row(card.key, {
          description: shown.short(card.text),
          tooltip: `${card.text}\n${card.confidence.toFixed(2)} · ${card.project}`,
          command: fileAt(card.path),
        })
      ),
    })
  );
}

async function review() {
  const found = (await ask("kimi.review")) || [];
  if (!found.length) return [row(t("Nothing waits."))];
  return found.map((item) =>
    row(shown.short(item.title), {
      contextValue: "kimi.waits",
      description: item.target,
      tooltip: [item.text, item.reason, ...item.evidence].filter(Boolean).join("\n\n"),
      iconPath: new vscode.ThemeIcon("circle-filled"),
      command: { command: "kimi.diffItem", title: "", arguments: [{ item }] },
      item,
    })
  );
}

async function conflicts() {
  const found = (await ask("kimi.conflicts")) || [];
  return found.map((one) =>
    row(one.key, {
      command: fileAt(one.path),
      below: one.sides.map((side) =>
        row(shown.short(side.text), { contextValue: "kimi.side", description: side.trust, key: one.key, side })
      ),
    })
  );
}

async function sessions() {
  const found = (await ask("kimi.sessions")) || [];
  return found.map((one) =>
    row(one.id, { description: one.open ? t("open") : "", command: fileAt(one.path) })
  );
}

function jobs() {
  const names = { distil: t("Distil sessions"), daily: t("The day"), weekly: t("The week") };
  return shown.JOBS.map((job) =>
    row(names[job], {
      contextValue: "kimi.job",
      description: job,
      job,
      command: { command: "kimi.dryRun", title: "", arguments: [{ job }] },
    })
  );
}

/** Show texts side by side that no file holds. */
async function showDiff(name, diff) {
  if (!diff) return vscode.window.showInformationMessage(t("It would change nothing."));
  const made = shown.sides(diff);
  const [left, right] = ["before", "after"].map((side) => {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}.${side}.md`, query: String(Date.now()) });
    texts.set(uri.toString(), made[side]);
    return uri;
  });
  return vscode.commands.executeCommand("vscode.diff", left, right, name);
}

async function refresh() {
  views.forEach((view) => view.refresh());
  const count = client && (await ask("kimi.count"));
  bar.text = count ? shown.waiting(count) : "";
  bar.tooltip = count && t("{0} wait for you, {1} in conflict", count.review, count.conflicts);
  if (bar.text) bar.show();
  else bar.hide();
}

/** Say what was done and offer to take it back. */
async function did(words, done) {
  if (!done) return;
  lastJob = done.jobs[done.jobs.length - 1] || lastJob;
  for (const failed of done.failed || []) vscode.window.showErrorMessage(failed);
  await refresh();
  const answer = await vscode.window.showInformationMessage(words, ...(done.jobs.length ? [t("Undo")] : []));
  if (answer) await undo();
}

async function undo() {
  if (!lastJob) return vscode.window.showInformationMessage(t("There is nothing to undo."));
  const done = await ask("kimi.undo", lastJob);
  if (!done) return undefined;
  const job = lastJob;
  lastJob = undefined;
  await refresh();
  return vscode.window.showInformationMessage(t("Undone: {0}", job));
}

function search() {
  const pick = vscode.window.createQuickPick();
  pick.title = t("Search the memory");
  pick.placeholder = t("Words or a question");
  pick.matchOnDescription = pick.matchOnDetail = true;
  let waits, number = 0;
  pick.onDidChangeValue((words) => {
    clearTimeout(waits);
    waits = setTimeout(async () => {
      const mine = ++number;
      const found = words.trim() ? await ask("kimi.recall", words) : [];
      if (mine === number && found) pick.items = shown.hits(found);
    }, 200);
  });
  pick.onDidAccept(() => {
    const [chosen] = pick.selectedItems;
    if (chosen) {
      const open = fileAt(chosen.hit.path, chosen.hit.line);
      vscode.commands.executeCommand(open.command, ...open.arguments);
    }
    pick.hide();
  });
  pick.onDidHide(() => pick.dispose());
  pick.show();
}

function inMemory(document) {
  return document.languageId === "markdown" && memoryFolder && document.uri.fsPath.startsWith(root().fsPath);
}

function decorate(editor) {
  if (!editor || !inMemory(editor.document)) return;
  const on = vscode.workspace.getConfiguration("kimi").get("dimMarks");
  const text = editor.document.getText();
  const found = on ? shown.marks(text) : [];
  const place = (offset) => editor.document.positionAt(offset);
  editor.setDecorations(dim, found.map(([from, to]) => new vscode.Range(place(from), place(to))));
}

async function blameOf(editor) {
  const line = editor.document.lineAt(editor.selection.active.line).text;
  const id = shown.noteOnLine(line) || shown.noteOf(editor.document.getText());
  return id ? shown.blame((await ask("kimi.blame", id)) || []) : "";
}

async function blameLine() {
  const editor = vscode.window.activeTextEditor;
  const found = editor && inMemory(editor.document) ? await blameOf(editor) : "";
  const words = found ? t("since {0}", found) : t("Put your cursor into a note of the memory.");
  vscode.window.showInformationMessage(words);
}

async function blameSelection(event) {
  const editor = event.textEditor;
  const on = vscode.workspace.getConfiguration("kimi").get("blame.currentLine");
  if (!inMemory(editor.document)) return;
  const found = on ? await blameOf(editor) : "";
  const at = editor.document.lineAt(editor.selection.active.line).range;
  const text = { contentText: `   ${found}`, color: new vscode.ThemeColor("editorCodeLens.foreground") };
  editor.setDecorations(blamed, found ? [{ range: at, renderOptions: { after: text } }] : []);
}

async function runJob({ job }) {
  if ((await vscode.window.showWarningMessage(t("Run {0}?", job), { modal: true }, t("Run"))) === t("Run")) {
    await did(t("Done: {0}", job), await ask("kimi.run", job, false));
  }
}

async function dryRun({ job }) {
  const would = await ask("kimi.run", job, true);
  if (would) await showDiff(t("What {0} would do", job), would.diff);
}

function openPages() {
  const terminal = vscode.window.createTerminal({ name: "Kimi", cwd: root() });
  terminal.sendText(`${vscode.workspace.getConfiguration("kimi").get("command")} ui`);
  terminal.show();
}

const COMMANDS = {
  "kimi.search": search,
  "kimi.refresh": refresh,
  "kimi.showReview": () => vscode.commands.executeCommand("kimi.reviewView.focus"),
  "kimi.acceptItem": async ({ item }) => did(t("Accepted."), await ask("kimi.accept", item.id, item.fingerprint)),
  "kimi.rejectItem": async ({ item }) => did(t("Rejected."), await ask("kimi.reject", item.id, item.fingerprint)),
  "kimi.diffItem": ({ item }) => showDiff(t("What accepting would change"), item.diff),
  "kimi.keepSide": async ({ key, side }) => did(t("Settled."), await ask("kimi.settle", key, side.id)),
  "kimi.dryRun": dryRun,
  "kimi.runJob": runJob,
  "kimi.undoLast": undo,
  "kimi.blameLine": blameLine,
  "kimi.openPages": openPages,
};

async function start(context) {
  const config = vscode.workspace.getConfiguration("kimi");
  const command = config.get("command");
  const server = { command, args: ["lsp", "--stdio"], transport: TransportKind.stdio, options: { cwd: root().fsPath } };
  // Quick fixes run commands of the server by themselves; what they did can be taken back as well.
  const executeCommand = async (name, given, next) => {
    const done = await next(name, given);
    if (done && done.jobs) await did(t("Done: {0}", done.jobs.join(", ")), done);
    return done;
  };
  client = new LanguageClient("kimi-memory", "Kimi Memory", server, {
    documentSelector: [
      { scheme: "file", language: "markdown" },
      { scheme: "file", pattern: "**/session_*.jsonl" },
    ],
    initializationOptions: { memory: root().fsPath, codeLens: config.get("codeLens") },
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.md") },
    middleware: { executeCommand },
  });
  context.subscriptions.push(client);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const words = t("The program {0} does not start: {1}", command, String(error.message || error));
    const answer = await vscode.window.showErrorMessage(words, t("Show the settings"));
    if (answer) vscode.commands.executeCommand("workbench.action.openSettings", "kimi.command");
  }
}

async function activate(context) {
  // A memory folder may come from somebody else: until it is trusted nothing is read or started.
  if (!vscode.workspace.isTrusted) return;
  const [found] = await vscode.workspace.findFiles("{memory.toml,*/memory.toml}", null, 1);
  const named = vscode.workspace.getConfiguration("kimi").get("memory");
  if (!found && !named) return;
  memoryFolder = found ? vscode.Uri.joinPath(found, "..") : vscode.Uri.file(named);
  const add = (thing) => context.subscriptions.push(thing);
  bar = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right, 50);
  bar.command = "kimi.showReview";
  dim = vscode.window.createTextEditorDecorationType({ opacity: "0.35" });
  blamed = vscode.window.createTextEditorDecorationType({});
  [bar, dim, blamed].forEach(add);
  add(vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    provideTextDocumentContent: (uri) => texts.get(uri.toString()) || "",
  }));
  await start(context);
  for (const [name, run] of Object.entries(COMMANDS)) add(vscode.commands.registerCommand(name, run));
  const loaders = { review, conflicts, held, sessions, jobs };
  for (const [name, load] of Object.entries(loaders)) {
    const view = new Rows(load);
    views.push(view);
    add(vscode.window.registerTreeDataProvider(`kimi.${name}View`, view));
  }
  vscode.window.visibleTextEditors.forEach(decorate);
  add(vscode.window.onDidChangeActiveTextEditor(decorate));
  add(vscode.workspace.onDidChangeTextDocument((event) => {
    const editor = vscode.window.activeTextEditor;
    if (editor && event.document === editor.document) decorate(editor);
  }));
  add(vscode.window.onDidChangeTextEditorSelection(blameSelection));
  add(vscode.workspace.onDidSaveTextDocument((document) => inMemory(document) && refresh()));
  await refresh();
}

async function deactivate() {
  if (client) await client.stop();
}

module.exports = { activate, deactivate };
