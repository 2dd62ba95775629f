"""A note by its id: from the table on disk, and never a wrong or deleted one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from folders import KEY, Folder

from kimi_memory import Memory
from kimi_memory.errors import NotFoundError
from kimi_memory.formats import codec
from kimi_memory.index.locate import locate
from kimi_memory.store.notes.notes import Shelf
from tests.jobs.notes import card

A, B, C = (card(name, f"{name} 的端口是 8080。") for name in "abc")


def write(folder: Folder, path: str, note: object) -> Path:
    return folder.write(path, codec.render(note))


@pytest.fixture
def indexed(folder: Folder) -> Folder:
    """Two cards in an index."""
    write(folder, "semantic/a.md", A)
    write(folder, "semantic/b.md", B)
    folder.index().refresh()
    return folder


def found(folder: Folder, id: str) -> list[str]:
    return locate(folder.root, KEY, id)


def test_a_note_is_found_in_every_segment_of_the_table(indexed: Folder) -> None:
    index = indexed.index()
    for number in range(12):
        write(indexed, f"semantic/n{number}.md", card(f"n{number}", f"number {number}"))
        index.refresh()
    assert found(indexed, A.id) == ["semantic/a.md"]
    assert found(indexed, card("n11", "").id) == ["semantic/n11.md"]
    for text in ("", A.id[:-1], f"{A.id}x", "card-", "\ud800", "x" * 9000):
        assert found(indexed, text) == []


def test_a_note_that_is_no_longer_in_the_index_is_not_found_there(indexed: Folder) -> None:
    (indexed.root / "semantic/a.md").unlink()
    indexed.index().refresh()
    assert found(indexed, A.id) == []
    assert found(indexed, B.id) == ["semantic/b.md"]


def test_of_two_files_with_one_id_both_are_named(indexed: Folder) -> None:
    write(indexed, "semantic/0.md", A)
    indexed.index().refresh()
    assert found(indexed, A.id) == ["semantic/0.md", "semantic/a.md"]


def test_more_ids_than_two_bytes_can_tell_apart_are_found(folder: Folder) -> None:
    said = [("user", f"turn {n}") for n in range(300)]
    folder.session("many", said, archived=True)
    folder.index().refresh()
    assert found(folder, "session:many#257") == ["episodic/sessions/2026-02/session_many.jsonl"]


def test_an_index_that_this_machine_did_not_make_says_nothing(indexed: Folder) -> None:
    assert locate(indexed.root, b"x" * 32, A.id) == []
    for path in indexed.root.glob(".kimi/index/g*/table/0*"):
        path.write_bytes(b"x" * path.stat().st_size)
    assert found(indexed, A.id) == []
    assert locate(indexed.root / "nowhere", KEY, A.id) == []


def test_the_other_files_are_not_looked_at(indexed: Folder) -> None:
    shelf = Shelf(indexed.store)
    assert shelf.find(A.id, found(indexed, A.id)).path == "semantic/a.md"
    assert "survey" not in vars(shelf)


@pytest.mark.parametrize("hidden", ["semantic/sub/a.md", "people/阿.md"])
def test_a_note_that_moved_is_found_where_it_is(indexed: Folder, hidden: str) -> None:
    place = indexed.root / hidden
    place.parent.mkdir(parents=True)
    (indexed.root / "semantic/a.md").rename(place)
    assert Shelf(indexed.store).find(A.id, found(indexed, A.id)).path == hidden


def test_a_note_that_is_gone_is_not_answered(indexed: Folder) -> None:
    (indexed.root / "semantic/a.md").unlink()
    with pytest.raises(NotFoundError):
        Shelf(indexed.store).find(A.id, found(indexed, A.id))


def test_another_note_at_the_old_place_is_not_taken_for_it(indexed: Folder) -> None:
    write(indexed, "semantic/a.md", C)
    with pytest.raises(NotFoundError):
        Shelf(indexed.store).find(A.id, found(indexed, A.id))
    assert Shelf(indexed.store).find(C.id, found(indexed, C.id)).path == "semantic/a.md"


def test_a_link_at_the_old_place_is_not_followed(indexed: Folder, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.md"
    (indexed.root / "semantic/a.md").rename(outside)
    (indexed.root / "semantic/a.md").symlink_to(outside)
    with pytest.raises(NotFoundError):
        Shelf(indexed.store).find(A.id, found(indexed, A.id))


def test_a_conflict_copy_is_no_note(indexed: Folder) -> None:
    shelf = Shelf(indexed.store)
    copy = "semantic/a.sync-conflict-20260301-101010-ABCDEFG.md"
    write(indexed, copy, A)
    assert shelf.find(A.id, [copy]).path == "semantic/a.md"


def test_get_and_trace_answer_with_what_the_file_says_now(memory: Memory) -> None:
    memory.remember("The port is 8080.", key="db.port")
    memory.index.refresh()
    [entry] = [e for e in Shelf(memory.store).entries().values() if e.key == "db.port"]
    place = memory.root / entry.path
    place.write_text(place.read_text("utf-8").replace("8080", "9090"), "utf-8")
    assert "9090" in memory.get(entry.id).text
    assert memory.trace(entry.id).path == entry.path
    assert memory.get(entry.id[:-2]).path == entry.path
    place.unlink()
    for ask in (memory.get, memory.trace):
        with pytest.raises(NotFoundError):
            ask(entry.id)


def test_get_and_trace_walk_no_folder_of_an_indexed_memory(memory: Memory) -> None:
    """Among 100,000 files a walk takes over a second."""
    id = memory.remember("The port is 8080.", key="db.port").operations[0].target
    memory.index.refresh()
    walked, folder = [], f"{memory.root}/semantic/"
    listening = True

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if listening and event == "open" and arguments[0] == folder:
            walked.append(event)

    sys.addaudithook(note)  # It stays for good, and is deaf from here on.
    try:
        assert memory.get(id).note.id == memory.trace(id).note.id == id
        assert not walked
        Shelf(memory.store).entries()
        assert walked
    finally:
        listening = False
