"""Praise of advice and wishes of the moment settle nothing."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.own_clauses import own_clauses
from kimi_memory.nlp.rules.praise import (
    gives_thanks,
    is_of_the_moment,
    is_of_thing_at_hand,
    only_praises,
    praises,
    settles_nothing,
)


@pytest.mark.parametrize(
    "text",
    [
        "Your packing list is really helpful.",
        "That outline hits the spot for how I like to work.",
        "Thanks, this approach suits my habit of planning ahead!",
        "You're right, exactly what I needed.",
        "这个提纲很清晰，正符合我凡事先列表的习惯。",
        "你的拆解太到位了，谢谢！",
        "分步的思路听起来非常适合我爱动手的性格。",
        "被你一分析，心里踏实了。可以安心睡了。",
        "完全契合我喜欢对比的思维。",
    ],
)
def test_praise_of_advice_settles_nothing(text: str) -> None:
    assert settles_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, that list is great. From now on put prices in every list.",
        "Your outline is very clear. We go with Postgres for the archive.",
        "I like lists better than prose.",
        "I prefer tea with oat milk.",
        "The new deploy approach suits small teams.",
        "谢谢，提纲很清晰。以后每份提纲都写上日期。",
        "你的建议很实用。我决定用SQLite存档案。",
        "Thanks, that list is great. I prefer plain answers.",
        "谢谢，提纲很清晰。我喜欢直接的回答。",
        "我习惯先列清单再动手。",
        "我喜欢直接的回答。",
    ],
)
def test_a_choice_beside_praise_and_a_plain_taste_stay(text: str) -> None:
    assert not settles_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "My stomach is upset, so I'd prefer something plain.",
        "I'd love a bit of soup.",
        "I decided to miss this evening's swim class.",
        "I decided to stay home and rest today.",
        "今晚我就不练了，早点睡。",
        "今天想吃点清淡的。",
        "决定跳过今晚的球赛。",
    ],
)
def test_a_wish_of_the_moment_is_no_taste(text: str) -> None:
    assert is_of_the_moment(text)
    assert settles_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "I generally prefer something plain in the evening.",
        "I'd prefer answers without tables.",
        "Today we decided to store the archive in Postgres.",
        "We skip the staging step in releases.",
        "From today I eat no meat.",
        "I never eat after eight, today or any day.",
        "今天我们决定用Postgres存档案。",
        "从今天起我不吃肉。",
        "我晚上从来不喝咖啡。",
        "现在起每周三休息。",
    ],
)
def test_what_lasts_is_not_of_the_moment(text: str) -> None:
    assert not is_of_the_moment(text)


@pytest.mark.parametrize(
    "text",
    [
        "I prefer a slightly warmer shade for the sky.",
        "I prefer the slightly darker frame",
        "I lean towards the second one",
        "I'd go for option b",
        "I prefer 40 metres.",
        "我更喜欢偏暗一点的版本",
        "我倾向于80公里。",
        "我选第二个",
        "我更倾向前者",
        "我比较喜欢稍微宽一些的",
    ],
)
def test_a_taste_about_the_thing_at_hand_is_none_for_later(text: str) -> None:
    assert is_of_thing_at_hand(text)


@pytest.mark.parametrize(
    "text",
    [
        "I prefer tea over coffee.",
        "I prefer morning meetings",
        "I'd rather go by train than fly",
        "I lean towards jazz these days",
        "I prefer dark roast",
        "我喜欢吃辣",
        "我更喜欢坐火车",
        "我倾向于早上开会",
        "我选靠窗的座位",
        "我偏爱手冲咖啡",
    ],
)
def test_a_taste_that_names_its_thing_is_kept(text: str) -> None:
    assert not is_of_thing_at_hand(text)


def test_praise_is_of_help_and_not_of_things() -> None:
    assert praises("这些建议对我帮助很大，非常有启发")
    assert praises("从利润看的角度很新鲜，我喜欢。")
    assert praises("这个行程安排挺合理的。")
    assert praises("很具体，对我这种急性子的人很有帮助。")
    assert praises("先列清单这个方法好，很适合我这种急性子。")
    assert not praises("The museum in Ghent is really nice.")
    assert not praises("那家面馆的汤很好。")


def test_praise_alone_is_told_from_praise_with_news() -> None:
    assert only_praises("Your tips are so helpful. Thanks!")
    assert only_praises("你的讲解非常系统，把我零散的想法串起来了。")
    assert not only_praises("Thanks! My son is called Per.")
    assert not only_praises("谢谢你的讲解！我儿子叫小北。")
    assert not only_praises("")


def test_who_thanks_and_asks_on_has_not_closed_yet() -> None:
    assert gives_thanks(
        own_clauses("Thank you for the clear plan. Habits instead of strict rules.")
    )
    assert gives_thanks(own_clauses("你的建议很实用，我心里有底了。"))
    assert not gives_thanks(own_clauses("Thanks, that helps a lot. What about the roof?"))
    assert not gives_thanks(own_clauses("The roof leaks above the stairs."))
