"""Scopes: whose something is follows from the header of its session, and fails closed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kimi_memory.domain.scope import owned, problem_of, scope_of, visible
from kimi_memory.domain.session import Session

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
