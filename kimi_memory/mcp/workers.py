"""What each tool does with an open memory; one at a time, whatever thread asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.domain.compaction import Message
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
from kimi_memory.server.guard import GuardPost, Request, epoch_of
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
        self._post = GuardPost(
            self.memory.home, self.memory.settings.memory.id, root, partial(epoch_of, self.memory)
        )
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
        self, query: str, limit: int = 10, min_score: float = 0.0, sources: Sequence[str] = (),
        *, as_of: str = "", valid_at: str = "",
    ) -> responses.Search:  # fmt: skip
        """Find lines; see `Memory.recall`."""
        if not query.strip():
            raise UsageError("There is nothing to look for. Give a question or words.")
        with self._open_memory("recall", query=query) as memory:
            # The schema has the same bounds, but a client may not heed them.
            asked = parse(query, memory.now(), limit=max(1, min(limit, MOST_HITS)))
            asked = of_sources(replace(asked, min_score=min_score), tuple(sources))
            asked = replace(asked, as_of=as_of or asked.as_of)
            self._space.check_points(memory, asked.as_of)
            answer = memory.recall(self._space.narrowed(asked), valid_at=valid_at or None)
        return {"results": [_format_hit(hit) for hit in answer.hits], "notes": list(answer.notes)}

    def get(self, path: str, first: int = 0, last: int = 0) -> responses.Text:
        """Read a file of the memory by path or citation, or a note by id.

        Args:
            path: where it is; ``path#L2-L5`` names lines, too, and ``session:s1#2`` a turn.
            first: first line, counted from 1; that of the citation, or 1, if 0.
            last: last line; that of the citation, or the end, if 0.
        """
        with self._open_memory("get", path=path) as memory:
            asked, cited, until = split_citation(self._space.cite_turn(memory, path))
            where, text = self._read_text(memory, asked)
        first, last = first or cited or 1, last or until
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

    def remember(self, text: str, key: str = "", type: str = "", **whose: str) -> responses.Done:
        """Keep a statement; see `Memory.remember`."""
        area = whose.pop("area", "")
        space = self._space.within(**whose)
        of = {"project": space.project, "agent": space.agent, "user": space.user}
        with self._open_memory("remember", text=text, key=key) as memory:
            of |= {"area": self._space.area(memory, area), "session": self._space.session}
            return _format_report(memory.remember(text, key=key, type=type, **of))

    def forget(self, note: str = "", key: str = "", dry_run: bool = True) -> responses.Done:
        """Archive a note or what is known under a key, so that it does not come back."""
        with self._open_memory("forget", note=note, key=key) as memory:
            # Cards of one key may lie in several projects: a bound client could archive another's.
            if self._space and not note:
                raise UsageError("A bound client forgets one note at a time: give 'note', its id.")
            if self._space:
                self._space.strict.filed(memory, note)
            return _format_report(forget(memory, Wanted(note=note, key=key), dry_run=dry_run))

    def compact(
        self, messages: Sequence[Message], session: str = "", window_tokens: int = 0,
        *, force: bool = False,
    ) -> responses.Compacted:  # fmt: skip
        """Make a chat fit its window; see `Memory.compact`."""
        with self._open_memory("compact", session=session) as memory:
            owner = find_owner(memory, self._space, messages, {"session": session})
            limits = limits_of(memory, window_tokens)
            done = memory.compact(
                messages, limits, session=owner.session, force=force, **owner.whose
            )
        return {
            "messages": [dict(message) for message in done.messages],
            "before": done.before,
            "after": done.after,
            "dropped": done.dropped,
            "summary": done.summary,
            "session": done.session,
            "stored": done.stored,
        }

    def flush(self, messages: Sequence[Message], session: str = "") -> responses.Flushed:
        """Store what of a chat is not stored yet; see `Memory.flush`."""
        with self._open_memory("flush", session=session) as memory:
            owner = find_owner(memory, self._space, messages, {"session": session})
            done = memory.flush(messages, session=owner.session, **owner.whose)
        remembered = [path for report in done.remembered for path in report.paths]
        return {
            "session": done.session,
            "stored": done.stored,
            "remembered": remembered,
            "prompt": done.prompt,
        }

    def trace(self, id: str) -> responses.Origins:
        """Say where a note comes from."""
        with self._open_memory("get", id=id) as memory:
            found = memory.trace(self._space.filed(memory, id).note.id)
            evidence = [
                one
                for one in found.evidence
                if not one.path or self._space.holds_path(memory, one.path)
            ]
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

    def timeline(self, key: str, since: str = "", until: str = "") -> responses.Timeline:
        """List the states of a note or a key."""
        with self._open_memory("get", key=key) as memory:
            found = timeline_of(memory, self._space, key, since, until)
        return {"states": list(map(_format_state, found))}

    def blame(self, id: str, field: str = "") -> responses.Blamed:
        """Say since when a note says what it says."""
        with self._open_memory("get", id=id) as memory:
            found = blame_of(memory, self._space, id, field)
        return {"fields": list(map(_format_blame, found))}

    def context(
        self, purpose: str = "task", query: str = "", budget: int = 0, project: str = "",
        *, as_of: str = "", valid_at: str = "",
    ) -> responses.Block:  # fmt: skip
        """Return a block for a prompt; see `Memory.context`."""
        if purpose not in ("start", "task", "live"):
            raise UsageError(f"{purpose!r} is no purpose. Use start, task or live.")
        most = min(max(budget, 0), MOST_TOKENS)
        with self._open_memory("context", query=query) as memory:
            asked = {"purpose": purpose, "query": query, "budget": most, "project": project}
            asked |= {"as_of": as_of, "valid_at": valid_at or None}
            built = self._space.context(memory, asked)
        return {"text": built.text, "tokens": built.tokens}

    def state(self) -> responses.State:
        """Count what is there."""
        with self._open_memory("status", whole=True) as memory:
            found = status(memory)
        return {
            "turns": found.turns,
            "open_sessions": found.open_sessions,
            "notes": {kind: dict(counts) for kind, counts in found.notes.items()},
            "index": found.index,
            "history": found.history,
            "waits": dict(found.asks),
        }

    def waiting(self) -> responses.Waiting:
        """List what waits for a person's word; only a person can give it."""
        with self._open_memory("review", whole=True) as memory:
            found = review(memory)
        items: list[responses.Item] = [
            {
                "id": one.id,
                "title": one.title,
                "text": one.text,
                "reason": one.reason,
                "diff": one.diff,
                "evidence": [_format_quote(said) for said in one.evidence],
            }
            for one in found
        ]
        return {"items": items}


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
    return {
        "version": one.cause.version,
        "known": one.cause.at.isoformat(),
        "change": one.change,
        "id": one.note,
        "key": one.key,
        "says": one.says,
        "status": one.status,
        "confidence": one.confidence,
        "valid_from": one.valid_from.isoformat() if one.valid_from else "",
        "valid_to": one.valid_to.isoformat() if one.valid_to else "",
        "job": one.cause.job,
        "why": one.cause.why,
        "turns": list(one.sources),
    }


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
