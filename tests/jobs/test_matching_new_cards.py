"""Cards made of drafts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import CardType, Lang, Link, LinkRel, Origin, Quote, Rel, Status
from kimi_memory.jobs.matching import card_id, disputed, new_card, rest_of, with_evidence

NOW = datetime(2026, 4, 1, 9, tzinfo=UTC)
DRAFT = Draft(
    type=CardType.FACT,
    key="note.kiln",
    title="The kiln",
    value="The kiln runs on gas",
    quotes=(Quote("s1", 3, "the kiln runs on gas"),),
    at=NOW - timedelta(days=2),
    lang=Lang.EN,
)


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, Status.ACTIVE),
        ({"weak": True}, Status.CANDIDATE),
        ({"origin": Origin.REMOTE}, Status.CANDIDATE),
        ({"origin": Origin.AGENT}, Status.ACTIVE),
        ({"origin": Origin.AGENT, "type": CardType.RULE}, Status.CANDIDATE),
    ],
)
def test_a_card_is_as_sure_as_its_draft(changed: dict[str, object], status: Status) -> None:
    draft = replace(DRAFT, **changed)  # type: ignore[arg-type]  # fields of a draft
    assert new_card(draft, NOW, None).status is status


def test_what_has_ended_is_history_at_once() -> None:
    card = new_card(DRAFT, NOW, NOW - timedelta(days=1))
    assert (card.status, card.valid_to) == (Status.SUPERSEDED, NOW - timedelta(days=1))


def test_the_same_words_make_the_same_id() -> None:
    assert new_card(DRAFT, NOW, None).id == card_id(replace(DRAFT, value="other words"))


def test_evidence_is_added_once() -> None:
    card = new_card(DRAFT, NOW, None)
    again = replace(DRAFT, at=NOW, quotes=(*DRAFT.quotes, Quote("s2", 1, "gas, as ever")))
    more = with_evidence(card, again, Rel.SUPPORTS, NOW)
    assert [quote.session for quote in more.quotes] == ["s1", "s2"]
    assert more.verified == NOW
    assert with_evidence(more, again, Rel.SUPPORTS, NOW).quotes == more.quotes


def test_a_disputed_card_names_what_speaks_against_it() -> None:
    card = new_card(DRAFT, NOW, None)
    quotes = (Quote("s2", 1, "it runs on wood"),)
    other = new_card(replace(DRAFT, key="note.wood", quotes=quotes), NOW, None)
    against = disputed(card, other, "one slot", NOW)
    assert against.status is Status.CONFLICTED
    assert [link.to for link in against.links] == [other.id]
    assert against.sources[-1].rel is Rel.CONTRADICTS


def test_the_rest_of_a_replaced_card_has_its_own_words_and_proof_and_nothing_else() -> None:
    said = "My uncle Bo built the kiln in Lund. Gas for it costs 1850 a month."
    draft = replace(DRAFT, value=said, quotes=(Quote("s1", 3, said),), lesson="mind the hose")
    card = replace(
        new_card(draft, NOW, None),
        supersedes=("card-old",),
        links=(Link("card-x", LinkRel.RELATES_TO, 1.0, ""),),
    )
    later = replace(DRAFT, value="gas went from 1850 to 2100 a month", at=NOW)
    rest = rest_of(card, later, NOW)
    assert rest is not None
    assert rest.value == rest.quotes[0].text == "My uncle Bo built the kiln in Lund."
    assert rest.sources[0].quote == rest.quotes[0].hash
    assert (rest.supersedes, rest.links, rest.caveats) == ((), (), "")
    assert rest.id != card.id
    assert rest_of(replace(card, status=Status.CONFLICTED), later, NOW) is None
    assert rest_of(new_card(DRAFT, NOW, None), later, NOW) is None
