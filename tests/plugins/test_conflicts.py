"""Verdicts on pairs of statements, in both languages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kimi_memory.plugins.conflicts import judge_conflict

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Verdict
from kimi_memory.domain.note import Card, CardType, Lang, Origin, Quote
from kimi_memory.nlp.basic.patterns import fold_case, language_of
from kimi_memory.nlp.rules import cues

THEN = datetime(2026, 2, 25, 12, tzinfo=UTC)


def card(value: str, key: str, trust: Origin = Origin.HUMAN) -> Card:
    return Card(
        id="card-01",
        created=THEN,
        updated=THEN,
        title=value,
        type=CardType.FACT,
        key=key,
        value=value,
        trust=trust,
    )


def draft(value: str, key: str, *, origin: Origin = Origin.HUMAN, days: int = 3) -> Draft:
    return Draft(
        type=CardType.FACT,
        key=key,
        title=value,
        value=value,
        quotes=(Quote("s", 1, value),),
        at=THEN + timedelta(days=days),
        lang=Lang(language_of(value)),
        origin=origin,
        reversal=cues.REVERSAL.search(fold_case(value)) is not None,
    )


A, R, X, C, U = (
    Verdict.AGREES,
    Verdict.REFINES,
    Verdict.REPLACES,
    Verdict.CONFLICTS,
    Verdict.UNRELATED,
)
PAIRS = [
    ("decision.database", "We use SQLite for the database.", "we use sqlite for the database", A),
    (
        "decision.database",
        "We use SQLite for the database.",
        "Let's use SQLite for the database, because it is one file.",
        A,
    ),
    ("decision.database", "For the database we use SQLite", "We use SQLite for the database", A),
    ("decision.database", "数据库用 SQLite", "数据库用 SQLite。", A),
    ("decision.database", "用 SQLite 做数据库", "数据库就用 SQLite，因为轻", A),
    ("user.city", "我住在成都", "对了，我住在成都。", A),
    ("decision.cache", "缓存用 Redis。（原因：团队都熟）", "缓存用 Redis", A),
    (
        "decision.cache",
        "Use Redis for the cache (Reason: we know it)",
        "Use Redis for the cache",
        A,
    ),
    ("user.name", "My name is Maya Brodie", "My name is Maya Brodie.", A),
    ("preference.indentation", "I prefer four spaces", "I prefer 4 spaces.", A),
    ("preference.indentation", "缩进我习惯用四个空格", "缩进用 4 个空格", A),
    ("rule.deploy-time", "Never deploy on Friday", "Never deploy on Fridays.", A),
    ("rule.deploy-time", "周五不要发版", "星期五不要发版", A),
    ("decision.database", "数据库不用 MongoDB 了，改用 SQLite", "数据库用 SQLite", A),
    (
        "decision.database",
        "We use SQLite for the database",
        "We use SQLite with WAL for the database",
        R,
    ),
    ("decision.database", "数据库用 SQLite", "数据库用 SQLite，打开 WAL 模式", R),
    ("user.pet", "我家的猫叫豆包", "我家的猫叫豆包，三岁，橘色", R),
    ("user.pet", "My dog is called Biscuit, he's a beagle", "My dog is called Biscuit", R),
    (
        "preference.answer-style",
        "I prefer short answers",
        "I prefer short answers with the conclusion first",
        R,
    ),
    ("preference.answer-style", "我喜欢简短的回答", "我喜欢简短的回答，先给结论", R),
    (
        "rule.migration",
        "Always run a migration on a copy",
        "Always run a migration on a copy of the data first",
        R,
    ),
    (
        "decision.database",
        "Let's use Postgres for the database",
        "We switch from Postgres to SQLite",
        X,
    ),
    (
        "decision.database",
        "Let's use Postgres for the database",
        "I changed my mind about the database: we use SQLite",
        X,
    ),
    ("decision.database", "数据库先用 MongoDB", "数据库不用 MongoDB 了，改用 SQLite", X),
    (
        "decision.database",
        "Let's use Postgres for the database",
        "Let's use SQLite for the database",
        X,
    ),
    ("decision.frontend", "前端用 Vue", "前端改用 React 了", X),
    ("user.city", "我住在成都", "我搬到北京了", X),
    ("user.city", "I live in Edinburgh", "I moved to Glasgow", X),
    ("preference.editor", "My editor is Vim", "My editor is Helix now", X),
    ("note.a", "I prefer tea over coffee", "I prefer coffee over tea", C),
    ("note.a", "服务A依赖服务B", "服务B依赖服务A", C),
    ("note.a", "We copy from staging to production", "We copy from production to staging", C),
    (
        "note.a",
        "The timeout of Ember is 2 minutes",
        "We moved the timeout of Ember from 2 minutes to 10 seconds",
        X,
    ),
    ("user.city", "I live in Leeds", "My sister lives in Bristol", U),
    (
        "user.employer",
        "I've joined Marlowe, that's my employer now",
        "I've joined Fenwick, that's my employer now",
        X,
    ),
    ("user.allergies", "I'm allergic to peanuts", "I'm allergic to cats", U),
    ("user.allergies", "I'm allergic to cats", "I'm not allergic to cats", C),
    ("user.sister.home", "My sister Ana lives in Madrid", "My sister Eva lives in Rome", U),
    (
        "note.a",
        "The new parser is faster than the old one",
        "The new parser is slower than the old one",
        C,
    ),
    ("decision.frontend", "前端用 Vue", "前端用 React", C),
    ("user.city", "我住在成都", "我住在北京", C),
    ("user.city", "I live in Edinburgh", "I live in Glasgow", C),
    ("preference.editor", "My editor is Vim", "My editor is Helix", C),
    ("preference.editor", "编辑器我一直用 VS Code", "编辑器我一直用 Zed", C),
    ("decision.deploy-time", "部署时间定在周二晚上", "部署时间改到周三晚上", X),
    (
        "decision.deploy-time",
        "We deploy on Thursday evening",
        "We move to deploy on Wednesday instead of Thursday",
        X,
    ),
    ("rule.deploy-time", "Never deploy on Friday", "We deploy on Friday", C),
    ("rule.deploy-time", "周五不要发版", "周五可以发版", C),
    ("rule.deploy-time", "Never deploy on Friday", "Never deploy on Monday", C),
    ("rule.deploy-time", "周五不要发版", "周一不要发版", C),
    ("preference.indentation", "I prefer four spaces", "I prefer two spaces", C),
    ("preference.indentation", "缩进我习惯用四个空格", "缩进我习惯用两个空格", C),
    ("heron.timeout", "The timeout of Heron is 4 s", "Put down 4 s as the timeout of Heron", A),
    ("heron.cache", "You should know that Heron's cache is Redis", "Heron's cache is Redis", A),
    ("heron.branch", "Heron's main branch is next", "We're keeping next as Heron's main branch", A),
    ("白鹭.region", "白鹭的区域是吉隆坡", "之前白鹭的区域是吉隆坡，现在换成雅加达", X),
    (
        "heron.office",
        "Heron's office happens to be Oslo",
        "Mia and I fixed Oslo as the office of Heron",
        A,
    ),
    (
        "heron.office",
        "Heron's office happens to be Oslo",
        "Mia and I fixed Bergen as the office of Heron",
        C,
    ),
    ("heron.office", "Heron's office is Oslo", "Heron's office moved from Oslo to Turin", X),
    (
        "heron.biggest-customer",
        "I checked this morning, Heron's biggest customer is Fox & Sons",
        "The biggest customer for Heron stands at Fox & Sons",
        A,
    ),
    ("heron.mascot", "Heron's mascot in Rome is an otter", "Heron's mascot in Rome is a fox", C),
    ("白鹭.timeout", "白鹭的超时时间为 45 秒，别弄错", "有件事要记住：白鹭的超时时间是 45 秒", A),
    ("user.editor", "我写代码用 Neovim 编辑器", "我编辑器换 Helix 了", X),
    ("decision.cache", "缓存还是用 Redis", "缓存不要 Redis 了，用 Valkey", X),
    ("fact.hosting", "We host on Hetzner", "We left Hetzner, hosting is on Fly.io now", X),
    ("finding.loan-search", "The loan search takes 9 ms", "The loan search takes 12 ms", C),
    ("finding.loan-search", "The loan search takes 9 ms", "The loan search takes 9 seconds", C),
    ("finding.搜索", "按食材搜索平均 12 毫秒", "按食材搜索平均 40 毫秒", C),
    ("finding.搜索", "按食材搜索平均 12 毫秒", "按食材搜索平均 12 秒", C),
    ("preference.notification", "我喜欢弹窗提示", "我不喜欢弹窗提示", C),
    ("preference.notification", "I like pop-ups", "I don't like pop-ups", C),
    ("user.birthday", "My birthday is 4 March", "My birthday is 5 March", C),
    ("finding.first", "The export takes 9 ms", "Tents are lent most often", U),
    ("finding.first", "首页加载很快", "妈妈最常用的是剩菜搜索", U),
    (
        "lesson.testing",
        "Tests need a real file because mocks lie",
        "Slow suites hide flaky cases",
        U,
    ),
]


@pytest.mark.parametrize(("key", "before", "after", "verdict"), PAIRS)
def test_a_pair_is_judged_as_labelled(key: str, before: str, after: str, verdict: Verdict) -> None:
    assert judge_conflict(card(before, key), draft(after, key)) is verdict


def test_another_choice_at_the_same_time_is_a_conflict() -> None:
    key = "decision.database"
    said = draft("Let's use SQLite for the database", key, days=0)
    assert judge_conflict(card("Let's use Postgres for the database", key), said) is C


def test_at_one_moment_the_order_of_turns_decides() -> None:
    key, first = "decision.database", "Let's use Postgres for the database"
    held = replace(card(first, key), quotes=(Quote("s", 4, first),))
    said = draft("Let's use SQLite for the database", key, days=0)
    assert judge_conflict(held, replace(said, quotes=(Quote("s", 5, said.value),))) is X
    assert judge_conflict(held, replace(said, quotes=(Quote("s", 3, said.value),))) is C
    assert judge_conflict(held, replace(said, quotes=(Quote("t", 5, said.value),))) is C


def test_an_agent_does_not_replace_what_a_person_chose() -> None:
    key = "decision.database"
    said = draft("数据库用 SQLite", key, origin=Origin.AGENT)
    assert judge_conflict(card("数据库用 MongoDB", key), said) is C


def test_a_reversal_that_is_older_than_the_card_replaces_nothing() -> None:
    key = "decision.database"
    said = draft("数据库不用 MongoDB 了，改用 SQLite", key, days=-1)
    assert judge_conflict(card("数据库用 MongoDB", key), said) is not X


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_two_texts_get_a_verdict(before: str, after: str) -> None:
    key = "decision.database"
    assert judge_conflict(card(before, key), draft(after, key)) in Verdict


@given(st.text(min_size=1, max_size=120))
def test_the_same_words_agree(text: str) -> None:
    assert judge_conflict(card(text, "decision.api"), draft(text, "decision.api")) is A


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ("缓存确定为Valkey。", "我们以Valkey作为缓存。", "fact.cache"),
        (
            "The license of Quill is MPL.",
            "Ada and I fixed MPL as the license of Quill.",
            "quill.license",
        ),
        ("法文是石榴的默认语言。", "大家商定，石榴的默认语言取法文。", "石榴.default-language"),
    ],
)
def test_the_same_value_in_another_form_agrees(before: str, after: str, key: str) -> None:
    assert judge_conflict(card(before, key), draft(after, key)) is A


def test_what_people_tell_of_their_trade_in_passing_is_no_conflict() -> None:
    before, after = "I run a flower shop, so mornings are early.", "I run a small flower stall."
    assert judge_conflict(card(before, "user.job"), draft(after, "user.job")) is not C
    other = draft("I run a car repair garage.", "user.job")
    assert judge_conflict(card(before, "user.job"), other) is C


def test_a_part_of_a_place_is_no_other_place() -> None:
    before = card("My home is near Harbour Street.", "user.city")
    assert judge_conflict(before, draft("I live in Harbour.", "user.city")) is not C
    assert judge_conflict(before, draft("I live in Ghent.", "user.city")) is C
