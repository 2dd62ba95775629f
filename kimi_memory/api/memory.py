"""A memory: the folder, opened."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from kimi_memory.api.chat_window import ChatWindow
from kimi_memory.api.options import Opening
from kimi_memory.api.past_reading import PastReading
from kimi_memory.api.syncing import Syncing
from kimi_memory.config import MARKER
from kimi_memory.domain.ids import lettered, new_session_id
from kimi_memory.domain.session import Session, Transcript
from kimi_memory.errors import KimiMemoryError, NotAMemoryError, UsageError
from kimi_memory.recall.request import Request
from kimi_memory.store.notes.notes import Shelf

if TYPE_CHECKING:
    from kimi_memory.api.consolidation import Consolidation
    from kimi_memory.api.job_runs import JobRuns
    from kimi_memory.api.turn_capture import SessionHandle, TurnCapture
    from kimi_memory.capture.ingest import Ingested
    from kimi_memory.domain.job import Job, JobReport
    from kimi_memory.domain.screen import TranscriptFile
    from kimi_memory.domain.search_types import Answer, Context, Query
    from kimi_memory.jobs.planner import Planner
    from kimi_memory.jobs.runner import Jobs
    from kimi_memory.jobs.trace import Trace
    from kimi_memory.recall.browse import Listing, ListQuery
    from kimi_memory.store.notes.notes import Filed


class Memory(PastReading, Syncing, ChatWindow):
    """One memory folder.

    Open it with `Memory.open`; use it as a context manager or call `close`.
    """

    @classmethod
    def open(cls, path: Path | str, opening: Opening | None = None) -> Self:
        """Open the memory in a folder.

        Args:
            path: the folder that holds ``memory.toml``.
            opening: clock, plugins and the like, where the defaults do not fit.

        Raises:
            NotAMemoryError: there is none.
        """
        root = Path(path).expanduser().resolve()
        if not (root / MARKER).is_file():
            raise NotAMemoryError(root)
        return cls(root, opening or Opening())

    @classmethod
    def create(
        cls,
        path: Path | str,
        *,
        name: str = "",
        language: Literal["auto", "zh", "en"] = "auto",
        locale: str = "",
        opening: Opening | None = None,
    ) -> Self:
        """Make a memory in a new or empty folder, with history, and open it.

        A folder that is a memory already stays as it is, but gets its history.

        Raises:
            HistoryError: the folder lies where a repository of its own must not be.
        """
        root = Path(path).expanduser().resolve()
        opening = opening or Opening()
        from kimi_memory.api.scaffold import lay_out

        notes = lay_out(root, opening, name, language, locale)
        memory = cls(root, opening)
        memory.notes = notes
        # Its first commit: whatever follows can be compared with an empty memory.
        if not memory.history.head():
            memory.history.commit("A new memory", trailers={"Kind": "init"})
        return memory

    @cached_property
    def _capture_part(self) -> TurnCapture:
        from kimi_memory.api.turn_capture import TurnCapture

        return TurnCapture(self, lambda: self._job_runs, self.end)

    @cached_property
    def _consolidation_part(self) -> Consolidation:
        from kimi_memory.api.consolidation import Consolidation

        return Consolidation(self, self._job_runs)

    @cached_property
    def _job_runs(self) -> JobRuns:
        from kimi_memory.api.job_runs import JobRuns

        return JobRuns(self, self._repair_quietly)

    def _repair_quietly(self) -> None:
        """Repair what git merged; what keeps it from being repaired keeps no job from running."""
        try:
            self.notes = (*self.notes, *self.repair_merges())
        except KimiMemoryError as error:
            self.notes = (*self.notes, f"a merge of git is not repaired yet: {error}")

    @property
    def jobs(self) -> Jobs:
        """What carries out plans and knows what was done."""
        return self._job_runs.jobs

    # Capture

    def session(  # noqa: PLR0913  each is a member of the header
        self,
        id: str = "",
        *,
        agent: str = "",
        user: str = "",
        project: str = "",
        host: str = "",
        title: str = "",
        area: str = "",
    ) -> SessionHandle:
        """Start a session, or go on with the open one of that id.

        An id whose session has ended gets a continuation, ``<id>.2``. With an `area` of
        ``agent``, ``user`` or ``session``, what is said, and what comes of it, is that
        agent's, that user's or this session's alone.

        Raises:
            UsageError: the area lacks its name, or the session is somebody else's.
        """
        now = self.clock()
        root = self.screen.pass_id(id) if id else new_session_id(now)
        header = Session(
            root, now, agent=agent, user=user, project=project, host=host, title=title, area=area
        )
        return self._capture_part.start(header)

    def remember(  # noqa: PLR0913  what is said, and whose it is
        self,
        text: str,
        *,
        key: str = "",
        type: str = "",
        project: str = "",
        agent: str = "",
        user: str = "",
        area: str = "",
        session: str = "",
    ) -> JobReport:
        """Keep a statement at once, as a turn and as a card that quotes it.

        Args:
            text: one statement.
            key: what it is about, such as ``db.choice``; found by rules if not given.
            type: one of the card types; found by rules if not given.
            project: the project it belongs to.
            agent: the agent it was said to.
            user: the user who said it.
            area: ``agent``, ``user`` or ``session``, for what is theirs alone; shared if empty.
            session: the session it was said in; one for each day if not given.
        """
        if not text.strip():
            raise UsageError("There is nothing to remember. Give one statement.")
        # The session of a day's statements is shared by many: nothing in it is of one session
        # alone.
        if area == "session" and not session:
            raise UsageError("A statement has no session of its own. Name one, or another area.")
        session = session or self._capture_part.id_of_statements(project, agent, user, area)
        handle = self.session(
            session, agent=agent, user=user, project=project, host="remember", area=area
        )
        return self._capture_part.remember(handle, text, key, type)

    def ingest(
        self, files: Iterable[TranscriptFile], progress: Callable[[int], None] = lambda count: None
    ) -> Iterator[Ingested]:
        """Store the sessions of transcript files, each turn once; yields a report a session."""
        return self._capture_part.ingest(files, progress)

    def take_kept(self, kept: Transcript | None = None) -> None:
        """Put turns into the change log that were kept while it did not answer.

        Args:
            kept: what another node kept of a session; all that this one kept if None.

        Raises:
            NotPrimaryError: another node takes the writes, or the log does not answer.
        """
        if kept is None:
            self._capture_part.take_all_kept()
        else:
            self._capture_part.take(kept)

    # Consolidation

    def end(self, id: str) -> JobReport:
        """End a session: mark it, archive it, distil it."""
        return self.distil(self.mark_ended(id))

    def mark_ended(self, id: str) -> str:
        """End a session and leave it to a later `distil`; returns its whole id."""
        return self._capture_part.mark_ended(id)

    def distil(self, id: str, *, dry_run: bool = False) -> JobReport:
        """Distil one session; nothing to do when it was distilled before."""
        return self._consolidation_part.distil(id, dry_run=dry_run)

    def waiting(self) -> list[str]:
        """Return the ids of ended sessions that were not distilled yet."""
        return self._consolidation_part.waiting()

    def distil_waiting(self, *, dry_run: bool = False) -> list[JobReport]:
        """Distil every session that waits, in order; one that fails keeps no other waiting."""
        return self._consolidation_part.distil_waiting(dry_run=dry_run)

    def consolidate(
        self, period: str, day: date | None = None, *, dry_run: bool = False
    ) -> list[JobReport]:
        """Run a scheduled job for one period, or for all that have news.

        Args:
            period: name of the job in `kimi_memory.domain.job_registry`: daily, weekly …
            day: the day, or any day of the week; if not given all periods in order, of which
                one that fails is reported and the others are done.
            dry_run: report the diff and write nothing.
        """
        return self._consolidation_part.consolidate(period, day, dry_run=dry_run)

    def take_edits(self, *, meant: bool = False, dry_run: bool = False) -> JobReport:
        """Take over what a person changed on generated pages and in the files of cards.

        Args:
            meant: lines that are gone are meant to be, however many they are.
            dry_run: report the diff and write nothing.
        """
        return self._consolidation_part.take_edits(meant=meant, dry_run=dry_run)

    def run(self, job: Planner, *, dry_run: bool = False) -> JobReport:
        """Run one job: its plan, the gates, one transaction, one commit; `undo` takes it back.

        Args:
            job: its planner, such as ``Forget(memory, Wanted(note=id))``.
            dry_run: report the diff and write nothing.

        Raises:
            GateError: a gate stopped it; memory is as it was.
        """
        return self._job_runs.run(job, dry_run=dry_run)

    def repair_merges(self, *, thorough: bool = False) -> list[str]:
        """Merge by values what git merged by lines since the last time; return what was done.

        Jobs do it before they begin.

        Args:
            thorough: look for marks of a merge in all files, though nothing was merged lately.
        """
        if not thorough and not self.has_merges():
            return []
        return self._consolidation_part.repair_merges(thorough=thorough)

    def undo(self, job: str) -> Job:
        """Take a job back: every file it changed is again what it was, byte for byte."""
        return self._consolidation_part.undo(job)

    # Recall

    def recall(
        self, query: Query | str, *, limit: int = 0, looking: bool = False,
        valid_at: datetime | date | str | None = None,
    ) -> Answer:  # fmt: skip
        """Find the lines that answer a question.

        Args:
            query: a line, see `kimi_memory.recall.query_parser`, or a `Query` with filters.
            limit: most hits; the setting ``recall.limit`` if 0.
            valid_at: ask for what was held to be true then, at the end of a day or at a moment.
            looking: a person only looks around; nothing is warmed by having been shown.

        Raises:
            UsageError: the line or the date cannot be understood; the place is named.
        """
        query = self._read_query(query, limit, valid_at)
        if query.as_of:
            return self.at(query.as_of).recall(query)
        answer = self.engine.search(query)
        shown = {hit.unit.id: hit.score for hit in answer.hits}
        self._recall_receipts.add(query.text, shown, self.actor, looking=looking)
        self.host.notice("recalled", query=query, hits=answer.hits)
        return answer

    def _read_query(
        self, query: Query | str, limit: int, valid_at: datetime | date | str | None
    ) -> Query:
        from kimi_memory.recall.query_parser import looking_back, parse

        if isinstance(query, str):
            query = parse(query, self.now(), limit=limit or self.settings.recall.limit)
        if valid_at is None:
            return query
        return replace(query, valid_at=looking_back(valid_at, self.now()))

    def browse(self, query: ListQuery) -> Listing:
        """Return one page of a list of what is held, with its total and counts by field.

        It leaves no receipt and warms nothing.

        Raises:
            UsageError: the order, the cursor or the limit is none.
        """
        return self.engine.browse(query)

    def context(  # noqa: PLR0913  what it is for, and who may see what
        self, purpose: Literal["start", "task", "live"] = "task", query: str = "", *,
        budget: int = 0, session: str = "", beside: str = "", project: str = "",
        within: tuple[str, ...] | None = None, narrowed: Callable[[Query], Query] | None = None,
        as_of: str = "", valid_at: datetime | date | str | None = None, counted: bool = True,
    ) -> Context:  # fmt: skip
        """Return a block of memory to put into a prompt, fenced as data.

        Args:
            purpose: start of a session, a task, or the next turn.
            query: what it is about; not needed for start.
            budget: most tokens; the setting ``recall.context_tokens`` if 0.
            session: the running session, whose last turns may be repeated.
            beside: a session whose turns are in the prompt already; nothing of it is shown.
            within: private scopes that may be shown, such as ``agent:reviewer``; all if None.
            project: the project it is about; that of the running session if empty, else all.
            narrowed: bounds a query to what the caller may see; no bound if None.
            as_of: a point in the history: the block that was given then.
            valid_at: show what was so then, at the end of a day or at a moment.
            counted: leave a receipt; without, a person only looks at what an agent would get.
        """
        moment = self._read_query("", 0, valid_at).valid_at if valid_at is not None else None
        # Built with a random mark; it gets its lasting one below, once its text is known.
        request = Request(
            purpose, budget or self.settings.recall.context_tokens, lettered(secrets.token_hex(8)),
            query=query, session=session, beside=beside, within=within, project=project,
            zone=self.zone, bound=narrowed, valid_at=moment,
            shown_from=None if as_of else self.settings.ttl.shown_from(self.now()),
        )  # fmt: skip
        if as_of:
            return self.at(as_of).context(request)
        if purpose == "start":
            from kimi_memory.recall.start import build_start

            # The index, and numpy with it, is loaded only where a small memory is not shown whole.
            built = build_start(self.store, request, self.clock(), lambda: self.engine)
        else:
            from kimi_memory.recall.context import build

            with self.index.hold():
                built = build(self.engine, request)
        bare = built.text.replace(request.nonce, "")
        nonce = self._derive_nonce(request.purpose, request.session or request.beside, bare)
        built = replace(built, text=built.text.replace(request.nonce, nonce))
        if counted:
            of = self.screen.pass_id(session or beside) if session or beside else ""
            self._recall_receipts.add_block(query, built, self.actor, purpose, of)
        return built

    def get(self, id: str, near: str = "") -> Filed:
        """Return a note by its id, or a unique prefix of it; `near` is where it lay before."""
        shelf = Shelf(self.store)
        return shelf.file(shelf.find(id, self._find_indexed_paths(id, near)).path)

    def trace(self, id: str) -> Trace:
        """Return where a note comes from: quotes, turns, session files, commits."""
        from kimi_memory.jobs.trace import Tracer

        return Tracer(self.store, self.history).trace(id, self._find_indexed_paths(id))

    def _find_indexed_paths(self, id: str, near: str = "") -> Iterator[str]:
        """Yield where the index has the note of an id; what the files say goes before it."""
        yield from (near,) if near else ()
        from kimi_memory.index.locate import locate

        yield from locate(self.root, self._key, id)

    def close(self) -> None:
        """Commit what is pending (in a long-lived process) and let go of the folder."""
        # Only what was used is closed: asking for it would make it.
        if "_capture_part" in self.__dict__:
            self._capture_part.close()
        super().close()
