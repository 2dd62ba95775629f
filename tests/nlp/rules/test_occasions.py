"""Occasions of standing orders: found where they are named, and prompts that call for them."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.occasions import calls_for, occasion_of, suits
from plugins.words import split_words as split

NAMED = {
    "When I ask about tax, name the paragraph.": "tax",
    "whenever you suggest a hike, give the metres of climb": "hike",
    "If we talk about the choir, call it by its short name": "choir",
    "every time I paste a poem, only fix the spelling": "poem",
    "For the garden, no chemicals please.": "garden",
    "put the allergens in every recipe you send me": "recipe",
    "凡是我问报税的事，先列出条款": "报税",
    "每次我发合同的时候，先看违约条款": "合同",
    "以后跟孩子有关的东西都用小名": "孩子",
    "如果聊到乐队，就用英文": "乐队",
}
GENERAL = (
    "Always answer in two sentences.",
    "From now on reply in Chinese.",
    "never use tables, my phone cannot show them",
    "Please don't call me Mr Okada.",
    "I want metric units, always.",
    "以后回答都简短一点",
    "别再用表情符号了",
    "永远不要叫我老板",
    "金额都按元写",
    "从现在起一律用英文变量名",
)
CALLED = {
    "from now on all invoices go out with the tax number": "Draft an invoice with my tax number",
    "give me SQL snippets for Postgres, not MySQL": "Which Postgres snippets count rows by day?",
    "our ferret Pim naps at noon, plan trips around that": "A trip with Pim on Sunday?",
    "always pack the blue inhaler for a hike": "What to pack for the hike tomorrow, the inhaler?",
    "金额都按元写两位小数": "每个客户的金额列一下",
    "以后你给我的菜谱都要写克数": "来个红烧肉的菜谱",
    "发票一律写公司全称": "这张发票怎么开",
    "from now on give me awk scripts in one line": "How do I test my deploy scripts?",
    "please mark gluten in anything bakery related you suggest": "Which bakery is open on Sunday?",
    "for Swift stuff: explain first, no full listing unless asked": "My Swift class leaks, why?",
    "please call me Ro, never Rosalind": "hello, are you there?",
    "别叫我陈总，叫我老陈": "在吗？有个问题",
}
STRANGERS = {
    "from now on all invoices go out with the tax number": "What is a prime number?",
    "give me SQL snippets for Postgres, not MySQL": "Give me a recipe for soup, not stew",
    "please never write prose for the novel yourself": "Name five novels of the last century",
    "don't give me exercises like fibonacci": "What is the Fibonacci sequence good for?",
    "always check for egg when you suggest food": "How do I check my tyre pressure?",
    "金额都按元写两位小数": "给我讲个笑话",
    "以后你给我的菜谱都要写克数": "秦始皇陵在哪里",
    "以后都用我店里的例子讲": "什么是黑洞",
    "for Swift stuff: explain first, no full listing unless asked": "how swift is a falcon",
    "please call me Ro, never Rosalind": "hello is said how often in the play Hamlet, and by whom?",
    "请给我写短一点": "你好",
    "please keep your answers short": "Which answer of the quiz was right?",
    "please mark gluten in anything bakery related you suggest": "Suggest a name for my boat",
}


@pytest.mark.parametrize("order", NAMED)
def test_an_occasion_is_found_where_an_order_names_one(order: str) -> None:
    assert NAMED[order] in occasion_of(order)
    assert suits(order, frozenset(split(f"{NAMED[order]} 2026?")), split)
    assert not suits(order, frozenset(split("Write a quicksort; 写一首诗")), split)


@pytest.mark.parametrize("order", GENERAL)
def test_an_order_without_one_suits_any_prompt(order: str) -> None:
    assert not occasion_of(order)
    assert suits(order, frozenset(split("How do tides work? 潮汐是怎么来的")), split)


@pytest.mark.parametrize("order", CALLED)
def test_a_prompt_calls_for_an_order_whose_matter_it_names(order: str) -> None:
    assert calls_for(order, CALLED[order], frozenset(split(CALLED[order])), split)


@pytest.mark.parametrize("order", STRANGERS)
def test_one_word_in_common_calls_for_nothing(order: str) -> None:
    assert not calls_for(order, STRANGERS[order], frozenset(split(STRANGERS[order])), split)
