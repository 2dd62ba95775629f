"""Gates: what a draft or a whole job must pass before a byte is written.

What a gate holds back of a job is left out, so that the rest goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from kimi_memory.config import GatesTable
from kimi_memory.domain.change import Change, Delete, Update
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Op, Plan, Spent, Step
from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.pages import Event
from kimi_memory.domain.tombstone import PURGED, Tombstones
from kimi_memory.errors import GateError
from kimi_memory.formats.page_lines import is_generated, with_reason
from kimi_memory.jobs.pages import is_page
from kimi_memory.jobs.planner import JobContext
from kimi_memory.jobs.render import Render
from kimi_memory.jobs.tombstone_gate import WHY, TombstoneGate
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.store.notes.notes import read_tombstones

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
