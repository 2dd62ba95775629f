"""What waits for a person: proposals, unconfirmed lines, files from outside."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import find_confirmed
from kimi_memory.domain.job import Change, Delete, JobReport, Update, digest, digest_of, of_job
from kimi_memory.domain.note import Card, Note, Origin
from kimi_memory.domain.operation_types import Said, Waiting, Wanted
from kimi_memory.domain.pages import Proposal
from kimi_memory.errors import FormatError, KimiMemoryError, NotFoundError, StoreError, UsageError
from kimi_memory.formats import codec
from kimi_memory.jobs.forget import Forget
from kimi_memory.jobs.pages import is_page
from kimi_memory.jobs.review import Answer, Review
from kimi_memory.jobs.settle import Brought, Settle
from kimi_memory.jobs.suggestions import MOST, Suggestion, suggestions
from kimi_memory.jobs.trace import Tracer
from kimi_memory.operations.open_questions import waiting_files, waiting_notes
from kimi_memory.store.notes.notes import Filed, Shelf
from kimi_memory.store.reading import SETTINGS
from kimi_memory.store.reading import Waiting as Unvetted

KIND = "review"
__all__ = ["Answer", "answer", "pending", "review"]


def find_waiting(memory: Memory, name: str) -> Unvetted | None:
    """Return a waiting file by its path or the id of its note; None where there is none."""
    files = waiting_files(memory)
    near = [file for file in files if name in (file.path, id_of(file))]
    return near[0] if near else None


def brought(memory: Memory) -> list[Unvetted]:
    """Return the waiting files that a pull or a copy brought."""
    return [file for file in waiting_files(memory) if file.standing.cap is Origin.REMOTE]


def id_of(file: Unvetted) -> str:
    """Return the id of the note in a file, empty where there is none."""
    note = _parse_note(file)
    return note.id if note is not None else ""


def confirm(memory: Memory, files: Sequence[Unvetted], *, dry_run: bool = False) -> JobReport:
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
        actor = of_job(memory.actor, KIND)
        # By what the person saw: a file that changed meanwhile is refused.
        memory.store.confirm({one.path: digest(one.content) for one in files}, actor)
        with suppress(StoreError):
            memory.jobs.refresh_pages(actor, ())  # The next daily job does it otherwise.
        memory.written()
        name = digest_of(sorted(digest(one.content) for one in files))
        memory.run(Settle(memory, Brought(name, memory.clock(), frozenset(paths))))
    return JobReport("", KIND, f"confirmed {', '.join(paths)}" if paths else "", paths=paths)


def turn_away(memory: Memory, file: Unvetted, why: str, *, dry_run: bool = False) -> JobReport:
    """Take a waiting file back: to the version before, to the archive, or out of the folder.

    Args:
        memory: an open memory.
        file: what is turned away.
        why: kept with the tombstone of a card.
        dry_run: report the diff and write nothing.
    """
    vetting = memory.store.vetting
    old = None if vetting is None else vetting.turned_away(file)
    note = _parse_note(file)
    if old is None and isinstance(note, Card):
        wanted = Wanted(note=note.id, why=why or "rejected in review")
        return memory.run(Forget(memory, wanted), dry_run=dry_run)
    if file.path == SETTINGS:
        # A folder without its settings is no memory.
        old = find_confirmed(memory.store)[0]
        if not old:
            raise UsageError("No earlier memory.toml is known. Edit it, then accept it.")
    base = digest(file.content)
    change: Change = Delete(file.path, base) if old is None else Update(file.path, base, old)
    if not dry_run:
        memory.batch.flush("Before review")  # What is turned away can be had from history.
        memory.store.apply([change], memory.actor, subject=KIND)
        memory.written()
    diff = difference(memory, file) if dry_run else ""
    said = f"removed {file.path}" if old is None else f"put back {file.path}"
    return JobReport("", KIND, said, paths=(file.path,), diff=diff)


def difference(memory: Memory, file: Unvetted) -> str:
    """Return what a waiting file says otherwise than its last version that counted.

    Of a session nothing is shown: it has a readable page, and may be long.
    """
    if file.path.endswith(".jsonl"):
        return ""
    old = (_read_vetted_version(memory, file) or b"").decode("utf-8", "replace").splitlines()
    new = file.content.decode("utf-8", "replace").splitlines()
    names = (f"a/{file.path}" if old else "/dev/null", f"b/{file.path}")
    return "\n".join(difflib.unified_diff(old, new, *names, n=1, lineterm="")) + "\n"


def _read_vetted_version(memory: Memory, file: Unvetted) -> bytes | None:
    vetting = memory.store.vetting
    if vetting is None or not file.path.endswith(".md"):
        return None
    return vetting.version(file.path, file.standing.vetted)


def _parse_note(file: Unvetted) -> Note | None:
    try:
        return codec.parse(file.content.decode("utf-8"), file.path)
    except (FormatError, NotFoundError, UnicodeDecodeError):
        # What waits may be anything; a person is shown it as text then.
        return None


class Pending(NamedTuple):
    """One thing that waits, by its name; what accepting it would do is tried when asked for."""

    id: str
    title: str
    kind: str
    """A file from outside, a proposal, a line that a person wrote, or a link."""
    build: Callable[[], Waiting]


def pending(memory: Memory) -> list[Pending]:
    """Return what waits: files, proposals, lines, and the heaviest suggested links."""
    files = waiting_files(memory)
    tracer, shelf = Tracer(memory.store, memory.history), Shelf(memory.store)
    links = suggestions(shelf, memory.settings.introspect.accept)[:MOST]
    # Texts, proofs and diffs are built one by one as they are shown: there may be hundreds.
    build = partial(_build_waiting_note, memory, files, tracer)
    found = list[Pending]()
    for file in files:
        build_file = partial(_build_waiting_file, memory, file)
        found.append(Pending(id_of(file) or file.path, file.path, "file", build_file))
    for filed in waiting_notes(shelf):
        note, kind = filed.note, "proposal" if isinstance(filed.note, Proposal) else "line"
        found.append(Pending(note.id, _title_of(note), kind, partial(build, filed)))
    for one in links:
        build_link = partial(_build_waiting_link, memory, one)
        found.append(Pending(one.id, _link_title(one), "link", build_link))
    return found


def review(memory: Memory) -> list[Waiting]:
    """Return what waits, each with what accepting it would do."""
    return [one.build() for one in pending(memory)]


def answer(memory: Memory, id: str, said: Answer, *, dry_run: bool = False) -> JobReport:
    """Accept or reject something that waits; `Memory.undo` takes it back.

    Args:
        memory: an open memory.
        id: of a proposal or a candidate card, or its beginning; or the path of a file.
        said: whether, with which words, and why.
        dry_run: report the diff and write nothing.

    Raises:
        NotFoundError: nothing has that id.
        UsageError: it does not wait, cannot be applied, or is not what the person read.
    """
    if said.shown:
        _check_shown(memory, id, said.shown)
    file = find_waiting(memory, id)
    if file is None:
        return memory.run(Review(memory, id, said), dry_run=dry_run)
    if not said.accept:
        return turn_away(memory, file, said.why, dry_run=dry_run)
    if said.text:
        raise UsageError(f"{file.path} is accepted as it stands. Edit the file, then accept it.")
    return confirm(memory, [file], dry_run=dry_run)


def _check_shown(memory: Memory, id: str, shown: str) -> None:
    """Refuse a decision about words that somebody changed after a person read them."""
    found = [one for one in pending(memory) if one.id.startswith(id)]
    if any(one.build().fingerprint == shown for one in found):
        return
    if not found:
        raise NotFoundError("note", id)
    raise UsageError(f"{id} changed since it was shown. Read it again, then decide.")


def _build_waiting_file(memory: Memory, file: Unvetted) -> Waiting:
    text = file.content.decode("utf-8", "replace")
    return Waiting(
        id_of(file) or file.path, file.path, file.path, file.path, "", text, file.standing.why,
        file.at, difference(memory, file),
    )  # fmt: skip


def _title_of(note: Note) -> str:
    return note.key if isinstance(note, Card) else str(getattr(note, "title", ""))


def _link_title(one: Suggestion) -> str:
    return f"{one.link.rel} {one.other.id}"


def _try_accepting(memory: Memory, files: Sequence[Unvetted], id: str) -> JobReport:
    """Return what accepting does; the waiting files are known and not looked for once more."""
    named = [file for file in files if id in (file.path, id_of(file))]
    if named:
        return confirm(memory, named[:1], dry_run=True)
    return memory.run(Review(memory, id, Answer(accept=True)), dry_run=True)


def _build_waiting_note(
    memory: Memory, files: Sequence[Unvetted], tracer: Tracer, filed: Filed
) -> Waiting:
    note = filed.note
    diff, problem = "", ""
    try:
        # Tried without writing: what is shown is what accepting will do.
        done = _try_accepting(memory, files, note.id)
        diff = _of_truth(done.diff, note.target if isinstance(note, Proposal) else filed.path)
    except KimiMemoryError as error:
        problem = str(error)
    evidence = tuple(
        Said(found.source.session, turn.n, turn.speaker or str(turn.role), turn.text)
        for found in tracer.evidence(note)
        for turn in found.turns
    )
    if isinstance(note, Proposal):
        return Waiting(
            note.id, filed.path, note.title, note.target, note.section, note.text, note.reason,
            note.created, diff, problem, evidence,
        )  # fmt: skip
    value, by = (note.value, note.trust) if isinstance(note, Card) else ("", Origin.HUMAN)
    asked = "an agent asked to remember it"
    reason = asked if by is Origin.AGENT else "a person wrote it on a page"
    return Waiting(
        note.id, filed.path, _title_of(note), filed.path, "", value, reason,
        note.created, diff, problem, evidence,
    )  # fmt: skip


def _build_waiting_link(memory: Memory, one: Suggestion) -> Waiting:
    text = f"{one.card.key}: {one.card.value}\n{one.other.key}: {one.other.value}"
    diff = _try_accepting(memory, (), one.id).diff
    return Waiting(
        one.id, one.path, _link_title(one), one.path, "links", text, one.reason,
        one.card.updated, diff,
    )  # fmt: skip


def _of_truth(diff: str, target: str) -> str:
    """Return a diff without the pages that only repeat what is elsewhere in it.

    Args:
        diff: what accepting something would change.
        target: what it is about, which is shown.
    """
    kept: list[str] = []
    shown = True
    lines = diff.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("--- ") and after.startswith("+++ "):
            path = (after if after != "+++ /dev/null" else line)[6:]
            shown = path == target or not (path.startswith("review/") or is_page(path))
        if shown:
            kept.append(line)
    return "\n".join(kept)
