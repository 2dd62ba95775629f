"""What is in a memory, counted for a person: notes, sessions, jobs, index, history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import unknown_settings
from kimi_memory.domain.graph import links_of
from kimi_memory.domain.note import LIVE, Card
from kimi_memory.errors import FormatError, StoreError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode
from kimi_memory.formats.job_file import FOLDER as JOBS
from kimi_memory.jobs.circuit_breaker import Breaker
from kimi_memory.jobs.undistilled import undistilled
from kimi_memory.jobs.usage import Band, band_of, histogram
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.health_checks import sizes
from kimi_memory.operations.open_questions import asking
from kimi_memory.operations.remotes import describe_remotes
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.note_index import may_be_note, read_entry, read_head
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.reading import WHY
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
    """How many cards are hot, warm and cold, as recall and the pages take them."""
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


class _Tally(NamedTuple):
    """What is counted of a note; kept beside what else is known of its file."""

    kind: str
    """Empty where the file cannot be parsed."""
    type: str
    """Its type or status, or why it cannot be parsed."""
    temperature: float | None = None
    """Of a live card."""
    links: tuple[str, ...] = ()
    """The relations that it states."""


# A file that is read is asked for all that others soon want of it.
_BESIDE = {"entry": read_entry, "head": read_head}


def status(memory: Memory, progress: Progress = lambda done, total: None) -> Status:
    """Count what is in a memory; tell how many of all files were looked at and read."""
    # First, as what is noted of a file spares the judging of it.
    external, unnoted = _count_external_edits(memory, progress)
    shelf = Shelf(memory.store, progress)
    places = list(sessions.places(memory.store))
    counts: dict[str, Counter[str]] = {}
    tallies = list(_yield_tallies(shelf, progress))
    for tally in (one for one in tallies if one.kind):
        counts.setdefault(tally.kind, Counter())[tally.type] += 1
    temperatures = [value for one in tallies if (value := one.temperature) is not None]
    # As their files say, which is what counts: no card turns cold before an introspection says so.
    hot = memory.settings.temperature.hot
    bands = Counter(str(band_of(value, hot)) for value in temperatures)
    waiting = shelf.waiting()
    failing = Breaker(memory.store, memory.settings.gates).failing(memory.clock())
    return Status(
        root=memory.root,
        open_sessions=sum(place.open for place in places),
        ended_sessions=sum(not place.open for place in places),
        # Counted as bytes: to parse every session would make `status` slow.
        turns=sum(memory.store.read(one.path).count(b'"kind":"turn"') for one in places),
        waiting=len(undistilled(memory.store)[0]),
        notes={kind: dict(found) for kind, found in sorted(counts.items())},
        jobs=len(memory.store.files(JOBS)),
        index=_describe_index(memory),
        history=_describe_history(memory),
        external=external,
        broken=tuple(one.type for one in tallies if not one.kind),
        failing=(*(line for line, _ in failing), *unnoted),
        links=Counter(rel for one in tallies for rel in one.links),
        bands={str(band): bands[band] for band in Band},
        temperatures=histogram(temperatures),
        asks=asking(memory, shelf),
        sizes=sizes(memory.root),
        unconfirmed=tuple(f"{path}: {why}" for path, why in waiting.items() if why != WHY),
        merging=tuple(
            f"{path} holds marks of a merge: it is not used"
            for path, why in waiting.items()
            if why == WHY
        ),
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


def _yield_tallies(shelf: Shelf, progress: Progress) -> Iterator[_Tally]:
    survey = shelf.survey
    paths = [path for path in survey.looks if may_be_note(path)]
    found = {}
    for number, path in enumerate(paths, 1):
        progress(number, len(paths))
        make = partial(_read_tally, path)
        found[path] = survey.fact(path, "tally", make, _Tally._make, served=True, beside=_BESIDE)
    # Of files that share an id, one counts.
    yield from (found[entry.path] for entry in shelf.entries().values())
    if survey.due:
        survey.keep()


def _read_tally(path: str, content: bytes) -> _Tally:
    try:
        note = codec.parse(decode(content, path), path)
    except FormatError as error:
        # Broken notes are counted by what is wrong with them.
        return _Tally("", str(error))
    named = str(getattr(note, "type", note.status))
    if not isinstance(note, Card) or note.status not in LIVE:
        return _Tally(note.kind, named)
    rels = tuple(str(link.rel) for link in links_of(note))
    return _Tally(note.kind, named, note.temperature, rels)


def _describe_index(memory: Memory) -> str:
    found = memory.index.status()
    if not found.generation:
        size = f"{counted(found.units, 'units')} in " if found.units else ""
        files = counted(found.files, "files are")
        return f"none: {size}{files} searched directly; 'kimi-memory index' makes one"
    pending = f", {found.pending} not indexed yet" if found.pending else ""
    model = f", vectors of {found.model}" if found.model else ""
    return f"{counted(found.units, 'units')} of {counted(found.files, 'files')}{pending}{model}"


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
