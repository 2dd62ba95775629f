"""Prompts about one's own affairs, told apart from those that anybody could write."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.framing import (
    Framing,
    asks_the_world,
    names_inside,
    orders_for_always,
    read_framing,
)

ASKS = (
    "Which dentist did I choose?",
    "What is my sister's address?",
    "When do we leave for the mountains?",
    "Are my shoes still at the cobbler?",
    "Who repaired our roof?",
    "Where did we park?",
    "How much do I owe Peter?",
    "Remind me of the name of the plumber",
    "What did you tell me about the lease?",
    "Draft a card for my boss",
    "我的车停在哪里",
    "我们去年的报税交给谁做的",
    "我爸的生日是几号",
    "牙医约在几点来着",
    "上次聊到的那本书叫什么",
    "我家的路由器密码是多少",
    "我什么时候换的轮胎",
    "给我爸写一封信",
    "還記得那家麵館嗎",
    "合同是和谁签的，之前怎么说",
    "Can my brother drive yet?",
    "May we still return it?",
    "我妈能吃柚子吗",
    "我能找到那张发票吗",
)
TELLS = (
    "My washing machine leaks, what should I do?",
    "I want to paint a fence",
    "We found a hedgehog in the garden",
    "I am allergic to boredom, tell a story",
    "Can you check my essay about whales?",
    "Our tent smells of mould",
    "I broke a vase",
    "My cactus has brown spots",
    "I need a riddle",
    "We plan a picnic on Mars",
    "我的洗衣机漏水，怎么办",
    "我打碎了一个花瓶",
    "我的仙人掌长斑了",
    "我们在院子里发现一只刺猬",
    "我睡不着，讲讲海龟",
    "我的帐篷有霉味",
    "我刚吃完一个苹果",
    "我的琴弦断了",
    "我在画一面墙",
    "我的伞坏了",
)
NEITHER = (
    "How do I boil water?",
    "Explain photosynthesis",
    "Who wrote Faust?",
    "How can I learn to whistle?",
    "List five rivers",
    "Can you help with algebra?",
    "Is water wet?",
    "What is a comet?",
    "Translate this sentence",
    "Where do I start with algebra?",
    "怎么煮鸡蛋",
    "解释一下光合作用",
    "浮士德是谁写的",
    "帮我列五条河",
    "给我讲个故事",
    "请告诉我什么是彗星",
    "写一首诗",
    "翻译这句话",
    "水是湿的吗",
    "自我介绍怎么写",
    "Can I freeze soup twice?",
    "The shop is shut, may we park there?",
    "Can we see Mars in June?",
    "Could I grow figs in Norway?",
    "邻居养蛇，我能投诉吗",
    "我可以带狗上地铁吗",
    "下雨了我们能不能顺延",
    "咱们可以自己办签证吗",
)


@pytest.mark.parametrize("prompt", ASKS)
def test_questions_about_own_affairs_are_recognised(prompt: str) -> None:
    assert read_framing(prompt) is Framing.ASKS


@pytest.mark.parametrize("prompt", TELLS)
def test_telling_something_is_no_question_to_a_memory(prompt: str) -> None:
    assert read_framing(prompt) is Framing.TELLS


@pytest.mark.parametrize("prompt", NEITHER)
def test_what_anybody_could_write_says_nothing_of_the_writer(prompt: str) -> None:
    assert read_framing(prompt) is Framing.NEITHER


@pytest.mark.parametrize(
    "prompt",
    [
        *("Explain tides", "What is a comet?", "How do I whistle?", "Who invented the zip?"),
        *("Which birds can swim?", "Write a limerick", "hello", "Please translate this"),
        *("什么是彗星", "怎么吹口哨", "帮我写一首打油诗", "火山是怎么形成的", "给我三个谜语"),
        *("解釋潮汐", "光年是多少", "茶和咖啡有什么区别", "用 Perl 写一个排序"),
    ],
)
def test_prompts_to_the_world(prompt: str) -> None:
    assert asks_the_world(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        *("Did the plumber come?", "Who gets the piano?", "which port", "Ferry, wave two"),
        *("When is the rehearsal?", "Has the roof been repaired?", "the lease of the flat"),
        *("水管工来过了吗", "钢琴给谁", "装修预算", "排练定在几号", "合同到期了没", "电锤谁拿走了"),
    ],
)
def test_prompts_that_may_be_of_a_memory(prompt: str) -> None:
    assert not asks_the_world(prompt)


def test_names_stand_inside_of_sentences() -> None:
    assert names_inside("When did Gina meet Tom Baker?") == ["Gina", "Tom", "Baker"]
    assert names_inside("When it rains, John stays. 张三 came") == ["John"]
    assert names_inside("GINA and iPhone") == []


@pytest.mark.parametrize(
    "said",
    [
        *("From now on answer in haiku", "never use semicolons here", "Whenever I ask, be brief"),
        *(
            "以后都用公制单位",
            "每次先列提纲",
            "别再加表情符号",
            "凡是代码都要有注释",
            "今後請用繁體",
        ),
    ],
)
def test_standing_orders_have_a_form(said: str) -> None:
    assert orders_for_always(said)


@pytest.mark.parametrize(
    "said",
    ["Answer this in haiku", "We use metric units", "这次用公制单位", "先列提纲", "表情符号真多"],
)
def test_other_requests_have_another(said: str) -> None:
    assert not orders_for_always(said)
