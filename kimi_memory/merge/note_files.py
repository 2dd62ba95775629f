"""Three-way merge of the files of notes, found by the ids of the notes wherever they lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kimi_memory.domain.note import Card, Note, Status
from kimi_memory.domain.pages import Event
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.body_layout import bare_text
from kimi_memory.formats.frontmatter import decode
from kimi_memory.merge.files import beside, conflict_path
from kimi_memory.merge.moved_turns import Moves, repoint_note
from kimi_memory.merge.note_texts import NoteText, merge_note_texts
from kimi_memory.merge.notes import MergedNote, keep_edit, merge_notes
from kimi_memory.merge.placing import Wanted, mark_of
from kimi_memory.merge.statements import is_greater, variant_id
from kimi_memory.merge.three_way import pick


class NoteFile(NamedTuple):
    """A note, where it lies and what its file says."""

    path: str
    text: str
    note: Note

    @property
    def wanted(self) -> Wanted:
        """The file as it is."""
        return Wanted(self.path, self.text.encode(), self.note.id)


NoteFiles = Mapping[str, NoteFile]
"""By id."""


@dataclass(slots=True)
class MergedNotes:
    """The notes of both sides, and what was done for that."""

    wanted: list[Wanted] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)
    """Ids of notes that both sides changed."""
    variants: list[tuple[str, str]] = field(default_factory=list)
    """Ids of notes with two statements, each with that of the variant."""
    sought: set[str] = field(default_factory=set)
    """Ids of variants that both sides were looked through for."""


def read_notes(files: Mapping[str, bytes], rest: dict[str, bytes], moves: Moves) -> NoteFiles:
    """Return the notes in some files; files without one, or with an id again, go to `rest`."""
    found: dict[str, NoteFile] = {}
    for path in sorted(files):
        try:
            text = decode(files[path], path)
            note = codec.parse(text, path)
        except FormatError:
            rest[path] = files[path]
            continue
        if note.id in found:
            rest[path] = files[path]
            continue
        for new in _repoint_file(NoteFile(path, text, note), moves):
            found[new.note.id] = new
    return found


def _repoint_file(file: NoteFile, moves: Moves) -> list[NoteFile]:
    """Return a note whose evidence names the turns where they are, and one parted from it."""
    first, *parted = repoint_note(file.note, moves)
    if first == file.note:
        return [file]
    changed = file._replace(text=_patch(file, first), note=first)
    return [changed, *(NoteFile(_marked_place(new), codec.render(new), new) for new in parted)]


def _patch(file: NoteFile, note: Note) -> str:
    try:
        return codec.patch(file.text, file.note, note, file.path)
    except FormatError:
        return codec.render(note)


def _marked_place(note: Note) -> str:
    return beside(codec.place(note), mark_of(note.id.encode()))


def merge_note_files(base: NoteFiles, ours: NoteFiles, theirs: NoteFiles) -> MergedNotes:
    """Return the notes that both sides have, with the changes of both."""
    merged, said = MergedNotes(), list[MergedNote]()
    for id in sorted({*base, *ours, *theirs}):
        old, one, other = base.get(id), ours.get(id), theirs.get(id)
        if one is None or other is None:
            _take_one(merged, old, one or other)
        elif one == other or old in (one, other):
            merged.wanted.append(pick(old, one, other, min).wanted)
        else:
            merged.joined.append(id)
            said += _merge_pair(merged, old, one, other)
    placed = [_place_variants(merged, note, (ours, theirs)) for note in said]
    drop = {id for ids, _ in placed for id in ids}
    merged.wanted = [one for one in merged.wanted if one.id not in drop]
    merged.wanted += [one for _, variants in placed for one in variants]
    return merged


def _place_variants(
    merged: MergedNotes, said: MergedNote, sides: tuple[NoteFiles, NoteFiles]
) -> tuple[set[str], list[Wanted]]:
    """Return the versions that would be lost, and what goes: each is there once, if at all.

    Three copies make them in any order: one may be there already, of a merge with the third, or
    say what won over both since.
    """
    drop = set[str]()
    for variant in said.variants:
        merged.variants.append((said.note.id, variant.id))
        merged.sought.add(variant.id)
        standing = [side[variant.id] for side in sides if variant.id in side]
        if all(_is_untouched(one) and is_greater(variant, one.note) for one in standing):
            drop.add(variant.id)
    if isinstance(said.note, Card | Event):
        id = variant_id(said.note, said.note.created)
        merged.sought.add(id)
        if all(_is_untouched(side[id]) for side in sides if id in side):
            drop.add(id)
    made = (one for one in said.variants if one.id in drop)
    return drop, [Wanted(_marked_place(one), codec.render(one).encode(), one.id) for one in made]


def _is_untouched(file: NoteFile) -> bool:
    """Whether a variant is as a merge made it."""
    note = file.note
    if not isinstance(note, Card | Event) or note.sources or note.quotes:
        return False
    return note.status is Status.CANDIDATE and file.text == codec.render(note)


def _take_one(merged: MergedNotes, base: NoteFile | None, left: NoteFile | None) -> None:
    """Take a note that only one side has: a new one, or what stays of a deleted one."""
    if left is None or left == base:
        return
    if base is None:
        merged.wanted.append(left.wanted)
        return
    kept = keep_edit(base.note, left.note)
    if kept is not None:
        merged.wanted.append(left._replace(text=_patch(left, kept)).wanted)
    elif bare_text(_patch(left, base.note)) != bare_text(base.text):
        # The note goes; what a person wrote around it is nowhere else.
        merged.wanted.append(_kept(left.path, left.text))


def _merge_pair(
    merged: MergedNotes, base: NoteFile | None, ours: NoteFile, theirs: NoteFile
) -> list[MergedNote]:
    """Take a note that both sides changed; return it with what would be lost."""
    path = pick(base and base.path, ours.path, theirs.path, min)
    # One id as two kinds of note has no merge; the other stays readable beside it.
    if type(ours.note) is not type(theirs.note):
        stays, loses = sorted((ours, theirs), key=lambda side: (side.note.kind, side.text))
        merged.wanted += [stays.wanted, _kept(loses.path, loses.text)]
        return []
    old = base if base is not None and type(base.note) is type(ours.note) else None
    found = merge_notes(old and old.note, ours.note, theirs.note)
    # Where other notes lie is no news of this one; its next write links to them anew.
    versions = [NoteText(bare_text(side.text), side.note) for side in (ours, theirs)]
    before = old and NoteText(bare_text(old.text), old.note)
    text = merge_note_texts(before, versions[0], versions[1], found.note, path)
    merged.wanted.append(Wanted(path, text.text.encode(), found.note.id))
    merged.wanted += [_kept(path, lost) for lost in text.lost]
    return [found]


def _kept(path: str, text: str) -> Wanted:
    return Wanted(conflict_path(path, text.encode()), text.encode())
