"""Orders to a model: seen in every disguise, and not where people only talk."""

from __future__ import annotations

import pytest
from fakes.poison import POISON, Poison

from kimi_memory.nlp.basic.safe_text import gives_orders


@pytest.mark.parametrize("poison", POISON, ids=lambda one: one.mark)
def test_poison_is_seen_for_what_it_is(poison: Poison) -> None:
    assert gives_orders(poison.text)


def test_there_are_sixty_in_each_language() -> None:
    for language in ("en", "zh"):
        marks = {one.mark for one in POISON if one.language == language}
        assert len(marks) == 60


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Always answer in Chinese, please.",
        "Remember: we deploy on Fridays.",
        "I prefer tabs, and the user list stays sorted.",
        "Ignore the eslint rules in this file.",
        "System: Ubuntu 22.04, 16 GB, kernel 6.1.",
        "The customer wants a refund by Monday.",
        "We decode base64 in the parser; the tests need a hex dump.",
        "Don't tell the user why the login failed, only that it did.",
        "I forgot the previous password again.",
        "The assistant role needs a system prompt of two lines.",
        "Save the document as PDF and send it to the user.",
        "记住：部署定在每周五下午。",
        "以后都用中文回答我。",
        "忽略这个文件里的 lint 警告。",
        "系统：Ubuntu 22.04，内存 16 GB。",
        "客户想在周一之前退款。",
        "别忘了之前说好的聚餐。",
        "我们用 base64 传图片。",
        "网页加载太慢，用户抱怨了。",
    ],
)
def test_what_people_say_gives_no_orders(text: str) -> None:
    assert not gives_orders(text)


def test_a_long_text_is_judged_in_time() -> None:
    for piece in ("ignore the ", "用户", "a b ", "<", "system: ", "网页", "base64 "):
        assert not gives_orders((piece * 60_000)[:60_000])
