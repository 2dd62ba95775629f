"""The shelf: notes by id and key, and the heads of cards, read only where they must be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kimi_memory import Memory
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.errors import ChangedOnDiskError, FormatError
from kimi_memory.formats.card_form import Head
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import Shelf, read_tombstones
from tests.jobs.notes import card, put


def test_heads_say_what_the_cards_say(memory: Memory) -> None:
    cards = [card("a", "The port is 8080."), card("b", "端口是 8080。", age=40)]
    put(memory, *cards)
    assert Shelf(memory.store).heads() == [Head.of(one) for one in cards]


def test_a_broken_card_has_no_head(memory: Memory) -> None:
    put(memory, card("a", "The port is 8080."))
    path = memory.root / "semantic" / "general" / "broken.md"
    path.write_text("---\nid: card-x\nkind: card\ntype: nonsense\nkey: k\n---\n", "utf-8")
    shelf = Shelf(memory.store)
    assert "card-x" in shelf.entries()
    assert [head.id for head in shelf.heads()] == ["card-a"]


@pytest.mark.parametrize("how", ["gone", "broken", "another", "note"])
def test_a_card_that_changed_under_its_head_is_told(memory: Memory, how: str) -> None:
    put(memory, card("a", "The port is 8080."))
    shelf = Shelf(memory.store)
    [head] = shelf.heads()
    path = memory.root / shelf.find(head.id).path
    text = path.read_text("utf-8")
    match how:
        case "gone":
            path.unlink()
        case "broken":
            path.write_text(text.replace("type: fact", "type: nonsense"), "utf-8")
        case "another":
            path.write_text(text.replace("id: card-a", "id: card-z"), "utf-8")
        case "note":
            path.write_text(text.replace("kind: card", "kind: nonsense"), "utf-8")
    with pytest.raises(ChangedOnDiskError):
        shelf.card(head)


def test_cards_are_found_by_key_and_by_what_they_rest_on(memory: Memory) -> None:
    put(memory, card("a", "The port is 8080."), replace(card("b", "Tea."), key="k.a", category="x"))
    shelf = Shelf(memory.store)
    assert {one.id for one in shelf.cards("k.a")} == {"card-a", "card-b"}
    assert shelf.cards({"k.b"}, frozenset({"s#1 0123456789ab"})) == []


def test_a_note_that_cannot_be_read_is_passed_over(memory: Memory) -> None:
    path = memory.root / "semantic/general/broken.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "---\nid: card-9\nkind: card\ntype: fact\nkey: a.b\n---\n\n# no moment\n", "utf-8"
    )
    memory.store.reconcile()
    shelf = Shelf(memory.store)
    assert "card-9" in shelf.entries()
    assert [filed.note.id for filed in shelf.notes("card")] == []


def test_tombstones_come_back_in_order(memory: Memory, clock) -> None:
    assert not read_tombstones(memory.store)
    stones = [Tombstone("memory", key, "值", clock(), "me") for key in ("a", "b")]
    memory.store.append(TOMBSTONES, [tombstone_line(stone) for stone in stones], memory.actor)
    assert list(read_tombstones(memory.store)) == stones


@pytest.mark.parametrize("line", ["not json", "{}", '{"kind":"tombstone","scope":1}', "[1]"])
def test_a_broken_line_is_named_and_stops_every_writer(memory: Memory, line: str) -> None:
    path = memory.root / TOMBSTONES
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"mid-term/tombstones\.jsonl:1: not a tombstone"):
        read_tombstones(memory.store)
    with pytest.raises(FormatError):
        memory.remember("我住在成都", key="me.city")
