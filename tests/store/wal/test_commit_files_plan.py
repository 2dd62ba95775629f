"""Plans of changes: stale ones do nothing, and what was replaced is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.domain.job import (
    Actor,
    Append,
    Change,
    Create,
    Delete,
    Move,
    Update,
    digest,
)
from kimi_memory.errors import (
    ChangedOnDiskError,
)
from kimi_memory.formats.jsonl import seal
from kimi_memory.store.store import Receipt, Store

ONE = "第一版\n".encode()
TWO = b"second\n"
LINE = seal({"n": 1, "text": "你好"})


LINE2 = seal({"n": 2, "text": "hello"})


def test_what_was_replaced_is_kept_for_a_while(store: Store, folder: Path, actor: Actor) -> None:
    store.apply([Create("a.md", ONE), Create("b.md", ONE)], actor)
    store.apply([Update("a.md", digest(ONE), TWO)], actor)
    store.apply([Delete("b.md", digest(ONE))], actor)
    assert [p.read_bytes() for p in (folder / ".kimi/undo").iterdir()] == [ONE, ONE]
    assert store.drop_undo() == ()
    assert len(list((folder / ".kimi/undo").iterdir())) == 2
    assert store.drop_undo(0) == ()
    (gone,) = (folder / ".kimi/undo").iterdir()
    assert gone.name.startswith("gone.")
    assert store.drop_undo(0, 0) == ()
    assert list((folder / ".kimi/undo").iterdir()) == []


def test_an_editor_that_writes_late_is_kept_beside(
    store: Store, folder: Path, actor: Actor
) -> None:
    store.apply([Create("semantic/页.md", ONE)], actor)
    with (folder / "semantic/页.md").open("ab") as editor:
        store.apply([Update("semantic/页.md", digest(ONE), TWO)], actor)
        editor.write("人的话\n".encode())
    (kept,) = store.drop_undo(0)
    assert kept.startswith("conflicts/页.20260301T093000Z.")
    assert store.read(kept) == ONE + "人的话\n".encode()
    assert store.read("semantic/页.md") == TWO
    assert store.journal.known()[kept] == digest(ONE + "人的话\n".encode())
    (folder / ".kimi/undo/late.01a").write_bytes(b"?")
    (kept,) = store.drop_undo(0)
    assert store.read(kept) == b"?"
    (folder / ".kimi/undo/strange").write_bytes(b"nothing of ours")
    assert store.drop_undo(0) == ()


STALE: dict[str, Change] = {
    "create over a file": Create("a.md", TWO),
    "create over a folder": Create("dir", TWO),
    "update of another content": Update("a.md", digest(TWO), TWO),
    "update of nothing": Update("none.md", digest(ONE), TWO),
    "update below nothing": Update("none/x.md", digest(ONE), TWO),
    "move onto a file": Move("a.md", "b.md", digest(ONE)),
    "move of another content": Move("a.md", "c.md", digest(TWO)),
    "delete of another content": Delete("a.md", digest(TWO)),
}


@pytest.mark.parametrize("name", STALE)
def test_a_stale_change_does_nothing(name: str, store: Store, folder: Path, actor: Actor) -> None:
    store.apply([Create("a.md", ONE), Create("b.md", TWO), Create("dir/x.md", TWO)], actor)
    before = store.journal.head()
    for changes in ([STALE[name]], [Create("other.md", TWO), STALE[name]]):
        with pytest.raises(ChangedOnDiskError):
            store.apply(changes, actor)
    assert store.files() == ["a.md", "b.md", "dir/x.md"]
    assert store.read("a.md") == ONE
    assert store.journal.head() == before
    assert list((folder / ".kimi/tmp").iterdir()) == []


def test_many_changes_are_one(store: Store, actor: Actor) -> None:
    store.apply([Create("a.md", ONE), Create("b.md", ONE), Create("c.md", ONE)], actor)
    store.append("mid-term/u.jsonl", [LINE], actor)
    receipt = store.apply(
        [
            Create("new/深/d.md", TWO),
            Update("a.md", digest(ONE), TWO),
            Move("b.md", "new/b.md", digest(ONE)),
            Delete("c.md", digest(ONE)),
            Append("mid-term/u.jsonl", (LINE2,)),
            Append("mid-term/v.jsonl", (LINE, LINE2)),
        ],
        actor,
        subject="job",
    )
    assert {path: store.read(path) for path in store.files()} == {
        "a.md": TWO,
        "new/b.md": ONE,
        "new/深/d.md": TWO,
        "mid-term/u.jsonl": LINE + LINE2,
        "mid-term/v.jsonl": LINE + LINE2,
    }
    assert {(e.path, bool(e.before), bool(e.after)) for e in receipt.effects} == {
        ("new/深/d.md", False, True),
        ("a.md", True, True),
        ("b.md", True, False),
        ("new/b.md", False, True),
        ("c.md", True, False),
        ("mid-term/u.jsonl", True, True),
        ("mid-term/v.jsonl", False, True),
    }
    assert store.journal.verify() == []


def test_nothing_to_do_is_nothing_done(store: Store, actor: Actor) -> None:
    store.apply([Create("a.md", ONE)], actor)
    head = store.journal.head()
    assert store.apply([], actor).effects == ()
    assert store.apply([Update("a.md", digest(ONE), ONE)], actor).effects == ()
    assert isinstance(store.apply([], actor), Receipt)
    store.append("short-term/s.jsonl", [], actor)
    assert store.journal.head() == head
    assert store.files() == ["a.md"]
