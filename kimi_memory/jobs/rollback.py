"""Rolling back: what was known at an earlier point, as a new version of the memory.

What was said, forgotten, purged or done since is never taken back: sessions, tombstones, records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kimi_memory.config import MARKER
from kimi_memory.domain.job import Change, Op, Operation, Plan, Step, replaced
from kimi_memory.domain.note import LIVE, Card, Note
from kimi_memory.domain.pages import Digest, Project
from kimi_memory.errors import FormatError, GateError
from kimi_memory.formats.page_lines import sign_of
from kimi_memory.jobs.gates import TombstoneGate
from kimi_memory.jobs.merging import list_changes, name_changes
from kimi_memory.jobs.pages import Pages
from kimi_memory.jobs.planner import JobContext
from kimi_memory.merge.files import beside
from kimi_memory.merge.kinds import is_record, is_session, is_view
from kimi_memory.merge.note_files import NoteFile, read_notes
from kimi_memory.merge.placing import mark_of
from kimi_memory.merge.sessions import SessionFile, merge_sessions, read_sessions
from kimi_memory.merge.trees import Tree
from kimi_memory.store.notes.notes import Shelf, read_tombstones

_FEW = 8
"""Below so many beliefs a share says nothing."""


class Target(NamedTuple):
    """Where a memory goes back to."""

    commit: str
    name: str
    """What people call it, such as ``v12``."""
    only: tuple[str, ...] = ()
    """Paths, keys, ids or ``agent:NAME``; everything if empty."""
    apart: Mapping[str, bytes | None] = {}
    """What copies had otherwise that had not met then; None for what one of them had deleted."""

    def selects(self, path: str, note: Note | None = None) -> bool:
        """Whether a file, with the note in it, goes back."""
        return not self.only or any(_fits(what, path, note) for what in self.only)


class Returned(NamedTuple):
    """A note as it is and as it was; None where it is not there."""

    now: Note | None
    then: Note | None


class Rollback:
    """Plans an earlier state of a memory, but for what happened.

    Args:
        context: the memory.
        target: where it goes back to.
        sure: a person saw how much goes, and means it.
    """

    kind = "rollback"

    def __init__(self, context: JobContext, target: Target, *, sure: bool = False) -> None:
        self._context, self._target, self._sure = context, target, sure
        self._store = context.store
        self.notes = dict[str, Returned]()
        """What becomes of each note that changes, once it was planned."""

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the files as they are."""
        merger, self._left_out = self._context.history.merger(), list[str]()
        then, here = merger.read([self._target.commit, merger.ours]).trees
        paths = sorted({*then, *here, *self._target.apart})
        known = {**then, **self._target.apart}
        then = {path: content for path, content in known.items() if content is not None}
        now = {path: self._store.read(path) for path in paths if self._store.exists(path)}
        changes = list_changes(now, self._return_files(now, then))
        if not self._sure:
            self._check_losses(shelf)
        listed = {change.path for change in changes}
        pages = self._rewrite_pages(shelf) if changes else []
        return Plan(
            kind=self.kind,
            subject=" ".join((self._target.name, *self._target.only)),
            inputs=name_changes(self._store, self.kind, changes),
            changes=(*changes, *(page for page in pages if page.path not in listed)),
            decided=tuple(self._list_operations()),
            left_out=tuple(self._left_out),
            asked=True,
        )

    def _return_files(self, now: Tree, then: Tree) -> dict[str, bytes]:
        """Return the files as they are, with those that go back as they were."""
        # Turns that moved to another session in a merge since are quoted there.
        moves = merge_sessions({}, _read_sessions(then), _read_sessions(now)).ours
        others, earlier = dict[str, bytes](), dict[str, bytes]()
        notes = read_notes(self._list_free(now), others, {})
        old = read_notes(self._list_free(then), earlier, moves)
        going = [
            id
            for id in sorted({*notes, *old})
            if self._may_return(notes.get(id), old.get(id), then)
        ]
        self.notes = {id: _compare(notes.get(id), old.get(id)) for id in going}
        wanted = [
            path
            for path in sorted({*others, *earlier})
            if self._target.selects(path) and self._is_sure(path, then.get(path))
        ]
        gone = {notes[id].path for id in going if id in notes} | {*wanted}
        files = {path: content for path, content in now.items() if path not in gone}
        for one in (old[id] for id in going if id in old):
            files[_find_free(files, one.path, one.note.id.encode())] = one.text.encode()
        for path in (path for path in wanted if path in earlier):
            files[_find_free(files, path, earlier[path])] = earlier[path]
        return files

    def _list_free(self, tree: Tree) -> dict[str, bytes]:
        """Return the files of a tree that may go back; generated pages follow from the cards."""
        return {
            path: content
            for path, content in tree.items()
            if not (is_session(path) or is_view(path) or is_record(path))
            # What a memory may do is no knowledge: it goes back only where it is named.
            and (path != MARKER or MARKER in self._target.only)
            and not (path.endswith(".md") and sign_of(content.decode("utf-8", "replace")))
        }

    def _may_return(self, now: NoteFile | None, then: NoteFile | None, tree: Tree) -> bool:
        """Whether a note is to go back, and may; what may not is left out by name."""
        sides = [one for one in (now, then) if one is not None]
        if now == then or not any(self._target.selects(one.path, one.note) for one in sides):
            return False
        if then is None:
            return True
        if TombstoneGate(read_tombstones(self._store)).note(then.note):
            self._left_out.append(f"{then.note.id}: it was forgotten or rejected on purpose")
            return False
        return self._is_sure(then.path, tree.get(then.path))

    def _is_sure(self, path: str, content: bytes | None) -> bool:
        """Whether an earlier version counted then; a file that nobody confirmed stays away."""
        vetting = self._store.vetting
        if content is None or vetting is None or not vetting.find_unconfirmed([(path, content)]):
            return True
        self._left_out.append(f"{path}: nobody confirmed what it said then")
        return False

    def _check_losses(self, shelf: Shelf) -> None:
        """Stop where more beliefs would go than the settings allow."""
        live = sum(one.kind == Card.kind and one.status in LIVE for one in shelf.entries().values())
        lost = sum(_is_live(one.now) and not _is_live(one.then) for one in self.notes.values())
        if live >= _FEW and lost > live * self._context.settings.gates.max_loss:
            raise GateError(
                "loss",
                f"{lost} of {live} beliefs would go",
                "Look at them with --dry-run; if it is meant, add --yes",
            )

    def _list_operations(self) -> Iterator[Operation]:
        why = f"as it was in {self._target.name}"
        for now, then in self.notes.values():
            if (note := then or now) is not None:
                yield replaced(note, there=now is not None, stays=then is not None, why=why)

    def _rewrite_pages(self, shelf: Shelf) -> list[Change]:
        """Return the changes of pages that show other cards than before."""
        found = (one.note for one in shelf.notes(Card.kind))
        cards = {note.id: note for note in found if isinstance(note, Card)}
        for id, one in self.notes.items():
            cards.pop(id, None)
            if isinstance(one.then, Card):
                cards[id] = one.then
        shown = [one.then for one in self.notes.values() if isinstance(one.then, Digest | Project)]
        steps = [Step(Op.REFINE, note, self._target.name) for note in shown]
        pages = Pages(self._store, shelf, self._context.settings)
        changes, left_out = pages.changes(cards.values(), steps=steps)
        self._left_out += left_out
        return changes


def _fits(what: str, path: str, note: Note | None) -> bool:
    """Whether a path, a key, an id or ``agent:NAME`` means a file."""
    kind, _, name = what.partition(":")
    if kind == "agent" and name:
        return path.startswith(f"mid-term/agents/{name}/") or getattr(note, "scope", "") == what
    if path == what or path.startswith(f"{what.rstrip('/')}/"):
        return True
    key = getattr(note, "key", "")
    return note is not None and (what in {note.id, key} or key.startswith(f"{what}."))


def _compare(now: NoteFile | None, then: NoteFile | None) -> Returned:
    return Returned(now.note if now else None, then.note if then else None)


def _find_free(files: Tree, path: str, mark: bytes) -> str:
    """Return where a file goes; its path may be that of another one by now."""
    return beside(path, mark_of(mark)) if path in files else path


def _is_live(note: Note | None) -> bool:
    return isinstance(note, Card) and note.status in LIVE


def _read_sessions(tree: Tree) -> dict[str, SessionFile]:
    found = dict[str, SessionFile]()
    for path in filter(is_session, sorted(tree)):
        try:
            found |= read_sessions(path, tree[path])
        except (ValueError, FormatError):
            continue  # Nothing can be said of a file that is none.
    return found
