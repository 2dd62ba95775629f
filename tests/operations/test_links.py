"""Links by hand: made, replaced, removed, confirmed, rejected, shown and checked."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.graph import Edge
from kimi_memory.domain.note import Card, Link, LinkRel, Source, Status
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.operations.doctor import doctor
from kimi_memory.operations.introspect import introspect
from kimi_memory.operations.links import Wanted, check_links, link, related, suggested, unlink
from tests.jobs.notes import card, event, put

NEAR = (
    "The staging cluster runs Kafka 3.7 on three nodes",
    "The staging cluster runs Kafka on nodes",
)


def wanted(source: str, target: str, rel: str = "", **more: object) -> Wanted:
    return Wanted(source=source, target=target, rel=LinkRel(rel) if rel else None, **more)


def links(memory: Memory, id: str) -> tuple[Link, ...]:
    note = memory.get(id).note
    assert isinstance(note, Card)
    return note.links


def two(memory: Memory) -> None:
    put(
        memory,
        card("a", "The proxy listens on 443"),
        card("b", "端口写在部署说明里"),
        event("e", "x"),
    )


def test_a_link_is_a_job_that_undo_takes_back(memory: Memory) -> None:
    two(memory)
    before = (memory.root / memory.get("card-a").path).read_bytes()
    asked = wanted("card-a", "card-b", "DEPENDS_ON", weight=0.9, reason="端口从那里来")
    report = link(memory, asked)
    assert links(memory, "card-a") == (Link("card-b", LinkRel.DEPENDS_ON, 0.9, "端口从那里来"),)
    assert (report.kind, report.counts) == ("link", {"LINK": 1})
    assert report.commit
    memory.undo(report.id)
    assert (memory.root / memory.get("card-a").path).read_bytes() == before
    assert link(memory, asked).id


def test_a_dry_run_shows_the_link_and_writes_nothing(memory: Memory) -> None:
    two(memory)
    assert "RELATES_TO" in link(memory, wanted("card-a", "card-b"), dry_run=True).diff
    assert links(memory, "card-a") == ()


def test_a_link_of_the_same_relation_is_replaced(memory: Memory) -> None:
    two(memory)
    link(memory, wanted("card-a", "card-b", weight=0.3))
    link(memory, wanted("card-a", "card-b", weight=0.6))
    link(memory, wanted("card-a", "card-b", "DEPENDS_ON"))
    assert [(one.rel, one.weight) for one in links(memory, "card-a")] == [
        (LinkRel.RELATES_TO, 0.6),
        (LinkRel.DEPENDS_ON, 0.8),
    ]
    link(memory, wanted("card-b", "card-a", weight=0.7))
    assert links(memory, "card-a")[1] == Link("card-b", LinkRel.RELATES_TO, 0.7)
    assert links(memory, "card-b") == ()


def test_a_mutual_link_from_an_event_stands_in_the_card(memory: Memory) -> None:
    two(memory)
    link(memory, wanted("event-e", "card-a"))
    assert links(memory, "card-a") == (Link("event-e", LinkRel.RELATES_TO, 0.8),)
    with pytest.raises(UsageError, match="links stand in cards"):
        link(memory, wanted("event-e", "card-a", "CAUSED_BY"))


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (wanted("card-a", "card-a"), UsageError, "itself"),
        (wanted("card-a", "card-zz"), NotFoundError, "card-zz"),
        (wanted("card-a", "card-b", weight=0.0), UsageError, "weight"),
        (wanted("card-a", "card-b", weight=1.5), UsageError, "weight"),
    ],
    ids=["itself", "unknown", "no weight", "too much"],
)
def test_a_link_that_makes_no_sense_is_refused(
    memory: Memory, asked: Wanted, error: type[Exception], message: str
) -> None:
    two(memory)
    with pytest.raises(error, match=message):
        link(memory, asked)


def test_removing_takes_out_what_either_card_states(memory: Memory) -> None:
    mutual = Link("card-a", LinkRel.RELATES_TO, 0.5)
    onwards = Link("card-a", LinkRel.DEPENDS_ON, 0.5)
    put(
        memory,
        card("a", "x y z", links=(Link("card-b", LinkRel.CAUSED_BY, 0.5),)),
        card("b", "u v w", links=(mutual, onwards)),
    )
    unlink(memory, wanted("card-a", "card-b"))
    assert links(memory, "card-a") == ()
    assert links(memory, "card-b") == (onwards,)
    with pytest.raises(UsageError, match="states no such link"):
        unlink(memory, wanted("card-a", "card-b"))


def test_only_the_named_relation_is_removed(memory: Memory) -> None:
    both = (Link("card-b", LinkRel.CAUSED_BY, 0.5), Link("card-b", LinkRel.DEPENDS_ON, 0.5))
    put(memory, card("a", "x y z", links=both), card("b", "u v w"))
    unlink(memory, wanted("card-a", "card-b", "CAUSED_BY"))
    assert links(memory, "card-a") == (both[1],)


def test_a_rejected_suggestion_does_not_come_back(memory: Memory) -> None:
    put(memory, card("a", NEAR[0]), card("b", NEAR[1]))
    introspect(memory)
    [edge] = suggested(memory)
    assert (edge.source, edge.target, edge.rel) == ("card-a", "card-b", LinkRel.SIMILAR_TO)
    unlink(memory, wanted("card-b", "card-a"))
    assert links(memory, "card-a") == (Link("card-b", LinkRel.SIMILAR_TO, 0.0, "rejected"),)
    assert related(memory, "card-a") == []
    assert "[[card-b]]" not in memory.get("card-a").text
    assert introspect(memory).summary.suggested == 0
    assert suggested(memory) == []


def test_a_link_by_hand_confirms_a_suggestion(memory: Memory) -> None:
    put(memory, card("a", NEAR[0]), card("b", NEAR[1]))
    introspect(memory)
    link(memory, wanted("card-b", "card-a", "SIMILAR_TO", reason="one cluster"))
    assert suggested(memory) == []
    assert links(memory, "card-a") == (Link("card-b", LinkRel.SIMILAR_TO, 0.8, "one cluster"),)


def test_related_notes_are_told_from_both_ends_with_their_place(memory: Memory) -> None:
    put(
        memory,
        card("a", "The build", links=(Link("card-b", LinkRel.DEPENDS_ON, 0.9, "base image"),)),
        card("b", "基础镜像是 alpine", links=(Link("card-c", LinkRel.CAUSED_BY, 0.5),)),
        card("c", "The old image was too large", sources=(Source("s1", 2, 2),)),
    )
    [near] = related(memory, "card-a")
    assert (near.id, near.title, near.rel, near.weight) == (
        "card-b", "基础镜像是 alpine", "DEPENDS_ON", 0.9,
    )  # fmt: skip
    assert near.path == memory.get("card-b").path
    assert [(one.id, one.rel) for one in related(memory, "card-b")] == [
        ("card-a", "NEEDED_BY"),
        ("card-c", "CAUSED_BY"),
    ]
    far = related(memory, "card-a", hops=2)[1]
    assert (far.id, far.weight, far.hops, far.via) == ("card-c", 0.45, 2, "card-b")
    assert related(memory, "card-c")[0].id == "session:s1"
    assert related(memory, "card-c")[0].path == ""
    with pytest.raises(NotFoundError):
        related(memory, "card-zz")


def test_doctor_names_links_that_lead_nowhere(memory: Memory) -> None:
    put(
        memory,
        card("a", "See [[USER]] or [[nowhere at all]]", links=(Link("card-b"), Link("card-gone"))),
        card("b", "Archived", status=Status.ARCHIVED),
    )
    (memory.root / "semantic/general/broken.md").write_text("---\nid: x\n---\n", encoding="utf-8")
    found = [f.message for f in check_links(memory)]
    assert found == [
        "card-a links to card-b, which is archived",
        "card-a links to 'card-gone': no note",
        "card-a links to 'nowhere-at-all': no note",
    ]
    assert found == [f.message for f in doctor(memory) if f.check == "links"]


def test_suggestions_are_listed_heaviest_first(memory: Memory) -> None:
    hint = "suggested: alike"
    weak, strong = Link("card-b", weight=0.7, reason=hint), Link("card-c", weight=0.9, reason=hint)
    put(memory, card("a", "x", links=(weak, strong)), card("b", "y"), card("c", "z"))
    assert suggested(memory) == [
        Edge("card-a", "card-c", LinkRel.RELATES_TO, 0.9, hint),
        Edge("card-a", "card-b", LinkRel.RELATES_TO, 0.7, hint),
    ]


def test_every_link_of_a_pair_is_shown_the_strongest_first(memory: Memory) -> None:
    two(memory)
    link(memory, wanted("card-a", "card-b", "DEPENDS_ON", weight=0.5))
    link(memory, wanted("card-a", "card-b", "CAUSED_BY", weight=0.9))
    link(memory, wanted("card-b", "card-a", "SIMILAR_TO", weight=0.7))
    found = [(one.id, one.rel, one.weight) for one in related(memory, "card-b")]
    assert found == [
        ("card-a", "CAUSES", 0.9),
        ("card-a", "SIMILAR_TO", 0.7),
        ("card-a", "NEEDED_BY", 0.5),
    ]
    assert related(memory, "card-b", 2)[:3] == related(memory, "card-b")
