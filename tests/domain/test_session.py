"""The rounds of an open session: what somebody says and all that answers it."""

from __future__ import annotations

from datetime import UTC, datetime

from kimi_memory.domain.origin import Role
from kimi_memory.domain.session import ROUND_TURNS, ROUNDS, last_rounds
from kimi_memory.domain.turn import Turn

AT = datetime(2026, 2, 27, 9, tzinfo=UTC)


def turns(*roles: Role) -> list[Turn]:
    return [Turn(n, AT, role, f"turn {n}") for n, role in enumerate(roles, 1)]


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
