"""What a line names, and where."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.note import Card, CardType, Lang
from kimi_memory.lsp.answers import symbols
from kimi_memory.lsp.hover_text import note_text
from kimi_memory.lsp.spots import spot_at, spots_in, turn_of_line
from kimi_memory.lsp.vault import Page, page_of


@pytest.mark.parametrize(
    ("line", "kind", "name"),
    [
        (
            "- 数据库（2026-02-28，0.80） ^card-01kjheh4t8t16gm3nqrt33g10q",
            "note",
            "card-01kjheh4t8t16gm3nqrt33g10q",
        ),
        ("— [[session_小灶-0228#^t16|#16]]", "turn", "session:小灶-0228#16"),
        ("— [[session_s.2]] #16", "turn", "session:s.2#16"),
        ("- 06:06 [[session_s1]]", "turn", "session:s1"),
        ("  - session:s1#3-7 supports 8695bc274b0f", "turn", "session:s1#3"),
        ("见 [[semantic/小灶/decision.database|→]]", "page", "semantic/小灶/decision.database"),
        ("[[MEMORY#Notes]]", "page", "MEMORY"),
        ("  - card-01kjadhj38rsd978qq4vyj5r1v", "note", "card-01kjadhj38rsd978qq4vyj5r1v"),
    ],
)
def test_what_a_line_names(line: str, kind: str, name: str) -> None:
    [spot] = spots_in(line)
    assert (spot.kind, spot.name) == (kind, name)
    assert spot_at(line, spot.first) == spot_at(line, spot.last) == spot
    assert spot_at(line, len(line) + 5) is None


@pytest.mark.parametrize(
    "line", ["", "\\[[MEMORY]]", "card-", "a #16", "[[]]", "[[a\n]]", "x" * 100_000]
)
def test_other_lines_name_nothing(line: str) -> None:
    assert spots_in(line) == ()


def test_a_turn_is_known_by_its_line() -> None:
    record = '{"kind":"turn","n":16,"at":"2026-02-28T06:21:17Z"'
    assert turn_of_line("short-term/session_s1.jsonl", record) == "session:s1#16"
    page = "episodic/sessions/2026-02/session_小灶-0228.md"
    assert turn_of_line(page, "### #16 user 林夏 2026-02-28") == "session:小灶-0228#16"
    assert turn_of_line(page, "^t16") == "session:小灶-0228#16"
    assert turn_of_line("semantic/a.md", "### #16 x") == ""


@given(st.text(alphabet="[]|#^ session_card-01:小\\", max_size=200))
def test_no_line_breaks_it(line: str) -> None:
    ends = 0
    for spot in spots_in(line):
        assert ends <= spot.first < spot.last <= len(line)
        ends = spot.last


@pytest.mark.parametrize(
    "text",
    [
        "---\nid: x" + " " * 60_000 + "y\n---\n",
        "[[session_" * 6000,
        "[[a" * 20_000,
        "[[session_a|" * 5000,
        "[[a#" * 15_000,
        "session:a" * 7000,
        "# x" + " \x0b" * 30_000,
        "key: x" + " " * 60_000 + "\x0b",
    ],
    ids=range(8),
)
def test_no_line_of_a_stranger_holds_up_the_editor(text: str) -> None:
    began = time.process_time()
    page_of("a.md", text)
    list(symbols("a.md", text.splitlines()))
    assert time.process_time() - began < 2


def test_an_id_of_a_stranger_shows_no_picture() -> None:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    card = Card(
        id="card-1",
        created=at,
        updated=at,
        title="t",
        type=CardType.FACT,
        key="k",
        value="v",
        lang=Lang.EN,
    )
    page = Page("a.md", "card-2` ![](https://example.org/x.png)", "card", "", "active", "", (), "")
    shown = note_text(card, (), UTC, replaced_by=[page])
    assert "`card-2 ![](https://example.org/x.png)`" in shown
