"""Marks of Markdown that a quotation leaves out."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.basic.markdown import EMPHASIS, LINK


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("the **oven** is ***hot***", "the oven is hot"),
        ("烤箱**很热**，小心", "烤箱很热，小心"),
        ("**.gitignore** lists it", ".gitignore lists it"),
        ("run `tests/**/*.ts` and `**/loaf.py`", "run `tests/**/*.ts` and `**/loaf.py`"),
        ("/** a comment */ in __init__.py", "/** a comment */ in __init__.py"),
    ],
)
def test_marks_of_bold_text_go_and_paths_stay(text: str, plain: str) -> None:
    assert EMPHASIS.sub("", text) == plain


def test_of_a_link_its_words_are_read() -> None:
    assert LINK.sub(r"\1", "see [the page](https://example.org/a) first") == "see the page first"
