"""Whether words say what they mean without the talk around them."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.stands_alone import (
    asks_for_edit,
    gives_own_value,
    is_reported,
    joins_value,
    names_agent,
    only_names_habit,
    points_at_talk,
    tells_wish,
)


@pytest.mark.parametrize(
    "text",
    [
        "the changelog should always use that short form",
        "never send such letters again",
        "every chart has to look like this",
        "I love the idea of a roof garden",
        "I like that a lot",
        "日报以后都要这样写",
        "标题要像这样居中",
        "我就喜欢这种安静",
        "先从小样开始，这个顺序我喜欢",
    ],
)
def test_what_only_the_talk_shows_is_seen(text: str) -> None:
    assert points_at_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "never push to main on a Friday",
        "use British spelling in the letters",
        "I like olives on my pizza",
        "keep the notes as short as possible",
        "以后报价都要含税",
        "我喜欢在河边跑步",
        "这个周末不要安排会议",
    ],
)
def test_what_names_its_matter_stands(text: str) -> None:
    assert not points_at_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "这样一来，我的偏好就更清楚了。",
        "按我的习惯，还要再看一遍。",
        "效果不错，用的都是我喜欢的颜色和我喜欢的元素。",
        "我想奶奶一定会很喜欢。",
        "怎么让老顾客也喜欢",
    ],
)
def test_a_habit_that_is_not_named_is_none(text: str) -> None:
    assert only_names_habit(text)


@pytest.mark.parametrize(
    "text",
    [
        "我习惯早上跑步",
        "我还有个习惯，睡前看书",
        "我的习惯是先写提纲",
        "鱼我也喜欢",
        "奶奶也喜欢听戏",
    ],
)
def test_a_habit_that_is_named_is_one(text: str) -> None:
    assert not only_names_habit(text)


@pytest.mark.parametrize(
    "text",
    [
        "my coach always says to breathe out first",
        "Petra told me to never sign in a hurry",
        "医生提醒少吃盐",
        "他总说要早睡",
    ],
)
def test_what_others_tell_one_to_do_is_reported(text: str) -> None:
    assert is_reported(text)


@pytest.mark.parametrize(
    "text",
    [
        "never sign in a hurry",
        "I said no tables",
        "请每次都提醒我吃药",
        "you always tell me the date",
    ],
)
def test_what_a_person_asks_for_is_not_reported(text: str) -> None:
    assert not is_reported(text)


@pytest.mark.parametrize(
    "text", ["My bike is a red Koga", "my sister is a nurse", "我的手机是安卓", "I weigh 71 kg"]
)
def test_a_value_of_ones_own_is_given(text: str) -> None:
    assert gives_own_value(text)


@pytest.mark.parametrize(
    "text",
    [
        "Last night there was a long call with my sister",
        "Now that it is clear I can talk to my dad",
        "we all went out for a walk",
        "和我的一个潜在顾虑很像",
        "The roof plan is set and they can go on",
    ],
)
def test_what_is_only_named_has_no_value(text: str) -> None:
    assert not gives_own_value(text)


@pytest.mark.parametrize(
    "text", ["把封面改成灰色", "现在改成周四了。", "不是，换成大号的", "还是改为两页"]
)
def test_who_asks_for_an_edit_says_nothing_without_the_talk(text: str) -> None:
    assert asks_for_edit(text)


@pytest.mark.parametrize("text", ["封面改成灰色了", "例会现在改到周四", "我们换成了大号的烤箱"])
def test_a_change_that_names_what_changed_is_no_edit(text: str) -> None:
    assert not asks_for_edit(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ada wants us to change the port to 8081.",
        "the client asked us to move the launch to May",
        "My sister-in-law would like me to keep the cat indoors",
        "老何想让我们把端口改成 8081",
        "客户要求我们换成周五交货",
    ],
)
def test_a_wish_of_somebody_else_is_one(text: str) -> None:
    assert tells_wish(text)


@pytest.mark.parametrize(
    "text",
    [
        "We want to change the port to 8081.",
        "I asked you to change the port to 8081.",
        "The port has moved to 8081, as the client wanted.",
        "我想把端口改成 8081",
        "我们希望周五交货",
    ],
)
def test_ones_own_wish_is_none_of_somebody_else(text: str) -> None:
    assert not tells_wish(text)


@pytest.mark.parametrize(
    "text", ["Your name is Rigel.", "Call me Ann", "以后叫我韩总", "很好，以后你就叫小舟了"]
)
def test_how_somebody_is_called_is_known(text: str) -> None:
    assert names_agent(text)


@pytest.mark.parametrize(
    "text",
    [
        "Call me when it is done",
        "call me back tomorrow",
        "老板叫我去加班",
        "叫我起床",
        "你叫什么名字",
    ],
)
def test_who_is_sent_for_is_not_named(text: str) -> None:
    assert not names_agent(text)


@pytest.mark.parametrize(
    ("text", "joins"),
    [
        ("We switched to Postgres.", True),
        ("we now use Zig", True),
        ("我们团队用 pnpm", True),
        ("use Postgres for the report", False),
        ("我想用这个", False),
    ],
)
def test_who_says_what_they_use_gives_a_value_and_who_asks_for_it_does_not(
    text: str, joins: bool
) -> None:
    assert joins_value(text) is joins
