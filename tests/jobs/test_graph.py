"""The graph of a memory: links, wikilinks, evidence, order in time, and what is missing."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory import Memory
from kimi_memory.domain.graph import Edge
from kimi_memory.domain.note import CardType, Link, LinkRel, Source, Status
from kimi_memory.jobs.graph import derive, missing
from kimi_memory.store.notes.notes import Filed, Shelf
from tests.jobs.notes import card, event, put


def filed(memory: Memory) -> list[Filed]:
    shelf = Shelf(memory.store)
    return [shelf.file(entry.path) for entry in shelf.entries().values()]


def edges(memory: Memory) -> set[tuple[str, str, str, str]]:
    found = derive(filed(memory)).edges.values()
    return {(e.source, e.target, str(e.rel), e.derived) for e in found}


def test_links_lead_to_ids_and_wikilinks_to_names(memory: Memory) -> None:
    put(
        memory,
        card("a", "The port is 8080", links=(Link("card-b", LinkRel.DEPENDS_ON, 0.9, "needs"),)),
        card("b", "参见 [[部署说明]] 和 [[db.choice]] 以及 [[nothing here]]"),
        card("c", "先构建再部署", title="部署说明"),
        event("e", "See [[k.a]]"),
    )
    put(memory, replace(card("d", "We use PostgreSQL"), key="db.choice"))
    assert edges(memory) == {
        ("card-a", "card-b", "DEPENDS_ON", ""),
        ("card-b", "card-c", "RELATES_TO", "wikilink"),
        ("card-b", "card-d", "RELATES_TO", "wikilink"),
        ("event-e", "card-a", "RELATES_TO", "wikilink"),
    }


def test_evidence_leads_to_its_session_once(memory: Memory) -> None:
    sources = (Source("s1", 1, 1), Source("s1", 4, 5), Source("s2", 1, 1))
    put(memory, card("a", "The port is 8080", sources=sources))
    assert edges(memory) == {
        ("card-a", "session:s1", "EXTRACTED_FROM", "evidence"),
        ("card-a", "session:s2", "EXTRACTED_FROM", "evidence"),
    }


def test_values_of_one_key_stand_in_their_order(memory: Memory) -> None:
    old = card("a", "端口是 8080", age=9, status=Status.SUPERSEDED, key="port")
    new = card("b", "端口是 9090", age=3, supersedes=("card-a", "card-gone"), key="port")
    late = card("c", "端口是 7070", age=1, key="port")
    put(memory, new)
    for one in (old, late):
        put(memory, replace(one, category=one.id))
    found = derive(filed(memory)).edges.values()
    assert {(e.source, e.target, e.weight, e.reason) for e in found} == {
        ("card-a", "card-b", 1.0, "replaced"),
        ("card-b", "card-c", 0.8, "same key"),
    }


def test_decisions_of_one_project_stand_in_their_order(memory: Memory) -> None:
    decided = {"type": CardType.DECISION, "project": "shop"}
    put(
        memory,
        card("a", "Use Rust", age=9, **decided),
        card("b", "Use gRPC", age=5, **decided),
        card("c", "Use Kafka", age=7, type=CardType.DECISION, project="other"),
    )
    found = list(derive(filed(memory)).edges.values())
    assert found == [Edge("card-a", "card-b", LinkRel.TEMPORAL_NEXT, 0.3, "same project", "time")]


def test_dangling_and_orphaned_links_are_missing(memory: Memory) -> None:
    links = (
        Link("card-b"), Link("card-gone"), Link("card-old"), Link("card-no", weight=0.0),
    )  # fmt: skip
    put(
        memory,
        card("a", "See [[USER]] and [[Nowhere]]", links=links),
        card("b", "The port is 8080"),
        card("old", "Was so", status=Status.ARCHIVED, links=(Link("card-x"),)),
    )
    found = [(one.source, one.target, one.archived) for one in missing(filed(memory), ["USER.md"])]
    assert found == [
        ("card-a", "card-gone", False),
        ("card-a", "card-old", True),
        ("card-a", "nowhere", False),
    ]


def test_what_an_archived_note_links_to_is_not_held_by_it(memory: Memory) -> None:
    put(
        memory,
        card("a", "Gone", status=Status.ARCHIVED, links=(Link("card-b"),)),
        card("b", "The port is 8080"),
    )
    assert edges(memory) == set()
