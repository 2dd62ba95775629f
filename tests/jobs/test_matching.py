"""Cards a draft is held against, found by key, slot and words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kimi_memory import Memory
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import CardType, Lang, Quote
from kimi_memory.jobs.matching import MOST, Matching, new_card
from kimi_memory.store.notes.notes import Shelf

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def draft(value: str, key: str = "note.new", scope: str = "", project: str = "") -> Draft:
    return Draft(
        type=CardType.FACT,
        key=key,
        title=value,
        value=value,
        quotes=(Quote("s1", 1, value),),
        at=NOW,
        lang=Lang.EN,
        scope=scope,
        project=project,
    )


def found(memory: Memory, wanted: Draft) -> list[str]:
    return [card.value for card in Matching(Shelf(memory.store)).cards(wanted)]


def test_a_card_is_found_by_slot_whatever_its_key(memory: Memory) -> None:
    memory.remember("I live in Leeds", key="a.first")
    assert found(memory, draft("My home is in Bristol")) == ["I live in Leeds"]


def test_a_card_without_a_slot_is_found_by_nearly_its_words(memory: Memory) -> None:
    memory.remember("The import keeps duplicates", key="a.first")
    assert found(memory, draft("The import doesn't keep duplicates"))
    assert not found(memory, draft("The export drops empty lines"))


def test_other_scopes_and_projects_are_not_looked_at(memory: Memory) -> None:
    memory.remember("The API port is 8080", key="a.first", project="atlas")
    assert found(memory, draft("The API port is 9090", project="atlas"))
    assert not found(memory, draft("The API port is 9090", project="borealis"))
    assert not found(memory, draft("The API port is 9090", scope="agent:ada"))


def test_a_file_that_cannot_be_read_is_left_out(memory: Memory) -> None:
    memory.remember("I live in Leeds", key="a.first")
    path = next(Path(memory.root).rglob("semantic/*/*.md"))
    path.write_text(path.read_text("utf-8").replace("type: fact", "type: nonsense"), "utf-8")
    assert not found(memory, draft("My home is in Bristol"))


def test_a_change_is_held_against_what_it_names(memory: Memory) -> None:
    memory.remember("The launch of Heron is planned with Odile", key="a.first")
    memory.remember("Lunch is at noon", key="a.second")
    matching = Matching(Shelf(memory.store))
    changed = draft("Heron was moved to a later quarter, says everyone but Odile")
    meant = [card.value for card in matching.meant(changed)]
    assert meant == ["The launch of Heron is planned with Odile"]
    assert matching.meant(draft("Odile likes herons")) == []


def test_of_many_alike_cards_of_a_session_a_few_are_looked_at(memory: Memory) -> None:
    matching = Matching(Shelf(memory.store))
    for n in range(3 * MOST):
        alike = draft(f"({n}) The harbour got twelve berths by the old pier", key=f"note.{n}")
        matching.put(new_card(alike, NOW, None))
    same = draft("(3) The harbour got twelve berths by the old pier")
    found = [card.value for card in matching.cards(same)]
    assert len(found) == MOST and same.value in found
    other = new_card(draft("The ferry leaves at noon"), NOW, None)
    [one] = [card for card in matching.fresh.values() if card.value == same.value]
    matching.put(replace(one, value=other.value))
    assert same.value not in [card.value for card in matching.cards(same)]
    assert [card.id for card in matching.cards(draft(other.value))] == [one.id]
