"""The HTTP API as clients see it: a real server, real requests, the whole matrix of rights."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from fakes.served import Served, run

from kimi_memory import Memory
from kimi_memory.api.options import read_settings
from kimi_memory.server.auth import Tokens
from kimi_memory.server.principal import Namespace, Scope
from kimi_memory.server.routes import ROUTES

NOW = datetime(2026, 2, 27, tzinfo=UTC)
SCOPES = (("read",), ("write",), ("admin",), ("read", "write"))
SPACES = {
    "whole": Namespace(),
    "project": Namespace("apollo"),
    "agent": Namespace("", "scout"),
    "both": Namespace("apollo", "scout"),
}
TOKENS = ["none", "wrong", *(f"{'+'.join(s)}/{n}" for s, n in product(SCOPES, SPACES))]
HOSTS = {
    "127.0.0.1": True,
    "localhost:{port}": True,
    "[::1]:80": True,
    "memory.test": True,
    "evil.test": False,
    "evil.test@localhost": False,
    "127.0.0.1 evil.test": False,
}
ORIGINS = {
    "": True,
    "http://{host}": True,
    "https://page.test": True,
    "http://evil.test": False,
    "null": False,
}
PROBES = [route for route in ROUTES if route.name in ("read", "log", "append", "undo", "health")]


@pytest.fixture(scope="module")
def guarded(served: Served, serving: Callable[..., Served]) -> tuple[Served, dict[str, str]]:
    """A server with every kind of token, and their secrets."""
    base = served.root.parent
    with Memory.create(base / "guarded") as memory:
        memory.remember("部署定在每周五下午。", key="deploy.day", project="apollo")
    secrets = {"none": "", "wrong": "kmt_wrong"}
    there = Served(base / "guarded", base / "guarded-home")
    tokens = Tokens(there.directories, there.root, read_settings(there.root).memory.id)
    for scopes, name in product(SCOPES, SPACES):
        kind = f"{'+'.join(scopes)}/{name}"
        _, secrets[kind] = tokens.add(kind, list(map(Scope, scopes)), SPACES[name], NOW)
    options = ("--allow-host", "memory.test", "--allow-origin", "https://page.test")
    return serving(there.root, there.home, *options), secrets


def granted(token: str, scope: Scope | None, *, whole: bool) -> int:
    """The status that a token gets; 0 when it may come in."""
    if scope is None:
        return 0
    if token in ("none", "wrong"):
        return 401
    scopes, _, space = token.partition("/")
    if str(scope) not in scopes.split("+") and "admin" not in scopes:
        return 403
    return 403 if whole and space != "whole" else 0


@pytest.mark.parametrize("token", TOKENS)
def test_the_matrix_of_rights(guarded: tuple[Served, dict[str, str]], token: str) -> None:
    server, secrets = guarded
    port = server.url.rpartition(":")[2]
    with server.client(secrets[token]) as client:
        for route, host, origin in product(PROBES, HOSTS, ORIGINS):
            headers = {"host": host.format(port=port)}
            if origin:
                headers["origin"] = origin.format(host=headers["host"])
            answer = client.request(route.method, route.path, params={"x": "1"}, headers=headers)
            expected = granted(token, route.scope, whole=route.whole) or 400
            expected = expected if ORIGINS[origin] else 403
            expected = expected if HOSTS[host] else 421
            assert answer.status_code == expected, (route.name, host, origin, answer.text)


@pytest.mark.parametrize("token", TOKENS)
def test_every_route_asks_for_its_scope(guarded: tuple[Served, dict[str, str]], token: str) -> None:
    server, secrets = guarded
    with server.client(secrets[token]) as client:
        for route in ROUTES:
            path = route.path.format(id="some", key="some")
            answer = client.request(route.method, path, params={"x": "1"})
            expected = granted(token, route.scope, whole=route.whole) or 400
            assert answer.status_code == expected, (route.name, answer.text)
            assert set(answer.json()["error"]) == {"code", "message", "remedy"}
        metrics = client.get("/v1/metrics").status_code
        assert metrics == (granted(token, Scope.READ, whole=True) or 200)
        with client.stream("GET", "/v1/events") as stream:
            assert stream.status_code == (granted(token, Scope.READ, whole=False) or 200)


def test_without_a_token_only_this_machine_is_served_under_its_own_name(served: Served) -> None:
    with served.client() as client:
        assert client.get("/v1/status").status_code == 200
        for name in ("evil.test", "10.0.0.1", "127.0.0.1.evil.test"):
            assert client.get("/v1/health", headers={"host": name}).status_code == 421
        forwarded = client.get("/v1/status", headers={"x-forwarded-for": "10.0.0.9"})
        assert forwarded.json()["error"]["code"] == "wrong_origin"
        embedded = client.get("/v1/status", headers={"sec-fetch-site": "cross-site"})
        assert embedded.status_code == 403


def test_a_secret_is_masked_before_it_is_stored(served: Served) -> None:
    key = "ghp_" + "a1B2" * 9
    with served.client() as client:
        kept = client.post("/append", json={"content": f"token is {key}"}).json()
    assert kept["masked"] == 1
    assert not [p for p in served.root.rglob("*.jsonl") if key.encode() in p.read_bytes()]


@pytest.mark.parametrize(
    ("call", "sent", "status", "code"),
    [
        ("GET /get?path=../../etc/passwd", None, 404, "not_found"),
        ("GET /get?path=/etc/passwd", None, 404, "not_found"),
        ("GET /get?path=../../etc/x.md", None, 400, "unsafe_path"),
        ("GET /get?path=memory.toml", None, 404, "not_found"),
        ("GET /get?path=.kimi/index/x.md", None, 404, "not_found"),
        ("GET /v1/get?what=.git/config", None, 404, "not_found"),
        ("GET /get?path=memory/2026-02-31.md", None, 400, "usage"),
        ("GET /get?path=memory/1999-01-01.md", None, 404, "not_found"),
        ("GET /get?path=MEMORY.md&path=USER.md", None, 400, "usage"),
        ("GET /get?path=MEMORY.md&startLine=9&endLine=2", None, 400, "usage"),
        ("GET /get", None, 400, "usage"),
        ("GET /v1/diff?old=--output=x", None, 400, "usage"),
        ("GET /nowhere", None, 404, "no_such_route"),
        ("GET /search", None, 405, "wrong_method"),
        ("GET /v1/log?limit=many", None, 400, "usage"),
        ("POST /search", b"{", 400, "usage"),
        ("POST /search", b"[1]", 400, "usage"),
        ("POST /search", b'{"query": ""}', 400, "usage"),
        ("POST /search", b'{"query": "\\ud800"}', 400, "usage"),
        ("POST /search", b'{"query": "x", "limit": 1e99}', 400, "usage"),
        ("POST /search", b'{"query": "x", "sources": ["files"]}', 400, "usage"),
        ("POST /search", b'{"query": "x", "memory": "/etc"}', 400, "usage"),
        ("POST /append", b'{"content": "x", "path": "memory.toml"}', 400, "usage"),
        ("POST /append", b'{"content": "x", "path": "../a.md"}', 400, "usage"),
        ("POST /append", b'{"content": "x", "path": 7}', 400, "usage"),
        ("POST /v1/recall", b"{}", 400, "usage"),
        ("POST /v1/recall", b'{"query": "tier:none x"}', 400, "usage"),
        ("POST /v1/sessions", b'{"id": "diary-2026-01-01"}', 400, "usage"),
        ("POST /v1/sessions", b'{"id": "s-apollo.2"}', 400, "usage"),
        ("POST /v1/sessions/none/turns", b'{"text": "x"}', 404, "not_found"),
        ("POST /v1/sessions/s-apollo/turns", b'{"id": "y", "text": "x"}', 400, "usage"),
        ("POST /v1/sessions/s-ap/turns", b'{"text": "x"}', 404, "not_found"),
        ("POST /v1/forget", b"{}", 400, "usage"),
        ("POST /v1/undo", b'{"job": "none"}', 404, "not_found"),
        ("POST /v1/consolidate", b'{"period": "hourly"}', 400, "usage"),
        ("POST /append", b"x" * 1_048_577, 413, "too_large"),
    ],
)
def test_a_mistake_has_a_status_a_code_and_a_remedy(
    served: Served, call: str, sent: bytes | None, status: int, code: str
) -> None:
    headers = {"content-type": "application/json"} if sent else {}
    with served.client() as client:
        answer = client.request(*call.split(" ", 1), content=sent, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert answer.json()["error"]["message"]
    assert str(served.root) not in answer.text


def test_a_form_of_a_page_is_no_request(served: Served) -> None:
    with served.client() as client:
        answer = client.post("/append", data={"content": "x"})
    assert answer.status_code == 415
    assert "application/json" in answer.json()["error"]["remedy"]


def test_a_body_of_no_stated_length_is_cut_off(served: Served) -> None:
    with served.client() as client:
        many = (b"x" * 65536 for _ in range(40))
        answer = client.post("/append", content=many, headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_who_is_too_fast_is_told_to_wait(serving: Callable[..., Served], folder: Path) -> None:
    server = serving(folder / "记忆", folder / "home", "--rate", "1")
    with server.client() as client:
        answers = [client.get("/v1/health") for _ in range(30)]
    late = [answer for answer in answers if answer.status_code == 429]
    assert late
    assert late[0].headers["retry-after"]
    assert late[0].json()["error"]["code"] == "too_many_requests"


def test_a_token_taken_back_is_refused_at_once(
    guarded: tuple[Served, dict[str, str]],
) -> None:
    server, _ = guarded
    secret = server.token("passing", "--scope", "read")
    with server.client(secret) as client:
        assert client.get("/v1/status").status_code == 200
        run(server.home, server.root, "token", "remove", "passing")
        assert client.get("/v1/status").status_code == 401


def test_a_bound_token_sees_and_writes_its_own_project_only(
    serving: Callable[..., Served], folder: Path
) -> None:
    root, home = folder / "记忆", folder / "bound-home"
    there = Served(root, home)
    ours = there.token("ours", "--project", "apollo")
    whole = there.token("whole", "--scope", "admin")
    agent = there.token("agent", "--agent", "scout")
    server = serving(root, home)
    with server.client(whole) as owner:
        hidden = owner.post("/search", json={"query": "marigold"}).json()["results"]
        assert hidden
        owner.post("/append", json={"content": "The owner's diary says quartz."})
    with server.client(ours) as client:

        def said(query: str) -> str:
            found = client.post("/search", json={"query": query, "limit": 50}).json()["results"]
            more = client.post("/v1/recall", json={"query": query, "limit": 50}).json()["hits"]
            block = client.post("/v1/context", json={"query": query, "purpose": "live"}).json()
            return json.dumps([found, more, block], ensure_ascii=False)

        assert "Trondheim" in said("harbour ships from")
        assert "Valparaiso" not in said("harbour ships from")
        assert "marigold" not in said("code word marigold")
        assert "6543" not in said("staging database port")
        for foreign in ({"query": "project:hermes marigold"}, {"text": "x", "project": "hermes"}):
            assert client.post("/v1/recall", json=foreign).status_code == 403
        for one in hidden:
            for asked in (one["path"], one["id"]):
                assert client.get("/v1/get", params={"what": asked}).status_code in (400, 404)
            assert client.get("/get", params={"path": one["path"]}).status_code == 404
            assert client.get("/v1/trace", params={"id": one["id"]}).status_code == 404
            gone = client.post("/v1/forget", json={"note": one["id"]})
            assert gone.status_code == 404
        assert client.get("/get", params={"path": "MEMORY.md"}).status_code == 404
        opened = client.get("/v1/sessions").json()["sessions"]
        assert "s-apollo" in opened
        assert "s-hermes" not in opened
        for step, sent in (("turns", {"text": "x"}), ("state", {"task": {}}), ("end", {})):
            assert client.post(f"/v1/sessions/s-hermes/{step}", json=sent).status_code == 404
        assert client.post("/v1/sessions", json={"id": "s-hermes"}).status_code == 403
        wider = {"text": "x y z", "project": "hermes"}
        assert client.post("/v1/remember", json=wider).status_code == 403
        assert client.post("/v1/sessions", json={"project": "hermes"}).status_code == 403
        assert client.post("/v1/forget", json={"key": "deploy.day"}).status_code == 400
        assert client.post("/v1/forget", json={"query": "harbour ships"}).status_code == 403
        kept = client.post("/v1/remember", json={"text": "Apollo uses a hull of titanium."}).json()
        assert kept["id"]
        note = client.post("/append", json={"content": "我们的日记：船体完成。"}).json()
        assert "船体完成" in client.get("/get", params={"path": note["path"]}).json()["text"]
        assert "quartz" not in client.get("/get", params={"path": note["path"]}).json()["text"]
        started = client.post("/v1/sessions", json={"id": "a/b"}).json()
        assert started["project"] == "apollo"
        turn = client.post(f"/v1/sessions/{started['id']}/turns", json={"text": "锚链已换。"})
        assert turn.json()["n"] == 1
        assert "titanium" in said("hull titanium")
        assert "锚链" in said("锚链")
    with server.client(agent) as client:
        found = client.post("/search", json={"query": "harbour ships from"}).json()["results"]
        assert [one["id"] for one in found] == ["session:s-apollo#1"]
    with server.client(whole) as owner:
        cards = owner.post("/v1/recall", json={"query": "kind:card titanium"}).json()["hits"]
        assert [hit["unit"]["project"] for hit in cards] == ["apollo"]


def test_the_library_over_the_wire(served: Served) -> None:
    with served.client() as client:

        def post(path: str, **sent: Any) -> Any:
            answer = client.post(path, json=sent)
            assert answer.status_code == 200, answer.text
            return answer.json()

        def get(path: str, **asked: Any) -> Any:
            answer = client.get(path, params=asked)
            assert answer.status_code == 200, answer.text
            return answer.json()

        id = post("/v1/sessions", id="life", project="voyage", title="一次航行")["id"]
        for n, text in enumerate(
            ("决定：数据库改用 PostgreSQL。", "Remember: the mast is 21 m."), 1
        ):
            assert post(f"/v1/sessions/{id}/turns", text=text, ref=f"r{n}")["n"] == n
        assert post(f"/v1/sessions/{id}/turns", text="again", ref="r1")["n"] == 0
        post(f"/v1/sessions/{id}/state", task={"goal": "sail"}, variables={"wind": 7})
        assert "life" in get("/v1/sessions")["sessions"]
        report = post(f"/v1/sessions/{id}/end")
        assert report["kind"] == "distil"
        more = post(f"/v1/sessions/{id}/turns", text="一天以后。")
        assert more == {"session": "life.2", "n": 3, "masked": 0, "stripped": 0, "durability": ""}
        hits = post("/v1/recall", query="kind:card project:voyage")["hits"]
        assert post("/v1/recall", query="mast", valid_at="2020-01-01T00:00:00Z")["hits"] == []
        assert post("/v1/recall", query="mast valid-at:today")["hits"]
        note = hits[0]["unit"]["id"]
        assert get("/v1/trace", id=note)["evidence"][0]["verified"]
        assert post("/v1/context", query="mast", budget=200)["tokens"] <= 200
        preview = post("/v1/consolidate", period="daily", dry_run=True)
        done = post("/v1/consolidate", period="daily")
        assert [one["subject"] for one in preview if one["id"]]
        assert any(one["id"] for one in done)
        assert any(one["trailers"].get("Job") == report["id"] for one in get("/v1/log", limit=50))
        assert "diff" in get("/v1/diff", old="HEAD")
        shown = post("/v1/forget", note=note, dry_run=True)
        assert shown["diff"]
        gone = post("/v1/forget", note=note)
        assert post("/v1/undo", job=gone["id"])["id"] == gone["id"]
        # Another test of this server has an agent remember it.
        waits = {one["text"] for one in get("/v1/review")}
        assert waits <= {"Apollo uses a hull of titanium."}
        assert get("/v1/conflicts") == []
        assert get("/v1/status")["turns"] >= 3
        assert get("/v1/health")["status"] == "ok"
        assert post("/v1/distil") == []
        assert len(post("/v1/recall", text="mast", hops=0, limit=1)["hits"]) == 1


def test_a_client_that_does_not_read_holds_up_nobody(served: Served) -> None:
    host, port = served.url.removeprefix("http://").split(":")
    deaf = [socket.create_connection((host, int(port))) for _ in range(8)]
    for one in deaf:
        one.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0\r\n\r\n")
    with served.client() as client:
        for n in range(10):
            assert client.post("/append", json={"content": f"Line {n}."}).json()["stored"]
    for one in deaf:
        one.close()
    with served.client() as client:
        deadline = time.monotonic() + 30
        while "kimi_memory_http_streams 0" not in client.get("/v1/metrics").text:
            assert time.monotonic() < deadline, "streams of clients that left stay open"


def test_a_page_that_may_call_is_answered_as_browsers_want(
    guarded: tuple[Served, dict[str, str]],
) -> None:
    server, secrets = guarded
    asked = {"origin": "https://page.test", "access-control-request-method": "POST"}
    with server.client() as client:
        before = client.options("/search", headers=asked)
        assert before.headers["access-control-allow-origin"] == "https://page.test"
        foreign = client.options("/search", headers={**asked, "origin": "https://evil.test"})
        assert foreign.status_code == 403
    with server.client(secrets["read/whole"]) as client:
        answer = client.get("/v1/status", headers={"origin": "https://page.test"})
    assert answer.headers["access-control-allow-origin"] == "https://page.test"
