"""Patching front matter leaves every byte it was not asked about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import read
from kimi_memory.formats.frontmatter_patch import patch_values
from kimi_memory.nlp.basic.safe_text import one_line
from tests.formats.strategies import cards, examples, words

PAGE = """---
# 我的卡片 (mine)
id: 'card-1'
status: active   # as of today

tags:
  - a
  # why b
  - "b"
aliases: [x,  y]   # other names
empty:
note: |
  foo
  # part of the note

Custom Key: {deep: [1, 2]}
share: 0.5
---
# Title

body without final newline"""


def changed(text, result):
    """Return the lines that went and the lines that came."""
    old, new = text.split("\n"), result.split("\n")
    gone = [line for line in old if line not in new]
    return gone, [line for line in new if line not in old]


@pytest.mark.parametrize(
    ("name", "value", "gone", "came"),
    [
        ("status", "stale", ["status: active   # as of today"], ["status: stale   # as of today"]),
        ("id", "yes", ["id: 'card-1'"], ['id: "yes"']),
        ("tags", ["a", "b", "丙: c"], [], ['  - "丙: c"']),
        ("tags", ["b"], ["  - a"], []),
        ("tags", ["a", "c"], ['  - "b"'], ["  - c"]),
        ("tags", "one", ["tags:", "  - a", "  # why b", '  - "b"'], ["tags: one"]),
        (
            "aliases",
            ["x", "a, b"],
            ["aliases: [x,  y]   # other names"],
            ['aliases: [x, "a, b"]   # other names'],
        ),
        ("empty", 3, ["empty:"], ["empty: 3"]),
        ("empty", ["x"], [], ["  - x"]),
        ("note", "x: y", ["note: |", "  foo", "  # part of the note"], ['note: "x: y"']),
        ("note", None, ["note: |", "  foo", "  # part of the note"], []),
        ("Custom Key", {"deep": []}, ["Custom Key: {deep: [1, 2]}"], ['Custom Key: {"deep": []}']),
        ("share", 1.0, ["share: 0.5"], ["share: 1.0"]),
        ("share", None, ["share: 0.5"], []),
        ("new", ["a", "no"], [], ["new:", '  - "no"']),
        ("键", "值", [], ["键: 值"]),
        ("a: b", "c", [], ['"a: b": c']),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_only_the_lines_of_the_key_change(name, value, gone, came, newline):
    text = PAGE.replace("\n", newline)
    result = patch_values(text, {name: value}, "x.md")
    assert result.count("\r") == (result.count("\n") if newline == "\r\n" else 0)
    assert changed(PAGE, result.replace("\r\n", "\n")) == (gone, came)
    assert read(result, "x.md").values.get(name) == value


def test_a_block_is_made_where_there_is_none():
    assert patch_values("\ufeff正文\r\n", {"a": 1, "b": None}, "x.md") == (
        "\ufeff---\r\na: 1\r\n---\r\n正文\r\n"
    )
    assert patch_values("---\nprose\n", {"a": 1}, "x.md") == "---\na: 1\n---\n---\nprose\n"
    assert patch_values("---\n---\nx", {"a": ["b"]}, "x.md") == "---\na:\n  - b\n---\nx"


def test_indented_keys_keep_their_indent():
    text = "---\n  a: 1\n  b:\n    - x\n---\n"
    result = patch_values(text, {"a": [1], "c": 2}, "x.md")
    assert result == "---\n  a:\n    - 1\n  b:\n    - x\n  c: 2\n---\n"


@pytest.mark.parametrize("block", ["{a: 1}", "? a\n: 1"])
def test_what_cannot_be_patched_safely_is_refused(block):
    with pytest.raises(FormatError, match=r"x\.md:\d+: .*Write the front matter as plain"):
        patch_values(f"---\n{block}\n---\n", {"a": ["x", "y"], "b": 1}, "x.md")


def test_a_broken_block_is_never_rewritten():
    with pytest.raises(FormatError, match="second time"):
        patch_values("---\na: 1\na: 2\n---\n", {"b": 1}, "x.md")


_SCALARS = words().map(one_line) | st.integers(-(10**9), 10**9) | st.floats(-9, 9) | st.booleans()
_VALUES = _SCALARS | st.lists(words().map(one_line), min_size=1, max_size=4)
_NAMES = st.sampled_from(
    ["id", "status", "tags", "aliases", "empty", "note", "Custom Key", "share", "new", "键"]
)


@examples(80)
@given(st.dictionaries(_NAMES, _VALUES | st.none()), st.dictionaries(_NAMES, _VALUES))
def test_any_values_can_be_set_one_after_the_other(first, second):
    text = patch_values(PAGE, first, "x.md")
    result = patch_values(text, second, "x.md")
    assert patch_values(result, second, "x.md") == result
    values = {**read(PAGE, "x.md").values, **first, **second}
    left = {name: value for name, value in values.items() if value is not None}
    found = read(result, "x.md")
    assert {name: value for name, value in found.values.items() if value is not None} == left
    assert found.body == read(PAGE, "x.md").body
    assert "# 我的卡片 (mine)" in result


@examples(30)
@given(cards(), words().map(one_line).filter(bool))
def test_patching_one_key_changes_one_line(card, value):
    text = codec.render(card)
    result = patch_values(text, {"category": value}, "x.md")
    old, new = text.split("\n"), result.split("\n")
    assert len(old) == len(new)
    assert sum(one != other for one, other in zip(old, new, strict=True)) <= 1
