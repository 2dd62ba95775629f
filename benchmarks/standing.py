"""Orders and preferences where they apply: ``python -m benchmarks.standing FILE…``.

The people's own chats of a gold file are lived through. Then each standing order and
each preference is asked for by questions that do not mention it but that it applies to;
it is there if one or two lines of the `task` block hold all of its words. What was taken
back or replaced must not be asked for, so it has no questions.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.gold.judged import share
from benchmarks.gold.lived import Lived
from benchmarks.gold.matching import Words
from benchmarks.gold.prompts import FOLDER, own_chats, read_prompts
from benchmarks.gold.sessions import Texts
from benchmarks.knowledge import said_lines
from benchmarks.record import save


class Applied(NamedTuple):
    """A question, what applies to it, and whether that stood in its block."""

    corpus: str
    kind: str
    lang: str
    question: str
    statement: str
    there: bool


def apply(path: Path, folders: Sequence[Path]) -> Iterator[Applied]:
    """Yield every question of a gold file's own chats."""
    prompts = list(read_prompts(FOLDER / "standing.txt"))
    for corpus, sessions in own_chats(path, Texts(folders)).items():
        with tempfile.TemporaryDirectory(prefix="kimi-memory-standing-") as folder:
            lived = Lived("own_chat", corpus, sessions, Path(folder))
            items = {(one.id, item["id"]): item for one, item in lived.items()}
            for prompt in prompts:
                item = items.get((prompt.session, prompt.item))
                if prompt.corpus == corpus and item:
                    block = lived.memory.context("task", prompt.text)
                    there = stands(said_lines(block.text), lived.needed(prompt.session, item))
                    lang = sessions[0].labels["lang"]
                    kind, said = item["kind"], item["statement"]
                    yield Applied(corpus, kind, lang, prompt.text, said, there)
            lived.memory.close()


def stands(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether one line, or two that follow each other, hold all of some words."""
    both = [*lines, *(f"{a}\n{b}" for a, b in pairwise(lines))]
    return any(Words(text).has_all(wanted) for text in both)


def figures(applied: Sequence[Applied]) -> dict[str, Any]:
    """Return the shares of questions whose block holds what applies, by kind and language."""
    found: dict[str, Any] = {}
    for kind in sorted({one.kind for one in applied}):
        for lang in ("", "zh", "en"):
            some = [one for one in applied if one.kind == kind and lang in ("", one.lang)]
            there = sum(one.there for one in some)
            found[f"{kind}/{lang}".rstrip("/")] = {
                "questions": len(some),
                "there": share(there, len(some)),
            }
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the gold files named on the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.standing", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--data", action="append", type=Path, help="folder of texts, repeatable")
    parser.add_argument("--record", type=Path, help="write the figures and their setting there")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    given = parser.parse_args(arguments)
    named = os.environ.get("KIMI_MEMORY_DATA")
    applied = [
        one
        for path in given.files
        for one in apply(path, given.data or [Path(named or path.resolve().parent.parent)])
    ]
    table = figures(applied)
    if given.record:
        names = " ".join(path.name for path in given.files)
        save(given.record, f"python -m benchmarks.standing {names}", table)
    if given.json:
        print(json.dumps(table, ensure_ascii=False, indent=1))
    else:
        _show(table, applied)
    return 0


def _show(table: Mapping[str, Any], applied: Sequence[Applied]) -> None:
    for name, row in table.items():
        print(f"{name:16}{row['questions']:>5} questions, there {100 * (row['there'] or 0):.0f} %")
    print("\nnot there")
    for one in applied:
        if not one.there:
            print(f"  {one.kind:11}{one.corpus}: {one.question} <- {one.statement}")


if __name__ == "__main__":
    sys.exit(main())
