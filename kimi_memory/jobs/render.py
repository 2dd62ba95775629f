"""From steps to changes: each note's file made, patched or moved.

Nothing that waits for a word is rewritten; what is written for the first time holds no secret.
Lines that a person added to the page of a day, or took out, stay so when it is written again.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import PurePosixPath

from kimi_memory.domain.job import Append, Change, Create, Delete, Plan, Step, Update, digest
from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.pages import Agent, Day, Project
from kimi_memory.domain.session import Json
from kimi_memory.domain.tombstone import Keyed
from kimi_memory.errors import WaitingError
from kimi_memory.formats import codec
from kimi_memory.formats.body_layout import linked
from kimi_memory.formats.card_form import links_text
from kimi_memory.formats.day_lines import read_said
from kimi_memory.formats.jsonl import seal, unseal
from kimi_memory.formats.page_lines import split_mark
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.git.history import History
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.reading import marks_in
from kimi_memory.store.store import Store

_ANSWERS = frozenset({"review", "forget", "purge"})
"""Jobs by which a person says what becomes of a file."""
Mask = Callable[[str, str], str]
"""Masks the secrets of a text that do not stand in another one already."""
_SPOKEN = "episodic/sessions/"
"""Talk passed the door of its session; its bytes do not change when it is archived."""


class Render:
    """Turns the steps of one job into changes of files."""

    def __init__(self, store: Store, shelf: Shelf) -> None:
        self._store, self._shelf = store, shelf
        self._taken: set[str] = set()
        self._places: dict[str, str] = {}
        self.before: dict[str, bytes] = {}
        """Bytes of every file that is updated or deleted, by path."""

    def parts(self, steps: Iterable[Step]) -> list[tuple[Note, list[Change]]]:
        """Return each note with its changes; the last value of a note counts."""
        # Several steps may touch one note; a file is written once, as the last of them leaves it.
        last: dict[str, Note] = {step.note.id: step.note for step in steps}
        self.place_notes(last.values())
        return [(note, self._render_note(note)) for note in last.values()]

    def place_notes(self, notes: Iterable[Note]) -> None:
        """Choose where each note will lie, so that others can link to it."""
        fresh = (note for note in notes if note.id not in self._places)
        self._places |= {note.id: self._choose_path(note) for note in fresh}

    def path_of(self, id: str) -> str:
        """Return where a note lies, or will lie after the steps; empty where it does not."""
        entry = self._shelf.entries().get(id)
        return self._places.get(id) or (entry.path if entry else "")

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
        # A file with conflict marks of git has two contents: a person picks, and nothing is written
        # over it.
        if why := marks_in(path, self.before[path]):
            raise WaitingError(path, why)
        return self.before[path]

    def _choose_path(self, note: Note) -> str:
        entry = self._shelf.entries().get(note.id)
        if entry is None:
            return self._find_free_path(note)
        to = codec.place(note)
        moves = (
            codec.place(self._shelf.file(entry.path).note) != to
            and PurePosixPath(to).parent != PurePosixPath(entry.path).parent
        )
        return self._find_free_path(note) if moves else entry.path

    def _render_note(self, note: Note) -> list[Change]:
        entry, to = self._shelf.entries().get(note.id), self._places[note.id]
        if entry is None:
            return [Create(to, self._show_links(None, note, to).encode())]
        filed = self._shelf.file(entry.path)
        told = codec.patch(filed.text, filed.note, note, entry.path)
        # What says the same stays as it is, with the links of the day it was written.
        new = (told if told == filed.text else self._show_links(told, note, to)).encode()
        if to != entry.path:
            return [Create(to, new), Delete(entry.path, digest(self._read_file(entry.path)))]
        # A file that stays the same keeps its time, and nothing that was read of it is read again.
        if new == filed.text.encode():
            return []
        return [Update(entry.path, digest(self._read_file(entry.path)), new)]

    def _show_links(self, text: str | None, note: Note, path: str) -> str:
        """Return the text of a note with the links and the name by which note programs know it.

        Args:
            text: what its file says, None for a new one.
            note: what it is to say.
            path: where it lies.
        """
        if not isinstance(note, Card):
            plain = codec.render(note) if text is None else text
            return linked(plain, self.path_of) if isinstance(note, Day | Project | Agent) else plain
        links = links_text(note, self.path_of)
        shown = codec.render(note, links) if text is None else codec.with_links(text, note, links)
        # Obsidian finds the file of a key that has another name by its alias.
        named = PurePosixPath(path).stem == note.key or not note.key
        return shown if named else codec.with_alias(shown, note.key, path)

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


def without_waiting(plan: Plan, shelf: Shelf) -> Plan:
    """Return a plan without the steps that would rewrite such a file; they are named."""
    if plan.kind in _ANSWERS:
        return plan
    kept: list[Step] = []
    left_out: dict[str, None] = {}
    for step in plan.steps:
        entry = shelf.entries().get(step.note.id)
        why = shelf.survey.waits(entry.path) if entry is not None else ""
        if entry is not None and why:
            # Once for each file, however many steps would touch it.
            left_out[f"{entry.path} stays as it is: {why}"] = None
        else:
            kept.append(step)
    if not left_out:
        return plan
    return replace(plan, steps=tuple(kept), left_out=(*plan.left_out, *left_out))


def screen_plan(plan: Plan, mask: Mask, keyed: Keyed) -> Plan:
    """Return a plan whose subject and reasons hold no secret, nor its inputs a digest of one."""
    steps = tuple(replace(step, why=mask(step.why, "")) for step in plan.steps)
    subject = mask(plan.subject, "")
    inputs = plan.inputs if subject == plan.subject else keyed(plan.inputs)
    return replace(plan, subject=subject, inputs=inputs, steps=steps)


def screen_changes(
    changes: Sequence[Change], before: Mapping[str, bytes], mask: Mask
) -> list[Change]:
    """Return changes that bring no secret into the folder.

    What stood in one of the files before is its owner's and stays, even if it moves.

    Args:
        changes: what a job would write.
        before: bytes of the files it would update or delete, by path.
        mask: what masks.
    """
    # All files together, since a note may move: what its owner wrote must not be masked on the way.
    known = b"\n".join(before.values()).decode("utf-8", "replace")
    return [_screen_change(change, known, mask) for change in changes]


def _screen_change(change: Change, known: str, mask: Mask) -> Change:
    match change:
        case Create(path=path, content=content) | Update(path=path, content=content):
            # Records are sealed line by line, and were screened when they were written.
            if path.startswith(_SPOKEN) or not path.endswith(".md"):
                return change
            return change._replace(content=_mask_text(path, content, known, mask))
        case Append(path=path, lines=lines) if path == TOMBSTONES:
            return change._replace(lines=tuple(_mask_record(line, mask) for line in lines))
    return change


def _mask_text(path: str, content: bytes, known: str, mask: Mask) -> bytes:
    text = content.decode("utf-8", "surrogateescape")
    masked = mask(text, known)
    if masked != text and (made := _read_made(text, path)) and _read_made(masked, path) != made:
        masked = _mask_around(path, text, known, mask)
    return masked.encode("utf-8", "surrogateescape")


def _mask_around(path: str, text: str, known: str, mask: Mask) -> str:
    """Return a note masked but in those lines of its head that programs made.

    A rule that is too broad, such as one of the user's own, takes an id or a source for a secret:
    the note could not be read any more, or would be another one.
    """
    lines, made = text.splitlines(keepends=True), _read_made(text, path)
    head = next((at for at, line in enumerate(lines) if at and line.rstrip() == "---"), 0)
    for at in range(1, head):
        clean = [*lines[:at], mask(lines[at], known), *lines[at + 1 :]]
        if _read_made("".join(clean), path) == made:
            lines = clean
    return "".join(lines[:head]) + mask("".join(lines[head:]), known)


def _read_made(text: str, path: str) -> tuple[object, ...]:
    """Return what programs made of a note: its id and its sources; nothing where none is read."""
    note = codec.read_note(text.encode("utf-8", "surrogateescape"), path)
    return () if note is None else (note.id, getattr(note, "sources", ()))


def _mask_record(line: bytes, mask: Mask) -> bytes:
    """Return a tombstone's line; its value bars what was said, and is hashed if it is secret."""
    record: dict[str, Json] = unseal(line)
    clean = {
        name: mask(value, "") if isinstance(value, str) and name != "value" else value
        for name, value in record.items()
    }
    return line if clean == record else seal(clean)


_VERSIONS = 50
_HOUR = re.compile(r"^(?:\d\d-\d\d )?\d\d:\d\d ")
_SECTIONS = ("sessions", "events", "knowledge")


def with_edits(step: Step, shelf: Shelf, history: History) -> Step:
    """Return a step that writes a day's page anew with what a person changed on it.

    Raises:
        FormatError: the note the step would change cannot be parsed.
    """
    entry = shelf.entries().get(step.note.id)
    if entry is None:
        return step
    mine = shelf.file(entry.path).note
    if not isinstance(step.note, Day) or not isinstance(mine, Day):
        return step
    edits = _Edits()
    for before, day, by_job in _read_versions(history, entry.path):
        (edits.forget if by_job else edits.learn)(before, day)
    last = _read_page(history, "HEAD", entry.path) if history.head() else None
    if last is not None:
        edits.learn(last, mine)
    elif is_blank(step.note):
        return replace(step, note=mine)  # Without a history nobody knows whose lines they are.
    return replace(step, note=edits.over(step.note))


def is_blank(day: Day) -> bool:
    """Whether nothing stands on a page: what was on it is of another day, or is gone."""
    return not any(_section_lines(day, name) for name in _SECTIONS)


class _Edits:
    """Lines that people added to the sections of a page, and took out."""

    def __init__(self) -> None:
        self._added: dict[str, dict[str, None]] = defaultdict(dict)
        self._gone: dict[str, set[str]] = defaultdict(set)

    def learn(self, before: Day, after: Day) -> None:
        """Note what one edit changed."""
        for name in _SECTIONS:
            old, new = _section_lines(before, name), _section_lines(after, name)
            added, gone = self._added[name], self._gone[name]
            # What was taken out stays out, even if the same job would write it again tomorrow.
            for line in set(old) - set(new):
                added.pop(line, None)
                gone.add(_strip_hour(line))
            fresh = [line for line in new if line not in old]
            added.update(dict.fromkeys(fresh))
            gone.difference_update(map(_strip_hour, fresh))

    def forget(self, before: Day, after: Day) -> None:
        """Note what a job took out again of what people added: somebody asked for it."""
        for name in _SECTIONS:
            for line in set(_section_lines(before, name)) - set(_section_lines(after, name)):
                self._added[name].pop(line, None)

    def over(self, day: Day) -> Day:
        """Return a page with the edits made on it."""
        return replace(day, **{name: self._merge_lines(day, name) for name in _SECTIONS})  # type: ignore[arg-type]  # tuples of text, all three

    def _merge_lines(self, day: Day, name: str) -> tuple[str, ...]:
        kept = [
            line for line in _section_lines(day, name) if _strip_hour(line) not in self._gone[name]
        ]
        return tuple(dict.fromkeys((*kept, *self._added[name])))


def _strip_hour(line: str) -> str:
    """Return what a line says without its hour, which is another one in another time zone."""
    # Lines of earlier versions had no marks, and named turns in another form.
    said = read_said(line)
    if said is not None:
        return f"{said[0]} {said[1]}"
    return _HOUR.sub("", split_mark(line)[0])


def _section_lines(day: Day, name: str) -> tuple[str, ...]:
    lines: tuple[str, ...] = getattr(day, name)
    return lines


def _read_versions(history: History, path: str) -> Iterator[tuple[Day, Day, bool]]:
    """Yield what each commit made of a page, oldest first, and whether a job wrote it."""
    commits = history.log(limit=_VERSIONS, path=path)
    parents = {row.commit: row.parents for row in history.graph()} if commits else {}
    for commit in reversed(commits):
        # A merge edits nothing: each line it brings or drops was written on one of its sides.
        if len(parents.get(commit.hash, ())) != 1:
            continue
        before = _read_page(history, parents[commit.hash][0], path)
        after = _read_page(history, commit.hash, path)
        if before is not None and after is not None:
            yield before, after, "Kind" in commit.trailers


def _read_page(history: History, commit: str, path: str) -> Day | None:
    note = codec.read_note(history.content(commit, path) or b"", path)
    return note if isinstance(note, Day) else None
