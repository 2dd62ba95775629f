"""Fields of notes, merged."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta

import pytest
from hypothesis import given

from kimi_memory.domain.note import (
    Card,
    CardType,
    Link,
    LinkRel,
    Note,
    Origin,
    Quote,
    Rel,
    Source,
    Status,
)
from kimi_memory.domain.pages import Project, Todo
from kimi_memory.merge.notes import keep_edit, merge_notes
from kimi_memory.merge.statements import variant_id
from tests.formats.strategies import examples
from tests.merge.sides import forks
from tests.merge.values import NOW, card, said

LATEST = ("updated", "verified")
LATER = NOW + timedelta(days=1)


def both(base: Note, ours: Note, theirs: Note) -> Note:
    merged = merge_notes(base, ours, theirs)
    assert merged == merge_notes(base, theirs, ours)
    return merged.note


@given(forks())
@examples(100)
def test_a_merge_is_the_same_from_either_side(notes: tuple[Note, ...]) -> None:
    base, ours, theirs = notes
    assert merge_notes(base, ours, theirs) == merge_notes(base, theirs, ours)
    assert merge_notes(None, ours, theirs) == merge_notes(None, theirs, ours)


@given(forks("card", "event", "agent", "proposal"))
@examples(100)
def test_one_side_alone_is_taken_as_it_is(notes: tuple[Note, ...]) -> None:
    base, ours, _ = notes
    for merged in (merge_notes(base, ours, base), merge_notes(base, ours, ours)):
        assert merged.variants == ()
        stamps = {name: getattr(ours, name) for name in LATEST if hasattr(ours, name)}
        assert_alike(replace(merged.note, **stamps), ours)


@given(forks("card", "event", copies=3))
@examples(100)
def test_the_order_of_merges_does_not_matter(notes: tuple[Note, ...]) -> None:
    base, a, b, c = notes
    first, second = merge_notes(base, a, b), merge_notes(base, b, c)
    left, right = merge_notes(base, first.note, c), merge_notes(base, a, second.note)
    assert_alike(left.note, right.note)
    made = [
        {one.id for one in (*x.variants, *y.variants)} for x, y in ((first, left), (second, right))
    ]
    # A version that lost to what says the same in the end goes with the files, see test_trees.
    now = variant_id(left.note, base.created)
    assert made[0] - {now} == made[1] - {now}


def assert_alike(one: Note, other: Note) -> None:
    """Hold two notes against each other, up to the order of lists."""
    for name in (field.name for field in fields(one)):
        left, right = getattr(one, name), getattr(other, name)
        if isinstance(left, tuple):
            left, right = {str(item) for item in left}, {str(item) for item in right}
        assert left == right, name


@given(forks("card", "event"))
@examples(100)
def test_no_statement_and_no_evidence_is_lost(notes: tuple[Note, ...]) -> None:
    base, ours, theirs = notes
    merged = merge_notes(base, ours, theirs)
    held = [note.body_texts for note in (merged.note, *merged.variants)]  # type: ignore[attr-defined]  # cards and events have it
    for side in (ours, theirs):
        if side.body_texts != base.body_texts:  # type: ignore[attr-defined]  # the same
            assert side.body_texts in held  # type: ignore[attr-defined]  # the same
        new = {source.place for source in side.sources} - {one.place for one in base.sources}
        assert new <= {source.place for source in merged.note.sources}
    if Status.ARCHIVED in {ours.status, theirs.status} - {base.status}:
        assert merged.note.status is Status.ARCHIVED


def test_evidence_of_both_sides_is_kept_and_a_contradiction_stays_one() -> None:
    base = card(sources=(said("s1", 1),))
    ours = replace(base, sources=(*base.sources, said("s2", 1)))
    theirs = replace(base, sources=(Source("s1", 1, 1, Rel.CONTRADICTS), said("s3", 2)))
    assert {str(source) for source in both(base, ours, theirs).sources} == {
        "session:s1#1 contradicts",
        "session:s2#1 supports",
        "session:s3#2 supports",
    }


def test_a_quote_goes_with_its_source_where_the_other_side_weighs_it_otherwise() -> None:
    base = card(sources=(said("s1", 1), said("s2", 1)), quotes=(Quote("s1", 1, "tea"),))
    # Settling a merge gave the evidence to a variant of the card.
    ours = replace(base, sources=(said("s2", 1),), quotes=())
    theirs = replace(base, sources=(Source("s1", 1, 1, Rel.CONTRADICTS), said("s2", 1)))
    kept = both(base, ours, theirs)
    assert isinstance(kept, Card)
    assert (kept.sources, kept.quotes) == ((said("s2", 1),), ())


def test_two_values_leave_one_card_and_a_variant_that_holds_the_words_alone() -> None:
    base = card(value="8080", sources=(said("s1", 1),), tags=("port",))
    ours = replace(base, value="8443", sources=(*base.sources, said("s2", 1)), updated=LATER)
    theirs = replace(base, value="9999", confidence=0.9)
    merged = merge_notes(base, ours, theirs)
    assert isinstance(merged.note, Card)
    [variant] = merged.variants
    assert isinstance(variant, Card)
    assert {merged.note.value, variant.value} == {"8443", "9999"}
    assert [source.session for source in merged.note.sources] == ["s1", "s2"]
    assert (merged.note.confidence, merged.note.updated) == (0.9, LATER)
    assert (variant.status, variant.sources, variant.tags) == (Status.CANDIDATE, (), ())
    assert variant.key == base.key
    assert [(link.to, link.rel) for link in variant.links] == [(base.id, LinkRel.CONTRADICTS)]


def test_other_words_win_over_another_date_of_the_same_words() -> None:
    base = card(value="8080", valid_from=NOW)
    ours, theirs = replace(base, valid_from=LATER), replace(base, value="9999")
    assert both(base, ours, theirs) == theirs
    assert merge_notes(base, ours, theirs).variants == ()


def test_a_persons_word_stays_before_a_jobs() -> None:
    base = card(value="8080", trust=Origin.AGENT)
    ours = replace(base, value="1", trust=Origin.HUMAN)
    theirs = replace(base, value="2", valid_from=LATER)
    kept = both(base, ours, theirs)
    assert isinstance(kept, Card)
    assert kept.value == "1"


def test_what_was_washed_on_one_side_does_not_come_back_as_a_variant() -> None:
    base = card(value="Abernathy is her dentist")
    ours = replace(base, value="⟦purged⟧ is her dentist")
    theirs = replace(base, value="Dr Abernathy is her dentist")
    merged = merge_notes(base, ours, theirs)
    assert (merged.note, merged.variants) == (ours, ())


def test_a_rejected_link_stays_rejected_and_of_two_weights_the_heavier_stays() -> None:
    link = Link("card-2", LinkRel.RELATES_TO, 0.5)
    other = Link("card-3", LinkRel.RELATES_TO, 0.5)
    base = card(links=(link, other))
    ours = replace(base, links=(replace(link, weight=0.0), replace(other, weight=0.6)))
    theirs = replace(base, links=(replace(link, weight=0.9), replace(other, weight=0.7)))
    kept = both(base, ours, theirs)
    assert isinstance(kept, Card)
    assert [link.weight for link in kept.links] == [0.0, 0.7]


@pytest.mark.parametrize(
    ("one", "other", "stays"),
    [("active", "archived", "archived"), ("stale", "conflicted", "conflicted")],
)
def test_the_later_status_stays(one: str, other: str, stays: str) -> None:
    base = card(status=Status.CANDIDATE)
    ours, theirs = (replace(base, status=Status(status)) for status in (one, other))
    assert both(base, ours, theirs).status == stays


def test_the_earlier_end_stays() -> None:
    base = card()
    ours, theirs = replace(base, expires=LATER), replace(base, expires=NOW)
    kept = both(base, ours, theirs)
    assert isinstance(kept, Card)
    assert kept.expires == NOW


def test_lists_of_a_page_are_joined_and_a_ticked_to_do_is_ticked() -> None:
    base = Project(
        id="p", created=NOW, updated=NOW, name="Athena", goal="Ship it",
        todos=(Todo("write"), Todo("test")), risks=("time",),
    )  # fmt: skip
    ours = replace(base, todos=(Todo("write", done=True), Todo("test")), risks=("time", "money"))
    theirs = replace(base, todos=(Todo("write"), Todo("test"), Todo("sign")), goal="Ship it soon")
    assert both(base, ours, theirs) == replace(
        base,
        todos=(Todo("write", done=True), Todo("test"), Todo("sign")),
        risks=("time", "money"),
        goal="Ship it soon",
    )
    clash = both(base, replace(base, goal="One"), replace(base, goal="Two"))
    assert isinstance(clash, Project)
    assert clash.goal == "One\nTwo"


def test_a_deleted_note_stays_only_by_what_was_said_or_proven_since() -> None:
    base = card(sources=(said("s1", 1),), quotes=(Quote("s1", 1, "tea"),))
    assert keep_edit(base, replace(base, temperature=0.2)) is None
    more = replace(base, sources=(*base.sources, said("s2", 4)))
    assert keep_edit(base, more) == replace(base, sources=(said("s2", 4),), quotes=())
    words = replace(base, value="coffee", type=CardType.FACT)
    assert keep_edit(base, words) == replace(words, sources=(), quotes=())
