"""Text made safe to print."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.terminal import printable


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07"),
        ("a\rb", "a\\x0db"),
        ("\x9b2J", "\\x9b2J"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("\x7f", "\\x7f"),
        ("\ud800", "\\ud800"),
        ("周五\t部署\nok é 😀", "周五\t部署\nok é 😀"),
    ],
)
def test_what_a_terminal_would_obey_is_shown(raw: str, shown: str) -> None:
    assert printable(raw) == shown


@given(st.text())
def test_printable_text_can_be_encoded_and_stays_so(text: str) -> None:
    shown = printable(text)
    assert "\x1b" not in shown
    shown.encode()
    assert printable(shown) == shown
