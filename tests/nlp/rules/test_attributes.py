"""Names of attributes: one for both languages, and what sort of thing they are."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.attribute_nouns import english, is_lexical
from kimi_memory.nlp.rules.attributes import attribute_of, is_empty


@pytest.mark.parametrize(
    ("english_noun", "chinese"),
    [
        ("memory limit", "内存上限"),
        ("config path", "配置路径"),
        ("default language", "默认语言"),
        ("cloud provider", "云服务商"),
        ("test framework", "测试框架"),
        ("package manager", "包管理器"),
        ("release day", "发布日"),
        ("role", "职位"),
    ],
)
def test_a_noun_has_the_same_name_in_both_languages(english_noun: str, chinese: str) -> None:
    assert attribute_of(english_noun)[0] == attribute_of(chinese)[0]


def test_the_head_of_a_noun_says_what_it_is() -> None:
    assert attribute_of("backup window")[0] != attribute_of("backup folder")[0]
    assert attribute_of("current port") == attribute_of("port") == ("port", True)
    assert attribute_of("端口信息") == ("port", True)


def test_unknown_parts_keep_their_own_name() -> None:
    assert english("分机号") == "extension number"
    assert english("青鸾号") == "青鸾号"
    assert is_lexical("内存上限")
    assert not is_lexical("沉浸感")
    assert is_empty("problem")
