"""Silence where a memory has nothing to do with a prompt."""

from __future__ import annotations

import pytest
from folders import Folder

from kimi_memory.domain.search_types import Answer, Query
from kimi_memory.nlp.rules.framing import Framing
from kimi_memory.recall import relevance
from kimi_memory.recall.relevance import SIZES, Signs, likelihood

KITCHEN = [
    ("user", "Mum's sourdough needs forty hours, the starter lives in the cellar."),
    ("assistant", "Forty hours in the cellar is long but fine for a sourdough."),
    ("user", "The rye starter died, so we bake with Ottilie's starter now."),
    ("assistant", "Good: Ottilie's starter is strong."),
    ("user", "厨房的烤箱坏了，师傅周四来修，要三百二十块。"),
    ("assistant", "好的，周四修烤箱，三百二十块。"),
    ("user", "烤箱修好之前，我们用邻居家的烤箱。"),
]
STRANGERS = (
    "Write a quicksort in C",
    "Who discovered penicillin?",
    "Explain the offside rule",
    "My laptop does not start, what should I do?",
    "thanks",
    "北京到上海的高铁要多久",
    "解释一下什么是量子纠缠",
    "写一首关于春天的七言绝句",
    "我的手机屏幕碎了，怎么办",
    "继续",
)
RELATED = {
    "How long does mum's sourdough take?": 1,
    "Whose starter do we bake with?": 3,
    "where does the starter live": 1,
    "烤箱什么时候修好": 5,
    "修烤箱要多少钱来着": 5,
    "我们现在用谁家的烤箱": 7,
}


def asked(folder: Folder, prompt: str, least: float = 0.5) -> Answer:
    return folder.recall().search(Query(text=prompt, limit=20, min_relevance=least))


@pytest.fixture
def kitchen(folder: Folder) -> Folder:
    folder.session("bread", KITCHEN)
    return folder


@pytest.mark.parametrize("prompt", STRANGERS)
def test_prompts_that_have_nothing_to_do_with_a_memory_find_nothing(
    kitchen: Folder, prompt: str
) -> None:
    assert not asked(kitchen, prompt).hits


@pytest.mark.parametrize("prompt", RELATED)
def test_prompts_about_a_memory_find_it(kitchen: Folder, prompt: str) -> None:
    found = [hit.unit.n for hit in asked(kitchen, prompt).hits]
    assert RELATED[prompt] in found


def test_a_person_who_looks_finds_whatever_is_nearest(kitchen: Folder) -> None:
    prompt = "How does a steam oven work in general?"
    kitchen.session("more", [("user", "The oven in the cellar is a gas oven.")])
    assert not asked(kitchen, prompt).hits
    assert asked(kitchen, prompt, 0.0).hits


def test_a_memory_without_talk_is_silent_too(folder: Folder) -> None:
    folder.card("db", "Database", "Orders live in PostgreSQL 16 on host ferret.")
    assert asked(folder, "which database on ferret").hits
    assert not asked(folder, "Explain how vaccines work").hits
    assert not asked(folder, "").hits


def test_a_pair_across_two_words_is_no_word_that_is_lacking(
    kitchen: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    covers: list[float] = []

    def record(signs: Signs) -> float:
        covers.append(signs.cover)
        return likelihood(signs)

    monkeypatch.setattr(relevance, "likelihood", record)
    for prompt in ("邻居烤箱", "邻居家的烤箱", "邻居钢琴"):
        asked(kitchen, prompt)
    crossing, said, lacking = covers
    assert crossing == pytest.approx(said, abs=0.1)
    assert lacking < 0.7 * crossing


def test_likelihood_follows_its_signs() -> None:
    size = 0.0
    plain = Signs(0.5, 0.4, Framing.NEITHER, False, False, 0, size)
    assert 0.0 < likelihood(plain) < 1.0
    better = (
        plain._replace(cover=0.9),
        plain._replace(topic=0.9),
        plain._replace(framing=Framing.ASKS),
        plain._replace(known=True),
        plain._replace(size=size - 1),
    )
    worse = (
        plain._replace(framing=Framing.TELLS),
        plain._replace(world=True),
        plain._replace(strangers=2),
        plain._replace(size=size + 1),
    )
    assert all(likelihood(one) > likelihood(plain) for one in better)
    assert all(likelihood(one) < likelihood(plain) for one in worse)
    assert SIZES[0] < SIZES[1]


def test_names_the_memory_never_heard_speak_against_it(kitchen: Folder) -> None:
    known, unknown = "Did we ask Ottilie for bread?", "What bread did Wilhelmina buy for Brunhilde?"
    assert asked(kitchen, known).hits
    assert not asked(kitchen, unknown).hits
