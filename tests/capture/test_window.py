"""The window of lengths: what the memory's settings say holds."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.capture.window import fits_window
from kimi_memory.config import MARKER, CaptureTable

LONG = "I prefer tabs over spaces. " + "The weather was fine, and we talked about it. " * 20


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("", False),
        ("short", False),
        ("ten chars.", True),
        ("四个汉字", False),
        ("五个汉字呢", True),
        ("x" * 500, True),
        ("x" * 501, False),
        ("字" * 250, True),
        ("字" * 251, False),
    ],
)
def test_chinese_counts_double(text: str, fits: bool) -> None:
    assert fits_window(text, CaptureTable()) is fits


def captured(root, opening, table: str, text: str) -> int:
    """Return how many cards one turn makes under some settings."""
    with (root / MARKER).open("a", encoding="utf-8") as file:
        file.write(f"\n[capture]\n{table}\n")
    with Memory.open(root, opening) as memory:
        memory.session("s").turn("user", text)
        return len([path for path in memory.store.files("semantic") if path.endswith(".md")])


@pytest.mark.parametrize(
    ("table", "text", "cards"),
    [
        ("", LONG, 0),
        ("max_chars = 2000", LONG, 1),
        ("", "我讨厌弹窗。", 1),
        ("min_chars = 20", "我讨厌弹窗。", 0),
        ("max_chars = 8", "我讨厌弹窗。", 0),
    ],
    ids=["long", "long, wider", "short", "short, narrower", "below the smallest"],
)
def test_what_the_settings_say_holds(
    memory: Memory, opening, table: str, text: str, cards: int
) -> None:
    root = memory.root
    memory.close()
    assert captured(root, opening, table, text) == cards
