"""Introspection of a memory: all four phases, each job with its own undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kimi_memory import Memory, Opening, hookimpl
from kimi_memory.domain.engine import Embedding
from kimi_memory.hooks.host import Host
from kimi_memory.operations.introspect import introspect
from kimi_memory.operations.memory_overview import overview
from kimi_memory.operations.memory_state import status
from tests.conftest import Clock
from tests.jobs.notes import card, put
from tests.jobs.test_introspect import ALSO, SAME, tree
from tests.jobs.test_runner import talk


def test_what_waits_is_distilled_before_the_rest(memory: Memory) -> None:
    talk(memory)
    put(memory, card("a", SAME), card("b", ALSO))
    found = introspect(memory)
    assert [report.subject for report in found.distilled] == ["s"]
    assert found.summary.merged == 1
    assert sum(found.summary.bands.values()) == 4
    assert memory.waiting() == []


def test_a_session_that_a_gate_stops_does_not_stop_the_others(memory: Memory) -> None:
    (memory.root / "evals").mkdir()
    cases = "cases:\n  - {query: 数据库 database, forbid: [MongoDB, PostgreSQL, SQLite]}\n"
    (memory.root / "evals/no.yaml").write_text(cases, encoding="utf-8")
    talk(memory)
    put(
        memory,
        card("a", SAME.replace("PostgreSQL", "X")),
        card("b", ALSO.replace("PostgreSQL", "X")),
    )
    found = introspect(memory)
    [line] = found.stopped
    assert line.startswith("s: Gate 'evals' stopped the job")
    assert found.summary.merged == 1
    assert memory.waiting() == ["s"]


def test_each_of_its_jobs_is_undone_in_turn_to_the_same_bytes(memory: Memory) -> None:
    talk(memory)
    put(memory, card("a", SAME), card("b", ALSO))
    before = tree(memory.root)
    found = introspect(memory)
    memory.undo(found.job.id)
    memory.undo(found.distilled[0].id)
    after = tree(memory.root)
    assert {path for path in before if before[path] != after.get(path)} <= {
        # The readable view of an open session is made again from its records.
        "short-term/session_s.json"
    }


def test_a_dry_run_leaves_every_byte(memory: Memory) -> None:
    talk(memory)
    put(memory, card("a", SAME), card("b", ALSO))
    before = tree(memory.root)
    found = introspect(memory, dry_run=True)
    assert tree(memory.root) == before
    assert found.summary.merged == 1
    assert found.job.diff and found.distilled[0].diff


def test_status_shows_bands_and_a_histogram(memory: Memory) -> None:
    put(memory, card("a", SAME, age=40), card("b", "另一件事", age=20), card("c", "新的", age=1))
    assert status(memory).bands == {"hot": 3, "warm": 0, "cold": 0}
    introspect(memory)
    found = status(memory)
    assert found.bands == {"hot": 1, "warm": 1, "cold": 1}
    assert sum(found.temperatures.values()) == 3
    assert found.links == {}


def test_status_and_the_pages_count_the_same_bands(memory: Memory) -> None:
    put(memory, card("a", SAME, age=40), card("b", "另一件事", age=20), card("c", "新的", age=1))
    assert status(memory).bands == overview(memory).bands
    introspect(memory)
    assert status(memory).bands == overview(memory).bands


class Meaning:
    """A stand-in for an embedding model that sees one meaning in everything."""

    @hookimpl
    def embed_texts(self, texts: Sequence[str], purpose: str) -> Embedding | None:
        if purpose == "similarity":
            return None
        return Embedding("meaning-1", [(1.0, 0.0)] * len(texts))


def test_a_cold_card_leaves_the_vector_index_and_comes_back_when_it_is_used(
    tmp_path: Path, opening: Opening, clock: Clock
) -> None:
    host = Host(entry_points=False)
    host.register(Meaning(), "meaning")
    with Memory.create(tmp_path / "m", opening=replace(opening, host=host)) as memory:
        put(memory, card("a", "The archive holds old letters", importance=0.9))

        def lanes(text: str) -> dict[str, tuple[str, ...]]:
            memory.index.refresh()
            return {hit.unit.id: hit.lanes for hit in memory.recall(text).hits}

        assert lanes("letters")["card-a"] == ("keyword", "vector")
        clock.move(days=40)
        assert introspect(memory).summary.bands["cold"] == 1
        assert "card-a" not in lanes("something quite different")
        assert lanes("letters")["card-a"] == ("keyword",)
        assert introspect(memory).summary.warmed == 1
        assert lanes("letters")["card-a"] == ("keyword", "vector")
