"""Characters: Chinese ones, forms that are folded to compare texts, and the language they make."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.patterns import (
    HAN,
    appearance,
    bare,
    is_han,
    language_of,
    letters_of,
    normalise,
    simplify,
)

BORDERS = (0x3005, 0x3005, 0x3007, 0x3007, 0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xF900, 0xFAFF)
BORDERS += (0x20000, 0x2FA1F, 0x30000, 0x323AF)
"""First and last of each run of Chinese characters."""


def test_is_han_knows_ideographs_only() -> None:
    assert all(map(is_han, "中々〇㐀𠀀"))
    assert not any(map(is_han, "aあ한，1"))


def test_is_han_says_of_each_character_what_the_pattern_says() -> None:
    pattern = re.compile(f"[{HAN}]")
    edges = {
        code + by
        for first, last in zip(BORDERS[::2], BORDERS[1::2], strict=True)
        for code in (first, last)
        for by in (-1, 0, 1)
    }
    for code in sorted(edges | set(range(0x2000, 0x33000, 7))):
        ch = chr(code)
        assert is_han(ch) == (pattern.fullmatch(ch) is not None), hex(code)


def test_simplify_keeps_length_and_all_but_traditional_forms() -> None:
    assert simplify("資料庫連線與開發環境 ok あ") == "资料库连线与开发环境 ok あ"
    assert simplify("数据库") == "数据库"


def test_everyday_traditional_words_become_simplified_ones() -> None:
    traditional = "週末遊戲、採買餃子與餅乾、復習稅單、廚房漁獲、趕上賀歲、緩慢的淺海、讚歎獅子"
    simplified = "周末游戏、采买饺子与饼干、复习税单、厨房渔获、赶上贺岁、缓慢的浅海、赞叹狮子"
    assert simplify(traditional) == simplified
    assert simplify("著名的著作") == "著名的著作"


@given(st.text())
def test_simplifying_twice_changes_nothing_more(text: str) -> None:
    once = simplify(text)
    assert len(once) == len(text)
    assert simplify(once) == once


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("我的编辑器配色一直用 Solarized 暗色。", "我的編輯器配色一直用Ｓｏｌａｒｉｚｅｄ暗色"),
        ("My dentist is Dr. Abernathy!", "my dentist is “Dr Abernathy”"),
        ("周五，不要发版！", "周五不要发版"),
        ("re-ingest it", "reingest it"),
        ("1,000 items", "1000 items"),
        ("don't", "don’t"),
    ],
    ids=["script and width", "marks", "chinese marks", "hyphen", "thousands", "apostrophe"],
)
def test_other_ways_to_type_a_text_are_the_same_text(a: str, b: str) -> None:
    assert bare(a) == bare(b) != ""


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("version 1.5", "version 15"),
        ("-5 degrees", "5 degrees"),
        ("we use C", "we use C++"),
        ("we use C#", "we use C"),
        ("at 10:30", "at 1030"),
        ("喜欢", "不喜欢"),
    ],
)
def test_what_changes_a_meaning_stays(a: str, b: str) -> None:
    assert bare(a) != bare(b)


@given(st.text())
def test_what_is_bare_stays_as_it_is_under_normalising(text: str) -> None:
    assert bare(normalise(text)) == bare(text)
    assert not any(ch.isspace() for ch in bare(text))


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("＜／ｋｉｍｉ", "</kimi"),
        ("кімі", "kimi"),
        ("k\u200bi\u0308mi", "kimi"),
        ("ﬁne", "fine"),
        ("中文", "中文"),
    ],
)
def test_a_text_is_folded_to_what_it_looks_like(text: str, looks: str) -> None:
    assert appearance(text)[0] == looks


@given(st.text())
def test_every_sign_has_a_place_in_order(text: str) -> None:
    looks, places = appearance(text)
    assert len(looks) == len(places) and places == sorted(places)
    assert all(0 <= place < len(text) for place in places)


@pytest.mark.parametrize(
    "text",
    [
        "我们周五部署",
        "我们用 Kubernetes 部署 API Gateway",
        "把 src/main.py 里的 get_user_by_id 改成 async",
        "用 PostgreSQL 不用 MySQL，因为 JSONB 好用",
        "好的",
        "資料庫連線失敗",
        "`kubectl get pods` 报错",
        "看 https://example.com/a/very/long/path/with/words 这个链接",
        "部署前先跑 pytest -n 2，再看 Grafana Dashboard 和 Sentry Alerts",
    ],
)
def test_chinese_with_english_names_is_chinese(text: str) -> None:
    assert language_of(text) == "zh"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1234 !!",
        "Deploy on Fridays",
        "I met 王小明 in Beijing yesterday",
        "Please translate 我喜欢你 into English",
        "The word 部署 means deploy",
        "print('hello')",
    ],
)
def test_english_that_quotes_chinese_is_english(text: str) -> None:
    assert language_of(text) == "en"


@pytest.mark.parametrize("tail", ["…", "。", " ⟦cut: 7 bytes⟧"])
def test_a_word_without_an_end_takes_no_time(tail: str) -> None:
    assert language_of("x" * 300_000 + tail) == "en"
    assert language_of("a-" * 150_000 + "://" + tail) == "en"


def test_letters_are_what_is_left_without_marks_and_blanks() -> None:
    assert letters_of("Glue a **new hinge**, no. 2!") == "glueanewhingeno2"
    assert letters_of("用亚麻布，做「新」的 书脊。") == "用亚麻布做新的书脊"
    assert letters_of("… – *") == letters_of("") == ""
