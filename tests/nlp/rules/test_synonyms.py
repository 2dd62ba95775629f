"""Everyday words that stand for each other, in both languages."""

from __future__ import annotations

import pytest
from kimi_memory.plugins.words import split_words

from kimi_memory.nlp.rules import synonyms
from kimi_memory.nlp.rules.synonyms import (
    FORM,
    KIND,
    SYNONYM,
    dump_tables,
    load_tables,
    tables,
)


@pytest.mark.parametrize(
    ("table", "word", "other", "weight"),
    [
        (0, "bought", "buy", FORM),
        (0, "buy", "bought", FORM),
        (1, "film", "movie", SYNONYM),
        (1, "母亲", "妈妈", SYNONYM),
        (2, "instrument", "violin", KIND),
        (2, "运动", "跑步", KIND),
    ],
)
def test_words_stand_for_each_other(table: int, word: str, other: str, weight: float) -> None:
    found = tables(split_words)[table][split_words(word)[-1]]
    assert split_words(other)[-1] in found.words
    assert found.weight == weight


def test_things_do_not_stand_for_their_kind() -> None:
    kinds = tables(split_words)[2]
    assert "violin" not in kinds
    assert "跑步" not in kinds


def test_no_word_stands_for_itself() -> None:
    for table in tables(split_words):
        assert all(word not in echo.words and echo.words for word, echo in table.items())


def test_a_splitter_that_finds_nothing_leaves_the_tables_empty() -> None:
    assert tables(lambda text: []) == ({}, {}, {})


def test_tables_come_back_as_they_were_dumped(monkeypatch: pytest.MonkeyPatch) -> None:
    made = tables(split_words)
    content = dump_tables(made)
    assert load_tables(content) == made
    assert load_tables(b"") == ()
    monkeypatch.setattr(synonyms, "_KINDS", "tea: oolong")
    assert load_tables(content) == ()
