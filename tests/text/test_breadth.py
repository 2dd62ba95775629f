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
        "What does Ann do to relax?",
        "What do Ann's kids like?",
        "How has Ben tried to sell the boat?",
        "What has Ann painted?",
        "Can you give me a summary of what we decided?",
        "In what order did I visit the harbours?",
        "他们都去过哪里？",
        "請總結一下這個項目",
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
        "When did Ann have a picnic?",
        "How long has Ann been painting?",
        "What does Ben plan to do at the opening?",
        "Who was at the studio that Ben has opened?",
        "What did Ann say about the studio that Ben has opened?",
        "他总结出了什么新策略？",
        "",
    ],
)
def test_questions_for_one_thing_are_not(text: str) -> None:
    assert not asks_for_several(text)
