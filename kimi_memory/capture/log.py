"""An open session: turns are screened, appended to its file, and durable when we return.

The screen stands between spoken words and the disk: secrets masked, injected text removed. The
view of a session is a derived file that follows at a short distance.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import fields, replace
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kimi_memory.config import CaptureTable
from kimi_memory.domain.ids import safe_session_id
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.screen import Span
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
    view_json,
)
from kimi_memory.hooks.host import Host
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import HAN, regex
from kimi_memory.nlp.basic.safe_text import gives_orders, strip_injected
from kimi_memory.nlp.rules.secret_words import find_secret_answer
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.sessions import split_session
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from kimi_memory.domain.draft import Draft

MASK = re.compile(r"⟦redacted:[a-z0-9-]+:[0-9a-f]{4}⟧")
# JSON nested deeper than this no program writes; Python's own stack ends near 1,000.
_DEEPEST = 100
_SHORTEST = 1000
"""A number with fewer digits is no code."""
_IDS = frozenset({"id", "continues"})
"""Of the header of a session: ids have a way of their own."""
_UNSEEN = re.compile(
    r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
"""Signs of no width, which may part the letters of a word."""
_REFERENCE = re.compile(
    r"^ *- session:\S{1,200}#\d+(?:-\d+)?(?: [a-z]+)?(?: [0-9a-f]{12})?$"
    r"|\[\[session_[^\[\]|\n]{1,200}\|#\d[\d-]*\]\]",
    re.MULTILINE,
)
"""A turn as notes name it, by the id of its session, which was screened when it was given."""
# With the invisible tags of Unicode, in which orders to a model can be hidden.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\U000e0000-\U000e007f]")


class Screened(NamedTuple):
    """A text that may be stored."""

    text: str
    masked: int = 0
    """How many secrets were masked."""
    cut: int = 0
    """How many bytes were cut off at the end."""
    stripped: int = 0
    """How many characters of injected blocks were left out."""


class Screen:
    """Asks the screening plugins and masks what they name.

    Args:
        host: the plugins.
        key: machine-local key; equal secrets get equal tags that tell nothing else.
        max_bytes: longer texts are cut, with a mark.
    """

    def __init__(self, host: Host, key: bytes, max_bytes: int = 65536) -> None:
        self._host, self._key, self._max_bytes = host, key, max_bytes

    def pass_text(self, text: str) -> Screened:
        """Return `text` without injected blocks, control characters and secrets."""
        if not text:
            return Screened("")
        given = text.replace("\r\n", "\n").replace("\r", "\n")
        told = strip_injected(given)
        plain = _CONTROL.sub("", told)
        # Half characters, which no file can hold.
        plain = plain.encode("utf-8", "replace").decode("utf-8")
        masked, count = self.mask(plain)
        kept, cut = self._truncate_text(masked)
        return Screened(kept, count, cut, len(given) - len(told))

    def pass_turn(self, text: str, before: Sequence[str]) -> Screened:
        """Return the words of a turn as they may be stored; a bare answer can be a secret.

        Args:
            text: what is said.
            before: what was said before it in the session, oldest first; the last two count.
        """
        passed = self.pass_text(text)
        place = find_secret_answer(passed.text, before)
        if place is None:
            return passed
        # "hunter2-x" alone is a word; what the plugins say of "password: hunter2-x" counts.
        spans = self.spans(f"password: {passed.text[slice(*place)]}")
        if not spans:
            return passed
        masked, count = self._mask_spans(passed.text, [Span(*place, spans[0].rule)])
        return passed._replace(text=masked, masked=passed.masked + count)

    def mask(self, text: str) -> tuple[str, int]:
        """Return `text` with every secret replaced by ``⟦redacted:<rule>:<tag>⟧``."""
        return self._mask_spans(text, self.spans(text))

    def _mask_spans(self, text: str, spans: Iterable[Span]) -> tuple[str, int]:
        pieces, end, count = [], 0, 0
        for span in _merge_spans(spans):
            tag = hmac.new(self._key, text[span.start : span.end].encode(), hashlib.sha256)
            pieces += [text[end : span.start], f"⟦redacted:{span.rule}:{tag.hexdigest()[:4]}⟧"]
            end, count = span.end, count + 1
        return "".join([*pieces, text[end:]]), count

    def mask_new(self, text: str, known: str) -> str:
        """Return `text` with the secrets masked that do not stand in `known` already."""
        # What a person wrote on a page themselves stays as they wrote it.
        fresh = [s for s in self.spans(text) if text[s.start : s.end] not in known]
        turns = [match.span() for match in _REFERENCE.finditer(text)] if fresh else []
        fresh = [s for s in fresh if not any(a <= s.start and s.end <= b for a, b in turns)]
        return self._mask_spans(text, fresh)[0]

    def pass_name(self, name: str) -> str:
        """Return a name, such as that of a project, as it may be stored."""
        return self.pass_text(name).text if name else ""

    def pass_id(self, id: str) -> str:
        """Return the id that a session of this name has; a secret in it counts by its mask."""
        return safe_session_id(self.pass_name(id))

    def pass_session(self, session: Session) -> Session:
        """Return the header of a session as it may be stored; its id has passed before."""
        texts: dict[str, Any] = {}
        if session.continues:
            texts["continues"] = self.pass_id(session.continues)
        for name in (field.name for field in fields(session) if field.name not in _IDS):
            if isinstance(text := getattr(session, name), str):
                texts[name] = self.pass_name(text)
        return replace(session, **texts)

    def pass_fields(self, fields: Mapping[str, Json], depth: int = 0) -> dict[str, Json]:
        """Return JSON as it may be stored; ``password`` makes a secret of a short word.

        Raises:
            UsageError: it is nested deeper than any program needs.
        """
        return {
            self.pass_name(name): self._pass_value(value, name, depth)
            for name, value in fields.items()
        }

    def pass_calls(self, calls: Sequence[Json]) -> tuple[Json, ...]:
        """Return the calls of tools of a turn as they may be stored.

        From the first one on for which there is no room, they are left out, which is said:
        what a tool is given can be a whole file.
        """
        kept: list[Json] = []
        room = self._max_bytes
        for at, call in enumerate(calls):
            try:
                passed = self._pass_value(call, "tool_calls", 0)
            except UsageError:
                passed = {"cut": "nested too deep"}
            room -= len(json.dumps(passed, ensure_ascii=False).encode("utf-8", "replace"))
            if room < 0:
                return (*kept, {"cut": f"{len(calls) - at} calls"})
            kept.append(passed)
        return tuple(kept)

    def _pass_value(self, value: Json, name: str, depth: int) -> Json:
        if depth > _DEEPEST:
            raise UsageError("The values are nested too deep to be kept. Keep them flat.")
        match value:
            case str():
                # "hunter2" alone is a word; "password: hunter2" is a secret.
                label = f"{name}: "
                passed = self.pass_text(f"{label}{value}").text
                return passed.removeprefix(label) if passed.startswith(label) else passed
            case list():
                return [self._pass_value(one, name, depth + 1) for one in value]
            case dict():
                return dict(self.pass_fields(value, depth + 1))
            case int() if abs(value) >= _SHORTEST:
                # {"pin": 4831} tells as much as {"pin": "4831"}.
                told = self._pass_value(str(value), name, depth)
                return value if told == str(value) else told
            case float() if not isfinite(value):
                return None  # JSON has no such number.
        return value

    def spans(self, text: str) -> list[Span]:
        """Return what the plugins would mask, outside of earlier masks."""
        if not text:
            return []  # Reasons and subjects are empty mostly; to ask loads the plugins.
        found = [*self._ask_plugins(text), *self._find_parted(text)]
        if not found:
            return []
        masks = [match.span() for match in MASK.finditer(text)]
        return [s for s in found if not any(a < s.end and s.start < b for a, b in masks)]

    def _ask_plugins(self, text: str) -> list[Span]:
        return [span for spans in self._host.gather("screen_text", text=text) for span in spans]

    def _find_parted(self, text: str) -> list[Span]:
        """Return what would be masked, were the signs that nobody sees not between its letters."""
        if text.isascii() or not _UNSEEN.search(text):
            return []
        seen = [at for at, sign in enumerate(text) if not _UNSEEN.match(sign)]
        spans = self._ask_plugins("".join(text[at] for at in seen)) if seen else []
        return [Span(seen[one.start], seen[one.end - 1] + 1, one.rule) for one in spans]

    def _truncate_text(self, text: str) -> tuple[str, int]:
        raw = text.encode("utf-8")
        over = len(raw) - self._max_bytes
        if over <= 0:
            return text, 0
        # A character that the cut halves is left out.
        kept = raw[: self._max_bytes].decode("utf-8", "ignore")
        return f"{kept}\n⟦cut: {over} bytes⟧", over


def _merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Join overlapping spans; the longest one gives the rule its name."""
    joined: list[Span] = []
    # Of spans that begin alike the longest comes first, and covers the others.
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            rule = max(last, span, key=lambda s: s.end - s.start).rule
            joined[-1] = Span(last.start, max(last.end, span.end), rule)
        elif span.end > span.start:
            joined.append(span)
    return joined


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
    return max(origin, Origin.REMOTE, key=lambda one: one.rank) if gives_orders(text) else origin
