"""A forgotten value stays away, and words that only hold it may be said."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.operations.forget import forget
from kimi_memory.store.notes.notes import read_tombstones

FREE = (
    ("user.pet", "cat", "Remember the cat door is broken."),
    ("user.pet", "cat", "Our team draws a cat on each release."),
    ("user.pet", "My pet is a cat.", "The cat door is broken."),
    ("user.pet", "My pet is a cat.", "My pet is a dog."),
    ("user.colour", "blue", "The blue button starts the build."),
    ("user.colour", "My favourite colour is blue.", "My favourite team is the blue one."),
    ("user.city", "I live in Paris.", "The office in Paris closes at six."),
    ("user.city", "Paris", "The Paris office closes at six."),
    ("user.name", "My name is Will.", "We will ship on Friday."),
    ("user.name", "Will", "We will ship on Friday."),
    ("user.drink", "tea", "The tea kitchen is on floor two."),
    ("project.language", "We use Go.", "We go live on Monday."),
    ("project.language", "Go", "We go live on Monday."),
    ("user.pet", "猫", "猫门坏了，记得修。"),
    ("user.pet", "我的宠物是猫。", "猫门坏了，记得修。"),
    ("user.pet", "我的宠物是猫。", "我的宠物是狗。"),
    ("user.city", "我住在上海。", "上海办公室六点关门。"),
    ("user.city", "上海", "上海办公室六点关门。"),
    ("user.drink", "茶", "茶水间在二楼。"),
    ("user.colour", "我最喜欢蓝色。", "蓝色按钮启动构建。"),
    ("project.database", "数据库用 MySQL。", "MySQL 的账单每月一号到。"),
)
BARRED = (
    ("user.pet", "cat", "cat", "user.pet"),
    ("user.pet", "cat", "Cat!", "user.pet"),
    ("user.pet", "My pet is a cat.", "My pet is a cat", ""),
    ("user.city", "I live in Paris.", "I live in Paris!", ""),
    ("user.name", "My name is Will.", "my name is will", ""),
    ("user.pet", "我的宠物是猫。", "我的宠物是猫", ""),
    ("user.city", "我住在上海。", "我住在上海！", ""),
    ("user.pet", "猫", "猫。", "user.pet"),
    ("project.database", "数据库用 MySQL。", "数据库用ＭｙＳＱＬ", ""),
)


@pytest.mark.parametrize(("key", "value", "later"), FREE)
def test_what_only_holds_a_forgotten_word_is_stored(
    memory: Memory, key: str, value: str, later: str
) -> None:
    memory.remember(value, key=key)
    assert forget(memory, Wanted(key=key)).operations
    for under in ("", f"{key}.further"):
        report = memory.remember(later, key=under)
        assert [step.target for step in report.operations], (under, report)
    assert read_tombstones(memory.store).redact(later, {"memory"}) == later


@pytest.mark.parametrize(("key", "value", "later", "under"), BARRED)
def test_a_forgotten_value_is_not_stored_again(
    memory: Memory, key: str, value: str, later: str, under: str
) -> None:
    memory.remember(value, key=key)
    forget(memory, Wanted(key=key))
    report = memory.remember(later, key=under)
    assert report.operations == (), report
