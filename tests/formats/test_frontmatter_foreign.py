"""Notes in other forms than ours are read by python-frontmatter, as strictly as our own."""

from __future__ import annotations

import pytest

from kimi_memory.errors import FormatError
from kimi_memory.formats import frontmatter
from kimi_memory.formats.frontmatter_foreign import load_tree

OTHER = """\
---
title: >-
  两行
  标题
links: {a: [1, 2], b: "x"}
day: 2026-02-27
---

正文 ---
"""


@pytest.mark.parametrize("text", [OTHER, OTHER.replace("\n", "\r\n"), "\ufeff" + OTHER])
def test_another_form_reads_with_its_values_places_and_body(text: str) -> None:
    found = frontmatter.read(text, "a.md")
    assert found.values == {
        "title": "两行 标题",
        "links": {"a": [1, 2], "b": "x"},
        "day": "2026-02-27",
    }
    assert found.body == text[text.index("正文") - (2 if "\r" in text else 1) :]
    assert found.lines == {"title": 2, "links": 5, "day": 6}
    block = frontmatter.find_block(text, "a.md")
    assert block is not None
    tree = load_tree(text, block[:3], "a.md", 2)
    start, end = tree.places["day"].value
    assert text[block.start :][start:end] == "2026-02-27"


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("a: 1\na: {b: 2}", 3),
        ("a: &x 1\nb: *x", 2),
        ("a: !!python/object:os.system {}", 2),
        ("a: {b: 1", 3),
    ],
)
def test_what_the_library_would_take_as_it_likes_is_refused_with_its_line(
    block: str, line: int
) -> None:
    with pytest.raises(FormatError, match=rf"a\.md:{line}:"):
        frontmatter.read(f"---\n{block}\n---\nbody\n", "a.md")


@pytest.mark.parametrize("text", ["---\n- a\n- b\n---\nx\n", "---\nprose between rules\n---\nx\n"])
def test_prose_between_two_rules_is_no_front_matter(text: str) -> None:
    assert frontmatter.read(text, "a.md").values == {}
