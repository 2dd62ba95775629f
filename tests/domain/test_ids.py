"""Ids: they sort by time, and fit into file names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kimi_memory.domain.ids import derived_id, lettered, new_id, new_session_id, safe_session_id

NOW = datetime(2026, 2, 27, 9, tzinfo=UTC)


def test_ids_of_later_moments_sort_later() -> None:
    moments = [NOW + timedelta(milliseconds=n) for n in range(50)]
    ids = [new_id("card", at) for at in moments]
    assert ids == sorted(ids)
    assert len({len(id) for id in ids}) == 1
    assert new_session_id(NOW)[:10] == ids[0].removeprefix("card-")[:10]


def test_a_moment_before_the_epoch_has_an_id() -> None:
    assert new_id("card", datetime(1901, 1, 1, tzinfo=UTC)).startswith("card-0000000000")


def test_the_same_seed_gives_the_same_id() -> None:
    assert derived_id("card", NOW, "a", "bc") == derived_id("card", NOW, "a", "bc")
    assert derived_id("card", NOW, "a", "bc") != derived_id("card", NOW, "ab", "c")


@pytest.mark.parametrize("id", ["s1", "2026-02-27_a.b", "A" * 80])
def test_a_safe_name_stays_as_it_is(id: str) -> None:
    assert safe_session_id(id) == id


@pytest.mark.parametrize("id", ["../etc", "a/b", "会话", "s1.", ".s1", "A" * 81, "", "a\ud800"])
def test_an_unsafe_name_becomes_a_safe_one(id: str) -> None:
    safe = safe_session_id(id)
    assert safe_session_id(safe) == safe
    assert "/" not in safe
    assert not safe.startswith(".")


def test_unsafe_names_never_meet_in_one_file() -> None:
    assert safe_session_id("a/b") != safe_session_id("a?b")


def test_digits_become_letters_one_to_one() -> None:
    assert lettered("09af") == "gpaf"
