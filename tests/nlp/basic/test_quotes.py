"""Quotes: where quoted words stand in a text, and citations, which name a path and its lines."""

# ruff: noqa: E501  what is said stands in one line
from __future__ import annotations

import pytest

from kimi_memory.nlp.basic.quotes import find_quote, split_citation

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
        "B",
        "",
    ],
)
def test_words_are_not(quote: str) -> None:
    assert quote == "Option" or not find_quote(quote, SAID)


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
