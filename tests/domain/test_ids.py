"""Ids: they sort by time, and fit into file names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.ids import (
    derived_id,
    lettered,
    moment,
    new_id,
    new_session_id,
    on_clocks,
    safe_session_id,
    shown,
    stamp,
    zulu,
)

NOW = datetime(2026, 2, 27, 9, tzinfo=UTC)

AT = datetime(2026, 2, 27, 9, 10, tzinfo=UTC)
SHANGHAI = timezone(timedelta(hours=8))


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


def test_front_matter_and_records_are_in_utc() -> None:
    there = AT.astimezone(SHANGHAI)
    assert (stamp(there), zulu(there)) == ("2026-02-27T09:10:00", "2026-02-27T09:10:00Z")


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        (SHANGHAI, "2026-02-27 17:10 +08:00"),
        (UTC, "2026-02-27 09:10 UTC"),
        (timezone(timedelta(hours=8, minutes=5, seconds=43)), "2026-02-27 09:10 UTC"),
    ],
    ids=["an offset", "utc", "odd seconds"],
)
def test_pages_name_the_clock(zone: timezone, text: str) -> None:
    assert shown(AT.astimezone(zone)) == text
    assert on_clocks(AT, text).isoformat() in (AT.isoformat(), AT.astimezone(zone).isoformat())


@pytest.mark.parametrize("text", ["", "yesterday", "09:10 +99:99", "+00:00"])
def test_a_page_without_a_clock_leaves_the_moment_as_it_is(text: str) -> None:
    assert on_clocks(AT, text) == AT


@given(st.datetimes(min_value=datetime(1900, 1, 2), max_value=datetime(9000, 1, 1)))
def test_a_moment_is_read_as_it_was_written(naive: datetime) -> None:
    at = naive.replace(tzinfo=UTC)
    assert moment(stamp(at)) == moment(zulu(at)) == at


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01", "9999-12-31T23:59:59-23:59"])
def test_what_is_no_moment_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a date and time"):
        moment(text)
