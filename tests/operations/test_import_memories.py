"""Importing: cards with links and evidence, in step with the source, forgotten for good."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.domain.health import Severity
from kimi_memory.domain.note import Origin, Status
from kimi_memory.operations.doctor import verify
from kimi_memory.operations.import_memories import import_store
from tests.conftest import Clock
from tests.operations.memex import JSONB, POSTGRES, cards


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of two memex cards that link to each other."""
    folder = tmp_path / "cards"
    folder.mkdir()
    (folder / "postgres-choice.md").write_text(POSTGRES, encoding="utf-8")
    (folder / "json-support.md").write_text(JSONB, encoding="utf-8")
    return folder


def state(memory: Memory) -> dict[str, str]:
    return {
        path: hashlib.sha256(memory.store.read(path)).hexdigest() for path in memory.store.files()
    }


def test_cards_come_with_links_evidence_and_origin(memory: Memory, source: Path) -> None:
    [job] = import_store(memory, source).jobs
    assert job.counts == {"ADD": 2}
    found = cards(memory)
    one, two = found["memex.postgres-choice"], found["memex.json-support"]
    assert (one.title, one.lang, one.trust, one.status) == (
        "选用 PostgreSQL",
        "zh",
        Origin.IMPORT,
        Status.ACTIVE,
    )
    assert [link.to for link in one.links] == [two.id]
    assert [link.to for link in two.links] == [one.id]
    assert {"数据库", "from/memex"} <= set(one.tags)
    assert one.created.isoformat() == "2026-01-05T00:00:00+00:00"
    [evidence] = memory.trace(one.id).evidence
    assert evidence.verified
    transcript = memory.store.read(evidence.path).decode()
    assert '"ref":"postgres-choice.md#postgres-choice@' in transcript
    assert not [f for f in verify(memory) if f.severity is Severity.ERROR]
    assert memory.waiting() == []


def test_a_second_import_changes_nothing(memory: Memory, source: Path) -> None:
    import_store(memory, source)
    before = state(memory)
    found = import_store(memory, source)
    assert (found.seen, found.unchanged, found.jobs) == (2, 2, ())
    assert state(memory) == before


def test_a_dry_run_writes_nothing_and_undo_takes_all_back(memory: Memory, source: Path) -> None:
    before = state(memory)
    [job] = import_store(memory, source, dry_run=True).jobs
    assert "+trust: import" in job.diff
    assert state(memory) == before
    [job] = import_store(memory, source).jobs
    memory.undo(job.id)
    assert state(memory) == before
    assert import_store(memory, source).jobs[0].counts == {"ADD": 2}


def test_a_card_gone_at_the_source_is_told_and_kept(memory: Memory, source: Path) -> None:
    import_store(memory, source)
    (source / "json-support.md").unlink()
    found = import_store(memory, source)
    assert [line.split()[0] for line in found.gone] == ["json-support.md#json-support"]
    assert "memex.json-support" in cards(memory)


def test_a_large_source_is_several_jobs(memory: Memory, tmp_path: Path, clock: Clock) -> None:
    text = "\n".join(f"- statement number {n} about matter {n}" for n in range(450))
    (tmp_path / "MEMORY.md").write_text(text, encoding="utf-8")
    found = import_store(memory, tmp_path / "MEMORY.md")
    assert [job.counts["ADD"] for job in found.jobs] == [400, 50]
    clock.move(days=1)
    assert import_store(memory, tmp_path / "MEMORY.md").unchanged == 450


def test_recall_marks_what_was_imported(memory: Memory, source: Path) -> None:
    import_store(memory, source)
    hits = memory.recall("PostgreSQL JSON").hits
    card = next(hit.unit for hit in hits if hit.unit.kind == "card")
    assert card.trust == "import"
    assert "from/memex" in card.tags
