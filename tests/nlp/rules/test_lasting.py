"""What lasts is told from what passes, in both languages."""

# ruff: noqa: E501  short sentences stand side by side

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.lasting import is_lasting, is_passing, tells_defect, worth_of

LASTING = (
    "I'm a vet in Bristol",
    "he was just diagnosed with coeliac disease",
    "my son is allergic to penicillin",
    "please call me Bo",
    "I work nights at the port",
    "our eldest is 9 years old",
    "I was born in Split",
    "we found out that I'm pregnant",
    "my doctor put me on a low-salt diet",
    "I teach maths at a primary school",
    "I moved to Porto in March",
    "我叫周岚，做会计的",
    "我对花生过敏",
    "老家在绍兴",
    "我在一家医院做护士",
    "医生说他血压偏高",
    "她怀孕五个月了",
    "叫我阿杰就行",
    "我们住在青岛",
    "儿子今年7岁",
    "我是自由译者",
)
PASSING = (
    "that's so good to hear!",
    "sounds great, thanks",
    "maybe I'll try it someday",
    "he did it again",
    "let me think about it",
    "can't wait to see your face",
    "it was a lot of fun",
    "ok, done",
    "this is driving me mad",
    "you should be proud",
    "哈哈太好了",
    "好的谢谢",
    "那就这样吧",
    "他又来了",
    "今天好累啊",
    "希望一切顺利",
    "这个不错",
    "没事没事",
    "真的很开心",
    "随便吧",
)


@pytest.mark.parametrize("text", LASTING)
def test_what_holds_for_years_is_seen(text: str) -> None:
    assert is_lasting(text)
    assert worth_of(text) >= 2.0


@pytest.mark.parametrize("text", PASSING)
def test_what_passes_weighs_little(text: str) -> None:
    assert not is_lasting(text)
    assert worth_of(text) < 1.5


def test_a_sentence_that_needs_the_one_before_weighs_less() -> None:
    assert worth_of("it has two ovens and a cellar") < worth_of(
        "the bakery has two ovens and a cellar"
    )


@pytest.mark.parametrize(
    "text",
    ["I am Omar, a tram driver", "I'm Petra, 52, a baker", "i'm 28 and new here", "I'm coeliac"],
)
def test_people_say_who_they_are(text: str) -> None:
    assert is_lasting(text)


@pytest.mark.parametrize("text", ["I'm fine", "it is 28 today", "I'm at gate 28"])
def test_moods_and_figures_are_not_lasting(text: str) -> None:
    assert not is_lasting(text)


@pytest.mark.parametrize(
    ("text", "passing"),
    [
        ("now we have 3 errors in the menu test", True),
        ("the lamp is still broken after the change", True),
        ("换了端口还是报错", True),
        ("出现了问题，登录页打不开", True),
        ("errors go to the log of the harbour office", False),
        ("the three lamps work with 12 volts", False),
        ("the tests of the oven are now failing", True),
        ("I made some mistakes in the recipe", True),
        ("make a button and see that it works offline", False),
        ("报名截止到五月", False),
    ],
)
def test_how_work_stands_is_passing(text: str, passing: bool) -> None:
    assert is_passing(text) is passing


def test_a_diagnosis_of_a_fault_is_no_illness() -> None:
    assert not is_lasting("please diagnose why there is no diagnostic page")


@pytest.mark.parametrize(
    "text",
    """the modal does not adjust|when saving, the dialog won't close|but the list still overlaps the footer
the tooltip keeps flickering on hover|`menu.tsx` no longer loads|this isn't centred on phones|my header still jumps
按钮没反应，点了没反应|弹窗不能居中|图片显示不出来|列表没有刷新|这里报错了|标题被遮住了|页面卡死""".replace(
        "\n", "|"
    ).split("|"),
)
def test_what_a_thing_fails_to_do_is_a_defect(text: str) -> None:
    assert tells_defect(text)


@pytest.mark.parametrize(
    "text",
    """we do not use Redis any more|I won't close the shop on Monday|the meeting moved to Friday|let's drop the modal
I'm not going to Leeds|the list has a footer|use flexbox instead of the grid|we decided the header stays
我们不用缓存了|他不能吃辣|标题改成蓝色|列表按时间排|周五不上班|弹窗换成抽屉""".replace(
        "\n", "|"
    ).split("|"),
)
def test_what_people_decide_is_no_defect(text: str) -> None:
    assert not tells_defect(text)
