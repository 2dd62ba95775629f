"""Offers, and the answers that pick one of them."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.offers import (
    assents,
    leaves_choice,
    offers_in,
    picked,
    proposal_in,
    question_in,
)

THREE = """There are three ways:

**Option A: Paint it** – cheap, takes a weekend.
**Option B: Wallpaper** – dearer, hides the cracks.
**Option C: Leave it** – nothing to do.
"""
NUMBERED = "You could:\n1. rent a van\n2. hire movers\n3. ask friends\nWhich one?"
HAN = "两个思路：\n\n**方案一：先租房**，慢慢看。\n**方案二：直接买**，一步到位。"

STEPS = "接下来：\n1. 先打开控制台\n2. 立即验证本地系统正常\n3. 把截图发给我"


@pytest.mark.parametrize(
    ("text", "labels"),
    [(THREE, ["a", "b", "c"]), (NUMBERED, ["1", "2", "3"]), (HAN, ["1", "2"]), ("1. only one", [])],
)
def test_offers_have_labels(text: str, labels: list[str]) -> None:
    assert [offer.label for offer in offers_in(text)] == labels


@pytest.mark.parametrize(
    ("text", "answer", "labels"),
    [
        (THREE, "B please", ["b"]),
        (THREE, "yes, do A. i'll ask dad", ["a"]),
        (THREE, "the second one", ["b"]),
        (THREE, "B, and put the money into paint", ["b"]),
        (THREE, "option C i think", ["c"]),
        (NUMBERED, "1 and 3", ["1", "3"]),
        (NUMBERED, "go with 2", ["2"]),
        (NUMBERED, "the first", ["1"]),
        (HAN, "第二个吧", ["2"]),
        (HAN, "方案一稳一点，就这么办", ["1"]),
        (HAN, "选二", ["2"]),
        (THREE, "we have been here for 2 hours", []),
        (NUMBERED, "no idea, it is late", []),
        (HAN, "再想想", []),
        (HAN, "第一个方案可以", ["1"]),
        (HAN, "第一个选择框在选中时显示不正常", []),
        (HAN, "第二个对吗", []),
        (HAN, "2.域名是在别处注册的，现在是不是正确的", ["2"]),
        (NUMBERED, "1. I have a licence\n2. my back hurts", []),
        (HAN, "1.终端这样显示了\n2.域名是在别处注册的", []),
        (THREE, "Option B: Wallpaper – dearer, hides the cracks. How long does it take", []),
        (STEPS, "2、", []),
        (THREE, "C:\\\\tools is where I keep it", []),
        (THREE, "A, with B we were up all night", ["a"]),
        (THREE, "a good question", []),
        (THREE, "c cause its closer", ["c"]),
        (HAN, "@1.py 先做到能打开", []),
        (HAN, "1.3.2 关于这个工具的需求，换一种说法", []),
        (HAN, "把漢字和假名用一個括號括起來", []),
        (HAN, "不是啊，现在订单管理也104了", []),
        (THREE, "no better: the image shows the first batch", []),
        (THREE, "the first sounds right", ["a"]),
        (THREE, "no way. middle one then, and mum can drive", ["b"]),
        (NUMBERED, "the latter", ["3"]),
        (NUMBERED, "last week was hard", []),
        (HAN, "二 租房子太折腾", ["2"]),
        (HAN, "后面那个吧", ["2"]),
        (HAN, "前者", ["1"]),
        (HAN, "为什么画面要一直转圈", []),
        (HAN, "有几个问题：1、太贵。2、太远", []),
    ],
)
def test_a_short_answer_names_options(text: str, answer: str, labels: list[str]) -> None:
    assert [offer.label for offer in picked(answer, offers_in(text))] == labels


CALLED = """The build breaks for one reason:
1. the cache is stale
2. the lock file is older

## **Solutions:**

### **Option 1: Clear the cache**
```
make clean
```
### **Option 2: Pin the compiler (safer)**

## Next
1. open the log
2. send it to me
"""


def test_where_options_are_called_so_other_numbers_are_none() -> None:
    assert [one.text for one in picked("let's take option 2", offers_in(CALLED))] == [
        "Pin the compiler (safer)"
    ]
    assert question_in(CALLED) == ""
    assert leaves_choice(CALLED)


def test_who_picks_an_option_may_ask_on() -> None:
    assert [
        one.label
        for one in picked("Go with option B then. How long does it dry?", offers_in(THREE))
    ] == ["b"]
    assert picked("B? how long does it dry?", offers_in(THREE)) == []


def test_a_line_that_only_leads_to_its_list_asks_nothing() -> None:
    assert (
        question_in("This often happens in houses where:\n1. walls are damp\n2. heat is low") == ""
    )


@pytest.mark.parametrize(
    "answer", ["yes please", "sounds good", "ok, do it", "好的，就这样", "行吧"]
)
def test_a_yes_is_heard(answer: str) -> None:
    assert assents(answer)


@pytest.mark.parametrize("answer", ["no, not that", "why?", "i'd rather wait", "不行", "等等"])
def test_no_yes_is_made_up(answer: str) -> None:
    assert not assents(answer)


def test_a_proposal_is_the_last_thing_recommended() -> None:
    text = "Both fit. I'd suggest the smaller pump. It is quieter. Shall I order it?"
    assert proposal_in(text) == "I'd suggest the smaller pump."
    assert proposal_in("Both fit.") == ""
    assert proposal_in("我建议先修屋顶。您看呢？") == "我建议先修屋顶。"
    assert proposal_in('Added:\n```diff\n+  "plugin:pump/recommended",\n```\nGo on?') == ""


REVIEW = """Review:
- (3) ⚠️ The lock is held too long.
- (12) ⚠️ The name shadows a module.
- (14) ❓ Is the flag needed?

1. Shorten the lock
2. Rename the module
"""


@pytest.mark.parametrize(
    ("answer", "labels"),
    [
        ("address 3 and 14", ["3", "14"]),
        ("Fix 12, leave the rest", ["12"]),
        ("Adress 3", ["3"]),
        ("is 3 right?", []),
        ("what are you thinking? 3?", []),
    ],
)
def test_the_numbers_of_a_review_are_picked(answer: str, labels: list[str]) -> None:
    assert [offer.label for offer in picked(answer, offers_in(REVIEW))] == labels


TWO_LISTS = """## Line by line
- (1) ⚠️ The roof of the barn leaks.
- (2) ❓ Is the ladder needed?
- (3) ⚠️ The gate squeaks.
- (9) ❓ Who feeds the goats?

## Top improvements
1. Hang the lantern lower
2. Sort the seed drawers
3. Oil the windmill bearing
"""


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("Let's do improvement 2", ["Sort the seed drawers"]),
        ("address top improvement 2 and then improvement 1", ["lantern", "Sort the seed"]),
        ("take improvement 1. Address #3 with the long brush.", ["lantern", "windmill"]),
        ("fix observation 3", ["gate squeaks"]),
        ("Address 3 and 9", ["gate squeaks", "feeds the goats"]),
        # two lists fit, and nothing decides
        ("Address 3", []),
        ("do 1 and 2", []),
    ],
)
def test_a_number_is_of_the_list_that_its_noun_names(answer: str, texts: list[str]) -> None:
    chosen = picked(answer, offers_in(TWO_LISTS))
    assert len(chosen) == len(texts)
    assert all(part in one.text for part, one in zip(texts, chosen, strict=True))


def test_a_chinese_noun_names_its_list_too() -> None:
    message = (
        "### 逐行意见\n- (1) 屋顶漏水\n- (2) 梯子太短\n\n### 主要改进\n1. 灯挂低一点\n2. 种子分类\n"
    )
    offers = offers_in(message)
    assert [one.text for one in picked("处理改进2", offers)] == ["种子分类"]
    assert [one.text for one in picked("处理意见2", offers)] == ["梯子太短"]
    assert picked("要2", offers) == []


def test_what_the_agent_did_then_tells_which_list_was_meant() -> None:
    offers = offers_in(TWO_LISTS)
    done = "The windmill bearing has fresh oil now."
    assert [one.text for one in picked("Address 3", offers, done)] == ["Oil the windmill bearing"]
    assert picked("Address 3", offers, "Done, all is well.") == []


@pytest.mark.parametrize(
    "text",
    [
        "1. Removed the old shell variations\n2. Added one path with poetry",
        "1. Wait a few minutes for the agents, then run:\n2. Open the console and log in",
        "- Optionally update the name\n- Optionally update the content",
        "1. 已删除旧配置\n2. 已新增说明",
        "1. 打开控制台\n2. 运行脚本",
    ],
)
def test_what_was_done_and_steps_to_take_are_no_choice(text: str) -> None:
    assert picked("2", offers_in(text)) == []
    assert picked("a", offers_in(text)) == []


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("Byte order of the header?\n\nA. little\nB. big", "Byte order of the header?"),
        (
            "接下来是**字节序**，下发时会对不上。\n\nA. 小端\nB. 大端",
            "接下来是字节序，下发时会对不上",
        ),
        ("Three ways:\nA. paint\nB. paper", ""),
        ("几种做法：\n1. 粉刷\n2. 贴纸", ""),
        ("`a.py` fails because it needs 2 keys.\nA. paint\nB. paper", ""),
        ("A. paint\nB. paper", ""),
        ("no options at all", ""),
        ("Gate of the barn: rehung on new posts\n- (1) It squeaks\n- (2) It leans\n", ""),
    ],
)
def test_options_answer_the_line_before_them(message: str, question: str) -> None:
    assert question_in(message) == question


def test_a_recommended_number_is_its_option() -> None:
    message = "**1. One module**\nsmall\n\n**2. Three modules**\nlarge\n\n我推荐方案 1。"
    assert proposal_in(message) == "One module"


@pytest.mark.parametrize(
    "text",
    [
        "I've completed these:\n1. the roof\n2. the door",
        "Looking through it, I can see:\nA. the roof\nB. the door",
        "以下是我所做的变更：\n1. 屋顶\n2. 门",
    ],
)
def test_a_list_of_what_was_done_leaves_nothing_to_pick(text: str) -> None:
    assert not leaves_choice(text)


@pytest.mark.parametrize("text", [THREE, NUMBERED, HAN, "Three ways:\n1. roof\n2. door"])
def test_a_list_of_ways_leaves_a_choice(text: str) -> None:
    assert leaves_choice(text)


def test_of_two_lists_the_later_one_is_answered() -> None:
    message = "Open now:\n1. the mill\n2. the well\n\nShall I\n1. paint the gate\n2. mow the lawn?"
    assert [offer.text for offer in picked("1", offers_in(message))] == ["paint the gate"]


@pytest.mark.parametrize(
    "answer",
    [
        "yup, let's go ahead and address the 2 version issues you found",
        "Let's address these 2: the flag and the token",
        "fix all 3 findings",
        "这两个都改了吧",
    ],
)
def test_how_many_there_are_picks_none_of_them(answer: str) -> None:
    offers = offers_in("1. Rename the flag\n2. Cache the token\n3. Pin the version\n")
    assert picked(answer, offers) == []
    assert [one.label for one in picked("take the 3", offers)] == ["3"]


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("Two common styles:", ""),
        ("A shed mostly fails on four things:", ""),
        ("Three directions", ""),
        ("给你三个思路：", ""),
        ("常见的有：", ""),
        ("Is the door one of the three oaks?", "Is the door one of the three oaks?"),
        ("Colour of the door:", "Colour of the door"),
        ("屋顶的材料：", "屋顶的材料"),
    ],
)
def test_a_line_that_only_counts_what_follows_asks_nothing(line: str, question: str) -> None:
    assert question_in(f"{line}\n1. red oak with oil\n2. white ash with wax") == question


@pytest.mark.parametrize(
    "answer",
    [
        "yes, please implement the first phase",
        "请写个使用样例，到文档的最后面。",
        "the last line is wrong",
    ],
)
def test_the_first_phase_and_the_end_of_a_page_are_no_options(answer: str) -> None:
    offers = offers_in("1. Use cork\n2. Use felt\n3. Use wool")
    assert picked(answer, offers) == []
    assert [one.text for one in picked("最后那个吧", offers)] == ["Use wool"]
