"""How strong the act behind a piece of knowledge is."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.strength import Strength, strength_of


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("Never ship on the last day of a month", "rule"),
        ("All invoices must be signed by two people", "rule"),
        ("以后报价都要含税", "rule"),
        ("I prefer oat milk in my coffee", "preference"),
        ("我更喜欢靠窗的座位", "preference"),
        ("We went with the blue tiles for the kitchen", "decision"),
        ("最后选了朝南的那间办公室", "decision"),
        ("My brother Tom drives a tram in Basel", "fact"),
        ("公司的打印机在三楼茶水间旁边", "fact"),
    ],
)
def test_a_plain_act_is_strong(text: str, type: str) -> None:
    assert strength_of(text, type) is Strength.STRONG


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("is the kitchen ready?", "fact"),
        ("ok, got it", "fact"),
        ("thanks a lot!", "preference"),
        ("好的，我记下了", "fact"),
        ("你觉得哪个好", "decision"),
    ],
)
def test_nothing_is_stated(text: str, type: str) -> None:
    assert strength_of(text, type) is Strength.NONE


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("the transfer policy of that bank feels terrible", "rule"),
        ("你是半点不准备说明", "rule"),
        ("you're always there when the boiler breaks", "fact"),
        ("maybe we should sell the caravan", "decision"),
        ("也许下个月换一台打印机", "fact"),
        ("心里总算踏实了", "decision"),
    ],
)
def test_what_is_not_plain_is_weak(text: str, type: str) -> None:
    assert strength_of(text, type) is Strength.WEAK


def test_what_is_asked_for_is_strong_if_it_says_anything() -> None:
    assert strength_of("remember: locker 14", "fact", asked=True) is Strength.STRONG
    assert strength_of("remember that", "fact", asked=True) is Strength.NONE
