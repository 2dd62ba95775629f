"""Trace: from a card to the words, the turn, the file, the commit."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.errors import AmbiguousIdError, NotFoundError
from kimi_memory.store.notes.notes import Shelf
from tests.jobs.test_runner import talk


def database_card(memory: Memory) -> str:
    [card] = Shelf(memory.store).cards("decision.database")
    return card.id


def test_a_card_leads_to_its_turn_and_file(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    card = database_card(memory)
    trace = memory.trace(card)
    [evidence] = trace.evidence
    assert evidence.verified
    assert "MongoDB" in evidence.quote
    assert evidence.turns[0].n == 1
    lines = memory.store.read(evidence.path).decode().splitlines()
    assert "MongoDB" in lines[evidence.line - 1]
    assert [commit.trailers["Kind"] for commit in trace.commits] == ["remember"]


def test_a_quote_edited_in_the_card_no_longer_verifies(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    card = database_card(memory)
    file = memory.root / memory.trace(card).path
    text = file.read_text(encoding="utf-8")
    assert "> 数据库我们决定用 MongoDB" in text
    file.write_text(
        text.replace("> 数据库我们决定用 MongoDB", "> 数据库我们决定用 Oracle"), encoding="utf-8"
    )
    assert not any(evidence.verified for evidence in memory.trace(card).evidence)


def test_a_session_that_is_gone_is_said_to_be_gone(memory: Memory) -> None:
    talk(memory)
    report = memory.distil("s")
    (
        memory.root
        / next(p for p in report.paths if p.endswith("session_s.jsonl") and "episodic" in p)
    ).unlink()
    card = report.operations[0].target
    assert all(not e.path and not e.verified for e in memory.trace(card).evidence)


def test_short_ids_work_while_they_are_unique(memory: Memory) -> None:
    talk(memory)
    report = memory.distil("s")
    card = report.operations[0].target
    assert memory.trace(card[:-3]).note.id == card
    with pytest.raises(AmbiguousIdError, match=r"fits \d+ notes"):
        memory.trace("card-")
    with pytest.raises(NotFoundError, match="No note 'nothing'"):
        memory.trace("nothing")
