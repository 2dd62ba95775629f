"""What tells a sentence to be left, and sentences without their warm-up or reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.cues import Bar


@pytest.mark.parametrize(
    ("sentence", "bar"),
    [
        ("Is this right?", Bar.QUESTION),
        ("这样可以吗", Bar.QUESTION),
        ("Perhaps later.", Bar.HEDGE),
        ("可能以后会做。", Bar.HEDGE),
        ("If it rains, we stay.", Bar.HYPOTHETICAL),
        ("要是下雨就不去。", Bar.HYPOTHETICAL),
        ("Back in 5 minutes.", Bar.FLEETING),
        ("My bags are all packed.", Bar.FLEETING),
        ("My feet are still sore.", Bar.FLEETING),
        ("The children are in the car.", Bar.FLEETING),
        ("Let's switch gears for a bit.", Bar.FLEETING),
        ("let's move on to the chapter about bees", Bar.FLEETING),
        ("等我一下。", Bar.FLEETING),
        ("All done now, it is finished.", Bar.FINISHED),
        ("首页写完了。", Bar.FINISHED),
        ("Tom says so.", Bar.HEARSAY),
        ("我妈说字要大。", Bar.HEARSAY),
        ("Haha, no.", Bar.JOKE),
        ("笑死我了。", Bar.JOKE),
        ("My password is hunter-fake.", Bar.SECRET),
        ("密码：Xz-fake。", Bar.SECRET),
        ("可以改成透明的吗 和背景一样就行", Bar.QUESTION),
        ("这样对吧，我先睡了", Bar.QUESTION),
        ("我们的菜单是不是少了一项", Bar.QUESTION),
    ],
)
def test_a_bar_is_seen(sentence: str, bar: Bar) -> None:
    assert bar in cues.bars_of(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We use SQLite for the database.",
        "数据库用 SQLite。",
        "主要是因为断网也能看。",
        "Thursday is climbing night now.",
        "所有密钥都必须放在环境变量里。",
        "他是不是本地人都一样收费。",
    ],
)
def test_a_plain_statement_has_no_bar(sentence: str) -> None:
    assert not cues.bars_of(sentence)


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("Well, actually, we use tabs.", "We use tabs."),
        ("嗯，对了，我叫林夏。", "我叫林夏。"),
        ("教训是：先备份再导入。", "先备份再导入。"),
        ("We use tabs.", "We use tabs."),
    ],
)
def test_warm_up_words_go(sentence: str, claim: str) -> None:
    assert cues.clean(sentence) == claim


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("We use tabs, because they are wide.", ("We use tabs", "they are wide")),
        ("用缩进，因为好看。", ("用缩进", "好看")),
        ("We use tabs.", ("We use tabs.", "")),
    ],
)
def test_a_reason_is_parted_from_its_claim(sentence: str, parts: tuple[str, str]) -> None:
    assert cues.split_reason(sentence) == parts


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("Sure, I propose we keep one changelog.", "We keep one changelog."),
        ("I'd suggest that dates are UTC.", "Dates are UTC."),
        ("我建议图片统一压缩成 WebP。", "图片统一压缩成 WebP。"),
    ],
)
def test_a_proposal_is_taken_at_its_content(sentence: str, value: str) -> None:
    assert cues.offered(sentence) == value


def test_others_words_are_blanked_and_names_stay() -> None:
    assert "mongodb" not in cues.own_words('He wrote "always use MongoDB for it" today.')
    assert "小灶" in cues.own_words("名字叫「小灶」。")


@given(st.text(max_size=300))
def test_any_text_passes_and_keeps_its_length(text: str) -> None:
    assert len(cues.own_words(text)) == len(text)
    assert cues.bars_of(text) <= frozenset(Bar)
    assert len(cues.clean(text)) <= len(text)
