"""Questions that ask for several things, in both languages."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.list_questions import asks_for_several, asks_over_time


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


OVER_TIME = (
    "In which order did I bring up the three trips?",
    "Summarise how my thesis changed since spring.",
    "How did my opinion of the new job develop?",
    "Walk me through everything we did about the roof.",
    "Give me a timeline of the flat hunt.",
    "How has my training for the race evolved?",
    "What did we do about the garden over the months?",
    "List the repairs chronologically.",
    "Retell the story of the shop from start to finish.",
    "Can you recap how the choir got its name?",
    "按时间顺序说说我换过的工作",
    "总结一下装修是怎么推进的",
    "我对新房子的看法是怎么变化的",
    "这件事的来龙去脉是什么",
    "回顾一下减肥的过程",
    "给我一条搬家的时间线",
    "項目的發展過程是怎樣的",
    "我提到这几本书的先后顺序",
    "从头到尾讲讲那场官司",
    "他的病情怎样一步步好转的",
)
AT_ONCE = (
    "What did I order for lunch?",
    "How did Ann get home yesterday?",
    "When is the next review?",
    "What changed in the last commit?",
    "How much did the roof cost?",
    "Where did we grow up?",
    "Who develops the firmware?",
    "What time is the line open?",
    "Which step comes next?",
    "How have you been?",
    "我几点下班",
    "房租涨了多少",
    "怎么去机场",
    "上次开会定在几号",
    "他现在做什么工作",
    "我的血型是什么",
    "这个变量叫什么",
    "谁负责进度",
    "回家要多久",
    "药怎么吃",
)


@pytest.mark.parametrize("question", OVER_TIME)
def test_questions_about_the_course_of_things_are_told_apart(question: str) -> None:
    assert asks_over_time(question)
    assert asks_for_several(question)


@pytest.mark.parametrize("question", AT_ONCE)
def test_other_questions_ask_for_no_course_of_things(question: str) -> None:
    assert not asks_over_time(question)
