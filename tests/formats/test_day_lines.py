"""Lines of a day's page: when, who, what, and in which turn."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from kimi_memory.domain.job import Spoken
from kimi_memory.domain.note import Lang
from kimi_memory.formats.day_lines import read_said, said_line

DAY = date(2026, 2, 27)
AT = datetime(2026, 2, 27, 9, 5, tzinfo=UTC)


def said(text: str, at: datetime = AT, first: int = 3) -> Spoken:
    return Spoken(at, "s-1", "Lin", text, first, 3)


def test_a_line_names_hour_speaker_words_and_turn() -> None:
    line = said_line(said("We ship\non Friday"), DAY, UTC, Lang.EN)
    assert line == "09:05 Lin: We ship on Friday [[session_s-1#^t3|#3]]"
    shanghai = ZoneInfo("Asia/Shanghai")
    assert said_line(said("周五发布"), DAY, shanghai, Lang.ZH).startswith("17:05 Lin：周五")


def test_what_was_said_on_a_later_day_names_the_day() -> None:
    later = said("It works", datetime(2026, 2, 28, 0, 10, tzinfo=UTC))
    assert said_line(later, DAY, UTC, Lang.EN).startswith("02-28 00:10 Lin")


@pytest.mark.parametrize("lang", list(Lang))
@pytest.mark.parametrize("text", ["B then", "选第二个：稳", "see [[notes]] #4 for it", "a: b"])
def test_a_line_reads_back(lang: Lang, text: str) -> None:
    found = read_said(said_line(said(text, first=2), DAY, UTC, lang))
    assert found is not None
    session, line = found
    assert (session, line.text, line.first, line.last, line.who) == ("s-1", text, 2, 3, "Lin")


@pytest.mark.parametrize("line", ["", "[[session_s]]", "09:05 decision: use SQLite"])
def test_any_other_line_is_none(line: str) -> None:
    assert read_said(line) is None
