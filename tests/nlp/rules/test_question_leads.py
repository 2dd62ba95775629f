"""What only leads to a question is part of it, and no statement of its own."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.own_clauses import own_clauses
from kimi_memory.nlp.rules.utterance import Act


@pytest.mark.parametrize(
    "question",
    [
        "另外，关于院子的排水，你有什么办法吗？",
        "如果房东不同意换锁，我该找谁？",
        "下雨的话，帐篷要不要收起来？",
        "到了冬天那个阶段，对于多肉来说，一周浇几次水？",
        "Also, as for the cello lessons, how much should they cost?",
        "If the ferry is cancelled, such as on a stormy day, where do we sleep?",
        "So I'm not sure, in terms of insurance, is it worth it?",
        "我在想，既然船票已经退了，是不是该改坐火车？",
        "第一次办这么大的展览，你觉得要先联系谁？",
        "比如‘晨间散步’，怎么坚持？",
        "是先刷墙，还是先铺地板？",
        "A long flight with twins, do you have any advice?",
    ],
)
def test_a_lead_belongs_to_its_question(question: str) -> None:
    found = own_clauses(question)
    assert [one.act for one in found if one.act is Act.STATEMENT] == []
    assert found[-1].text == question[found[-1].start : found[-1].end]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("我弟弟在青岛开货车，他下周来，带他去哪儿玩？", "我弟弟在青岛开货车，他下周来"),
        ("I sold the van in May, but if they call again, what do I say?", "I sold the van in May"),
        ("还是选靠海的那家酒店吧，附近有停车场吗？", "还是选靠海的那家酒店吧"),
        ("We rented a boat, is that fine?", "We rented a boat"),
        ("如果下雨就不去了。你呢？", "如果下雨就不去了。"),
        ("If it rains we stay. What about you?", "If it rains we stay."),
        ("我开花店忙起来没空吃饭，你觉得怎么安排好？", "我开花店忙起来没空吃饭"),
        ("她说“先买票，再订房”，你觉得呢？", "她说“先买票，再订房”"),
        ("My cello is from 1920, do you think it needs a new bridge?", "My cello is from 1920"),
    ],
)
def test_what_is_stated_before_a_question_stays(text: str, stated: str) -> None:
    assert own_clauses(text)[0].text == stated


def test_each_clause_stands_where_it_says() -> None:
    text = "谢谢。我买了新相机，不过在夜景方面，快门怎么设？ Then, besides that, what else?"
    for one in own_clauses(text):
        assert text[one.start : one.end] == one.text


def test_what_begins_with_when_belongs_to_its_question() -> None:
    own = own_clauses("That makes it simpler. So, when I go with him, what shall I bring?")
    assert [one.text.strip() for one in own] == [
        "That makes it simpler.",
        "So, when I go with him, what shall I bring?",
    ]
