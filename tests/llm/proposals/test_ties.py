"""Links that a model states: between what was kept, and with no reason of its own making."""

from __future__ import annotations

from datetime import UTC, datetime

from kimi_memory.domain.draft import Draft, Tie
from kimi_memory.domain.note import CardType, Lang, LinkRel, Quote
from kimi_memory.llm.proposals.proposal import Act, Proposal, read_proposal
from kimi_memory.llm.proposals.ties import with_ties


def draft(value: str) -> Draft:
    return Draft(
        type=CardType.FACT, key="k", title=value, value=value, quotes=(Quote("s", 1, value),),
        at=datetime(2026, 2, 27, tzinfo=UTC), lang=Lang.EN,
    )  # fmt: skip


def link(source: object, to: object, rel: str = "DEPENDS_ON", **more: str) -> Proposal:
    found = read_proposal({"op": "LINK", "from": source, "to": to, "rel": rel, **more})
    assert isinstance(found, Proposal)
    return found


def add(key: str, value: str) -> tuple[Proposal, Draft]:
    return Proposal(act=Act.ADD, type="fact", key=key, title=f"About {key}", value=value), draft(
        value
    )


TEA, POT = "Tea is brewed at noon.", "The pot stands on the stove."


def test_ends_are_named_by_key_title_or_number() -> None:
    rule, (asked, made) = draft(POT), add("fact.tea", TEA)
    for source in ("fact.tea", "About fact.tea", "FACT.TEA"):
        passed = [(asked, made), (link(source, "[1]", why="noon"), None)]
        found, told = with_ties([rule, made], [rule], passed, lambda _: True)
        assert [one.ties for one in found] == [(), (Tie(LinkRel.DEPENDS_ON, POT, "noon"),)]
        assert told == []


def test_what_rules_found_is_linked_as_it_was_said_better() -> None:
    old, better = draft("It's on the stove."), draft(POT)
    rewrite = Proposal(act=Act.REWRITE, value=POT, targets=(1,))
    asked, made = add("fact.tea", TEA)
    passed = [(rewrite, better), (asked, made), (link("fact.tea", 1), None)]
    found, told = with_ties([better, made], [old], passed, lambda _: True)
    assert found[1].ties == (Tie(LinkRel.DEPENDS_ON, POT),)
    assert told == []


def test_a_link_to_what_was_not_kept_or_to_itself_is_refused() -> None:
    asked, made = add("fact.tea", TEA)
    for to in ("fact.tea", "fact.nobody", "7"):
        found, told = with_ties([made], [], [(asked, made), (link("fact.tea", to), None)], bool)
        assert found[0].ties == ()
        assert "not kept" in told[0]


def test_a_reason_that_nobody_gave_is_left_out() -> None:
    rule, (asked, made) = draft(POT), add("fact.tea", TEA)
    passed = [(asked, made), (link("fact.tea", "1", why="the moon"), None)]
    found, _ = with_ties([rule, made], [rule], passed, lambda why: why != "the moon")
    assert found[1].ties == (Tie(LinkRel.DEPENDS_ON, POT),)


def test_a_relation_is_one_of_ours_and_has_two_ends() -> None:
    for item in (
        {"op": "LINK", "from": "a", "to": "b", "rel": "LIKES"},
        {"op": "LINK", "from": "a", "to": "b", "rel": "EXTRACTED_FROM"},
        {"op": "LINK", "from": "a", "rel": "DEPENDS_ON"},
    ):
        assert isinstance(read_proposal(item), str)
    assert link("a", "b", "caused_by").rel is LinkRel.CAUSED_BY
