"""From steps to changes: each note's file made, patched or moved."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import chain, count
from pathlib import PurePosixPath

from kimi_memory.domain.change import Change, Create, Delete, Update, digest
from kimi_memory.domain.job import Step
from kimi_memory.domain.note import Note
from kimi_memory.errors import WaitingError
from kimi_memory.formats import codec
from kimi_memory.store.files.merge_marks import marks_in
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.store import Store


class Render:
    """Turns the steps of one job into changes of files.

    Args:
        store: read for the bytes of files as they are.
        shelf: tells where the notes lie.
    """

    def __init__(self, store: Store, shelf: Shelf) -> None:
        self._store, self._shelf = store, shelf
        self._taken: set[str] = set()
        self.before: dict[str, bytes] = {}
        """Bytes of every file that is updated or deleted, by path."""

    def parts(self, steps: Iterable[Step]) -> list[tuple[Note, list[Change]]]:
        """Return each note with its changes; the last value of a note counts."""
        last: dict[str, Note] = {step.note.id: step.note for step in steps}
        return [(note, self._render_note(note)) for note in last.values()]

    def changes(self, steps: Iterable[Step]) -> list[Change]:
        """Return the changes of all notes; the last value of a note counts."""
        return [change for _, found in self.parts(steps) for change in found]

    def exists(self, path: str) -> bool:
        """Whether the store has the file."""
        return self._store.exists(path)

    def text(self, path: str) -> str:
        """Return a file's text; undecodable bytes are replaced."""
        return self._store.read(path).decode("utf-8", "replace")

    def replace_file(self, path: str, content: bytes) -> list[Change]:
        """Return the change that gives a file these bytes; nothing if it has them."""
        if not self._store.exists(path):
            return [Create(path, content)]
        old = self._read_file(path)
        return [] if old == content else [Update(path, digest(old), content)]

    def _read_file(self, path: str) -> bytes:
        self.before[path] = self._store.read(path)
        if why := marks_in(path, self.before[path]):
            raise WaitingError(path, why)
        return self.before[path]

    def _render_note(self, note: Note) -> list[Change]:
        entry = self._shelf.entries().get(note.id)
        if entry is None:
            return [Create(self._find_free_path(note), codec.render(note).encode())]
        filed = self._shelf.file(entry.path)
        new = codec.patch(filed.text, filed.note, note, entry.path).encode()
        to = codec.place(note)
        if (
            codec.place(filed.note) != to
            and PurePosixPath(to).parent != PurePosixPath(entry.path).parent
        ):
            old = digest(self._read_file(entry.path))
            return [Create(self._find_free_path(note), new), Delete(entry.path, old)]
        # A file that stays the same keeps its time, and nothing that was read of it is read again.
        if new == filed.text.encode():
            return []
        return [Update(entry.path, digest(self._read_file(entry.path)), new)]

    def _find_free_path(self, note: Note) -> str:
        """Return the note's path, with a hash of its id, and a number, where others have it."""
        plain = PurePosixPath(codec.place(note))
        # Ids of one key end alike, whichever process derives them: only a hash distinguishes them.
        mark = hashlib.sha256(note.id.encode()).hexdigest()[:8]
        ends = chain(("", f"-{mark}"), (f"-{mark}-{n}" for n in count(2)))
        path = next(path for end in ends if self._is_free(path := _add_path_suffix(plain, end)))
        self._taken.add(path.casefold())
        return path

    def _is_free(self, path: str) -> bool:
        # By its folded form: on macOS and Windows "Ann.md" and "ann.md" are one file.
        return path.casefold() not in self._taken and not self._store.exists(path)


def _add_path_suffix(path: PurePosixPath, end: str) -> str:
    return str(path.with_name(f"{path.stem}{end}{path.suffix}"))
