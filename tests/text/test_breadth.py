"""Questions that ask for several things, in both languages."""

from __future__ import annotations

import pytest

from kimi_memory.text.breadth import asks_for_several


@pytest.mark.parametrize(
    "text",
    [
        "Which cities has Jon visited?",
        "What instruments does Melanie play?",
        "What kind of writing does Tim do?",
        "How many times did we meet?",
        "What do Jon and Gina have in common?",
        "我们讨论过哪些方案？",
        "他去过几次北京",
    ],
)
def test_questions_for_several_things_are_broad(text: str) -> None:
    assert asks_for_several(text)


@pytest.mark.parametrize(
    "text",
    [
        "When did Melanie paint a sunrise?",
        "What is Ann's dog called?",
        "Which process was stopped?",
        "What has been decided?",
        "谁写了这个脚本",
        "",
    ],
)
def test_questions_for_one_thing_are_not(text: str) -> None:
    assert not asks_for_several(text)
