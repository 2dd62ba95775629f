"""Settings: every value has a default, wrong ones are named, unknown ones kept out."""

from __future__ import annotations

from pathlib import Path

import pytest

import kimi_memory
from kimi_memory.config import Settings, parse_settings, read_user
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.nlp.dates.vocabulary import MACHINE


def test_an_empty_file_gives_the_defaults() -> None:
    assert parse_settings("") == Settings()


def test_a_byte_order_mark_is_no_error() -> None:
    assert parse_settings("\ufeff[recall]\nlimit = 3\n").recall.limit == 3


def test_unknown_tables_and_keys_are_left_to_newer_versions() -> None:
    assert parse_settings("[future]\nx = 1\n[recall]\nwhat = 2\n") == Settings()


def test_a_whole_number_serves_as_a_fraction() -> None:
    assert parse_settings("[history]\nquiet_seconds = 2\n").history.quiet_seconds == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[recall]\nlimit = 'x'\n", "recall.limit is 'x'. Give a value of type int"),
        ("[recall]\nlimit = true\n", "recall.limit is True"),
        ("[capture]\nauto = 1\n", "capture.auto is 1. Give a value of type bool"),
        ("[memory]\nlanguage = 'de'\n", "Choose one of auto, zh, en"),
        ("recall = 3\n", r"recall is not a table. Write it as \[recall\]"),
        ("a = 1\na = 2\n", "memory.toml:2: not TOML"),
        ("a = " + "9" * 5000, "memory.toml:1: not TOML"),
        ("a = " + "[" * 5000, "memory.toml:1: not TOML"),
        ("[memory]\nformat = 2\n", "Upgrade kimi_memory"),
        ("[recall]\nlimit = 0\n", "recall.limit is 0. Give a number from 1 to"),
        ("[recall]\nlimit = -5\n", "recall.limit is -5. Give a number from 1 to"),
        ("[recall]\nturn_days = 999999999\n", "Give a number from 0 to 36500"),
        ("[recall]\nmin_score = nan\n", "recall.min_score is nan. Give a number from 0 to"),
        ("[chunks]\noverlap_tokens = -1\n", "chunks.overlap_tokens is -1. Give a number from 0"),
        ("[gates]\nbreaker_hours = inf\n", "gates.breaker_hours is inf"),
        ("[capture]\nmax_turn_bytes = -1\n", "Give a number from 1024 to"),
        ('[schedule]\ndaily = "25:99"\n', "'25:99' is no time. Write it like '04:00'"),
        ('[schedule]\ndaily = "sun 04:00"\n', "'sun 04:00' is no time. Write it like '04:00'"),
        ('[schedule]\nweekly = "04:00"\n', "'04:00' is no time. Write it like 'sun 04:00'"),
        ('[schedule]\nintrospect = "noon"\n', "Write it like 'sun 05:00'"),
        ("[temperature]\nrecency_days = 0\n", "Give a number from 0.01 to 36500"),
        ("[temperature]\nfrequency_cap = 0\n", "Give a number from 1 to"),
    ],
)
def test_wrong_values_are_named_with_what_fits(text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        parse_settings(text)


@pytest.mark.parametrize(
    "wrong",
    [
        "limit = 'x'\n[recall]\nlimit = 'x'",
        "[recall]\nhops = 1\n limit = true",
        "[memory]\nname = 'recall'\nlanguage = 'de'",
        "[memory]\nname = 'm'\nformat = 2",
        "[recall]\nlimit = 3\n[[schedule]]",
        "[recall]\nlimit = 3\n[schedule]\ndaily = 3",
        "[chunks]\noverlap_tokens = 50\nmax_tokens = 8",
        "[chunks]\nmax_tokens = 100\noverlap_tokens = 90",
    ],
)
def test_a_wrong_value_is_named_with_its_line(wrong: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_settings(f"# Settings\n{wrong}\nunknown = 1\n")
    assert caught.value.line == wrong.count("\n") + 2


def test_times_that_a_scheduler_can_be_given_are_kept() -> None:
    times = {"daily": "4:05", "weekly": "Mon 23:59", "introspect": "04:30", "later": "?"}
    text = "".join(f'{name} = "{time}"\n' for name, time in times.items())
    assert parse_settings(f"[schedule]\n{text}").schedule == times
    assert parse_settings('[schedule]\ndaily = ""\n').schedule["daily"] == ""


def test_every_setting_is_read_somewhere() -> None:
    root = Path(kimi_memory.__file__).parent
    sources = [*root.rglob("*.py"), *(root.parent / "plugins").rglob("*.py")]
    code = "\n".join(p.read_text(encoding="utf-8") for p in sources if p.name != "config.py")
    names = {name for table in Settings() for name in getattr(table, "_fields", ())} - WRITTEN
    assert {name for name in names if f".{name}" not in code} == set()


WRITTEN = {"id", "format"}
"""What init writes for later versions and other machines."""


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "\\u0000", "Asia"])
def test_a_zone_that_is_none_is_named(name: str) -> None:
    with pytest.raises(FormatError, match="no time zone"):
        parse_settings(f'[memory]\ntimezone = "{name}"\n')


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Asia/Shangai", "Asia/Shanghai"),
        ("asia/shanghai", "Asia/Shanghai"),
        ("Shanghai", "Asia/Shanghai"),
        ("Asia/Beijing", "Asia/Shanghai"),
        ("北京", "Asia/Shanghai"),
        ("New York", "America/New_York"),
        ("Europe/Berlim", "Europe/Berlin"),
        ("Kolkata", "Asia/Kolkata"),
    ],
)
def test_a_misspelt_zone_is_told_with_the_nearest_and_its_line(name: str, meant: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_settings(f'[memory]\nname = "m"\ntimezone = "{name}"\n')
    assert f"'{meant}'" in str(caught.value)
    assert "memory.toml:3" in str(caught.value)


def test_the_zone_is_that_of_the_machine_unless_one_is_named() -> None:
    assert parse_settings("").zone is MACHINE
    assert str(parse_settings('[memory]\ntimezone = "Asia/Shanghai"\n').zone) == "Asia/Shanghai"


@pytest.mark.parametrize("chunks", ["max_tokens = 8", "overlap_tokens = 400"])
def test_chunks_that_cannot_be_are_refused(chunks: str) -> None:
    with pytest.raises(FormatError, match=r"chunks of \d+ tokens cannot overlap by"):
        parse_settings(f"[chunks]\n{chunks}\n")
    assert parse_settings("[chunks]\nmax_tokens = 64\noverlap_tokens = 0\n").chunks.max_tokens == 64


@pytest.mark.parametrize(("most", "by"), [(512, 50), (132, 50), (128, 48), (64, 16), (32, 0)])
def test_small_chunks_overlap_by_less_unless_an_overlap_is_set(most: int, by: int) -> None:
    assert parse_settings(f"[chunks]\nmax_tokens = {most}\n").chunks[:2] == (most, by)
    written = f"[chunks]\nmax_tokens = {most}\noverlap_tokens = "
    assert parse_settings(f"{written}{by}\n").chunks[:2] == (most, by)
    fits = most // 2 - 16
    with pytest.raises(FormatError, match=rf"memory.toml:3.*Give an overlap of {fits} at most"):
        parse_settings(f"{written}{fits + 1}\n")


def test_settings_of_a_user_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(UsageError, match=r"config.toml cannot be read"):
        read_user(tmp_path)
