"""Sentence borders of Chinese and English."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.sentences import pieces, sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("我们用它。因为快！你呢？", 3),
        ("他说：“好的。”然后走了。", 2),
        ("先部署；再测试……最后发布", 3),
        ("One. Two! Three? Four", 4),
        ('He said "Stop." Then he left.', 2),
        ("Use e.g. Postgres 3.14 or v2.3.1. See https://a.b/c.d now.", 2),
        ("Dr. Smith and J. R. Lee met at 5 p.m. on Monday.", 1),
        ("Ask Mr. Wang etc. about it.", 1),
        ("1. First item\n2. Second item", 2),
        ("- a\n- b\n\nc", 3),
        ("版本 2.3.1 发布了。Price is 3.5 dollars.", 2),
        ("well… maybe. OK", 2),
        ("Really?! Yes.", 2),
        ("", 0),
        (" \n ", 0),
    ],
)
def test_sentences_are_counted_as_a_reader_does(text: str, count: int) -> None:
    assert len(split(text)) == count, split(text)


def test_quotes_stay_with_their_sentence() -> None:
    assert split("他说：“好的。”然后走了。") == ["他说：“好的。”", "然后走了。"]


@given(st.text(st.sampled_from("ab. !?。！\n“”'\"1,，中文…; ")))
def test_spans_cover_all_that_is_not_white_space(text: str) -> None:
    spans = sentences(text)
    covered = "".join(text[start:end] for start, end in spans)
    assert "".join(covered.split()) == "".join(text.split())
    assert spans == sorted(spans)
    assert all(text[a:b] == text[a:b].strip() and a < b for a, b in spans)


@given(st.text(min_size=1), st.integers(1, 20))
def test_pieces_join_to_the_whole(text: str, limit: int) -> None:
    spans = pieces(text, 0, len(text), limit)
    assert "".join(text[a:b] for a, b in spans) == text
    assert all(0 < b - a <= limit for a, b in spans)


def test_pieces_never_tear_what_is_seen_as_one() -> None:
    family = "👨‍👩‍👧"
    text = family * 20 + "é" * 30
    for start, end in pieces(text, 0, len(text), 12):
        assert text[start] not in "\u0301\u200d"
        assert text[end - 1] != "\u200d"


@given(st.text(st.sampled_from("ab1. !?\n\t\x1c\"'()]*_…")))
def test_what_is_written_in_ascii_alone_ends_where_it_does_beside_chinese(text: str) -> None:
    spans = sentences(f"{text}\n中")
    assert spans[-1] == (len(text) + 1, len(text) + 2)
    assert spans[:-1] == sentences(f"{text}\n")
