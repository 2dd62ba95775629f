"""The names under which knowledge meets later knowledge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.rules.topics import KNOWN, name_of, topic_of


@pytest.mark.parametrize(
    ("english", "chinese", "topic"),
    [
        ("We use SQLite for the database.", "数据库用 SQLite。", "database"),
        ("My editor is Helix.", "编辑器我一直用 Helix。", "editor"),
        ("I use four spaces for indentation.", "缩进用四个空格。", "indentation"),
        ("Never deploy on Friday.", "周五不要发版。", "deploy-time"),
        ("We use pytest for tests.", "测试用 pytest。", "testing"),
        ("Pick a framework.", "选一个框架。", "framework"),
        ("Our programming language is Go.", "编程语言用 Go。", "language"),
        ("The server is in Falkenstein.", "服务器在成都。", "hosting"),
    ],
)
def test_a_topic_has_one_name_in_both_languages(english: str, chinese: str, topic: str) -> None:
    assert topic_of(english) == topic_of(chinese) == topic
    assert topic in KNOWN


def test_the_reason_does_not_name_the_topic() -> None:
    assert topic_of("We cache pages, because the database is slow.") == "cache"
    assert topic_of("页面做缓存，因为数据库慢。") == "cache"


def test_an_unknown_topic_is_named_by_its_slot() -> None:
    assert topic_of("We use ULIDs for invoice numbers.") == "invoice-numbers"


@given(st.text(max_size=200))
def test_every_text_has_a_name_without_space_or_slash(text: str) -> None:
    for name in (name_of(text), topic_of(text)):
        assert name
        assert not set(name) & set(" /\n\t")
