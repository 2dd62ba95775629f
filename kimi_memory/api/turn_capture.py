"""Capture over an opened memory: sessions, statements and transcripts as they come in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

from kimi_memory.api.options import Parts
from kimi_memory.capture.ingest import Ingest, Ingested
from kimi_memory.capture.kept_log import (
    CARDS,
    ENDED,
    Durability,
    OpenLog,
    SharedLog,
    Silence,
    again_where_changed,
    said_again,
)
from kimi_memory.capture.log import Captured, Said, SessionLog, Views
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.ids import moment
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.note import CardType, Lang, Origin, Quote, Role
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import STATEMENTS, Json, Session, Transcript, Turn, scope_of
from kimi_memory.errors import ChangedOnDiskError, FormatError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import fold_case, language_of
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.addressed import tells_agents
from kimi_memory.store.files.paths import KEPT
from kimi_memory.store.notes import sessions

if TYPE_CHECKING:
    from kimi_memory.api.job_runs import JobRuns
    from kimi_memory.config import CaptureTable
    from kimi_memory.domain.job import Actor

# People who watch the view do not notice it, and a burst of turns writes it once.
_VIEW_SECONDS = 0.25
_LOGS = 16
"""Logs of so many sessions are kept at hand."""
_WAITS = "kept as an agent's word; it counts once its person confirms it (kimi-memory review)"
_KEPT = "kept on this node only; its card is made once the change log answers"


@dataclass(frozen=True, slots=True)
class SessionHandle:
    """An open session of a memory; use it as a context manager to end it."""

    log: OpenLog
    clock: Callable[[], datetime]
    captured: Callable[[Sequence[Captured]], None]
    """Informed of new turns once they are durable."""
    finish: Callable[[str], JobReport]
    """Ends and distils the session of an id."""

    @property
    def header(self) -> Session:
        """Who takes part, since when."""
        return self.log.session

    @property
    def id(self) -> str:
        """The session's id."""
        return self.log.session.id

    @property
    def durability(self) -> Durability:
        """Where the last turn stands, in a memory on several machines; empty on one.

        ``replicated`` is in the change log; ``local`` is kept on this node only, and put into the
        log once that answers.
        """
        return self.log.durability

    def turn(
        self,
        role: Role | str,
        text: str,
        *,
        speaker: str = "",
        at: datetime | None = None,
        ref: str = "",
        origin: Origin | str | None = None,
    ) -> Turn | None:
        """Store one turn; it is durable and can be recalled when this returns.

        Args:
            role: user, assistant, tool or system.
            text: what was said; secrets are masked, recalled blocks removed.
            speaker: a name, where one is known.
            at: when, aware; now if not given.
            ref: the host's id of the message; the same one is stored once.
            origin: whose words these are, where the role does not tell.

        Returns:
            The stored turn; None when it was known already or nothing was left of it.
        """
        turn, keep = self.store(role, text, speaker=speaker, at=at, ref=ref, origin=origin)
        keep()
        return turn

    def store(
        self,
        role: Role | str,
        text: str,
        *,
        speaker: str = "",
        at: datetime | None = None,
        ref: str = "",
        origin: Origin | str | None = None,
    ) -> tuple[Turn | None, Callable[[], None]]:
        """Store one turn, see `turn`; what may become a card at once waits for a call.

        Returns:
            The stored turn, and what makes its cards.
        """
        said = Said(
            Role(role),
            text,
            at or self.clock(),
            speaker,
            ref,
            None if origin is None else Origin(origin),
        )
        captured = self.log.add([said])
        # Cards are made where the log has the turn.
        cards = () if self.log.durability == "local" else captured
        return captured[0].turn if captured else None, partial(self.captured, cards)

    def state(
        self,
        *,
        task: Mapping[str, Json] | None = None,
        variables: Mapping[str, Json] | None = None,
    ) -> None:
        """Record the current task, or temporary variables (merged into earlier ones)."""
        self.log.set_state(task, variables)

    def end(self) -> JobReport:
        """End the session: it is archived and distilled."""
        return self.finish(self.id)

    def __enter__(self) -> SessionHandle:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        # After an error the session stays open, so that it can go on where it broke off.
        if kind is None:
            self.end()


class TurnCapture:
    """Stores what is said.

    Args:
        parts: the memory.
        runs: returns what makes cards at once; most turns need none.
        end: ends and distils the session of an id.
    """

    def __init__(
        self, parts: Parts, runs: Callable[[], JobRuns], end: Callable[[str], JobReport]
    ) -> None:
        self._parts, self._runs, self._end = parts, runs, end

    @cached_property
    def _session_views(self) -> Views:
        return Views(self._parts.store, _VIEW_SECONDS if self._parts.background else 0.0)

    def start(self, header: Session) -> SessionHandle:
        """Start a session, or go on with the open one of that id."""
        parts = self._parts
        log: OpenLog
        if parts.store.relay is None:
            header = sessions.next_part(parts.store, header)
            log = self._open_log(parts.actor._replace(session=header.id), parts.settings.capture)
            log.start(header)
        else:
            log = SharedLog(parts.store, header, self._make_log_of, self.take_kept, self._silence)
            log.start()
        parts.written()
        return SessionHandle(log, parts.clock, self._keep_wanted, self._end)

    @cached_property
    def _silence(self) -> Silence:
        return Silence()

    @cached_property
    def _open_log(self) -> Callable[[Actor, CaptureTable], SessionLog]:
        """Returns the log of a session; those used last know what they read already.

        Of a server each turn is a call of its own: to read a session of 500 turns for each of
        them takes longer than to store it.
        """
        return lru_cache(maxsize=_LOGS)(self._make_log)

    def _make_log(self, actor: Actor, limits: CaptureTable) -> SessionLog:
        parts, views = self._parts, self._session_views
        return SessionLog(parts.store, parts.host, parts.screen, actor, views, limits=limits)

    def _make_log_of(self, id: str) -> SessionLog:
        """Return a new log of a session, as the settings and the actor are now."""
        parts = self._parts
        return self._make_log(parts.actor._replace(session=id), parts.settings.capture)

    def take_kept(self, id: str) -> None:
        """Put into the change log what this node kept of a session while that did not answer.

        Raises:
            NotPrimaryError: another node takes the writes, or nobody answers; all of it stays.
        """
        store, path = self._parts.store, sessions.kept_path(id)
        while store.exists(path):
            content = store.read(path)
            self.take(sessions.read_kept(store, path))
            with suppress(ChangedOnDiskError):  # More was kept meanwhile.
                sessions.let_go(store, path, content, self._parts.actor)

    def take_all_kept(self) -> None:
        """Put into the change log all that this node kept while that did not answer."""
        for id, path in sessions.find_kept(self._parts.store):
            try:
                self.take_kept(id)
            except FormatError as error:
                # It keeps no other from the log; `doctor` names a damaged file.
                self._parts.notes = (*self._parts.notes, f"{path} stays here: {error}")

    def take(self, kept: Transcript) -> None:
        """Store the turns of a session that was kept on some node; those that are there stay.

        Raises:
            NotPrimaryError: another node takes the writes, or nobody answers.
        """
        parts = self._parts
        id = kept.session.id.removesuffix(KEPT.removesuffix(".jsonl"))
        header = sessions.next_part(parts.store, replace(kept.session, id=id, continues=""))
        log = self._make_log_of(header.id)
        log.start(header)
        captured = again_where_changed(lambda: log.add(said_again(kept)))
        metadata = {name: one for name, one in kept.metadata.items() if name not in (ENDED, CARDS)}
        if kept.task or kept.variables or metadata:
            log.set_state(kept.task or None, kept.variables, metadata)
        asked = kept.metadata.get(CARDS)
        cards = asked if isinstance(asked, dict) else {}
        self._keep_wanted([one for one in captured if one.turn.ref not in cards])
        for one in captured:
            if isinstance(found := cards.get(one.turn.ref), list):
                draft = self._explicit_draft(one, header, *map(str, found))
                self._runs().keep_statement(draft, [one])
        if ended := kept.metadata.get(ENDED):
            log.end(max(moment(str(ended)), kept.latest))
        parts.written()

    def id_of_statements(self, project: str, agent: str, user: str, area: str) -> str:
        """Return the id of the session that statements of this day are said in."""
        now, copy = self._parts.now(), self._parts.copy_id
        # Screened before they are hashed: who sees the id could try all secrets on it.
        owner = map(self._parts.screen.pass_name, (project, agent, user))
        return remembered_in(now, copy, *owner, area=area)

    def remember(self, handle: SessionHandle, text: str, key: str, type: str) -> JobReport:
        """Store a statement as a turn and as a card that quotes it."""
        parts = self._parts
        origin = parts.actor.origin
        role = Role.ASSISTANT if origin is Origin.AGENT else Role.USER
        said = Said(role, text, parts.clock(), origin=origin)
        captured = handle.log.add([said])
        parts.written()
        if not captured:
            raise UsageError("Nothing is left of that text once injected blocks are removed.")
        key = parts.screen.pass_name(key)
        draft = self._explicit_draft(captured[0], handle.header, key, type)
        if isinstance(handle.log, SharedLog) and handle.log.durability == "local":
            handle.log.ask_for_card(captured[0].turn.ref, key, type)
            return JobReport("", "remember", draft.key, left_out=(_KEPT,))
        report = self._runs().keep_statement(draft, captured)
        waits = (f"{draft.key}: {_WAITS}",) if draft.weak and report.operations else ()
        return replace(report, left_out=(*report.left_out, *waits))

    def ingest(
        self, files: Iterable[TranscriptFile], progress: Callable[[int], None]
    ) -> Iterator[Ingested]:
        """Store the sessions of transcript files, each turn once; yields a report a session."""
        parts = self._parts
        limits = parts.settings.capture
        taking = Ingest(parts.store, parts.host, parts.screen, parts.actor, limits)
        for file in files:
            yield from taking.ingest_file(file, progress)
            parts.written()

    def mark_ended(self, id: str) -> str:
        """End a session; returns its whole id."""
        parts = self._parts
        place = sessions.find(parts.store, parts.screen.pass_id(id))
        transcript = sessions.read(parts.store, place.path)
        if place.open and transcript.ended is None:
            # Turns of an import may be of a later clock than ours; nothing ends before it began.
            at = max(parts.clock(), transcript.latest)
            if parts.store.relay is None:
                SessionLog(
                    parts.store, parts.host, parts.screen, parts.actor._replace(session=place.id)
                ).end(at)
            else:
                self.start(replace(transcript.session, id=place.id)).log.end(at)
            parts.written()
        return place.id

    def close(self) -> None:
        """Write the views of sessions that wait."""
        if "_session_views" in self.__dict__:
            self._session_views.close()

    def _explicit_draft(self, captured: Captured, session: Session, key: str, type: str) -> Draft:
        """Return the draft of something that somebody asked to remember.

        An agent's waits for its person, unless agents are trusted in the settings.
        """
        trusted = self._parts.settings.capture.agent_statements == "trust"
        turn = captured.turn
        lang = Lang(language_of(turn.text))
        found = captured.drafts[0] if captured.drafts else None
        title = " ".join(turn.text.split())[:60]
        try:
            kind = CardType(type) if type else (found.type if found else CardType.FACT)
        except ValueError:
            known = ", ".join(CardType)
            raise UsageError(f"{type!r} is no card type. Use one of {known}.") from None
        if turn.origin is not Origin.HUMAN and _is_order(turn.text):
            kind = CardType.RULE  # Another name makes no fact of an agent's order.
        return Draft(
            type=kind,
            key=key or (found.key if found else f"note.{slug(title, limit=40)}"),
            title=found.title if found else title,
            value=turn.text.strip(),
            # The whole turn is its evidence: what is to be remembered is said in so many words.
            quotes=(Quote(session.id, turn.n, turn.text),),
            at=turn.at,
            lang=lang,
            importance=0.9,
            confidence=0.9,
            reversal=bool(found and found.reversal),
            origin=turn.origin,
            # Not all orders are known as such, and a fact may be another's that the agent read.
            weak=turn.origin is not Origin.HUMAN and not trusted,
            category=session.project or (found.category if found else "general"),
            project=session.project,
            scope=scope_of(session),
        )

    def _keep_wanted(self, captured: Sequence[Captured]) -> None:
        """Make cards of turns that ask for it."""
        parts = self._parts
        parts.written()
        limits = parts.settings.capture
        wanted = [draft for one in captured for draft in one.drafts] if limits.auto else []
        # Bounded for each exchange: a pasted page of rules must not become fifty memories.
        if wanted[: limits.limit]:
            self._runs().keep_wanted(wanted[: limits.limit], captured)


def remembered_in(
    at: datetime, copy: str, project: str = "", agent: str = "", user: str = "", *, area: str = ""
) -> str:
    """Return the session of a day's remembered statements: one for each copy and owner.

    Two copies that wrote into one file could not be merged.
    """
    whose = f"\0{project}\0{agent}" if project or agent else ""
    whose += f"\0user {user}\0{area}" if user or area else ""
    mark = f"-{hashlib.sha256(whose.encode()).hexdigest()[:10]}" if whose else ""
    return f"{STATEMENTS}{at:%Y%m%d}{f'-{copy}' if copy else ''}{mark}"


def _is_order(text: str) -> bool:
    return bool(cues.RULE.search(fold_case(text))) or tells_agents(text)
