"""Evidence seen from the turn: cards that quote it are named, those forgotten are not."""

from __future__ import annotations

from kimi_memory import Memory
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.search_types import Hit
from kimi_memory.operations.forget import forget
from kimi_memory.recall.citations import quoting


def hits(memory: Memory, text: str) -> dict[str, Hit]:
    return {hit.unit.kind: hit for hit in reversed(memory.recall(text).hits)}


def test_a_turn_names_the_card_that_quotes_it(memory: Memory) -> None:
    memory.remember("我们决定用 SQLite 当数据库，因为部署简单。", key="db.choice")
    memory.remember("我们决定周五不部署。", key="deploy.day")
    found = hits(memory, "SQLite 数据库")
    turn, card = found["turn"], found["card"]
    [note] = quoting(memory.index.searcher(), [turn, card])[turn.unit.id]
    assert (note.id, note.rel, note.hops) == (card.unit.id, "QUOTES", 1)
    assert note.title
    forget(memory, Wanted(key="db.choice"))
    assert quoting(memory.index.searcher(), [turn]) == {turn.unit.id: ()}


def test_a_damaged_card_quotes_nothing(memory: Memory) -> None:
    memory.remember("The ferry leaves at nine.", key="ferry.time")
    found = hits(memory, "ferry")
    searcher = memory.index.searcher()
    (memory.root / found["card"].unit.path).write_bytes(b"---\n\xff\n")
    assert quoting(searcher, [found["turn"]]) == {found["turn"].unit.id: ()}


def test_only_turns_are_quoted(memory: Memory) -> None:
    assert quoting(memory.index.searcher(), []) == {}
