"""Duplicates, near duplicates and contradictions, in Chinese and English."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from kimi_memory.plugins.audit.checks import Check, Placed
from kimi_memory.plugins.audit.contradictions import quarrels, repeats

from kimi_memory.domain.foreign_note import Memo
from kimi_memory.hooks.host import Host
from kimi_memory.operations.foreign_stores import Stored

NOW = datetime(2026, 2, 27, tzinfo=UTC)


@pytest.fixture(scope="module")
def host() -> Host:
    return Host(entry_points=False)


def placed(*texts: str, key: str = "", project: str = "") -> list[Placed]:
    file = Stored("a.md", NOW)
    return [
        Placed(
            Memo(
                system="x",
                id=str(n),
                text=text,
                line=n,
                key=key,
                project=project,
                updated=NOW + timedelta(days=n),
            ),
            file,
        )
        for n, text in enumerate(texts, 1)
    ]


def test_the_same_words_are_duplicates_whatever_case_and_width() -> None:
    found = list(
        repeats(placed("I like tea.", "ＡＢＣ 茶好喝", "i  like TEA.", "abc 茶好喝", "ok"))
    )
    assert [(r.line, r.other) for r in found] == [(3, "a.md:1"), (4, "a.md:2")]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("我们部署在 8080 端口", "我们部署在 8081 端口"),
        ("小李喜欢喝绿茶", "小李不喜欢喝绿茶"),
        ("The server listens on port 8080", "The server listens on port 8081"),
        ("I like green tea in the morning", "I don't like green tea in the morning"),
    ],
)
def test_figures_and_denials_contradict(host: Host, one: str, two: str) -> None:
    [rot] = quarrels(placed(one, two), host)
    assert (rot.check, rot.line, rot.other) == (Check.CONTRADICTION, 2, "a.md:1")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (
            "We keep the backups of the shop in Frankfurt",
            "We keep backups of the shop in Frankfurt",
        ),
        ("我们把商店的备份放在法兰克福的机房里", "我们就把商店的备份放在法兰克福的机房里"),
    ],
)
def test_nearly_the_same_is_told(host: Host, one: str, two: str) -> None:
    [rot] = quarrels(placed(one, two), host)
    assert rot.check is Check.NEAR


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("小李喜欢喝绿茶", "小王喜欢喝红茶"),
        ("The shop opens at nine on Monday", "The library closes at 8 on Friday"),
        ("今天天气好", "数据库用 PostgreSQL"),
    ],
)
def test_different_matters_are_left_alone(host: Host, one: str, two: str) -> None:
    assert not list(quarrels(placed(one, two), host))


def test_one_key_is_one_matter_within_a_project(host: Host) -> None:
    texts = ("数据库用 PostgreSQL", "数据库用 MySQL")
    [rot] = quarrels(placed(*texts, key="decision.database"), host)
    assert rot.check is Check.CONTRADICTION
    one, two = (
        placed(*texts, key="decision.database", project="a")[0],
        placed(*texts, key="decision.database")[1],
    )
    assert not list(quarrels([one, two], host))


def test_a_list_of_numbered_rows_is_no_quarrel(host: Host) -> None:
    assert not list(
        quarrels(placed(*(f"Session {n} of the course is done" for n in range(9))), host)
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The old logs are never deleted.", "The old logs are always deleted."),
        ("旧日志从不删除，全部放进归档桶。", "旧日志总是删除，全部放进归档桶。"),
        ("周末值班的人不用打卡。", "周末值班的人要打卡。"),
    ],
)
def test_denials_and_opposites_contradict(host: Host, one: str, two: str) -> None:
    assert [rot.check for rot in quarrels(placed(one, two), host)] == [Check.CONTRADICTION]
