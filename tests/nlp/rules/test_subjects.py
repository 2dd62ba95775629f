"""Subjects: the same key however a statement is put, in both languages."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.subjects import is_named, key_of, kin, subject_of


@pytest.mark.parametrize(
    "sentence",
    [
        "The port of Atlas is 8080.",
        "Atlas's port is 8080.",
        "For Atlas, the port is 8080.",
        "The Atlas port is no longer 8080.",
        "Atlas has 8080 as its port.",
        "We set the port of Atlas to 8080.",
        "Forget what I said about the port of Atlas.",
        "Clear Atlas's port from your memory.",
        "The team decided on 8080 as the port for Atlas.",
        "Atlas的端口是8080。",
        "我们把 Atlas 的端口从9090换成了8080。",
        "关于Atlas，端口是8080。",
        "8080是Atlas的端口。",
        "不用再记着Atlas的端口了。",
    ],
)
def test_one_subject_has_one_key(sentence: str) -> None:
    assert key_of("fact", sentence) == "atlas.port"


@pytest.mark.parametrize(
    ("sentence", "key"),
    [
        ("王芳的生日是2月4日。", "王芳.birthday"),
        ("记一下，王芳的最喜欢的语言是Rust。", "王芳.favourite-language"),
        ("Dana's favourite language is Rust.", "dana.favourite-language"),
        ("My time zone is UTC+1.", "user.timezone"),
        ("我的时区改成UTC+1了。", "user.timezone"),
        ("My company is Northwind.", "user.employer"),
        ("我的公司换成蓝鲸科技了。", "user.employer"),
        ("Our log format is JSON.", "fact.log-format"),
        ("日志格式用JSON。", "fact.log-format"),
        ("编辑器我从 Vim 换到 Helix 了。", "preference.editor"),
        ("编辑器我们统一用 Vim。", "fact.editor"),
        ("部署时间改到周三晚上吧，周二我要加班。", "fact.deploy-time"),
        ("例会改到周四下午吧，周三有客户来。", "fact.meeting"),
    ],
)
def test_owners_are_told_apart(sentence: str, key: str) -> None:
    assert key_of("fact", sentence) == key


@pytest.mark.parametrize(
    "sentence",
    [
        "I changed my mind.",
        "The problem with this is the cache.",
        "Let's look at it tomorrow.",
        "这个问题的原因是缓存。",
        "他说的话是真的。",
        "今天的天气是很好。",
        "",
    ],
)
def test_other_sentences_name_no_owner(sentence: str) -> None:
    subject = subject_of(sentence)
    assert subject is None or not subject.owner


def test_the_project_spoken_in_needs_no_naming() -> None:
    assert key_of("decision", "The database of Atlas is SQLite.", "atlas") == "decision.database"
    assert key_of("decision", "The database of Atlas is SQLite.", "ember") == "atlas.database"


def test_a_rule_that_names_a_value_is_a_decision() -> None:
    assert key_of("rule", "From now on our port is 9090.") == "decision.port"
    assert key_of("rule", "往后缓存统一用 Valkey。") == "decision.cache"
    assert key_of("rule", "以后缓存用完要清理。") == "rule.cache"


def test_what_has_something_owns_it_wherever_that_is() -> None:
    assert key_of("fact", "Heron has its database at Neon.") == "heron.database"
    assert key_of("fact", "Heron keeps its cache on Fly.") == "heron.cache"


def test_kin_are_the_keys_of_one_matter() -> None:
    assert "fact.port" in kin("decision.port")
    assert "user.editor" in kin("preference.editor")
    assert "decision.editor" not in kin("preference.editor")
    assert kin("atlas.port") == {"atlas.port"}
    assert is_named("atlas.port")
    assert not is_named("decision.port")


@pytest.mark.parametrize(
    ("sentence", "key"),
    [
        ("青鸾选定英文作为默认语言。", "青鸾.default-language"),
        ("青鸾不再以2.1为版本，现在是2.2。", "青鸾.version"),
        ("我们团队的许可证是MPL。", "fact.license"),
    ],
)
def test_a_name_stands_without_the_words_around_it(sentence: str, key: str) -> None:
    assert key_of("fact", sentence) == key
