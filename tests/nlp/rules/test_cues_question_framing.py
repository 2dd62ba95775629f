"""How questions are put, in English and in both kinds of Chinese characters."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.cues import (
    asks_for_previous,
    asks_for_reply,
    asks_for_several,
    asks_over_time,
    without_introduction,
    without_request,
)


@pytest.mark.parametrize(
    "text",
    [
        "Which restaurant did you recommend to me?",
        "What was the podcast you previously suggested?",
        "What had you told me about the index?",
        "Was your advice to move?",
        "What did the assistant say about the camera?",
        "你推荐的餐厅叫什么？",
        "之前你给我推荐哪个播客",
        "上次你說過哪一種索引？",
        "你的建議是什麼",
        "助手当时解释了什么？",
    ],
)
def test_what_an_assistant_said_is_asked_for(text: str) -> None:
    assert asks_for_reply(text)


@pytest.mark.parametrize(
    "text",
    [
        "Can you recommend a restaurant?",
        "What would you suggest for dinner?",
        "What did I tell you about my knee?",
        "What did Ann recommend?",
        "你能推荐一家餐厅吗？",
        "你建议我怎么做？",
        "我说过我的预算吗",
        "李娜推荐了哪家店",
        "",
    ],
)
def test_what_is_asked_for_now_or_of_others_is_not(text: str) -> None:
    assert not asks_for_reply(text)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Can you remind me where the key is?", "where the key is?"),
        ("I'm going back to our previous conversation about Rome.", "Rome."),
        ("I was wondering if the key was found", "the key was found"),
        ("Do you remember Rome?", "Rome?"),
        ("请问钥匙在哪里？", "钥匙在哪里？"),
        ("你還記得鑰匙在哪裡嗎", "钥匙在哪里吗"),
        ("我们之前的聊天中提到的钥匙", "提到的钥匙"),
        ("能不能告诉我钥匙在哪", "钥匙在哪"),
    ],
)
def test_what_only_introduces_a_question_is_cut(text: str, rest: str) -> None:
    assert without_introduction(text).strip() == rest


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Which printer does the studio use?", "Which printer does the studio ?"),
        ("what shell are you using now?", "what shell are you  now?"),
        ("Which kind of bread does my aunt have?", "Which kind of bread does my aunt ?"),
    ],
)
def test_the_verb_that_only_carries_a_question_is_cut(text: str, rest: str) -> None:
    assert " ".join(without_introduction(text).split()) == " ".join(rest.split())


@pytest.mark.parametrize(
    "text",
    ["What does Anna use?", "Which knife did they use to open it?", "I use a Mac, what now?"],
)
def test_a_verb_that_the_question_is_about_stays(text: str) -> None:
    assert without_introduction(text) == text


@pytest.mark.parametrize("text", ["He reminded me of Rome.", "他告诉我钥匙在哪", "Our last trip"])
def test_what_tells_something_stays(text: str) -> None:
    assert without_introduction(text) == text


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


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (
            "I live in Ghent and run a shop, so I want to know about the tram.",
            "I live in Ghent and run a shop",
        ),
        ("I enjoy sailing, so please recommend a lake.", "I enjoy sailing"),
        ("I really enjoy sailing, please suggest a lake.", "I really enjoy sailing"),
        ("我住在苏州，开了家面馆，所以想了解一下怎么做外卖。", "我住在苏州，开了家面馆"),
        ("我每天练琴，想从下周开始换老师。", "我每天练琴，想从下周开始换老师。"),
        ("我想听听你的看法。", "我想听听你的看法。"),
    ],
)
def test_what_a_statement_asks_for_at_its_end_is_cut_off(text: str, stated: str) -> None:
    assert without_request(text) == stated
