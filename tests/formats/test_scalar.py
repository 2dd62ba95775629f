"""Cleaning keeps every visible character and settles at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.formats.scalar import clean, lines_of, one_line
from tests.formats.strategies import examples, texts


@examples(200)
@given(texts() | st.text())
def test_cleaning_twice_changes_nothing(text):
    assert clean(clean(text)) == clean(text)
    assert one_line(one_line(text)) == one_line(text)
    assert "\n" not in one_line(text)


@examples(200)
@given(texts() | st.text())
def test_no_visible_character_is_lost(text):
    def visible(of):
        return [ch for ch in of if ch.isprintable() and not ch.isspace()]

    assert visible(clean(text)) == visible(text)
    assert visible(one_line(text)) == visible(text)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        (" a  b \n\n  c\t\n", "a  b\n\n  c"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("bell\x07 esc\x1b[31m nul\0 c1\x9b", "bell esc[31m nul c1"),
        ("\u3000全角\u3000空格\u3000", "全角\u3000空格"),
        ("half \ud800", "half \ufffd"),
        ("e\u0301 ﬁ Å", "e\u0301 ﬁ Å"),
        ("    indented\n    code", "indented\n    code"),
    ],
)
def test_examples_of_cleaning(text, cleaned):
    assert clean(text) == cleaned


def test_lines_end_at_any_newline():
    assert lines_of("a\nb\r\nc\rd\u2028e") == ["a", "b", "c", "d\u2028e"]
