"""Rights of every route: the matrix is made from the routes, so a new one is in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product
from typing import Any

import httpx
import pytest
from fakes.served import Served

from kimi_memory import Memory
from kimi_memory.api.options import read_settings
from kimi_memory.server.auth import Tokens
from kimi_memory.server.principal import Namespace, Scope
from kimi_memory.server.routes import ROUTES, SPECIAL
from kimi_memory.server.schema import Route, Special

NOW = datetime(2026, 2, 27, tzinfo=UTC)
ALL: tuple[Route | Special, ...] = (*ROUTES, *SPECIAL)
SCOPES = {"read": {"read"}, "write": {"write"}, "read+write": {"read", "write"}}
SCOPES["admin"] = {"read", "write", "admin"}
SPACES = {
    "whole": Namespace(),
    "project": Namespace("apollo"),
    "agent": Namespace("", "scout"),
    "both": Namespace("apollo", "scout"),
    "user": Namespace(user="lin"),
    "session": Namespace(session="s-apollo"),
    "all": Namespace("apollo", "scout", "lin", "s-apollo"),
    "shared": Namespace("apollo", "scout", shared=True),
}
HOSTS = {"localhost": True, "memory.test": True, "evil.test": False, "localhost.evil.test": False}
ORIGINS = {"": True, "https://page.test": True, "http://evil.test": False, "null": False}
SECRET = "Valparaiso marigold 船坞海燕"
"""Words of another project and agent, shared and private, which no bound token may be told."""
Guarded = tuple[Served, dict[tuple[str, str], str], list[dict[str, str]]]
ASKED: dict[str, dict[str, Any]] = {
    "search": {"query": SECRET, "limit": 50},
    "read": {"path": "{note}"},
    "append": {"content": "An innocent line."},
    "recall": {"query": SECRET, "limit": 50, "hops": 2},
    "context": {"query": SECRET, "purpose": "live", "session": "{session}", "budget": 9000},
    "get": {"what": "{note}"},
    "trace": {"id": "{id}"},
    "timeline": {"key": "{id}"},
    "blame": {"id": "{id}"},
    "remember": {"text": f"We ship from the harbour of {SECRET[:3]}, too."},
    "sessions": {},
    "start": {"id": "{session}"},
    "turn": {"id": "{session}", "text": "x"},
    "state": {"id": "{session}", "task": {"a": 1}},
    "end": {"id": "{session}"},
    "forget": {"note": "{id}"},
    "compact": {
        "messages": [{"role": "user", "content": "x"}, {"role": "user", "content": "y"}],
        "session": "{session}",
        "keep": 1,
        "force": True,
    },
    "flush": {"messages": [{"role": "user", "content": "x"}], "session": "{session}"},
    "window": {"id": "{session}"},
}
"""For each route that is open to bound tokens, the request most likely to tell of others."""


@pytest.fixture(scope="module")
def guarded(serving: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Guarded:
    """A server, a token of each kind, and what is to be kept from bound ones."""
    base = tmp_path_factory.mktemp("matrix")
    with Memory.create(base / "记忆") as memory:
        memory.remember(f"The code words are {SECRET}.", project="hermes", agent="clerk")
        session = memory.session("s-hermes", project="hermes", agent="clerk", title=SECRET)
        session.turn("user", f"Hermes ships from {SECRET}.")
        whose = {"project": "apollo", "agent": "clerk", "area": "agent"}
        memory.remember(f"The code words of hermes are {SECRET}.", key="own.words", **whose)
        memory.session("s-clerk", **whose).turn("user", f"Hermes ships from {SECRET}.")
        memory.session("s-apollo", project="apollo", agent="scout", user="lin").turn(
            "user", "锚链已换。"
        )
        cards = [hit.unit for hit in memory.recall(f"kind:card {SECRET}").hits]
        hidden = [
            {
                "note": card.path,
                "id": card.id,
                "session": "s-clerk" if card.scope else "s-hermes",
            }
            for card in cards
        ]
        assert {one["session"] for one in hidden} == {"s-clerk", "s-hermes"}
    there = Served(base / "记忆", base / "home")
    tokens, secrets = Tokens(there.directories, there.root, read_settings(there.root).memory.id), {}
    for scopes, space in product(SCOPES, SPACES):
        granted = [Scope(one) for one in scopes.split("+")]
        name = f"{scopes} {space}"
        _, secrets[scopes, space] = tokens.add(name, granted, SPACES[space], NOW)
    options = ("--allow-host", "memory.test", "--allow-origin", "https://page.test")
    return serving(there.root, there.home, *options), secrets, hidden


def rule(route: Route | Special, scopes: str, space: str) -> int:
    """The status that the rule of a route gives to a token; 0 when it may come in."""
    if route.scope is None:
        return 0
    refused = route.scope not in SCOPES[scopes] or (route.whole and space != "whole")
    return 403 if refused else 0


def ask(client: httpx.Client, route: Route | Special, **headers: str) -> int:
    """Send what no route takes, so that who may come in is told of a mistake."""
    method = route.method if isinstance(route, Route) else "GET"
    path = route.path.format(id="some", key="some")
    wrong = {"x": "1"} if isinstance(route, Route) else {}
    with client.stream(method, path, headers=headers, params=wrong) as answer:
        return int(answer.status_code)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("scopes", SCOPES)
def test_every_route_holds_its_rule_for_every_token(
    guarded: Guarded, scopes: str, space: str
) -> None:
    server, secrets, _ = guarded
    with server.client(secrets[scopes, space]) as client:
        found = {route.name: ask(client, route) for route in ALL}
    let_in = {route.name: 400 if isinstance(route, Route) else 200 for route in ALL}
    assert found == {route.name: rule(route, scopes, space) or let_in[route.name] for route in ALL}


@pytest.mark.parametrize("route", ALL, ids=lambda route: route.name)
def test_every_route_is_closed_to_strangers_hosts_and_pages(
    guarded: Guarded, route: Route | Special
) -> None:
    server, secrets, _ = guarded
    let_in = 400 if isinstance(route, Route) else 200
    stranger = 401 if route.scope else let_in
    tokens = {secrets["admin", "whole"]: let_in, "": stranger, "kmt_wrong": stranger}
    with server.client() as client:
        for (token, known), host, origin in product(tokens.items(), HOSTS, ORIGINS):
            expected = known if ORIGINS[origin] else 403
            expected = expected if HOSTS[host] else 421
            sent = {"host": host, "origin": origin, "authorization": token and f"Bearer {token}"}
            headers = {name: value for name, value in sent.items() if value}
            assert ask(client, route, **headers) == expected, (token[:5], host, origin)


def test_every_route_open_to_bound_tokens_is_probed() -> None:
    bound = {one.name for one in ROUTES if one.scope and not one.whole}
    assert set(ASKED) == bound, "say how a new route could tell of another project"


@pytest.mark.parametrize("space", [name for name in SPACES if name != "whole"])
def test_no_route_tells_a_bound_token_of_others(guarded: Guarded, space: str) -> None:
    server, secrets, hidden = guarded
    with server.client(secrets["admin", space]) as client:
        for name, one in product(ASKED, hidden):
            probe(client, name, one)
    with server.client(secrets["admin", "whole"]) as client:
        for one in hidden:
            card = client.get("/v1/get", params={"what": one["id"]}).json()["text"]
            assert "status: active" in card
            path = f"short-term/session_{one['session']}.jsonl"
            turns = client.get("/v1/get", params={"what": path})
            assert len(turns.json()["text"].splitlines()) == 2


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        *(("recall", {"text": "x", part: "other"}) for part in ("project", "agent", "user")),
        *(("search", {"query": f"{part}:other x"}) for part in ("project", "agent", "user")),
        ("recall", {"text": "x", "session": ["s-hermes"]}),
        ("recall", {"text": "x", "within": ["agent:clerk"]}),
        ("search", {"query": "session:s-hermes x"}),
        ("context", {"query": "x", "session": "s-hermes"}),
        ("context", {"query": "x", "within": ["agent:clerk"]}),
        ("context", {"purpose": "start", "within": ["agent:clerk"]}),
        *(("remember", {"text": "x", part: "other"}) for part in ("project", "agent", "user")),
        *(("start", {part: "other"}) for part in ("id", "project", "agent", "user")),
    ],
)
def test_a_bound_token_cannot_ask_for_more(
    guarded: Guarded, name: str, asked: dict[str, Any]
) -> None:
    server, secrets, _ = guarded
    [route] = [one for one in ROUTES if one.name == name]
    with server.client(secrets["admin", "all"]) as client:
        answer = client.request(route.method, route.path, json=asked)
        assert answer.status_code == 403, answer.text
        assert "bound to another" in answer.json()["error"]["message"]


def test_a_bound_token_writes_to_no_area_of_others(guarded: Guarded) -> None:
    server, secrets, _ = guarded
    with server.client(secrets["admin", "project"]) as client:
        for area in ("agent", "user", "session"):
            asked = {"text": "x", "agent": "clerk", "user": "lin", "area": area}
            assert client.post("/v1/remember", json=asked).status_code == 403


def probe(client: httpx.Client, name: str, hidden: dict[str, str]) -> None:
    """Ask a route for what a bound token must not be told."""
    [route] = [one for one in ROUTES if one.name == name]
    sent = {
        key: value.format(**hidden) if isinstance(value, str) else value
        for key, value in ASKED[name].items()
    }
    asked = json.dumps(sent, ensure_ascii=False)
    parts = {name: sent.pop(name) for name in ("id", "key") if f"{{{name}}}" in route.path}
    path = route.path.format(**parts)
    place = {"json": sent} if route.method == "POST" else {"params": sent}
    answer = client.request(route.method, path, **place)
    told = json.dumps(answer.json(), ensure_ascii=False)
    assert answer.status_code in (200, 403, 404), told
    assert (
        name not in ("turn", "state", "end", "get", "read", "trace", "timeline", "blame")
        or answer.status_code > 400
    )
    for word in ("Valparaiso", "marigold", "船坞", "海燕", "hermes", "clerk"):
        assert word not in told or word in asked, told


def test_no_address_answers_without_a_rule(
    guarded: Guarded,
) -> None:
    server, secrets, _ = guarded
    with server.client(secrets["admin", "whole"]) as client:
        told = set(client.get("/openapi.json").json()["paths"])
        assert told | {"/openapi.json"} == {one.path for one in ALL}
        for path in ("/", "/docs", "/v1", "/v1/", "/v1/config", "/metrics", "/v1/plugins"):
            assert client.get(path).status_code == 404, path
