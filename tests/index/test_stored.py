"""A table on disk holds what was added, whatever was taken out and merged on the way."""

from __future__ import annotations

import random
import string
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_memory.domain.search_types import Unit
from kimi_memory.index.columns import FileRow
from kimi_memory.index.files import DEAD
from kimi_memory.index.stored import RELEASED, Stored
from kimi_memory.index.table import COLUMNS, Table

NOW = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)


def made(path: str, count: int, version: int) -> list[Unit]:
    return [
        Unit(
            id=f"{path}#{n}.{version}",
            kind="turn" if n % 2 else "页",
            tier="page",
            path=path,
            first=n,
            last=n + 1,
            text=f"text {n} 文字 {version} \ud800",
            at=NOW if n % 3 else None,
            tags=("a", "标签") if n % 2 else (),
            importance=n / 7,
        )
        for n in range(count)
    ]


def grown(folder: Path, base: Stored, files: dict[str, list[Unit]], gone: list[str]) -> Stored:
    table = Table(next_key=base.next_key)
    for path, units in files.items():
        why = "" if units else "broken"
        row = FileRow(path, (len(units), 2**63 + 5, 7), path, 0, len(units), why)
        table.add(row, units, [3] * len(units))
    base.grow(folder, table, gone)
    return Stored.open(folder)


def living(table: Stored) -> dict[str, list[Unit]]:
    return {
        file.path: [
            table.unit(row, file.path, table.text(row))
            for row in range(file.first, file.first + file.rows)
        ]
        for file in table.files
    }


STEPS = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 5)), min_size=1, max_size=6),
    min_size=1,
    max_size=14,
)


@settings(max_examples=60)
@given(STEPS)
def test_a_table_holds_what_was_added_last(steps: list[list[tuple[int, int]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, table, held = Path(name), Stored(), dict[str, list[Unit]]()
        for version, step in enumerate(steps):
            chosen = {f"笔记/{file}.md": count for file, count in step}
            gone = [path for path in chosen if path in held]
            fresh = {p: made(p, count, version) for p, count in chosen.items() if count >= 0}
            table = grown(folder, table, fresh, gone)
            held = {path: units for path, units in held.items() if path not in chosen} | fresh
            assert living(table) == held
            assert table.stats() == {p: (len(u), 2**63 + 5, 7) for p, u in held.items()}
            assert table.keys == sorted(set(table.keys))
            assert table.living() == sum(map(len, held.values()))
            assert {row.path for row in table.faults()} == {p for p, u in held.items() if not u}
            asked = [*(f"笔记/{n}.md" for n in range(10)), "笔记", "", "1.md", "md笔记/1.md笔"]
            found = {path: table.number(path) for path in asked}
            for path in held:
                assert table.path(table.ordinals[path]) == path
                assert table.file(path).digest == table.digest(path) == path
            for path in set(asked) - set(held):
                assert table.digest(path) == ""
                with pytest.raises(KeyError):
                    table.file(path)
            assert found == {path: table.ordinals.get(path, -1) for path in asked}
            assert found == {path: table.number(path) for path in asked}
            for column in COLUMNS:
                assert len(table.column(column)) == len(table)


def test_an_update_writes_little_however_large_the_table_is(tmp_path: Path) -> None:
    sizes = []
    for count in (600, 6000):
        folder = tmp_path / str(count)
        folder.mkdir()
        many = {f"{n}.md": made(f"{n}.md", 10, 0) for n in range(count)}
        table = grown(folder, Stored(), many, [])
        before = {path.name for path in folder.iterdir()}
        table = grown(folder, table, {"1.md": made("1.md", 10, 1)}, ["1.md"])
        fresh = [p for p in folder.iterdir() if p.name not in before or p.name == DEAD]
        sizes.append(sum(path.stat().st_size for path in fresh))
        assert len(table.segments) == 2
    assert sizes[1] < 1.2 * sizes[0]


def test_many_small_updates_leave_few_segments(tmp_path: Path) -> None:
    chance, table = random.Random(1), Stored()
    for version in range(120):
        path = f"{chance.randrange(40)}.md"
        gone = [path] if table.number(path) >= 0 else []
        table = grown(tmp_path, table, {path: made(path, 3, version)}, gone)
        assert len(table.segments) <= 8
    assert len(table) <= 2 * table.living()


@pytest.mark.parametrize("count", [1, 300, 70_000])
def test_codes_are_as_wide_as_they_must_be(tmp_path: Path, count: int) -> None:
    table = grown(tmp_path, Stored(), {"a.md": made("a.md", count, 0)}, [])
    assert table.column("id").value(count - 1) == f"a.md#{count - 1}.0"
    assert table.column("id").among({"a.md#0.0"}).sum() == 1
    assert table.column("kind").all()[0] == "页"


def resident(folder: Path) -> int:
    """Return how many kilobytes of the files in a folder this process holds, mapped."""
    held, counts = 0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if line.startswith("Rss:"):
            held += int(line.split()[1]) if counts else 0
        elif line[:1] not in string.ascii_uppercase:
            counts = f"{folder}/" in line
    return held


def test_what_was_read_of_the_files_is_given_back(tmp_path: Path) -> None:
    units = [replace(unit, text=unit.text + "x" * 4096) for unit in made("a.md", 400, 1)]
    table = grown(tmp_path, Stored(), {"a.md": units}, [])
    texts = [table.text(row) for row in range(400)]
    assert resident(tmp_path) > 1024
    table.release()
    assert resident(tmp_path) == 0
    assert [table.text(row) for row in range(400)] == texts


def test_it_is_given_back_while_units_are_read(tmp_path: Path) -> None:
    units = [replace(unit, text="x" * 65536) for unit in made("a.md", RELEASED + 2, 1)]
    table = grown(tmp_path, Stored(), {"a.md": units}, [])
    for row in range(RELEASED):
        assert table.unit(row, "a.md", table.text(row)).first == row
    before = resident(tmp_path)
    assert table.unit(RELEASED, "a.md", table.text(RELEASED)).first == RELEASED
    assert resident(tmp_path) < before / 2
