"""What waits for a person: proposals and unconfirmed lines, shown with diff and evidence."""

from __future__ import annotations

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.note import Card
from kimi_memory.domain.operation_types import Said, Waiting
from kimi_memory.domain.pages import Proposal
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.jobs.pages import is_page
from kimi_memory.jobs.review import Answer, Review, waiting
from kimi_memory.jobs.suggestions import MOST, Suggestion, suggestions
from kimi_memory.jobs.trace import Tracer
from kimi_memory.operations.confirming import (
    confirm,
    difference,
    find_waiting,
    id_of,
    turn_away,
    waiting_files,
)
from kimi_memory.store.notes.notes import Filed, Shelf
from kimi_memory.store.reading import Waiting as Unvetted

__all__ = ["Answer", "Said", "Waiting", "answer", "review"]


def review(memory: Memory) -> list[Waiting]:
    """Return what waits: files, proposals, lines, and the heaviest suggested links."""
    files = waiting_files(memory)
    tracer, shelf = Tracer(memory.store, memory.history), Shelf(memory.store)
    links = suggestions(shelf, memory.settings.introspect.accept)[:MOST]
    return [
        *(_build_waiting_file(memory, file) for file in files),
        *(_build_waiting_note(memory, tracer, filed) for filed in waiting(shelf)),
        *(_build_waiting_link(memory, one) for one in links),
    ]


def answer(memory: Memory, id: str, said: Answer, *, dry_run: bool = False) -> JobReport:
    """Accept or reject something that waits; `Memory.undo` takes it back.

    Args:
        memory: an open memory.
        id: of a proposal or a candidate card, or its beginning; or the path of a file.
        said: whether, with which words, and why.
        dry_run: report the diff and write nothing.

    Raises:
        NotFoundError: nothing has that id.
        UsageError: it does not wait, or cannot be applied.
    """
    file = find_waiting(memory, id)
    if file is not None:
        return _answer_file(memory, file, said, dry_run=dry_run)
    return memory.run(Review(memory, id, said), dry_run=dry_run)


def _answer_file(memory: Memory, file: Unvetted, said: Answer, *, dry_run: bool) -> JobReport:
    if not said.accept:
        return turn_away(memory, file, said.why, dry_run=dry_run)
    if said.text:
        raise UsageError(f"{file.path} is accepted as it stands. Edit the file, then accept it.")
    return confirm(memory, [file], dry_run=dry_run)


def _build_waiting_file(memory: Memory, file: Unvetted) -> Waiting:
    text = file.content.decode("utf-8", "replace")
    return Waiting(
        id_of(file) or file.path, file.path, file.path, file.path, "", text, file.standing.why,
        file.at, difference(memory, file),
    )  # fmt: skip


def _build_waiting_note(memory: Memory, tracer: Tracer, filed: Filed) -> Waiting:
    note = filed.note
    diff, problem = "", ""
    try:
        # Tried without writing: what is shown is what accepting will do.
        done = answer(memory, note.id, Answer(accept=True), dry_run=True)
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
    value = note.value if isinstance(note, Card) else ""
    key = note.key if isinstance(note, Card) else ""
    return Waiting(
        note.id, filed.path, key, filed.path, "", value, "a person wrote it on a page",
        note.created, diff, problem, evidence,
    )  # fmt: skip


def _build_waiting_link(memory: Memory, one: Suggestion) -> Waiting:
    text = f"{one.card.key}: {one.card.value}\n{one.other.key}: {one.other.value}"
    title = f"{one.link.rel} {one.other.id}"
    diff = answer(memory, one.id, Answer(accept=True), dry_run=True).diff
    return Waiting(
        one.id, one.path, title, one.path, "links", text, one.reason, one.card.updated, diff,
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
