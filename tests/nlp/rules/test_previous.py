"""Questions about what held before a change."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.previous import asks_for_previous


@pytest.mark.parametrize(
    "text",
    [
        "What was our database before?",
        "Which editor did she use before the move?",
        "What did we switch from?",
        "Which bank did I use to … no, which bank did I previously have?",
        "Where did Tom live originally?",
        "What was the old address?",
        "Which shop did we buy from before we moved?",
        "What was his former job?",
        "Who used to look after the cat?",
        "We migrated away from which queue?",
        "原来的房东是谁",
        "我们以前用什么数据库",
        "从哪个旧状态改过来的",
        "换之前的套餐是多少钱",
        "旧地址在哪里",
        "她先前住在哪个城市",
        "上一版的方案是什么",
        "這個密碼從什麼改成現在的",
        "曾经负责这件事的是谁",
        "改前的预算",
    ],
)
def test_a_question_about_what_was_replaced_is_recognised(text: str) -> None:
    assert asks_for_previous(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is our database?",
        "Which editor does she use?",
        "Call me before lunch",
        "What do I have to do before the trip?",
        "How old is Nora?",
        "Is the old cat asleep?",
        "Where do we move?",
        "What changed in the plan?",
        "Do you remember our previous conversation about the roof?",
        "Who looks after the cat?",
        "我们用什么数据库",
        "房东是谁",
        "新地址在哪里",
        "她住在哪个城市",
        "预算是多少",
        "你还记得我们之前的对话中提到的餐厅吗",
        "方案什么时候定",
        "变化有哪些",
        "谁负责这件事",
        "旧书怎么修",
    ],
)
def test_other_questions_are_not(text: str) -> None:
    assert not asks_for_previous(text)
