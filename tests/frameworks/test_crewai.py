"""The storage for CrewAI, in the memory that holds it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kimi_memory import Memory
from kimi_memory.errors import FormatError, UsageError

pytest.importorskip("crewai")

from crewai.memory.storage.backend import StorageBackend
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory as CrewMemory

from kimi_memory.frameworks.crewai import MemoryStorage

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TEA, DATABASE = "小李每天下午三点喝绿茶。", "The staging database is called marmalade."


@pytest.fixture
def storage(memory: Memory) -> MemoryStorage:
    return MemoryStorage(memory, "kimi")


@pytest.fixture
def crew(storage: MemoryStorage) -> Iterator[Any]:
    made = CrewMemory(storage=storage, embedder=storage.embed)
    yield made
    made.close()


def keep(crew: Any, text: str, **members: Any) -> Any:
    about = {"scope": "/team", "categories": ["fact"], "importance": 0.5, **members}
    return crew.remember(text, metadata={"from": "test"}, **about)


def record(id: str, text: str, **members: Any) -> MemoryRecord:
    return MemoryRecord(id=id, content=text, **members)


@pytest.mark.parametrize(
    ("question", "said"),
    [("小李喝什么茶？", TEA), ("What is the staging database?", DATABASE)],
    ids=["zh", "en"],
)
def test_what_a_crew_remembered_is_found_by_a_question(
    memory: Memory, crew: Any, question: str, said: str
) -> None:
    for text in (TEA, DATABASE):
        keep(crew, text)
    (first, *_) = crew.recall(question, depth="shallow")
    assert first.record.content == said
    assert first.record.metadata == {"from": "test"} and first.record.categories == ["fact"]
    assert any(
        hit.unit.path.startswith("mid-term/agents/kimi/records/")
        for hit in memory.recall(question).hits
    )


def test_another_process_finds_it_too(memory: Memory, crew: Any) -> None:
    keep(crew, TEA)
    later = MemoryStorage(memory, "kimi")
    ((found, score),) = later.search(later.embed(["小李喝什么茶？"])[0])
    assert found.content == TEA and 0 < score <= 0.8


def test_only_what_is_nearly_the_same_is_offered_for_merging(storage: MemoryStorage) -> None:
    storage.save([record("a", DATABASE)])
    (vector,) = storage.embed([DATABASE])
    assert storage.search(vector)[0][1] >= 0.85
    (vector,) = storage.embed(["Which database does staging have?"])
    assert storage.search(vector)[0][1] < 0.85


def test_a_vector_of_somebody_else_is_refused(storage: MemoryStorage) -> None:
    with pytest.raises(UsageError, match=r"embedder=s\.embed"):
        storage.search([0.1] * 8)


def test_it_has_all_that_their_storages_have(storage: MemoryStorage) -> None:
    assert isinstance(storage, StorageBackend)


def test_scopes_categories_and_metadata_filter(storage: MemoryStorage) -> None:
    storage.save(
        [
            record("a", "tea is green", scope="/a/b", categories=["x"], metadata={"n": 1}),
            record("b", "tea is black", scope="/a", categories=["x", "y"]),
            record("c", "tea is white", scope="/ab"),
        ]
    )
    (vector,) = storage.embed(["tea"])

    def ids(**filters: Any) -> list[str]:
        return sorted(one.id for one, _ in storage.search(vector, **filters))

    assert ids() == ["a", "b", "c"]
    assert ids(scope_prefix="/a") == ["a", "b"]
    assert ids(categories=["y"]) == ["b"]
    assert ids(metadata_filter={"n": 1}) == ["a"]
    assert len(ids(limit=2)) == 2 and ids(min_score=1.1) == []
    assert storage.list_scopes() == ["/a", "/ab"] and storage.list_scopes("/a") == ["/a/b"]
    assert storage.list_categories() == {"x": 2, "y": 1}
    assert (storage.count(), storage.count("/a"), storage.count("/a/b")) == (3, 2, 1)
    info = storage.get_scope_info("/a")
    assert (info.record_count, info.categories, info.child_scopes) == (2, ["x", "y"], ["/a/b"])
    assert storage.get_scope_info("/none").oldest_record is None


def test_records_are_replaced_listed_and_removed(storage: MemoryStorage) -> None:
    now = datetime(2026, 2, 27, 9, tzinfo=UTC)
    storage.save([record(f"r{n}", f"line {n}", created_at=now + timedelta(n)) for n in range(4)])
    storage.update(record("r1", "changed\n\n```json\n{}\n```\n", created_at=now))
    assert storage.get_record("r1").content == "changed\n\n```json\n{}\n```\n"
    assert [one.id for one in storage.list_records(limit=2)] == ["r3", "r2"]
    assert [one.id for one in storage.list_records(offset=2)] == ["r1", "r0"]
    assert storage.delete(record_ids=["r3", "nobody"]) == 1
    assert storage.delete(older_than=now + timedelta(1)) == 2
    assert storage.get_record("r0") is None
    storage.reset()
    assert storage.count() == 0


def test_the_async_methods_do_alike(storage: MemoryStorage) -> None:
    async def talk() -> list[Any]:
        await storage.asave([record("a", DATABASE)])
        found = await storage.asearch(storage.embed(["staging database"])[0], limit=1)
        return [found[0][0].id, await storage.adelete(record_ids=["a"])]

    assert asyncio.run(talk()) == ["a", 1]


def test_secrets_are_masked(memory: Memory, storage: MemoryStorage) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    storage.save([record("a", f"token {key}", metadata={"password": "hunter2-Tr0ub4dor"})])
    kept = storage.get_record("a")
    assert "⟦redacted:" in kept.content and "⟦redacted:" in kept.metadata["password"]
    held = b"".join(memory.store.read(path) for path in memory.store.files())
    assert key.encode() not in held and b"hunter2" not in held


def test_a_broken_file_is_left_out_and_named(memory: Memory, storage: MemoryStorage) -> None:
    storage.save([record("a", TEA), record("b", DATABASE)])
    place = memory.root / "mid-term/agents/kimi/records/a.md"
    place.write_text(place.read_text("utf-8").replace("{", "["), encoding="utf-8")
    assert [one.id for one in storage.list_records()] == ["b"]
    with pytest.raises(FormatError, match="no record"):
        storage.get_record("a")


def test_agents_do_not_see_each_other(memory: Memory, storage: MemoryStorage) -> None:
    storage.save([record("a", TEA)])
    other = MemoryStorage(memory, "other")
    assert other.count() == 0 and other.search(other.embed(["绿茶"])[0]) == []
