"""The client that waits for each answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from types import MappingProxyType
from typing import Any, Self, TypeVar

import httpx

from kimi_memory.client import wire
from kimi_memory.domain.agent_run import AgentRun, Usage
from kimi_memory.domain.compaction import Compaction, Flushed, Message
from kimi_memory.domain.job import Job, JobReport
from kimi_memory.domain.operation_types import Commit, Waiting, Wanted
from kimi_memory.domain.past import BlameLine, TimelineEntry
from kimi_memory.domain.search_types import Answer, Context, Purpose, Query
from kimi_memory.domain.session import Session
from kimi_memory.server import responses
from kimi_memory.server.responses import ClusterNode, ClusterState, Deployed, Event, Led, Placed

T = TypeVar("T")


class ClientSession:
    """An open session of a served memory; as a context manager it ends by itself."""

    def __init__(self, client: Client, header: Session) -> None:
        self._client, self.header = client, header
        self._path = f"/v1/sessions/{wire.segment(header.id)}"

    @property
    def id(self) -> str:
        """The session's id."""
        return self.header.id

    def turn(
        self,
        role: str,
        text: str,
        *,
        speaker: str = "",
        at: datetime | None = None,
        ref: str = "",
        origin: str = "",
    ) -> responses.Stored:
        """Store one turn; it is durable when this returns."""
        ask = wire.post(
            f"{self._path}/turns", responses.Stored, role=role, text=text, speaker=speaker, at=at,
            ref=ref, origin=origin,
        )  # fmt: skip
        return self._client.send(ask)

    def state(
        self,
        *,
        task: Mapping[str, Any] | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        """Record the current task, or temporary variables."""
        ask = wire.post(f"{self._path}/state", Session, task=task, variables=variables)
        self._client.send(ask)

    def end(self) -> JobReport:
        """End the session: it is archived and distilled."""
        return self._client.end(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        # After an error the session stays open, so that the caller can go on with it.
        if kind is None:
            self.end()


class Client:
    """A memory behind a server; every method is one request.

    Args:
        url: address of the server.
        token: what it asks for; empty for a server of this machine that asks for none.
        others: tokens of the other machines of a cluster, by the address of their server; a write
            is sent on to the one that takes it.
        seconds: longest wait for an answer.
    """

    def __init__(
        self,
        url: str = wire.URL,
        token: str = "",
        *,
        others: Mapping[str, str] = MappingProxyType({}),
        seconds: float = wire.SECONDS,
    ) -> None:
        self._url, self._ways = url, wire.Ways(url, token, others)
        self._http = httpx.Client(**wire.settings(url, token, seconds))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def send(self, ask: wire.Ask[T]) -> T:
        """Send a request and return what it asks for.

        Raises:
            ServerError: nobody answers, or who does is no memory server.
            KimiMemoryError: the server refused; it is the error the library would raise.
        """
        try:
            answer = self._http.request(**wire.sent(ask))
            for _ in range(wire.MOST_HOPS):
                if not (further := self._ways.send_on(ask, answer)):
                    break
                answer = self._http.request(**further)
        except httpx.HTTPError as error:
            raise wire.silent(self._url, error) from error
        return wire.answered(ask, answer)

    # The simple contract

    def search(
        self, query: str, *, limit: int = 6, min_score: float = 0.0
    ) -> tuple[responses.Place, ...]:
        """Return the lines that answer a question, best first."""
        ask = wire.post("/search", responses.Places, query=query, limit=limit, minScore=min_score)
        return (self.send(ask)).results

    def read(self, path: str, start_line: int = 1, end_line: int = 0) -> str:
        """Return a file of the memory, or some lines of it."""
        said = {"path": path, "startLine": start_line, "endLine": end_line}
        return (self.send(wire.get("/get", responses.Piece, **said))).text

    def append(self, content: str, path: str = "", *, ref: str = "") -> responses.Kept:
        """Keep some text: a note of a day, or something to remember."""
        said = {"content": content, "path": path, "ref": ref}
        return self.send(wire.post("/append", responses.Kept, **said))

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
    ) -> ClientSession:
        """Start a session, or go on with the open one of that id."""
        said = {
            "id": id, "agent": agent, "user": user, "project": project, "host": host,
            "title": title, "area": area,
        }  # fmt: skip
        return ClientSession(self, self.send(wire.post("/v1/sessions", Session, **said)))

    def sessions(self) -> tuple[str, ...]:
        """Return the ids of open sessions."""
        return (self.send(wire.get("/v1/sessions", responses.Sessions))).sessions

    def end(self, id: str) -> JobReport:
        """End a session: it is archived and distilled."""
        return self.send(wire.post(f"/v1/sessions/{wire.segment(id)}/end", JobReport))

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
    ) -> JobReport:
        """Keep a statement at once, as a turn and as a card that quotes it."""
        said = {"text": text, "key": key, "type": type, "project": project, "agent": agent}
        said |= {"user": user, "area": area}
        return self.send(wire.post("/v1/remember", JobReport, **said))

    # Chats

    def compact(  # noqa: PLR0913  the chat, its window, and whose it is
        self,
        messages: Sequence[Message],
        *,
        session: str = "",
        window_tokens: int = 0,
        share: float = 0.0,
        keep: int = 0,
        force: bool = False,
        project: str = "",
        agent: str = "",
        user: str = "",
        area: str = "",
    ) -> Compaction:
        """Make a chat fit its window again; the server's settings stand for what is 0."""
        said: dict[str, Any] = {"messages": messages, "session": session, "project": project}
        said |= {
            "agent": agent,
            "user": user,
            "area": area,
            "window_tokens": window_tokens,
            "share": share,
        }
        said |= {"keep": keep, "force": force}
        return self.send(wire.post("/v1/compact", Compaction, **said))

    def flush(
        self,
        messages: Sequence[Message],
        *,
        session: str = "",
        project: str = "",
        agent: str = "",
        user: str = "",
        area: str = "",
    ) -> Flushed:
        """Store what of a chat is not stored yet, before a program cuts it."""
        said = {"messages": messages, "session": session, "project": project, "agent": agent}
        return self.send(wire.post("/v1/flush", Flushed, **said, user=user, area=area))

    def window(self, session: str, budget_tokens: int = 0, *, keep: int = 0) -> list[Message]:
        """Return the history to resume a session with: a summary, then the latest turns."""
        path = f"/v1/sessions/{wire.segment(session)}/window"
        ask = wire.get(path, responses.History, budget=budget_tokens, keep=keep)
        return list((self.send(ask)).messages)

    # Recall

    def recall(self, query: Query | str, *, limit: int = 0) -> Answer:
        """Return the lines that answer a question."""
        return self.send(wire.recall(query, limit))

    def context(
        self,
        purpose: Purpose = "task",
        query: str = "",
        *,
        budget: int = 0,
        session: str = "",
        within: wire.Scopes = None,
        project: str = "",
    ) -> Context:
        """Return a block of memory to put into a prompt, fenced as data."""
        ask = wire.post(
            "/v1/context", Context, purpose=purpose, query=query, budget=budget, session=session,
            project=project, within=wire.sent_scopes(within),
        )  # fmt: skip
        return self.send(ask)

    def get(self, what: str, first: int = 1, lines: int = 0) -> responses.Text:
        """Return a note by its id, or a file by its path."""
        said = {"what": what, "first": first, "lines": lines}
        return self.send(wire.get("/v1/get", responses.Text, **said))

    def trace(self, id: str) -> responses.Origins:
        """Return where a note comes from."""
        return self.send(wire.get("/v1/trace", responses.Origins, id=id))

    def timeline(self, key: str, since: str = "", until: str = "") -> list[TimelineEntry]:
        """Return the states of a note or of all notes of a key, oldest first."""
        path = f"/v1/timeline/{wire.segment(key)}"
        return self.send(wire.get(path, list[TimelineEntry], since=since, until=until))

    def blame(self, id: str, field: str = "") -> list[BlameLine]:
        """Return since when a note says what it says, by which job, from which turns."""
        path = f"/v1/blame/{wire.segment(id)}"
        return self.send(wire.get(path, list[BlameLine], field=field))

    # Consolidation and care

    def distil(self, session: str = "", *, dry_run: bool = False) -> list[JobReport]:
        """Distil one session, or all that wait."""
        said = {"session": session, "dry_run": dry_run}
        return self.send(wire.post("/v1/distil", list[JobReport], **said))

    def consolidate(
        self,
        period: str,
        day: date | None = None,
        *,
        dry_run: bool = False,
    ) -> list[JobReport]:
        """Run a scheduled job, such as daily or weekly."""
        said = {"period": period, "day": day, "dry_run": dry_run}
        return self.send(wire.post("/v1/consolidate", list[JobReport], **said))

    def undo(self, job: str) -> Job:
        """Take a job back, byte for byte."""
        return self.send(wire.post("/v1/undo", Job, job=job))

    def forget(self, wanted: Wanted, *, dry_run: bool = False) -> JobReport:
        """Archive notes so that they do not come back."""
        said = {f.name: getattr(wanted, f.name) for f in fields(wanted)}
        return self.send(wire.post("/v1/forget", JobReport, **said, dry_run=dry_run))

    def review(self) -> list[Waiting]:
        """Return what waits for a person's word."""
        return self.send(wire.get("/v1/review", list[Waiting]))

    def conflicts(self) -> list[responses.Quarrel]:
        """Return what contradicts what."""
        return self.send(wire.get("/v1/conflicts", list[responses.Quarrel]))

    # Several machines

    def cluster_status(self) -> ClusterState:
        """Return who leads the memory, and how far the node that answers got."""
        return self.send(wire.get("/v1/cluster/status", ClusterState))

    def cluster_nodes(self) -> list[ClusterNode]:
        """Return the machines of the cluster."""
        return self.send(wire.get("/v1/cluster/nodes", list[ClusterNode]))

    def cluster_deployments(self) -> list[Deployed]:
        """Return the machines that have the memory."""
        return self.send(wire.get("/v1/cluster/deployments", list[Deployed]))

    def cluster_agents(self, limit: int = 20) -> list[AgentRun]:
        """Return the runs of agents, newest first: ended anywhere, or living at the server."""
        return self.send(wire.get("/v1/cluster/agents", list[AgentRun], limit=limit))

    def cluster_usage(self, by: Sequence[str] = (), since: date | None = None) -> list[Usage]:
        """Return what jobs, models and runs used, added up."""
        return self.send(wire.post("/v1/cluster/usage", list[Usage], by=by, since=since))

    def cluster_place(self, task: str = "batch", **asked: Any) -> Placed:
        """Return where a task would run, and why; the API says what else can be asked."""
        return self.send(wire.post("/v1/cluster/place", Placed, task=task, **asked))

    def promote(self, node: str = "", wait_seconds: float = 30.0) -> Led:
        """Have a machine take the writes; the one that answers if no name is given."""
        said = {"node": node, "wait_seconds": wait_seconds}
        return self.send(wire.post("/v1/cluster/promote", Led, **said))

    def demote(self) -> Led:
        """Have the machine that answers take no writes any more."""
        return self.send(wire.post("/v1/cluster/demote", Led))

    # State and history

    def log(self, limit: int = 20, path: str = "") -> list[Commit]:
        """Return commits, newest first."""
        return self.send(wire.get("/v1/log", list[Commit], limit=limit, path=path))

    def diff(self, old: str = "HEAD", new: str = "", path: str = "") -> str:
        """Return what differs between two commits, or one and the files."""
        ask = wire.get("/v1/diff", responses.Difference, old=old, new=new, path=path)
        return (self.send(ask)).diff

    def status(self) -> responses.State:
        """Return counts of what is in the memory."""
        return self.send(wire.get("/v1/status", responses.State))

    def health(self) -> responses.Health:
        """Return whether the server works."""
        return self.send(wire.get("/v1/health", responses.Health))

    def metrics(self) -> str:
        """Return figures in the text form of Prometheus."""
        try:
            answer = self._http.get("/v1/metrics")
        except httpx.HTTPError as error:
            raise wire.silent(self._url, error) from error
        wire.check_stream(answer)
        return answer.text

    def events(self, after: int = 0) -> Iterator[Event]:
        """Yield what happens, as it happens.

        Args:
            after: number of the last event that is known; 0 for what happens from now on.
        """
        made = wire.Events()
        try:
            with self._http.stream(**wire.follow(after)) as answer:
                if answer.status_code != httpx.codes.OK:
                    answer.read()
                wire.check_stream(answer)
                for line in answer.iter_lines():
                    yield from made.feed_line(line)
        except httpx.HTTPError as error:
            raise wire.silent(self._url, error) from error
