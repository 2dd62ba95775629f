"""The guard: every door of a memory in a space, walked as each of its members."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.pages import Pages

pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
pytest.importorskip("jwt", reason="needs the library of kimi-memory[team]")
pytest.importorskip("cryptography", reason="needs the library of kimi-memory[team]")

from fakes.issuer import AUDIENCE, LocalIssuer

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.ids import utcnow
from kimi_memory.domain.space_types import Audit
from kimi_memory.errors import DeniedError, KimiMemoryError, UsageError
from kimi_memory.mcp.workers import Desk
from kimi_memory.server.guard import ACTIONS
from kimi_memory.server.principal import Namespace, Scope
from kimi_memory.server.routes import ROUTES, SPECIAL
from kimi_memory.server.schema import Route
from kimi_memory.spaces.issuers import Asking
from kimi_memory.spaces.space_folder import SpaceFolder
from kimi_memory.web.page_table import PAGES

READING = {"recall", "get", "context"}
WRITING = READING | {"capture", "remember", "forget"}
KEEPING = WRITING | {"consolidate", "undo", "deploy"}
MAY = {
    "lin": READING,
    "wen": WRITING,
    "kai": KEEPING,
    "ona": KEEPING,
    "robot": KEEPING,
    "ops": set(),
    "gone": set(),
    "": set(),
}
"""What each member may ask of a server; there is none that shares, exports or purges."""
SECRET = ("Valparaiso", "海燕")
"""Words of what is private to another member."""
SAMPLE = {"text": "x", "texts": ["x"], "int": 1, "float": 0.5, "flag": True,
          "moment": "2026-01-01T00:00:00+00:00", "day": "2026-01-01", "object": {"a": 1},
          "objects": [{"role": "user", "content": "x"}]}  # fmt: skip


class Team:
    """A memory in a space, its server, and a token for each member."""

    def __init__(self, root: Path, home: Home) -> None:
        self.home, self.root = home, root / "tea"
        opening = Opening(home=home)
        with Memory.create(self.root, opening=opening) as memory:
            memory.remember("The shop opens at nine.", key="shop.hours")
            memory.remember("I take my tea green.", key="tea.kind", user="lin", area="user")
            memory.remember("Bo ships from Valparaiso.", key="harbour", user="bo", area="user")
            memory.remember("海燕是博的口令。", key="bo.word", user="bo", area="user")
            memory.session("s-bo", user="bo", area="user").turn("user", "Valparaiso 海燕")
            self.id = memory.settings.memory.id
            self.hidden = memory.recall("Bo ships from Valparaiso").hits[0].unit.id
        self.space = SpaceFolder.create(home, "shop", root / "space")
        for sub, role, kind in (
            ("lin", "reader", "user"), ("wen", "writer", "user"), ("kai", "keeper", "user"),
            ("ona", "owner", "user"), ("robot", "owner", "agent"), ("ops", "owner", "group"),
            ("gone", "owner", "user"),
        ):  # fmt: skip
            self.space.add(sub, [role], kind)
        self.space.share(self.id, "tea", self.root)
        self.space.remove("gone")
        self.pages = Pages(self.root, home)
        every = (Scope.READ, Scope.WRITE, Scope.ADMIN)
        self.secrets = {sub: self._token(sub, every) for sub in MAY}
        self.persons = {sub: self._token(sub, (Scope.PERSON,)) for sub in MAY}

    def _token(self, sub: str, scopes: tuple[Scope, ...]) -> str:
        name = sub or "nobody"
        return self.pages.tokens.add(name, scopes, Namespace(), utcnow(), member=sub)[1]

    def send(self, sub: str, method: str, path: str, **options: Any) -> Any:
        headers = {"authorization": f"Bearer {self.secrets[sub]}"}
        return self.pages.send(method, path, headers=headers, **options)

    def lines(self) -> list[Audit]:
        return list(self.space.log.records())


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    base = tmp_path_factory.mktemp("team")
    team = Team(base, Home(base / "config", base / "state"))
    with team.pages:
        yield team


def ask(team: Team, sub: str, route: Route) -> Any:
    """Ask for a route with the least that it takes."""
    given = {one.name: (one, SAMPLE[one.kind]) for one in route.fields if one.required}
    of = {place: {name: one.choices[0] if one.choices else value
                  for name, (one, value) in given.items() if one.place == place}
          for place in ("path", "query", "body")}  # fmt: skip
    body = {"json": of["body"]} if route.method == "POST" else {}
    path = re.sub(r"\{(\w+)\}", lambda found: str(of["path"].get(found[1], "x")), route.path)
    return team.send(sub, route.method, path, params=of["query"], **body)


def is_refused(answer: Any) -> bool:
    """Whether policies refused it, and not a rule that holds without a space, too."""
    return answer.status_code == 403 and "An owner of the space" in answer.text


@pytest.mark.parametrize("sub", MAY)
def test_every_route_is_open_to_whom_the_policies_allow_it(team: Team, sub: str) -> None:
    for route in ROUTES:
        if route.scope is None:
            assert ask(team, sub, route).status_code == 200
            continue
        before = len(team.lines())
        answer = ask(team, sub, route)
        action = ACTIONS.get(route.name, "")
        allowed = action in MAY[sub]
        assert is_refused(answer) is not allowed, (route.name, answer.text)
        assert answer.status_code < 500, (route.name, answer.text)
        assert not any(word in answer.text for word in SECRET), route.name
        (line,) = team.lines()[before:]
        assert (line.decision, line.via) == ("allow" if allowed else "deny", "http")
        assert line.action == (action or route.name) and line.memory == team.id
        assert line.sub == (sub or "client nobody")


@pytest.mark.parametrize("sub", MAY)
def test_the_figures_are_open_to_keepers(team: Team, sub: str) -> None:
    for special in SPECIAL:
        if special.name != "follow":
            allowed = special.scope is None or "deploy" in MAY[sub]
            answer = team.send(sub, "GET", special.path)
            assert (answer.status_code == 200) is allowed, special.name


def test_what_is_hidden_and_what_is_missing_get_one_answer(team: Team) -> None:
    missing = team.hidden[:-4] + "zzzz"
    for sub in ("lin", "robot", "ona"):
        for path, field in (
            ("/v1/get", "what"), ("/v1/trace", "id"), ("/v1/blame/ID", ""), ("/get", "path"),
            ("/v1/timeline/ID", ""), ("/v1/sessions/ID/window", ""),
        ):  # fmt: skip
            answers = []
            for id in (missing, team.hidden):
                params = {field: id} if field else {}
                found = team.send(sub, "GET", path.replace("ID", id), params=params)
                answers.append((found.status_code, found.text.replace(id, "ID")))
            assert answers[0] == answers[1], (sub, path)
    for what in ("s-bo", "s-none"):
        answer = team.send("lin", "GET", f"/v1/sessions/{what}/window")
        assert answer.status_code == 404, answer.text


def test_a_member_finds_what_is_shared_and_what_is_its_own(team: Team) -> None:
    def found(sub: str, query: str) -> str:
        return str(team.send(sub, "POST", "/v1/recall", json={"query": query}).text)

    assert "opens at nine" in found("lin", "when does the shop open?")
    assert "green" in found("lin", "which tea do I take?")
    assert "green" not in found("wen", "which tea do I take?")
    for sub in ("lin", "kai", "ona"):
        for query in ("Valparaiso", "海燕", "harbour user:bo", "s-bo"):
            assert not any(word in found(sub, query).replace(query, "") for word in SECRET)


def test_the_log_tells_what_was_shown_and_hides_what_was_asked(team: Team) -> None:
    answer = team.send("lin", "POST", "/v1/recall", json={"query": "when does the shop open?"})
    line = team.lines()[-1]
    shown = {hit["unit"]["id"] or hit["unit"]["path"] for hit in answer.json()["hits"]}
    assert set(line.hits) == shown and line.count == len(shown) > 0
    assert "shared" in line.scope and line.query and "shop" not in line.query
    team.send("lin", "GET", "/v1/get", params={"what": "no-such-note"})
    line = team.lines()[-1]
    assert (line.action, line.resource, line.count) == ("get", "no-such-note", 0)
    assert team.space.log.verify().faults == ()


def test_a_refusal_says_why_and_whom_to_ask(team: Team) -> None:
    said = team.send("lin", "POST", "/v1/remember", json={"text": "x"}).json()["error"]
    assert said["message"] == "lin (reader) may not remember here: no policy allows it."
    remedy = "An owner of the space shop can change that with 'kimi-memory space grant'."
    assert said["remedy"] == remedy
    text = team.send("", "POST", "/v1/recall", json={"query": "x"}).text
    assert "names no member" in text and "--member" in text


def test_a_token_with_fewer_scopes_does_less_than_its_member(team: Team) -> None:
    secret = team._token("ona", (Scope.READ,))
    headers = {"authorization": f"Bearer {secret}"}
    said = team.pages.send("POST", "/v1/remember", headers=headers, json={"text": "x"})
    assert said.status_code == 403 and "has no scope write" in said.text
    with pytest.raises(UsageError, match="The policies of the space say what a member sees"):
        team.pages.tokens.add("x", (Scope.READ,), Namespace("p"), utcnow(), member="lin")


def test_the_journal_names_the_member(team: Team) -> None:
    assert team.send("wen", "POST", "/v1/remember", json={"text": "Cups are blue."}).is_success
    with Memory.open(team.root, Opening(home=team.home)) as memory:
        actors = {str(one.get("actor")) for one in memory.store.journal.records()}
    assert any("member:wen" in actor for actor in actors), actors


def test_the_journal_the_history_and_the_log_name_the_run_of_an_agent(team: Team) -> None:
    run = "run-01m8qv9b7rkx4t2n6c0d3f5g8h"
    headers = {"authorization": f"Bearer {team.secrets['wen']}", "kimi-run": run}
    given = {"text": "Spoons are steel.", "key": "spoons"}
    assert team.pages.send("POST", "/v1/remember", headers=headers, json=given).is_success
    line = team.lines()[-1]
    assert (line.sub, line.run, line.action) == ("wen", run, "remember")
    with Memory.open(team.root, Opening(home=team.home)) as memory:
        found = [one for one in memory.store.journal.records() if one.get("run") == run]
        assert {one["sub"] for one in found} == {"wen"}
        assert {"member:wen", "job:remember"} <= {one["actor"] for one in found}
        said = next(iter(memory.history.log())).trailers
        assert (said["Kind"], said["Member"], said["Run"]) == ("remember", "wen", run)
    team.pages.send("POST", "/v1/remember", headers={**headers, "kimi-run": "run 1"}, json=given)
    assert team.lines()[-1].run == ""


MESSAGES = [{"role": "user", "content": "x"}]
TOOLS: dict[str, tuple[str, Callable[[Desk], Any]]] = {
    "search": ("recall", lambda desk: desk.search("Valparaiso 海燕 shop")),
    "get": ("get", lambda desk: desk.get("MEMORY.md")),
    "remember": ("remember", lambda desk: desk.remember("Tea is warm.")),
    "forget": ("forget", lambda desk: desk.forget(note="card-x")),
    "compact": ("capture", lambda desk: desk.compact(MESSAGES)),
    "flush": ("capture", lambda desk: desk.flush(MESSAGES)),
    "trace": ("get", lambda desk: desk.trace("card-x")),
    "timeline": ("get", lambda desk: desk.timeline("harbour")),
    "blame": ("get", lambda desk: desk.blame("card-x")),
    "context": ("context", lambda desk: desk.context("live", "Valparaiso 海燕")),
    "state": ("deploy", lambda desk: desk.state()),
    "waiting": ("", lambda desk: desk.waiting()),
    "entities": ("", lambda desk: desk.entities().__enter__()),
}


def test_every_tool_for_agents_is_in_the_table() -> None:
    public = {name for name in vars(Desk) if not name.startswith("_")} - {"close"}
    assert public == TOOLS.keys()


@pytest.mark.parametrize("sub", [sub for sub in MAY if sub])
def test_every_tool_is_open_to_whom_the_policies_allow_it(
    team: Team, sub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Home, "of_user", classmethod(lambda cls: team.home))
    desk = Desk(team.root, member=sub)
    try:
        for name, (action, call) in TOOLS.items():
            before = len(team.lines())
            try:
                shown = json.dumps(call(desk), default=str, ensure_ascii=False)
                refused = False
            except DeniedError:
                shown, refused = "", True
            except KimiMemoryError as error:
                shown, refused = str(error), False
            assert refused is (action not in MAY[sub]), name
            assert not any(word in shown.replace("Valparaiso 海燕", "") for word in SECRET), name
            (line,) = team.lines()[before:]
            assert (line.sub, line.via, line.decision == "deny") == (sub, "mcp", refused)
    finally:
        desk.close()


def test_a_tool_server_says_for_whom_it_asks(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Home, "of_user", classmethod(lambda cls: team.home))
    with pytest.raises(UsageError, match=r"belongs to a space. Say which member asks"):
        Desk(team.root)
    Memory.create(tmp_path / "own").close()
    with pytest.raises(UsageError, match=r"belongs to no space. Leave '--member' out"):
        Desk(tmp_path / "own", member="lin")


@pytest.mark.parametrize("sub", ["lin", "robot", "gone", ""])
def test_every_page_is_open_to_whom_the_policies_allow_it(team: Team, sub: str) -> None:
    team.pages.sit(token=team.persons[sub])
    for page in PAGES:
        path = "/ui" + page.path.replace("{id}", team.hidden)
        before = len(team.lines())
        if page.method == "POST":
            answer = team.pages.post(path, {"do": "x"})
        else:
            answer = team.pages.get(path)
        allowed = not page.whole and bool(MAY[sub])
        assert is_refused(answer) is not allowed, (path, answer.status_code)
        assert not any(word in answer.text for word in SECRET), path
        (line,) = team.lines()[before:]
        assert (line.via, line.decision) == ("pages", "allow" if allowed else "deny")


def test_who_has_the_folder_sees_every_page_and_that_is_noted(team: Team) -> None:
    team.pages.cookies = {}
    assert "Valparaiso" in team.pages.read(f"/ui/note/{team.hidden}")
    assert team.lines()[-1].sub == "owner of the folder"
    team.pages.cookies = {}


def test_a_member_who_was_put_out_is_refused_at_once(team: Team) -> None:
    team.space.add("eve", ["owner"])
    secret = team._token("eve", (Scope.READ,))
    headers = {"authorization": f"Bearer {secret}"}
    ask = {"headers": headers, "json": {"query": "shop"}}
    assert team.pages.send("POST", "/v1/recall", **ask).status_code == 200
    team.space.remove("eve")
    assert team.pages.send("POST", "/v1/recall", **ask).status_code == 403


def test_a_policy_that_breaks_closes_every_door(team: Team) -> None:
    path = team.space.root / "policies/broken.cedar"
    path.write_text("permit(")
    try:
        said = team.send("ona", "POST", "/v1/recall", json={"query": "shop"})
        assert said.status_code == 403 and "policies/broken.cedar:1" in said.text
    finally:
        path.unlink()
    registry = team.home.state / "spaces.json"
    text = registry.read_text()
    registry.write_text("[")
    try:
        said = team.send("ona", "POST", "/v1/recall", json={"query": "shop"})
        assert said.status_code >= 400 and "nine" not in said.text
    finally:
        registry.write_text(text)
    assert team.send("ona", "POST", "/v1/recall", json={"query": "shop"}).status_code == 200


def test_what_cannot_be_written_down_is_not_shown_or_done(team: Team) -> None:
    log = team.space.log.folder
    aside = log.with_name("aside")
    log.rename(aside)
    log.write_text("in the way")
    try:
        for path, body in (("/v1/recall", {"query": "shop"}), ("/v1/remember", {"text": "Gone."})):
            said = team.send("ona", "POST", path, json=body)
            assert said.status_code >= 500 and "nine" not in said.text
    finally:
        log.unlink()
        aside.rename(log)
    with Memory.open(team.root, Opening(home=team.home)) as memory:
        assert not any("Gone." in hit.unit.text for hit in memory.recall("Gone.").hits)


def test_a_memory_that_left_its_space_does_not_open_to_its_members(team: Team) -> None:
    team.space.unshare("tea")
    try:
        said = team.send("ona", "POST", "/v1/recall", json={"query": "shop"})
        assert said.status_code == 403 and "which the memory left" in said.text
        team.pages.sit(token=team.persons["ona"])
        assert team.pages.get("/ui/").status_code == 403
        assert team.send("", "POST", "/v1/recall", json={"query": "shop"}).status_code == 200
    finally:
        team.space.share(team.id, "tea", team.root)
        team.pages.cookies = {}
    assert team.send("", "POST", "/v1/recall", json={"query": "shop"}).status_code == 403


@pytest.fixture
def vouched(team: Team) -> Iterator[LocalIssuer]:
    """An issuer that the space believes, with a group whose people may write."""
    with LocalIssuer() as issuer:
        team.space.believe(Asking(issuer.url, AUDIENCE))
        if "buyers" not in team.space.members:
            team.space.add("buyers", ["writer"], "group", identity="/shop/buyers")
            team.space.add("mei", ["keeper"], identity="auth0|mei")
        yield issuer
        team.space.believe(Asking("", ""))


def ask_with(team: Team, token: str, path: str = "/v1/recall", **body: Any) -> Any:
    headers = {"authorization": f"Bearer {token}"}
    return team.pages.send("POST", path, headers=headers, json=body or {"query": "which tea?"})


def test_a_person_of_an_issuer_is_a_member(team: Team, vouched: LocalIssuer) -> None:
    token = vouched.sign(sub="lin")
    answer = ask_with(team, token)
    assert answer.status_code == 200 and "green" in answer.text
    assert not any(word in answer.text for word in SECRET)
    assert (team.lines()[-1].sub, team.lines()[-1].decision) == ("lin", "allow")
    said = ask_with(team, token, "/v1/remember", text="Saucers are red.")
    assert said.status_code == 403 and "lin (reader) may not remember" in said.text
    assert ask_with(team, vouched.sign(sub="auth0|mei"), "/v1/remember", text="Tea.").is_success
    assert team.lines()[-1].sub == "mei"


def test_groups_of_an_issuer_add_roles(team: Team, vouched: LocalIssuer) -> None:
    for sub in ("lin", "yun"):
        token = vouched.sign(sub=sub, groups=["/shop/buyers", "/other"])
        said = ask_with(team, token, "/v1/remember", text=f"{sub} buys oolong.")
        assert said.is_success, said.text
        assert team.lines()[-1].sub == sub
    team.space.remove("buyers")
    try:
        assert ask_with(team, vouched.sign(sub="yun", groups=["buyers"])).status_code == 403
    finally:
        team.space.add("buyers", ["writer"], "group", identity="/shop/buyers")
    assert ask_with(team, vouched.sign(sub="yun", groups=["buyers"])).status_code == 403


@pytest.mark.parametrize(
    "sub", ["robot", "ops", "buyers", "mei", "", "yun", "owner of the folder", "../x", "x" * 300]
)
def test_nobody_becomes_a_member_by_its_name(team: Team, vouched: LocalIssuer, sub: str) -> None:
    before = len(team.lines())
    answer = ask_with(team, vouched.sign(sub=sub))
    assert answer.status_code == (403 if sub else 401), answer.text
    assert not any(word in answer.text for word in SECRET)
    assert [one.decision for one in team.lines()[before:]] == (["deny"] if sub else [])


def test_a_forged_or_late_token_is_refused_at_the_door(team: Team, vouched: LocalIssuer) -> None:
    with LocalIssuer() as other:
        wrong = [other.sign(sub="ona", iss=vouched.url), vouched.sign(sub="ona", exp=1),
                 vouched.sign(sub="ona", aud="x"), "kmt_" + vouched.sign(sub="ona")]  # fmt: skip
    for token in wrong:
        assert ask_with(team, token).status_code == 401
    vouched.down = True
    team.space.believe(Asking(vouched.url, "another"))
    answer = ask_with(team, vouched.sign(sub="ona", aud="another"))
    assert answer.status_code == 503 and answer.headers["retry-after"] == "1"
    team.space.believe(Asking("", ""))
    assert ask_with(team, vouched.sign(sub="ona")).status_code == 401
