"""Offers without a label, and answers that are a line of the agent's list."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.closing_offers import (
    action_offered,
    agreed_offer,
    agrees,
    line_named,
)


@pytest.mark.parametrize(
    "offer",
    [
        "Want me to cache the avatars on disk?",
        "If you want, I can move the retry loop into its own module.",
        "Would you like me to translate the menu into Polish?",
        "Do you want me to keep the old endpoint for a month?",
        "Shall I swap the carousel for a plain list?",
        "Let me know if you'd like me to drop the legacy table.",
        "要不要我顺便把接口文档补上？",
        "需要我把日志改成按天切分吗？",
        "如果你愿意，我可以把图片换成 WebP。",
        "是否需要我给导出加一个进度条？",
    ],
)
def test_what_the_agent_offers_at_the_end_is_found(offer: str) -> None:
    assert action_offered(f"The parser is done.\n\n{offer}") == offer


@pytest.mark.parametrize(
    "words",
    [
        "Should I go ahead?",
        "Do you want me to commit this?",
        "Would you like me to make this change?",
        "Want me to add some tests?",
        "Which of these should I take?",
        "Do you want me to use Redis or Postgres?",
        "I can see the settings file now.",
        "If you want more, I can:",
        "需要我继续吗？",
        "要我现在提交吗？",
    ],
)
def test_what_keeps_the_work_going_offers_nothing(words: str) -> None:
    assert action_offered(f"The parser is done.\n\n{words}") == ""


def test_an_offer_that_names_nothing_has_the_sentence_before_it() -> None:
    said = "没有任何引用，可以从依赖里移除。需要我删掉吗？"
    assert action_offered(f"查过了。\n\n{said}") == said
    assert agrees("删除", said)
    assert agreed_offer(said, "删除") == said


@pytest.mark.parametrize(
    ("answer", "yes"),
    [
        ("yes always", True),
        ("yes, add the toggle", True),
        ("好的，可以", True),
        ("no, leave it", False),
        ("what does it cost?", False),
        ("ok but first fix the linter version and the setup action you found", False),
    ],
)
def test_an_answer_with_words_of_its_own_is_no_mere_yes(answer: str, yes: bool) -> None:
    assert agrees(answer, "If you want, I can add a toggle for dark colours.") is yes


MENU = """How should the home page be ordered?

1. **Priority-Based with Quick Actions**: urgent first, buttons beside each
2. **Chronological**: newest first
- 按部门分组：每个部门一栏
"""


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (
            "Priority-Based with Quick Actions",
            "Priority-Based with Quick Actions: urgent first, buttons beside each",
        ),
        ("let's go with chronological please", "Chronological: newest first"),
        ("Chronological: newest first", "Chronological: newest first"),
        ("就按部门分组吧", "按部门分组：每个部门一栏"),
    ],
)
def test_an_option_is_named_by_its_words(answer: str, line: str) -> None:
    assert line_named(answer, MENU) == ("How should the home page be ordered?", line)


@pytest.mark.parametrize(
    "answer",
    ["Chronological?", "newest", "what is Priority-Based with Quick Actions", "ok", "x\ny", ""],
)
def test_a_question_and_a_stray_word_name_no_option(answer: str) -> None:
    assert line_named(answer, MENU) == ("", "")


def test_a_pasted_part_of_a_sentence_is_what_shall_be_done() -> None:
    message = "The only way is to keep one socket per tenant and drop idle ones after a minute."
    answer = "keep one socket per tenant and drop idle ones"
    assert line_named(answer, message) == ("", answer)


def test_code_is_no_line_to_pick() -> None:
    assert line_named("return the cached value", "```\n- return the cached value\n```") == ("", "")


@pytest.mark.parametrize(
    "answer",
    [
        "Yes, I'll think about it",
        "ok, maybe next time",
        "sure, let me look at it first",
        "好的，我会考虑的",
        "行，下次我试试",
        "好，有空去看看",
    ],
)
def test_a_yes_that_only_thinks_of_it_agrees_to_nothing_yet(answer: str) -> None:
    assert not agreed_offer("I recommend the old lighthouse walk. 我推荐去老灯塔走走。", answer)
    assert agreed_offer("I recommend the old lighthouse walk.", "Yes, that one")


@pytest.mark.parametrize(
    ("answer", "agreed"),
    [
        ("Ok I think I've connected the printer properly now. Where do I find its address?", False),
        ("ok so the parcel arrived from Lisbon with a broken lid, what now", False),
        ("好的，我刚把打印机驱动重新装了一遍，地址在哪看", False),
        ("ok", True),
        ("Yes, that one. Where do I buy the tickets for the ferry?", True),
        ("Sure, because the kids sleep badly on long drives", True),
        ("好，因为孩子晕车坐不了长途", True),
    ],
)
def test_a_yes_that_goes_on_with_something_else_agrees_to_nothing(
    answer: str, agreed: bool
) -> None:
    message = "I recommend the night train. 我推荐坐夜车。"
    assert bool(agreed_offer(message, answer)) is agreed
