"""Damaged, foreign and planted indexes are never opened; answers stay as they were."""

from __future__ import annotations

import os
import pickle
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from folders import KEY, QUERIES, Folder, fill, seen

from kimi_memory.errors import IndexDamagedError
from kimi_memory.index import manifest as manifests
from kimi_memory.index.files import CURRENT
from kimi_memory.index.stored import Shelf

INDEX = ".kimi/index"


def answers(folder: Folder) -> list[object]:
    return [seen(folder.ask(text)) for text in QUERIES]


@pytest.fixture
def indexed(folder: Folder) -> Folder:
    fill(folder)
    index = folder.index()
    index.refresh()
    index.close()
    return folder


def current(folder: Folder) -> Path:
    return folder.root / INDEX / Shelf(folder.root / INDEX, KEY).current_name()


def files(folder: Folder) -> list[Path]:
    return sorted(path for path in current(folder).rglob("*") if path.is_file())


def flips(content: bytes, offsets: Iterator[int] | range) -> Iterator[bytes]:
    for at in offsets:
        yield content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :]


def refuses(folder: Folder) -> bool:
    try:
        return Shelf(folder.root / INDEX, KEY).open() is None
    except IndexDamagedError:
        return True


def sampled(content: bytes, count: int) -> list[int]:
    return sorted(random.Random(1).sample(range(len(content)), min(count, len(content))))


def damage_everything(folder: Folder, per_file: int | None) -> int:
    tried = 0
    for path in files(folder):
        content = path.read_bytes()
        offsets = range(len(content)) if per_file is None else sampled(content, per_file)
        for at in offsets:
            for bad in (next(flips(content, iter([at]))), content[:at]):
                path.write_bytes(bad)
                assert refuses(folder), f"{path.name}: offset {at}"
                tried += 1
        path.write_bytes(content + b"\0")
        assert refuses(folder), f"{path.name}: a byte more"
        path.write_bytes(content)
    assert not refuses(folder)
    return tried


def test_a_whole_generation_opens(indexed: Folder) -> None:
    assert not refuses(indexed)
    assert current(indexed).stat().st_mode & 0o777 == 0o700
    assert indexed.index().status().generation == current(indexed).name


def test_no_sampled_flip_or_cut_is_opened(indexed: Folder) -> None:
    assert damage_everything(indexed, 12) > 60


@pytest.mark.faults
def test_no_flip_or_cut_at_any_offset_is_opened(indexed: Folder) -> None:
    assert damage_everything(indexed, None) > 10_000


def test_answers_stay_the_same_over_damage_and_after_the_rebuild(indexed: Folder) -> None:
    expected = answers(indexed)
    for path in files(indexed):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] + b"!")
        assert answers(indexed) == expected, path.name
        status = indexed.index().status()
        assert status.generation == ""
        assert status.why
        assert any(finding.fixable for finding in indexed.index().verify())
        path.write_bytes(content)
    files(indexed)[0].unlink()
    indexed.index().refresh()
    assert indexed.index().status().generation
    assert answers(indexed) == expected


def test_an_index_signed_with_another_key_is_foreign(indexed: Folder) -> None:
    expected = answers(indexed)
    other = Folder(indexed.root, key=b"other" * 8)
    assert other.index().status().generation == ""
    assert answers(other) == expected
    assert "not signed here" in other.index().status().why
    assert other.ask("tea").notes


class Planted:
    """A pickle that writes a file when it is loaded."""

    def __init__(self, target: str) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (self.target, "w")


def test_a_planted_pickle_is_never_loaded(indexed: Folder) -> None:
    expected = answers(indexed)
    target = indexed.root / "ran"
    for path in [path for path in files(indexed) if path.suffix in {".toc", ".seg"}]:
        content = path.read_bytes()
        path.write_bytes(pickle.dumps(Planted(str(target))))
        assert answers(indexed) == expected
        path.write_bytes(content)
    planted = current(indexed) / "words" / "_MAIN_99.toc"
    planted.write_bytes(pickle.dumps(Planted(str(target))))
    assert answers(indexed) == expected
    assert not target.exists()


def test_a_generation_of_links_is_not_opened(indexed: Folder) -> None:
    path = next(path for path in files(indexed) if path.suffix == ".seg")
    moved = indexed.root / "segment"
    shutil.move(path, moved)
    path.symlink_to(moved)
    assert refuses(indexed)


def test_who_asked_before_sees_a_flip(indexed: Folder) -> None:
    shelf, pointer = Shelf(indexed.root / INDEX, KEY), indexed.root / INDEX / CURRENT
    first = shelf.current_name()
    os.utime(pointer, ns=(0, 0))  # long settled
    assert [shelf.current_name(), shelf.current_name()] == [first, first]
    indexed.write("notes/new.md", "# 苍鹭\n\nA heron.\n")
    indexed.index().refresh()
    assert shelf.current_name() not in ("", first)
    pointer.write_text("g000001-zzzzzzzz", encoding="ascii")
    assert shelf.current_name() == ""
    pointer.unlink()
    assert shelf.current_name() == ""


@pytest.mark.parametrize(
    "name", ["", "../outside", "g000001-zzzzzzzz", "g999999-00000000", "\udcff", "a" * 5000]
)
def test_a_pointer_to_nowhere_counts_as_no_index(indexed: Folder, name: str) -> None:
    expected = answers(indexed)
    (indexed.root / INDEX / CURRENT).write_bytes(name.encode("utf-8", "surrogateescape"))
    assert refuses(indexed)
    assert answers(indexed) == expected
    indexed.index().refresh()
    assert not refuses(indexed)


def test_an_index_of_another_schema_or_other_words_is_not_used(indexed: Folder) -> None:
    shelf = Shelf(indexed.root / INDEX, KEY)
    generation = shelf.open()
    assert generation is not None
    for change in ({"schema": 99}, {"words": "other"}, {"keywords": "other 1"}):
        changed = generation.manifest._replace(**change)
        (generation.folder / manifests.NAME).write_bytes(manifests.sign(changed, KEY))
        assert indexed.index().status().generation == ""
        assert indexed.index().status().why


def test_a_failed_build_leaves_the_current_generation(
    indexed: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = current(indexed).name
    indexed.session("d", [("user", "a new thing")])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Exception, match="cannot be written"):
        indexed.index().refresh()
    monkeypatch.undo()
    assert current(indexed).name == name
    assert len(list((indexed.root / INDEX).glob("g*"))) == 1
    assert indexed.ask("new thing").hits


def test_an_update_links_the_old_segments(indexed: Folder) -> None:
    old = {path.name: path.stat().st_ino for path in files(indexed) if path.suffix == ".seg"}
    indexed.session("d", [("user", "苍鹭站着不动")])
    index = indexed.index()
    index.refresh()
    new = {path.name: path.stat().st_ino for path in files(indexed) if path.suffix == ".seg"}
    assert old.items() <= new.items()
    index.refresh(full=True)
    assert len(list((indexed.root / INDEX).glob("g*"))) == 2


def test_where_there_are_no_hard_links_an_update_copies(
    indexed: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("os.link", refuse)
    indexed.session("d", [("user", "苍鹭站着不动")])
    indexed.index().refresh()
    assert indexed.index().status().pending == 0
    assert indexed.ask("苍鹭").hits
    assert indexed.index().verify() == []


def test_a_file_that_is_no_link_is_measured_anew(indexed: Folder, tmp_path: Path) -> None:
    folder = current(indexed)
    known = manifests.measure(folder)
    wrong = dict.fromkeys(known, (0, "wrong"))
    assert manifests.measure(folder, tmp_path / "nowhere", wrong) == known
    assert manifests.measure(folder, folder, wrong) == wrong


def test_a_manifest_of_another_schema_is_refused(indexed: Folder) -> None:
    folder = current(indexed)
    body = b'{"schema": 99}'
    signed = manifests.sign(manifests.Manifest("w", "k", schema=99), KEY)
    (folder / manifests.NAME).write_bytes(signed)
    with pytest.raises(IndexDamagedError, match="schema 99"):
        manifests.check(folder, KEY)
    (folder / manifests.NAME).write_bytes(body)
    with pytest.raises(IndexDamagedError, match="not signed here"):
        manifests.check(folder, KEY)
