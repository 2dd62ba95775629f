"""Silence where a memory has nothing to say: ``python -m benchmarks.quiet FILE… --data DIR``.

Files with ``remember`` are gold files: each person's own chats are lived through, then
asked 200 prompts a language that have nothing to do with them (at most 1 % may bring
anything) and 200 that have (at least 90 % bring their evidence). Files with ``docs`` are
memories of labelled questions, see `benchmarks.quality`: their own questions are related,
those of the other files, and the same 200 prompts, are not. Every second prompt is kept
aside: thresholds are fitted to the first half alone, and both are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.gold import judged
from benchmarks.gold.lived import Lived
from benchmarks.gold.matching import Words
from benchmarks.gold.prompts import FOLDER, own_chats, read_lines, read_prompts
from benchmarks.gold.sessions import Texts
from benchmarks.quality import Written, asked
from benchmarks.record import save
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.hooks.host import Host

MOST, LEAST = 0.01, 0.9
"""Of unrelated prompts that bring anything, and of related ones that bring their evidence."""
SAMPLE = 100
"""Questions of a file that are asked, its own and those of each other file."""
_LATER = datetime(2026, 11, 1, 12, tzinfo=UTC)


class Shown(NamedTuple):
    """What one prompt brought."""

    memory: str
    prompt: str
    related: bool
    aside: bool
    """Whether no threshold may be fitted to it."""
    good: bool
    """Nothing, or the evidence."""
    lines: int


def of_chats(path: Path, folders: Sequence[Path]) -> Iterator[Shown]:
    """Yield what the prompts bring from the chats of each person."""
    for corpus, sessions in own_chats(path, Texts(folders)).items():
        lang = sessions[0].labels["lang"]
        with tempfile.TemporaryDirectory(prefix="kimi-memory-quiet-") as folder:
            lived = Lived("own_chat", corpus, sessions, Path(folder))
            judged.judge(lived)
            yield from _unrelated(corpus, lived.memory, _strangers(lang))
            yield from _related(lived, corpus, lang)
            lived.memory.close()


def _strangers(lang: str) -> list[str]:
    return read_lines(FOLDER / f"unrelated.{lang}.txt")


def _unrelated(name: str, memory: Memory, prompts: Iterable[str]) -> Iterator[Shown]:
    for number, prompt in enumerate(prompts):
        lines = memory.context("task", prompt).lines
        yield Shown(name, prompt, False, number % 2 == 1, not lines, len(lines))


def _related(lived: Lived, corpus: str, lang: str) -> Iterator[Shown]:
    items = {(one.id, item["id"]): item for one, item in lived.items()}
    for number, prompt in enumerate(read_prompts(FOLDER / f"related.{lang}.txt")):
        item = items.get((prompt.session, prompt.item))
        if prompt.corpus == corpus and item:
            good, lines = _brings(lived, prompt.session, item, prompt.text)
            yield Shown(corpus, prompt.text, True, number % 2 == 1, good, lines)


def _brings(lived: Lived, session: str, item: Mapping[str, Any], prompt: str) -> tuple[bool, int]:
    """Return whether a prompt brings a turn or a note of its evidence, and how many lines."""
    block = lived.memory.context("task", prompt)
    proof = {(session, turn) for turn in item["evidence"]}
    turns = lived.turn_ids()
    if any(turns.get(id) in proof for id in block.lines):
        return True, len(block.lines)
    near = {note.id for note in lived.notes if (session, item["id"]) in note.near}
    noted = any(id.partition("#")[0] in near for id in block.lines)
    return noted or Words(block.text).has_all(item["must_words"]), len(block.lines)


def of_questions(paths: Sequence[Path], sample: int) -> Iterator[Shown]:
    """Yield what questions bring from their own memory, and from others in their language."""
    memories = [(path, memory) for path in paths for memory in read_memories(path)]
    for path, memory in memories:
        lang = str(memory["lang"])
        with written_memory(memory) as (opened, written):
            name = f"{path.name.partition('.')[0]}/{memory['corpus']}"
            for number, question in enumerate(sampled(asked(memory), sample)):
                lines = opened.context("task", question.text).lines
                found = {written.name_of(id) for id in lines}
                good = not question.evidence.isdisjoint(found)
                yield Shown(name, question.text, True, number % 2 == 1, good, len(lines))
            others = [
                question.text
                for other, one in memories
                if other != path and one["lang"] == lang
                for question in sampled(asked(one), sample // 2)
            ]
            yield from _unrelated(name, opened, [*_strangers(lang), *others])


def read_memories(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the memories of a file, with their texts and questions."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def sampled(questions: Sequence[Any], count: int) -> Sequence[Any]:
    """Return so many questions, from all parts of a list."""
    return questions[:: max(1, len(questions) // count)][:count]


@contextmanager
def written_memory(memory: Mapping[str, Any]) -> Iterator[tuple[Memory, Written]]:
    """Give a memory on disk that holds the texts of one of a file."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-quiet-") as folder:
        place = Path(folder)
        opening = Opening(
            home=Home(place / "config", place / "state"),
            clock=lambda: _LATER,
            host=Host(entry_points=False),
            background=False,
        )
        with Memory.create(place / "memory", opening=opening) as opened:
            written = Written(place / "memory", memory.get("docs", ()))
            opened.index.refresh()
            yield opened, written


def figures(shown: Iterable[Shown]) -> dict[str, Any]:
    """Return the shares by memory and over all, of both halves of the prompts."""
    return {name: _shares(group) for name, group in judged.group_by_memory(shown).items()}


def _shares(shown: Sequence[Shown]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for half, aside in (("fitted", (False,)), ("aside", (True,)), ("both", (False, True))):
        quiet = [one for one in shown if not one.related and one.aside in aside]
        related = [one for one in shown if one.related and one.aside in aside]
        found[half] = {
            "unrelated": len(quiet),
            "inject": judged.share(sum(not one.good for one in quiet), len(quiet)),
            "related": len(related),
            "evidence": judged.share(sum(one.good for one in related), len(related)),
            "silent": judged.share(sum(not one.lines for one in related), len(related)),
        }
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the files named on the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.quiet", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--data", action="append", type=Path, help="folder of texts, repeatable")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="questions of a file")
    parser.add_argument("--wrong", type=int, default=10, help="so many wrong ones are printed")
    parser.add_argument("--record", type=Path, help="write the figures and their setting there")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    given = parser.parse_args(arguments)
    gold = [path for path in given.files if is_gold(path)]
    named = os.environ.get("KIMI_MEMORY_DATA")
    shown = [
        one
        for path in gold
        for one in of_chats(path, given.data or [Path(named or path.resolve().parent.parent)])
    ]
    shown += of_questions([path for path in given.files if path not in gold], given.sample)
    table = figures(shown)
    if given.record:
        names = " ".join(path.name for path in given.files)
        save(given.record, f"python -m benchmarks.quiet {names}", table)
    if given.json:
        print(json.dumps(table, ensure_ascii=False, indent=1))
    else:
        _show(table, shown, given.wrong)
    return 0


def is_gold(path: Path) -> bool:
    """Whether a file holds labelled sessions, not memories of questions."""
    with path.open(encoding="utf-8") as lines:
        return '"remember"' in next(lines, "")


def _show(table: Mapping[str, Any], shown: Sequence[Shown], wrong: int) -> None:
    print(
        f"{'':30}{'unrelated':>10}{'inject %':>10}{'related':>9}{'evidence %':>11}{'silent %':>9}"
    )
    for name, halves in table.items():
        for half, row in halves.items():
            if half != "fitted":
                cells = [100 * (row[key] or 0) for key in ("inject", "evidence", "silent")]
                print(
                    f"{f'{name}, {half}'[:29]:30}{row['unrelated']:>10}{cells[0]:>11.1f}"
                    f"{row['related']:>11}{cells[1]:>11.1f}{cells[2]:>11.1f}"
                )
    for related, what in ((False, "bring something"), (True, "lack their evidence")):
        bad = [one for one in shown if not one.good and one.related == related]
        print(f"\n{len(bad)} {what}")
        for one in bad[:wrong]:
            print(f"  {one.memory}: {one.prompt[:90]} ({one.lines} lines)")


if __name__ == "__main__":
    sys.exit(main())
