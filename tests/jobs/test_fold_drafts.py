"""Folding drafts: never a duplicate, never without proof, the newest word wins."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from kimi_memory import Memory
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import Card, CardType, EventType, Lang, LinkRel, Origin, Quote, Status
from kimi_memory.domain.pages import Event
from kimi_memory.jobs.fold_drafts import Fold
from kimi_memory.jobs.gates import DraftGate
from kimi_memory.store.notes.notes import Shelf, read_tombstones
from tests.jobs.notes import card, put

SAID: dict[tuple[str, int], str] = {}


def at(day: int) -> datetime:
    return datetime(2026, 2, day, 9, tzinfo=UTC)


def draft(
    text: str, *, day: int = 1, session: str = "s", key: str = "decision.database", **more
) -> Draft:
    n = len(SAID) + 1
    SAID[session, n] = text
    values = {
        "type": CardType.DECISION,
        "key": key,
        "title": text[:40],
        "value": text,
        "quotes": (Quote(session, n, text),),
        "at": at(day),
        "lang": Lang.EN,
    }
    return Draft(**{**values, **more})


def turn_text(quote: Quote) -> str | None:
    return SAID.get((quote.session, quote.n))


def fold(memory: Memory, *drafts: Draft) -> list[Step]:
    gate = DraftGate(read_tombstones(memory.store), lambda text: bool(memory.screen.spans(text)))
    folding = Fold(Shelf(memory.store), memory.host, gate, at(20), UTC)
    for one in drafts:
        folding.add(one, turn_text)
    return folding.result().steps


def left_out(memory: Memory, one: Draft) -> list[str]:
    gate = DraftGate(read_tombstones(memory.store), lambda text: bool(memory.screen.spans(text)))
    folding = Fold(Shelf(memory.store), memory.host, gate, at(20), UTC)
    folding.add(one, turn_text)
    assert folding.result().steps == []
    return folding.result().left_out


def cards(steps: list[Step]) -> list[Card]:
    return [step.note for step in steps if isinstance(step.note, Card)]


def test_new_knowledge_becomes_an_active_card_with_its_quote(memory: Memory) -> None:
    [step] = fold(memory, draft("We use SQLite as the database."))
    [card] = cards([step])
    assert step.op is Op.ADD
    assert card.status is Status.ACTIVE
    assert card.quotes[0].hash == card.sources[0].quote
    assert card.valid_from == at(1)


def test_a_quote_that_nobody_said_is_not_proof(memory: Memory) -> None:
    one = draft("We use SQLite.")
    forged = Draft(
        **{
            **{f: getattr(one, f) for f in one.__slots__},
            "quotes": (Quote("s", one.quotes[0].n, "We use Oracle."),),
        }
    )
    assert left_out(memory, forged) == ["decision.database: no quote stands in a stored turn"]


def test_a_secret_in_a_draft_is_held_back(memory: Memory) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    found = left_out(memory, draft(f"Use the key {key} for the bucket."))
    assert found == ["decision.database: it holds a secret"]


def test_saying_the_same_again_raises_confidence_once_per_turn(memory: Memory) -> None:
    first = draft("We use SQLite as the database.", day=1)
    again = draft("We use SQLite as the database!", day=5, session="t")
    steps = fold(memory, first, again)
    [card] = cards(steps)
    assert card.confidence == pytest.approx(1 - (1 - 0.6) * 0.7)
    assert card.verified == at(5)
    assert len(card.sources) >= 1
    assert cards(fold(memory, first, again, again))[0].confidence == card.confidence


def test_the_same_draft_twice_is_nothing_new(memory: Memory) -> None:
    one = draft("We use SQLite as the database.")
    assert fold(memory, one, one) == fold(memory, one)


def test_a_reversal_supersedes_and_keeps_the_old_value(memory: Memory) -> None:
    old = draft("We use MongoDB as the database.", day=1)
    new = draft("We switch from MongoDB to SQLite.", day=3, reversal=True)
    by_status = {card.status: card for card in cards(fold(memory, old, new))}
    assert by_status[Status.SUPERSEDED].valid_to == at(3)
    assert by_status[Status.ACTIVE].supersedes == (by_status[Status.SUPERSEDED].id,)
    assert "SQLite" in by_status[Status.ACTIVE].value


def test_an_older_transcript_that_comes_late_does_not_win(memory: Memory) -> None:
    new = draft("We switch from MongoDB to SQLite.", day=3, reversal=True)
    old = draft("We switch to MongoDB as the database.", day=1, reversal=True)
    live = [card for card in cards(fold(memory, new, old)) if card.status is Status.ACTIVE]
    assert [card.valid_from for card in live] == [at(3)]


def test_contradiction_marks_both_and_keeps_both(memory: Memory) -> None:
    one = draft("Backups run 3 times a day.", day=1, key="fact.backup", type=CardType.FACT)
    two = draft("Backups run 7 times a day.", day=1, key="fact.backup", type=CardType.FACT)
    found = cards(fold(memory, one, two))
    assert {card.status for card in found} == {Status.CONFLICTED}
    assert {link.rel for card in found for link in card.links} == {LinkRel.CONTRADICTS}
    assert len(found) == 2


def test_remote_words_stay_candidates_and_cannot_change_a_persons_card(memory: Memory) -> None:
    remote = draft("We use Oracle as the database.", origin=Origin.REMOTE)
    assert cards(fold(memory, remote))[0].status is Status.CANDIDATE
    human = draft("We use SQLite as the database.", day=1)
    poison = draft("We switch from SQLite to Oracle.", day=4, reversal=True, origin=Origin.REMOTE)
    assert [c.value for c in cards(fold(memory, human, poison))] == [human.value]


def test_an_event_is_made_beside_the_card(memory: Memory) -> None:
    one = draft("We use SQLite.", event=EventType.DECISION, reason="one file is easy to copy")
    events = [step.note for step in fold(memory, one) if isinstance(step.note, Event)]
    assert [event.type for event in events] == [EventType.DECISION]
    assert "Reason: one file is easy to copy" in events[0].content


def test_chinese_reasons_read_as_chinese(memory: Memory) -> None:
    one = draft("数据库用 SQLite。", lang=Lang.ZH, reason="一个文件好备份")
    assert cards(fold(memory, one))[0].value == "数据库用 SQLite。（原因：一个文件好备份）"


def test_the_same_quote_under_another_key_is_the_same_knowledge(memory: Memory) -> None:
    one = draft("We never deploy on Friday.", key="rule.deploy")
    other = Draft(**{**{f: getattr(one, f) for f in one.__slots__}, "key": "rule.friday"})
    assert len(cards(fold(memory, one, other))) == 1


def test_projects_keep_their_own_values_under_one_key(memory: Memory) -> None:
    one = draft("We use SQLite as the database.", project="a")
    other = draft("We use Postgres as the database.", project="b")
    assert {c.status for c in cards(fold(memory, one, other))} == {Status.ACTIVE}


def test_words_read_twice_neither_replace_nor_revive_their_own_card(memory: Memory) -> None:
    one = draft("We use SQLite as the database.", day=1)
    new = draft("We switched to PostgreSQL as the database.", day=3, reversal=True)
    again = replace(one, quotes=(Quote("s", one.quotes[0].n, "We use SQLite"),), at=at(4))
    once = cards(fold(memory, one, new))
    assert cards(fold(memory, one, new, again)) == once
    retold = replace(new, value="We switched to MySQL.", quotes=(*new.quotes, *one.quotes))
    [kept] = [c for c in cards(fold(memory, one, new, retold)) if c.status is Status.ACTIVE]
    assert kept.supersedes == (once[0].id,)


@pytest.mark.parametrize(
    ("text", "zone", "end"),
    [
        ("The freeze holds until 25 November.", "Asia/Shanghai", "2026-11-25T16:00"),
        ("封版到 11 月 25 日为止。", "Asia/Kolkata", "2026-11-25T18:30"),
        ("The freeze holds until 5 April.", "Europe/Berlin", "2027-04-05T22:00"),
        ("The freeze holds until 25 November.", "UTC", "2026-11-26T00:00"),
    ],
)
def test_days_people_name_are_those_of_their_zone(
    memory: Memory, text: str, zone: str, end: str
) -> None:
    gate = DraftGate(read_tombstones(memory.store), lambda _: False)
    night = datetime(2026, 11, 22, 18, 36, tzinfo=UTC)
    folding = Fold(Shelf(memory.store), memory.host, gate, night, ZoneInfo(zone))
    folding.add(draft(text, at=night), turn_text)
    [step] = folding.result().steps
    assert isinstance(step.note, Card)
    assert step.note.valid_to == datetime.fromisoformat(f"{end}:00+00:00")
    assert step.note.valid_from == night


def test_what_was_kept_at_once_of_a_note_becomes_one_card_with_its_context(
    memory: Memory,
) -> None:
    told = "We sat at the mill. He worries about the house. We look at 2 flats on Friday."
    whole = draft(told, type=CardType.FACT)
    (quote,) = whole.quotes
    parts = [
        replace(whole, value=text, key=key, quotes=(replace(quote, text=text),))
        for text, key in (
            ("He worries about the house.", "fact.house"),
            ("We look at 2 flats on Friday.", "fact.flats"),
        )
    ]
    folding = Fold(Shelf(memory.store), memory.host, DraftGate((), lambda text: False), at(20), UTC)
    for one in [*parts, whole]:
        folding.add(one, turn_text)
    kept = cards(folding.result().steps)
    assert [card.value for card in kept if card.status is Status.ACTIVE] == [told]
    assert all([s.quote for s in card.sources] == [q.hash for q in card.quotes] for card in kept)
    assert sum(card.status is Status.SUPERSEDED for card in kept) == 1


def test_a_longer_quote_of_another_turn_is_more_detail(memory: Memory) -> None:
    short, long = draft("We look at 2 flats."), draft("Ann says: We look at 2 flats. In Graz.")
    steps = fold(memory, short, replace(long, key="fact.ann"))
    assert not [step for step in steps if "around it" in step.why]


def test_decisions_of_one_moment_follow_each_other(memory: Memory) -> None:
    said = [draft(f"We decided to use Engine{n} as the database.") for n in range(60)]
    found = cards(fold(memory, *said))
    # With a clock that stands still each of them would dispute all those before it.
    assert [one.value for one in found if one.status is Status.ACTIVE] == [said[-1].value]
    assert {one.status for one in found} == {Status.ACTIVE, Status.SUPERSEDED}


def found_by(memory: Memory, *drafts: Draft) -> tuple[list[Card], list[str]]:
    """Fold drafts; return the cards and why each of the rest was left out."""
    folding = Fold(Shelf(memory.store), memory.host, DraftGate((), lambda text: False), at(20), UTC)
    for one in drafts:
        folding.add(one, turn_text)
    folded = folding.result()
    return cards(folded.steps), folded.left_out


def test_agreement_adds_less_each_time_and_never_makes_certain(memory: Memory) -> None:
    said = [draft("We use SQLite as the database.", day=1 + n, session=f"s{n}") for n in range(4)]
    [card] = cards(fold(memory, *said))
    assert card.confidence == 0.863
    sure = [replace(one, confidence=0.99) for one in said]
    assert cards(fold(memory, *sure))[0].confidence == 0.99


def test_what_a_person_takes_back_is_archived_with_its_day(memory: Memory) -> None:
    kept = draft("We use SQLite as the database.", day=1)
    back = draft("We no longer use SQLite.", day=4, gone=True)
    folding = Fold(Shelf(memory.store), memory.host, DraftGate((), lambda _: False), at(20), UTC)
    for one in (kept, back):
        folding.add(one, turn_text)
    folded = folding.result()
    [card] = cards(folded.steps)
    assert (card.status, card.valid_to, card.updated) == (Status.ARCHIVED, at(4), at(20))
    assert folded.gone == (card,) and not folded.left_out


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"origin": Origin.AGENT}, "only a person's own words take something back"),
        ({"quotes": ()}, "only a person's own words take something back"),
        ({"key": "decision.editor"}, "nothing is known of what it takes back"),
        ({"day": 1}, "nothing is known of what it takes back"),
    ],
)
def test_nothing_is_taken_back_without_a_persons_later_word_on_it(
    memory: Memory, more: dict[str, object], why: str
) -> None:
    kept = draft("We use SQLite as the database.", day=2)
    back = draft("We no longer use SQLite.", **{"day": 4, "gone": True, **more})
    found, left_out = found_by(memory, kept, back)
    assert [card.status for card in found] == [Status.ACTIVE]
    assert left_out == [f"{back.key}: {why}"]


def task(text: str, key: str, *, day: int = 1, **more: object) -> Draft:
    return draft(text, day=day, key=key, type=CardType.TASK_STATE, **more)


def test_a_task_that_is_done_ends_with_the_facts_that_say_it_is_open(memory: Memory) -> None:
    open_ = task("renew the passport", "task.passport")
    says = draft("Ann has to renew the passport.", key="fact.ann", type=CardType.FACT)
    other = draft("Ann has a passport.", key="fact.passport", type=CardType.FACT)
    done = task("renew the passport", "task.passport", day=4, done=True)
    found, left_out = found_by(memory, open_, says, other, done)
    assert not left_out
    assert {card.key: (card.status, card.valid_to) for card in found} == {
        "task.passport": (Status.SUPERSEDED, at(4)),
        "fact.ann": (Status.SUPERSEDED, at(4)),
        "fact.passport": (Status.ACTIVE, None),
    }


@pytest.mark.parametrize(
    ("said", "more", "count"),
    [
        ("renew", {}, 2),
        ("water the garden", {}, 0),
        ("renew the passport", {"project": "house"}, 0),
        ("renew the passport", {"day": 1}, 0),
    ],
)
def test_no_task_ends_unless_exactly_one_is_meant(
    memory: Memory, said: str, more: dict[str, object], count: int
) -> None:
    tasks = [task(f"renew the {name}", f"task.{name}", day=2) for name in ("passport", "lease")]
    done = task(said, "task.x", **{"day": 4, "done": True, **more})
    found, left_out = found_by(memory, *tasks, done)
    assert {card.status for card in found} == {Status.ACTIVE}
    assert left_out == [f"task.x: {count} open tasks are called that"]


def test_weak_words_make_no_event_and_change_no_active_card(memory: Memory) -> None:
    sure = draft("We use MongoDB as the database.", day=1)
    weak = draft(
        "We switch from MongoDB to SQLite.",
        day=3, reversal=True, weak=True, event=EventType.DECISION,
    )  # fmt: skip
    folding = Fold(Shelf(memory.store), memory.host, DraftGate((), lambda _: False), at(20), UTC)
    for one in (sure, weak):
        folding.add(one, turn_text)
    folded = folding.result()
    [step] = folded.steps
    assert isinstance(step.note, Card) and step.note.value == sure.value
    [why] = folded.left_out
    assert why.startswith("decision.database: not said plainly enough")


def rule(text: str, session: str, **more: object) -> Draft:
    return draft(text, session=session, key="rule.deploy", type=CardType.RULE, **more)


@pytest.mark.parametrize(
    ("again", "status", "trust"),
    [
        ({}, Status.ACTIVE, Origin.HUMAN),
        ({"weak": True}, Status.CANDIDATE, Origin.AGENT),
        ({"origin": Origin.AGENT}, Status.CANDIDATE, Origin.AGENT),
    ],
)
def test_only_a_persons_plain_word_confirms_a_rule_that_an_agent_made(
    memory: Memory, again: dict[str, object], status: Status, trust: Origin
) -> None:
    made = rule("We never deploy on Friday.", "s", origin=Origin.AGENT)
    said = rule("We never deploy on Friday!", "t", day=5, **again)
    [card] = cards(fold(memory, made, said))
    assert (card.status, card.trust) == (status, trust)
    assert card.value == (said.value if status is Status.ACTIVE else made.value)


def test_one_more_of_many_values_has_a_key_of_its_own(memory: Memory) -> None:
    one, two = (
        draft(
            f"I am allergic to {what}.", day=day, key="user.allergy", type=CardType.FACT, title=what
        )
        for day, what in ((1, "nuts"), (2, "cats"))
    )
    found = cards(fold(memory, one, two))
    assert [card.key for card in found] == ["user.allergy", "user.allergy.cats"]
    assert {card.status for card in found} == {Status.ACTIVE}


def test_what_was_so_before_is_kept_once_as_the_past_of_a_change(memory: Memory) -> None:
    new = draft("We use SQLite as the database.", day=3)
    old = draft("We used MongoDB as the database.", day=3)
    folding = Fold(Shelf(memory.store), memory.host, DraftGate((), lambda _: False), at(20), UTC)
    folding.add(new, turn_text)
    for _ in range(2):
        folding.add_past(old, new)
    by_status = {card.status: card for card in cards(folding.result().steps)}
    assert by_status[Status.SUPERSEDED].value == old.value
    assert by_status[Status.SUPERSEDED].valid_to == at(3)
    assert by_status[Status.ACTIVE].supersedes == (by_status[Status.SUPERSEDED].id,)
    # A draft that became no card has no past.
    alone = Fold(Shelf(memory.store), memory.host, DraftGate((), lambda _: False), at(20), UTC)
    alone.add_past(old, new)
    assert not alone.result().steps


def test_words_under_another_key_do_not_revive_what_replaced_them(memory: Memory) -> None:
    one = draft("We use SQLite as the database.", day=1)
    new = draft("We switched to PostgreSQL as the database.", day=3, reversal=True)
    other = draft("We keep SQLite on the laptop.", day=4, key="decision.storage")
    again = replace(one, key="decision.storage", at=at(4))
    assert cards(fold(memory, one, new, again)) == cards(fold(memory, one, new))
    # Other words of the same turn are another statement.
    fresh = replace(again, value=other.value, title=other.title)
    assert other.value in [card.value for card in cards(fold(memory, one, new, fresh))]


def test_a_key_that_is_taken_in_the_same_scope_takes_no_other_matter(memory: Memory) -> None:
    nuts = card("nuts", "I am allergic to nuts.", key="user.allergy")
    cats = card("cats", "I am allergic to cats.", key="user.allergy.pets")
    put(memory, nuts, cats)
    said = draft("I am allergic to bees.", key="user.allergy", type=CardType.FACT, title="pets")
    assert fold(memory, said) == []
    own = replace(said, scope="user:ida")
    assert [one.scope for one in cards(fold(memory, own))] == ["user:ida"]
