"""The words of notes and queries."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kimi_memory.plugins.words import split_words


def common(note: str, query: str) -> set[str]:
    return set(split_words(note)) & set(split_words(query))


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("We deployed it", "deployments"),
        ("我们周五部署", "什么时候部署"),
        ("資料庫連線失敗", "数据库连线"),
        ("the user's choice", "users"),
        ("call getUserName here", "user name"),
        ("call get_user_by_id", "get_user_by_id"),
        ("in src/main.py", "main.py"),
        ("mail bob@example.com", "example.com"),
        ("since v2.3.1", "2.3.1"),
        ("a long-term plan", "long term"),
        ("café", "cafe"),
        ("ＡＰＩ网关", "api"),
        ("APIs", "api"),
        ("用的是Kubernetes集群", "kubernetes"),
        ("東京タワーに行く", "タワー"),
        ("안녕하세요", "안녕"),
        ("Привет мир", "мир"),
        ("costs 1,000 euro", "1000"),
        ("written in C++", "c++"),
        ("met on March 1, 2026", "2026年3月1日"),
        ("周日见", "see you Sunday"),
        ("don't panic", "panics"),
        ("sha 0f343b0931126a20f133d67c2b018a3b", "0f343b0931126a20f133d67c2b018a3b"),
    ],
)
def test_note_and_query_meet(note: str, query: str) -> None:
    assert common(note, query)


def test_hook_split_words_gives_singles_and_pairs() -> None:
    assert split_words("数据库") == ["数", "据", "库", "数据", "据库"]


def test_small_words_are_dropped_in_both_languages() -> None:
    assert split_words("What is the one that we would do with it?") == ["one"]
    assert split_words("的了吗呢") == []
    assert split_words("他们的") == []
    assert "用的" in split_words("用的")


def test_identifiers_are_kept_whole_and_split() -> None:
    assert split_words("parseXMLResponse") == ["parsexmlresponse", "pars", "xml", "respons"]
    assert split_words("v2.3.1") == ["v2.3.1", "2.3.1"]
    assert split_words("C# and C++") == ["c#", "c++"]
    assert split_words("it's O'Brien's") == ["o'brien", "brien"]


def test_relative_dates_are_no_words_of_a_note() -> None:
    assert not [word for word in split_words("yesterday 昨天") if word.startswith("d:")]


def test_long_encoded_bytes_make_few_words() -> None:
    assert len(split_words("aB3" * 2000)) <= 1


@given(st.text())
@example("a\u1680b")
def test_words_are_neither_empty_nor_spaced(text: str) -> None:
    words = split_words(text)
    assert words == split_words(text)
    assert all(word and not any(ch.isspace() for ch in word) for word in words)
