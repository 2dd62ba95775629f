"""What recall may show: filters of a query as masks over rows; nothing forgotten or expired.

Postings only narrow the search for a phrase; what decides is the text itself, because the words
of the index are stems and single characters. A beginning is looked up in the sorted words of
the index, so what it costs depends on how many words begin so, not by the size of the files.

Of a moment, a card counts from when it became true until it ceased to be, whatever became of it
later; all else counts from when it was said or last written. What was forgotten or taken back
stays away at every moment.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice

import numpy as np

from kimi_memory.domain.job import digest
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.pages import Event
from kimi_memory.domain.search_types import Hit, Query, Unit
from kimi_memory.domain.session import SHARED, is_private
from kimi_memory.domain.tombstone import PURGED, Tombstones
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.formats.jsonl import parse_tombstones
from kimi_memory.index.files import Files
from kimi_memory.index.searcher import Bools, Floats, Searcher, once_a_view
from kimi_memory.index.units import served_note
from kimi_memory.nlp.basic.patterns import HAN, normalise, regex, simplify
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.wal.journal import Journal

_NOTES = frozenset({Card.kind, Event.kind})
"""They have a status of their own, and forgetting sets it."""
_NOTHING = Tombstones(())


def redact_hits(files: Files, hits: Iterable[Hit], query: Query, now: datetime) -> list[Hit]:
    """Return the hits that may be shown, without the sentences that were forgotten.

    A transcript that was taken in again, or a page of one's own, may repeat what somebody
    asked to forget. Who asks for archived notes sees everything.
    """
    if Status.ARCHIVED in query.status:
        return list(hits)
    stones = tombstones_of(files)
    kept = (hit for hit in hits if not _has_expired(files, hit.unit, now))
    return [shown for hit in kept if (shown := _redact_hit(hit, stones)) is not None]


def forgotten(searcher: Searcher) -> Bools:
    """Return the rows of turns that were forgotten: of barred sessions, or under barred notes.

    A tombstone keeps a forgotten value from being distilled again; the words themselves stay
    in their session, as files and history are never cut but by a purge.
    """
    mark = digest(_read_tombstones(searcher.files))
    return searcher.once(f"forgotten {mark}", lambda: _forgotten_rows(searcher))


def forgotten_ids(searcher: Searcher) -> list[str]:
    """Return the ids of what was forgotten."""
    ids = searcher.column("id")
    return [ids[int(row)] for row in np.flatnonzero(forgotten(searcher))]


def tombstones_of(files: Files) -> Tombstones:
    """Return the tombstones that can be read; the gate of writing refuses the others."""
    # Broken lines bar nothing here, as reading must go on.
    with suppress(KimiMemoryError):
        return _build_tombstones(_read_tombstones(files), files.journal)
    return _NOTHING


def _read_tombstones(files: Files) -> bytes:
    # Nothing was ever forgotten here.
    with suppress(OSError, KimiMemoryError):
        return files.served(TOMBSTONES).content
    return b""


@lru_cache(maxsize=4)
def _build_tombstones(content: bytes, journal: Journal) -> Tombstones:
    # Not strict: one bad line must not bring back all that was forgotten.
    return Tombstones(parse_tombstones(content), journal.keyed)


def _redact_hit(hit: Hit, stones: Tombstones) -> Hit | None:
    unit = hit.unit
    # A candidate may say what was forgotten here: another copy brought it, and nobody settled it.
    settled = unit.kind in _NOTES and unit.status != Status.CANDIDATE
    if not stones or settled:
        return hit
    session = unit.id.partition("#")[0] if unit.kind == "turn" else ""
    # The purge came by git from another machine.
    if stones.names(unit.id) and PURGED not in unit.text:
        return None  # Purged in another copy, and here not yet.
    text = stones.redact(unit.text, {"memory", f"project:{unit.project}", session, unit.scope})
    if text == unit.text:
        return hit
    return replace(hit, unit=replace(unit, text=text)) if text else None


def _has_expired(files: Files, unit: Unit, now: datetime) -> bool:
    """Whether the date on which a card expires has passed."""
    if unit.kind != Card.kind or unit.valid_to is None or unit.valid_to >= now:
        return False
    card = served_note(files, unit.path)
    return isinstance(card, Card) and card.expires is not None and card.expires < now


def _forgotten_rows(searcher: Searcher) -> Bools:
    stones = tombstones_of(searcher.files)
    if not stones and not searcher.hidden:
        return np.zeros(len(searcher), dtype=bool)
    sessions = {stone.scope for stone in stones if not stone.value}
    turns = set(_turns_under(searcher, stones)) | searcher.hidden
    ids, kinds = searcher.column("id"), searcher.column("kind")
    found = [
        id in turns or id.rpartition("#")[0] in sessions
        if kind == "turn"
        else stones.names(id) or id in turns
        for id, kind in zip(ids, kinds, strict=True)
    ]
    return np.asarray(found, dtype=bool)


def _turns_under(searcher: Searcher, stones: Tombstones) -> Iterator[str]:
    """Yield the turns quoted by archived notes whose words a tombstone bars."""
    private, values = defaultdict[str, set[str]](set), set[str]()
    for stone in stones:
        if stone.value:
            (private[stone.scope] if is_private(stone.scope) else values).add(stone.value)
    for note in _yield_archived_notes(searcher):
        barred = values | private.get(note.scope, set())
        for quote in note.quotes:
            if not barred.isdisjoint(stones.forms(quote.text)):
                yield f"session:{quote.session}#{quote.n}"


def _yield_archived_notes(searcher: Searcher) -> Iterator[Card | Event]:
    statuses, kinds = searcher.column("status"), searcher.column("kind")
    for row in searcher.living():
        if statuses[row] == Status.ARCHIVED and kinds[row] in _NOTES:
            note = served_note(searcher.files, searcher.path(row))
            if isinstance(note, Card | Event):
                yield note


_LATIN = regex(r"(?<![^\W_])[a-z]+")
_RUN = regex(r"[^\W_]+")
_CUT = regex(r"[^\W_]|\*$")
_HAN = regex(f"[{HAN}]")
_BEGUN = regex(r"(?<![^\W_])[a-z][a-z0-9]+(?=\*$)")

MOST_BEGUN = 4000
"""A beginning stands for so many words of the index, at most."""
_WILD = frozenset("*?[")
_TAILS = ("", "i", "e", "l", "y", "ie")
"""A stem is a beginning of its word and one of these: happi, hope, probabl, sky, die."""
HIDDEN = frozenset({str(Status.SUPERSEDED), str(Status.ARCHIVED)})
"""What is not true any more is only found by who asks for it."""
MARKED = 0.25
"""What a row earns by saying a phrase that was asked for, besides the words in it."""


def worded(searcher: Searcher, query: Query, mask: Bools) -> Bools:
    """Return the rows of a mask that say every phrase of a query, and nothing excluded."""
    for phrase in query.phrases:
        mask = saying(searcher, phrase, mask)
    for phrase in query.excluded:
        mask = mask & ~saying(searcher, phrase, mask)
    return mask


def saying(searcher: Searcher, phrase: str, mask: Bools) -> Bools:
    """Return the rows of a mask whose title or text says a phrase.

    Args:
        searcher: the memory.
        phrase: words in their order; one that ends in ``*`` is the beginning of a word.
        mask: rows to look at.
    """
    sought, found = pattern(phrase), np.zeros(len(searcher), dtype=bool)
    if sought is None:
        return found
    rows = np.flatnonzero(_narrow_mask(searcher, phrase, mask))
    for row, unit in searcher.units(map(int, rows)).items():
        found[row] = sought.search(f"{_fold_text(unit.title)}\n{_fold_text(unit.text)}") is not None
    return found


def pattern(phrase: str) -> re.Pattern[str] | None:
    """Return what finds a phrase in folded text; None for a phrase without words.

    Latin words are matched whole, Chinese ones anywhere, as no blanks stand between them.
    """
    folded = _fold_text(phrase.removesuffix("*"))
    if not folded:
        return None
    # A Chinese character beside it is a border: "用Docker部署" says "docker".
    begins = rf"(?<![^\W{HAN}])" if _is_letter(folded[0]) else ""
    ends = rf"(?![^\W{HAN}])" if _is_letter(folded[-1]) and not phrase.endswith("*") else ""
    return re.compile(begins + re.escape(folded) + ends)


def _is_letter(ch: str) -> bool:
    return (ch.isalnum() or ch == "_") and not _HAN.match(ch)


def _fold_text(text: str) -> str:
    return simplify(normalise(text))


def _narrow_mask(searcher: Searcher, phrase: str, mask: Bools) -> Bools:
    """Return the rows of a mask that may say a phrase, as far as is known without parsing."""
    words = list(_yield_word_forms(searcher, phrase))
    for forms in words:
        held = np.zeros(len(searcher), dtype=bool)
        for word in forms:
            held[searcher.postings(word)[0]] = True
        mask = mask & held
    return mask if words else mask & _in_files(searcher, phrase, mask)


def _in_files(searcher: Searcher, phrase: str, mask: Bools) -> Bools:
    """Return the rows of a mask whose file has the longest word of a phrase anywhere."""
    runs = _RUN.findall(_fold_text(phrase))
    held = mask.copy()
    if runs:
        word, known = max(runs, key=len), dict[str, bool]()
        for row in map(int, np.flatnonzero(mask)):
            path = searcher.path(row)
            if path not in known:
                known[path] = _has_word(searcher.files, path, word)
            held[row] = known[path]
    return held


def _has_word(files: Files, path: str, word: str) -> bool:
    try:
        content = files.read(path)
    except (OSError, KimiMemoryError):
        return False
    # The quick way: in plain ASCII only the case may differ.
    if content.isascii():
        return word.encode() in content.lower()
    return word in _fold_text(content.decode("utf-8", "replace"))


def _yield_word_forms(searcher: Searcher, phrase: str) -> Iterator[set[str]]:
    """Yield the forms in which the index may hold each word, where it must hold one.

    It need not hold single letters or words of other characters.
    """
    folded = _fold_text(phrase)
    if begun := _BEGUN.search(folded):
        yield _expand_prefix(searcher, begun[0])
    # Only narrowed by words that are surely in the index as such; the text decides.
    for found in _LATIN.finditer(folded):
        split = searcher.words.split(found[0])
        # Not "v2" or "data库": what stands right beside letters, the index may hold as another
        # word.
        if split and len(found[0]) > 1 and not _CUT.match(folded, found.end()):
            # A plugin may keep a word as it is, beside its stem.
            yield {*split, found[0]}
    yield from ({one} for ch in _HAN.findall(folded) for one in searcher.words.split(ch))


def _expand_prefix(searcher: Searcher, begin: str) -> set[str]:
    """Return the words of the index that words beginning so may be held as.

    Raises:
        UsageError: there are too many.
    """
    found = set(islice(searcher.vocabulary(begin), MOST_BEGUN + 1))
    if len(found) > MOST_BEGUN:
        raise UsageError(
            f"'{begin}*' begins more than {MOST_BEGUN:,} words of this memory. Write more of it."
        )
    # A stem may be shorter than what was typed: "happily*" is held as "happi".
    return found | {begin[:end] + tail for end in range(1, len(begin)) for tail in _TAILS}


def allowed(searcher: Searcher, query: Query) -> Bools:
    """Return the living rows that pass every filter of the query."""
    mask = searcher.alive & holding(searcher, query) & visible_rows(searcher, query)
    for name in ("tier", "kind", "type"):
        wanted: tuple[str, ...] = getattr(query, name)
        if wanted:
            mask &= searcher.column(name).among(wanted)
    mask &= _owner_mask(searcher, query)
    if query.tag:
        tags = set(query.tag)
        held = [not tags.isdisjoint(found) for found in searcher.column("tags")]
        mask &= np.asarray(held, dtype=bool)
    mask &= _speaker_key_path_mask(searcher, query)
    mask &= _time_range_mask(searcher, query.since, query.until)
    if query.phrases or query.excluded:
        # Last, as each row that is left has to be read.
        mask = worded(searcher, query, mask)
    return mask


def restrict_to_caller(searcher: Searcher, query: Query) -> Searcher:
    """Restrict the searcher to rows the caller may see, so that hidden rows influence no score.

    How rare a word is, what else was said that day: whatever a score is made of is counted
    over these rows alone, as if there were no others.
    """
    if query.within is None:
        return searcher
    of = (query.session, query.project, query.agent, query.user)
    name = (frozenset(query.within), *of)
    return searcher.view(name, lambda: visible_rows(searcher, query) & _owner_mask(searcher, query))


def _owner_mask(searcher: Searcher, query: Query) -> Bools:
    """Return the rows of the session, the project, the agent and the user that are named."""
    mask = np.ones(len(searcher), dtype=bool)
    if query.session:
        # What is remembered for one session alone lies in notes, which are in no session.
        own = [f"session:{id}" for id in query.session]
        said = searcher.column("session").among(query.session)
        mask &= said | searcher.column("scope").among(own)
    for name in ("project", "agent", "user"):
        if getattr(query, name):
            mask &= searcher.column(name).among({getattr(query, name)})
    return mask


def visible_rows(searcher: Searcher, query: Query) -> Bools:
    """Return the rows that the caller may see: the shared ones and their own."""
    if query.within is None:
        return np.broadcast_to(True, len(searcher))
    return searcher.column("scope").among({SHARED, *query.within})


def marked(searcher: Searcher, query: Query, mask: Bools) -> Floats:
    """Return what rows earn by the filters alone: phrases count, a bare filter lists by age."""
    if query.phrases:
        return np.where(mask, MARKED, 0.0)
    # A bare "type:decision" asks for a list: newest first, as nothing else can order it.
    if query.text.strip() or query == _strip_filters(query):
        return np.broadcast_to(0.0, len(searcher))
    at = np.nan_to_num(searcher.once("at", lambda: searcher.column("at").numbers()))
    # By rank and not by age: one note of ten years ago must not press all others together.
    moments, ages = np.unique(at[mask], return_inverse=True)
    listed = np.zeros(len(searcher))
    listed[mask] = (1 + ages) / max(1, len(moments))
    return listed


def _strip_filters(query: Query) -> Query:
    """Return the query without its filters."""
    return Query(
        text=query.text, limit=query.limit, min_score=query.min_score, hops=query.hops,
        within=query.within, min_relevance=query.min_relevance,
        vector_weight=query.vector_weight, fusion=query.fusion, turn_days=query.turn_days,
    )  # fmt: skip


def holding(searcher: Searcher, query: Query) -> Bools:
    """Return the rows that hold as far as a query is concerned: now, or as of its moment."""
    if query.valid_at is None:
        return standing(searcher, query.status)
    at = query.valid_at.timestamp()
    cards = searcher.once("cards", lambda: searcher.column("kind").among((Card.kind,)))
    started, ended = _compute_validity(searcher)
    gone = searcher.column("status").among(_PAST)
    stones = tombstones_of(searcher.files)
    # The stones are kept beside the result: while they live, nothing else can have their `id`.
    back = searcher.once(f"back {id(stones)}", lambda: (stones, _may_come_back(searcher, stones)))
    # Written so that NaN, an end that is not known, counts as not yet ended.
    found = (started <= at) & ~(ended <= at)
    mask = found & (~gone | (cards & back[1])) & ~forgotten(searcher)
    return mask & searcher.column("status").among(query.status) if query.status else mask


def standing(searcher: Searcher, status: Collection[str] = ()) -> Bools:
    """Return the rows of these statuses; without any, those that still hold.

    A turn that was forgotten counts as archived.
    """
    gone = forgotten(searcher)
    if not status:
        return _find_shown(searcher) & ~gone
    mask = searcher.column("status").among(status) & ~gone
    return mask | gone if Status.ARCHIVED in status else mask


@once_a_view
def _find_shown(searcher: Searcher) -> Bools:
    """Return the rows that hold, and the events whose card was replaced: they did happen."""
    happened = searcher.column("kind").among((Event.kind,))
    over = searcher.column("status").among((str(Status.SUPERSEDED),))
    return ~searcher.column("status").among(HIDDEN) | (happened & over)


def _speaker_key_path_mask(searcher: Searcher, query: Query) -> Bools:
    """Return the rows said by the speakers, under the keys, in the files of a query."""
    mask = np.ones(len(searcher), dtype=bool)
    if query.speaker:
        names = frozenset(map(normalise, query.speaker))
        said = zip(searcher.column("speaker"), searcher.column("role"), strict=True)
        mask &= np.asarray([bool(names & {normalise(who), role}) for who, role in said], dtype=bool)
    if query.key:
        mask &= searcher.column("key").where(_key_test(query.key))
    if query.path:
        paths = [searcher.path(row) for row in range(len(searcher))]
        # Each different key or path once: thousands of rows share a few of them.
        held = {one for one in set(paths) if any(_is_under_path(one, of) for of in query.path)}
        mask &= np.asarray([one in held for one in paths], dtype=bool)
    return mask


def _key_test(wanted: tuple[str, ...]) -> Callable[[str], bool]:
    """Return what says whether a key is one of some keys, below one, or fits a pattern."""
    exact, below = frozenset(wanted), tuple(f"{one}." for one in wanted)
    patterns = [one for one in wanted if not _WILD.isdisjoint(one)]

    def holds(key: str) -> bool:
        if key in exact or key.startswith(below):
            return True
        return bool(patterns) and any(fnmatchcase(key, one) for one in patterns)

    return holds


def _is_under_path(path: str, wanted: str) -> bool:
    folder = wanted.removesuffix("/")
    return path == folder or path.startswith(f"{folder}/") or fnmatchcase(path, wanted)


def _time_range_mask(searcher: Searcher, since: datetime | None, until: datetime | None) -> Bools:
    """Return the rows at or after `since` and before `until`; what has no time fails both."""
    if since is None and until is None:
        return np.ones(len(searcher), dtype=bool)
    at = searcher.column("at").numbers()
    mask: Bools = ~np.isnan(at)
    if since is not None:
        mask &= at >= since.timestamp()
    if until is not None:
        mask &= at < until.timestamp()
    return mask


_PAST = (str(Status.SUPERSEDED), str(Status.ARCHIVED))


def as_then(unit: Unit) -> Unit:
    """Return a unit as it was weighed when it was held to be true: as one that is live."""
    return replace(unit, status=str(Status.ACTIVE)) if unit.status in _PAST else unit


@once_a_view
def said_at(searcher: Searcher) -> Floats:
    """Return when each row happened: of a statement since when it holds, not when it was filed."""
    began, at = searcher.column("valid_from").numbers(), searcher.column("at").numbers()
    return np.where(np.isnan(began), at, began)


@once_a_view
def _compute_validity(searcher: Searcher) -> tuple[Floats, Floats]:
    """Return when each row began to hold and when it ceased; NaN where that is not known."""
    at, kinds = searcher.column("at").numbers(), searcher.column("kind")
    ended = searcher.column("valid_to").numbers().copy()
    superseded = searcher.column("status").among((str(Status.SUPERSEDED),)) & searcher.alive
    open_ended = np.flatnonzero(superseded & np.isnan(ended) & kinds.among((Card.kind,)))
    if len(open_ended):
        after = _succession_times(searcher)
        ids = searcher.column("id")
        for row in map(int, open_ended):
            # Without a successor that names it, it ended when it was marked.
            ended[row] = after.get(ids.value(row), at[row])
    return said_at(searcher), ended


def _succession_times(searcher: Searcher) -> dict[str, float]:
    """Return by the id of a card when the first that supersedes it began to hold."""
    found: dict[str, float] = {}
    for card in _yield_cards(searcher, searcher.alive):
        since = (card.valid_from or card.created).timestamp()
        for id in card.supersedes:
            # The first that took its place has ended it.
            found[id] = min(since, found.get(id, since))
    return found


def _may_come_back(searcher: Searcher, stones: Tombstones) -> Bools:
    """Return the cards that are live no more and yet may be shown as of when they were.

    What was archived comes back only where its end is known: it ran out. Without an end
    it was put away for another reason.
    """
    past = searcher.alive & searcher.column("status").among(_PAST)
    ran_out = ~np.isnan(searcher.column("valid_to").numbers())
    past &= ran_out | searcher.column("status").among((str(Status.SUPERSEDED),))
    if not stones:
        return past
    ids = {card.id for card in _yield_cards(searcher, past) if not _is_barred(stones, card)}
    return past & searcher.column("id").among(ids)


def _is_barred(stones: Tombstones, card: Card) -> bool:
    scopes = {"memory", f"project:{card.project}", card.scope}
    quotes = [quote.text for quote in card.quotes]
    return stones.bars(scopes, card.key, [card.value], quotes)


def _yield_cards(searcher: Searcher, mask: Bools) -> Iterator[Card]:
    """Yield the cards among some rows, as their files have them; unreadable ones are left out."""
    rows = np.flatnonzero(mask & searcher.column("kind").among((Card.kind,)))
    for path in (searcher.path(int(row)) for row in rows):
        note = served_note(searcher.files, path)
        if isinstance(note, Card):
            yield note


def on_clocks(unit: Unit, zone: Zone) -> Unit:
    """Return a unit with its times in a zone."""
    moments = (unit.at, unit.valid_from, unit.valid_to)
    at, since, end = (None if one is None else in_zone(one, zone) for one in moments)
    return replace(unit, at=at, valid_from=since, valid_to=end)
