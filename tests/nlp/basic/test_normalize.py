"""Text made comparable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.normalize import bare, normalise


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("我的编辑器配色一直用 Solarized 暗色。", "我的編輯器配色一直用Ｓｏｌａｒｉｚｅｄ暗色"),
        ("My dentist is Dr. Abernathy!", "my dentist is “Dr Abernathy”"),
        ("周五，不要发版！", "周五不要发版"),
        ("re-ingest it", "reingest it"),
        ("1,000 items", "1000 items"),
        ("don't", "don’t"),
    ],
    ids=["script and width", "marks", "chinese marks", "hyphen", "thousands", "apostrophe"],
)
def test_other_ways_to_type_a_text_are_the_same_text(a: str, b: str) -> None:
    assert bare(a) == bare(b) != ""


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("version 1.5", "version 15"),
        ("-5 degrees", "5 degrees"),
        ("we use C", "we use C++"),
        ("we use C#", "we use C"),
        ("at 10:30", "at 1030"),
        ("喜欢", "不喜欢"),
    ],
)
def test_what_changes_a_meaning_stays(a: str, b: str) -> None:
    assert bare(a) != bare(b)


@given(st.text())
def test_what_is_bare_stays_as_it_is_under_normalising(text: str) -> None:
    assert bare(normalise(text)) == bare(text)
    assert not any(ch.isspace() for ch in bare(text))
