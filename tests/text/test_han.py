"""Chinese characters and their simplified forms."""

from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.text.han import is_han, simplify


def test_is_han_knows_ideographs_only() -> None:
    assert all(map(is_han, "中々〇㐀𠀀"))
    assert not any(map(is_han, "aあ한，1"))


def test_simplify_keeps_length_and_all_but_traditional_forms() -> None:
    assert simplify("資料庫連線與開發環境 ok あ") == "资料库连线与开发环境 ok あ"
    assert simplify("数据库") == "数据库"


@given(st.text())
def test_simplifying_twice_changes_nothing_more(text: str) -> None:
    once = simplify(text)
    assert len(once) == len(text)
    assert simplify(once) == once
