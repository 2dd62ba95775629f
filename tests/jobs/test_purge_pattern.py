"""A text is found however a file spells it, and nothing else is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.jobs.purge_pattern import spellings


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("蓝鲸码头", "在蓝鲸码头见".encode()),
        ("蓝鲸码头", "蓝鲸\n> 码头".encode()),
        ("蓝鲸码头", json.dumps("蓝鲸码头").encode()),
        ("Violet Harbor", b"the VIOLET  harbor"),
        ("Violet Harbor", b"note.violet-harbor.md"),
        ("Violet Harbor", "Ｖｉｏｌｅｔ　Ｈａｒｂｏｒ".encode()),
        ('say "hi" now', rb'{"text":"say \"hi\" now"}'),
        ("two\nlines", rb'{"text":"two\nlines"}'),
        ("Café Zoë", "cafe\u0301 zoe\u0308".encode()),
        ("1234", b'"pin 1234."'),
        ("1234", rb'"a\n1234"'),
        ("😀 smile", rb'"\ud83d\ude00 smile"'),
    ],
)
def test_every_spelling_is_found(text: str, content: bytes) -> None:
    assert spellings([text]).search(content)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("1234", b"sum:ab1234cd"),
        ("beef", b"deadbeef01"),
        ("蓝鲸码头", "蓝鲸的码头".encode()),
        ("Violet Harbor", b"violet harvest"),
    ],
)
def test_what_is_not_the_text_is_left(text: str, content: bytes) -> None:
    assert not spellings([text]).search(content)


def test_the_slug_of_a_long_text_is_found_though_it_was_cut() -> None:
    text = "my very long secret sentence that no file name can hold as a whole, 甲乙丙"
    assert spellings([text]).search(b"note.my-very-long-secret-sentence-that-no-file.md")


def test_no_texts_find_nothing() -> None:
    assert not spellings([]).search(b"anything")


@given(st.text(min_size=4).filter(lambda t: len(t.split()) and sum(map(str.isalnum, t)) >= 4))
def test_a_text_is_found_as_it_stands_and_in_json(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    found = spellings([text])
    assert found.search(f" {text.strip()} ".encode())
    assert found.search(json.dumps(f" {text.strip()} ").encode())
