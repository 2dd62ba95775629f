"""Copies that both went on with a session, and let nothing count that others wrote."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kimi_memory import Memory
from kimi_memory.domain.search_types import Hit
from kimi_memory.operations.merge_copy import merge_copy
from tests.conftest import Clock
from tests.test_copies import clone, errors, git

__all__ = ["clone"]
POSTGRES = "We decided to use PostgreSQL as our database."
KOTLIN = "We decided to use Kotlin as our main language."


def best(memory: Memory, question: str) -> Hit:
    return next(hit for hit in memory.recall(question).hits if hit.unit.kind == "card")


@pytest.mark.parametrize("first", ["desk", "laptop"])
def test_what_was_learned_here_counts_on_when_its_turn_moves_to_another_session(
    memory: Memory, clone: Callable[[str], Memory], clock: Clock, first: str
) -> None:
    memory.session("talk").turn("user", "Hello there, my friend.")
    memory.batch.flush()
    copies = {"desk": memory, "laptop": clone("laptop")}
    early = copies.pop(first)
    [late] = copies.values()
    for one, text in ((early, POSTGRES), (late, KOTLIN)):
        clock.move(hours=1)
        one.session("talk").turn("user", text)
        one.distil("talk")
        one.batch.flush()
    assert merge_copy(early, str(late.root)).forks
    report = merge_copy(late, str(early.root))
    card = "semantic/general/decision.main-language.md"
    [fork] = [
        path
        for path in late.store.files("episodic/sessions")
        if path.endswith(".jsonl") and "talk-" in path
    ]
    # Its own words, in a session of another name: nobody else said anything in them.
    assert not {card, fork} & {*report.waiting}
    assert {"semantic/general/decision.database.md"} <= {*report.waiting}
    for one in (early, late):
        assert errors(one) == []
        assert git(one.root, "status", "--porcelain").strip() == ""
    assert best(late, "main language").unit.status == "active"
    assert best(late, "database").unit.status == "candidate"
    assert best(early, "main language").unit.status == "candidate"
    [evidence] = late.trace(best(late, "main language").unit.id).evidence
    assert evidence.verified
    assert evidence.turns[0].text == KOTLIN


def test_what_both_changed_is_proven_though_it_waits(
    memory: Memory, clone: Callable[[str], Memory], clock: Clock
) -> None:
    memory.session("talk").turn("user", "Hello there, my friend.")
    memory.batch.flush()
    late = clone("laptop")
    for one in (memory, late):
        clock.move(hours=1)
        one.session("talk").turn("user", KOTLIN)
        one.distil("talk")
        one.batch.flush()
    for one, other in ((memory, late), (late, memory)):
        merge_copy(one, str(other.root))
        assert errors(one) == []
        card = best(one, "main language").unit.id
        assert all(found.verified for found in one.trace(card).evidence)
