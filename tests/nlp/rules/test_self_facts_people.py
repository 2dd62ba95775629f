"""What people say of themselves."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.self_facts import cut_to_statement, introduced


@pytest.mark.parametrize(
    ("sentence", "slots"),
    [
        ("My name is Maya, I live in York and I teach chemistry.", ["name", "city", "job"]),
        ("我叫林夏，住在成都，平时是个产品经理。", ["name", "city", "job"]),
        ("I work as a nurse.", ["job"]),
        ("I have two cats and one dog called Rex, my dog is called Rex.", ["pet"]),
        ("我家的猫叫豆包。", ["pet"]),
        ("My birthday is 4 March.", ["birthday"]),
        ("我对花生过敏。", ["diet"]),
        ("My timezone is CET.", ["timezone"]),
        ("I just joined a climbing club.", ["news"]),
        ("我换了工作。", ["news"]),
        ("I've been surfing for ten years.", ["hobby"]),
        ("I'm learning German.", ["studies"]),
        ("我在自学日语。", ["studies"]),
    ],
)
def test_a_slot_is_filled(sentence: str, slots: list[str]) -> None:
    assert [known.slot for known, _ in introduced(sentence)] == slots


@pytest.mark.parametrize(
    "sentence",
    [
        "He lives in York.",
        "They have a dog.",
        "I'm a bit tired.",
        "Since I lost my job, days are long.",
        "I live in constant fear of Mondays.",
        "他住在北京。",
        "我叫了外卖。",
        "我在公司工作到很晚。",
    ],
)
def test_other_sentences_fill_none(sentence: str) -> None:
    assert introduced(sentence) == []


def test_each_slot_has_its_clause() -> None:
    found = {known.slot: clause for known, clause in introduced("我叫林夏，住在成都。")}
    assert found == {"name": "我叫林夏", "city": "住在成都"}


def test_news_are_told_from_the_speaker_on() -> None:
    assert cut_to_statement("Great things! I joined a gym") == "I joined a gym"
