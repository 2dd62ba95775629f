"""People whom an issuer signs in at the pages: with code and PKCE, once, not longer than that."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
pytest.importorskip("cryptography", reason="needs the library of kimi-memory[team]")
pytest.importorskip("authlib", reason="needs the library of kimi-memory[team]")

from fakes.issuer import AUDIENCE, LocalIssuer
from fakes.pages import HOST, Pages

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.spaces.issuers import Asking
from kimi_memory.spaces.space_folder import SpaceFolder
from kimi_memory.web.sign_in import SENT_SECONDS, Sent, back_of

CLIENT = "kimi-pages"
LED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
"""What a browser says that another site leads to a page."""


class House:
    """A memory of a space whose issuer is on this machine, and a browser before its pages."""

    def __init__(self, base: Path, issuer: LocalIssuer) -> None:
        home, self.root, self.issuer = Home(base / "config", base / "state"), base / "tea", issuer
        with Memory.create(self.root, opening=Opening(home=home)) as memory:
            memory.remember("The shop opens at nine.", key="shop.hours")
            memory.remember("Bo ships from Valparaiso.", key="harbour", user="bo", area="user")
            self.id = memory.settings.memory.id
        self.space = SpaceFolder.create(home, "shop", base / "space")
        self.space.add("lin", ["reader"], identity="auth0|lin")
        self.space.share(self.id, "tea", self.root)
        self.space.believe(Asking(issuer.url, AUDIENCE), CLIENT)
        self.pages = Pages(self.root, home)
        self.jar: dict[str, str] = {}

    def get(self, path: str, headers: dict[str, str] | None = None) -> Any:
        """Ask for a page as a browser does, and keep its cookies."""
        answer = self.pages.send("GET", path, cookies=self.jar, headers=headers)
        self.jar |= dict(answer.cookies.items())
        return answer

    def leave_for_issuer(self) -> dict[str, str]:
        """Follow the link at the door; return what the issuer is asked."""
        answer = self.get("/ui/sign-in")
        assert answer.status_code == 303, answer.text
        place = urlsplit(answer.headers["location"])
        assert f"{place.scheme}://{place.netloc}{place.path}" == f"{self.issuer.url}/authorize"
        return {name: values[0] for name, values in parse_qs(place.query).items()}

    def come_back(self, asked: dict[str, str], token: dict[str, Any], **given: str) -> Any:
        """Return the page for a code, for which the issuer gives a token with some claims."""
        claims = {"sub": "auth0|lin", "aud": CLIENT, "nonce": asked["nonce"], **token}
        self.issuer.answers = [{"id_token": self.issuer.sign(**claims), "access_token": "access"}]
        query = {"code": "c-1", "state": asked["state"], **given}
        return self.get(f"/ui/signed-in?{urlencode(query)}", LED)

    def sign_in(self, **token: Any) -> Any:
        return self.come_back(self.leave_for_issuer(), token)

    def decisions(self) -> list[tuple[str, str, str]]:
        return [(one.sub, one.via, one.decision) for one in self.space.log.records()]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with LocalIssuer() as issuer:
        house = House(tmp_path_factory.mktemp("house"), issuer)
        with house.pages:
            yield house


@pytest.fixture
def house(built: House) -> House:
    built.jar, built.issuer.answers = {}, []
    built.issuer.forms.clear()
    return built


def test_a_person_of_the_issuer_takes_a_seat_and_reads(house: House) -> None:
    door = house.get("/ui/enter")
    assert 'href="/ui/sign-in"' in door.text and urlsplit(house.issuer.url).netloc in door.text
    asked = house.leave_for_issuer()
    assert asked["response_type"] == "code" and asked["client_id"] == CLIENT
    assert asked["redirect_uri"] == f"http://{HOST}/ui/signed-in"
    answer = house.come_back(asked, {})
    assert answer.status_code == 200 and "url=/ui/" in answer.text
    assert "c-1" not in answer.text and answer.headers["referrer-policy"] == "same-origin"
    (form,) = house.issuer.forms
    sealed = hashlib.sha256(form["code_verifier"].encode()).digest()
    challenge = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
    assert (asked["code_challenge_method"], asked["code_challenge"]) == ("S256", challenge)
    assert (form["code"], form["redirect_uri"]) == ("c-1", asked["redirect_uri"])
    assert form["code_verifier"] not in str(asked)
    found = house.get("/ui/search?q=shop")
    assert found.status_code == 200 and "nine" in found.text
    assert "Valparaiso" not in house.get("/ui/search?q=ships").text
    assert house.decisions()[-1] == ("lin", "pages", "allow")


def test_other_sites_lead_a_browser_to_one_page_and_embed_none(house: House) -> None:
    for path in ("/ui/", "/ui/enter", "/ui/sign-in", "/ui/signed-in/x", "/v1/status"):
        assert house.get(path, LED).status_code == 403, path
    for change in ({"sec-fetch-dest": "iframe"}, {"sec-fetch-mode": "no-cors"},
                   {"origin": "https://evil.example"}):  # fmt: skip
        assert house.get("/ui/signed-in?code=c", LED | change).status_code == 403


def test_cookies_are_for_the_server_alone(house: House) -> None:
    sent = house.get("/ui/sign-in").headers["set-cookie"]
    # A browser that another site sends back shows no strict cookie, and seats are strict.
    assert "HttpOnly" in sent and "SameSite=lax" in sent and "Path=/ui/signed-in" in sent
    house.jar = {}
    seat = house.sign_in().headers.get_list("set-cookie")[0]
    assert "HttpOnly" in seat and "SameSite=strict" in seat


TOKENS = {
    "a token for the API": {"aud": AUDIENCE},
    "a token of another beginning": {"nonce": "another"},
    "a token without a nonce": {"nonce": None},
    "a token for a party that passes it on": {"aud": [CLIENT, "b"], "azp": "b"},
    "a token of another issuer": {"iss": "https://issuer.example"},
    "a token that has expired": {"exp": 1},
}


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_what_is_no_answer_to_what_was_asked_opens_nothing(
    house: House, token: dict[str, Any]
) -> None:
    assert house.sign_in(**token).status_code == 401
    assert house.get("/ui/search?q=shop").headers["location"] == "/ui/enter"


ANSWERS = {
    "another state": {"state": "x"},
    "no code": {"code": ""},
    "the person said no": {"code": "", "error": "access_denied"},
    "another issuer": {"iss": "https://issuer.example"},
}


@pytest.mark.parametrize("given", ANSWERS.values(), ids=ANSWERS)
def test_an_address_that_the_issuer_did_not_make_opens_nothing(
    house: House, given: dict[str, str]
) -> None:
    answer = house.come_back(house.leave_for_issuer(), {}, **given)
    assert answer.status_code == 401 and house.issuer.forms == []


def test_a_beginning_counts_once_and_in_its_own_browser(house: House) -> None:
    asked = house.leave_for_issuer()
    kept, house.jar = house.jar, {}
    assert house.come_back(asked, {}).status_code == 401, "another browser"
    house.jar = dict(kept)
    assert house.come_back(asked, {}, iss=house.issuer.url).status_code == 200
    house.jar = dict(kept)
    assert house.come_back(asked, {}).status_code == 401, "a second time"


def test_a_stranger_gets_no_seat_and_is_noted(house: House) -> None:
    answer = house.sign_in(sub="auth0|eve")
    assert answer.status_code == 403 and "nine" not in answer.text
    sub, via, decision = house.decisions()[-1]
    assert sub.startswith("stranger ") and (via, decision) == ("pages", "deny")
    assert house.get("/ui/").headers["location"] == "/ui/enter"


def test_a_seat_ends_with_the_issuer_or_the_member(house: House) -> None:
    assert house.sign_in().status_code == 200
    assert house.get("/ui/search?q=shop").status_code == 200
    house.space.remove("lin")
    assert house.get("/ui/search?q=shop").status_code == 403
    house.space.add("lin", ["reader"], identity="auth0|lin")
    assert house.get("/ui/search?q=shop").status_code == 200
    house.space.believe(Asking("", ""))
    try:
        assert house.get("/ui/search?q=shop").headers["location"] == "/ui/enter"
        assert "/ui/sign-in" not in house.get("/ui/enter").text
        assert house.get("/ui/sign-in").status_code == 404
    finally:
        house.space.believe(Asking(house.issuer.url, AUDIENCE), CLIENT)


def test_groups_of_the_issuer_count_at_the_pages(house: House) -> None:
    house.space.add("buyers", ["reader"], "group", identity="/shop/buyers")
    assert house.sign_in(sub="yun", groups=["/shop/buyers"]).status_code == 200
    assert "nine" in house.get("/ui/search?q=shop").text
    house.space.remove("buyers")
    assert house.get("/ui/search?q=shop").status_code == 403


@pytest.mark.parametrize(("sub", "status"), [("auth0|lin", 200), ("auth0|eve", 401)])
def test_what_the_token_does_not_say_is_asked_for(house: House, sub: str, status: int) -> None:
    """Of the same person: what it says of another one names nobody."""
    asking = Asking(house.issuer.url, AUDIENCE, claim="preferred_username")
    house.space.believe(asking, CLIENT)
    house.issuer.profile = {"sub": sub, "preferred_username": "auth0|lin", "groups": []}
    try:
        assert house.sign_in().status_code == status
        assert ("/profile" in house.issuer.asked) is True
    finally:
        house.space.believe(Asking(house.issuer.url, AUDIENCE), CLIENT)


def test_an_issuer_that_does_not_answer_is_named(house: House) -> None:
    house.issuer.down = True
    house.space.believe(Asking(f"{house.issuer.url}/other", AUDIENCE), CLIENT)
    try:
        answer = house.get("/ui/sign-in")
        assert answer.status_code == 503 and "gave no answer" in answer.text
    finally:
        house.issuer.down = False
        house.space.believe(Asking(house.issuer.url, AUDIENCE), CLIENT)


@pytest.mark.parametrize(
    ("host", "scheme"),
    [("127.0.0.1:8378", "http"), ("[::1]:80", "http"), ("memory.example.com", "https"),
     ("127.0.0.1.example.com", "https")],
)  # fmt: skip
def test_a_code_comes_back_over_tls_or_to_this_machine(host: str, scheme: str) -> None:
    assert back_of(host) == f"{scheme}://{host}/ui/signed-in"


def test_what_is_kept_of_browsers_that_were_sent_away_is_bounded() -> None:
    now = [0.0]
    sent = Sent(lambda: now[0])
    first = sent.keep("kept")  # type: ignore[arg-type]  # whatever it is
    assert sent.take("") is None and sent.take("x") is None
    assert sent.take(first) == "kept" and sent.take(first) is None
    late = sent.keep("late")  # type: ignore[arg-type]  # whatever it is
    now[0] = SENT_SECONDS + 1.0
    assert sent.take(late) is None
    many = [sent.keep("one") for _ in range(1200)]  # type: ignore[arg-type]  # whatever it is
    assert sum(sent.take(one) is not None for one in many) == 1000
