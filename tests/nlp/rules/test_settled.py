"""What a clause settles, and what it leaves open."""

# ruff: noqa: E501  short sentences stand side by side

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.settled import fails_still, is_work, leaves_open, refuses, settles

SETTLING = """we decided on the oak floor|let's keep the red door|I chose the slate tiles|we'll use the small van
we have settled on the oak floor|I decided against a second car|we switched to the night train
I went with the second dentist|the party is cancelled|let's take the ferry on Sunday|forget the rule of five, three are enough|we cut the second course
就用铝合金的窗|地点定在苏州了|我选了靠窗的位置|婚礼推迟到十月"""
SETTLING_NOTHING = """I can't decide between oak and pine|not sure which lens to choose|let's chat about something else
I've been thinking about switching banks|the flood made me decide to help out|let's keep cheering each other up|Settled Evening Notes
妈，箱子总算搞定了|我们后天必须定了|在考虑换牙医
I'm torn, we agreed on nothing|let's play a game|I don't know whether we should switch to gas|confused about what to choose|there was a power cut on our street|don't forget the milk
不知道选哪个好，还是等等吧|还在纠结要不要换成木地板|没想好定在哪天"""
OPEN = """we still need a photographer|I still have to call the bank|we still have the guest list to write
the menu is undecided|I need to book the hall|还没定酒店|还要去买胶带|下一步是联系房东"""
CLOSED = """we can still have a chat in the future|she still has her old bike|the hall is booked
酒店订好了|他还在上班"""


def _lines(text: str) -> list[str]:
    return [one for line in text.split("\n") for one in line.split("|")]


@pytest.mark.parametrize("text", _lines(SETTLING))
def test_a_choice_settles_something(text: str) -> None:
    assert settles(text, at_work=False)


@pytest.mark.parametrize("text", _lines(SETTLING_NOTHING))
def test_who_wonders_or_only_talks_on_settles_nothing(text: str) -> None:
    assert not settles(text, at_work=False)


def test_at_work_a_suggestion_of_the_moment_settles_nothing() -> None:
    assert settles("let's see the red one", at_work=False)
    assert not settles("let's see the red one", at_work=True)


@pytest.mark.parametrize("text", _lines(OPEN))
def test_what_is_still_to_do_is_open(text: str) -> None:
    assert leaves_open(text)


@pytest.mark.parametrize("text", _lines(CLOSED))
def test_what_still_is_leaves_nothing_open(text: str) -> None:
    assert not leaves_open(text)


REFUSING = """no, that's not what I asked for|No. Put the oven back|revert it|undo that please|I don't want a second tin
we don't like the blue door|that's wrong, the mill is closed|why did you delete my notes?|take it back|not like that
wait, no, I meant the other shed|go back to the old door|this is not right
不对，不是这个门|撤销刚才的修改|改回原来的颜色|我不想要第二个按钮|别这样写|你为什么把表删了|恢复原状|等等，不要这样"""
GOING_ON = """no problem, thanks|no worries|now paint the door|not bad at all|I don't know yet|never eat there
we don't have a mill|remove the crumbs from the tray|it's not raining|the revert button is blue|nothing else
不错，继续|不用谢|我不知道|不要紧|还原度很高|别忘了备份"""


@pytest.mark.parametrize("text", _lines(REFUSING))
def test_what_was_made_is_refused(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize("text", _lines(GOING_ON))
def test_a_no_may_refuse_nothing(text: str) -> None:
    assert not refuses(text)


def test_who_is_afraid_or_hopes_has_settled_nothing() -> None:
    for text in (
        "maybe we should switch to gas",
        "我害怕以后会后悔这个决定",
        "I hope we decide on oak",
    ):
        assert not settles(text, at_work=False)


@pytest.mark.parametrize(
    "text",
    [
        "it's still not working",
        "Still getting the same error: ECONNREFUSED",
        "hm, that didn't help. I see nothing",
        "I get a 404 again",
        "same error",
        "还是不行，只能切换二级的节点",
        "设置似乎不起作用了，怎么回事",
        "还是 404",
        "依然报错",
        "没有生效",
    ],
)
def test_what_mended_nothing_is_said_at_once(text: str) -> None:
    assert fails_still(text)


@pytest.mark.parametrize(
    "text",
    [
        "works now, thanks",
        "Great! Now add a test. It still fails on Windows, see the issue.",
        "we still want two columns",
        "run it again",
        "好了，可以用了",
        "还是用两列吧",
        "没问题，继续",
    ],
)
def test_what_goes_on_has_mended_something(text: str) -> None:
    assert not fails_still(text)


@pytest.mark.parametrize(
    "option",
    [
        "Fix the oven",
        "Create the other four lists",
        "Start writing the letters",
        "写一支脚本",
        "把报表跑完",
    ],
)
def test_a_piece_of_work_is_no_way_to_do_it(option: str) -> None:
    assert is_work(option)


@pytest.mark.parametrize(
    "option",
    [
        "Bake without yeast",
        "Write-ahead log",
        "Keep the old oven",
        "Downgrade to 2.x",
        "写时复制",
        "小端",
    ],
)
def test_a_way_is_no_piece_of_work(option: str) -> None:
    assert not is_work(option)
