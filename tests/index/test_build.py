"""A build of the index: what was cut short goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from folders import QUERIES, Folder, fill, seen

from kimi_memory.index import build

INDEX = ".kimi/index"


def answers(folder: Folder, index: object = None) -> list[object]:
    return [seen(folder.ask(text, index)) for text in QUERIES]


class Cut(KeyboardInterrupt):
    """Somebody pressed Ctrl-C."""


def cut_after(units: int) -> Callable[[int, int], None]:
    def tell(done: int, of: int) -> None:
        assert done <= of
        if done > units:
            raise Cut

    return tell


@pytest.mark.parametrize("full", [False, True])
def test_a_build_that_was_cut_short_goes_on_where_it_was(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, *, full: bool
) -> None:
    monkeypatch.setattr(build, "BATCH_UNITS", 10)
    fill(folder)
    for n in range(60):
        folder.write(f"notes/{n:02}.md", f"heron {n} 苍鹭\n")
    index = folder.index()
    if full:
        index.refresh()
    before = index.status().generation
    with pytest.raises(Cut):
        index.refresh(full=full, progress=cut_after(45))
    assert index.status().generation == before
    folder.write("notes/07.md", "changed in between\n")
    (folder.root / "notes/08.md").unlink()
    told: list[tuple[int, int]] = []
    again = folder.index()
    again.refresh(full=full, progress=lambda done, of: told.append((done, of)))
    assert len(told) < 45
    assert again.verify() == []
    assert again.status().pending == 0
    assert len(list((folder.root / INDEX).glob("g*"))) <= 2
    found = answers(folder, again)
    again.close()
    again.drop()
    assert found == answers(folder)


def test_an_unfinished_build_of_other_words_or_damaged_is_not_used(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "BATCH_UNITS", 10)
    for n in range(30):
        folder.write(f"notes/{n:02}.md", f"heron {n}\n")
    with pytest.raises(Cut):
        folder.index().refresh(progress=cut_after(15))
    for path in (folder.root / INDEX).rglob("*.seg"):
        path.write_bytes(path.read_bytes()[:-1])
    assert folder.index().refresh().added == 30
    assert folder.index().verify() == []
