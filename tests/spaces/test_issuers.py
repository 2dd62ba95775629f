"""People of an issuer: what is believed, by a real issuer over real HTTP."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("jwt", reason="needs the library of kimi-memory[team]")
pytest.importorskip("cryptography", reason="needs the library of kimi-memory[team]")

import jwt
from fakes.issuer import AUDIENCE, LocalIssuer, make_key

from kimi_memory.errors import ServerError, UsageError
from kimi_memory.spaces.issuers import KEEP_SECONDS, PAUSE_SECONDS, Asking, Claims, Issuer, log_in


@pytest.fixture
def local() -> Iterator[LocalIssuer]:
    with LocalIssuer() as issuer:
        yield issuer


class Hands:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def issuer(local: LocalIssuer, hands: Hands) -> Issuer:
    return Issuer(Asking(local.url, AUDIENCE), hands)


@pytest.mark.parametrize("kind", ["EC", "RSA", "OKP"])
def test_who_the_issuer_signed_is_believed(local: LocalIssuer, issuer: Issuer, kind: str) -> None:
    local.keys = {kind: make_key(kind)}
    token = local.sign(kind, sub="lin", groups=["buyers", 7, "x" * 300])
    assert issuer.identify(token) == Claims("lin", ("buyers",))
    assert issuer.identify(local.sign(kind, groups="buyers")) == Claims("lin", ("buyers",))
    assert issuer.identify(local.sign(kind, groups={"a": 1})) == Claims("lin")


@pytest.mark.parametrize("algorithm", ["RS512", "PS256"])
def test_a_key_that_names_no_algorithm_signs_by_any_of_its_kind(
    local: LocalIssuer, hands: Hands, algorithm: str
) -> None:
    local.keys = {"one": make_key("RSA")}
    bound = Issuer(Asking(local.url, AUDIENCE), hands)
    assert bound.identify(local.sign(algorithm=algorithm)) is None, "the key names another"
    local.names_algorithms = False
    free = Issuer(Asking(local.url, AUDIENCE), hands)
    assert free.identify(local.sign(algorithm=algorithm)) == Claims("lin")


NOW = int(time.time())
WRONG = {
    "another audience": {"aud": "other"},
    "no audience": {"aud": None},
    "another issuer": {"iss": "https://issuer.example"},
    "no issuer": {"iss": None},
    "it has expired": {"exp": NOW - 3600},
    "it never expires": {"exp": None},
    "it begins later": {"nbf": NOW + 3600},
    "it was made later": {"iat": NOW + 3600},
    "nobody knows when it was made": {"iat": None},
    "it names nobody": {"sub": None},
    "an empty name": {"sub": ""},
}


@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG)
def test_what_the_issuer_did_not_mean_is_not_believed(
    local: LocalIssuer, issuer: Issuer, claims: dict[str, Any]
) -> None:
    assert issuer.identify(local.sign()) is not None
    assert issuer.identify(local.sign(**claims)) is None


def encode(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def test_what_others_signed_is_not_believed(local: LocalIssuer, issuer: Issuer) -> None:
    good = local.sign()
    head, body, seal = good.split(".")
    claims = jwt.decode(good, options={"verify_signature": False})
    public = str(local.publish()[0]["x"])
    stranger = LocalIssuer.sign
    other = type("Other", (), {"keys": {"one": make_key("EC")}, "url": local.url})()
    forged = [
        stranger(other),  # type: ignore[arg-type]  # another key under the same name
        jwt.encode(claims, "", "none", {"kid": "one"}),
        jwt.encode(claims, public.ljust(64), "HS256", {"kid": "one"}),
        f"{encode({'alg': 'none', 'kid': 'one'})}.{body}.",
        f"{encode({'alg': 'ES256', 'kid': 'two'})}.{body}.{seal}",
        f"{encode({'alg': 'RS256', 'kid': 'one'})}.{body}.{seal}",
        f"{encode({'alg': 'ES256', 'kid': 'one', 'crit': ['b64']})}.{body}.{seal}",
        f"{head}.{encode({**claims, 'sub': 'ona'})}.{seal}",
        f"{head}.{body}.{seal[:-2]}",
        f"{head}.{body}",
        good + "A" * 20_000,
        "",
        "....",
        base64.urlsafe_b64encode(b'{"alg":' + b"[" * 9000).decode() + ".x.y",
        "\udcff.\u5317.x",
    ]
    assert [issuer.identify(one) for one in forged] == [None] * len(forged)
    assert issuer.identify(good) is not None


def test_a_key_within_the_token_or_one_that_is_shared_signs_nothing(
    local: LocalIssuer, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = make_key("EC")
    claims = jwt.decode(local.sign(), options={"verify_signature": False})
    within = jwt.get_algorithm_by_name("ES256").to_jwk(mine.public_key(), as_dict=True)
    for header in ({"jwk": within}, {"jku": f"{local.url}/mine"}, {"jwk": within, "kid": "one"}):
        assert issuer.identify(jwt.encode(claims, mine, "ES256", header)) is None
    secret = {"kty": "oct", "kid": "shared", "k": encode("x" * 64), "alg": "HS256", "use": "sig"}
    monkeypatch.setattr(local, "publish", lambda: [secret])
    token = jwt.encode(claims, "x" * 66, "HS256", {"kid": "shared"})
    assert Issuer(Asking(local.url, AUDIENCE)).identify(token) is None


def test_an_address_that_nobody_verified_names_nobody(local: LocalIssuer) -> None:
    by_mail = Issuer(Asking(local.url, AUDIENCE, claim="email"))
    mail = {"email": "lin@shop.example"}
    assert by_mail.identify(local.sign(**mail)) is None
    assert by_mail.identify(local.sign(**mail, email_verified="true")) is None
    assert by_mail.identify(local.sign(**mail, email_verified=True)) == Claims("lin@shop.example")


def test_keys_change_and_unknown_ones_are_asked_for_once(
    local: LocalIssuer, issuer: Issuer, hands: Hands
) -> None:
    old = local.sign()
    assert issuer.identify(old) is not None
    asked = len(local.asked)
    local.keys = {"two": make_key("EC")}
    for _ in range(20):
        assert issuer.identify(local.sign("two")) is None
    assert len(local.asked) == asked
    hands.now += PAUSE_SECONDS
    assert issuer.identify(local.sign("two")) is not None
    assert issuer.identify(old) is None, "a key that was taken back signs nothing"
    assert len(local.asked) == asked + 2


def test_an_issuer_that_is_down_puts_nobody_out_for_a_day(
    local: LocalIssuer, issuer: Issuer, hands: Hands
) -> None:
    token = local.sign()
    local.down = True
    with pytest.raises(ServerError, match="503") as caught:
        issuer.identify(token)
    assert caught.value.status == 503
    local.down = False
    assert issuer.identify(token) is not None
    local.down = True
    hands.now += KEEP_SECONDS + 1
    assert issuer.identify(token) is not None
    hands.now += 86_400
    with pytest.raises(ServerError):
        issuer.identify(token)


def test_an_issuer_of_another_name_is_not_asked_for_keys(local: LocalIssuer) -> None:
    local.says = "https://issuer.example"
    with pytest.raises(ServerError, match=r"says that it is 'https://issuer\.example'"):
        Issuer(Asking(local.url, AUDIENCE)).identify(local.sign())
    assert "/keys" not in local.asked


@pytest.mark.parametrize(
    "url",
    ["http://issuer.example", "ftp://x", "issuer", "https://", "https://x/?a=1", "https://[x"],
)
def test_only_safe_addresses_are_issuers(url: str) -> None:
    with pytest.raises(UsageError, match="no address of an issuer"):
        Issuer(Asking(url, AUDIENCE))


def test_a_person_logs_in_with_a_code(local: LocalIssuer) -> None:
    shown: list[tuple[str, str]] = []
    waits: list[float] = []
    local.answers = [
        {"device_code": "d1", "user_code": "WDJB-MJHT", "verification_uri": "https://x/device",
         "interval": 1, "expires_in": 60},
        {"error": "authorization_pending"},
        {"error": "slow_down"},
        {"id_token": "the.signed.token"},
    ]  # fmt: skip
    asking = Asking(local.url, AUDIENCE)
    token = log_in(asking, "cli", lambda *said: shown.append(said), waits.append)
    assert token == "the.signed.token"
    assert shown == [("https://x/device", "WDJB-MJHT")] and waits == [1.0, 1.0, 6.0]
    assert local.forms[1]["device_code"] == "d1" and local.forms[0]["client_id"] == "cli"
    local.answers = [{"device_code": "d2", "user_code": "X"}, {"error": "access_denied"}]
    with pytest.raises(ServerError, match="refused: access_denied"):
        log_in(asking, "cli", lambda *said: None, waits.append)
