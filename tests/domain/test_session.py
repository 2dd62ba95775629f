"""The rounds of an open session: what somebody says and all that answers it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kimi_memory.domain.note import Role
from kimi_memory.domain.session import (
    ROUND_TURNS,
    ROUNDS,
    Session,
    Transcript,
    Turn,
    last_rounds,
    owned,
    problem_of,
    scope_of,
    visible,
)

AT = datetime(2026, 2, 27, 9, tzinfo=UTC)


def turns(*roles: Role) -> list[Turn]:
    return [Turn(n, AT, role, f"turn {n}") for n, role in enumerate(roles, 1)]


def test_an_agent_that_names_files_again_and_again_is_at_work() -> None:
    asked = [Turn(n, AT, Role.USER, "go on") for n in (1, 3, 5, 7)]
    told = ["Renamed in menu.py.", "See docs/plan.md.", "Both tests/menu.spec.ts pass.", "Fine."]
    answers = [Turn(2 * n, AT, Role.ASSISTANT, text) for n, text in enumerate(told, 1)]
    spoken = sorted([*asked, *answers], key=lambda turn: turn.n)
    assert Transcript(Session("s", AT), tuple(spoken)).has_agent_at_work()
    named = tuple(replace(turn, text=turn.text.replace("menu.py", "Node.js")) for turn in spoken)
    assert not Transcript(Session("s", AT), named).has_agent_at_work()
    talk = tuple(turn for turn in spoken if turn.n not in {2, 3, 4, 5})
    assert not Transcript(Session("s", AT), talk).has_agent_at_work()


def test_the_last_ten_rounds_are_shown_with_all_their_answers() -> None:
    said = turns(*[Role.USER, Role.ASSISTANT, Role.TOOL] * 12)
    kept = last_rounds(said)
    assert [turn.n for turn in kept] == list(range(7, 37))
    assert sum(turn.role is Role.USER for turn in kept) == ROUNDS


def test_two_messages_in_a_row_are_one_round() -> None:
    said = turns(*[Role.USER, Role.USER, Role.ASSISTANT] * 11)
    assert last_rounds(said)[0].n == 4


def test_a_short_session_is_shown_whole() -> None:
    said = turns(*[Role.ASSISTANT, Role.USER] * 5)
    assert list(last_rounds(said)) == said
    assert list(last_rounds([])) == []


def test_one_long_round_shows_its_last_turns_only() -> None:
    said = turns(Role.USER, *[Role.TOOL] * 500)
    assert [turn.n for turn in last_rounds(said)] == list(range(502 - ROUND_TURNS, 502))


PLAIN = Session("s1", datetime(2026, 2, 27, tzinfo=UTC), agent="reviewer", user=" 小  李 ")


@pytest.mark.parametrize(
    ("header", "scope"),
    [
        ({}, ""),
        ({"area": "agent"}, "agent:reviewer"),
        ({"area": "user"}, "user:小 李"),
        ({"area": "session"}, "session:s1"),
        ({"area": "session", "id": "s1.2", "continues": "s1"}, "session:s1"),
        ({"area": "agent", "agent": ""}, "session:s1"),
        ({"area": "team"}, "session:s1"),
    ],
)
def test_a_scope_follows_from_the_header(header: dict[str, str], scope: str) -> None:
    assert scope_of(replace(PLAIN, **header)) == scope


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ({"area": "team"}, "'team' is no area"),
        ({"area": "agent", "agent": " "}, "area of an agent needs its name"),
        ({"area": "user", "user": ""}, "area of a user needs its name"),
        ({"area": "session", "agent": "", "user": ""}, ""),
        ({}, ""),
    ],
)
def test_an_area_without_its_name_is_a_problem(header: dict[str, str], why: str) -> None:
    found = problem_of(replace(PLAIN, **header))
    assert found.startswith(why) if not why else why in found
    assert bool(found) == bool(why)


def test_what_is_private_is_seen_by_its_own_and_by_the_owner_alone() -> None:
    assert visible("agent:a", None)
    assert visible("", ())
    assert visible("agent:a", ("agent:a",))
    assert not visible("agent:a", ("agent:b", "user:a"))
    assert owned("user:小李") == {"scope": "user:小李", "agent": "", "user": "小李"}
