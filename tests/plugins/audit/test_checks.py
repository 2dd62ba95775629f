"""Rot of single memos: age, dates, evidence and language, in Chinese and English."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from kimi_memory.plugins.audit.checks import Check, Placed, foreign, stale, unproven

from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.note import Quote
from kimi_memory.operations.foreign_stores import Stored

NOW = datetime(2026, 2, 27, tzinfo=UTC)
FILE = Stored("a.md", NOW)


def memo(text: str, **rest: object) -> Memo:
    return Memo(**{"system": "markdown", "id": "1", "text": text, **rest})


def why(text: str, **rest: object) -> str:
    found = list(stale(Placed(memo(text, **rest), FILE), NOW, 180))
    return found[0].why if found else ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("优惠有效期至 2025-03-01", "2025-03-01 as its end"),
        ("截止到2025年3月1日", "2025-03-01 as its end"),
        ("2025-03-01之前要交", "2025-03-01 as its end"),
        ("The offer is valid until 2025-03-01.", "2025-03-01 as its end"),
        ("valid until 2030-01-01", ""),
        ("明天去开会", "'明天'"),
        ("We meet tomorrow", "'tomorrow'"),
        ("每天上午开会，明天也是", ""),
        ("2026-02-27: we meet tomorrow", ""),
        ("一直喜欢绿茶", ""),
    ],
)
def test_dates_in_the_words_count(text: str, expected: str) -> None:
    assert expected in why(text)
    assert bool(why(text)) is bool(expected)


def test_expired_and_old_memos_are_stale() -> None:
    old = datetime(2025, 1, 1, tzinfo=UTC)
    assert "valid until 2025-01-01" in why("tea", expires=old)
    assert why("tea", updated=old) == "last confirmed 422 days ago"
    assert why("tea", updated=old, stands=True) == ""
    file = replace(FILE, modified=old)
    [rot] = stale(Placed(memo("tea"), file), NOW, 180)
    assert (rot.check, rot.why) == (Check.STALE, "its file last changed 422 days ago")


def test_memos_without_a_source_are_counted_per_file() -> None:
    memos = (memo("a"), memo("b", sources=("x",)), memo("c", line=7), memo("d", live=False))
    [rot] = unproven(replace(FILE, memos=memos), {})
    assert (rot.count, rot.why) == (2, "2 of 3 statements name no source")
    [rot] = unproven(replace(FILE, memos=(memo("a"),)), {})
    assert rot.why == "it names no source"


def test_quotes_are_held_against_the_turns() -> None:
    quotes = (Quote("s", 1, "绿茶"), Quote("s", 2, "咖啡"), Quote("s", 3, "水"))
    file = replace(FILE, memos=(memo("a", quotes=quotes, sources=("x",)),))
    found = [rot.why for rot in unproven(file, {"s#1": "我喜欢绿茶。", "s#2": "茶"})]
    assert found == [
        "turn session:s#2 does not hold the quoted words",
        "turn session:s#3 is not stored",
    ]
    assert not list(unproven(file, {}))


def test_a_memo_in_another_language_is_found() -> None:
    chinese = [memo(f"我们喜欢第{n}种绿茶", line=n) for n in range(10)]
    english = memo("We all like green tea very much", line=50)
    file = replace(FILE, memos=(*chinese, english))
    [rot] = foreign([Placed(one, file) for one in file.memos])
    assert (rot.line, rot.why) == (50, "it is in English among statements in Chinese")
    quoted = memo("We like green tea", quotes=(Quote("s", 1, "我们喜欢绿茶"),))
    [rot] = foreign([Placed(quoted, FILE)])
    assert "its evidence in Chinese" in rot.why
    marked = memo("我们都喜欢喝绿茶", lang="en")
    [rot] = foreign([Placed(marked, FILE)])
    assert "marked 'en'" in rot.why
    assert not list(foreign([Placed(memo("tea"), FILE)]))
