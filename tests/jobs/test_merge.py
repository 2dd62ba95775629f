"""Near duplicates: found among many, merged only when both claim the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kimi_memory.domain.note import Card, Link, LinkRel, Origin, Quote, Source, Status
from kimi_memory.hooks.host import Host
from kimi_memory.jobs.merge import BLOCK, Pair, archived, mergeable, merged, moved, pairs, ranked
from tests.jobs.notes import NOW, card

HOST = Host(entry_points=False)


def likeness(a: str, b: str) -> float:
    return max((p.likeness for p in pairs([card("a", a), card("b", b)], HOST, 0.0)), default=0.0)


def pair(a: Card, b: Card) -> Pair:
    return Pair(a, b, 1.0)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("We use PostgreSQL for the orders database", "we use postgresql for the orders database."),
        ("订单服务用 PostgreSQL 数据库存数据", "订单服务用PostgreSQL数据库存数据。"),
    ],
)
def test_duplicates_up_to_case_and_marks_are_found_and_merge(a: str, b: str) -> None:
    assert likeness(a, b) > 0.9
    assert mergeable(pair(card("a", a), card("b", b)), HOST, NOW)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (
            "The gateway of staging listens on port 8080",
            "The gateway of staging listens on port 8081",
        ),
        ("部署窗口定在每周五晚上十点开始", "部署窗口定在每周四晚上十点开始"),
        ("We never deploy the shop on a Friday evening", "We deploy the shop on a Friday evening"),
        ("小李不喜欢在会议上讨论代码格式", "小李喜欢在会议上讨论代码格式"),
        ("Alice reviews the code of Bob every day", "Bob reviews the code of Alice every day"),
    ],
)
def test_another_claim_is_never_merged_however_alike_it_reads(a: str, b: str) -> None:
    assert not mergeable(pair(card("a", a), card("b", b)), HOST, NOW)


SAME = "We use PostgreSQL for the orders database"


@pytest.mark.parametrize(
    "other",
    [
        {"project": "shop"},
        {"status": Status.CONFLICTED},
        {"status": Status.SUPERSEDED},
        {"valid_to": NOW},
    ],
    ids=["project", "conflict", "superseded", "validity"],
)
def test_cards_of_another_standing_are_not_merged(other: dict[str, object]) -> None:
    assert mergeable(pair(card("a", SAME), card("b", SAME)), HOST, NOW)
    assert not mergeable(pair(card("a", SAME), card("b", SAME, **other)), HOST, NOW)


def test_the_more_trusted_card_stays_then_the_older_one() -> None:
    old, new = card("b", SAME, age=9), card("a", SAME, age=1)
    assert ranked(pair(new, old)) == (old, new)
    remote = replace(old, trust=Origin.REMOTE)
    assert ranked(pair(new, remote)) == (new, remote)
    stale = replace(old, status=Status.STALE)
    assert ranked(pair(new, stale)) == (new, stale)


def test_a_merged_card_has_the_evidence_and_links_of_both() -> None:
    one, two = Quote("s1", 1, "use PostgreSQL"), Quote("s2", 3, "用 PostgreSQL")
    a = card(
        "a", SAME, age=9, confidence=0.6, quotes=(one,),
        sources=(Source.from_quote(one),), tags=("db",),
        links=(Link("card-b"), Link("card-x", LinkRel.DEPENDS_ON, 0.3)),
    )  # fmt: skip
    b = card(
        "b", SAME, age=1, confidence=0.5, quotes=(one, two), tags=("pg",), caveats="vacuum",
        sources=(Source.from_quote(one), Source.from_quote(two)), importance=0.9,
        links=(Link("card-x", LinkRel.DEPENDS_ON, 0.8), Link("card-y")),
    )  # fmt: skip
    whole = merged(a, b, NOW)
    assert whole.id == "card-a"
    assert whole.quotes == (one, two)
    assert whole.sources == (Source.from_quote(one), Source.from_quote(two))
    assert whole.links == (Link("card-x", LinkRel.DEPENDS_ON, 0.8), Link("card-y"))
    assert whole.supersedes == ("card-b",)
    assert (whole.tags, whole.caveats, whole.importance) == (("db", "pg"), "vacuum", 0.9)
    assert whole.confidence == 0.72
    assert (whole.verified, whole.valid_from) == (b.verified, a.valid_from)


def test_words_of_one_session_twice_do_not_raise_confidence() -> None:
    quote = Quote("s1", 1, "use PostgreSQL")
    a, b = (card(n, SAME, quotes=(quote,), sources=(Source.from_quote(quote),)) for n in "ab")
    assert merged(a, b, NOW).confidence == a.confidence


def test_the_other_card_is_archived_with_a_link_to_the_one_that_stays() -> None:
    gone = archived(card("b", SAME), card("a", SAME), NOW)
    assert gone.status is Status.ARCHIVED
    assert [(link.to, link.rel) for link in gone.links] == [("card-a", LinkRel.SIMILAR_TO)]


def test_links_to_a_merged_card_are_moved_and_a_rejection_stays() -> None:
    links = (
        Link("card-b", LinkRel.SIMILAR_TO, 0.0, "rejected"),
        Link("card-a", LinkRel.SIMILAR_TO),
    )
    found = moved(card("x", "y", links=links), {"card-b": "card-a"}, NOW)
    assert found.links == (Link("card-a", LinkRel.SIMILAR_TO, 0.0, "rejected"),)
    same = card("x", "y", links=(Link("card-c"),))
    assert moved(same, {"card-b": "card-a"}, NOW) is same


def test_pairs_are_found_in_a_crowd_of_cards_that_share_their_words() -> None:
    crowd = [card(f"{n:03}", f"The port of service {n:03} is {8000 + n}") for n in range(BLOCK * 3)]
    crowd += [card("same", "The port of service 007 is 8007")]
    best = pairs(crowd, HOST, 0.95)[0]
    assert {best.first.id, best.second.id} == {"card-007", "card-same"}
    assert best.likeness == 1.0


def test_pairs_do_not_depend_on_the_order_of_the_cards() -> None:
    cards = [card(str(n), f"note {n % 7} about the same old thing") for n in range(20)]
    found = pairs(cards, HOST, 0.7)
    assert found == pairs(cards[::-1], HOST, 0.7)
    assert found == sorted(found, key=lambda p: (-p.likeness, p.first.id, p.second.id))


def test_nothing_is_alike_where_nothing_embeds() -> None:
    bare = Host(entry_points=False, disabled=["ngrams"])
    assert pairs([card("a", SAME), card("b", SAME)], bare, 0.7) == []
    assert pairs([], HOST, 0.7) == []
