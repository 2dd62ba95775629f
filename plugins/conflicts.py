"""How a new statement bears on a card, judged by rules.

Why it exists: the same thing said again must strengthen a card, more of it must refine
the card, a later choice must replace it, and what cannot both be true must wait for a
person, all without a model and in both languages. Compared are values: two statements
of one slot by the values they give it, others by their words in order.

=========  ===================================================================
agrees     the same value, in whatever words
refines    the later keeps every word of the earlier, or says less of the same
replaces   another value with a word of change, a correction, a choice, a date
conflicts  another value without any of these, or the opposite
unrelated  another slot, one more of many values, or nothing that rules can tell
=========  ===================================================================
"""

from __future__ import annotations

from kimi_memory import hookimpl
from kimi_memory.domain.draft import BY_WORDS, Draft, is_later
from kimi_memory.domain.job import Verdict
from kimi_memory.domain.note import Card, CardType, Origin
from kimi_memory.nlp.basic.patterns import fold_case, normalise, regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules import cues, subjects
from kimi_memory.nlp.rules.assertions import values_given
from kimi_memory.nlp.rules.changed_later import replaces
from kimi_memory.nlp.rules.clause_form import claim_words
from kimi_memory.nlp.rules.lasting import is_lasting
from kimi_memory.nlp.rules.salience import specific_words
from kimi_memory.nlp.rules.self_facts import self_of
from kimi_memory.nlp.rules.slot_type import PROJECT, Slot
from kimi_memory.nlp.rules.slots import holds_one, slot_of
from kimi_memory.nlp.rules.subjects import is_named, kin, subject_of
from kimi_memory.nlp.rules.values import (
    Relation,
    compare_claims,
    compare_values,
    repeats_value,
    same_told,
    tells_more,
)

_ROUGH = frozenset({"home", "job", "employer"})
"""Slots whose value people give more or less exactly."""
_LEAST = 3
"""So many words a claim without a slot has at least that another one refines."""
_CHOICE = regex(
    r"\blet(?:'s| us)\b|\bwe're going (?:with|to)\b"
    r"|\b(?:we|i)(?:'ll| will|'ve decided| have decided| decided| agreed| chose| picked)\b"
    r"|决定|敲定|选定|拍板|定了|就用|改用|那就"
)
"""What a person chooses anew takes the place of what was chosen before."""
_MOVED = regex(
    r"\b(?:went|gone|going) (?:up|down)\b"
    r"|\b(?:rose|risen|fell|fallen|grew|grown|shrank|doubled|halved)\b"
    r"|\b(?:increased|decreased|reduced|cut|pushed back|brought forward|delayed)\b"
    r"|\bi (?:just )?(?:got|turned|gave up)\b|\b(?:rewrote|rewritten|ported|took over|took up)\b"
    r"|重写|戒了|订婚了|结婚了|刚满"
    r"|(?:涨|降|升|跌|加|减|提|延|推|调[大高小低长短]?)(?:到|至|了|成|为)|[\u3400-\u9fff\d]起(?=[我我们项目，,])"
)
"""A figure or a date is said to have moved."""
_ALIKE = {
    Relation.SAME: Verdict.AGREES,
    Relation.FINER: Verdict.REFINES,
    Relation.COARSER: Verdict.REFINES,
}


@hookimpl(trylast=True)
def judge_conflict(card: Card, draft: Draft) -> Verdict:
    """Compare the values of a card and a draft, without a model."""
    old = slot_of(card.value, project=card.project)
    new = slot_of(draft.value, project=draft.project)
    if old and new and old.key == new.key:
        return _of_one_slot(old, new, card, draft)
    relation = compare_claims(card.value, draft.value)
    if relation is Relation.SAME or normalise(card.value) == normalise(draft.value):
        return Verdict.AGREES
    if old and new and not (old.name == new.name and _may_share(old.holder, new.holder)):
        return Verdict.UNRELATED
    verdict = _of_claims(relation, card, draft)
    # "The budget is 3,400 now" may mean that of the trip.
    unclear = not (old and new and old.which and new.which)
    told = verdict is Verdict.UNRELATED and unclear
    return Verdict.REPLACES if told and _takes_place(card, draft) else verdict


def _takes_place(card: Card, draft: Draft) -> bool:
    """Whether a person's later words change what a card says, without saying it again."""
    if draft.origin is not Origin.HUMAN or draft.weak or not BY_WORDS & set(draft.tags):
        return False
    if card.key != draft.key and is_named(card.key) and is_named(draft.key):
        return False  # The port of Larkspur says nothing of its owner.
    if CardType.RULE in {card.type, draft.type}:
        # A rule is changed by a rule: a remark on the same subject leaves it in force.
        if card.type is not draft.type:
            return False
    elif not BY_WORDS & set(card.tags):
        return False  # A card of a slot is changed in its slot.
    # A change of plan around an allergy leaves the allergy as it is.
    lasting = card.type is not CardType.RULE and is_lasting(card.value)
    return is_later(draft, card) and not lasting and replaces(card.value, draft.value)


def _may_share(one: str, other: str) -> bool:
    """Whether two holders may be one: a thing that is named, and the project it is."""
    return one == other or (PROJECT in {one, other} and "user" not in f"{one} {other}")


def _of_claims(relation: Relation, card: Card, draft: Draft) -> Verdict:
    """Return the verdict on claims that have no slot in common."""
    same_key = card.key in kin(draft.key)
    one = same_key and (holds_one(draft.key) or _names_subject(draft))
    # One word in common is the name of what both speak of: the car is there, the car was sold.
    told = same_key and len(claim_words(card.value)) > 1
    grown = relation in _ALIKE and (told or _is_sentence(card, draft))
    grown = grown and not _is_of_another(card, draft)
    if grown and not _is_change(draft):
        return _ALIKE[relation]
    if relation is Relation.OPPOSITE:
        # A word that both have tells of no change: the new parser, the old one.
        told = draft.reversal or not _tells_change(card.value)
        return _judge_difference(card, draft) if told else Verdict.CONFLICTS
    subjects = _subject_words(card, draft)
    if one and not draft.reversal:
        same = same_told(card.value, draft.value, subjects)
        if same or (
            not _is_change(draft)
            and (repeats_value(card.value, draft.value) or _gives_same_value(card, draft))
        ):
            return Verdict.AGREES
    if one and not draft.reversal and _tells_of_same_life(card, draft):
        return Verdict.UNRELATED
    differs = relation in (Relation.VALUE, Relation.SWAPPED) or draft.reversal
    return _judge_difference(card, draft) if one or (same_key and differs) else Verdict.UNRELATED


def _is_of_another(card: Card, draft: Draft) -> bool:
    """Whether a draft tells of a thing with a name that a card does not have."""
    name = draft.key.partition(".")[0]
    if not is_named(draft.key) or card.key == draft.key:
        return False
    return name not in {slug(card.project, 40), *map(slug, claim_words(card.value))}


def _gives_same_value(card: Card, draft: Draft) -> bool:
    """Whether both give what they are about the same value: Redis 作为缓存, 缓存确定为 Redis."""
    given = []
    for text in (card.value, draft.value):
        subject = subject_of(text)
        values = values_given(text, subject) if subject is not None else []
        given.append({" ".join(claim_words(value, whole=True)) for value in values} - {""})
    return bool(given[0] & given[1])


def _tells_of_same_life(card: Card, draft: Draft) -> bool:
    """Whether people say of themselves the same in passing: a clothing business, a clothing store.

    Neither denies the other, as another city would: both sentences name the same thing.
    """
    first, second = self_of(card.value), self_of(draft.value)
    if first is None or second is None or first.attribute != second.attribute:
        return False
    shared = specific_words(first.value) & specific_words(second.value)
    return any(not word[0].isdigit() for word in shared)


def _names_subject(draft: Draft) -> bool:
    subject = subject_of(draft.value)
    return subject is not None and subject.key == draft.key


def _subject_words(card: Card, draft: Draft) -> str:
    """Return the words that name the subject of both."""
    found = (subject_of(card.value), subject_of(draft.value))
    return " ".join(subject.words for subject in found if subject is not None)


def _of_one_slot(old: Slot, new: Slot, card: Card, draft: Draft) -> Verdict:
    relation = compare_values(old.comparable, new.comparable)
    if old.called and new.called and old.called != new.called:
        return Verdict.UNRELATED
    if old.denied != new.denied:
        # "I'm not allergic to nuts" says nothing of cats.
        return _judge_difference(card, draft) if relation in _ALIKE else Verdict.UNRELATED
    # "It was 8080, now it is 9090" holds every word of "it is 8080".
    if relation is Relation.SAME or (relation in _ALIKE and not draft.reversal):
        more = relation is Relation.SAME and tells_more(card.value, draft.value)
        return Verdict.REFINES if more else _ALIKE[relation]
    taken_back = bool(new.before) and compare_values(old.value, new.before) in _ALIKE
    # Near Harbour Street, in Harbour: a part and the whole of one place.
    near = new.name in _ROUGH and bool(specific_words(old.value) & specific_words(new.value))
    near = near and not _is_change(draft)
    beside = (new.many or old.denied or near) and not taken_back
    return Verdict.UNRELATED if beside else _judge_difference(card, draft)


def _judge_difference(card: Card, draft: Draft) -> Verdict:
    """Return whether what cannot stand beside a card takes its place or disputes it."""
    by_person = draft.origin is Origin.HUMAN or draft.origin.rank < card.trust.rank
    later = is_later(draft, card)
    # Another value alone overwrites nothing: people misspeak, and two projects share a name.
    # Without a word of change both values stand, marked, until a person decides.
    return Verdict.REPLACES if by_person and later and _is_change(draft) else Verdict.CONFLICTS


def _is_change(draft: Draft) -> bool:
    """Whether a draft says that something is otherwise now than it was."""
    slot = slot_of(draft.value, project=draft.project)
    return draft.reversal or _tells_change(draft.value) or bool(slot and slot.before)


def _tells_change(statement: str) -> bool:
    low = fold_case(statement)
    said = any(words.search(low) for words in (cues.REVERSAL, _CHOICE, _MOVED))
    return said or subjects.changes(statement)


def _is_sentence(card: Card, draft: Draft) -> bool:
    """Whether both have so many words that sharing them all is no accident."""
    return min(len(claim_words(card.value)), len(claim_words(draft.value))) >= _LEAST
