"""Literals of patterns: what is found in a text holds one of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.literals import folded, literals
from tests.nlp.basic.test_regex import SOURCES, patterns

WORDY = [one for one in patterns() if literals(one.pattern, one.flags)]
WORDY += [re.compile(one) for one in SOURCES if literals(one, 0)]


def test_most_phrases_have_words() -> None:
    assert len(WORDY) > 200


@given(st.data())
def test_what_a_pattern_is_found_in_holds_one_of_its_words(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(WORDY))
    found = data.draw(st.from_regex(re.compile(pattern.pattern, pattern.flags)))
    assert any(word in folded(found) for word in literals(pattern.pattern, pattern.flags))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (r"\bi (?:like|adore)\b", {"like", "adore"}),
        (r"\bmov(?:ed?|ing)\b|记住", {"mov", "记住"}),
        (r"(?:a|b)c?", set()),
        (r"x*", set()),
        (r"the (?:cat|dog)", {"cat", "dog"}),
        ("|".join(f"{n}word" for n in range(300)), set()),
    ],
)
def test_words_are_the_ones_that_tell_most(source: str, words: set[str]) -> None:
    assert literals(source, re.IGNORECASE) == words


def test_a_python_that_parses_otherwise_gives_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(re, "_parser")
    assert literals("记住", 0) == frozenset()


def test_what_a_pattern_takes_for_a_letter_is_folded_to_it() -> None:
    taken = [
        (letter, plain)
        for letter in map(chr, range(128, 0x3000))
        for plain in "abcdefghijklmnopqrstuvwxyz"
        if re.fullmatch(plain, letter, re.IGNORECASE)
    ]
    assert {plain for _, plain in taken} >= {"i", "k", "s"}
    assert [folded(letter) for letter, _ in taken] == [plain for _, plain in taken]
