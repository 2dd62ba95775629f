"""What would be believed had some turns never been said: the history after them, run again.

A copy of the memory of before is given what was said since, and the jobs that ran, twice: with the
turns and without their words. No model is asked, so what differs is what the turns brought. The
memory itself stays as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening
from kimi_memory.capture.log import Said
from kimi_memory.config import MARKER
from kimi_memory.domain.job import Job
from kimi_memory.domain.job_registry import JOBS
from kimi_memory.domain.note import LIVE, Card
from kimi_memory.domain.past import BeliefChange
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.errors import KimiMemoryError, NotFoundError, UsageError
from kimi_memory.formats.job_file import FOLDER
from kimi_memory.hooks.host import Host
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.merge.settings import set_entries
from kimi_memory.operations.new_copies import read_point
from kimi_memory.operations.new_folders import File, borrow_folder, write_files
from kimi_memory.past.beliefs import compare_cards, statement_of
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf

SILENCE = "…"
"""What a turn says in the run without it: its place and its number stay, its words do not."""
_TURN = re.compile(r"(?:session:)?(?P<session>[^#\s]+)(?:#(?P<n>\d{1,9}))?")
_TURNS, _ENDS, _JOBS = range(3)
"""At one moment turns come first, then ends of sessions, then jobs."""
_STATEMENTS = "remember"
"""The host of sessions that hold what a person asked to remember; and the kind of their jobs."""

TurnId = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Silenced:
    """A turn that was left out."""

    source: str
    role: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """How the beliefs would differ had some turns never been said."""

    without: tuple[Silenced, ...]
    begins: int
    """The version from which history was run again; 0 for an empty memory."""
    turns: int
    """How many turns were said again."""
    jobs: int
    """How many jobs ran again."""
    changes: tuple[BeliefChange, ...]
    """From the run with the turns to the run without them."""
    total: int
    """How many beliefs there are now."""
    same: int
    """How many of these the run with the turns came to as well."""
    not_again: Mapping[str, int]
    """Jobs that were not run again, by kind: what a person or a model decided."""
    failed: tuple[str, ...] = ()
    """What could not be run again, and why."""


class _Event(NamedTuple):
    """Something that happened, and is done again."""

    at: datetime
    rank: int
    about: TurnId
    act: Callable[[Memory], object]


class _Story(NamedTuple):
    """What happened since."""

    events: list[_Event]
    not_again: Mapping[str, int]


class _Known(NamedTuple):
    """What the memory held already where the run begins."""

    turns: Mapping[str, int]
    """The last turn of each session, by its id."""
    ended: Collection[str]
    jobs: Collection[str]


def replay_without(memory: Memory, turns: Sequence[str]) -> Counterfactual:
    """Return what would be believed had turns never been said.

    Args:
        memory: opened for writing: what is not committed yet becomes a version first.
        turns: such as ``session:s1#3``, or ``session:s1`` for all turns of a session.

    Raises:
        UsageError: one is no turn.
        NotFoundError: there is no such session or turn.
        HistoryError: there is no history.
    """
    silent = dict(_find_turns(memory, turns))
    memory.repair_merges()
    memory.batch.flush("Before a replay")
    version = _find_version_before(memory, silent)
    start = _read_start(memory, version)
    known = _read_known(start.files)
    story = _list_story(memory, known, frozenset())
    failed: list[str] = []
    # Run twice, with the turns and without: rules may have changed since, and only the difference
    # between two runs of the same rules is due to the turns.
    whole = _run(memory, start, story.events, failed)
    rest = _run(memory, start, _list_story(memory, known, silent).events, [])
    now = [card for card in _read_cards(memory).values() if card.status in LIVE]
    return Counterfactual(
        without=tuple(
            Silenced(f"session:{session}#{n}", str(turn.role), turn.at, turn.text)
            for (session, n), turn in sorted(silent.items())
        ),
        begins=version,
        turns=sum(one.rank == _TURNS for one in story.events),
        jobs=sum(one.rank == _JOBS for one in story.events),
        changes=compare_cards(whole, rest),
        total=len(now),
        same=_count_same(now, whole),
        not_again=story.not_again,
        failed=tuple(failed),
    )


def _find_turns(memory: Memory, named: Sequence[str]) -> Iterator[tuple[TurnId, Turn]]:
    """Yield the turns that are to be silent, with what they say."""
    for what in named:
        found = _TURN.fullmatch(what.strip())
        if found is None:
            raise UsageError(f"{what!r} is no turn. Write session:s1#3, or session:s1 for all.")
        transcript = sessions.read(memory.store, sessions.find(memory.store, found["session"]).path)
        id, number = transcript.session.id, int(found["n"] or 0)
        turns = [turn for turn in transcript.turns if number in (0, turn.n)]
        if not turns:
            raise NotFoundError("turn", what)
        yield from (((id, turn.n), turn) for turn in turns)


def _find_version_before(memory: Memory, silent: Mapping[TurnId, Turn]) -> int:
    """Return the last version in which none of the turns was; 0 if the first one has one."""
    graph, store = memory.points.graph(), memory.store
    first = {id: min(n for session, n in silent if session == id) for id, _ in silent}
    # Where a session lies now, and where it lay while it was open.
    places = {id: {sessions.find(store, id).path, f"short-term/session_{id}.jsonl"} for id in first}

    def is_said(version: int) -> bool:
        commit = graph.numbered(version)
        wanted = [(commit, path) for paths in places.values() for path in paths]
        held = memory.history.contents(wanted)
        return any(
            f'"kind":"turn","n":{n},'.encode() in (held.get((commit, path)) or b"")
            for id, n in first.items()
            for path in places[id]
        )

    # Turns are never taken out, so the versions that have one follow those that have none.
    return bisect_left(range(1, len(graph.line) + 1), True, key=is_said)


class _Start(NamedTuple):
    """The memory in which history is run again."""

    files: Mapping[str, File]
    known: datetime


def _read_start(memory: Memory, version: int) -> _Start:
    if version:
        point, _, files = read_point(memory, f"v{version}")
        moment = point.known
    else:
        here = [path for path in (MARKER, TOMBSTONES) if memory.store.exists(path)]
        contents = {path: memory.store.read(path) for path in here}
        files = {path: File(content, content) for path, content in contents.items()}
        moment = datetime.fromtimestamp(0, UTC)
    # Nobody looks back on the copy, and each of its jobs would make a commit.
    text = files[MARKER].content.decode()
    settings = set_entries(text, {("history", "git"): "false"}).encode()
    return _Start({**files, MARKER: File(settings, settings)}, moment)


def _read_known(files: Mapping[str, File]) -> _Known:
    turns, ended, jobs = dict[str, int](), set[str](), set[str]()
    for path, file in files.items():
        name = PurePosixPath(path)
        if path.startswith(f"{FOLDER}/"):
            jobs.add(name.stem)
        elif name.suffix == ".jsonl" and name.name.startswith("session_"):
            transcript = sessions.parse(file.content, path)
            turns[transcript.session.id] = transcript.turns[-1].n if transcript.turns else 0
            ended |= {transcript.session.id} if transcript.ended else set()
    return _Known(turns, ended, jobs)


def _list_story(memory: Memory, known: _Known, silent: Collection[TurnId]) -> _Story:
    """Return what happened since, in order; turns of `silent` say nothing."""
    events, not_again = list[_Event](), Counter[str]()
    kept = _find_kept(memory)
    for place in sessions.places(memory.store):
        transcript = sessions.read(memory.store, place.path)
        events += _list_session(transcript, known, kept, silent)
    for entry in JOBS:
        for job in memory.jobs.records(entry.name):
            if job.id in known.jobs or job.kind == _STATEMENTS:
                continue
            act = _repeat_job(job)
            if act is None:
                not_again[job.kind] += 1
            else:
                events.append(_Event(job.at, _JOBS, (job.id, 0), act))
    return _Story(sorted(events, key=lambda one: one[:3]), dict(sorted(not_again.items())))


def _find_kept(memory: Memory) -> Mapping[TurnId, Card]:
    """Return the turns that became cards as they were said, each with its card."""
    made = {
        operation.target for job in memory.jobs.records(_STATEMENTS) for operation in job.operations
    }
    cards = _read_cards(memory)
    return {
        (quote.session, quote.n): card
        for id, card in cards.items()
        if id in made
        for quote in card.quotes
    }


def _list_session(
    transcript: Transcript, known: _Known, kept: Mapping[TurnId, Card], silent: Collection[TurnId]
) -> Iterator[_Event]:
    session = transcript.session
    for turn in transcript.turns:
        if turn.n > known.turns.get(session.id, 0):
            id = session.id, turn.n
            said = replace(turn, text=SILENCE) if id in silent else turn
            card = None if id in silent else kept.get(id)
            yield _Event(turn.at, _TURNS, id, partial(_say, session, said, card))
    if transcript.ended and session.id not in known.ended:
        end = partial(Memory.mark_ended, id=session.id)
        yield _Event(transcript.ended, _ENDS, (session.id, 0), end)


def _say(session: Session, turn: Turn, card: Card | None, memory: Memory) -> None:
    """Say a turn again; with a card, have it become one at once."""
    whose = {"agent": session.agent, "user": session.user, "project": session.project}
    root, _ = sessions.split_part(session.id)
    if card is not None and session.host == _STATEMENTS:
        memory.remember(
            turn.text, key=card.key, type=card.type, session=root, area=session.area, **whose
        )
        return
    handle = memory.session(
        root, host=session.host, title=session.title, area=session.area, **whose
    )
    said = (turn.text, turn.at, turn.speaker, turn.ref, turn.origin, turn.tool_calls)
    captured = handle.log.add([Said(turn.role, *said)])
    if card is not None:
        handle.captured(captured)


def _repeat_job(job: Job) -> Callable[[Memory], object] | None:
    """Return what runs a job again; None for one that a person decided."""
    subject = job.subject
    match job.kind:
        case "distil":
            return lambda memory: memory.distil(subject)
        case "daily":
            return lambda memory: memory.consolidate("daily", date.fromisoformat(subject))
        case "weekly":
            monday = datetime.strptime(f"{subject}-1", "%G-W%V-%u").date()  # noqa: DTZ007  a day
            return lambda memory: memory.consolidate("weekly", monday)
        case "introspect":
            return lambda memory: memory.consolidate("introspect")
    return None


def _run(
    memory: Memory, start: _Start, events: Sequence[_Event], failed: list[str]
) -> dict[str, Card]:
    """Run history again in a folder of its own; return the cards that result."""
    now = start.known
    with borrow_folder() as part:
        root = part / "memory"
        write_files(root, start.files)
        # Of the user only the key: without settings there is no model, and tombstones fit the key.
        home = Home(part / "config", memory.home.state)
        host = Host(entry_points=False)
        opening = Opening(
            home=home, host=host, clock=lambda: now, actor=memory.actor, background=False
        )
        with Memory.open(root, opening) as copy:
            for event in events:
                now = max(now, event.at)
                try:
                    event.act(copy)
                except KimiMemoryError as error:
                    failed.append(f"{event.about[0]}: {error}")
            return _read_cards(copy)


def _read_cards(memory: Memory) -> dict[str, Card]:
    found = (filed.note for filed in Shelf(memory.store).notes(Card.kind))
    return {note.id: note for note in found if isinstance(note, Card)}


def _count_same(now: Sequence[Card], whole: Mapping[str, Card]) -> int:
    """Return how many beliefs of now the run came to as well, whatever their ids are."""
    reached = {(card.key, statement_of(card)) for card in whole.values() if card.status in LIVE}
    return sum((card.key, statement_of(card)) in reached for card in now)
