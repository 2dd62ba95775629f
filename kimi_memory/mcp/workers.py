"""The tools, each over an open memory; one at a time, whatever thread asks.

What clients are shown of a tool is the signature of its method, and the line below it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.domain.job import Actor, JobReport
from kimi_memory.domain.note import Origin
from kimi_memory.domain.operation_types import Said, Wanted
from kimi_memory.domain.past import BlameLine, TimelineEntry
from kimi_memory.domain.search_types import Hit
from kimi_memory.errors import KimiMemoryError, NotFoundError, UsageError
from kimi_memory.mcp import responses
from kimi_memory.nlp.basic.quotes import split_citation, split_commit
from kimi_memory.operations.entities import Entities
from kimi_memory.operations.forget import forget
from kimi_memory.operations.memory_state import status
from kimi_memory.operations.review_queue import review
from kimi_memory.recall.query_parser import parse
from kimi_memory.server.chats import find_owner, limits_of
from kimi_memory.server.guard import GuardPost, Request
from kimi_memory.server.looking_back import blame_of, timeline_of
from kimi_memory.server.principal import Caller, Namespace, Scope
from kimi_memory.server.simple import of_sources
from kimi_memory.store.files.paths import PRIVATE

# More would fill the window of the model that asked.
MOST_HITS = 50
# All of it lands in the window of a model at once.
MOST_TOKENS = 20_000
WHOLE = Namespace()
_AGENT = "mcp"

Messages = Annotated[
    list[dict[str, Any]], Field(min_length=1, description="role and content each, oldest first")
]
SessionId = Annotated[str, Field(description="that holds the chat; found by its start if empty")]
NoteId = Annotated[str, Field(description="id of a note")]
Limit = Annotated[int, Field(ge=1, le=50, description="most results")]
KnownAt = Annotated[str, Field(description="what was known then: a date, v12")]
SoAt = Annotated[str, Field(description="what was so then: a date")]
T = TypeVar("T")


class Desk:
    """Answers tools for one memory folder.

    Args:
        root: the folder.
        client: who asks, for the journal.
        space: what the client is bound to; it sees, and writes, nothing else.
        member: the member of a space who asks, where the memory belongs to one.
        run: the run of an agent that the client belongs to.

    Raises:
        UsageError: no member was named and one must be, or the reverse.
    """

    def __init__(
        self, root: Path, client: str = "mcp", space: Namespace = WHOLE, *, member: str = "",
        run: str = "",
    ) -> None:  # fmt: skip
        self._lock = threading.RLock()
        self._caller, self._space = Caller(client, space=space, member=member, run=run), space
        actor = self._caller.actor if member else Actor(client, Origin.AGENT, run=run)
        self.memory = Memory.open(root, Opening(actor=actor, background=True))
        """For what may be asked of it from any thread."""
        self._post = GuardPost(self.memory)
        try:
            self._post.bind(self._caller)
        except KimiMemoryError:
            self.memory.close()
            raise

    def close(self) -> None:
        """Close the memory."""
        with self._lock:
            self.memory.close()
            self._post.close()

    @contextmanager
    def _open_memory(self, name: str, *, whole: bool = False, **given: Any) -> Iterator[Memory]:
        """Open the memory for something that a space has to allow, where it belongs to one.

        What concerns the whole memory is refused to a client that is bound to a part.
        """
        with self._lock:
            # A memory can be shared, and left, while this runs.
            guard = self._post.bind(self._caller)
            if guard is not None:
                request = Request(name, "mcp", given=given)
                self._space = guard.admit(self._caller, request).space
            elif whole:
                self._caller.need(Scope.READ, whole=True)
            yield self.memory

    @contextmanager
    def entities(self) -> Iterator[Entities]:
        """Give the graph that agents keep over this protocol."""
        with self._open_memory("graph", whole=True) as memory:
            yield Entities(memory, _AGENT)

    def search(
        self,
        query: Annotated[str, Field(description="a question or words, Chinese or English")],
        limit: Limit = 10,
        minScore: Annotated[float, Field(ge=0, le=1, description="least score")] = 0.0,  # noqa: N803  the contract's names
        sources: Annotated[
            list[Literal["memory", "sessions"]],
            Field(description="notes and pages, what was said, or both; all if empty"),
        ] = [],  # noqa: B006  only read
        *,
        as_of: KnownAt = "",
        valid_at: SoAt = "",
    ) -> responses.Search:
        """Find what was said or decided earlier; returns lines with their source."""
        if not query.strip():
            raise UsageError("There is nothing to look for. Give a question or words.")
        with self._open_memory("recall", query=query) as memory:
            # The schema has the same bounds, but a client may not heed them.
            asked = parse(query, memory.now(), limit=max(1, min(limit, MOST_HITS)))
            asked = of_sources(replace(asked, min_score=minScore), tuple(sources))
            asked = replace(asked, as_of=as_of or asked.as_of)
            self._space.check_points(memory, asked.as_of)
            answer = memory.recall(self._space.narrowed(asked), valid_at=valid_at or None)
        return {"results": [_format_hit(hit) for hit in answer.hits], "notes": list(answer.notes)}

    def get(
        self,
        path: Annotated[
            str, Field(description="a path of the memory, a citation path#L2-L5, or an id")
        ],
        # Counted from 1; that of the citation, or 1, if 0.
        startLine: Annotated[int, Field(ge=0)] = 0,  # noqa: N803  the names of the contract
        endLine: Annotated[int, Field(ge=0, description="0: to the end, or as cited")] = 0,  # noqa: N803  the contract's names
    ) -> responses.Text:
        """Read a file of the memory or some lines of it."""
        with self._open_memory("get", path=path) as memory:
            asked, cited, until = split_citation(self._space.cite_turn(memory, path))
            where, text = self._read_text(memory, asked)
        first, last = startLine or cited or 1, endLine or until
        if last and last < first:
            raise UsageError(f"'endLine' {last} is before 'startLine' {first}. Give a later one.")
        rows = text.splitlines()[first - 1 : last or None]
        shown = "\n".join(rows)
        return {"path": where, "startLine": first, "endLine": first + len(rows) - 1, "text": shown}

    def _read_text(self, memory: Memory, asked: str) -> tuple[str, str]:
        """Return path and text of a note or a file, as it is or as a commit had it."""
        was, commit = split_commit(asked)
        if commit and not self._space:
            return memory.at(commit).get(was)
        try:
            filed = self._space.filed(memory, asked)
        except NotFoundError as missing:
            try:
                if asked.startswith(f"{PRIVATE}/"):
                    raise NotFoundError("note or file", asked)
                self._space.check_path(memory, asked, asked)
                return asked, memory.store.text(asked)
            except NotFoundError:
                raise missing from None  # One answer, whatever lies outside of the namespace.
        return filed.path, filed.text

    def remember(
        self,
        text: Annotated[str, Field(min_length=1, description="one statement")],
        key: Annotated[str, Field(description="what it is about, such as db.choice")] = "",
        type: Annotated[str, Field(description="decision, preference, fact, rule …")] = "",
        *,
        project: str = "",
        user: str = "",
        area: Annotated[
            Literal["", "agent", "user", "session"], Field(description="theirs alone; else shared")
        ] = "",
    ) -> responses.Done:
        """Keep one statement: a decision, a preference, a fact. The user confirms it later."""
        space = self._space.within(project=project, user=user)
        with self._open_memory("remember", text=text, key=key) as memory:
            of = {"area": self._space.area(memory, area), "session": self._space.session}
            kept = memory.remember(text, key=key, type=type, **of, **space.whose)
            return _format_report(kept)

    def forget(
        self,
        note: Annotated[str, Field(description="id of a note")] = "",
        key: Annotated[str, Field(description="or a key")] = "",
        # A model has to ask a second time before anything goes.
        dry_run: Annotated[bool, Field(description="only show what would go")] = True,
    ) -> responses.Done:
        """Archive a note so that it does not come back; only when the user asked for it."""
        with self._open_memory("forget", note=note, key=key) as memory:
            # Cards of one key may lie in several projects: a bound client could archive another's.
            if self._space and not note:
                raise UsageError("A bound client forgets one note at a time: give 'note', its id.")
            if self._space:
                self._space.strict.filed(memory, note)
            return _format_report(forget(memory, Wanted(note=note, key=key), dry_run=dry_run))

    def compact(
        self,
        messages: Messages,
        session: SessionId = "",
        window_tokens: Annotated[
            int, Field(ge=0, description="context window of the model; 0: as set")
        ] = 0,
        force: Annotated[bool, Field(description="compact a chat that fits, too")] = False,
    ) -> responses.Compacted:
        """Make a long chat fit its window: all of it is stored, a summary stands for the rest."""
        with self._open_memory("compact", session=session) as memory:
            owner = find_owner(memory, self._space, messages, {"session": session})
            limits = limits_of(memory, window_tokens)
            done = memory.compact(
                messages, limits, session=owner.session, force=force, **owner.whose
            )
        messages_left = [dict(message) for message in done.messages]
        return _pick(responses.Compacted, done, messages=messages_left)

    def flush(self, messages: Messages, session: SessionId = "") -> responses.Flushed:
        """Store a chat, and what in it is worth remembering, before the host compacts it."""
        with self._open_memory("flush", session=session) as memory:
            owner = find_owner(memory, self._space, messages, {"session": session})
            done = memory.flush(messages, session=owner.session, **owner.whose)
        remembered = [path for report in done.remembered for path in report.paths]
        return _pick(responses.Flushed, done, remembered=remembered)

    def trace(self, id: NoteId) -> responses.Origins:
        """Show where a note comes from: quotes, turns, commits."""
        with self._open_memory("get", id=id) as memory:
            found = memory.trace(self._space.filed(memory, id).note.id)
            holds = self._space.holds_path
            evidence = [one for one in found.evidence if not one.path or holds(memory, one.path)]
        proofs: list[responses.Proof] = [
            {
                "quote": one.quote,
                "verified": one.verified,
                "citation": f"{one.path}#L{one.line}" if one.path else "",
                "said_by": ", ".join(turn.speaker or str(turn.role) for turn in one.turns),
                "text": "\n".join(turn.text for turn in one.turns),
            }
            for one in evidence
        ]
        # Subjects of commits may name what lies outside of the client's part.
        shown = () if self._space else found.commits
        commits = [f"{one.hash[:12]} {one.subject}" for one in shown]
        return {"id": found.note.id, "path": found.path, "evidence": proofs, "commits": commits}

    def timeline(
        self,
        key: Annotated[str, Field(description="a key such as db.choice, or the id of a note")],
        since: Annotated[str, Field(description="a date, v12, a commit, a job")] = "",
        until: Annotated[str, Field(description="another, the last that counts")] = "",
    ) -> responses.Timeline:
        """List what was believed under a key over time: when it was so, when known, and why."""
        with self._open_memory("get", key=key) as memory:
            found = timeline_of(memory, self._space, key, since, until)
        return {"states": list(map(_format_state, found))}

    def blame(
        self, id: NoteId, field: Annotated[str, Field(description="what it says if empty")] = ""
    ) -> responses.Blamed:
        """Show since when a note says what it says, by which job, from which turns."""
        with self._open_memory("get", id=id) as memory:
            found = blame_of(memory, self._space, id, field)
        return {"fields": list(map(_format_blame, found))}

    def context(
        self,
        purpose: Literal["start", "task", "live"] = "task",
        query: str = "",
        budget: Annotated[int, Field(ge=0, le=20_000, description="most tokens")] = 0,
        project: Annotated[str, Field(description="the project it is about")] = "",
        *,
        as_of: KnownAt = "",
        valid_at: SoAt = "",
    ) -> responses.Block:
        """Return a block of memory for a prompt, under a budget of tokens."""
        if purpose not in ("start", "task", "live"):
            raise UsageError(f"{purpose!r} is no purpose. Use start, task or live.")
        most = min(max(budget, 0), MOST_TOKENS)
        with self._open_memory("context", query=query) as memory:
            asked = {"purpose": purpose, "query": query, "budget": most, "project": project}
            asked |= {"as_of": as_of, "valid_at": valid_at or None}
            built = self._space.context(memory, asked)
        return {"text": built.text, "tokens": built.tokens}

    def state(self) -> responses.State:
        """Count what is in the memory and what waits for a person."""
        with self._open_memory("status", whole=True) as memory:
            found = status(memory)
        notes = {kind: dict(counts) for kind, counts in found.notes.items()}
        return _pick(responses.State, found, notes=notes, waits=dict(found.asks))

    def waiting(self) -> responses.Waiting:
        """List what waits for the user's word; show it to them, they decide."""
        with self._open_memory("review", whole=True) as memory:
            found = review(memory)
        return {
            "items": [
                _pick(responses.Item, one, evidence=list(map(_format_quote, one.evidence)))
                for one in found
            ]
        }


def _pick(kind: type[T], value: object, **other: Any) -> T:
    """Return an answer of a type: other members, and those that a value has by the same name."""
    names = [name for name in kind.__annotations__ if name not in other]
    return kind(**{name: getattr(value, name) for name in names}, **other)


def _format_hit(hit: Hit) -> responses.FoundLine:
    unit = hit.unit
    return {
        "id": unit.id,
        "path": unit.path,
        "startLine": unit.first,
        "endLine": unit.last,
        "citation": hit.citation,
        "score": round(hit.score, 4),
        "snippet": hit.snippet,
        "kind": unit.kind,
        "said_by": unit.speaker or unit.role,
        "date": f"{unit.at:%Y-%m-%d}" if unit.at else "",
        "status": unit.status,
        "trust": unit.trust,
    }


def _format_state(one: TimelineEntry) -> responses.PastState:
    return _pick(
        responses.PastState,
        one,
        version=one.cause.version,
        known=one.cause.at.isoformat(),
        id=one.note,
        valid_from=one.valid_from.isoformat() if one.valid_from else "",
        valid_to=one.valid_to.isoformat() if one.valid_to else "",
        job=one.cause.job,
        why=one.cause.why,
        turns=list(one.sources),
    )


def _format_blame(one: BlameLine) -> responses.BlamedField:
    cause = one.cause
    return {
        "id": one.note,
        "path": one.path,
        "field": one.field,
        "says": one.text,
        "version": cause.version if cause else 0,
        "known": cause.at.isoformat() if cause else "",
        "job": cause.job if cause else "",
        "why": cause.why if cause else "",
        "turns": [
            {
                "quote": "",
                "verified": turn.verified,
                "citation": f"{turn.path}#L{turn.line}" if turn.path else turn.source,
                "said_by": turn.speaker,
                "text": turn.text,
            }
            for turn in one.turns
        ],
        "before": [earlier.says for earlier in one.before],
    }


def _format_report(report: JobReport) -> responses.Done:
    return {
        "job": report.id,
        "changed": list(report.paths),
        "left_out": list(report.left_out),
        "diff": report.diff,
    }


def _format_quote(said: Said) -> str:
    return f"{said.speaker}: {said.text} (session:{said.session}#{said.n})"
