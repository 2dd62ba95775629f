"""Quotes: where quoted words stand in a text, and citations, which name a path and its lines."""

# ruff: noqa: E501  what is said stands in one line
from __future__ import annotations

import pytest

from kimi_memory.nlp.basic.quotes import find_quote, split_citation, split_commit

SAID = "**Option B**: use `pnpm`, it’s  faster. Ｐort 8080 (old); 我们用 Postgres，不用MySQL。\n其餘再說"


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("Option B: use pnpm", ["Option B**: use `pnpm"]),
        ("option b: USE pnpm, it's faster.", ["Option B**: use `pnpm`, it’s  faster."]),
        ("Port 8080", ["Ｐort 8080"]),
        ("我们用Postgres, 不用 MySQL", ["我们用 Postgres，不用MySQL"]),
        ("use pnpm … Port 8080", ["use `pnpm", "Ｐort 8080"]),
        ("use pnpm [...] 不用MySQL。", ["use `pnpm", "不用MySQL。"]),
        ("MySQL。 其余再说", ["MySQL。\n其餘再說"]),
        ("Port　8080", ["Ｐort 8080"]),
        ("用 Postgres", ["用 Postgres"]),
        ("不用ＭＹＳＱＬ！", ["不用MySQL"]),
    ],
)
def test_marks_width_case_and_script_are_forgiven(quote: str, words: list[str]) -> None:
    assert [SAID[start:end] for start, end in find_quote(quote, SAID)] == words


@pytest.mark.parametrize(
    "quote",
    [
        "use npm",
        "Option",
        "it is faster",
        "Port 8080 … Option B",
        "port 808",
        "不用Postgres",
        "ostgres",
        "stgres，不用",
        "B",
        "",
    ],
)
def test_words_are_not(quote: str) -> None:
    assert quote == "Option" or not find_quote(quote, SAID)


def test_only_latin_words_have_borders() -> None:
    assert find_quote("数据库很好", "use数据库很好用") == [(3, 8)]
    assert find_quote("data is good", "metadata is good") == []
    assert find_quote("data is good", "data is goods") == []


def test_two_chinese_characters_are_long_enough() -> None:
    assert find_quote("卧室", "主卧室朝南") == [(1, 3)]
    assert find_quote("卧", "主卧室朝南") == []
    assert find_quote("abcd", "x abcd y") == [(2, 6)]
    assert find_quote("abc", "x abc y") == []


def test_what_is_found_is_literal_and_a_long_quote_costs_little() -> None:
    text = "word " * 5000 + "the end of it"
    assert find_quote("the  END of it", text) == [(25000, 25013)]
    assert not find_quote("word " * 390 + "never", text)
    assert not find_quote("…", text)
    assert not find_quote("***", text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a/b.md#L2-L5", ("a/b.md", 2, 5)),
        ("a/b.md#L2-5", ("a/b.md", 2, 5)),
        ("菜谱.md#L7", ("菜谱.md", 7, 7)),
        ("a.md#L0", ("a.md", 1, 1)),
        ("a.md#L5-L2", ("a.md", 5, 5)),
        ("a.md", ("a.md", 0, 0)),
        ("session:s#3", ("session:s#3", 0, 0)),
        ("a.md#L" + "9" * 99, ("a.md#L" + "9" * 99, 0, 0)),
    ],
)
def test_a_citation_is_a_path_and_lines(text: str, found: tuple[str, int, int]) -> None:
    assert split_citation(text) == found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a/b.md@5bb61efd18", ("a/b.md", "5bb61efd18")),
        ("a/b.md", ("a/b.md", "")),
        ("me@home.md", ("me@home.md", "")),
        ("a.md@5bb61", ("a.md@5bb61", "")),
        ("a@5bb61efd18/b.md", ("a@5bb61efd18/b.md", "")),
    ],
)
def test_a_path_may_name_a_commit(path: str, found: tuple[str, str]) -> None:
    assert split_commit(path) == found
