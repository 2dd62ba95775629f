"""Records of two copies: tombstones, jobs and threads."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.formats.jsonl import seal, tombstone_line
from kimi_memory.merge.moved_turns import Moved
from kimi_memory.merge.records import (
    TombstoneFile,
    merge_jobs,
    merge_threads,
    merge_tombstones,
    merge_usage,
)
from tests.merge.values import NOW

STONE = Tombstone("memory", "", "tea", NOW, "li")


def lines(*stones: Tombstone) -> bytes:
    return b"".join(map(tombstone_line, stones))


def test_what_a_purge_barred_is_never_taken_away() -> None:
    purged = replace(STONE, why="purged")
    base, empty = lines(purged), TombstoneFile(b"", {})
    assert merge_tombstones(base, empty, TombstoneFile(base, {})) == base
    assert merge_tombstones(base, empty, empty) == base


def test_lines_that_are_no_tombstones_are_kept() -> None:
    found = merge_tombstones(b"", TombstoneFile(b"# odd", {}), TombstoneFile(lines(STONE), {}))
    assert found == b"# odd\n" + lines(STONE)


def test_a_forgotten_session_stays_forgotten_where_the_other_side_moved_its_turns() -> None:
    whole = replace(STONE, scope="session:s1", value="")
    ours = TombstoneFile(lines(whole), {})
    theirs = TombstoneFile(b"", {"s1": (Moved(3, "s1-aa"),)})
    found = merge_tombstones(b"", ours, theirs)
    assert found == merge_tombstones(b"", theirs, ours)
    assert b'"session:s1"' in found
    assert b'"session:s1-aa"' in found


def test_two_tombstones_of_one_value_bar_what_both_name() -> None:
    one, other = replace(STONE, about=("card-1",)), replace(STONE, by="wang", about=("card-2",))
    found = merge_tombstones(b"", TombstoneFile(lines(one), {}), TombstoneFile(lines(other), {}))
    assert b'"about":["card-1","card-2"]' in found
    assert found.count(b"\n") == 1


def test_a_job_that_ran_in_both_copies_tells_what_it_changed_in_each() -> None:
    def job(at: str, path: str) -> bytes:
        return json.dumps({"id": "j", "at": at, "effects": [{"path": path}]}).encode()

    merged = json.loads(merge_jobs(job("2026-02-28", "b.md"), job("2026-02-27", "a.md")))
    assert merged == {
        "id": "j", "at": "2026-02-27", "effects": [{"path": "a.md"}], "also": [{"path": "b.md"}],
    }  # fmt: skip
    again = merge_jobs(json.dumps(merged).encode(), job("2026-03-01", "c.md"))
    assert json.loads(again)["also"] == [{"path": "b.md"}, {"path": "c.md"}]
    with pytest.raises(ValueError, match="object"):
        merge_jobs(b"[]", b"{}")


def test_threads_that_parted_are_both_kept() -> None:
    whole = merge_threads(b"a\n", b"a\nb\n")
    assert (whole.content, whole.mark) == (b"a\nb\n", "")
    parted = merge_threads(b"a\nb\n", b"a\nc")
    assert parted == merge_threads(b"a\nc", b"a\nb\n")
    assert (parted.content, parted.fork) == (b"a\nb\n", b"a\nc\n")


def test_a_line_of_usage_that_grew_replaces_what_it_was() -> None:
    def line(by: str, count: int) -> bytes:
        return seal({"day": "2026-02-26", "by": by, "shown": {"a": count}})

    old, odd = seal({"day": "2026-02-26", "shown": {"a": 1}}), b"no record\n"
    base = old + odd + line("aa", 1)
    ours, theirs = base + line("bb", 2), old + odd + line("aa", 4)
    found = merge_usage(base, ours, theirs)
    assert found == merge_usage(base, theirs, ours) == old + odd + line("aa", 4) + line("bb", 2)
    both = merge_usage(b"", line("aa", 3), line("aa", 2))
    assert both == merge_usage(b"", line("aa", 2), line("aa", 3)) == line("aa", 3)
