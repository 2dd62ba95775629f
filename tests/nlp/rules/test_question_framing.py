"""How questions are put, in English and in both kinds of Chinese characters."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.question_framing import asks_for_reply, without_introduction


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


@pytest.mark.parametrize("text", ["He reminded me of Rome.", "他告诉我钥匙在哪", "Our last trip"])
def test_what_tells_something_stays(text: str) -> None:
    assert without_introduction(text) == text
