"""Generated pages: a page a category, a page a person or thing, and none that is not needed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import Change, Create, Delete, Update, digest
from kimi_memory.domain.note import Card, CardType, Lang, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.formats.page_lines import is_generated, read_page
from kimi_memory.jobs.pages import Pages, is_page
from kimi_memory.operations.forget import Doomed, forget, purge
from kimi_memory.store.notes.notes import Shelf
from tests.jobs.edited_pages import card, fill, page

NOW = datetime(2026, 2, 27, 9, tzinfo=UTC)


def made(id: str, **parts: object) -> Card:
    base = Card(
        id=f"card-{id}", created=NOW, updated=NOW, title="", type=CardType.FACT, key=f"k.{id}",
        value=f"value {id}",
    )  # fmt: skip
    return replace(base, **parts)


def pages(memory: Memory) -> Pages:
    return Pages(memory.store, Shelf(memory.store), memory.settings)


def written(changes: list[Change]) -> dict[str, str]:
    return {c.path: c.content.decode() for c in changes if isinstance(c, Create | Update)}


def lines(text: str) -> set[str]:
    return set(read_page(text).lines)


def test_each_category_has_a_page_in_its_own_language(memory: Memory) -> None:
    cards = [
        made("a", category="菜谱", lang=Lang.ZH),
        made("b", category="Deploy Tools"),
        made("c", category="菜谱", lang=Lang.ZH, status=Status.CANDIDATE),
        made("d", category="菜谱", status=Status.ARCHIVED),
        made("e", category="菜谱", status=Status.STALE, lang=Lang.ZH),
    ]
    changes, notes = pages(memory).changes(cards)
    found = written(changes)
    assert not notes
    assert lines(found["semantic/菜谱.md"]) == {"card-a", "card-c", "card-e"}
    assert "## 事实" in found["semantic/菜谱.md"] and "## 尚未确认" in found["semantic/菜谱.md"]
    assert lines(found["semantic/deploy-tools.md"]) == {"card-b"}
    assert "## Facts" in found["semantic/deploy-tools.md"]
    assert lines(found["MEMORY.md"]) == {"card-a", "card-b"}


def test_a_person_or_thing_gathers_what_is_known_of_it(memory: Memory) -> None:
    cards = [
        made("a", type=CardType.ENTITY, key="小李.name", value="叫小李"),
        made("b", key="小李.city", value="住在杭州"),
        made("c", key="小王.city", value="住在上海"),
    ]
    found = written(pages(memory).changes(cards)[0])
    assert lines(found["semantic/entities/小李.md"]) == {"card-a", "card-b"}
    assert "semantic/entities/小王.md" not in found


def test_an_entity_without_a_key_names_nobody(memory: Memory) -> None:
    cards = [made("a", type=CardType.ENTITY, key=""), made("b", key="")]
    found = written(pages(memory).changes(cards)[0])
    assert not [path for path in found if path.startswith("semantic/entities/")]


def test_a_page_with_nothing_to_show_goes_unless_it_has_notes(memory: Memory) -> None:
    content = written(pages(memory).changes([made("a", category="x")])[0])["semantic/x.md"]
    memory.store.apply([Create("semantic/x.md", content.encode())], memory.actor)
    gone = made("a", category="x", status=Status.ARCHIVED)
    [change] = [c for c in pages(memory).changes([gone])[0] if c.path == "semantic/x.md"]
    assert isinstance(change, Delete)


def test_files_of_other_people_at_such_a_place_are_left_alone(memory: Memory) -> None:
    (memory.root / "semantic" / "x.md").write_text("# mine\n", encoding="utf-8")
    changes, notes = pages(memory).changes([made("a", category="x")])
    assert "semantic/x.md" not in written(changes)
    assert not notes


def test_a_page_keeps_within_its_room_and_says_what_is_left_out(memory: Memory) -> None:
    many = [made(f"{n:03}", value="long " * 100, confidence=n / 300) for n in range(300)]
    text = written(pages(memory).changes(many)[0])["semantic/general.md"]
    shown = lines(text)
    assert len(text.encode()) < memory.settings.gates.max_page_bytes
    assert shown == {f"card-{n:03}" for n in range(300 - len(shown), 300)}
    assert f"{300 - len(shown)} more in this folder" in text


def test_what_is_a_page_is_told_by_its_path() -> None:
    assert all(map(is_page, ("MEMORY.md", "semantic/a.md", "semantic/entities/a.md")))
    assert is_page("conflicts/a.md")
    assert not any(map(is_page, ("USER.md", "semantic/a/b.md", "conflicts/a.md.20260227T1.md.x")))


def test_forgetting_clears_every_page(memory: Memory) -> None:
    fill(memory, {"health.dentist": "My dentist is Doctor Abernathy in Oslo."})
    holding = [p for p in memory.store.files() if p.endswith(".md") and is_page(p)]
    assert sum("Abernathy" in page(memory, path) for path in holding) >= 2
    forget(memory, Wanted(key="health.dentist"))
    left = [p for p in holding if memory.store.exists(p) and "Abernathy" in page(memory, p)]
    assert left == []


@pytest.mark.parametrize("text", ["My dentist", "Abernathy"])
def test_purging_clears_every_page_and_leaves_them_generated(memory: Memory, text: str) -> None:
    fill(
        memory,
        {
            "health.dentist": "My dentist is Doctor Abernathy in Oslo.",
            "trip.train": "The night train to Bergen leaves at eleven.",
        },
    )
    gone = card(memory, "health.dentist").id
    purge(memory, Doomed((text,)), yes=True)
    for path in memory.store.files():
        if is_page(path):
            assert gone not in page(memory, path)
            assert is_generated(page(memory, path)), path
    assert "Bergen" in page(memory)


def test_pages_open_in_an_editor_by_their_names(memory: Memory) -> None:
    fill(memory, {"trip.train": "The night train to Bergen leaves at eleven."})
    for path in memory.store.files():
        if is_page(path):
            assert not set(Path(path).name) & set('#^[]|\\/:*"<>?')


def test_an_edit_that_was_not_taken_over_is_not_overwritten(memory: Memory) -> None:
    fill(memory, {"trip.train": "The night train to Bergen leaves at eleven."})
    content = memory.store.read("MEMORY.md")
    mine = content + b"- mine\n"
    memory.store.apply([Update("MEMORY.md", digest(content), mine)], memory.actor)
    changes, notes = pages(memory).changes([made("a")])
    assert notes == ["MEMORY.md was edited by hand and stays as it is"]
    assert "MEMORY.md" not in written(changes)
