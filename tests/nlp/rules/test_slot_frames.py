"""Forms of slots: a clause is held against those it has a word of, and none is missed by that."""

from __future__ import annotations

import re

import pytest

from kimi_memory.nlp.rules import slot_frames
from kimi_memory.nlp.rules.slot_frames import find_frames


@pytest.mark.parametrize(
    ("clause", "slot", "value"),
    [
        ("I moved to Bristol", "home", "Bristol"),
        ("my sister is allergic to peanuts", "allergies", "peanuts"),
        ("ci runs on GitHub Actions", "ci", "GitHub Actions"),
        ("我对花生过敏", "allergies", "花生"),
        ("我住在宁波", "home", "宁波"),
        ("缩进统一用四个空格", "indentation", "四个空格"),
    ],
)
def test_a_clause_fills_the_slot_of_its_form(clause: str, slot: str, value: str) -> None:
    zh = not clause.isascii()
    found = list(find_frames(clause, zh=zh))
    assert next(one["v"] for name, one in found if name == slot) == value


@pytest.mark.parametrize("zh", [True, False])
def test_no_form_is_missed_for_its_words(zh: bool) -> None:
    clauses = (
        *("I moved to Leeds", "İ MOVED TO LEEDS", "the weather is fine", "ci moved to Drone"),
        *("我搬到杭州了", "我今年三十岁", "代码仓库放在 GitLab 上", "我是一名 Nurse"),
    )
    forms = slot_frames._ZH if zh else slot_frames._EN
    for clause in clauses:
        plain = [
            (slot, found[0])
            for slot, each in forms
            for form in each
            if (found := re.match(slot_frames._expand_form(form, zh=zh), clause, re.IGNORECASE))
        ]
        assert [(slot, found[0]) for slot, found in find_frames(clause, zh=zh)] == plain
