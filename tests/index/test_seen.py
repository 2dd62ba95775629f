"""States in arrays behave as a dictionary of them would, and differ from a table alike."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_memory.index.files import Stat
from kimi_memory.index.rows import FileRow
from kimi_memory.index.seen import Seen
from kimi_memory.index.stored import Stored
from kimi_memory.index.table import Table
from kimi_memory.index.walker import numbered

PATHS = ("a.md", "b.md", "页.md", "short-term/session_x.jsonl", "short-term/session_y.jsonl")
States = dict[str, Stat]
LOOKS = st.builds(Stat, st.integers(0, 1), st.integers(0, 1), st.integers(0, 1))
STATES = st.dictionaries(st.sampled_from(PATHS), LOOKS)


def seen_of(states: States, ordinals: Mapping[str, int], table: str = "") -> Seen:
    paths = sorted(states, key=lambda path: (path.endswith(".jsonl"), path))
    pages, sessions = (
        "".join(f"{path}\0" for path in paths if path.endswith(end)) for end in (".md", ".jsonl")
    )
    rows = [(*states[path], ordinals.get(path, -1)) for path in paths]
    numbers = np.asarray(rows, dtype=np.int64).reshape(-1, 4)
    return Seen(pages, sessions, numbers, table)


def stored(folder: Path, *states: States) -> Stored:
    """Return a table of several looks, the last one of which counts."""
    found = Stored()
    for each in states:
        table = Table(next_key=found.next_key)
        for path, stat in each.items():
            table.add(FileRow(path, stat, path, 0, 0, ""), [], [])
        found.grow(folder, table, list(found.ordinals))
        found = Stored.open(folder)
    return found


@settings(deadline=None)
@given(STATES, STATES, st.sets(st.sampled_from(PATHS)), STATES, STATES)
def test_it_differs_as_dictionaries_do(
    first: States, later: States, gone: set[str], before: States, held: States
) -> None:
    with tempfile.TemporaryDirectory() as name:
        table = stored(Path(name), before, held)
        ordinals = numbered(name)
        assert ordinals == table.ordinals
        assert table.numbers.tolist() == sorted(ordinals.values())
        told = []
        for source, known in (("", {}), (name, ordinals), ("/another", dict.fromkeys(PATHS, 0))):
            found, model = seen_of(first, known, source), dict(first)
            found.update(later)
            model.update(later)
            for path in gone & model.keys():
                del found[path]
                del model[path]
            assert dict(found) == model
            assert len(found) == len(model)
            assert sorted(found.sessions) == sorted(path for path in model if path.endswith("l"))
            told.append(found.differing(table))
    wanted = {path for path in PATHS if model.get(path) != held.get(path)}
    # What was seen later is always read again.
    assert wanted <= told[0] <= wanted | (later.keys() & model.keys())
    assert told == [told[0]] * 3


@pytest.mark.parametrize("damage", [b"", b"kimi-memory table 1\n\xff", b"another form of tables\n"])
def test_a_table_that_cannot_be_read_has_no_numbers(tmp_path: Path, damage: bytes) -> None:
    stored(tmp_path, {"a.md": Stat(1, 2, 3)})
    assert numbered(str(tmp_path)) == {"a.md": 0}
    (tmp_path / "000001").write_bytes(damage)
    with pytest.raises((OSError, ValueError, LookupError)):
        numbered(str(tmp_path))
