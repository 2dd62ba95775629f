"""Three-way merge of records: tombstones, usage, jobs and agents' threads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from kimi_memory.domain.session import Json
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.formats.jsonl import tombstone_line, tombstone_of, unseal
from kimi_memory.merge.kinds import mark_of
from kimi_memory.merge.moved_turns import Moves, bar_sessions, repoint_tombstones
from kimi_memory.merge.three_way import merge_sets, merge_tables

PURGED = "purged"
"""Why a purge set a tombstone; those are never taken away."""
ALSO = "also"
"""The key of a job under which stands what it changed in other copies."""
_Name = tuple[str, str, str, bool]


class TombstoneFile(NamedTuple):
    """A version of the file of tombstones, and the turns that moved on its side."""

    content: bytes
    moves: Moves


def merge_tombstones(base: bytes, ours: TombstoneFile, theirs: TombstoneFile) -> bytes:
    """Return the tombstones of both sides; those that a purge set only grow."""
    moved = {*ours.moves, *theirs.moves}
    moves = {id: (*ours.moves.get(id, ()), *theirs.moves.get(id, ())) for id in moved}
    sides = [_read_tombstones(base, {})]
    sides += [_read_tombstones(side.content, side.moves) for side in (ours, theirs)]
    stones = [_by_name(bar_sessions(found, moves)) for found, _ in sides]
    merged = merge_tables(stones[0], stones[1], stones[2], _join_tombstones)
    for side in stones:
        for name, stone in side.items():
            # Whichever side took it away: what was purged could come back.
            if stone.why == PURGED:
                merged.setdefault(name, stone)
    known = {stone: line for _, lines in sides for stone, line in lines.items()}
    rest = merge_sets(*(_other_lines(side) for side in (base, ours.content, theirs.content)))
    found = [
        (str(stone.at), known.get(stone) or tombstone_line(stone)) for stone in merged.values()
    ]
    lines = [*rest, *(line for _, line in sorted(found))]
    # A side that holds all of it already keeps its bytes, so that git sees no change.
    for content in sorted((ours.content, theirs.content)):
        if sorted(_lines(content)) == sorted(lines):
            return content
    return b"".join(lines)


def _read_tombstones(
    content: bytes, moves: Moves
) -> tuple[list[Tombstone], dict[Tombstone, bytes]]:
    """Return the tombstones of a side, and the lines of those that stand there as they are."""
    lines = {stone: line for line in _lines(content) if (stone := _tombstone(line)) is not None}
    return list(repoint_tombstones(lines, moves)), lines


def _tombstone(line: bytes) -> Tombstone | None:
    try:
        return tombstone_of(unseal(line))
    except ValueError:
        return None


def _other_lines(content: bytes) -> list[bytes]:
    return [line for line in _lines(content) if _tombstone(line) is None]


def _lines(content: bytes) -> list[bytes]:
    return [line if line.endswith(b"\n") else line + b"\n" for line in content.splitlines(True)]


def _by_name(stones: Iterable[Tombstone]) -> dict[_Name, Tombstone]:
    found: dict[_Name, Tombstone] = {}
    for stone in stones:
        name = (stone.scope, stone.key, stone.value, stone.hashed)
        found[name] = _join_tombstones(found[name], stone) if name in found else stone
    return found


def _join_tombstones(one: Tombstone, other: Tombstone) -> Tombstone:
    """Return the earlier tombstone; it bars what both name."""
    first = min((one, other), key=lambda stone: (stone.at, tombstone_line(stone)))
    why = PURGED if PURGED in (one.why, other.why) else first.why
    about = {*one.about, *other.about}
    named = first.about if set(first.about) == about else tuple(sorted(about))
    return replace(first, why=why, about=named)


def merge_usage(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return the lines of both sides; each counts what one copy showed on one day.

    A copy adds to its line: of two versions of it the one that counts more stays.
    """
    merged: dict[str, bytes] = {}
    for line in merge_sets(*map(_lines, (base, ours, theirs))):
        name, count = _identify_usage(line)
        if name not in merged or count > _identify_usage(merged[name])[1]:
            merged[name] = line
    return b"".join(merged.values())


def _identify_usage(line: bytes) -> tuple[str, tuple[float, bytes]]:
    """Return what tells a line of usage from others, and how much it counts."""
    try:
        record = unseal(line)
    except ValueError:
        record = {}
    shown = record.get("shown")
    values = shown.values() if isinstance(shown, dict) else ()
    count = sum(value for value in values if isinstance(value, int | float))
    # What an earlier version wrote names no copy: each line stands for itself.
    name = f"{record.get('day')} {record['by']}" if record.get("by") else line.hex()
    return name, (count, line)


def merge_jobs(ours: bytes, theirs: bytes) -> bytes:
    """Return the earlier record of one job, with what it changed in the other copy besides.

    Raises:
        ValueError: one is no record.
    """
    records = [json.loads(side) for side in (ours, theirs)]
    if not all(isinstance(record, dict) for record in records):
        raise ValueError("a job is a JSON object")
    first, second = sorted(records, key=lambda one: (str(one.get("at")), _canonical(one)))
    # What the job did here stays apart from what it did in other copies: undo reads the former.
    effects = [_canonical(effect) for effect in _list(first, "effects")]
    others = [*_list(first, ALSO), *_list(second, "effects"), *_list(second, ALSO)]
    also = {text: one for one in others if (text := _canonical(one)) not in effects}
    if also:
        first[ALSO] = [also[text] for text in sorted(also)]
    return f"{json.dumps(first, ensure_ascii=False, indent=2)}\n".encode("utf-8", "replace")


def _canonical(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _list(record: Mapping[str, Json], name: str) -> list[Json]:
    found = record.get(name)
    return found if isinstance(found, list) else []


class MergedThread(NamedTuple):
    """A thread of both sides, and the other where they parted."""

    content: bytes
    mark: str = ""
    """Ends the name of the fork; empty where there is none."""
    fork: bytes = b""


def merge_threads(ours: bytes, theirs: bytes) -> MergedThread:
    """Return the longer of two threads; where they parted, the one that loses as a fork."""
    one, other = _lines(ours), _lines(theirs)
    pairs = zip(one, other, strict=False)
    shared = next((n for n, (left, right) in enumerate(pairs) if left != right), None)
    if shared is None:
        return MergedThread(b"".join(one if len(one) > len(other) else other))
    # By what the lines say, so that swapped sides give the same files.
    stays, fork = sorted((one, other), key=lambda lines: lines[shared])
    return MergedThread(b"".join(stays), mark_of(fork[shared]), b"".join(fork))
