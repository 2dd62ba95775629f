"""Three-way merge of whole memories, as mappings from paths to bytes.

It always ends with files that parse and never with the marks of a merge. Both sides may be
swapped: the result has the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from kimi_memory.errors import FormatError
from kimi_memory.formats.jsonl import read_transcript_lines, view_json
from kimi_memory.formats.session_page import transcript_language, transcript_markdown
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.merge.files import CONFLICTS, MergedFile, Versions, merge_file
from kimi_memory.merge.kinds import TOMBSTONES, is_session, is_view, view_of
from kimi_memory.merge.moved_turns import Moves
from kimi_memory.merge.note_files import MergedNotes, merge_note_files, read_notes
from kimi_memory.merge.one_sided import OneSided, find_one_sided
from kimi_memory.merge.placing import Wanted, place_files
from kimi_memory.merge.records import TombstoneFile, merge_tombstones
from kimi_memory.merge.sessions import (
    MergedSessions,
    SessionFile,
    merge_sessions,
    read_sessions,
)

Tree = Mapping[str, bytes]
"""Every path that one of the trees has otherwise than another; more do no harm."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The memory of both sides."""

    files: dict[str, bytes]
    notes: MergedNotes
    sessions: MergedSessions
    kept: tuple[str, ...] = ()
    """Paths under which versions are kept that could not be merged."""


@dataclass(slots=True)
class _Sorted:
    """The files of one tree by how they are merged."""

    sessions: dict[str, SessionFile] = field(default_factory=dict)
    pages: dict[str, bytes] = field(default_factory=dict)
    """Files that may be notes."""
    views: dict[str, bytes] = field(default_factory=dict)
    rest: dict[str, bytes] = field(default_factory=dict)


def join(base: Tree, ours: Tree, theirs: Tree) -> Joined:
    """Return the memory that has what both sides changed since the base."""
    trees = [_sort_files(tree) for tree in (base, ours, theirs)]
    sessions = merge_sessions(*(tree.sessions for tree in trees))
    # A side that merged before has the turns of the base where they are now, and the other side
    # may have them where they were: held against such a base, neither changed its evidence.
    both = {id: moved for id, moved in sessions.theirs.items() if id not in sessions.ours}
    moves: tuple[Moves, ...] = (both | dict(sessions.ours), sessions.ours, sessions.theirs)
    # Where turns moved, the notes that rest on them change with them.
    alone = OneSided() if any(moves) else find_one_sided(*(tree.pages for tree in trees))
    notes, wanted = _merge_others(trees, sessions, moves, alone)
    if not alone.is_apart(notes.sought, wanted):
        alone = OneSided()
        notes, wanted = _merge_others(trees, sessions, moves, alone)
    files = place_files([*alone.wanted, *wanted])
    _write_views(files, trees, sessions)
    known = {*base, *ours, *theirs}
    kept = (path for path in sorted(files) if path.startswith(f"{CONFLICTS}/"))
    return Joined(files, notes, sessions, tuple(path for path in kept if path not in known))


def _merge_others(
    trees: Sequence[_Sorted], sessions: MergedSessions, moves: Sequence[Moves], alone: OneSided
) -> tuple[MergedNotes, list[Wanted]]:
    """Return the notes that are not taken as they are, and all files but those."""
    notes = merge_note_files(
        *(
            read_notes(alone.without(tree.pages), tree.rest, moved)
            for tree, moved in zip(trees, moves, strict=True)
        )
    )
    wanted = [Wanted(one.path, b"".join(one.lines)) for one in sessions.sessions.values()]
    return notes, [*notes.wanted, *wanted, *_merge_rest(trees, sessions)]


def _sort_files(tree: Tree) -> _Sorted:
    found = _Sorted()
    for path, content in sorted(tree.items()):
        if is_session(path):
            try:
                sessions = read_sessions(path, content)
            except (ValueError, FormatError):
                found.rest[path] = content
                continue
            for id, one in sessions.items():
                found.sessions.setdefault(id, one)
        elif is_view(path):
            found.views[path] = content
        elif path.endswith(".md") and not path.startswith(f"{CONFLICTS}/"):
            found.pages[path] = content
        else:
            found.rest[path] = content
    return found


def _merge_rest(trees: Sequence[_Sorted], sessions: MergedSessions) -> Iterator[Wanted]:
    """Yield the files that are neither sessions nor notes."""
    moves = (sessions.ours, sessions.theirs)
    for path in sorted({path for tree in trees for path in tree.rest}):
        found = Versions(*(tree.rest.get(path) for tree in trees))
        if path == TOMBSTONES and (any(moves) or found.ours != found.theirs):
            sides = (
                TombstoneFile(side or b"", m) for side, m in zip(found[1:], moves, strict=True)
            )
            stones = merge_tombstones(found.base or b"", *sides)
            merged = MergedFile(stones if stones or None not in found[1:] else None)
        else:
            merged = merge_file(path, found)
        if merged.content is not None:
            yield Wanted(path, merged.content)
        yield from (Wanted(*other) for other in merged.others)


def _write_views(
    files: dict[str, bytes], trees: Sequence[_Sorted], sessions: MergedSessions
) -> None:
    """Add what people see of sessions: as a side has it, or made of the merged records."""
    paths = {path for tree in trees for path in tree.views}
    for one in sessions.sessions.values():
        path = view_of(one.path)
        paths.discard(path)
        # A side whose records are the merged ones has the view of them already.
        same = [tree.views.get(path) for tree in trees[1:] if one in tree.sessions.values()]
        shown = [view for view in same if view is not None]
        if shown:
            files[path] = min(shown)
        elif not same:
            files[path] = _render_view(one)
    gone = {view_of(one.path) for tree in trees for one in tree.sessions.values()}
    for path in paths - gone:
        merged = merge_file(path, Versions(*(tree.views.get(path) for tree in trees)))
        if merged.content is not None:
            files[path] = merged.content


def _render_view(file: SessionFile) -> bytes:
    transcript = read_transcript_lines(file.lines, file.path)
    if file.archived:
        lang = transcript_language(transcript)
        return transcript_markdown(transcript, lang).encode("utf-8", "replace")
    return view_json(transcript)
