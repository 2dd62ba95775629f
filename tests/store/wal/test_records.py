"""Last records: the newest word of the journal on a path, whichever segment it stands in."""

from __future__ import annotations

import json

from kimi_memory.store.wal.records import LastRecords, Reach


def line(path: str, after: str, **more: str) -> bytes:
    return json.dumps({"path": path, "after": after, **more}).encode() + b"\n"


def test_the_last_record_wins_and_old_segments_are_read_once() -> None:
    days = {
        "1.jsonl": [line("a.md", "one"), line("b.md", "b", origin="tool")],
        "2.jsonl": [line("a.md", "two"), line("c.md", "c", was="a.md", op="move"), b"torn"],
    }
    asked: list[str] = []

    def lines(segment: str, known: Reach) -> tuple[Reach, bool, list[bytes]]:
        asked.append(segment)
        return Reach(1, len(days[segment])), known.inode == 1, days[segment][known.end :]

    records = LastRecords()

    def find(path: str) -> tuple[str, str] | None:
        found = records.find(path, sorted(days), lines)
        return (found.mark, found.origin) if found else None

    assert find("c.md") == ("c", "")
    assert asked == ["2.jsonl"]
    assert find("a.md") == ("", "")
    assert find("b.md") == ("b", "tool")
    assert find("d.md") is None
    assert asked.count("1.jsonl") == 1
    days["2.jsonl"].append(line("d.md", "d"))
    assert find("d.md") == ("d", "")
    assert asked.count("1.jsonl") == 1


def test_what_grew_waits_if_what_it_grew_from_did() -> None:
    rows = [
        line("s.jsonl", "1", op="created", origin="external:remote", why="a pull"),
        line("s.jsonl", "2", op="append", origin="human"),
    ]
    found = LastRecords().find("s.jsonl", ["1"], lambda segment, known: (Reach(1, 9), False, rows))
    assert found is not None
    assert (found.mark, found.origin, found.why) == ("2", "external:remote", "a pull")


def test_what_a_day_gained_before_the_next_began_is_read() -> None:
    days = {"1.jsonl": [line("a.md", "one")]}

    def lines(segment: str, known: Reach) -> tuple[Reach, bool, list[bytes]]:
        return Reach(1, len(days[segment])), known.inode == 1, days[segment][known.end :]

    records = LastRecords()
    found = records.find("a.md", sorted(days), lines)
    assert found and found.mark == "one"
    days["1.jsonl"].append(line("a.md", "two"))
    days["2.jsonl"] = [line("b.md", "b")]
    found = records.find("a.md", sorted(days), lines)
    assert found and found.mark == "two"
