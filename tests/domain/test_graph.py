"""Graphs of notes: edges counted once, walked both ways, strongest first."""

from __future__ import annotations

import pytest

from kimi_memory.domain.graph import Edge, Graph, mentioned, mentions, name_of, seen_from
from kimi_memory.domain.note import LinkRel


def edge(source: str, target: str, rel: str = "RELATES_TO", weight: float = 0.5, why: str = ""):
    return Edge(source, target, LinkRel(rel), weight, why)


@pytest.mark.parametrize(
    ("rel", "backwards"),
    [
        ("RELATES_TO", "RELATES_TO"),
        ("SIMILAR_TO", "SIMILAR_TO"),
        ("CONTRADICTS", "CONTRADICTS"),
        ("DEPENDS_ON", "NEEDED_BY"),
        ("CAUSED_BY", "CAUSES"),
        ("TEMPORAL_NEXT", "TEMPORAL_PREVIOUS"),
        ("EXTRACTED_FROM", "SOURCE_OF"),
    ],
)
def test_every_relation_has_a_name_from_both_ends(rel: str, backwards: str) -> None:
    assert seen_from(LinkRel(rel), forwards=True) == rel
    assert seen_from(LinkRel(rel), forwards=False) == backwards
    graph = Graph.from_edges([edge("a", "b", rel)])
    assert [near.rel for near in graph.near("a")] == [rel]
    assert [near.rel for near in graph.near("b")] == [backwards]


def test_a_mutual_link_stated_by_both_notes_counts_once() -> None:
    graph = Graph.from_edges(
        [edge("a", "b", "CONTRADICTS", 0.4), edge("b", "a", "CONTRADICTS", 0.9)]
    )
    assert [one.weight for one in graph.edges.values()] == [0.9]
    assert [one.id for one in graph.near("a")] == ["b"]


def test_two_causes_in_a_ring_are_two_edges() -> None:
    graph = Graph.from_edges([edge("a", "b", "CAUSED_BY"), edge("b", "a", "CAUSED_BY")])
    assert len(graph.edges) == 2


def test_a_note_is_not_linked_to_itself() -> None:
    assert Graph.from_edges([edge("a", "a")]).edges == {}


def test_a_stated_link_stands_before_one_that_was_seen() -> None:
    seen = Edge("a", "b", LinkRel.RELATES_TO, 1.0, "wikilink", "wikilink")
    for order in ([seen, edge("a", "b", why="said")], [edge("a", "b", why="said"), seen]):
        [kept] = Graph.from_edges(order).edges.values()
        assert (kept.reason, kept.derived) == ("said", "")


def test_two_hops_multiply_weights_and_come_after_stronger_single_ones() -> None:
    graph = Graph.from_edges(
        [edge("a", "b", weight=0.9), edge("b", "c", weight=0.8), edge("a", "d")]
    )
    assert [(n.id, n.weight, n.hops, n.via) for n in graph.near("a", hops=2)] == [
        ("b", 0.9, 1, "a"),
        ("c", 0.72, 2, "b"),
        ("d", 0.5, 1, "a"),
    ]
    assert [n.id for n in graph.near("a", hops=1)] == ["b", "d"]


def test_the_shorter_way_to_a_note_is_the_one_told() -> None:
    graph = Graph.from_edges([edge("a", "b"), edge("b", "c"), edge("a", "c", weight=0.1)])
    assert [(n.id, n.hops) for n in graph.near("a", hops=2)] == [("b", 1), ("c", 1)]


def test_a_suggested_link_counts_half_and_a_rejected_one_leads_nowhere() -> None:
    graph = Graph.from_edges(
        [edge("a", "b", weight=0.8, why="suggested: 0.80 alike"), edge("a", "c", weight=0)]
    )
    [near] = graph.near("a")
    assert (near.id, near.weight, near.suggested) == ("b", 0.4, True)


def test_wikilinks_are_found_with_their_names_alone() -> None:
    text = "看 [[数据库选型|选型]] 和 [[notes/Ports.md#heading]]、[[a^block]], not \\[[me]] [[a]]"
    assert mentions(text) == ["数据库选型", "notes/Ports.md", "a"]
    assert name_of("notes/Ports.md") == name_of("ports") == "ports"
    assert name_of("数据库 选型") == "数据库-选型"
    assert name_of(" ") == ""


def test_sessions_and_stated_links_are_no_mentions() -> None:
    found = mentioned("- Links: [[card-1]], [[session_s]]\n[[DB Choice]] [[/]]", ["card-1"])
    assert [(link.to, link.rel) for link in found] == [("db-choice", LinkRel.RELATES_TO)]
