"""The health of a memory: verify and doctor for faults, fix for cures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import unknown_settings
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.pages import Event
from kimi_memory.errors import FormatError, HistoryError
from kimi_memory.formats.jsonl import is_joined, line_of_marks
from kimi_memory.jobs.circuit_breaker import PERIODIC, Breaker
from kimi_memory.jobs.note_edits import touched
from kimi_memory.jobs.trace import Tracer
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.operations.health_checks import (
    CHECKS,
    check_folder,
    check_ids,
    check_lost_tombstones,
    check_purges,
    find_part,
)
from kimi_memory.operations.links import check_links
from kimi_memory.operations.lost_tombstones import check_missing_tombstones, restore_tombstones
from kimi_memory.operations.open_questions import marked
from kimi_memory.operations.remotes import check_remotes
from kimi_memory.operations.session_evidence import check_evidence, split_sessions
from kimi_memory.store.copy import PATH as COPY
from kimi_memory.store.copy import checkpoint, checkpoints_of, copy_id, origin
from kimi_memory.store.git.health import unreadable_history
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf


def verify(memory: Memory) -> list[Finding]:
    """Check the journal's chain, every note, every quote, and the indexes."""
    found: list[Finding] = []
    for check in _CHECKS:
        try:
            found += check(memory)
        # What needs the history cannot be checked without it; the rest can.
        except HistoryError as error:
            found += [] if find_part(memory) else [unreadable_history(error)]
    return list(dict.fromkeys(found))


def doctor(memory: Memory) -> list[Finding]:
    """Run every check, those of plugins included."""
    history = [] if find_part(memory) else memory.history.check()
    found = list(dict.fromkeys([*verify(memory), *history]))
    # Only the doctor asks plugins: one of them may wait seconds for a server of models.
    for findings in memory.host.gather("check_health", root=memory.root):
        found += findings
    found += [*_check_plugins(memory), *check_links(memory), *check_folder(memory)]
    found += unknown_settings(memory.root, memory.home, memory.host)
    for check in (*CHECKS, check_remotes):
        found += check(memory)
    if memory.store.moved:
        place = f"this memory moved to {memory.store.moved}"
        remedy = "Use it there, or take it back with 'kimi-memory migrate --back'."
        found.append(Finding("store", Severity.WARNING, place, remedy))
    elif memory.store.read_only:
        remedy = "Check the disk, then run 'kimi-memory doctor --fix'."
        problem = memory.store.read_only
        found.append(Finding("store", Severity.ERROR, problem, remedy, fixable=True))
    return found


def fix(memory: Memory, findings: Sequence[Finding]) -> Iterator[str]:
    """Mend what can be mended; only adds files, moves them, or rebuilds what is derived."""
    checks = {finding.check for finding in findings if finding.fixable}
    # Whatever was the cause: a person who asks for a cure wants the jobs tried again.
    for kind in sorted(PERIODIC):
        Breaker(memory.store, memory.settings.gates).worked(kind)
    # First: nothing below can be written before.
    if "store" in checks:
        memory.store.clear_read_only()
        yield "the store takes writes again"
    if "sessions" in checks:
        for path in split_sessions(memory):
            yield f"{path} held two sessions; each has its own file"
    if "tombstones" in checks and (count := restore_tombstones(memory)):
        yield f"{counted(count, 'tombstones were put back')}"
    if checks & {"merge", "copies"}:
        yield from memory.repair_merges(thorough=True)
    if "index" in checks:
        memory.index.refresh(full=True)
        yield "the index was rebuilt from the files"
    yield from _fix_history(memory, settings="history" in checks)


def _fix_history(memory: Memory, *, settings: bool) -> Iterator[str]:
    if settings:
        memory.history.init()
        yield "the settings of the history were written anew"
    if memory.history.ready():
        trailers = checkpoint(memory.store)
        commit = memory.history.commit("Files found changed by doctor", trailers=trailers)
        if commit:
            yield f"pending changes were committed as {commit[:10]}"


def _check_journal(memory: Memory) -> Iterator[Finding]:
    # All commits, as each carries the end of the journal: who cuts lines off cannot also change
    # history unseen.
    commits, copy = memory.history.log(limit=-1), copy_id(memory.store)
    for problem in memory.store.journal.verify(checkpoints_of(commits, copy)):
        remedy = f"Compare with 'kimi-memory log'. If you removed it yourself, delete {COPY}, too."
        yield Finding("journal", Severity.ERROR, problem, remedy)
    journal, known = memory.store.journal, checkpoints_of(commits, origin(memory.store))
    heads = {head for _, head in known}
    is_there = journal.head()[1] in heads or any(
        one.get("prev") in heads for one in journal.records()
    )
    if known and not is_there:
        problem = (
            f"none of the {len(known)} checkpoints of the folder that this one was copied from is"
            " in the journal: it was emptied before this folder was first opened"
        )
        yield Finding("journal", Severity.ERROR, problem, "Copy the folder again, whole.")


def _check_notes(memory: Memory) -> Iterator[Finding]:
    shelf, tracer = Shelf(memory.store), Tracer(memory.store, memory.history)
    for entry in shelf.entries().values():
        try:
            note = shelf.file(entry.path).note
        except FormatError as error:
            yield Finding("notes", Severity.ERROR, error.why, f"{error.remedy}.", entry.path)
            continue
        # The words that a card quotes may lie in what a folder does not keep.
        if isinstance(note, Card | Event) and not find_part(memory):
            yield from _check_quotes(tracer, note, entry.path)


def _check_quotes(tracer: Tracer, note: Note, path: str) -> Iterator[Finding]:
    for evidence in tracer.evidence(note):
        # A note without quotes claims no words of anybody; only what is quoted can be wrong here.
        if (evidence.quote or evidence.source.quote) and not evidence.verified:
            problem = f"a quote does not stand in {evidence.source.place}"
            remedy = "Correct the quote, or the card's sources."
            yield Finding("quotes", Severity.ERROR, problem, remedy, path)


def _check_touched(memory: Memory) -> Iterator[Finding]:
    """Yield the cards that say something new since their own files were edited."""
    for touch in touched(memory.store, memory.history, Shelf(memory.store)):
        remedy = "Run 'kimi-memory review pages' to take it over."
        if touch.before is None:
            remedy = "What it said before is not known; check it, and edit its line in MEMORY.md."
        problem = f"{touch.card.key} was edited by hand, and nothing proves what it says"
        yield Finding("cards", Severity.WARNING, problem, remedy, touch.path)


def _check_merges(memory: Memory) -> Iterator[Finding]:
    """Yield the files with marks of a merge."""
    for path in marked(memory):
        line = line_of_marks(path, memory.store.read(path))
        problem = f"a merge left its marks in line {line}, so the file is not used"
        remedy = "Settle it in an editor, or let 'kimi-memory doctor --fix' merge its versions."
        yield Finding("merge", Severity.ERROR, problem, remedy, path, fixable=True)


def _check_sessions(memory: Memory) -> Iterator[Finding]:
    for place in sessions.places(memory.store):
        # Before the chain is looked at, which two joined sessions break in any case.
        if is_joined(memory.store.read(place.path)):
            problem = "it holds two sessions, as git joins them"
            remedy = "Run 'kimi-memory doctor --fix' to give each its own file."
            yield Finding("sessions", Severity.ERROR, problem, remedy, place.path, fixable=True)
            continue
        try:
            problems = sessions.chain_problems(memory.store, place.path)
        except ValueError as error:
            problems = [f"it is no session file: {error}"]
        for problem in problems:
            remedy = "Restore the file from git ('kimi-memory log --path')."
            yield Finding("sessions", Severity.ERROR, problem, remedy, place.path)


def _check_plugins(memory: Memory) -> Iterator[Finding]:
    # Somebody may have disabled the plugin that masks secrets, and forgotten it.
    if not any("screen_text" in plugin.hooks for plugin in memory.host.loaded):
        problem = "no plugin screens text, so secrets reach the disk"
        yield Finding("plugins", Severity.ERROR, problem, "Enable 'privacy' in your config.toml.")
    for plugin in memory.host.loaded:
        if plugin.skipped:
            problem = f"{plugin.name} from {plugin.origin} is not in use: {plugin.skipped}"
            remedy = "Mend or remove it, or disable it in your config.toml."
            yield Finding("plugins", Severity.WARNING, problem, remedy)


_CHECKS: tuple[Callable[[Memory], Iterable[Finding]], ...] = (
    _check_journal,
    _check_notes,
    check_ids,
    _check_sessions,
    check_evidence,
    check_purges,
    check_lost_tombstones,
    check_missing_tombstones,
    _check_touched,
    _check_merges,
    lambda memory: memory.index.verify(),
)
