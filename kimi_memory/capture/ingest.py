"""Ingest: transcripts of other programs become sessions, each turn once."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from kimi_memory.capture.log import MASK, Captured, Said, Screen, SessionLog
from kimi_memory.config import CaptureTable
from kimi_memory.domain.job import Actor
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.domain.tombstone import keyed_digits, keyed_mark
from kimi_memory.errors import TranscriptError, UsageError
from kimi_memory.formats.transcripts import words_mark
from kimi_memory.hooks.host import Host
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.notes import sessions
from kimi_memory.store.store import Store

# Readers judge a file by its head; the first message may follow a long header.
HEAD = 65536
# Every batch is one durable write: fewer turns each would mean more waits for the disk.
_BATCH = 200
TRANSCRIPTS = frozenset({".specstory"})
"""Hidden folders in which programs keep transcripts beside a project."""
_QUIET = frozenset({".git", ".hg", ".svn", ".venv", ".tox", ".cache", ".idea", ".vscode", ".kimi"})
"""Hidden folders that never hold any, so nobody need hear of them."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one session of a file."""

    file: str
    session: str
    """Id under which the new turns stand; empty when there were none."""
    spoken: int
    """Turns in the file."""
    stored: int
    """Turns that were new."""
    captured: tuple[Captured, ...] = ()


def open_file(path: Path) -> TranscriptFile:
    """Return a file on disk as readers see it."""

    def again() -> BinaryIO:
        return path.open("rb")

    with again() as file:
        return TranscriptFile(str(path), file.read(HEAD), again)


class Ingest:
    """Takes transcripts into a store."""

    def __init__(
        self,
        store: Store,
        host: Host,
        screen: Screen,
        actor: Actor,
        limits: CaptureTable | None = None,
    ) -> None:
        self._store, self._host, self._screen, self._actor = store, host, screen, actor
        self._limits = limits or CaptureTable()

    def read(self, file: TranscriptFile) -> Iterable[Transcript]:
        """Return the sessions in a file.

        Raises:
            TranscriptError: no reader knows the format, or the file is broken.
        """
        found = self._host.answer("read_transcript", file=file)
        if found is None:
            raise TranscriptError(file.name, 1, "no reader knows this format")
        return cast("Iterable[Transcript]", found)  # what the hook's annotation says

    def ingest_file(
        self, file: TranscriptFile, progress: Callable[[int], None] = lambda count: None
    ) -> Iterator[Ingested]:
        """Store what is new in each session of a file; yields a report for each.

        Args:
            file: the transcript file.
            progress: called with the number of turns stored since the last call.
        """
        for transcript in self.read(file):
            yield self._ingest_session(file.name, transcript, progress)

    def _ingest_session(
        self, name: str, transcript: Transcript, progress: Callable[[int], None]
    ) -> Ingested:
        root = self._id_of(transcript)
        known = sessions.parts(self._store, root)
        new = self._find_new_turns(transcript.turns, known)
        if not new:
            return Ingested(name, "", len(transcript.turns), 0)
        log = self._open_log(replace(transcript.session, id=root))
        captured: list[Captured] = []
        for first in range(0, len(new), _BATCH):
            batch = log.add([_convert_turn(turn) for turn in new[first : first + _BATCH]])
            captured += batch
            progress(len(batch))
        if transcript.task or transcript.variables or transcript.metadata:
            log.set_state(transcript.task, transcript.variables, transcript.metadata)
        session = log.session.id
        return Ingested(name, session, len(transcript.turns), len(captured), tuple(captured))

    def _id_of(self, transcript: Transcript) -> str:
        """Return the id a session has here; from none a secret can be found by trying."""
        id = self._screen.pass_id(transcript.session.id)
        first = next(iter(transcript.turns), None)
        mark = words_mark(first) if first else ""
        if first is None or mark not in id:
            return id
        keyed = id.replace(mark, keyed_digits(mark, self._store.journal.keyed))
        # Its words were purged; or an earlier version took it in.
        for known in (keyed, id):
            if sessions.parts(self._store, known):
                return known
        return keyed if self._screen.mask(first.text)[1] else id

    def _open_log(self, session: Session) -> SessionLog:
        """Return the log new turns belong to: the open part, or a continuation."""
        session = sessions.next_part(self._store, session)
        actor = self._actor._replace(session=session.id)
        log = SessionLog(self._store, self._host, self._screen, actor, limits=self._limits)
        log.start(session)
        return log

    def _find_new_turns(self, turns: Sequence[Turn], known: Sequence[sessions.Place]) -> list[Turn]:
        """Return the turns not stored yet; the same words twice count twice."""
        # Counted: "Yes." may have been said five times in one session.
        stored: Counter[str] = Counter()
        for place in known:
            for turn in sessions.read(self._store, place.path).turns:
                stored[_turn_identity(turn, turn.text)] += 1
        new, keyed = [], self._store.journal.keyed
        before: list[str] = []
        for turn in turns:
            text = self._screen.pass_turn(turn.text, before).text
            before = [*before[-1:], text] if text.strip() else before
            ref = self._screen.pass_name(turn.ref)
            # What was purged is not taken in again.
            marks = (
                _turn_identity(replace(turn, ref=one), text)
                for one in (ref, keyed_mark(ref, keyed))
            )
            mark = next((mark for mark in marks if stored[mark] > 0), None)
            if mark is not None:
                stored[mark] -= 1
            elif text.strip():
                new.append(turn)
        return new


def _turn_identity(turn: Turn, text: str) -> str:
    """What makes a turn the same one: the host's id, else role and words.

    Tags of masked secrets differ between machines and do not count.
    """
    # By the program's own id where there is one: the same words may be another message.
    return turn.ref or f"{turn.role}\0{MASK.sub('⟦redacted⟧', text)}"


def _convert_turn(turn: Turn) -> Said:
    said = (turn.text, turn.at, turn.speaker, turn.ref, turn.origin, turn.tool_calls)
    return Said(turn.role, *said)


def from_bytes(name: str, content: bytes) -> TranscriptFile:
    """Return bytes already in memory, such as standard input, as readers see a file."""
    return TranscriptFile(name, content[:HEAD], lambda: io.BytesIO(content))


def find_files(paths: Iterable[Path], skipped: list[str] | None = None) -> Iterator[Path]:
    """Yield the files to ingest: folders give theirs, sorted, and those of known hidden folders.

    Links are not followed: one may lead out of the folder, and what it leads to inside is
    found anyway. A path that is named itself is taken, whatever it is.

    Args:
        paths: files and folders.
        skipped: called with what was passed over and might have been wanted.

    Raises:
        UsageError: a path does not exist.
    """
    passed = [] if skipped is None else skipped
    for path in paths:
        if path.is_dir():
            yield from sorted(_walk_folder(path, passed))
        elif path.exists():
            yield path
        else:
            raise UsageError(f"{path} does not exist. Name a file or a folder.")


def _walk_folder(root: Path, skipped: list[str]) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        links = [here / name for name in (*folders, *names) if (here / name).is_symlink()]
        skipped.extend(f"{link}: a link; name it to ingest what it leads to" for link in links)
        unknown = [n for n in folders if n.startswith(".") and n not in TRANSCRIPTS]
        for name in unknown:
            if name not in _QUIET and here / name not in links:
                skipped.append(f"{here / name}: a hidden folder; name it to ingest what is in it")
        # In place: `os.walk` goes only into what is left.
        folders[:] = [n for n in folders if n not in unknown]
        wanted = [here / name for name in names if not name.startswith(".")]
        yield from (path for path in wanted if path not in links and path.is_file())
