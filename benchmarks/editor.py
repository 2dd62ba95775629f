"""An editor on a large folder: ``python -m benchmarks.editor --cards 100000 --json``.

The real language server over real standard input and output. The time from a request to its
answer, as an editor waits for it: hover, definition, references, completion, outline, and what is
wrong with a file after a key stroke, without the pause in which somebody types. Beside it stands
the processor time of the server, its mean, which says more on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.large import PER_FOLDER, id_of, write_cards
from benchmarks.recall_start import memory
from benchmarks.web import processor_ms
from kimi_memory.lsp.language_server import DEBOUNCE_S
from tests.lsp.editor import Editor

PAGE = """# Note

- [[{name}]] shows a card ^{id}
- see [[{begun}
"""


def measure(cards: int, rounds: int) -> dict[str, float]:
    """Return the median and the slowest time of each question, in milliseconds."""
    with memory(cards, write_cards) as (root, home):
        folder = Path(root)
        middle = cards // 2
        path, name = "PROJECT.md", f"{middle:06d}"
        text = PAGE.format(name=name, id=id_of(middle), begun=name[:4])
        (folder / path).write_text(text, encoding="utf-8")
        editor = Editor(folder, Path(home["HOME"]))
        begun = time.perf_counter()
        editor.open(path)
        card = f"semantic/{middle // PER_FOLDER:04d}/{name}.md"
        # What files name is read in the background; answers before that know less.
        while not editor.at("hover", path, "^card", 3):
            time.sleep(0.2)
        found = {"cards": float(cards), "known_s": round(time.perf_counter() - begun, 1)}
        asked_of = {"textDocument": {"uri": editor.uri(card)}}
        asks: dict[str, Callable[[], object]] = {
            "hover": lambda: editor.at("hover", path, "^card", 3),
            "definition": lambda: editor.at("definition", path, name, 2),
            "references": lambda: editor.at("references", path, "^card", 3, context=_CONTEXT),
            "completion": lambda: editor.at("completion", path, "see [[", 10),
            "outline": lambda: editor.ask("textDocument/documentSymbol", asked_of),
            "diagnostics": lambda: editor.change(path, text),
        }
        for asked, ask in asks.items():
            before = processor_ms(editor.process)
            times = [_spent(ask) for _ in range(rounds)]
            spent = processor_ms(editor.process) - before
            found[f"{asked}_cpu_ms"] = round(spent / rounds, 1)
            pause = DEBOUNCE_S * 1000 if asked == "diagnostics" else 0
            found[f"{asked}_ms"] = round(statistics.median(times) - pause, 1)
            found[f"{asked}_most_ms"] = round(max(times) - pause, 1)
        editor.close()
    return found


_CONTEXT = {"includeDeclaration": False}


def _spent(ask: Callable[[], object]) -> float:
    begun = time.perf_counter()
    ask()
    return (time.perf_counter() - begun) * 1000


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.editor", description=__doc__)
    parser.add_argument("--cards", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    found = measure(given.cards, given.rounds)
    if given.json:
        print(json.dumps(found))
        return 0
    for name, value in found.items():
        print(f"{name:20} {value:10,.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
