"""Text laid out for a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.cli.terminal import count_columns, cut, pad, paint, paint_diff, wrap
from tests.cli.conftest import Screen


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("port", 4), ("端口", 4), ("e\u0301", 1), ("a端，", 5)]
)
def test_hanzi_take_two_columns_and_accents_none(text: str, columns: int) -> None:
    assert count_columns(text) == columns


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("  one two three", ["  one two", "    three"]),
        ("短的一行", ["短的一行"]),
        ("数据很小，断网也要能看。", ["数据很小，", "  断网也要", "  能看。"]),
        ("他说（断网）也能看", ["他说（断", "  网）也能", "  看"]),
        ("semantic/trailhead/note.md", ["semantic/trailhead/note.md"]),
    ],
    ids=["words", "short", "marks stay behind", "brackets", "an address stays whole"],
)
def test_lines_break_between_words_and_hanzi(line: str, lines: list[str]) -> None:
    assert list(wrap(line, 11)) == lines


def test_without_a_width_lines_stay_whole() -> None:
    assert list(wrap("one " * 100, 0)) == ["one " * 100]


_TEXT = st.text(st.sampled_from("ab 端口，。（）“”.\u0301"), max_size=60)


@given(_TEXT, st.integers(10, 40))
def test_breaking_keeps_every_letter(line: str, columns: int) -> None:
    lines = list(wrap(line, columns))
    assert "".join("".join(lines).split()) == "".join(line.split())
    for one in lines[1:]:
        assert not one.lstrip().startswith(("，", "。", "）", "”"))


@given(_TEXT, st.integers(2, 30))
def test_a_cut_text_fits(text: str, columns: int) -> None:
    assert count_columns(cut(text, columns)) <= columns
    assert count_columns(pad(cut(text, columns), columns)) == columns


def test_colours_are_for_terminals_that_have_them(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR")
    assert paint("yes", "bold") == "yes"
    with screen.taken():
        assert paint("yes", "bold") == "\x1b[1myes\x1b[0m"
        assert paint_diff("+new").startswith("\x1b[32m")
        assert paint_diff("-old").startswith("\x1b[31m")
        assert paint_diff(" same") == " same"
        monkeypatch.setenv("TERM", "dumb")
        assert paint_diff("+new") == "+new"
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("NO_COLOR", "1")
        assert paint_diff("+new") == "+new"
