"""Quotes found again whatever a model did to their marks."""

# ruff: noqa: E501  what is said stands in one line

from __future__ import annotations

import pytest

from kimi_memory.nlp.basic.quoting import find_quote

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
