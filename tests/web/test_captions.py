"""Captions: each in both languages, each used, and no page asks for another."""

from __future__ import annotations

import re
from pathlib import Path

from kimi_memory.web.captions import captions

ROOT = Path(__file__).parents[2]


def test_pages_ask_for_captions_that_there_are() -> None:
    pages = "".join(p.read_text("utf-8") for p in (ROOT / "templates/web").glob("*.j2"))
    asked = set(re.findall(r"\bt\.([a-z_]+)", pages))
    english, chinese = captions("en"), captions("zh")
    assert asked <= english.keys()
    assert english.keys() == chinese.keys()
    assert not [name for name, text in chinese.items() if text == english[name]]
