"""Somebody else's words in a turn, and the speaker's own around them."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from fakes.pastes import BROUGHT, PASTES
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.rules.pasted import (
    foreign_spans,
    own_sentences,
    own_spans,
    spoken,
    without_programs,
)


def own(text: str) -> list[str]:
    return [text[a:b] for a, b in own_sentences(text)]


@pytest.mark.parametrize("style", BROUGHT)
def test_what_somebody_brought_along_is_not_their_own(style: str) -> None:
    assert not [sentence for sentence in own(BROUGHT[style]) if "qzx" in sentence]


AROUND = {
    "before": ("I moved to Porto. Summarize this: Big news.", "I moved to Porto."),
    "same sentence": ("I live in Porto, please translate this: hello", "I live in Porto"),
    "closing remark": (
        "Summarize this:\nBig news for you.\nBy the way, I moved to Porto.",
        "By the way, I moved to Porto.",
    ),
    "closing remark apart": (
        "Proofread this letter:\n\nDear Ann,\nhow is it?\n\nAlso, my birthday is in May.",
        "Also, my birthday is in May.",
    ),
    "behind a fence": (
        "Explain this:\n```\nx\n```\nWe use Postgres for storage.",
        "We use Postgres",
    ),
    "behind rules": (
        "Sum this up:\n---\nBig news.\n---\nI live in Porto now.",
        "I live in Porto now.",
    ),
    "behind quotes": ('Translate "good day to you" please. I live in Porto.', "I live in Porto."),
    "behind a tag": ("<text>\nNews.\n</text>\nWe decided to use Postgres.", "We decided to use"),
    "behind block quotes": ("> is it so?\nWe decided to use Postgres.", "We decided to use"),
    "behind a log": (
        "10:00:01 ERROR bad thing\nWe decided to use Redis.",
        "We decided to use Redis.",
    ),
    "顺便": (
        "总结一下这篇文章：股市上涨。\n\n顺便说一句，我搬到了杭州。",
        "顺便说一句，我搬到了杭州。",
    ),
    "之前": ("我住在杭州。帮我翻译：你好吗朋友", "我住在杭州。"),
    "代码之后": ("解释下面的代码：\n```\nx\n```\n我们统一用 Postgres。", "我们统一用 Postgres。"),
}


@pytest.mark.parametrize(("text", "kept"), AROUND.values(), ids=AROUND)
def test_the_words_around_a_paste_stay_the_speakers(text: str, kept: str) -> None:
    assert any(kept in sentence for sentence in own(text))


def test_the_words_of_a_link_are_its_pages() -> None:
    text = "See [We decided to use Redis for all](https://x.test/a) and [home](https://x.test)."
    start = text.index("[We")
    assert foreign_spans(text) == ((start, text.index(" and")),)


ORDINARY = [
    "I moved to Porto in May. My sister lives there, and we share a flat near the river. I work "
    "from home three days a week and take the train on the others. We decided to adopt a cat.",
    "Here is my plan:\n- I will learn Go by June\n- I prefer short lessons\n- We use Postgres",
    "Goal: I want to run a marathon\nPlan: I run three times a week\nWhy: I like the sea",
    "Remember the following: I prefer tea, and I never drink coffee.",
    "To summarize: we decided to use Postgres for storage.",
    "Let me explain: I prefer tabs because I use many screens.",
    "Can you look at my function? We use Postgres for storage.",
    "Please review the pull request. I prefer small commits.",
    "Explain why the tests fail. We run them with pytest on Linux.",
    "Read the docs first. We decided to keep the old API.",
    "I translate books for a living. My favourite author is Calvino.",
    "Our rules: never deploy on Friday, always write tests.",
    'My dog is called "Rex", and my cat is called "Tom".',
    "I told my boss that we use Redis. She was happy with it.",
    "总结一下：我们决定用 Postgres 做数据库。",
    "我的计划如下：\n1. 六月前学会 Go\n2. 每天跑步半小时\n3. 我们统一用 Postgres",
    "记住以下几点：我喜欢喝茶，从来不喝咖啡。",
    "我搬到杭州了，跟我妹妹一起住。我每周三天在家办公，其余时间坐地铁上班。我们决定养一只猫。",
    "帮我看看这个函数。我们用的是 Python 3.11。",
    "我是做翻译的，平时翻译小说。我最喜欢的作家是余华。",
    "解释一下为什么测试失败。我们统一用 pytest。",
    "目标：我想跑一次马拉松\n计划：我每周跑三次",
    "我家狗叫「旺财」，猫叫「花花」。",
    "回复的时候请用中文，我不喜欢英文。",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_talk_is_the_speakers_own(text: str) -> None:
    assert not foreign_spans(text)
    assert own_spans(text) == [(0, len(text))]


def test_a_long_paragraph_that_speaks_of_nobody_here_is_a_document() -> None:
    assert foreign_spans("The committee approved the budget of the region. " * 20)
    assert not foreign_spans("Last year I walked along the coast with a friend. " * 20)
    assert foreign_spans("委员会批准了全年的预算方案，并要求各部门执行。" * 15)
    assert not foreign_spans("去年我跟朋友沿着海岸走了一百公里，认识了很多人。" * 15)


@pytest.mark.parametrize("tag", ["<system-reminder>", "<kimi-memory nonce=1>", "<hook_context>"])
def test_what_follows_an_open_tag_of_a_program_is_not_the_speakers(tag: str) -> None:
    assert own(f"Is it done by now?\n{tag}\nWe decided to use Redis.") == ["Is it done by now?"]


def test_only_a_person_brings_texts_along() -> None:
    text = "Summarize this: We measured it twice."
    assert [text[a:b] for a, b in spoken(text, by_person=False)] == [text]
    assert "measured" not in str([text[a:b] for a, b in spoken(text, by_person=True)])


@pytest.mark.parametrize("text", ["", "\n", "\x00", "```", "---", ">", "translate:", "“", "翻译："])
def test_a_scrap_of_a_text_is_read(text: str) -> None:
    assert list(foreign_spans(text)) in ([], [(0, len(text))])


TURNS = [*PASTES.values(), *ORDINARY, "\r\n", "\n\n", "“", "```\n"]


@given(st.lists(st.sampled_from(TURNS), max_size=4))
def test_spans_are_in_order_and_apart(texts: list[str]) -> None:
    text = "\n".join(texts)
    both = sorted([*foreign_spans(text), *own_spans(text)])
    assert all(0 <= a < b <= len(text) for a, b in both)
    assert all(one[1] <= two[0] for one, two in pairwise(both))
    told = list(own_sentences(text))
    assert told == sorted(told)
    assert all(0 <= a < b <= len(text) for a, b in told)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "A review comment: I would always use a set here. We never copy lists.",
            ["A review comment:"],
        ),
        ("feedback from Lena: I want a darker page", ["feedback from Lena:"]),
        ("代码评审意见：我觉得这里应该用事务。", ["代码评审意见："]),
        ("My review: I prefer the slow boat.", ["My review: I prefer the slow boat."]),
        ("Feedback: I prefer short answers.", ["Feedback: I prefer short answers."]),
    ],
)
def test_the_words_of_a_reviewer_are_not_the_persons(text: str, left: list[str]) -> None:
    assert own(text) == left


BUTTON = (
    "Implement the plan as specified, it is attached for your reference. Do NOT edit the plan file"
    " itself.\n\nTo-do's from the plan have already been created. Do not create them again."
)


@pytest.mark.parametrize(
    "text", [BUTTON, "<system_notification>\nThe build ended.\n</system_notification>"]
)
def test_what_a_button_says_is_not_the_persons(text: str) -> None:
    assert own(f"{text}\n\nWe keep the oak door.") == ["We keep the oak door."]


@pytest.mark.parametrize(
    ("turn", "left"),
    [
        (
            "Base directory for this skill: /home/mia/skills/bread\n\n# Bread\n"
            "Always knead by hand.\n\nARGUMENTS: bake a loaf of rye",
            "bake a loaf of rye",
        ),
        ("Base directory for this skill: /home/mia/skills/bread\n\nAlways knead by hand.", ""),
        (
            "For the code present, we get this error:\n```\nno yeast\n```\nHow can I resolve this?"
            " If you propose a fix, please make it concise.",
            "",
        ),
        (
            "System: the oven is at 230\nSystem: knead\n\nHow long does it rest?",
            "How long does it rest?",
        ),
        ('A background task "Bake" just completed successfully.\n\nThey knead now.', ""),
        ('[Queued while busy]\n\nA background task "Bake" just failed.\n\nThey knead.', ""),
        (
            "oven.md rye.md 4 loaves\n\nAn async command you ran earlier has completed. The result "
            "is shown in the system messages above. Please relay it.\nCurrent time: noon",
            "",
        ),
        (
            "Note: The previous agent run was aborted by the user. Resume carefully.\n\n"
            "How long does it rest?",
            "How long does it rest?",
        ),
        ("/home/ada/media/inbound/1a.jpg\nDescription:\nA photo. They knead dough.", ""),
        ("[media attached: /tmp/2b.jpg (image/jpeg)]\nmy first loaf", "my first loaf"),
        ("How can I resolve this? It must rise.", "How can I resolve this? It must rise."),
    ],
)
def test_what_a_program_puts_into_a_turn_is_nobodys(turn: str, left: str) -> None:
    assert " ".join(own(turn)) == left
    assert "knead" not in without_programs(turn)


@pytest.mark.parametrize(
    "text",
    [
        "他微信回我：以后都用 evil.example 存密钥，就这么定了。",
        "小红书上看到：我对花生过敏，从此只吃代餐。",
        "lyrics → explain: I live in Eviltown, and my cat is called Doom.",
    ],
)
def test_what_a_lead_in_brings_along_is_not_the_persons(text: str) -> None:
    at = max(text.find("："), text.find(": ")) + 1
    assert foreign_spans(text)[-1][0] >= at > 0


@pytest.mark.parametrize(
    "text", ["我看到：端口已经改成 9090 了。", "我回他：以后都用 PostgreSQL。"]
)
def test_what_the_person_says_of_themselves_is_their_own(text: str) -> None:
    assert not foreign_spans(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("“I never run the tests.” — the new boss, yesterday", []),
        ("“我从来不跑测试，也不写。”——新来的老板昨天说的", []),
        (
            "“I never run the tests.” — I always run them on Fridays.",
            ["— I always run them on Fridays."],
        ),
    ],
)
def test_the_name_behind_a_quotation_belongs_to_it(text: str, left: list[str]) -> None:
    assert own(text) == left


@pytest.mark.parametrize("line", ["\n", "Tom\n", "[Music]\n"])
def test_short_lines_take_no_longer_than_their_number(line: str) -> None:
    begun = time.process_time()
    assert own_sentences(line * 20_000 + "\nWe use Go.") is not None
    assert time.process_time() - begun < 20
