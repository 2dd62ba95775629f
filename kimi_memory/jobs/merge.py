"""Near duplicates among cards: found without comparing all with all, and merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.engine import Embedding
from kimi_memory.domain.job import Verdict
from kimi_memory.domain.note import Card, Link, LinkRel, Status
from kimi_memory.hooks.host import Host
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import HAN, normalise, regex, simplify
from kimi_memory.nlp.rules.relations import same_claim
from kimi_memory.nlp.rules.rewording import reworded
from kimi_memory.store.notes.notes import mark

BLOCK = 24
"""In a larger group of cards with a word in common only neighbours are compared."""
RARE = 8
"""So many of a card's rarest words bring it together with others."""
WINDOW = 3
"""In order of their texts, a card of a large group is compared with so many after it."""
BATCH = 1024
_AGREEMENT = 0.3
"""What the word of another session takes away of the doubt, as when drafts are folded."""
_GAP = regex(rf"(?<=[{HAN}]) | (?=[{HAN}])")
_MERGEABLE = (Status.ACTIVE, Status.STALE, Status.CANDIDATE)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cards that read alike; the first has the lower id."""

    first: Card
    second: Card
    likeness: float


def pairs(cards: Sequence[Card], host: Host, least: float) -> list[Pair]:
    """Return the pairs of cards that are at least so alike, most alike first.

    Cards meet by their rarest words, in groups of bounded size, so that the work grows
    with the number of cards and not with its square.

    Args:
        cards: what to look through.
        host: splits and embeds texts.
        least: cosine of the "similarity" vectors.
    """
    ordered = sorted(cards, key=lambda card: card.id)
    met = sorted(_find_candidate_pairs(ordered, host))
    likeness = dict(zip(met, _compute_similarities(ordered, met, host), strict=False))
    # Two characters more and a short Chinese text shares few of its letters with itself.
    likeness |= dict.fromkeys(_find_reworded_pairs(ordered, met), 1.0)
    found = [
        Pair(ordered[a], ordered[b], like) for (a, b), like in likeness.items() if like >= least
    ]
    return sorted(found, key=lambda pair: (-pair.likeness, pair.first.id, pair.second.id))


def _find_candidate_pairs(cards: Sequence[Card], host: Host) -> set[tuple[int, int]]:
    words = [
        _of_scope(
            # A common key brings cards together as well; the zero byte keeps it apart from words.
            set(host.answer("split_words", text=card.value) or ()) | {f"\0{card.key}"},
            card.scope,
        )
        for card in cards
    ]
    often = Counter(word for found in words for word in found)
    groups: dict[str, list[int]] = {}
    for row, found in enumerate(words):
        shared = [word for word in found if often[word] > 1]
        # A word that every card has brings together what has nothing in common.
        for word in sorted(shared, key=lambda word: (often[word], word))[:RARE]:
            groups.setdefault(word, []).append(row)
    texts = [_normalise_text(card.value) for card in cards]
    met: set[tuple[int, int]] = set()
    for group in groups.values():
        if len(group) <= BLOCK:
            met.update(combinations(group, 2))
        else:
            met.update(_pair_neighbours(group, texts))
    return met


def _find_reworded_pairs(
    cards: Sequence[Card], met: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of rows that claim the same in other Chinese words."""
    words = {row: reworded(cards[row].value) for pair in met for row in pair}
    yield from ((a, b) for a, b in met if words[a] and words[a] == words[b])


def _of_scope(words: set[str], scope: str) -> set[str]:
    """Return words that only cards of the same scope have in common."""
    return {f"{scope}\0{word}" for word in words} if scope else words


def _pair_neighbours(group: list[int], texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    ordered = sorted(group, key=lambda row: (texts[row], row))
    for at, row in enumerate(ordered):
        for other in ordered[at + 1 : at + 1 + WINDOW]:
            yield min(row, other), max(row, other)


def _compute_similarities(
    cards: Sequence[Card], met: Sequence[tuple[int, int]], host: Host
) -> list[float]:
    """Return the cosine of each pair of rows; no pairs where no plugin embeds texts."""
    # A card of many pairs is embedded once.
    rows = sorted({row for pair in met for row in pair})
    vectors: list[Sequence[float]] = []
    for at in range(0, len(rows), BATCH):
        texts = [_normalise_text(cards[row].value) for row in rows[at : at + BATCH]]
        answer: Embedding | None = host.answer("embed_texts", texts=texts, purpose="similarity")
        if answer is None:
            return []
        vectors += answer.vectors
    if not vectors:
        return []
    import numpy as np  # few memories have vectors

    table = np.asarray(vectors, dtype=np.float32)
    place = {row: number for number, row in enumerate(rows)}
    ends = np.asarray([(place[a], place[b]) for a, b in met])
    found: list[float] = []
    for at in range(0, len(ends), BATCH):
        first, second = table[ends[at : at + BATCH, 0]], table[ends[at : at + BATCH, 1]]
        found += [round(float(value), 3) for value in (first * second).sum(axis=1)]
    return found


def _normalise_text(text: str) -> str:
    """Return a text without marks at its end and spaces beside hanzi, which people set at will."""
    return _GAP.sub("", simplify(normalise(text)).strip(" .。!！;；,，"))


def verdict(pair: Pair, host: Host, now: datetime) -> Verdict | None:
    """Return how the younger card of a pair bears on the older, as a draft of its words would."""
    keeper, other = ranked(pair)
    judged: Verdict | None = host.answer(
        "judge_conflict", card=keeper, draft=draft_from_card(other, now)
    )
    return judged


def mergeable(pair: Pair, host: Host, now: datetime) -> bool:
    """Whether two cards claim the same: the rules say so, and no judge says otherwise."""
    first, second = pair.first, pair.second
    alike = (
        all(card.status in _MERGEABLE for card in (first, second))
        and first.scope == second.scope
        and (first.project, first.type, first.lang) == (second.project, second.type, second.lang)
        # "The office is closed" until Friday and for good are two statements.
        and (first.valid_to, first.expires) == (second.valid_to, second.expires)
    )
    fitting = _allowed_verdicts(first.value, second.value) if alike else ()
    return bool(fitting) and verdict(pair, host, now) in fitting


def _allowed_verdicts(first: str, second: str) -> tuple[Verdict | None, ...]:
    """Return the verdicts that let two cards merge; none where they do not claim the same."""
    if same_claim(first, second):
        return (Verdict.AGREES, Verdict.REFINES, None)
    words = reworded(first)
    # A judge by rules may not see that other words say the same; it sees what disputes it.
    other = (Verdict.AGREES, Verdict.REFINES, Verdict.UNRELATED, None)
    return other if words and words == reworded(second) else ()


def ranked(pair: Pair) -> tuple[Card, Card]:
    """Return the card that stays and the one that goes: trust first, then age."""
    keeper, other = sorted(
        (pair.first, pair.second),
        key=lambda card: (
            card.trust.rank,
            _MERGEABLE.index(card.status) if card.status in _MERGEABLE else len(_MERGEABLE),
            card.valid_from or card.created,
            card.id,
        ),
    )
    return keeper, other


def merged(keeper: Card, other: Card, now: datetime) -> Card:
    """Return the card that stays, with the evidence and the links of both."""
    known = set(map(mark, keeper.quotes))
    sessions = {source.session for source in keeper.sources}
    fresh = any(source.session not in sessions for source in other.sources)
    # The same session said it twice: that is no second witness.
    doubt = (1 - keeper.confidence) * ((1 - _AGREEMENT) if fresh else 1.0)
    places = {(source.place, source.quote) for source in keeper.sources}
    more = (source for source in other.sources if (source.place, source.quote) not in places)
    return replace(
        keeper,
        updated=now,
        tags=tuple(dict.fromkeys((*keeper.tags, *other.tags))),
        sources=(*keeper.sources, *more),
        quotes=(*keeper.quotes, *(quote for quote in other.quotes if mark(quote) not in known)),
        status=min(keeper.status, other.status, key=_MERGEABLE.index),
        confidence=max(keeper.confidence, other.confidence, min(0.99, round(1 - doubt, 3))),
        importance=max(keeper.importance, other.importance),
        temperature=max(keeper.temperature, other.temperature),
        verified=_latest_time(keeper.verified, other.verified),
        valid_from=_earliest_time(keeper.valid_from, other.valid_from),
        **{name: getattr(keeper, name) or getattr(other, name) for name in Card.body_fields},
        supersedes=tuple(dict.fromkeys((*keeper.supersedes, other.id))),
        links=_merge_links((*keeper.links, *other.links), without={keeper.id, other.id}),
    )


def archived(other: Card, keeper: Card, now: datetime) -> Card:
    """Return the card that goes, with a link to the one that stays."""
    to = (Link(keeper.id, LinkRel.SIMILAR_TO, 1.0, "merged into it"),)
    return replace(other, status=Status.ARCHIVED, updated=now, links=to)


def moved(card: Card, into: Mapping[str, str], now: datetime) -> Card:
    """Return a card whose links to merged cards lead to those that stay."""
    links = tuple(replace(link, to=into.get(link.to, link.to)) for link in card.links)
    joined = _merge_links(links, without={card.id})
    return card if joined == card.links else replace(card, links=joined, updated=now)


def _merge_links(links: Iterable[Link], without: set[str]) -> tuple[Link, ...]:
    """Return the links without repeats; a rejected one stays rejected, else the heavier counts."""
    found: dict[tuple[str, LinkRel], Link] = {}
    for link in links:
        known = found.get((link.to, link.rel))
        if link.to in without or (known is not None and known.weight == 0):
            continue
        if known is None or link.weight == 0 or link.weight > known.weight:
            found[link.to, link.rel] = link
    return tuple(found.values())


def draft_from_card(card: Card, now: datetime) -> Draft:
    """Return the words of a card as if they were said now and heard for the first time."""
    return Draft(
        type=card.type,
        key=card.key,
        title=card.title,
        value=card.value,
        quotes=card.quotes,
        at=card.valid_from or card.verified or now,
        lang=card.lang,
        origin=card.trust,
        importance=card.importance,
        confidence=card.confidence,
        category=card.category,
        project=card.project,
        scope=card.scope,
    )


def _latest_time(a: datetime | None, b: datetime | None) -> datetime | None:
    return max((at for at in (a, b) if at is not None), default=None)


def _earliest_time(a: datetime | None, b: datetime | None) -> datetime | None:
    return min((at for at in (a, b) if at is not None), default=None)
