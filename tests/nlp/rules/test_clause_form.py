"""Clauses made ready for forms."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.clause_form import (
    claim_words,
    plain_clause,
    strip_lead,
    strip_marks,
    trim_value,
)
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.subjects import key_of


@pytest.mark.parametrize(
    ("clause", "plain"),
    [
        ("Actually, I'm based in Cork", "I am based in Cork"),
        ("From next week I get up at six", "I get up at six"),
        ("we've currently got two dogs", "we have got two dogs"),
    ],
)
def test_short_forms_are_written_out_and_lead_ins_go(clause: str, plain: str) -> None:
    assert plain_clause(clause, zh=False) == plain


@pytest.mark.parametrize(
    "lead",
    [
        *(
            "No wait, ",
            "Wait, ",
            "Actually no, ",
            "Hmm, ",
            "Oh, ",
            "Scratch that: ",
            "My mistake, ",
        ),
        *("Oops, ", "Edit: ", "I mean, ", "Hang on, ", "Nope, ", "Uh, no, ", "Not quite, "),
        *("Wait no — ", "Let me correct myself: ", "Come to think of it, ", "PS: ", "Right now "),
        "My mistake, ",
    ],
)
def test_words_that_only_lead_to_a_statement_are_no_part_of_it(lead: str) -> None:
    slot = slot_of(f"{lead}the database is MySQL.")
    assert slot and (slot.name, slot.which, slot.value) == ("database", "", "MySQL")
    assert key_of("fact", f"{lead}the database is MySQL.") == "fact.database"


@pytest.mark.parametrize(
    "lead",
    [
        *(
            "不对，",
            "不，",
            "哦不，",
            "等等，",
            "说错了，",
            "我记错了，",
            "更正：",
            "算了，",
            "抱歉，",
            "其实，",
        ),
        *(
            "应该说，",
            "呃，",
            "不是，",
            "不不不，",
            "口误，",
            "修正：",
            "准确地说，",
            "补充：",
            "再想想，",
        ),
    ],
)
def test_words_that_only_lead_to_a_chinese_statement_are_no_part_of_it(lead: str) -> None:
    slot = slot_of(f"{lead}数据库是MySQL。")
    assert slot and (slot.name, slot.which, slot.value) == ("database", "", "MySQL")
    assert key_of("fact", f"{lead}数据库是MySQL。") == "fact.database"


@pytest.mark.parametrize("text", ["不用 MySQL 做数据库", "Wait times are 5 s", "right hand rule"])
def test_what_is_no_lead_stays(text: str) -> None:
    assert strip_lead(text) == text


def test_a_chinese_clause_loses_its_adverbs() -> None:
    assert plain_clause("其实我现在住在苏州", zh=True) == "我住在苏州"
    assert plain_clause("我就职于京东", zh=True) == "我就职于京东"


def test_a_value_ends_where_the_old_one_is_named() -> None:
    assert trim_value("5 March, not 4 March", zh=False) == "5 March"
    assert trim_value("杭州了，不是成都", zh=True) == "杭州"
    assert strip_marks("Cork!! ") == "Cork"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I use four spaces", "i use 4 spaces."),
        ("We don't ship on Fridays", "We do not ship on Friday"),
        ("The rent is £900 a month", "the rent is 900 pounds per month"),
        ("twenty-five minutes", "25 min"),
        ("Alexis flat", "Alexis's flat"),
        ("The call is at 3 pm", "The call is at 15:00"),
        ("房租一个月三千五百块", "房租每月3500元"),
        ("部署无需审批", "部署不需要审批"),
        ("星期五别发版", "周五不要发版"),
        ("五点三刻", "5:45"),
        ("預算是五萬元", "预算是五万元"),
    ],
)
def test_two_forms_have_the_same_words(one: str, other: str) -> None:
    assert claim_words(one) == claim_words(other)


def test_small_words_of_a_value_stay() -> None:
    assert claim_words("成都", whole=True) != claim_words("成", whole=True)


def test_a_number_word_before_another_word_stays_a_number() -> None:
    assert claim_words("ninety percent") == ("90", "u:percent")
