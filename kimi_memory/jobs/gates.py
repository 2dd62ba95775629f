"""Gates: what a draft or a whole job must pass before a byte is written.

What a gate holds back of a job is left out, so that the rest goes on. The gate of tombstones keeps
what a person took back from coming again; that of evals makes no hit appear that a case forbids.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from string import capwords

from kimi_memory.config import GatesTable
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Append, Change, Create, Delete, Op, Plan, Spent, Step, Update
from kimi_memory.domain.note import LIVE, Card, Note, Status
from kimi_memory.domain.pages import Day, Event, Project, Proposal
from kimi_memory.domain.search_types import Chunk, ChunkSizes, Query, Unit
from kimi_memory.domain.session import SHARED
from kimi_memory.domain.tombstone import PURGED, Tombstone, Tombstones, is_same_key
from kimi_memory.errors import FormatError, GateError
from kimi_memory.formats.eval_case import FOLDER, Case, hits_of, is_eval, read_cases
from kimi_memory.formats.frontmatter import decode
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.formats.page_lines import is_generated, with_reason
from kimi_memory.hooks.host import Host
from kimi_memory.index.files import is_searchable
from kimi_memory.index.units import Words, guard
from kimi_memory.jobs.pages import is_page
from kimi_memory.jobs.planner import JobContext
from kimi_memory.jobs.render import Render
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.nlp.basic.patterns import fold_case, normalise, regex
from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.clause_form import NOT, claim_words
from kimi_memory.nlp.rules.relations import repeats_claim
from kimi_memory.nlp.rules.slot_list import TOOLS
from kimi_memory.nlp.rules.slot_type import PROJECT
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.values import Relation, compare_values
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import Shelf, read_tombstones
from kimi_memory.store.store import Store

_INSTEAD = regex(r"\b(?:instead of|rather than|in place of)\b|而不是|代替|取代|而非")
_TOOL = regex(r"[a-z][a-z0-9+-]*(?:\.[a-z0-9]+)*")
WHY = "taken back in words"
_SHORTEST_LINE = 4


class TombstoneGate:
    """Recognizes what was forgotten or rejected, also in other words."""

    def __init__(self, stones: Tombstones) -> None:
        self._stones = stones

    def draft(self, draft: Draft, texts: Iterable[str]) -> bool:
        """Whether a draft, which would say one of the texts, must not become a note."""
        if not self._stones:
            return False
        scopes = _relevant_scopes(draft, [quote.session for quote in draft.quotes])
        # What was refined later is forgotten with the words it was first made of.
        if self._stones.bars(scopes, draft.key, texts, [quote.text for quote in draft.quotes]):
            return True
        # "We no longer use Redis" names the forgotten value, and must be able to.
        return not draft.reversal and self._has_barred_value(scopes, draft.key, draft.value)

    def note(self, note: Note) -> bool:
        """Whether a note says what must not come back."""
        if not self._stones:
            return False
        if self._stones.names(note.id):
            return True
        if isinstance(note, Proposal):
            scopes = {"memory", page_scope(note.target, note.section)}
            key = subject_of(note)
            return self._stones.bars(scopes, key, [note.text]) or self._has_barred_value(
                scopes, key, note.text
            )
        if not isinstance(note, Card | Event):
            return False
        said = note.value if isinstance(note, Card) else note.content
        sessions = [source.session for source in note.sources]
        scopes = _relevant_scopes(note, sessions)
        quotes = [quote.text for quote in note.quotes]
        return self._stones.bars(scopes, note.key, [said], quotes) or (
            isinstance(note, Card) and self._has_barred_value(scopes, note.key, note.value)
        )

    def steps(self, steps: Iterable[Step], shelf: Shelf) -> tuple[list[Step], list[str]]:
        """Return the steps that may be done, and a line for each new note that may not."""
        steps = list(steps)
        if not self._stones:
            return steps, []
        known = shelf.entries()
        kept, left_out = [], []
        for step in steps:
            # What is there already was let in by a person; only what is new is held back.
            if step.note.id not in known and step.note.status in LIVE and self.note(step.note):
                left_out.append(f"{step.note.id}: it was forgotten or rejected on purpose")
            else:
                kept.append(step)
        return kept, left_out

    def returned(self, shelf: Shelf) -> Iterator[Card]:
        """Yield live cards that a merge or a copied file brought back."""
        if not self._stones:
            return
        keys = self._stones.keys()
        stems = {stem for key in keys for stem in _stems_of(key)}
        for entry in sorted(shelf.entries().values(), key=lambda entry: entry.path):
            is_named = (
                entry.key in stems
                or not keys.isdisjoint(_stems_of(entry.key))
                or self._stones.names(entry.id)
            )
            if entry.kind == "card" and is_named and entry.status in LIVE:
                note = shelf.file(entry.path).note
                if isinstance(note, Card) and self.note(note):
                    yield note

    def _has_barred_value(self, scopes: set[str], key: str, text: str) -> bool:
        """Whether a text puts a barred value of its own key into other words."""
        near = list[Tombstone]()
        for stone in self._stones.near(scopes):
            alike = _fills_slot_alike(text, stone, scopes)
            if alike:
                return True
            if alike is None:  # Where there is a slot, its value decides.
                near.append(stone)
        low = fold_case(text)
        if cues.REVERSAL.search(low) or _INSTEAD.search(low):
            return False  # Who takes something back names it, and does not say it again.
        return any(
            is_same_key(stone.key, key, f"{text} {stone.value}")
            and (repeats_claim(text, stone.value) or _chooses_alike(text, stone, scopes))
            for stone in near
        )


def _stems_of(key: str) -> set[str]:
    """Return a key and all that it goes on from."""
    parts = key.split(".")
    return {".".join(parts[: n + 1]) for n in range(len(parts))}


def page_scope(target: str, section: str) -> str:
    """Return the scope of what must not be proposed for a section of a page again."""
    return f"page:{target}#{section}"


def subject_of(proposal: Proposal) -> str:
    """Return the key under which a proposal is rejected."""
    return f"{proposal.target}#{proposal.section}"


def _relevant_scopes(about: Draft | Card | Event, sessions: Iterable[str]) -> set[str]:
    told = {f"session:{id}" for id in sessions}
    own = {about.scope} - {SHARED}
    return {"memory", f"project:{about.project}", *own, *(told if len(told) == 1 else ())}


def _fills_slot_alike(text: str, stone: Tombstone, scopes: Collection[str]) -> bool | None:
    """Whether a text gives the slot of a forgotten statement the value that was forgotten.

    What fills a slot of one project says nothing of the same slot of another one. None if
    the two fill no slot in common.
    """
    # A tombstone holds small letters, in which names are not seen.
    told, old = slot_of(text), slot_of(stone.value) or slot_of(capwords(stone.value))
    if told is None or old is None or told.key != old.key or told.denied != old.denied:
        return None
    if told.holder == PROJECT and stone.scope not in scopes:
        return False
    relation = compare_values(old.comparable, told.comparable)
    return relation in {Relation.SAME, Relation.FINER, Relation.COARSER}


def _chooses_alike(text: str, stone: Tombstone, scopes: Collection[str]) -> bool:
    """Whether a text of a project chooses the one tool that the forgotten words chose there."""
    named = _tools_in(text)
    if len(named) != 1 or stone.scope not in scopes or named != _tools_in(stone.value):
        return False
    denials = [claim_words(words).count(NOT) % 2 for words in (text, stone.value)]
    return denials[0] == denials[1]


def _tools_in(text: str) -> set[str]:
    return TOOLS.keys() & set(_TOOL.findall(text.lower()))


def let_go(card: Card, at: datetime, now: datetime) -> Card:
    """Return a card as it is once it was taken back: kept, dated, and not held true."""
    return replace(card, status=Status.ARCHIVED, valid_to=card.valid_to or at, updated=now)


def stones(cards: Iterable[Card], now: datetime) -> list[Change]:
    """Return the change that keeps what was taken back from being made again."""
    found = [stone for card in cards for stone in _build_tombstones(card, now)]
    lines = tuple(tombstone_line(stone) for stone in dict.fromkeys(found))
    return [Append(TOMBSTONES, lines)] if lines else []


def _build_tombstones(card: Card, now: datetime) -> Iterator[Tombstone]:
    scope = card.scope or (f"project:{card.project}" if card.project else "memory")
    for text in (card.value, *(quote.text for quote in card.quotes)):
        if text.strip():
            yield Tombstone(scope, card.key, normalise(text), now, "a person", WHY)


def pages(shelf: Shelf, cards: Iterable[Card], now: datetime) -> Iterator[Step]:
    """Yield the pages of days and projects without the lines that repeat the cards."""
    shared = [card for card in cards if not card.scope]  # No page shows the others.
    said = {normalise(text) for card in shared for text in (card.value, card.title)}
    # "ok" stands in every second line.
    said = {text for text in said if len(text) >= _SHORTEST_LINE}
    for kind in (Day.kind, Project.kind) if said else ():
        for filed in shelf.notes(kind):
            page = filed.note
            cut = _cut_lines(page, said) if isinstance(page, Day | Project) else page
            if cut != page:
                yield Step(Op.REFINE, replace(cut, updated=now), f"repeats what was {WHY}")


def _cut_lines(page: Day | Project, said: set[str]) -> Day | Project:
    def kept(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(line for line in lines if not any(text in normalise(line) for text in said))

    if isinstance(page, Day):
        sessions, events = kept(page.sessions), kept(page.events)
        return replace(page, sessions=sessions, events=events, knowledge=kept(page.knowledge))
    return replace(
        page,
        state=kept(page.state),
        progress=kept(page.progress),
        decisions=kept(page.decisions),
        risks=kept(page.risks),
        preferences=kept(page.preferences),
    )


_ALLOW = "undo that job to allow it again"
_LOSING = {Op.ARCHIVE, Op.FORGET}
_FEW = 8
"""Below so many entries a share says nothing."""
Read = Callable[[list[Change]], Mapping[str, bytes]]
"""Gives the bytes of the files that changes update, by path."""


class DraftGate:
    """Holds back drafts without proof, with secrets, or barred by a tombstone."""

    def __init__(self, tombstones: Tombstones, is_secret: Callable[[str], bool]) -> None:
        self._stones, self._barred = tombstones, TombstoneGate(tombstones)
        self._is_secret = is_secret

    @classmethod
    def from_context(cls, context: JobContext) -> DraftGate:
        """Return the gate of a memory as it is now."""
        return cls(read_tombstones(context.store), context.is_secret)

    def objection(self, draft: Draft) -> str:
        """Return why a draft must not become a note, or an empty string."""
        if not draft.quotes:
            return "no quote stands in a stored turn"
        if why_not := self._find_text_fault(_all_text(draft)):
            return why_not
        if self._barred.draft(draft, (draft.value, content_of(draft))):
            return f"it was forgotten on purpose ({_ALLOW})"
        return ""

    def line_objection(self, text: str, scopes: set[str]) -> str:
        """Return why a line must not stand on a page, or an empty string.

        Args:
            text: what it says.
            scopes: where it was said, as tombstones name it.
        """
        if why_not := self._find_text_fault(text):
            return why_not
        return "it was forgotten on purpose" if self._stones.hides(text, scopes) else ""

    def _find_text_fault(self, text: str) -> str:
        # A masked secret says nothing, and would only show that there was one.
        if "⟦redacted:" in text or self._is_secret(text):
            return "it holds a secret"
        return "what it says was purged" if PURGED in text else ""


def _all_text(draft: Draft) -> str:
    parts = (draft.title, draft.value, draft.reason, draft.outcome, draft.lesson, draft.key)
    return "\n".join(parts)


def _was_due(step: Step) -> bool:
    """Whether a card goes because its time was set to end."""
    expires = step.note.expires if isinstance(step.note, Card) else None
    return expires is not None and expires <= step.note.updated


def content_of(draft: Draft) -> str:
    """Return what a card of the draft says: what is so, with the reason where one was given."""
    told = normalise(draft.reason) in normalise(draft.value)
    return with_reason(draft.value, "" if told else draft.reason, draft.lang)


def story_of(draft: Draft) -> str:
    """Return what an event of the draft tells: where the draft says a lesson, what happened."""
    return draft.reason if draft.reason and draft.lesson == draft.value else content_of(draft)


def _is_loss(step: Step) -> bool:
    """Whether a step takes an entry away that nobody asked to let go."""
    # What was due to end, or was taken back in words, is no loss of the job's making.
    return step.op in _LOSING and not _was_due(step) and not step.why.startswith(WHY)


class JobGates:
    """Stops a job that would lose too much, touch too much or grow a page too far."""

    def __init__(self, settings: GatesTable) -> None:
        self._settings = settings

    def check(
        self,
        steps: Iterable[Step],
        changes: Iterable[Change],
        *,
        entries: int,
        asked: bool = False,
        room: int = 0,
    ) -> None:
        """Raise GateError when a job must not go on.

        Args:
            steps: what it decided.
            changes: the files it would write.
            entries: how many live entries there are now.
            asked: a person named what goes, so nothing is lost unasked.
            room: so many files may change besides those that settings allow.
        """
        self._check_file_count(list(changes), self._settings.max_files + room)
        if not asked:
            self._check_lost_entries(sum(map(_is_loss, steps)), entries)

    def check_part(self, changes: Iterable[Change], texts: Mapping[str, bytes]) -> None:
        """Raise GateError when the files of one part of a job must not be written.

        Args:
            changes: the files the part would write.
            texts: bytes of the files it would update, by path; empty where lines may go.
        """
        for change in changes:
            if isinstance(change, Update) and change.path.endswith(".md") and texts:
                self._check_lost_lines(change, texts[change.path])
            self._check_page_size(change)

    def budget(self, seconds: float, spent: Spent) -> None:
        """Raise GateError when deciding took too long, or asked a model too much."""
        tokens = spent.tokens_in + spent.tokens_out
        if seconds > self._settings.max_seconds:
            raise GateError(
                "time",
                f"it took {seconds:.0f} seconds to decide, "
                f"{self._settings.max_seconds:.0f} are allowed",
                "Raise gates.max_seconds in memory.toml, or run the job on less",
            )
        if tokens > self._settings.max_tokens:
            raise GateError(
                "tokens",
                f"it spent {tokens} tokens, {self._settings.max_tokens} are allowed",
                "Raise gates.max_tokens in memory.toml, or run the job on less",
            )

    def _check_file_count(self, changes: list[Change], allowed: int) -> None:
        # Pages that only show cards follow from the cards, and those are counted.
        many = sum(not is_page(change.path) for change in changes)
        if many > allowed:
            raise GateError(
                "files",
                f"{counted(many, 'files')} would change, {allowed} may",
                "Raise gates.max_files in memory.toml, or run the job on less",
            )

    def _check_lost_entries(self, lost: int, entries: int) -> None:
        if entries >= _FEW and lost > entries * self._settings.max_loss:
            raise GateError(
                "loss",
                f"{lost} of {entries} entries would go",
                "Look at the plan with --dry-run; raise gates.max_loss if it is right",
            )

    def _check_lost_lines(self, change: Update, before: bytes) -> None:
        if is_generated(before.decode("utf-8", "replace")):
            return  # What it shows are cards, and those are counted.
        old = [line.strip() for line in before.split(b"\n") if line.strip()]
        kept = set(line.strip() for line in change.content.split(b"\n"))
        lost = sum(line not in kept for line in old)
        # Front matter of a note always changes in a few lines: its times and status.
        if len(old) >= 4 * _FEW and lost > len(old) * self._settings.max_loss:
            raise GateError(
                "loss",
                f"{lost} of {len(old)} lines of {change.path} would go",
                "Look at the plan with --dry-run; raise gates.max_loss if it is right",
            )

    def _check_page_size(self, change: Change) -> None:
        if isinstance(change, Delete) or not change.path.endswith(".md"):
            return
        # A page of a session is as long as the session.
        if change.path.startswith("episodic/sessions/"):
            return
        size = len(getattr(change, "content", b""))
        if size > self._settings.max_page_bytes:
            raise GateError(
                "size",
                f"{change.path} would have {size} bytes",
                "Split the page, or raise gates.max_page_bytes in memory.toml",
            )


def split_off_held(
    plan: Plan, render: Render, gates: JobGates, before: Read
) -> tuple[Plan, list[Change]]:
    """Return a plan without the parts that a gate holds, each named, and its changes.

    A part is a note, together with the notes it replaces or is linked with, or a page. What a
    person asked for is done whole or not at all.

    Raises:
        GateError: nothing would be left, or a person asked for what may not be done.
    """
    held: dict[str, GateError] = {}
    parts = render.parts(plan.steps)
    for note, changes in parts:
        # Typed steps decide about cards and events, and git has what they said before.
        free = plan.asked or isinstance(note, Card | Event)
        _check_part(held, note.id, gates, changes, {} if free else before(changes))
    for change in plan.changes:
        _check_part(held, change.path, gates, [change], {} if plan.asked else before([change]))
    pages = [change for change in plan.changes if change.path not in held]
    gone = _with_related(set(held), [note for note, _ in parts])
    kept = [*pages, *(change for note, found in parts for change in found if note.id not in gone)]
    if held and (plan.asked or not kept):
        raise next(iter(held.values()))
    steps = tuple(step for step in plan.steps if step.note.id not in gone)
    reasons = tuple(f"{error.why}. {error.remedy}." for error in held.values())
    left = replace(plan, steps=steps, changes=tuple(pages), left_out=(*plan.left_out, *reasons))
    return left, kept


def _check_part(
    held: dict[str, GateError],
    name: str,
    gates: JobGates,
    changes: list[Change],
    texts: Mapping[str, bytes],
) -> None:
    try:
        gates.check_part(changes, texts)
    except GateError as error:
        held[name] = error


def _with_related(ids: set[str], notes: list[Note]) -> set[str]:
    """Return the ids of held notes and of those that only make sense together with them."""
    found = set(ids)
    for note in notes:
        if not isinstance(note, Card):
            continue
        related = {*note.supersedes, *(link.to for link in note.links)}
        if note.id in ids:
            found |= related
        # A card that replaces a held one would leave nothing in its place.
        elif related & ids:
            found.add(note.id)
    return found


_HIDDEN = frozenset({str(Status.SUPERSEDED), str(Status.ARCHIVED)})
"""What recall does not show unless it is asked for."""


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Asks the cases of a memory about the pages a job would write.

    The words of each planned page are held against the words of each question, as
    recall would do it; what the page said before the job does not count.
    """

    store: Store
    host: Host
    clock: Callable[[], datetime]
    sizes: ChunkSizes

    def check(self, changes: Sequence[Change], before: Mapping[str, bytes]) -> None:
        """Raise GateError when a planned page answers a question with what is forbidden.

        Args:
            changes: what the job would write.
            before: bytes of the files it would update or delete, by path.
        """
        cases = [case for case in self._load_cases() if case.forbid]
        if not cases:
            return
        # A page that moves said the same before; a session that is archived is no page.
        deleted = (change.path for change in changes if isinstance(change, Delete))
        gone = {path for path in deleted if path.endswith(".md")}
        for change in changes:
            if not isinstance(change, Create | Update) or not change.path.endswith(".md"):
                continue
            # Recall never shows the other pages, so they cannot break a case.
            if is_searchable(change.path):
                old = {path for path in before if path == change.path or path in gone}
                known = [unit for path in old for unit in self._visible_units(path, before[path])]
                fresh = self._visible_units(change.path, change.content)
                self._check_cases(cases, fresh, known)

    def _check_cases(self, cases: Iterable[Case], fresh: list[Unit], known: list[Unit]) -> None:
        words = Words(self.host)
        texts, old = list(map(_id_and_text, fresh)), list(map(_id_and_text, known))
        for case in cases:
            for word in case.forbid:
                # A page that said so before is no fault of this job.
                found = set(hits_of(word, texts)) if not any(hits_of(word, old)) else set()
                if not found:
                    continue
                asked = set(words.of_query(Query(text=case.query), self.clock()))
                for unit in fresh:
                    if unit.id in found and not asked.isdisjoint(words.of_unit(unit)):
                        raise _build_error(case, word, unit)

    def _visible_units(self, path: str, content: bytes) -> list[Unit]:
        units, _ = guard(path, content, self._split_text)
        return [unit for unit in units if unit.status not in _HIDDEN]

    def _split_text(self, text: str) -> list[Chunk]:
        return list(self.host.answer("split_note", text=text, sizes=self.sizes) or ())

    def _load_cases(self) -> Iterator[Case]:
        """Yield the cases that can be read; ``eval`` reports the others."""
        for path in filter(is_eval, self.store.files(FOLDER)):
            try:
                yield from read_cases(decode(self.store.read(path), path), path)
            except FormatError:
                continue


def _id_and_text(unit: Unit) -> tuple[str, str]:
    return unit.id, f"{unit.title}\n{unit.text}"


def _build_error(case: Case, word: str, unit: Unit) -> GateError:
    return GateError(
        "evals",
        f"{unit.path} would answer {case.query!r} with {word!r}, which {case.path} forbids",
        "Look at the plan with --dry-run; correct what it rests on, or the case",
    )
