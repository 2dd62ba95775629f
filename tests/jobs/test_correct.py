"""Correcting a card: the new one rests on the person's words, the old one was so until then."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.note import Card, Origin, Status
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.jobs.correct import Correct
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
