"""Confirming: a person's word on files that were written from outside."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import suppress

from kimi_memory.api.memory import Memory
from kimi_memory.domain.change import Actor, Change, Delete, Update, digest
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.note import Card, Note, Origin
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import FormatError, NotFoundError, StoreError
from kimi_memory.formats import codec
from kimi_memory.jobs.forget import Forget
from kimi_memory.store.files.merge_marks import WHY
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.reading import Waiting, is_judged

KIND = "review"


def waiting_files(memory: Memory) -> list[Waiting]:
    """Return the files that wait for a person's word, in order of path."""
    vetting = memory.store.vetting
    found = (path for path, why in _not_as_they_stand(memory) if why != WHY)
    waiting = (vetting.waiting(path) for path in found) if vetting is not None else ()
    return [one for one in waiting if one is not None]


def marked(memory: Memory) -> list[str]:
    """Return the files in which a merge left its marks, in order of path."""
    return [path for path, why in _not_as_they_stand(memory) if why == WHY]


def _not_as_they_stand(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield the files that agents and jobs do not get as they stand, and why."""
    survey = Shelf(memory.store).survey
    for path in sorted(filter(is_judged, survey.looks)):
        with suppress(NotFoundError):  # It went while we looked.
            if why := survey.waits(path):
                yield path, why


def find_waiting(memory: Memory, name: str) -> Waiting | None:
    """Return a waiting file by its path or the id of its note; None where there is none."""
    files = waiting_files(memory)
    near = [file for file in files if name in (file.path, id_of(file))]
    return near[0] if near else None


def brought(memory: Memory) -> list[Waiting]:
    """Return the waiting files that a pull or a copy brought."""
    return [file for file in waiting_files(memory) if file.standing.cap is Origin.REMOTE]


def id_of(file: Waiting) -> str:
    """Return the id of the note in a file, empty where there is none."""
    note = _parse_note(file)
    return note.id if note is not None else ""


def confirm(memory: Memory, files: Sequence[Waiting], *, dry_run: bool = False) -> JobReport:
    """Let files count as they stand; not a byte of them changes.

    Args:
        memory: an open memory.
        files: what is confirmed.
        dry_run: report what would count and write nothing.
    """
    paths = tuple(file.path for file in files)
    if dry_run:
        diff = "".join(difference(memory, file) for file in files)
        return JobReport("", KIND, ", ".join(paths), paths=paths, diff=diff)
    if paths:
        actor = Actor(f"job:{KIND}", memory.actor.origin, job=KIND)
        # By what the person saw: a file that changed meanwhile is refused.
        memory.store.confirm({one.path: digest(one.content) for one in files}, actor)
        with suppress(StoreError):
            memory.jobs.refresh_pages(actor, ())  # The next daily job does it otherwise.
        memory.written()
    return JobReport("", KIND, f"confirmed {', '.join(paths)}" if paths else "", paths=paths)


def turn_away(memory: Memory, file: Waiting, why: str, *, dry_run: bool = False) -> JobReport:
    """Take a waiting file back: to the version before, to the archive, or out of the folder.

    Args:
        memory: an open memory.
        file: what is turned away.
        why: kept with the tombstone of a card.
        dry_run: report the diff and write nothing.
    """
    old = _read_vetted_version(memory, file)
    note = _parse_note(file)
    if old is None and isinstance(note, Card):
        wanted = Wanted(note=note.id, why=why or "rejected in review")
        return memory.run(Forget(memory, wanted), dry_run=dry_run)
    base = digest(file.content)
    change: Change = Delete(file.path, base) if old is None else Update(file.path, base, old)
    if not dry_run:
        memory.batch.flush("Before review")  # What is turned away can be had from history.
        memory.store.apply([change], memory.actor, subject=KIND)
        memory.written()
    diff = difference(memory, file) if dry_run else ""
    said = f"removed {file.path}" if old is None else f"put back {file.path}"
    return JobReport("", KIND, said, paths=(file.path,), diff=diff)


def difference(memory: Memory, file: Waiting) -> str:
    """Return what a waiting file says otherwise than its last version that counted.

    Of a session nothing is shown: it has a readable page, and may be long.
    """
    if file.path.endswith(".jsonl"):
        return ""
    old = (_read_vetted_version(memory, file) or b"").decode("utf-8", "replace").splitlines()
    new = file.content.decode("utf-8", "replace").splitlines()
    names = (f"a/{file.path}" if old else "/dev/null", f"b/{file.path}")
    return "\n".join(difflib.unified_diff(old, new, *names, n=1, lineterm="")) + "\n"


def _read_vetted_version(memory: Memory, file: Waiting) -> bytes | None:
    vetting = memory.store.vetting
    if vetting is None or not file.path.endswith(".md"):
        return None
    return vetting.version(file.path, file.standing.vetted)


def _parse_note(file: Waiting) -> Note | None:
    try:
        return codec.parse(file.content.decode("utf-8"), file.path)
    except (FormatError, NotFoundError, UnicodeDecodeError):
        return None
