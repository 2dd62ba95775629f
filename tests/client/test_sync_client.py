"""The client against a real server: the library's values and errors, over the wire."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from fakes.served import Served

from kimi_memory.client import Client
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import GateError, NotFoundError, ServerError, UnsafePathError, UsageError


def test_the_methods_of_the_library_give_its_own_values(served: Served) -> None:
    with Client(served.url) as memory:
        assert memory.health().status == "ok"
        with memory.session("voyage", project="sea", agent="scout", title="一次航行") as session:
            turn = session.turn("user", "决定：数据库改用 PostgreSQL。", ref="m1")
            assert (turn.session, turn.n) == ("voyage", 1)
            assert session.turn("user", "again", ref="m1").n == 0
            session.state(task={"goal": "sail"}, variables={"wind": 7})
            assert "voyage" in memory.sessions()
        assert "voyage" not in memory.sessions()
        report = memory.remember("The mast is 21 m high.", key="mast.height", project="sea")
        assert isinstance(report, JobReport)
        assert report.counts == {"ADD": 1}
        hit = memory.recall("mast high").hits[0]
        assert hit.citation.startswith(hit.unit.path)
        assert isinstance(hit.unit.at, datetime)
        found = memory.recall(Query(text="mast", kind=("card",), hops=0), limit=1).hits
        assert [one.unit.key for one in found] == ["mast.height"]
        assert memory.get(found[0].unit.id, lines=1).text == "---"
        origins = memory.trace(found[0].unit.id)
        assert origins.evidence[0].verified
        assert origins.commits[0].at.tzinfo
        assert "21 m" in memory.context("task", "mast", budget=300).text
        shown = memory.forget(Wanted(key="mast.height"), dry_run=True)
        assert shown.diff
        gone = memory.forget(Wanted(key="mast.height", why="it fell"))
        assert memory.undo(gone.id).at.tzinfo
        assert memory.log(limit=1)[0].subject
        assert isinstance(memory.diff(), str)
        assert memory.distil() == []
        day = datetime.now(UTC).date()
        assert [one.kind for one in memory.consolidate("daily", day, dry_run=True)] == ["daily"]
        [waits] = memory.review()
        assert waits.text == "The mast is 21 m high."
        assert memory.conflicts() == []
        assert memory.status().turns > 0
        assert "kimi_memory_http_requests_total" in memory.metrics()


def test_a_chat_is_compacted_flushed_and_resumed(served: Served) -> None:
    chat = [{"role": "user", "content": f"第 {n} 步的构建怎么样？"} for n in range(60)]
    with Client(served.url) as memory:
        done = memory.compact(chat, window_tokens=500, keep=3, project="sea")
        assert list(done.messages[1:]) == chat[-3:]
        assert (done.stored, done.dropped) == (60, 57)
        assert done.recorded is not None
        assert done.recorded.kind == "compact"
        flushed = memory.flush(chat, session=done.session)
        assert (flushed.session, flushed.stored) == (done.session, 0)
        assert "memory_remember" in flushed.prompt
        assert memory.window(done.session, 200, keep=2)[-2:] == chat[-2:]
        assert memory.window(done.session) == chat
        assert memory.compact(chat).messages == tuple(chat)
        for wrong in ([], [{"role": "wizard", "content": "x"}] * 2):
            with pytest.raises(UsageError):
                memory.compact(wrong, force=True, keep=1)
        with pytest.raises(NotFoundError):
            memory.window("nobody")


def test_what_is_written_to_an_area_is_read_within_it(served: Served) -> None:
    with Client(served.url) as memory:
        with memory.session("cabin", user="lin", area="user") as session:
            session.turn("user", "I prefer the bunk by the porthole.")
        memory.remember("The shelf holds 4711 tins.", key="shelf", agent="cook", area="agent")
        for text, scope in (("porthole bunk", "user:lin"), ("shelf holds", "agent:cook")):
            assert scope in {hit.unit.scope for hit in memory.recall(Query(text=text)).hits}
            shared = memory.recall(Query(text=text, within=())).hits
            assert not [hit for hit in shared if hit.unit.scope]
            own = memory.recall(Query(text=text, within=(scope,))).hits
            assert {hit.unit.scope for hit in own} >= {scope}
            said = text.split()[0]
            assert said in memory.context("task", text).text
            assert said in memory.context("task", text, within=(scope,)).text
            assert said not in memory.context("task", text, within=()).text
            assert said not in memory.context("task", text, within=("agent:other",)).text
        with pytest.raises(UsageError, match="area of a user needs its name"):
            memory.session("hold", area="user")


def test_the_simple_contract_has_three_methods(served: Served) -> None:
    with Client(served.url) as memory:
        kept = memory.append("新的记忆：缓存用 Redis。", "memory/2026-02-03.md", ref="1")
        assert kept.stored
        assert not memory.append("新的记忆：缓存用 Redis。", "memory/2026-02-03.md", ref="1").stored
        assert memory.read("memory/2026-02-03.md") == "新的记忆：缓存用 Redis。"
        assert "Redis" in memory.search("缓存用什么", limit=3)[0].snippet


def test_a_refusal_is_the_error_of_the_library(served: Served) -> None:
    with Client(served.url) as memory:
        with pytest.raises(NotFoundError, match="card-none"):
            memory.trace("card-none")
        with pytest.raises(UsageError, match="must be one of"):
            memory.remember("x y z", type="poem")
        with pytest.raises(UnsafePathError):
            memory.read("../../a.md")
        report = memory.remember("The anchor weighs 90 kg.", key="anchor")
        [page] = (served.root / "semantic").rglob("anchor*.md")
        page.write_text("No card any more.\n", encoding="utf-8")
        with pytest.raises(GateError, match="changed since"):
            memory.undo(report.id)


def test_who_does_not_answer_is_named_with_a_remedy(served: Served) -> None:
    with (
        Client("http://127.0.0.1:9", seconds=2) as memory,
        pytest.raises(ServerError, match="kimi-memory serve"),
    ):
        memory.health()
    with (
        Client("http://127.0.0.1:9", seconds=2) as memory,
        pytest.raises(ServerError, match="No answer"),
    ):
        memory.metrics()
    with (
        Client("http://127.0.0.1:9", seconds=2) as memory,
        pytest.raises(ServerError, match="No answer"),
    ):
        next(memory.events())


def test_events_come_as_they_happen(served: Served) -> None:
    with Client(served.url) as memory:
        id = memory.append("Something happened.").id
        session = id.removeprefix("session:").partition("#")[0]
        event = next(one for one in memory.events(after=1) if one.session == session)
        assert (event.kind, event.path) == ("capture", f"short-term/session_{session}.jsonl")


def test_a_token_opens_what_it_is_for(served_with_token: tuple[Served, str]) -> None:
    server, secret = served_with_token
    with Client(server.url, secret) as memory:
        assert memory.status().turns == 0
        with pytest.raises(ServerError, match="no scope") as refused:
            memory.append("x y z")
        assert (refused.value.status, refused.value.code) == (403, "forbidden")
    with Client(server.url, "kmt_wrong") as memory:
        with pytest.raises(ServerError, match="token is needed"):
            memory.status()
        with pytest.raises(ServerError, match="token is needed"):
            next(memory.events())
