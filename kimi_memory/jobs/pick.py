"""Picking: one change of another copy, or what it says of some things, without the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kimi_memory.domain.job import Operation, Plan, replaced
from kimi_memory.domain.note import Card
from kimi_memory.domain.pages import Event
from kimi_memory.errors import NotFoundError
from kimi_memory.formats.page_lines import sign_of
from kimi_memory.jobs.merging import join_files, list_changes, name_changes, read_trees
from kimi_memory.jobs.planner import JobContext
from kimi_memory.merge.kinds import TOMBSTONES, is_session, is_view
from kimi_memory.merge.note_files import read_notes
from kimi_memory.merge.trees import Tree
from kimi_memory.store.notes.notes import Shelf


class Choice(NamedTuple):
    """What is taken, and from where."""

    theirs: str
    """The commit of the other copy that has it."""
    names: tuple[str, ...]
    """The job or the commit that a person named; or keys, ids and sessions (``session:ID``)."""
    before: str = ""
    """The commit before, where one change is taken; empty for a part."""


class Pick:
    """Plans to take over a part of what another copy has, with the turns it rests on.

    Args:
        context: the memory.
        choice: what is taken.
    """

    kind = "pick"

    def __init__(self, context: JobContext, choice: Choice) -> None:
        self._context, self._choice = context, choice
        self.files: Tree = {}
        """What becomes of the files, with those that follow from others."""

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the files as they are.

        Raises:
            NotFoundError: the other copy has something of it not at all.
        """
        merger, theirs = self._context.history.merger(), self._choice.theirs
        before = self._choice.before
        bases = merger.bases(theirs)
        commits = [before or bases[0], theirs, merger.ours]
        shared, old, new, ours = read_trees(merger, bases, commits)
        if not before:
            old = shared
        picked = self._pick_change(old, new) if before else self._pick_notes(old, new)
        talk = set(map(_session_of, self._choice.names)) | _list_sessions(new, picked)
        base = _files_at(shared, _sessions_at(shared, talk)) | _files_at(old, picked)
        side = _files_at(new, picked | _sessions_at(new, talk))
        # All notes of ours: one of them may be the same elsewhere, or rest on turns that move.
        here = {*base, *side, *_sessions_at(ours, talk), *_list_pages(ours), TOMBSTONES}
        store = self._context.store
        now = {path: store.read(path) for path in sorted(here) if store.exists(path)}
        there, merged = join_files(store, base, now, side)
        self.files = merged.files
        changes = list_changes(there, merged.files)
        return Plan(
            kind=self.kind,
            subject=", ".join(self._choice.names),
            inputs=name_changes(store, self.kind, changes),
            changes=tuple(changes),
            decided=tuple(list_operations(there, merged.files, "as another copy has it")),
            asked=True,
            brought=True,
        )

    def _pick_change(self, old: Tree, new: Tree) -> set[str]:
        """Return the paths that the change is about; pages follow from the cards."""
        paths = {path for path in {*old, *new} if old.get(path) != new.get(path)}
        found = {path for path in paths if not (is_view(path) or is_page(path, old, new))}
        if not found:
            raise NotFoundError("change or note", *self._choice.names)
        return found

    def _pick_notes(self, old: Tree, new: Tree) -> set[str]:
        """Return where the notes lie that the other copy changed, and that are meant."""
        notes = [n for tree in (old, new) for n in read_notes(_list_pages(tree), {}, {}).values()]
        found = set[str]()
        for name in self._choice.names:
            at = {f.path for f in notes if name and name in {f.note.id, getattr(f.note, "key", "")}}
            if not at and not _sessions_at({**old, **new}, {_session_of(name)}):
                raise NotFoundError("change or note", name)
            found |= at
        return found


def list_operations(now: Tree, files: Tree, why: str) -> Iterator[Operation]:
    """Yield what becomes of notes that are others than before."""
    before, after = (read_notes(_list_pages(tree), {}, {}) for tree in (now, files))
    for id in sorted({*before, *after}):
        old, new = before.get(id), after.get(id)
        one = new or old
        if old != new and one is not None:
            there, stays = old is not None, new is not None
            yield replaced(one.note, there=there, stays=stays, why=why)


def is_page(path: str, *trees: Tree) -> bool:
    """Whether a page is made of other files."""
    texts = (tree[path].decode("utf-8", "replace") for tree in trees if path in tree)
    return path.endswith(".md") and any(map(sign_of, texts))


def _list_pages(tree: Tree) -> dict[str, bytes]:
    """Return the files that may be notes."""
    pages = {path: content for path, content in tree.items() if path.endswith(".md")}
    return {path: pages[path] for path in pages if not (is_view(path) or is_page(path, pages))}


def _session_of(name: str) -> str:
    """Return the id of a session that is named; empty where it is something else."""
    start, _, id = name.partition(":")
    return id if start == "session" else ""


def _files_at(tree: Tree, paths: Iterable[str]) -> dict[str, bytes]:
    return {path: tree[path] for path in sorted(paths) if path in tree}


def _list_sessions(tree: Tree, paths: set[str]) -> set[str]:
    """Return the sessions on which the notes of some files rest."""
    notes = [one.note for one in read_notes(_list_pages(_files_at(tree, paths)), {}, {}).values()]
    sources = {source.session for note in notes for source in note.sources}
    cited = (note.quotes for note in notes if isinstance(note, Card | Event))
    return sources | {quote.session for quotes in cited for quote in quotes}


def _sessions_at(tree: Tree, ids: set[str]) -> set[str]:
    """Return where the records of sessions lie, and what people see of them."""
    names = {f"session_{id}.{end}" for id in ids for end in ("jsonl", "md")}
    talk = (path for path in tree if is_session(path) or is_view(path))
    return {path for path in talk if path.rpartition("/")[2] in names}
