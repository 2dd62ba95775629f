"""Citations: path and lines, as every hit names them."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.basic.citation import split_citation


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
