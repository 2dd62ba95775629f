"""Adopting: all that another memory knows, with its sessions, beside what is known here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from kimi_memory.config import MARKER
from kimi_memory.domain.job import Plan
from kimi_memory.domain.note import Note
from kimi_memory.domain.pages import Agent, Day, Identity, Project
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.job_file import FOLDER
from kimi_memory.jobs.merging import join_files, list_changes, name_changes
from kimi_memory.jobs.pages import is_first_page
from kimi_memory.jobs.pick import is_page, list_operations
from kimi_memory.jobs.planner import JobContext
from kimi_memory.merge.files import conflict_path
from kimi_memory.merge.kinds import is_record, is_session, is_view
from kimi_memory.merge.trees import Joined, Tree
from kimi_memory.store.files.paths import is_kept
from kimi_memory.store.notes.notes import Shelf

_ONE_A_PLACE = (Agent, Day, Project)
"""Of these a memory has one at a place, whatever its id: lists that can be joined."""


class Adopted(NamedTuple):
    """Another memory as it is, and as it was when it was adopted last."""

    name: str
    """Its id and its commit."""
    files: Tree
    before: Tree
    """Empty the first time, where neither is a fork of the other."""


class AdoptMemory:
    """Plans to take over all that another memory knows.

    What says who this memory is (settings, identity, a person's own texts) stays as it is; the
    other version of it goes to the folder of conflicts.

    Args:
        context: the memory.
        other: what is adopted.
    """

    kind = "adopt"

    def __init__(self, context: JobContext, other: Adopted) -> None:
        self._context, self._other = context, other
        self.joined: Joined | None = None
        """What becomes of the files, once it was planned."""

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the files as they are."""
        store = self._context.store
        now = _pick_known({path: store.read(path) for path in store.files() if is_kept(path)})
        before, theirs = (_pick_known(one) for one in (self._other.before, self._other.files))
        there, self.joined = join_files(store, *_fit(before, now, theirs))
        changes = list_changes(there, self.joined.files)
        return Plan(
            kind=self.kind,
            subject=self._other.name,
            inputs=name_changes(store, self.kind, changes),
            changes=tuple(changes),
            decided=tuple(list_operations(there, self.joined.files, "as another memory has it")),
            # A person asked for all of it, however much that is.
            room=len(changes),
            asked=True,
            brought=True,
        )


def _pick_known(tree: Tree) -> Tree:
    """Return the files that say what is known, and what was said.

    Left out are the settings, pages made of many files, and records of jobs: those name commits of
    a history that stays where it is.
    """
    return {
        path: content
        for path, content in tree.items()
        if not (path == MARKER or path.startswith(f"{FOLDER}/")) and not is_page(path, tree)
    }


def _fit(before: Tree, now: Tree, theirs: Tree) -> tuple[Tree, Tree, Tree]:
    """Return the trees so that what is this memory's own stays in a merge."""
    base, side = dict(before), dict(theirs)
    for path, mine, other in _find_clashes(before, now, theirs):
        note = codec.read_note(mine, path)
        if isinstance(note, _ONE_A_PLACE):
            for tree in (base, side):
                if path in tree:
                    tree[path] = _with_id(tree[path], note, path)
            continue
        base.pop(path, None)
        del side[path]
        if other != before.get(path) and not is_first_page(path, other):
            side[conflict_path(path, other)] = other
    return base, now, side


def _find_clashes(before: Tree, now: Tree, theirs: Tree) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the paths of which a memory has one, and both have it otherwise."""
    for path in sorted(theirs.keys() & now.keys()):
        mine, other = now[path], theirs[path]
        # What nobody changed here since it was adopted goes on as the other memory has it.
        if mine in (other, before.get(path)) or _is_of_talk(path) or is_record(path):
            continue
        notes = [codec.read_note(one, path) for one in (mine, other)]
        if not any(note is not None and not _is_one(note) for note in notes):
            yield path, mine, other


def _is_of_talk(path: str) -> bool:
    return is_session(path) or is_view(path)


def _is_one(note: Note) -> bool:
    return isinstance(note, (*_ONE_A_PLACE, Identity))


def _with_id(content: bytes, note: Note, path: str) -> bytes:
    """Return a page of the other memory under the id that the page here has."""
    other = codec.read_note(content, path)
    if other is None or other.id == note.id or type(other) is not type(note):
        return content
    text = content.decode("utf-8")
    try:
        return codec.patch(text, other, replace(other, id=note.id), path).encode()
    except FormatError:
        return content
