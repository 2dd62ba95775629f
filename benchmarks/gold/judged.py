"""Notes of a memory held against labels, and the figures of that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

from benchmarks.gold.lived import LIVE, Lived, Note, Place
from benchmarks.gold.matching import Words, cut_sentences, fold

Figures = dict[str, Any]

OUT = frozenset({"superseded", "archived"})
IMPORTANT = frozenset({"order", "preference", "self-fact", "relation", "decision"})
"""Kinds that belong on the overview page where they weigh most."""
HEAVY = 3
_SHORT, _QUOTE, _SHOWN = 3, 8, 5
"""Letters of a text that is too short to be recognised: anywhere, in a quote, in a line shown."""


class Row(NamedTuple):
    """One item, and how far the live notes have it."""

    kind: str
    said_by: str
    weight: int
    held: bool
    own: bool
    lenient: bool
    named: bool | None
    """Whether a note of it names whose it is; None where only one person speaks."""


def share(part: int, whole: int) -> float | None:
    """Return a share, nothing of nothing."""
    return round(part / whole, 3) if whole else None


class _OfMemory(Protocol):
    @property
    def memory(self) -> str:
        """The memory that a prompt was put to."""


M = TypeVar("M", bound=_OfMemory)


def group_by_memory(shown: Iterable[M]) -> Mapping[str, Sequence[M]]:
    """Return what was shown by the name of its memory, and all of it under ``all``."""
    groups = defaultdict[str, list[M]](list)
    for one in shown:
        groups[one.memory].append(one)
        groups["all"].append(one)
    return groups


def judge(lived: Lived) -> None:
    """Say of each note which items it holds and what it keeps that is no knowledge."""
    nevers, items = defaultdict[Place, list[str]](list), defaultdict[Place, list[Any]](list)
    for session, never in lived.nevers():
        nevers[session.id, never["turn"]].append(_clip(never["text"]))
    for session, item in lived.items():
        for turn in item["evidence"]:
            items[session.id, turn].append(item)
    for note in lived.notes:
        places = {place for place, _ in note.quotes}
        near = {(place[0], item["id"]): item for place in places for item in items[place]}
        own, whole = Words(note.own), Words("\n".join([note.own, *(q for _, q in note.quotes)]))
        needed = {key: lived.needed(key[0], item) for key, item in near.items()}
        note.near = frozenset(near)
        note.holds = frozenset(key for key in near if whole.has_all(needed[key]))
        note.holds_own = frozenset(key for key in near if own.has_all(needed[key]))
        note.proven = any(items[place] for place in places)
        for place, quote in note.quotes:
            said = fold(quote)
            kept = (text for text in nevers[place] if _keeps(text, said, own.folded))
            note.hits += [(place[1], text) for text in kept]


def _clip(text: str) -> str:
    return fold(text).rstrip(" .…")


def _keeps(never: str, quote: str, own: str) -> bool:
    if len(never) <= _SHORT:
        return False
    return never in quote or never in own or (len(quote) > _QUOTE and quote in never)


def rows_of(lived: Lived) -> Iterator[tuple[Row, Any, Mapping[str, Any]]]:
    """Yield each item that still holds, with its session, and how far it is kept."""
    live = [note for note in lived.notes if note.live]
    for session, item in lived.items():
        key, owner = (session.id, item["id"]), lived.owner(session.id, item)
        if f"{session.id}/{item['id']}" in lived.past:
            continue  # a later item changes it: `changes`
        near = [note for note in live if key in note.near]
        row = Row(
            item["kind"],
            item.get("said_by") or "?",
            item["weight"],
            any(key in note.holds for note in live),
            any(key in note.holds_own for note in live),
            bool(near),
            any(fold(owner) in fold(note.text) for note in near) if owner else None,
        )
        yield row, session, item


def cover(rows: Sequence[Row]) -> Figures:
    """Return the shares of items that are kept, plain and by weight."""
    weight = sum(row.weight for row in rows)
    found: Figures = {"items": len(rows)}
    names = ("held", "own", "lenient")
    found |= {name: share(sum(getattr(row, name) for row in rows), len(rows)) for name in names}
    for name in names:
        kept = sum(row.weight for row in rows if getattr(row, name))
        found[f"{name}_w"] = share(kept, weight)
    return found


def precision(notes: Sequence[Note]) -> Figures:
    """Return how many notes are worth keeping."""
    count = len(notes)
    return {
        "n": count,
        "bad": share(sum(note.bad for note in notes), count),
        "bad_any": share(sum(bool(note.hits) for note in notes), count),
        "supported": share(sum(note.supported for note in notes), count),
        "neither": share(sum(not note.bad and not note.supported for note in notes), count),
        "holds_item": share(sum(bool(note.holds) for note in notes), count),
    }


def stand_in_lines(lived: Lived, lines: Sequence[str]) -> Figures:
    """Return how many important items stand in the lines of a page, and how many lines are bad.

    An item stands where one line, or two that follow each other, hold all of its words.
    """
    held = [
        (session.id, item)
        for session, item in lived.items()
        if f"{session.id}/{item['id']}" not in lived.past
    ]
    wanted = [
        lived.needed(id, item)
        for id, item in held
        if item["weight"] == HEAVY and item["kind"] in IMPORTANT
    ]
    single = [Words(line) for line in lines]
    pairs = [*single, *(Words(f"{a}\n{b}") for a, b in pairwise(lines))]
    needed = [lived.needed(id, item) for id, item in held]
    holds = [any(words.has_all(one) for one in needed) for words in single]
    nevers = [text for _, one in lived.nevers() if len(text := _clip(one["text"])) > _SHOWN]
    hits = [any(text in words.folded for text in nevers) for words in single]
    return {
        "wanted": len(wanted),
        "there": sum(any(words.has_all(one) for words in pairs) for one in wanted),
        "lines": len(lines),
        "bad": sum(hit and not hold for hit, hold in zip(hits, holds, strict=True)),
        "bad_any": sum(hits),
        "supported": sum(holds),
    }


def changes(lived: Lived) -> Iterator[Figures]:
    """Yield what became of the notes of each value that a later item replaces."""
    known = {f"{session.id}/{item['id']}": (session.id, item) for session, item in lived.items()}
    notes = [note for note in lived.notes if note.kind in ("card", "event")]
    for session, item in lived.items():
        before = item.get("replaces")
        before = before if before in known else f"{session.id}/{before}"
        if not item.get("replaces") or before not in known:
            continue
        id, older = known[before]
        old, new = (id, older["id"]), (session.id, item["id"])
        had = [note for note in notes if old in note.holds]
        stays = any(note.live and note.kind == "card" and new not in note.holds for note in had)
        yield {
            "old": older["statement"],
            "new": item["statement"],
            "old_known": bool(had),
            "old_no_longer_live": bool(had) and not stays,
            "old_superseded": any(note.status in OUT for note in had),
            "new_live": any(note.live for note in notes if new in note.holds),
            "new_live_lenient": any(note.live for note in notes if new in note.near),
        }


def ceilings(lived: Lived) -> Iterator[tuple[bool, bool, bool]]:
    """Yield of each item whether all its evidence, one turn or one sentence hold its words."""
    for session, item in lived.items():
        texts = [lived.texts.get((session.id, turn), "") for turn in item["evidence"]]
        needed = lived.needed(session.id, item)
        parts: Iterable[Sequence[str]] = (["\n".join(texts)], texts, cut_sentences(texts))
        whole, turn, sentence = (any(Words(t).has_all(needed) for t in part) for part in parts)
        yield whole, turn, sentence


def kept_nevers(lived: Lived) -> Iterator[bool]:
    """Yield of each sentence that only looks like knowledge whether a live note keeps it."""
    live = [note for note in lived.notes if note.status in LIVE]
    for _, never in lived.nevers():
        key = never["turn"], _clip(never["text"])
        yield any(key in note.hits for note in live)
