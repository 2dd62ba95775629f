"""The quick reader and the YAML reader never disagree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.formats import codec, frontmatter_fast, frontmatter_yaml
from kimi_memory.formats.scalar import same
from tests.formats.strategies import cards, examples, words

_NAMES = st.sampled_from(["a", "b", "c", "键", "d-e", "a b", "1", "?", "- x", "~"])
_VALUES = st.one_of(
    words(),
    st.sampled_from(["1", "-2", "0.5", "-0.5", "1e5", "true", "null", "[]", "[a, b]", "[1,x ]"]),
    st.sampled_from(["{}", "[a, b", "'q'", '"q" x', '"\\u4e2d"', '"\\/"', "|", ">", "- a", ":"]),
    words().map(lambda text: f'"{text}"'),
)
_LINES = st.one_of(
    st.builds("{}: {}".format, _NAMES, _VALUES),
    _NAMES.map("{}:".format),
    _VALUES.map("  - {}".format),
    _VALUES.map("- {}".format),
)


@examples(800)
@given(st.lists(_LINES, max_size=5).map(lambda lines: "".join(f"{line}\n" for line in lines)))
def test_what_the_quick_reader_takes_means_the_same_to_yaml(block):
    quick = frontmatter_fast.load(block)
    if quick is None:
        return
    tree = frontmatter_yaml.load(block, "x.md", 1)
    assert same(quick[0], tree.values)
    starts = {name: block.count("\n", 0, place.key[0]) + 1 for name, place in tree.places.items()}
    assert quick[1] == starts


@examples(40)
@given(cards())
def test_a_card_without_odd_characters_is_read_quickly(card):
    block = codec.render(card).split("---\n")[1]
    if "\\u" not in block and "\u00a0" not in block:
        assert frontmatter_fast.load(block) is not None


@pytest.mark.parametrize(
    "block",
    [
        "a: x\n  - b\n",
        "a: x\n\n",
        "a: 1\na: 2\n",
        "a: b: c\n",
        "a: x # y\n",
        "a: x \n",
        "a:  x\n",
        "a: x:\n",
        "a: &b x\n",
        "a: *b\n",
        "a: !t x\n",
        "a: 'x'\n",
        'a: "x" y\n',
        "a: [b: c]\n",
        "a:\n - b\n",
        "a:\n  -\n",
        "a:\n  - \n",
        "a:\n  b: c\n",
        "a b: c\n",
        "# x\n",
        "a: \tx\n",
        "a: x\u2028y\n",
        "a: -\n",
        "? a\n",
        "a\n",
    ],
)
def test_what_may_mean_something_else_is_left_to_yaml(block):
    assert frontmatter_fast.load(block) is None
