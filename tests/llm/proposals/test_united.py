"""Rules and model together: added, said better, joined, refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from kimi_memory.domain.draft import Draft, Tie
from kimi_memory.domain.note import CardType, Lang, LinkRel, Quote
from kimi_memory.llm.proposals.proposal import Act, Proposal, read_proposal
from kimi_memory.llm.proposals.united import unite, with_ties

START = datetime(2026, 5, 2, 9, 0, tzinfo=UTC)


def draft(value: str, said: str = "", **more: object) -> Draft:
    made = Draft(
        type=CardType.FACT,
        key="user.roof",
        title=value[:20],
        value=value,
        quotes=(Quote("s1", 1, said or value),),
        at=START,
        lang=Lang.EN,
    )
    return replace(made, **more)  # type: ignore[arg-type]  # fields of a draft


def act(kind: Act, *targets: int) -> Proposal:
    return Proposal(act=kind, targets=targets, value="x", why="small talk")


RULE = draft("the roof is slate, laid in 1931")
BETTER = draft(
    "The user's roof is of slate and was laid in 1931.", "the roof is slate", title="Slate"
)
POORER = draft("The roof is slate.", "the roof is slate")
OTHER = draft("The cellar is dry.")
ORDER = draft("never call after nine", type=CardType.RULE, key="rule.call")


def test_what_says_all_of_it_takes_the_place_of_the_rules_words() -> None:
    (found,), told = unite([RULE], [(act(Act.ADD), BETTER)])
    assert (found.value, found.title, found.key) == (BETTER.value, "Slate", "user.roof")
    assert found.quotes == (*RULE.quotes, *BETTER.quotes)
    assert found.stated
    assert not told


def test_what_says_less_stands_beside_and_nothing_twice() -> None:
    found, _ = unite(
        [RULE], [(act(Act.ADD), POORER), (act(Act.ADD), POORER), (act(Act.ADD), OTHER)]
    )
    assert found == [RULE, POORER, OTHER]


def test_rules_are_rewritten_and_joined() -> None:
    (found,), _ = unite([RULE], [(act(Act.REWRITE, 1), BETTER)])
    assert found.value == BETTER.value
    (joined,), _ = unite([RULE, OTHER], [(act(Act.MERGE, 1, 2), BETTER)])
    assert joined.value == BETTER.value
    assert unite([RULE], [(act(Act.REWRITE, 7), BETTER)])[0] == [RULE]
    assert unite([RULE, ORDER], [(act(Act.MERGE, 1, 2), BETTER)])[0][1] == ORDER


def test_a_veto_refuses_what_code_doubts_and_makes_candidates_of_the_rest() -> None:
    found, told = unite([RULE, OTHER], [(act(Act.VETO, 2), None)], {2})
    assert found == [RULE]
    assert told == ["user.roof: left out, as the model says: small talk"]
    found, told = unite([RULE, ORDER], [(act(Act.VETO, 2), None)])
    assert found == [RULE, replace(ORDER, weak=True)]
    assert "made a candidate" in told[0]
    gone = replace(ORDER, gone=True)
    assert unite([gone], [(act(Act.VETO, 1), None)]) == ([gone], [])


def test_a_model_that_refuses_most_is_not_believed() -> None:
    rules = [RULE, OTHER, ORDER]
    found, told = unite(rules, [(act(Act.VETO, 1, 2), None), (act(Act.VETO, 3), None)])
    assert found == rules
    assert told == ["the model would refuse most of what rules found: it is not believed"]


def model_draft(value: str) -> Draft:
    return Draft(
        type=CardType.FACT, key="k", title=value, value=value, quotes=(Quote("s", 1, value),),
        at=datetime(2026, 2, 27, tzinfo=UTC), lang=Lang.EN,
    )  # fmt: skip


def link(source: object, to: object, rel: str = "DEPENDS_ON", **more: str) -> Proposal:
    found = read_proposal({"op": "LINK", "from": source, "to": to, "rel": rel, **more})
    assert isinstance(found, Proposal)
    return found


def add(key: str, value: str) -> tuple[Proposal, Draft]:
    return Proposal(
        act=Act.ADD, type="fact", key=key, title=f"About {key}", value=value
    ), model_draft(value)


TEA, POT = "Tea is brewed at noon.", "The pot stands on the stove."


def test_ends_are_named_by_key_title_or_number() -> None:
    rule, (asked, made) = model_draft(POT), add("fact.tea", TEA)
    for source in ("fact.tea", "About fact.tea", "FACT.TEA"):
        passed = [(asked, made), (link(source, "[1]", why="noon"), None)]
        found, told = with_ties([rule, made], [rule], passed, lambda _: True)
        assert [one.ties for one in found] == [(), (Tie(LinkRel.DEPENDS_ON, POT, "noon"),)]
        assert told == []


def test_what_rules_found_is_linked_as_it_was_said_better() -> None:
    old, better = model_draft("It's on the stove."), model_draft(POT)
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
    rule, (asked, made) = model_draft(POT), add("fact.tea", TEA)
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
