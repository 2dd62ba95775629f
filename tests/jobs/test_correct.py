"""Correcting a card: the new one rests on the person's words, the old one was so until then."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.note import Card, CardType, Origin, Status
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.jobs.correct import CardFields, Correct
from kimi_memory.recall.browse import ListQuery


def held(memory: Memory, *status: str) -> list[Card]:
    query = ListQuery(filters=Query(text="", kind=("card",), status=status))
    notes = [memory.get(unit.id).note for unit in memory.browse(query).units]
    return [note for note in notes if isinstance(note, Card)]


def test_a_card_is_replaced_by_what_a_person_says(memory: Memory) -> None:
    memory.remember("The port is 6543.", key="port", project="apollo")
    [old] = held(memory)
    looked = memory.run(Correct(memory, old.id, "The port is 7654."), dry_run=True)
    assert "7654" in looked.diff
    assert held(memory) == [old]
    report = memory.run(Correct(memory, old.id, "The port is 7654."))
    assert report.counts == {"ADD": 1, "SUPERSEDE": 1}
    [new] = held(memory)
    assert (new.value, new.key, new.project) == ("The port is 7654.", "port", "apollo")
    assert (new.trust, new.confidence, new.supersedes) == (Origin.HUMAN, 1.0, (old.id,))
    assert new.quotes[0].text == "The port is 7654."
    assert memory.trace(new.id).evidence[0].verified
    [gone] = held(memory, "superseded")
    assert (gone.id, gone.status) == (old.id, Status.SUPERSEDED)
    memory.undo(report.id)
    assert held(memory) == [old]


def test_what_is_not_held_or_not_otherwise_is_refused(memory: Memory) -> None:
    memory.remember("The port is 6543.", key="port")
    [old] = held(memory)
    with pytest.raises(UsageError, match="says so already"):
        memory.run(Correct(memory, old.id, " The port  is 6543."))
    with pytest.raises(UsageError, match="Choose one"):
        Correct(memory, old.id, " ")
    with pytest.raises(NotFoundError):
        memory.run(Correct(memory, old.id[:-2], "It is 1."))
    memory.run(Correct(memory, old.id, "The port is 7654."))
    with pytest.raises(UsageError, match="superseded"):
        memory.run(Correct(memory, old.id, "The port is 1."))


def card_of(memory: Memory) -> Card:
    [card] = held(memory, "active", "stale", "superseded")
    return card


def edit(memory: Memory, **changed: Any) -> JobReport:
    card = card_of(memory)
    return memory.run(Correct(memory, card.id, card.value, replace(CardFields.of(card), **changed)))


def test_fields_are_set_where_the_card_is(memory: Memory) -> None:
    memory.remember("The port is 6543.", key="port", project="apollo")
    old = card_of(memory)
    day = datetime(2026, 1, 5, tzinfo=UTC)
    report = edit(
        memory, type=CardType.RULE, key="staging.port", project="", scope="user:林夏",
        tags=("ops", "端口"), confidence=0.7, valid_from=day, valid_to=day + timedelta(900),
    )  # fmt: skip
    assert report.counts == {"REFINE": 1}
    new = card_of(memory)
    assert (new.id, new.value, new.quotes, new.trust) == (old.id, old.value, old.quotes, old.trust)
    assert (new.type, new.key, new.project, new.scope) == ("rule", "staging.port", "", "user:林夏")
    assert (new.tags, new.confidence, new.valid_from) == (("ops", "端口"), 0.7, day)
    assert memory.trace(new.id).evidence[0].verified
    memory.undo(report.id)
    assert card_of(memory) == old


def test_words_and_fields_are_corrected_at_once(memory: Memory) -> None:
    memory.remember("The port is 6543.", key="port")
    old = card_of(memory)
    fields = replace(CardFields.of(old), type=CardType.DECISION, tags=("ops",))
    memory.run(Correct(memory, old.id, "The port is 7654.", fields))
    [new] = held(memory)
    assert (new.value, new.type, new.tags) == ("The port is 7654.", "decision", ("ops",))
    [gone] = held(memory, "superseded")
    assert (gone.type, gone.tags) == (old.type, old.tags)


def test_what_is_over_ends_and_comes_back(memory: Memory) -> None:
    memory.remember("The port is 6543.", key="port")
    edit(memory, status=Status.SUPERSEDED)
    over = card_of(memory)
    assert over.valid_to is not None
    with pytest.raises(UsageError, match="stay as they were said"):
        memory.run(Correct(memory, over.id, "The port is 1.", CardFields.of(over)))
    report = edit(memory, status=Status.ACTIVE)
    back = card_of(memory)
    assert (back.status, back.valid_to) == (Status.ACTIVE, None)
    memory.undo(report.id)
    memory.remember("Tea is green.", key="other")
    [other] = held(memory, "active")
    fields = replace(CardFields.of(other), key="port")
    memory.run(Correct(memory, other.id, other.value, fields))
    fields = replace(CardFields.of(over), status=Status.ACTIVE)
    with pytest.raises(UsageError, match="is the key of"):
        memory.run(Correct(memory, over.id, over.value, fields))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"key": "a b"}, "cannot be a key"),
        ({"key": "other"}, "is the key of"),
        ({"scope": "林夏"}, "user:NAME"),
        ({"confidence": 1.5}, "from 0 to 1"),
        ({"status": Status.ARCHIVED}, "active, stale or superseded"),
        ({"valid_to": datetime(2020, 1, 1, tzinfo=UTC)}, "ends before"),
        ({}, "says so already"),
    ],
)
def test_fields_that_cannot_be_so_are_refused(
    memory: Memory, changed: dict[str, Any], said: str
) -> None:
    memory.remember("The port is 6543.", key="port")
    memory.remember("Tea is green.", key="other")
    card = next(one for one in held(memory) if one.key == "port")
    begins = replace(CardFields.of(card), valid_from=datetime(2026, 1, 1, tzinfo=UTC))
    fields = replace(begins if "valid_to" in changed else CardFields.of(card), **changed)
    with pytest.raises(UsageError, match=said):
        memory.run(Correct(memory, card.id, card.value, fields))
