"""Reviewing: what waits for a person's word, taken into memory or turned away for good."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime

from kimi_memory.domain.job import Append, Change, Delete, Op, Plan, Step, digest, digest_of
from kimi_memory.domain.note import Card, Note, Origin, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.pages import Proposal, Todo
from kimi_memory.domain.tombstone import Tombstone, Tombstones
from kimi_memory.errors import FormatError, NotFoundError, UsageError
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.formats.page_lines import Line
from kimi_memory.jobs.forget import Forget
from kimi_memory.jobs.gates import TombstoneGate, page_scope, subject_of
from kimi_memory.jobs.manual_edits import Hand
from kimi_memory.jobs.page_edits import Edits, Rules
from kimi_memory.jobs.pages import SECTION as NOTES
from kimi_memory.jobs.pages import Pages, confirmed_notes, is_page
from kimi_memory.jobs.planner import JobContext
from kimi_memory.jobs.suggestions import PREFIX, suggestions
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import Filed, Shelf

NEW, LINE, STATUS = "new", "line", "status"
"""Sections of proposals that are about cards: a new one, its line, its status."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person says to something that waits."""

    accept: bool
    text: str = ""
    """Accepted with these words instead of the proposed ones."""
    why: str = ""
    shown: str = ""
    """The fingerprint of what the person read, see `Waiting`; empty where nothing is compared."""


class Review:
    """Plans what an answer does.

    Args:
        context: the memory.
        id: of a proposal or a candidate card, or its beginning.
        answer: what the person says.
    """

    kind = "review"

    def __init__(self, context: JobContext, id: str, answer: Answer) -> None:
        self._context, self._store, self._settings = context, context.store, context.settings
        self._now, self._id = context.clock(), id
        self._answer = replace(answer, text=context.mask_secrets(answer.text).strip())

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are.

        Raises:
            NotFoundError: nothing has that id.
            UsageError: it does not wait, or cannot be applied.
        """
        id, answer = self._id, self._answer
        if id.startswith(PREFIX):
            return self._review_link(shelf, id, answer)
        filed = shelf.file(shelf.find(id).path)
        note = filed.note
        if isinstance(note, Proposal):
            return self._review_proposal(shelf, filed, note, answer)
        if isinstance(note, Card) and note.status is Status.CANDIDATE:
            return self._review_candidate(shelf, note, answer)
        raise UsageError(
            f"{note.id} does not wait for review; it is a {note.kind} ({note.status})."
        )

    def _review_link(self, shelf: Shelf, id: str, answer: Answer) -> Plan:
        accept = self._settings.introspect.accept
        fits = [one for one in suggestions(shelf, accept) if one.id.startswith(id)]
        if len(fits) != 1:
            raise NotFoundError("suggested link", id)
        [one] = fits
        steps = one.accepted(self._now, answer.text) if answer.accept else one.rejected(self._now)
        return self._build_plan(shelf, one.id, steps, [])

    def _review_candidate(self, shelf: Shelf, card: Card, answer: Answer) -> Plan:
        if not answer.accept:
            wanted = Wanted(note=card.id, why=answer.why or "rejected in review")
            # A rejected card is forgotten, so that the next session does not propose it again.
            return replace(Forget(self._context, wanted).plan(shelf), kind=self.kind)
        hand = Hand(self._now, f"{self._now} {self.kind} {card.id}", self._store.exists)
        sure = self._confirm_card(card)
        if answer.text:
            sure = hand.proved(sure, answer.text, f"review {card.id}")
            sure = replace(sure, valid_from=self._now)
        steps = [Step(Op.REFINE, sure, "a person accepted it")]
        return self._build_plan(shelf, card.id, steps, list(hand.changes()))

    def _confirm_card(self, card: Card) -> Card:
        now = self._now
        return replace(
            card, status=Status.ACTIVE, confidence=1.0, trust=Origin.HUMAN, verified=now,
            updated=now,
        )  # fmt: skip

    def _review_proposal(
        self, shelf: Shelf, filed: Filed, proposal: Proposal, answer: Answer
    ) -> Plan:
        # With its digest: a proposal that was edited meanwhile is not deleted unread.
        gone = Delete(filed.path, digest(self._store.read(filed.path)))
        if not answer.accept:
            stone = self._build_tombstone(shelf, proposal, answer)
            lines = (tombstone_line(stone),)
            return self._build_plan(shelf, proposal.id, [], [Append(TOMBSTONES, lines), gone])
        proposal = replace(proposal, text=answer.text or proposal.text)
        if proposal.section == NOTES and is_page(proposal.target):
            return self._add_page_notes(shelf, proposal, gone)
        hand = Hand(self._now, f"{self._now} {self.kind} {proposal.id}", self._store.exists)
        new = self._apply_proposal(shelf, proposal, hand)
        op = Op.REFINE if new.id in shelf.entries() else Op.ADD
        op = Op.ARCHIVE if new.status is Status.ARCHIVED else op
        step = Step(op, new, f"a person accepted {proposal.id}")
        return self._build_plan(shelf, proposal.id, [step], [gone, *hand.changes()])

    def _add_page_notes(self, shelf: Shelf, proposal: Proposal, gone: Change) -> Plan:
        """Add what a proposal says to the reader's notes on a generated page."""
        path, pages = proposal.target, Pages(self._store, shelf, self._settings)
        if not self._store.exists(path) or not pages.is_free(path):
            raise UsageError(
                f"{path} is gone, or was edited and not taken over. "
                f"Run 'kimi-memory review pages', then accept {proposal.id} again."
            )
        notes = confirmed_notes(self._store, path)
        more = "\n".join(part for part in (notes, proposal.text.strip()) if part)
        plan = self._build_plan(shelf, proposal.id, [], [gone])
        changes, left_out = pages.changes(shelf.heads(), {path: more})
        changed = (*plan.changes, *changes)
        return replace(plan, changes=changed, left_out=tuple(left_out))

    def _build_plan(
        self, shelf: Shelf, subject: str, steps: list[Step], changes: list[Change]
    ) -> Plan:
        pages: list[Change] = []
        left_out: list[str] = []
        new = {step.note.id: step.note for step in steps if isinstance(step.note, Card)}
        if any(step.op is not Op.LINK for step in steps):  # No page shows links.
            old = (f.note for f in shelf.notes("card") if isinstance(f.note, Card))
            cards = {card.id: card for card in old} | new
            pages, left_out = Pages(self._store, shelf, self._settings).changes(cards.values())
        return Plan(
            kind=self.kind,
            subject=subject,
            inputs=digest_of([self.kind, subject, self._now.isoformat()]),
            steps=tuple(steps),
            changes=(*changes, *pages),
            left_out=tuple(left_out),
            asked=True,
        )

    def _apply_proposal(self, shelf: Shelf, proposal: Proposal, hand: Hand) -> Note:
        """Return the note as the proposal wants it."""
        if proposal.section == NEW:
            edits = self._build_edits(shelf, hand)
            card = edits.proposed(Line(proposal.text), proposal.id, "general")
            if card is None:
                raise UsageError(f"What {proposal.id} says is known already; reject it.")
            return self._confirm_card(card)
        note = self._read_target(shelf, proposal)
        if isinstance(note, Card) and proposal.section == LINE:
            edits = self._build_edits(shelf, hand)
            changed = edits.edited(note, Line(proposal.text), f"review {proposal.id}")
            if changed is None:
                raise UsageError(f"{proposal.id} says nothing; reject it, or give a text.")
            return changed
        if proposal.section == STATUS:
            return replace(note, status=Status(proposal.text.strip()), updated=self._now)
        return self._fill_section(note, proposal)

    def _read_target(self, shelf: Shelf, proposal: Proposal) -> Note:
        try:
            return shelf.file(proposal.target).note
        except NotFoundError:
            raise UsageError(
                f"{proposal.target}, which {proposal.id} would change, is gone; reject it."
            ) from None
        except FormatError as error:
            raise UsageError(f"{error} Then accept {proposal.id} again.") from error

    def _fill_section(self, note: Note, proposal: Proposal) -> Note:
        """Return a page with the text in the section that the proposal names."""
        section = proposal.section
        held = getattr(note, section, None) if section in _editable_sections(note) else None
        text = proposal.text.strip()
        match held:
            case str():
                return _set_section(note, section, text, self._now)
            case tuple():
                item = Todo(text) if section == "todos" else text
                kept = held if item in held else (*held, item)
                return _set_section(note, section, kept, self._now)
        raise UsageError(
            f"{proposal.target} has no section {section!r}. "
            f"Write it there by hand, then reject {proposal.id}."
        )

    def _build_edits(self, shelf: Shelf, hand: Hand) -> Edits:
        cards = [f.note for f in shelf.notes("card") if isinstance(f.note, Card)]
        return Edits(
            cards, Rules(TombstoneGate(Tombstones(())), lambda text: text, self._now), hand
        )

    def _build_tombstone(self, shelf: Shelf, proposal: Proposal, answer: Answer) -> Tombstone:
        why = answer.why or "rejected in review"
        scope, key = page_scope(proposal.target, proposal.section), subject_of(proposal)
        value = proposal.text
        if proposal.section == NEW:
            scope, (key, value) = "memory", Line(proposal.text).key_and_value()
        elif proposal.section == LINE:
            note = self._read_target(shelf, proposal)
            if isinstance(note, Card):
                scope = f"project:{note.project}" if note.project else "memory"
                key, value = Line(proposal.text).key_and_value(note.key)
        return Tombstone(scope, key, normalise(value), self._now, self._context.actor.name, why)


def _editable_sections(note: Note) -> frozenset[str]:
    """Return what of a page a proposal may change: its texts and lists."""
    shared = {field.name for field in fields(Note)}
    # A proposal may come from a model: it must not change the key or the evidence of a note.
    return frozenset(field.name for field in fields(note)) - shared - {"key", "quotes", "links"}


def _set_section(note: Note, section: str, value: object, now: datetime) -> Note:
    changed: dict[str, object] = {section: value, "updated": now}
    return replace(note, **changed)  # type: ignore[arg-type]  # the section's own type, see _fill_section
