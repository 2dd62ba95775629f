"""The state of a memory: status for people, verify and doctor for faults, fix for cures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import unknown_settings
from kimi_memory.domain.graph import links_of
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.pages import Event
from kimi_memory.errors import FormatError, HistoryError, StoreError
from kimi_memory.formats.joined_sessions import is_joined
from kimi_memory.jobs.circuit_breaker import PERIODIC, Breaker
from kimi_memory.jobs.introspect_state import LIVE
from kimi_memory.jobs.note_edits import touched
from kimi_memory.jobs.runner import FOLDER as JOBS
from kimi_memory.jobs.trace import Tracer
from kimi_memory.jobs.usage import Usage, counted, heats, histogram
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.merge.marks import line_of_marks
from kimi_memory.nlp.dates.zone import in_zone
from kimi_memory.operations.health_checks import (
    check_copies,
    check_folder,
    check_ids,
    check_jobs,
    check_purges,
    check_tombstones,
    sizes,
)
from kimi_memory.operations.links import check_links
from kimi_memory.operations.remotes import check_remotes, describe_remotes
from kimi_memory.operations.review_queue import asking, marked, waiting_files
from kimi_memory.operations.session_evidence import check_evidence, split_sessions
from kimi_memory.store.copy import PATH as COPY
from kimi_memory.store.copy import checkpoint, checkpoints_of, copy_id
from kimi_memory.store.git.health import unreadable_history
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.wal.reconcile import Progress


@dataclass(frozen=True, slots=True)
class Status:
    """What ``kimi-memory status`` shows."""

    root: Path
    open_sessions: int
    ended_sessions: int
    turns: int
    waiting: int
    """Ended sessions that were not distilled yet."""
    notes: Mapping[str, Mapping[str, int]]
    """How many notes of each kind, by type or status."""
    jobs: int
    index: str
    history: str
    external: int
    """Files changed outside of kimi_memory since it last looked."""
    broken: tuple[str, ...]
    """One line a file that cannot be parsed."""
    failing: tuple[str, ...]
    """One line a periodic job that failed last time, and whether it rests."""
    links: Mapping[str, int]
    """How many links of each relation the notes state."""
    bands: Mapping[str, int]
    """How many cards are hot, warm and cold now."""
    temperatures: Mapping[str, int]
    """How many cards there are in each step of temperature, hottest first."""
    asks: Mapping[str, int]
    """How much waits for a person, by the command that deals with it."""
    sizes: Mapping[str, int]
    """Bytes of each tier, of the pages outside of them, of the history and of derived files."""
    unconfirmed: tuple[str, ...]
    """One line a file that waits for a person's word, and why."""
    merging: tuple[str, ...]
    """One line a file in which a merge left its marks."""
    remotes: tuple[str, ...]
    """One line a remote, and how the last sync with it went."""
    unknown: tuple[str, ...]
    """One line a name in a settings file that no setting has, with the nearest one."""


def status(memory: Memory, progress: Progress = lambda done, total: None) -> Status:
    """Count what is in a memory; tell how many of all files were looked at and read."""
    places = list(sessions.places(memory.store))
    counts: dict[str, Counter[str]] = {}
    broken: list[str] = []
    cards: list[Card] = []
    for note in _yield_notes(memory, broken, progress):
        kind = getattr(note, "type", note.status)
        counts.setdefault(note.kind, Counter())[str(kind)] += 1
        if isinstance(note, Card) and note.status in LIVE:
            cards.append(note)
    uses, table = Usage(memory.store).all(), memory.settings.temperature
    # Computed and not read from the files: their temperatures are those of the last introspection.
    found = heats(cards, uses, memory.clock(), table).values()
    external, unnoted = _count_external_edits(memory, progress)
    return Status(
        root=memory.root,
        open_sessions=sum(place.open for place in places),
        ended_sessions=sum(not place.open for place in places),
        turns=sum(_count_turns(memory, place) for place in places),
        waiting=len(memory.waiting()),
        notes={kind: dict(found) for kind, found in sorted(counts.items())},
        jobs=len(memory.store.files(JOBS)),
        index=_describe_index(memory),
        history=_describe_history(memory),
        external=external,
        broken=tuple(broken),
        failing=(*Breaker(memory.store, memory.settings.gates).state(memory.clock()), *unnoted),
        links=Counter(str(link.rel) for card in cards for link in links_of(card)),
        bands=counted(found),
        temperatures=histogram(found),
        asks=asking(memory),
        sizes=sizes(memory.root),
        unconfirmed=tuple(f"{one.path}: {one.standing.why}" for one in waiting_files(memory)),
        merging=tuple(f"{path} holds marks of a merge: it is not used" for path in marked(memory)),
        remotes=tuple(describe_remotes(memory)),
        unknown=tuple(
            f"{one.message}. {one.remedy}"
            for one in unknown_settings(memory.root, memory.home, memory.host)
        ),
    )


def _count_external_edits(memory: Memory, progress: Progress) -> tuple[int, list[str]]:
    """Return how many files were changed from outside, or why that cannot be noted."""
    try:
        # Status also notes what it found: a full or read-only disk must not keep it from showing
        # the rest.
        return len(memory.store.reconcile(progress)), []
    except StoreError as error:
        return 0, [f"changes from outside cannot be noted: {error}"]


def verify(memory: Memory) -> list[Finding]:
    """Check the journal's chain, every note, every quote, and the indexes."""
    found: list[Finding] = []
    for check in _CHECKS:
        try:
            found += check(memory)
        # What needs the history cannot be checked without it; the rest can.
        except HistoryError as error:
            found.append(unreadable_history(error))
    return list(dict.fromkeys(found))


def doctor(memory: Memory) -> list[Finding]:
    """Run every check, those of plugins included."""
    found = list(dict.fromkeys([*verify(memory), *memory.history.check()]))
    # Only the doctor asks plugins: one of them may wait seconds for a server of models.
    for findings in memory.host.gather("check_health", root=memory.root):
        found += findings
    found += [*_check_plugins(memory), *check_links(memory), *check_folder(memory)]
    found += unknown_settings(memory.root, memory.home, memory.host)
    found += [*check_tombstones(memory), *check_jobs(memory), *check_copies(memory)]
    found += check_remotes(memory)
    if memory.store.moved:
        place = f"this memory moved to {memory.store.moved}"
        remedy = "Use it there, or take it back with 'kimi-memory migrate --back'."
        found.append(Finding("store", Severity.WARNING, place, remedy))
    elif memory.store.read_only:
        found.append(
            Finding(
                "store",
                Severity.ERROR,
                memory.store.read_only,
                "Check the disk, then run 'kimi-memory doctor --fix'.",
                fixable=True,
            )
        )
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
    if "merge" in checks:
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


def _yield_notes(memory: Memory, broken: list[str], progress: Progress) -> Iterator[Note]:
    shelf = Shelf(memory.store)
    entries = shelf.entries().values()
    for number, entry in enumerate(entries, 1):
        progress(number, len(entries))
        try:
            yield shelf.file(entry.path).note
        except FormatError as error:
            broken.append(str(error))


def _count_turns(memory: Memory, place: sessions.Place) -> int:
    # Counted as bytes: to parse every session would make `status` slow.
    return memory.store.read(place.path).count(b'"kind":"turn"')


def _describe_index(memory: Memory) -> str:
    found = memory.index.status()
    if not found.generation:
        size = f"{found.units} units in {found.files}" if found.units else f"{found.files}"
        return f"none: {size} files are searched directly; 'kimi-memory index' makes one"
    pending = f", {found.pending} not indexed yet" if found.pending else ""
    model = f", vectors of {found.model}" if found.model else ""
    return f"{found.units} units of {found.files} files{pending}{model}"


def _describe_history(memory: Memory) -> str:
    if not memory.history.ready():
        return "off: no git repository of this memory"
    commits = memory.history.log(limit=1)
    if not commits:
        return "no commit yet"
    pending = ", changes pending" if memory.batch.pending() else ""
    [last] = commits
    return (
        f"{last.hash[:10]} {in_zone(last.at, memory.zone):%Y-%m-%d %H:%M} {last.subject}{pending}"
    )


def _check_journal(memory: Memory) -> Iterator[Finding]:
    # All commits, as each carries the end of the journal: who cuts lines off cannot also change
    # history unseen.
    commits, copy = memory.history.log(limit=-1), copy_id(memory.store)
    for problem in memory.store.journal.verify(checkpoints_of(commits, copy)):
        remedy = f"Compare with 'kimi-memory log'. If you removed it yourself, delete {COPY}, too."
        yield Finding("journal", Severity.ERROR, problem, remedy)


def _check_notes(memory: Memory) -> Iterator[Finding]:
    shelf, tracer = Shelf(memory.store), Tracer(memory.store, memory.history)
    for entry in shelf.entries().values():
        try:
            note = shelf.file(entry.path).note
        except FormatError as error:
            yield Finding("notes", Severity.ERROR, error.why, f"{error.remedy}.", entry.path)
            continue
        if isinstance(note, Card | Event):
            yield from _check_quotes(tracer, note, entry.path)


def _check_quotes(tracer: Tracer, note: Note, path: str) -> Iterator[Finding]:
    for evidence in tracer.evidence(note):
        # A note without quotes claims no words of anybody; only what is quoted can be wrong here.
        if (evidence.quote or evidence.source.quote) and not evidence.verified:
            yield Finding(
                "quotes",
                Severity.ERROR,
                f"a quote does not stand in {evidence.source.place}",
                "Correct the quote, or the card's sources.",
                path,
            )


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
        if is_joined(memory.store.read(place.path)):
            yield Finding(
                "sessions",
                Severity.ERROR,
                "it holds two sessions, as git joins them",
                "Run 'kimi-memory doctor --fix' to give each its own file.",
                place.path,
                fixable=True,
            )
            continue
        try:
            problems = sessions.chain_problems(memory.store, place.path)
        except ValueError as error:
            problems = [f"it is no session file: {error}"]
        for problem in problems:
            yield Finding(
                "sessions",
                Severity.ERROR,
                problem,
                "Restore the file from git ('kimi-memory log --path').",
                place.path,
            )


def _check_plugins(memory: Memory) -> Iterator[Finding]:
    # Somebody may have disabled the plugin that masks secrets, and forgotten it.
    if not any("screen_text" in plugin.hooks for plugin in memory.host.loaded):
        yield Finding(
            "plugins",
            Severity.ERROR,
            "no plugin screens text, so secrets reach the disk",
            "Enable 'privacy' in your config.toml.",
        )
    for plugin in memory.host.loaded:
        if plugin.skipped:
            yield Finding(
                "plugins",
                Severity.WARNING,
                f"{plugin.name} from {plugin.origin} is not in use: {plugin.skipped}",
                "Mend or remove it, or disable it in your config.toml.",
            )


_CHECKS: tuple[Callable[[Memory], Iterable[Finding]], ...] = (
    _check_journal,
    _check_notes,
    check_ids,
    _check_sessions,
    check_evidence,
    check_purges,
    _check_touched,
    _check_merges,
    lambda memory: memory.index.verify(),
)
