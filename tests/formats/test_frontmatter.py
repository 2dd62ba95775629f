"""Front matter is read safely, whatever a file holds."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.errors import FormatError
from kimi_memory.formats import codec, frontmatter, frontmatter_yaml
from kimi_memory.formats.frontmatter import decode, read
from kimi_memory.nlp.basic.safe_text import entry, one_line, same
from tests.formats.strategies import cards, examples, words

_NAMES = st.sampled_from(["a", "b", "c", "键", "d-e", "a b", "1", "?", "- x", "~"])
_VALUES = st.one_of(
    words(),
    st.sampled_from(["1", "-2", "0.5", "-0.5", "1e5", "true", "null", "[]", "[a, b]", "[1,x ]"]),
    st.sampled_from(["{}", "[a, b", "'q'", '"q" x', '"\\u4e2d"', '"\\/"', "|", ">", "- a", ":"]),
    words().map(lambda text: f'"{text}"'),
)
_LINES_FRONTMATTER_FAST = st.one_of(
    st.builds("{}: {}".format, _NAMES, _VALUES),
    _NAMES.map("{}:".format),
    _VALUES.map("  - {}".format),
    _VALUES.map("- {}".format),
)


def test_keys_body_and_lines_are_told_apart(doc):
    """
    ---
    id: card-1
    tags: [a, b]
    # a remark
    title: "部署: 周五"
    count: 3
    share: 0.5
    done: true
    nothing:
    ---
    # 部署

    ---
    after a rule
    """
    front = read(doc, "x.md")
    assert front.values == {
        "id": "card-1",
        "tags": ["a", "b"],
        "title": "部署: 周五",
        "count": 3,
        "share": 0.5,
        "done": True,
        "nothing": None,
    }
    assert front.body == "# 部署\n\n---\nafter a rule\n"
    assert front.first_body_line == 11
    assert front.lines["title"] == 5


@pytest.mark.parametrize(
    "written",
    [
        *("no", "on", "y", "~", "12:30", "1:30", "0123", "1.10", "1_000", "0x1F", "-0", "=", "<<"),
        *("2026-02-27", "2026-02-27T09:10:00", ".inf", "NaN", "1e400", "9" * 5000, "True"),
    ],
)
def test_only_json_words_and_numbers_are_typed(written):
    for remark in ("", "  # so the YAML reader takes it\n"):
        assert read(f"---\n{remark}a: {written}\n---\n", "x.md").values == {"a": written}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
def test_any_newline_and_a_byte_order_mark_are_read(newline, mark):
    text = mark + newline.join(["---", "a: 一", "b:", "  - x", "---", "body", ""])
    front = read(text, "x.md")
    assert front.values == {"a": "一", "b": ["x"]}
    assert front.body == f"body{newline}"
    assert front.first_body_line == 6


@pytest.mark.parametrize(
    "text",
    [
        "no front matter",
        "",
        "---",
        "---\n",
        "---\nJust a rule above prose.\n",
        "---\n\nProse between rules, 散文。\n\n---\n\nmore\n",
        "---\n- a list\n- between rules\n---\n",
        "---\n**bold** words\n---\n",
        "--- \ntext after a rule with a space",
        "----\na: 1\n---\n",
        "+++\ntitle = 'toml'\n+++\n",
        '{"json": true}\n',
        "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n",
        "-" * 10_000_000,
        "---\n" + "word " * 20_000 + "\n---\n",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_prose_is_a_body_and_nothing_of_it_is_lost(text):
    front = read(text, "x.md")
    assert (front.values, front.body, front.first_body_line) == ({}, text, 1)


HOSTILE = {
    "never closed": ("---\nid: a\nbody\n", 1),
    "duplicate key": ("---\na: 1\nb: 2\na: 3\n---\n", 4),
    "duplicate key inside": ("---\na:\n  b: 1\n  b: 2\n---\n", 4),
    "duplicate key in braces": ("---\na: {b: 1, b: 2}\n---\n", 2),
    "python tag": ("---\na: !!python/object:os.system x\n---\n", 2),
    "harmless tag": ("---\nx: 1\na: !!str x\n---\n", 3),
    "bare tag": ("---\na: ! x\n---\n", 2),
    "anchor": ("---\na: &x 1\n---\n", 2),
    "alias bomb": ("---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\n", 2),
    "tag on the whole": ("---\n!!map\na: 1\n---\n", 2),
    "anchor on the whole": ("---\n&a\nb: 1\n---\n", 2),
    "merge key": ("---\na: 1\n<<: *b\n---\n", 3),
    "key that is a list": ("---\n? [a, b]\n: 1\n---\n", 2),
    "deep nesting": ("---\na: " + "[" * 5000 + "\n---\n", 2),
    "deep nesting at the top": ("---\n" + "[" * 5000 + "\n---\n", 2),
    "deep mappings": ("---\na: " + "{a: " * 30 + "1" + "}" * 30 + "\n---\n", 2),
    "list in brackets": ("---\n[a, b]\n---\n", 2),
    "tab for indent": ("---\na:\n\tb: 1\n---\n", 3),
    "open quote": ('---\na: "x\nb: 1\n---\n', 2),
    "two documents": ("---\na: 1\n...\nb: 2\n---\n", 4),
    "directive": ("---\n%YAML 1.1\n--- \n", 3),
    "control character": ("---\na: x\x07y\n---\n", 2),
    "lone surrogate": ("---\na: x\ud800y\n---\n", 2),
    "no such escape": ('---\na: "\\ud800"\n---\n', 2),
    "conflict markers": ("---\na: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> x\n---\n", 3),
    "too large": ("---\na: " + "x" * 70_000 + "\n---\n", 1),
    "too large in bytes": ("---\na: " + "记" * 30_000 + "\n---\n", 1),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_broken_block_is_refused_with_line_and_remedy(name):
    text, line = HOSTILE[name]
    with pytest.raises(FormatError) as caught:
        read(text, "notes/x.md")
    assert str(caught.value).startswith(f"notes/x.md:{line}: ")
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


NOT_TEXT = {
    "utf-16": ("id: 甲".encode("utf-16"), 1, "UTF-8"),
    "utf-16 without mark": ("ab\n".encode("utf-16-le"), 1, "text"),
    "gbk": ("---\nid: a\n---\n记忆".encode("gbk"), 4, "UTF-8"),
    "latin-1": ("a\ncafé".encode("latin-1"), 2, "UTF-8"),
    "nul": (b"a\nb\0c", 2, "UTF-8"),
    "escape": (b"a\n\x1b[31mred", 2, "UTF-8"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 1, "memory"),
    "torn character": ("记忆".encode()[:-1], 1, "UTF-8"),
}


@pytest.mark.parametrize("name", NOT_TEXT)
def test_what_is_not_utf8_text_is_refused(name):
    content, line, remedy = NOT_TEXT[name]
    with pytest.raises(FormatError, match=rf"^x\.md:{line}: .*{remedy}"):
        decode(content, "x.md")


def test_a_byte_order_mark_is_kept_as_text():
    assert decode(b"\xef\xbb\xbfa\tb\r\n", "x.md") == "\ufeffa\tb\r\n"


def test_a_large_body_is_read_in_no_time():
    text = "---\nid: a\n---\n" + "---\n" * 2_500_000
    begin = time.process_time()
    assert len(read(text, "x.md").body) == 10_000_000
    assert time.process_time() - begin < 5


_LINES = st.one_of(
    words(),
    st.sampled_from(["---", "a: 1", "a:", "  - b", "- b", "b: [x, y]", 'c: "q"', "  d: e", "..."]),
    st.builds("{}: {}".format, st.sampled_from("abcd"), words()),
    st.builds("  - {}".format, words()),
)


@examples(400)
@given(st.lists(_LINES, max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_text_parses_or_is_refused(lines, newline):
    text = newline.join(["---", *lines])
    for file in (text, text + newline + "---" + newline):
        try:
            front = read(file, "x.md")
        except FormatError as error:
            assert "\n" not in str(error).replace(error.why, "")
        else:
            assert file.endswith(front.body)


@examples(200)
@given(st.text(), st.binary(max_size=60))
def test_any_characters_and_bytes_parse_or_are_refused(text, content):
    for make in (lambda: text, lambda: f"---\n{text}\n---\n", lambda: decode(content, "x.md")):
        try:
            read(make(), "x.md")
        except FormatError as error:
            assert error.line >= 1


@examples(200)
@given(st.dictionaries(words().filter(bool), words() | st.lists(words(), max_size=3), max_size=5))
def test_whatever_is_written_is_read_back(values):
    clean = {
        one_line(name): [one_line(item) for item in value]
        if isinstance(value, list)
        else one_line(value)
        for name, value in values.items()
        if one_line(name)
    }
    lines = [line for name, value in clean.items() for line in entry(name, value)]
    assert read("\n".join(["---", *lines, "---", ""]), "x.md").values == clean


@examples(800)
@given(
    st.lists(_LINES_FRONTMATTER_FAST, max_size=5).map(
        lambda lines: "".join(f"{line}\n" for line in lines)
    )
)
def test_what_the_quick_reader_takes_means_the_same_to_yaml(block):
    quick = frontmatter.load_canonical(block)
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
        assert frontmatter.load_canonical(block) is not None


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
    assert frontmatter.load_canonical(block) is None
