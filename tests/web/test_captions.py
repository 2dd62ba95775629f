"""Captions: each in both languages, each used, and no page asks for another."""

from __future__ import annotations

import re
from pathlib import Path

from kimi_memory.formats.chinese import read_chinese
from kimi_memory.formats.terms import TERMS
from kimi_memory.tui.desk import phrases
from kimi_memory.web.captions import captions

ROOT = Path(__file__).parents[2]


def test_pages_ask_for_captions_that_there_are() -> None:
    pages = "".join(p.read_text("utf-8") for p in (ROOT / "templates/web").glob("*.j2"))
    asked = set(re.findall(r"\bt\.([a-z_]+)", pages))
    english, chinese = captions("en"), captions("zh")
    assert asked <= english.keys()
    assert english.keys() == chinese.keys()
    assert not [name for name, text in chinese.items() if text == english[name]]


def test_chinese_words_are_those_of_the_glossary() -> None:
    pairs = {**read_chinese(), **dict(TERMS.values())}
    for of in (captions, phrases):
        pairs |= {of("en")[name]: text for name, text in of("zh").items()}
    wrong = {
        (word, meant, english)
        for english, text in pairs.items()
        for word, meant in {"复核": "待审", "忘掉": "遗忘"}.items()
        if word in text
    }
    job = re.compile(r"\bjobs?\b", re.IGNORECASE)
    wrong |= {
        ("任务", "作业", english) for english, text in pairs.items()
        if job.search(english) and "任务" in text
    }  # fmt: skip
    assert not wrong, "docs/zh/glossary.md has another word"
