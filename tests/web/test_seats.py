"""Seats: a code holds once and for a minute, and no token of a program opens one."""

from __future__ import annotations

import stat
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fakes.pages import Pages

from kimi_memory.api.options import Home
from kimi_memory.errors import UsageError
from kimi_memory.server.auth import Tokens
from kimi_memory.server.principal import Namespace, Scope
from kimi_memory.web.seats import CODE_SECONDS, MOST, SEAT_SECONDS, Seats, make_code

NOW = 1_800_000_000.0


@pytest.fixture
def seats(home: Home, tmp_path: Path) -> Seats:
    return Seats(home, {tmp_path: Tokens(home, tmp_path, "memory-1")}, lambda: NOW)


def test_a_code_opens_one_seat(seats: Seats, home: Home, tmp_path: Path) -> None:
    code = make_code(home, tmp_path, NOW)
    secret = seats.take(code, "")
    assert len(secret) >= 43
    assert seats.find(secret)
    assert seats.take(code, "") == ""
    assert not list((home.state / "ui-codes").iterdir())


def test_a_code_that_waited_too_long_opens_none(seats: Seats, home: Home, tmp_path: Path) -> None:
    code = make_code(home, tmp_path, NOW - CODE_SECONDS - 1)
    assert seats.take(code, "") == ""


def test_a_code_is_of_one_memory_and_only_the_newest_holds(
    seats: Seats, home: Home, tmp_path: Path
) -> None:
    assert seats.take(make_code(home, tmp_path / "other", NOW), "") == ""
    first, second = make_code(home, tmp_path, NOW), make_code(home, tmp_path, NOW)
    assert seats.take(first, "") == ""
    assert seats.take(second, "")


def test_the_file_of_a_code_does_not_tell_it(home: Home, tmp_path: Path) -> None:
    code = make_code(home, tmp_path, NOW)
    [place] = (home.state / "ui-codes").iterdir()
    assert code not in place.name + place.read_text()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


@pytest.mark.parametrize("wrong", ["", "x", "../key", "x" * 5000, "\x00", "\udcff"])
def test_what_is_no_code_opens_nothing(seats: Seats, wrong: str) -> None:
    assert seats.take(wrong, "") == ""


def test_a_seat_ends_after_its_hours_and_when_it_is_left(home: Home, tmp_path: Path) -> None:
    now = [NOW]
    seats = Seats(home, {tmp_path: Tokens(home, tmp_path, "memory-1")}, lambda: now[0])
    one = seats.take(make_code(home, tmp_path, NOW), "")
    other = seats.take(make_code(home, tmp_path, NOW), "")
    seats.leave(other)
    assert not seats.find(other)
    now[0] += SEAT_SECONDS + 1
    assert not seats.find(one)


def test_a_seat_ends_with_the_token_that_opened_it(home: Home, tmp_path: Path) -> None:
    tokens = Tokens(home, tmp_path, "memory-1")
    seats = Seats(home, {tmp_path: tokens}, lambda: NOW)
    _, secret = tokens.add("phone", [Scope.PERSON], Namespace(), datetime.fromtimestamp(NOW, UTC))
    taken = seats.take("", secret)
    assert seats.find(taken)
    tokens.remove("phone")
    assert not seats.find(taken)


def test_old_seats_go_for_new_ones(seats: Seats, home: Home, tmp_path: Path) -> None:
    taken = [seats.take(make_code(home, tmp_path, NOW), "") for _ in range(MOST + 1)]
    assert not seats.find(taken[0])
    assert seats.find(taken[1])


@pytest.mark.parametrize(
    "scopes", [(Scope.READ,), (Scope.WRITE,), (Scope.ADMIN,), tuple(Scope)[:3]]
)
def test_no_token_of_a_program_becomes_a_seat(pages: Pages, scopes: tuple[Scope, ...]) -> None:
    _, secret = pages.tokens.add("agent", scopes, Namespace(), pages.desk.memory.clock())
    try:
        answer = pages.send(
            "POST", "/ui/enter", data={"token": secret}, headers={"sec-fetch-site": "same-origin"}
        )
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        assert secret not in answer.text
        bearer = {"authorization": f"Bearer {secret}", "sec-fetch-site": "same-origin"}
        assert pages.send("GET", "/ui/review", headers=bearer).status_code == 303
        for path in ("/ui/review", "/ui/forget", "/ui/purge", "/ui/jobs"):
            assert pages.send("POST", path, data={}, headers=bearer).status_code == 401
    finally:
        pages.tokens.remove("agent")


def test_a_token_of_a_person_opens_pages_and_nothing_else(pages: Pages) -> None:
    clock = pages.desk.memory.clock
    with pytest.raises(UsageError, match="pages alone"):
        pages.tokens.add("both", [Scope.PERSON, Scope.READ], Namespace(), clock())
    _, secret = pages.tokens.add("phone", [Scope.PERSON], Namespace(), clock())
    try:
        bearer = {"authorization": f"Bearer {secret}"}
        asked = pages.send("POST", "/v1/recall", json={"text": "port"}, headers=bearer)
        assert asked.status_code == 403
        entered = pages.send(
            "POST", "/ui/enter", data={"token": secret}, headers={"sec-fetch-site": "same-origin"}
        )
        assert entered.status_code == 303
    finally:
        pages.tokens.remove("phone")


def test_the_cookie_is_kept_from_scripts_and_other_pages(pages: Pages) -> None:
    answer = pages.send(
        "POST", "/ui/enter", data={"code": pages.code(time.time())},
        headers={"sec-fetch-site": "same-origin"},
    )  # fmt: skip
    flags = answer.headers["set-cookie"].casefold()
    for flag in ("httponly", "samesite=strict", "path=/ui", "max-age=43200"):
        assert flag in flags
    assert answer.headers["location"] == "/ui/"


def test_opening_the_address_of_a_code_does_not_use_it_up(pages: Pages) -> None:
    code = pages.code()
    for _ in range(2):
        assert pages.send("GET", f"/ui/enter?code={code}").status_code == 200
    said = {"sec-fetch-site": "same-origin"}
    assert pages.send("POST", "/ui/enter", data={"code": code}, headers=said).status_code == 303
