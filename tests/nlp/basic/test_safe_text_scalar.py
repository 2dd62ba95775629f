"""Cleaning keeps every visible character and settles at once."""

from __future__ import annotations

from datetime import date, datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.safe_text import clean, entry, lines_of, one_line, same, typed, written
from tests.formats.strategies import examples, texts


@examples(200)
@given(texts() | st.text())
def test_cleaning_twice_changes_nothing(text):
    assert clean(clean(text)) == clean(text)
    assert one_line(one_line(text)) == one_line(text)
    assert "\n" not in one_line(text)


@examples(200)
@given(texts() | st.text())
def test_no_visible_character_is_lost(text):
    def visible(of):
        return [ch for ch in of if ch.isprintable() and not ch.isspace()]

    assert visible(clean(text)) == visible(text)
    assert visible(one_line(text)) == visible(text)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        (" a  b \n\n  c\t\n", "a  b\n\n  c"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("bell\x07 esc\x1b[31m nul\0 c1\x9b", "bell esc[31m nul c1"),
        ("\u3000全角\u3000空格\u3000", "全角\u3000空格"),
        ("half \ud800", "half \ufffd"),
        ("e\u0301 ﬁ Å", "e\u0301 ﬁ Å"),
        ("    indented\n    code", "indented\n    code"),
    ],
)
def test_examples_of_cleaning(text, cleaned):
    assert clean(text) == cleaned


def test_lines_end_at_any_newline():
    assert lines_of("a\nb\r\nc\rd\u2028e") == ["a", "b", "c", "d\u2028e"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("null", None),
        ("true", True),
        ("false", False),
        ("True", "True"),
        ("no", "no"),
        ("8080", 8080),
        ("-5", -5),
        ("0", 0),
        ("-0", "-0"),
        ("0123", "0123"),
        ("1" + "0" * 17, 10**17),
        ("1" + "0" * 18, "1" + "0" * 18),
        ("0.5", 0.5),
        ("-0.25", -0.25),
        ("1e-07", 1e-07),
        ("1.10", "1.10"),
        ("1.5.2", "1.5.2"),
        ("12:30", "12:30"),
        ("2026-02-27", "2026-02-27"),
        ("-", "-"),
        ("a", "a"),
    ],
)
def test_only_what_reads_back_alike_is_typed(text, value):
    assert same(typed(text), value)


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("plain words", "plain words"),
        ("数据库", "数据库"),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("ends:", '"ends:"'),
        (" space", '" space"'),
        ("space ", '"space "'),
        ("- item", '"- item"'),
        ("", '""'),
        ("no", '"no"'),
        ("NO", '"NO"'),
        ("1.10", '"1.10"'),
        ("12:30", '"12:30"'),
        ("0x1F", '"0x1F"'),
        ("2026-02-27", "2026-02-27"),
        ("2026-02-27T09:10:00", "2026-02-27T09:10:00"),
        ("two\nlines", '"two\\nlines"'),
        ("sep\u2028arator", '"sep\\u2028arator"'),
        ("a, b", "a, b"),
        (["a, b", "c"], '["a, b", c]'),
        ([], "[]"),
        ({"a b": ["x"]}, '{"a b": [x]}'),
        (True, "true"),
        (None, "null"),
        (3, "3"),
        (0.1, "0.1"),
        (1.0, "1.0"),
    ],
)
def test_a_value_is_written_as_other_programs_read_it(value, line):
    assert written(value) == line


def test_commas_are_quoted_between_brackets_alone():
    assert written("a, b") == "a, b"
    assert written("a, b", flow=True) == '"a, b"'
    assert written("a: b", flow=True) == '"a: b"'
    assert written("why?", flow=True) == '"why?"'
    assert written("why?") == "why?"


@pytest.mark.parametrize(
    ("name", "value", "lines"),
    [
        ("key", "value", ["key: value"]),
        ("my key", 1, ["my key: 1"]),
        ("1st", 1, ['"1st": 1']),
        ("a:b", None, ['"a:b": null']),
        ("list", [], ["list: []"]),
        ("list", ["a, b", "c"], ["list:", "  - a, b", "  - c"]),
        ("list", [["a, b"], {"k": "v"}], ["list:", '  - ["a, b"]', '  - {"k": v}']),
    ],
)
def test_a_key_has_its_lines(name, value, lines):
    assert entry(name, value) == lines


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | texts().map(one_line),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=2),
    max_leaves=6,
)


@examples(200)
@given(VALUES)
def test_another_reader_of_yaml_reads_what_was_written(value):
    [name] = found = yaml.safe_load("\n".join(entry("key", value)))
    assert same(_dates_as_text(found[name]), value)


def _dates_as_text(value):
    """Return a value with dates as the text they were: a person may leave them unquoted."""
    if isinstance(value, list):
        return [_dates_as_text(one) for one in value]
    if isinstance(value, dict):
        return {name: _dates_as_text(one) for name, one in value.items()}
    return value.isoformat() if isinstance(value, date | datetime) else value


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (1, 1, True),
        (1, True, False),
        (1, 1.0, False),
        ("a", "a", True),
        ([1], [1], True),
        ([1], [True], False),
        ([1], [1, 2], False),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": 1}, {"b": 1}, False),
        ([], {}, False),
        (None, None, True),
    ],
)
def test_words_of_two_types_are_not_the_same(one, other, alike):
    assert same(one, other) is alike
