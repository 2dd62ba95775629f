"""Verdicts on two statements: ``python -m benchmarks.verdicts [--kept] [--key] [--json]``.

``pairs/verdicts.*.tsv`` holds 200 pairs in each language: the same thing said in other
words, more of it, another value, the opposite, the same words in other roles, another
thing. Each pair goes through a real memory: both statements are remembered, three days
apart, and what became of the two cards is held against what was written down before the
rules were. In each sort every second pair is kept aside while rules are written; `--kept`
measures those, and its misses are not listed. With `--key` both are given one key.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Card, Status
from kimi_memory.hooks.host import Host
from kimi_memory.store.notes.notes import Shelf

PAIRS = Path(__file__).parent / "pairs"
LANGUAGES = ("en", "zh")
FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
APART = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements and the letters of the verdicts that are right."""

    sort: str
    accepted: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a pair."""

    pair: Pair
    letter: str
    """A agrees, R refines, X replaces, C conflicts, U stands beside, - lost."""

    @property
    def is_right(self) -> bool:
        """Whether the verdict is one of the accepted."""
        return self.letter in self.pair.accepted

    @property
    def is_false_agreement(self) -> bool:
        """Whether another statement was counted as agreement."""
        return not self.is_right and self.letter in "A-"

    @property
    def is_silent_overwrite(self) -> bool:
        """Whether a value gave way that nobody took back."""
        return not self.is_right and self.letter in "RX"


def read_pairs(language: str) -> Iterator[tuple[Pair, bool]]:
    """Yield the pairs of a language, and whether each is kept aside."""
    seen: Counter[str] = Counter()
    for line in (PAIRS / f"verdicts.{language}.tsv").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            pair = Pair(*line.split("\t"))
            seen[pair.sort] += 1
            yield pair, seen[pair.sort] % 2 == 0


class _Clock:
    """The time of a memory, which goes on when it is told to."""

    now = FIRST

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now


def judge(pair: Pair, folder: Path, key: str) -> Outcome:
    """Remember both statements of a pair in a memory of its own, and read the verdict off it."""
    clock = _Clock()
    opening = Opening(
        home=Home(folder / "config", folder / "state"),
        clock=clock,
        host=Host(entry_points=False),
        background=False,
    )
    Memory.create(folder / "memory", opening=opening).close()
    settings = folder / "memory" / "memory.toml"
    settings.write_text(f"{settings.read_text('utf-8')}\n[history]\ngit = false\n", "utf-8")
    with Memory.open(folder / "memory", opening) as memory:
        memory.remember(pair.before, key=key)
        known = {card.id: card for card in _cards(memory)}
        clock.now = FIRST + APART
        memory.remember(pair.after, key=key)
        return Outcome(pair, _letter(known, _cards(memory)))


def _cards(memory: Memory) -> list[Card]:
    notes = (filed.note for filed in Shelf(memory.store).notes("card"))
    return [note for note in notes if isinstance(note, Card)]


def _letter(known: dict[str, Card], cards: Sequence[Card]) -> str:
    fresh = [card for card in cards if card.id not in known]
    old = [card for card in cards if card.id in known]
    if any(card.status is Status.CONFLICTED for card in old):
        return "C"
    if any(card.status is Status.SUPERSEDED for card in old):
        return "X"
    if fresh:
        return "U"
    if all(card.quotes == known[card.id].quotes for card in old):
        return "-" if not old else "A"
    return "A" if all(card.confidence > known[card.id].confidence for card in old) else "R"


def run(language: str, *, kept: bool, key: str) -> list[Outcome]:
    """Return the outcomes of one half of a language."""
    outcomes = []
    for pair, aside in read_pairs(language):
        if aside is kept:
            with tempfile.TemporaryDirectory() as folder:
                outcomes.append(judge(pair, Path(folder), key))
    return outcomes


def figures(outcomes: Sequence[Outcome]) -> dict[str, float | int | dict[str, str]]:
    """Return what is printed of some outcomes."""
    right, all_ = Counter[str](), Counter[str]()
    for one in outcomes:
        all_[one.pair.sort] += 1
        right[one.pair.sort] += one.is_right
    return {
        "accuracy": round(100 * sum(right.values()) / max(1, len(outcomes)), 1),
        "false_agreements": sum(one.is_false_agreement for one in outcomes),
        "silent_overwrites": sum(one.is_silent_overwrite for one in outcomes),
        "right": {sort: f"{right[sort]}/{all_[sort]}" for sort in all_},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure both languages and print figures, and the misses of the half that is not kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description=__doc__)
    parser.add_argument("--kept", action="store_true", help="the half that is kept aside")
    parser.add_argument("--key", action="store_true", help="remember both under one key")
    parser.add_argument("--language", choices=LANGUAGES, action="append")
    parser.add_argument("--json", action="store_true", help="figures for a machine")
    given = parser.parse_args(arguments)
    found = {}
    for language in given.language or LANGUAGES:
        outcomes = run(language, kept=given.kept, key="note.same" if given.key else "")
        found[language] = figures(outcomes)
        if not given.json:
            print(f"{language}  {found[language]}")
            for one in outcomes if not given.kept else ():
                if not one.is_right:
                    pair = one.pair
                    print(
                        f"  {one.letter} for {pair.accepted:3} {pair.sort}:",
                        f"{pair.before} | {pair.after}",
                    )
    if given.json:
        json.dump(found, sys.stdout, indent=1)
        print()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
