"""Pictures of the architecture page: the layers, and three trips through the files.

``python -m docs.pictures`` writes them; with ``--check`` it names the stale ones. The layers are
those that the architecture test holds the imports to.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.small { font-size: 11px; fill: #59636e }
.title { font-weight: 600 }
rect { fill: #f6f8fa; stroke: #d1d9e0; rx: 6px }
.hook { fill: #ddf4ff; stroke: #54aeff }
.disk { fill: #dafbe1; stroke: #4ac26b }
path { stroke: #59636e; fill: none; marker-end: url(#head) }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .small { fill: #9198a1 }
  rect { fill: #151b23; stroke: #3d444d }
  .hook { fill: #0c2d6b; stroke: #1f6feb } .disk { fill: #0f2f1a; stroke: #238636 }
  path { stroke: #9198a1 }
}
</style>
<defs><marker id="head" markerWidth="7" markerHeight="7" refX="6" refY="3.5" orient="auto">
<polygon points="0,0 7,3.5 0,7" fill="#59636e"/></marker></defs>"""

ABOUT = {
    "cli": "the command line",
    "client": "a memory behind HTTP",
    "server": "a memory over HTTP",
    "agent_hooks": "agent programs and frameworks",
    "operations": "what a person asks of a memory",
    "api": "Memory, Session",
    "capture": "turns in · knowledge made · questions answered",
    "index": "tables made from the files",
    "store.trust": "whose word a file is",
    "store.notes": "notes by id and key",
    "store": "the one way files are written",
    "store.git": "history · journal and transactions",
    "store.files": "locks, system calls",
    "hooks": "plugins asked in order",
    "llm": "questions to a model",
    "llm.remote": "servers of models",
    "config": "settings",
    "merge": "two versions of a memory into one",
    "formats": "the text form of notes",
    "domain": "values",
    "nlp.rules": "what a sentence states or asks",
    "nlp.dates": "days and spans",
    "nlp.basic": "words, sentences, patterns",
    "errors": "the tree of errors",
}
"""What stands beside a layer, by its first folder."""


class Stop(NamedTuple):
    """One file on a trip."""

    path: str
    does: str
    kind: str = ""
    """``hook`` where plugins are asked, ``disk`` where bytes are written."""


TRIPS: dict[str, tuple[Stop, ...]] = {
    "A turn comes in": (
        Stop("kimi_memory/cli/session.py", "session turn"),
        Stop("kimi_memory/api/turn_capture.py", "Session.turn"),
        Stop("kimi_memory/capture/log.py", "one turn at a time, masked"),
        Stop("kimi_memory/nlp/basic/safe_text.py", "cuts recalled blocks out"),
        Stop("plugins/privacy.py", "hook screen_text", "hook"),
        Stop("plugins/triggers.py", "hook capture_turn", "hook"),
        Stop("kimi_memory/formats/jsonl.py", "one line of JSON"),
        Stop("kimi_memory/store/wal/records.py", "appended and synced", "disk"),
        Stop("kimi_memory/store/files/tree.py", "the session as one JSON file", "disk"),
    ),
    "A question goes out": (
        Stop("kimi_memory/cli/recall.py", "recall"),
        Stop("kimi_memory/recall/query_parser.py", "words and filters"),
        Stop("kimi_memory/index/index.py", "what changed since?"),
        Stop("kimi_memory/recall/engine.py", "one search"),
        Stop("plugins/dates.py", "hook expand_query", "hook"),
        Stop("kimi_memory/recall/filters.py", "what the caller may see"),
        Stop("kimi_memory/recall/bm25.py", "the lane of words"),
        Stop("kimi_memory/recall/ranking.py", "lanes into one score"),
        Stop("plugins/weights.py", "hook weigh_hit", "hook"),
        Stop("kimi_memory/recall/engine.py", "what was shown", "disk"),
    ),
    "A card reaches a page": (
        Stop("kimi_memory/jobs/distil.py", "the session ended"),
        Stop("plugins/distiller.py", "hook distil_session", "hook"),
        Stop("kimi_memory/jobs/fold_drafts.py", "drafts meet cards"),
        Stop("plugins/conflicts.py", "hook judge_conflict", "hook"),
        Stop("kimi_memory/jobs/matching.py", "a card with evidence"),
        Stop("kimi_memory/jobs/gates.py", "may this be written?"),
        Stop("kimi_memory/jobs/pages.py", "the lines of MEMORY.md"),
        Stop("templates/notes/MEMORY.en.md.j2", "how it looks"),
        Stop("kimi_memory/store/wal/transaction.py", "all files or none", "disk"),
        Stop("kimi_memory/store/git/commit.py", "one commit", "disk"),
    ),
}
"""The files of each trip in the order in which a command enters them."""


def layers() -> list[list[str]]:
    """Return the layers of the package as the architecture test names them, top first."""
    tree = ast.parse((ROOT / "tests/test_architecture.py").read_text(encoding="utf-8"))
    found = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYERS"
    )
    named = [sorted(ast.literal_eval(layer)) for layer in getattr(found, "elts", [])]
    shown = [[one for one in layer if one not in ("__main__", "nlp")] for layer in named]
    return [layer for layer in shown if layer]


def box(x: int, y: int, width: int, kind: str = "") -> str:
    """Return a box 26 pixels high."""
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="26"/>'


def words(x: int, y: int, text: str, kind: str = "", anchor: str = "start") -> str:
    """Return a line of text."""
    shown = f'x="{x}" y="{y}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {shown}>{escape(text)}</text>'


def draw_layers() -> str:
    """Return the picture of the layers; imports point down."""
    parts: list[str] = []
    y = 8
    for layer in layers():
        width = (324 - 9 * (len(layer) - 1)) // len(layer)
        for n, name in enumerate(layer):
            x = 8 + n * (width + 9)
            parts += [box(x, y, width), words(x + width // 2, y + 17, name, "", "middle")]
        about = next((ABOUT[name] for name in layer if name in ABOUT), "")
        parts.append(words(352, y + 17, about, "small"))
        y += 32
    return picture(640, y + 4, parts)


def draw_trips() -> str:
    """Return the picture of the trips, side by side, each from top to bottom."""
    parts: list[str] = []
    for n, (title, stops) in enumerate(TRIPS.items()):
        x = 8 + n * 300
        parts.append(words(x, 20, title, "title"))
        for at, stop in enumerate(stops):
            y = 32 + at * 52
            name = stop.path.removeprefix("kimi_memory/")
            parts += [box(x, y, 280, stop.kind), words(x + 140, y + 17, name, "", "middle")]
            parts.append(words(x + 12, y + 41, stop.does, "small"))
            if at:
                parts.append(f'<path d="M{x + 240},{y - 26} L{x + 240},{y - 2}"/>')
    return picture(8 + 300 * len(TRIPS), 32 + 52 * max(map(len, TRIPS.values())), parts)


def picture(width: int, height: int, parts: Sequence[str]) -> str:
    """Return an SVG document."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
    return "\n".join([head, STYLE, *parts, "</svg>", ""])


PICTURES = {"layers.svg": draw_layers, "trips.svg": draw_trips}


def stale(folder: Path) -> Iterator[str]:
    """Yield the names of the pictures that are not as the sources are."""
    for name, draw in PICTURES.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != draw():
            yield name


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="name the stale ones and fail")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where they lie")
    options = parser.parse_args(argv)
    if options.check:
        found = list(stale(options.folder))
        print("\n".join(f"{name} is stale" for name in found), file=sys.stderr)
        return int(bool(found))
    for name, draw in PICTURES.items():
        (options.folder / name).write_text(draw(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
