"""An open session: turns are appended to its file and are durable when we return.

Its view is a derived file that follows at a short distance.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from kimi_memory.capture.screen import Screen
from kimi_memory.domain.change import Actor
from kimi_memory.domain.memory_tables import CaptureTable
from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.session import (
    Json,
    Session,
    Transcript,
    Turn,
    last_rounds,
    problem_of,
    scope_of,
)
from kimi_memory.domain.tombstone import keyed_mark
from kimi_memory.errors import StoreError, UsageError
from kimi_memory.formats.jsonl import (
    archive_path,
    context_of,
    end_line,
    session_line,
    state_line,
    turn_line,
)
from kimi_memory.formats.session_page import view_json
from kimi_memory.hooks.host import Host
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.characters import HAN
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.safe_text import gives_orders
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.sessions import split_session
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from kimi_memory.domain.draft import Draft

_HAN = regex(f"[{HAN}]")
# What people say first; a tool's output is long and says little of them.
_BASE = {Role.USER: 0.5, Role.ASSISTANT: 0.4, Role.TOOL: 0.2, Role.SYSTEM: 0.1}
_ORIGIN = {Role.USER: Origin.HUMAN, Role.ASSISTANT: Origin.AGENT}


class Views:
    """Writes derived files, each at most once in a while.

    A view is not worth a wait of its own on every turn: in a long-lived process it
    follows within `pause_seconds`, in a short one (0) it is written at once.

    Args:
        store: where the files go.
        pause_seconds: longest time a view may be behind.
    """

    def __init__(self, store: Store, pause_seconds: float = 0.0) -> None:
        self._store, self._pause = store, pause_seconds
        self._due: dict[str, Callable[[], bytes]] = {}
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def show(self, path: str, content: Callable[[], bytes]) -> None:
        """Let the file at `path` show `content`, now or soon; the latest content counts."""
        if not self._pause:
            self._write_view(path, content)
            return
        with self._lock:
            self._due[path] = content
            if self._timer is None:
                self._timer = threading.Timer(self._pause, self._catch_up)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Write what is due; nothing follows after this."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            timer.join()
        self.write()

    def write(self) -> None:
        """Write what is due, now."""
        with self._lock:
            due, self._due = self._due, {}
        for path, content in due.items():
            self._write_view(path, content)

    def _write_view(self, path: str, content: Callable[[], bytes]) -> None:
        # The turn is stored; that its view is behind is no reason to say that it is not.
        with suppress(StoreError):
            self._store.view(path, content())

    def _catch_up(self) -> None:
        with self._lock:
            self._timer = None
        self.write()


def fits_window(text: str, limits: CaptureTable) -> bool:
    """Whether a text is neither too short to be a statement nor as long as pasted text."""
    if len(text) > limits.max_chars:
        return False
    # A Chinese character counts twice: it says about as much as two letters or more.
    return limits.min_chars <= len(text) + len(_HAN.findall(text)) <= limits.max_chars


@dataclass(frozen=True, slots=True)
class Said:
    """A turn as it comes in, before it is screened and numbered."""

    role: Role
    text: str
    at: datetime
    speaker: str = ""
    ref: str = ""
    origin: Origin | None = None
    """None: a user's words are human, an assistant's an agent's, others a tool's."""
    tool_calls: tuple[Json, ...] = ()
    masked: int = 0
    """How many secrets were masked in it before."""
    stripped: int = 0
    """How many characters were left out of it before."""


@dataclass(frozen=True, slots=True)
class Captured:
    """A stored turn and what the plugins found worth remembering in it."""

    turn: Turn
    drafts: tuple[Draft, ...] = ()
    before: tuple[Turn, ...] = ()
    """The turns right before it, where it has drafts: a text may be announced in one."""


class SessionLog:
    """One open session file. Several processes may write to the same one."""

    durability: Literal["", "replicated", "local"] = ""
    """Whether a log of several machines has what was added; empty for one machine alone."""

    def __init__(
        self,
        store: Store,
        host: Host,
        screen: Screen,
        actor: Actor,
        views: Views | None = None,
        *,
        limits: CaptureTable | None = None,
    ) -> None:
        self._store, self._host, self._screen, self._actor = store, host, screen, actor
        self._keyed = store.journal.keyed
        self._views, self._limits = views or Views(store), limits or CaptureTable()
        self._size, self._inode = -1, 0
        self._context = ""
        self._refs: set[str] = set()
        self._first = 1
        self._before: tuple[Turn, ...] = ()
        self._seen = Transcript(Session("", datetime.min.replace(tzinfo=UTC)))
        self.path = f"short-term/session_{actor.session}.jsonl"

    @property
    def session(self) -> Session:
        """The header of the session."""
        return self._seen.session

    @property
    def transcript(self) -> Transcript:
        """The session as last seen, with its latest turns only."""
        return self._seen

    def start(self, session: Session) -> None:
        """Make the file with its header, unless it is there.

        Raises:
            UsageError: the area lacks its name, or what is there is not of the same scope.
        """
        session = self._screen.pass_session(session)
        why = problem_of(session)
        if why:
            raise UsageError(why)
        self._split_joined_sessions()
        with self._lock_session_file():
            # A process that was killed before its first line leaves an empty file.
            left = sessions.is_begun(self._store, self.path) and not self._store.size(self.path)
            if left or not self._store.exists(self.path):
                if self._store.exists(archive_path(session)):
                    # Begun, ended and archived by others since this id was chosen.
                    raise UsageError(f"Session {session.id} has ended. Start a new one.")
                self._store.append(self.path, [session_line(session)], self._actor)
            self._reload_if_changed()
            if session.area and scope_of(session) != scope_of(self.session):
                raise UsageError(
                    f"Session {session.id} is not {scope_of(session)}. Use another id."
                )
        self._update_view()

    def add(self, said: Sequence[Said]) -> list[Captured]:
        """Screen, number and append turns; durable when this returns.

        Turns whose `ref` the session already holds, and turns that are empty
        after screening, are left out.
        """
        captured: list[Captured] = []
        lines: list[bytes] = []
        with self._lock_known_file():
            # Whatever fails below, the next call reads the file again.
            size, self._size = self._size, -1
            turns: Sequence[Turn] = self._seen.turns
            for one in said:
                made = self._screen_turn(one, turns)
                if made is not None:
                    captured.append(made)
                    lines.append(turn_line(made.turn))
                    # Only the last rounds: a session of months must not be held in memory whole.
                    turns = last_rounds([*turns, made.turn])
                    self._track_turn(made.turn, lines[-1])
            self._size = size
            self._append_lines(lines, replace(self._seen, turns=tuple(turns)))
        self._update_view()
        return captured

    def set_state(
        self,
        task: Mapping[str, Json] | None,
        variables: Mapping[str, Json] | None,
        metadata: Mapping[str, Json] | None = None,
    ) -> None:
        """Record the current task, variables or metadata; all but the task are merged."""
        task = None if task is None else self._screen.pass_fields(task)
        variables = self._screen.pass_fields(variables or {})
        metadata = self._screen.pass_fields(metadata or {})
        with self._lock_session_file():
            self._reload_if_changed()
            merged = {**self._seen.variables, **variables}
            seen = replace(
                self._seen, task=self._seen.task if task is None else task, variables=merged
            )
            if metadata:
                metadata = {**seen.metadata, **metadata}
                seen = replace(seen, metadata=metadata)
            self._append_lines([state_line(seen.task, seen.variables, metadata or None)], seen)
        self._update_view()

    def end(self, at: datetime) -> None:
        """Mark the session as ended; its file is archived by the distil job."""
        with self._lock_session_file():
            self._reload_if_changed()
            if self._seen.ended is None:
                self._append_lines([end_line(at)], replace(self._seen, ended=at))
        self._update_view()

    def _split_joined_sessions(self) -> None:
        """Give sessions that git joined a file each, before a turn goes to the wrong one."""
        size = self._store.size(self.path)
        if size and size != self._size:
            split_session(self._store, self.path, self._actor)

    def _lock_session_file(self) -> AbstractContextManager[object]:
        return self._store.holding(self.path)

    @contextmanager
    def _lock_known_file(self) -> Iterator[None]:
        """Hold the file as we know it; what others wrote to it is split and read before."""
        with self._lock_session_file():
            if self._is_known():
                yield
                return
        self._split_joined_sessions()
        with self._lock_session_file():
            self._reload_if_changed()
            yield

    def _is_known(self) -> bool:
        # A file that grows has changed if its size has; a purge puts another in its place.
        return self._store.extent(self.path) == (self._size, self._inode)

    def _screen_turn(self, said: Said, turns: Sequence[Turn]) -> Captured | None:
        ref = self._screen.pass_name(said.ref)
        if ref and not self._refs.isdisjoint({ref, keyed_mark(ref, self._keyed)}):
            return None  # It is there, or was until its words were purged.
        before = (*self._before, *turns[-2:])
        screened = self._screen.pass_turn(said.text, [one.text for one in before])
        if not screened.text.strip():
            return None
        turn = Turn(
            n=turns[-1].n + 1 if turns else self._first,
            at=said.at,
            role=said.role,
            text=screened.text,
            speaker=self._screen.pass_name(said.speaker),
            origin=_determine_origin(said, screened.text),
            importance=_BASE[said.role],
            context=self._context,
            # A host's id may be a digest of the words: on one of a secret codes could be tried.
            ref=keyed_mark(ref, self._keyed) if screened.masked else ref,
            masked=screened.masked + said.masked,
            stripped=screened.stripped + said.stripped,
            tool_calls=self._screen.pass_calls(said.tool_calls),
        )
        return self._rate_turn(turn, before)

    def _rate_turn(self, turn: Turn, before: tuple[Turn, ...]) -> Captured:
        if not fits_window(turn.text, self._limits):
            return Captured(turn)
        gathered = self._host.gather("capture_turn", turn=turn, session=self._seen.session)
        scope = scope_of(self.session)
        drafts = tuple(replace(draft, scope=scope) for found in gathered for draft in found)
        if not drafts:
            return Captured(turn)
        best = max([turn.importance, *(draft.importance for draft in drafts)])
        tags = tuple(dict.fromkeys(tag for draft in drafts for tag in draft.tags))
        return Captured(replace(turn, importance=round(best, 2), tags=tags), drafts, before)

    def _track_turn(self, turn: Turn, line: bytes) -> None:
        self._context = context_of(self._context, line)
        if turn.ref:
            self._refs.add(turn.ref)

    def _reload_if_changed(self) -> None:
        """Catch up with the file if another process wrote to it since we did."""
        if self._is_known():
            return
        size, inode = self._store.extent(self.path)
        content = self._store.read(self.path)
        seen = sessions.parse(content, self.path)
        if seen.ended is not None:
            raise UsageError(f"Session {seen.session.id} has ended. Start a new one.")
        earlier = self._earlier_turns(seen.session)
        self._context = seen.session.after
        self._refs = {turn.ref for turn in (*earlier, *seen.turns) if turn.ref}
        for line in content.splitlines(keepends=True):
            if b'"kind":"turn"' in line:
                self._context = context_of(self._context, line)
        self._first, self._before = earlier[-1].n + 1 if earlier else 1, earlier[-2:]
        self._seen = replace(seen, turns=tuple(last_rounds(seen.turns)))
        self._size, self._inode = size, inode

    def _earlier_turns(self, session: Session) -> tuple[Turn, ...]:
        """Return the turns of the ended sessions this one continues."""
        if not session.continues:
            return ()
        before = sessions.read(self._store, sessions.find(self._store, session.continues).path)
        return (*self._earlier_turns(before.session), *before.turns)

    def _append_lines(self, lines: list[bytes], seen: Transcript) -> None:
        if not lines:
            return
        size, self._size = self._size, -1
        self._store.append(self.path, lines, self._actor, at=size)
        self._size = size + sum(map(len, lines))
        self._seen = seen

    def _update_view(self) -> None:
        seen = self._seen
        self._views.show(self.path.removesuffix("l"), lambda: view_json(seen))


def _determine_origin(said: Said, text: str) -> Origin:
    """Return whose words a text is; orders to a model are nobody's that we would believe."""
    origin = said.origin or _ORIGIN.get(said.role, Origin.TOOL)
    # "Ignore all previous instructions" counts as words from outside, even in a person's message.
    return max(origin, Origin.REMOTE, key=_origin_rank) if gives_orders(text) else origin


def _origin_rank(origin: Origin) -> int:
    return origin.rank
