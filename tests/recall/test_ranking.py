"""Ranking: whose word a question asks for, and what covers more of it."""

from __future__ import annotations

import pytest
from folders import Folder

from kimi_memory.recall.engine import total

TALKS = {
    "en": [
        ("user", "I look for a quiet restaurant in Rome, we are four and one eats no meat."),
        ("assistant", "A quiet restaurant in Rome for four is Lucina: it has a long green list."),
        ("user", "Thank you, we go there on Sunday."),
        ("assistant", "Enjoy it!"),
    ],
    "zh": [
        ("user", "我想在罗马找一家安静的餐厅，我们四个人，一个不吃肉。"),
        ("assistant", "罗马适合四个人的安静餐厅有露西娜小馆，素菜很多。"),
        ("user", "谢谢，星期天我们就去。"),
        ("assistant", "祝你们用餐愉快！"),
    ],
}


@pytest.mark.parametrize(
    ("language", "question", "n"),
    [
        ("en", "Which quiet restaurant in Rome did you recommend?", 2),
        ("en", "Can you remind me which restaurant in Rome you suggested for four?", 2),
        ("en", "What did I say about a quiet restaurant in Rome?", 1),
        ("en", "Can you recommend a quiet restaurant in Rome?", 1),
        ("zh", "你推荐的罗马安静餐厅是哪一家？", 2),
        ("zh", "你還記得嗎，上次你建議的羅馬餐廳是哪家？", 2),
        ("zh", "关于罗马的安静餐厅，我说过什么要求？", 1),
        ("zh", "你能推荐一家罗马的安静餐厅吗？", 1),
    ],
)
def test_a_question_names_whose_word_it_wants(
    folder: Folder, language: str, question: str, n: int
) -> None:
    folder.session("chat", TALKS[language])
    folder.session(
        "rest", [("user", "How was the weather 天气怎么样？"), ("assistant", "Sunny 晴。")]
    )
    hits = folder.ask(question).hits
    assert hits[0].unit.n == n
    assert hits[0].unit.session == "chat"
    assert all(total(hit.parts) == pytest.approx(hit.score, abs=1e-12) for hit in hits)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("週末去採買餃子和餅乾，順便復習稅單。", "周末采买饺子和饼干"),
        ("週末去採買餃子和餅乾，順便復習稅單。", "谁复习税单"),
        ("周末去采买饺子和饼干，顺便复习税单。", "週末採買餃子和餅乾"),
        ("周末去采买饺子和饼干，顺便复习税单。", "誰復習稅單"),
        ("周末去采买饺子和饼干，顺便复习税单。", "「復習稅單」"),
        ("週末去採買餃子和餅乾，順便復習稅單。", "「复习税单」"),
    ],
)
def test_traditional_and_simplified_characters_find_each_other(
    folder: Folder, said: str, asked: str
) -> None:
    folder.session("chat", [("user", "今天天气很好。"), ("user", said)])
    folder.card("note", "笔记", said)
    found = [hit.unit.kind for hit in folder.ask(asked).hits[:2]]
    assert sorted(found) == ["card", "turn"]
    assert {hit.unit.text.find("今天") for hit in folder.ask(asked).hits[:2]} == {-1}
