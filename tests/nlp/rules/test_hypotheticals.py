"""Unreal: plans, refusals, the past and others' words are told from what is so."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules import hypotheticals
from kimi_memory.nlp.rules.cues import Bar, bars_of


@pytest.mark.parametrize(
    ("sentence", "bar"),
    [
        ("We plan to change the port of Atlas to 9090.", Bar.PLAN),
        ("They considered MySQL as the database, but decided against it.", Bar.PLAN),
        ("Don't change the port of Atlas to 9090.", Bar.PLAN),
        ("The port was almost changed, but it nearly became 9090.", Bar.PLAN),
        ("For example, the port of Atlas is 9090.", Bar.PLAN),
        ("我们打算以后把端口改成9090。", Bar.PLAN),
        ("有人提议把端口改成9090，后来没通过。", Bar.PLAN),
        ("别把端口改成9090。", Bar.PLAN),
        ("端口差点改成9090。", Bar.PLAN),
        ("Years ago the port of Atlas was 9090.", Bar.PAST),
        ("Until last year Atlas had 9090 as its port.", Bar.PAST),
        ("I used to live in Riga.", Bar.PAST),
        ("去年青鸾的端口还是9090。", Bar.PAST),
        ("老王说青鸾的端口是9090。", Bar.HEARSAY),
        ("Somebody asked whether the port is 9090.", Bar.HEARSAY),
        ("除非端口是9090，否则没事。", Bar.HYPOTHETICAL),
        ("If anybody asks, maybe it is 9090.", Bar.HEDGE),
    ],
)
def test_what_is_not_so_is_barred(sentence: str, bar: Bar) -> None:
    assert bar in bars_of(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "If anybody asks, the port of Atlas is 9090.",
        "要是有人问起，青鸾的端口是9090。",
        "The port of Atlas used to be 8080, now it's 9090.",
        "青鸾的端口原来是8080，现在是9090。",
        "Change of plan: the port of Atlas will be 9090.",
        "计划有变，青鸾的端口变成9090。",
        "经过讨论，选定Redis为缓存。",
        "我说的青鸾的端口是9090。",
    ],
)
def test_what_holds_now_is_not(sentence: str) -> None:
    assert not bars_of(sentence) - {Bar.FLEETING, Bar.FINISHED}


def test_a_past_that_reaches_the_present_is_none() -> None:
    assert hypotheticals.is_past("last year the port was 8080.")
    assert not hypotheticals.is_past("last year the port was 8080, since then it is 9090.")
