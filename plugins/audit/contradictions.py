"""Memos that repeat or contradict each other, found among many in near-linear time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Verdict
from kimi_memory.domain.note import Card, CardType, Lang
from kimi_memory.domain.prompt import Question
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.patterns import language_of, normalise, regex
from kimi_memory.nlp.rules.relations import overlapping, same_claim, similarity, words_of
from kimi_memory.nlp.rules.values import contradicts

from .checks import Check, Placed, Rot

# With fewer words in common, two statements are about different things.
_LEAST = 0.5
# Nearly word by word the same, so the little that differs is the point.
_NEAR = 0.85
# Two or three words are a title, and claim nothing.
_SHORTEST = 4
# A row that clashes with more is one of a list.
_MANY = 3
# What is claimed stands at the beginning; comparing takes the square of the length.
_LONGEST = 600
_DENIAL = regex(
    r"\b(?:not|never|no|don't|doesn't|won't|isn't|aren't|cannot|can't)\b|不|没|别|无|未"
)
_FIGURE = regex(r"\d+(?:[.:/-]\d+)*|[零一二三四五六七八九十两]")


class _Silent:
    """No line to a model: an audit of thousands of pairs is made by rules."""

    ready = False

    def __call__(self, question: Question) -> None:
        """Answer nothing."""

    def tell(self, note: str) -> None:
        """Keep no notes."""


def repeats(placed: Sequence[Placed]) -> Iterator[Rot]:
    """Find memos that say word for word what an earlier one says."""
    first: dict[str, Placed] = {}
    for one in placed:
        words = normalise(one.memo.text)
        if len(words) < _SHORTEST:
            continue
        other = first.setdefault(words, one)
        if other is not one:
            yield _build_rot(Check.DUPLICATE, one, other, "it repeats", "Keep one of them.")


def quarrels(placed: Sequence[Placed], host: Host) -> Iterator[Rot]:
    """Find near duplicates, and pairs that cannot both be true.

    Pairs are taken from memos of one key, and from those that share at least half of
    their words; the `judge_conflict` hook judges them, but for pairs that deny each other
    or are the same up to one word and its opposite. Without a common key only a
    figure, a day or a negation may differ: two people may well like different tea.
    """
    clashes: list[tuple[Placed, Placed]] = []
    for one, two in _yield_pairs(placed):
        old, new = sorted((one, two), key=lambda each: (each.at, each.place))
        card, draft = _build_card(old), _build_draft(new)
        if contradicts(_clipped_text(old), _clipped_text(new)):
            clashes.append((old, new))
            continue
        verdict = host.answer("judge_conflict", card=card, draft=draft, ask=_Silent())
        alike = similarity(_clipped_text(old), _clipped_text(new))
        if verdict in (Verdict.CONFLICTS, Verdict.REPLACES):
            if _same_subject(old, new):
                clashes.append((old, new))
        elif alike >= _NEAR or (
            verdict is Verdict.AGREES and same_claim(_clipped_text(old), _clipped_text(new))
        ):
            why = f"it says nearly the same ({alike:.2f}) as"
            yield _build_rot(Check.NEAR, new, old, why, "Merge them.")
    # Rows that differ in their number alone are a list, and no list contradicts itself.
    often = Counter(id(one) for pair in clashes for one in pair)
    for old, new in clashes:
        if max(often[id(old)], often[id(new)]) <= _MANY or _same_key(old, new):
            remedy = "Decide which holds, and archive the other."
            yield _build_rot(Check.CONTRADICTION, new, old, "it contradicts", remedy)


def _yield_pairs(placed: Sequence[Placed]) -> Iterator[tuple[Placed, Placed]]:
    seen: set[tuple[int, int]] = set()
    keyed: dict[tuple[str, str], list[Placed]] = defaultdict(list)
    for one in placed:
        if one.memo.key:
            keyed[one.memo.key, one.memo.project].append(one)
    for group in keyed.values():
        for one, two in pairwise(group):
            seen.add((id(one), id(two)))
            yield one, two
    for first, second in overlapping([_clipped_text(one) for one in placed], _LEAST):
        one, two = placed[first], placed[second]
        # Pairs of one key came first; judged twice, each would be counted twice.
        if (id(one), id(two)) not in seen:
            yield one, two


def _clipped_text(placed: Placed) -> str:
    return placed.memo.text[:_LONGEST]


def _same_key(one: Placed, two: Placed) -> bool:
    first, second = one.memo, two.memo
    return bool(first.key) and (first.key, first.project) == (second.key, second.project)


def _same_subject(one: Placed, two: Placed) -> bool:
    if _same_key(one, two):
        return True
    return _subject_words(one) == _subject_words(two)


def _subject_words(placed: Placed) -> frozenset[str]:
    """Return the words that are neither figures nor denials."""
    text = _DENIAL.sub(" ", _FIGURE.sub(" ", normalise(_clipped_text(placed))))
    # What is left of "doesn't" and "will not" once the denial is cut out.
    return words_of(text) - {"do", "does", "will", "is", "are", "can"}


def _build_rot(check: Check, one: Placed, other: Placed, why: str, remedy: str) -> Rot:
    file, line = one.file.path, one.memo.line
    return Rot(check, file, line, f"{why} {other.place}", remedy, other.place)


def _build_card(placed: Placed) -> Card:
    memo, at = placed.memo, placed.at
    kind = memo.type or CardType.FACT
    return Card(
        id=memo.id,
        created=at,
        updated=at,
        title=memo.title,
        type=kind,
        key=memo.key,
        value=_clipped_text(placed),
        verified=at,
        valid_from=at,
    )


def _build_draft(placed: Placed) -> Draft:
    memo = placed.memo
    return Draft(
        type=memo.type or CardType.FACT,
        key=memo.key,
        title=memo.title,
        value=_clipped_text(placed),
        quotes=(),
        at=placed.at,
        lang=Lang(language_of(memo.text)),
    )
