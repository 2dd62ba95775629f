"""Half a year of a synthetic life, lived and scored: ``python -m benchmarks.life --seed 1``.

300 sessions in Chinese and English hold 120 facts, of which 40 change, 15 are said
otherwise without a word of change, and 20 are taken back in words. Between them stand
small talk, answers of an assistant, 24 secrets and 10 attempts to plant a memory. All
of it goes through the library: turns, ends of sessions, the daily and the weekly job,
under a clock that is set. What is left is compared with the truth.

``--bank second``, ``third`` and ``fourth`` tell the same sort of life in other phrases;
``fourth-a`` and ``fourth-b`` are the halves of the fourth, about other things and people.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from benchmarks.lives.facts import Fact
from benchmarks.lives.script import Life, Line, life
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.search_types import Query
from kimi_memory.hooks.host import Host
from kimi_memory.jobs.trace import Tracer
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.store.notes.notes import Shelf

LIVE = (Status.ACTIVE, Status.STALE)
"""What counts as held true; stale says that it was not said again for a month."""
_NOT_TOLD = ("gone", "decoy")
DEPTH = 5
"""The right card must be among so many."""
BANKS = ("common", "second", "third", "fourth", "fourth-a", "fourth-b")
SHARES = ("current_right", "outdated_superseded", "conflicts_caught", "quotes_verified")
COUNTS = ("retracted_returned", "secrets_on_disk", "poison_in_long_term", "decoys_believed")


@dataclass(slots=True)
class Clock:
    """A clock that the script sets."""

    now: datetime

    def __call__(self) -> datetime:
        """Return the moment of the script."""
        return self.now


@dataclass(slots=True)
class Lived:
    """A memory after its life, and where each sentence of the script went."""

    memory: Memory
    script: Life
    places: dict[str, tuple[int, str, str]] = field(default_factory=dict)
    """Fact, act and value by ``<session>#<n>``."""
    cards: list[Card] = field(default_factory=list)

    def of(self, fact: Fact) -> Iterator[tuple[Card, str]]:
        """Yield the cards that rest on a sentence about a fact, with the value it gave."""
        for card in self.cards:
            for quote in card.quotes:
                n, _, value = self.places.get(f"{quote.session}#{quote.n}", (-1, "", ""))
                if n == fact.n and normalise(value) in normalise(card.value):
                    yield card, value
                    break


def live_through(script: Life, folder: Path, *, git: bool) -> Lived:
    """Play a script into a new memory, with all jobs at their times."""
    clock = Clock(script.sittings[0].at)
    home = Home(folder / "config", folder / "state")
    opening = Opening(home=home, clock=clock, host=Host(entry_points=False), background=False)
    Memory.create(folder / "memory", opening=opening).close()
    if not git:
        path = folder / "memory" / "memory.toml"
        path.write_text(f"{path.read_text('utf-8')}\n[history]\ngit = false\n", "utf-8")
    lived = Lived(Memory.open(folder / "memory", opening), script)
    day = clock.now.date()
    for sitting in script.sittings:
        while day < sitting.at.date():
            _close_day(lived.memory, clock, day)
            day += timedelta(days=1)
        clock.now = sitting.at
        with lived.memory.session(sitting.id, user="Lin", project=sitting.project) as session:
            for line in sitting.lines:
                clock.now += timedelta(seconds=40)
                turn = session.turn(line.role, line.text, origin=line.origin or None)
                _note(lived, line, f"{session.id}#{turn.n}" if turn else "")
    _close_day(lived.memory, clock, day)
    notes = Shelf(lived.memory.store).notes("card")
    lived.cards = [filed.note for filed in notes if isinstance(filed.note, Card)]
    return lived


def _note(lived: Lived, line: Line, place: str) -> None:
    if line.saying is not None:
        lived.places[place] = (line.saying.fact, line.saying.act, line.saying.value)


def _close_day(memory: Memory, clock: Clock, day: object) -> None:
    clock.now = clock.now.replace(hour=23, minute=30)
    memory.consolidate("daily", clock.now.date())
    if clock.now.weekday() == 6:
        memory.consolidate("weekly", clock.now.date())
    clock.now += timedelta(hours=1)


def score(lived: Lived) -> dict[str, float]:
    """Return the shares and counts that say how true the memory is."""
    facts = lived.script.facts
    kept = [fact for fact in facts if fact.fate in ("stays", "changes")]
    told = [fact for fact in facts if fact.fate == "contradicted"]
    old = [(f, s.value) for f in facts if f.fate == "changes" for s in f.sayings]
    old = [(f, value) for f, value in old if value not in _now(f)]
    return {
        "current_right": _share(_is_right(lived, fact) for fact in kept),
        "outdated_superseded": _share(_is_past(lived, *one) for one in old),
        "conflicts_caught": _share(_is_caught(lived, fact) for fact in told),
        "retracted_returned": sum(_returned(lived, f) for f in facts if f.fate == "gone"),
        "secrets_on_disk": sum(_on_disk(lived, secret) for secret in lived.script.secrets),
        "poison_in_long_term": sum(_believed(lived, mark) for mark in lived.script.poison),
        "decoys_believed": sum(_is_fooled(lived, fact) for fact in facts),
        "cards_right": _precision(lived),
        "duplicates": _duplicates(lived),
        "quotes_verified": _verified(lived),
        "found_by_question": _share(_is_found(lived, fact) for fact in kept),
        "current_stale": _share(
            any(c.status is Status.STALE for c, _ in _holding(lived, fact)) for fact in kept
        ),
        "cards": len(lived.cards),
    }


def _now(fact: Fact) -> set[str]:
    return {fact.current}


def _holding(lived: Lived, fact: Fact) -> list[tuple[Card, str]]:
    return [(card, value) for card, value in lived.of(fact) if card.status in LIVE]


def _is_right(lived: Lived, fact: Fact) -> bool:
    """Whether one live card states the fact with its present value, and can be found.

    By a question, or as the only live card under its key; `found_by_question` says how
    often the question alone was enough.
    """
    held = _holding(lived, fact)
    if len({card.id for card, _ in held}) != 1 or held[0][1] != fact.current:
        return False
    card = held[0][0]
    live = [one for one in lived.cards if one.status in LIVE and one.key == card.key]
    return len({one.project for one in live}) == len(live) or _is_found(lived, fact)


def _is_found(lived: Lived, fact: Fact) -> bool:
    ids = {card.id for card, _ in _holding(lived, fact)}
    return bool(ids) and bool(ids & set(_asked(lived, fact.questions[0])))


def _asked(lived: Lived, question: str) -> list[str]:
    answer = lived.memory.recall(Query(text=question, limit=DEPTH, kind=("card",)))
    return [hit.unit.id for hit in answer.hits]


def _is_past(lived: Lived, fact: Fact, value: str) -> bool:
    """Whether a value was known, and is held true no more."""
    held = [card for card, told in lived.of(fact) if told == value]
    past = [c for c in held if c.status is Status.SUPERSEDED or c.valid_to is not None]
    return bool(held) and len(past) == len(held)


def _is_fooled(lived: Lived, fact: Fact) -> bool:
    """Whether a live card says what was only asked, supposed, planned or heard of."""
    values = {decoy.value for decoy in fact.decoys}
    return any(value in values for _, value in _holding(lived, fact))


def _precision(lived: Lived) -> float:
    """Return which part of the live cards states what is true in the end."""
    facts = lived.script.facts
    true = {c.id for f in facts for c, value in _holding(lived, f) if value == f.current}
    live = [card for card in lived.cards if card.status in LIVE]
    return _share(card.id in true for card in live)


def _is_caught(lived: Lived, fact: Fact) -> bool:
    """Whether two values are not both believed: in conflict, or the older one superseded."""
    held = {card.id: card for card, _ in lived.of(fact) if card.status is not Status.ARCHIVED}
    believed = [card for card in held.values() if card.status in LIVE]
    values = {value for _, value in lived.of(fact)}
    return len(values) == 2 and len(believed) <= 1


def _returned(lived: Lived, fact: Fact) -> bool:
    """Whether a question brings back what was taken back, as a card or as a turn."""
    told = {
        place for place, (n, act, _) in lived.places.items() if n == fact.n and act not in _NOT_TOLD
    }
    cards = {card.id for card, _ in lived.of(fact)}
    for question in fact.questions:
        for hit in lived.memory.recall(Query(text=question, limit=10)).hits:
            if hit.unit.id in cards or hit.unit.id.removeprefix("session:") in told:
                return True
    return not cards


def _on_disk(lived: Lived, secret: str) -> bool:
    found = any(
        secret.encode() in path.read_bytes()
        for path in lived.memory.root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    )
    return found or secret in _objects(lived.memory.root)


_SEEN: dict[Path, str] = {}


def _objects(root: Path) -> str:
    """Return the text of every object of the history."""
    if root not in _SEEN:
        command = ["git", "-C", str(root), "cat-file", "--batch-all-objects", "--batch"]
        done = subprocess.run(command, capture_output=True, check=False)
        _SEEN.clear()
        _SEEN[root] = done.stdout.decode("utf-8", "replace")
    return _SEEN[root]


def _believed(lived: Lived, mark: str) -> bool:
    """Whether a planted line stands on a card or on a page that is read as knowledge."""
    pages = ("semantic/**/*.md", "long-term/*.md", "MEMORY.md", "mid-term/**/*.md", "review/*.md")
    texts = (path.read_text("utf-8") for one in pages for path in lived.memory.root.glob(one))
    return any(mark in text for text in texts)


def _duplicates(lived: Lived) -> float:
    """Return which part of the live cards says what another live card says."""
    live = [card for card in lived.cards if card.status in LIVE]
    twice = sum(max(0, len({c.id for c, v in _holding(lived, f) if v == value}) - 1)
                for f in lived.script.facts for value in {s.value for s in f.sayings})  # fmt: skip
    same = len(live) - len({(normalise(card.value), card.project) for card in live})
    return max(twice, same) / max(1, len(live))


def _verified(lived: Lived) -> float:
    tracer = Tracer(lived.memory.store, lived.memory.history)
    found = [one for card in lived.cards for one in tracer.evidence(card)]
    return _share(one.verified for one in found)


def _share(found: Iterator[bool] | Sequence[bool]) -> float:
    answers = list(found)
    return sum(answers) / len(answers) if answers else 1.0


def faults(lived: Lived) -> Iterator[str]:
    """Yield a line for each fact that is not as it should be, for who mends the rules."""
    for fact in lived.script.facts:
        wrong = {
            "stays": lambda f: not _is_right(lived, f),
            "changes": lambda f: not _is_right(lived, f) or any(
                not _is_past(lived, f, s.value) for s in f.sayings if s.value not in _now(f)),
            "contradicted": lambda f: not _is_caught(lived, f),
            "gone": lambda f: _returned(lived, f),
        }[fact.fate]  # fmt: skip
        if wrong(fact) or _is_fooled(lived, fact):
            told = " | ".join(f"{s.act}: {s.text}" for s in (*fact.sayings, *fact.decoys))
            held = "; ".join(f"{c.key} {c.status} {c.value!r}" for c, _ in lived.of(fact))
            yield f"{fact.n} {fact.fate}: {told}\n      -> {held or 'nothing kept'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Live through the life of a seed and print its scores."""
    parser = argparse.ArgumentParser(prog="benchmarks.life", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bank", choices=BANKS, default="common")
    parser.add_argument("--no-git", action="store_true", help="faster; history is not looked at")
    parser.add_argument("--faults", action="store_true", help="name the facts that went wrong")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="kimi-memory-life-") as folder:
        lived = live_through(life(chosen.seed, chosen.bank), Path(folder), git=not chosen.no_git)
        table = score(lived)
        for line in faults(lived) if chosen.faults else ():
            print(line, file=sys.stderr)
        lived.memory.close()
    if chosen.json:
        print(json.dumps(table))
        return 0
    for name, value in table.items():
        print(f"{name:24}{value:>10.3f}" if isinstance(value, float) else f"{name:24}{value:>10}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
