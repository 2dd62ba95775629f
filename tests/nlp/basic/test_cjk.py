"""Chinese characters and their simplified forms."""

from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.cjk import is_han, simplify


def test_is_han_knows_ideographs_only() -> None:
    assert all(map(is_han, "中々〇㐀𠀀"))
    assert not any(map(is_han, "aあ한，1"))


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
