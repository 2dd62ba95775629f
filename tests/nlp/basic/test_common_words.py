"""Words that any text may say."""

from __future__ import annotations

from kimi_memory.nlp.basic.common_words import commonness
from plugins.words import split_words


def test_common_words_are_those_that_the_splitter_yields() -> None:
    common = commonness()
    assert all(common[word] > 0 for word in split_words("make time to work with good people"))
    assert all(common[word] > 0 for word in split_words("可以 使用 时间 工作"))
    assert set(common.values()) == {1.0, 2 / 3, 1 / 3}


def test_words_that_tell_a_topic_are_not_common() -> None:
    words = split_words("the lighthouse keeper's glovebox; 装修 五金店 氯吡格雷 wheelchair")
    assert not [word for word in words if len(word) > 1 and word in commonness()]


def test_words_that_prompts_are_made_of_tell_nothing() -> None:
    assert all(commonness()[word] == 1.0 for word in ("explain", "怎么", "什么", "translat"))
