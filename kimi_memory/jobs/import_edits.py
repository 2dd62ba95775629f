"""Two-way pages: what a person changed on generated pages, taken over into the cards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import Op, Plan, digest_of
from kimi_memory.domain.note import Card, CardType, Lang, Status
from kimi_memory.domain.pages import Proposal
from kimi_memory.errors import FormatError
from kimi_memory.formats.codec import slug
from kimi_memory.formats.frontmatter import BOM, decode, read
from kimi_memory.formats.page_lines import (
    BRIEF_TITLES,
    NOTES,
    TITLES,
    UNSURE,
    Line,
    Page,
    is_generated,
    read_page,
    shown,
    sign_of,
    strangers,
    type_of,
)
from kimi_memory.jobs.gates import TombstoneGate
from kimi_memory.jobs.manual_edits import Hand
from kimi_memory.jobs.note_edits import Touch, edited_projects, take_project, touched
from kimi_memory.jobs.page_edits import Edits, Rules, says_same
from kimi_memory.jobs.pages import PAGE, SECTION, Pages, confirmed_notes, unconfirmed_lines
from kimi_memory.jobs.planner import JobContext
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import lines_of
from kimi_memory.store.notes.notes import Shelf, read_tombstones

FEW = 8
"""Below so many lines a share says nothing."""
_VERSIONS = 50
# A page whose merge is not settled says two things at once: its lines are nobody's edits.
_MERGE = re.compile(r"^(?:<{7} |={7}$|>{7} )", re.MULTILINE)
_OWN = (*TITLES.values(), *BRIEF_TITLES.values(), UNSURE, NOTES)
_TITLES = [title for words in _OWN for title in words]


class ImportEdits:
    """Plans what edited pages do to the cards, and writes the pages anew.

    Args:
        context: the memory.
        meant: a person says that lines are gone on purpose, however many.
    """

    kind = "pages"

    def __init__(self, context: JobContext, *, meant: bool = False) -> None:
        self._store, self._history = context.store, context.history
        self._settings, self._meant = context.settings, meant
        barred = TombstoneGate(read_tombstones(context.store))
        self._rules = Rules(barred, context.mask_secrets, context.clock())

    def waiting(self, shelf: Shelf) -> list[str]:
        """Return the pages whose edits were not taken over yet."""
        return Pages(self._store, shelf, self._settings).edited()

    def touched(self, shelf: Shelf) -> list[Touch]:
        """Return the cards whose own files were edited and that say something new since."""
        return list(touched(self._store, self._history, shelf))

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are."""
        waiting, back = self.waiting(shelf), list(self._rules.barred.returned(shelf))
        touches = [touch for touch in self.touched(shelf) if touch.before is not None]
        projects = list(edited_projects(self._store, self._history, shelf))
        stale = sorted(Pages(self._store, shelf, self._settings).outdated())
        # The usual case: nothing to do, and no card was read.
        if not waiting and not back and not touches and not projects and not stale:
            return Plan(kind=self.kind, subject="", inputs="")
        cards = [f.note for f in shelf.notes("card") if isinstance(f.note, Card)]
        edited = [*waiting, *(t.path for t in touches), *(p.path for p in projects)]
        # The words of the pages must not be found by trying, so the journal tells jobs apart.
        marks = digest_of([self.kind, str(self._store.journal.head()[0]), *edited, *stale])
        # Two copies that take in one edit make one session; a purge of any words renames it.
        words = digest_of([self.kind, *map(self._read_text, edited)])
        hand = Hand(self._rules.now, words, self._store.exists)
        pages, edits = Pages(self._store, shelf, self._settings), Edits(cards, self._rules, hand)
        desk = _Desk(edits, shelf, pages.texts(cards, {}) if waiting else {})
        for card in back:
            gone = replace(card, status=Status.ARCHIVED, updated=self._rules.now)
            edits.put(Op.FORGET, gone, "it was forgotten on purpose and came back in a file")
        for touch in touches:
            # A forgotten card is archived above; what its file says must not bring it back.
            if touch.card.id not in {card.id for card in back}:
                self._import_card_edit(touch, desk)
        for project in projects:
            by_agent = bool(self._review_reason(project.path))
            take_project(project, edits, self._rules.now, ticks_only=by_agent)
        taken = self._import_pages(waiting, desk)
        if not taken and not edits.steps and not stale:
            return Plan(kind=self.kind, subject="", inputs="", left_out=tuple(edits.left_out))
        changes, notes = pages.changes(edits.cards.values(), taken, steps=edits.steps)
        notes = [note for note in notes if note.split(" ", 1)[0] not in waiting]
        return Plan(
            kind=self.kind,
            subject=", ".join((*taken, *edited[len(waiting) :], *stale))
            or "forgotten cards that came back",
            inputs=digest_of([self.kind, self._rules.now.isoformat(), marks]),
            steps=edits.steps,
            changes=(*changes, *hand.changes()),
            left_out=(*edits.left_out, *notes),
            asked=True,
        )

    def _import_pages(self, waiting: list[str], desk: _Desk) -> dict[str, str]:
        """Apply the edits of the generated pages; return the reader's own notes on each."""
        taken: dict[str, str] = {}
        for path in waiting:
            try:
                taken[path] = self._import_page(path, desk)
            except FormatError as error:
                desk.edits.left_out.append(str(error))
        return taken

    def _import_card_edit(self, touch: Touch, desk: _Desk) -> None:
        """Take over what somebody wrote into a card's own file."""
        before, card = touch.before, touch.card
        if before is None:
            return
        old = replace(card, value=before.value, title=before.title)
        at = f"{touch.path}:{touch.line}" if touch.line else touch.path
        desk.edits.rewrite(old, card.value, at)

    def _read_text(self, path: str) -> str:
        return self._store.read(path).decode("utf-8", "replace")

    def _review_reason(self, path: str) -> str:
        """Return why the edits of a page go to review; empty when they are taken."""
        vetting = self._store.vetting
        return vetting.standing(path, self._store.read(path)).why if vetting else ""

    def _import_page(self, path: str, desk: _Desk) -> str:
        """Apply the edits of one page; return the reader's own notes on it.

        Raises:
            FormatError: the page cannot be read, or lost more than an edit would take.
        """
        text = decode(self._store.read(path), path)
        page = self._parse_page(text, path)
        generated = self._find_base_page(path, text, desk.generated.get(path, ""))
        base = read_page(read(generated, path).body) if generated else None
        if base is not None and not self._meant:
            self._check_lost_lines(path, page, base, _normalise_lines(text), generated)
        review = self._review_reason(path)
        waits = _Review(desk, path, review, self._rules) if review else None
        for change in _compare_pages(page, base, desk.edits):
            self._apply_change(change, path, desk.edits, waits)
        added = strangers(page, base or read_page(desk.generated.get(path, "")), _TITLES)
        notes = "\n".join(part for part in (page.notes, *added) if part)
        return notes if waits is None else waits.take_notes(notes)

    def _parse_page(self, text: str, path: str) -> Page:
        if found := _MERGE.search(text):
            line = text.count("\n", 0, found.start()) + 1
            raise FormatError(path, line, "a merge left its marks here", "Settle it by hand")
        front = read(text, path)
        if not front.values.get("generated"):
            raise FormatError(
                path, 1, "it was edited by hand and stays as it is: no 'generated' tells its base",
                "Delete the page to have it written anew",
            )  # fmt: skip
        above = text.removesuffix(front.body).count("\n")
        return read_page(front.body, above)

    def _find_base_page(self, path: str, text: str, current: str) -> str:
        """Return the page as it was generated before somebody edited it; empty if unknown."""
        sign = sign_of(text)
        # Nearly always: then no version of git has to be asked for.
        if sign_of(current) == sign:
            return current  # No card on it changed since.
        for commit in self._history.log(limit=_VERSIONS, path=path):
            content = self._history.content(commit.hash, path) or b""
            old = content.decode("utf-8", "replace")
            if sign_of(old) == sign and is_generated(old):
                return old
        return ""

    def _check_lost_lines(
        self, path: str, page: Page, base: Page, text: str, generated: str
    ) -> None:
        lost = len(base.lines.keys() - page.lines.keys())
        many = len(base.lines) >= FEW and lost > len(base.lines) * self._settings.gates.max_loss
        # An empty page is far more often an accident of an editor or a sync tool than a wish.
        whole = lost == len(base.lines) > 1
        # The beginning of what we wrote, cut off: a full disk or a broken copy, not an edit.
        torn = not text.endswith("\n") and generated.startswith(text)
        if lost and (many or whole or (torn and generated[len(text)] != "\n")):
            raise FormatError(
                path, 1, f"{lost} of {len(base.lines)} lines are gone, so nothing was archived",
                "Restore the page, or run 'kimi-memory review pages --yes' if you meant it",
            )  # fmt: skip

    def _apply_change(
        self, change: _Change, path: str, edits: Edits, waits: _Review | None
    ) -> None:
        id, line, before = change
        card = edits.live(id)
        if waits is not None:
            waits.propose_edit(card, line, before)
        elif card is None:
            if line is not None:
                edits.add(line, path, _page_category(path, edits))
        elif line is None:
            if says_same(card, before, shown(card)):
                edits.drop(card, path)
            else:
                # The person deleted another statement than the one that is true now.
                edits.left_out.append(f"{id}: it changed since its line in {path} was deleted")
        elif before is not None and says_same(card, before, shown(card)):
            edits.change(card, line, path, _find_moved_type(line, before))
        elif not says_same(card, line, shown(card)):
            edits.dispute(card, line, path)


_Change = tuple[str, Line | None, Line | None]
"""Id of a card ("" for a new line), its line now, and as it was generated."""


@dataclass(frozen=True, slots=True)
class _Desk:
    """What all pages of one job share."""

    edits: Edits
    shelf: Shelf
    generated: Mapping[str, str]
    """Every page as it would be written without any edit."""


class _Review:
    """Turns the edits of a page into proposals that wait for a person."""

    def __init__(self, desk: _Desk, path: str, why: str, rules: Rules) -> None:
        self._edits, self._shelf, self._path = desk.edits, desk.shelf, path
        self._store = desk.shelf.store
        self._why, self._rules = why, rules

    def propose_edit(self, card: Card | None, line: Line | None, before: Line | None) -> None:
        """Propose one edit."""
        if card is None:
            if line is not None and line.text:
                self._propose_edit("semantic", "new", line.text, line.text)
        elif line is None:
            if before is not None:
                self._propose_edit(self._shelf.find(card.id).path, "status", "archived", card.key)
        elif not says_same(card, line, shown(card)):
            self._propose_edit(self._shelf.find(card.id).path, "line", line.text, card.key)

    def take_notes(self, notes: str) -> str:
        """Propose what was added to the reader's notes, and return those that count."""
        kept = confirmed_notes(self._store, self._path)
        added = unconfirmed_lines(notes, kept)
        if added:
            self._propose_edit(self._path, SECTION, "\n".join(added), added[0].strip("# "))
        if gone := len(unconfirmed_lines(kept, notes)):
            lines = "1 line" if gone == 1 else f"{gone} lines"
            said = f"{lines} taken out of its notes stay there: {self._why}"
            self._edits.left_out.append(f"{self._path}: {said}")
        return kept

    def _propose_edit(self, target: str, section: str, text: str, title: str) -> None:
        text, now = self._rules.mask(text), self._rules.now
        proposal = Proposal(
            id=derived_id("proposal", now, self._path, target, section, text),
            created=now,
            updated=now,
            status=Status.CANDIDATE,
            lang=Lang.ZH if any("\u3400" <= ch <= "\u9fff" for ch in text) else Lang.EN,
            title=title[:60],
            target=target,
            section=section,
            text=text,
            reason=f"{self._path}: {self._why}",
        )
        if self._rules.barred.note(proposal):
            self._edits.left_out.append(f"{text[:60]}: it was rejected before")
        else:
            self._edits.propose(proposal, self._why)


def _compare_pages(page: Page, base: Page | None, edits: Edits) -> Iterator[_Change]:
    """Yield what differs between a page and its base, in the order of the page."""
    before = base.lines if base else {}
    spare = {line.id: line for line in page.fresh if line.id}
    fresh = list(page.fresh)
    for id, line in page.lines.items():
        card = edits.cards.get(id)
        if base is None and card is None and not id.startswith("card-"):
            continue  # It repeats a turn or a project, and nothing tells whether it was edited.
        double = spare.get(id)
        if card is not None and double is not None and says_same(card, double, before.get(id)):
            # Of two lines of one card the changed one is a copy that became a new line.
            fresh[fresh.index(double)] = line
            continue
        old = before.get(id)
        known = says_same(card, line, old) if card else line.text == (old.text if old else None)
        if not known or (old and _find_moved_type(line, old)):
            yield id, line, old
    for id, old in before.items():
        if id not in page.lines:
            yield id, None, old
    for line in fresh:
        yield "", replace(line, id=""), None


def _find_moved_type(line: Line, before: Line) -> CardType | None:
    """Return the type of the heading that a line was moved under; None where it was not."""
    now = type_of(line.section)
    return None if now is type_of(before.section) else now


def _page_category(path: str, edits: Edits) -> str:
    """Return the category that a new line on a page belongs to."""
    if path == PAGE or path.count("/") > 1:
        return "general"
    stem = PurePosixPath(path).stem
    names = (card.category for card in edits.cards.values() if slug(card.category) == stem)
    return next(names, stem)


def _normalise_lines(text: str) -> str:
    return "\n".join(lines_of(text.removeprefix(BOM)))
