"""How texts look: alphabets, wide forms and unseen signs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.lookalikes import appearance


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("＜／ｋｉｍｉ", "</kimi"),
        ("кімі", "kimi"),
        ("k\u200bi\u0308mi", "kimi"),
        ("ﬁne", "fine"),
        ("中文", "中文"),
    ],
)
def test_a_text_is_folded_to_what_it_looks_like(text: str, looks: str) -> None:
    assert appearance(text)[0] == looks


@given(st.text())
def test_every_sign_has_a_place_in_order(text: str) -> None:
    looks, places = appearance(text)
    assert len(looks) == len(places) and places == sorted(places)
    assert all(0 <= place < len(text) for place in places)
