"""The table of an index: what goes in comes out."""

from __future__ import annotations

from datetime import UTC, datetime

from folders import Folder

from kimi_memory.domain.search_types import Chunk, Unit
from kimi_memory.index.stored import Stored
from kimi_memory.index.table import COLUMNS
from kimi_memory.index.units import read_units


def whole(text: str) -> list[Chunk]:
    return [Chunk(1, max(1, text.count("\n")), text)]


def units(folder: Folder, path: str) -> list[Unit]:
    return read_units(path, (folder.root / path).read_bytes(), whole)


def test_a_table_survives_its_file(folder: Folder) -> None:
    path = folder.session("s", [("Ann", "你好"), ("assistant", "Hello.")])
    found = folder.index().searcher()
    table = found.parts[-1].table
    Stored().grow(folder.write("table/dead", "").parent, table, ())
    again = Stored.open(folder.root / "table")
    assert list(again.files) == table.files
    assert again.keys == table.keys
    assert again.words().tolist() == table.lengths
    for name in COLUMNS:
        assert list(again.column(name)) == list(table.column(name)), name
    expected = units(folder, path)
    assert [again.unit(row, path, expected[row].text) for row in range(2)] == expected
    assert expected[0].at == datetime(2026, 2, 27, 9, 0, 1, tzinfo=UTC)
