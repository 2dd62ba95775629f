"""An overview: counts by the index, what waits, what changed last."""

from __future__ import annotations

from kimi_memory import Memory
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.operations.forget import forget
from kimi_memory.operations.memory_overview import overview


def test_an_overview_counts_cards_sessions_and_commits(memory: Memory) -> None:
    memory.remember("The port is 6543.", key="port", project="apollo")
    memory.remember("We drink tea.", key="tea")
    with memory.session("open") as session:
        session.turn("user", "hello")
    found = overview(memory)
    assert (found.cards, found.projects) == (2, {"apollo": 1})
    assert sum(found.types.values()) == sum(found.bands.values()) == 2
    assert found.week == (2, 0)
    assert found.open_sessions >= 1
    assert {unit.key for unit in found.latest} == {"port", "tea"}
    assert found.commits[-1].subject == "A new memory"
    assert not found.asks
    forget(memory, Wanted(key="tea"))
    assert overview(memory).week == (1, 1)
