"""Distilling a session: its archive, its readable page, events and cards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from typing import cast

from kimi_memory.domain.draft import BY_WORDS, Draft
from kimi_memory.domain.job import Change, Create, Delete, Plan, Step, digest
from kimi_memory.domain.note import CardType, Origin, Quote, Role
from kimi_memory.domain.session import Transcript, Turn, scope_of
from kimi_memory.errors import WaitingError
from kimi_memory.formats.jsonl import archive_path, turn_of, unseal
from kimi_memory.formats.session_page import transcript_language, transcript_markdown
from kimi_memory.jobs import gates
from kimi_memory.jobs.digests import digest_step
from kimi_memory.jobs.earlier import Earlier
from kimi_memory.jobs.fold_drafts import Fold
from kimi_memory.jobs.gates import DraftGate
from kimi_memory.jobs.lifetimes import with_links
from kimi_memory.jobs.planner import JobContext
from kimi_memory.jobs.revisions import revisions
from kimi_memory.jobs.strength import graded, with_chat_doubt, with_doubt, with_holder, with_odds
from kimi_memory.jobs.undistilled import KIND, inputs_of
from kimi_memory.nlp.basic.patterns import language_of, regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.dates.vocabulary import Zone, pinned
from kimi_memory.nlp.rules.role_play import opens_scene
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.strip_code import headline, without_thoughts
from kimi_memory.nlp.rules.subjects import key_of
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.reading import marks_in

# "1. use tabs 2) no emojis", "①每天写日报 ②别用表格"; a figure inside of a word is none.
_ITEM = regex(r"(?:(?<=[\s，,；;。：:])|^)(?:\(?\d{1,2}[).、）]|[①-⑨])\s*")
_ENDS = " \t\r\n,，;；"
LEAST = 2
"""A list has so many items, and each of them so many words."""


NAMED = 5
"""So many turns that were not said here are named."""


class Distil:
    """Plans what becomes of a session."""

    kind = KIND

    def __init__(self, context: JobContext, id: str) -> None:
        self._store, self._host, self._id = context.store, context.host, id
        self._settings, self._zone = context.settings.distil, context.settings.zone
        self._gate, self._now = DraftGate.from_context(context), context.clock()

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are."""
        place = sessions.find(self._store, self._id)
        whole, unseen = self._read_session(place.path)
        transcript = sessions.capped(whole, Origin.REMOTE, unseen)
        texts = {turn.n: turn.text for turn in transcript.turns}

        def text_of(quote: Quote) -> str | None:
            return texts.get(quote.n)

        fold = Fold(shelf, self._host, self._gate, self._now, self._zone)
        told = _as_told(transcript, self._zone)
        # First, since who reads the session a second time may want to see it.
        digest = self._build_digest(told)
        earlier = Earlier(shelf)
        drafts, stating_nothing = graded(self._collect_drafts(told), fold.changes_known)
        doubted = _doubts_of(told)
        drafts = [doubted(draft, _changes(draft, earlier, fold)) for draft in drafts]
        for draft in (*drafts, *self._collect_unseen_drafts(whole, unseen)):
            fold.add(draft, text_of)
        changed = [(d, list(earlier.statements(d))) for d in drafts if BY_WORDS & set(d.tags)]
        for draft, past in revisions(told, drafts, earlier, fold.replaces):
            fold.add(replace(doubted(draft, True), scope=scope_of(told.session)), text_of)
            changed.append((draft, past))
        for draft, past in changed:
            for old in past:
                fold.add_past(old, draft)
        folded = fold.result()
        return Plan(
            kind=self.kind,
            subject=place.id,
            inputs=inputs_of(transcript),
            steps=(
                *with_links(folded.steps, drafts, shelf, self._now),
                *digest,
                *gates.pages(shelf, folded.gone, self._now),
            ),
            changes=(
                *self._archive_session(place, transcript),
                *gates.stones(folded.gone, self._now),
            ),
            # A card and an event of each turn: a session of hundreds could never be distilled.
            room=2 * len(transcript.turns),
            left_out=(*self._describe_unread(told, unseen), *stating_nothing, *folded.left_out),
        )

    def _read_session(self, path: str) -> tuple[Transcript, Set[int]]:
        """Return a session and the numbers of the turns that nobody here saw being said."""
        found, vetting = sessions.read(self._store, path), self._store.vetting
        if vetting is None:
            return found, set()
        # Of a session that was pulled from another machine that is each.
        if vetting.came(path):
            return sessions.capped(found, Origin.REMOTE), set()
        return found, {turn_of(unseal(line)).n for line in vetting.unseen_lines(path)}

    def _describe_unread(self, transcript: Transcript, unseen: Set[int]) -> Iterator[str]:
        """Say of what nothing was made: a session too short for it, turns nobody saw being said."""
        if len(transcript.turns) < self._settings.min_turns:
            yield f"all of it: it has fewer turns than distil.min_turns, {self._settings.min_turns}"
        yield from _describe_unseen(unseen)

    def _build_digest(self, transcript: Transcript) -> list[Step]:
        if len(transcript.turns) < self._settings.min_turns:
            return []
        lang = transcript_language(transcript)
        step = digest_step(transcript, self._host, self._gate, lang, self._now)
        return [step] if step else []

    def _collect_drafts(self, transcript: Transcript) -> list[Draft]:
        if len(transcript.turns) < self._settings.min_turns:
            return []
        return self._propose(transcript)

    def _propose(self, transcript: Transcript) -> list[Draft]:
        answer = self._host.answer("distil_session", transcript=transcript)
        drafts = list(apart(cast("list[Draft]", answer or [])))  # what the hook's annotation says
        scope = scope_of(transcript.session)
        drafts = [replace(draft, scope=scope) for draft in drafts]
        turns = {turn.n: turn for turn in transcript.turns}
        drafts = [with_doubt(draft, turns) for draft in drafts]
        if transcript.has_several_people():
            drafts = [with_holder(draft, transcript) for draft in drafts]
        good = [d for d in drafts if d.importance >= self._settings.min_importance]
        tasks = {id(d) for d in good if d.type is CardType.TASK_STATE}
        # What a model wrote was proven one by one, and is bounded by what it may propose.
        tasks |= {id(d) for d in good if d.stated}
        # Tasks are not counted: an open one that is left out would be forgotten.
        ranked = sorted((d for d in good if id(d) not in tasks), key=lambda d: -d.importance)
        chosen = {id(draft) for draft in ranked[: self._settings.max_cards]} | tasks
        return [draft for draft in good if id(draft) in chosen]

    def _collect_unseen_drafts(self, transcript: Transcript, unseen: Set[int]) -> list[Draft]:
        """Return what the turns that nobody saw being said state, for a person to confirm.

        They are read by themselves, so that they take back and answer nothing.
        """
        # Not dropped: a turn is among them, too, whose record the power failed to keep.
        turns = tuple(turn for turn in transcript.turns if turn.n in unseen)
        if not turns:
            return []
        alone = _as_told(replace(transcript, turns=turns), self._zone)
        found = (draft for draft in self._propose(alone) if not draft.gone and not draft.done)
        return [replace(draft, origin=Origin.REMOTE, weak=True) for draft in found]

    def _archive_session(self, place: sessions.Place, transcript: Transcript) -> list[Change]:
        if not place.open:
            return []
        content = self._store.read(place.path)
        if why := marks_in(place.path, content):
            raise WaitingError(place.path, why)
        path = archive_path(transcript.session)
        page = transcript_markdown(transcript, transcript_language(transcript)).encode()
        readable = f"{path.removesuffix('.jsonl')}.md"
        # In one transaction with its cards: a session is never archived undistilled, nor in two
        # places.
        return [Create(path, content), Create(readable, page), Delete(place.path, digest(content))]


def _describe_unseen(unseen: Set[int]) -> list[str]:
    if not unseen:
        return []
    numbers = ", ".join(map(str, sorted(unseen)[:NAMED]))
    more = f" and {len(unseen) - NAMED} more" if len(unseen) > NAMED else ""
    return [f"turn {numbers}{more}: not said here, so what it says waits for a person"]


def _as_told(transcript: Transcript, zone: Zone) -> Transcript:
    """Return a session as its notes show it: on the clocks of a zone, without what was thought."""
    started = pinned(transcript.session.started, zone)
    return replace(
        transcript,
        session=replace(transcript.session, started=started),
        turns=tuple(_turn_as_told(turn, zone) for turn in transcript.turns),
    )


def _turn_as_told(turn: Turn, zone: Zone) -> Turn:
    at, text = pinned(turn.at, zone), turn.text
    said = without_thoughts(text) if turn.role is Role.ASSISTANT else text
    return turn if at is turn.at and said == text else replace(turn, at=at, text=said)


def _doubts_of(transcript: Transcript) -> Callable[[Draft, bool], Draft]:
    """Return what marks a draft weak where talk of its kind seldom states what is worth keeping.

    It takes the draft, and whether it takes the place of something known: then it matters as
    that did.
    """
    if transcript.has_several_people():
        return lambda draft, _: draft
    if not transcript.is_chat():
        return lambda draft, change: with_odds(draft, chat=False, change=change)
    scene = opens_scene(turn.text for turn in transcript.turns if turn.by_person)

    def doubted(draft: Draft, change: bool) -> Draft:
        plain = draft if change else with_chat_doubt(draft, scene=scene)
        return with_odds(plain, chat=True, change=change)

    return doubted


LONGEST_CHANGE = {"zh": 60, "en": 160}
"""Most characters of a statement that changes what is known."""


def _changes(draft: Draft, earlier: Earlier, fold: Fold) -> bool:
    """Whether a statement without a slot takes the place of what was said, or of a card.

    What changes something says so in a short sentence; a longer story shares words with it by
    chance.
    """
    short = len(draft.value) <= LONGEST_CHANGE[language_of(draft.value)]
    short = short and len(sentences(draft.value)) == 1
    return (
        short
        and bool(BY_WORDS & set(draft.tags))
        and (any(earlier.statements(draft)) or fold.replaces(draft))
    )


def apart(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Yield the drafts, those of a list of orders item by item."""
    for draft in drafts:
        yield from _split_items(draft) or [draft]


def _split_items(draft: Draft) -> list[Draft]:
    """Return a draft for each item of a list of orders; none where it is no list."""
    if draft.type is not CardType.RULE or draft.gone or draft.done or len(draft.quotes) != 1:
        return []
    [quote] = draft.quotes
    starts = [found.span() for found in _ITEM.finditer(quote.text)]
    ends = [*(start for start, _ in starts[1:]), len(quote.text)]
    texts = [
        quote.text[start:end].strip(_ENDS) for (_, start), end in zip(starts, ends, strict=False)
    ]
    if len(texts) < LEAST or any(traits_of(text).words < LEAST for text in texts):
        return []
    return [_build_item(draft, quote, text) for text in texts]


def _build_item(draft: Draft, quote: Quote, text: str) -> Draft:
    value = " ".join(text.split())
    return replace(
        draft,
        key=key_of("rule", value, draft.project),
        title=headline(value),
        value=value,
        quotes=(Quote(quote.session, quote.n, text),),
    )
