"""Words of the index: what stands for each other is made once and kept beside it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from folders import Folder, fill

from kimi_memory.index.stored import SYNONYMS


def kept(folder: Folder) -> Path:
    (found,) = (folder.root / ".kimi/index").glob(
        f"{folder.index().status().generation}/{SYNONYMS}"
    )
    return found


def test_the_synonyms_are_read_from_the_index(folder: Folder) -> None:
    fill(folder)
    made = folder.index().words.synonyms
    folder.index().refresh()
    index = folder.index()
    index.searcher()
    assert index.words.kept == kept(folder)
    assert index.words.synonyms == made
    assert any(made)


def test_an_index_that_grows_keeps_the_file(folder: Folder) -> None:
    fill(folder)
    folder.index().refresh()
    before = kept(folder).stat().st_ino
    folder.session("new", [("Bob", "The mascot is a capybara.")])
    folder.index().refresh()
    assert kept(folder).stat().st_ino == before


def test_other_synonyms_are_written_anew_and_leave_the_older_index_as_it_was(
    folder: Folder,
) -> None:
    fill(folder)
    folder.index().refresh()
    old = kept(folder)
    made = old.read_bytes()
    path = old.with_name("of-another-version.json")
    path.write_bytes(b'["", []]')
    linked = old.with_name("linked.json")
    linked.hardlink_to(path)
    words = folder.index().words
    words.kept = path
    words.keep_synonyms(linked)
    assert linked.read_bytes() == made
    assert path.read_bytes() == b'["", []]'


def test_where_the_file_is_gone_the_synonyms_are_made(folder: Folder) -> None:
    fill(folder)
    folder.index().refresh()
    index = folder.index()
    index.searcher()
    shutil.rmtree(kept(folder).parent)
    assert any(index.words.synonyms)


def test_without_an_index_the_synonyms_of_an_earlier_process_are_used(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = folder.index().words.synonyms
    # As in a process that begins, which has the file of patterns and nothing else.
    monkeypatch.setattr("kimi_memory.index.units._MADE", {})
    words, asked = folder.index().words, list[str]()
    split = words.split
    monkeypatch.setattr(words, "split", lambda text: asked.append(text) or split(text))
    assert words.synonyms == made
    assert len(asked) == 1
